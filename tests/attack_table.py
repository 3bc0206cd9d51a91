"""Attacks on a ledger in one table: what somebody does, and which of four looks finds it.

The looks: `verify` of the file alone, as a stranger; the head pin of the one who appended; a note
that somebody else kept; a policy that names whose signatures there must be. A look that is not
named finds nothing, which is tested as well wherever `verify` alone finds nothing.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import rfc8785

from attack_cases import (
    Document,
    document_of,
    insert,
    put_document,
    raw,
    rewrite,
    seqs_of,
    set_schema,
    tampering,
    without_types,
)
from ledger_cases import PERSON, empty_ledger, note, opened, sample_run
from signing_cases import (
    OWNER,
    STRANGER,
    kept_heads,
    notes_of,
    put_head,
    resigned,
    signed_anew,
    signing_tools,
)
from trial_ledger.anchoring import rotate_key, sign_head
from trial_ledger.book import Ledger
from trial_ledger.goldfile import gold_path
from trial_ledger.heads import PublicKey, Signer, head_text, origin_of, signed_note
from trial_ledger.merkle import root_at
from trial_ledger.signing import heads_folder
from trial_ledger.submission import Submission

Act = Callable[[Path], None]

PLACES = {
    "A_CONTENT": "(SELECT content FROM blob WHERE hash = A_TEXT)",
    "A_TEXT": "(SELECT hash FROM blob WHERE salt IS NOT NULL ORDER BY hash LIMIT 1)",
    "A_VERDICT": "(SELECT seq FROM event WHERE kind = 'judgment.recorded' ORDER BY seq LIMIT 1)",
}
"""Word in a statement below → what stands for it."""

SIGNED = 115
"""Events under the newest signed head of the victim, of 128."""


class Attack(NamedTuple):
    """One row."""

    name: str
    finders: str
    """Which looks find it: of verify, pin, note, policy; `nothing` where none does."""
    says: str
    """What one of the findings says; empty where there is none."""
    act: Act
    """What is done to the file."""


def sql(statement: str, *, gold: bool = False) -> Act:
    """Return the execution of statements behind the triggers' back."""

    def act(path: Path) -> None:
        with tampering(gold_path(path) if gold else path) as connection:
            connection.executescript(placed(statement))

    return act


def placed(statement: str) -> str:
    """Return a statement with what stands for the words in it."""
    for word, place in PLACES.items():
        statement = statement.replace(word, place)
    return statement


def open_sql(statement: str) -> Act:
    """Return the execution of statements about the schema, which stay done."""

    def act(path: Path) -> None:
        connection = raw(path)
        connection.executescript(statement)
        connection.close()

    return act


def untyped(statement: str) -> Act:
    """Return the execution of a statement that the types of the tables forbid."""

    def act(path: Path) -> None:
        with without_types(path) as connection:
            connection.execute(statement)

    return act


def edit(change: Callable[[Document], Document | str], *, kind: str = "judgment.recorded") -> Act:
    """Return a change of one document and of nothing else."""

    def act(path: Path) -> None:
        with tampering(path) as connection:
            seq = seqs_of(connection, kind)[1]
            put_document(connection, seq, change(document_of(connection, seq)))

    return act


def spelled(old: str, new: str) -> Callable[[Document], str]:
    """Return another spelling of a document."""
    return lambda document: rfc8785.dumps(document).decode().replace(old, new, 1)


def better(documents: list[Document]) -> list[Document]:
    """Make wrong answers right."""
    for document in documents:
        if document["data"].get("verdict") == "incorrect":
            document["data"]["verdict"] = "correct"
    return documents


def without_trouble(documents: list[Document]) -> list[Document]:
    """Leave out that a failure was shown, which nothing else refers to."""
    gone = next(each for each in documents if each["kind"] == "failure.surfaced")
    return [each for each in documents if each is not gone]


