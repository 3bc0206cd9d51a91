"""Scores as judgments, failed judgments and human overrides."""

from typing import Any

import pytest

from inspect_cases import Logs, fields_of, of_kind, sample, text_of
from trial_ledger.events import Actor
from trial_ledger.submission import NewText, Submission

STAMP = "2026-01-01T00:00:00+00:00"
SPAN = {"event": "span_begin", "id": "s", "type": "scorer", "name": "match"}
PERSON = {"author": "Ada", "reason": "saw it", "timestamp": STAMP}


def scored(logs: Logs, score: Any, *events: dict[str, Any], **fields: Any) -> list[Submission]:  # noqa: ANN401 - JSON
    """Return the events of a run with one sample that has this score of `match`."""
    return logs.events(sample(1, scores={"match": score}, events=list(events), **fields))


def test_c28_a_code_judgment_carries_explanation_and_value(logs: Logs) -> None:
    """What decided stands in the parts, why in the reasoning."""
    score_event = {"event": "score", "scorer": "match", "span_id": "s", "timestamp": STAMP}
    early = {**score_event, "intermediate": True, "timestamp": "2025-01-01T00:00:00Z"}
    events = scored(logs, {"value": "C", "explanation": "it is"}, SPAN, early, score_event)
    judgment = of_kind(events, "judgment.recorded")[0]
    assert fields_of(judgment, "judgment", "metric", "by") == ("match", "match", "code")
    assert fields_of(judgment, "verdict", "score") == ("correct", None)
    assert judgment.data["parts"] == [{"name": "value", "outcome": "C"}]
    grader = judgment.data["grader"]
    assert isinstance(grader, dict)
    assert (grader["name"], grader["version"], len(grader["digest"])) == ("match", "0.3.1", 64)
    assert text_of(judgment, "reasoning") == "it is"
    assert judgment.at == "2026-01-01T00:00:00.000000Z"


def test_a_grader_that_the_log_does_not_declare_has_a_name_only(logs: Logs) -> None:
    """Neither version nor digest is made up."""
    run = sample(1, scores={"own": {"value": 0.5}})
    events = logs.events(run, eval={"packages": {}, "scorers": []})
    judgment = of_kind(events, "judgment.recorded")[0]
    assert judgment.data["grader"] == {"name": "own"}
    assert fields_of(judgment, "verdict", "score") == (None, "1/2")


