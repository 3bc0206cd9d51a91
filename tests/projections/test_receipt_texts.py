"""Texts that a receipt opens, those that were redacted, and grading that is run again."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger_cases import ANSWERS, PERSON, RUN, full_ledger, small_rubric
from projection_cases import Log
from receipt_cases import changed, receipt_of, rewritten, signed_log, signing_tools
from trial_ledger.anchoring import sign_head
from trial_ledger.book import Ledger
from trial_ledger.building import ACTOR
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.events import AnswerSubmitted, JudgmentRecorded
from trial_ledger.goldfile import gold_path
from trial_ledger.redaction import redact
from trial_ledger.registry import Registry
from trial_ledger.rescoring import Revision, derive_run
from trial_projections import receipt_check
from trial_projections.receipt import make_receipt
from trial_projections.receipt_check import check_receipt
from trial_projections.receipt_regrading import Regraded
from trial_projections.receipt_structs import REVEALABLE, Receipt, Revealed
from trial_projections.receipt_texts import TextCount, content_of

Json = dict[str, Any]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A signed ledger with a closed run."""
    with signed_log(tmp_path) as made:
        yield made


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with the sample run, judged by code and by a model with reasons."""
    with full_ledger(tmp_path, world=signing_tools(tmp_path)) as made:
        yield made


def texts_of(ledger: Ledger) -> tuple[str, str]:
    """Return the hashes of the first answer and of the first reasoning of a judgment."""
    answer = reasoning = ""
    for stored in ledger.events(run=RUN):
        data = stored.event.data
        if isinstance(data, AnswerSubmitted) and data.answer is not None and not answer:
            answer = data.answer.blob
        if isinstance(data, JudgmentRecorded) and data.reasoning is not None and not reasoning:
            reasoning = data.reasoning.blob
    return answer, reasoning


def signed_receipt(ledger: Ledger, metric: str = "exact", **reveal: Any) -> Receipt:  # noqa: ANN401 - texts
    """Return the receipt of a ledger as it is now."""
    sign_head(ledger)
    return make_receipt(ledger, RUN, metric, **reveal)


def test_every_kind_of_text_can_be_opened(full: Ledger) -> None:
    """Gold and reasoning come from the gold file, answers from the ledger; each only if named."""
    for kind in REVEALABLE:
        counts = check_receipt(signed_receipt(full, reveal=[kind])).texts
        assert {name for name, count in counts.items() if count.opened} == {kind}
        assert counts[kind].opened == counts[kind].named > 0


def test_c11_a_receipt_of_a_redacted_answer_checks_and_says_so(full: Ledger) -> None:
    """What was redacted is counted apart, its judgment is not run again, the number stays."""
    before = check_receipt(signed_receipt(full, reveal=["gold", "answers"]))
    named = before.texts["answers"].named
    assert before.texts["answers"] == TextCount(named=named, opened=named, redacted=0)
    assert before.regraded.alike == before.regraded.given
    answer, reasoning = texts_of(full)
    for blob in (answer, reasoning):
        redact(full, blob, reason="asked to", authority="Ada", actor=PERSON)
    receipt = signed_receipt(full, reveal=REVEALABLE)
    assert answer not in receipt.revealed
    assert reasoning not in receipt.revealed
    found = check_receipt(receipt)
    assert found.claim == before.claim
    assert found.texts["answers"] == TextCount(named=named, opened=named - 1, redacted=1)
    assert found.texts["reasoning"].redacted == 1
    assert found.regraded == Regraded(
        given=before.regraded.given, alike=before.regraded.given - 1, reason="answer sealed"
    )
    untouched = check_receipt(signed_receipt(full))
    assert untouched.texts["answers"].redacted == 1


def test_an_opened_text_is_one_of_this_number(log: Log) -> None:
    """A text with its own salt proves nothing unless an event of the run names its hash."""
    opened = receipt_of(log, reveal=["answers"])
    judged = receipt_of(log, reveal=["reasoning"])
    name, text = next(iter(opened.revealed.items()))

    def elsewhere(table: Json) -> None:
        if table["kind"] == "answer.submitted" and table["data"]["answer"]["blob"] == name:
            table["data"]["answer"]["blob"] = "ab" * 32

    assert check_receipt(rewritten(judged, elsewhere)).texts["answers"].opened == 0
    stray = changed(
        judged,
        lambda table: table["revealed"].update(
            {name: {"salt": text.salt, "content": text.content}}
        ),
    )
    assert check_receipt(stray).texts["answers"].opened == 1
    with pytest.raises(VerificationError, match=f"{name} is none of this number"):
        check_receipt(rewritten(stray, elsewhere))


def test_salt_and_text_are_written_in_one_way(log: Log) -> None:
    """Upper-case hex or slack bits of base64 are the same bytes, and refused all the same."""
    name, text = next(iter(receipt_of(log, reveal=["answers"]).revealed.items()))
    content = content_of(name, text)
    assert base64.b64encode(content).decode() == text.content
    slack = text.content.replace("b24=", "b25=") if "b24=" in text.content else None
    for salt, encoded in (
        (text.salt.upper(), text.content),
        (" " + text.salt, text.content),
        (text.salt, slack or text.content[:-1] + "\n="),
        (text.salt[:-2], text.content),
    ):
        with pytest.raises(VerificationError, match="is not what its hash commits to"):
            content_of(name, Revealed(salt=salt, content=encoded))


def test_c02_gold_is_not_opened_without_its_file(log: Log) -> None:
    """Whoever has the ledger alone can hand out answers, and nothing else."""
    sign_head(log.ledger)
    log.ledger.close()
    gold_path(log.path).unlink()
    with Ledger.open(log.path, tools=signing_tools(log.path.parent)) as ledger:
        assert make_receipt(ledger, RUN, "judged", reveal=["answers", "reasoning"]).revealed
        with pytest.raises(NotFoundError, match="gold cannot be opened: the gold file is not"):
            make_receipt(ledger, RUN, "judged", reveal=["gold"])


def graded(log: Log, **reveal: Any) -> Receipt:  # noqa: ANN401 - texts
    """Return the receipt of a derived run that a code grader judged."""
    metrics = {"exact": {"measure": "verdict", "grader": "normalised-match@1"}}
    rubric = small_rubric(version="2", metrics=metrics)
    revision = Revision(parent=RUN, rubric=rubric, reason="by code", actor=ACTOR)
    return receipt_of(log, "exact", derive_run(log.ledger, revision).run, **reveal)


def judgments(change: Json) -> Any:  # noqa: ANN401 - what `rewritten` takes
    """Return what changes every judgment of a grader of ours."""

    def apply(table: Json) -> None:
        if table["kind"] == "judgment.recorded" and table["data"]["metric"] == "exact":
            for field, value in change.items():
                if isinstance(value, dict):
                    table["data"][field].update(value)
                else:
                    table["data"][field] = value

    return apply


def test_c28_a_judgment_is_run_again_by_the_grader_that_gave_it(log: Log) -> None:
    """Another version, as a grader of somebody else, is not run; another gold is refused."""
    receipt = graded(log, reveal=["gold", "answers"])
    newer = check_receipt(rewritten(receipt, judgments({"grader": {"version": "2"}})))
    assert newer.regraded == Regraded(
        given=6, alike=0, reason="given by another grader than the rubric's"
    )
    with pytest.raises(VerificationError, match="judged against another gold than committed"):
        check_receipt(rewritten(receipt, judgments({"gold": "ab" * 32})))


def test_c28_without_gold_nothing_is_gradable_and_that_is_run_again_too(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that the dataset commits to no gold for is judged so by code, alike."""
    receipt = graded(log, reveal=["answers"])
    assert check_receipt(receipt).regraded.reason == "gold sealed"
    forged = rewritten(receipt, judgments({"gold": None, "verdict": "not_gradable"}))
    none = dict.fromkeys(ANSWERS)
    monkeypatch.setattr(Registry, "commitments", lambda *_: none)
    monkeypatch.setattr(receipt_check, "compared", lambda found, _: found)
    found = check_receipt(forged)
    assert found.regraded == Regraded(given=6, alike=6, reason=None)
    assert found.texts["gold"].named == 0
