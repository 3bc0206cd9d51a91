"""Grade a number: exact, or within a declared tolerance (C4, C27).

Invariant: numbers are compared as fractions, never as texts or binary floats.
"""

from fractions import Fraction

from trial_ledger.documents.grader_options import Settings
from trial_ledger.exact import rational_text
from trial_ledger.grading.accepted import accepted_answers, too_long
from trial_ledger.grading.grader import CodeGrader, Grade, Task, decided, not_gradable
from trial_ledger.grading.numbers import (
    NumberRules,
    find_numbers,
    gold_number,
    is_close,
    read_number,
    rules_of,
    tolerance_of,
)
from trial_ledger.kinds.judgments import ScorePart
from trial_ledger.strict_json import shorten

__all__ = ["NUMBER"]


def decide(task: Task, settings: Settings) -> Grade:
    """Compare the answer's number with each accepted one."""
    assert task.gold is not None, "a task without gold is not decided"
    rules = rules_of(settings)
    texts = accepted_answers(task.gold)
    read = [(label, gold_number(text, rules)) for label, text in texts]
    accepted = [(label, value) for label, value in read if value is not None]
    if not accepted:
        return not_gradable("gold has no number, or none that can be read in one way only")
    found = answered(task.answer, settings.text("find"), rules)
    if isinstance(found, str):
        return decided(task, 0, found, (ScorePart(name="number", outcome="unread"),))
    tolerance = tolerance_of(settings)
    for label, value in accepted:
        if is_close(found, value, tolerance):
            return decided(
                task,
                1,
                f"{shown(found)} is {label} {shown(value)} {within(settings)}",
                (ScorePart(name="match", outcome=label),),
            )
    return decided(
        task,
        0,
        f"{shown(found)} is none of {len(accepted)} accepted numbers {within(settings)}",
        (ScorePart(name="match", outcome="none"),),
    )


def answered(answer: str, find: str, rules: NumberRules) -> Fraction | str:
    """Return the number that an answer gives, or why it gives none."""
    excess = too_long(answer)
    if excess is not None:
        return excess
    if find == "whole":
        value = read_number(answer, rules)
        return f"{shorten(answer)} is no number as declared" if value is None else value
    found = find_numbers(answer, rules)
    if not found:
        return "the answer has no number in it"
    if find == "only" and len(found) > 1:
        return f"the answer has {len(found)} numbers in it, and one is asked for"
    last = found[-1]
    return "the number in the answer is not written as declared" if last is None else last


def shown(value: Fraction) -> str:
    """Return a number for people, shortened."""
    return shorten(rational_text(value))[1:-1]


def within(settings: Settings) -> str:
    """Return the tolerance in words."""
    absolute, relative = settings.text("absolute"), settings.text("relative")
    return f"within {absolute} absolute or {relative} relative"


NUMBER = CodeGrader(
    name="number", version="1", decide=decide, modules=("number", "numbers", "accepted")
)
