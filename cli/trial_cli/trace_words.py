"""The events of a trace in words, one line of its timeline each.

Invariant: a time, a size or an answer that nobody recorded is called unknown, never left out where
it would be expected and never 0.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from trial_cli.words import decimal_of, wrapped

if TYPE_CHECKING:
    from trial_projections.trace_steps import TraceStep

__all__ = ["class_text", "plural", "seconds_text", "shown_text", "timeline"]

INDENT = 22
"""Where the words of an event begin, after mark, time and place."""
SECOND_US = 1_000_000
MILLISECOND_US = 1_000


def class_text(class_: str | None, detail_class: str | None) -> str:
    """Return a failure class with the source's own word for it, where that says more."""
    return f"{class_}" + (f" ({detail_class})" if detail_class not in {None, class_} else "")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def seconds_text(duration_us: int | None, *, sign: bool = False) -> str:
    """Return a time in seconds of three digits, as `0.214 s`, or `unknown`."""
    if duration_us is None:
        return "unknown"
    text = decimal_of(Fraction(abs(duration_us), SECOND_US))
    before = "-" if duration_us < 0 else "+"
    return f"{before if sign or duration_us < 0 else ''}{text} s"


def shown_text(channel: str | None, seen: str | None) -> str:
    """Return where an occurrence was shown, and whether a person could see it (C25)."""
    if seen == "terminal":
        return f"shown on {channel}: a terminal was there"
    return f"emitted on {channel}: no terminal, not known to be seen"


def timeline(steps: "Sequence[TraceStep]") -> list[str]:
    """Return a line or more for every related event; the others are counted where they stand."""
    lines: list[str] = []
    starts = {step.call: step for step in steps if step.kind == "call.started"}
    hidden: list[TraceStep] = []
    for step in steps:
        if not step.related:
            hidden.append(step)
            continue
        lines += hidden_lines(hidden)
        hidden = []
        lines += step_lines(step, starts)
    return lines + hidden_lines(hidden)


def hidden_lines(hidden: "Sequence[TraceStep]") -> list[str]:
    """Return how many other events stand here."""
    if not hidden:
        return []
    first, last = hidden[0].seq, hidden[-1].seq
    places = f"seq {first}" if first == last else f"seq {first} to {last}"
    return [f"{'':{INDENT}}… {plural(len(hidden), 'other event')}, {places}"]


def step_lines(step: "TraceStep", starts: "Mapping[str | None, TraceStep]") -> list[str]:
    """Return one event: mark, time, place, words."""
    mark = ">" if step.marked else " "
    label = f"{mark} {seconds_text(step.offset_us, sign=True):>10}  {step.seq:>6}  "
    return wrapped(label, words_of(step, starts), indent=max(INDENT, len(label)))


def words_of(step: "TraceStep", starts: "Mapping[str | None, TraceStep]") -> str:
    """Return an event in words."""
    match step.kind:
        case "call.started":
            return started(step, starts)
        case "call.finished" | "response.lost":
            return ended(step)
        case "failure.occurred":
            return failed(step)
        case "failure.recovered" | "failure.assessed" | "failure.surfaced":
            return news(step)
        case _:
            return about_trial(step)


def news(step: "TraceStep") -> str:
    """Return what became of a failure."""
    match step.kind:
        case "failure.recovered":
            call = f", call {step.call}" if step.call else ""
            return f"{step.occurrence} recovered by {step.result}{call}"
        case "failure.assessed":
            return f"{step.occurrence} assessed: impact {step.result}"
        case _:
            return f"{step.occurrence} {shown_text(step.channel, step.result)}"


def of_unknown(count: int | None) -> str:
    """Return a count, or `unknown`."""
    return "unknown" if count is None else str(count)


def started(step: "TraceStep", starts: "Mapping[str | None, TraceStep]") -> str:
    """Return the start of a call, with what it tries again and after how long."""
    name = f" to {step.name}" if step.name is not None else ""
    text = f"{step.purpose} call {step.call}{name}, attempt {step.attempt}"
    if step.endpoint is not None or step.purpose != "tool":
        text += f", endpoint {step.endpoint or 'unknown'}"
    if step.retry_of is None:
        return text
    is_same = starts[step.retry_of].endpoint == step.endpoint
    text += f": {step.retry_of} again, {'same' if is_same else 'another'} endpoint"
    return f"{text}, after {time_text(step.waited_us)}"


def time_text(duration_us: int | None) -> str:
    """Return a time that passed."""
    return "an unknown time" if duration_us is None else seconds_text(duration_us)


def ended(step: "TraceStep") -> str:
    """Return the end of a call, with what came back and whether its reader saw it."""
    if step.kind == "response.lost":
        received, expected = of_unknown(step.bytes_received), of_unknown(step.bytes_expected)
        return f"{step.call} RESPONSE LOST: {received} of {expected} bytes; {seen(step)}"
    text = f"{step.call} {step.result}"
    if step.duration_us is not None:
        text += f" after {seconds_text(step.duration_us)}"
    if step.bytes_received is None:
        text += ", no response recorded"
    else:
        text += f", {plural(step.bytes_received, 'byte')}"
    if step.served is not None and step.served not in {step.name, step.endpoint}:
        text += f" from {step.served}"
    if step.delivered is None and step.purpose in READERS:
        return text  # Whether their replies are used shows in what is done next.
    return f"{text}; {seen(step)}"


READERS = {"model": "agent", "judge": "grader"}
"""Purpose of a call → who reads its response, where that is not the model."""


def seen(step: "TraceStep") -> str:
    """Return whether a response reached its reader."""
    reader = READERS.get(step.purpose or "", "model")
    if step.delivered is None:
        return f"not known whether the {reader} saw it"
    return f"it reached the {reader}" if step.delivered else f"the {reader} saw nothing"


def failed(step: "TraceStep") -> str:
    """Return a failure: class, whose, and what was reported."""
    class_ = class_text(step.class_, step.detail_class)
    text = f"{class_} {step.occurrence}, fault {step.fault or 'unknown'}"
    if step.call is not None:
        text += f", in {step.call}"
    return text if step.message is None else f"{text}: {step.message}"


def about_trial(step: "TraceStep") -> str:
    """Return what is said of the trial as a whole or its verdicts."""
    by = f" by {step.by}" if step.by else ""
    match step.kind:
        case "trial.started":
            return f"trial started, leak check {step.result or 'unknown'}"
        case "trial.finished":
            reason = f" ({step.reason})" if step.reason else ""
            return f"trial finished: {step.result}{reason} after {time_text(step.duration_us)}"
        case "answer.submitted":
            return "answer submitted" if step.result == "answered" else "answer: abstained"
        case "judgment.recorded":
            return f"judged {step.metric}: {step.result or 'no value'}{by}"
        case "judgment.failed":
            return f"judgment of {step.metric} failed: {step.result}"
        case _:
            result = f": {step.result}" if step.result else ""
            return f"{step.kind.replace('.', ' ').replace('_', ' ')}{result}{by}"
