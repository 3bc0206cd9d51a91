"""A derived run: the trials of a run, judged again under a revised rubric or corrected gold (C14).

Invariant: the parent is only read, so its numbers are bit for bit what they were; the derived run
and its rubric come whole or not at all, and making the same one again finds it.
"""

import re
from collections.abc import Iterator

import msgspec
from blake3 import blake3

from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.rubric_structs import Rubric, rubric_hash
from trial_ledger.errors import RuleError
from trial_ledger.events import Actor, DerivedFrom, RunOpened
from trial_ledger.judging import Judging, Life, Tallies, judging_of, judging_of_derived
from trial_ledger.submission import NewText, Submission

__all__ = ["Derived", "Revision", "derive_run", "judge_run"]

NOT_IN_NAME = re.compile(r"[^a-z0-9._]+")
LONGEST_NAME, REVISED_LENGTH = 75, 40
"""Characters of a derived run's name, and of its part that says what is revised; a number may
follow, and 80 are allowed."""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: which run is judged again, how, and why."""

    parent: str
    """The run that has the trials."""
    rubric: Rubric | str | None = None
    """A rubric that is frozen with it, or a frozen one as `name@version`; None keeps the
    parent's."""
    dataset: str | None = None
    """A registered dataset, `name@version`; None keeps the parent's."""
    name: str | None = None
    """Name of the derived run; None makes one of the parent's and what is revised."""
    reason: str
    """Why, in words."""
    actor: Actor
    """Who does it."""


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


def derive_run(ledger: Ledger, revision: Revision) -> Derived:
    """Judge the trials of a run again, as a new run.

    Args:
        ledger: a ledger open for writing.
        revision: which run, how, and why.

    Raises:
        NotFoundError: the parent was never opened.
        RuleError: the parent is derived itself, a reference is missing, the name is taken, no
            reason is given, or nothing differs.
        InvalidInputError: a name is none, or a metric has settings that its grader does not
            understand.
        StorageError: there is no gold file, or the file is busy or failing.
    """
    if not revision.reason.strip():
        message = "judging a run again needs a reason in words"
        raise RuleError(message, clause="C14", field="reason")
    while True:
        wanted = opening_of(ledger, revision)
        run, known = place_for(ledger, wanted, name=revision.name)
        if known is not None and is_alike(known, wanted):
            return found_there(ledger, run, wanted)
        try:
            return made(ledger, run, wanted, revision)
        except RuleError:
            if known is not None or ledger.store.last_link(run) is None:
                raise
            # Another writer has taken the name since it was looked for; it may be the same run.


def opening_of(ledger: Ledger, revision: Revision) -> RunOpened:
    """Return how the derived run is opened, with the parent as it stands.

    Raises:
        NotFoundError: the parent was never opened.
        RuleError: rubric and dataset are the parent's.
    """
    parent = revision.parent
    opened = ledger.run_opened(parent)
    rubric = revision.rubric or opened.rubric
    reference = rubric.reference if isinstance(rubric, Rubric) else rubric
    dataset = revision.dataset or opened.dataset
    changed = isinstance(rubric, Rubric) and rubric_hash(rubric) != opened.rubric_hash
    if not changed and (reference, dataset) == (opened.rubric, opened.dataset):
        message = f"run {parent} is judged under {reference} with {dataset} already"
        raise RuleError(
            message,
            clause="C14",
            hint="name a revised rubric with --rubric, or corrected gold with --dataset;"
            " ledger grade judges under the run's own rubric",
        )
    last = ledger.store.last_link(parent)
    assert last is not None, "run.opened is a link"
    return msgspec.structs.replace(
        opened,
        rubric=reference,
        dataset=dataset,
        derived_from=DerivedFrom(run=parent, link=last[0]),
    )


def place_for(
    ledger: Ledger, wanted: RunOpened, *, name: str | None
) -> tuple[str, RunOpened | None]:
    """Return the name of a derived run, and what stands under it already.

    A name that was asked for is kept, whatever stands under it: the guard of run.opened refuses it
    where that is another run.
    """
    base = name or default_name(ledger, wanted)
    tried, number = base, 1
    while True:
        known = None
        if ledger.store.last_link(tried) is not None:
            known = ledger.run_opened(tried)
        if known is None or name is not None or is_alike(known, wanted):
            return tried, known
        number += 1
        tried = f"{base}.{number}"


