"""Every name has one text form, and reading what was printed gives the same name (C16)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from event_cases import FORM_VALUES
from trial_ledger.errors import InvalidInputError
from trial_ledger.forms import fits
from trial_ledger.identifiers import MAX_INTEGER, TrialKey, parse_trial

NAMES = FORM_VALUES["name"]
KEYS = st.builds(
    TrialKey,
    question=NAMES,
    configuration=NAMES,
    repetition=st.integers(min_value=1, max_value=MAX_INTEGER),
    session=NAMES,
)


@given(KEYS)
def test_c16_a_printed_trial_is_read_back(key: TrialKey) -> None:
    """Printing and parsing are inverse for every name, percent signs and hash marks included."""
    assert parse_trial(str(key), configuration=key.configuration) == key


@given(KEYS, KEYS)
def test_c16_different_trials_of_a_run_print_differently(one: TrialKey, other: TrialKey) -> None:
    """Within one configuration the text identifies the trial."""
    same = (one.slot, one.session) == (other.slot, other.session)
    assert (str(one) == str(other)) == same


@given(KEYS)
def test_a_printed_trial_is_one_line_of_ascii(key: TrialKey) -> None:
    """Nothing that a terminal or a path could misread is left in the text."""
    text = str(key)
    assert text.isascii()
    assert text.isprintable()
    assert "/" not in text
    assert text.count("#") == text.count("@") == 1


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("q1#1", ("q1", 1, "s1")),
        ("q1#1@", ("q1", 1, "s1")),
        ("q1#2@s2", ("q1", 2, "s2")),
        ("a%23b#1@x%40y", ("a#b", 1, "x@y")),
        ("q%C3%A4#007", ("qä", 7, "s1")),
        ("no percent%#1", ("no percent%", 1, "s1")),
    ],
)
def test_what_a_person_may_type(text: str, key: tuple[str, int, str]) -> None:
    """The session may be left out; escapes are undone."""
    found = parse_trial(text, configuration="c")
    assert (found.question, found.repetition, found.session) == key


@pytest.mark.parametrize(
    "text",
    [
        "", "q1", "#1", "q1#", "q1#0", "q1#-1", "q1#1.5", "q1#x", "q1#\u0661", "q1#1#2", "q1#+1",
        "q%00#1", "q1#1@%0A", "q1#1@%E2%80%A8", f"{'q' * 257}#1", "q1#9007199254740992",
        "q1#" + "9" * 5_000,
    ],
)  # fmt: skip
def test_what_is_no_trial_is_refused(text: str) -> None:
    """No text leads to a key that could not be stored, and no number is too long to refuse."""
    with pytest.raises(InvalidInputError):
        parse_trial(text, configuration="c")


def test_keys_sort_by_question_then_configuration_then_repetition() -> None:
    """The order of lists of trials is that of their fields."""
    keys = [
        TrialKey(question=question, configuration="c", repetition=repetition)
        for question, repetition in [("b", 1), ("a", 10), ("a", 2)]
    ]
    assert [key.slot for key in sorted(keys)] == [("a", 2), ("a", 10), ("b", 1)]


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("name", ["x", "ä", "a b", "x" * 256], ["", "x" * 257, "a\nb", "\x7f", "\u2028", "\x85"]),
        ("run", ["a", "0", "a.b_c-d", "a" * 80], ["", "A", "-a", ".a", "a" * 81, "a\n", "a/b"]),
        ("hash", ["0a" * 32], ["0A" * 32, "0a" * 31, "0a" * 32 + "\n"]),
        ("id", ["0a" * 16], ["0g" * 16, "0a" * 17]),
    ],
)
def test_forms_of_names(form: str, good: list[str], bad: list[str]) -> None:
    """Labels, run names, hashes and ids have bounded lengths and no control characters."""
    assert [text for text in good if not fits(form, text)] == []
    assert [text for text in bad if fits(form, text)] == []
