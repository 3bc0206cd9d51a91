"""Registry: what the ledger as a whole knows by name; a name means one document for ever."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import (
    ANSWERS,
    empty_ledger,
    note,
    small_dataset,
    small_ledger,
    small_manifest,
    small_rubric,
)
from trial_ledger.book import Ledger
from trial_ledger.canonical import decode_event
from trial_ledger.errors import AmbiguousError, RuleError
from trial_ledger.events import DatasetRegistered, ManifestFrozen, RubricFrozen
from trial_ledger.registry import Registry, listing


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents."""
    with small_ledger(tmp_path) as ledger:
        yield ledger


@pytest.fixture
def registry(book: Ledger) -> Registry:
    """Return what that ledger knows."""
    return book.registry()


def stored(book: Ledger, seq: int) -> DatasetRegistered | RubricFrozen | ManifestFrozen:
    """Return the data of one of the frozen documents."""
    data = book.read(seq).event.data
    assert isinstance(data, DatasetRegistered | RubricFrozen | ManifestFrozen)
    return data


def test_documents_are_found_by_name(book: Ledger, registry: Registry) -> None:
    """Dataset and rubric by `name@version`, each with the place where it stands."""
    assert registry.dataset("example@1") == stored(book, 2)
    assert registry.rubric("quality@1") == stored(book, 3)
    assert registry.places[registry.rubric("quality@1").rubric_hash] == 3
    assert set(registry.questions("example@1")) == set(ANSWERS)
    assert set(registry.commitments("example@1")) == set(ANSWERS)


def test_documents_are_decoded_once(registry: Registry) -> None:
    """Questions, commitments, rubric and manifest are read from the file only once."""
    dataset, (manifest,) = "example@1", registry.manifests.values()
    rubric = registry.rubric("quality@1")
    first = (
        registry.questions(dataset),
        registry.commitments(dataset),
        registry.rubric_document(rubric),
        registry.manifest_document(manifest),
    )
    registry.read_plain = lambda _: pytest.fail("it was read already")
    assert registry.questions(dataset) is first[0]
    assert registry.commitments(dataset) is first[1]
    assert registry.rubric_document(rubric) is first[2]
    assert registry.manifest_document(manifest) is first[3]


@pytest.mark.parametrize("length", [1, 8, 64])
def test_a_manifest_has_four_names(length: int, registry: Registry) -> None:
    """Configuration, hash, prefix, and configuration with prefix name the same manifest."""
    (digest,) = registry.manifests
    for name in ("local", digest[:length], f"local@{digest[:length]}"):
        assert registry.manifest(name).manifest_hash == digest


def test_several_manifests_of_a_configuration_need_a_prefix(book: Ledger) -> None:
    """A configuration frozen twice is ambiguous by name, and not by its hashes."""
    book.freeze([small_manifest(reason="again")])
    registry = book.registry()
    with pytest.raises(AmbiguousError) as caught:
        registry.manifest("local")
    assert all(digest in caught.value.message for digest in registry.manifests)
    for digest in registry.manifests:
        assert registry.manifest(f"local@{digest[:8]}").manifest_hash == digest


@pytest.mark.parametrize(
    ("call", "message", "clause", "hint"),
    [
        ("dataset", "dataset other@1 is not registered", "C9", "there is example@1"),
        ("rubric", "rubric other@1 is not frozen", "C14", "there is quality@1"),
        ("manifest", "manifest other@1 is not frozen", "C9", "there is local"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    call: str, message: str, clause: str, hint: str, registry: Registry
) -> None:
    """A name that means nothing is refused, and the names there are stand in the hint."""
    with pytest.raises(RuleError) as caught:
        getattr(registry, call)("other@1")
    assert caught.value.bare_message == message
    assert (caught.value.clause, caught.value.hint) == (clause, hint)


def test_a_hint_lists_a_few_names_or_the_command() -> None:
    """Five names fit on a line; without any, the command that makes one is named."""
    assert listing("rubric", {}) == "ledger freeze rubric FILE"
    assert listing("rubric", dict.fromkeys("fedcba")) == "there is a, b, c, d, e, …"


def test_a_name_is_taken_once(book: Ledger, registry: Registry) -> None:
    """A second document of one name and version is refused, whatever it says."""
    for seq, clause in ((2, "C1"), (3, "C14"), (4, "C9")):
        with pytest.raises(RuleError) as caught:
            registry.check(stored(book, seq))
        assert caught.value.clause == clause


def test_a_configuration_is_one_system(book: Ledger, registry: Registry) -> None:
    """Another system under a taken configuration name is refused; a new name is welcome."""
    frozen = stored(book, 4)
    assert isinstance(frozen, ManifestFrozen)
    other = msgspec.structs.replace(frozen, manifest_hash="a" * 64, system_hash="b" * 64)
    with pytest.raises(RuleError, match="configuration local is system") as caught:
        registry.check(other)
    assert caught.value.clause == "C9"
    registry.check(msgspec.structs.replace(other, configuration="another"))
    registry.check(msgspec.structs.replace(frozen, manifest_hash="a" * 64))


def test_a_manifest_must_not_dangle(tmp_path: Path) -> None:
    """Dataset and rubric of a manifest are there before it."""
    with empty_ledger(tmp_path) as book:
        for document, missing in ((small_dataset(), "dataset"), (small_rubric(), "rubric")):
            with pytest.raises(RuleError, match=f"{missing} .* is not"):
                book.freeze([small_manifest()])
            book.freeze([document])
        assert book.freeze([small_manifest()])[0].status == "appended"


def test_other_events_are_no_documents(book: Ledger) -> None:
    """A note changes nothing of what is known, and is never refused here."""
    seq = book.append(note("x")).seq
    registry = book.registry()
    event = decode_event(book.read(seq).document)
    before = (dict(registry.datasets), dict(registry.places))
    registry.check(event.data)
    registry.apply(event)
    assert (registry.datasets, registry.places) == before
