"""Sealing: every text becomes a blob of the right class in the right file, without secrets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from document_cases import manifest_table
from ledger_cases import (
    RUN,
    Script,
    event_id,
    note,
    opened,
    small_ledger,
    small_rubric,
    started,
    tools,
    trial,
)
from trial_ledger.book import Ledger
from trial_ledger.errors import RuleError, StorageError
from trial_ledger.events import BlobRef
from trial_ledger.goldfile import gold_path
from trial_ledger.submission import NewText, Submission

SECRETS = {
    "MODEL_KEY": "hunter22-model",
    "SEARCH_KEY": "hunter22-search",
    "JUDGE": "hunter22-judge",
}
Q1 = Script(RUN, trial("q1"))


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents and an open run, where secrets are known."""
    with small_ledger(tmp_path, world=tools(tmp_path, environ=SECRETS)) as ledger:
        ledger.append(opened())
        ledger.append(started(RUN, trial("q1")))
        yield ledger


def reference(book: Ledger, submission: Submission, field: str) -> BlobRef:
    """Append an event and return one of its texts."""
    found = getattr(book.read(book.append(submission).seq).event.data, field)
    assert isinstance(found, BlobRef)
    return found


def content(book: Ledger, submission: Submission, field: str) -> bytes | None:
    """Append an event and return the bytes of one of its texts."""
    return book.blob(reference(book, submission, field))


def noted(text: object, run: str | None = None) -> Submission:
    """Return a note with any text."""
    return Submission(kind="note.added", run=run, data={"about": "x", "text": text})


def test_a_text_is_sealed_under_a_salt(book: Ledger) -> None:
    """The same words twice are two blobs, so that nobody can tell that they are equal."""
    first, second = (reference(book, note("the same"), "text") for _ in range(2))
    assert first.blob != second.blob
    assert (first.class_, first.bytes) == ("sealed", 8)
    assert book.blob(first) == book.blob(second) == b"the same"


@pytest.mark.parametrize(
    ("class_", "expected"), [("plain", "sealed"), (None, "sealed"), ("gold", "gold")]
)
def test_a_class_is_raised_and_never_lowered(
    class_: Literal["plain", "gold"] | None, expected: str, book: Ledger
) -> None:
    """A writer may ask for more secrecy than the field has, not for less."""
    text = NewText(content=b"t", class_=class_)
    assert reference(book, noted(text), "text").class_ == expected


def test_gold_lies_in_the_gold_file_only(book: Ledger, tmp_path: Path) -> None:
    """A gold text is not in the ledger file, whose bytes show nothing of it."""
    text = NewText(content=b"Samarkand" * 9, class_="gold")
    found = reference(book, noted(text), "text")
    assert book.gold is not None
    assert book.gold.blobs.has(bytes.fromhex(found.blob))
    assert not book.store.blobs.has(bytes.fromhex(found.blob))
    assert b"Samarkand" not in (tmp_path / "trials.ledger").read_bytes()


def test_what_comes_from_or_goes_to_a_judge_is_gold(book: Ledger) -> None:
    """Requests, responses and failures of judge calls show gold; those of others do not."""
    for submission, field, class_ in (
        (Q1.call("c1", "model"), "request", "sealed"),
        (Q1.failure("f1", "timeout", "model_provider", call="c1"), "message", "sealed"),
        (Q1.event("call.finished", call="c1", status="ok", response="r"), "response", "sealed"),
        (Q1.failure("f2", "tool_error", "agent"), "message", "sealed"),
        (Q1.call("c2", "judge"), "request", "gold"),
        (Q1.failure("f3", "timeout", "harness", call="c2"), "message", "gold"),
        (Q1.event("call.finished", call="c2", status="ok", response="r"), "response", "gold"),
        (Q1.failure("f4", "judge_error", "judge"), "message", "gold"),
    ):
        assert reference(book, submission, field).class_ == class_, submission


