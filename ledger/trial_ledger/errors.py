"""Everything this project raises, with the exit code each one becomes.

Invariant: every exception that reaches a user descends from `LedgerError`, states one clause that
names the thing and both values, and may carry a hint with the next command to try.

A failing trial is an event; a failing ledger is one of these::

    LedgerError                     1  something went wrong
    ├─ InvalidInputError            2  what came in is not acceptable (all faults at once)
    │   └─ UnsupportedFormatError   2  made by a newer version of this program
    ├─ RuleError                    3  well formed, but a rule of the contract refuses it
    │   ├─ RefusedError             3  several events of one input were refused
    │   └─ ConflictError            3  the id exists with other content
    ├─ VerificationError            4  stored bytes are not what was written
    ├─ GateError                    5  a gate that was asked for is not met
    ├─ NotFoundError                6  nothing by that name
    │   └─ AmbiguousError           6  more than one thing by that prefix
    └─ StorageError                 7  the file is busy, full, read-only or damaged below SQLite
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import msgspec

__all__ = [
    "AmbiguousError",
    "ConflictError",
    "GateError",
    "InvalidInputError",
    "LedgerError",
    "NotFoundError",
    "Problem",
    "RefusedError",
    "RuleError",
    "StorageError",
    "UnsupportedFormatError",
    "VerificationError",
]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One fault in some input: where it is, what was found, what was expected."""

    message: str
    """What is wrong, in one clause."""
    source: str | None = None
    """The file as the user named it, `-` for standard input; None where there is none."""
    line: int | None = None
    """Line in that file, from 1; None where the format has no lines."""
    field: str | None = None
    """Dotted path of the field, as `data.call`; None where the fault is the whole record."""
    found: str | None = None
    """The offending value, shortened."""
    expected: str | None = None
    """What would have been accepted."""
    clause: str | None = None
    """The contract clause that refuses it, as `C16`; None for faults of form."""

    def __str__(self) -> str:
        """Return the fault on one line, place first."""
        place = ":".join(str(part) for part in (self.source, self.line) if part is not None)
        text = self.message
        if self.field:
            text = f"{self.field}: {text}"
        if self.clause:
            text = f"{text} ({self.clause})"
        if self.found is not None:
            text = f"{text}, found {self.found}"
        if self.expected is not None:
            text = f"{text}, expected {self.expected}"
        return f"{place}: {text}" if place else text


class LedgerError(Exception):
    """Anything that stops an operation; its message is one clause, its hint the next step."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInputError(LedgerError):
    """What came in is not acceptable; carries every fault that was found, not just the first."""

    exit_code = 2

    def __init__(
        self,
        problems: Sequence[Problem],
        *,
        what: str = "input",
        hint: str | None = None,
        nothing_written: bool = True,
    ) -> None:
        assert problems, "an input error must name at least one fault"
        self.problems = tuple(problems)
        self.what = what
        count = len(self.problems)
        faults = "1 fault" if count == 1 else f"{count} faults"
        written = ", nothing written" if nothing_written else ""
        super().__init__(f"{what} not acceptable: {faults}{written}", hint=hint)

    @classmethod
    def single(
        cls,
        message: str,
        *,
        what: str = "input",
        hint: str | None = None,
        source: str | None = None,
        line: int | None = None,
        field: str | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> "InvalidInputError":
        """Return the error for exactly one fault."""
        problem = Problem(
            message=message, source=source, line=line, field=field, found=found, expected=expected
        )
        return cls([problem], what=what, hint=hint)


class UnsupportedFormatError(InvalidInputError):
    """A ledger or document was written in a format that this version does not know."""


class RuleError(LedgerError):
    """A well-formed event that a rule of the contract refuses in the present state."""

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        clause: str | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(f"{message} ({clause})" if clause else message, hint=hint)
        self.clause = clause
        self.field = field
        self.bare_message = message

    def problem(self, *, source: str | None = None, line: int | None = None) -> Problem:
        """Return the refusal as one fault of a larger input."""
        return Problem(
            message=self.bare_message,
            clause=self.clause,
            field=self.field,
            source=source,
            line=line,
        )


class RefusedError(RuleError):
    """Several events of one input were refused; carries every refusal."""

    def __init__(self, problems: Sequence[Problem], *, what: str, hint: str | None = None) -> None:
        assert problems, "a refusal must name at least one event"
        self.problems = tuple(problems)
        count = len(self.problems)
        events = "1 event" if count == 1 else f"{count} events"
        super().__init__(f"{what}: {events} refused, nothing written", hint=hint)


class ConflictError(RuleError):
    """An event of this id is already in the ledger and says something else."""


class VerificationError(LedgerError):
    """Stored bytes are not what was written, or the file is behind what was once seen of it."""

    exit_code = 4


class GateError(LedgerError):
    """A gate asked for with `--require` is not met, or every trial of the run failed."""

    exit_code = 5


class NotFoundError(LedgerError):
    """Nothing in the ledger answers to that name."""

    exit_code = 6


class AmbiguousError(NotFoundError):
    """More than one thing in the ledger begins with that prefix."""

    def __init__(
        self,
        what: str,
        prefix: str,
        candidates: Iterable[str],
        *,
        hint: str = "type more of the name",
    ) -> None:
        names = sorted(candidates)
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")  # noqa: PLR2004 - five fit on a line
        super().__init__(f"{what} {prefix!r} is ambiguous: {shown}", hint=hint)


class StorageError(LedgerError):
    """SQLite or the file system refused: busy, full, read-only, not a database."""

    exit_code = 7
