"""What the ledger takes from the world: time, randomness, environment, a place for its pins.

Invariant: nothing else in this package asks for any of these; tests and replays give their own.
"""

import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from trial_ledger.errors import LedgerError
from trial_ledger.heads import Signer
from trial_ledger.keys import default_key_path, load_key
from trial_ledger.pin import state_directory

__all__ = ["Tools", "now_text", "system_tools"]


def no_signer() -> Signer | None:
    """Return that there is no key."""
    return None


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """The world, as far as the ledger sees it."""

    clock: Callable[[], str]
    """Present time, UTC, as `2026-10-01T12:00:00.000000Z`."""
    random_bytes: Callable[[int], bytes]
    """Unpredictable bytes, for ids and salts."""
    environ: Mapping[str, str]
    """Environment variables, to find the values of secrets (C11)."""
    state_directory: Path | None
    """Where head pins lie; None keeps none."""
    warn: Callable[[str], None]
    """Told in one clause what a person should know though nothing failed."""
    signer: Callable[[], Signer | None] = no_signer
    """The key that signs heads, read when it is first needed; None where there is none."""


def now_text() -> str:
    """Return the present time in UTC with six digits."""
    # Four times as fast as `strftime`, and every event asks.
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def warn_on_stderr(message: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(f"note: {message}\n")


def system_signer() -> Signer | None:
    """Return this user's key, None where nobody made one.

    A key file that cannot be used is told, and keeps nobody from recording: heads stay unsigned.
    """
    path = default_key_path(os.environ)
    try:
        return load_key(path) if path.exists() else None
    except LedgerError as error:
        warn_on_stderr(f"heads stay unsigned: {error.message}")
        return None


def system_tools() -> Tools:
    """Return the real world."""
    return Tools(
        clock=now_text,
        random_bytes=os.urandom,
        environ=os.environ,
        state_directory=state_directory(os.environ),
        warn=warn_on_stderr,
        signer=system_signer,
    )
