"""Attacks on the file as a whole: its schema, its tail, its history, and single bytes of it."""

import os
from pathlib import Path
from random import Random

import pytest

from agreement import checked
from attack_cases import (
    Document,
    content_of,
    document_of,
    first_place,
    put_document,
    raw,
    rewrite,
    tampering,
    without_types,
)
from ledger_cases import copied, note, small_ledger, tools
from trial_cli.verify import lines_of
from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError, VerificationError
from trial_ledger.goldfile import gold_path
from trial_ledger.sqlite import sqlite3

LAST = 128
FLIPS = 20_000 if os.environ.get("LEDGER_SOAK") == "1" else 120

SCHEMA_ATTACKS = {
    "trigger event_no_update missing": "DROP TRIGGER event_no_update",
    "trigger blob_only_erased missing": "DROP TRIGGER blob_only_erased",
    "index event_scope missing": "DROP INDEX event_scope",
    "table head missing": "DROP TABLE head",
    "foreign table extra": "CREATE TABLE extra (a)",
    "foreign view extra": "CREATE VIEW extra AS SELECT 1",
    "foreign index extra": "CREATE INDEX extra ON event (kind)",
    "foreign trigger extra": ("CREATE TRIGGER extra AFTER INSERT ON event BEGIN SELECT 1; END"),
    "trigger event_no_delete changed": (
        "DROP TRIGGER event_no_delete; CREATE TRIGGER event_no_delete BEFORE DELETE ON event"
        " WHEN OLD.seq < 5 BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END"
    ),
    "index event_link changed": (
        "DROP INDEX event_link; CREATE INDEX event_link ON event (run, link)"
    ),
    "table event changed": "ALTER TABLE event ADD COLUMN more TEXT",
}


@pytest.mark.parametrize(("what", "statements"), SCHEMA_ATTACKS.items(), ids=SCHEMA_ATTACKS)
def test_a_changed_schema_object_is_named(victim: Path, what: str, statements: str) -> None:
    """Every table, index, trigger and view is compared, in the ledger and in the gold file."""
    connection = raw(victim)
    connection.executescript(statements)
    connection.close()
    found = checked(victim)
    assert first_place(found) == "schema"
    assert what in [finding.what for finding in found.findings]


def test_a_changed_schema_of_the_gold_file_is_named(victim: Path) -> None:
    """The gold file's triggers are compared too."""
    connection = raw(gold_path(victim))
    connection.execute("DROP TRIGGER blob_only_erased")
    connection.close()
    found = checked(victim)
    assert [str(finding) for finding in found.findings] == [
        "gold schema: trigger blob_only_erased missing"
    ]


def test_what_is_wrong_with_an_event_comes_first(victim: Path) -> None:
    """Where schema and events were both changed, the first bad seq is named first."""
    connection = raw(victim)
    connection.execute("DROP TRIGGER event_no_update")
    put_document(connection, 60, document_of(connection, 61))
    connection.close()
    found = checked(victim)
    assert first_place(found) == "seq 60"
    assert [finding.place for finding in found.findings if finding.place] == ["schema"]


@pytest.mark.parametrize(
    "change",
    [
        "doc = CAST(doc AS BLOB)",
        "kind = CAST(kind AS BLOB)",
        "id = CAST('0123456789abcdef' AS TEXT)",
        "nodes = NULL",
        "doc = NULL",
        "link = 1.5",
        "id = NULL",
    ],
)
def test_another_type_in_a_column_is_found(victim: Path, change: str) -> None:
    """Types that STRICT forbids are found though the schema was put back as it was."""
    with without_types(victim) as connection:
        connection.execute(f"UPDATE event SET {change} WHERE seq = 60")  # noqa: S608 - ours
    found = checked(victim)
    assert first_place(found) in {"seq 60", "database"}
    assert not [finding for finding in found.findings if finding.place == "schema"]


# The tail, and the history as a whole


