"""C3: gold is found where an agent would see it, and only there."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_cases import Table
from trial_ledger.documents.dataset import Question, find_leak, gold_terms
from trial_ledger.documents.leaks import (
    MOST_MARKS,
    holds,
    normalise,
    texts_of,
    visible_texts,
    with_few_marks,
)

QUESTION = Question(
    id="q-2042",
    question="Which of Alpha Works and Beta Works opened in 1998?",
    as_of="2026-10-01",
    context={"candidates": ["Gamma Works"], "limit": 1234567, "flag": True},
)


def terms(gold: object, question: Question = QUESTION, minimum: int = 4) -> tuple[str, ...]:
    """Return the terms of a gold record."""
    return gold_terms({"id": "q", "gold": gold, "extra": {"note": "left alone"}}, question, minimum)  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("gold", "found"),
    [
        ({"answer": "Samarkand", "alternatives": ["Samarqand", "S."]}, ("samarkand", "samarqand")),
        ({"answer": 20041, "alternatives": [True]}, ("20041",)),
        (
            {"items": ["Delta Works"], "aliases": {"Delta Works": ["DELTA-W"]}},
            ("delta works", "delta-w"),
        ),
        ({"records": [{"name": "Epsilon", "tags": ["Zeta"], "n": None}]}, ("epsilon", "zeta")),
        ({"criteria": [{"id": "a", "text": "Names  the Cause"}]}, ("names the cause",)),
        (
            {
                "claims": [
                    {"text": "It rained", "evidence": [{"url": "https://a.example/x#y"}]},
                    "bare",
                ]
            },
            ("a.example/x", "bare", "it rained"),
        ),
        (
            {"evidence": [{"url": " https://b.example/p/ "}, {"url": "urn:isbn:1"}, 3]},
            ("b.example/p", "urn:isbn:1"),
        ),
        ({"answer": "Gamma works", "alternatives": ["Alpha Works", "1998", "1234567", "2026"]}, ()),
        (None, ()),
        (["plain", {"inner": "deeper"}], ("deeper", "plain")),
    ],
)
def test_c03_terms_are_what_only_gold_shows(gold: object, found: tuple[str, ...]) -> None:
    """Answers of every shape are terms, except short ones and those that the question shows."""
    assert terms(gold) == found


def test_c03_the_declared_length_counts_normalised_characters() -> None:
    """Spacing does not make a text long enough; the length itself is long enough."""
    assert terms({"answer": "ab   cd"}, minimum=5) == ("ab cd",)
    assert terms({"answer": "ab   cd"}, minimum=6) == ()
    assert terms({"answer": "x", "alternatives": ["y"]}, minimum=1) == ("x", "y")


@pytest.mark.parametrize(
    ("text", "leaked"),
    [
        ("The answer is SAMARKAND.", True),
        ("samarkand", True),
        ("\uff33amarkand", True),
        ("Samarkandian", False),
        ("neosamarkand", False),
        ("Samarkandian, of Samarkand", True),
        ("", False),
        ('{"hint": "S\\u0061markand"}', True),
        ('["nested", {"Samarkand": 1}]', True),
        ('"S\\u0061markand"', True),
        ("[S\\u0061markand", False),
        ("{" * 5000 + "Samarkand", True),
        ("[" * 100_000, False),
    ],
)
def test_c03_a_leak_is_a_whole_word_in_any_spelling(text: str, leaked: bool) -> None:
    """Case, width and JSON escapes hide nothing; part of a longer word is no leak."""
    assert find_leak(text, ("samarkand",), None) == ("samarkand" if leaked else None)


def test_c03_words_of_scripts_without_spaces_are_found_inside_text() -> None:
    """A name in a script that puts no space between words has no boundary to wait for."""
    assert find_leak("\u6771\u4eac\u90fd\u306b\u3042\u308b", ("\u6771\u4eac",), None)


def test_c03_terms_with_punctuation_at_their_ends_are_found() -> None:
    """A boundary is asked for only where a word would go on."""
    assert find_leak("costs $5.00!", ("$5.00",), None) == "$5.00"
    assert find_leak("costs $5.001", ("$5.00",), None) is None


def test_c03_the_canary_goes_before_gold() -> None:
    """A canary hit is reported as itself, so that the caller can invalidate the trial."""
    canary = "Canary 0123-abc"
    assert find_leak("samarkand canary 0123-ABC", ("samarkand",), canary) == canary
    assert find_leak("samarkand", ("samarkand",), canary) == "samarkand"
    assert find_leak("nothing", ("samarkand",), canary) is None


def test_visible_texts_are_what_the_agent_gets() -> None:
    """Id, question, date, keys and values of the context are visible, truth values are not."""
    assert {"q-2042", "2026-10-01", "candidates", "gamma works", "1234567"} <= set(
        visible_texts(QUESTION)
    )
    assert "true" not in visible_texts(QUESTION)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    """The normal form is a fixed point."""
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(min_size=4), st.text())
def test_c03_what_the_question_shows_is_never_a_leak(answer: str, other: str) -> None:
    """Whatever the gold is: the agent's own view of the question holds none of its terms."""
    question = Question(id="q", question=f"{other} {answer} {other}", context=[other, {answer: 1}])
    found = terms({"answer": answer, "alternatives": [other, answer]}, question)
    for text in (question.question or "", other, answer, json.dumps([answer])):
        assert find_leak(text, found, None) is None


def test_gold_of_a_table_with_odd_parts_is_looked_through() -> None:
    """Parts that are no lists are looked at as far as they hold text."""
    gold: Table = {
        "criteria": "text",
        "claims": None,
        "evidence": "https://c.example",
        "items": "single",
    }
    assert terms(gold) == ("single",)


@given(st.text(st.characters(max_codepoint=127)))
def test_normalising_ascii_is_the_same_by_either_way(text: str) -> None:
    """The short way for ASCII gives what the long way gives."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    assert normalise(text) == " ".join(unicodedata.normalize("NFKC", folded).split())


WORDS = st.lists(st.sampled_from(["Khiva", "a", "Ünï", "b\n", "c"]), max_size=4).map(" ".join)
VALUES = st.recursive(
    WORDS | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
)


@given(VALUES, st.booleans())
def test_c03_texts_of_json_are_looked_at_one_by_one(value: object, ascii_only: bool) -> None:
    """A leak in JSON is found wherever one of its texts holds it, escaped or not."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    for term in ("khiva", "ünï"):
        inside = any(holds(normalise(part), term) for part in texts_of(json.loads(text), keys=True))
        assert (find_leak(text, [term], None) is not None) == inside


def test_c03_a_hostile_text_of_marks_is_read_in_linear_time() -> None:
    """Of a million combining marks thirty are kept, and what stands around them is still found."""
    hostile = "a" + "\u0301\u0316" * 500_000 + " Samarkand"
    assert len(with_few_marks(hostile)) == 1 + MOST_MARKS + len(" Samarkand")
    assert find_leak(hostile, (normalise("Samarkand"),), None) is not None
    assert with_few_marks("a" + "\u0301" * 40) == "a" + "\u0301" * 40
