"""A frozen rubric as people write one: what is read back is the very rubric."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from document_cases import outcome_table, rubric_table
from policy_cases import EMPTY_SETS, ODD, USUAL
from trial_ledger.documents.authoring import rubric_toml
from trial_ledger.documents.outcomes import OUTCOME_CLASSES
from trial_ledger.documents.rubric import Rubric, parse_rubric, rubric_from_table, rubric_hash
from trial_ledger.errors import InvalidInputError

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), max_size=40)
WORDS = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=12)
SCALES = (["0", "1"], ["-1", "1"], ["0", "3/2"])
Table = dict[str, Any]


def rules(low: str) -> st.SearchStrategy[Table]:
    """Return rules of outcome classes, each whole or with what its neighbours have."""
    score = st.sampled_from(("0", "1/3", "1", "undecided", low))
    rule = st.fixed_dictionaries(
        {"score": score}, optional={"denominator": st.booleans(), "retryable": st.booleans()}
    )
    return st.dictionaries(st.sampled_from(OUTCOME_CLASSES), rule, max_size=6)


VALUES = st.recursive(
    st.one_of(TEXTS, st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def metrics(draw: st.DrawFn) -> Table:
    """Return a metric of any grader, with any settings for one outside."""
    scale = draw(st.sampled_from(SCALES))
    measure, grader = draw(
        st.sampled_from(
            (
                ("verdict", "judge"), ("score", "source"), ("research.coverage", "outside@3"),
                ("fact.correctness", "number@1"), ("list.f1", "list-match@1"),
                ("verdict", "choice@1"), ("structured.record_accuracy", "record-match@1"),
            )
        )
    )  # fmt: skip
    table: Table = {"measure": measure, "grader": grader, "scale": scale}
    table["outcomes"] = draw(rules(scale[0]))
    table["direction"] = draw(st.sampled_from(("higher", "lower")))
    table["aggregate"] = draw(st.sampled_from(("question-mean", "trial-mean")))
    if grader in {"judge", "source", "outside@3"}:
        table["options"] = draw(st.dictionaries(WORDS, VALUES, max_size=3))
    return table


@st.composite
def rubrics(draw: st.DrawFn) -> Rubric:
    """Return a rubric that can be frozen."""
    named = draw(st.dictionaries(WORDS, metrics(), min_size=1, max_size=3))
    policy = {**outcome_table(), **draw(rules("0"))}
    table = rubric_table(
        primary=next(iter(named)),
        metrics=named,
        outcomes=policy,
        empty_sets=EMPTY_SETS,
        max_undecided=draw(st.sampled_from(("0", "1/20", "1"))),
        judge={
            "model": "m", "endpoint": "e", "prompt": draw(TEXTS),
            "sampling": draw(st.dictionaries(WORDS, VALUES, max_size=2)),
            "passes": draw(st.integers(1, 5)),
        },
        review={"seed": draw(WORDS), "strata": draw(st.lists(WORDS, max_size=2, unique=True))},
        version=draw(st.sampled_from(("1", "2026-07", "a.b"))),
    )  # fmt: skip
    return parse_rubric(json.dumps(table).encode(), source="rubric.json")


def read_again(rubric: Rubric) -> Rubric:
    """Return the rubric of the document that is shown."""
    return parse_rubric(rubric_toml(rubric).encode(), source="shown.toml")


@EXAMPLES
@given(rubric=rubrics())
def test_c14_reading_what_is_shown_gives_the_very_rubric(rubric: Rubric) -> None:
    """Whatever it says: the same document, by its hash."""
    assert read_again(rubric) == rubric
    assert rubric_hash(read_again(rubric)) == rubric_hash(rubric)


@pytest.mark.parametrize("table", [USUAL, ODD], ids=["usual", "odd"])
def test_rules_of_outcomes_stand_on_a_line_each(table: Table) -> None:
    """As people write them, so that one is easily changed."""
    rubric = parse_rubric(json.dumps(table).encode(), source="rubric.json")
    shown = rubric_toml(rubric)
    assert read_again(rubric) == rubric
    assert 'partial = {score = "1/2"}\n' in shown
    assert "invalidated = {denominator = false}\n" in shown
    assert 'scale = ["-1", "1"]\n' in shown
    assert shown.startswith(
        f"# {rubric.reference} as it was frozen.\n"
        "# A changed rubric needs another version, such as 2.\n"
    )


def test_a_metric_s_own_rule_is_whole() -> None:
    """Half of it would be filled from the rubric's rule when it is read, whatever that says."""
    outcomes = {**outcome_table(), "limit": {"denominator": False, "retryable": True}}
    own = {"limit": {"score": "1/3", "denominator": True, "retryable": False}}
    metric = {"measure": "verdict", "outcomes": own}
    judge = {"model": "m", "endpoint": "e", "prompt": "p"}
    table = rubric_table(metrics={"correct": metric}, outcomes=outcomes, judge=judge)
    rubric = parse_rubric(json.dumps(table).encode(), source="rubric.json")
    assert read_again(rubric) == rubric
    whole = 'limit = {score = "1/3", denominator = true, retryable = false}\n'
    assert f"[metrics.correct.outcomes]\n{whole}" in rubric_toml(rubric)


def test_line_ends_of_a_prompt_stay() -> None:
    """A prompt of several lines is written in lines, unless TOML would change their ends."""
    for prompt, lines in (("a\nb", 'prompt = """\na\nb"""\n'), ("a\r\nb", 'prompt = "a\\r\\nb"\n')):
        judge = {"model": "m", "endpoint": "e", "prompt": prompt}
        table = rubric_table(judge=judge)
        rubric = parse_rubric(json.dumps(table).encode(), source="rubric.json")
        assert lines in rubric_toml(rubric)
        assert read_again(rubric) == rubric


def test_a_reconstructed_rubric_stays_one_and_loses_only_nulls() -> None:
    """A source's setting may be null, which TOML has not; everything else stays."""
    inner = ["a", None, {"deep": None}]
    options: Table = {"scorer": "picky", "model": None, "kept": {}, "list": inner}
    table = rubric_table(
        metrics={"correct": {"measure": "verdict", "grader": "source", "options": options}},
        review=None,
        official={"benchmark": "b", "grader": "g", "digests": {"a.py": "ab" * 32}},
    )
    rubric = rubric_from_table(table, source=None, reconstructed=True)
    again = read_again(rubric)
    assert again.reconstructed
    metric = rubric.metrics["correct"]
    bare = {"scorer": "picky", "kept": {}, "list": ["a", {}]}
    without = msgspec.structs.replace(metric, options=bare)
    assert again == msgspec.structs.replace(rubric, metrics={"correct": without})


def test_a_revision_that_says_nothing_sensible_is_refused() -> None:
    """What was shown is no special case: a fault in it is found like any other."""
    rubric = parse_rubric(json.dumps(USUAL).encode(), source="rubric.json")
    shown = rubric_toml(rubric).replace('partial = {score = "1/2"}', 'partial = {score = "half"}')
    with pytest.raises(InvalidInputError) as caught:
        parse_rubric(shown.encode(), source="shown.toml")
    (problem,) = caught.value.problems
    line = shown[: shown.index('"half"')].count("\n") + 1
    assert (problem.field, problem.line) == ("outcomes.partial.score", line)
