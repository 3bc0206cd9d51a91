"""verify as a whole: each check bites, findings are in order and counted, nothing stops it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import rfc8785

from attack_cases import (
    Document,
    checked,
    document_of,
    first_place,
    put_document,
    raw,
    rewrite,
    seqs_of,
    tampering,
    without_types,
)
from ledger_cases import RUN, tools, trial
from trial_ledger import checking, events, salvage, verification
from trial_ledger.blobs import BlobTable
from trial_ledger.book import Ledger
from trial_ledger.errors import StorageError
from trial_ledger.pairing import Pairing
from trial_ledger.sqlite import sqlite3


def untrue_column(path: Path) -> None:
    """Let a column say something else than its document."""
    with tampering(path) as connection:
        connection.execute("UPDATE event SET trial = 'q9#9@s9' WHERE seq = 60")


def other_nodes(path: Path) -> None:
    """Replace the tree nodes of an event."""
    with tampering(path) as connection:
        connection.execute("UPDATE event SET nodes = zeroblob(32) WHERE seq = 62")


def forged_link(path: Path) -> None:
    """Break the chain of a run in a history that is consistent otherwise."""

    def unlink(documents: list[Document]) -> list[Document]:
        [document for document in documents if document["link"]][30]["link"]["prev"] = "ab" * 32
        return documents

    rewrite(path, unlink, relink=False)


def other_bytes(path: Path) -> None:
    """Spell one document of a consistent history with a space."""

    def spaced(document: Document) -> bytes:
        stored = rfc8785.dumps(document)
        return stored.replace(b'"kind":', b'"kind": ') if document["seq"] == 60 else stored

    rewrite(path, lambda documents: documents, encode=spaced)


def unfinished_call(path: Path) -> None:
    """Leave out the end of a call in a history that is consistent otherwise."""
    with tampering(path) as connection:
        seq = seqs_of(connection, "call.finished")[0]
    rewrite(path, lambda documents: documents[: seq - 1] + documents[seq:])


def changed_document(path: Path) -> None:
    """Change an event that finishes no tree node and is no link."""
    with tampering(path) as connection:
        seq = next(n for n in seqs_of(connection, "call.started") if n % 2 and n > 20)
        document = document_of(connection, seq)
        document["data"]["attempt"] = 7
        put_document(connection, seq, document)


def no_trigger(path: Path) -> None:
    """Take a trigger away."""
    connection = raw(path)
    connection.execute("DROP TRIGGER event_no_update")
    connection.close()


def other_type(path: Path) -> None:
    """Store a document as bytes instead of text."""
    with without_types(path) as connection:
        connection.execute("UPDATE event SET doc = CAST(doc AS BLOB) WHERE seq = 60")


def other_salt(path: Path) -> None:
    """Replace the salt of a text."""
    with tampering(path) as connection:
        connection.execute(
            "UPDATE blob SET salt = zeroblob(32) WHERE salt IS NOT NULL AND hash ="
            " (SELECT max(hash) FROM blob WHERE salt IS NOT NULL)"
        )


def erased(path: Path) -> None:
    """Erase a text without announcing it."""
    with tampering(path) as connection:
        connection.execute(
            "UPDATE blob SET salt = NULL, content = NULL WHERE hash = (SELECT max(hash) FROM blob)"
        )
        connection.execute(
            "DELETE FROM content WHERE id NOT IN (SELECT content FROM blob WHERE content NOT NULL)"
        )


def cut_tail(path: Path) -> None:
    """Take half of the log away."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM event WHERE seq > 64")


