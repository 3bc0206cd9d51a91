"""Choices: a strict rule finds one label, or the answer is wrong and the reasoning says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading_cases import fact, graded, part

TOWNS = {"choices": ["Rome", "Paris", "The Hague", "Oslo"]}


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("B", "B"),
        ("b", "B"),
        (" (B). ", "B"),
        ("[b]", "B"),
        ("B)", "B"),
        ("**B.**", "B"),
        ("Paris", "B"),
        ("paris!", "B"),
        ("hague", "C"),
        ("B) Paris", "B"),
        ("(B): **Paris**", "B"),
        ("Some thoughts on Rome.\nAnswer: B", "B"),
        ("Rome is large.\n**Final answer: B) Paris**\n", "B"),
        ("> the answer is Paris.", "B"),
        ("The correct answer is: B", "B"),
        ("Answer: B\nanswer: Paris", "B"),
        ("B) Rome", "2 choices: A, B"),
        ("A, B", "2 choices: A, B"),
        ("a or b", "2 choices: A, B"),
        ("A and B & D", "3 choices: A, B, D"),
        ("B, B", "B"),
        ("Answer: A\nAnswer: B", "2 choices: A, B"),
        ("B, because Rome is larger", None),
        ("I would say B", None),
        ("B) because", None),
        ("The answer is not B", None),
        ("The answer isn't B", None),
        ("E", None),
        ("5) Paris", None),
        ("Answer:", None),
        ("", None),
        ("Rome Paris", None),
    ],
)
def test_c27_one_choice_is_named_or_none(answer: str, label: str | None) -> None:
    """No choice and two choices are the agent's wrong answer."""
    found = graded("choice@1", fact("Paris"), answer, context=TOWNS)
    assert found.verdict == ("correct" if label == "B" else "incorrect")
    if label is None:
        assert found.reasoning == "the answer names no choice"
    elif len(label) > 1:
        assert found.reasoning == f"the answer names {label}"
    assert part(found, "choice") == (label if label and len(label) == 1 else "none")


def test_another_choice_is_wrong() -> None:
    """The part says what was chosen, and that no accepted answer decided."""
    found = graded("choice@1", fact("B"), "D", context=TOWNS)
    assert (found.verdict, part(found, "choice"), part(found, "match")) == (
        "incorrect",
        "D",
        "none",
    )
    assert found.reasoning == "the answer names D: not accepted"


@pytest.mark.parametrize("right", ["B", "(b)", "Paris", "B) Paris"])
def test_gold_names_a_label_or_a_text(right: str) -> None:
    """Gold is read by the same rule as the answer."""
    found = graded("choice@1", fact(right, "Oslo"), "B", context=TOWNS)
    assert (found.verdict, part(found, "match")) == ("correct", "answer")
    other = graded("choice@1", fact("nowhere", right), "Paris", context=TOWNS)
    assert part(other, "match") == "alternative 1"


def test_choices_may_be_an_object_or_unknown() -> None:
    """Labels come from the object, from the order, or are all that is known."""
    towns = {"options": {"x": "Rome", "(y)": "Paris"}}
    assert graded("choice@1", fact("Y"), "Paris", context=towns, choices="options").score is None
    found = graded("choice@1", fact("Y"), "Paris", context=towns, choices="options")
    assert (found.verdict, part(found, "choice")) == ("correct", "Y")
    for context in (None, ["no", "object"], {"other": 1}):
        assert graded("choice@1", fact("C"), "c)", context=context).verdict == "correct"
        assert graded("choice@1", fact("C"), "C) Paris", context=context).verdict == "incorrect"
    digits = graded("choice@1", fact(2), "2", context=TOWNS, labels="1234")
    assert digits.verdict == "correct"


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        (["a"] * 3, "two choices have one label or one text, or a choice is no text"),
        (["x", None], "two choices have one label or one text, or a choice is no text"),
        ({"a": "x", "A": "y"}, "the text of a choice is the label of another one"),
        (["x", "y", "z", "u", "v"], "there are 5 choices and 4 labels"),
        (["B", "A"], "the text of a choice is the label of another one"),
        ("A B", "the choices in the context are no list, and no object from label to text"),
        (
            {"first": "x"},
            "the choices in the context are no list, and no object from label to text",
        ),
        (["x", "y"], "gold names none of the choices"),
    ],
)
def test_unusable_choices_decide_nothing(choices: object, reason: str) -> None:
    """A question that is ambiguous is nobody's wrong answer."""
    context = {"choices": choices}
    found = graded("choice@1", fact("Samarkand"), "A", context=context, labels="ABCD")
    if isinstance(choices, dict) and "A" in choices:
        reason = "two choices have one label or one text, or a choice is no text"
    assert (found.verdict, found.reasoning) == ("not_gradable", reason)


@given(answer=st.text(st.sampled_from("ABE abc()[].:,\n*answer") | st.characters()))
def test_no_answer_names_two_choices_and_is_right(answer: str) -> None:
    """Whatever is answered, it is right only with one choice."""
    found = graded("choice@1", fact("A"), answer, context=TOWNS)
    assert (found.verdict == "correct") == (part(found, "choice") == "A")
