"""What SimpleQA and BrowseComp read in a judge's raw reply, and what it says strictly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trial_ledger.grading.official.replies import LETTERS, published_reading, strict_reading
from trial_projections.statistics import published

SIMPLEQA, BROWSECOMP = "simpleqa@1", "browsecomp@1"


@pytest.mark.parametrize(
    ("reply", "official", "strict"),
    [
        ("A", "correct", "correct"),
        ("**B**", "incorrect", "incorrect"),
        ("C: NOT_ATTEMPTED", "abstained", "abstained"),
        ("B: CORRECT", "incorrect", "unparsed"),
        ("CORRECT", "abstained", "correct"),
        ("INCORRECT", "abstained", "incorrect"),
        ("NOT_ATTEMPTED", "correct", "abstained"),
        ("Answer: B", "correct", "unparsed"),
        ("Because it matches, A", "incorrect", "unparsed"),
        ("", "abstained", "unparsed"),
        ("no", "abstained", "unparsed"),
    ],
)
def test_simpleqa_takes_the_first_capital_letter(reply: str, official: str, strict: str) -> None:
    """Wherever it stands; read strictly, a reply is one letter or word, or says nothing."""
    assert published_reading(SIMPLEQA, reply) == official
    assert strict_reading(SIMPLEQA, reply) == strict


@settings(max_examples=60)
@given(st.text(st.sampled_from("ABCabc \n:"), max_size=12))
def test_simpleqa_is_read_alike_by_the_statistic(reply: str) -> None:
    """Two implementations find the same letter."""
    assert published_reading(SIMPLEQA, reply) == LETTERS[published.simpleqa_letter(reply)]


@pytest.mark.parametrize(
    ("reply", "official", "patched", "strict"),
    [
        ("reasoning: same\n\ncorrect: yes", "neither", "correct", "correct"),
        ("correct: no\nconfidence: 90", "neither", "incorrect", "incorrect"),
        ("Correct: yes", "incorrect", "incorrect", "correct"),
        ("**correct:** yes", "incorrect", "incorrect", "correct"),
        ("correct: yes\ncorrect: no", "neither", "correct", "unparsed"),
        ("incorrect: no", "neither", "incorrect", "unparsed"),
        ("it is right", "incorrect", "incorrect", "unparsed"),
    ],
)
def test_browsecomp_is_never_right_without_its_patch(
    reply: str, official: str, patched: str, strict: str
) -> None:
    """The whole match is compared, so that a match counts as nothing at all."""
    assert published_reading(BROWSECOMP, reply) == official
    assert published_reading(BROWSECOMP, reply, "group-1") == patched
    assert strict_reading(BROWSECOMP, reply) == strict


def test_there_is_no_other_reading() -> None:
    """An unknown grader or patch is an error, not a default."""
    with pytest.raises(KeyError):
        published_reading(SIMPLEQA, "A", "group-1")
    with pytest.raises(KeyError):
        strict_reading("healthbench@1", "A")
