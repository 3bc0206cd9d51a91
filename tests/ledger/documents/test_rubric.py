"""Rubric: complete before it is frozen, exact, and the same bytes for the same meaning."""

import contextlib
import random
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_cases import Table, fields_of, outcome_table, problems_of, rubric_table
from trial_ledger.documents.outcomes import FAILURE_CLASSES, OUTCOME_CLASSES, PURPOSES
from trial_ledger.documents.rubric import (
    EMPTY_SETS,
    MEASURES,
    OutcomeRule,
    Rubric,
    canonical,
    decode_rubric,
    default_failure_outcomes,
    default_outcomes,
    metric_outcomes,
    parse_rubric,
    rubric_from_table,
    rubric_hash,
)
from trial_ledger.documents.templates import read_template
from trial_ledger.errors import InvalidInputError

EMPTY: Table = {case: {"precision": "undefined", "recall": "0", "f1": "1"} for case in EMPTY_SETS}
OFFICIAL: Table = {"benchmark": "B", "grader": "b@1", "digests": {"grader.py": "ab" * 32}}


def built(**changes: object) -> Rubric:
    """Return the small rubric with changes."""
    return rubric_from_table(rubric_table(**changes), source="r.toml")


def refused(**changes: object) -> Callable[[], Rubric]:
    """Return the call that builds the small rubric with changes."""
    return lambda: built(**changes)


def with_metric(**fields: object) -> Callable[[], Rubric]:
    """Return the call that builds the small rubric with one metric of these fields."""
    return refused(metrics={"correct": fields})


def test_c14_every_default_is_written_out() -> None:
    """A metric of one line is frozen with everything that it means."""
    document = msgspec.json.decode(canonical(built()))
    assert document["metrics"]["correct"] == {
        "measure": "fact.correctness",
        "shapes": ["fact"],
        "grader": "normalised-match@1",
        "normaliser": "squad",
        "scale": ["0", "1"],
        "direction": "higher",
        "aggregate": "question-mean",
        "interval": "cluster-wilson",
        "outcomes": {},
        "options": {},
    }
    assert document["max_undecided"] == "1/20"
    assert document["review"] == {
        "fraction": "1/10",
        "floor": 5,
        "strata": ["configuration", "judged"],
        "seed": "seven",
    }
    assert (document["schema"], document["official"], document["judge"]) == (1, None, None)


def test_numbers_may_be_written_as_integers_decimals_or_rationals() -> None:
    """One value has one canonical text, however it was written."""
    outcomes = {**outcome_table(), "correct": {"score": 1}, "partial": {"score": "0.50"}}
    rubric = built(outcomes=outcomes)
    assert rubric.outcomes["correct"].score == "1"
    assert rubric.outcomes["partial"].score == "1/2"
    assert rubric.outcomes["unjudged"].score is None


def test_a_default_written_by_hand_gives_the_same_hash() -> None:
    """Whether an author spells a default out or not, the rubric is the same."""
    spelled = {"measure": "fact.correctness", "scale": ["0", "1"], "grader": "normalised-match@1"}
    assert rubric_hash(built(metrics={"correct": spelled})) == rubric_hash(built())
    assert rubric_hash(built(max_undecided="0.05")) == rubric_hash(built())
    assert rubric_hash(built(max_undecided="1/10")) != rubric_hash(built())


@pytest.mark.parametrize("measure", MEASURES)
def test_each_measure_has_shapes_and_a_grader(measure: str) -> None:
    """Measures with a code grader take it, the others need a judge (C27)."""
    rubric = rubric_from_table(
        rubric_table(metrics={"correct": {"measure": measure}}, empty_sets=EMPTY),
        source=None,
        reconstructed=True,
    )
    metric = rubric.metrics["correct"]
    assert metric.shapes == MEASURES[measure]
    assert (metric.grader == "judge") == (metric.normaliser is None)


def test_c20_missing_outcome_classes_are_named() -> None:
    """A gap in the policy is refused with the names of what is missing."""
    outcomes = outcome_table()
    del outcomes["refused"], outcomes["unjudged"]
    del outcomes["failures"]["dns"], outcomes["failures"]["limit"]
    messages = {p.field: (p.message, p.clause) for p in problems_of(refused(outcomes=outcomes))}
    assert messages == {
        "outcomes": ("outcome classes without a rule: refused, unjudged", "C20"),
        "outcomes.failures": ("failure classes without an outcome: dns, limit", "C20"),
    }


def test_c20_a_rubric_without_a_policy_is_refused() -> None:
    """No default stands in for the whole outcome table."""
    assert {"outcomes", "outcomes.failures"} <= fields_of(refused(outcomes=None))


