"""A derived run: the trials of a run, judged again under a revised rubric or corrected gold (C14).

Invariant: the parent is only read, so its numbers are bit for bit what they were; the derived run
comes whole or not at all, and making the same one again finds it.
"""

import re
from collections.abc import Iterator
from itertools import count

import msgspec
from blake3 import blake3

from trial_ledger.book import Ledger
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.errors import RuleError
from trial_ledger.events import Actor, DerivedFrom, RunOpened
from trial_ledger.judging import Judging, Life, Tallies, judging_of, judging_of_derived
from trial_ledger.submission import NewText, Submission

__all__ = ["Derived", "derive_run", "judge_run"]

NOT_IN_NAME = re.compile(r"[^a-z0-9._-]+")
PARENT_LENGTH, REVISED_LENGTH = 45, 30
"""Characters of the two parts of a derived run's name, of the 80 that a name may have."""


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """What came of judging a run again."""

    run: str
    """The derived run."""
    is_new: bool
    """Whether it was made now; else it was there."""
    link: int
    """Last link of the parent that it sees."""
    tallies: Tallies
    """Judgments given, carried, present and left out."""


def derive_run(
    ledger: Ledger,
    parent: str,
    *,
    rubric: str | None,
    dataset: str | None,
    name: str | None,
    reason: str,
    actor: Actor,
) -> Derived:
    """Judge the trials of a run again, as a new run.

    Args:
        ledger: a ledger open for writing.
        parent: the run that has the trials.
        rubric: a frozen rubric, `name@version`; None keeps the parent's.
        dataset: a registered dataset, `name@version`; None keeps the parent's.
        name: name of the derived run; None makes one of the parent's and what changed.
        reason: why, in words.
        actor: who does it.

    Raises:
        NotFoundError: the parent was never opened.
        RuleError: the parent is derived itself, a reference is missing, or nothing differs.
        InvalidInputError: a metric has settings that its grader does not understand.
        StorageError: there is no gold file, or the file is busy or failing.
    """
    opened = ledger.run_opened(parent)
    rubric, dataset = rubric or opened.rubric, dataset or opened.dataset
    assert rubric is not None, "the ledger fills it"
    assert dataset is not None, "the ledger fills it"
    refuse_alike(parent, opened, rubric, dataset)
    last = ledger.store.last_link(parent)
    assert last is not None, "run.opened is a link"
    link = last[0]
    origin = DerivedFrom(run=parent, link=link)
    wanted = msgspec.structs.replace(opened, rubric=rubric, dataset=dataset, derived_from=origin)
    free, exists = place_for(ledger, wanted, name=name)
    if exists:
        return Derived(run=free, is_new=False, link=link, tallies=judge_run(ledger, free))
    judging, lives = judging_of_derived(ledger, free, wanted)
    first = opening(ledger, free, wanted, reason=reason, actor=actor)
    ledger.append_many(events_of(first, judging, lives), what=f"run {free}")
    return Derived(run=free, is_new=True, link=link, tallies=judging.tallies)


def refuse_alike(parent: str, opened: RunOpened, rubric: str, dataset: str) -> None:
    """Refuse to derive a run that would differ in nothing.

    Raises:
        RuleError: rubric and dataset are the parent's.
    """
    if (rubric, dataset) == (opened.rubric, opened.dataset):
        message = f"run {parent} is judged under {rubric} with {dataset} already"
        raise RuleError(
            message,
            clause="C14",
            hint="name a revised rubric with --rubric, or corrected gold with --dataset;"
            " ledger grade judges under the run's own rubric",
        )


def place_for(ledger: Ledger, wanted: RunOpened, *, name: str | None) -> tuple[str, bool]:
    """Return the name of a derived run, and whether it is there already.

    A name that was asked for is kept, whatever stands under it: the guard of run.opened refuses it
    where that is another run.
    """
    assert wanted.derived_from is not None, "a derived run"
    base = name or default_name(ledger, wanted)
    for number in count(1):
        tried = base if number == 1 else f"{base}.{number}"
        known = None
        if ledger.store.last_link(tried) is not None:
            known = ledger.run_opened(tried)
        if known is None or name is not None:
            return tried, known is not None and is_alike(known, wanted)
        if is_alike(known, wanted):
            return tried, True
    raise AssertionError  # pragma: no cover - count has no end


def is_alike(known: RunOpened, wanted: RunOpened) -> bool:
    """Return whether a run is derived from the same trials under the same rubric and gold."""
    fields = ("derived_from", "rubric", "dataset")
    return all(getattr(known, field) == getattr(wanted, field) for field in fields)


def default_name(ledger: Ledger, wanted: RunOpened) -> str:
    """Return a name made of the parent's and of what is revised, in the letters of run names."""
    assert wanted.derived_from is not None, "a derived run"
    parent = wanted.derived_from.run
    opened = ledger.run_opened(parent)
    revised = [
        new.rpartition("@")[2] if new.rpartition("@")[0] == old.rpartition("@")[0] else new
        for old, new in ((opened.rubric, wanted.rubric), (opened.dataset, wanted.dataset))
        if old is not None and new is not None and new != old
    ]
    words = NOT_IN_NAME.sub("-", "-".join(revised).lower()).strip("-._")
    return f"{parent[:PARENT_LENGTH]}.{words[:REVISED_LENGTH]}".rstrip("-._")


def opening(
    ledger: Ledger, run: str, wanted: RunOpened, *, reason: str, actor: Actor
) -> Submission:
    """Return the first event of a derived run."""
    origin = wanted.derived_from
    assert origin is not None, "a derived run"
    key = ["derived", ledger.id, run, origin.run, origin.link, wanted.rubric, wanted.dataset]
    return Submission(
        kind="run.opened",
        run=run,
        data={
            "manifest": wanted.manifest,
            "rubric": wanted.rubric,
            "dataset": wanted.dataset,
            # What another tool's log says came in from outside; these judgments did not.
            "entry": "appended" if wanted.entry == "imported" else wanted.entry,
            "reason": NewText.of(reason),
            "derived_from": {"run": origin.run, "link": origin.link},
        },
        id=blake3(canonical_json(key)).hexdigest(length=16),
        actor=actor,
    )


def events_of(first: Submission, judging: Judging, lives: list[Life]) -> Iterator[Submission]:
    """Yield every event of a derived run, from its opening to its end."""
    yield first
    yield from judging.submissions(lives)
    yield Submission(
        kind="run.closed", run=first.run, data={"status": "complete"}, actor=first.actor
    )


def judge_run(ledger: Ledger, run: str) -> Tallies:
    """Judge what is not judged yet in a run, under its own rubric; all or nothing.

    Raises:
        NotFoundError: the run was never opened.
        InvalidInputError: a metric has settings that its grader does not understand.
        StorageError: there is no gold file, or the file is busy or failing.
    """
    judging, lives = judging_of(ledger, run)
    ledger.append_many(judging.submissions(lives), what=f"judgments of run {run}")
    return judging.tallies
