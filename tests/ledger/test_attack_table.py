"""Every attack of the table is found by the looks that it names, and by a second verifier too."""

from pathlib import Path
from typing import NamedTuple

import pytest
import zstandard

from attack_cases import raw
from attack_table import ATTACKS, LOOKS, PAGE, SIGNED, Attack, updated_page
from ledger_cases import tools
from second_verifier import second_look
from signing_cases import (
    checked_against,
    copied_with_heads,
    kept_heads,
    notes_of,
    policy_of,
    signed_ledger,
    vkey,
)
from trial_ledger.book import Ledger
from trial_ledger.errors import VerificationError
from trial_ledger.head_policy import HeadPolicy
from trial_ledger.sqlite import sqlite3


class Honest(NamedTuple):
    """An honest ledger, and what others hold of it."""

    path: Path
    pins: Path
    notes: list[Path]
    policy: HeadPolicy


@pytest.fixture(scope="session")
def witnessed(tmp_path_factory: pytest.TempPathFactory) -> Honest:
    """Return a signed ledger, its owner's head pin, copies of its notes elsewhere, a policy."""
    folder = tmp_path_factory.mktemp("witnessed")
    path = signed_ledger(folder)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for note in notes_of(path):
        (elsewhere / note.name).write_bytes(note.read_bytes())
    with Ledger.open(path, tools=tools(folder, pins=False)) as ledger:
        name = ledger.id
    policy = policy_of(vkey(path), newest_within=20, ledger=name)
    return Honest(path, folder, sorted(elsewhere.iterdir()), policy)


def unpacked(content: bytes) -> bytes:
    """Return what Zstandard packed."""
    return zstandard.ZstdDecompressor().decompress(content)


def places(path: Path, honest: Honest) -> dict[str, list[str]]:
    """Return what each look finds, by its name."""
    found: dict[str, list[str]] = {look: [] for look in LOOKS}
    sources = {str(note) for note in honest.notes}
    try:
        witnessed = checked_against(path, *honest.notes)
        owned = checked_against(path, pins=honest.pins, policy=honest.policy)
    except VerificationError as error:
        return {**found, "verify": [error.message]}
    for finding in witnessed.findings:
        found["note" if finding.place in sources else "verify"].append(str(finding))
    for look, place in (("pin", "head pin"), ("policy", "policy")):
        found[look] = [str(each) for each in owned.findings if each.place == place]
    return found


def test_the_honest_ledger_stands_every_look(witnessed: Honest) -> None:
    """Nothing is found where nothing was done, by any look or by the second verifier."""
    assert list(kept_heads(witnessed.path)) == [4, SIGNED]
    assert places(witnessed.path, witnessed) == {look: [] for look in LOOKS}
    found = checked_against(witnessed.path, policy=witnessed.policy)
    assert (found.heads.policy, found.heads.unsigned_tail) == ("met", 128 - SIGNED)
    kept = [note.read_bytes() for note in witnessed.notes]
    assert second_look(witnessed.path, notes=kept, decompress=unpacked) == []


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_an_attack_is_found_by_what_the_table_names(
    witnessed: Honest, tmp_path: Path, attack: Attack
) -> None:
    """What `verify` alone finds it finds; elsewhere exactly the looks that are named find it."""
    path = copied_with_heads(witnessed.path, tmp_path / "victim")
    attack.act(path)
    found = places(path, witnessed)
    expected = set(attack.finders.split()) - {"nothing"}
    finders = {look for look, faults in found.items() if faults}
    assert "verify" in finders if "verify" in expected else finders == expected, found
    assert expected <= finders, found
    said = [fault for look in expected for fault in found[look]]
    assert not expected or any(attack.says in fault for fault in said), said
    second = second_look(path, decompress=unpacked)
    assert bool(second) == bool(found["verify"]), second


@pytest.mark.parametrize("table", ["event", "content", "blob", "head"])
def test_a_plain_program_can_replace_nothing(witnessed: Honest, tmp_path: Path, table: str) -> None:
    """INSERT OR REPLACE is refused in every table, on a connection with plain settings."""
    path = copied_with_heads(witnessed.path, tmp_path / "victim")
    connection = raw(path)
    column = {"blob": "salt", "head": "note", "content": "data", "event": "doc"}[table]
    for statement in (
        f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1",  # noqa: S608 - ours
        f"UPDATE {table} SET {column} = x'00'",  # noqa: S608 - ours
        f"DELETE FROM {table}",  # noqa: S608 - ours
    ):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    connection.close()
    assert checked_against(path).is_intact


def test_the_page_shows_the_table() -> None:
    """docs/threat-model.md has this table; else: python tests/attack_table.py."""
    assert len(ATTACKS) >= 40
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    text = PAGE.read_text("utf-8")
    assert text == updated_page(text)


def test_what_a_file_cannot_show_is_in_the_table() -> None:
    """Some attacks no file shows, some only a note shows, and some nothing shows."""
    finders = {frozenset(attack.finders.split()) for attack in ATTACKS}
    assert {frozenset({"pin", "note"}), frozenset({"pin"}), frozenset({"policy"})} <= finders
    assert frozenset({"nothing"}) in finders
