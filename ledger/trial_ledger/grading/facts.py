"""Grade one short answer: equal to an accepted one, or holding it (C4, C27).

Invariant: an answer is right only because of one accepted answer, which the parts name by number
and the reasoning by its text.
"""

import unicodedata

from trial_ledger.documents.grader_options import Settings
from trial_ledger.grading.accepted import accepted_answers, too_long
from trial_ledger.grading.grader import CodeGrader, Grade, Task, decided, not_gradable
from trial_ledger.grading.normalisers import comparable, normalise
from trial_ledger.kinds.judgments import ScorePart
from trial_ledger.strict_json import shorten

__all__ = ["INCLUDES", "NORMALISED_MATCH"]

NO_ANSWER_IN_GOLD = "gold has no answer to compare with"
POINTS = frozenset(".,")
DIGITS = frozenset("0123456789")


def matched(task: Task, label: str, reasoning: str) -> Grade:
    """Return that an answer is right because of one accepted answer."""
    return decided(task, 1, reasoning, (ScorePart(name="match", outcome=label),))


def unmatched(task: Task, reasoning: str) -> Grade:
    """Return that no accepted answer makes an answer right."""
    return decided(task, 0, reasoning, (ScorePart(name="match", outcome="none"),))


def decide_match(task: Task, settings: Settings) -> Grade:
    """Compare the whole answer with each accepted one, both normalised."""
    assert task.gold is not None, "a task without gold is not decided"
    accepted = accepted_answers(task.gold)
    if not accepted:
        return not_gradable(NO_ANSWER_IN_GOLD)
    excess = too_long(task.answer)
    if excess is not None:
        return unmatched(task, excess)
    found = comparable(task.answer, settings.normaliser)
    how = f"after normalisation {settings.normaliser}"
    if found and not normalise(task.answer, settings.normaliser):
        how = f"case-folded, as normalisation {settings.normaliser} leaves nothing of the answer"
    for label, text in accepted:
        if comparable(text, settings.normaliser) == found:
            return matched(task, label, f"equal to {label} {shorten(text)} {how}")
    return unmatched(
        task, f"{shorten(found)} is equal to none of {len(accepted)} accepted answers {how}"
    )


def decide_includes(task: Task, settings: Settings) -> Grade:
    """Look for each accepted answer in the answer as whole words, both normalised."""
    assert task.gold is not None, "a task without gold is not decided"
    accepted = accepted_answers(task.gold)
    if not accepted:
        return not_gradable(NO_ANSWER_IN_GOLD)
    excess = too_long(task.answer)
    if excess is not None:
        return unmatched(task, excess)
    found = {name: normalise(task.answer, name) for name in (settings.normaliser, "casefold")}
    for label, text in accepted:
        # What the normaliser leaves nothing of is looked for where it is still something.
        name = settings.normaliser if normalise(text, settings.normaliser) else "casefold"
        if holds(found[name], normalise(text, name)):
            how = f"as whole words after normalisation {name}"
            return matched(task, label, f"holds {label} {shorten(text)} {how}")
    how = f"as whole words after normalisation {settings.normaliser}"
    return unmatched(task, f"holds none of {len(accepted)} accepted answers {how}")


def holds(text: str, wanted: str) -> bool:
    """Return whether a text holds another one that is not part of a longer word or number."""
    start = text.find(wanted)
    while start >= 0:
        if not (joins(text, start) or joins(text, start + len(wanted))):
            return True
        start = text.find(wanted, start + 1)
    return False


def joins(text: str, place: int) -> bool:
    """Return whether what stands before and after a place belongs to one word or number."""
    if place in {0, len(text)}:
        return False
    left, right = text[place - 1], text[place]
    # A point or comma between digits is part of their number: neither 3 nor 5 is in 3.5.
    if right in POINTS:
        return left in DIGITS and text[place + 1 : place + 2] in DIGITS
    if left in POINTS:
        return right in DIGITS and text[place - 2 : place - 1] in DIGITS
    return is_word(left) and is_word(right)


def is_word(character: str) -> bool:
    """Return whether a character belongs to a word that goes on beside it."""
    category = unicodedata.category(character)
    # Letters without case (Lo) include scripts that put no space between words.
    return character == "_" or category[0] == "M" or (character.isalnum() and category != "Lo")


NORMALISED_MATCH = CodeGrader(
    name="normalised-match",
    version="1",
    decide=decide_match,
    modules=("facts", "accepted", "normalisers"),
)
INCLUDES = CodeGrader(
    name="includes",
    version="1",
    decide=decide_includes,
    modules=("facts", "accepted", "normalisers"),
)
