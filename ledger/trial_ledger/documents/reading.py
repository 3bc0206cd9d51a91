"""Read a document's table and collect every fault in it, each with its place.

Invariant: reading never stops at the first fault; what was refused is read as missing so that the
rest can be looked at, and `Faults.stop` raises before anything is made of it.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from trial_ledger.documents.canonical_form import Json
from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.strict_json import join_path, shorten

__all__ = ["Faults", "Table", "given", "is_name", "kind_or_value", "locate", "nearest"]


class Faults:
    """The faults of one document."""

    def __init__(
        self,
        *,
        source: str | None,
        what: str,
        text: str = "",
        hint: str | None = None,
        lenient: bool = False,
    ) -> None:
        self.source = source
        self.what = what
        self.hint = hint
        self.lenient = lenient
        self.line: int | None = None
        self.fields: set[tuple[int | None, str | None]] = set()
        self.problems: list[Problem] = []
        self.lines = text.splitlines()

    def add(
        self,
        message: str,
        *,
        field: str | None = None,
        found: str | None = None,
        expected: str | None = None,
        clause: str | None = None,
        line: int | None = None,
    ) -> None:
        """Note one fault; its line is the given, the current, or one found by the field's name."""
        self.fields.add((self.line, field))
        self.problems.append(
            Problem(
                message=message,
                source=self.source,
                line=line or self.line or locate(self.lines, field),
                field=field,
                found=found,
                expected=expected,
                clause=clause,
            )
        )

    def stop(self) -> None:
        """Raise if there was any fault.

        Raises:
            InvalidInputError: with all of them.
        """
        if self.problems:
            raise InvalidInputError(self.problems, what=self.what, hint=self.hint)


