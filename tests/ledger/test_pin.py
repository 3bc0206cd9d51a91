"""The head pin: advances, survives a torn write, and refuses a file that lost what was seen."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.merkle import EMPTY_ROOT, Frontier, leaf_hash
from trial_ledger.pin import SLOT_BYTES, HeadPin, Pin, parse_slot, slot_line, state_directory

LEDGER = "ab" * 16
ROOT = bytes(range(32))


@pytest.fixture
def pin(tmp_path: Path) -> HeadPin:
    """Return the pin of a ledger nobody has appended to."""
    return HeadPin(tmp_path / "state", LEDGER)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/trial-ledger"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/trial-ledger"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/trial-ledger"),
        ({"HOME": "/h"}, "/h/.local/state/trial-ledger"),
    ],
)
def test_pins_lie_where_state_belongs(environ: dict[str, str], folder: str) -> None:
    """The XDG Base Directory rules: an absolute $XDG_STATE_HOME, else ~/.local/state."""
    assert state_directory(environ) == Path(folder)


def test_without_a_home_the_account_decides() -> None:
    """Where no variable says it, the home folder is the account's."""
    assert state_directory({}) == Path("~").expanduser() / ".local/state/trial-ledger"


def test_who_never_appended_has_no_pin(pin: HeadPin) -> None:
    """No file, no folder, and a path that leads through a file: no pin."""
    assert pin.read() is None
    pin.path.parent.mkdir(parents=True)
    assert pin.read() is None
    (pin.path.parent / "file").write_bytes(b"")
    assert HeadPin(pin.path.parent / "file", LEDGER).read() is None


def test_the_pin_is_what_was_last_committed(pin: HeadPin, tmp_path: Path) -> None:
    """Each advance is read back by anybody, and nobody but the user can read it."""
    for size in (1, 2, 4, 6, 6, 7):
        pin.advance(size, ROOT)
        assert HeadPin(tmp_path / "state", LEDGER).read() == Pin(
            ledger=LEDGER, size=size, root=ROOT.hex()
        )
    pin.close()
    pin.close()
    assert pin.path.stat().st_mode & 0o777 == 0o600
    assert pin.path.stat().st_size == 2 * SLOT_BYTES


def test_a_pin_that_others_advance_too_only_grows(pin: HeadPin, tmp_path: Path) -> None:
    """Whoever wrote last, the older line is written over, so the newest pin is always there."""
    other = HeadPin(tmp_path / "state", pin.ledger)
    newest = 0
    for size, writer in ((1, pin), (2, other), (3, other), (4, pin), (5, other), (6, pin)):
        writer.advance(size, ROOT)
        found = pin.read()
        assert found is not None
        assert found.size == size > newest
        newest = size
    other.advance(3, ROOT)
    found = pin.read()
    assert found is not None
    assert found.size == newest
    other.close()


@given(st.lists(st.integers(min_value=0, max_value=50), min_size=3, max_size=9), st.data())
def test_a_torn_write_leaves_the_pin_before_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], data: st.DataObject
) -> None:
    """Wherever the last write was cut off, what is read is the new pin or the one before."""
    pin = HeadPin(tmp_path_factory.mktemp("pin"), LEDGER)
    sizes, contents = [1], [b""]
    for step in steps:
        sizes.append(sizes[-1] + step)
        pin.advance(sizes[-1], sizes[-1].to_bytes(32, "big"))
        contents.append(pin.path.read_bytes())
    before, after = contents[-2:]
    torn = data.draw(st.integers(min_value=0, max_value=SLOT_BYTES))
    changed = next((n for n, (x, y) in enumerate(zip(before, after, strict=True)) if x != y), 0)
    end = changed + torn
    pin.path.write_bytes(before[:changed] + after[changed:end] + before[end:])
    found = pin.read()
    pin.close()
    assert found is not None
    assert found.size in sizes[-2:]


@given(st.integers(min_value=0, max_value=10**15), st.integers(min_value=0, max_value=131))
def test_a_damaged_line_is_no_pin(size: int, place: int) -> None:
    """Any changed character of a line is noticed."""
    line = slot_line(Pin(ledger=LEDGER, size=size, root=ROOT.hex()))
    assert len(line) == SLOT_BYTES
    assert parse_slot(line) == Pin(ledger=LEDGER, size=size, root=ROOT.hex())
    damaged = bytearray(line)
    damaged[place] ^= 1
    assert parse_slot(bytes(damaged)) is None


