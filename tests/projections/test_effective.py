"""Which judgment decides: overrides, passes, majorities; nothing is erased (C31)."""

import pytest

from projection_cases import Log
from trial_projections.effective import deciding_judgment, standing_judgments
from trial_projections.records import JudgmentRecord, Mark, TrialRecord


def judgment(
    verdict: str | None = "correct",
    *,
    pass_: int = 1,
    score: str | None = None,
    replaces: str | None = None,
) -> JudgmentRecord:
    """Return a judgment of a pass."""
    return JudgmentRecord(
        f"j{pass_}", Mark(pass_, "0" * 64), "judged", pass_, "model", "judge@1", verdict, score,
        replaces,
    )  # fmt: skip


def trial_of(log: Log, question: str) -> TrialRecord:
    """Return the record of the first session of a question."""
    with log.model() as model:
        return next(
            trial for trial in model.trials(model.run(log.run)) if trial.question == question
        )


def test_c31_a_chain_of_overrides_keeps_every_link(log: Log) -> None:
    """Each names what it replaces; the last one decides, under the pass of the first."""
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.judge("q1", "judged", "correct", name="j2", pass_=2)
    for number, verdict in enumerate(("incorrect", "partial"), 1):
        replaces = "j1" if number == 1 else "o1"
        log.act(
            "judgment.overridden", "q1", judgment=f"o{number}", replaces=replaces,
            verdict=verdict, reason="looked again",
        )  # fmt: skip
    trial = trial_of(log, "q1")
    known = {found.id: (found.replaces, found.replaced_by, found.by) for found in trial.judgments}
    assert known == {
        "j1": (None, "o1", "model"),
        "j2": (None, None, "model"),
        "o1": ("j1", "o2", "human"),
        "o2": ("o1", None, "human"),
    }
    assert [found.id for found in standing_judgments(trial, "judged")] == ["o2", "j2"]
    assert {found.grader for found in trial.judgments} == {"judge@1", "Ada"}
    assert log.value("judged") == "1/2 of 10"


def test_the_first_valid_pass_decides(log: Log) -> None:
    """A pass that failed gives way to a later one that did not; an earlier one would have won."""
    log.trial("q1")
    log.act("failure.occurred", "q1", occurrence="f1", class_="judge_unparseable", fault="judge")
    log.act(
        "judgment.failed", "q1", judgment="j1", metric="judged", reason="judge_failed",
        occurrence="f1",
    )  # fmt: skip
    log.judge("q1", "judged", "incorrect", name="j3", pass_=3)
    log.judge("q1", "judged", "correct", name="j2", pass_=2)
    with log.model() as model:
        trial = model.trials(model.run(log.run))[0]
    decided = deciding_judgment(standing_judgments(trial, "judged"), majority=False)
    assert decided is not None
    assert decided.id == "j2"


def test_another_metric_is_another_matter() -> None:
    """Judgments of other metrics decide nothing here."""
    trial = TrialRecord(question="q1", repetition=1, session="s1", judgments=(judgment(),))
    assert standing_judgments(trial, "exact") == []


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("correct",), 1),
        (("incorrect", "correct", "correct"), 2),
        (("correct", "incorrect", "correct"), 1),
        (("correct", "incorrect"), None),
        (("correct", "incorrect", "partial"), None),
        (("correct", "correct", "incorrect", "incorrect"), None),
    ],
)
def test_a_majority_is_more_than_half(verdicts: tuple[str, ...], expected: int | None) -> None:
    """The first of those that agree decides; without a majority nothing does."""
    passes = [judgment(verdict, pass_=number) for number, verdict in enumerate(verdicts, 1)]
    found = deciding_judgment(passes, majority=True)
    assert (None if found is None else found.pass_) == expected
    first = deciding_judgment(passes, majority=False)
    assert first is passes[0]


def test_equal_scores_agree_however_they_are_written() -> None:
    """1/2 and 2/4 are one vote."""
    passes = [
        judgment(None, pass_=1, score="1"),
        judgment(None, pass_=2, score="1/2"),
        judgment(None, pass_=3, score="2/4"),
    ]
    found = deciding_judgment(passes, majority=True)
    assert found is passes[1]


def test_c31_a_persons_override_is_not_outvoted() -> None:
    """A person decides for the trial, whatever the other passes say."""
    passes = [
        judgment("correct", pass_=1),
        judgment("incorrect", pass_=2, replaces="j0"),
        judgment("correct", pass_=3),
    ]
    assert deciding_judgment(passes, majority=True) is passes[1]
