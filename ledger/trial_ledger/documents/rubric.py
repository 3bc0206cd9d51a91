"""How answers are scored: a rubric read from what people write, all faults at once (C14, C20).

Invariant: no outcome, failure class, empty-set value or review seed that the author left out is
filled in (C8, C20, C29); only settings of form have defaults, and those are written out.
"""

from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.credentials import (
    NO_VARIABLES,
    mask_secret_values,
    report_credentials,
)
from trial_ledger.documents.grader_options import read_grading
from trial_ledger.documents.official_guard import check_official
from trial_ledger.documents.outcomes import (
    OUTCOME_CLASSES,
    OutcomeRule,
    default_failure_outcomes,
    default_outcomes,
    read_failure_outcomes,
    read_outcomes,
    read_rational,
)
from trial_ledger.documents.reading import Faults, Table, given, nearest
from trial_ledger.documents.rubric_sections import (
    read_empty_sets,
    read_judge,
    read_official,
    read_review,
    read_share,
)
from trial_ledger.documents.rubric_structs import (
    EMPTY_SETS,
    MEASURES,
    UNDEFINED,
    EmptySet,
    Judge,
    Metric,
    Review,
    Rubric,
    canonical,
    decode_rubric,
    metric_outcomes,
    rubric_hash,
)
from trial_ledger.documents.toml_form import parse_table, plain_table
from trial_ledger.exact import parse_rational
from trial_ledger.strict_json import shorten

__all__ = [
    "EMPTY_SETS",
    "MEASURES",
    "OUTCOME_CLASSES",
    "UNDEFINED",
    "EmptySet",
    "Judge",
    "Metric",
    "OutcomeRule",
    "Review",
    "Rubric",
    "canonical",
    "decode_rubric",
    "default_failure_outcomes",
    "default_outcomes",
    "metric_outcomes",
    "parse_rubric",
    "rubric_from_table",
    "rubric_hash",
]

HINT = "ledger init --template writes a complete rubric.toml to start from"

CODE_GRADERS: Mapping[str, str] = {
    "fact.correctness": "normalised-match@1",
    "list.precision": "list-match@1",
    "list.recall": "list-match@1",
    "list.f1": "list-match@1",
    "structured.field_accuracy": "record-match@1",
    "structured.record_accuracy": "record-match@1",
    "structured.record_precision": "record-match@1",
}
"""Grader of a measure whose metric names none; the other measures need a judge."""

LISTENERS = {"criteria@1": "metrics", "judge-reply@1": "metric"}
"""Grader that reads the judgments of other metrics → the option that names them."""

SINGLE_GRADERS = ("judge", "human", "source")
TASK_SHAPES = ("fact", "list", "structured", "research")


def parse_rubric(
    data: bytes, *, source: str | None, environ: Mapping[str, str] = NO_VARIABLES
) -> Rubric:
    """Return the rubric of a TOML (or JSON) document.

    Args:
        data: the document.
        source: file name for the messages.
        environ: environment variables; only the values of those that a `key_env` of the document
            names are looked at, to refuse a document that holds one (C11).

    Raises:
        InvalidInputError: with every fault found.
    """
    values, faults = parse_table(data, source=source, what="rubric")
    values = mask_secret_values(values, faults, environ)
    return read_rubric(values, faults, reconstructed=False)


def rubric_from_table(
    table: Mapping[str, object], *, source: str | None, reconstructed: bool = False
) -> Rubric:
    """Return the rubric of a table in the form of rubric.toml, as importers build it.

    Args:
        table: the document; scores and fractions are text.
        source: file name for the messages.
        reconstructed: whether judge and review may be left unknown.

    Raises:
        InvalidInputError: with every fault found.
    """
    faults = Faults(source=source, what="rubric")
    return read_rubric(plain_table(table, faults), faults, reconstructed=reconstructed)


def read_rubric(values: Mapping[str, Json], faults: Faults, *, reconstructed: bool) -> Rubric:
    faults.hint = HINT
    report_credentials(values, faults)
    table = Table(values, faults)
    reconstructed = table.boolean("reconstructed") or reconstructed
    faults.lenient = reconstructed
    table.require("name", "version", "primary", "metrics")
    if table.integer("schema", least=1) not in {None, 1}:
        table.wrong("schema", "1, the only form that this version knows")
    outcomes, failure_outcomes = read_policy(table)
    metrics = {
        name: read_metric(inner, outcomes) for name, inner in table.tables("metrics").items()
    }
    document = given(
        name=reference_part(table, "name"),
        version=reference_part(table, "version"),
        reconstructed=reconstructed,
        primary=read_primary(table, metrics),
        max_undecided=read_share(table, "max_undecided"),
        official=read_official(table),
        metrics=metrics,
        judge=read_judge(table),
        outcomes=outcomes,
        failure_outcomes=failure_outcomes,
        empty_sets=read_empty_sets(table, needed=any_list(metrics.values())),
        review=read_review(table),
    )
    table.finish()
    check_listeners(table, metrics)
    if not reconstructed:
        require_sections(table, metrics)
    faults.stop()
    rubric = msgspec.convert(document, type=Rubric)
    check_official(rubric, faults)
    faults.stop()
    return rubric


def require_sections(table: Table, metrics: Mapping[str, Mapping[str, object]]) -> None:
    if not table.has("review"):
        table.faults.add("missing", field="review", expected="a seed at least", clause="C29")
    judged = [name for name, metric in metrics.items() if metric.get("grader") == "judge"]
    if judged and not table.has("judge"):
        table.faults.add(
            f"missing, but graded by judge: {', '.join(judged)}", field="judge", clause="C28"
        )