def without_an_end(documents: list[Document]) -> list[Document]:
    """Leave out the end of a call."""
    gone = next(each for each in documents if each["kind"] == "call.finished")
    return [each for each in documents if each is not gone]


def swapped(path: Path) -> None:
    """Let two events change places."""
    with tampering(path) as connection:
        for old, new in ((50, -1), (51, 50), (-1, 51)):
            connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (new, old))


def pushed_in(path: Path) -> None:
    """Push an event into the middle."""
    with tampering(path) as connection:
        forged = document_of(connection, 50)
        for seq in range(128, 49, -1):
            connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (seq + 1, seq))
        forged.update(id="ab" * 16)
        insert(connection, forged, rfc8785.dumps(forged), [])


def closed_gap(path: Path) -> None:
    """Take an event out and move the others up."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM event WHERE seq = 50")
        for seq in range(51, 129):
            connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (seq - 1, seq))


def forged_end(path: Path) -> None:
    """Put an event after the last that does not follow it."""
    with tampering(path) as connection:
        forged = document_of(connection, 128)
        forged.update(seq=129, id="ab" * 16, link=None, prev="0" * 64)
        insert(connection, forged, rfc8785.dumps(forged), [])


def hidden_start(path: Path) -> None:
    """Put an event before the first, where no reader looks."""
    with tampering(path) as connection:
        forged = document_of(connection, 128)
        forged.update(seq=-5, id="ab" * 16)
        insert(connection, forged, rfc8785.dumps(forged), [])


def other_ledger(path: Path, signer: Signer | None = OWNER) -> Path:
    """Make another ledger of the same owner; return its file."""
    folder = path.parent / "other"
    folder.mkdir()
    with empty_ledger(folder, world=signing_tools(folder, signer, seed=21)) as ledger:
        for number in range(127):
            ledger.append(note(f"{number}"))
        if signer is not None:
            sign_head(ledger)
        return ledger.store.path


def transplanted_event(path: Path) -> None:
    """Put the event of another ledger at the same place."""
    with Ledger.open(other_ledger(path), tools=signing_tools(path.parent)) as ledger:
        row = next(row for row in ledger.store.rows(after=49, upto=50))
    with tampering(path) as connection:
        connection.execute("DELETE FROM event WHERE seq = 50")
        connection.execute(
            "INSERT INTO event (seq, id, kind, nodes, doc) VALUES (50, ?, ?, ?, ?)",
            (row.id, row.kind, row.nodes, row.document.decode()),
        )


def transplanted_head(path: Path) -> None:
    """Put the signed head of another ledger of the same owner in."""
    (note_,) = kept_heads(other_ledger(path)).values()
    put_head(path, 128, note_)


def transplanted_note(path: Path) -> None:
    """Put the note of another ledger in the place of one of this one."""
    (note_,) = kept_heads(other_ledger(path)).values()
    notes_of(path)[-1].write_text(note_, encoding="utf-8")


def replaced_whole(path: Path, signer: Signer | None = OWNER) -> None:
    """Put another ledger of the same name in this one's place."""
    other = other_ledger(path, signer)
    for old in notes_of(path):
        old.unlink()
    for name in (path, gold_path(path)):
        name.write_bytes((other.parent / name.name).read_bytes())
    for new in notes_of(other):
        (heads_folder(path) / new.name).write_bytes(new.read_bytes())


def without_heads(path: Path, *, beyond: int = 0) -> None:
    """Take away what was signed of more than so many events, in the file and beside it."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM head WHERE size > ?", (beyond,))
    for file in notes_of(path):
        if int(file.stem.split("-")[1]) > beyond:
            file.unlink()


def cut(last: int, *, clean: bool) -> Act:
    """Return taking every event after one away, and if so the heads that speak of them."""

    def act(path: Path) -> None:
        with tampering(path) as connection:
            connection.execute("DELETE FROM event WHERE seq > ?", (last,))
        if clean:
            without_heads(path, beyond=last)

    return act


def other_present(path: Path) -> None:
    """Go back to the frozen documents and run the trials again, signed by the owner's key."""
    cut(4, clean=True)(path)
    world = signing_tools(path.parent, OWNER, seed=33)
    with Ledger.open(path, write=True, tools=world) as ledger:
        sample_run(ledger)
        for number in range(13):
            ledger.append(note(f"{number}"))


