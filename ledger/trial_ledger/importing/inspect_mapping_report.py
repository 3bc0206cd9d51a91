"""What an import of an Inspect log counted, and what it says that the source had already lost.

Invariant: the sentences depend on the bytes of the log alone; places are named inside the log.
"""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from trial_ledger.importing.inspect_mapping_survey import Survey, reported_scores
from trial_ledger.importing.inspect_reader import InspectLog
from trial_ledger.importing.lenient_json import (
    JsonObject,
    count_at,
    mapping_at,
    text_at,
    whole_text,
)

__all__ = ["Tallies", "losses_of", "reported_of"]

SHOWN_PLACES = 20


class Tallies(msgspec.Struct, kw_only=True):
    """What was counted while the events were written."""

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    """How many of what were read or written, by name."""
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    """Events of the source that have no counterpart, by kind."""
    without_events: list[str] = msgspec.field(default_factory=list)
    """Samples of which the log holds no events."""
    unknown_cost: int = 0
    """Model and judge calls that report no cost."""
    missing: int = 0
    """References that lead nowhere."""
    oversize: int = 0
    """Requests that would unfold to too much."""
    raw_calls: int = 0
    """Model events with the provider's own request and response."""
    intermediate: int = 0
    """Scores that were given while the sample still ran."""
    labels: Counter[str] = msgspec.field(default_factory=Counter)
    """Values without a number or a verdict, by metric."""
    later_sessions: list[str] = msgspec.field(default_factory=list)
    """Samples of which the log holds an earlier record."""
    unnamed: int = 0
    """Edits and invalidations without an author."""
    retried_requests: int = 0
    """Requests that failed and were repeated, of which only the number is known."""


def listing(places: Sequence[str]) -> str:
    """Return places as a list, a long one shortened."""
    more = len(places) - SHOWN_PLACES
    return ", ".join(places[:SHOWN_PLACES]) + (f" and {more} more" if more > 0 else "")


def losses_of(log: InspectLog, survey: Survey, tallies: Tallies) -> list[str]:
    """Return what was already lost or could not be carried over, in plain sentences."""
    found = [*log_losses(log, survey), *slot_losses(log, survey), *event_losses(tallies)]
    return [sentence for sentence in found if sentence]


def log_losses(log: InspectLog, survey: Survey) -> list[str]:
    """Return the sentences about the log as a whole."""
    header = log.header
    return [
        "The run crashed: there is no header.json; the header was read from _journal/start.json,"
        " results and statistics are lost."
        if header.crashed
        else "",
        "The log was written while the run was going on; its end is not shown."
        if header.status == "started"
        else "",
        "Scores reduced over epochs (reductions) were not carried over; they follow from the"
        " samples."
        if header.has_reductions
        else "",
        "The log is marked as invalidated, but not one of its samples is."
        if header.invalidated and not survey.invalidated
        else "",
        f"Members of no known version were not carried over: {listing(header.foreign_members)}."
        if header.foreign_members
        else "",
    ]


def slot_losses(log: InspectLog, survey: Survey) -> list[str]:
    """Return the sentences about planned slots."""
    never = survey.planned - len(survey.present) - len(survey.lost) - survey.uncertain
    size = count_at(mapping_at(log.header.spec, "dataset"), "samples")
    lost = [f"samples/{question}/{repetition}" for question, repetition in survey.lost]
    sentences = {
        f"The log lists no sample ids (size of its dataset: {size}): planned are the questions of"
        f" its samples, {len(survey.questions)}.": not survey.listed,
        f"Questions of samples that the log does not list as planned: {len(survey.unlisted)}"
        f" ({listing(survey.unlisted)}).": survey.listed and survey.unlisted,
        f"Never started: {never} of {survey.planned} planned slots.": never,
        f"Samples that ran and are not in the log: {len(lost)} ({listing(lost)}).": lost,
        "The usage of samples that are not in the log stands only in the log's totals.": (
            (lost or survey.uncertain) and mapping_at(log.header.stats, "model_usage")
        ),
        f"Further samples that ran and are not in the log, without their names:"
        f" {survey.uncertain}.": survey.uncertain,
    }
    return [sentence for sentence, found in sentences.items() if found]


def event_losses(tallies: Tallies) -> list[str]:
    """Return the sentences about what the samples hold."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(tallies.left_out.items()))
    labels = ", ".join(f"{metric} {count}" for metric, count in sorted(tallies.labels.items()))
    calls = tallies.counts["model_calls"] + tallies.counts["judge_calls"]
    sentences = {
        f"Cost not reported, so unknown: {tallies.unknown_cost} of {calls} model and judge"
        " calls.": tallies.unknown_cost,
        f"Samples without events, so that their calls and times are not shown:"
        f" {listing(tallies.without_events)}.": tallies.without_events,
        f"References to attachments or pooled messages that lead nowhere and stand as they were:"
        f" {tallies.missing}.": tallies.missing,
        f"Requests and responses not carried over because they unfold to more than the limit:"
        f" {tallies.oversize}.": tallies.oversize,
        f"Model events whose raw request and response of the provider stand in the source only:"
        f" {tallies.raw_calls}.": tallies.raw_calls,
        f"Intermediate scores that were not carried over: {tallies.intermediate}.": (
            tallies.intermediate
        ),
        f"Values without a number or a verdict, not gradable here and counted as 0 by Inspect:"
        f" {labels}.": labels,
        f"Later records of a sample, of which Inspect counts the last and here each is a session:"
        f" {listing(tallies.later_sessions)}.": tallies.later_sessions,
        f"Edits and invalidations without an author: {tallies.unnamed}.": tallies.unnamed,
        f"Requests that failed and were repeated, of whose failures only the number is known:"
        f" {tallies.retried_requests}.": tallies.retried_requests,
        f"Events of kinds without a counterpart, which stand in the source only: {kinds}.": kinds,
    }
    return [sentence for sentence, found in sentences.items() if found]


def reported_of(results: JsonObject) -> list[dict[str, object]]:
    """Return the numbers that the source itself reports, each as the text it was written with."""
    reported: list[dict[str, object]] = []
    for score in reported_scores(results):
        for name, metric in mapping_at(score, "metrics").items():
            value = metric.get("value") if isinstance(metric, dict) else metric
            reported.append(
                {
                    "score": text_at(score, "name"),
                    "scorer": text_at(score, "scorer") or text_at(score, "name"),
                    "metric": name,
                    "reducer": text_at(score, "reducer"),
                    "value": str(value) if isinstance(value, Decimal) else whole_text(value),
                    "scored_samples": count_at(score, "scored_samples"),
                    "unscored_samples": count_at(score, "unscored_samples"),
                }
            )
    return reported
