"""Freezing: a document is frozen once, found again, and never replaced under its name."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from document_cases import rubric_table
from ledger_cases import (
    empty_ledger,
    questions_jsonl,
    small_dataset,
    small_ledger,
    small_manifest,
    small_rubric,
)
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.documents.dataset import Dataset, parse_dataset
from trial_ledger.documents.manifest import manifest_hash
from trial_ledger.documents.rubric import rubric_hash
from trial_ledger.errors import InvalidInputError, RuleError, StorageError
from trial_ledger.events import DatasetRegistered, ManifestFrozen, RubricFrozen
from trial_ledger.goldfile import gold_path
from trial_ledger.submission import NewText, Submission

replaced = msgspec.structs.replace


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents."""
    with small_ledger(tmp_path) as ledger:
        yield ledger


def with_answer(answer: str, **changes: object) -> Dataset:
    """Return the ten questions with another answer to the first."""
    content = questions_jsonl().replace(b'"Samarkand"', f'"{answer}"'.encode(), 1)
    dataset = parse_dataset(
        content, source=None, name="example", version="1", meta={"canary": "canary 5bd2d8a6"}
    )
    return replaced(dataset, **changes)


def test_the_same_documents_again_are_found(book: Ledger) -> None:
    """Freezing again appends nothing and gives the place of the first time."""
    size = book.head().size
    found = book.freeze([small_dataset(), small_rubric(), small_manifest()])
    assert [(one.seq, one.status) for one in found] == [(2, "exists"), (3, "exists"), (4, "exists")]
    assert [one.hash for one in found] == [book.read(seq).hash for seq in (2, 3, 4)]
    assert book.head().size == size


def test_what_is_frozen_is_known_by_its_hashes(book: Ledger) -> None:
    """The events carry the hashes of the canonical documents, and the counts."""
    dataset, rubric, manifest = (book.read(seq).event.data for seq in (2, 3, 4))
    assert isinstance(dataset, DatasetRegistered)
    assert (dataset.count, dataset.by_shape, dataset.by_split) == (
        10,
        {"fact": 10},
        {"holdout": 10},
    )
    assert dataset.warning_count == 0
    assert isinstance(rubric, RubricFrozen)
    assert rubric.rubric_hash == rubric_hash(small_rubric())
    assert isinstance(manifest, ManifestFrozen)
    document = book.registry().manifest_document(manifest)
    assert manifest.manifest_hash == manifest_hash(document)
    assert document.references is not None
    assert document.references.rubric == rubric.rubric_hash
    assert document.references.gold == dataset.commitments_root


def test_a_document_may_be_frozen_in_one_group_with_what_it_names(tmp_path: Path) -> None:
    """Dataset, rubric and manifest given together see each other before they are durable."""
    with empty_ledger(tmp_path) as book:
        found = book.freeze([small_dataset(), small_rubric(), small_rubric(), small_manifest()])
        assert [one.seq for one in found] == [2, 3, 3, 4]


def test_all_or_none_is_frozen(tmp_path: Path) -> None:
    """Where one document is refused, those before it are not frozen either."""
    with empty_ledger(tmp_path) as book:
        with pytest.raises(RuleError):
            book.freeze([small_dataset(), small_manifest()])
        assert book.head().size == 1


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (with_answer("Bukhara"), "gold or canary differ"),
        (small_dataset(canary="another canary"), "gold or canary differ"),
        (
            parse_dataset(
                questions_jsonl().replace(b"riddle q3", b"puzzle q3"),
                source=None,
                name="example",
                version="1",
                meta={"canary": "canary 5bd2d8a6"},
            ),
            "riddle q3",
        ),
    ],
)
def test_a_changed_dataset_needs_a_new_version(changed: Dataset, says: str, book: Ledger) -> None:
    """Other questions, gold or canary under a taken name are refused with what differs."""
    with pytest.raises(RuleError) as caught:
        book.register(changed)
    assert "dataset example@1 exists and differs: " in caught.value.message
    assert says in caught.value.message
    assert "Bukhara" not in caught.value.message
    assert caught.value.clause == "C1"
    assert caught.value.hint == "a changed document is a new version, such as 2"
    assert book.register(replaced(changed, version="2")).status == "appended"