def rewritten(
    change: Callable[[list[Document]], list[Document]],
    *,
    heads: str,
    relink: bool = True,
) -> Act:
    """Return writing the whole history anew.

    Args:
        change: from the documents to others.
        heads: `kept`, `gone`, or `signed` by the owner's key.
        relink: whether the links of the runs are made consistent as well.
    """

    def act(path: Path) -> None:
        rewrite(path, change, relink=relink)
        if heads == "gone":
            without_heads(path)
        elif heads == "signed":
            resigned(path, OWNER)

    return act


def under_another_key(path: Path) -> None:
    """Write the history anew under a key of one's own, from the first event on."""
    with Ledger.open(path, tools=signing_tools(path.parent)) as ledger:
        key = PublicKey(name=origin_of(ledger.id), key=STRANGER.key)

    def change(documents: list[Document]) -> list[Document]:
        documents[0]["data"]["public_keys"] = [str(key)]
        return better(documents)

    rewrite(path, change)
    resigned(path, STRANGER)


def taken_over(path: Path) -> None:
    """Hand the ledger over to a key of one's own, without the key before, and go on."""
    with Ledger.open(path, write=True, tools=signing_tools(path.parent, None, seed=9)) as ledger:
        rotate_key(ledger, STRANGER, actor=PERSON)
        for number in range(30):
            ledger.append(note(f"{number}"))


def rotated_in_the_past(path: Path) -> None:
    """Write a handing over into the log that names another key than the present one."""

    def change(documents: list[Document]) -> list[Document]:
        last = documents[-1]
        keys = {"old_public_key": "nobody", "new_public_key": "mine"}
        return [*documents, {**last, "kind": "key.rotated", "data": keys, "id": "ab" * 16,
                             "link": None, "run": None, "trial": None}]  # fmt: skip

    rewrite(path, change)


def stripped(path: Path) -> None:
    """Replace the owner's signature by a stranger's."""
    put_head(path, SIGNED, signed_anew(path, SIGNED, STRANGER))


def misnamed(path: Path) -> None:
    """Sign with a stranger's key under the owner's name and key id."""
    with Ledger.open(path, tools=signing_tools(path.parent)) as ledger:
        origin, root = origin_of(ledger.id), root_at(SIGNED, ledger.store.node)
    forger = Signer(key=OWNER.key, sign=STRANGER.sign)
    put_head(path, SIGNED, signed_note(head_text(origin, SIGNED, root), forger, name=origin))


def promised(path: Path) -> None:
    """Keep a head, signed with the key, of events that are not there."""
    with Ledger.open(path, tools=signing_tools(path.parent)) as ledger:
        text = head_text(origin_of(ledger.id), 200, b"\x07" * 32)
        origin = origin_of(ledger.id)
    put_head(path, 200, signed_note(text, OWNER, name=origin))


def moved_head(path: Path) -> None:
    """Keep a good head under another size."""
    put_head(path, 100, kept_heads(path)[SIGNED])


def altered_note(path: Path) -> None:
    """Change one digit in a note beside the ledger."""
    file = notes_of(path)[-1]
    text = file.read_text("utf-8")
    file.write_text(text.replace(f"\n{SIGNED}\n", f"\n{SIGNED - 1}\n"), encoding="utf-8")


def emptied_note(path: Path) -> None:
    """Leave nothing in a note beside the ledger."""
    notes_of(path)[-1].write_bytes(b"")


