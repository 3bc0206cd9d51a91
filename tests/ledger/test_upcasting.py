"""Old events are read as new ones; their stored bytes stay."""

import msgspec
import pytest

from trial_ledger import canonical, upcasting
from trial_ledger.events import KINDS
from trial_ledger.upcasting import UPCASTERS, lift, newest_version


def renamed(data: dict[str, object]) -> dict[str, object]:
    """Turn version 1 of an invented kind into version 2."""
    return {"text": data["words"]}


def doubled(data: dict[str, object]) -> dict[str, object]:
    """Turn version 2 into version 3."""
    return {"text": [data["text"], data["text"]]}


CHAIN = {("note", 1): renamed, ("note", 2): doubled}


def test_every_kind_is_of_version_1() -> None:
    """No kind has a second version yet."""
    assert dict(UPCASTERS) == {}
    assert {newest_version(kind) for kind in KINDS} == {1}


def test_the_newest_version_is_where_the_chain_ends() -> None:
    """Each upcaster adds one version to its own kind only."""
    assert newest_version("note", CHAIN) == 3
    assert newest_version("other", CHAIN) == 1


@pytest.mark.parametrize(
    ("version", "data", "expected"),
    [(1, {"words": "a"}, ["a", "a"]), (2, {"text": "a"}, ["a", "a"]), (3, {"text": "a"}, "a")],
)
def test_data_are_lifted_step_by_step(
    version: int, data: dict[str, object], expected: object
) -> None:
    """Whatever version data have, they come out in the newest one."""
    raw = msgspec.Raw(msgspec.json.encode(data))
    assert msgspec.json.decode(lift("note", version, raw, CHAIN)) == {"text": expected}


def test_data_of_the_newest_version_are_not_touched() -> None:
    """The bytes that were read are handed on, not decoded and encoded again."""
    raw = msgspec.Raw(b'{"text" : 1}')
    assert lift("note", 3, raw, CHAIN) is raw


def test_an_old_event_is_read_as_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading an event goes through the chain of its kind."""

    def about_written(data: dict[str, object]) -> dict[str, object]:
        return {"about": data.pop("subject"), **data}

    lifts = {("note.added", 1): about_written}
    newest = {**canonical.NEWEST, "note.added": newest_version("note.added", lifts)}
    monkeypatch.setattr(canonical, "NEWEST", newest)
    monkeypatch.setattr(
        canonical, "lift", lambda kind, version, data: upcasting.lift(kind, version, data, lifts)
    )
    blob = {"blob": "ab" * 32, "bytes": 1, "class": "sealed", "media": "text/plain"}
    document = msgspec.json.encode(
        {
            "actor": {"role": "harness"},
            "at": None,
            "data": {"subject": "run", "text": blob},
            "id": "0" * 32,
            "kind": "note.added",
            "ledger": "0" * 32,
            "link": None,
            "prev": "0" * 64,
            "recorded_at": "2026-10-01T12:00:00.000000Z",
            "run": None,
            "seq": 1,
            "trial": None,
            "v": 1,
        }
    )
    event = canonical.decode_event(document)
    assert isinstance(event.data, KINDS["note.added"])
    assert msgspec.to_builtins(event.data)["about"] == "run"
