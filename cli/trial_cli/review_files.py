"""Sheets for people who review elsewhere, and what they bring back: CSV out and in.

Invariant: no file says what was judged; a file brought back is written as a whole or not at all,
and twice is once (C29).
"""

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from blake3 import blake3

from trial_cli.output import Screen, csv_cell, csv_text
from trial_cli.review_act import Opinion, Plan, metric_of, plan_review
from trial_cli.words import wrapped
from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    NotFoundError,
    Problem,
)

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_projections.reading import ReadModel

__all__ = ["export_screen", "import_screen"]

GIVEN = ("verdict", "score", "reviewer", "reason")
"""Columns that the reviewer fills in."""
NEEDED = ("run", "trial", "metric", "verdict", "reason")
"""Columns without which a file says nothing."""
LONGEST_CELL = 10_000_000
PRIVATE_MODE = 0o600


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A filled-in row of a file."""

    line: int
    """Where it ends."""
    run: str
    """The run."""
    trial: str
    """The trial."""
    metric: str
    """The metric."""
    opinion: Opinion
    """What was filled in."""

    @property
    def token(self) -> str:
        """What the same row gives again, and any other row does not."""
        given = self.opinion
        parts = (self.run, self.trial, self.metric, given.actor, given.verdict, given.score)
        text = "\0".join(part or "" for part in (*parts, given.reason))
        return blake3(text.encode()).hexdigest(length=8)


def export_screen(
    model: "ReadModel", run: str, metric: str | None, path: Path, *, include_gold: bool
) -> Screen:
    """Write the sheets of the drawn trials that nobody reviewed; return what is said of it.

    Raises:
        NotFoundError: nothing is drawn, or nothing remains.
        OSError: the file is there already, or cannot be written.
    """
    from trial_projections.review_coverage import coverage_of  # noqa: PLC0415 - slow to import
    from trial_projections.review_sheet import sheets_of  # noqa: PLC0415 - likewise

    record = model.run(run)
    if metric is not None:
        metric_of(model, record, metric)
    source = model.score_input(record)
    names = sorted(source.rubric.metrics) if metric is None else [metric]
    coverages = [coverage_of(model, record, source, name) for name in names]
    drawn = [coverage for coverage in coverages if coverage.plan is not None]
    if not drawn:
        message = f"no drawing of {record.name} as it is now"
        raise NotFoundError(message, hint=f"ledger review draw {record.name} {names[0]}")
    rows: list[dict[str, object]] = [
        {"run": record.name, **msgspec.structs.asdict(sheet), **dict.fromkeys(GIVEN)}
        for coverage in drawn
        for sheet in sheets_of(
            model,
            record,
            source,
            coverage.metric,
            coverage.remaining,
            include_gold=include_gold,
        )
    ]
    if not rows:
        message = f"no drawn trial of {record.name} is left to review"
        raise NotFoundError(message, hint=f"ledger review status {record.name}")
    if not include_gold:
        for row in rows:
            del row["gold"]
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(csv_text(rows))
    value: dict[str, object] = {
        "run": record.name,
        "file": str(path),
        "trials": len(rows),
        "gold": include_gold,
    }
    lines = [
        *wrapped("file", f"{path}: {len(rows)} to review, for your eyes only"),
        *wrapped("fill in", f"{', '.join(GIVEN)}; a row without verdict and score is left out"),
        *wrapped("next", f"ledger review import {path}"),
    ]
    return Screen(schema="ledger.review.export/1", value=value, rows=[value], lines=lines)


def import_screen(ledger: "Ledger", path: Path, actor: str | None) -> Screen:
    """Write the reviews of a file, all or none; return what is said of it.

    Args:
        ledger: a ledger open for writing.
        path: the file.
        actor: the reviewer of rows that name none.

    Raises:
        InvalidInputError: with every fault of every line.
        RefusedError: a guard refuses some.
        OSError: it cannot be read.
    """
    from trial_ledger.batch import Entry  # noqa: PLC0415 - slow to import
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise

    faults: list[Problem] = []
    plans: list[tuple[int, Plan]] = []
    known = 0
    rows = list(rows_of(path, actor))
    model = ReadModel.open(ledger)
    try:
        tokens: set[str] = set()
        for row in rows:
            try:
                plan = planned(model, row, tokens)
            except LedgerError as error:
                faults += placed_problems(error, path, row.line)
                continue
            if plan is None:
                known += 1
            else:
                plans.append((row.line, plan))
    finally:
        model.close()
    if faults:
        raise InvalidInputError(faults, what=str(path), hint="ledger review export makes a file")
    entries = [
        Entry(submission=event, source=str(path), line=line)
        for line, plan in plans
        for event in plan.events
    ]
    found = ledger.append_all(entries, what=str(path))
    opened = sum(not plan.agrees for _, plan in plans)
    value: dict[str, object] = {
        "file": str(path),
        "recorded": len(plans),
        "known": known,
        "agree": len(plans) - opened,
        "disagree": opened,
        "events": len(found),
    }
    lines = [
        *wrapped("recorded", f"{len(plans)} of {len(rows)} reviews, {known} were there already"),
        *wrapped("compared", f"{len(plans) - opened} agree, {opened} disagree"),
    ]
    if opened:
        runs = sorted({plan.about.run for _, plan in plans})
        lines += wrapped("next", f"ledger disagreements {runs[0]}")
    return Screen(schema="ledger.review.import/1", value=value, rows=[value], lines=lines)


def planned(model: "ReadModel", row: Row, tokens: set[str]) -> Plan | None:
    """Return the events of a row; None where an earlier import or row wrote them.

    Raises:
        LedgerError: the row means nothing in this ledger.
    """
    from trial_ledger.identifiers import parse_trial  # noqa: PLC0415 - slow to import
    from trial_projections.fold import key_of  # noqa: PLC0415 - likewise

    run = model.run(row.run)
    key = parse_trial(row.trial, configuration=model.manifest(run).configuration)
    record = model.state("trials").read(key_of(run.name, str(key)))
    names = () if record is None else tuple(review.id for review in record.reviews)
    token = row.token
    if token in tokens or f"r-{token}" in names:
        return None
    tokens.add(token)
    return plan_review(model, run.name, row.trial, row.metric, row.opinion, token=token)


def placed_problems(error: LedgerError, path: Path, line: int) -> list[Problem]:
    """Return the faults of an error with their place in a file."""
    found = [Problem(message=error.message)]
    if isinstance(error, InvalidInputError):
        found = list(error.problems)
    return [
        msgspec.structs.replace(problem, source=str(path), line=line, field=column_of(problem))
        for problem in found
    ]


def column_of(problem: Problem) -> str | None:
    """Return the column that a fault of an option is about."""
    columns = {"--actor": "reviewer", "--verdict, --score": "verdict, score"}
    field = problem.field
    return None if field is None else columns.get(field, field.removeprefix("--"))


def rows_of(path: Path, actor: str | None) -> Iterator[Row]:
    """Yield the filled-in rows of a file.

    Raises:
        InvalidInputError: it is no CSV of the needed columns.
        OSError: it cannot be read.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        csv.field_size_limit(LONGEST_CELL)
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise InvalidInputError(
                [
                    Problem(message="no such column", source=str(path), line=1, expected=name)
                    for name in missing
                ],
                what=str(path),
                hint="ledger review export makes a file",
            )
        for cells in reader:
            row = {name: plain(cells.get(name)) for name in (*NEEDED, *GIVEN)}
            if row["verdict"] or row["score"]:
                yield Row(
                    line=reader.line_num,
                    run=row["run"],
                    trial=row["trial"],
                    metric=row["metric"],
                    opinion=Opinion(
                        verdict=row["verdict"] or None,
                        score=row["score"] or None,
                        reason=row["reason"],
                        actor=row["reviewer"] or actor,
                    ),
                )
    except (UnicodeDecodeError, csv.Error) as error:
        fault = Problem(message="no CSV in UTF-8", source=str(path), found=str(error)[:80])
        raise InvalidInputError([fault], what=str(path)) from error


def plain(cell: str | None) -> str:
    """Return a cell without the apostrophe that kept a spreadsheet from running it."""
    text = "" if cell is None else cell.strip()
    return text[1:] if text.startswith("'") and csv_cell(text[1:]) == text else text
