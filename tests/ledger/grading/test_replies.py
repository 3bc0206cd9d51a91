"""Raw replies of judges: what says a verdict in the declared form, and what says nothing."""

import json

import pytest

from grading_cases import graded
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.rubric_structs import Metric
from trial_ledger.grading.grader import Grade
from trial_ledger.grading.replies import JUDGE_REPLY, ReplyTask


def read(*replies: str, form: str = "word", majority: bool = False) -> Grade:
    """Return what is read in some replies."""
    metric = Metric(
        measure="verdict", grader="judge-reply@1", options={"metric": "judged", "form": form}
    )
    task = ReplyTask(
        question=Question(id="q", question="?"), gold={}, answer="", metric=metric,
        replies=replies, majority=majority,
    )  # fmt: skip
    return JUDGE_REPLY.grade(task)


@pytest.mark.parametrize(
    ("form", "reply", "verdict"),
    [
        ("word", "CORRECT", "correct"),
        ("word", " **Incorrect**.\n", "incorrect"),
        ("word", "partially correct", "partial"),
        ("word", "NOT_ATTEMPTED", "abstained"),
        ("word", "It is correct", None),
        ("word", "correct, incorrect", None),
        ("word", "", None),
        ("letter", "`B`", "incorrect"),
        ("letter", "A.", "correct"),
        ("letter", "c", "abstained"),
        ("letter", "CORRECT", None),
        ("letter", "D", None),
        ("line", "I compared both.\n**Verdict:** correct", "correct"),
        ("line", "Final grade: Not attempted.", "abstained"),
        ("line", "judgement: incorrect\nbecause", "incorrect"),
        ("line", "verdict: correct\nverdict: incorrect", None),
        ("line", "verdict: perhaps", None),
        ("line", "correct", None),
        ("json", '{"verdict": "Correct", "why": "equal"}', "correct"),
        ("json", 'So:\n```json\n{"verdict": "incorrect"}\n```\n', "incorrect"),
        ("json", '{"verdict": true}', None),
        ("json", '{"grade": "correct"}', None),
        ("json", '[{"verdict": "correct"}, {"verdict": "correct"}]', None),
        ("json", '{"verdict": "correct"', None),
    ],
)
def test_c28_a_reply_says_its_verdict_in_the_declared_form_or_nothing(
    form: str, reply: str, verdict: str | None
) -> None:
    """What says nothing is neither right nor wrong: there is no verdict at all."""
    found = read(reply, form=form)
    assert (found.verdict, found.score) == (verdict, None)
    assert [part.outcome for part in found.parts] == [verdict or "unparseable"]


def test_c28_of_several_passes_the_first_valid_or_the_majority_counts() -> None:
    """The rubric's rule; replies that say nothing are in no majority's way."""
    replies = ("who knows", "incorrect", "correct", "correct")
    assert read(*replies).verdict == "incorrect"
    assert read(*replies, majority=True).verdict == "correct"
    split = read("correct", "incorrect", majority=True)
    assert (split.verdict, split.reasoning) == (
        "not_gradable", "no verdict of more than half of 2 replies",
    )  # fmt: skip


def test_a_reply_without_end_is_shown_short() -> None:
    """A reasoning is words, whatever a judge says."""
    found = read("x\x1b" * 100_000)
    assert found.verdict is None
    assert len(found.reasoning) < 300
    assert found.reasoning.isprintable()
    assert graded("judge-reply@1", {}, json.dumps(["CORRECT"]), "verdict").verdict == "correct"
