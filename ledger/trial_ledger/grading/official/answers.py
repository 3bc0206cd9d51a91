"""Grade short answers as SQuAD 1.1 and 2.0, TriviaQA and NQ-open publish it (C15).

Invariant: the value is the greatest over the accepted answers, none of which is left out but where
SQuAD 2.0 leaves it out; exact match is 0 or 1, F1 an exact fraction.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from trial_ledger.documents.grader_options import Settings
from trial_ledger.documents.official_pins import PINS
from trial_ledger.exact import rational_text
from trial_ledger.grading.accepted import accepted_answers
from trial_ledger.grading.grader import CodeGrader, Grade, Task, decided, not_gradable
from trial_ledger.grading.official.texts import nq_open_text, squad_text, triviaqa_text
from trial_ledger.kinds.judgments import ScorePart
from trial_ledger.strict_json import shorten

__all__ = ["ANSWER_GRADERS"]

Normalise = Callable[[str], str]
Accepted = list[tuple[str, str]]

NO_ANSWER = ("no answer", "")
"""What SQuAD 2.0 compares with where a question has no answer."""

NOTHING_ACCEPTED = "gold has no answer to compare with"

MODULES = ("accepted", "official/answers", "official/texts")


def exact_grade(task: Task, settings: Settings, *, benchmark: str, normalise: Normalise) -> Grade:
    """Return 1 where an accepted answer is equal to the answer, both normalised, else 0."""
    accepted = accepted_by(task, settings, normalise)
    if not accepted:
        return not_gradable(NOTHING_ACCEPTED)
    found = normalise(task.answer)
    how = f"as {benchmark} normalises"
    for label, text in accepted:
        if normalise(text) == found:
            reasoning = f"equal to {label} {shorten(text)} {how}: {shorten(found)}"
            return decided(task, 1, reasoning, (ScorePart(name="match", outcome=label),))
    reasoning = f"{shorten(found)} is equal to none of {len(accepted)} accepted answers {how}"
    return decided(task, 0, reasoning, (ScorePart(name="match", outcome="none"),))


def f1_grade(
    task: Task, settings: Settings, *, benchmark: str, normalise: Normalise, empty_is_equal: bool
) -> Grade:
    """Return the greatest F1 of words over the accepted answers, both normalised.

    Args:
        task: the answer and its gold.
        settings: the metric's.
        benchmark: what to call the rule.
        normalise: the benchmark's normaliser.
        empty_is_equal: whether two texts of which nothing is left have F1 1, as in SQuAD 2.0.
    """
    accepted = accepted_by(task, settings, normalise)
    if not accepted:
        return not_gradable(NOTHING_ACCEPTED)
    words = normalise(task.answer).split()
    values = [
        word_f1(words, normalise(text).split(), empty_is_equal=empty_is_equal)
        for _, text in accepted
    ]
    best = max(values)
    label, text = accepted[values.index(best)]
    reasoning = (
        f"F1 {rational_text(best)} of words with {label} {shorten(text)} as {benchmark} normalises"
    )
    parts = (
        ScorePart(name="match", outcome=label if best else "none"),
        ScorePart(name="f1", numerator=best.numerator, denominator=best.denominator),
    )
    return decided(task, best, reasoning, parts)


def word_f1(answer: list[str], gold: list[str], *, empty_is_equal: bool) -> Fraction:
    """Return the F1 of words, of which each counts as often as it stands on both sides."""
    if not answer or not gold:
        return Fraction(empty_is_equal and answer == gold)
    common = (Counter(answer) & Counter(gold)).total()
    return Fraction(2 * common, len(answer) + len(gold))


def accepted_by(task: Task, settings: Settings, normalise: Normalise) -> Accepted:
    """Return (what to call it, its text) of the accepted answers that a benchmark compares with.

    Under SQuAD 2.0, which the option `no_answer` shows, the text of that option is none, nor are
    those of which nothing is left; where no other is stated the empty answer is accepted.
    """
    assert task.gold is not None, "a task without gold is not decided"
    accepted = list(accepted_answers(task.gold))
    if "no_answer" not in settings.options or not accepted:
        return accepted
    mark = settings.text("no_answer")
    kept = [(label, text) for label, text in accepted if text != mark and normalise(text)]
    return kept or [NO_ANSWER]


def graders_of(
    name: str, benchmark: str, normalise: Normalise, *, empty_is_equal: bool | None
) -> tuple[CodeGrader, ...]:
    """Return a benchmark's grader of exact match, and of F1 where it publishes one.

    Args:
        name: name of the grader, without version.
        benchmark: the benchmark's name.
        normalise: its normaliser.
        empty_is_equal: as in `f1_grade`; None where the benchmark publishes no F1.
    """
    exact = partial(exact_grade, benchmark=benchmark, normalise=normalise)
    found = [CodeGrader(name=name, version="1", decide=exact, modules=MODULES)]
    if empty_is_equal is not None:
        words = partial(
            f1_grade, benchmark=benchmark, normalise=normalise, empty_is_equal=empty_is_equal
        )
        found.append(CodeGrader(name=f"{name}-f1", version="1", decide=words, modules=MODULES))
    assert all(grader.reference in PINS[f"{name}@1"].graders for grader in found), "all pinned"
    return tuple(found)


ANSWER_GRADERS = (
    *graders_of("squad-1.1", "SQuAD 1.1", squad_text, empty_is_equal=False),
    *graders_of("squad-2.0", "SQuAD 2.0", squad_text, empty_is_equal=True),
    *graders_of("triviaqa", "TriviaQA", triviaqa_text, empty_is_equal=False),
    *graders_of("nq-open", "NQ-open", nq_open_text, empty_is_equal=None),
)
"""Graders of exact match, each with that of F1 after it where its benchmark has one."""
