"""Dataset, rubric and manifest, as far as an evaluation of the lm-evaluation-harness shows them.

Invariant: all three are marked `reconstructed`; what the files do not say is null. A question shows
none of what the task names as its target. The dataset is the same for every configuration that was
given the same documents, whatever its prompts were.
"""

import re
from collections.abc import Mapping, Sequence

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.dataset import Dataset, build_dataset
from trial_ledger.documents.manifest import Manifest, manifest_from_table, system_hash
from trial_ledger.documents.manifest_sections import WEB_URL
from trial_ledger.documents.rubric import Rubric, rubric_from_table
from trial_ledger.exact import rational_text
from trial_ledger.importing.lenient_json import (
    JsonObject,
    list_at,
    mapping_at,
    text_at,
    whole_text,
)
from trial_ledger.importing.lm_eval_results import Results
from trial_ledger.importing.lm_eval_samples import Samples
from trial_ledger.importing.lm_eval_values import Metric
from trial_ledger.importing.reconstruction import (
    VERSION_LENGTH,
    content_version,
    document_value,
    outcome_policy,
)
from trial_ledger.importing.source import safe_name

__all__ = ["SEEDS", "dataset_of", "harness_version", "manifest_of", "model_name", "rubric_of"]

NAME_LENGTH = 200
"""Longest name, so that name, separator and version are a label together."""
PLACEHOLDER = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)")
"""The field that a place in a template begins with."""
SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
OUTSIDE_SYSTEM = frozenset({"metadata", "metric_list", "filter_list", "process_results"})
"""What of a task's configuration changes no prompt and no response."""
SYSTEM = ("system_instruction", "chat_template", "chat_template_sha", "fewshot_as_multiturn")
ENVIRONMENT = (
    "date", "total_evaluation_time_seconds", "git_hash", "upper_git_hash", "transformers_version",
    "model_source", "model_name_sanitized", "system_instruction_sha", "pretty_env_info",
)  # fmt: skip
CONFIG = ("batch_size", "batch_sizes", "device", "use_cache", "limit", "bootstrap_iters")


def document_name(task: str) -> str:
    """Return the name that dataset and rubric of a task have."""
    return safe_name(f"lm-eval-{task}".replace("@", "-"), limit=NAME_LENGTH)


def dataset_of(results: Results, samples: Samples) -> Dataset:
    """Return the dataset: every document, its target as gold, the rest of it beside the gold.

    Raises:
        InvalidInputError: a document cannot be a question.
    """
    config = results.config(samples.task)
    records: list[dict[str, Json]] = []
    for question, document in samples.documents.items():
        line = next(iter(samples.lines(document).values()))
        records.append(question_record(question, line, config))
    return build_dataset(
        records,
        name=document_name(samples.task),
        version=content_version([dict(record) for record in records]),
        reconstructed=True,
        source=samples.source.label,
    )


def question_record(question: str, line: JsonObject, config: JsonObject) -> dict[str, Json]:
    """Return one record of the dataset."""
    record: dict[str, Json] = {"id": question}
    document = mapping_at(line, "doc")
    text, context = question_parts(document, config)
    if text is not None and text.strip():
        record["question"] = text
    if context:
        record["context"] = context
    targets = [target for target in targets_of(line, document, config) if target]
    if targets:
        record["gold"] = {"answer": targets[0], "alternatives": list(targets[1:])}
    extra = {
        field: line[field]
        for field in ("doc", "target", "doc_hash", "target_hash")
        if field in line
    }
    record["extra"] = document_value(extra)
    return record


def question_parts(document: JsonObject, config: JsonObject) -> tuple[str | None, dict[str, Json]]:
    """Return the question of a document, and what else of it the prompt shows.

    The prompt's template names the fields; the first text among them is the question, unless one of
    them is called `question`. What the template of the target names is in neither.
    """
    hidden = {text_at(config, "doc_to_target"), *named_fields(config, "doc_to_target")}
    shown = [
        name
        for name in named_fields(config, "doc_to_text", document)
        if name in document and name not in hidden
    ]
    texts = [name for name in shown if isinstance(document[name], str)]
    asked = "question" if "question" in texts else next(iter(texts), None)
    context = {name: document_value(document[name]) for name in shown if name != asked}
    choices = config.get("doc_to_choice")
    if isinstance(choices, str) and choices in document and choices not in hidden:
        choices = document[choices]
    if isinstance(choices, list):
        context["choices"] = document_value(choices)
    return (None if asked is None else whole_text(document[asked])), context


def named_fields(
    config: JsonObject, template: str, document: JsonObject | None = None
) -> Sequence[str]:
    """Return the fields that a template names; one that is itself a field names that one."""
    text = text_at(config, template) or ""
    if document is not None and text in document:
        return [text]
    return list(dict.fromkeys(PLACEHOLDER.findall(text)))


def targets_of(line: JsonObject, document: JsonObject, config: JsonObject) -> Sequence[str]:
    """Return the right answers: the document's own where the task names its field, else the target.

    The source writes a target as text, a list of answers as Python would print it.
    """
    field = text_at(config, "doc_to_target")
    if field is not None and field in document:
        value = document[field]
        values = value if isinstance(value, list) else [value]
        return [text for member in values if (text := whole_text(member)) is not None]
    target = whole_text(line.get("target"))
    return [] if target is None else [target]


def rubric_of(metrics: Sequence[Metric], samples: Samples) -> Rubric:
    """Return the rubric: a metric for each metric and filter, the first one primary."""
    table: dict[str, Json] = {
        "primary": metrics[0].name,
        "metrics": {metric.name: metric_table(metric) for metric in metrics},
        "outcomes": outcome_policy(),
    }
    named = {**table, "name": document_name(samples.task), "version": content_version(table)}
    return rubric_from_table(named, source=samples.source.label, reconstructed=True)


