"""Normalisers: as their benchmarks publish them, idempotent, and harmless on any text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.documents.grader_options import NORMALISERS
from trial_ledger.grading.normalisers import LONGEST_MARKS, comparable, normalise, stream_safe

MARKS = "\u0315\u0300\u0327"
"""Three marks whose order in text is not their canonical one."""

HEAVY = "\u0f73"
"""A mark that counts as none by itself and is taken apart into two."""

TEXTS = st.text() | st.text(
    st.sampled_from("aTheN .,-_'\u2019\u0130\u03a3\u00e9e\u0301\u0327\ufb01")
)


@pytest.mark.parametrize(
    ("normaliser", "form"),
    [
        ("none", " The  U.S.A.\ufb01 "),
        ("nfkc", "The U.S.A.fi"),
        ("casefold", "the u.s.a.fi"),
        ("squad", "usa\ufb01"),
        ("triviaqa", "u s \ufb01"),
        ("nq-open", "usa\ufb01"),
    ],
)
def test_each_normaliser_does_what_it_says(normaliser: str, form: str) -> None:
    """One text has six forms."""
    assert normalise(" The  U.S.A.\ufb01 ", normaliser) == form


@pytest.mark.parametrize("normaliser", NORMALISERS)
@given(text=TEXTS)
def test_normalising_twice_changes_nothing(normaliser: str, text: str) -> None:
    """A normalised text is in its form."""
    once = normalise(text, normaliser)
    assert normalise(once, normaliser) == once


@pytest.mark.parametrize("normaliser", NORMALISERS)
@given(text=TEXTS)
def test_only_a_blank_text_has_an_empty_form(normaliser: str, text: str) -> None:
    """What a normaliser leaves nothing of is compared by what it is, and never equal to nothing."""
    form = comparable(text, normaliser)
    assert bool(form) or not text.strip()
    assert comparable(form, normaliser) == form


def test_what_loses_everything_is_equal_to_itself_only() -> None:
    """SQuAD leaves nothing of `The`, `a` and `!?`; they are three texts all the same."""
    forms = [comparable(text, "squad") for text in ("The", "a", "!?")]
    assert forms == ["the", "a", "!?"]
    assert comparable("the a", "squad") != comparable("!", "squad")


@given(text=st.text(st.sampled_from("a\u00e9" + MARKS + HEAVY + "\u0344\u0958")))
def test_few_marks_stay_as_they_are(text: str) -> None:
    """A text with no more marks in a row than anybody writes is normalised as Unicode says."""
    full = unicodedata.normalize("NFKD", text)
    longest = max(
        map(len, "".join(" x"[bool(unicodedata.combining(c))] for c in full).split()), default=0
    )
    if longest <= LONGEST_MARKS - 4:
        assert stream_safe(text) == text


@pytest.mark.parametrize("unit", [MARKS, HEAVY, "\u0344", "\u00e9" + MARKS * 20])
def test_many_marks_are_kept_apart(unit: str) -> None:
    """However many marks follow each other, and whatever they hide in, a run is short (UAX #15)."""
    safe = unicodedata.normalize("NFKD", stream_safe("a" + unit * 200))
    runs = "".join(" x"[bool(unicodedata.combining(character))] for character in safe).split()
    assert max(map(len, runs)) <= LONGEST_MARKS
    assert len(safe.replace("\u034f", "")) == len(unicodedata.normalize("NFKD", "a" + unit * 200))


def test_a_million_marks_do_no_harm() -> None:
    """Ordering them all at once would take half an hour; the test ends."""
    assert len(normalise("a" + MARKS * 300_000, "casefold")) > 900_000
