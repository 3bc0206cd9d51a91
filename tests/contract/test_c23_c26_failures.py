"""C23 and C26: every failure is kept and counted by class, apart from retrieval misses."""

from typing import get_args

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.errors import InvalidInputError, RuleError
from trial_ledger.events import FailureClass

CLASSES = get_args(FailureClass)


def test_c23_every_class_is_kept_with_its_place(here: Here, log: Log) -> None:
    """Recovered or not, with call, endpoint and attempt; each row names its event."""
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="search", endpoint="search", attempt=2)
    for class_ in CLASSES:
        data = {"occurrence": class_, "class_": class_, "call": "c1", "attempt": 2}
        detail = {"detail_class": "WeirdError"} if class_ == "other" else {}
        log.append("failure.occurred", "q1", {**data, **detail})
    log.act("failure.recovered", "q1", occurrence="timeout", by="retry", call="c1")
    rows = here("failures", RUN, "--format", "jsonl").rows
    assert [row["class"] for row in rows] == list(CLASSES)
    assert {(row["endpoint"], row["attempt"]) for row in rows} == {("search", 2)}
    for row in rows:
        assert log.ledger.read(row["seq"]).hash == row["hash"]
    counts = here("failures", RUN, "--json").json["counts"]
    assert (counts["total"], counts["recovered"]) == (len(CLASSES), 1)


def test_c23_a_class_of_ones_own_is_refused(log: Log) -> None:
    """The list is closed; `other` needs the source's own word."""
    for class_ in ("my_error", "other"):
        with pytest.raises(InvalidInputError):
            log.append("failure.occurred", None, {"occurrence": "f1", "class": class_})


def test_c23_nothing_fails_without_a_recorded_failure(log: Log) -> None:
    """Neither a call nor a judge; and no news of a failure that was never recorded."""
    log.trial("q1", outcome=None, answer=None)
    log.act("call.started", "q1", call="c1", purpose="model", endpoint="model")
    with pytest.raises(RuleError, match=r"a failed call names its failure \(C23\)"):
        log.act("call.finished", "q1", call="c1", status="failed")
    with pytest.raises(RuleError, match=r"occurrence f9 was never recorded \(C23\)"):
        log.act("failure.recovered", "q1", occurrence="f9", by="retry")
    log.act("call.finished", "q1", call="c1", status="ok")
    log.act("trial.finished", "q1", outcome="answered")
    with pytest.raises(RuleError, match=r"a failed judge names its failure \(C23\)"):
        log.act("judgment.failed", "q1", judgment="j1", metric="judged", reason="judge_failed")


def test_c26_misses_are_counted_apart(here: Here, log: Log) -> None:
    """By class with the place of each, and a miss among none of them."""
    log.trial("q1")
    log.act("query.inspected", "q1", verdict="adequate", reason="they name it")
    log.act("retrieval_miss.declared", "q1", missing="the page", reason="not in the results")
    log.act("failure.occurred", "q1", occurrence="f1", class_="timeout")
    document = here("failures", RUN, "--json").json
    assert document["counts"]["by_class"] == {"timeout": 1}
    assert [row["seq"] for row in document["retrieval_misses"]] == [10]
    assert [row["seq"] for row in document["failures"]] == [11]
    shown = here("scores", RUN).out
    assert "failures  1: 0 recovered, 1 not (0 judge), 0 trials lost; misses 1 (apart)\n" in shown
