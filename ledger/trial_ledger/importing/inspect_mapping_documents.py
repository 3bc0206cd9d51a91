"""Dataset, rubric and manifest, as far as an Inspect log shows them.

Invariant: all three are marked `reconstructed`; what the log does not say is null; equal content
gets an equal name and version, because the version is a digest of the content. A configuration's
name carries its system's digest, so that one name is one system in every ledger.
"""

from collections.abc import Mapping, Sequence

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.dataset import Dataset, build_dataset
from trial_ledger.documents.manifest import Manifest, manifest_from_table, system_hash
from trial_ledger.documents.manifest_sections import WEB_URL
from trial_ledger.documents.rubric import (
    Rubric,
    rubric_from_table,
)
from trial_ledger.exact import rational_text
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.importing.inspect_mapping_scores import ScoredMetric
from trial_ledger.importing.inspect_mapping_survey import Survey
from trial_ledger.importing.inspect_reader import InspectHeader
from trial_ledger.importing.lenient_json import (
    JsonObject,
    count_at,
    list_at,
    mapping_at,
    mappings_at,
    text_at,
    whole_text,
)
from trial_ledger.importing.reconstruction import (
    VERSION_LENGTH,
    content_version,
    document_value,
    outcome_policy,
)
from trial_ledger.importing.source import safe_name

__all__ = ["UNSCORED", "dataset_of", "manifest_of", "rubric_of"]

NAME_LENGTH = 200
"""Longest name, so that name, separator and version are a label together."""
UNSCORED = "unscored"
"""Metric of a log without any scorer: it only says that no trial was judged."""
PROVIDER = "provider"
SYSTEM_CONFIG = (
    "message_limit", "token_limit", "time_limit", "working_limit", "cost_limit", "turn_limit",
    "approval", "retry_on_error",
)  # fmt: skip
"""Settings of the evaluation that change what the system under test does."""
SYSTEM_SPEC = (
    "task_registry_name", "task_version", "task_args", "task_attribs", "solver", "solver_args",
    "model_args", "model_roles", "sandbox",
)  # fmt: skip
ENVIRONMENT_SPEC = (
    "eval_id", "eval_set_id", "run_id", "task_id", "task_file", "created", "tags",
)  # fmt: skip
MILLISECONDS = 1000


def document_name(header: InspectHeader) -> str:
    """Return the name that dataset and rubric of a task have."""
    name = f"inspect-{text_at(header.spec, 'task')}".replace("@", "-")
    return safe_name(name, limit=NAME_LENGTH)


def dataset_of(header: InspectHeader, survey: Survey, *, label: str) -> Dataset:
    """Return the dataset: every planned question, and gold as far as samples show it.

    Raises:
        InvalidInputError: the log names no question at all.
    """
    records = [
        question_record(question, survey.samples.get(question, {})) for question in survey.questions
    ]
    return build_dataset(
        records,
        name=document_name(header),
        version=content_version([dict(record) for record in records]),
        reconstructed=True,
        source=label,
    )


def question_record(question: str, sample: JsonObject) -> dict[str, Json]:
    """Return one record of the dataset; a question without a sample is known by its id only."""
    record: dict[str, Json] = {"id": question}
    text = question_text(sample.get("input"))
    if text is not None and text.strip():
        record["question"] = text
    context = question_context(sample)
    if context:
        record["context"] = context
    targets = [target for target in targets_of(sample) if target]
    if targets:
        record["gold"] = {"answer": targets[0], "alternatives": list(targets[1:])}
    metadata = mapping_at(sample, "metadata")
    if metadata:
        record["extra"] = {"metadata": document_value(dict(metadata))}
    return record


def question_text(value: object) -> str | None:
    """Return the question of an input: the text itself, or what the user says in a conversation."""
    if not isinstance(value, list):
        return whole_text(value)
    said = [
        whole_text(message.get("content"))
        for message in value
        if isinstance(message, dict) and message.get("role") == "user"
    ]
    return "\n\n".join(text for text in said if text) or whole_text(value)


def question_context(sample: JsonObject) -> dict[str, Json]:
    """Return what an agent gets beside the question: choices, and a whole conversation."""
    context: dict[str, Json] = {}
    if list_at(sample, "choices"):
        context["choices"] = document_value(sample["choices"])
    conversation = list_at(sample, "input")
    if len(conversation) > 1:
        context["messages"] = document_value(list(conversation))
    return context


def targets_of(sample: JsonObject) -> Sequence[str]:
    """Return the right answers: the first is the answer, the others are accepted too."""
    target = sample.get("target")
    values = target if isinstance(target, list) else [target]
    return [text for value in values if (text := whole_text(value)) is not None]


def rubric_of(header: InspectHeader, survey: Survey, *, label: str) -> Rubric:
    """Return the rubric: a metric for each scorer's value, errors scored 0 and kept in."""
    metrics: dict[str, Json] = {
        metric.name: metric_table(metric, header) for metric in survey.metrics
    }
    if not metrics:
        metrics[UNSCORED] = {"measure": "verdict", "grader": "source"}
    table: dict[str, Json] = {
        "primary": primary_metric(header, survey, metrics),
        "metrics": metrics,
        "outcomes": outcome_policy(),
    }
    named = {**table, "name": document_name(header), "version": content_version(table)}
    return rubric_from_table(named, source=label, reconstructed=True)


