"""Dataset, rubric and manifest of an evaluation of the lm-evaluation-harness."""

import json
from typing import Any

import pytest

from lm_eval_cases import Evaluation, line
from trial_ledger.documents.manifest import system_hash
from trial_ledger.importing.source import ImportedRun


def gold_of(run: ImportedRun, question: str) -> Any:  # noqa: ANN401 - JSON
    """Return the gold record of a question."""
    return json.loads(run.dataset.gold[question])


def test_c2_the_question_is_what_the_prompt_names_and_holds_no_gold(evaluation: Evaluation) -> None:
    """The target's field is in neither question nor context; the document stays with the gold."""
    run = evaluation.run(line(0))
    (question,) = run.dataset.questions
    assert (question.id, question.question, question.context) == ("0", "France", None)
    record = gold_of(run, "0")
    assert record["gold"] == {"answer": "Paris", "alternatives": ["PARIS"]}
    assert record["extra"]["doc"] == {
        "country": "France", "capital": ["Paris", "PARIS"], "area": "1.5",
    }  # fmt: skip
    assert record["extra"]["target"] == "['Paris', 'PARIS']"


@pytest.mark.parametrize(
    ("template", "question", "context"),
    [
        ("country", "France", None),
        ("{{country}} {{area}} {{ country }}?", "France", {"area": "1.5"}),
        ("{{capital[0]}} of {{country}}", "France", None),
        ("{{area}}", None, {"area": "1.5"}),
        ("no field", None, None),
        (None, None, None),
    ],
)
def test_templates_say_what_the_prompt_shows(
    evaluation: Evaluation, template: str | None, question: str | None, context: object
) -> None:
    """The first text among the fields is the question, the others are its context."""
    (found,) = evaluation.run(line(0), task={"doc_to_text": template}).dataset.questions
    assert (found.question, found.context) == (question, context)


def test_a_field_called_question_is_the_question(evaluation: Evaluation) -> None:
    """Whatever the order is in which the template names the fields."""
    document = {"passage": "It was Ur.", "question": "Where?", "answer": "Ur"}
    task = {"doc_to_text": "{{passage}} {{question}}", "doc_to_target": "{{answer}}"}
    (found,) = evaluation.run(line(0, doc=document), task=task).dataset.questions
    assert (found.question, found.context) == ("Where?", {"passage": "It was Ur."})


@pytest.mark.parametrize("choices", [["a", "b"], "options"])
def test_choices_are_context(evaluation: Evaluation, choices: object) -> None:
    """Given in the configuration, or as a field of the document."""
    run = evaluation.run(
        line(0, doc={"country": "x", "options": ["a", "b"]}),
        task={"doc_to_choice": choices, "doc_to_target": "{{capital}}"},
    )
    assert run.dataset.questions[0].context == {"choices": ["a", "b"]}


def test_gold_is_what_the_source_took_for_it(evaluation: Evaluation) -> None:
    """A template of the target makes one text, right or wrong; a field keeps its list."""
    run = evaluation.run(line(0), task={"doc_to_target": "{{capital}}"})
    assert gold_of(run, "0")["gold"]["answer"] == "['Paris', 'PARIS']"
    run = evaluation.run(line(0), task={"doc_to_target": "area"})
    assert gold_of(run, "0")["gold"] == {"answer": "1.5", "alternatives": []}
    run = evaluation.run(line(0, target=None), task={"doc_to_target": "{{capital}}"})
    assert "gold" not in run.dataset.gold or gold_of(run, "0").get("gold") is None


def test_a_dataset_is_the_same_whatever_the_prompts_were(evaluation: Evaluation) -> None:
    """Few shots change the configuration, and nothing that it is asked about."""
    few = {
        "gen_args_0": {"arg_0": "Capital of Mali?\nAnswer: Bamako\n\nCapital of France?\nAnswer:"}
    }
    runs = [
        evaluation.run(line(0)),
        evaluation.run(line(0, arguments=few, prompt_hash="0" * 64), task={"num_fewshot": 1}),
    ]
    assert len({run.dataset.reference for run in runs}) == 1
    assert len({run.rubric.reference for run in runs}) == 1
    assert len({run.manifest.configuration for run in runs}) == 2


