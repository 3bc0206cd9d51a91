"""The two short looks: what they check, and that they say what they leave out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from attack_cases import checked, put_document, raw, rewrite, seqs_of, tampering
from attack_table import better
from ledger_cases import PERSON, RUN, note, opened, sample_run, tools
from signing_cases import (
    OWNER,
    copied_with_heads,
    lines,
    policy_of,
    put_head,
    signed_ledger,
    signing_tools,
    vkey,
)
from trial_ledger import checking, tail_check
from trial_ledger.book import Ledger
from trial_ledger.errors import NotFoundError
from trial_ledger.goldfile import gold_path
from trial_ledger.submission import Submission
from trial_ledger.tail_check import verify_end, verify_since_head
from trial_ledger.verification import Verification, verify

LAST = 128


@pytest.fixture(scope="session")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger whose head of 115 of 128 is signed; its owner's pin lies beside it."""
    return signed_ledger(tmp_path_factory.mktemp("owned"))


@pytest.fixture
def book(owned: Path, tmp_path: Path) -> Path:
    """Return a copy to do something to."""
    return copied_with_heads(owned, tmp_path / "book")


def since(book: Path, *, pins: Path | None = None, policy: bool = True) -> Verification:
    """Check what came after the newest head that the owner's key signed, or the pin."""
    world = tools(book.parent if pins is None else pins, pins=pins is not None)
    asked = policy_of(vkey(book)) if policy else None
    with Ledger.open(book, tools=world) as ledger:
        return verify_since_head(ledger, policy=asked)


def at_the_end(book: Path, *, pins: Path | None = None) -> Verification:
    """Look at the end only."""
    world = tools(book.parent if pins is None else pins, pins=pins is not None)
    with Ledger.open(book, tools=world) as ledger:
        return verify_end(ledger)


def test_the_end_of_an_honest_log(owned: Path) -> None:
    """One event is looked at; root and size are those of the whole check."""
    whole = checked(owned)
    found = at_the_end(owned, pins=owned.parent)
    assert lines(found) == []
    assert (found.level, found.since, found.size, found.root) == ("open", 127, 128, whole.root)
    assert (found.pin, found.blobs_checked) == ("matches", False)


def test_since_a_signed_head(owned: Path) -> None:
    """The policy's head is taken at its word; what follows is checked with its texts."""
    found = since(owned)
    assert lines(found) == []
    assert (found.level, found.since, found.trusted) == ("since head", 115, "policy")
    assert (found.size, found.root) == (LAST, checked(owned).root)
    assert (found.pin, found.heads.policy, found.heads.signed) == ("not kept", "met", 115)


def test_since_the_pin(owned: Path) -> None:
    """Without a policy the user's own pin is what is trusted; with both the longer one."""
    for policy in (False, True):
        found = since(owned, pins=owned.parent, policy=policy)
        assert (lines(found), found.since, found.trusted) == ([], 128, "head pin")


def test_with_nothing_to_trust_it_refuses(book: Path) -> None:
    """Neither policy nor pin: there is nothing to begin from."""
    for pins in (None, book.parent):
        with pytest.raises(NotFoundError, match="no head to begin from") as caught:
            since(book, pins=pins, policy=False)
        assert caught.value.hint == "ledger verify checks the whole log"


def test_a_policy_that_is_not_met_leaves_the_whole_log(book: Path) -> None:
    """Where no head is accepted every event is checked, and the policy is a finding."""
    with tampering(book) as connection:
        connection.execute("DELETE FROM head")
    for file in (book.parent / "heads").iterdir():
        file.unlink()
    found = since(book)
    assert (found.since, found.trusted, found.size) == (0, "", LAST)
    assert [finding.place for finding in found.findings] == ["policy"]


def in_tail(change: Callable[[Path, int], None], *, seq: int = 121) -> Callable[[Path], None]:
    """Return an attack on an event after the signed head."""
    return lambda path: change(path, seq)


def changed_document(path: Path, seq: int) -> None:
    """Overwrite a document by another event's."""
    with tampering(path) as connection:
        text = connection.execute("SELECT doc FROM event WHERE seq = ?", (seq - 2,)).fetchone()[0]
        put_document(connection, seq, text)


def changed_column(path: Path, seq: int) -> None:
    """Let a column lie."""
    with tampering(path) as connection:
        connection.execute("UPDATE event SET kind = 'review.drawn' WHERE seq = ?", (seq,))


def changed_link(path: Path, seq: int) -> None:
    """Break the chain of links right after the head."""
    with tampering(path) as connection:
        connection.execute("UPDATE event SET link = link + 1000 WHERE seq >= ?", (seq,))


