"""Score receipts: what a stranger may believe, and what nobody can slip past the check."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledger_cases import RUN, seeded_bytes, small_rubric
from projection_cases import Log
from receipt_cases import (
    OURS,
    THEIRS,
    changed,
    left_out,
    proven,
    receipt_of,
    rewritten,
    signed_log,
    signer,
    signing_tools,
)
from trial_ledger.anchoring import rotate_key, sign_head
from trial_ledger.building import ACTOR
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.events import Actor
from trial_ledger.heads import PublicKey, origin_of, parse_public_key, verified_head
from trial_ledger.rescoring import Revision, derive_run
from trial_projections import receipt_check, receipt_structs
from trial_projections.receipt import claim_of, make_receipt, number_of
from trial_projections.receipt_check import check_receipt
from trial_projections.receipt_documents import Documents
from trial_projections.receipt_regrading import Regraded
from trial_projections.receipt_structs import Receipt, decode_receipt, encode_receipt
from trial_projections.receipt_texts import TextCount

Json = dict[str, Any]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """A signed ledger with a closed run, to which nothing is appended."""
    with signed_log(tmp_path_factory.mktemp("log")) as made:
        yield made


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Log]:
    """The same ledger, to append to."""
    with signed_log(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def receipt(log: Log) -> Receipt:
    """The receipt of its judged metric."""
    return receipt_of(log)


def refused(receipt: Receipt, words: str) -> None:
    """Check that a receipt is refused, with these words."""
    with pytest.raises(VerificationError, match=words):
        check_receipt(receipt)


def of_kind(kind: str, question: str | None = None) -> Callable[[Json], bool]:
    """Return whether a document is of a kind, and of a question."""
    return lambda table: (
        table["kind"] == kind
        and (question is None or (table["trial"] or {}).get("question") == question)
    )


def test_c36_a_receipt_checks_without_the_ledger(fresh: Log) -> None:
    """The number is computed anew from the documents; what it was measured by is told."""
    receipt = receipt_of(fresh)
    size = fresh.ledger.head().size
    fresh.ledger.close()
    found = check_receipt(decode_receipt(encode_receipt(receipt)))
    assert found.claim == receipt.claim
    assert (found.claim.headline.low.sum, found.claim.headline.low.count) == ("4", 10)
    assert (found.head.size, found.claim.link, found.key_is_known) == (size, 31, False)
    assert (found.about.entry, found.about.trials, found.about.overrides) == ("appended", 8, 1)
    assert found.texts == {
        "gold": TextCount(named=10, opened=0, redacted=0),
        "answers": TextCount(named=6, opened=0, redacted=0),
        "reasoning": TextCount(named=0, opened=0, redacted=0),
    }
    assert found.regraded == Regraded(given=5, alike=0, reason="judge is no code grader here")
    assert found.scale == ("0", "1")
    assert found.about.marks == [
        "retried 1: a later session counts there", "gate decided failed: judged",
    ]  # fmt: skip
    assert found.about.order == "not witnessed: appended after the fact"


def test_c02_no_text_is_in_a_receipt_unless_it_was_asked_for(log: Log, receipt: Receipt) -> None:
    """Answers, inputs, reasons and gold are named by hash; frozen documents are public."""
    shown = msgspec.json.encode(receipt)
    for words in (b"Samarkand", b"Babylon", b"again?", b"seen"):
        assert words not in shown
    opened = receipt_of(log, reveal=["answers"])
    contents = [base64.b64decode(text.content) for text in opened.revealed.values()]
    assert sorted(contents) == [b"Babylon"] * 5 + [b"Samarkand"]
    assert check_receipt(opened).texts["answers"] == TextCount(named=6, opened=6, redacted=0)


def test_a_known_key_is_told_from_the_receipts_own(log: Log, receipt: Receipt) -> None:
    """A checker's own copy of the key is used alone; another key signs nothing here."""
    key = PublicKey(name=origin_of(log.ledger.id), key=OURS.key)
    assert check_receipt(receipt, [key]).key_is_known
    other = PublicKey(name=origin_of(log.ledger.id), key=THEIRS.key)
    with pytest.raises(VerificationError, match="no signature of a known key"):
        check_receipt(receipt, [other])


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (of_kind("judgment.recorded", "q2"), "link 9 of fast-01 is missing"),
        (of_kind("judgment.overridden"), "link 22 of fast-01 is missing"),
        (of_kind("trial.started", "q3"), "link 10 of fast-01 is missing"),
        (of_kind("trial.finished", "q7"), "link 2[0-9] of fast-01 is missing"),
        (of_kind("failure.occurred"), "link [0-9]+ of fast-01 is missing"),
        (of_kind("call.started"), "the start of its call c1 is not in the receipt"),
        (of_kind("run.opened"), "link 1 of fast-01 is missing"),
        (of_kind("run.closed"), "holds 30 links of fast-01, not 31"),
        (of_kind("ledger.opened"), "keys of the receipt are not those"),
        (of_kind("rubric.frozen"), "do not fit|not frozen|unknown"),
        (lambda table: (table["trial"] or {}).get("question") == "q4", "link 14 of fast-01"),
        (lambda table: (table["trial"] or {}).get("session") == "s2", "link 28 of fast-01"),
    ],
)
def test_c36_nothing_can_be_left_out(
    log: Log, receipt: Receipt, wanted: Callable[[Json], bool], words: str
) -> None:
    """One trial, a second session, an override, a judgment, a call: the gap is named."""
    with pytest.raises(VerificationError, match=words):
        check_receipt(left_out(log.ledger, receipt, wanted))


