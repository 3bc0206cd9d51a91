"""Whatever is done to the events of a ledger file is found, and the first bad seq is named."""

from collections.abc import Callable
from pathlib import Path

import pytest
import rfc8785

from agreement import checked
from attack_cases import (
    Document,
    document_of,
    first_place,
    insert,
    put_document,
    rewrite,
    seqs_of,
    tampering,
)
from ledger_cases import RUN, empty_ledger, note, tools
from trial_ledger.book import Ledger
from trial_ledger.errors import VerificationError
from trial_ledger.merkle import Frontier, leaf_hash
from trial_ledger.sqlite import Connection

LAST = 128


def test_the_honest_ledger_is_intact(honest: Path) -> None:
    """Nothing is found in a file that nobody touched, by its owner or by a stranger."""
    assert checked(honest).pin == "not kept"
    found = checked(honest, pins=honest.parent)
    assert (found.is_intact, found.pin, found.gold, found.size) == (
        True,
        "matches",
        "checked",
        LAST,
    )


def test_a_stranger_can_check_the_ledger_without_its_gold(honest: Path, tmp_path: Path) -> None:
    """The ledger file alone verifies; that gold is absent is said."""
    alone = tmp_path / honest.name
    alone.write_bytes(honest.read_bytes())
    found = checked(alone)
    assert (found.is_intact, found.gold) == (True, "absent")


def changed(**fields: object) -> Callable[[Document], Document]:
    """Return a change of fields of a document's data."""
    return lambda document: {**document, "data": {**document["data"], **fields}}


def with_text(old: str, new: str) -> Callable[[Document], str]:
    """Return a change of the stored text itself."""

    def change(document: Document) -> str:
        text = rfc8785.dumps(document).decode()
        assert old in text
        return text.replace(old, new, 1)

    return change


def turned(document: Document) -> str:
    """Return a document with its first field moved to the end."""
    text = rfc8785.dumps(document).decode()
    actor = rfc8785.dumps({"actor": document["actor"]}).decode()[1:-1]
    return "{" + text[len(actor) + 2 : -1] + "," + actor + "}"


BAD_BLOB = {"blob": "zz", "bytes": 1, "class": "sealed", "media": "text/plain"}

DOCUMENT_CHANGES: dict[str, Callable[[Document], Document | str]] = {
    "another value": changed(call="c9"),
    "a space after a colon": with_text('"kind":', '"kind": '),
    "a newline in front": with_text('{"actor"', '\n{"actor"'),
    "keys in another order": turned,
    "an escaped letter": with_text('"kind"', r'"\u006bind"'),
    "a key twice": with_text('{"actor"', '{"actor":{"role":"human"},"actor"'),
    "a float": changed(attempt=1.5),
    "a float without a fraction": with_text('"v":1', '"v":1.0'),
    "an unknown field": lambda document: {**document, "more": 1},
    "no document": lambda _: "",
    "no JSON": lambda _: "{",
    "deep nesting": with_text('"data":', '"data":' + '{"a":' * 5_000),
    "an unknown kind": lambda document: {**document, "kind": "call.sung"},
    "a kind of the future": lambda document: {**document, "v": 2},
    "another time": lambda document: {**document, "recorded_at": "2020-01-01T00:00:00.000000Z"},
    "another actor": lambda document: {**document, "actor": {"role": "human", "name": "Eve"}},
    "another prev": lambda document: {**document, "prev": "0" * 64},
    "another ledger": lambda document: {**document, "ledger": "0" * 32},
    "another seq": lambda document: {**document, "seq": 1},
    "another id": lambda document: {**document, "id": "0" * 32},
    "no trial": lambda document: {**document, "trial": None},
    "another trial": lambda document: {**document, "trial": {**document["trial"], "session": "x"}},
    "a blob that is none": changed(request=BAD_BLOB),
    "a name with a line feed": changed(name="a\nb"),
}


@pytest.mark.parametrize("change", DOCUMENT_CHANGES.values(), ids=DOCUMENT_CHANGES)
@pytest.mark.parametrize("remainder", [0, 1], ids=["even", "odd"])
def test_a_changed_document_is_named(
    victim: Path, change: Callable[[Document], Document | str], remainder: int
) -> None:
    """Whatever is changed in an event's document, the first finding is that event.

    An event at an even place finishes a tree node, which alone would give it away; one at an odd
    place is given away by the events after it.
    """
    with tampering(victim) as connection:
        seq = next(n for n in seqs_of(connection, "call.started") if n % 2 == remainder and n > 20)
        put_document(connection, seq, change(document_of(connection, seq)))
    assert first_place(checked(victim)) == f"seq {seq}"


COLUMN_CHANGES = {
    "id": "id = x'00000000000000000000000000000000'",
    "kind": "kind = 'call.started'",
    "run": "run = 'other'",
    "no run": "run = NULL",
    "trial": "trial = 'q9#9@s9'",
    "no trial": "trial = NULL",
    "link": "link = 4711",
    "no link": "link = NULL",
    "a node changed": "nodes = CAST(x'00' || substr(nodes, 2) AS BLOB)",
    "a node missing": "nodes = substr(nodes, 1, length(nodes) - 32)",
    "a node too many": "nodes = CAST(nodes || zeroblob(32) AS BLOB)",
    "nodes turned": "nodes = CAST(substr(nodes, 33) || substr(nodes, 1, 32) AS BLOB)",
}


