"""A disk that loses power: which files a recording can leave behind, at every operation.

The model. A write, a truncation or a name is *pending* until its file or folder is synced. At a
crash any subset of the pending writes of a file survives, each whole or in sectors of 512 bytes;
what a lost write would have filled reads as zeros where the file grew, else as it was. Names
(made, renamed, removed, folders) survive in order up to some point, as in a file system with a
journal, and a new name may stand while its content is lost. Syncing a file makes its content
durable and no name; syncing a folder makes every name before it durable. A sync that returned is
believed: a disk that lies is outside.
"""

from collections.abc import Callable, Iterator
from random import Random

from recording_cases import (
    CREATE,
    FOLDER,
    RENAME,
    SYNC,
    SYNC_FOLDER,
    TRUNCATE,
    UNLINK,
    WRITE,
    Operation,
)

__all__ = ["Disk", "Image"]

SECTOR = 512
CHANCES = (0.05, 0.5, 0.5, 0.95)
"""How likely a pending write or sector survives, in a state."""

Image = dict[str, bytes]
"""Content of every file by name."""


class Content:
    """One file: what is durable of it, and what is pending."""

    def __init__(self) -> None:
        self.durable = b""
        self.pending: list[Operation] = []
        self.length = 0

    def take(self, operation: Operation) -> None:
        """Add a write or a truncation."""
        self.pending.append(operation)
        if operation.kind == TRUNCATE:
            self.length = operation.offset
        else:
            self.length = max(self.length, operation.offset + len(operation.data))

    def sync(self) -> None:
        """Make everything durable."""
        self.durable = self.all()
        self.pending.clear()

    def all(self) -> bytes:
        """Return the file with everything that is pending."""
        return self.survived(lambda _: True)

    def survived(
        self, keeps: Callable[[Operation], bool], *, torn: bool = False, grown: bool = False
    ) -> bytes:
        """Return what a crash leaves.

        Args:
            keeps: asked for each pending operation, or for each sector of it.
            torn: whether writes are kept by sectors.
            grown: whether the file has its new length whatever became of its content.
        """
        if not self.pending:
            return self.durable
        found = bytearray(self.durable)
        for operation in self.pending:
            if operation.kind == TRUNCATE:
                if keeps(operation):
                    resize(found, operation.offset)
            elif not torn:
                if keeps(operation):
                    place(found, operation.offset, operation.data)
            else:
                for offset, data in sectors(operation):
                    if keeps(operation):
                        place(found, offset, data)
        if grown:
            resize(found, max(len(found), self.length))
        return bytes(found)


class Keeps:
    """Decides by chance what survives."""

    def __init__(self, chance: float, random: Random) -> None:
        self.chance = chance
        self.random = random

    def __call__(self, _: Operation) -> bool:
        """Return whether it does."""
        return self.random.random() < self.chance


def resize(content: bytearray, length: int) -> None:
    """Cut a file, or lengthen it with zeros."""
    del content[length:]
    content.extend(bytes(length - len(content)))


def place(content: bytearray, offset: int, data: bytes) -> None:
    """Write into a file."""
    if len(content) < offset:
        resize(content, offset)
    content[offset : offset + len(data)] = data


def sectors(operation: Operation) -> Iterator[tuple[int, bytes]]:
    """Yield a write in the sectors that a disk writes whole."""
    start, end = operation.offset, operation.offset + len(operation.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        yield start, operation.data[start - operation.offset : stop - operation.offset]
        start = stop


class Disk:
    """A disk on which the operations of a recording are done one by one."""

    def __init__(self) -> None:
        self.contents: dict[int, Content] = {}
        self.names: dict[str, int] = {}
        self.pending: list[Operation] = []

    def do(self, operation: Operation) -> None:
        """Do one operation."""
        if operation.kind in {WRITE, TRUNCATE}:
            self.contents[operation.file].take(operation)
        elif operation.kind == SYNC:
            self.contents[operation.file].sync()
        elif operation.kind == SYNC_FOLDER:
            self.names = self.named(len(self.pending))
            self.pending.clear()
        elif operation.kind in {CREATE, RENAME, UNLINK, FOLDER}:
            if operation.kind == CREATE:
                self.contents[operation.file] = Content()
            self.pending.append(operation)

    def named(self, count: int) -> dict[str, int]:
        """Return the names after so many of the pending ones."""
        names = dict(self.names)
        for operation in self.pending[:count]:
            if operation.kind == CREATE:
                names[operation.name] = operation.file
            elif operation.kind == RENAME:
                names[operation.other] = names.pop(operation.name)
            elif operation.kind == UNLINK:
                del names[operation.name]
        return names

    def is_settled(self) -> bool:
        """Return whether nothing is pending, so that a crash can leave one state only."""
        return not self.pending and not any(found.pending for found in self.contents.values())

    def states(self, random: Random, count: int) -> Iterator[Image]:
        """Yield states that a crash now can leave: the four corners, then random ones.

        Args:
            random: decides.
            count: how many; one where nothing is pending.
        """
        if self.is_settled():
            yield self.image(0, Keeps(1.0, random))
            return
        every = len(self.pending)
        corners = [(0, 0.0), (every, 1.0), (every, 0.0), (0, 1.0)][: count if every else 2]
        for names, chance in corners:
            yield self.image(names, Keeps(chance, random))
        for _ in range(count - len(corners)):
            yield self.image(
                random.randint(0, len(self.pending)),
                Keeps(random.choice(CHANCES), random),
                torn=random.random() < 0.5,
                grown=random.random() < 0.3,
            )

    def image(
        self,
        names: int,
        keeps: Callable[[Operation], bool],
        *,
        torn: bool = False,
        grown: bool = False,
    ) -> Image:
        """Return one state: so many of the pending names, and the writes that are kept."""
        return {
            name: self.contents[file].survived(keeps, torn=torn, grown=grown)
            for name, file in self.named(names).items()
        }
