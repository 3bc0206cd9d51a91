"""The head pin: how much of a ledger this user has seen, kept outside the ledger.

Invariant: a pin only ever advances, and only by appending; a file that is behind its pin was cut or
replaced by an older copy, which nothing inside the file itself can show.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trial_ledger.errors import VerificationError
from trial_ledger.identifiers import Count, EventId, Hash

__all__ = ["HeadPin", "Pin", "state_directory"]


class Pin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was last seen of a ledger."""

    ledger: EventId
    """Its id."""
    size: Count
    """How many events it had."""
    root: Hash
    """Root of the tree over them."""


def state_directory(environ: Mapping[str, str]) -> Path:
    """Return the folder for this user's state (XDG Base Directory, `$XDG_STATE_HOME`)."""
    base = environ.get("XDG_STATE_HOME") or ""
    root = Path(base) if base.startswith("/") else Path(environ.get("HOME") or "~").expanduser()
    return (root if base.startswith("/") else root / ".local" / "state") / "trial-ledger"


class HeadPin:
    """The pin of one ledger."""

    def __init__(self, directory: Path, ledger: str) -> None:
        self.path = directory / "heads" / ledger
        self.ledger = ledger

    def read(self) -> Pin | None:
        """Return the pin, or None where this user never appended to the ledger.

        Raises:
            VerificationError: the pin cannot be read as one.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            pin = msgspec.json.decode(content, type=Pin)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"the head pin {self.path} is unreadable: {error}"
            raise VerificationError(
                message, hint="look at it; remove it to accept the file"
            ) from error
        if pin.ledger != self.ledger:
            message = f"the head pin {self.path} names ledger {pin.ledger}, expected {self.ledger}"
            raise VerificationError(message, hint="look at it; remove it to accept the file")
        return pin

    def advance(self, size: int, root: bytes) -> None:
        """Replace the pin after a commit; call under the ledger's lock.

        A crash before this leaves the pin behind the file, which is no contradiction. The new pin
        replaces the old in one rename and is not synced: after a power loss an older pin may be
        back, which is again only behind.
        """
        pin = Pin(ledger=self.ledger, size=size, root=root.hex())
        temporary = self.path.with_name(self.path.name + ".new")
        content = msgspec.json.encode(pin) + b"\n"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, content)
        finally:
            os.close(descriptor)
        temporary.replace(self.path)