@pytest.mark.parametrize("change", COLUMN_CHANGES.values(), ids=COLUMN_CHANGES)
def test_a_changed_column_is_named(victim: Path, change: str) -> None:
    """Every column is recomputed from the document; the event whose column lies is named."""
    with tampering(victim) as connection:
        seq = next(n for n in seqs_of(connection, "trial.finished") if n % 4 == 0)
        connection.execute(f"UPDATE event SET {change} WHERE seq = {seq}")  # noqa: S608 - ours
    assert first_place(checked(victim)) == f"seq {seq}"


def deleted(connection: Connection) -> int:
    """Take an event out of the middle."""
    connection.execute("DELETE FROM event WHERE seq = 50")
    return 50


def deleted_and_moved_up(connection: Connection) -> int:
    """Take an event out and close the gap: the break lies between 49 and 50."""
    connection.execute("DELETE FROM event WHERE seq = 50")
    for seq in range(51, LAST + 1):
        connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (seq - 1, seq))
    return 49


def exchanged(connection: Connection) -> int:
    """Let two events change places, rows and all."""
    for old, new in ((50, -1), (51, 50), (-1, 51)):
        connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (new, old))
    return 50


def inserted(connection: Connection) -> int:
    """Push an event into the middle that follows the one before it."""
    for seq in range(LAST, 49, -1):
        connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (seq + 1, seq))
    forged = document_of(connection, 51)
    forged.update(seq=50, id="ab" * 16)
    insert(connection, forged, rfc8785.dumps(forged), nodes_of(connection, forged))
    return 50


def appended(connection: Connection) -> int:
    """Put an event after the last that does not follow it."""
    forged = document_of(connection, LAST)
    forged.update(seq=LAST + 1, id="ab" * 16, link=None, prev="0" * 64)
    insert(connection, forged, rfc8785.dumps(forged), [])
    return LAST + 1


def nodes_of(connection: Connection, document: Document) -> list[tuple[int, int, bytes]]:
    """Return the nodes that a document finishes at its place."""
    frontier = Frontier(0, [])
    rows = connection.execute(
        "SELECT doc FROM event WHERE seq < ? ORDER BY seq", (document["seq"],)
    ).fetchall()
    for row in rows:
        frontier.append(leaf_hash(row[0].encode()))
    return frontier.append(leaf_hash(rfc8785.dumps(document)))


@pytest.mark.parametrize("attack", [deleted, deleted_and_moved_up, exchanged, inserted, appended])
def test_a_changed_order_is_named(victim: Path, attack: Callable[[Connection], int]) -> None:
    """Removed, moved and inserted events break the chain where it happened."""
    with tampering(victim) as connection:
        expected = attack(connection)
    assert first_place(checked(victim)) == f"seq {expected}"


def test_an_event_before_the_first_is_named(victim: Path) -> None:
    """A row that no reader would ever see is still found, since look-ups by id would find it."""
    with tampering(victim) as connection:
        forged = document_of(connection, LAST)
        forged.update(seq=-5, id="ab" * 16)
        insert(connection, forged, rfc8785.dumps(forged), [])
    assert first_place(checked(victim)) == "seq -5"


def test_a_row_of_another_ledger_is_named(victim: Path, tmp_path: Path) -> None:
    """An event that another ledger holds at the same place does not pass here."""
    other = tmp_path / "other"
    other.mkdir()
    with empty_ledger(other, world=tools(other, seed=8)) as ledger:
        for number in range(60):
            ledger.append(note(f"{number}"))
        document = ledger.read(50).document
        row = next(row for row in ledger.store.rows(after=49, upto=50))
    with tampering(victim) as connection:
        connection.execute("DELETE FROM event WHERE seq = 50")
        connection.execute(
            "INSERT INTO event (seq, id, kind, nodes, doc) VALUES (50, ?, ?, ?, ?)",
            (row.id, row.kind, row.nodes, document.decode()),
        )
    found = checked(victim)
    assert first_place(found) == "seq 50"
    assert "belongs to ledger" in found.findings[0].what


def test_a_forged_link_is_named(victim: Path) -> None:
    """A run's chain of links is checked apart from the log, whatever else was made consistent."""
    forged = 0

    def unlink(documents: list[Document]) -> list[Document]:
        nonlocal forged
        linked = [document for document in documents if document["link"]]
        linked[30]["link"]["prev"] = "ab" * 32
        forged = linked[30]["seq"]
        return documents

    rewrite(victim, unlink, relink=False)
    found = checked(victim)
    assert first_place(found) == f"seq {forged}"
    assert f"link 31 of run {RUN} does not follow link 30" in found.findings[0].what