def locate(lines: Sequence[str], field: str | None) -> int | None:
    """Return the line, from 1, where a TOML field is likely set; None where it cannot be told."""
    if not lines or not field:
        return None
    keys = [part for part in re.split(r"[.\[\]\"]+", field) if part and not part.isdigit()]
    start = 0
    found: int | None = None
    for key in keys:
        quoted = re.escape(key)
        pattern = re.compile(rf"^\s*\[.*\b{quoted}\b.*\]|(^|[\s{{,.])\"?{quoted}\"?\s*(=|\.)")
        hit = next((n for n in range(start, len(lines)) if pattern.search(lines[n])), None)
        if hit is None:
            break
        found = start = hit
    return None if found is None else found + 1


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that looks most like this one, or None."""
    matches = difflib.get_close_matches(word, sorted(known), n=1)
    return matches[0] if matches else None


CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
NAME_LENGTH = 256


class Table:
    """One table of a document: hands out checked fields and remembers which it was asked for."""

    def __init__(
        self,
        values: Mapping[str, Json],
        faults: Faults,
        *,
        path: str | None = None,
        is_list: bool = False,
    ) -> None:
        self.values = values
        self.is_list = is_list
        self.faults = faults
        self.path = path
        self.known: set[str] = set()

    def at(self, key: str | int) -> str:
        """Return the path of a member."""
        return join_path(self.path, int(key) if self.is_list else key)

    def has(self, key: str) -> bool:
        """Return whether the field is given and not null."""
        return self.values.get(key) is not None

    def require(self, *keys: str, clause: str | None = None) -> None:
        """Report each of these fields that is missing or null."""
        for key in keys:
            if not self.has(key):
                self.faults.add("missing", field=self.at(key), clause=clause)

    def reported(self, key: str) -> bool:
        """Return whether a fault of that field is known, so that its consequences are not told."""
        return (self.faults.line, self.at(key)) in self.faults.fields

    def wrong(self, key: str, expected: str, *, clause: str | None = None) -> None:
        """Report the value of a field as not acceptable, unless the field was reported already."""
        if self.reported(key):
            return
        found = self.values.get(key)
        self.faults.add(
            "wrong value",
            field=self.at(key),
            found=kind_or_value(found),
            expected=expected,
            clause=clause,
        )

    def want(self, *keys: str, clause: str | None = None) -> None:
        """Report each of these fields that is missing, unless the document is reconstructed."""
        if not self.faults.lenient:
            self.require(*keys, clause=clause)

    def raw(self, key: str) -> Json:
        """Return a field as it is, null where it is missing."""
        self.known.add(key)
        return self.values.get(key)

    def text(self, key: str) -> str | None:
        """Return a text, None where it is missing."""
        value = self.raw(key)
        if value is not None and not isinstance(value, str):
            self.wrong(key, "text")
            return None
        return value

    def name(self, key: str) -> str | None:
        """Return a short label of 1 to 256 characters without control characters."""
        value = self.text(key)
        if value is not None and not is_name(value):
            self.wrong(key, "1 to 256 characters, none of them a control character")
            return None
        return value

    def choice(self, key: str, choices: Collection[str]) -> str | None:
        """Return one of some words, naming the nearest where it is none."""
        value = self.text(key)
        if value is not None and value not in choices:
            close = nearest(value, choices)
            self.wrong(key, f"{close}" if close else f"one of {', '.join(choices)}")
            return None
        return value

    def integer(self, key: str, *, least: int = 0) -> int | None:
        """Return an integer of at least `least`."""
        value = self.raw(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.wrong(key, f"an integer from {least}")
            return None
        return value

    def boolean(self, key: str) -> bool | None:
        """Return a truth value."""
        value = self.raw(key)
        if value is not None and not isinstance(value, bool):
            self.wrong(key, "true or false")
            return None
        return value

    def names(self, key: str) -> tuple[str, ...] | None:
        """Return a list of distinct labels; None where it is missing."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self.wrong(key, "a list of names")
            return None
        found: dict[str, None] = {}
        for index, member in enumerate(value):
            field = join_path(self.at(key), index)
            if not isinstance(member, str) or not is_name(member):
                self.faults.add(
                    "wrong value", field=field, found=kind_or_value(member), expected="a name"
                )
            elif member in found:
                self.faults.add("stands twice", field=field, found=shorten(member))
            else:
                found[member] = None
        return tuple(found)

    def table(self, key: str) -> "Table | None":
        """Return a table inside this one; None where it is missing."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.wrong(key, "a table")
            return None
        return Table(value, self.faults, path=self.at(key))

    def tables(self, key: str) -> "dict[str, Table]":
        """Return the named tables inside a table: `[models.main]` gives `main`."""
        outer = self.table(key)
        if outer is None:
            return {}
        found: dict[str, Table] = {}
        for name in outer.values:
            inner = outer.table(name)
            if not is_name(name):
                self.faults.add("wrong name", field=outer.at(name), expected="no control character")
            elif inner is not None:
                found[name] = inner
        return found

    def listed(self, key: str) -> "list[Table]":
        """Return the tables of a list: `[[tools]]`."""
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong(key, "a list of tables")
            return []
        found = []
        for index, member in enumerate(value):
            field = join_path(self.at(key), index)
            if isinstance(member, dict):
                found.append(Table(member, self.faults, path=field))
            else:
                self.faults.add(
                    "wrong value", field=field, found=kind_or_value(member), expected="a table"
                )
        return found

    def positions(self, key: str) -> "Table":
        """Return a list as a table whose keys are `0`, `1` and so on; empty where it is none."""
        value = self.raw(key)
        members = value if isinstance(value, list) else []
        numbered = {str(index): member for index, member in enumerate(members)}
        return Table(numbered, self.faults, path=self.at(key), is_list=True)

    def mapping(self, key: str) -> dict[str, Json]:
        """Return a free-form table as it is; empty where it is missing."""
        table = self.table(key)
        return dict(table.values) if table is not None else {}

    def finish(self) -> None:
        """Report every key that nobody asked for, naming the nearest known one."""
        for key in self.values:
            if key not in self.known and not self.reported(key):
                close = nearest(key, self.known)
                listing = ", ".join(sorted(self.known))
                self.faults.add(
                    "unknown key",
                    field=self.at(key),
                    expected=f"{close}" if close else f"one of {listing}",
                )


def is_name(value: str) -> bool:
    """Return whether a text may be a label."""
    return 0 < len(value) <= NAME_LENGTH and CONTROL.search(value) is None


def kind_or_value(value: Json) -> str:
    """Return what to show of a refused value: itself, or its kind where it is a container."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return shorten(value)


def given(**fields: object) -> dict[str, object]:
    """Return the fields that are not None, so that a struct's own defaults fill the others."""
    return {key: value for key, value in fields.items() if value is not None}