def test_a_changed_rubric_needs_a_new_version(book: Ledger) -> None:
    """The first differences are said, the others counted."""
    outcomes = {name: {"score": "1"} for name in rubric_table()["outcomes"] if name != "failures"}
    outcomes["failures"] = rubric_table()["outcomes"]["failures"]
    with pytest.raises(RuleError) as caught:
        book.freeze([small_rubric(outcomes=outcomes)])
    assert caught.value.message.startswith("rubric quality@1 exists and differs: outcomes.")
    assert caught.value.message.count(";") == 5
    assert "more (C14)" in caught.value.message


def test_two_versions_share_the_gold_that_did_not_change(book: Ledger) -> None:
    """Equal gold of a question has one commitment, another answer has another."""
    book.register(with_answer("Merv", version="2"))
    registry = book.registry()
    old, new = registry.commitments("example@1"), registry.commitments("example@2")
    assert {name for name in old if old[name] != new[name]} == {"q1"}


def test_questions_without_gold_and_datasets_without_canary(tmp_path: Path) -> None:
    """What has no gold has no commitment, and no canary is none."""
    dataset = small_dataset(canary=None)
    gold = {name: record for name, record in dataset.gold.items() if name != "q1"}
    with empty_ledger(tmp_path) as book:
        book.register(replaced(dataset, gold=gold, provenance=None))
        data = book.read(2).event.data
        assert isinstance(data, DatasetRegistered)
        assert (data.canary, data.provenance) == (None, None)
        assert book.registry().commitments("example@1")["q1"] is None


def test_warnings_are_stored_beside_the_questions(tmp_path: Path) -> None:
    """What is doubtful about gold is counted and kept for reports."""
    old = questions_jsonl().replace(b'"2026-10-02"', b'"2020-01-01"', 1)
    dataset = parse_dataset(old, source=None, name="example", version="1")
    with empty_ledger(tmp_path) as book:
        book.register(dataset)
        data = book.read(2).event.data
        assert isinstance(data, DatasetRegistered)
        assert data.warning_count == len(dataset.warnings) == 1
        assert data.warnings is not None
        assert book.blob(data.warnings) == dataset.warnings_json()


def test_gold_needs_its_file(book: Ledger, tmp_path: Path) -> None:
    """Without the gold file no dataset with gold is registered."""
    book.close()
    gold_path(tmp_path / "trials.ledger").unlink()
    with Ledger.open(tmp_path / "trials.ledger", write=True, tools=book.tools) as alone:
        with pytest.raises(StorageError) as caught:
            alone.register(small_dataset(version="2"))
        assert caught.value.hint == "put the .gold file beside the ledger"
        assert alone.head().size == 4


@pytest.mark.parametrize("seq", [2, 3, 4], ids=["dataset", "rubric", "manifest"])
def test_c09_a_document_is_frozen_only_by_freezing(book: Ledger, seq: int) -> None:
    """An event that claims the hash of another document is refused, whichever way it comes."""
    stored = book.read(seq).event
    data = msgspec.to_builtins(stored.data)
    field = "questions" if seq == 2 else "document"
    forged = Submission(
        kind=stored.kind,
        data={**data, "version": "9", field: NewText(content=b"{}", media="application/json")},
    )
    before = book.head()
    with pytest.raises(InvalidInputError):
        book.append(forged)
    with pytest.raises(InvalidInputError):
        book.append_many([forged])
    (answer,) = book.append_group([Entry(submission=forged)])
    assert isinstance(answer, InvalidInputError)
    assert book.head() == before
