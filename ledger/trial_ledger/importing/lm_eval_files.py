"""Which files make one evaluation of the lm-evaluation-harness: results, and samples of each task.

Invariant: names and folders alone decide here, nothing is read; a samples file belongs to exactly
one results file, or the pairing is refused.

The harness writes `results_<date>.json` (or `<stem>_<date>.json`) and, with `--log_samples`,
`samples_<task>_<date>.jsonl` beside it, one for each task. A results file without a date in its
name was renamed, or comes from an older version; every samples file beside it is taken for its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from trial_ledger.errors import NotFoundError, Problem

__all__ = [
    "Siblings",
    "evaluation_files",
    "evaluation_of",
    "is_lm_eval_file",
    "is_samples_file",
    "siblings_of",
]

DATE = r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}(?:\.[0-9]+)?)"
SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_{DATE})?\.jsonl", re.DOTALL)
RESULTS = re.compile(rf"(?!samples_).+_{DATE}\.json|results\.json", re.DOTALL)
NOT_IN_OLD_NAMES = re.compile(r"\W")
"""Older versions write `_` for these where they name a file after a task."""


class Siblings(msgspec.Struct, frozen=True, kw_only=True):
    """What lies beside a results file and belongs to it."""

    results: Path
    """The results file."""
    samples: Mapping[Path, str]
    """Its samples files, each with the task in its name, sorted."""
    rivals: Sequence[Path]
    """Other results files to which some of the same samples would belong."""

    def samples_of(self, task: str) -> Sequence[Path]:
        """Return the samples files of a task."""
        names = {task, NOT_IN_OLD_NAMES.sub("_", task)}
        return [path for path, name in self.samples.items() if name in names]

    def problems(self, tasks: Sequence[str]) -> Iterator[Problem]:
        """Yield what is wrong with the pairing, for a results file with these tasks."""
        for rival in self.rivals:
            yield Problem(
                message="two results files for the same samples",
                source=str(self.results),
                found=rival.name,
                expected="one of them",
            )
        for task in tasks:
            found = self.samples_of(task)
            if not found:
                yield Problem(
                    message="results without samples",
                    source=str(self.results),
                    field=f"results.{task[:80]}",
                    found="no such file",
                    expected=f"{self.expected_name(task)} beside it",
                )
            elif len(found) > 1:
                yield Problem(
                    message="several samples files for one task",
                    source=str(self.results),
                    field=f"results.{task[:80]}",
                    found=", ".join(path.name for path in found),
                    expected="one",
                )
        named = {path for task in tasks for path in self.samples_of(task)}
        for path, task in self.samples.items():
            if path not in named:
                yield Problem(
                    message="samples without results",
                    source=str(path),
                    found=f"task {task[:80]!r}",
                    expected=f"a task of {self.results.name}",
                )

    def expected_name(self, task: str) -> str:
        """Return how the samples file of a task is called."""
        date = date_of(self.results)
        return f"samples_{task[:80]}_{date or '<date>'}.jsonl"


def date_of(path: Path) -> str | None:
    """Return the date in the name of a results or samples file, None where there is none."""
    match = RESULTS.fullmatch(path.name) or SAMPLES.fullmatch(path.name)
    return None if match is None else match["date"]


def is_samples_file(path: Path) -> bool:
    """Return whether a file is called as samples are."""
    return SAMPLES.fullmatch(path.name) is not None


def is_lm_eval_file(path: Path) -> bool:
    """Return whether a file in a folder is one that the harness may have written."""
    return RESULTS.fullmatch(path.name) is not None or is_samples_file(path)


def belongs(samples: Path, results: Path) -> bool:
    """Return whether a samples file belongs to a results file beside it, by their names."""
    date = date_of(results)
    return date is None or date == date_of(samples)


def neighbours(folder: Path, pattern: re.Pattern[str]) -> Sequence[Path]:
    """Return the files of a folder whose names match, sorted."""
    return sorted(path for path in folder.iterdir() if pattern.fullmatch(path.name))


def siblings_of(results: Path) -> Siblings:
    """Return what lies beside a results file and belongs to it."""
    folder = results.parent
    samples = [path for path in neighbours(folder, SAMPLES) if belongs(path, results)]
    rivals = [
        other
        for other in neighbours(folder, RESULTS)
        if other.name != results.name and any(belongs(path, other) for path in samples)
    ]
    tasks: dict[Path, str] = {}
    for path in samples:
        match = SAMPLES.fullmatch(path.name)
        assert match is not None, "it was chosen by its name"
        tasks[path] = match["task"]
    return Siblings(results=results, samples=tasks, rivals=rivals)


def evaluation_of(path: Path) -> Path:
    """Return the file that stands for an evaluation: for samples their results, if there."""
    if is_samples_file(path):
        for results in neighbours(path.parent, RESULTS):
            if belongs(path, results):
                return results
    return path


def evaluation_files(path: Path) -> Sequence[Path]:
    """Return the evaluations that a file or a folder names, each once, sorted.

    Raises:
        NotFoundError: there is nothing of that name, or nothing in that folder.
    """
    if path.is_file():
        return [evaluation_of(path)]
    if not path.is_dir():
        raise NotFoundError(f"no file {path}", hint="name a results_*.json, or a folder of them")
    inside = sorted(file for file in path.rglob("*") if is_lm_eval_file(file) and file.is_file())
    if not inside:
        raise NotFoundError(f"no results_*.json or samples_*.jsonl under {path}")
    return list(dict.fromkeys(map(evaluation_of, inside)))
