"""Whatever is done to texts, their salts, the gold file and redactions is found and named."""

from pathlib import Path

import pytest

from agreement import checked
from attack_cases import document_of, raw, seqs_of, tampering
from ledger_cases import PERSON, RUN, tools
from trial_ledger.blobs import content_hash
from trial_ledger.book import Ledger
from trial_ledger.errors import VerificationError
from trial_ledger.events import AnswerSubmitted, BlobRef, JudgmentRecorded
from trial_ledger.goldfile import gold_path
from trial_ledger.sqlite import Connection, sqlite3
from trial_ledger.submission import Submission
from trial_ledger.verification import Verification


def answer_of(path: Path, seq: int) -> BlobRef:
    """Return the reference of the answer that an event submits."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        data = ledger.read(seq).event.data
        assert isinstance(data, AnswerSubmitted)
        assert data.answer is not None
        return data.answer


@pytest.fixture
def answer(victim: Path) -> BlobRef:
    """Return the reference of one answer in the ledger file."""
    with tampering(victim) as connection:
        seq = seqs_of(connection, "answer.submitted")[2]
    return answer_of(victim, seq)


def texts_of(found: Verification) -> list[str]:
    """Return the findings as lines."""
    return [str(finding) for finding in found.findings]


ITS_CONTENT = "(SELECT content FROM blob WHERE hash = :name)"

BLOB_ATTACKS = {
    "salt changed": (
        "UPDATE blob SET salt = zeroblob(32) WHERE hash = :name",
        "its bytes are not what was written",
    ),
    "salt taken away": (
        "UPDATE blob SET salt = NULL WHERE hash = :name",
        "its bytes are not what was written",
    ),
    "half erased, salt left": (
        "UPDATE blob SET content = NULL WHERE hash = :name",
        "is half erased: its salt is still there",
    ),
    "erased without a word": (
        "UPDATE blob SET content = NULL, salt = NULL WHERE hash = :name",
        "erased without a blob.redacted",
    ),
    "another content": (
        "UPDATE blob SET content = 1 WHERE hash = :name",
        "its bytes are not what was written",
    ),
    "a content that is none": (
        "UPDATE blob SET content = 4711 WHERE hash = :name",
        "has lost its content",
    ),
    "bytes changed": (
        "UPDATE content SET data = zeroblob(length(data)) WHERE id = ITS_CONTENT",
        "its bytes are not what was written",
    ),
    "bytes emptied": (
        "UPDATE content SET data = x'', bytes = 0 WHERE id = ITS_CONTENT",
        "its bytes are not what was written",
    ),
    "content deleted": (
        "DELETE FROM content WHERE id = ITS_CONTENT",
        "has lost its content",
    ),
    "said to be compressed": (
        "UPDATE content SET encoding = 'zstd' WHERE id = ITS_CONTENT",
        "stored content does not decompress",
    ),
}  # fmt: skip


def strike(connection: Connection, statement: str, name: bytes) -> None:
    """Execute a statement about the blob of a name, or about its content."""
    connection.execute(statement.replace("ITS_CONTENT", ITS_CONTENT), {"name": name})


@pytest.mark.parametrize(("attack", "what"), BLOB_ATTACKS.values(), ids=BLOB_ATTACKS)
def test_a_changed_text_is_named(victim: Path, answer: BlobRef, attack: str, what: str) -> None:
    """The blob is named whose bytes, salt or content are not what was written."""
    with tampering(victim) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        strike(connection, attack, bytes.fromhex(answer.blob))
    found = texts_of(checked(victim))
    assert [line for line in found if line.startswith(f"blob {answer.blob}: {what}")], found


CONTENT_ATTACKS = {
    "its digest": "UPDATE content SET hash = zeroblob(32) WHERE id = ITS_CONTENT",
    "its size": "UPDATE content SET bytes = bytes + 1 WHERE id = ITS_CONTENT",
}


@pytest.mark.parametrize("change", CONTENT_ATTACKS.values(), ids=CONTENT_ATTACKS)
def test_a_content_row_that_lies_about_itself_is_named(
    victim: Path, answer: BlobRef, change: str
) -> None:
    """The digest and size that stand beside some bytes are recomputed from them."""
    name = bytes.fromhex(answer.blob)
    with tampering(victim) as connection:
        row = connection.execute("SELECT content FROM blob WHERE hash = ?", (name,)).fetchone()
        strike(connection, change, name)
    expected = f"content {row[0]}: its hash or size is not that of its bytes"
    assert texts_of(checked(victim)) == [expected]


def test_a_text_removed_altogether_is_missed_at_its_event(victim: Path, answer: BlobRef) -> None:
    """A blob that an event names and nobody has is a finding at that event."""
    with tampering(victim) as connection:
        connection.execute("DELETE FROM blob WHERE hash = ?", (bytes.fromhex(answer.blob),))
        seq = seqs_of(connection, "answer.submitted")[2]
    found = checked(victim)
    assert found.findings[0].seq == seq
    assert f"blob {answer.blob[:32]}… is missing from the ledger" in found.findings[0].what
    assert [line for line in texts_of(found) if "no blob names it" in line]


def test_two_texts_exchanged_are_both_named(victim: Path) -> None:
    """Pointing two blobs at each other's content fits neither."""
    with tampering(victim) as connection:
        rows = connection.execute(
            "SELECT hash, content FROM blob WHERE salt IS NOT NULL ORDER BY hash LIMIT 2"
        ).fetchall()
        for (name, _), (_, content) in zip(rows, reversed(rows), strict=True):
            connection.execute("UPDATE blob SET content = ? WHERE hash = ?", (content, name))
    found = texts_of(checked(victim))
    for name, _ in rows:
        assert f"blob {name.hex()}: its bytes are not what was written" in found


