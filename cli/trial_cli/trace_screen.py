"""How `ledger trace` looks: a heading, the timeline, and one labelled paragraph a question.

Invariant: every part of the trace has its line, also where the answer is that nobody knows.
"""

import shlex
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from trial_cli.output import WIDTH, clean
from trial_cli.trace_words import class_text, plural, seconds_text, shown_text, timeline
from trial_cli.words import decimal_of, money_text, percent_range, range_text, wrapped
from trial_ledger.exact import parse_rational, percent_text

if TYPE_CHECKING:
    from trial_projections.aggregate import Range, Share
    from trial_projections.trace import Alike, Trace
    from trial_projections.trace_effect import Effect
    from trial_projections.trace_fate import Attempt, Fate

__all__ = ["screen_lines"]

LABEL = 11
NAMED = 5
"""Calls or places that are named; the JSON form names all."""
TOGETHER = "\u00a0"
"""A blank at which no line is broken."""
DAY = len("2026-10-01")
MINUTE = len("2026-10-01T12:00")


def screen_lines(found: "Trace") -> list[str]:
    """Return a trace on one screen."""
    lines = [*heading(found), "", *timeline(found.steps), ""]
    lines += fate_lines("recovered", found.fates, recovered_text)
    lines += fate_lines("surfaced", found.fates, surfaced_text)
    lines += paragraph("cost", cost_text(found))
    lines += effect_lines(found.effects)
    lines += paragraph("miss?", miss_text(found))
    for place, alike in enumerate(found.alike):
        lines += paragraph("" if place else "alike", alike_text(alike, found.run))
    lines += paragraph("order", order_text(found))
    lines += paragraph("bytes", f"ledger show {found.seq} --raw")
    if found.trial is not None and not all(step.related for step in found.steps):
        lines += paragraph("trial", f"ledger trace {shlex.quote(f'{found.run}/{found.trial}')}")
    return lines


def paragraph(label: str, text: str, *, indent: int = LABEL) -> list[str]:
    """Return a labelled text; a number stays on one line with its sign."""
    return [line.replace(TOGETHER, " ") for line in wrapped(label, text, indent=indent)]


def packed(parts: Sequence[str]) -> list[str]:
    """Return facts two blanks apart, on as many lines as they need."""
    lines = [""]
    for part in map(clean, parts):
        line = f"{lines[-1]}  {part}" if lines[-1] else part
        if len(line) > WIDTH and lines[-1]:
            lines.append(f"  {part}")
        else:
            lines[-1] = line
    return [short for line in lines for short in wrapped("", line, indent=0)]


def heading(found: "Trace") -> list[str]:
    """Return what is traced, where it belongs, and how its trial counts."""
    where = [found.run if found.valid else f"{found.run}  INVALID"]
    if found.derived_from is not None:
        where.append(f"derived from {found.derived_from}")
    where.append(found.trial or "no trial: the run as a whole")
    if found.trial is not None:
        where.append(f"outcome {counted_text(found)}")
    return [*packed([*title(found), f"seq {found.seq}"]), *packed(where)]


def title(found: "Trace") -> list[str]:
    """Return what is traced."""
    match found.subject:
        case "occurrence":
            fate = next(fate for fate in found.fates if fate.seq == found.seq)
            class_ = class_text(fate.class_, fate.detail_class)
            fault = fate.fault or "unknown"
            return [f"{class_} {found.id}", f"fault {fault}", f"impact {fate.impact}"]
        case "call":
            call = next(call for call in found.attempts if call.seq == found.seq)
            return [f"{call.purpose} call {found.id}", call.ending]
        case _:
            return [f"trial {found.trial}", plural(len(found.fates), "failure")]


def counted_text(found: "Trace") -> str:
    """Return how the trial ended, and as what it counts in the first metric that asks it."""
    text = found.outcome or "unfinished"
    asked = next((effect for effect in found.effects if effect.outcome is not None), None)
    if asked is None or asked.outcome is None or asked.why == "other_session":
        return text
    if asked.outcome not in {text, "scored"}:
        text += f", {asked.outcome.replace('_', ' ')}"
    value = "undecided" if asked.score is None else f"scores {asked.score}"
    return f"{text}: {value} in {asked.metric}"


def fate_lines(label: str, fates: "Sequence[Fate]", text_of: "Callable[[Fate], str]") -> list[str]:
    """Return one paragraph for the occurrences of which the same is to be said."""
    groups: dict[str, list[str]] = {}
    for fate in fates:
        groups.setdefault(text_of(fate), []).append(fate.occurrence)
    lines: list[str] = []
    for text, names in groups.items():
        name = f"{', '.join(names)}: " if len(fates) > 1 else ""
        lines += paragraph("" if lines else label, name + text)
    return lines or paragraph(label, "nothing failed here")


