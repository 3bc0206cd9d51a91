"""One event is one byte string: that of RFC 8785, and it is read back as the same event."""

import json
from typing import Any

import msgspec
import pytest
import rfc8785
from blake3 import blake3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from event_cases import EVENTS, events_of
from trial_ledger.canonical import (
    MAX_DEPTH,
    canonical_bytes,
    decode_event,
    event_hash,
    profile_fault,
    recanonicalised,
)
from trial_ledger.errors import UnsupportedFormatError, VerificationError
from trial_ledger.events import KINDS, Event

BLOB = {"blob": "ab" * 32, "bytes": 1, "class": "sealed", "media": "text/plain"}


def document(**changes: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return the canonical document of a note with these fields changed."""
    value: dict[str, Any] = {
        "actor": {"name": None, "role": "harness", "version": None},
        "at": None,
        "data": {"about": "run", "text": BLOB},
        "id": "0" * 32,
        "kind": "note.added",
        "ledger": "0" * 32,
        "link": None,
        "prev": "0" * 64,
        "recorded_at": "2026-10-01T12:00:00.000000Z",
        "run": None,
        "seq": 7,
        "trial": None,
        "v": 1,
    }
    return rfc8785.dumps({**value, **changes})


@pytest.mark.parametrize("tag", sorted(KINDS))
def test_events_of_every_kind_are_canonical_and_come_back(tag: str) -> None:
    """The bytes are RFC 8785 of the plain value, and decoding them gives the event again."""

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(events_of(tag, KINDS[tag]))
    def check(event: Event) -> None:
        stored = canonical_bytes(event)
        assert stored == rfc8785.dumps(msgspec.to_builtins(event))
        assert decode_event(stored) == event
        assert recanonicalised(stored) == stored
        assert profile_fault(json.loads(stored)) is None

    check()


@given(EVENTS)
def test_the_hash_is_blake3_of_the_stored_bytes(event: Event) -> None:
    """Anybody with b3sum gets the same hash."""
    stored = canonical_bytes(event)
    assert event_hash(stored) == blake3(stored).hexdigest()


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=4)
    ),
    max_leaves=12,
)
"""What the profile allows."""


@given(PLAIN)
def test_under_the_profile_sorted_json_is_rfc_8785(value: Any) -> None:  # noqa: ANN401 - JSON
    """Within the profile the fast encoder and RFC 8785 agree on every value."""
    assert msgspec.json.Encoder(order="sorted").encode(value) == rfc8785.dumps(value)
    assert recanonicalised(rfc8785.dumps(value)) == rfc8785.dumps(value)
    assert profile_fault(value) is None


def test_outside_the_profile_they_differ() -> None:
    """Keys beyond ASCII sort differently in the two, which is why the profile forbids them."""
    value = {"\U0001f600": 1, "\ufb33": 2}
    assert msgspec.json.Encoder(order="sorted").encode(value) != rfc8785.dumps(value)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (1.5, "a float"),
        ({"a": [1, 2.0]}, "a float"),
        (2**53, "an integer from 2^53"),
        ([-(2**53)], "an integer from 2^53"),
        ({"ä": 1}, "a key that is not ASCII"),
        ([{"a": {"ü": 1}}], "a key that is not ASCII"),
        (2**53 - 1, None),
        (True, None),
        ({"a": "ä"}, None),
    ],
)
def test_the_profile(value: object, fault: str | None) -> None:
    """Floats, large integers and keys beyond ASCII are found at any depth."""
    assert profile_fault(value) == fault


def nested(depth: int) -> object:
    """Return lists in lists, the outermost at depth 1."""
    value: object = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_the_profile_bounds_depth() -> None:
    """32 levels are allowed, a 33rd is not."""
    assert profile_fault(nested(MAX_DEPTH)) is None
    assert profile_fault(nested(MAX_DEPTH + 1)) == "nesting deeper than 32"


@pytest.mark.parametrize(
    "stored",
    [
        document().replace(b'"at":null', b'"at": null'),
        b" " + document(),
        document() + b"\n",
        document().replace(b'"at":null,', b'"at":null,"at":null,'),
        document().replace(b'"seq":7', b'"seq":7.0'),
        document().replace(b"run", rb"\u0072un"),
    ],
    ids=["space", "front", "newline", "duplicate key", "float", "escape"],
)
def test_other_bytes_of_the_same_value_are_not_canonical(stored: bytes) -> None:
    """A document that is read as the same event but spelt otherwise is told apart."""
    assert stored != document()
    again = recanonicalised(stored)
    assert again != stored or profile_fault(json.loads(stored)) == "a float"


@pytest.mark.parametrize("stored", [b"", b"{", b"\xff", b'"\xff"', b"nan", b"[" * 60_000])
def test_what_is_no_json_has_no_canonical_bytes(stored: bytes) -> None:
    """Broken text of any kind gives nothing rather than an error."""
    assert recanonicalised(stored) is None


def test_an_event_is_read() -> None:
    """A well-formed document gives its fields."""
    event = decode_event(document())
    assert (event.seq, event.kind, event.run) == (7, "note.added", None)


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"null",
        b"[]",
        b"\xff\xfe",
        document()[:-1],
        document(extra=1),
        document(seq=0),
        document(seq="7"),
        document().replace(b'"seq":7', b'"seq":9007199254740992'),
        document(data={}),
        document(data=None),
        document(data={"about": "run", "text": BLOB, "more": 1}),
        document().replace(b'"about":"run"', b'"about":"\xff"'),
        document().replace(b'"seq":7', b'"seq":7.5'),
        document().replace(b'"link":null,', b""),
        b'{"actor":' + b"[" * 30_000,
        document().replace(b'"about":"run"', b'"about":' + b"[" * 30_000 + b"]" * 30_000),
        b'{"data":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
    ],
)
def test_what_is_no_event_is_refused(stored: bytes) -> None:
    """Hostile bytes of any kind are one clean error, nesting beyond any limit included."""
    with pytest.raises(VerificationError, match="stored document is not an event"):
        decode_event(stored)


@pytest.mark.parametrize("changes", [{"kind": "note.sung"}, {"v": 2}, {"kind": "", "v": 9}])
def test_an_event_of_the_future_is_refused_as_such(changes: dict[str, object]) -> None:
    """A kind or version that this program does not know asks for a newer program."""
    with pytest.raises(UnsupportedFormatError) as caught:
        decode_event(document(**changes))
    assert caught.value.hint == "install a newer trial-ledger"
    assert caught.value.problems[0].message.startswith("event 7 ")


def test_a_lone_surrogate_has_no_bytes() -> None:
    """Text that UTF-8 cannot hold is refused by the encoder, never replaced."""
    event = decode_event(document())
    broken = msgspec.structs.replace(event, kind="\ud800")
    with pytest.raises(UnicodeEncodeError):
        canonical_bytes(broken)


def test_a_document_without_a_later_field_is_canonical() -> None:
    """An event written before an optional field existed still proves itself canonical."""
    stored = document(actor={"role": "harness"})
    event = decode_event(stored)
    assert canonical_bytes(event) != stored
    assert recanonicalised(stored) == stored