def test_without_the_gold_file_gold_is_refused(book: Ledger, tmp_path: Path) -> None:
    """An event with gold needs the gold file; one without does not."""
    book.close()
    gold_path(tmp_path / "trials.ledger").unlink()
    with Ledger.open(tmp_path / "trials.ledger", write=True, tools=book.tools) as alone:
        with pytest.raises(StorageError) as caught:
            alone.append(Q1.call("c2", "judge"))
        assert "call.started carries text that belongs in the gold file" in caught.value.message
        assert alone.append(Q1.call("c1", "model")).status == "appended"


def test_gold_of_a_missing_file_cannot_be_compared(book: Ledger, tmp_path: Path) -> None:
    """Without the gold file an event that holds gold is not known to be the same."""
    item = Submission(
        kind="note.added",
        id=event_id("gold"),
        data={"about": "x", "text": NewText(content=b"g", class_="gold")},
    )
    book.append(item)
    book.close()
    gold_path(tmp_path / "trials.ledger").rename(tmp_path / "away")
    with (
        Ledger.open(tmp_path / "trials.ledger", write=True, tools=book.tools) as alone,
        pytest.raises(RuleError, match=r"another data\.text"),
    ):
        alone.append(item)


def test_secrets_of_a_run_leave_its_events(book: Ledger) -> None:
    """The keys that manifest and judge name are replaced in every text and field of the run."""
    call = Q1.call("c1", "model", request=f"key {SECRETS['MODEL_KEY']}", name=SECRETS["SEARCH_KEY"])
    acknowledged = book.append(call)
    data = book.read(acknowledged.seq).event.data
    assert getattr(data, "name", None) == "[secret SEARCH_KEY]"
    assert book.blob(data.request) == b"key [secret MODEL_KEY]"  # type: ignore[union-attr, arg-type]


def test_secrets_leave_events_of_no_run(book: Ledger) -> None:
    """Notes, and the reason of a run that is just being opened, hold no secret either."""
    secret = SECRETS["MODEL_KEY"]
    assert content(book, note(f"it was {secret}"), "text") == b"it was [secret MODEL_KEY]"
    opening = opened("r2", reason=f"after {secret}")
    assert content(book, opening, "reason") == b"after [secret MODEL_KEY]"


def test_the_judge_of_a_derived_run_has_its_own_key(book: Ledger) -> None:
    """Another rubric over the same manifest brings another secret, which is scrubbed as well."""
    judge = {"model": "j", "endpoint": "judge", "prompt": "{answer}", "key_env": "JUDGE"}
    metrics = {"judged": {"measure": "verdict", "grader": "judge"}}
    book.freeze([small_rubric(version="2", primary="judged", metrics=metrics, judge=judge)])
    text = f"said {SECRETS['JUDGE']}"
    assert content(book, note(text), "text") == b"said [secret JUDGE]"
    book.append(
        opened("r2", rubric="quality@2", derived_from={"run": RUN, "link": 2}, reason="again")
    )
    assert content(book, noted(text, run="r2"), "text") == b"said [secret JUDGE]"
    assert content(book, noted(text, run=RUN), "text") == text.encode()


def test_a_secret_in_a_name_is_refused(book: Ledger) -> None:
    """A trial or an actor named after a secret is refused, and the secret is not shown."""
    with pytest.raises(RuleError) as caught:
        book.append(started(RUN, trial("q2", session=SECRETS["MODEL_KEY"])))
    assert (caught.value.clause, caught.value.field) == ("C11", "trial")
    assert "hunter22" not in caught.value.message


def test_frozen_documents_keep_their_bytes(tmp_path: Path) -> None:
    """A document that was frozen is not scrubbed afterwards: its hash names its bytes."""
    table = manifest_table(repetitions=1)
    assert table["endpoints"]["model"]["key_env"] == "MODEL_KEY"
    world = tools(tmp_path, environ={"MODEL_KEY": "quality@1"})
    with small_ledger(tmp_path, world=world) as book:
        assert book.verify().is_intact
        (manifest,) = book.registry().manifests.values()
        assert manifest.rubric == "quality@1"
