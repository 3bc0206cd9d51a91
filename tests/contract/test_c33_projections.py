"""C33: scores, failure summaries and costs are projections of the log and of nothing else."""

import pytest

from cli_cases import Here
from ledger_cases import RUN, files_of
from read_cases import sample
from trial_ledger.keyed_file import projections_path

COMMANDS = (
    ("scores", RUN, "--json"),
    ("explain", RUN, "judged", "--json"),
    ("failures", RUN, "--json"),
    ("failures", RUN, "--by", "class,minute", "--json"),
    ("trace", "15", "--json"),
    ("costs", RUN, "--json"),
    ("trials", RUN, "--json"),
    ("runs", "--json"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_c33_deleted_and_rebuilt_the_answers_are_the_same_bytes(
    here: Here, command: tuple[str, ...]
) -> None:
    """With stored projections, without them, and after a replay."""
    path = sample(here.folder)
    first = here(*command).out
    stored = here(*command).out
    projections_path(path).unlink()
    rebuilt = here(*command).out
    assert here("replay").code == 0
    assert first == stored == rebuilt == here(*command).out


def test_c33_reading_changes_neither_log_nor_gold(here: Here) -> None:
    """Projections are written beside the ledger, never into it."""
    path = sample(here.folder)
    before = [file.read_bytes() for file in files_of(path)]
    for command in COMMANDS:
        assert here(*command).code == 0
    assert [file.read_bytes() for file in files_of(path)] == before
    assert projections_path(path).exists()


def test_c33_every_prefix_of_the_log_has_one_answer(here: Here) -> None:
    """`--as-of` gives what a reader saw then, whatever came later."""
    path = sample(here.folder)
    seen = {seq: here("replay", "--as-of", str(seq)).out for seq in (5, 60, 100, 128)}
    assert len(set(seen.values())) == 4
    assert not projections_path(path).exists()
    here("scores", RUN)
    assert {seq: here("replay", "--as-of", str(seq)).out for seq in seen} == seen
