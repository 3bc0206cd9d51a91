"""Canonical form: one byte string for a value, equal to RFC 8785, free of floats."""

import random

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.documents.canonical_form import Json, canonical_json, document_hash

LARGEST = 2**53 - 1

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=6),
    max_leaves=25,
)


def shuffled(value: Json) -> Json:
    """Return an equal value whose keys were put in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.Random(len(keys)).shuffle(keys)  # noqa: S311 - no secret is made of it
        return {key: shuffled(value[key]) for key in keys}
    return [shuffled(member) for member in value] if isinstance(value, list) else value


@given(VALUES)
def test_canonical_form_is_rfc_8785_whatever_the_order_of_keys(value: Json) -> None:
    """Our bytes are those of the reference implementation, for every order of the keys."""
    assert canonical_json(value) == rfc8785.dumps(value)
    assert canonical_json(shuffled(value)) == canonical_json(value)


def test_keys_beyond_ascii_are_sorted_by_utf16() -> None:
    """A character beyond the basic plane sorts before U+FF21, as RFC 8785 has it."""
    assert canonical_json({"\uff21": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\uff21":1}'.encode()


@pytest.mark.parametrize("foreign", [0.5, b"x", {1: 2}, 2**53, [1, [float("nan")]], {"a", "b"}])
def test_values_outside_the_profile_are_a_mistake_of_ours(foreign: object) -> None:
    """Floats, bytes, other keys and large integers trip an assertion."""
    with pytest.raises(AssertionError):
        canonical_json(foreign)


def test_hash_is_blake3() -> None:
    """The hash of no bytes is the published BLAKE3 value."""
    expected = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    assert document_hash(b"") == expected
