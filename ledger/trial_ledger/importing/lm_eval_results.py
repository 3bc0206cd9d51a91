"""A results file of the lm-evaluation-harness: what it reports, and of which tasks.

Invariant: a results file that was read reports a metric of every task; its numbers keep their
digits.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.importing.lenient_json import JsonObject, count_at, mapping_at, parse_json
from trial_ledger.importing.source import SourceFile
from trial_ledger.importing.zip_members import Limits
from trial_ledger.strict_json import shorten

__all__ = ["HINT", "STDERR", "WHAT", "Measure", "Results", "problem_of", "read_results"]

WHAT = "lm-eval log"
HINT = "`lm_eval --log_samples` writes both files; then: ledger import lm-eval FOLDER"
METRIC = re.compile(r"(?P<metric>[^,]+),(?P<filter>[^,]+)", re.DOTALL)
STDERR = "_stderr"
"""What the name of a metric's standard error ends in."""


class Measure(NamedTuple):
    """One metric under one filter."""

    metric: str
    """Name of the metric, as `exact_match`."""
    filter: str
    """Name of the filter, as `none`."""

    @property
    def key(self) -> str:
        """Return the source's own name for the two, as `exact_match,none`."""
        return f"{self.metric},{self.filter}"


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """A results file."""

    source: SourceFile
    """Its bytes."""
    content: JsonObject
    """Its outermost object."""
    tasks: Sequence[str]
    """Tasks with a configuration of their own, in the order of the results."""
    groups: Sequence[str]
    """What else has results: means over groups of tasks."""

    def numbers(self, task: str) -> JsonObject:
        """Return what the source reports of a task."""
        return mapping_at(mapping_at(self.content, "results"), task)

    def config(self, task: str) -> JsonObject:
        """Return the configuration of a task."""
        return mapping_at(mapping_at(self.content, "configs"), task)

    def measures(self, task: str) -> Sequence[Measure]:
        """Return the metrics that the source reports of a task, in its order."""
        matches = [match for key in self.numbers(task) if (match := METRIC.fullmatch(key))]
        return [
            Measure(match["metric"], match["filter"])
            for match in matches
            if not match["metric"].endswith(STDERR)
        ]

    def counted(self, task: str, which: str) -> int | None:
        """Return how many documents there are, `original` or `effective`; None where unknown."""
        return count_at(mapping_at(mapping_at(self.content, "n-samples"), task), which)


def problem_of(
    source: SourceFile, message: str, *, line: int | None = None, **further: str | None
) -> Problem:
    """Return a fault of a file."""
    return Problem(message=message, source=source.label, line=line, **further)


def read_results(path: Path, *, limits: Limits) -> Results:
    """Return a results file.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it is none, or reports nothing.
    """
    source = SourceFile.read(path, limit=limits.member_bytes)
    content = parse_json(source.content, source=source.label, what=WHAT)
    if not isinstance(content, dict):
        content = {}
    faults = [
        problem_of(
            source,
            "not a results file of the lm-evaluation-harness",
            field=key,
            found=shorten(content.get(key)) if key in content else "no such field",
            expected="an object with a member for each task",
        )
        for key in ("results", "configs")
        if not mapping_at(content, key)
    ]
    if faults:
        raise InvalidInputError(faults, what=WHAT, hint=HINT)
    reported, configs = mapping_at(content, "results"), mapping_at(content, "configs")
    tasks = [name for name in reported if name in configs]
    found = Results(
        source=source,
        content=content,
        tasks=tasks,
        groups=[name for name in reported if name not in configs],
    )
    faults = [
        problem_of(
            source,
            "no metric is reported",
            field=f"results.{task[:80]}",
            found=shorten(list(found.numbers(task))),
            expected="a member such as exact_match,none",
        )
        for task in tasks
        if not found.measures(task)
    ]
    if not tasks:
        faults.append(
            problem_of(
                source,
                "no task has both results and a configuration",
                found=shorten(list(reported)),
                expected=shorten(list(configs)),
            )
        )
    if faults:
        raise InvalidInputError(faults, what=WHAT, hint=HINT)
    return found