def lied(path: Path) -> None:
    """Record by the rules what never happened."""
    with Ledger.open(path, write=True, tools=signing_tools(path.parent, seed=9)) as ledger:
        ledger.append(opened("fast-07", reason="a run that nobody executed", entry="appended"))


def unspoken(path: Path) -> None:
    """Never record a run that went badly: the file is as it was."""
    assert path.exists()


def exchanged_gold(path: Path) -> None:
    """Give two gold texts each other's bytes."""
    with tampering(gold_path(path)) as connection:
        rows = connection.execute(
            "SELECT hash, content FROM blob WHERE content NOT NULL ORDER BY content LIMIT 2"
        ).fetchall()
        for (name, _), (_, content) in zip(rows, reversed(rows), strict=True):
            connection.execute("UPDATE blob SET content = ? WHERE hash = ?", (content, name))


def erased_quietly(path: Path) -> None:
    """Erase a text, with its content, without saying so."""
    with tampering(path) as connection:
        connection.execute(
            placed("UPDATE blob SET salt = NULL, content = NULL WHERE hash = A_TEXT")
        )
        connection.execute(
            "DELETE FROM content WHERE id NOT IN (SELECT content FROM blob WHERE content NOT NULL)"
        )


def redacted_another(path: Path) -> None:
    """Announce the redaction of one text and erase another."""
    with tampering(path) as connection:
        name = connection.execute(
            "SELECT hash FROM blob WHERE salt NOT NULL ORDER BY hash DESC LIMIT 1"
        ).fetchone()[0]
    with Ledger.open(path, write=True, tools=signing_tools(path.parent, seed=9)) as ledger:
        data = {"blob": name.hex(), "reason": "asked to", "authority": "Ada"}
        ledger.append(Submission(kind="blob.redacted", data=data, actor=PERSON))
    erased_quietly(path)


def unstrict(path: Path) -> None:
    """Take STRICT out of a table's definition."""
    connection = raw(path)
    row = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'event'").fetchone()
    set_schema(connection, {"event": row[0].replace(" STRICT", "")})
    connection.close()


