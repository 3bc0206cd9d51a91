"""What an import of an Inspect log counted, and what it says that the source had already lost.

Invariant: the sentences depend on the bytes of the log alone; places are named inside the log.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from trial_ledger.importing.inspect_json import (
    JsonObject,
    count_at,
    mapping_at,
    text_at,
    whole_text,
)
from trial_ledger.importing.inspect_mapping_survey import Survey, reported_scores
from trial_ledger.importing.inspect_reader import InspectLog

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
    never = survey.planned - len(survey.present) - len(survey.lost)
    size = count_at(mapping_at(log.header.spec, "dataset"), "samples")
    lost = [f"samples/{question}/{repetition}" for question, repetition in survey.lost]
    return [
        f"The log lists no sample ids (its dataset has {size if size is not None else 'unknown'}):"
        f" planned are the {len(survey.questions)} questions of its samples."
        if not survey.listed
        else "",
        f"{len(survey.unlisted)} samples are of questions that the log does not list as planned:"
        f" {listing(survey.unlisted)}."
        if survey.listed and survey.unlisted
        else "",
        f"{never} of {survey.planned} planned slots were never started." if never else "",
        f"{len(lost)} samples ran, but the log does not hold them: {listing(lost)}."
        if lost
        else "",
        f"{survey.uncertain} further samples ran, but nothing says which."
        if survey.uncertain
        else "",
    ]


def event_losses(tallies: Tallies) -> list[str]:
    """Return the sentences about what the samples hold."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(tallies.left_out.items()))
    labels = ", ".join(f"{metric} {count}" for metric, count in sorted(tallies.labels.items()))
    calls = tallies.counts["model_calls"] + tallies.counts["judge_calls"]
    sentences = {
        f"Cost not reported for {tallies.unknown_cost} of {calls} model and judge calls: it is"
        " unknown.": tallies.unknown_cost,
        f"Without events, so that their calls and times are not shown:"
        f" {listing(tallies.without_events)}.": tallies.without_events,
        f"{tallies.missing} references to attachments or pooled messages lead nowhere; they stand"
        " as they were.": tallies.missing,
        f"{tallies.oversize} requests would unfold to more than the limit and were not carried"
        " over.": tallies.oversize,
        f"The provider's own request and response of {tallies.raw_calls} model events were not"
        " carried over; they stand in the source.": tallies.raw_calls,
        f"{tallies.intermediate} intermediate scores were not carried over.": tallies.intermediate,
        f"Values without a number or a verdict, not gradable here and counted as 0 by Inspect:"
        f" {labels}.": labels,
        f"Recorded more than once; Inspect counts the last record, here each is a session:"
        f" {listing(tallies.later_sessions)}.": tallies.later_sessions,
        f"{tallies.unnamed} edits or invalidations name no author.": tallies.unnamed,
        f"{tallies.retried_requests} requests failed and were repeated; of their failures only the"
        " number is known.": tallies.retried_requests,
        f"Events of kinds without a counterpart stand in the source only: {kinds}.": kinds,
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
                    "value": whole_text(value),
                    "scored_samples": count_at(score, "scored_samples"),
                    "unscored_samples": count_at(score, "unscored_samples"),
                }
            )
    return reported
