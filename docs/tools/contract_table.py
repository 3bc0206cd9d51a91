"""Keeps the table of the contract in step with the tests that are named after its clauses.

Invariant: a test that is named in the table exists, and a clause that is not open has one.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Row", "faults", "named_tests", "read_rows", "refreshed_table"]

TEST_NAME = re.compile(r"test_c(\d\d)_\w+")
STATES = ("done", "partly", "open")


@dataclass(frozen=True)
class Row:
    """One clause of the table."""

    clause: str
    """As `C16`."""
    cells: tuple[str, ...]
    """What stands between clause and tests."""
    tests: tuple[str, ...]
    """Tests that are named."""
    state: str
    """done, partly or open."""


def named_tests(folder: Path) -> dict[str, list[str]]:
    """Return the names of the tests of every clause, sorted."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in folder.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                match = TEST_NAME.fullmatch(node.name)
                if match is not None:
                    found[f"C{int(match[1])}"].add(node.name)
    return {clause: sorted(names) for clause, names in found.items()}


def read_rows(text: str) -> list[Row]:
    """Return the rows of the table in a Markdown text."""
    rows: list[Row] = []
    for line in text.split("\n"):
        parts = [part.strip() for part in line.strip().strip("|").split(" | ")]
        if re.fullmatch(r"C\d+", parts[0]):
            tests = tuple(re.findall(r"`(test_\w+)`", parts[-2]))
            rows.append(Row(parts[0], tuple(parts[1:-2]), tests, parts[-1].partition(":")[0]))
    return rows


def faults(rows: Sequence[Row], tests: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is wrong with a table: missing clauses, states without tests, dead names."""
    wanted = [f"C{number}" for number in range(1, 37)]
    found = [row.clause for row in rows]
    lines = [] if found == wanted else [f"the table has {found}, expected C1 to C36 in order"]
    for row in rows:
        known = set(tests.get(row.clause, ()))
        if row.state not in STATES:
            lines.append(f"{row.clause}: no state {row.state!r}")
        if row.state != "open" and not row.tests:
            lines.append(f"{row.clause} is {row.state}, but no test is named")
        lines += [
            f"{row.clause} names {name}, which does not exist or is of another clause"
            for name in row.tests
            if name not in known
        ]
    return lines


def refreshed_table(text: str, tests: Mapping[str, Sequence[str]]) -> str:
    """Return a Markdown text with the tests of every clause as they are now."""
    return "\n".join(refreshed_line(line, tests) for line in text.split("\n"))


def refreshed_line(line: str, tests: Mapping[str, Sequence[str]]) -> str:
    """Return a line of the text, with its tests as they are now if it is a row of the table."""
    parts = [part.strip() for part in line.strip().strip("|").split(" | ")]
    if not re.fullmatch(r"C\d+", parts[0]):
        return line
    parts[-2] = "<br>".join(f"`{name}`" for name in tests.get(parts[0], ())) or "-"
    return f"| {' | '.join(parts)} |"
