"""Read verdicts out of the raw replies of judges (C28).

Invariant: a reply that does not say its verdict in the declared form says nothing: it is a failure
of the judge, never wrong and never right; the reply stays as it came, for another version to read.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping

from trial_ledger.documents.grader_options import Settings
from trial_ledger.grading.answers import Unread, read_objects
from trial_ledger.grading.grader import CodeGrader, Grade, Task
from trial_ledger.kinds.base import Verdict
from trial_ledger.kinds.judgments import ScorePart
from trial_ledger.strict_json import shorten

__all__ = ["JUDGE_REPLY", "ReplyTask"]

MARKS = " \t\r\n*_`\"'.#"
"""What may stand around a verdict: blanks, quotes and the marks of bold type and headings."""

WORDS: Mapping[str, Verdict] = {
    "correct": "correct",
    "incorrect": "incorrect",
    "partial": "partial",
    "partially correct": "partial",
    "not attempted": "abstained",
    "not_attempted": "abstained",
    "abstained": "abstained",
    "not_gradable": "not_gradable",
}
LETTERS: Mapping[str, Verdict] = {"a": "correct", "b": "incorrect", "c": "abstained"}
LINE = re.compile(
    r"^[\W_]*(?:final )?(?:verdict|grade|judge?ment)[\W_]*:(.*)$", re.IGNORECASE | re.MULTILINE
)


class ReplyTask(Task, frozen=True, kw_only=True):
    """The raw replies of judges on one trial; its answer and gold are not looked at."""

    replies: tuple[str, ...] = ()
    """Every reply in the order of its pass."""
    majority: bool = False
    """Whether what more than half of them say counts; else the first that says anything."""


def word(reply: str) -> Verdict | None:
    """Return the verdict that a reply consists of."""
    return WORDS.get(reply.strip(MARKS).casefold())


def letter(reply: str) -> Verdict | None:
    """Return the verdict whose letter a reply consists of: A correct, B incorrect, C abstained."""
    return LETTERS.get(reply.strip(MARKS).casefold())


def line(reply: str) -> Verdict | None:
    """Return what the only line says that begins with `verdict:`, `grade:` or `judgment:`."""
    found = LINE.findall(reply)
    return word(found[0]) if len(found) == 1 else None


def json_object(reply: str) -> Verdict | None:
    """Return the `verdict` of the JSON object that is the reply, or its only fenced block."""
    found = read_objects(reply, "fenced")
    if isinstance(found, Unread) or len(found) != 1:
        return None
    said = found[0].get("verdict")
    return WORDS.get(said.casefold()) if isinstance(said, str) else None


FORMS: Mapping[str, Callable[[str], Verdict | None]] = {
    "word": word,
    "letter": letter,
    "line": line,
    "json": json_object,
}
"""How a reply says its verdict, by the option `form`."""


def decide(task: Task, settings: Settings) -> Grade:
    """Read every reply, and take the verdict that the rubric's canonical rule chooses.

    A grade without verdict and without score says that the judge failed.
    """
    assert isinstance(task, ReplyTask), "whoever grades replies hands them over"
    form = settings.text("form")
    read = [FORMS[form](reply) for reply in task.replies]
    said = [verdict for verdict in read if verdict is not None]
    parts = tuple(
        ScorePart(name=f"reply[{number}]", outcome=verdict or "unparseable")
        for number, verdict in enumerate(read, 1)
    )
    if not said:
        first = shorten(task.replies[0])
        why = f"none of {len(read)} replies says a verdict as {form}, the first {first}"
        return Grade(parts=parts, reasoning=why)
    rule, chosen = "the first that says one", said[0]
    if task.majority:
        chosen, count = Counter(said).most_common(1)[0]
        rule = "more than half agree"
        if 2 * count <= len(said):
            reasoning = f"no verdict of more than half of {len(said)} replies"
            return Grade(verdict="not_gradable", parts=parts, reasoning=reasoning)
    counted = f"{len(said)} of {len(read)} replies say a verdict as {form}"
    return Grade(verdict=chosen, parts=parts, reasoning=f"{chosen}: {counted}; {rule}")


JUDGE_REPLY = CodeGrader(
    name="judge-reply",
    version="1",
    decide=decide,
    modules=("replies", "answers", "numbers", "accepted"),
)
