"""A damaged file: up to where it is intact, and every event that can still be read."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from attack_cases import checked, document_of, put_document, tampering
from ledger_cases import tools
from trial_ledger.book import Ledger
from trial_ledger.canonical import event_hash
from trial_ledger.errors import LedgerError, NotFoundError, StorageError, VerificationError
from trial_ledger.merkle import root_at
from trial_ledger.salvage import intact_prefix, is_passing, readable_rows
from trial_ledger.sqlite import sqlite3

LAST = 128
PAGE = 4_096
TRIES = 200 if os.environ.get("LEDGER_SOAK") == "1" else 12


@contextlib.contextmanager
def reading(path: Path) -> Iterator[Ledger]:
    """Open a ledger for reading, without pins."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        yield ledger


def documents(path: Path) -> list[bytes]:
    """Return every document of an intact ledger."""
    with reading(path) as ledger:
        return [row.document for row in ledger.store.rows()]


def test_an_intact_log_is_intact_to_its_end(honest: Path) -> None:
    """The prefix is all of it, with its root; verify has no reason to say so."""
    with reading(honest) as ledger:
        prefix, head = intact_prefix(ledger), ledger.head()
        assert (prefix.size, prefix.root) == (head.size, head.root)
        assert [seq for seq, row in readable_rows(ledger) if row is not None] == [
            *range(1, LAST + 1)
        ]
    assert checked(honest).intact_upto is None


@pytest.mark.parametrize("seq", [1, 2, 3, 60, 61, 64, 127, 128])
def test_the_prefix_ends_before_a_changed_event(victim: Path, honest: Path, seq: int) -> None:
    """At every place, odd or even, the last intact seq is the one before; its root is the old."""
    with tampering(victim) as connection:
        document = document_of(connection, seq)
        document["recorded_at"] = "2020-01-01T00:00:00.000000Z"
        put_document(connection, seq, document)
    with reading(honest) as ledger:
        root = root_at(seq - 1, ledger.store.node).hex()
    found = checked(victim)
    assert (found.intact_upto, found.intact_root) == (seq - 1, root)


def test_a_missing_event_is_named_and_those_behind_it_are_kept(victim: Path, honest: Path) -> None:
    """Of rows that are gone the first is named, and everything else is given as it was."""
    with tampering(victim) as connection:
        connection.execute("DELETE FROM event WHERE seq IN (50, 51, 52)")
        connection.execute("UPDATE event SET seq = 100000000 WHERE seq = 128")
    with reading(victim) as ledger:
        rows = dict(readable_rows(ledger))
        assert [seq for seq, row in rows.items() if row is None] == [50, 128]
        assert intact_prefix(ledger).size == 49
        assert [*dict(readable_rows(ledger, after=47, upto=49))] == [48, 49]
        assert dict(readable_rows(ledger, after=49, upto=51)) == {50: None}
    kept = [row.document for row in rows.values() if row is not None]
    whole = documents(honest)
    assert kept == whole[:49] + whole[52:]


@pytest.mark.parametrize("number", range(TRIES))
def test_a_malformed_page_leaves_the_rest(honest: Path, victim: Path, number: int) -> None:
    """Whichever page is overwritten, what is given is what was written, and the prefix is true."""
    whole = documents(honest)
    content = bytearray(victim.read_bytes())
    pages = len(content) // PAGE
    page = Random(number).randrange(1, pages)  # noqa: S311 - repeatable; page 0 is the schema
    content[page * PAGE : (page + 1) * PAGE] = b"\xa5" * PAGE
    victim.write_bytes(content)
    try:
        with reading(victim) as ledger:
            prefix = intact_prefix(ledger)
            rows = [row for _, row in readable_rows(ledger) if row is not None]
    except LedgerError as error:
        assert "damaged" in error.message or "seq 1" in error.message  # noqa: PT017 - either opens
        return
    found = {event_hash(row.document) for row in rows}
    assert {event_hash(document) for document in whole[: prefix.size]} <= found
    assert found <= {event_hash(document) for document in whole}
    report = checked(victim)
    if prefix.size < LAST:
        assert (report.is_intact, report.intact_upto) == (False, prefix.size)


def test_where_the_end_cannot_be_read_reading_stops(
    victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a known end the first row that cannot be read is the last one that is tried."""
    with reading(victim) as ledger:

        def no_end() -> int:
            message = "damaged"
            raise VerificationError(message)

        chunks = ledger.store.chunks

        def some(*, after: int, upto: int) -> object:
            if upto > 70 and after >= 60:
                message = "damaged"
                raise VerificationError(message)
            return chunks(after=after, upto=min(upto, 70))

        monkeypatch.setattr(ledger.store, "size", no_end)
        monkeypatch.setattr(ledger.store, "chunks", some)
        rows = list(readable_rows(ledger))
        assert [seq for seq, row in rows if row is None] == [71]
        assert len(rows) == 71
        assert intact_prefix(ledger).size == 70


def test_a_log_without_an_end_ends_with_its_last_row(
    victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the end is unknown and nothing more is there, the next seq is named and that is all."""
    with reading(victim) as ledger:

        def no_end() -> int:
            message = "damaged"
            raise VerificationError(message)

        monkeypatch.setattr(ledger.store, "size", no_end)
        assert [seq for seq, row in readable_rows(ledger) if row is None] == [LAST + 1]


@pytest.mark.parametrize("part", ["size", "chunks"])
def test_a_busy_file_is_no_damaged_one(
    victim: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """What may be otherwise in a minute is an error, not an event that cannot be read."""
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorname = "SQLITE_BUSY"

    def refuse(**_: object) -> object:
        message = "busy"
        raise StorageError(message) from busy

    with reading(victim) as ledger:
        monkeypatch.setattr(ledger.store, part, refuse)
        with pytest.raises(StorageError, match="busy"):
            list(readable_rows(ledger))


def test_what_says_nothing_about_the_content() -> None:
    """Only an error of storage can pass by itself."""
    assert is_passing(StorageError("no name"))
    assert not is_passing(VerificationError("damaged"))
    assert not is_passing(NotFoundError("none"))


def test_of_two_events_at_the_end_neither_counts_where_nothing_tells(victim: Path) -> None:
    """Without the tree, and with nothing behind them, either of two may be the changed one."""
    with tampering(victim) as connection:
        connection.execute("DELETE FROM event WHERE seq > 126")
        document = document_of(connection, 125)
        document["recorded_at"] = "2020-01-01T00:00:00.000000Z"
        put_document(connection, 125, document)
    with reading(victim) as ledger:
        assert intact_prefix(ledger).size == 124