def test_fast_leaves_the_bytes_unchecked_and_says_so(victim: Path, answer: BlobRef) -> None:
    """`--fast` does not look at bytes of blobs: the report says that it did not."""
    name = bytes.fromhex(answer.blob)
    with tampering(victim) as connection:
        strike(connection, "UPDATE content SET data = x'00' WHERE id = ITS_CONTENT", name)
    found = checked(victim, fast=True)
    assert (found.is_intact, found.blobs_checked) == (True, False)
    assert not checked(victim).is_intact


def test_a_blob_that_no_event_names_is_counted(victim: Path) -> None:
    """What an interrupted append could leave is counted, not called a fault."""
    with tampering(victim) as connection:
        connection.execute(
            "INSERT INTO content (hash, bytes, encoding, data) VALUES (?, 1, 'raw', x'61')",
            (content_hash(b"a"),),
        )
        row = connection.execute("SELECT max(id) FROM content").fetchone()
        connection.execute(
            "INSERT INTO blob (hash, salt, content) VALUES (?, NULL, ?)",
            (content_hash(b"a"), row[0]),
        )
    found = checked(victim)
    assert (found.is_intact, found.orphans) == (True, 1)


def test_c02_changed_gold_is_named(victim: Path) -> None:
    """A gold record is held to the commitment in the ledger; changing it is found."""
    gold = gold_path(victim)
    with tampering(gold) as connection:
        rows = connection.execute("SELECT hash, content FROM blob ORDER BY hash").fetchall()
        name, content = rows[0]
        connection.execute("UPDATE content SET data = zeroblob(9) WHERE id = ?", (content,))
    found = texts_of(checked(victim))
    assert [line for line in found if line.startswith(f"gold blob {name.hex()}: ")], found


