"""100 judged reports: the five published means come out of the ledger."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_cases import ledger
from source_cases import (
    MAPS,
    REAL_DATA,
    Read,
    Row,
    Value,
    imported,
    names_of,
    needs,
    published,
    reading,
)

FILE = REAL_DATA / "drb-race-claude37" / "raw_results.jsonl"
MAP = MAPS / "deep-research-bench.toml"
ROWS = published("drb")
PLACES = 4
METRICS = {"Overall Score": "overall"}

pytestmark = needs("drb-race-claude37")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger into which the file was imported."""
    made = tmp_path_factory.mktemp("drb")
    imported(made, MAP, FILE)
    return made


@pytest.fixture(scope="module")
def read(folder: Path) -> Iterator[Read]:
    """Its read side."""
    with reading(folder) as found:
        yield found


def value_of(read: Read, row: Row, path: Path = FILE) -> Value:
    """Return our own headline of a dimension, which is the source's rule here."""
    metric = METRICS.get(row.quantity, row.quantity.lower().replace(" ", "_"))
    return Value(read.value(read.run_of(path), "headline", metric), PLACES)


def test_every_row_is_asked_for() -> None:
    """As many as the set has; an empty list would prove nothing."""
    assert len(ROWS) == 5


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_number_comes_out_of_the_ledger(read: Read, row: Row) -> None:
    """To its digits, and in full as it was recomputed."""
    assert value_of(read, row).holds(row)


def test_ours_and_the_sources_are_one_rule_here(read: Read) -> None:
    """Every report was judged, so that every mean is over all 100, whatever is left out."""
    score = read.score(read.run_of(FILE), "overall")
    assert (score.planned, score.decided, score.undecided) == (100, 100, {})
    for name in ("headline", "errors_excluded", "complete_case", "null_counts_against"):
        assert read.value(read.run_of(FILE), name) == value_of(read, ROWS[-1]).exact


def test_one_report_shows_in_every_mean(tmp_path: Path) -> None:
    """In a copy, the first report's scores are 0.02 higher: each mean moves by 0.0002."""
    first, *others = FILE.read_text("utf-8").splitlines()
    record = json.loads(first)
    for name, value in record.items():
        if isinstance(value, float):
            record[name] = value + 0.02
    path = tmp_path / FILE.name
    path.write_text("\n".join([json.dumps(record), *others]), "utf-8")
    imported(tmp_path, MAP, path)
    with reading(tmp_path) as found:
        assert [row for row in ROWS if value_of(found, row, path).is_published(row)] == []


def test_everything_verifies(folder: Path) -> None:
    """The log is intact."""
    assert ledger(folder, "verify").code == 0