def test_an_override_at_the_end_can_only_be_unsaid_by_saying_less(log: Log) -> None:
    """A receipt of fewer links is honest as of its last one, and says so."""
    receipt = receipt_of(log)
    kept = [text for text in receipt.documents if not of_kind("run.closed")(json.loads(text))]
    claim = msgspec.structs.replace(receipt.claim, link=30)
    shorter = msgspec.structs.replace(proven(log.ledger, receipt, kept), claim=claim)
    assert check_receipt(shorter).claim.link == 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table["claim"].update(decided=8), "the documents give decided"),
        (lambda table: table["claim"].update(metric="exact"), "the documents give"),
        (lambda table: table["claim"].update(metric="none"), "has no metric"),
        (lambda table: table["claim"].update(link=3), "holds 31 links of fast-01, not 3"),
        (lambda table: table["claim"].update(run="other"), "holds 0 links of other"),
        (lambda table: table["documents"].reverse(), "out of order"),
        (lambda table: table["documents"].append(table["documents"][-1]), ": out of order"),
        (lambda table: table["documents"].clear(), "holds no document"),
        (lambda table: table["proof"].pop(), "too short"),
        (lambda table: table["proof"].append(table["proof"][0]), "too long"),
        (lambda table: table["proof"].append("AAAA"), "a hash in it is none"),
        (lambda table: table["proof"].__setitem__(0, "*"), "hash in it is none"),
        (lambda table: table["keys"].append(table["keys"][0]), "keys of the receipt are not"),
        (lambda table: table["plain"].clear(), "is not in the receipt"),
        (lambda table: table.update(note=table["note"].replace("\n", "\n0", 1)), "size or root"),
    ],
)
def test_every_other_change_is_named(
    receipt: Receipt, change: Callable[[Json], object], words: str
) -> None:
    """A claim, an order, a proof, a key, a document: each is refused with what is wrong."""
    with pytest.raises(VerificationError, match=words):
        check_receipt(changed(receipt, change))


def swap(old: str, new: str) -> Callable[[Json], object]:
    """Return what changes a word in the fourth judgment."""

    def change(table: Json) -> None:
        place = next(
            number
            for number, text in enumerate(table["documents"])
            if '"judgment.recorded"' in text and old in text
        )
        table["documents"][place] = table["documents"][place].replace(old, new)

    return change


def test_c31_an_altered_judgment_breaks_the_chain_of_links(receipt: Receipt) -> None:
    """Changed in place its hash is another, and the next link does not follow."""
    refused(
        changed(receipt, swap('"incorrect"', '"correct"')),
        "does not follow link [0-9]+ of fast-01 as it is here",
    )
    spaced = changed(receipt, swap('"incorrect"', '"incorrect" '))
    refused(spaced, "not in canonical form")


def test_a_log_rewritten_by_its_owner_is_told_by_the_key_or_not_at_all(receipt: Receipt) -> None:
    """Without the key the head is refused; with it only an outside anchor would show it."""

    def better(table: Json) -> None:
        if table["kind"] == "judgment.recorded" and table["data"]["verdict"] == "incorrect":
            table["data"]["verdict"] = "correct"

    forged = rewritten(receipt, better, key=THEIRS)
    refused(forged, "no signature of a known key|is not its own")
    believed = rewritten(receipt, better)
    claimed = msgspec.structs.replace(believed, claim=check_claim(believed))
    assert check_receipt(claimed).claim.headline.low.sum == "5"


