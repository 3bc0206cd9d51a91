"""`ledger invalidate` and `ledger reinstate`: what does not count stays, and both numbers show."""

from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, full, ledger
from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.book import Ledger

PERSON = ("--actor", "Ada", "--reason", "the wrong page was served")
TRIAL_SCREEN = """\
event     seq 129  HASH
before    fast-01/q9#1@s1: counts
after     fast-01/q9#1@s1: INVALIDATED after its end or first judgment, stays in
          the metrics, said Ada
exact     60.0 % 6/10, unchanged
          without invalidated: 55.6 % 5/9 -> 62.5 % 5/8
judged    60.0-70.0 % 6-7/10, unchanged
          without invalidated: 55.6-66.7 % 5-6/9 -> 62.5-75.0 % 5-6/8
undo      ledger reinstate 'fast-01/q9#1@s1' --reason TEXT
"""
RUN_SCREEN = """\
event     seq 129  HASH
before    fast-01: counts
after     fast-01: INVALID, kept and readable, said Ada
exact     60.0 % 6/10, unchanged
          without invalidated: 55.6 % 5/9
judged    60.0-70.0 % 6-7/10, unchanged
          without invalidated: 55.6-66.7 % 5-6/9
undo      ledger reinstate fast-01 --reason TEXT
"""


def hash_of(folder: Path, seq: int) -> str:
    """Return the hash of an event, as far as a screen shows it."""
    with Ledger.open(folder / LEDGER) as book:
        return book.read(seq).hash[:32]


def size_of(folder: Path) -> int:
    """Return how many events the ledger of a folder has."""
    with Ledger.open(folder / LEDGER) as book:
        return book.store.size()


@pytest.mark.parametrize(
    ("name", "screen"), [(f"{RUN}/q9#1", TRIAL_SCREEN), (RUN, RUN_SCREEN)], ids=["trial", "run"]
)
def test_c12_the_whole_screen(tmp_path: Path, name: str, screen: str) -> None:
    """A trial invalidated after its verdict stays in the primary, and both numbers show."""
    full(tmp_path)
    done = ledger(tmp_path, "invalidate", name, *PERSON)
    assert done == (0, screen.replace("HASH", hash_of(tmp_path, 129)), "")
    assert ledger(tmp_path, "verify").code == 0


def test_c12_invalidated_before_its_end_it_leaves_the_denominator(here: Here) -> None:
    """The number changes then, and the screen says why."""
    log = Log(here.folder)
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.trial("q2", outcome=None, answer=None)
    log.ledger.close()
    out = here("invalidate", f"{RUN}/q2#1", *PERSON).out
    assert "INVALIDATED before its end and first judgment, not in the denominator" in out.replace(
        "\n          ", " "
    )
    assert "judged    10.0 % 1/10 -> 11.1 % 1/9\n" in out


@pytest.mark.parametrize("name", [f"{RUN}/q9#1", RUN], ids=["trial", "run"])
def test_c12_reinstated_every_number_is_the_original_one(here: Here, name: str) -> None:
    """The undo command is printed; both events stay."""
    full(here.folder)
    original = here("scores", RUN, "--json").json["metrics"]
    first = here("invalidate", name, *PERSON, "--json").json
    assert (first["schema"], first["before"], first["after"]) == (
        "ledger.invalidate/1", {"valid": True}, {"valid": False},
    )  # fmt: skip
    undo = first["undo"].replace("'", "").split()[1:3]
    second = here(*undo, "--actor", "Bob", "--reason", "it was right", "--json").json
    assert (second["schema"], second["before"], second["after"]) == (
        "ledger.reinstate/1", {"valid": False}, {"valid": True},
    )  # fmt: skip
    assert here("scores", RUN, "--json").json["metrics"] == original
    assert second["undo"].startswith("ledger invalidate ")
    assert size_of(here.folder) == 130
    assert [here("show", str(seq)).code for seq in (129, 130)] == [0, 0]


def test_a_dry_run_shows_the_same_and_writes_nothing(here: Here) -> None:
    """For a run, and for a trial."""
    full(here.folder)
    for number, name in enumerate((RUN, f"{RUN}/q9#1")):
        foreseen = here("invalidate", name, *PERSON, "--dry-run").out.split("\n", 1)
        assert foreseen[0] == f"event     would be seq {129 + number}; nothing was written"
        assert size_of(here.folder) == 128 + number
        assert here("invalidate", name, *PERSON).out.split("\n", 1)[1] == foreseen[1]


