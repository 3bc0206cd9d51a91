"""Five result files of terminal-bench: resolved, accuracy, pass@2 and the published table."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_cases import ledger
from source_cases import (
    MAPS,
    REAL_DATA,
    WHOLE,
    Read,
    Row,
    Value,
    here,
    imported,
    names_of,
    needs,
    published,
    reading,
)
from trial_projections.source_rules.explaining import explain_all

FOLDER = REAL_DATA / "terminal-bench-orca"
MAP = MAPS / "terminal-bench.toml"
ROWS = published("terminal-bench-orca")
ROW = re.compile(r"(?P<file>\S+) (?P<what>.+)")
RULES = {
    "n_resolved": ("count:correct", 1, WHOLE),
    "accuracy (null counts as unresolved)": ("null_counts_against", 1, WHOLE),
    "pass@2 (unbiased)": ("pass_at_k_nulls_against:2", 1, WHOLE),
    "published TBench score %": ("null_counts_against", 100, 2),
}
"""What the source publishes → its rule, in which unit, and to how many places."""
FILES = (
    "qwen3-30b-a3b_grok-fast-1",
    "qwen3-30b-a3b_all",
    "qwen3-32b_all",
    "run-11-stateless-step80-qwen3-coder-30b-a3b",
    "run-11-statefull-step80-qwen3-coder-30b-a3b_meta",
)
"""The files that hold results; of the last pair the two names are exchanged at the source."""

pytestmark = needs("terminal-bench-orca")


def path_of(name: str, folder: Path = FOLDER) -> Path:
    """Return a file by the name that rows use."""
    return folder / f"{name}.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger into which the files were imported."""
    made = tmp_path_factory.mktemp("terminal-bench")
    imported(made, MAP, *(path_of(name) for name in FILES))
    return made


@pytest.fixture(scope="module")
def read(folder: Path) -> Iterator[Read]:
    """Its read side."""
    with reading(folder) as found:
        yield found


def value_of(read: Read, row: Row, folder: Path = FOLDER) -> Value:
    """Return what comes out of the ledger for a published number, under its source's rule."""
    match = ROW.fullmatch(row.quantity)
    assert match is not None, row
    rule, unit, places = RULES[match["what"]]
    run = read.run_of(path_of(match["file"], folder))
    return Value(read.value(run, rule) * unit, places)


def test_every_row_is_asked_for() -> None:
    """As many as the set has, about all five files; an empty list would prove nothing."""
    assert len(ROWS) == 18
    assert {row.quantity.partition(" ")[0] for row in ROWS} == set(FILES)


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_number_comes_out_of_the_ledger(read: Read, row: Row) -> None:
    """To its digits, and in full as it was recomputed."""
    assert value_of(read, row).holds(row)


OURS = {
    "qwen3-30b-a3b_grok-fast-1": ("37 to 44 of 160", {"unjudged": 7}),
    "qwen3-30b-a3b_all": ("15 to 21 of 240", {"unjudged": 6}),
    "qwen3-32b_all": ("20 to 22 of 240", {"unjudged": 2}),
    "run-11-stateless-step80-qwen3-coder-30b-a3b": ("37 to 45 of 240", {"unjudged": 8}),
    "run-11-statefull-step80-qwen3-coder-30b-a3b_meta": ("30 to 44 of 240", {"unjudged": 14}),
}
"""File → our headline: where the tests broke nobody knows, and 0 is only the lower end."""


@pytest.mark.parametrize("name", FILES)
def test_c20_ours_is_a_range_where_the_source_counts_null_against(read: Read, name: str) -> None:
    """Beside the source's rule and its assumption stands ours, with its denominator."""
    run = read.run_of(path_of(name))
    assert (read.ours(run), read.score(run).undecided) == OURS[name]
    theirs = read.computed(run, "null_counts_against")
    assert theirs.assumed == {"unjudged as the lowest score": OURS[name][1]["unjudged"]}
    told = {number.reported.name: number for number in explain_all(read.model, read.model.run(run))}
    assert {name: number.rule for name, number in told.items()} == {
        "n_resolved": "count:correct",
        "accuracy": "null_counts_against",
        "pass@2": "pass_at_k_nulls_against:2",
    }


def test_c23_every_failure_mode_has_its_class_and_fault(read: Read, folder: Path) -> None:
    """An agent that ran out of time, a broken environment and broken tests are three things."""
    run = read.run_of(path_of("qwen3-30b-a3b_all"))
    counts = ledger(folder, "failures", run, "--json").json["counts"]
    assert counts["by_class"] == {
        "agent_timeout": 97, "environment": 4, "judge_unparseable": 3, "timeout": 3,
    }  # fmt: skip
    outcomes = read.score(run).outcomes
    assert (outcomes["correct"], outcomes["environment_fault"]) == (15, 4)


def test_c18_tokens_of_0_are_unknown(read: Read) -> None:
    """104 of 240 trials tell none: null for 4, and 0 for 100 where nobody counted."""
    run = read.run_of(path_of("qwen3-30b-a3b_all"))
    known = read.computed(run, "usage_known:input_tokens")
    assert (known.count, known.left_out) == (136, {"input_tokens unknown": 104})
    assert read.computed(run, "usage:input_tokens").value is None


def test_the_file_whose_name_says_results_is_refused(tmp_path: Path) -> None:
    """Names are exchanged at the source: without rows there is no run, and nothing is written."""
    assert here(tmp_path, "init").code == 0
    wrong = path_of("run-11-statefull-step80-qwen3-coder-30b-a3b")
    done = ledger(tmp_path, "import", "rows", wrong, "--map", MAP)
    assert (done.code, "results" in done.err) == (2, True)


@pytest.mark.parametrize("name", FILES)
def test_one_verdict_shows_in_every_number_of_its_file(tmp_path: Path, name: str) -> None:
    """In a copy, a task that failed every try passes the first."""
    document = json.loads(path_of(name).read_text("utf-8"))
    passed = {row["task_id"] for row in document["results"] if row["is_resolved"]}
    chosen = next(row for row in document["results"] if row["task_id"] not in passed)
    chosen.update(is_resolved=True, failure_mode="unset")
    path = path_of(name, tmp_path)
    path.write_text(json.dumps(document), "utf-8")
    imported(tmp_path, MAP, path)
    rows = [row for row in ROWS if row.quantity.startswith(f"{name} ")]
    assert rows
    with reading(tmp_path) as found:
        assert [row for row in rows if value_of(found, row, tmp_path).is_published(row)] == []


def test_everything_verifies(folder: Path) -> None:
    """The log is intact."""
    assert ledger(folder, "verify").code == 0
