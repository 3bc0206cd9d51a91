"""Names of things: trial keys, run names, hashes; how they are written, parsed and compared.

Invariant: every identifier has exactly one text form, and parsing what was printed returns an equal
value.
"""

import re
from functools import lru_cache
from typing import Annotated
from urllib.parse import quote, unquote

import msgspec
from msgspec import Meta

from trial_ledger.errors import InvalidInputError
from trial_ledger.forms import NameForm, form_problems

__all__ = [
    "DEFAULT_SESSION",
    "MAX_INTEGER",
    "Count",
    "EventId",
    "Hash",
    "Name",
    "Positive",
    "RunName",
    "TrialKey",
    "parse_trial",
]

DEFAULT_SESSION = "s1"
"""The session of a trial whose source names none (events.md)."""

MAX_INTEGER = 2**53 - 1
"""Largest integer of the profile: beyond it JSON readers disagree (RFC 8785, 3.2.2.3)."""

Name = Annotated[
    str,
    Meta(
        min_length=1, max_length=256, pattern=r"\A[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*\Z"
    ),
]
"""A short label: no control characters, no lone surrogates, 1 to 256 characters."""

RunName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9._-]{0,79}\Z")]
"""Name of a run, unique in its ledger."""

Hash = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
"""A 256-bit digest as 64 lower-case hex digits."""

EventId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
"""A writer-chosen event id as 32 lower-case hex digits."""

Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
"""An integer from 0 to 2^53 - 1."""

Positive = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
"""An integer from 1 to 2^53 - 1."""


SAFE = " !$&'()*+,:;=[]{}<>?|^~`\"\\"
"""Printable ASCII that needs no escape in a trial's text; `#`, `@`, `%` and `/` do."""


@lru_cache(maxsize=4_096)
def escaped(text: str) -> str:
    """Return a part of a trial's text; kept, since every event of a trial asks for it."""
    return quote(text, safe=SAFE)


class TrialKey(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True, gc=False
):
    """What identifies a trial within a run (C16)."""

    question: NameForm
    """Question id, as the dataset has it."""
    configuration: NameForm
    """The manifest's name of the system under test."""
    repetition: Positive
    """Which repetition of the question, from 1."""
    session: NameForm = DEFAULT_SESSION
    """Which session in that slot."""

    def __str__(self) -> str:
        """Return `question#repetition@session`, percent-escaped; the run implies the rest."""
        return f"{escaped(self.question)}#{self.repetition}@{escaped(self.session)}"

    @property
    def slot(self) -> tuple[str, int]:
        """The planned place that this trial is a session of."""
        return (self.question, self.repetition)


REPETITION = re.compile(r"[0-9]{1,16}")


def parse_trial(text: str, *, configuration: str) -> TrialKey:
    """Return the key that `question#repetition@session` names; `@session` defaults to `s1`.

    Raises:
        InvalidInputError: the text is not of that form.
    """
    question, hash_mark, rest = text.partition("#")
    number, _, session = rest.partition("@")
    if (
        not hash_mark
        or not question
        or REPETITION.fullmatch(number) is None
        or not 1 <= int(number) <= MAX_INTEGER
    ):
        raise InvalidInputError.single(
            "not a trial",
            what="trial",
            found=repr(text[:80]),
            expected="question#repetition[@session]",
        )
    key = TrialKey(
        question=unquote(question),
        configuration=configuration,
        repetition=int(number),
        session=unquote(session) if session else DEFAULT_SESSION,
    )
    problems = form_problems(key)
    if problems:
        raise InvalidInputError(problems, what="trial")
    return key
