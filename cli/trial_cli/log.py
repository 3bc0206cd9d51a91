"""`ledger log`: the events themselves, in order.

Invariant: the order is that of the log; nothing is filtered unless asked for.
"""

import sys
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import format_options, ledger_option, opened, run_named
from trial_cli.output import WIDTH, Screen, emit, fit, note
from trial_cli.words import time_text
from trial_ledger.errors import VerificationError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.view import Stored

__all__ = ["command", "summary_of"]

DEFAULT_COUNT = 50


@click.command("log", short_help="The events themselves, in order")
@click.argument("run", required=False)
@click.argument("trial", required=False)
@ledger_option
@format_options
@click.option("--kind", help="Only events of this kind, as failure.occurred.")
@click.option("--after", type=click.IntRange(min=0), default=0, help="Only after this seq.")
@click.option("--upto", type=click.IntRange(min=0), help="Only up to this seq.")
@click.option(
    "--raw", is_flag=True, help="The stored documents, one a line; of a damaged file what is left."
)
@click.option("-n", "--count", type=click.IntRange(min=1), help="How many (text: 50).")
def command(
    run: str | None,
    trial: str | None,
    *,
    kind: str | None,
    after: int,
    upto: int | None,
    raw: bool,
    count: int | None,
    output_format: str,
) -> int:
    """List events: of the whole log, of a RUN, or of a TRIAL (question#repetition@session).

    With --raw the bytes of every document are written as they are stored, so that each line can be
    hashed. An event that cannot be read is named on standard error and ends with exit code 4.
    """
    if raw:
        if run is not None or kind is not None or count is not None:
            raise click.UsageError("--raw goes with --after and --upto only")
        with opened() as ledger:
            return write_raw(ledger, after, upto)
    limit = count or (DEFAULT_COUNT if output_format == "text" else None)
    with opened() as ledger:
        found, more = matching(ledger, run, trial, kind, (after, upto), limit)
        size = ledger.store.size()
    rows: list[dict[str, object]] = [msgspec.json.decode(stored.document) for stored in found]
    for row, stored in zip(rows, found, strict=True):
        row["hash"] = stored.hash
    lines = [summary_of(stored, with_run=run is None) for stored in found]
    lines = lines or ["no such events"]
    if more and found:
        lines.append(f"… more: --after {found[-1].event.seq} (the log has {size} events)")
    emit(
        Screen(schema="ledger.log/1", value={"events": rows}, rows=rows, lines=lines), output_format
    )
    return 0


def write_raw(ledger: "Ledger", after: int, upto: int | None) -> int:
    """Write every document of a range that can be read; return the exit code."""
    from trial_ledger.salvage import readable_rows  # noqa: PLC0415 - slow to import, seldom needed

    code = 0
    for seq, row in readable_rows(ledger, after=after, upto=upto):
        if row is None:
            note(f"seq {seq} cannot be read")
            code = VerificationError.exit_code
        else:
            sys.stdout.buffer.write(row.document + b"\n")
    return code


def matching(
    ledger: "Ledger",
    run: str | None,
    trial: str | None,
    kind: str | None,
    between: tuple[int, int | None],
    limit: int | None,
) -> "tuple[list[Stored], bool]":
    """Return the events asked for, and whether there are more."""
    run = None if run is None else run_named(ledger, run)
    found: list[Stored] = []
    wanted = None if trial is None else (trial if "@" in trial else f"{trial}@s1")
    for stored in ledger.events(run=run, after=between[0], upto=between[1]):
        event = stored.event
        if kind is not None and event.kind != kind:
            continue
        if wanted is not None and (event.trial is None or str(event.trial) != wanted):
            continue
        if limit is not None and len(found) == limit:
            return found, True
        found.append(stored)
    return found, False


def summary_of(stored: "Stored", *, with_run: bool) -> str:
    """Return an event on one line of at most 80 characters."""
    event = stored.event
    where = [event.run] if with_run and event.run is not None else []
    where += [str(event.trial)] if event.trial is not None else []
    facts = ", ".join(
        f"{name} {value}" for name, value in short_facts(event.data) if value is not None
    )
    time = time_text(event.at)[11:] if event.at else "--:--:--"
    return fit(f"{event.seq:>6} {time} {event.kind:<18} {' '.join(where)}  {facts}".rstrip(), WIDTH)


def short_facts(data: object) -> list[tuple[str, object]]:
    """Return the short fields of an event that tell most."""
    names = (
        "call", "purpose", "status", "occurrence", "class_", "fault", "outcome", "judgment",
        "metric", "verdict", "score", "replaces", "configuration", "name", "version", "entry",
    )  # fmt: skip
    return [(name.rstrip("_"), getattr(data, name, None)) for name in names]