def recovered_text(fate: "Fate") -> str:
    """Return what made a failure good, or that nothing did and why, as far as known."""
    if fate.recovered_by is not None:
        call = f", call {fate.recovered_call}" if fate.recovered_call else ""
        when = "; when is not recorded"
        if fate.recovered_after_us is not None:
            when = f", {seconds_text(fate.recovered_after_us)} later"
        return f"by {fate.recovered_by}{call}, seq {fate.recovered_seq}{when}"
    if fate.call is None:
        return "never; it happened in no call that could be tried again"
    calls = ", ".join(f"{known.call} {known.ending}" for known in fate.next_calls)
    if fate.not_tried is None:
        return f"never, though tried again: {calls}"
    reasons = {
        "class_not_retried": f"class {fate.class_} is not in retry.on",
        "attempts_used": f"no more than {plural(fate.not_tried - 1, 'attempt')} allowed",
        "trial_ended": "the trial was stopped",
        "trial_open": "the trial is still open",
        "policy_unknown": "the retry policy is not known",
        "not_recorded": "why is not recorded",
    }
    why = "; ".join(reasons[reason] for reason in fate.why_not)
    text = f"never; attempt {fate.not_tried} not made: {why}"
    return f"{text}. The same was called later: {calls}" if calls else text


def surfaced_text(fate: "Fate") -> str:
    """Return when and where a failure was shown while the run executed."""
    if not fate.surfaced:
        return "not known to be surfaced while the run executed"
    return "; ".join(
        f"{shown_text(known.channel, known.seen)}, seq {known.seq}" for known in fate.surfaced
    )


def cost_text(found: "Trace") -> str:
    """Return what each call cost, or their total where they are many."""
    if not found.attempts:
        return "no call"
    unknown = "; a provider may bill what is unknown" if found.cost.unknown_count else ""
    if len(found.attempts) <= NAMED:
        return ", ".join(call_cost(call) for call in found.attempts) + unknown
    known = money_text(found.cost.known) if found.cost.known_count else ""
    open_part = f"{found.cost.unknown_count} of {len(found.attempts)} calls unknown"
    parts = [known] if known else []
    parts += [open_part] if found.cost.unknown_count else []
    return " + ".join(parts) + unknown


def call_cost(call: "Attempt") -> str:
    """Return what one call cost."""
    if call.cost is None:
        return f"{call.call} unknown"
    return f"{call.call} {money_text({call.cost.currency: call.cost.amount})}"


WORDS = {
    "trial_lost": "the trial was lost by it",
    "judgment_failed": "its judgment was lost by it",
    "trial_itself": "had this trial been right",
    "impact_unknown": "what it did to the answer is not known",
    "impact_degraded": "it degraded the answer, how far is not known",
    "impact_trial_failed": "it is said to have failed the trial, which came to its own end",
    "recovered": "no effect: recovered",
    "impact_none": "no effect: impact none",
    "judging_only": "no effect: it happened in judging, and this metric has its judgment",
    "no_failure": "no effect: nothing failed in this call",
    "other_session": "no effect: another session of the slot counts",
    "invalidated": "no effect: the trial was invalidated before its end and judgment",
    "not_planned": "not asked this question",
    "unavailable": "unavailable in this run",
    "not_started": "no effect: the trial was never started",
    "no_trial": "no effect: it belongs to no trial",
}
"""On what ground an effect rests, in words."""


def effect_lines(effects: "Sequence[Effect]") -> list[str]:
    """Return what is traced does to each metric, those of one ground together."""
    groups: dict[str, list[Effect]] = {}
    for effect in effects:
        groups.setdefault(ground_text(effect), []).append(effect)
    lines: list[str] = []
    for text, members in groups.items():
        label = "" if lines else "effect"
        if members[0].ground == "none":
            named = ", ".join(unchanged_text(effect) for effect in members)
            lines += paragraph(label, f"{text}: {named}" if named else text)
        else:
            lines += paragraph(label, f"{text}:")
            for effect in members:
                lines += paragraph("", changed_text(effect), indent=LABEL + 2)
    return lines


def ground_text(effect: "Effect") -> str:
    """Return on what ground the effect on a metric rests."""
    text = WORDS[effect.why]
    if not effect.why.startswith("impact_") and effect.why != "recovered":
        return text
    outcome = (effect.outcome or "").replace("_", " ")
    text += "; the trial was judged" if effect.judged else f"; the trial counts as {outcome}"
    return text if effect.ground == "none" else f"{text}; at most"