CONTROLS: dict[str, tuple[Callable[[Path], None], object, str, object]] = {
    "columns": (untrue_column, checking, "is_as_written", lambda *_: True),
    "nodes": (other_nodes, checking, "node_findings", lambda *_: []),
    "links": (forged_link, checking.EventChecker, "is_in_place", lambda *_: True),
    "canonical bytes": (other_bytes, checking, "is_as_written", lambda *_: True),
    "pairing": (unfinished_call, Pairing, "take", lambda *_: []),
    "chain": (changed_document, checking.EventChecker, "resolve", lambda *_: []),
    "schema": (no_trigger, verification, "schema_differences", lambda *_, **__: []),
    "types": (other_type, verification, "integrity_faults", lambda *_: []),
    "salts": (other_salt, BlobTable, "faults", lambda *_: iter(())),
    "redactions": (erased, verification, "check_references", lambda *_: None),
    "pin": (cut_tail, verification, "check_pin", lambda *_: None),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_each_check_is_the_one_that_finds_its_attack(
    honest: Path, victim: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one check taken out, exactly its attack goes unnoticed."""
    attack, owner, attribute, nothing = CONTROLS[name]
    attack(victim)
    pins = honest.parent if name == "pin" else None
    assert not checked(victim, pins=pins).is_intact
    if name == "chain":
        monkeypatch.setattr(checking, "node_findings", lambda *_: [])
        assert not checked(victim).is_intact
    monkeypatch.setattr(owner, attribute, nothing)
    assert checked(victim, pins=pins).is_intact


def test_findings_stand_in_the_order_of_the_log(victim: Path) -> None:
    """A text that is missing at an early event comes before a later event that was changed."""
    with tampering(victim) as connection:
        early, late = seqs_of(connection, "answer.submitted")[0], 100
        name = document_of(connection, early)["data"]["answer"]["blob"]
        connection.execute("DELETE FROM blob WHERE hash = ?", (bytes.fromhex(name),))
        connection.execute("UPDATE event SET kind = 'x' WHERE seq = ?", (late,))
    found = [finding.seq for finding in checked(victim).findings]
    assert found[:2] == [early, late]
    assert None in found[2:]


def test_progress_is_told_now_and_then(honest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long check says how far it is."""
    monkeypatch.setattr(verification, "PROGRESS_EVENTS", 50)
    told: list[tuple[int, int]] = []
    with Ledger.open(honest, tools=tools(honest.parent, pins=False)) as ledger:
        verification.verify(ledger, progress=lambda done, total: told.append((done, total)))
    assert told == [(50, 128), (100, 128)]


def test_who_never_appended_has_no_pin_to_compare(honest: Path, tmp_path: Path) -> None:
    """Where pins are kept and none is there, the report says so and finds nothing wrong."""
    found = checked(honest, pins=tmp_path)
    assert (found.is_intact, found.pin) == (True, "none")


def test_a_part_that_cannot_be_read_does_not_stop_the_others(victim: Path) -> None:
    """Without a table for texts, events and schema are still checked, each with its finding."""
    connection = raw(victim)
    connection.execute("DROP TRIGGER event_no_update")
    connection.execute("UPDATE event SET kind = 'x' WHERE seq = 60")
    connection.execute("ALTER TABLE content RENAME TO other")
    connection.close()
    found = checked(victim)
    assert [finding.seq for finding in found.findings if finding.seq] == [2, 60]
    assert {"blobs", "schema"} <= {finding.place for finding in found.findings}
    assert found.size == 128


def test_events_that_cannot_be_read_leave_the_pin_unchecked(victim: Path, honest: Path) -> None:
    """Where the events cannot be read to the end, nothing is said about the pin."""
    with tampering(victim) as connection:
        connection.execute("ALTER TABLE event RENAME COLUMN nodes TO other")
    found = checked(victim, pins=honest.parent)
    assert found.pin == "not checked"
    assert "events" in {finding.place for finding in found.findings}


@pytest.mark.parametrize("name", [*salvage.PASSING, "SQLITE_READONLY_ROLLBACK", None])
def test_what_may_be_otherwise_in_a_minute_is_no_finding(
    honest: Path, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy file or a full disk says nothing about the content: exit 7, not 4."""

    def fail(_: object) -> list[str]:
        error = sqlite3.OperationalError("not now")
        if name is not None:
            error.sqlite_errorname = name
        raise error

    monkeypatch.setattr(verification, "integrity_faults", fail)
    with pytest.raises(StorageError) as caught:
        checked(honest)
    assert caught.value.exit_code == 7


def test_many_findings_are_counted(victim: Path) -> None:
    """Beyond a thousand, findings are counted and no longer listed."""
    with tampering(victim) as connection:
        connection.execute(
            "UPDATE event SET kind = 'a', run = 'b', trial = 'c', link = seq, nodes = x'',"
            " doc = replace(doc, '{\"actor\"', '{ \"actor\"')"
        )
        connection.execute("UPDATE blob SET salt = zeroblob(32), content = 1")
        for number in range(1_200):
            connection.execute(
                "INSERT INTO content (hash, bytes, encoding, data) VALUES (?, 1, 'raw', x'61')",
                (number.to_bytes(32, "big"),),
            )
    found = checked(victim)
    assert len(found.findings) == verification.MAX_FINDINGS
    assert found.unlisted > 500
    assert first_place(found) == "seq 1"


def test_an_end_of_a_run_that_bears_a_trial_opens_and_ends_nothing() -> None:
    """No guard lets it pass; that it has a trial is told by the check of its form."""
    closed = events.RunClosed(status="interrupted")
    assert Pairing().take_trial((RUN, trial("q1")), closed) == []
