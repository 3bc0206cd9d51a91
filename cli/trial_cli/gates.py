"""What `--require` asks for: the gates that a CI job can set, and what of them is not met.

Invariant: a gate that cannot be looked at is not met; one that nobody knows is refused before
anything is computed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trial_cli.options import opened

if TYPE_CHECKING:
    from trial_projections.summary import RunSummary

__all__ = ["GATES", "gates_named", "is_intact", "require_option", "unmet_gates"]

GATES = ("verified", "reviewed", "resolved", "final", "decided", "valid", "live")
"""`verified` checks every byte of the log; the others are about a run."""
VERIFIED = "verified"

require_option = click.option(
    "--require",
    "gates",
    metavar="GATES",
    help="Exit with 5 unless these hold, comma separated: " + ", ".join(GATES) + ".",
)


def gates_named(text: str | None) -> list[str]:
    """Return the gates that were asked for.

    Raises:
        BadParameter: with the first that is none.
    """
    wanted = [gate.strip() for gate in (text or "").split(",") if gate.strip()]
    unknown = [gate for gate in wanted if gate not in GATES]
    if unknown:
        message = f"no gate {unknown[0]!r}; there is {', '.join(GATES)}"
        raise click.BadParameter(message, param_hint="--require")
    return wanted


def unmet_gates(summary: "RunSummary", wanted: Sequence[str], *, intact: bool) -> list[str]:
    """Return which of some gates a run does not meet.

    Args:
        summary: the run.
        wanted: the gates.
        intact: what `is_intact` found; False for a run that is in no ledger.
    """
    missed = summary.unmet([gate for gate in wanted if gate != VERIFIED])
    return [VERIFIED, *missed] if VERIFIED in wanted and not intact else missed


def is_intact(wanted: Sequence[str]) -> bool:
    """Return whether every byte of the ledger of this command is what was written.

    That takes as long as the log is large, so it is looked at only where it was asked for, and once
    however many runs there are.
    """
    if VERIFIED not in wanted:
        return True
    with opened() as ledger:
        return not ledger.verify().findings
