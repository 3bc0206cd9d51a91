"""The head pin: how much of a ledger this user has seen, kept outside the ledger.

Invariant: a pin only ever advances, and only by appending; a file that is behind its pin was cut or
replaced by an older copy, which nothing inside the file itself can show.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from blake3 import blake3

from trial_ledger.durable import write_whole
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.merkle import root_at

__all__ = ["HeadPin", "Pin", "state_directory"]


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """What was last seen of a ledger."""

    ledger: str
    """Its id."""
    size: int
    """How many events it had."""
    root: str
    """Root of the tree over them."""


def state_directory(environ: Mapping[str, str]) -> Path:
    """Return the folder for this user's state (XDG Base Directory, `$XDG_STATE_HOME`)."""
    base = environ.get("XDG_STATE_HOME") or ""
    root = Path(base) if base.startswith("/") else Path(environ.get("HOME") or "~").expanduser()
    return (root if base.startswith("/") else root / ".local" / "state") / "trial-ledger"


def slot_line(pin: Pin) -> bytes:
    """Return a pin as one line of fixed length, with a check value at its end."""
    text = f"{pin.ledger} {pin.size:016d} {pin.root} ".encode()
    return text + blake3(text).hexdigest(length=8).encode() + b"\n"


def parse_slot(line: bytes) -> Pin | None:
    """Return the pin of a line; None where it is torn or was never written."""
    if len(line) != SLOT_BYTES or line != slot_line(pin := pin_of(line)):
        return None
    return pin


def pin_of(line: bytes) -> Pin:
    """Return the fields of a line, whatever they hold."""
    ledger, size, root, *_ = [*line.decode("ascii", "replace").split(" "), "", "", ""]
    digits = size if size.isascii() and size.isdigit() else "0"
    return Pin(ledger=ledger, size=int(digits), root=root)


def slots_of(content: bytes) -> list[Pin | None]:
    """Return the two pins of a file, None for each that is torn or was never written."""
    return [parse_slot(content[:SLOT_BYTES]), parse_slot(content[SLOT_BYTES : 2 * SLOT_BYTES])]


SLOT_BYTES = 32 + 1 + 16 + 1 + 64 + 1 + 16 + 1
"""Length of a line."""


class HeadPin:
    """The pin of one ledger: a file of two lines, of which the older one is written over.

    One line is always whole: a crash or power loss can tear only the one that was being written,
    and the other is the pin before it, which is merely behind. Writing in place costs a tenth of
    replacing the file, which matters since every commit does it; only the first line is put in its
    place by a rename.
    """

    def __init__(self, directory: Path, ledger: str) -> None:
        self.path = directory / "heads" / ledger
        self.ledger = ledger
        self.descriptor: int | None = None
        self.content = b""
        self.slot = 0
        self.has_failed = False

    def read(self) -> Pin | None:
        """Return the pin, or None where this user never appended to the ledger.

        Raises:
            VerificationError: the pin cannot be read as one, or is that of another ledger.
            StorageError: the file system refuses.
        """
        try:
            content = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            message = f"cannot read the head pin {self.path}: {error.strerror}"
            raise StorageError(
                message, hint="check its rights, or name another folder with XDG_STATE_HOME"
            ) from error
        pins = [pin for pin in slots_of(content) if pin is not None]
        if not pins:
            message = f"the head pin {self.path} is unreadable"
            raise VerificationError(message, hint="look at it; remove it to accept the file")
        newest = max(pins, key=lambda pin: pin.size)
        if newest.ledger != self.ledger:
            message = (
                f"the head pin {self.path} names ledger {newest.ledger}, expected {self.ledger}"
            )
            raise VerificationError(message, hint="look at it; remove it to accept the file")
        return newest

    def check(self, path: Path, size: int, node: Callable[[int, int], bytes]) -> None:
        """Refuse a file that lost events which this user has seen.

        Args:
            path: the ledger file.
            size: number of its events.
            node: the hash at (level, position) of its tree.

        Raises:
            VerificationError: it is behind its pin, or its past is another one.
            StorageError: the pin cannot be read.
        """
        pin = self.read()
        if pin is None:
            return
        if pin.size > size:
            message = f"{path} is behind its head pin: {size} events, {pin.size} were seen"
            raise VerificationError(
                message, hint=f"restore the file, or remove {self.path} to accept the loss"
            )
        if root_at(pin.size, node).hex() != pin.root:
            message = f"{path} has another past than its head pin saw at {pin.size}"
            raise VerificationError(
                message, hint=f"ledger verify; remove {self.path} only if you accept it"
            )

    def follow(self, path: Path, size: int, root: bytes, *, warn: Callable[[str], None]) -> None:
        """Advance past a commit; say once where that cannot be done.

        The events are durable by then, so a pin that cannot be written is no failure of theirs.
        """
        if self.has_failed:
            return
        try:
            self.advance(size, root)
        except OSError as error:
            self.has_failed = True
            warn(
                f"the head pin {self.path} cannot be written ({error.strerror}): a cut tail of"
                f" {path} would not be noticed"
            )

    def advance(self, size: int, root: bytes) -> None:
        """Write the pin after a commit; call under the ledger's lock.

        A crash before this leaves the pin behind the file, which is no contradiction. It is not
        synced: after a power loss an older pin may be back, which is again only behind.
        """
        line = slot_line(Pin(ledger=self.ledger, size=size, root=root.hex()))
        if self.descriptor is None:
            self.descriptor = self.open(line)
        content = os.pread(self.descriptor, 2 * SLOT_BYTES, 0)
        if content != self.content:  # Else it is as this process left it: no need to parse it.
            sizes = [-1 if pin is None else pin.size for pin in slots_of(content)]
            self.slot = sizes.index(min(sizes))
        os.pwrite(self.descriptor, line, SLOT_BYTES * self.slot)
        first, second = content[:SLOT_BYTES], content[SLOT_BYTES:]
        self.content = first + line if self.slot else line + second
        self.slot = 1 - self.slot

    def open(self, line: bytes) -> int:
        """Open the file for writing; make it where it is missing, with a first line.

        It is whole from the start: power loss would leave an empty file of one that was not
        synced, which looks as if somebody had emptied it.
        """
        try:
            return os.open(self.path, os.O_RDWR)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, line, mode=0o600)
            return os.open(self.path, os.O_RDWR)

    def close(self) -> None:
        """Close the file."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