@pytest.mark.parametrize("line", [b"", b"x" * SLOT_BYTES, b"\xff" * SLOT_BYTES, b" " * SLOT_BYTES])
def test_nonsense_is_no_pin(line: bytes) -> None:
    """Bytes of the right length that are no pin are none."""
    assert parse_slot(line) is None


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * (2 * SLOT_BYTES)])
def test_a_pin_that_cannot_be_read_is_no_missing_pin(pin: HeadPin, content: bytes) -> None:
    """A damaged file is an error with a way out, never silently no pin."""
    pin.path.parent.mkdir(parents=True)
    pin.path.write_bytes(content)
    with pytest.raises(VerificationError, match="is unreadable") as caught:
        pin.read()
    assert caught.value.hint == "look at it; remove it to accept the file"


def test_a_pin_of_another_ledger_is_refused(pin: HeadPin) -> None:
    """A pin copied from another ledger says nothing about this one."""
    pin.path.parent.mkdir(parents=True)
    pin.path.write_bytes(slot_line(Pin(ledger="cd" * 16, size=3, root=ROOT.hex())))
    with pytest.raises(VerificationError, match=f"names ledger {'cd' * 16}, expected {LEDGER}"):
        pin.read()


def test_a_pin_that_is_a_folder_is_an_error_of_storage(pin: HeadPin) -> None:
    """What the file system refuses is said with what to do."""
    pin.path.mkdir(parents=True)
    with pytest.raises(
        StorageError, match=r"cannot read the head pin .*: Is a directory"
    ) as caught:
        pin.read()
    assert "XDG_STATE_HOME" in (caught.value.hint or "")


class Tree:
    """A tree of some events."""

    def __init__(self, size: int) -> None:
        self.frontier = Frontier(0, [])
        self.nodes: dict[tuple[int, int], bytes] = {}
        for number in range(size):
            leaf = leaf_hash(b"%d" % number)
            self.nodes[0, number] = leaf
            for level, position, digest in self.frontier.append(leaf):
                self.nodes[level, position] = digest

    def node(self, level: int, position: int) -> bytes:
        """Return a node."""
        return self.nodes[level, position]


def test_a_file_that_grew_is_accepted(pin: HeadPin) -> None:
    """Without a pin anything is accepted; with one, whatever has the same beginning."""
    pin.check(Path("a"), 7, Tree(7).node)
    pin.advance(5, Tree(5).frontier.root())
    pin.check(Path("a"), 5, Tree(5).node)
    pin.check(Path("a"), 7, Tree(7).node)
    pin.close()


def test_a_file_that_lost_events_is_refused(pin: HeadPin) -> None:
    """A shorter file is behind its pin; the hint says what accepting the loss takes."""
    pin.advance(5, Tree(5).frontier.root())
    pin.close()
    with pytest.raises(VerificationError, match="a is behind its head pin: 4 events, 5 were seen"):
        pin.check(Path("a"), 4, Tree(4).node)


def test_a_file_with_another_past_is_refused(pin: HeadPin) -> None:
    """The same length with another root is another past."""
    pin.advance(5, EMPTY_ROOT)
    pin.close()
    with pytest.raises(VerificationError, match="another past than its head pin saw at 5") as found:
        pin.check(Path("a"), 6, Tree(6).node)
    assert str(pin.path) in (found.value.hint or "")


def test_a_pin_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    """What was committed is no failure; that a cut tail would go unnoticed is worth a note."""
    (tmp_path / "state").write_bytes(b"")
    pin = HeadPin(tmp_path / "state", LEDGER)
    notes: list[str] = []
    pin.follow(Path("a.ledger"), 1, ROOT, warn=notes.append)
    pin.follow(Path("a.ledger"), 2, ROOT, warn=notes.append)
    assert len(notes) == 1
    assert "cannot be written (Not a directory): a cut tail of a.ledger would" in notes[0]
    pin.close()


def test_a_pin_that_can_be_written_is_silent(pin: HeadPin) -> None:
    """Following a commit moves the pin and says nothing."""
    pin.follow(Path("a.ledger"), 1, ROOT, warn=pytest.fail)
    found = pin.read()
    assert found is not None
    assert found.size == 1
    assert pin.descriptor is not None
    assert os.get_inheritable(pin.descriptor) is False
    pin.close()
