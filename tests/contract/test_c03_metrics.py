"""C3: metrics with and without trials in which gold leaked stand side by side."""

from pathlib import Path

import pytest

from ledger_cases import RUN, opened, small_ledger, started, trial
from trial_cli.scores_screen import scores_screen
from trial_ledger.book import Ledger
from trial_ledger.submission import Submission
from trial_projections.reading import ReadModel
from trial_projections.summary import RunSummary, summarise


def judged_trial(question: str, verdict: str, *, request: str | None = None) -> list[Submission]:
    """Return a whole trial, judged by code."""
    key = trial(question)
    call = {"call": "c1", "purpose": "search", "endpoint": "search"}
    judgment = {
        "judgment": "j1",
        "metric": "exact",
        "by": "code",
        "grader": {"name": "normalised-match", "version": "1"},
        "verdict": verdict,
        "score": "1" if verdict == "correct" else "0",
        "reasoning": "compared",
    }
    return [
        started(RUN, key),
        Submission(kind="call.started", run=RUN, trial=key, data={**call, "request": request}),
        Submission(
            kind="call.finished", run=RUN, trial=key, data={"call": "c1", "status": "empty"}
        ),
        Submission(kind="answer.submitted", run=RUN, trial=key, data={"answer": "a town"}),
        Submission(kind="trial.finished", run=RUN, trial=key, data={"outcome": "answered"}),
        Submission(kind="judgment.recorded", run=RUN, trial=key, data=judgment),
    ]


def summary_of(ledger: Ledger) -> RunSummary:
    """Return what `scores` shows of the run."""
    model = ReadModel.open(ledger)
    try:
        return summarise(model, model.run(RUN))
    finally:
        model.close()


@pytest.fixture
def summary(tmp_path: Path) -> RunSummary:
    """Give the summary of a run with one right trial that leaked and one right one that did not."""
    with small_ledger(tmp_path) as ledger:
        ledger.append_many(
            [
                opened(),
                *judged_trial("q1", "correct", request="Samarkand?"),
                *judged_trial("q3", "correct", request="old towns"),
                *judged_trial("q9", "incorrect", request="old towns"),
            ]
        )
        return summary_of(ledger)


def test_c03_the_number_stands_with_and_without_leaked_trials(summary: RunSummary) -> None:
    """Both numbers are exact; the headline is not changed by a leak."""
    exact = next(metric for metric in summary.metrics if metric.name == "exact")
    assert exact.headline is not None
    assert (exact.headline.low.sum, exact.headline.low.count) == ("2", 10)
    assert exact.leaked == 1
    without = exact.sensitivity["without_leaks"]
    assert (without.low.sum, without.low.count) == ("1", 9)


def test_c03_the_screen_shows_both_and_marks_the_leak(summary: RunSummary) -> None:
    """A reader sees the second number and the mark without asking."""
    lines = scores_screen(summary).lines
    assert any(line.startswith("  without leaks") and "1/9" in line for line in lines)
    assert any("gold leaked in 1 counting trial" in line for line in lines)
