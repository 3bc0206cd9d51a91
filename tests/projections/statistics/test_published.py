"""Formulas of published benchmarks, where the reference cases leave a way open."""

import pytest

from trial_projections.statistics.published import SentenceSupport, sentence_support


@pytest.mark.parametrize(
    ("joint", "alone", "without", "expected"),
    [
        (False, [True, True], [True, True], SentenceSupport(0, 0, 2)),
        (True, [], [], SentenceSupport(0, 0, 0)),
        (True, [False], [False], SentenceSupport(1, 1, 1)),
        (True, [True, False, False], [True, True, False], SentenceSupport(1, 2, 3)),
    ],
    ids=["not supported", "no citation", "one citation", "one of three is idle"],
)
def test_citations_of_a_sentence(
    joint: bool, alone: list[bool], without: list[bool], expected: SentenceSupport
) -> None:
    """A citation is idle where it does not support alone and the others still do."""
    assert sentence_support(joint, alone, without) == expected
