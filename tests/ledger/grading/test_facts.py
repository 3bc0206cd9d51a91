"""Facts: a whole answer that is an accepted one, or an answer that holds it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading_cases import fact, graded, part
from trial_ledger.grading.accepted import LONGEST_ANSWER

MATCH, INCLUDES = "normalised-match@1", "includes@1"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("the Samarkand.", "answer"),
        ("MARACANDA", "alternative 1"),
        ("Afrasiab!", "alternative 2"),
        ("Samarkand, I think", "none"),
        ("", "none"),
    ],
)
def test_c27_any_accepted_answer_is_right_and_named(answer: str, outcome: str) -> None:
    """The part says which accepted answer decided, the reasoning by which rule."""
    gold = fact("Samarkand", "Maracanda", "Afrasiab")
    found = graded(MATCH, gold, answer, "fact.correctness")
    assert (found.verdict, found.score) == (None, "0" if outcome == "none" else "1")
    assert part(found, "match") == outcome
    assert "after normalisation squad" in found.reasoning


def test_c28_the_reasoning_names_the_rule() -> None:
    """Words say what was compared and how."""
    gold = fact("Samarkand", "Maracanda")
    assert graded(MATCH, gold, "the Maracanda").reasoning == (
        "equal to alternative 1 'Maracanda' after normalisation squad"
    )
    assert graded(MATCH, gold, "Tashkent", normaliser="none").reasoning == (
        "'Tashkent' is equal to none of 2 accepted answers after normalisation none"
    )
    assert graded(INCLUDES, gold, "It is Maracanda.").reasoning == (
        "holds alternative 1 'Maracanda' as whole words after normalisation squad"
    )


@pytest.mark.parametrize("grader", [MATCH, INCLUDES, "choice@1", "number@1"])
@pytest.mark.parametrize("gold", [{}, fact(None), fact(" ", "", " "), {"answer": ["x"]}, None])
def test_gold_without_an_answer_decides_nothing(
    grader: str, gold: dict[str, object] | None
) -> None:
    """Where gold says nothing, nobody is wrong."""
    found = graded(grader, gold, "x")
    assert (found.verdict, found.score) == ("not_gradable", None)


@pytest.mark.parametrize("grader", [MATCH, INCLUDES])
@pytest.mark.parametrize(("right", "text"), [(7, "7"), (True, "true"), (False, "false")])
def test_gold_may_be_an_integer_or_a_truth_value(grader: str, right: object, text: str) -> None:
    """They are compared as JSON writes them."""
    assert graded(grader, {"answer": right}, text).verdict == "correct"
    assert graded(grader, {"answer": right}, f"x{text}").verdict == "incorrect"


@pytest.mark.parametrize("grader", [MATCH, INCLUDES, "choice@1", "number@1"])
def test_an_endless_answer_is_wrong(grader: str) -> None:
    """Beyond a million characters an answer is none, and the reasoning says so."""
    gold = fact("1" if grader == "number@1" else "A")
    found = graded(grader, gold, "A 1 " + " " * LONGEST_ANSWER)
    assert found.verdict == "incorrect"
    assert "1000004 characters" in found.reasoning


@pytest.mark.parametrize(
    ("answer", "wanted", "held"),
    [
        ("It is Paris.", "Paris", True),
        ("Comparison", "Paris", False),
        ("parisian", "Paris", False),
        ("C++, of course", "C++", True),
        ("costs $5", "$5", True),
        ("3.5 million", "3.5", True),
        ("13.5", "3.5", False),
        ("3.55", "3.5", False),
        ("3.5", "3", False),
        ("3.5", "5", False),
        ("1,234", "1", False),
        ("page 3.", "3", True),
        (".5", ".5", True),
        ("0.5", ".5", False),
        ("a_b", "b", False),
        ("cafe\u0301", "cafe", False),
        ("x\u0301 is not", "x", False),
        ("cafe\u0301", "caf\u00e9", True),
        ("\u6771\u4eac\u90fd", "\u4eac", True),
        ("the 5 and the 3.5", "5", True),
        ("", "x", False),
    ],
)
def test_whole_words_are_found(answer: str, wanted: str, held: bool) -> None:
    """No part of a longer word or number counts, and no sign is lost."""
    found = graded(INCLUDES, fact(wanted), answer, normaliser="casefold")
    assert found.verdict == ("correct" if held else "incorrect")


def test_what_a_normaliser_takes_away_is_still_looked_for() -> None:
    """SQuAD leaves nothing of `The The`, which is the name of a band."""
    held = graded(INCLUDES, fact("The The"), "I like The The!")
    assert held.verdict == "correct"
    assert held.reasoning.endswith("as whole words after normalisation casefold")
    equal = graded(MATCH, fact("The The"), "the the")
    assert equal.verdict == "correct"
    assert equal.reasoning.endswith(
        "case-folded, as normalisation squad leaves nothing of the answer"
    )
    assert graded(INCLUDES, fact("The The"), "I like the band").verdict == "incorrect"


WORDS = st.lists(st.sampled_from(["alpha", "beta", "Gamma", "7", "d'or"]), min_size=1)


@given(before=WORDS, right=WORDS, after=WORDS)
def test_words_around_a_held_answer_change_nothing(
    before: list[str], right: list[str], after: list[str]
) -> None:
    """An answer that equals gold holds it, and still does within other words."""
    wanted = " ".join(right)
    assert graded(MATCH, fact(wanted), wanted.upper()).verdict == "correct"
    whole = " ".join([*before, *right, *after])
    assert graded(INCLUDES, fact(wanted), whole.upper()).verdict == "correct"


@given(text=st.text(), wanted=st.text(min_size=1), normaliser=st.sampled_from(["none", "squad"]))
def test_whatever_is_equal_is_held(text: str, wanted: str, normaliser: str) -> None:
    """`includes` never calls wrong what `normalised-match` calls right."""
    for answer in (text, wanted):
        if graded(MATCH, fact(wanted), answer, normaliser=normaliser).verdict == "correct":
            held = graded(INCLUDES, fact(wanted), answer, normaliser=normaliser)
            assert held.verdict == "correct"
