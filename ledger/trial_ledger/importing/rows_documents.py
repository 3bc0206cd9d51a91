"""Dataset, rubric and manifest, as far as rows and their map show them.

Invariant: all three are marked `reconstructed`; what nobody says is null; equal content gets an
equal name and version, because the version is a digest of the content. A configuration's name
carries its system's digest, so that one name is one system in every ledger.
"""

from collections.abc import Mapping

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.credentials import is_credential_name, url_has_credential
from trial_ledger.documents.dataset import Dataset, build_dataset
from trial_ledger.documents.manifest import Manifest, manifest_from_table, system_hash
from trial_ledger.documents.rubric import Rubric, rubric_from_table
from trial_ledger.importing.reconstruction import VERSION_LENGTH, content_version, outcome_policy
from trial_ledger.importing.rows_map_values import text_of
from trial_ledger.importing.rows_runs import QuestionFacts, RunFacts
from trial_ledger.importing.rows_structs import MetricMap, RowMap
from trial_ledger.importing.source import safe_name

__all__ = ["UNSCORED", "dataset_of", "manifest_of", "rubric_of"]

NAME_LENGTH = 200
"""Longest name, so that name, separator and version are a label together."""
UNSCORED = "unscored"
"""Metric of rows without any verdict: it only says that no trial was judged."""
MODEL = "model"
PROVIDER = "provider"


def document_name(row_map: RowMap) -> str:
    """Return the name that dataset and rubric have."""
    return safe_name(row_map.name.replace("@", "-"), limit=NAME_LENGTH)


def dataset_of(
    row_map: RowMap, run: RunFacts, questions: Mapping[str, QuestionFacts], *, label: str
) -> Dataset:
    """Return the dataset: every planned question of a run, with gold where rows show it.

    Raises:
        InvalidInputError: a record has a wrong form.
    """
    records = [record_of(name, questions.get(name)) for name in run.questions]
    return build_dataset(
        records,
        name=document_name(row_map),
        version=content_version([dict(record) for record in records]),
        reconstructed=True,
        source=label,
    )


def record_of(name: str, question: QuestionFacts | None) -> dict[str, Json]:
    """Return one record of the dataset; a question without a row is known by its id only."""
    record: dict[str, Json] = {"id": name}
    if question is not None and question.text is not None and question.text.strip():
        record["question"] = question.text
    if question is not None and question.gold:
        record["gold"] = {"answer": question.gold[0], "alternatives": list(question.gold[1:])}
    return record


def rubric_of(row_map: RowMap, *, label: str) -> Rubric:
    """Return the rubric: a metric for each of the map, errors scored 0 and kept in."""
    metrics: dict[str, Json] = {
        name: metric_table(metric) for name, metric in row_map.metrics.items()
    }
    if not metrics:
        metrics[UNSCORED] = {"measure": "verdict", "grader": "source"}
    table: dict[str, Json] = {
        "primary": row_map.primary or next(iter(metrics)),
        "metrics": metrics,
        "outcomes": outcome_policy(),
    }
    named = {**table, "name": document_name(row_map), "version": content_version(table)}
    return rubric_from_table(named, source=label, reconstructed=True)


def metric_table(metric: MetricMap) -> dict[str, Json]:
    """Return one metric of the rubric."""
    return {
        "measure": "verdict" if metric.verdict is not None else "score",
        "grader": "source",
        "scale": list(metric.scale),
        "direction": metric.direction,
        "aggregate": metric.aggregate,
    }


def manifest_of(
    row_map: RowMap, run: RunFacts, *, dataset: Dataset, rubric: Rubric, label: str
) -> Manifest:
    """Return the manifest, named after its configuration and the digest of that system."""
    name = safe_name(run.configuration.replace("@", "-"), limit=NAME_LENGTH)
    facts: dict[str, Json] = {
        safe_name(key): document_text(key, value) for key, value in run.system.items()
    }
    model = facts.pop(MODEL, None)
    table: dict[str, Json] = {
        "configuration": name,
        "phase": row_map.phase,
        "dataset": dataset.reference,
        "rubric": rubric.reference,
        "questions": list(run.questions),
        "repetitions": run.repetitions,
        "agent": {"kind": "external", "target": safe_name(run.configuration), "options": facts},
    }
    if isinstance(model, str):
        provider, slash, _ = model.partition("/")
        endpoint = safe_name(provider if slash and provider else PROVIDER)
        table["models"] = {"main": {"name": safe_name(model), "endpoint": endpoint}}
        table["endpoints"] = {endpoint: {}}
    draft = manifest_from_table(table, source=label, reconstructed=True)
    table["configuration"] = f"{name}-{system_hash(draft)[:VERSION_LENGTH]}"
    return manifest_from_table(table, source=label, reconstructed=True)


def document_text(key: str, value: object) -> Json:
    """Return a fact of a system as text; None where it could be a credential (C11)."""
    text = text_of(value)  # type: ignore[arg-type] # read from JSON
    if is_credential_name(key) or ("://" in text and url_has_credential(text)):
        return None
    return text