def check_listeners(table: Table, metrics: Mapping[str, Mapping[str, object]]) -> None:
    """Report metrics that read others' judgments and do not say whose."""
    listeners = [name for name, metric in metrics.items() if metric.get("grader") in LISTENERS]
    known = [name for name in metrics if name not in listeners]
    for name in listeners:
        option = LISTENERS[str(metrics[name]["grader"])]
        options = metrics[name].get("options")
        told = options.get(option) if isinstance(options, dict) else known
        named = [told] if isinstance(told, str) else cast("list[str]", told or [])
        wrong = [shorten(other) for other in named if other not in known]
        if wrong or not named:
            table.faults.add(
                "names no metric that a judge or people give",
                field=f"metrics.{name}.options.{option}",
                found=", ".join(wrong) or "none",
                expected=f"of {', '.join(known)}" if known else "a metric of a judge or of people",
                clause="C27",
            )


def reference_part(table: Table, key: str) -> str | None:
    """Return a name that can stand in `name@version`."""
    value = table.name(key)
    if value is not None and "@" in value:
        table.wrong(key, "a name without @, which separates name and version")
    return value


def read_primary(table: Table, metrics: Mapping[str, object]) -> str | None:
    primary = table.name("primary")
    if primary is not None and metrics and primary not in metrics:
        table.wrong("primary", nearest(primary, metrics) or f"one of {', '.join(metrics)}")
    return primary


def read_policy(
    table: Table,
) -> tuple[dict[str, OutcomeRule], dict[str, str | dict[str, str]]]:
    policy = table.table("outcomes") or Table({}, table.faults, path="outcomes")
    outcomes = read_outcomes(policy, {})
    missing = [name for name in OUTCOME_CLASSES if name not in policy.values]
    if missing:
        table.faults.add(
            f"outcome classes without a rule: {', '.join(missing)}", field="outcomes", clause="C20"
        )
    failures = policy.table("failures") or Table({}, table.faults, path="outcomes.failures")
    return outcomes, read_failure_outcomes(failures)


def read_metric(table: Table, outcomes: Mapping[str, OutcomeRule]) -> dict[str, object]:
    table.require("measure")
    measure = table.choice("measure", MEASURES)
    scale = read_scale(table)
    overrides = table.table("outcomes")
    own = read_outcomes(overrides, outcomes) if overrides is not None else {}
    check_scores(table, {**outcomes, **own}, scale, overrides=own)
    grader = read_grader(table, measure)
    normaliser, options = read_grading(table, grader=grader, measure=measure, scale=scale)
    metric = given(
        measure=measure,
        shapes=read_shapes(table, measure),
        grader=grader,
        normaliser=normaliser,
        scale=scale,
        direction=table.choice("direction", ("higher", "lower")),
        aggregate=table.choice("aggregate", ("question-mean", "trial-mean")),
        interval=read_interval(table, scale),
        outcomes=own,
        options=options,
    )
    table.finish()
    return metric


def read_grader(table: Table, measure: str | None) -> str | None:
    grader = table.name("grader")
    if grader is None:
        return CODE_GRADERS.get(measure or "", "judge")
    name, at, version = grader.rpartition("@")
    if grader not in SINGLE_GRADERS and not (name and at and version):
        table.wrong("grader", f"name@version, or one of {', '.join(SINGLE_GRADERS)}")
    return grader


def read_shapes(table: Table, measure: str | None) -> tuple[str, ...]:
    own = MEASURES.get(measure or "", ())
    shapes = table.names("shapes")
    if shapes is None:
        return own
    allowed = own or TASK_SHAPES
    for shape in shapes:
        if shape not in allowed:
            table.faults.add(
                "not a task shape of this measure",
                field=table.at("shapes"),
                found=shorten(shape),
                expected=nearest(shape, allowed) or f"of {', '.join(allowed)}",
            )
    return shapes or own


def read_scale(table: Table) -> tuple[str, str]:
    value = table.raw("scale")
    if value is None:
        return ("0", "1")
    ends = table.positions("scale")
    low, high = read_rational(ends, "0"), read_rational(ends, "1")
    ordered = low is not None and high is not None and parse_rational(low) < parse_rational(high)
    if len(ends.values) != len(("low", "high")) or not ordered:
        table.wrong("scale", '["lowest", "highest"], two rationals in order')
        return ("0", "1")
    return (low or "0", high or "1")


def read_interval(table: Table, scale: tuple[str, str]) -> str:
    interval = table.choice("interval", ("cluster-wilson", "cluster-t", "none"))
    plain = scale == ("0", "1")
    if interval == "cluster-wilson" and not plain:
        table.wrong("interval", "cluster-t, since the scale is not 0 to 1")
    return interval or ("cluster-wilson" if plain else "cluster-t")


def check_scores(
    table: Table,
    rules: Mapping[str, OutcomeRule],
    scale: tuple[str, str],
    *,
    overrides: Mapping[str, OutcomeRule],
) -> None:
    low, high = (parse_rational(end) for end in scale)
    for name, rule in rules.items():
        if rule.score is not None and not low <= parse_rational(rule.score) <= high:
            origin = "own" if name in overrides else "the rubric's"
            table.faults.add(
                f"{origin} score for {name} lies outside the scale {scale[0]} to {scale[1]}",
                field=table.at("outcomes"),
                found=rule.score,
                clause="C20",
            )


def any_list(metrics: Iterable[Mapping[str, object]]) -> bool:
    return any(str(metric.get("measure")).startswith("list.") for metric in metrics)