ATTACKS = (
    # One event
    Attack("a score changed", "verify", "tree nodes", edit(spelled('"score":"1"', '"score":"0"'))),
    Attack("a space put in", "verify", "not canonical", edit(spelled('"kind":', '"kind": '))),
    Attack("a key twice, the good one last", "verify", "seq",
           edit(spelled('{"actor"', '{"actor":{"role":"human"},"actor"'))),
    Attack("a number written as a float", "verify", "seq", edit(spelled('"v":1', '"v":1.0'))),
    Attack("an unknown field", "verify", "seq", edit(lambda document: {**document, "more": 1})),
    Attack("another person", "verify", "seq",
           edit(lambda document: {**document, "actor": {"role": "human", "name": "Eve"}})),
    Attack("an earlier date", "verify", "seq",
           edit(lambda document: {**document, "recorded_at": "2020-01-01T00:00:00.000000Z"})),
    Attack("a version of the future", "verify", "seq", edit(lambda document: {**document, "v": 2})),
    Attack("an event emptied", "verify", "seq", edit(lambda _: "")),
    Attack("column kind", "verify", "column kind",
           sql("UPDATE event SET kind = 'note.added' WHERE seq = A_VERDICT")),
    Attack("column run", "verify", "column run", sql("UPDATE event SET run = 'x' WHERE seq = 60")),
    Attack("column trial", "verify", "column trial",
           sql("UPDATE event SET trial = 'q9#9@s9' WHERE seq = A_VERDICT")),
    Attack("column link", "verify", "column link",
           sql("UPDATE event SET link = 4711 WHERE seq = A_VERDICT")),
    Attack("column id", "verify", "column id",
           sql("UPDATE event SET id = zeroblob(16) WHERE seq = 60")),
    Attack("tree nodes exchanged", "verify", "tree nodes",
           sql("UPDATE event SET nodes = zeroblob(64) WHERE seq = 60")),
    Attack("a document stored as bytes", "verify", "database",
           untyped("UPDATE event SET doc = CAST(doc AS BLOB) WHERE seq = 60")),
    Attack("a kind stored as bytes", "verify", "seq 60",
           untyped("UPDATE event SET kind = CAST(kind AS BLOB) WHERE seq = 60")),
    Attack("REPLACE of an event", "verify", "seq 60",
           sql("REPLACE INTO event SELECT 60, id, kind, run, trial, NULL, nodes, doc FROM event"
               " WHERE seq = 61")),
    # Order
    Attack("an event taken out", "verify", "seq 50", sql("DELETE FROM event WHERE seq = 50")),
    Attack("an event taken out, the gap closed", "verify", "seq 49", closed_gap),
    Attack("two events exchanged", "verify", "seq 50", swapped),
    Attack("an event pushed in", "verify", "seq 5", pushed_in),
    Attack("an event after the last that does not follow", "verify", "seq 129", forged_end),
    Attack("an event before the first", "verify", "seq -5", hidden_start),
    Attack("the first event taken out", "verify", "seq 1 is missing",
           sql("DELETE FROM event WHERE seq = 1")),
    Attack("an event of another ledger", "verify", "belongs to ledger", transplanted_event),
    # Schema
    Attack("a trigger dropped", "verify", "trigger event_no_update missing",
           open_sql("DROP TRIGGER event_no_update")),
    Attack("a trigger weakened", "verify", "trigger head_no_delete changed",
           open_sql("DROP TRIGGER head_no_delete; CREATE TRIGGER head_no_delete BEFORE DELETE ON"
                    " head WHEN 0 BEGIN SELECT 1; END")),
    Attack("a table added", "verify", "foreign table", open_sql("CREATE TABLE extra (a)")),
    Attack("a column added", "verify", "table event changed",
           open_sql("ALTER TABLE event ADD COLUMN more TEXT")),
    Attack("types no longer strict", "verify", "table event changed", unstrict),
    Attack("the table of heads dropped", "verify", "table head missing",
           open_sql("DROP TABLE head")),
    Attack("an index exchanged", "verify", "index event_scope changed",
           open_sql("DROP INDEX event_scope; CREATE INDEX event_scope ON event (run)")),
    # Texts
    Attack("a text changed", "verify", "not what was written",
           sql("UPDATE content SET data = zeroblob(length(data)) WHERE id = A_CONTENT")),
    Attack("REPLACE of a text", "verify", "not what was written",
           sql("REPLACE INTO content SELECT id, zeroblob(32), 1, 'raw', x'61' FROM content"
               " WHERE id = A_CONTENT")),
    Attack("a salt exchanged", "verify", "not what was written",
           sql("UPDATE blob SET salt = zeroblob(32) WHERE hash = A_TEXT")),
    Attack("REPLACE of a name of a text", "verify", "not what was written",
           sql("REPLACE INTO blob SELECT hash, zeroblob(32), content FROM blob"
               " WHERE hash = A_TEXT")),
    Attack("a text taken away", "verify", "is missing from the ledger",
           sql("DELETE FROM blob WHERE hash = A_TEXT")),
    Attack("a text erased without a word", "verify", "erased without a blob.redacted",
           erased_quietly),
    Attack("one redaction announced, another text erased", "verify",
           "erased without a blob.redacted", redacted_another),
    Attack("gold texts exchanged", "verify", "gold blob", exchanged_gold),
    Attack("gold taken away", "verify", "is missing from the gold file",
           sql("DELETE FROM blob", gold=True)),
    Attack("REPLACE of gold", "verify", "gold blob",
           sql("REPLACE INTO blob SELECT hash, salt, 1 FROM blob", gold=True)),
    # Signed heads
    Attack("the signature stripped, a stranger's put in", "verify", "no signature of a known key",
           stripped),
    Attack("a stranger's signature under the owner's name", "verify", "is not its own", misnamed),
    Attack("REPLACE of a head by nonsense", "verify", "not a signed head",
           lambda path: put_head(path, SIGNED, "nothing")),
    Attack("a head kept under another size", "verify", "is kept as the head of 100 events",
           moved_head),
    Attack("a head of another ledger", "verify", "is about trial-ledger/", transplanted_head),
    Attack("a head of events that are not there", "verify", "speaks of 200 events", promised),
    Attack("a head taken out of the file", "verify", "it was taken out",
           sql("DELETE FROM head WHERE size = 115")),
    Attack("a note in heads/ altered", "verify", "is not its own", altered_note),
    Attack("a note in heads/ emptied", "verify", "not a signed head", emptied_note),
    Attack("a note in heads/ of another ledger", "verify", "is about trial-ledger/",
           transplanted_note),
    Attack("every head and note taken away", "policy", "no head of this log", without_heads),
    Attack("handed over to a stranger's key, then 30 events", "policy", "events follow",
           taken_over),
    Attack("handed over by a key that is not the present one", "verify", "hands over",
           rotated_in_the_past),
    # History
    Attack("the unsigned tail cut", "pin", "the tail was cut", cut(120, clean=False)),
    Attack("cut below a signed head, the head left", "verify pin note policy", "the tail was cut",
           cut(100, clean=False)),
    Attack("cut below a signed head, the head taken away", "pin note policy", "the tail was cut",
           cut(100, clean=True)),
    Attack("rolled back to an old copy", "pin note", "the tail was cut", cut(4, clean=True)),
    Attack("forked: the trials run again, signed with the key", "pin note", "history",
           other_present),
    Attack("an event of a run left out, all but its links recomputed", "verify", "does not follow",
           rewritten(without_trouble, heads="gone", relink=False)),
    Attack("the end of a call left out, all recomputed", "verify", "complete",
           rewritten(without_an_end, heads="gone")),
    Attack("recomputed without the key, the heads left", "verify", "not those that were signed",
           rewritten(better, heads="kept")),
    Attack("recomputed without the key, the heads taken away", "pin note policy",
           "not those seen before", rewritten(better, heads="gone")),
    Attack("recomputed and signed with the key", "pin note", "not those seen before",
           rewritten(better, heads="signed")),
    Attack("a failure left out, recomputed and signed with the key", "pin note", "history",
           rewritten(without_trouble, heads="signed")),
    Attack("recomputed under another key from the first event on", "pin note policy",
           "not those seen before", under_another_key),
    Attack("another signed ledger in this one's place", "note policy", "is about trial-ledger/",
           replaced_whole),
    Attack("another unsigned ledger in this one's place", "note policy", "is about trial-ledger/",
           lambda path: replaced_whole(path, None)),
    Attack("a false event recorded by the rules", "nothing", "", lied),
    Attack("a run never recorded", "nothing", "", unspoken),
)  # fmt: skip


PAGE = Path(__file__).resolve().parents[1] / "docs" / "threat-model.md"
BEGIN, END = "<!-- attacks: from tests/attack_table.py -->", "<!-- end: attacks -->"
LOOKS = ("verify", "pin", "note", "policy")


def table_lines() -> list[str]:
    """Return the table for people."""
    lines = [
        "| attack | `verify` alone | head pin | note elsewhere | policy |",
        "|---|---|---|---|---|",
    ]
    for attack in ATTACKS:
        cells = ["found" if look in attack.finders.split() else "-" for look in LOOKS]
        if attack.finders == "verify":
            cells[1:] = ["", "", ""]
        lines.append("| " + " | ".join([attack.name, *cells]) + " |")
    return lines


def updated_page(text: str) -> str:
    """Return a page with the table that there is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, "", *table_lines(), "", END + after])


if __name__ == "__main__":
    PAGE.write_text(updated_page(PAGE.read_text("utf-8")), "utf-8")
