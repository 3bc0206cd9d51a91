"""200 trajectories of a tool-calling agent: pass^k as published, tool failures, recoveries."""

import json
from collections.abc import Iterator
from fractions import Fraction
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
from trial_projections.reported import Reported
from trial_projections.source_rules.explaining import explain_reported

FILE = REAL_DATA / "taubench-gpt4o-airline" / "gpt-4o-airline.json"
MAP = MAPS / "tau-bench.toml"
ROWS = published("taubench")
PLACES = 3

pytestmark = needs("taubench-gpt4o-airline")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger into which the file was imported."""
    made = tmp_path_factory.mktemp("taubench")
    imported(made, MAP, FILE)
    return made


@pytest.fixture(scope="module")
def read(folder: Path) -> Iterator[Read]:
    """Its read side."""
    with reading(folder) as found:
        yield found


def value_of(read: Read, row: Row, path: Path = FILE) -> Value:
    """Return pass^k for the k of a row."""
    k = row.quantity.removeprefix("pass^")
    return Value(read.value(read.run_of(path), f"pass_hat_k:{k}"), PLACES)


def test_every_row_is_asked_for() -> None:
    """As many as the set has; an empty list would prove nothing."""
    assert len(ROWS) == 4


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_number_comes_out_of_the_ledger(read: Read, row: Row) -> None:
    """To its digits, and in full as it was recomputed."""
    assert value_of(read, row).holds(row)


def test_ours_is_the_first_of_them(read: Read) -> None:
    """Of one try pass^1 is the mean reward; more tries in a row are another question."""
    run = read.run_of(FILE)
    assert read.ours(run) == "84 of 200"
    assert read.value(run, "pass_hat_k:1") == Fraction(84, 200)
    told = Reported(metric="reward", name="pass^4", reducer=None, value="0.200")
    found = explain_reported(read.model, read.model.run(run), told)
    assert (found.rule, found.by_name, found.difference) == ("pass_hat_k:4", True, "-11/50")


def test_one_reward_shows_in_every_k(tmp_path: Path) -> None:
    """In a copy, a task that passed four of four tries passes three."""
    records = json.loads(FILE.read_text("utf-8"))
    rewards: dict[int, list[float]] = {}
    for record in records:
        rewards.setdefault(record["task_id"], []).append(record["reward"])
    task = next(task for task, known in rewards.items() if known == [1.0] * 4)
    next(record for record in records if record["task_id"] == task)["reward"] = 0.0
    path = tmp_path / FILE.name
    path.write_text(json.dumps(records), "utf-8")
    imported(tmp_path, MAP, path)
    with reading(tmp_path) as found:
        assert [row for row in ROWS if value_of(found, row, path).is_published(row)] == []


def test_c23_every_error_of_a_tool_is_there_and_49_of_73_were_recovered(
    read: Read, folder: Path
) -> None:
    """In 36 trials, of which 9 passed all the same."""
    run = read.run_of(FILE)
    counts = ledger(folder, "failures", run, "--json").json["counts"]
    assert (counts["total"], counts["recovered"], counts["unrecovered"]) == (73, 49, 24)
    assert counts["by_class"] == {"tool_error": 73}
    hit = [
        slot for slot in read.facts(run).placed if slot.trial is not None and slot.trial.occurrences
    ]
    assert (len(hit), sum(slot.cell.score == "1" for slot in hit)) == (36, 9)


def test_c18_the_simulators_spend_is_not_the_agents(read: Read) -> None:
    """The agent's is unknown for all 200 trials, the simulator's is unknown for 5 and never 0."""
    accounts = {account.name: account for account in read.model.accounts(read.run_of(FILE))}
    agent, others = accounts["inference"], accounts["search"]
    assert (agent.known, agent.unknown_count) == ({}, 200)
    assert round(Fraction(others.known["USD"]), 3) == Fraction("0.503")
    assert (others.known_count, others.calls - 1164 - others.known_count) == (195, 5)


def test_everything_verifies(folder: Path) -> None:
    """The log is intact."""
    assert ledger(folder, "verify").code == 0
