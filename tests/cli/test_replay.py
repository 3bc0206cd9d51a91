"""`ledger replay`: every projection rebuilt while the log is verified."""

import pytest

from cli_cases import Here
from ledger_cases import RUN
from read_cases import sample, too_long
from trial_ledger.keyed_file import projections_path
from trial_ledger.sqlite import sqlite3
from trial_projections.replay import PROJECTIONS

VERSIONS = [(projection.name, projection.version) for projection in PROJECTIONS]


def test_c33_a_replay_prints_root_and_digest(here: Here) -> None:
    """The same every time, stored or not."""
    path = sample(here.folder)
    first = here("replay")
    assert (first.code, first.err) == (0, "")
    lines = first.out.splitlines()
    assert lines[0] == "replayed  128 events, each verified"
    assert [line.split()[0] for line in lines] == ["replayed", "root", "state", "made"]
    assert lines[3] == "made of   " + ", ".join(f"{name} {number}" for name, number in VERSIONS)
    assert too_long(first.out) == []
    assert here("replay").out == first.out
    projections_path(path).unlink()
    assert here("replay").out == first.out


def test_c33_a_check_compares_and_writes_nothing(here: Here) -> None:
    """Nothing stored is nothing to compare; what commands stored is the same."""
    path = sample(here.folder)
    first = here("replay", "--check")
    assert (first.code, first.out.splitlines()[4]) == (
        0, "check     nothing stored to compare with",
    )  # fmt: skip
    assert not projections_path(path).exists()
    here("scores", RUN)
    done = here("replay", "--check")
    assert (done.code, done.out.splitlines()[4]) == (
        0, "check     stored at 128 events: the same",
    )  # fmt: skip


@pytest.mark.parametrize("output_format", ["text", "json", "jsonl"])
def test_c33_a_tampered_row_fails_the_check(here: Here, output_format: str) -> None:
    """Exit code 4 in every form, with what rebuilds it."""
    path = sample(here.folder)
    here("runs")
    connection = sqlite3.connect(projections_path(path))
    connection.execute("UPDATE state SET value = zeroblob(3) WHERE projection = 'failures'")
    connection.commit()
    connection.close()
    done = here("replay", "--check", "--format", output_format)
    assert done.code == 4
    assert done.err == (
        "Error: the stored projections are not those of the log\n"
        "hint: ledger replay rebuilds them\n"
    )
    if output_format == "text":
        assert "check     stored at 128 events: DIFFERENT\n" in done.out
    assert here("replay").code == 0
    assert here("replay", "--check").code == 0


def test_the_other_forms(here: Here) -> None:
    """Everything that the screen shows, and the versions by name."""
    sample(here.folder)
    document = here("replay", "--json").json
    assert (document["schema"], document["size"]) == ("ledger.replay/1", 128)
    assert document["projections"] == dict(VERSIONS)
    assert (document["stored_size"], document["matches"]) == (None, None)
    (row,) = here("replay", "--format", "jsonl").rows
    assert (row["digest"], row["stored_digest"]) == (document["digest"], document["digest"])


def test_as_of_folds_a_part_and_stores_nothing(here: Here) -> None:
    """Up to a seq or a time."""
    path = sample(here.folder)
    done = here("replay", "--as-of", "20")
    assert done.out.startswith("replayed  20 events, each verified\n")
    assert not projections_path(path).exists()
    assert here("replay", "--as-of", "2999-01-01").out.startswith("replayed  128 events")
