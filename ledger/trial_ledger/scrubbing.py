"""Keeps secrets out of what is hashed (C11).

Invariant: a known secret value never reaches a document or a blob, and a credential header or key
field of a request is replaced by a marker before hashing. Credential-shaped text inside a response
is evidence: it stays, sealed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote

import msgspec

from trial_ledger.documents.credentials import is_credential_name
from trial_ledger.errors import RuleError
from trial_ledger.events import Actor, AnyData
from trial_ledger.forms import form_problems
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import NewText

__all__ = ["Scrubber", "named_values"]

SHORTEST_SECRET = 8
"""A shorter value is no secret but a word, and replacing it would ruin texts."""

REMOVED = b"[credential removed]"
LONGEST_NAME = 80
"""The end of a longer name decides."""

JSON_MEMBER = re.compile(rb'"\s*:\s*"')
"""From the end of a name to the beginning of its text; searched for first, since it is quick."""
JSON_TEXT = re.compile(rb'(?:[^"\\]|\\.)*')
HEADER = re.compile(rb"^(([A-Za-z0-9-]+):[ \t]*)(\S[^\r\n]*)", re.MULTILINE)
PARAMETER = re.compile(rb'([?&]([A-Za-z0-9_.-]+)=)([^&#\s"\\]+)')


class Scrubber:
    """Replaces the values of the environment variables that a manifest names as secret."""

    def __init__(self, environ: Mapping[str, str], names: frozenset[str]) -> None:
        found = {
            value: f"[secret {name}]"
            for name in sorted(names)
            if len(value := environ.get(name, "").strip()) >= SHORTEST_SECRET
        }
        # A secret that holds another one goes first, so that no rest of it stays.
        self.markers = dict(sorted(found.items(), key=lambda item: -len(item[0])))
        self.forms = [
            (form.encode("utf-8", "surrogateescape"), marker.encode())
            for value, marker in self.markers.items()
            for form in spellings(value)
        ]

    def text(self, field: str, text: NewText) -> NewText:
        """Return a text without secrets, the same object where it had none."""
        content = text.content
        for form, marker in self.forms:
            content = content.replace(form, marker)
        if field == "request":
            content = without_credentials(content)
        media = self.string(text.media)
        if content == text.content and media == text.media:
            return text
        return msgspec.structs.replace(text, content=content, media=media)

    def data(self, data: AnyData) -> AnyData:
        """Return an event's data without secrets in any string.

        Raises:
            RuleError: a secret stands in a field that cannot hold the marker.
        """
        found = self.names_in(data)
        if not found:
            return data
        plain = self.value(msgspec.to_builtins(data))
        try:
            scrubbed = msgspec.convert(plain, type(data))
        except msgspec.ValidationError as error:
            raise refusal("data", found) from error
        problems = form_problems(scrubbed, "data")
        if problems:
            raise refusal(problems[0].field or "data", found)
        return scrubbed

    def refuse(self, field: str, value: Actor | TrialKey) -> None:
        """Refuse a secret in what names a person, a program or a trial.

        Raises:
            RuleError: there is one.
        """
        found = self.names_in(value)
        if found:
            raise refusal(field, found)

    def names_in(self, value: msgspec.Struct) -> list[str]:
        """Return the markers of the secrets that stand in any string of a value."""
        if not self.markers:
            return []
        encoded = msgspec.json.encode(value).decode("utf-8")
        return [
            marker
            for secret, marker in self.markers.items()
            if json.dumps(secret, ensure_ascii=False)[1:-1] in encoded
        ]

    def value(self, value: object) -> object:
        """Return a plain value without secrets in any string of it."""
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        if isinstance(value, dict):
            return {self.string(key): self.value(member) for key, member in value.items()}
        return value

    def string(self, text: str) -> str:
        """Return a string without secrets."""
        for secret, marker in self.markers.items():
            text = text.replace(secret, marker)
        return text


def spellings(secret: str) -> list[str]:
    """Return how a secret may stand in a text: as it is, inside JSON, inside a URL."""
    found = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe="", errors="surrogateescape"),
    }
    return sorted(found, key=len, reverse=True)


def refusal(field: str, found: list[str]) -> RuleError:
    """Return the refusal of secrets where no marker can stand for them."""
    return RuleError(
        f"holds the value of an environment variable: {', '.join(found)}",
        clause="C11",
        field=field,
        hint="give the variable's name instead, or leave it out",
    )


def without_credentials(request: bytes) -> bytes:
    """Return a request in which fields that are known to carry credentials have a marker.

    Fields of JSON, headers of a request that is no JSON, and parameters of a query.
    """
    scrubbed = without_json_credentials(request)
    if request.lstrip()[:1] not in {b"{", b"[", b'"'}:
        scrubbed = HEADER.sub(without_credential, scrubbed)
    return PARAMETER.sub(without_credential, scrubbed)


def without_json_credentials(content: bytes) -> bytes:
    """Return JSON without the texts of credential fields, whatever else stands around it."""
    parts: list[bytes] = []
    done = 0
    for found in JSON_MEMBER.finditer(content):
        start = content.rfind(b'"', done, found.start()) + 1
        name = content[max(start, found.start() - LONGEST_NAME) : found.start()]
        if is_credential(name):
            text = JSON_TEXT.match(content, found.end())
            assert text is not None, "an empty text matches"
            parts += [content[done : found.end()], REMOVED if text[0] else b""]
            done = text.end()
    return b"".join([*parts, content[done:]]) if parts else content


def named_values(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (place, value) of fields of JSON, headers and parameters that carry credentials."""
    for found in JSON_MEMBER.finditer(content):
        start = content.rfind(b'"', 0, found.start()) + 1
        if is_credential(content[max(start, found.start() - LONGEST_NAME) : found.start()]):
            text = JSON_TEXT.match(content, found.end())
            assert text is not None, "an empty text matches"
            yield found.end(), text[0]
    for pattern in (HEADER, PARAMETER):
        for found in pattern.finditer(content):
            if is_credential(found[2]):
                yield found.start(3), found[3]


def without_credential(found: re.Match[bytes]) -> bytes:
    """Return what is left of a named value: its name, and a marker where it is a credential."""
    kept, name, _ = found.groups()
    return kept + REMOVED if is_credential(name) else found[0]


@lru_cache(maxsize=4096)
def is_credential(name: bytes) -> bool:
    """Return whether a field of that name carries a credential."""
    return is_credential_name(name.decode("ascii", "replace"))