def is_alike(known: RunOpened, wanted: RunOpened) -> bool:
    """Return whether a run is derived from the same trials under the same rubric and gold."""
    fields = ("derived_from", "rubric", "dataset")
    return all(getattr(known, field) == getattr(wanted, field) for field in fields)


def default_name(ledger: Ledger, wanted: RunOpened) -> str:
    """Return a name made of the parent's and of what is revised, in the letters of run names."""
    assert wanted.derived_from is not None, "a derived run"
    parent = wanted.derived_from.run
    opened = ledger.run_opened(parent)
    revised = []
    for what, old, new in (
        ("rubric", opened.rubric, wanted.rubric),
        ("dataset", opened.dataset, wanted.dataset),
    ):
        assert old is not None, "the ledger fills it"
        assert new is not None, "the ledger fills it"
        name, _, version = new.rpartition("@")
        if new != old:
            same = name == old.rpartition("@")[0]
            revised.append(f"{what if same else name}-{version}")
    words = NOT_IN_NAME.sub("-", "-".join(revised).lower()).strip("-._")[:REVISED_LENGTH]
    return f"{parent[: LONGEST_NAME - 1 - len(words)]}.{words}".rstrip("-._")


def found_there(ledger: Ledger, run: str, wanted: RunOpened) -> Derived:
    """Return a derived run that was there, once what it still lacked is judged."""
    assert wanted.derived_from is not None, "a derived run"
    tallies = judge_run(ledger, run)
    return Derived(run=run, is_new=False, link=wanted.derived_from.link, tallies=tallies)


def made(ledger: Ledger, run: str, wanted: RunOpened, revision: Revision) -> Derived:
    """Make a derived run, and freeze its rubric with it.

    Raises:
        RuleError: a guard refuses it.
        InvalidInputError: its name is none, or a metric has settings that its grader does not
            understand.
        StorageError: there is no gold file, or the file is busy or failing.
    """
    assert wanted.derived_from is not None, "a derived run"
    assert wanted.rubric is not None, "the caller looked"
    registry = ledger.registry()
    documents = [revision.rubric] if isinstance(revision.rubric, Rubric) else []
    frozen = registry.rubric(wanted.rubric) if not documents else None
    rubric = documents[0] if frozen is None else registry.rubric_document(frozen)
    first = opening(ledger, run, wanted, revision)
    what = f"run {run}"
    # What is wrong with the run itself is said alone, not with each of its judgments.
    ledger.append_all([Entry(submission=first)], what=what, dry_run=True, documents=documents)
    judging, lives = judging_of_derived(ledger, registry, run, wanted, rubric)
    entries = (Entry(submission=event) for event in events_of(first, judging, lives))
    written = ledger.append_all(entries, what=what, documents=documents)
    if written[len(documents)].status == "exists":  # Another writer was faster by a moment.
        return found_there(ledger, run, wanted)
    link = wanted.derived_from.link
    return Derived(run=run, is_new=True, link=link, tallies=judging.tallies)


def opening(ledger: Ledger, run: str, wanted: RunOpened, revision: Revision) -> Submission:
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
            "reason": NewText.of(revision.reason),
            "derived_from": {"run": origin.run, "link": origin.link},
        },
        id=blake3(canonical_json(key)).hexdigest(length=16),
        actor=revision.actor,
    )


def events_of(first: Submission, judging: Judging, lives: list[Life]) -> Iterator[Submission]:
    """Yield every event of a derived run, from its opening to its end."""
    yield first
    yield from judging.submissions(lives)
    yield Submission(
        kind="run.closed",
        run=first.run,
        data={"status": "complete"},
        id=blake3(canonical_json(["closed", first.id])).hexdigest(length=16),
        actor=first.actor,
    )


def judge_run(ledger: Ledger, run: str) -> Tallies:
    """Judge what is not judged yet in a run, under its own rubric; all or nothing.

    Raises:
        NotFoundError: the run was never opened.
        InvalidInputError: a metric has settings that its grader does not understand.
        StorageError: there is no gold file, or the file is busy or failing.
    """
    judging, lives = judging_of(ledger, run)
    what = f"judgments of run {run}"
    written = ledger.append_many(judging.submissions(lives), what=what)
    if any(known.status == "exists" for known in written):
        # Another writer was faster by a moment: count again what is there.
        judging, lives = judging_of(ledger, run)
        ledger.append_many(judging.submissions(lives), what=what)
    return judging.tallies
