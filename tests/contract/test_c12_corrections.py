"""C12: a correction is a new run; the invalid one stays readable and is marked everywhere."""

import pytest

from cli_cases import Here
from ledger_cases import HARNESS, RUN
from projection_cases import Log
from trial_ledger.errors import RuleError

READ_COMMANDS = (
    ("scores", RUN),
    ("explain", RUN),
    ("trials", RUN),
    ("failures", RUN),
    ("costs", RUN),
    ("trace", f"{RUN}/q1#1"),
    ("runs",),
)


def corrected(log: Log) -> None:
    """Invalidate a run with a judged trial, and open the run that takes its place."""
    log.trial("q1")
    log.judge("q1", "judged", "correct", reasoning="compared")
    log.act("run.invalidated", reason="the wrong endpoint was asked")
    log.open("fast-02", supersedes=RUN, reason="asked the wrong endpoint")


@pytest.mark.parametrize("command", READ_COMMANDS, ids=lambda command: command[0])
def test_c12_the_invalid_run_is_readable_and_marked(
    here: Here, log: Log, command: tuple[str, ...]
) -> None:
    """Every reading command still shows it, and every one says INVALID."""
    corrected(log)
    done = here(*command)
    assert done.code == 0
    assert "INVALID" in done.out
    assert "INVALID" not in here(*command, "--as-of", str(log.ledger.store.size() - 2)).out


def test_c12_its_number_stays_what_it_was(here: Here, log: Log) -> None:
    """Invalidating a run changes no score of it."""
    corrected(log)
    after = here("scores", RUN, "--json").json["metrics"]
    before = here("scores", RUN, "--json", "--as-of", str(log.ledger.store.size() - 2)).json
    assert after == before["metrics"]


def test_c12_the_new_run_names_what_it_supersedes(here: Here, log: Log) -> None:
    """And the old one what took its place."""
    corrected(log)
    runs = {row["run"]: row for row in here("runs", "--json").json["runs"]}
    assert (runs["fast-02"]["supersedes"], runs[RUN]["superseded_by"]) == (RUN, "fast-02")
    assert f"supersedes {RUN}, which is kept\n" in here("scores", "fast-02").out


def test_c12_a_run_is_not_corrected_under_its_own_name(log: Log) -> None:
    """A used name is refused, and so is a predecessor that does not exist."""
    with pytest.raises(RuleError, match=r"run fast-01 exists \(C12\)"):
        log.open(RUN)
    with pytest.raises(RuleError, match=r"run gone was never opened \(C12\)"):
        log.open("fast-02", supersedes="gone")


@pytest.mark.parametrize("about", [None, "q1"])
def test_c12_it_takes_a_person_and_a_reason(log: Log, about: str | None) -> None:
    """Neither a program nor an empty explanation invalidates a run or a trial; nor twice."""
    log.trial("q1")
    kind = "run.invalidated" if about is None else "trial.invalidated"
    size = log.ledger.store.size()
    with pytest.raises(RuleError, match=r"act of a named person.*\(C12\)"):
        log.append(kind, about, {"reason": "wrong"}, actor=HARNESS)
    with pytest.raises(RuleError, match=r"needs a reason in words \(C12\)"):
        log.append(kind, about, {"reason": "  "})
    assert log.ledger.store.size() == size
    log.append(kind, about, {"reason": "wrong"})
    with pytest.raises(RuleError, match=r"already invalidated \(C12\)"):
        log.append(kind, about, {"reason": "wrong"})


def test_c12_a_trial_invalidated_after_its_judgment_stays_in_the_metric(
    here: Here, log: Log
) -> None:
    """The number with it is the headline, the one without it is printed beside."""
    log.trial("q1")
    log.judge("q1", "judged", "correct", reasoning="compared")
    log.act("trial.invalidated", "q1", reason="the wrong page")
    shown = here("scores", RUN).out
    assert "judged                10.0 %        1/10" in shown
    assert "  without invalidated 0.0 %         0/9           beside, not instead\n" in shown
