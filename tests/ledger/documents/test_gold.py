"""Gold by shape (C4), its doubts (C5, C6), and no gold in any warning."""

import pytest

from document_cases import Table
from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.dataset import Question
from trial_ledger.documents.gold import gold_warnings, is_before, read_gold
from trial_ledger.documents.reading import Faults
from trial_ledger.documents.reading import Table as Reader
from trial_ledger.errors import Problem


def read(shape: str | None, gold: Table, *, lenient: bool = False) -> dict[str, Json]:
    """Return gold that must be good."""
    faults = Faults(source=None, what="dataset", lenient=lenient)
    found = read_gold(Reader(gold, faults), shape)
    assert faults.problems == []
    return found


def problems(shape: str, gold: Table) -> list[Problem]:
    """Return the faults of gold."""
    faults = Faults(source=None, what="dataset")
    read_gold(Reader(gold, faults), shape)
    return faults.problems


def test_c04_each_shape_has_all_of_its_keys() -> None:
    """Keys that gold leaves out are null or empty, so that a grader never guesses."""
    common = {"evidence", "reviewed_by", "provenance"}
    assert set(read("fact", {"answer": 7})) == common | {"answer", "alternatives"}
    assert set(read("list", {"items": []})) == common | {
        "items",
        "aliases",
        "inclusion_conditions",
        "exhaustive",
    }
    assert set(read("structured", {"records": [], "fields": {}})) == common | {"records", "fields"}
    criterion = {"id": "a", "text": "x", "kind": "coverage"}
    assert set(read("research", {"criteria": [criterion]})) == common | {"criteria", "claims"}


def test_c04_structured_fields_have_type_comparator_and_missing_policy() -> None:
    """A comparator follows from the type, a missing value is wrong unless declared otherwise."""
    fields = {
        "name": {},
        "year": {"type": "integer", "missing": "allowed"},
        "tags": {"type": "list"},
        "unit": {"comparator": "any_of"},
    }
    records = [{"name": "x", "year": None, "tags": ["a"], "unit": ["m", "metre"]}, {"name": "y"}]
    gold = read("structured", {"records": records, "fields": fields})
    assert gold["fields"] == {
        "name": {"type": "text", "comparator": "normalised", "missing": "wrong"},
        "year": {"type": "integer", "comparator": "numeric", "missing": "allowed"},
        "tags": {"type": "list", "comparator": "unordered", "missing": "wrong"},
        "unit": {"type": "text", "comparator": "any_of", "missing": "wrong"},
    }
    assert gold["records"] == records


def test_c04_research_criteria_have_exact_weights_and_claims_have_ids() -> None:
    """Weights are rational text; a bare claim is numbered and may have evidence of its own."""
    criteria = [
        {"id": "a", "text": "x", "kind": "coverage", "weight": "0.5"},
        {"id": "b", "text": "y", "kind": "sourcing", "parent": "a"},
    ]
    evidence = [{"url": "https://example.org", "verified_at": "2026", "title": "t", "revision": 7}]
    gold = read(
        "research",
        {"criteria": criteria, "claims": ["first", {"text": "second", "evidence": evidence}]},
    )
    assert gold["criteria"] == [
        {"id": "a", "text": "x", "kind": "coverage", "weight": "1/2"},
        {"id": "b", "text": "y", "kind": "sourcing", "weight": "1", "parent": "a"},
    ]
    assert gold["claims"] == [
        {"id": "1", "text": "first", "evidence": []},
        {"id": "2", "text": "second", "evidence": evidence},
    ]


