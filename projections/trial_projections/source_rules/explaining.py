"""Which named rule gives the number that a source published, and how that differs from ours.

Invariant: a rule explains a number only where its exact value rounds to the published digits; a
rule under whose name sources publish such a number comes before one that agrees by chance.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

import msgspec

from trial_ledger.exact import parse_rational, percent_text, rational_text
from trial_projections.aggregate import Range
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.reported import Reported, reported_by_source
from trial_projections.source_rules.computed import Computed
from trial_projections.source_rules.digits import Published, parse_published
from trial_projections.source_rules.facts import RunEvents, RunFacts
from trial_projections.source_rules.registry import all_names, compute, rule_of

__all__ = ["Explanation", "explain_all", "explain_number", "explain_reported"]

Candidates = list[tuple[Computed, Fraction]]
"""What every rule makes of a run that has a number of it, and that number."""


HEADLINE = "headline"
USAGE = "usage"
THOUSAND = 1000
OTHER_WORDS: Mapping[str, tuple[str, ...]] = {
    "correct": ("resolved",),
    "incorrect": ("unresolved", "wrong"),
    "abstained": ("not attempted",),
}
"""What sources call our classes."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A published number beside ours."""

    reported: Reported
    """What the source says."""
    metric: str
    """The metric of ours that it was compared with."""
    rule: str | None
    """Full name of the rule that gives it; None where no rule does."""
    by_name: bool
    """Whether the map names that rule, or sources publish its number so: it is no chance."""
    computed: Computed | None
    """What that rule gives, exactly; None without a rule."""
    others: list[str]
    """Other rules of the same name that give it too."""
    ours: Range | None
    """Our headline; None where the metric is unavailable."""
    difference: str | None
    """The rule's value less ours of the same quantity, rational text; None where either is none."""
    words: str
    """All of it in one sentence."""


def explain_reported(model: ReadModel, run: RunRecord, reported: Reported) -> Explanation:
    """Return which named rule gives a source's number of a run, and how it differs from ours.

    The metric compared is the one that the source's score is named after, else the primary one.

    Args:
        model: an open read model.
        run: the imported run.
        reported: one number of its source, as `reported_by_source` returns it.
    """
    facts = RunFacts(model, run, metric_of(model, run, reported))
    return explain_number(facts, reported, candidates(facts))


def explain_all(model: ReadModel, run: RunRecord) -> list[Explanation]:
    """Return the explanation of every number that the sources of a run report, in their order."""
    events = RunEvents(model, run)
    by_metric: dict[str | None, tuple[RunFacts, Candidates]] = {}
    found: list[Explanation] = []
    for reported in reported_by_source(model, run):
        metric = metric_of(model, run, reported)
        if metric not in by_metric:
            facts = RunFacts(model, run, metric, events=events)
            by_metric[metric] = (facts, candidates(facts))
        facts, known = by_metric[metric]
        found.append(explain_number(facts, reported, known))
    return found


def metric_of(model: ReadModel, run: RunRecord, reported: Reported) -> str | None:
    """Return the metric that a source's score is named after; None for the primary one."""
    return reported.metric if reported.metric in model.rubric(run).metrics else None


def candidates(facts: RunFacts) -> Candidates:
    """Return every rule that has a number of a run, ours first, and that number."""
    computed = (compute(facts, name) for name in all_names(facts))
    return [(found, found.fraction) for found in computed if found.fraction is not None]


def explain_number(facts: RunFacts, reported: Reported, known: Candidates) -> Explanation:
    """Return which named rule gives a source's number under one metric.

    Args:
        facts: the run under that metric.
        reported: the source's number.
        known: what `candidates` returned for the same facts.
    """
    published = parse_published(reported.value)
    giving = [] if published is None else list(giving_rules(known, published, reported))
    # The rule that the map names, then an exact value under a fitting name, then as the rules
    # stand: ours, then outwards.
    giving.sort(
        key=lambda match: (
            match.computed.rule != reported.rule,
            not match.named,
            not match.exact,
        )
    )
    chosen = giving[0] if giving else None
    computed = None if chosen is None else chosen.computed
    ours = None if computed is None else ours_of(facts, computed)
    return Explanation(
        reported=reported,
        metric=facts.metric,
        rule=None if computed is None else computed.rule,
        by_name=chosen is not None and (chosen.named or chosen.computed.rule == reported.rule),
        computed=computed,
        others=[match.computed.rule for match in giving[1:] if match.named],
        ours=facts.score.headline,
        difference=difference_of(computed, ours),
        words=sentence(facts, reported, computed, ours),
    )


