"""What a rubric may say about our own graders, and what is refused before the first trial (C14)."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from document_cases import Table, problems_of, rubric_table
from policy_cases import EMPTY_SETS
from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.grader_options import BUILT_IN, NORMALISERS, settings_of
from trial_ledger.documents.rubric import Rubric, canonical, decode_rubric, rubric_from_table
from trial_ledger.documents.rubric_structs import Metric

JUDGED = {"measure": "score", "grader": "human"}

REQUIRED: dict[str, dict[str, object]] = {"criteria@1": {"metrics": ["judged"]}}
"""Options that have no default that could be frozen."""


def built(**fields: object) -> Rubric:
    """Return a rubric with one metric of these fields, beside one that people judge."""
    metrics = {"correct": fields, "judged": JUDGED}
    judge = {"model": "m", "endpoint": "e", "prompt": "p"}
    table = rubric_table(metrics=metrics, empty_sets=EMPTY_SETS, judge=judge)
    return rubric_from_table(table, source="r.toml")


def metric(**fields: object) -> Metric:
    """Return that metric as it is frozen."""
    return built(**fields).metrics["correct"]


def faults(call: Callable[[], object]) -> dict[str | None, str | None]:
    """Return what was expected in each refused field."""
    return {problem.field: problem.expected for problem in problems_of(call)}


@pytest.mark.parametrize("grader", sorted(BUILT_IN))
def test_c14_every_setting_of_a_grader_is_written_out(grader: str) -> None:
    """The frozen form has every option with its default, so that a new default changes no hash."""
    form = BUILT_IN[grader]
    required = REQUIRED.get(grader, {})
    frozen = metric(measure=form.measures[0], grader=grader, options=required)
    defaults = {name: option.default for name, option in form.options.items()}
    assert frozen.options == {**defaults, **required}
    assert frozen.normaliser == ("squad" if form.normalises else None)
    again = metric(measure=form.measures[0], grader=grader, options=dict(frozen.options))
    assert again == frozen


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_every_normaliser_can_be_named(normaliser: str) -> None:
    """In the metric, and in the settings that the grader gets."""
    frozen = metric(measure="fact.correctness", normaliser=normaliser)
    assert frozen.normaliser == settings_of(frozen).normaliser == normaliser


WRONG: list[tuple[dict[str, Any], dict[str, str | None]]] = [
    ({"normaliser": "squadd"}, {"normaliser": "squad"}),
    ({"normaliser": "?"}, {"normaliser": f"one of {', '.join(NORMALISERS)}"}),
    ({"options": {"find": "last"}}, {"options.find": "none"}),
    (
        {"grader": "number@1", "normaliser": "squad"},
        {"normaliser": "none: this grader compares no texts"},
    ),
    ({"grader": "number@1", "options": {"absolut": "1"}}, {"options.absolut": "absolute"}),
    (
        {"grader": "choice@1", "options": {"x": "1"}},
        {"options.x": "one of choices, labels"},
    ),
    ({"grader": "number@1", "options": {"find": "lst"}}, {"options.find": "last"}),
    (
        {"grader": "number@1", "options": {"absolute": "-1", "relative": "some", "units": "km"}},
        {
            "options.absolute": 'a tolerance from 0, such as "0.01"',
            "options.relative": 'a rational as text, such as "1/2"',
            "options.units": "a list of names",
        },
    ),
    (
        {"grader": "choice@1", "options": {"labels": "ABa", "choices": "\n"}},
        {
            "options.labels": "letters and digits, each once, such as ABCD",
            "options.choices": "1 to 256 characters, none of them a control character",
        },
    ),
    (
        {"grader": "choice@1", "options": {"labels": ""}},
        {"options.labels": "letters and digits, each once, such as ABCD"},
    ),
    ({"grader": "choice@1", "options": {"labels": 4}}, {"options.labels": "text"}),
    ({"grader": "choice@1", "options": "none"}, {"options": "a table"}),
    (
        {"measure": "list.f1", "options": {"separator": "", "items": "line"}},
        {"options.separator": "1 to 8 characters", "options.items": "lines"},
    ),
    (
        {"measure": "structured.field_accuracy", "options": {"key": ["id", "id"], "dates": "us"}},
        {"options.key[1]": None, "options.dates": "one of iso, day-first, month-first"},
    ),
    (
        {"grader": "normalised-match@2"},
        {"grader": "a version that there is: normalised-match@1"},
    ),
    (
        {"measure": "list.recall", "grader": "includes@1"},
        {"grader": "a grader of list.recall: list-match@1"},
    ),
    (
        {"measure": "fact.support", "grader": "includes@1"},
        {"grader": "a grader of fact.support: judge, or one outside as name@version"},
    ),
    (
        {"measure": "fact.correctness", "scale": ["1/2", "1"], "outcomes": {}},
        {"scale": "a scale that holds 0 to 1, which is what normalised-match@1 gives"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), WRONG, ids=range(len(WRONG)))
def test_c14_a_wrong_setting_is_refused_at_freezing(
    fields: dict[str, Any], expected: dict[str, str | None]
) -> None:
    """All of them at once, each with its place and the nearest that would do."""
    found = faults(lambda: built(**{"measure": "fact.correctness", **fields}))
    ours = {
        field.removeprefix("metrics.correct."): text
        for field, text in found.items()
        if field is not None and field != "metrics.correct.outcomes"
    }
    assert ours == expected


def test_graders_outside_keep_their_own_settings() -> None:
    """What the ledger does not grade itself is kept as it was written."""
    options: Table = {"anything": [1, {"deep": "x"}]}
    for grader in ("normalized-match@1", "simpleqa@1", "judge"):
        kept = metric(measure="verdict", grader=grader, normaliser="their own", options=options)
        assert (kept.normaliser, kept.options) == ("their own", options)
    assert metric(measure="verdict", grader="judge").normaliser is None


def test_a_verdict_may_have_any_scale() -> None:
    """The scale of a verdict is that of its classes, not of what the grader gives."""
    scale = ["-1", "1"]
    assert metric(measure="verdict", grader="includes@1", scale=scale).scale == ("-1", "1")
    assert metric(measure="fact.correctness", scale=scale).scale == ("-1", "1")


def test_settings_are_the_same_after_freezing() -> None:
    """What was written, frozen and read again is what the grader gets."""
    written: dict[str, Json] = {
        "find": "last",
        "absolute": "0.50",
        "units": ["km", "$"],
        "thousands": "comma",
    }
    rubric = built(measure="verdict", grader="number@1", options=written)
    frozen = decode_rubric(canonical(rubric)).metrics["correct"]
    settings = settings_of(frozen)
    assert settings.normaliser == "none"
    assert settings.text("absolute") == "1/2"
    assert settings.names("units") == ("km", "$")
    assert settings.options == frozen.options
    older = msgspec.structs.replace(frozen, options={"find": "last"})
    assert settings_of(older).options["decimal"] == "point"
