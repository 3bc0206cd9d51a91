"""Short answers as SQuAD, TriviaQA and NQ-open publish their grading, kept faults among them."""

import json
import unicodedata
from collections.abc import Callable, Mapping
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from document_cases import real_data
from grading_cases import fact, graded
from reference_cases import all_cases
from trial_ledger.documents.official_pins import PINS
from trial_ledger.exact import parse_rational
from trial_ledger.grading.graders import GRADERS
from trial_ledger.grading.official.answers import ANSWER_GRADERS
from trial_ledger.grading.official.texts import (
    decomposed,
    nq_open_text,
    squad_text,
    triviaqa_text,
)
from trial_projections.statistics import published

NORMALISERS: Mapping[str, Callable[[str], str]] = {
    "norm_squad": squad_text,
    "norm_trivia": triviaqa_text,
    "norm_nq_open": nq_open_text,
}
"""By the name that the reference cases have for each."""

PUBLISHED_MATCHES = {
    "NQ301_text-davinci-003_zeroshot": 38,
    "NQ301_text-davinci-003_fewshot-n64": 102,
    "NQ_EMDR2": 160,
    "NQ_FiD-KD": 153,
    "NQ_R2D2": 159,
    "NQ_DPR": 138,
}
"""Exact matches among 301 questions, by system, as the source of the records counts them."""

MARKS = "a\u00e9e\u0301\u0323\u0327\u1e69\uac01 \u0345\U0001d15e"


def first(prediction: str | list[str]) -> str:
    """Return a prediction; of several in one record the first."""
    return prediction if isinstance(prediction, str) else prediction[0]


def score(grader: str, answer: str, *accepted: str) -> Fraction:
    """Return what a grader makes of an answer."""
    found = graded(grader, fact(*accepted), answer, "fact.correctness").score
    assert found is not None
    return parse_rational(found)


def test_each_pinned_code_grader_is_there() -> None:
    """And each of the package is pinned."""
    pinned = [name for pin in PINS.values() for name in pin.graders]
    assert pinned == [grader.reference for grader in ANSWER_GRADERS]
    assert set(pinned) <= set(GRADERS)


@pytest.mark.parametrize(
    ("text", "squad", "triviaqa", "nq_open"),
    [
        ("The U.S.A.", "usa", "u s", "usa"),
        ("state-of-the-art", "stateoftheart", "state of art", "stateoftheart"),
        ("M\u00fcller\u2019s", "m\u00fcller\u2019s", "m\u00fcller s", "mu\u0308ller\u2019s"),
        ("snake_case", "snakecase", "snake case", "snakecase"),
        ("5,000", "5000", "5 000", "5000"),
        ("an  apple\ta day", "apple day", "apple day", "apple day"),
        ("A", "", "", ""),
    ],
)
def test_no_normaliser_stands_for_another(
    text: str, squad: str, triviaqa: str, nq_open: str
) -> None:
    """Each makes of a text what its benchmark's code makes of it."""
    assert (squad_text(text), triviaqa_text(text), nq_open_text(text)) == (squad, triviaqa, nq_open)


def test_reference_cases_of_the_published_normalisers_are_met() -> None:
    """What the benchmarks' own code gave when it was run."""
    cases = [case for case in all_cases() if case["fn"] in NORMALISERS]
    found = [NORMALISERS[case["fn"]](case["inputs"]["s"]) for case in cases]
    assert found == [case["expected"] for case in cases]
    assert cases


@pytest.mark.parametrize("system", PUBLISHED_MATCHES)
def test_c15_exact_match_of_nq_open_is_that_of_its_source(system: str) -> None:
    """Six systems on 301 questions: the published number to the last answer."""
    table = real_data("openqa-eval-nq301/NQ301_human.tsv").decode().splitlines()[1:]
    wanted = {nq_open_text(line.split("\t")[1]) for line in table}
    lines = real_data(f"openqa-eval-nq301/model_outputs/{system}.jsonl").decode().splitlines()
    records = {nq_open_text(known["question"]): known for known in map(json.loads, lines)}
    scores = [
        score("nq-open@1", first(records[question]["prediction"]), *records[question]["answer"])
        for question in wanted
    ]
    assert (len(scores), sum(scores)) == (301, PUBLISHED_MATCHES[system])


@settings(max_examples=60)
@given(st.text(st.one_of(st.sampled_from(MARKS), st.characters()), max_size=40))
def test_texts_are_taken_apart_as_the_standard_says(text: str) -> None:
    """However many marks follow each other, and without the time that these cost elsewhere."""
    assert decomposed(text) == unicodedata.normalize("NFD", text)


def test_many_marks_in_a_row_take_no_quadratic_time() -> None:
    """A million marks in two orders are sorted, and equal."""
    marks = "\u0301\u0323" * 200_000
    assert decomposed(f"e{marks}") == "e" + "\u0323" * 200_000 + "\u0301" * 200_000


@pytest.mark.parametrize(
    ("grader", "answer", "accepted", "value"),
    [
        ("squad-1.1@1", "The", "a", 1),
        ("squad-1.1-f1@1", "The", "a", 0),
        ("triviaqa@1", "team", "A-team", 1),
        ("triviaqa-f1@1", "", "the", 0),
        ("squad-2.0@1", "", "no answer", 1),
        ("squad-2.0-f1@1", "the", "no answer", 1),
        ("squad-2.0-f1@1", "Paris", "no answer", 0),
        ("nq-open@1", "cafe", "Caf\u00e9", 0),
        ("nq-open@1", "cafe\u0301", "The Caf\u00e9", 1),
    ],
)
def test_published_faults_are_kept(grader: str, answer: str, accepted: str, value: int) -> None:
    """What the code gets wrong is part of its grading."""
    assert score(grader, answer, accepted) == value


def test_the_best_accepted_answer_counts() -> None:
    """The first of the best names the match; every accepted answer is looked at."""
    assert score("squad-1.1-f1@1", "the cat sat", "dog", "cat", "cat sat") == 1
    found = graded("squad-1.1-f1@1", fact("dog", "cat"), "a cat sat", "fact.correctness")
    assert (found.score, found.parts[0].outcome) == ("2/3", "alternative 1")


@settings(max_examples=60)
@given(*[st.lists(st.sampled_from(["cat", "sat", "the", "b-b"]), max_size=5)] * 2)
def test_f1_is_the_statistic_of_published_formulas(gold: list[str], answer: list[str]) -> None:
    """The same by another implementation, and 1 wherever exact match is."""
    accepted = " ".join(gold) or "x"
    for name, normalise in (("squad-1.1", squad_text), ("triviaqa", triviaqa_text)):
        words = normalise(accepted).split(), normalise(" ".join(answer)).split()
        found = score(f"{name}-f1@1", " ".join(answer), accepted)
        if all(words):
            assert found == published.token_f1(*words)
            assert found == 1 or not score(f"{name}@1", " ".join(answer), accepted)
        else:
            assert found == 0
