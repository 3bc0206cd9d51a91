"""What stands behind a run's numbers, and what does not: the marks beside every metric.

Invariant: a mark states a fact of the log; nothing that weakens a number is left out because it is
awkward.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

import msgspec

from trial_ledger.documents.official_pins import PINS, Pin
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.errors import NotFoundError
from trial_ledger.events import BlobRef
from trial_ledger.exact import percent_text
from trial_projections.official_numbers import numbers_text, official_numbers
from trial_projections.official_replies import ReplyCheck, checked_replies
from trial_projections.reading import ReadModel
from trial_projections.records import JudgmentRecord, RunRecord, SessionRecord
from trial_projections.review_coverage import Coverage
from trial_projections.scores import MetricScore, place_slots

__all__ = [
    "TrustMark",
    "dataset_marks",
    "derivation_marks",
    "official_marks",
    "order_mark",
    "score_marks",
    "trust_marks",
]

LONGEST_REASON = 200
"""Characters of a reason that a mark shows; `ledger show` has all of it."""


class TrustMark(msgspec.Struct, frozen=True, kw_only=True):
    """One fact about how far a number can be trusted."""

    level: Literal["ok", "!"]
    """`ok` supports it, `!` weakens it."""
    text: str
    """The fact."""


def trust_marks(
    model: ReadModel,
    run: RunRecord,
    scores: Mapping[str, MetricScore],
    coverages: Sequence[Coverage],
) -> list[TrustMark]:
    """Return the marks of a run, what supports its numbers first.

    Args:
        model: the read side.
        run: the run.
        scores: the metrics that are shown.
        coverages: how far the judgments of each are reviewed.
    """
    good, weak = review_marks(run, coverages)
    bad = validity_marks(model, run)
    bad += derivation_marks(model, run)
    bad += contamination_marks(model, run)
    bad += dataset_marks(model, run)
    bad += score_marks(scores)
    bad += weak
    bad += tail_marks(model)
    replies = checked_replies(model, run)
    bad.append("hashes not checked by this command: ledger verify")
    bad.append("no outside anchor: the owner could still rewrite everything")
    return [
        order_mark(model, run),
        *official_marks(model.rubric(run), judged_by_others(model, run, replies)),
        *number_marks(model, run, scores),
        *reply_marks(replies),
        *(TrustMark(level="ok", text=text) for text in good),
        *(TrustMark(level="!", text=text) for text in bad),
    ]


def review_marks(run: RunRecord, coverages: Iterable[Coverage]) -> tuple[list[str], list[str]]:
    """Return what human review supports and what it leaves weak (C29, C30).

    Metrics of which the same is to be said share a mark. A metric that a model judged is untrusted
    without its review or with an open disagreement; one that code judged is unreviewed.

    Args:
        run: the run.
        coverages: how far the judgments of each metric are reviewed.
    """
    judged = [coverage for coverage in coverages if coverage.judged]
    good: dict[str, list[str]] = {}
    weak: dict[str, list[str]] = {}
    for coverage in judged:
        if not coverage.planned:
            continue
        text = coverage_text(coverage)
        if coverage.is_met and not coverage.open:
            good.setdefault(f"reviewed: {text}", []).append(coverage.metric)
        else:
            weak.setdefault(f"{weakness(coverage)}: {text}", []).append(coverage.metric)
    marks = [
        [f"{', '.join(names)} {text}" for text, names in group.items()] for group in (good, weak)
    ]
    if not any(coverage.planned for coverage in judged):
        marks[1].append(unplanned_mark(run, judged))
    return marks[0], marks[1]


def weakness(coverage: Coverage) -> str:
    """Return what a metric is called without enough review, or with an open disagreement."""
    return "untrusted" if coverage.by_model or coverage.open else "unreviewed"


def coverage_text(coverage: Coverage) -> str:
    """Return a coverage in words, as `review 14/190 = 7.4 %, 20 needed`."""
    share = percent_text(Fraction(coverage.reviewed, coverage.judged))
    text = f"review {coverage.reviewed}/{coverage.judged} = {share} %, {coverage.needed} needed"
    if coverage.open:
        text += f"; {counted(coverage.open, 'disagreement')} open"
    return text


def unplanned_mark(run: RunRecord, judged: Sequence[Coverage]) -> str:
    """Return what is said where no rubric fixed a seed, so that there is no coverage (C29)."""
    text = "no human review recorded"
    if run.reviews:
        text = f"{counted(run.reviews, 'human review')} recorded, no seed to draw by"
    opened = sum(coverage.open for coverage in judged)
    if opened:
        text += f"; {counted(opened, 'disagreement')} open"
    if not judged:
        return text
    weak = any(coverage.by_model or coverage.open for coverage in judged)
    return f"{'untrusted' if weak else 'unreviewed'}: {text}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def order_mark(model: ReadModel, run: RunRecord) -> TrustMark:
    """Return whether the order of a run's events was witnessed, and of the trials it judges."""
    if run.entry != "live":
        return TrustMark(level="!", text=f"order not witnessed: {run.entry} after the fact")
    trials = run if run.derived_from is None else model.run(run.derived_from)
    if trials.entry != "live":
        text = f"order not witnessed: trials of {trials.name} {trials.entry} after the fact"
        return TrustMark(level="!", text=text)
    frozen = model.registry.places[run.manifest]
    first = model.ledger.store.first_of_kind(trials.name, "trial.started")
    before = f"manifest frozen at seq {frozen}"
    if first is not None and first <= model.size:
        before += f", first trial at seq {first}"
    return TrustMark(level="ok", text=f"recorded live; {before}")