def metric_table(metric: ScoredMetric, header: InspectHeader) -> dict[str, Json]:
    """Return one metric of the rubric."""
    declared = next(
        (
            scorer
            for scorer in mappings_at(header.spec, "scorers")
            if text_at(scorer, "name") == metric.scorer
        ),
        {},
    )
    options: dict[str, Json] = {"scorer": metric.scorer, "key": metric.key}
    for field in ("options", "metrics"):
        if field in declared:
            options[field] = document_value(declared[field])
    return {
        "measure": metric.measure,
        "grader": "source",
        "scale": [rational_text(metric.low), rational_text(metric.high)],
        "aggregate": "question-mean",
        "options": options,
    }


def primary_metric(header: InspectHeader, survey: Survey, metrics: Mapping[str, Json]) -> str:
    """Return the headline metric: the log's own headline, else its first score."""
    headline = mapping_at(header.results, "headline")
    scorer, key = text_at(headline, "scorer"), text_at(headline, "score")
    for metric in survey.metrics:
        if scorer is not None and metric.scorer == scorer and metric.key in {None, key}:
            return metric.name
    return next(iter(metrics))


def manifest_of(
    header: InspectHeader, survey: Survey, *, dataset: Dataset, rubric: Rubric, label: str
) -> Manifest:
    """Return the manifest, named after its model and the digest of the system under test."""
    table = manifest_table(header, survey)
    table["dataset"] = dataset.reference
    table["rubric"] = rubric.reference
    model = (text_at(header.spec, "model") or "unknown").replace("@", "-")
    table["configuration"] = safe_name(model)
    draft = manifest_from_table(table, source=label, reconstructed=True)
    name = safe_name(model, limit=NAME_LENGTH)
    table["configuration"] = f"{name}-{system_hash(draft)[:VERSION_LENGTH]}"
    return manifest_from_table(table, source=label, reconstructed=True)


def manifest_table(header: InspectHeader, survey: Survey) -> dict[str, Json]:
    """Return the manifest as a table, without its name and references."""
    models = {"main": model_table(header.spec, "model_generate_config")}
    for role, spec in mapping_at(header.spec, "model_roles").items():
        if isinstance(spec, dict):
            models[safe_name(role)] = model_table(spec, "config")
    endpoints: dict[str, Json] = {str(model["endpoint"]): {} for model in models.values()}
    url = document_value(header.spec.get("model_base_url"))
    if isinstance(url, str) and WEB_URL.fullmatch(url):
        endpoints[str(models["main"]["endpoint"])] = {"url": url}
    return {
        "questions": list(survey.questions),
        "repetitions": survey.repetitions,
        "agent": agent_table(header),
        "models": dict(models),
        "endpoints": endpoints,
        "limits": limits_table(header),
        "harness": {"name": "inspect_ai", "version": inspect_version(header)},
        "environment": environment_table(header),
    }


def model_table(spec: JsonObject, config: str) -> dict[str, Json]:
    """Return one model; its endpoint is the provider, the part of the name before the slash."""
    name = text_at(spec, "model") or "unknown"
    provider, slash, _ = name.partition("/")
    return {
        "name": safe_name(name),
        "endpoint": safe_name(provider if slash else PROVIDER),
        "sampling": document_value(dict(mapping_at(spec, config))),
    }


def agent_table(header: InspectHeader) -> dict[str, Json]:
    """Return the agent: the task and its solvers, with every setting that changes what they do."""
    options: dict[str, Json] = {
        field: document_value(header.spec[field]) for field in SYSTEM_SPEC if field in header.spec
    }
    config = mapping_at(header.spec, "config")
    options["config"] = {
        field: document_value(config[field]) for field in SYSTEM_CONFIG if field in config
    }
    options["plan"] = document_value(dict(header.plan))
    target = text_at(header.spec, "task") or "unknown"
    return {"kind": "external", "target": target, "options": options}


def limits_table(header: InspectHeader) -> dict[str, Json]:
    """Return the limits that the manifest has words for; the others stand with the agent."""
    config = mapping_at(header.spec, "config")
    limits: dict[str, Json] = {}
    seconds, parallel = count_at(config, "time_limit"), count_at(config, "max_samples")
    if seconds and seconds * MILLISECONDS <= MAX_INTEGER:
        limits["trial_timeout_ms"] = seconds * MILLISECONDS
    if parallel:
        limits["concurrency"] = parallel
    return limits


def inspect_version(header: InspectHeader) -> str | None:
    """Return the version of Inspect that wrote the log."""
    version = text_at(mapping_at(header.spec, "packages"), "inspect_ai")
    return None if version is None else safe_name(version)


def environment_table(header: InspectHeader) -> dict[str, Json]:
    """Return what identifies the evaluation and its surroundings, as a flat table."""
    nested = {
        "": {field: header.spec[field] for field in ENVIRONMENT_SPEC if field in header.spec},
        "config.": mapping_at(header.spec, "config"),
        "dataset.": {
            key: value
            for key, value in mapping_at(header.spec, "dataset").items()
            if key != "sample_ids"
        },
        "package.": mapping_at(header.spec, "packages"),
        "revision.": mapping_at(header.spec, "revision"),
    }
    table: dict[str, Json] = {}
    for prefix, values in nested.items():
        for key, value in values.items():
            plain = document_value({key: value})
            assert isinstance(plain, dict), "an object stays one"
            for name, member in plain.items():
                single = isinstance(member, list | dict)
                table[safe_name(prefix + name)] = whole_text(member) if single else member
    return table
