"""Dataset, rubric and manifest that are rebuilt from a log."""

import json

import msgspec
import pytest

from inspect_cases import Logs, of_kind, sample
from trial_ledger.documents.manifest import system_hash
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.lenient_json import parse_json
from trial_ledger.importing.reconstruction import document_value


def test_c1_the_dataset_holds_every_planned_question_and_no_gold(logs: Logs) -> None:
    """A question without a sample is known by its id; gold goes to the gold records."""
    run = logs.run(sample(1, target=["right", "correct", ""], metadata={"source": "x"}))
    dataset = run.dataset
    assert (dataset.name, dataset.reconstructed) == ("inspect-demo", True)
    assert [(one.id, one.question) for one in dataset.questions] == [
        ("q1", "question 1?"),
        ("q2", None),
    ]
    assert b"right" not in dataset.questions_json()
    gold = json.loads(dataset.gold["q1"])
    assert gold["gold"] == {"answer": "right", "alternatives": ["correct"]}
    assert gold["extra"] == {"metadata": {"source": "x"}}
    assert list(dataset.gold) == ["q1"]


def test_a_conversation_gives_question_and_context(logs: Logs) -> None:
    """What the user says is the question; the whole conversation is the context."""
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "who"},
        {"role": "user", "content": "is it?"},
    ]
    silent = [{"role": "system", "content": "go"}]
    run = logs.run(sample(1, input=messages, choices=["a"]), sample(2, input=silent, target=7))
    first, second = run.dataset.questions
    assert first.question == "who\n\nis it?"
    assert first.context == {"choices": ["a"], "messages": messages}
    assert (second.question, second.context) == ('[{"role":"system","content":"go"}]', None)
    assert json.loads(run.dataset.gold["q2"])["gold"]["answer"] == "7"


def test_a_blank_input_is_no_question(logs: Logs) -> None:
    """An empty text is unknown, not a question."""
    run = logs.run(sample(1, input=" ", target=""))
    assert run.dataset.questions[0].question is None
    assert run.dataset.gold == {}


def test_equal_content_has_an_equal_name_and_version(logs: Logs) -> None:
    """The same questions under other bytes are the same dataset; other gold is another version."""
    first = logs.run(sample(1))
    again = logs.run(sample(1, uuid="other", scores={"match": {"value": "I"}}))
    changed = logs.run(sample(1, target="wrong"))
    assert first.dataset.reference == again.dataset.reference != changed.dataset.reference
    assert first.rubric.reference == again.rubric.reference == changed.rubric.reference
    assert first.manifest.configuration == again.manifest.configuration


def test_a_log_without_any_question_is_refused(logs: Logs) -> None:
    """A dataset holds at least one."""
    with pytest.raises(InvalidInputError, match="1 fault"):
        logs.run(eval={"dataset": {}})


def test_c20_errors_score_0_and_stay_in(logs: Logs) -> None:
    """The default policy is written out, not the source's habit of dropping errors."""
    rubric = logs.run(sample(1)).rubric
    assert rubric.reconstructed
    assert rubric.outcomes["trial_errored"].score == "0"
    assert rubric.outcomes["trial_errored"].denominator
    assert rubric.outcomes["judge_failed"].score is None
    assert not rubric.outcomes["invalidated"].denominator
    metric = rubric.metrics["match"]
    assert (metric.measure, metric.grader, metric.scale) == ("verdict", "source", ("0", "1"))
    assert metric.aggregate == "question-mean"


def test_a_numeric_metric_has_the_scale_of_its_values(logs: Logs) -> None:
    """Inspect declares none; a score must lie within it."""
    run = logs.run(
        sample(1, scores={"depth": {"value": -2.5}}), sample(2, scores={"depth": {"value": 7}})
    )
    assert run.rubric.metrics["depth"].scale == ("-5/2", "7")
    assert run.rubric.metrics["depth"].measure == "score"
    logs.appended(run)


def test_the_primary_metric_is_the_logs_own_headline(logs: Logs) -> None:
    """Without one it is the first score that the log reports."""
    scores = {"a": {"value": "C"}, "b": {"value": {"x": "C", "y": "I"}}}
    reported = [
        {"name": "a", "scorer": "a", "metrics": {}},
        {"name": "y", "scorer": "b", "metrics": {}},
        {"scorer": "nameless"},
    ]
    headline = {"scorer": "b", "score": "y"}
    with_headline = logs.run(
        sample(1, scores=scores), results={"headline": headline, "scores": reported}
    )
    without = logs.run(sample(1, scores=scores), results={"scores": reported})
    assert with_headline.rubric.primary == "b.y"
    assert without.rubric.primary == "a"


def test_a_log_without_scorers_gets_a_metric_that_says_so(logs: Logs) -> None:
    """A rubric has at least one metric; here it only says that nothing was judged."""
    run = logs.run(sample(1, scores=...), eval={"scorers": []})
    assert list(run.rubric.metrics) == ["unscored"]
    logs.appended(run)


