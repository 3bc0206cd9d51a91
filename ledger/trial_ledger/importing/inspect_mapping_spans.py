"""Which scorer an event of an Inspect sample belongs to, and whether it is a judge's.

Invariant: every event is placed exactly once, nested ones included, in the order of the log.

Newer logs give spans (`span_begin` with type and parent), older ones `step` events that begin and
end, and tool or subtask events that contain the events of what they started.
"""

from collections.abc import Iterator, Sequence

import msgspec

from trial_ledger.importing.lenient_json import JsonObject, mappings_at, text_at

__all__ = ["Located", "locate"]

SCORER, SCORERS = "scorer", "scorers"
JUDGE_ROLES = frozenset({"grader", "judge"})


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and where it lies."""

    place: str
    """Path in the sample, as `events/12`."""
    event: JsonObject
    """The event."""
    scorer: str | None
    """Scorer during which it happened; empty where only the scoring as a whole is known."""

    @property
    def kind(self) -> str:
        """Kind of the event, empty where it has none."""
        return text_at(self.event, "event") or ""

    @property
    def is_judging(self) -> bool:
        """Whether it is a judge's and not the system's under test."""
        return self.scorer is not None or text_at(self.event, "role") in JUDGE_ROLES


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span."""

    kind: str | None
    """Its type."""
    name: str
    """Its name."""
    parent: str | None
    """Id of the span around it."""


def flatten(events: Sequence[JsonObject], path: str) -> Iterator[tuple[str, JsonObject]]:
    """Yield every event with its path, each followed by the events it contains."""
    for index, event in enumerate(events):
        place = f"{path}/{index}"
        yield place, event
        yield from flatten(mappings_at(event, "events"), f"{place}/events")


def locate(events: Sequence[JsonObject], path: str) -> list[Located]:
    """Return every event with its path and its scorer."""
    flat = list(flatten(events, path))
    spans = dict(found for _, event in flat if (found := span_of(event)) is not None)
    steps: list[tuple[str | None, str]] = []
    located: list[Located] = []
    for place, event in flat:
        follow_step(steps, event)
        scorer = scorer_by_span(spans, text_at(event, "span_id"))
        if scorer is None:
            scorer = next((name for kind, name in steps if kind == SCORER), None)
        located.append(Located(place=place, event=event, scorer=scorer))
    return located


def span_of(event: JsonObject) -> tuple[str, Span] | None:
    """Return the span that an event begins, with its id."""
    key = text_at(event, "id")
    if event.get("event") != "span_begin" or key is None:
        return None
    return key, Span(
        kind=text_at(event, "type"),
        name=text_at(event, "name") or "",
        parent=text_at(event, "parent_id"),
    )


def scorer_by_span(spans: dict[str, Span], key: str | None) -> str | None:
    """Return the outermost scorer around a span, since scores bear its name.

    Empty where only the scoring as a whole is around it, None outside of that too.
    """
    visited: set[str] = set()
    scorer: str | None = None
    while key is not None and key in spans and key not in visited:
        visited.add(key)
        span = spans[key]
        if span.kind == SCORER:
            scorer = span.name
        elif span.kind == SCORERS and scorer is None:
            scorer = ""
        key = span.parent
    return scorer


def follow_step(steps: list[tuple[str | None, str]], event: JsonObject) -> None:
    """Keep the list of steps that are going on, innermost last."""
    if event.get("event") != "step":
        return
    if event.get("action") == "begin":
        steps.append((text_at(event, "type"), text_at(event, "name") or ""))
    elif steps:
        steps.pop()
