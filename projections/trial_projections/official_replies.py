"""Read the raw replies of a benchmark's judge again, as its code does and strictly (C15, C28).

Invariant: reading is a projection: a reply and the verdict recorded with it stay as they are, and
what the two readings differ in is counted, never corrected.
"""

from collections import Counter
from typing import Literal

from trial_ledger.documents.official_pins import PINS
from trial_ledger.errors import NotFoundError
from trial_ledger.events import JudgmentRecorded
from trial_ledger.grading.official.replies import published_reading, strict_reading
from trial_projections.reading import ReadModel
from trial_projections.records import JudgmentRecord, RunRecord, SessionRecord

__all__ = ["ReplyCheck", "checked_replies"]

ReplyCheck = Literal["as read", "without a reply", "not here", "otherwise", "strictly otherwise"]
"""How a recorded verdict stands to its raw reply. `otherwise`: the published code reads another;
`strictly otherwise`: it reads this one, and the reply says another or nothing."""


def checked_replies(model: ReadModel, run: RunRecord) -> Counter[ReplyCheck]:
    """Return how the verdicts of a benchmark's judge stand to its replies, by how many.

    Empty where no rubric declares a pinned benchmark that a model judges. Only judgments by a model
    that are in force under the headline are looked at.
    """
    rubric = model.rubric(run)
    official = rubric.official
    found = Counter[ReplyCheck]()
    if official is None or official.grader not in PINS or PINS[official.grader].judge is None:
        return found
    for trial in model.own_records(run.name, SessionRecord):
        for judgment in trial.judgments:
            by_judge = (judgment.metric, judgment.by) == (rubric.primary, "model")
            if by_judge and judgment.replaced_by is None:
                found[checked(model, judgment, official.grader, official.patches)] += 1
    return found


def checked(
    model: ReadModel, judgment: JudgmentRecord, grader: str, patches: tuple[str, ...]
) -> ReplyCheck:
    """Return how one verdict stands to its raw reply."""
    data = model.ledger.read(judgment.mark.seq).event.data
    assert isinstance(data, JudgmentRecorded), "a model gives judgments and overrides none"
    if data.raw is None:
        return "without a reply"
    try:
        content = model.ledger.blob(data.raw)
    except NotFoundError:
        content = None
    if content is None:
        return "not here"
    reply = content.decode("utf-8", errors="replace")
    published = published_reading(grader, reply, *patches)
    # BrowseComp as published finds a match neither right nor wrong, and scores it 0 all the same.
    counted = "incorrect" if published == "neither" else published
    if counted != judgment.verdict:
        return "otherwise"
    return "as read" if strict_reading(grader, reply) == published else "strictly otherwise"
