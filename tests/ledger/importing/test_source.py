"""Names, ids and digests that every importer shares."""

import hashlib

import msgspec
import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.identifiers import EventId, Name, RunName
from trial_ledger.importing.source import SourceFile, event_id, run_name, safe_name

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=400)


@given(ANY_TEXT)
def test_every_text_becomes_an_acceptable_label(text: str) -> None:
    """A label passes the rules of names, and cleaning it again changes nothing."""
    name = safe_name(text)
    assert msgspec.convert(name, Name) == name
    assert safe_name(name) == name


@given(ANY_TEXT, ANY_TEXT)
def test_different_texts_keep_different_labels(first: str, second: str) -> None:
    """Cleaning and cutting never make one label of two texts."""
    bad_first, bad_second = f"{first}\0", f"{second}\0"
    assert (safe_name(bad_first) == safe_name(bad_second)) == (first == second)


@given(ANY_TEXT)
def test_every_task_gives_an_acceptable_run_name(task: str) -> None:
    """Whatever a task is called, its run has a name, with the digest's beginning."""
    name = run_name(task, "0123456789abcdef" * 4)
    assert msgspec.convert(name, RunName) == name
    assert name.endswith("-0123456789ab")


@pytest.mark.parametrize(
    ("task", "name"),
    [("NQ 301/Tools", "nq-301-tools-00"), ("...", "run-00"), ("a" * 90, "a" * 60 + "-00")],
)
def test_a_run_is_named_after_its_task(task: str, name: str) -> None:
    """Letters that a run name cannot have become hyphens."""
    assert run_name(task, "00") == name


def test_event_ids_depend_on_every_part_and_are_well_formed() -> None:
    """The place in the source is in the id, with its parts kept apart."""
    ids = {
        event_id("inspect", "d", "a", "b"),
        event_id("inspect", "d", "ab"),
        event_id("inspect", "da", "b"),
        event_id("other", "d", "a", "b"),
    }
    assert len(ids) == 4
    assert all(msgspec.convert(one, EventId) for one in ids)


def test_a_source_file_has_both_digests() -> None:
    """BLAKE3 for us, SHA-256 for everybody else's tools."""
    source = SourceFile.of(b"bytes", label="log.eval")
    assert source.blake3 == blake3(b"bytes").hexdigest()
    assert source.sha256 == hashlib.sha256(b"bytes").hexdigest()