def test_c10_the_manifest_says_what_the_log_says(logs: Logs) -> None:
    """Model, sampling, limits, epochs, plan and surroundings; nothing else is filled in."""
    run = logs.run(
        sample(1),
        config={"epochs": 3, "time_limit": 60, "max_samples": 4, "message_limit": 12, "tags": [1]},
        eval={
            "model_base_url": "https://api.example.org/v1",
            "model_generate_config": {"temperature": 0.5},
            "model_roles": {"grader": {"model": "other", "config": {}}, "odd": 7},
            "revision": {"type": "git", "commit": "abc"},
        },
    )
    manifest = run.manifest
    assert (manifest.reconstructed, manifest.repetitions) == (True, 3)
    assert manifest.questions == ("q1", "q2")
    assert manifest.models["main"].name == "maker/model"
    assert manifest.models["main"].sampling == {"temperature": "0.5"}
    assert manifest.models["grader"].endpoint == "provider"
    assert manifest.endpoints["maker"].url == "https://api.example.org/v1"
    assert manifest.limits is not None
    assert (manifest.limits.trial_timeout_ms, manifest.limits.concurrency) == (60_000, 4)
    assert manifest.agent is not None
    assert manifest.agent.target == "demo"
    assert manifest.agent.options["config"] == {"message_limit": 12, "time_limit": 60}
    assert manifest.harness is not None
    assert manifest.harness.version == "0.3.1"
    assert manifest.environment is not None
    assert manifest.environment["revision.commit"] == "abc"
    assert manifest.environment["eval_id"] == "eval-1"
    assert manifest.environment["config.tags"] == "[1]"
    assert (manifest.phase, manifest.session, manifest.retry, manifest.budget) == (None,) * 4
    logs.appended(run)


def test_a_configuration_is_named_after_its_model_and_system(logs: Logs) -> None:
    """One name is one system: another setting of the system is another name."""
    one = logs.run(sample(1))
    other = logs.run(sample(1), config={"message_limit": 3})
    assert one.manifest.configuration == f"maker/model-{system_hash(one.manifest)[:12]}"
    assert one.manifest.configuration != other.manifest.configuration


def test_an_unknown_model_and_an_odd_url_are_no_obstacle(logs: Logs) -> None:
    """What the manifest has no form for stays unknown."""
    run = logs.run(
        sample(1), eval={"model": ..., "model_base_url": "unix:///socket", "packages": {}}
    )
    assert run.manifest.models["main"].name == "unknown"
    assert run.manifest.endpoints["provider"].url is None
    assert run.manifest.harness is not None
    assert run.manifest.harness.version is None


def test_c11_a_credential_in_a_log_never_reaches_a_document(logs: Logs) -> None:
    """Fields named like one and URLs that hold one are withheld."""
    secret = "sk-12345678901234567890"  # noqa: S105 - what must not come through
    run = logs.run(
        sample(1, metadata={"api_key": secret}),
        eval={
            "model_args": {"api_key": secret, "deep": {"url": f"https://u:{secret}@example.org/"}},
            "model_base_url": f"https://example.org/?api_key={secret}",
            "scorers": [{"name": "match", "options": {"password": secret}}],
        },
    )
    documents = (msgspec.json.encode(run.manifest), msgspec.json.encode(run.rubric))
    assert all(secret.encode() not in document for document in documents)
    assert secret.encode() not in run.dataset.gold["q1"]
    logs.appended(run)


def test_values_of_a_log_take_the_form_of_documents() -> None:
    """Decimals and huge integers become text, deep values JSON text without credentials."""
    value = parse_json(b'{"a": 0.50, "b": 12345678901234567890, "c": [true, null]}', source="x")
    assert document_value(value) == {"a": "0.50", "b": "12345678901234567890", "c": [True, None]}
    deep: object = {"token": "secret"}
    for _ in range(9):
        deep = [deep]
    text = json.dumps(document_value(deep))
    assert "secret" not in text
    assert "token" in text


def test_a_name_with_an_at_sign_is_kept_apart_from_versions(logs: Logs) -> None:
    """`@` separates name and version everywhere else."""
    run = logs.run(sample(1), eval={"task": "a@b", "model": "m@1"})
    assert run.dataset.name == "inspect-a-b"
    assert run.manifest.configuration.startswith("m-1-")
    assert of_kind(list(run.submissions("x")), "run.opened")[0].run == run.name
    logs.appended(run)


def test_overlong_names_still_leave_room_for_their_versions(logs: Logs) -> None:
    """Name and version are a label together."""
    run = logs.run(sample(1), eval={"task": "t" * 300, "model": "m" * 300})
    assert max(len(run.dataset.name), len(run.manifest.configuration)) <= 213
    logs.appended(run)