def test_another_rubric_than_the_runs_is_refused(receipt: Receipt) -> None:
    """The rubric's own hash stands in run.opened, and its text under the hash of its bytes."""

    def other(table: Json) -> None:
        for name, text in table["plain"].items():
            if '"primary"' in text:
                table["plain"][name] = text.replace('"1/20"', '"1/2"')

    with pytest.raises(VerificationError, match="is not what its hash says"):
        check_receipt(changed(receipt, other))


def test_a_receipt_of_another_ledger_does_not_fit(tmp_path: Path, receipt: Receipt) -> None:
    """Documents transplanted from elsewhere are of another origin than the head."""
    world = msgspec.structs.replace(signing_tools(tmp_path), random_bytes=seeded_bytes(8))
    other = Log(tmp_path, world=world)
    other.trial("q1")
    theirs = receipt_of(other)
    other.ledger.close()
    mixed = msgspec.structs.replace(receipt, documents=theirs.documents, proof=theirs.proof)
    refused(mixed, "seq 1: of another ledger than the signed head")
    refused(msgspec.structs.replace(theirs, note=receipt.note), "no signature of a known key")
    refused(
        msgspec.structs.replace(theirs, note=receipt.note, keys=receipt.keys),
        "of another ledger",
    )


def test_c30_every_text_is_what_its_hash_commits_to(log: Log) -> None:
    """A changed answer, another salt, bytes that are no base64: each is refused."""
    opened = receipt_of(log, reveal=["answers", "gold", "reasoning"])
    name = next(iter(opened.revealed))
    for change in (
        lambda table: table["revealed"][name].update(content=base64.b64encode(b"x").decode()),
        lambda table: table["revealed"][name].update(salt="00" * 32),
        lambda table: table["revealed"][name].update(salt="00"),
        lambda table: table["revealed"][name].update(content="*"),
        lambda table: table["revealed"].update({"0" * 64: table["revealed"][name]}),
    ):
        refused(changed(opened, change), "is not what its hash commits to")


def graded(log: Log) -> str:
    """Derive a run that a code grader judged, and return its name."""
    metrics = {"exact": {"measure": "verdict", "grader": "normalised-match@1"}}
    rubric = small_rubric(version="2", metrics=metrics)
    revision = Revision(parent=RUN, rubric=rubric, reason="by code", actor=ACTOR)
    derived = derive_run(log.ledger, revision)
    return derived.run


def test_c28_judgments_by_code_are_given_again(fresh: Log) -> None:
    """With gold and answers opened they come out alike; sealed, the receipt says that they are."""
    run = graded(fresh)
    found = check_receipt(receipt_of(fresh, "exact", run, reveal=["gold", "answers"]))
    assert found.regraded == Regraded(given=6, alike=6, reason=None)
    sealed = check_receipt(receipt_of(fresh, "exact", run, reveal=["answers"]))
    assert sealed.regraded == Regraded(given=6, alike=0, reason="gold sealed")
    sealed = check_receipt(receipt_of(fresh, "exact", run, reveal=["gold"]))
    assert sealed.regraded == Regraded(given=6, alike=0, reason="answer sealed")


def test_c14_a_derived_run_comes_with_its_parents_links(fresh: Log) -> None:
    """Its trials are the parent's up to the cited link; a gap there is named too."""
    run = graded(fresh)
    receipt = receipt_of(fresh, "exact", run)
    found = check_receipt(receipt)
    assert (found.claim.run, found.about.trials, found.claim.denominator) == (run, 8, 10)
    gap = left_out(fresh.ledger, receipt, of_kind("answer.submitted", "q2"))
    refused(gap, "of fast-01 is missing")


def test_a_judgment_that_code_does_not_give_is_refused(fresh: Log) -> None:
    """A verdict that was put under a code grader's name comes out otherwise."""
    run = graded(fresh)
    receipt = receipt_of(fresh, "exact", run, reveal=["gold", "answers"])

    def better(table: Json) -> None:
        if table["kind"] == "judgment.recorded" and table["run"] == run:
            table["data"]["verdict"] = "correct"

    forged = rewritten(receipt, better)
    claim = check_claim(forged)
    with pytest.raises(VerificationError, match="graded again it is incorrect, the log says corre"):
        check_receipt(msgspec.structs.replace(forged, claim=claim))