def metric_table(metric: Metric) -> dict[str, Json]:
    """Return one metric of the rubric."""
    return {
        "measure": "score",
        "grader": "source",
        "scale": [rational_text(metric.low), rational_text(metric.high)],
        "direction": "lower" if metric.higher_is_better is False else "higher",
        "aggregate": "question-mean",
        "options": {
            "metric": metric.measure.metric,
            "filter": metric.measure.filter,
            "higher_is_better": metric.higher_is_better,
            "declared": document_value(dict(metric.declared)),
            "filter_steps": document_value(dict(metric.steps)),
        },
    }


def model_name(results: Results) -> str | None:
    """Return the name of the model that answered; None where the files name none."""
    arguments = model_arguments(results)
    named = [text_at(results.content, "model_name")]
    named += [text_at(arguments, field) for field in ("model", "pretrained", "engine", "path")]
    return next((name for name in named if name is not None), None)


def model_arguments(results: Results) -> Mapping[str, object]:
    """Return what the model was loaded with; older versions write it as `key=value,key=value`."""
    config = mapping_at(results.content, "config")
    written = config.get("model_args")
    if not isinstance(written, str):
        return mapping_at(config, "model_args")
    pairs = (part.partition("=") for part in written.split(",") if part)
    return {key.strip(): value for key, _, value in pairs}


def harness_version(results: Results) -> str | None:
    """Return the version of the harness that wrote the files; None where it does not say."""
    version = text_at(results.content, "lm_eval_version")
    return None if version is None else safe_name(version)


def manifest_of(
    results: Results, samples: Samples, *, dataset: Dataset, rubric: Rubric
) -> Manifest:
    """Return the manifest, named after its model and the digest of the system under test."""
    label = results.source.label
    table = manifest_table(results, samples)
    table["dataset"] = dataset.reference
    table["rubric"] = rubric.reference
    model = (model_name(results) or "unknown").replace("@", "-")
    table["configuration"] = safe_name(model)
    draft = manifest_from_table(table, source=label, reconstructed=True)
    name = safe_name(model, limit=NAME_LENGTH)
    table["configuration"] = f"{name}-{system_hash(draft)[:VERSION_LENGTH]}"
    return manifest_from_table(table, source=label, reconstructed=True)


def manifest_table(results: Results, samples: Samples) -> dict[str, Json]:
    """Return the manifest as a table, without its name and references."""
    content, config = results.content, mapping_at(results.content, "config")
    endpoint = safe_name(text_at(config, "model") or text_at(content, "model_source") or "unknown")
    url = document_value(model_arguments(results).get("base_url"))
    harness: dict[str, Json] = {"name": "lm_eval", "version": harness_version(results)}
    commit = text_at(content, "git_hash")
    if commit is not None:
        harness["commit"] = safe_name(commit)
    return {
        "questions": list(samples.documents),
        "repetitions": 1,
        "agent": {
            "kind": "external",
            "target": samples.task,
            "options": system_options(results, samples.task),
        },
        "models": {
            "main": {
                "name": safe_name(model_name(results) or "unknown"),
                "endpoint": endpoint,
                "sampling": document_value(
                    dict(mapping_at(results.config(samples.task), "generation_kwargs"))
                ),
            }
        },
        "endpoints": {
            endpoint: {"url": url} if isinstance(url, str) and WEB_URL.fullmatch(url) else {}
        },
        "harness": harness,
        "environment": environment_table(results, samples),
    }


def system_options(results: Results, task: str) -> dict[str, Json]:
    """Return every setting that changes what the model is asked or how it answers."""
    content, config = results.content, mapping_at(results.content, "config")
    options: dict[str, Json] = {
        "model": document_value(config.get("model")),
        "model_args": document_value(dict(model_arguments(results))),
        "gen_kwargs": document_value(config.get("gen_kwargs")),
        "seeds": {seed: document_value(config.get(seed)) for seed in SEEDS},
        "task_version": document_value(mapping_at(content, "versions").get(task)),
        "num_fewshot": document_value(mapping_at(content, "n-shot").get(task)),
    }
    for field in SYSTEM:
        options[field] = document_value(content.get(field))
    options["config"] = document_value(
        {
            field: value
            for field, value in results.config(task).items()
            if field not in OUTSIDE_SYSTEM
        }
    )
    return options


def environment_table(results: Results, samples: Samples) -> dict[str, Json]:
    """Return what identifies the evaluation and its surroundings, as a flat table."""
    content = results.content
    nested: dict[str, Mapping[str, object]] = {
        "": {field: content.get(field) for field in ENVIRONMENT},
        "config.": {field: mapping_at(content, "config").get(field) for field in CONFIG},
        "metadata.": mapping_at(results.config(samples.task), "metadata"),
        "samples.": mapping_at(mapping_at(content, "n-samples"), samples.task),
        "task.": {"hash": samples.task_hash, "groups": groups_of(content, samples.task)},
    }
    table: dict[str, Json] = {}
    for prefix, values in nested.items():
        plain = document_value(dict(values))
        assert isinstance(plain, dict), "an object stays one"
        for name, member in plain.items():
            single = not isinstance(member, list | dict)
            table[safe_name(prefix + name)] = member if single else whole_text(member)
    return table


def groups_of(content: JsonObject, task: str) -> list[str]:
    """Return the groups that a task is in."""
    groups = mapping_at(content, "group_subtasks")
    return [name for name in groups if task in list_at(groups, name)]
