"""Receipts of ledgers whose owner keeps no rule: what no honest log holds is refused."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blake3 import blake3

from ledger_cases import RUN, full_ledger, small_rubric
from projection_cases import Log
from receipt_cases import OURS, THEIRS, changed, receipt_of, rewritten, signed_log, signing_tools
from trial_ledger.anchoring import sign_head
from trial_ledger.building import ACTOR
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.heads import PublicKey, verified_head
from trial_ledger.rescoring import Revision, derive_run
from trial_projections import receipt_check, receipt_documents
from trial_projections.receipt import make_receipt
from trial_projections.receipt_check import check_receipt
from trial_projections.receipt_documents import Documents
from trial_projections.receipt_structs import Receipt

Json = dict[str, Any]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A signed ledger with a closed run."""
    with signed_log(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def receipt(tmp_path_factory: pytest.TempPathFactory) -> Receipt:
    """The receipt of the judged metric of such a ledger."""
    with signed_log(tmp_path_factory.mktemp("receipt")) as made:
        return receipt_of(made)


def refused(receipt: Receipt, words: str) -> None:
    """Check that a receipt is refused, with these words."""
    with pytest.raises(VerificationError, match=words):
        check_receipt(receipt)


def in_data(kind: str, **fields: object) -> Callable[[Json], None]:
    """Return what sets fields in the data of every event of a kind."""

    def change(table: Json) -> None:
        if table["kind"] == kind:
            table["data"].update(fields)

    return change


def with_plain(receipt: Receipt, part: str, change: Callable[[str], str]) -> Receipt:
    """Return the receipt of a ledger in which a public document was another one from the start.

    The events name it by its new hash and length; what else they say of it stays.
    """
    (old,) = (name for name, text in receipt.plain.items() if part in text)
    text = change(receipt.plain[old])
    assert text != receipt.plain[old]
    new = blake3(text.encode()).hexdigest()
    plain = {name: known for name, known in receipt.plain.items() if name != old}

    def rename(table: Json) -> None:
        for value in table["data"].values():
            if isinstance(value, dict) and value.get("blob") == old:
                value.update(blob=new, bytes=len(text.encode()))

    forged = msgspec.structs.replace(receipt, plain={**plain, new: text})
    return rewritten(forged, rename)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (in_data("judgment.recorded", judgment="j\x1f1"), "a text in it has not its form"),
        (lambda table: table.update(actor={**table["actor"], "name": "\x1b"}), "has not its form"),
        (lambda table: table.update(recorded_at="2026-02-31T00:00:00.000000Z"), "not its form"),
        (lambda table: table.update(ledger="ab" * 16), "of another ledger than the signed head"),
        (in_data("run.opened", rubric_hash="ab" * 32), "is not the one that the run was opened"),
        (in_data("run.opened", manifest="ab" * 32), "do not fit together: KeyError"),
        (in_data("run.opened", dataset="other@1"), "dataset other@1 is not registered"),
        (in_data("rubric.frozen", rubric_hash="ab" * 32), "is not the one that the run was"),
        (in_data("dataset.registered", commitments_root="ab" * 32), "has not the hash abab"),
        (in_data("judgment.recorded", score="1", verdict=None), "do not fit|takes|the documents"),
    ],
)
def test_what_no_honest_log_holds_is_refused(
    receipt: Receipt, change: Callable[[Json], object], words: str
) -> None:
    """The owner has the key and rewrites everything; the log then breaks a rule that is checked."""
    refused(rewritten(receipt, change), words)


def test_the_kind_of_a_newer_version_is_named(receipt: Receipt) -> None:
    """An event that this version does not know says so, and what to do."""
    newer = changed(
        receipt,
        lambda table: table["documents"].__setitem__(
            0, table["documents"][0].replace('"ledger.opened"', '"ledger.o"')
        ),
    )
    with pytest.raises(VerificationError, match="a kind this version does not know") as caught:
        check_receipt(newer)
    assert caught.value.hint == "install a newer trial-ledger"


@pytest.mark.parametrize(
    ("part", "before", "after", "words"),
    [
        ('"primary"', '"1/20"', '"1/2"', "has not the hash"),
        ('"session"', '"repetitions":1', '"repetitions":2', "has not the hash"),
        ('"repetitions":1}', ":1}", ":99999999}", "plans more than 1000000 slots"),
        ('"repetitions":1}', ":1}", ":0}", "judged of fast-01 is unavailable"),
        ('"repetitions":1}', '"q1"', '"q0"', "do not fit together: KeyError"),
    ],
)
def test_a_public_document_is_the_one_by_whose_hash_it_is_known(
    receipt: Receipt, part: str, before: str, after: str, words: str
) -> None:
    """Rubric and manifest are named by hash elsewhere too; a plan is of bearable size."""
    refused(with_plain(receipt, part, lambda text: text.replace(before, after)), words)


def test_a_run_has_the_rubric_and_dataset_of_its_manifest(receipt: Receipt) -> None:
    """Another question set under the manifest's name would be another benchmark."""
    forged = with_plain(receipt, '"task_shape"', lambda text: text.replace("riddle", "puzzle"))
    refused(forged, "fast-01 has not the rubric and dataset of its manifest")


def test_a_run_that_nothing_opens_is_none(receipt: Receipt) -> None:
    """Link 1 opens the run: without it there is no plan to count against."""
    documents = [text for text in receipt.documents if '"run.opened"' not in text]

    def renumber(table: Json) -> None:
        if table["link"] is not None:
            table["link"]["n"] -= 1

    forged = rewritten(msgspec.structs.replace(receipt, documents=documents), renumber)
    claim = msgspec.structs.replace(receipt.claim, link=receipt.claim.link - 1)
    refused(msgspec.structs.replace(forged, claim=claim), "link 1 of fast-01 does not open it")