@pytest.mark.parametrize(
    ("shape", "gold", "fields"),
    [
        ("fact", {}, {"answer"}),
        ("fact", {"answer": ""}, {"answer"}),
        ("fact", {"answer": ["x"]}, {"answer"}),
        ("fact", {"answer": "x", "alternatives": "y"}, {"alternatives"}),
        (
            "fact",
            {"answer": "x", "alternatives": ["y", None, {}]},
            {"alternatives[1]", "alternatives[2]"},
        ),
        ("fact", {"answer": "x", "items": []}, {"items"}),
        ("list", {}, {"items"}),
        ("list", {"items": ["a"], "aliases": {"b": ["c"]}}, {"aliases.b"}),
        ("list", {"items": ["a"], "aliases": {"a": "c"}}, {"aliases.a"}),
        ("list", {"items": ["a"], "exhaustive": "yes"}, {"exhaustive"}),
        ("list", {"items": ["a"], "answer": "x"}, {"answer"}),
        ("structured", {}, {"records", "fields"}),
        ("structured", {"records": [{"a": 1}], "fields": {}}, {"records[0].a"}),
        ("structured", {"records": [{"a": [1]}], "fields": {"a": {}}}, {"records[0].a"}),
        ("structured", {"records": [{"a": {}}], "fields": {"a": {}}}, {"records[0].a"}),
        (
            "structured",
            {"records": [{"a": 1}], "fields": {"a": {"type": "list"}}},
            {"records[0].a"},
        ),
        (
            "structured",
            {
                "records": [],
                "fields": {"a": {"type": "txt", "comparator": "x", "missing": "y", "z": 1}},
            },
            {"fields.a.type", "fields.a.comparator", "fields.a.missing", "fields.a.z"},
        ),
        ("research", {}, {"criteria"}),
        ("research", {"criteria": []}, {"criteria"}),
        (
            "research",
            {"criteria": [{}]},
            {"criteria[0].id", "criteria[0].text", "criteria[0].kind"},
        ),
        (
            "research",
            {
                "criteria": [
                    {"id": "a", "text": "x", "kind": "style", "weight": "-1"},
                    {"id": "a", "text": "x", "kind": "coverage", "weight": "x"},
                ],
                "claims": [{"id": "1", "text": "c"}, 3, {"id": "1", "text": "d"}, {"texts": "e"}],
            },
            {
                "criteria[0].kind",
                "criteria[0].weight",
                "criteria[1].id",
                "criteria[1].weight",
                "claims[1]",
                "claims[1].id",
                "claims[3].text",
                "claims[3].texts",
            },
        ),
        (
            "research",
            {
                "criteria": [
                    {"id": name, "text": "x", "kind": "coverage", "parent": parent}
                    for name, parent in (
                        ("a", "gone"),
                        ("b", "c"),
                        ("c", "b"),
                        ("d", "c"),
                        ("e", "a"),
                        ("f", None),
                        ("g", ""),
                    )
                ],
            },
            {f"criteria[{number}].parent" for number in (0, 1, 2, 3, 6)},
        ),
        (
            "research",
            {"criteria": [{"id": "a", "text": "x", "kind": "coverage"}], "claims": 1},
            {"claims"},
        ),
        (
            "fact",
            {"answer": "x", "evidence": [{}, {"url": "u", "verified_at": "x", "when": 1}]},
            {"evidence[0].url", "evidence[1].verified_at", "evidence[1].when"},
        ),
    ],
)
def test_c04_gold_of_the_wrong_form_is_refused(shape: str, gold: Table, fields: set[str]) -> None:
    """Each wrong, missing or foreign part is named."""
    assert {problem.field for problem in problems(shape, gold)} == fields


def test_fields_need_no_declaration_in_a_reconstructed_dataset() -> None:
    """A source may have records without saying how they are compared."""
    gold = read("structured", {"records": [{"a": 1}]}, lenient=True)
    assert (gold["records"], gold["fields"]) == ([{"a": 1}], {})
    assert read("research", {"criteria": []}, lenient=True)["criteria"] == []


def test_gold_without_a_shape_is_kept() -> None:
    """Nothing is known about it, so nothing is changed."""
    assert read(None, {"target": {"x": [1]}}) == {"target": {"x": [1]}}


QUESTION = Question(
    id="q1",
    question="Which shops are open  on SUNDAY?",
    task_shape="list",
    as_of="2026-10-01",
    context={"conditions": ["within walking distance"]},
)
DATED: Table = {"url": "https://example.org", "verified_at": "2026-10-01"}


def warned(gold: Table | None, question: Question = QUESTION) -> list[tuple[str, str]]:
    """Return clause and message of each warning."""
    return [(w.clause, w.message) for w in gold_warnings(question, gold)]


def test_c04_conditions_that_only_gold_shows_are_warned_about_without_being_shown() -> None:
    """A condition must stand in the question or the context, whatever its case and spacing."""
    gold = {
        "inclusion_conditions": ["open on sunday", "Within  walking distance", "is cheap"],
        "exhaustive": True,
        "evidence": [DATED],
    }
    assert warned(gold) == [
        ("C4", "inclusion condition 3 of 3 appears nowhere outside gold"),
    ]


def test_c04_a_question_without_gold_is_warned_about() -> None:
    """It can be asked, but no code grader can judge it."""
    assert [clause for clause, _ in warned(None)] == ["C4"]


def test_c06_an_unstated_exhaustiveness_is_warned_about() -> None:
    """Recall will be unavailable, and the author should know."""
    assert [clause for clause, _ in warned({"evidence": [DATED], "exhaustive": None})] == ["C6"]
    assert warned({"evidence": [DATED], "exhaustive": False}) == []


def test_c05_missing_undated_and_stale_evidence_is_warned_about() -> None:
    """Evidence verified before the question's date may be stale; the earliest is named."""
    base = {"exhaustive": True}
    assert warned(base) == [("C5", "gold has no evidence")]
    assert warned({**base, "evidence": []}) == [("C5", "gold has no evidence")]
    mixed = [DATED, {"url": "u", "verified_at": None}, {"url": "u", "verified_at": "2026-09-01"}, 3]
    stale = (
        "1 of 4 pieces of evidence were verified before 2026-10-01, the earliest 2026-09-01: "
        "gold may be stale"
    )
    assert warned({**base, "evidence": mixed}) == [
        ("C5", "2 of 4 pieces of evidence do not say when they were verified"),
        ("C5", stale),
    ]
    undated = Question(id="q", task_shape="list")
    assert warned({**base, "evidence": [DATED]}, undated) == []


@pytest.mark.parametrize(
    ("day", "other", "before"),
    [
        ("2026-09-30", "2026-10-01", True),
        ("2026-10-01", "2026-10-01T23:00:00Z", False),
        ("2026", "2026-10-01", False),
        ("2025", "2026-10-01", True),
        ("2026-10", "2026-11", True),
    ],
)
def test_dates_are_compared_as_far_as_both_are_precise(day: str, other: str, before: bool) -> None:
    """Only a date that is certainly earlier counts as earlier."""
    assert is_before(day, other) is before