def test_c20_a_class_in_the_denominator_needs_a_score() -> None:
    """Leaving the score out is not the same as leaving it undecided."""
    outcomes = {**outcome_table(), "refused": {"retryable": True}}
    assert fields_of(refused(outcomes=outcomes)) == {"outcomes.refused.score"}


def test_c20_failure_classes_map_on_outcome_classes_that_exist() -> None:
    """A target that is no class, and a purpose without target, are refused."""
    failures = {
        **default_failure_outcomes(),
        "dns": "enviroment_fault",
        "tls": 3,
        "timeout": {"search": "search_provider_fault", "model": "?", "juge": "limit"},
    }
    outcomes = {**outcome_table(), "failures": failures, "corect": {"score": "1"}, "limit": 1}
    problems = problems_of(refused(outcomes=outcomes))
    assert {(p.field, p.expected) for p in problems} == {
        ("outcomes.corect", "correct"),
        ("outcomes.limit", "a table"),
        ("outcomes.failures.dns", "environment_fault"),
        ("outcomes.failures.tls", "one of the outcome classes"),
        ("outcomes.failures.timeout.model", "one of the outcome classes"),
        ("outcomes.failures.timeout.juge", "judge"),
        ("outcomes.failures.timeout", None),
    }


def test_failures_by_purpose_have_an_outcome_outside_any_call() -> None:
    """What `none` means is written out, and may be declared."""
    by_purpose = dict.fromkeys(PURPOSES, "limit")
    failures = {
        **default_failure_outcomes(),
        "dns": by_purpose,
        "tls": {**by_purpose, "none": "limit"},
    }
    rubric = built(outcomes={**outcome_table(), "failures": failures})
    assert rubric.failure_outcomes["dns"] == {**by_purpose, "none": "trial_errored"}
    assert rubric.failure_outcomes["tls"] == {**by_purpose, "none": "limit"}


def test_default_policy_is_complete_and_mapped() -> None:
    """The policy of the template has every class, and maps every failure on one of them."""
    assert set(default_outcomes()) == set(OUTCOME_CLASSES)
    targets = default_failure_outcomes()
    assert set(targets) == set(FAILURE_CLASSES)
    named = {t for v in targets.values() for t in ([v] if isinstance(v, str) else v.values())}
    assert named <= set(OUTCOME_CLASSES)


def test_metric_outcomes_override_only_what_they_name() -> None:
    """An override keeps the other fields of the rubric's rule, and the other classes."""
    rubric = built(
        metrics={
            "correct": {
                "measure": "verdict",
                "grader": "human",
                "scale": ["-1", "1"],
                "outcomes": {"incorrect": {"score": "-1"}, "harness_fault": {"score": "-0.5"}},
            }
        }
    )
    rules = metric_outcomes(rubric, "correct")
    assert rules["incorrect"] == OutcomeRule(score="-1")
    assert rules["harness_fault"] == OutcomeRule(score="-1/2", retryable=True)
    assert rules["partial"] == rubric.outcomes["partial"]
    assert set(rules) == set(OUTCOME_CLASSES)
    assert rubric.metrics["correct"].interval == "cluster-t"


def test_scores_outside_the_scale_are_refused() -> None:
    """Both an own score and one of the rubric's policy must lie on the metric's scale."""
    problems = problems_of(
        with_metric(measure="fact.correctness", outcomes={"incorrect": {"score": "-1"}})
    )
    assert [p.message for p in problems] == [
        "own score for incorrect lies outside the scale 0 to 1"
    ]
    outcomes = {**outcome_table(), "correct": {"score": "2"}}
    (problem,) = problems_of(refused(outcomes=outcomes))
    assert problem.message == "the rubric's score for correct lies outside the scale 0 to 1"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "measure"),
        ({"measure": "fact.corectness"}, "measure"),
        ({"measure": "list.recall", "shapes": ["fact"]}, "shapes"),
        ({"measure": "verdict", "grader": "human", "shapes": ["fcat"]}, "shapes"),
        ({"measure": "fact.correctness", "grader": "mine"}, "grader"),
        ({"measure": "fact.correctness", "scale": ["1", "0"]}, "scale"),
        ({"measure": "fact.correctness", "scale": ["0"]}, "scale"),
        ({"measure": "fact.correctness", "scale": "0..1"}, "scale"),
        ({"measure": "fact.correctness", "scale": ["0", "x"]}, "scale[1]"),
        ({"measure": "fact.correctness", "direction": "up"}, "direction"),
        ({"measure": "fact.correctness", "aggregate": "mean"}, "aggregate"),
        ({"measure": "fact.correctness", "interval": "wald"}, "interval"),
        (
            {"measure": "fact.correctness", "scale": ["0", "2"], "interval": "cluster-wilson"},
            "interval",
        ),
        ({"measure": "fact.correctness", "weight": 1}, "weight"),
    ],
)
def test_each_field_of_a_metric_is_checked(fields: Table, field: str) -> None:
    """A wrong field of a metric is named."""
    assert f"metrics.correct.{field}" in fields_of(
        refused(metrics={"correct": fields}, empty_sets=EMPTY)
    )


