"""`ledger failures`: every occurrence, recovered or not; retrieval misses apart (C26)."""

from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long

SCREEN = """\
fast-01  4 failures: 1 recovered, 3 not (1 judge); 1 not known to be surfaced
  judge error 1  overloaded 1  rate limited 1  response lost 1

seq  trial    class          fault            recovered  impact        endpoint
  8  q1#1@s1  overloaded     search_provider  no         trial_failed  search
 15  q2#1@s1  response_lost  harness          no         trial_failed  search
 28  q3#1@s1  judge_error    judge            no         unknown       judge
 33  q4#1@s1  rate_limited   search_provider  retry      none          search

misses    1, no failures: q9#1@s1 seq 99

next      ledger trace 8 | ledger failures fast-01 --by class,endpoint
"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def test_c26_the_whole_screen(here: Here) -> None:
    """Counts by class, the list with places, and misses apart, in 80 columns."""
    sample(here.folder)
    done = here("failures", RUN)
    assert (done.code, done.out, done.err) == (0, SCREEN, "")
    assert too_long(done.out) == []


def test_the_json_form_is_complete(here: Here) -> None:
    """Every occurrence with its hash, attempt, purpose and what became of it."""
    sample(here.folder)
    document = here("failures", RUN, "--json").json
    assert (document["schema"], document["valid"]) == ("ledger.failures/1", True)
    assert document["counts"]["unsurfaced"] == 1
    last = document["failures"][-1]
    assert (last["recovered"], last["recovered_seq"], last["purpose"]) == ("retry", 38, "search")
    assert (last["surfaced"], len(last["hash"])) == ("emitted", 64)
    (miss,) = document["retrieval_misses"]
    assert (miss["trial"], miss["seq"], len(miss["hash"])) == ("q9#1@s1", 99, 64)
    assert here("failures", RUN, "--format", "jsonl").rows == document["failures"]
    assert here("failures", RUN, "--format", "md").out.count("\n") == 6


def test_only_what_was_not_recovered(here: Here) -> None:
    """The counts stay those of all."""
    sample(here.folder)
    done = here("failures", RUN, "--unrecovered")
    assert done.out.startswith("fast-01  4 failures: 1 recovered, 3 not")
    assert "rate_limited" not in done.out
    assert len(here("failures", RUN, "--unrecovered", "--format", "jsonl").rows) == 3


def test_nothing_failed(here: Here, log: Log) -> None:
    """None is said in words."""
    log.trial("q1")
    log.ledger.close()
    assert here("failures", RUN).out == (
        "fast-01  0 failures: 0 recovered, 0 not (0 judge); 0 not known to be surfaced\n\nnone\n"
    )


def test_an_invalid_run_and_a_failure_of_unknown_fault(here: Here, log: Log) -> None:
    """Marked, and never blamed on anybody; a failure of the run as a whole has no trial."""
    log.act("failure.occurred", None, occurrence="f1", class_="overloaded", endpoint="e" * 60)
    log.act("run.invalidated", reason="wrong")
    log.ledger.close()
    done = here("failures", RUN)
    assert done.out.startswith("fast-01  INVALID  1 failures:")
    assert too_long(done.out) == []
    (row,) = here("failures", RUN, "--format", "jsonl").rows
    assert (row["trial"], row["fault"], row["endpoint"]) == (None, "unknown", "e" * 60)


def test_a_derived_run_points_at_the_failures_of_its_trials(here: Here, log: Log) -> None:
    """Its own list holds what failed while judging."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    assert "  those of the trials: ledger failures fast-01\n" in here("failures", "again").out


def test_misses_without_failures_are_listed(here: Here, log: Log) -> None:
    """In the order of the log."""
    for question in ("q2", "q1"):
        log.trial(question)
        log.act("query.inspected", question, verdict="adequate", reason="they name it")
        log.act("retrieval_miss.declared", question, missing="the page", reason="not there")
    log.ledger.close()
    shown = here("failures", RUN).out
    assert "none\n\nmisses    2, no failures: q2#1@s1 seq 10, q1#1@s1 seq 15\n" in shown


def test_an_unknown_run(here: Here) -> None:
    """Exit code 6."""
    sample(here.folder)
    assert here("failures", "slow").code == 6
