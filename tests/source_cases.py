"""Real record sets in tests: through an adapter and the real commands into a ledger, then read."""

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from blake3 import blake3

from adapters.submissions import Adapted, lines
from cli_cases import LEDGER, Result, ledger
from trial_cli.main import run
from trial_ledger.book import Ledger
from trial_ledger.events import SourceImported
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.scores import MetricScore, score_metric
from trial_projections.source_rules.computed import Computed
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.registry import compute

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
REAL_DATA = Path(os.environ.get("LEDGER_REAL_DATA") or BESIDE)
MAPS = Path(__file__).resolve().parent / "maps"
EXPECTED = REAL_DATA / "expected.csv"


WHOLE = 0
"""In place of places: a count, or a binary float in full."""
FLOAT_NOISE = Fraction(1, 10**12)


class Row(NamedTuple):
    """One published number."""

    quantity: str
    """What the row calls it."""
    text: str
    """The number as it was published."""
    recomputed: str
    """The same in full, as somebody else computed it from the records with binary floats."""


def needs(*parts: str) -> pytest.MarkDecorator:
    """Return the mark of tests that need a folder of the real records."""
    folder = REAL_DATA.joinpath(*parts)
    reason = f"the real records {'/'.join(parts)} are not here: set LEDGER_REAL_DATA"
    return pytest.mark.skipif(not (folder.is_dir() and EXPECTED.is_file()), reason=reason)


def published(name: str) -> list[Row]:
    """Return the published numbers of a set, none where the real records are not here."""
    if not EXPECTED.is_file():
        return []
    rows = csv.reader(EXPECTED.read_text("utf-8").splitlines())
    return [Row(*row[1:4]) for row in rows if row and row[0] == name]


def names_of(rows: list[Row]) -> list[str]:
    """Return what tests of the rows are called."""
    return [row.quantity for row in rows]


class Value(NamedTuple):
    """What comes out of the ledger for a published number."""

    exact: Fraction
    """The value."""
    places: int
    """Places that the source rounds to; `WHOLE` where it does not round."""

    def is_published(self, row: Row) -> bool:
        """Return whether it is the published number, to the digits that were published."""
        half = FLOAT_NOISE if self.places == WHOLE else Fraction(1, 2 * 10**self.places)
        return abs(self.exact - Fraction(row.text)) <= half

    def holds(self, row: Row) -> bool:
        """Return whether it is the published number, and in full the recomputed one."""
        return self.is_published(row) and abs(self.exact - Fraction(row.recomputed)) <= FLOAT_NOISE


def here(folder: Path, *arguments: str) -> Result:
    """Run a real command in this process; a process each would cost more than all the rest."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as world:
        world.chdir(folder)
        world.setenv("XDG_STATE_HOME", str(folder / "state"))
        world.delenv("LEDGER_PATH", raising=False)
        world.setattr(sys, "stdout", out)
        world.setattr(sys, "stderr", err)
        code = run(arguments)
    said = []
    for stream in (out, err):
        stream.flush()
        said.append(stream.buffer.getvalue().decode())
    return Result(code, *said)


def frozen(folder: Path, adapted: Adapted) -> list[str]:
    """Make a ledger in a folder with the documents; return what its manifests are called."""
    assert here(folder, "init").code == 0
    references: list[str] = []
    for number, (arguments, content) in enumerate(adapted.documents()):
        path = folder / f"{number:03d}-{arguments[0]}"
        path.write_bytes(content)
        done = here(folder, "freeze", arguments[0], path.name, *arguments[1:], "--json")
        assert done.code == 0, done.err
        if arguments[0] == "manifest":
            references.append(done.json["reference"])
    return references


def appended(folder: Path, adapted: Adapted) -> None:
    """Make a ledger in a folder out of what an adapter made, with the real commands."""
    references = frozen(folder, adapted)
    events = lines(adapted.numbered_events(references))
    done = ledger(folder, "append", "-", "--derive-ids", stdin=events)
    assert done.code == 0, done.err
    assert len(done.rows) == len(adapted.events)


def imported(folder: Path, map_path: Path, *paths: Path) -> None:
    """Import rows into the ledger in a folder, made where there is none, by a real command."""
    if not (folder / LEDGER).exists():
        assert here(folder, "init").code == 0
    done = ledger(folder, "import", "rows", *paths, "--map", map_path)
    assert done.code == 0, done.err


class Read:
    """The read side of a ledger, whose facts of a run are made once."""

    def __init__(self, model: ReadModel) -> None:
        self.model = model
        self.known: dict[tuple[str, str | None], RunFacts] = {}
        self.sources: dict[str, list[RunRecord]] = {}
        for record in model.runs():
            for mark in record.imported:
                data = model.ledger.read(mark.seq).event.data
                assert isinstance(data, SourceImported)
                for file in data.files:
                    self.sources.setdefault(file.blake3, []).append(record)

    def run_of(self, path: Path, configuration: str = "") -> str:
        """Return the one run of a file, of a configuration whose name begins so."""
        records = self.sources[blake3(path.read_bytes()).hexdigest()]
        names = [
            record.name
            for record in records
            if self.model.manifest(record).configuration.startswith(configuration)
        ]
        assert len(names) == 1, names
        return names[0]

    def facts(self, run: str, metric: str | None = None) -> RunFacts:
        """Return what rules may know of a run under a metric."""
        if (run, metric) not in self.known:
            self.known[run, metric] = RunFacts(self.model, self.model.run(run), metric)
        return self.known[run, metric]

    def computed(self, run: str, rule: str, metric: str | None = None) -> Computed:
        """Return what a rule makes of a run."""
        return compute(self.facts(run, metric), rule)

    def value(self, run: str, rule: str, metric: str | None = None) -> Fraction:
        """Return the number that a rule makes of a run."""
        found = self.computed(run, rule, metric)
        assert found.fraction is not None, found.reason
        return found.fraction

    def score(self, run: str, metric: str | None = None) -> MetricScore:
        """Return our own metric of a run."""
        facts = self.facts(run, metric)
        return score_metric(facts.source, facts.metric)

    def ours(self, run: str, metric: str | None = None) -> str:
        """Return our headline as `18 of 30`, or `18 to 21 of 30` where it is a range."""
        headline = self.score(run, metric).headline
        assert headline is not None
        low, high = headline.low, headline.high
        ends = low.sum if headline.is_point else f"{low.sum} to {high.sum}"
        return f"{ends} of {low.count}"


@contextmanager
def reading(folder: Path) -> Iterator[Read]:
    """Open the read side of the ledger in a folder."""
    with Ledger.open(folder / LEDGER) as opened:
        model = ReadModel.open(opened)
        yield Read(model)
        model.close()