def judge_call(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a model event inside the scorer."""
    return {
        "event": "model",
        "model": "maker/judge",
        "span_id": "s",
        "input": [{"content": "is it"}, {"content": "right?"}, {}],
        "output": {"choices": [{"message": {"content": "GRADE: C"}}]},
        "timestamp": STAMP,
        **fields,
    }


def test_c28_a_model_judgment_names_its_calls_and_shows_what_the_judge_saw(logs: Logs) -> None:
    """All of it is gold, because a judge sees the right answer."""
    events = scored(logs, {"value": "C", "explanation": "GRADE: C"}, SPAN, judge_call())
    judgment = of_kind(events, "judgment.recorded")[0]
    assert fields_of(judgment, "by", "model", "calls") == ("model", "maker/judge", ["events/1"])
    assert text_of(judgment, "shown") == "is it\n\nright?"
    assert text_of(judgment, "raw") == "GRADE: C"
    for field in ("reasoning", "shown", "raw"):
        text = judgment.data[field]
        assert isinstance(text, NewText)
        assert text.class_ == "gold"


def test_the_reply_of_a_judge_may_stand_in_the_completion_or_be_missing(logs: Logs) -> None:
    """An output without a text shows no reply."""
    completion = judge_call(output={"completion": "GRADE: C"})
    judgment = of_kind(scored(logs, {"value": "C"}, SPAN, completion), "judgment.recorded")[0]
    assert text_of(judgment, "raw") == "GRADE: C"
    silent = judge_call(output={}, model=None)
    judgment = of_kind(scored(logs, {"value": "C"}, SPAN, silent), "judgment.recorded")[0]
    assert fields_of(judgment, "by", "raw", "model", "reasoning") == ("model", None, None, None)


def test_a_kept_conversation_shows_the_judge_where_events_are_missing(logs: Logs) -> None:
    """Inspect's graders keep what they asked and what they were told."""
    grading = [{"content": "right?"}, {"content": "GRADE: C", "model": "judge"}]
    score = {"value": "C", "metadata": {"grading": grading}}
    judgment = of_kind(scored(logs, score), "judgment.recorded")[0]
    assert fields_of(judgment, "by", "model", "calls") == ("model", "judge", [])
    assert (text_of(judgment, "shown"), text_of(judgment, "raw")) == ("right?", "GRADE: C")
    lone = {"value": "C", "metadata": {"grading": grading[:1]}}
    assert of_kind(scored(logs, lone), "judgment.recorded")[0].data["by"] == "code"


@pytest.mark.parametrize(
    ("reason", "class_", "detail"),
    [
        ("grader_failed", "judge_unparseable", "grader_failed"),
        ("scoring_failed", "judge_error", "scoring_failed"),
        (None, "judge_error", "unscored"),
    ],
)
def test_a_score_without_a_value_is_a_failed_judgment_of_the_judge(
    logs: Logs, reason: str | None, class_: str, detail: str
) -> None:
    """It is never wrong and never right, and the failure is the judge's."""
    score = {"value": float("nan"), "reason": reason, "explanation": "no grade found"}
    events = scored(logs, score, SPAN, judge_call())
    failure, failed = of_kind(events, "failure.occurred")[0], of_kind(events, "judgment.failed")[0]
    assert fields_of(failure, "class", "detail_class", "fault") == (class_, detail, "judge")
    assert failure.data["call"] == "events/1"
    assert text_of(failure, "message") == "no grade found"
    assert fields_of(failed, "reason", "occurrence") == (
        "judge_failed",
        failure.data["occurrence"],
    )
    assert of_kind(events, "judgment.recorded") == []


def test_a_value_that_the_answer_is_to_blame_for_is_not_gradable(logs: Logs) -> None:
    """A refusal was judged; the judge did not fail."""
    events = scored(logs, {"value": float("nan"), "reason": "refusal"})
    assert of_kind(events, "judgment.recorded")[0].data["verdict"] == "not_gradable"
    assert of_kind(events, "judgment.failed") == []


def test_c31_an_edit_is_an_override_that_names_what_it_replaces(logs: Logs) -> None:
    """The first verdict is recorded first; edits of other fields keep the verdict."""
    history = [
        {"value": "I", "explanation": "no"},
        {"value": "C", "explanation": "it is", "provenance": PERSON},
        {"value": "UNCHANGED", "explanation": "UNCHANGED", "provenance": {"author": "Bob"}},
        {"value": float("nan"), "explanation": "UNCHANGED"},
    ]
    events = scored(logs, {"value": None, "history": history})
    first = of_kind(events, "judgment.recorded")[0]
    overrides = of_kind(events, "judgment.overridden")
    assert (first.data["verdict"], text_of(first, "reasoning")) == ("incorrect", "no")
    assert [fields_of(one, "judgment", "replaces", "verdict") for one in overrides] == [
        ("match#1", "match", "correct"),
        ("match#2", "match#1", "correct"),
        ("match#3", "match#2", "not_gradable"),
    ]
    assert [one.actor for one in overrides] == [
        Actor(role="human", name="Ada"),
        Actor(role="human", name="Bob"),
        Actor(role="human", name="unnamed in the source"),
    ]
    assert [text_of(one, "reason") for one in overrides] == [
        "saw it\n\nit is",
        "the source gives no reason",
        "the source gives no reason",
    ]
    assert overrides[0].at == "2026-01-01T00:00:00.000000Z"


def test_an_explanation_is_the_reason_where_there_is_no_other(logs: Logs) -> None:
    """An edit without a reason in its provenance may explain the new value."""
    history = [{"value": "I"}, {"value": "C", "explanation": "seen", "provenance": {"author": "A"}}]
    override = of_kind(scored(logs, {"history": history}), "judgment.overridden")[0]
    assert text_of(override, "reason") == "seen"


def test_a_score_that_a_person_added_is_that_persons_judgment(logs: Logs) -> None:
    """There was nothing to replace, neither with no score nor with a failed one."""
    added = {"value": "C", "history": [{"value": "C", "provenance": PERSON}]}
    judgment = of_kind(scored(logs, added), "judgment.recorded")[0]
    assert fields_of(judgment, "by", "grader") == ("human", {"name": "Ada"})
    assert text_of(judgment, "reasoning") == "saw it"
    history = [{"value": float("nan")}, {"value": "C", "provenance": PERSON}, {"value": "I"}]
    events = scored(logs, {"value": "C", "history": history})
    assert len(of_kind(events, "judgment.failed")) == 1
    assert of_kind(events, "judgment.recorded")[0].data["by"] == "human"
    assert of_kind(events, "judgment.overridden")[0].data["replaces"] == "match#1"


def test_each_key_is_judged_for_itself(logs: Logs) -> None:
    """A free label is not gradable and is told among the losses."""
    events = scored(logs, {"value": {"right": "C", "kind": "banana"}})
    found = [fields_of(one, "metric", "verdict") for one in of_kind(events, "judgment.recorded")]
    assert found == [("match.right", "correct"), ("match.kind", "not_gradable")]
    losses = text_of(of_kind(events, "source.imported")[0], "losses")
    assert "counted as 0 by Inspect: match.kind 1." in losses


def test_a_score_of_another_form_is_left_out(logs: Logs) -> None:
    """A score is an object."""
    assert of_kind(scored(logs, 7), "judgment.recorded") == []


def test_a_judgment_that_the_source_counted_and_lost_is_told_so(logs: Logs) -> None:
    """The results report the scorer, the sample holds no scores at all."""
    results = {
        "scores": [{"name": "match", "scorer": "match", "metrics": {"accuracy": {"value": 1}}}]
    }
    stripped = sample(1, scores=...)
    errored = sample(2, scores=..., error={"message": "X()"})
    events = logs.events(stripped, errored, results=results)
    failed = of_kind(events, "judgment.failed")
    assert [fields_of(one, "metric", "reason", "occurrence") for one in failed] == [
        ("match", "lost_in_source", None)
    ]
    assert of_kind(logs.events(stripped), "judgment.failed") == []
