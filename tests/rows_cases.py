"""Files of rows, maps for them, and what comes of both, built for one test each."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ledger_cases import tools
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.appending import append_runs
from trial_ledger.importing.rows import read_rows
from trial_ledger.importing.source import ImportedRun
from trial_ledger.submission import NewText, Submission

CSV = 'format = "csv"\nconfiguration = {const = "agent-a"}\nid = "id"\n'
"""Start of a map of a CSV file."""
JSONL = CSV.replace("csv", "jsonl")
JSON = CSV.replace("csv", "json")
VERDICT = '[metrics.correct]\nverdict = "ok"\n'
SCORE = '[metrics.points]\nscore = "points"\n'


def write(folder: Path, content: str | bytes | object, text: str) -> tuple[Path, Path]:
    """Write a file of rows and its map; a value that is no text is written as JSON."""
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    file, row_map = folder / "rows.txt", folder / "map.toml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    row_map.write_text(text)
    return file, row_map


def runs(folder: Path, content: str | bytes | object, text: str) -> list[ImportedRun]:
    """Return the runs of a file under a map."""
    return read_rows(*write(folder, content, text))


def only(folder: Path, content: str | bytes | object, text: str) -> ImportedRun:
    """Return the only run of a file under a map."""
    (run,) = runs(folder, content, text)
    return run


def lines(*rows: Mapping[str, object]) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def faults(folder: Path, content: str | bytes | object, text: str) -> list[str]:
    """Return the faults of a file under a map, places without the folder."""
    try:
        runs(folder, content, text)
    except InvalidInputError as error:
        return [str(problem).replace(f"{folder}/", "") for problem in error.problems]
    return []


def events(run: ImportedRun, kind: str | None = None) -> list[Submission]:
    """Return the events of a run, of one kind where it is named."""
    found = list(run.submissions("0" * 64))
    return [event for event in found if kind is None or event.kind == kind]


def data(run: ImportedRun, kind: str) -> list[Mapping[str, Any]]:
    """Return what the events of one kind say."""
    return [event.data for event in events(run, kind)]


def text_of(value: object) -> str:
    """Return what a new text says."""
    assert isinstance(value, NewText)
    return value.content.decode()


def outcomes(run: ImportedRun) -> list[str]:
    """Return how the trials of a run ended."""
    return [str(one["outcome"]) for one in data(run, "trial.finished")]


def labels(run: ImportedRun) -> list[Any]:
    """Return the verdicts and scores of a run, and the reasons of failed judgments."""
    found = [*data(run, "judgment.recorded"), *data(run, "judgment.failed")]
    return [one.get("verdict") or one.get("score") or one["reason"] for one in found]


def losses(run: ImportedRun) -> Sequence[str]:
    """Return what the source had lost."""
    (imported,) = data(run, "source.imported")
    found: list[str] = json.loads(text_of(imported["losses"]))
    return found


def appended(folder: Path, found: Sequence[ImportedRun]) -> Ledger:
    """Return a new ledger that holds some runs."""
    ledger = Ledger.create(folder / "trials.ledger", tools=tools(folder, pins=False))
    append_runs(ledger, found)
    return ledger
