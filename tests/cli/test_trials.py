"""`ledger trials`: every session of every slot, with its verdicts."""

from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long

SCREEN = """\
trial     outcome               failures  time    verdicts
q1#1@s1   errored                      1  900 us
q2#1@s1   errored                      1  1 ms
q3#1@s1   answered                     1  300 ms  exact 1, judged judge_failed
q4#1@s1   answered                     1  300 ms  exact 1, judged correct
q5#1@s1   answered                     0  300 ms  exact 1, judged correct
q6#1@s1   answered                     0  300 ms  exact 1, judged correct
q7#1@s1   answered                     0  300 ms  exact 1, judged correct
q8#1@s1   INVALIDATED answered         0  300 ms  exact 1, judged correct
q9#1@s1   answered                     0  300 ms  exact 0, judged incorrect
q10#1@s1  answered                     0  300 ms  exact 0, judged correct*
  verdict*: a person's, in the place of another one
"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def test_the_whole_screen(here: Here) -> None:
    """A line a session, in planned order, in 80 columns."""
    sample(here.folder)
    done = here("trials", RUN)
    assert (done.code, done.out, done.err) == (0, SCREEN, "")


def test_the_other_forms_have_every_field(here: Here) -> None:
    """Judgments by id, failures that were not recovered, calls, and the place of the start."""
    sample(here.folder)
    document = here("trials", RUN, "--json").json
    assert (document["schema"], document["valid"]) == ("ledger.trials/1", True)
    q4, q8, q10 = (document["trials"][number] for number in (3, 7, 9))
    assert (q4["failures"], q4["unrecovered"], q4["calls"]) == (1, 0, 4)
    assert (q8["outcome"], q8["invalidated"], q8["counts"]) == ("answered", True, True)
    assert (q10["judgments"], q10["duration_us"]) == (["j1", "j2", "j3"], 300_000)
    assert here("trials", RUN, "--format", "jsonl").rows == document["trials"]
    assert here("trials", RUN, "--format", "csv").out.count("\n") == 11


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("errored", ["q1#1@s1", "q2#1@s1"]),
        ("answered", [f"q{number}#1@s1" for number in range(3, 11)]),
        ("refused", []),
    ],
)
def test_only_one_outcome(here: Here, outcome: str, expected: list[str]) -> None:
    """Invalidated trials are among them: their outcome is another matter."""
    sample(here.folder)
    rows = here("trials", RUN, "--outcome", outcome, "--format", "jsonl").rows
    assert [row["trial"] for row in rows] == expected
    if not expected:
        assert here("trials", RUN, "--outcome", outcome).out == "no such trial\n"


def test_sessions_that_do_not_count_and_slots_never_started(here: Here, log: Log) -> None:
    """Both are listed; who does not count stands in brackets."""
    log.trial("q1", outcome=None, answer=None)
    log.trial("q1", session="s2")
    log.act("run.invalidated", reason="wrong")
    log.ledger.close()
    lines = here("trials", RUN).out.splitlines()
    assert lines[0] == "fast-01  INVALID"
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["q1#1@s1", "(unfinished)"],
        ["q1#1@s2", "answered"],
        ["q2#1", "not_started"],
    ]
    assert lines[-1] == "  (outcome): another session of the slot counts"
    rows = here("trials", RUN, "--outcome", "not_started", "--format", "jsonl").rows
    assert len(rows) == 9
    assert rows[0]["started_seq"] is None


def test_c14_a_derived_run_shows_its_own_verdicts(here: Here, log: Log) -> None:
    """On the trials of its parent; without any there is nothing to show."""
    log.trial("q1")
    log.trial("q2")
    log.judge("q1", "judged", "incorrect")
    log.open("again", derived_from={"run": RUN, "link": 8}, reason="another rubric")
    log.judge("q1", "judged", "correct")
    log.ledger.close()
    rows = here("trials", "again", "--format", "jsonl").rows
    assert [(row["trial"], row["verdicts"]) for row in rows[:2]] == [
        ("q1#1@s1", "judged correct"),
        ("q2#1@s1", ""),
    ]


def test_long_verdicts_are_cut_at_80_columns(here: Here, tmp_path: Path) -> None:
    """The other forms hold them all."""
    names = [f"a-rather-long-metric-{number}" for number in range(4)]
    metrics = {name: {"measure": "verdict"} for name in names}
    log = Log(tmp_path, rubric={"metrics": metrics, "primary": names[0]})
    log.trial("q1")
    for name in names:
        log.judge("q1", name, "correct", name=name)
    log.ledger.close()
    done = here("trials", RUN)
    assert too_long(done.out) == []
    assert "…" in done.out
    assert names[3] in here("trials", RUN, "--json").json["trials"][0]["verdicts"]


def test_an_unknown_run(here: Here) -> None:
    """Exit code 6."""
    sample(here.folder)
    assert here("trials", "slow").code == 6