def taken_out(path: Path, seq: int) -> None:
    """Take an event out."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM event WHERE seq = ?", (seq,))


def no_trigger(path: Path, _: int) -> None:
    """Take a trigger away."""
    connection = raw(path)
    connection.execute("DROP TRIGGER event_no_update")
    connection.close()


def texts_changed(path: Path, _: int) -> None:
    """Change the bytes of every text."""
    with tampering(path) as connection:
        connection.execute("UPDATE content SET data = x'61', encoding = 'raw', bytes = 1")


def texts_erased(path: Path, _: int) -> None:
    """Erase every sealed text without a word."""
    with tampering(path) as connection:
        connection.execute("UPDATE blob SET salt = NULL, content = NULL WHERE salt NOT NULL")


def gold_changed(path: Path, _: int) -> None:
    """Change the bytes of every gold text."""
    with tampering(gold_path(path)) as connection:
        connection.execute("UPDATE content SET data = x'61', encoding = 'raw', bytes = 1")


def head_stripped(path: Path, _: int) -> None:
    """Put nonsense in the place of a head that is not the newest."""
    put_head(path, 4, "nothing")


TAIL_ATTACKS = (
    changed_document, changed_column, changed_link, taken_out, no_trigger, texts_changed,
    texts_erased, gold_changed, head_stripped,
)  # fmt: skip


@pytest.mark.parametrize("attack", TAIL_ATTACKS, ids=lambda attack: attack.__name__)
def test_what_came_since_is_checked(book: Path, attack: Callable[[Path, int], None]) -> None:
    """Bytes, chain, links, columns, texts and schema of the tail: whatever is changed is found."""
    attack(book, 118)
    assert not since(book).is_intact
    assert not checked(book).is_intact


@pytest.mark.parametrize("attack", [changed_document, changed_column])
def test_the_last_event_is_looked_at(book: Path, attack: Callable[[Path, int], None]) -> None:
    """The shortest look sees the last event."""
    attack(book, LAST)
    assert f"seq {LAST}" in lines(at_the_end(book))[0]


@pytest.mark.parametrize("attack", [changed_document, changed_column])
def test_what_came_before_is_taken_on_trust(
    book: Path, attack: Callable[[Path, int], None]
) -> None:
    """What lies below the trusted root is not seen by the short looks, and is by the whole one."""
    attack(book, 60)
    assert since(book).is_intact
    assert at_the_end(book).is_intact
    assert not checked(book).is_intact


def test_another_beginning_is_not_taken_on_trust(book: Path) -> None:
    """A rewritten history has another root than the head: nothing is taken for granted."""
    rewrite(book, better)
    found = since(book)
    assert found.since == 4
    assert "head 115: the first 115 events are not those that were signed" in lines(found)[0]


def test_a_file_behind_its_pin(owned: Path, book: Path) -> None:
    """A cut tail is found by both looks, and nothing is then trusted of the pin."""
    with tampering(book) as connection:
        connection.execute("DELETE FROM event WHERE seq > 120")
    for found in (at_the_end(book, pins=owned.parent), since(book, pins=owned.parent)):
        assert found.pin == "behind: 120 events, 128 were seen"
        assert lines(found)[0].startswith("head pin: ")
    assert since(book, pins=owned.parent).since == 115
    assert since(book, pins=owned.parent, policy=False).since == 0


def test_an_event_that_is_missing_where_the_tail_begins(book: Path) -> None:
    """The event before the tail, which the next one must follow, is missed."""
    taken_out(book, 127)
    assert lines(at_the_end(book)) == ["events: seq 127 is missing"]


def test_an_empty_file(book: Path) -> None:
    """A log that lost all its events while it was open has no end to look at."""
    with Ledger.open(book, tools=tools(book.parent, pins=False)) as ledger:
        with tampering(book) as connection:
            connection.execute("DELETE FROM event")
        found = verify_end(ledger)
    assert (found.size, found.since) == (0, 0)


def test_runs_that_go_on_and_runs_that_begin(book: Path) -> None:
    """Links go on from those before the tail, and begin anew in a new run."""
    with Ledger.open(book, write=True, tools=signing_tools(book.parent, OWNER, seed=9)) as ledger:
        ledger.append(opened("fast-02"))
        ledger.append(Submission(kind="run.invalidated", run=RUN, data={"reason": "again"},
                                 actor=PERSON))  # fmt: skip
        ledger.append(Submission(kind="run.invalidated", run="fast-02", data={"reason": "too"},
                                 actor=PERSON))  # fmt: skip
    found = since(book)
    assert (lines(found), found.size) == ([], LAST + 3)


def test_a_redacted_text_is_a_state(book: Path) -> None:
    """What was announced is counted; without the gold file gold texts are passed over."""
    with tampering(book) as connection:
        seq = seqs_of(connection, "note.added")[-1]
        name = connection.execute(
            "SELECT json_extract(doc, '$.data.text.blob') FROM event WHERE seq = ?", (seq,)
        ).fetchone()[0]
    with Ledger.open(book, write=True, tools=signing_tools(book.parent, None, seed=9)) as ledger:
        data = {"blob": name, "reason": "asked to", "authority": "Ada"}
        ledger.append(Submission(kind="blob.redacted", data=data, actor=PERSON))
    connection = raw(book)
    connection.execute(
        "UPDATE blob SET salt = NULL, content = NULL WHERE hash = ?", (bytes.fromhex(name),)
    )
    connection.execute(
        "DELETE FROM content WHERE id NOT IN (SELECT content FROM blob WHERE content NOT NULL)"
    )
    connection.close()
    gold_path(book).unlink()
    found = since(book)
    assert (lines(found), found.redacted, found.gold) == ([], 1, "absent")


def test_progress_is_told(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long tail says how far its check is."""
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(tail_check, "PROGRESS_EVENTS", 5)
    with Ledger.open(book, tools=tools(book.parent, pins=False)) as ledger:
        verify_since_head(
            ledger,
            policy=policy_of(vkey(book)),
            progress=lambda done, total: told.append((done, total)),
        )
    assert told == [(120, LAST), (125, LAST)]


def test_a_longer_log_gives_the_same_root(book: Path) -> None:
    """After another run the short look and the whole one end at the same root."""
    with Ledger.open(book, write=True, tools=signing_tools(book.parent, None, seed=9)) as ledger:
        sample_run(ledger, "fast-03")
        ledger.append(note("end"))
        whole = verify(ledger)
    found = since(book)
    assert (lines(found), found.size, found.root) == ([], whole.size, whole.root)


def test_without_its_check_the_tail_goes_unnoticed(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tail is found bad by the same checks as the whole log: with one taken out, it is not."""
    changed_column(book, 118)
    assert not since(book).is_intact
    monkeypatch.setattr(checking, "is_as_written", lambda *_: True)
    assert since(book).is_intact
