"""References inside an Inspect sample, resolved: attachments, pooled inputs, chunked samples.

Invariant: a reference that leads nowhere stays as it is and is counted, so that the import can
say how many; nothing is resolved twice, and no list grows beyond its bound.

Inspect moves long texts into `attachments` (a field that is `attachment://<key>`, formerly
`tc://<key>`) and the messages of model inputs into a pool, from which `input_refs` takes ranges
`[start, end)`. The pool is `events_data.messages`, in some logs `message_pool`. Chunked samples
(log version 3) lie in several members and number their attachments instead of hashing them.
"""

from collections.abc import Mapping, Sequence

from trial_ledger.importing.lenient_json import JsonObject, list_at, mapping_at, text_at

__all__ = ["CARRIED_EVENTS", "resolve_sample"]

PROTOCOLS = ("attachment://", "tc://")
"""What a reference to an attachment begins with, now and formerly."""
RESOLVABLE = (str, dict, list)
"""What may be or hold a reference."""
MAX_INPUT_MESSAGES = 100_000
"""Longest model input; more is a reference bomb, not a conversation."""
RANGE_LENGTH = 2
RESOLVED_FIELDS = ("input", "choices", "target", "messages", "output", "scores", "error", "limit")

CARRIED_EVENTS = frozenset({
    "model", "tool", "subtask", "score", "score_edit", "error", "sample_limit", "sample_init",
    "span_begin", "span_end", "step",
})  # fmt: skip
"""Event kinds that the import reads; of others only the number is told."""


class Resolver:
    """Replaces references by what they mean, and counts those that lead nowhere."""

    def __init__(self, attachments: Mapping[str, object], pool: Sequence[object]) -> None:
        self.attachments = attachments
        self.missing = 0
        self.pool = [self.value(message) for message in pool]

    def value(self, value: object) -> object:
        """Return a value with every attachment in it resolved."""
        if isinstance(value, str):
            return self.text(value) if value.startswith(PROTOCOLS) else value
        if isinstance(value, dict):
            return {
                key: self.value(member) if isinstance(member, RESOLVABLE) else member
                for key, member in value.items()
            }
        if isinstance(value, list):
            return [self.value(member) for member in value]
        return value

    def text(self, reference: str) -> object:
        """Return the attachment that a reference names; itself where it leads nowhere."""
        for protocol in PROTOCOLS:
            found = self.attachments.get(reference.removeprefix(protocol))
            if found is not None and reference.startswith(protocol):
                return found
        self.missing += 1
        return reference

    def event(self, event: JsonObject) -> JsonObject:
        """Return an event with attachments, pooled input and nested events resolved."""
        if text_at(event, "event") not in CARRIED_EVENTS:
            return event
        nested = list_at(event, "events")
        resolved = {
            key: self.value(member)
            for key, member in event.items()
            if key not in {"call", "events", "state"}
        }
        if event.get("call") is not None:
            resolved["call"] = True
        if nested:
            resolved["events"] = self.events(nested)
        references = list_at(event, "input_refs")
        if references and not list_at(event, "input"):
            resolved["input"] = self.pooled(references)
        return resolved

    def events(self, events: Sequence[object]) -> list[JsonObject]:
        """Return the events of a list, whatever else is in it left out."""
        return [self.event(event) for event in events if isinstance(event, dict)]

    def pooled(self, references: Sequence[object]) -> list[object] | None:
        """Return the messages that ranges of the pool name; None where one leads outside of it."""
        messages: list[object] = []
        for reference in references:
            start, end = bounds(reference)
            if not 0 <= start < end <= len(self.pool):
                self.missing += 1
                return None
            messages += self.pool[start:end]
            if len(messages) > MAX_INPUT_MESSAGES:
                self.missing += 1
                return None
        return messages


def bounds(reference: object) -> tuple[int, int]:
    """Return the range that a reference means; an impossible one where it means none."""
    if isinstance(reference, int):
        return reference, reference + 1
    if isinstance(reference, list) and len(reference) == RANGE_LENGTH:
        start, end = reference
        if isinstance(start, int) and isinstance(end, int):
            return start, end
    return 0, 0


def resolve_sample(sample: JsonObject) -> tuple[JsonObject, int]:
    """Return a sample with its references resolved, and how many led nowhere."""
    transcript = mapping_at(sample, "transcript")
    resolver = Resolver(
        attachments_of(sample) or mapping_at(transcript, "content"),
        list_at(mapping_at(sample, "events_data"), "messages") or list_at(sample, "message_pool"),
    )
    resolved = dict(sample)
    for field in RESOLVED_FIELDS:
        if field in resolved:
            resolved[field] = resolver.value(resolved[field])
    final = list_at(sample, "message_refs")
    if final:
        resolved["messages"] = resolver.pooled(final) or []
    resolved["events"] = resolver.events(list_at(sample, "events") or list_at(transcript, "events"))
    resolved["error_retries"] = [
        {**retry, "events": resolver.events(list_at(retry, "events"))}
        for retry in list_at(sample, "error_retries")
        if isinstance(retry, dict)
    ]
    return resolved, resolver.missing


def attachments_of(sample: JsonObject) -> Mapping[str, object]:
    """Return the attachments by key; a chunked sample's list is numbered."""
    numbered = list_at(sample, "attachments")
    if numbered:
        return {str(index): content for index, content in enumerate(numbered)}
    return mapping_at(sample, "attachments")
