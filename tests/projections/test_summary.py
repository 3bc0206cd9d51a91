"""Everything that `scores` shows of a run, as one value."""

from pathlib import Path

import pytest

from ledger_cases import RUN, full_ledger
from projection_cases import Log
from trial_projections.reading import ReadModel
from trial_projections.summary import summarise


def test_the_sample_run_is_summed_up(tmp_path: Path) -> None:
    """One size of the log, the plan, the metrics, failures, misses, accounts and marks."""
    with full_ledger(tmp_path) as ledger:
        model = ReadModel.open(ledger)
        found = summarise(model, model.run(RUN))
        model.close()
        assert (found.ledger, found.size) == (ledger.id, ledger.store.size())
    assert (found.configuration, found.phase, found.primary) == ("local", "final", "exact")
    assert (found.questions, found.repetitions, found.splits) == (10, 1, ())
    assert [metric.name for metric in found.metrics] == ["exact", "judged"]
    assert (found.failures.total, found.failures.recovered) == (4, 1)
    assert (found.trials_lost, found.misses, found.reported) == (2, 1, [])
    assert [account.name for account in found.accounts] == ["inference", "search", "judge"]
    assert found.trust[0].level == "ok"
    assert not found.all_failed


@pytest.mark.parametrize(
    ("outcomes", "closed", "failed"),
    [
        ((), False, False),
        (("errored",), False, True),
        (("errored", "cancelled"), False, True),
        (("errored", "answered"), False, False),
        (("refused",), False, False),
        ((None,), False, False),
        (("errored", None), False, False),
        ((None,), True, True),
        (("errored", None), True, True),
    ],
)
def test_every_trial_failed(
    log: Log, outcomes: tuple[str | None, ...], closed: bool, failed: bool
) -> None:
    """A trial that still runs has not failed; in a closed run it has."""
    for number, outcome in enumerate(outcomes, 1):
        log.trial(f"q{number}", outcome=outcome, answer=None)
    if closed:
        log.act("run.closed", status="interrupted", reason="power")
    assert log.summary().all_failed is failed


def test_gates_are_met_or_not(log: Log) -> None:
    """Only those that were asked for, in the order in which they were."""
    asked = ("live", "valid", "decided")
    assert log.summary().unmet(asked) == ["live"]
    log.trial("q1")
    log.act("run.invalidated", reason="wrong")
    assert log.summary().unmet(asked) == ["live", "valid", "decided"]
    assert log.summary().unmet(()) == []
    assert log.summary().unmet(["final"]) == []


def test_c13_a_pilot_run_is_not_final(tmp_path: Path) -> None:
    """Nor is one of which nobody says."""
    log = Log(tmp_path, manifest={"phase": "pilot"})
    assert log.summary().unmet(["final"]) == ["final"]


def test_a_derived_run_counts_its_own_failures_and_misses(log: Log) -> None:
    """Those of the trials stand with the parent; what was lost of them is counted."""
    log.trial("q1", outcome="errored")
    log.act("failure.occurred", "q1", occurrence="f1", class_="timeout")
    log.act("query.inspected", "q1", verdict="adequate", reason="they name it")
    log.act("retrieval_miss.declared", "q1", missing="the page", reason="not in the results")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    derived, parent = log.summary(), log.summary(RUN)
    assert (derived.failures.total, derived.misses, derived.trials_lost) == (0, 0, 1)
    assert (parent.failures.total, parent.misses, parent.trials_lost) == (1, 1, 1)