def cut(path: Path, last: int) -> None:
    """Take every event after one away."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM event WHERE seq > ?", (last,))


@pytest.mark.parametrize("last", [LAST - 1, LAST - 2, 64, 5])
def test_a_cut_tail_is_found_by_the_pin_alone(honest: Path, victim: Path, last: int) -> None:
    """Who appended to the ledger sees that its tail is gone; the file itself cannot show it."""
    cut(victim, last)
    seen = checked(victim, pins=honest.parent)
    assert first_place(seen) == "head pin"
    assert seen.pin == f"behind: {last} events, {LAST} were seen"
    assert "the tail was cut or an older copy put back" in seen.findings[-1].what


def test_what_only_a_pin_shows_is_said_where_there_is_none(victim: Path) -> None:
    """Without a pin the report says that a cut tail would not be seen."""
    cut(victim, 4)
    found = checked(victim)
    assert (found.is_intact, found.size, found.pin) == (True, 4, "not kept")
    assert "not seen  a cut tail, without a head pin or a signed head kept elsewhere;" in lines_of(
        found
    )


def test_an_older_copy_is_found_and_refused(tmp_path: Path) -> None:
    """A file put back from yesterday is behind its pin: verify says so and append refuses."""
    with small_ledger(tmp_path) as ledger:
        path = ledger.store.path
        ledger.append(note("one"))
    old = copied(path, tmp_path / "yesterday")
    with Ledger.open(path, write=True, tools=tools(tmp_path, seed=8)) as ledger:
        ledger.append(note("two"))
    copied(old, tmp_path)
    assert first_place(checked(path, pins=tmp_path)) == "head pin"
    with (
        Ledger.open(path, write=True, tools=tools(tmp_path, seed=9)) as ledger,
        pytest.raises(VerificationError, match="is behind its head pin: 5 events, 6 were seen"),
    ):
        ledger.append(note("three"))


def test_a_fork_of_the_same_length_is_found_and_refused(tmp_path: Path) -> None:
    """Another past of the same length has another root than the pin saw."""
    with small_ledger(tmp_path) as ledger:
        path = ledger.store.path
    old = copied(path, tmp_path / "fork")
    with Ledger.open(path, write=True, tools=tools(tmp_path, seed=8)) as ledger:
        ledger.append(note("one"))
    with Ledger.open(old, write=True, tools=tools(tmp_path / "fork", seed=9)) as ledger:
        ledger.append(note("another"))
    copied(old, tmp_path)
    found = checked(path, pins=tmp_path)
    assert (first_place(found), found.pin) == ("head pin", "another past")
    with (
        Ledger.open(path, write=True, tools=tools(tmp_path, seed=10)) as ledger,
        pytest.raises(VerificationError, match="another past than its head pin saw at 5"),
    ):
        ledger.append(note("three"))


def better(documents: list[Document]) -> list[Document]:
    """Make a wrong answer right, as somebody might who wants a better score."""
    for document in documents:
        if document["data"].get("verdict") == "incorrect":
            document["data"]["verdict"] = "correct"
    return documents


def test_a_history_rewritten_as_a_whole_is_found_by_the_pin_alone(
    honest: Path, victim: Path
) -> None:
    """The owner of the file can make it consistent again; what was seen before gives it away."""
    rewrite(victim, better)
    seen = checked(victim, pins=honest.parent)
    assert (first_place(seen), seen.pin) == ("head pin", "another past")
    unseen = checked(victim)
    assert (unseen.is_intact, unseen.pin) == (True, "not kept")
    assert "a history rewritten as a whole by the owner" in "\n".join(lines_of(unseen))


def test_a_pin_that_cannot_be_read_is_a_finding(honest: Path, victim: Path, tmp_path: Path) -> None:
    """A damaged pin is not taken for none."""
    state = tmp_path / "state" / "trial-ledger"
    name = next((honest.parent / "state" / "heads").iterdir()).name
    heads = tmp_path / "state" / "heads"
    heads.mkdir(parents=True)
    (heads / name).write_bytes(b"nonsense")
    found = checked(victim, pins=tmp_path)
    assert (first_place(found), found.pin) == ("head pin", "unreadable")
    assert not state.exists()


# Single bytes


def little_ledger(folder: Path) -> Path:
    """Make a ledger small enough for every page of it to be hit."""
    with small_ledger(folder) as ledger:
        ledger.append(note("a"))
        ledger.append(note("b" * 300))
        return ledger.store.path


def outcome_of(path: Path) -> str:
    """Open and verify a damaged file; anything but an error of ours is a fault of ours."""
    try:
        found = checked(path)
    except LedgerError as error:
        return f"refused: {error.exit_code}"
    return "intact" if found.is_intact else "found"


@pytest.mark.soak
@pytest.mark.parametrize(("suffix", "flips"), [("", FLIPS), (".gold", FLIPS // 4)])
def test_no_changed_bit_goes_unnoticed(tmp_path: Path, suffix: str, flips: int) -> None:
    """Whatever bit is flipped, the content is the same, or the file is refused or found bad."""
    ledger = little_ledger(tmp_path)
    path = ledger.with_name(ledger.name + suffix)
    original, content = path.read_bytes(), content_of(path)
    seed = Random().randrange(10**9) if FLIPS > 1_000 else 20261001  # noqa: S311 - no secret
    chosen = Random(seed)  # noqa: S311 - repeatable on purpose
    written = [place for place, byte in enumerate(original) if byte]
    outcomes: dict[str, int] = {}
    for number in range(flips):
        damaged = bytearray(original)
        # Most of a small file is unused space, where a flip harms nothing.
        place = chosen.choice(written) if number % 4 else chosen.randrange(len(original))
        bit = chosen.randrange(8)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        outcome = outcome_of(ledger)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if outcome == "intact":
            assert content_of(path) == content, f"byte {place} bit {bit} (seed {seed})"
    assert outcomes["found"] > flips // 4
    assert outcomes["intact"] > 0
    assert set(outcomes) <= {"found", "intact", "refused: 2", "refused: 4", "refused: 7"}


@pytest.mark.parametrize("offset", [0, 16, 18, 24, 28, 44, 56, 60, 68, 92, 100, 101, 103, 105])
def test_header_fields_overwritten(tmp_path: Path, offset: int) -> None:
    """Nonsense in the file header is one clean error or finding, or changes nothing."""
    path = little_ledger(tmp_path)
    content = content_of(path)
    damaged = bytearray(path.read_bytes())
    damaged[offset : offset + 4] = b"\xff\xfe\xfd\xfc"
    path.write_bytes(damaged)
    assert outcome_of(path) != "intact" or content_of(path) == content


@pytest.mark.parametrize("length", [0, 1, 99, 512, 4096, 8192, -4096, -1])
def test_a_truncated_file_is_never_intact(tmp_path: Path, length: int) -> None:
    """A file that lost its end is refused or found to be damaged."""
    path = little_ledger(tmp_path)
    path.write_bytes(path.read_bytes()[:length])
    assert outcome_of(path) != "intact"


def test_the_triggers_stop_a_program_that_knows_nothing_of_us(victim: Path) -> None:
    """Update, delete and replace are refused on a plain connection with plain settings."""
    connection = raw(victim)
    row = connection.execute("SELECT * FROM event WHERE seq = 60").fetchone()
    for statement, values in (
        ("UPDATE event SET kind = 'x' WHERE seq = 60", ()),
        ("DELETE FROM event WHERE seq = 60", ()),
        ("INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row),
        ("REPLACE INTO event VALUES (129, ?, ?, ?, ?, ?, ?, ?)", row[1:]),
        ("INSERT INTO event VALUES (131, x'00', ?, ?, ?, ?, ?, ?)", row[2:]),
    ):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement, values)
    connection.close()
    assert checked(victim).is_intact