def test_the_manifest_says_what_the_files_say(evaluation: Evaluation) -> None:
    """Model, sampling, endpoint, seeds, versions; what they do not say is null."""
    manifest = evaluation.run(
        task={"metadata": {"version": 1.1, "config_source": "x.yaml"}}
    ).manifest
    assert manifest.reconstructed
    assert manifest.phase is None
    assert manifest.configuration.startswith("tiny-")
    model = manifest.models["main"]
    assert (model.name, model.endpoint, model.version) == ("tiny", "local-completions", None)
    assert model.sampling == {"until": ["\n"], "temperature": "0.7"}
    assert manifest.endpoints["local-completions"].url == "http://127.0.0.1:1/v1"
    assert manifest.harness is not None
    assert manifest.harness.version == "0.4.13"
    assert manifest.harness.commit == "abc1234"
    assert manifest.agent is not None
    options: Any = manifest.agent.options
    assert options["seeds"] == {
        "random_seed": 0, "numpy_seed": 1, "torch_seed": 2, "fewshot_seed": 3,
    }  # fmt: skip
    assert (options["task_version"], options["num_fewshot"]) == ("1.1", 0)
    assert "metric_list" not in options["config"]
    assert manifest.environment is not None
    assert manifest.environment["date"] == "1767323045.5"
    assert manifest.environment["metadata.config_source"] == "x.yaml"
    assert manifest.environment["git_hash"] == "abc1234"


def test_a_manifest_of_bare_files_invents_nothing(evaluation: Evaluation) -> None:
    """No model, no endpoint, no version."""
    run = evaluation.run(config=None, model_name=None, git_hash=None, lm_eval_version=None)
    manifest = run.manifest
    assert manifest.configuration.startswith("unknown-")
    assert manifest.models["main"].endpoint == "unknown"
    assert manifest.endpoints["unknown"].url is None
    assert manifest.harness is not None
    assert (manifest.harness.version, manifest.harness.commit) == (None, None)
    evaluation.appended(run).close()


def test_c11_credentials_in_arguments_are_left_out(evaluation: Evaluation) -> None:
    """Older versions write the arguments as one text, which is read as the harness reads it."""
    arguments = "pretrained=tiny/model,api_key=abc,,base_url=https://u:p@host/v1"
    run = evaluation.run(config={"model": "hf", "model_args": arguments}, model_name=None)
    assert run.manifest.configuration.startswith("tiny/model-")
    assert run.manifest.agent is not None
    options: Any = run.manifest.agent.options
    assert options["model_args"] == {"pretrained": "tiny/model", "api_key": None, "base_url": None}
    assert run.manifest.endpoints["hf"].url is None


def test_what_changes_the_system_changes_its_hash(evaluation: Evaluation) -> None:
    """Seeds and prompts do; where and when it ran does not."""
    base = evaluation.run()
    same = evaluation.run(
        date=1.0, task={"metadata": {"version": 1.1, "config_source": "elsewhere"}}
    )
    other = evaluation.run(task={"description": "Be brief."})
    hashes = [system_hash(run.manifest) for run in (base, same, other)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_metric_carries_how_the_source_declares_it(evaluation: Evaluation) -> None:
    """Filter, settings, direction; a metric where less is better says so."""
    run = evaluation.run(higher_is_better={"capitals": {"exact_match": False}})
    metric = run.rubric.metrics["exact_match,none"]
    assert (metric.measure, metric.grader, metric.direction) == ("score", "source", "lower")
    options: Any = metric.options
    assert (options["metric"], options["filter"]) == ("exact_match", "none")
    assert options["declared"] == {"metric": "exact_match", "aggregation": "mean"}
    assert options["filter_steps"]["filter"] == [{"function": "take_first"}]
    unsaid = evaluation.run(higher_is_better=None, task={"metric_list": None})
    metric = unsaid.rubric.metrics["exact_match,none"]
    assert (metric.direction, metric.options["declared"]) == ("higher", {})