def test_shapes_of_a_general_measure_may_be_chosen() -> None:
    """A verdict metric may be restricted to some shapes; an empty list means every one."""
    metrics = {
        "correct": {"measure": "verdict", "grader": "human", "shapes": ["list", "fact"]},
        "f1": {"measure": "list.f1", "shapes": []},
    }
    rubric = built(metrics=metrics, empty_sets=EMPTY)
    assert rubric.metrics["correct"].shapes == ("list", "fact")
    assert rubric.metrics["f1"].shapes == ("list",)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": None}, "name"),
        ({"name": "a@b"}, "name"),
        ({"version": "1\n"}, "version"),
        ({"primary": "corect"}, "primary"),
        ({"primary": "zzz"}, "primary"),
        ({"primary": None}, "primary"),
        ({"metrics": None}, "metrics"),
        ({"max_undecided": "3/2"}, "max_undecided"),
        ({"max_undecided": "1/0"}, "max_undecided"),
        ({"max_undecided": True}, "max_undecided"),
        ({"max_undecided": "1." + "0" * 200}, "max_undecided"),
        ({"schema": 2}, "schema"),
        ({"review": None}, "review"),
        ({"review": {}}, "review.seed"),
        ({"review": {"seed": "s", "fraction": "1/11"}}, "review.fraction"),
        ({"review": {"seed": "s", "floor": 0}}, "review.floor"),
        ({"review": {"seed": "s", "strata": "all"}}, "review.strata"),
        ({"judge": {"model": "m"}}, "judge.prompt"),
        (
            {"judge": {"model": "m", "endpoint": "e", "prompt": "p", "canonical": "x"}},
            "judge.canonical",
        ),
        ({"empty_sets": {}}, "empty_sets.both_empty"),
        ({"empty_sets": {**EMPTY, "other": {}}}, "empty_sets.other"),
        (
            {"empty_sets": {**EMPTY, "both_empty": {"precision": "x"}}},
            "empty_sets.both_empty.precision",
        ),
        ({"colour": 1}, "colour"),
    ],
)
def test_each_field_of_a_rubric_is_checked(changes: Table, field: str) -> None:
    """A wrong or missing field is named."""
    assert field in fields_of(refused(**changes))


def test_c8_list_measures_need_the_values_of_empty_sets() -> None:
    """Without them precision and recall are not defined, so the rubric is refused."""
    metrics = {"correct": {"measure": "list.recall"}}
    (problem,) = problems_of(refused(metrics=metrics))
    assert (problem.field, problem.clause) == ("empty_sets", "C8")
    rubric = built(metrics=metrics, empty_sets=EMPTY)
    assert rubric.empty_sets["gold_empty"].precision == "undefined"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"benchmark": None}, "official.benchmark"),
        ({"digests": {}}, "official.digests"),
        ({"digests": {"grader.py": ""}}, "official.digests.grader.py"),
        ({"patches": ["timeout raised"]}, "official.patches"),
    ],
)
def test_c15_official_grading_is_pinned_and_unchanged(changes: Table, field: str) -> None:
    """Benchmark, grader and digests are needed, and no patch is allowed."""
    official = {k: v for k, v in {**OFFICIAL, **changes}.items() if v is not None}
    problems = problems_of(refused(official=official))
    assert {(p.field, p.clause) for p in problems} == {(field, "C15")}
    assert built(official=OFFICIAL).official is not None
    assert built(official={}).official is None


def test_c29_a_review_plan_below_a_tenth_is_refused() -> None:
    """Exactly a tenth is enough."""
    assert built(review={"seed": "s", "fraction": "0.1"}).review is not None
    problems = problems_of(refused(review={"seed": "s", "fraction": "1/20"}))
    assert [p.clause for p in problems] == ["C29"]


def test_a_metric_graded_by_a_judge_needs_one() -> None:
    """The judge's model, endpoint and prompt belong to the rubric (C28)."""
    judged = {"correct": {"measure": "verdict"}}
    (problem,) = problems_of(refused(metrics=judged))
    assert problem.field == "judge"
    judge = {"model": "m", "endpoint": "judge", "prompt": "p", "passes": 3, "canonical": "majority"}
    assert built(metrics=judged, judge=judge).judge is not None


