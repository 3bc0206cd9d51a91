"""`ledger replay`: every projection rebuilt from the log while the log is verified.

Invariant: with `--check` nothing is written, and a difference is a verification failure.
"""

import click

from trial_cli.options import as_of_option, format_options, ledger_option, opened, resolve_as_of
from trial_cli.output import Screen, emit
from trial_ledger.errors import VerificationError

__all__ = ["command"]


@click.command("replay", short_help="Rebuild every projection while verifying")
@ledger_option
@as_of_option
@format_options
@click.option("--check", is_flag=True, help="Compare with what is stored; write nothing.")
def command(*, check: bool, as_of: str | None, output_format: str) -> None:
    """Rebuild every projection from the log, verifying each event; print the state digest."""
    from trial_projections.replay import replay  # noqa: PLC0415 - slow to import

    with opened() as ledger:
        upto = None if as_of is None else resolve_as_of(ledger, as_of)
        result = replay(ledger, upto=upto, check=check)
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
    row = {name: getattr(result, name) for name in result.__struct_fields__}
    emit(Screen(schema="ledger.replay/1", value=result, rows=[row], lines=lines), output_format)
    if result.matches is False:
        message = "the stored projections are not those of the log"
        raise VerificationError(message, hint="ledger replay rebuilds them")
