"""C14: a rubric is frozen before the run; a later one applies only in a derived run."""

import pytest

from cli_cases import Here
from ledger_cases import RUN, small_manifest, small_rubric
from projection_cases import Log
from trial_ledger.errors import RuleError


def derived(log: Log, name: str = "again", **data: object) -> None:
    """Open a run that judges the trials of the first one under a second rubric."""
    log.ledger.freeze([small_rubric(version="2")])
    given = {"derived_from": {"run": RUN, "link": 4}, "rubric": "quality@2", "reason": "stricter"}
    log.open(name, **{**given, **data})


def test_c14_a_manifest_needs_a_frozen_rubric(log: Log) -> None:
    """Without it no manifest is frozen, so no run opens and no trial starts."""
    with pytest.raises(RuleError, match=r"rubric quality@9 is not frozen \(C14\)"):
        log.ledger.freeze([small_manifest(rubric="quality@9", configuration="other")])


def test_c14_a_changed_rubric_is_another_version(log: Log) -> None:
    """Under a taken name and version it is refused with what differs."""
    with pytest.raises(RuleError, match=r"rubric quality@1 exists and differs: max_undecided"):
        log.ledger.freeze([small_rubric(max_undecided="1/2")])


def test_c14_another_rubric_or_metric_judges_nothing_here(log: Log) -> None:
    """A verdict under another rubric's hash, or of a metric that the rubric has not, is refused."""
    log.trial("q1")
    with pytest.raises(RuleError, match=r"is not the run's .*\(C14\)"):
        log.judge("q1", "judged", "correct", rubric="ab" * 32, reasoning="x")
    with pytest.raises(RuleError, match=r"has no metric gone \(C14\)"):
        log.judge("q1", "gone", "correct", reasoning="x")


def test_c14_the_later_rubric_applies_in_a_derived_run_and_is_marked(here: Here, log: Log) -> None:
    """The number is marked `rubric after the fact`, with how many were tried; the old one stays."""
    log.trial("q1")
    log.judge("q1", "judged", "correct", reasoning="x")
    before = here("scores", RUN, "--json").json["metrics"]
    derived(log)
    log.judge("q1", "judged", "incorrect", reasoning="x")
    shown = here("scores", "again").out
    assert "rubric after the fact: derived from fast-01 as of its link 4\n" in shown
    assert "2 rubrics or datasets tried on these trials\n" in shown
    assert "judged                0.0 %         0/10" in shown
    assert here("scores", RUN, "--json").json["metrics"] == before


def test_c14_a_derived_run_only_judges(log: Log) -> None:
    """It starts no trial and takes no answer, invalidation or link that its parent has not."""
    log.trial("q1")
    derived(log)
    for kind, data in (
        ("trial.started", {"input": "which?"}),
        ("trial.invalidated", {"reason": "wrong"}),
    ):
        with pytest.raises(RuleError, match=r"again only judges the trials of fast-01 \(C14\)"):
            log.append(kind, "q1", data)
    with pytest.raises(RuleError, match=r"link 99 is not one of the 4 of run fast-01 \(C14\)"):
        derived(log, "more", derived_from={"run": RUN, "link": 99})
    with pytest.raises(RuleError, match=r"run again is derived itself \(C14\)"):
        derived(log, "twice", derived_from={"run": "again", "link": 1})
