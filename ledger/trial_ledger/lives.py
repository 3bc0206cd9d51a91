"""What a grader needs to know of the trials of a run: answers, judgments, items that were judged.

Invariant: what happened to a trial is told in the order of the run's links; overrides are left out,
since nobody judges again what a person decided.
"""

from collections.abc import Sequence

import msgspec
from blake3 import blake3
from msgspec import UNSET

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.canonical import decode_event
from trial_ledger.carrying import origin_of
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.events import BlobRef
from trial_ledger.identifiers import TrialKey
from trial_ledger.kinds.base import Verdict
from trial_ledger.kinds.judgments import UNJUDGED, ScorePart

__all__ = [
    "VERDICT_KINDS",
    "Life",
    "digest_of",
    "given_anew",
    "given_in",
    "lives_of",
    "ranges_in",
]

LIFE_KINDS = ("trial.started", "answer.submitted", "trial.finished", "item.judged")
VERDICT_KINDS = ("judgment.recorded", "judgment.failed")


class Life(msgspec.Struct, kw_only=True):
    """What a grader needs to know of one trial."""

    trial: TrialKey
    """The trial."""
    outcome: str | None = None
    """How it ended; None while it is open."""
    answer: BlobRef | None = None
    """Its answer; None where it gave none, or the source does not show it."""
    abstained: bool = False
    """Whether the answer declines."""
    judgments: list[events.JudgmentRecorded | events.JudgmentFailed] = []
    """Its judgments, overrides left out, in order."""
    items: dict[str, dict[int, Verdict]] = {}
    """Verdicts on extra items by metric and position in the answer; of several the last (C6)."""

    def items_judged(self, metric: str) -> str:
        """Return a digest of the verdicts on items under a metric; empty where there are none."""
        return digest_of(sorted(self.items.get(metric, {}).items()))


def digest_of(verdicts: Sequence[tuple[int | str, str]]) -> str:
    """Return a digest of what was said of items or criteria; empty where nothing was."""
    return blake3(canonical_json(verdicts)).hexdigest(length=8) if verdicts else ""


def lives_of(ledger: Ledger, run: str, *, link: int | None = None) -> list[Life]:
    """Return the trials of a run with their answers and judgments, in the order they were started.

    Args:
        ledger: an open ledger.
        run: a run that is not derived.
        link: only as far as this link of the run; None for all of it.
    """
    found: dict[str, Life] = {}
    documents = ledger.store.link_documents(run, LIFE_KINDS + VERDICT_KINDS, upto=link)
    for document in documents:
        event = decode_event(document)
        assert event.trial is not None, "these kinds belong to a trial"
        key = str(event.trial)
        life = found.get(key)
        if life is None:
            life = found[key] = Life(trial=event.trial)
        match event.data:
            case events.AnswerSubmitted(answer=answer, abstained=abstained):
                life.answer, life.abstained = answer, abstained
            case events.TrialFinished(outcome=outcome):
                life.outcome = outcome
            case events.JudgmentRecorded() | events.JudgmentFailed() as data:
                life.judgments.append(data)
            case events.ItemJudged(metric=metric, position=position, verdict=verdict):
                life.items.setdefault(metric, {})[position] = verdict
            case _:
                pass  # A start says nothing that a grader needs.
    return list(found.values())


def is_unjudged(part: ScorePart) -> bool:
    """Return whether a part counts something that nobody judged yet."""
    return part.name == UNJUDGED and bool(part.numerator)


def given_in(life: Life) -> frozenset[tuple[str, str]]:
    """Return the judgments that a trial has: metric, and `name@version` or what is carried."""
    origins = ((known.metric, origin_of(known)) for known in life.judgments)
    found = {(metric, origin) for metric, origin in origins if origin is not None}
    failed = [known for known in life.judgments if isinstance(known, events.JudgmentFailed)]
    # A judge whose reply code read: the judgment's id is made of metric, grader and replies.
    found |= {(known.metric, reader_of(known)) for known in failed if reader_of(known)}
    return frozenset(found)


def reader_of(known: events.JudgmentFailed) -> str:
    """Return `name@version` of the code grader that read a judge's reply and found nothing."""
    metric, _, rest = known.judgment.partition(":")
    return rest.partition(":")[0] if metric == known.metric else ""


def given_anew(
    life: Life,
) -> tuple[events.JudgmentRecorded | events.JudgmentFailed, ...]:
    """Return the judgments of a trial that repeat none of a parent run."""
    return tuple(known for known in life.judgments if known.carried_from is UNSET)


def ranges_in(life: Life) -> dict[str, tuple[str, int]]:
    """Return what code left open last, by metric, with the id and the pass of that judgment.

    That is a range, which more verdicts narrow, or a judge's reply in which it found nothing.
    """
    found: dict[str, tuple[str, int]] = {}
    for known in life.judgments:
        if isinstance(known, events.JudgmentFailed):
            if reader_of(known):
                found[known.metric] = (known.judgment, known.pass_)
        elif known.by == "code":
            found.pop(known.metric, None)
            if known.verdict == "not_gradable" and any(map(is_unjudged, known.parts)):
                found[known.metric] = (known.judgment, known.pass_)
    return found