def test_rows_say_how_it_stood_and_stands(here: Here) -> None:
    """One a metric, the same in every tabular form."""
    full(here.folder)
    rows = here("invalidate", RUN, *PERSON, "--format", "jsonl").rows
    assert [row["metric"] for row in rows] == ["exact", "judged"]
    assert {(row["valid_before"], row["valid_after"]) for row in rows} == {(True, False)}
    assert here("reinstate", RUN, *PERSON, "--format", "md").out.count("\n") == 4


def test_c12_the_run_that_takes_its_place_is_named(here: Here) -> None:
    """On the screen, and wherever the invalid run is shown."""
    log = Log(here.folder)
    log.open("fast-02")
    log.ledger.close()
    out = here("invalidate", RUN, *PERSON, "--superseded-by", "fast-02").out
    assert "INVALID, kept and readable, superseded by fast-02, said Ada" in out
    assert "superseded by fast-02\n" in here("scores", RUN).out


def test_c14_derived_runs_are_marked_and_unmarked(here: Here) -> None:
    """By the act on a trial of the parent, and by that on the parent itself."""
    log = Log(here.folder)
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    trial = f"{RUN}/q1#1"
    marks = {
        ("invalidate", trial): f"again now bears: 1 trial of parent {RUN} invalidated since",
        ("invalidate", RUN): f"again now bears: parent {RUN} invalidated",
        ("reinstate", RUN): f"again no longer: parent {RUN} invalidated",
        ("reinstate", trial): f"again no longer: 1 trial of parent {RUN} invalidated since",
    }
    for (verb, name), mark in marks.items():
        assert f"derived   {mark}\n" in here(verb, name, *PERSON, "--dry-run").out
        assert f"derived   {mark}\n" in here(verb, name, *PERSON).out
        assert ("invalidated" in here("scores", "again").out) == (name == RUN or verb[0] == "i")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("invalidate", RUN, "--reason", " "), 3, "needs a reason in words (C12)"),
        (("reinstate", RUN), 3, f"run {RUN} is not invalidated (C12)"),
        (("reinstate", f"{RUN}/q9#1"), 3, "trial q9#1@s1 is not invalidated (C12)"),
        (("invalidate", f"{RUN}/q8#1"), 3, "trial q8#1@s1 is already invalidated (C12)"),
        (("invalidate", f"{RUN}/q9#1", "--reason", ""), 3, "needs a reason in words (C12)"),
        (("invalidate", RUN, "--superseded-by", "gone"), 3, "run gone was never opened (C12)"),
        (("invalidate", RUN, "--superseded-by", RUN), 3, f"run {RUN} supersedes itself (C12)"),
        (("invalidate", RUN, "--superseded-by", "A B"), 2, "data.superseded_by: not acceptable"),
        (
            ("invalidate", f"{RUN}/q9#1", "--superseded-by", "gone"),
            2,
            "--superseded-by: a trial is superseded by no run, found 'gone'",
        ),
        (("invalidate", "q9#1"), 2, "trial without a run, found 'q9#1'"),
        (("invalidate", f"{RUN}/q9"), 2, "not a trial, found 'q9'"),
        (("invalidate", f"{RUN}/q77#1"), 6, f"no trial q77#1@s1 in {RUN}"),
        (("invalidate", "slow"), 6, "no run 'slow'"),
        (("reinstate", RUN, "--actor", ""), 2, "--actor: an act of a person names the person"),
    ],
)
def test_c12_bad_cases_through_the_real_command(
    tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Each guard and each wrong form: its exit code, its words, and nothing is written."""
    full(tmp_path)
    verb, name, *more = arguments
    done = ledger(tmp_path, verb, name, *PERSON, *more)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert size_of(tmp_path) == 128


def test_c12_an_invalid_run_is_not_invalidated_twice(here: Here) -> None:
    """Nor does a second reason replace the first."""
    full(here.folder)
    assert here("invalidate", RUN, *PERSON).code == 0
    done = here("invalidate", RUN, *PERSON)
    assert (done.code, f"run {RUN} is already invalidated (C12)" in done.err) == (3, True)


def test_c14_the_trials_of_a_derived_run_are_its_parents(here: Here) -> None:
    """The guard says so with the clause."""
    log = Log(here.folder)
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    done = here("invalidate", "again/q1#1", *PERSON)
    assert done.code == 3
    assert f"again only judges the trials of {RUN} (C14)" in done.err