def test_c02_gold_that_was_exchanged_with_its_salt_is_missed(victim: Path) -> None:
    """Another record under another salt has another commitment, which no event names."""
    gold = gold_path(victim)
    with tampering(victim) as connection:
        registered = document_of(connection, 2)
    canary = registered["data"]["canary"]
    with tampering(gold) as connection:
        connection.execute(
            "UPDATE blob SET hash = zeroblob(32), salt = zeroblob(32) WHERE hash = ?",
            (bytes.fromhex(canary),),
        )
    found = checked(victim)
    assert found.findings[0].seq == 2
    assert f"blob {canary[:32]}… is missing from the gold file" in found.findings[0].what


def test_an_empty_gold_file_misses_everything(victim: Path) -> None:
    """Every gold text and record is missed at the event that names it."""
    with tampering(gold_path(victim)) as connection:
        connection.execute("DELETE FROM blob")
    found = checked(victim)
    with Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger:
        graded = [
            stored.event.seq
            for stored in ledger.events()
            if isinstance(stored.event.data, JudgmentRecorded) and stored.event.data.reasoning
        ]
    missing = {finding.seq for finding in found.findings if "is missing" in finding.what}
    assert set(graded) < missing


def test_a_gold_file_that_is_none_is_refused(victim: Path) -> None:
    """A ledger file in the place of the gold file is told apart."""
    gold_path(victim).write_bytes(victim.read_bytes())
    with pytest.raises(Exception, match="is not a gold file"):
        checked(victim)


def redacted(victim: Path, name: bytes, *, announced: bool) -> None:
    """Erase a blob by hand, after a blob.redacted if it is announced."""
    if announced:
        with Ledger.open(victim, write=True, tools=tools(victim.parent, seed=9)) as ledger:
            data = {"blob": name.hex(), "reason": "asked to", "authority": "Ada"}
            ledger.append(Submission(kind="blob.redacted", data=data, actor=PERSON))
    connection = raw(victim)
    try:
        connection.execute("UPDATE blob SET salt = NULL, content = NULL WHERE hash = ?", (name,))
        connection.execute(
            "DELETE FROM content WHERE id NOT IN (SELECT content FROM blob WHERE content NOT NULL)"
        )
    finally:
        connection.close()


def test_c11_an_announced_redaction_is_a_state_of_its_own(victim: Path, answer: BlobRef) -> None:
    """After blob.redacted the bytes may go; the ledger verifies and says how many went."""
    redacted(victim, bytes.fromhex(answer.blob), announced=True)
    found = checked(victim)
    assert (found.is_intact, found.redacted, found.size) == (True, 1, 129)
    with Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger:
        assert ledger.blob(answer) is None


def test_c11_nothing_is_erased_before_it_is_announced(victim: Path, answer: BlobRef) -> None:
    """Without its blob.redacted the trigger refuses, whichever program asks."""
    with pytest.raises(sqlite3.IntegrityError, match=r"only be erased, after blob\.redacted"):
        redacted(victim, bytes.fromhex(answer.blob), announced=False)
    assert checked(victim).is_intact


def test_c11_redacting_one_blob_does_not_free_another(victim: Path, answer: BlobRef) -> None:
    """The announcement names one blob; the trigger lets nothing else go."""
    redacted(victim, bytes.fromhex(answer.blob), announced=True)
    with tampering(victim) as connection:
        seq = seqs_of(connection, "answer.submitted")[3]
    other = answer_of(victim, seq)
    with pytest.raises(sqlite3.IntegrityError, match="only be erased"):
        redacted(victim, bytes.fromhex(other.blob), announced=False)


def test_a_reader_refuses_a_text_that_is_not_what_was_written(
    victim: Path, answer: BlobRef
) -> None:
    """Reading checks bytes against the hash every time, not only when somebody verifies."""
    with tampering(victim) as connection:
        connection.execute(
            "UPDATE blob SET salt = zeroblob(32) WHERE hash = ?", (bytes.fromhex(answer.blob),)
        )
    with Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger:
        with pytest.raises(VerificationError, match="are not what was written"):
            ledger.blob(answer)
        run = next(ledger.events(run=RUN))
        assert run.event.kind == "run.opened"