class Match(msgspec.Struct, frozen=True):
    """A rule that gives a published number."""

    computed: Computed
    """What it gives."""
    named: bool
    """Whether sources publish its number under that name."""
    exact: bool
    """Whether it gives just the published value, not one that rounds to it."""


def giving_rules(known: Candidates, published: Published, reported: Reported) -> Iterator[Match]:
    """Yield every rule whose value rounds to a published number."""
    for computed, value in known:
        rule, argument = rule_of(computed.rule)
        as_percent = computed.unit is None and published.value > 1 and 0 <= value <= 1
        if published.agrees(value) or (as_percent and published.agrees(value * 100)):
            yield Match(
                computed,
                fits_name(reported.name, rule.known_as, argument),
                published.value in {value, value * 100},
            )


def fits_name(name: str, known_as: Iterable[str], argument: str) -> bool:
    """Return whether sources publish a rule's number under a name."""
    words = plain_words(name)
    return any(
        words == plain_words(known.replace("{}", word))
        for known in known_as
        for word in (argument, *OTHER_WORDS.get(argument, ()))
    )


def plain_words(name: str) -> str:
    """Return a name in lower case, its words parted by single spaces."""
    return " ".join(re.findall(r"[a-z0-9+@^/()]+", name.lower()))


def ours_of(facts: RunFacts, computed: Computed) -> Computed | None:
    """Return our own number of the quantity that a rule gives; None where we have no such number.

    A count of trials or criteria and the agreement of two raters stand for themselves.
    """
    rule, argument = rule_of(computed.rule)
    if rule.instead is None:
        return None
    takes_argument = argument and rule.instead == USAGE
    return compute(facts, f"{rule.instead}:{argument}" if takes_argument else rule.instead)


def difference_of(computed: Computed | None, ours: Computed | None) -> str | None:
    """Return a rule's value less ours, where both have one."""
    if computed is None or ours is None or computed.fraction is None or ours.fraction is None:
        return None
    return rational_text(computed.fraction - ours.fraction)


def sentence(
    facts: RunFacts, reported: Reported, computed: Computed | None, ours: Computed | None
) -> str:
    """Return what the source says, by which rule, and what we say, in one sentence."""
    said = f"source says {reported.name} {reported.value}"
    if reported.rule is not None and (computed is None or computed.rule != reported.rule):
        said += f" by rule {reported.rule}, which does not give that from its records"
    if computed is None:
        headline = shown(facts.score.headline)
        return f"{said}: no named rule gives that from its records; ours {headline}"
    rule, _ = rule_of(computed.rule)
    parts = [f"{said}: rule {computed.rule} {rule.says}"]
    if computed.left_out:
        parts.append(f"left out: {counted(computed.left_out)}")
    if computed.assumed:
        parts.append(f"assumed: {counted(computed.assumed)}")
    if rule.instead == HEADLINE:
        parts.append(f"ours {shown(facts.score.headline)}")
    elif ours is not None and ours.rule != computed.rule:
        parts.append(f"ours {quantity(ours)}")
    return "; ".join(parts)


def quantity(ours: Computed) -> str:
    """Return a time or a number of tokens, as `89.8 s of 1`, or why there is none."""
    if ours.fraction is None:
        return f"has no number: {ours.reason}"
    whole, part = divmod(round(ours.fraction * THOUSAND), THOUSAND)
    digits = f"{whole}.{part:03d}".rstrip("0").rstrip(".")
    return f"{digits} {ours.unit} of {ours.count}"


def counted(entries: dict[str, int]) -> str:
    """Return counts by name, as `trial_errored 9, judge_failed 2`."""
    return ", ".join(f"{name} {times}" for name, times in entries.items())


def shown(headline: Range | None) -> str:
    """Return our headline as `68.1 % (64/94)`, or as the range that it is."""
    if headline is None or headline.low.value is None or headline.high.value is None:
        return "has no number"
    low, high = (
        percent_text(parse_rational(end)) for end in (headline.low.value, headline.high.value)
    )
    count = headline.low.count
    if headline.is_point:
        return f"{low} % ({headline.low.sum} of {count})"
    return f"{low} to {high} % ({headline.low.sum} to {headline.high.sum} of {count})"