def check_claim(receipt: Receipt) -> Any:  # noqa: ANN401 - a claim
    """Return the claim that the documents of a receipt support."""
    head = verified_head(
        receipt.note, [parse_public_key(text) for text in receipt.keys], origin=None
    )
    model = Documents(receipt, head).model()
    try:
        run = model.run(receipt.claim.run)
        return claim_of(run, number_of(model, run, receipt.claim.metric))
    finally:
        model.close()


def test_a_key_that_was_handed_over_signs_from_then_on(fresh: Log) -> None:
    """The handing over is in the receipt, whoever signed the head."""
    third = signer(3)
    rotate_key(fresh.ledger, third, actor=Actor(role="human", name="Ada"))
    receipt = make_receipt(fresh.ledger, RUN, "judged")
    found = check_receipt(receipt)
    assert len(receipt.keys) == 2
    assert str(found.head.signers[0]) == receipt.keys[0]
    refused(
        left_out(fresh.ledger, receipt, of_kind("key.rotated")), "keys of the receipt are not those"
    )


def test_a_receipt_needs_a_signed_head_and_a_number(tmp_path: Path) -> None:
    """Without a key nothing can be proven to a stranger; without a number there is nothing to."""
    log = Log(tmp_path)
    with pytest.raises(NotFoundError, match="no signed head"):
        make_receipt(log.ledger, RUN, "judged")
    log.ledger.close()


def test_what_is_no_receipt_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other JSON, no JSON, too much of it."""
    for content in (b"", b"[]", b"{}", b'{"schema": 1}', b"\xff"):
        with pytest.raises(VerificationError, match="not a receipt"):
            decode_receipt(content)
    monkeypatch.setattr(receipt_structs, "LARGEST", 3)
    with pytest.raises(VerificationError, match="too large"):
        decode_receipt(b"{   }")


@pytest.mark.parametrize("broken", ["check_links", "check_in_log", "check_own_keys", "check_calls"])
def test_each_check_is_needed(
    log: Log, receipt: Receipt, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken out, each check lets through just what it is there for."""
    bad = {
        "check_links": left_out(log.ledger, receipt, of_kind("judgment.overridden")),
        "check_in_log": changed(receipt, swap('"incorrect"', '"correct"')),
        "check_own_keys": changed(receipt, lambda table: table["keys"].append(str(other_key(log)))),
        "check_calls": left_out(log.ledger, receipt, of_kind("call.started")),
    }[broken]
    with pytest.raises(VerificationError):
        check_receipt(bad)
    if broken == "check_links":
        monkeypatch.setattr(Documents, "check_links", without_gaps)
    elif broken == "check_in_log":
        monkeypatch.setattr(Documents, "check_in_log", lambda *_: None)
        monkeypatch.setattr(Documents, "check_links", without_gaps)
    else:
        monkeypatch.setattr(Documents, broken, lambda *_: None)
    loosened(bad, monkeypatch)


def loosened(receipt: Receipt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a bad receipt is believed once the number is not compared."""
    monkeypatch.setattr(receipt_check, "compared", lambda _, claim: claim)
    check_receipt(receipt)


def without_gaps(documents: Any, claim: Any) -> Any:  # noqa: ANN401 - what check_links takes and gives
    """Return what `check_links` returns, without looking for gaps."""
    links = [
        stored.event
        for stored in documents.events
        if stored.event.run == claim.run and stored.event.link is not None
    ]
    return links[0].data, links[-1]


def other_key(log: Log) -> PublicKey:
    """Return a key that the log does not name."""
    return PublicKey(name=origin_of(log.ledger.id), key=THEIRS.key)


def test_the_newest_head_is_what_a_receipt_speaks_of(fresh: Log) -> None:
    """What was appended after it is not in the receipt, until it is signed too."""
    fresh.act(
        "judgment.overridden", "q5", judgment="o2", replaces="j1", verdict="correct", reason="too"
    )
    before = make_receipt(fresh.ledger, RUN, "judged")
    assert (before.claim.link, before.claim.headline.low.sum) == (31, "4")
    sign_head(fresh.ledger)
    after = make_receipt(fresh.ledger, RUN, "judged")
    assert (after.claim.link, after.claim.headline.low.sum) == (32, "5")
