"""Power loss at every operation of the real program: nothing acknowledged is lost, nothing torn.

A ledger's whole life is recorded from its system calls and replayed in a model of a disk
(`crash_cases`): after every operation, states with none, all, some and torn unsynced writes. Where
processes cannot be followed, a stored recording takes the place of a fresh one.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from commit_path_cases import CHANGES, record_life
from process_cases import told
from recording_cases import SYNC, SYNC_FOLDER, Operation
from replay_cases import bounds, final_image, replay

SOAK = os.environ.get("LEDGER_SOAK") == "1"
STORED = Path(__file__).parent / "recordings" / "life.zst"
STATES = 250_000 if SOAK else 10_000
"""States of one seed."""
SEEDS = range(1, 5) if SOAK else (1,)
ENOUGH = 3
"""States in which a planted fault is seen; more prove no more."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return an empty folder, in memory where there is one of the usual name."""
    memory = Path("/dev/shm")  # noqa: S108 - only asked whether it is there
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


def stored() -> list[Operation]:
    """Return the recording that is kept for machines where none can be made."""
    content = zstandard.ZstdDecompressor().decompress(STORED.read_bytes())
    return msgspec.msgpack.decode(content, type=list[Operation])


def recorded(folder: Path, change: str = "as it is") -> list[Operation] | str:
    """Record a life of the product; return why that cannot be done here where it cannot."""
    root = folder / "root"
    root.mkdir()
    found: Any = told(record_life, root, change)
    return found if isinstance(found, str) else [Operation(*item) for item in found]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the recorded life goes on."""
    return tmp_path_factory.mktemp("life")


@pytest.fixture(scope="module")
def life(home: Path) -> list[Operation]:
    """Return the recording of the product as it is."""
    found = recorded(home)
    return stored() if isinstance(found, str) else found


def places(operations: list[Operation]) -> int:
    """Return how many states an operation needs so that all together are enough."""
    return -(-STATES * 3 // (2 * len(operations)))


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_no_power_loss_loses_or_tears_anything(
    life: list[Operation], folder: Path, seed: int
) -> None:
    """10,000 states of the disk: acknowledged is found, found is acknowledged or in flight.

    Every text, signed head, note and pin of a found event is there too, and whole; one state in
    fifty is opened, verified and gone on with by the product itself.
    """
    found = replay(life, folder, count=places(life), every=50, seed=seed)
    assert found.first == {}
    assert found.states >= STATES
    assert found.whole >= STATES // 100
    print(f"{found.states} states, {len(found.different)} different")  # noqa: T201 - for the records


def test_the_recording_accounts_for_every_byte(life: list[Operation], home: Path) -> None:
    """The files that the recorded operations give are those that the processes left."""
    root = home / "root"
    left = {
        file.relative_to(root).as_posix(): file.read_bytes()
        for file in root.rglob("*")
        if file.is_file()
    }
    if not left:
        pytest.skip("no process can be followed here")
    assert final_image(life) == left


def test_the_recording_holds_what_it_must(life: list[Operation]) -> None:
    """Every commit is acknowledged in the recording, and every event of the life is in it."""
    sizes = sorted({least for least, _ in bounds(life)})
    assert sizes[:4] == [0, 1, 2, 3]
    assert len(sizes) > 30
    assert {f"book/trials.ledger{end}" for end in ("", "-journal", ".gold")} < set(
        final_image(life)
    )


def test_the_stored_recording_is_sound_too(folder: Path) -> None:
    """The recording for machines where none can be made is checked wherever one can."""
    operations = stored()
    found = replay(operations, folder, count=2, every=100)
    assert found.first == {}
    assert found.states >= len(operations)


# Planted faults


@pytest.mark.parametrize("change", [name for name in CHANGES if name != "as it is"])
def test_a_writer_with_a_planted_fault_is_caught(folder: Path, change: str) -> None:
    """Other settings of SQLite, and gold committed last, lose what was acknowledged: it is seen."""
    operations = recorded(folder, change)
    if isinstance(operations, str):
        pytest.skip(operations)
    found = replay(operations, folder, count=10, every=10_000_000, stop_at=ENOUGH)
    assert found.faults.total() >= ENOUGH


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("book/trials.ledger", SYNC),
        ("book/trials.ledger-journal", SYNC),
        ("book/trials.ledger.gold", SYNC),
        ("book/trials.ledger.gold-journal", SYNC),
        ("book/heads/", SYNC),
        ("state/trial-ledger/heads/", SYNC),
        ("config/trial-ledger", SYNC_FOLDER),
        ("book", SYNC_FOLDER),
    ],
)
def test_every_sync_is_needed(life: list[Operation], folder: Path, name: str, kind: int) -> None:
    """The same life with the syncs of one file left out is caught: no sync of ours is for show."""
    without = [item for item in life if item.kind != kind or not is_of(item, name)]
    assert len(without) < len(life)
    found = replay(without, folder, count=10, every=10_000_000, stop_at=ENOUGH)
    assert found.faults.total() >= ENOUGH


def is_of(operation: Operation, name: str) -> bool:
    """Return whether an operation is on a file, or on one in a folder."""
    if name.endswith("/"):
        return operation.name.startswith(name)
    return operation.name == name