def test_a_reconstructed_rubric_may_leave_judge_and_review_unknown() -> None:
    """An importer knows only what its source says; the outcome policy it must declare."""
    table = rubric_table(metrics={"correct": {"measure": "verdict"}}, review=None)
    rubric = rubric_from_table(table, source=None, reconstructed=True)
    assert (rubric.reconstructed, rubric.review, rubric.judge) == (True, None, None)
    table["judge"] = {"model": "m"}
    judge = rubric_from_table(table, source=None, reconstructed=True).judge
    assert judge is not None
    assert (judge.endpoint, judge.prompt) == (None, None)


def test_c11_a_credential_in_a_rubric_is_refused_without_being_shown() -> None:
    """Neither a field named like one nor the value of a named variable gets through."""
    judge = {
        "model": "secret-value-1",
        "endpoint": "judge",
        "prompt": "p",
        "key_env": "JUDGE_KEY",
        "api_key": "another-secret",
    }
    data = msgspec.json.encode(rubric_table(judge=judge))
    environ = {"JUDGE_KEY": "secret-value-1"}
    problems = problems_of(lambda: parse_rubric(data, source="r", environ=environ))
    assert {(p.field, p.clause) for p in problems} == {
        ("judge.model", "C11"),
        ("judge.api_key", "C11"),
    }
    assert not any("secret-value" in str(p) or "another" in str(p) for p in problems)


def test_all_faults_come_at_once_with_their_lines() -> None:
    """Two far-apart faults of a file are both reported, each where it stands."""
    text = read_template("rubric.toml").decode()
    text = text.replace('primary = "correct"', 'primary = "corect"')
    text = text.replace('seed = "change', 'sed = "change')
    problems = problems_of(lambda: parse_rubric(text.encode(), source="r.toml"))
    lines = text.splitlines()
    places = {p.field: lines[p.line - 1] for p in problems if p.line is not None}
    assert places["primary"].startswith('primary = "corect"')
    assert places["review.sed"].startswith("sed =")
    assert {p.field for p in problems} == {"primary", "review.seed", "review.sed"}


@given(st.randoms(use_true_random=False))
def test_the_order_of_tables_changes_no_hash(generator: random.Random) -> None:
    """A rubric whose tables were shuffled is the same rubric, and decodes to itself."""
    head, *tables = read_template("rubric.toml").decode().split("\n[")
    generator.shuffle(tables)
    shuffled = parse_rubric("\n[".join([head, *tables]).encode(), source=None)
    original = parse_rubric(read_template("rubric.toml"), source=None)
    assert rubric_hash(shuffled) == rubric_hash(original)
    assert canonical(decode_rubric(canonical(shuffled))) == canonical(original)
    assert shuffled.reference == "search-quality@1"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(VALUES, st.sampled_from(sorted(rubric_table())))
def test_no_value_of_any_field_crashes(value: object, field: str) -> None:
    """Whatever stands in a field, the answer is a rubric or an input error."""
    with contextlib.suppress(InvalidInputError):
        rubric = built(**{field: value})
        assert decode_rubric(canonical(rubric)) == rubric


@pytest.mark.parametrize(
    ("metrics", "found"),
    [
        (["judged"], None),
        ([], "none"),
        (["judged", "gone", "other"], "'gone', 'other'"),
    ],
)
def test_c27_what_adds_up_criteria_names_who_judges_them(
    metrics: list[str], found: str | None
) -> None:
    """A metric of the rubric, which does not add up criteria itself."""
    added = {"measure": "research.coverage", "grader": "criteria@1"}
    table = rubric_table(
        metrics={
            "judged": {"measure": "score", "grader": "human"},
            "added": {**added, "options": {"metrics": metrics}},
            "other": {**added, "options": {"metrics": ["judged"]}},
        },
        primary="added",
    )
    if found is None:
        rubric = rubric_from_table(table, source=None)
        assert rubric.metrics["added"].options["partial"] == "1/2"
        return
    (problem,) = problems_of(lambda: rubric_from_table(table, source=None))
    assert (problem.field, problem.found) == ("metrics.added.options.metrics", found)
    assert problem.expected == "of judged"


@pytest.mark.parametrize(
    ("options", "field"), [({}, "metrics.x.options.metrics"), ("all", "metrics.x.options")]
)
def test_c27_criteria_that_nobody_judges_add_up_to_nothing(options: object, field: str) -> None:
    """A rubric of nothing else has no metric to name; options of the wrong form are refused too."""
    metric = {"measure": "research.sourcing", "grader": "criteria@1", "options": options}
    table = rubric_table(metrics={"x": metric}, primary="x")
    assert field in fields_of(lambda: rubric_from_table(table, source=None))
