"""Keeps secrets out of what is hashed (C11).

Invariant: a known secret value never reaches a document or a blob, and a credential header or key
field of a request is replaced by a marker before hashing. Credential-shaped text inside a response
is evidence: it stays, sealed.
"""

import re
from collections.abc import Mapping

import msgspec

from trial_ledger.events import AnyData
from trial_ledger.submission import NewText

__all__ = ["Scrubber"]

SHORTEST_SECRET = 8
"""A shorter value is no secret but a word, and replacing it would ruin texts."""

CREDENTIAL_FIELD = re.compile(
    rb'("(?:proxy-)?authorization"|"x-api-key"|"api[-_]key"|"x-subscription-token"|"cookie")'
    rb'(\s*:\s*)"(?:[^"\\]|\\.)*"',
    re.IGNORECASE,
)
"""A header or key field of a JSON request that is known to carry a credential."""

REMOVED = rb'\1\2"[credential removed]"'


class Scrubber:
    """Replaces the values of the environment variables that a manifest names as secret."""

    def __init__(self, environ: Mapping[str, str], names: frozenset[str]) -> None:
        self.markers = {
            value: f"[secret {name}]"
            for name in sorted(names)
            if len(value := environ.get(name, "")) >= SHORTEST_SECRET
        }

    def text(self, field: str, text: NewText) -> NewText:
        """Return a text without secrets, the same object where it had none."""
        content = text.content
        for value, marker in self.markers.items():
            content = content.replace(value.encode(), marker.encode())
        if field == "request":
            content = CREDENTIAL_FIELD.sub(REMOVED, content)
        if content is text.content or content == text.content:
            return text
        return msgspec.structs.replace(text, content=content)

    def data(self, data: AnyData) -> AnyData:
        """Return an event's data without secrets in any string."""
        if not self.markers:
            return data
        encoded = msgspec.json.encode(data)
        if not any(msgspec.json.encode(value)[1:-1] in encoded for value in self.markers):
            return data
        plain = msgspec.to_builtins(data)
        return msgspec.convert(self.value(plain), type(data))

    def value(self, value: object) -> object:
        """Return a plain value without secrets in any string of it."""
        if isinstance(value, str):
            for secret, marker in self.markers.items():
                value = value.replace(secret, marker)
            return value
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        if isinstance(value, dict):
            return {self.value(key): self.value(member) for key, member in value.items()}
        return value
