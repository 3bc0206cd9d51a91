"""What the acts of a person have in common: who and why, the event, and what it changed.

Invariant: an act names a person and a reason before anything is opened; the numbers before and
after it are those of the log just before and just after its event, whoever else writes.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from trial_cli.output import Screen, clean
from trial_cli.words import percent_range, range_text, wrapped
from trial_ledger.errors import InvalidInputError, Problem

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.building import Acknowledgement
    from trial_ledger.submission import Submission
    from trial_projections.acts import MarkChange, MetricChange, MetricValue, Seen
    from trial_projections.addresses import About
    from trial_projections.aggregate import Range
    from trial_projections.reading import ReadModel

__all__ = [
    "HINT",
    "NO_ACTOR",
    "NO_REASON",
    "Performed",
    "act_options",
    "act_screen",
    "metric_lines",
    "model_at",
    "perform",
    "require_words",
    "seen",
    "submission",
]

NO_ACTOR = Problem(
    message="an act of a person names the person",
    field="--actor",
    expected="a name, here or in $LEDGER_ACTOR",
)
NO_REASON = Problem(
    message="an act of a person says why", field="--reason", expected="a reason in words"
)
HINT = "--actor NAME --reason TEXT; LEDGER_ACTOR=NAME in the environment spares the first"
LABEL = 10
HASH_DIGITS = 32

Command = TypeVar("Command", bound=Callable[..., Any])


class Performed(msgspec.Struct, frozen=True, kw_only=True):
    """An act, and what was seen before and after it."""

    written: bool
    """Whether its event was written; a dry run writes none."""
    found: "Acknowledgement"
    """Its event."""
    before: "Seen"
    """Just before it."""
    after: "Seen"
    """Just after it."""


def act_options(command: Command) -> Command:
    """Add `--actor`, `--reason` and `--dry-run`."""
    command = click.option(
        "--dry-run", is_flag=True, help="Check and show everything, write nothing."
    )(command)
    command = click.option("--reason", metavar="TEXT", help="Why, in words.")(command)
    return click.option(
        "--actor",
        metavar="NAME",
        envvar="LEDGER_ACTOR",
        help="The person who acts (default $LEDGER_ACTOR).",
    )(command)


def require_words(actor: str | None, reason: str | None, *others: Problem | None) -> None:
    """Refuse an act without a person or a reason, and whatever else is wrong with it.

    A reason that is there and says nothing is left to the guard, which names the clause.

    Raises:
        InvalidInputError: with every fault.
    """
    faults = [
        *([] if actor else [NO_ACTOR]),
        *([] if reason is not None else [NO_REASON]),
        *(other for other in others if other is not None),
    ]
    if faults:
        raise InvalidInputError(faults, what="command line", hint=HINT)


def submission(
    kind: str, about: "About", actor: str | None, data: Mapping[str, object]
) -> "Submission":
    """Return the event of an act."""
    from trial_ledger.events import Actor  # noqa: PLC0415 - slow to import
    from trial_ledger.submission import Submission  # noqa: PLC0415 - likewise

    return Submission(
        kind=kind,
        run=about.run,
        trial=about.trial,
        data=data,
        actor=Actor(role="human", name=actor),
    )


def perform(
    ledger: "Ledger",
    about: "About",
    before: "Seen",
    submitted: "Submission",
    *,
    dry_run: bool,
) -> Performed:
    """Append the event of an act and look at what it changed; a dry run only foresees it.

    Args:
        ledger: a ledger open for writing.
        about: what the act is about.
        before: what was seen of it; looked at again where others wrote meanwhile.
        submitted: the event.
        dry_run: whether to write nothing.

    Raises:
        InvalidInputError: a value has a wrong form.
        RefusedError: a guard refuses it.
        StorageError: the file, or the gold file, cannot be written.
    """
    from trial_ledger.batch import Entry  # noqa: PLC0415 - slow to import
    from trial_projections.acts import announced  # noqa: PLC0415 - likewise
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise

    entry = Entry(submission=submitted)
    (found,) = ledger.append_all([entry], what=submitted.kind, dry_run=dry_run)
    if before.size != found.seq - 1:
        before = seen(ReadModel.open(ledger, as_of=found.seq - 1), about)
    if dry_run:
        model = ReadModel.foreseen(ledger, announced(ledger, before.run, submitted, found))
    else:
        model = model_at(ledger, found.seq)
    after = seen(model, about, earlier=before)
    return Performed(written=not dry_run, found=found, before=before, after=after)


def model_at(ledger: "Ledger", size: int) -> "ReadModel":
    """Return the read side at a size: the stored one, unless others wrote beyond it."""
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - slow to import

    model = ReadModel.open(ledger)
    if model.size == size:
        return model
    model.close()
    return ReadModel.open(ledger, as_of=size)


def seen(model: "ReadModel", about: "About", *, earlier: "Seen | None" = None) -> "Seen":
    """Return what an act can change, and close the read side.

    Args:
        model: the read side.
        about: what the act is about.
        earlier: what was seen one event before.
    """
    from trial_projections.acts import look  # noqa: PLC0415 - slow to import

    try:
        return look(model, about, earlier=earlier)
    finally:
        model.close()


def act_screen(
    schema: str,
    about: "About",
    performed: Performed,
    *,
    lines: Iterable[str],
    facts: dict[str, object],
    columns: dict[str, object],
    undo: str,
) -> Screen:
    """Return what an act shows, in every form.

    Args:
        schema: name and version of the JSON form.
        about: what the act is about.
        performed: the act.
        lines: what it says of the thing itself, before and after.
        facts: the same for the JSON form.
        columns: the same for the rows, which are one a metric.
        undo: the command that takes it back.
    """
    from trial_projections.acts import mark_changes, metric_changes  # noqa: PLC0415 - slow

    found, written = performed.found, performed.written
    metrics = metric_changes(performed.before, performed.after, about)
    marks = mark_changes(performed.before, performed.after)
    event: dict[str, object] = {
        "seq": found.seq,
        "id": found.id if written else None,
        "hash": found.hash if written else None,
    }
    place = f"seq {found.seq}  {found.hash[:HASH_DIGITS]}"
    if not written:
        place = f"would be seq {found.seq}; nothing was written"
    text = [f"{'event':<{LABEL}}{place}", *lines]
    for metric in metrics:
        text += metric_lines(metric)
    for mark in marks:
        text += mark_lines(mark, about)
    text += [f"{'undo':<{LABEL}}{clean(undo)}"]
    return Screen(
        schema=schema,
        value={
            "written": written,
            "event": event,
            "run": about.run,
            "trial": None if about.trial is None else str(about.trial),
            **facts,
            "metrics": metrics,
            "marks": marks,
            "undo": undo,
        },
        rows=[row_of(about, event, columns, metric) for metric in metrics],
        lines=text,
    )


def metric_lines(change: "MetricChange") -> list[str]:
    """Return a metric before and after, on as many lines as it needs."""
    before, after = change.before, change.after
    text = number_text(after, change)
    if before.headline == after.headline:
        text += ", unchanged"
    else:
        text = f"{number_text(before, change)} -> {text}"
    indent = max(LABEL, len(clean(change.metric)) + 2)
    lines = wrapped(f"{clean(change.metric):<{indent}}", text, indent=indent)
    if before.without_invalidated is not None or after.without_invalidated is not None:
        told = [range_words(value.without_invalidated, change) for value in (before, after)]
        text = told[0] if told[0] == told[1] else f"{told[0]} -> {told[1]}"
        lines += wrapped("", f"without invalidated: {text}", indent=LABEL)
    return lines


def number_text(value: "MetricValue", change: "MetricChange") -> str:
    """Return a metric in percent and as its sum over its count, or why there is no number."""
    if value.headline is None:
        return f"unavailable: {value.unavailable}"
    return range_words(value.headline, change)


def range_words(found: "Range | None", change: "MetricChange") -> str:
    """Return a number in percent and as its sum over its count."""
    if found is None:
        return "none"
    return f"{percent_range(found, change.scale)} {range_text(found)}"


def mark_lines(change: "MarkChange", about: "About") -> list[str]:
    """Return which marks a derived run has gained or lost; the act itself tells of its own run."""
    if change.run == about.run:
        return []
    gained = [mark for mark in change.after if mark not in change.before]
    lost = [mark for mark in change.before if mark not in change.after]
    told = [f"now bears: {mark}" for mark in gained] + [f"no longer: {mark}" for mark in lost]
    return wrapped("derived", f"{change.run} {'; '.join(told)}", indent=LABEL)


def row_of(
    about: "About", event: dict[str, object], columns: dict[str, object], change: "MetricChange"
) -> dict[str, object]:
    """Return a metric's change as one flat row."""
    row: dict[str, object] = {
        "seq": event["seq"],
        "hash": event["hash"],
        "run": about.run,
        "trial": None if about.trial is None else str(about.trial),
        **columns,
        "metric": change.metric,
    }
    for name, value in (("before", change.before), ("after", change.after)):
        for end in ("low", "high"):
            share = None if value.headline is None else getattr(value.headline, end)
            row[f"{end}_{name}"] = None if share is None else share.value
            row[f"{end}_sum_{name}"] = None if share is None else share.sum
        row[f"count_{name}"] = None if value.headline is None else value.headline.low.count
    return row