def test_events_of_other_runs_have_no_place_in_a_receipt(receipt: Receipt) -> None:
    """They could only make it look like more than it is."""
    place = next(n for n, text in enumerate(receipt.documents) if '"run.opened"' in text)
    documents = receipt.documents
    documents = [*documents[: place + 1], documents[place], *documents[place + 1 :]]
    seen: list[int] = []

    def other(table: Json) -> None:
        seen.append(1)
        if len(seen) == place + 1:
            table["run"] = "other"

    refused(
        rewritten(msgspec.structs.replace(receipt, documents=documents), other), ": of another run"
    )


def test_what_nothing_rests_on_has_no_place_in_a_receipt(receipt: Receipt) -> None:
    """A call that did not fail is no link, and no number depends on it."""
    place = next(n for n, text in enumerate(receipt.documents) if '"call.started"' in text)
    documents = list(receipt.documents)
    start = documents[place]
    more = [*documents[:place], start, start.replace('"c1"', '"c2"'), *documents[place + 1 :]]
    refused(
        rewritten(msgspec.structs.replace(receipt, documents=more), lambda _: None),
        "nothing in the receipt rests on it",
    )
    late = [*documents[:place], *documents[place + 1 :], start]
    refused(
        rewritten(msgspec.structs.replace(receipt, documents=late), lambda _: None),
        "the start of its call c1 is not in the receipt",
    )


def test_a_head_that_somebody_else_signed_is_not_the_ledgers(receipt: Receipt) -> None:
    """A checker who trusts another key learns that this ledger does not name it."""
    forged = rewritten(receipt, lambda _: None, key=THEIRS)
    key = PublicKey(name=receipt.note.split("\n")[0], key=THEIRS.key)
    with pytest.raises(VerificationError, match="not signed by a key of this ledger"):
        check_receipt(forged, [key])


def test_documents_that_do_not_fit_together_are_no_fault_of_ours(
    receipt: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk stays a full disk; anything that the documents cause is theirs."""

    def full(*_: object) -> None:
        message = "the disk is full"
        raise StorageError(message)

    monkeypatch.setattr(receipt_documents, "fold_part", full)
    with pytest.raises(StorageError, match="the disk is full"):
        check_receipt(receipt)


@pytest.mark.parametrize(
    "error", [RecursionError, ZeroDivisionError, AttributeError, TypeError, ValueError]
)
def test_no_forgery_ends_in_a_traceback(
    receipt: Receipt, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever forged documents make the arithmetic do is said in one line."""

    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(receipt_check, "number_of", failing)
    refused(receipt, f"do not fit together: {error.__name__}")


def test_documents_longer_than_any_event_are_not_read(receipt: Receipt) -> None:
    """The length is looked at before anything is decoded."""
    long = changed(receipt, lambda table: table["documents"].append(" " * 65_536))
    refused(long, "longer than any event")


def test_c12_a_run_that_does_not_count_says_so(log: Log) -> None:
    """Invalidated at some link, by whom; taken back, no more."""
    log.act("run.invalidated", reason="wrong endpoint")
    about = check_receipt(receipt_of(log)).about
    assert about.marks[0].startswith("INVALID since seq 38, said Ada")
    log.act("run.reinstated", reason="it was right")
    assert not check_receipt(receipt_of(log)).about.marks[0].startswith("INVALID")


def test_c14_a_derived_run_says_so_and_whether_its_parent_counts(log: Log) -> None:
    """As of the cited link: what came to the parent later is not in the receipt."""
    log.act("run.invalidated", reason="wrong endpoint")
    metrics = {"exact": {"measure": "verdict", "grader": "normalised-match@1"}}
    rubric = small_rubric(version="2", metrics=metrics)
    derived = derive_run(
        log.ledger, Revision(parent=RUN, rubric=rubric, reason="by code", actor=ACTOR)
    )
    found = check_receipt(receipt_of(log, "exact", derived.run))
    assert found.about.marks[:2] == [
        "rubric after the fact: derived from fast-01 as of its link 32",
        "parent fast-01 invalidated",
    ]
    assert found.about.order == "not witnessed: appended after the fact"


def test_a_live_run_was_witnessed(tmp_path: Path) -> None:
    """Manifest before the first trial, as the log has it."""
    with full_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        sign_head(ledger)
        found = check_receipt(make_receipt(ledger, RUN, "exact"))
    assert found.about.order == (
        "witnessed: recorded live; manifest frozen at seq 4, first trial at seq 6"
    )


def test_the_words_of_a_document_are_those_of_its_json(receipt: Receipt) -> None:
    """An event of before a field existed is canonical too; other spellings of it are not."""
    place = next(n for n, text in enumerate(receipt.documents) if '"trial.started"' in text)
    table = json.loads(receipt.documents[place])
    assert table["data"].pop("seed") is None
    older = json.dumps(table, sort_keys=True, separators=(",", ":")).encode()
    head = verified_head(receipt.note, [own_key(receipt)], origin=None)
    documents = Documents(receipt, head)
    documents.events.clear()
    assert documents.stored(older).event.seq == table["seq"]
    with pytest.raises(VerificationError, match="not in canonical form"):
        documents.stored(older.replace(b",", b", ", 1))
    table["data"]["seed"] = 2**53
    large = json.dumps(table, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(VerificationError):
        documents.stored(large)


def own_key(receipt: Receipt) -> PublicKey:
    """Return the key that a receipt names."""
    return PublicKey(name=receipt.note.split("\n")[0], key=OURS.key)
