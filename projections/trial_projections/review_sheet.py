"""What a reviewer is shown of a trial: question, context, answer, gold where it was asked for.

Invariant: a sheet holds nothing of any judgment: no verdict, no score, no reasoning, no stratum
(C29).
"""

import msgspec

from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.events import AnswerSubmitted
from trial_projections.derivation import trial_name
from trial_projections.reading import ReadModel
from trial_projections.records import Mark, RunRecord
from trial_projections.report_texts import TextReader
from trial_projections.scores import RunInput, place_slots

__all__ = ["Sheet", "sheets_of"]

NO_ANSWER = "no answer was submitted"
NO_QUESTION = "the source does not say what was asked"
LIMIT = 100_000
"""Most characters of one text."""


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """What a reviewer is shown of a trial."""

    trial: str
    """`question#repetition@session`."""
    metric: str
    """The metric under which it is reviewed."""
    question: str
    """The question, or why it is not shown."""
    context: str | None
    """What the agent was given beside it, as JSON; None without any."""
    answer: str
    """The answer, or why it is not shown."""
    gold: str | None
    """Gold, or why it is not shown; None where nobody asked for it or the question has none."""


def sheets_of(
    model: ReadModel,
    run: RunRecord,
    source: RunInput,
    metric: str,
    trials: list[str],
    *,
    include_gold: bool,
) -> list[Sheet]:
    """Return the sheets of some judged trials, in the order of their names given.

    Args:
        model: the read side.
        run: the run.
        source: its input.
        metric: a metric of its rubric.
        trials: names of judged trials.
        include_gold: whether gold is shown.
    """
    reader = TextReader(model.ledger, include_gold=include_gold, limit=LIMIT)
    placed = {
        trial_name(slot.trial): slot
        for slot in place_slots(source, metric)
        if slot.trial is not None
    }
    commitments = model.registry.commitments(run.dataset)
    found: list[Sheet] = []
    for name in trials:
        slot = placed[name]
        assert slot.trial is not None, "a judged slot has a trial"
        question = source.questions[slot.question]
        gold = reader.gold(commitments.get(slot.question))
        context = None if question.context is None else canonical_json(question.context).decode()
        found.append(
            Sheet(
                trial=name,
                metric=metric,
                question=question.question or NO_QUESTION,
                context=context,
                answer=answer_text(model, reader, slot.trial.answered),
                gold=None if gold is None else gold.text or f"({gold.missing})",
            )
        )
    return found


def answer_text(model: ReadModel, reader: TextReader, answered: Mark | None) -> str:
    """Return the answer of a trial, or why it is not shown."""
    if answered is None:
        return f"({NO_ANSWER})"
    data = model.ledger.read(answered.seq).event.data
    assert isinstance(data, AnswerSubmitted), "the mark of an answer"
    text = reader.read(data.answer)
    if text is None:
        return f"({NO_ANSWER})"
    return f"({text.missing})" if text.text is None else text.text