def official_marks(rubric: Rubric, others: Mapping[str, int]) -> list[TrustMark]:
    """Return whether a run's headline is a benchmark's own score, and what is wrong with it.

    Only where freezing compared everything with the pin, no patch is declared, and each judgment is
    by what the pin names, does a run bear the benchmark's name (C15).

    Args:
        rubric: the run's rubric.
        others: what `judged_by_others` returns.
    """
    official = rubric.official
    if official is None:
        return []
    pin = PINS.get(official.grader)
    claim = f"{rubric.primary} claims {official.benchmark} by {official.grader}"
    if rubric.reconstructed:
        return [TrustMark(level="!", text=f"{claim}: reconstructed, compared with nothing")]
    if pin is None:
        return [TrustMark(level="!", text=f"{claim}: not pinned here, compared with nothing")]
    by = f"by {pin.grader}, {pin.source} ({pin.licence})"
    if others:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(others.items()))
        text = f"not official: {rubric.primary} is to be {pin.benchmark} {by}, but judged {listed}"
        first = TrustMark(level="!", text=text)
    elif official.patches:
        done = "; ".join(f"{name}: {pin.patches[name]}" for name in official.patches)
        text = f"official+patch: {rubric.primary} is not {pin.benchmark}'s own score, {by}; {done}"
        first = TrustMark(level="!", text=text)
    else:
        first = TrustMark(level="ok", text=f"official: {rubric.primary} is {pin.benchmark} {by}")
    return [first, *(TrustMark(level="!", text=text) for text in pin_faults(pin))]


def number_marks(
    model: ReadModel, run: RunRecord, scores: Mapping[str, MetricScore]
) -> list[TrustMark]:
    """Return what the benchmark's own code would print, where its headline is shown."""
    rubric = model.rubric(run)
    if rubric.official is None or rubric.reconstructed or rubric.primary not in scores:
        return []
    placed = place_slots(model.score_input(run), rubric.primary)
    numbers = official_numbers(rubric.official.grader, placed)
    if not numbers:
        return []
    text = f"as {rubric.official.benchmark}'s own code computes it: {numbers_text(numbers)}"
    return [TrustMark(level="ok", text=text)]


def judged_by_others(
    model: ReadModel, run: RunRecord, replies: Counter[ReplyCheck]
) -> Counter[str]:
    """Return how many judgments in force under the headline are by what no pin names, by whom.

    A person's override is one of them; where nothing is pinned there are none.
    """
    rubric = model.rubric(run)
    pin = None if rubric.official is None else PINS.get(rubric.official.grader)
    found = Counter[str]()
    for trial in model.own_records(run.name, SessionRecord) if pin is not None else ():
        for judgment in trial.judgments:
            if judgment.metric == rubric.primary and judgment.replaced_by is None:
                assert pin is not None, "without one there is no trial"
                if not is_pinned(pin, judgment):
                    found[f"by {judgment.by} {judgment.grader}"] += 1
    found["without a raw reply"] += replies["without a reply"]
    found["otherwise than its code reads the raw reply"] += replies["otherwise"]
    return +found


def reply_marks(replies: Counter[ReplyCheck]) -> list[TrustMark]:
    """Return how many raw replies could not be read, and how many say another thing strictly."""
    marks: list[TrustMark] = []
    if replies["not here"]:
        text = f"raw replies not here, so that verdicts are not compared: {replies['not here']}"
        marks.append(TrustMark(level="!", text=text))
    if replies["strictly otherwise"]:
        text = (
            f"read strictly, {replies['strictly otherwise']} of {replies.total()} verdicts differ"
        )
        marks.append(TrustMark(level="!", text=text))
    return marks


