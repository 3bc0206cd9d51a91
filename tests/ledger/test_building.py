"""Documents that are built lie within the profile: their size, their keys, their characters."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger_cases import PERSON, note, small_ledger
from trial_ledger.book import Ledger
from trial_ledger.documents.dataset import parse_dataset
from trial_ledger.errors import InvalidInputError
from trial_ledger.submission import Submission


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents and no run."""
    with small_ledger(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"about": "\ud800", "text": "x"}, "about"),
        ({"about": "x", "text": "\ud800"}, "text"),
    ],
)
def test_a_lone_surrogate_is_refused(ledger: Ledger, data: dict[str, str], what: str) -> None:
    """Text that UTF-8 cannot hold never reaches the log."""
    with pytest.raises(InvalidInputError) as caught:
        ledger.append(Submission(kind="note.added", data=data))
    assert f"data.{what}" in {problem.field for problem in caught.value.problems}
    assert ledger.append(note("x")).seq == 5


def test_a_lone_surrogate_in_free_text_is_refused(ledger: Ledger) -> None:
    """Fields without a form are checked when the document is built."""
    data = {"new_public_key": "\ud800"}
    with pytest.raises(InvalidInputError, match="event not acceptable") as caught:
        ledger.append(Submission(kind="key.rotated", data=data, actor=PERSON))
    assert caught.value.problems[0].message == "lone surrogate in a field"
    assert ledger.append(note("x")).seq == 5


def test_a_document_beyond_the_limit_is_refused(ledger: Ledger) -> None:
    """65,535 bytes is the most that a document may have; the next event goes in."""
    data = {"new_public_key": "k" * 65_535}
    with pytest.raises(InvalidInputError) as caught:
        ledger.append(Submission(kind="key.rotated", data=data, actor=PERSON))
    problem = caught.value.problems[0]
    assert problem.message == "the document is over the limit"
    assert problem.expected == "at most 65535"
    first = Submission(kind="key.rotated", data={"new_public_key": ""}, actor=PERSON)
    # The next one hands over from this key: `""` instead of `null`.
    room = 65_535 - len(ledger.read(ledger.append(first).seq).document) + len("null") - len('""')
    for more, accepted in ((1, False), (0, True)):
        data = {"old_public_key": "", "new_public_key": "k" * (room + more)}
        try:
            ledger.append(Submission(kind="key.rotated", data=data, actor=PERSON))
        except InvalidInputError:
            assert not accepted
        else:
            assert accepted


def test_keys_beyond_ascii_are_refused(ledger: Ledger) -> None:
    """Where the fast encoder and RFC 8785 would differ, nothing is stored."""
    record = {
        "id": "q1", "question": "Welche Stadt?", "task_shape": "fact", "as_of": "2026-10-01",
        "split": "Prüfung", "gold": {"answer": "Köln"},
    }  # fmt: skip
    dataset = parse_dataset(
        json.dumps(record).encode(), source="dataset.jsonl", name="towns", version="1"
    )
    with pytest.raises(InvalidInputError) as caught:
        ledger.freeze([dataset])
    assert caught.value.problems[0].found == "a key that is not ASCII"
    assert caught.value.problems[0].expected == "keys in ASCII, as the names of splits"
    assert ledger.head().size == 4
    data = {"about": "Köln", "text": "Köln"}
    assert ledger.append(Submission(kind="note.added", data=data)).seq == 5
    assert ledger.verify().is_intact
