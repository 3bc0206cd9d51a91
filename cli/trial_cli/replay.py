"""`ledger replay`: every projection rebuilt from the log while the log is verified.

Invariant: with `--check` nothing is written, and a difference is a verification failure.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, opened, resolve_as_of
from trial_cli.output import Screen, emit
from trial_cli.words import wrapped
from trial_ledger.errors import VerificationError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_projections.publishing import Followed

__all__ = ["command"]


@click.command("replay", short_help="Rebuild every projection while verifying")
@ledger_option
@as_of_option
@format_options
@click.option("--check", is_flag=True, help="Compare with what is stored; write nothing.")
def command(*, check: bool, as_of: str | None, output_format: str) -> None:
    """Rebuild every projection from the log, verifying each event; print the state digest.

    With --check every published number is computed anew too, from the events that it was computed
    from: exit code 4 where one does not follow from the log (C36).
    """
    from trial_projections.replay import replay  # noqa: PLC0415 - slow to import

    with opened() as ledger:
        upto = None if as_of is None else resolve_as_of(ledger, as_of)
        result = replay(ledger, upto=upto, check=check)
        published = published_in(ledger, result.size) if check else []
    stored = "nothing stored to compare with"
    if result.matches is not None:
        stored = f"stored at {result.stored_size} events: " + (
            "the same" if result.matches else "DIFFERENT"
        )
    names = ", ".join(f"{name} {version}" for name, version in result.projections.items())
    lines = [
        f"replayed  {result.size} events, each verified",
        f"root      {result.root}",
        f"state     {result.digest}",
        f"made of   {names}",
    ]
    if check:
        lines.append(f"check     {stored}")
        lines += published_lines(published)
    row = {name: getattr(result, name) for name in result.__struct_fields__}
    value = {**row, "published": published} if check else row
    emit(Screen(schema="ledger.replay/1", value=value, rows=[row], lines=lines), output_format)
    lost = [one for one in published if not one.follows]
    if lost:
        names = ", ".join(f"{one.run} {one.metric} (seq {one.seq})" for one in lost)
        message = f"published numbers that do not follow from the log: {names}"
        raise VerificationError(message, hint="ledger verify")
    if result.matches is False:
        message = "the stored projections are not those of the log"
        raise VerificationError(message, hint="ledger replay rebuilds them")


def published_in(ledger: "Ledger", size: int) -> "list[Followed]":
    """Return the numbers that were published up to an event, computed anew."""
    from trial_projections.publishing import followed  # noqa: PLC0415 - slow to import
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise

    model = ReadModel.open(ledger, as_of=size)
    try:
        runs = model.runs()
    finally:
        model.close()
    return followed(ledger, runs)


def published_lines(published: "Sequence[Followed]") -> list[str]:
    """Return whether the published numbers follow from the log; nothing where there are none."""
    if not published:
        return []
    good = sum(one.follows for one in published)
    lines = [f"published {good} of {len(published)} numbers follow from the log"]
    for one in published:
        if not one.follows:
            anew = "nothing" if one.low_anew is None else f"{one.low_anew} to {one.high_anew}"
            text = f"{one.metric} of {one.run}: {one.low} to {one.high}, now {anew}"
            lines += wrapped("", f"seq {one.seq} {text}")
        elif not one.derived_alike:
            text = f"{one.metric} of {one.run}: the same number, derived otherwise"
            lines += wrapped("", f"seq {one.seq} {text}")
    return lines