def is_pinned(pin: Pin, judgment: JudgmentRecord) -> bool:
    """Return whether a judgment is by a grader of the pin, its judge, or at least by no person."""
    if pin.graders:
        return judgment.by == "code" and judgment.grader in pin.graders
    return judgment.by == "model" if pin.judge is not None else judgment.by != "human"


def pin_faults(pin: Pin) -> list[str]:
    """Return the faults of a pinned grader, and which of its files were never compared."""
    kept = [f"kept fault of {pin.benchmark}: {fault}" for fault in pin.faults]
    unread = [name for name, digest in pin.files.items() if digest is None]
    return kept + [f"digest of {name}: as declared, compared with nothing" for name in unread]


def validity_marks(model: ReadModel, run: RunRecord) -> list[str]:
    """Return since when, by whom and why a run does not count (C12)."""
    if run.is_valid:
        return []
    change = run.changes[-1]
    reason = reason_text(model, change.reason)
    return [f"INVALID since seq {change.mark.seq}, said {change.actor}: {reason}"]


def reason_text(model: ReadModel, reference: BlobRef) -> str:
    """Return a reason in its own words, cut where it is long, or why it cannot be shown."""
    try:
        content = model.ledger.blob(reference)
    except NotFoundError:
        return "(the reason is in the gold file, which is not here)"
    if content is None:
        return "(the reason was redacted)"
    text = " ".join(content.decode("utf-8", errors="replace").split())
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"


def derivation_marks(model: ReadModel, run: RunRecord) -> list[str]:
    """Return what a derived run bears, and how many rubrics were tried on the trials (C14)."""
    if run.derived_from is None:
        if not run.derived:
            return []
        return [f"{len(run.derived) + 1} rubrics or datasets tried on these trials"]
    parent = model.run(run.derived_from)
    marks = [
        f"rubric after the fact: derived from {parent.name} as of its link {run.derived_link}",
        f"{len(parent.derived) + 1} rubrics or datasets tried on these trials",
    ]
    if not parent.is_valid:
        marks.append(f"parent {parent.name} invalidated")
    since = model.seq_of_derivation(run)
    later = [
        trial
        for trial in model.invalidated_trials(parent.name)
        if trial.changes[-1].mark.seq > since
    ]
    if later:
        marks.append(f"{counted(len(later), 'trial')} of parent {parent.name} invalidated since")
    return marks


def contamination_marks(model: ReadModel, run: RunRecord) -> list[str]:
    """Return which pilots asked questions of a final run too (C13)."""
    if model.manifest(run).phase != "final":
        return []
    marks: list[str] = []
    for other in model.runs():
        if model.manifest(other).phase == "pilot" and other.derived_from is None:
            planned = model.planned_texts(run)
            shared = len(planned & model.planned_texts(other))
            if shared:
                marks.append(
                    f"contaminated: {shared} of {len(planned)} questions are in pilot {other.name}"
                )
    return marks


def dataset_marks(model: ReadModel, run: RunRecord) -> list[str]:
    """Return what registration already warned of (C5)."""
    dataset = model.registry.datasets[run.dataset]
    marks: list[str] = []
    if dataset.warning_count:
        marks.append(counted(dataset.warning_count, "dataset warning"))
    if dataset.reconstructed:
        marks.append("manifest, rubric and dataset reconstructed from the source's log")
    return marks


def tail_marks(model: ReadModel) -> list[str]:
    """Return how much came after the newest signed head; nothing where nobody signs at all."""
    sizes = [size for size, _ in model.ledger.store.heads.all() if size <= model.size]
    if not sizes or sizes[-1] == model.size:
        return []
    return [f"unsigned tail of {counted(model.size - sizes[-1], 'event')}"]


def score_marks(scores: Mapping[str, MetricScore]) -> list[str]:
    """Return what the metrics themselves say: trials invalidated late, retries, failed gates."""
    marks: list[str] = []
    invalidated = max((score.invalidated_after for score in scores.values()), default=0)
    if invalidated:
        trials = counted(invalidated, "trial")
        marks.append(f"still counting though invalidated after the end or verdict: {trials}")
    leaked = max((score.leaked for score in scores.values()), default=0)
    if leaked:
        marks.append(f"gold leaked in {counted(leaked, 'counting trial')}")
    retried = max((score.retried for score in scores.values()), default=0)
    if retried:
        marks.append(f"retried {retried}: a later session counts there")
    failed = [score.name for score in scores.values() if not score.gate_decided]
    if failed:
        marks.append(f"gate decided failed: {', '.join(failed)}")
    return marks