def without(kind: str, place: int = 0) -> Callable[[list[Document]], list[Document]]:
    """Return a change of history that leaves out one event of a kind."""

    def change(documents: list[Document]) -> list[Document]:
        seq = [document["seq"] for document in documents if document["kind"] == kind][place]
        return [document for document in documents if document["seq"] != seq]

    return change


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("call.finished", "calls run fast-01 complete, but call c1 of trial q1#1@s1"),
        ("trial.finished", "calls run fast-01 complete, but trial q1#1@s1"),
        ("trial.started", "ends a trial that is not open"),
        ("call.started", "ends call c1, which is not open"),
    ],
)
def test_a_rewritten_history_still_has_to_make_sense(victim: Path, kind: str, what: str) -> None:
    """Every call and trial of a complete run begins and ends, whoever wrote the history."""
    rewrite(victim, without(kind))
    found = checked(victim)
    assert [finding.what for finding in found.findings if what in finding.what]


@pytest.mark.parametrize("kind", ["judgment.recorded", "failure.occurred", "failure.surfaced"])
def test_a_suppressed_event_of_a_run_is_named(victim: Path, kind: str) -> None:
    """Leaving out one linked event breaks the links, though log and tree were made consistent."""
    with tampering(victim) as connection:
        taken = seqs_of(connection, kind)[1]
        linked = [n for n in range(taken + 1, LAST) if document_of(connection, n)["link"]]
    rewrite(victim, without(kind, 1), relink=False)
    found = checked(victim)
    assert first_place(found) == f"seq {linked[0] - 1}"
    assert "does not follow link" in found.findings[0].what


def test_a_history_of_somebody_elses_making_is_read_without_harm(victim: Path) -> None:
    """Commitments and blobs that are not what they should be are findings, not crashes."""

    def nonsense(documents: list[Document]) -> list[Document]:
        for document in documents:
            if document["kind"] == "dataset.registered":
                document["data"]["commitments"] = document["data"]["questions"]
                document["data"]["canary"] = "no hash"
            if document["kind"] == "rubric.frozen":
                document["data"]["document"]["blob"] = "ab"
        return documents

    rewrite(victim, nonsense)
    text = "\n".join(map(str, checked(victim).findings))
    assert "seq 2: its commitments cannot be read" in text
    assert "seq 2: data.canary: not acceptable" in text
    assert "seq 2: names a blob 'no hash', which is no hash" in text
    assert "seq 3: names a blob 'ab', which is no hash" in text


@pytest.mark.parametrize("name", ["at", "recorded_at"])
@pytest.mark.parametrize("time", ["yesterday", "2026-02-31T12:00:00.000000Z", "2026-10-01T12:00Z"])
def test_a_history_with_a_time_that_is_none(victim: Path, name: str, time: str) -> None:
    """A time that no clock shows is found in an otherwise consistent history."""

    def moved(documents: list[Document]) -> list[Document]:
        documents[6][name] = time
        return documents

    rewrite(victim, moved)
    text = "\n".join(map(str, checked(victim).findings))
    assert f"seq 7: {name} is '{time}', not a time in UTC with six digits" in text
    assert "seq 8" not in text


def test_a_history_without_a_link_or_with_one_too_many(victim: Path) -> None:
    """Kinds that can change a score carry a link, others do not."""

    def misplaced(documents: list[Document]) -> list[Document]:
        for document in documents:
            if document["kind"] == "run.opened":
                document["link"] = None
            elif document["kind"] == "note.added":
                document["link"] = {"n": 1, "prev": "0" * 64}
        return documents

    rewrite(victim, misplaced, relink=False)
    text = "\n".join(map(str, checked(victim).findings))
    assert "seq 5: run.opened lacks a link" in text
    assert f"seq {LAST}: note.added has a link" in text


def test_no_event_at_all(victim: Path) -> None:
    """A file without events is refused at opening, and named by a reader that had it open."""
    with Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger:
        with tampering(victim) as connection:
            connection.execute("DELETE FROM event")
        found = ledger.verify()
    assert "event: no events, not even ledger.opened" in map(str, found.findings)
    with pytest.raises(VerificationError, match="its creation was interrupted"):
        checked(victim)


def test_the_first_event_removed(victim: Path) -> None:
    """Without its first event a ledger has no name; what is left is not thrown away."""
    with tampering(victim) as connection:
        connection.execute("DELETE FROM event WHERE seq = 1")
    with pytest.raises(VerificationError, match="seq 1 is missing, seq 128 is there") as caught:
        checked(victim)
    assert caught.value.hint == "put back a copy of the file"


def test_the_first_event_damaged(victim: Path) -> None:
    """A first event that cannot be read is named at opening."""
    with tampering(victim) as connection:
        put_document(connection, 1, "{")
    with pytest.raises(VerificationError, match="seq 1: stored document is not an event"):
        checked(victim)


def test_the_first_event_changed(victim: Path) -> None:
    """A first event that names another program is found by the second."""
    with tampering(victim) as connection:
        document = document_of(connection, 1)
        document["data"]["created_by"] = "another program"
        put_document(connection, 1, document)
    assert first_place(checked(victim)) == "seq 1"
