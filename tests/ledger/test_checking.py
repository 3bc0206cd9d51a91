"""Replaying while checking: an event is handed on only when it is what was written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from attack_cases import document_of, put_document, tampering
from ledger_cases import tools
from trial_ledger.book import Ledger
from trial_ledger.checking import EventChecker, Finding, verified_events
from trial_ledger.errors import VerificationError
from trial_ledger.sqlite import Connection


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding(what="is wrong", seq=7), "seq 7: is wrong"),
        (Finding(what="is wrong", place="schema"), "schema: is wrong"),
        (Finding(what="is wrong"), "is wrong"),
        (Finding(what="is wrong", seq=0, place="x"), "seq 0: is wrong"),
    ],
)
def test_a_finding_is_one_line(finding: Finding, text: str) -> None:
    """Where comes first, by seq where there is one."""
    assert str(finding) == text


def read(path: Path, upto: int | None = None) -> tuple[int, str]:
    """Return how many events were handed on, and why no more were."""
    count = 0
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        try:
            for stored in verified_events(ledger, upto=upto):
                count += 1
                assert stored.event.seq == count
        except VerificationError as error:
            return count, error.message
    return count, ""


def test_an_honest_log_is_handed_on_whole(honest: Path) -> None:
    """Every event comes out in order, or as many as were asked for."""
    assert read(honest) == (128, "")
    assert read(honest, upto=7) == (7, "")


def test_rows_are_checked_alike_one_by_one(honest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that only seem doubtful together, as those of an earlier version, pass one by one."""
    with Ledger.open(honest, tools=tools(honest.parent, pins=False)) as ledger:
        rows = list(ledger.store.rows())
        together, alone = EventChecker(ledger.id), EventChecker(ledger.id)
        assert together.check_all(rows) == [alone.check(row) for row in rows]
        assert vars(together.frontier) == vars(alone.frontier)
        assert (together.links, together.previous) == (alone.links, alone.previous)
        assert len(together.links) == 1
    monkeypatch.setattr(EventChecker, "sound", lambda *_: None)
    assert read(honest) == (128, "")


def test_nothing_moves_where_rows_are_not_sound(honest: Path) -> None:
    """A chunk that is refused leaves the checker as it was, to look at its rows one by one."""
    with Ledger.open(honest, tools=tools(honest.parent, pins=False)) as ledger:
        rows = list(ledger.store.rows())
        checker = EventChecker(ledger.id)
        assert checker.sound([*rows[:60], rows[61]]) is None
        assert (checker.frontier.size, checker.links, checker.previous) == (0, {}, "0" * 64)
        assert len(checker.sound(rows[:60]) or ()) == 60


def unreadable(connection: Connection) -> None:
    """Break the text of an event."""
    put_document(connection, 60, "{")


def changed(connection: Connection) -> None:
    """Change an event that finishes tree nodes."""
    document = document_of(connection, 60)
    document["recorded_at"] = "2020-01-01T00:00:00.000000Z"
    put_document(connection, 60, document)


def untrue(connection: Connection) -> None:
    """Let a column say something else."""
    connection.execute("UPDATE event SET kind = 'x' WHERE seq = 60")


def other_nodes(connection: Connection) -> None:
    """Replace tree nodes."""
    connection.execute("UPDATE event SET nodes = zeroblob(64) WHERE seq = 60")


@pytest.mark.parametrize("attack", [unreadable, changed, untrue, other_nodes])
def test_nothing_is_handed_on_from_the_first_bad_event(
    victim: Path, attack: Callable[[Connection], None]
) -> None:
    """Where event 60 was tampered with, 59 events come out and the error names it."""
    with tampering(victim) as connection:
        attack(connection)
    count, message = read(victim)
    assert count == 59
    assert message.startswith("seq 60: ")


def test_a_break_of_the_chain_stops_before_the_event_that_shows_it(victim: Path) -> None:
    """An odd event that was changed is known by the next one: neither that nor more comes out."""
    with tampering(victim) as connection:
        document = document_of(connection, 61)
        document["recorded_at"] = "2020-01-01T00:00:00.000000Z"
        put_document(connection, 61, document)
    count, message = read(victim)
    assert count == 61
    assert message.startswith("seq 62: ")
