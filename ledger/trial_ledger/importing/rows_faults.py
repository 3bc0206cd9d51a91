"""The faults of somebody's records, each at its row, without drowning in the thousandth of a kind.

Invariant: the first faults of every kind are kept and all are counted; nothing is made of a file in
which there was one.
"""

from collections import Counter

from trial_ledger.documents.records import Place
from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.strict_json import shorten

__all__ = ["RowFaults"]

WHAT = "rows"
HINT = "ledger import rows FILE --suggest prints a map of this file to start from"
LACKING = "no value for"
KEPT = 10
"""Faults of one kind that are shown one by one."""


class RowFaults:
    """Collects what is wrong with the rows of one file."""

    def __init__(self, *, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.counts: Counter[str] = Counter()

    def add(
        self,
        message: str,
        *,
        place: Place | None = None,
        field: str | None = None,
        found: object = None,
        expected: str | None = None,
        clause: str | None = None,
    ) -> None:
        """Note one fault; `field` is the path in the row, `found` the value itself."""
        kind = f"{message}\0{field or ''}"
        self.counts[kind] += 1
        if self.counts[kind] > KEPT:
            return
        path = place.path if place is not None else None
        self.problems.append(
            Problem(
                message=message,
                source=self.source,
                line=place.line if place is not None else None,
                field=".".join(part for part in (path, field) if part) or None,
                found=None if found is None else shorten(found),
                expected=expected,
                clause=clause,
            )
        )

    def lack(self, what: str, where: str, *, place: Place, expected: str) -> None:
        """Note that a row has no value where every row must have one."""
        self.add(f"{LACKING} {what}", place=place, field=where, expected=expected)

    def withdraw(self, where: str) -> None:
        """Forget that rows have no value at a place, because no row at all has that place."""
        self.problems = [
            problem
            for problem in self.problems
            if not (
                problem.message.startswith(LACKING) and f".{problem.field}".endswith(f".{where}")
            )
        ]
        for kind in list(self.counts):
            message, _, field = kind.partition("\0")
            if message.startswith(LACKING) and field == where:
                del self.counts[kind]

    def stop(self, *, hint: str = HINT) -> None:
        """Raise if there was any fault.

        Raises:
            InvalidInputError: with the first of every kind, and how many more of it there were.
        """
        if not self.problems:
            return
        problems = list(self.problems)
        for kind, count in self.counts.items():
            if count > KEPT:
                message, _, field = kind.partition("\0")
                more = f"{message}: {count - KEPT} more rows like this"
                problems.append(Problem(message=more, source=self.source, field=field or None))
        raise InvalidInputError(problems, what=WHAT, hint=hint)
