"""Grade a choice among lettered answers (C4, C27).

Invariant: an answer names a choice by a strict rule or names none; two different choices are never
taken for one, and neither is a right answer.

An answer names a choice where all of it, or what follows `answer:` at the beginning of a line, is

- a label, alone or as `B.`, `B)`, `B:`, `(B)` or `[B]`, in either case;
- the text of a choice, normalised; or
- both, label first, as `B) Paris`, where they mean the same choice.
"""

import re

import msgspec

from trial_ledger.documents.grader_options import Settings
from trial_ledger.grading.accepted import accepted_answers, scalar_text, too_long
from trial_ledger.grading.grader import CodeGrader, Grade, Task, decided, not_gradable
from trial_ledger.grading.normalisers import comparable
from trial_ledger.kinds.judgments import ScorePart

__all__ = ["CHOICE"]

STATEMENTS = (
    "answer:",
    "final answer:",
    "correct answer:",
    "the answer is",
    "the final answer is",
    "the correct answer is",
)
"""How a line begins that states an answer, case-folded."""

LABEL = re.compile(r"[(\[]?([0-9A-Za-z])[)\]]?[.:]?")
LABELLED = re.compile(r"[(\[]?([0-9A-Za-z])[)\].:]{1,2}\s+(\S.*)", re.DOTALL)
BETWEEN = re.compile(r"[\s,;/&]+")
JOINED_BY = frozenset({"and", "or"})
MARKS = "*_#> \t\r\n"
"""What Markdown puts around a line."""


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """The choices of one question."""

    labels: frozenset[str]
    """Every label, in upper case."""
    by_text: dict[str, str]
    """Normalised text of a choice to its label; empty where the texts are not known."""
    normaliser: str
    """How texts are normalised."""

    def named(self, text: str) -> frozenset[str]:
        """Return the labels of the choices that a text names, none where it is anything else."""
        text = text.strip(MARKS)
        single = self.label(text) or self.by_text.get(comparable(text, self.normaliser))
        if single is not None:
            return frozenset({single})
        both = LABELLED.fullmatch(text)
        if both is not None and self.label(both[1]) is not None:
            other = self.by_text.get(comparable(both[2].strip(MARKS), self.normaliser))
            return frozenset() if other is None else frozenset({both[1].upper(), other})
        words = [word for word in BETWEEN.split(text) if word.casefold() not in JOINED_BY]
        labels = [self.label(word) for word in words]
        return frozenset() if None in labels else frozenset(filter(None, labels))

    def label(self, text: str) -> str | None:
        """Return the label that a text is, None where it is none."""
        match = LABEL.fullmatch(text)
        found = None if match is None else match[1].upper()
        return found if found in self.labels else None


def choices_of(task: Task, settings: Settings) -> Choices | str:
    """Return the choices that stand in the question's context, or what is wrong with them.

    Without any, the labels alone are known.
    """
    context = task.question.context
    written: object = context.get(settings.text("choices")) if isinstance(context, dict) else None
    labels = settings.text("labels").upper()
    if written is None:
        return Choices(labels=frozenset(labels), by_text={}, normaliser=settings.normaliser)
    if isinstance(written, list):
        if len(written) > len(labels):
            return f"there are {len(written)} choices and {len(labels)} labels"
        written = dict(zip(labels, written, strict=False))
    if not isinstance(written, dict) or not all(LABEL.fullmatch(key) for key in written):
        return "the choices in the context are no list, and no object from label to text"
    texts = {key.strip("()[].:").upper(): scalar_text(text) for key, text in written.items()}
    by_text = {
        comparable(text, settings.normaliser): label
        for label, text in texts.items()
        if text is not None
    }
    if len(by_text) < len(written):
        return "two choices have one label or one text, or a choice is no text"
    choices = Choices(labels=frozenset(texts), by_text=by_text, normaliser=settings.normaliser)
    if any(choices.label(text or "") not in {None, label} for label, text in texts.items()):
        return "the text of a choice is the label of another one"
    return choices


def decide(task: Task, settings: Settings) -> Grade:
    """Find out which choice the answer names, and whether it is an accepted one."""
    assert task.gold is not None, "a task without gold is not decided"
    choices = choices_of(task, settings)
    if isinstance(choices, str):
        return not_gradable(choices)
    accepted = {
        label: name
        for name, text in reversed(accepted_answers(task.gold))
        for label in choices.named(text)
    }
    if not accepted:
        return not_gradable("gold names none of the choices")
    excess = too_long(task.answer)
    named = stated(task.answer, choices) if excess is None else frozenset()
    if len(named) != 1:
        reason = f"the answer names {len(named)} choices: {', '.join(sorted(named))}"
        return unchosen(task, excess or (reason if named else "the answer names no choice"))
    (chosen,) = named
    parts = (
        ScorePart(name="choice", outcome=chosen),
        ScorePart(name="match", outcome=accepted.get(chosen, "none")),
    )
    words = "an accepted choice" if chosen in accepted else "not accepted"
    return decided(task, int(chosen in accepted), f"the answer names {chosen}: {words}", parts)


def unchosen(task: Task, reason: str) -> Grade:
    """Return that an answer makes no choice, which is the agent's wrong answer."""
    return decided(task, 0, reason, (ScorePart(name="choice", outcome="none"),))


def stated(answer: str, choices: Choices) -> frozenset[str]:
    """Return the choices that a whole answer names, or the lines of it that state an answer."""
    named = choices.named(answer)
    if named:
        return named
    for line in answer.splitlines():
        folded = line.strip(MARKS)
        for statement in STATEMENTS:
            if folded[: len(statement)].casefold() == statement:
                named |= choices.named(folded[len(statement) :].lstrip(f"{MARKS}:"))
                break
    return named


CHOICE = CodeGrader(
    name="choice", version="1", decide=decide, modules=("choices", "accepted", "normalisers")
)
