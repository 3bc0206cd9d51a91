"""A ledger's life, as processes to be followed: made, frozen, appended to, killed, recovered.

Every way in which the product writes events has its step: the real commands and a harness that
uses `Ledger`. The ledger has a key, so heads are signed; some texts are gold. None of this may
import pytest: it runs in a process forked from a server.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

from blake3 import blake3

from recording_cases import Recorder, Step
from tracing_cases import cannot_trace
from trial_ledger import sqlite
from trial_ledger.book import Ledger
from trial_ledger.events import Actor
from trial_ledger.intake import draft, parse_record
from trial_ledger.submission import NewText, Submission
from trial_ledger.tools import system_tools
from trial_ledger.writer import Writer

__all__ = ["BOOK", "CHANGES", "die_writing", "record_life"]

BOOK = "book/trials.ledger"
"""Where the ledger lies, below the root."""
EXAMPLE = Path(__file__).resolve().parents[1] / "docs" / "examples" / "ten-trials"
DOCUMENTS = (
    ("dataset", "dataset.jsonl", "--name", "status-codes", "--version", "1"),
    ("rubric", "rubric.toml"),
    ("manifest", "manifest.toml"),
)
ONE_BY_ONE = 14
"""Lines of the example that a harness appends, each in a commit of its own."""
AT_ONCE = 30
"""Up to this line a command appends all in one commit."""
HARNESS = Actor(role="harness", name="cases", version="1")


def swap_commits() -> None:
    """Commit the ledger before its gold file: the planted fault of order."""
    commit = Writer.commit

    def swapped(writer: Writer) -> None:
        gold, writer.gold = writer.gold, None
        writer.flush()
        commit(writer)
        writer.gold = gold
        if gold is not None:
            gold.commit()

    setattr(Writer, "commit", swapped)  # noqa: B010 - a planted fault


def with_settings(*settings: str) -> Callable[[], None]:
    """Return a change that gives SQLite other settings, after the product's own."""

    def change() -> None:
        sqlite.WRITER_SETTINGS = (*sqlite.WRITER_SETTINGS, *settings)  # type: ignore[assignment]

    return change


CHANGES: dict[str, Callable[[], None]] = {
    "as it is": lambda: None,
    "DELETE, FULL": with_settings("PRAGMA journal_mode=DELETE", "PRAGMA synchronous=FULL"),
    "TRUNCATE, OFF": with_settings("PRAGMA synchronous=OFF"),
    "WAL, NORMAL": with_settings("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL"),
    "ledger before gold": swap_commits,
}
"""The product, and writers with a planted fault."""


def record_life(pipe: Pipe, root: Path, change: str) -> None:
    """Live a ledger's life below an empty root and send the operations.

    Args:
        pipe: takes a list of operations, or why none can be recorded here.
        root: where it happens; what is there in the end is what the last operation left.
        change: which of `CHANGES` the writers get.
    """
    reason = cannot_trace()
    if reason:
        pipe.send(reason)
        return
    root = root.resolve()
    book = root / BOOK
    steps = list(life(root, CHANGES[change]))
    recorder = Recorder(root, lambda: size_of(book))
    recorder.record(steps)
    pipe.send([tuple(item) for item in recorder.operations])


def size_of(book: Path) -> int:
    """Return how many events a ledger holds; 0 where there is none yet."""
    if not book.exists():
        return 0
    with Ledger.open(book) as ledger:
        return ledger.head().size