def unchanged_text(effect: "Effect") -> str:
    """Return a metric that stays as it is."""
    if effect.as_it_is is None or effect.why == "not_planned":
        return effect.metric
    return f"{effect.metric} {value_text(effect.as_it_is, effect.scale)}"


def changed_text(effect: "Effect") -> str:
    """Return a metric as it is, and had the trial been right."""
    assert effect.as_it_is is not None, "an unavailable metric has no effect"
    text = f"{effect.metric} {value_text(effect.as_it_is, effect.scale)}"
    if effect.had_it_been_right is None:
        return f"{text}; right instead: no number, since no slot would count"
    if effect.had_it_been_right == effect.as_it_is:
        return f"{text}; right instead: the same"
    right = value_text(effect.had_it_been_right, effect.scale)
    change = difference(effect.as_it_is, effect.had_it_been_right, effect.scale)
    return f"{text}; right instead: {right} ({change})"


def value_text(found: "Range", scale: tuple[str, str]) -> str:
    """Return a number as `39.5/54 73.1 %`, whose parts are not to be separated."""
    return f"{range_text(found)} {percent_range(found, scale)}".replace(" ", TOGETHER)


def difference(old: "Range", new: "Range", scale: tuple[str, str]) -> str:
    """Return by how much a number would be another one, in points of a share."""
    percent = scale == ("0", "1")
    low = signed(change_of(old.low, new.low), percent=percent)
    high = signed(change_of(old.high, new.high), percent=percent)
    return low if low == high else f"{low} at the low end, {high} at the high"


def change_of(old: "Share", new: "Share") -> Fraction:
    """Return the difference of two means."""
    assert old.value is not None, "a number counts something"
    assert new.value is not None, "likewise"
    return parse_rational(new.value) - parse_rational(old.value)


def signed(value: Fraction, *, percent: bool) -> str:
    """Return a difference with its sign, in percentage points for a share."""
    text = percent_text(value, 2) if percent else decimal_of(value)
    return text if text.startswith("-") else f"+{text}"


def miss_text(found: "Trace") -> str:
    """Return whether a retrieval miss can be declared (C22)."""
    places = ", ".join(f"seq {seq}" for seq in found.miss.seqs)
    return {
        "declared": f"declared: {places}",
        "lost_response": f"cannot be declared: a response was lost ({places})",
        "can_be": f"can be declared: the queries were found adequate ({places})",
        "inadequate": f"cannot be declared: the queries were found inadequate ({places})",
        "not_inspected": "cannot be declared yet: the queries were not inspected",
        "no_trial": "cannot be declared: it belongs to no trial",
    }[found.miss.state]


def alike_text(alike: "Alike", run: str) -> str:
    """Return how many other occurrences are alike, when they were, and where the first are."""
    where = f"endpoint {alike.endpoint}" if alike.endpoint else "no endpoint recorded"
    if not alike.count:
        return f"no other {alike.class_} in {run}, {where}"
    text = f"{alike.count} more {alike.class_}, {where}, {minutes_text(alike)}"
    text += f", {alike.recovered} recovered"
    places = ", ".join(str(seq) for seq in alike.seqs[:NAMED])
    return f"{text}: seq {places}" + (", …" if alike.count > NAMED else "")


def minutes_text(alike: "Alike") -> str:
    """Return between which minutes the occurrences lie."""
    if alike.first_at is None or alike.last_at is None:
        return "at unknown times"
    first, last = alike.first_at[:MINUTE], alike.last_at[:MINUTE]
    text = first.replace("T", " ")
    if last != first:
        text += f"-{last[DAY + 1 :]}" if last[:DAY] == first[:DAY] else f" to {last}"
    text = text.replace("T", " ")
    return text + (f" ({alike.unknown_times} at unknown times)" if alike.unknown_times else "")


def order_text(found: "Trace") -> str:
    """Return how far the order was witnessed, and whether intents came before effects."""
    order = found.order
    text = f"not witnessed: {order.run} was {order.entry} after the fact"
    if order.entry == "live":
        text = f"live{intent_text(found.attempts)}"
    if order.judged_in is not None:
        text += f"; judged in {order.judged_in}, {order.judged_entry}"
    return text


def intent_text(attempts: "Sequence[Attempt]") -> str:
    """Return whether the calls were in the log before anything came back of them."""
    late = [call.call for call in attempts if call.recorded_before is False]
    unknown = [call.call for call in attempts if call.recorded_before is None]
    if late:
        return f"; recorded only after something came back: {', '.join(late[:NAMED])}"
    if unknown:
        return f"; not known to be recorded before: {', '.join(unknown[:NAMED])}"
    if not attempts:
        return ""
    if len(attempts) == 1:
        return f"; {attempts[0].seq} was in the log before anything came back"
    return "; each call was in the log before anything came back"
