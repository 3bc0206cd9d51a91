"""Differences of two documents, and the version to offer after one."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.difference import differences, next_version, render_differences

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "name", "a"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def found(old: object, new: object) -> list[tuple[str, object, object]]:
    """Return path, old and new value of each difference."""
    both = differences(canonical_json(old), canonical_json(new))
    return [(difference.path, difference.old, difference.new) for difference in both]


def rendered(old: object, new: object) -> list[str]:
    """Return what a person reads."""
    return render_differences(differences(canonical_json(old), canonical_json(new)))


@given(VALUES, VALUES)
def test_two_documents_differ_exactly_if_their_bytes_do(old: object, new: object) -> None:
    """No difference is missed and none invented, in either direction."""
    assert (found(old, new) == []) == (canonical_json(old) == canonical_json(new))
    assert len(found(old, new)) == len(found(new, old))
    assert found(old, old) == []


def test_fields_are_named_by_their_path_in_order() -> None:
    """Changed, removed and added fields, with null and absent told apart."""
    old = {"limits": {"timeout_ms": 10000, "gone": None}, "flag": True}
    new = {"limits": {"timeout_ms": 20000}, "flag": 1, "new": [1]}
    assert found(old, new) == [
        ("flag", True, 1),
        ("limits.gone", None, UNSET),
        ("limits.timeout_ms", 10000, 20000),
        ("new", UNSET, [1]),
    ]
    assert rendered(old, new) == [
        "flag: true -> 1",
        "limits.gone: null -> absent",
        "limits.timeout_ms: 10000 -> 20000",
        "new: absent -> [1]",
    ]


def test_parts_of_lists_are_paired_by_name() -> None:
    """A tool that is put first does not make every other one differ."""
    old = {"tools": [{"name": "b", "x": 1}, {"name": "c"}]}
    new = {"tools": [{"name": "a"}, {"name": "b", "x": 2}, {"name": "d"}]}
    assert found(old, new) == [
        ("tools[b].x", 1, 2),
        ("tools[c]", {"name": "c"}, UNSET),
        ("tools[a]", UNSET, {"name": "a"}),
        ("tools[d]", UNSET, {"name": "d"}),
    ]


def test_parts_in_another_order_are_compared_by_position() -> None:
    """The order of tools is part of what a model sees."""
    parts = [{"id": "a"}, {"id": "b"}]
    assert found(parts, parts[::-1]) == [("[0].id", "a", "b"), ("[1].id", "b", "a")]
    assert found([[1]], [[1], [2]]) == [("[1]", UNSET, [2])]
    assert found([[1], [2]], [[1]]) == [("[1]", [2], UNSET)]
    assert found(["a"], ["b"]) == [("", ["a"], ["b"])]


def test_long_texts_are_shown_as_a_diff() -> None:
    """A prompt of many lines shows only what changed, up to twenty lines."""
    old = "first\nsecond\nthird\nfourth"
    lines = rendered({"prompt": old}, {"prompt": old.replace("second", "2nd")})
    assert lines == [
        "prompt:",
        "  @@ -1,3 +1,3 @@",
        "   first",
        "  -second",
        "  +2nd",
        "   third",
    ]
    many = "\n".join(str(number) for number in range(100))
    lines = rendered({"p": "x\n"}, {"p": many})
    assert lines[-1] == "  (and 82 more lines)"
    assert len(lines) == 22
    assert rendered({"p": "a\n"}, {"p": "a\r\n"}) == ["p:", "  (only line ends differ)"]


def test_long_values_are_shortened() -> None:
    """One line stays one line."""
    (line,) = rendered({"a": 1}, {"a": list(range(100))})
    assert line.endswith("...")
    assert len(line) < 90
    assert rendered(1, 2) == ["document: 1 -> 2"]
    assert rendered({"a": "x"}, {"a": "y"}) == ['a: "x" -> "y"']


@pytest.mark.parametrize(
    ("version", "following"),
    [
        ("1", "2"),
        ("9", "10"),
        ("1.9", "1.10"),
        ("v3", "v4"),
        ("07", "08"),
        ("2026-10", "2026-10.2"),
        ("2026-10.2", "2026-10.3"),
        ("2026-10-01", "2026-10-01.2"),
        ("draft", "draft.2"),
        ("8e0cad397265", "8e0cad397265.2"),
        ("202610011200", "202610011200.2"),
        ("", ".2"),
    ],
)
def test_next_version(version: str, following: str) -> None:
    """Numbers are counted on, dates, words and hashes get a second version."""
    assert next_version(version) == following


def test_differences_read_their_own_bytes() -> None:
    """Bytes that are no JSON are a mistake of the caller."""
    with pytest.raises(msgspec.DecodeError):
        differences(b"{", b"{}")