def life(root: Path, change: Callable[[], None]) -> Iterator[Step]:
    """Yield the steps in order."""
    book = root / BOOK
    lines = (EXAMPLE / "trials.jsonl").read_bytes().splitlines(keepends=True)
    sources = root.parent / "sources"
    sources.mkdir()
    (sources / "batch.jsonl").write_bytes(b"".join(lines[ONE_BY_ONE:AT_ONCE]))
    (sources / "stream.jsonl").write_bytes(closing())

    def command(*arguments: str, unchanged: bool = False) -> Step:
        return Step(
            lambda: run_command(root, (lambda: None) if unchanged else change, arguments), root
        )

    yield Step(lambda: os.mkdir(book.parent), root)  # noqa: PTH102 - as little as can be
    yield command("key", "new")
    yield command("init", "--ledger", BOOK)
    for kind, file, *more in DOCUMENTS:
        yield command("freeze", kind, "--ledger", BOOK, str(EXAMPLE / file), *more)
    first = [
        item
        for number, line in enumerate(lines[:ONE_BY_ONE])
        for item in (parsed(line), note(number))
    ]
    yield Step(lambda: append_one_by_one(root, change, first), root, tells=True)
    yield command("append", "--ledger", BOOK, str(sources / "batch.jsonl"))
    yield Step(lambda: die_in_the_middle(root, change), root, -signal.SIGKILL)
    yield command("verify", "--ledger", BOOK)
    yield command("append", "--ledger", BOOK, "--stream", str(sources / "stream.jsonl"))
    last = [note(number) for number in range(200, 204)]
    yield Step(lambda: append_one_by_one(root, change, last), root, tells=True)


def closing() -> bytes:
    """Return the lines that end the run, which signs a head, and one line after it."""
    records: list[dict[str, object]] = [
        {"kind": "run.closed", "run": "ten", "data": {"status": "interrupted", "reason": "enough"}},
        {"kind": "note.added", "data": {"about": "ten", "text": "after the last signed head"}},
    ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def enter(root: Path, change: Callable[[], None]) -> None:
    """Make the child's world: nothing of it lies outside the root but the program."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.chdir(root)
    for name in [name for name in os.environ if name.startswith(("LEDGER_", "COVERAGE"))]:
        del os.environ[name]
    os.environ["XDG_STATE_HOME"] = str(root / "state")
    os.environ["XDG_CONFIG_HOME"] = str(root / "config")
    change()


def run_command(root: Path, change: Callable[[], None], arguments: tuple[str, ...]) -> None:
    """Become the real command; a changed one cannot, since the change would be lost."""
    enter(root, change)
    if change is CHANGES["as it is"]:
        os.execv(sys.executable, [sys.executable, "-m", "trial_cli", *arguments])  # noqa: S606
    from trial_cli.main import run  # noqa: PLC0415 - slow to import, and only here

    code = run(arguments)
    sys.stdout.flush()
    assert code == 0, arguments


def note(number: int) -> Submission:
    """Return a note; every third one is gold."""
    content = blake3(b"%d" % number).hexdigest(length=400 + 300 * (number % 20)).encode()
    class_ = "gold" if number % 3 == 0 else "sealed"
    return Submission(
        kind="note.added",
        data={"about": "ledger", "text": NewText(content=content, class_=class_)},  # type: ignore[arg-type]
        id=blake3(b"note %d" % number).hexdigest(length=16),
        actor=HARNESS,
    )


def parsed(line: bytes) -> Submission:
    """Return the event of a line."""
    return parse_record(json.loads(line), source=None, line=None)


def append_one_by_one(root: Path, change: Callable[[], None], items: list[Submission]) -> None:
    """Append events, each in a commit of its own; say so after each."""
    enter(root, change)
    with Ledger.open(root / BOOK, write=True, tools=system_tools()) as ledger:
        for item in items:
            done = ledger.append(item)
            os.write(1, b'{"seq": %d}\n' % done.seq)


def die_in_the_middle(root: Path, change: Callable[[], None]) -> None:
    """Be killed in the middle of a transaction."""
    enter(root, change)
    die_writing(Ledger.open(root / BOOK, write=True, tools=system_tools()))


def die_writing(ledger: Ledger) -> None:
    """Write pages of an unfinished transaction into both files of a ledger, and be killed."""
    assert ledger.gold is not None
    for connection in (ledger.store.connection, ledger.gold.connection):
        connection.execute("PRAGMA cache_size=2")
    ledger.writer.begin()
    for number in range(100, 106):
        ledger.writer.prepare(draft(note(number)))
        ledger.writer.flush()
    for file in (ledger.store.path, ledger.gold.path):
        logs = [file.with_name(f"{file.name}-{end}") for end in ("journal", "wal")]
        assert any(log.exists() and log.stat().st_size > 0 for log in logs)
    os.kill(os.getpid(), signal.SIGKILL)
