"""C11: a text is erased from every byte, and everything that proves it stays as it was."""

import json
import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attack_cases import checked, raw
from ledger_cases import HARNESS, PERSON, RUN, copied, event_id, note, tools
from redact_cases import files_with, noted, redacted, stored_traces, windows, writing
from trial_ledger import redaction, sqlite
from trial_ledger.book import Ledger
from trial_ledger.errors import (
    AmbiguousError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    RuleError,
    VerificationError,
)
from trial_ledger.events import Actor, BlobRedacted, BlobRef
from trial_ledger.goldfile import gold_path
from trial_ledger.mentions import mentions
from trial_ledger.merkle import root_at
from trial_ledger.redaction import left_over, redact, rewrite
from trial_ledger.submission import NewText, Submission

EXAMPLES = 300 if os.environ.get("LEDGER_SOAK") == "1" else 5
WORDS = b"The neighbour of Ada Example is said to have taken the red bicycle. "
NOISE = Random(5).randbytes(9_000)  # noqa: S311 - bytes that no compressor shortens
TEXTS = {
    "a short one": b"Ada Example, 12 Sample Street",
    "one that is compressed": WORDS * 40,
    "one that fills pages": NOISE,
    "gold": WORDS * 3,
}


@pytest.mark.parametrize("name", TEXTS)
def test_c11_a_redacted_text_is_nowhere_in_the_bytes(victim: Path, name: str) -> None:
    """No file holds a piece of the text, of its compressed form, of its salt or of its digest."""
    text = TEXTS[name]
    with writing(victim) as ledger:
        reference = noted(ledger, text, class_="gold" if name == "gold" else "sealed")
        noted(ledger, b"something that stays, " * 9)
        before = ledger.head()
    pieces = stored_traces(victim, reference) | windows(text)
    assert files_with(victim.parent, pieces) != []
    with writing(victim) as ledger:
        done = redacted(ledger, reference)
        assert ledger.blob(reference) is None
        assert root_at(before.size, ledger.store.node).hex() == before.root
    assert [item.status for item in done.blobs] == ["redacted"]
    assert files_with(victim.parent, pieces) == []
    searched = left_over(victim, done.needles)
    assert searched.found == []
    assert {victim.name, gold_path(victim).name} <= set(searched.files)
    assert searched.bytes == sum((victim.parent / file).stat().st_size for file in searched.files)
    found = checked(victim)
    assert (found.is_intact, found.redacted, found.unerased) == (True, 1, [])


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_c11_what_is_erased_goes_and_the_rest_stays(
    honest: Path, tmp_path: Path, data: st.DataObject
) -> None:
    """Of any texts, stored in any order, those that are redacted go from the bytes; no other."""
    folder = tmp_path / data.draw(st.uuids(), "folder").hex
    path = copied(honest, folder)
    size = st.sampled_from([20, 90, 300, 2_000, 5_000])
    drawn = data.draw(st.lists(st.tuples(size, st.booleans(), st.booleans()), min_size=1))
    random = Random(len(drawn))  # noqa: S311 - repeatable
    with writing(path) as ledger:
        texts = [random.randbytes(length) for length, _, _ in drawn]
        references = [
            noted(ledger, text, class_="gold" if is_gold else "sealed")
            for text, (_, is_gold, _) in zip(texts, drawn, strict=True)
        ]
    gone = [number for number, (_, _, goes) in enumerate(drawn) if goes]
    pieces = {piece for number in gone for piece in stored_traces(path, references[number])}
    with writing(path) as ledger:
        for number in random.sample(gone, len(gone)):
            redacted(ledger, references[number])
        for number, reference in enumerate(references):
            assert ledger.blob(reference) == (None if number in gone else texts[number])
    assert files_with(folder, pieces) == []
    assert checked(path).is_intact


def test_c11_the_search_finds_what_a_lax_database_leaves(
    victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where SQLite does not overwrite, the search says so; written anew, the files are clean."""
    lax = tuple(line for line in sqlite.WRITER_SETTINGS if "secure_delete" not in line)
    monkeypatch.setattr(sqlite, "WRITER_SETTINGS", (*lax, "PRAGMA secure_delete=OFF"))
    with writing(victim) as ledger:
        first = noted(ledger, NOISE)
        second = noted(ledger, WORDS * 40, class_="gold")
    pieces = [stored_traces(victim, reference) for reference in (first, second)]
    with writing(victim) as ledger:
        needles = redacted(ledger, first).needles + redacted(ledger, second).needles
    assert [files_with(victim.parent, piece) for piece in pieces] != [[], []]
    assert {file for file, _ in left_over(victim, needles).found} == {
        victim.name,
        gold_path(victim).name,
    }
    with writing(victim) as ledger:
        rewrite(ledger)
    assert left_over(victim, needles).found == []
    assert [files_with(victim.parent, piece) for piece in pieces] == [[], []]
    assert checked(victim).is_intact


def test_files_are_written_anew_without_gold_too(victim: Path) -> None:
    """A ledger whose gold file is elsewhere is written anew by itself."""
    gold_path(victim).unlink()
    with writing(victim) as ledger:
        rewrite(ledger)
    assert checked(victim).is_intact


def test_c11_a_crash_before_the_gold_file_is_finished_by_the_next(
    victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redaction that forgot the gold file is seen by search and verify; the next finishes it."""
    with writing(victim) as ledger:
        gold = noted(ledger, WORDS * 3, class_="gold")
        other = noted(ledger, NOISE)
    pieces = stored_traces(victim, gold)
    with monkeypatch.context() as patch, writing(victim) as ledger:
        patch.setattr(redaction, "erase_gold", lambda *_: None)
        redacted(ledger, gold)
    assert files_with(victim.parent, pieces) == [gold_path(victim).name]
    found = checked(victim)
    assert (found.is_intact, found.redacted, found.unerased) == (True, 0, [gold.blob])
    size = found.size
    with writing(victim) as ledger:
        assert redacted(ledger, other).finished == [gold.blob]
        assert redacted(ledger, gold).blobs[0].status == "was redacted"
    assert files_with(victim.parent, pieces) == []
    found = checked(victim)
    assert (found.redacted, found.unerased, found.size) == (2, [], size + 1)


def test_c11_the_same_text_again_finishes_its_own(
    victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repeating the command after a crash erases what is left and records nothing again."""
    with writing(victim) as ledger:
        gold = noted(ledger, WORDS, class_="gold")
        with monkeypatch.context() as patch:
            patch.setattr(redaction, "erase_gold", lambda *_: None)
            redacted(ledger, gold)
        size = ledger.head().size
        done = redacted(ledger, gold)
        assert (done.blobs[0].status, done.blobs[0].seq) == ("finished", size)
        assert ledger.head().size == size
    assert checked(victim).redacted == 1


def test_c11_twice_is_once(victim: Path) -> None:
    """A second redaction says so, names the first, and appends nothing."""
    with writing(victim) as ledger:
        reference = noted(ledger, WORDS)
        first = redacted(ledger, reference).blobs[0]
        size = ledger.head().size
        again = redacted(ledger, reference)
        assert (again.blobs[0].status, again.blobs[0].seq) == ("was redacted", first.seq)
        assert (again.equal, again.inside, again.needles) == ([], None, [])
        assert ledger.head().size == size


def test_c11_a_dry_run_writes_nothing(victim: Path) -> None:
    """What would be redacted is shown with where it stands; who and why are checked as ever."""
    before = checked(victim).root
    with writing(victim) as ledger:
        answer = next(one for one in mentions(ledger, ledger.events()) if one.field == "answer")
        done = redact(
            ledger, answer.blob, reason="why", authority="owner", actor=PERSON, dry_run=True
        )
        assert [(item.status, item.seq) for item in done.blobs] == [("would be redacted", None)]
        assert done.blobs[0].mentions == [answer]
        assert str(answer) == f"answer of seq {answer.seq}, answer.submitted"
        with pytest.raises(RefusedError):
            redact(ledger, answer.blob, reason=" ", authority="o", actor=PERSON, dry_run=True)
    assert checked(victim).root == before


def test_c11_equal_texts_stay_unless_asked_for(victim: Path) -> None:
    """Another blob of the same text keeps it and is named; all of them can go together."""
    with writing(victim) as ledger:
        one, two = noted(ledger, WORDS), noted(ledger, WORDS)
        three = noted(ledger, WORDS, class_="gold")
        pieces = windows(WORDS)
        done = redacted(ledger, one)
        assert {mention.blob for mention in done.equal} == {two.blob, three.blob}
        assert len(done.needles) == 1, "only the salt is gone"
        assert ledger.blob(two) == ledger.blob(three) == WORDS
        done = redacted(ledger, two, all_equal=True)
        assert [item.blob for item in done.blobs] == [two.blob, three.blob]
        assert done.equal == []
    assert files_with(victim.parent, pieces) == []
    assert checked(victim).redacted == 3


def test_c11_a_frozen_document_of_the_same_text_stays(victim: Path) -> None:
    """What is frozen is not redacted together with an equal text, and is named."""
    with writing(victim) as ledger:
        frozen = next(
            one
            for one in mentions(ledger, ledger.events())
            if (one.kind, one.field) == ("rubric.frozen", "document")
        )
        text = ledger.store.blobs.read_named(bytes.fromhex(frozen.blob))
        assert text is not None
        done = redacted(ledger, noted(ledger, text), all_equal=True)
        assert (len(done.blobs), done.equal) == (1, [frozen])


def test_c11_what_an_interrupted_append_left_goes_along(victim: Path) -> None:
    """An equal blob that no event names would keep the text for nobody."""
    with writing(victim) as ledger:
        reference = noted(ledger, WORDS, class_="gold")
    with writing(victim) as ledger:
        orphan = orphaned(ledger, WORDS)
        done = redacted(ledger, reference)
        assert [(item.blob, item.mentions) for item in done.blobs[1:]] == [(orphan, [])]
    assert files_with(victim.parent, windows(WORDS)) == []
    assert checked(victim).is_intact


def orphaned(ledger: Ledger, text: bytes) -> str:
    """Leave a gold blob that no event names, as a crash between two commits does."""
    from trial_ledger.blobs import sealed_blob  # noqa: PLC0415 - only here

    assert ledger.gold is not None
    blob = sealed_blob(text, class_="gold", random_bytes=ledger.tools.random_bytes)
    ledger.gold.add(blob)
    ledger.gold.commit()
    return blob.hash.hex()


def test_c11_longer_texts_that_hold_it_are_named(victim: Path) -> None:
    """A text quoted in another, as it is or inside JSON, is found; a short one not looked for."""
    text = 'Ada said: "the bicycle is red, naïve as it may be"'
    with writing(victim) as ledger:
        plain = noted(ledger, f"<< {text} >>".encode())
        inside = noted(ledger, json.dumps({"quoted": text}).encode(), class_="gold")
        done = redacted(ledger, noted(ledger, text.encode()))
        assert done.inside is not None
        assert {mention.blob for mention in done.inside} == {plain.blob, inside.blob}
        assert redacted(ledger, noted(ledger, b"a word")).inside is None


KEPT = {
    ("dataset.registered", "questions"): "C1",
    ("dataset.registered", "commitments"): "C1",
    ("rubric.frozen", "document"): "C14",
    ("manifest.frozen", "document"): "C9",
    ("run.opened", "slots"): "C16",
    ("review.drawn", "strata"): "C29",
}


@pytest.mark.parametrize(("place", "clause"), KEPT.items(), ids=str)
def test_c11_frozen_documents_are_kept(victim: Path, place: tuple[str, str], clause: str) -> None:
    """What scores mean is refused with the clause that keeps it, and what to do instead."""
    with writing(victim) as ledger:
        found = [
            one.blob
            for one in mentions(ledger, ledger.events())
            if (one.kind, one.field, one.class_) == (*place, "plain")
        ]
        if not found:
            pytest.skip(f"nothing was stored in {place}")
        with pytest.raises(RuleError, match=f"is frozen: {place[1]} of seq .*{clause}") as caught:
            redact(ledger, found[0], reason="why", authority="o", actor=PERSON)
    assert caught.value.clause == clause
    assert "ledger " in str(caught.value.hint)


def test_c02_gold_records_and_canaries_are_kept(victim: Path) -> None:
    """What trials were graded against can be proven later."""
    with writing(victim) as ledger:
        committed = [one for one in mentions(ledger, ledger.events()) if one.bytes is None]
        assert {one.field for one in committed} == {"commitments", "canary"}
        for mention in (committed[0], committed[-1]):
            with pytest.raises(RuleError, match="C2"):
                redact(ledger, mention.blob, reason="why", authority="o", actor=PERSON)


def test_c11_who_and_why_are_required(victim: Path) -> None:
    """A program, a nameless person, an empty reason and one that repeats the text are refused."""
    with writing(victim) as ledger:
        reference = noted(ledger, WORDS)
        size = ledger.head().size
        for actor, reason in (
            (HARNESS, "why"),
            (Actor(role="human"), "why"),
            (PERSON, " "),
            (PERSON, f"since it says {WORDS.decode()}"),
        ):
            with pytest.raises(RuleError, match="C11"):
                redact(ledger, reference.blob, reason=reason, authority="o", actor=actor)
        with pytest.raises(InvalidInputError):
            redact(ledger, reference.blob, reason="why", authority="", actor=PERSON)
        assert ledger.head().size == size
        assert ledger.blob(reference) == WORDS


def test_c11_the_reason_holds_no_secret(victim: Path) -> None:
    """The value of a variable that a manifest names is replaced in a reason as in any text."""
    world = tools(victim.parent, seed=3, pins=False, environ={"MODEL_KEY": "very-secret-value"})
    with Ledger.open(victim, write=True, tools=world) as ledger:
        reference = noted(ledger, WORDS)
        reason = "it held very-secret-value"
        done = redact(ledger, reference.blob, reason=reason, authority="o", actor=PERSON)
        assert done.blobs[0].seq is not None
        event = ledger.read(done.blobs[0].seq).event
        assert isinstance(event.data, BlobRedacted)
        assert ledger.blob(event.data.reason) == b"it held [secret MODEL_KEY]"


def test_a_blob_is_named_by_its_beginning(victim: Path) -> None:
    """A prefix of four digits that only one has will do; nothing else is guessed."""
    with writing(victim) as ledger:
        blobs = [noted(ledger, f"text {number}".encode()).blob for number in range(3)]
        known = {one.blob for one in mentions(ledger, ledger.events())}
        twins = next(
            one[:length]
            for length in range(4, 64)
            for one in sorted(known)
            if sum(other.startswith(one[:length]) for other in known) == 1
        )
        assert redact(ledger, twins, reason="w", authority="o", actor=PERSON).blobs
        for name in ("", "abc", blobs[0] + "0", "zzzz"):
            with pytest.raises(NotFoundError, match="no event names a blob"):
                redact(ledger, name, reason="w", authority="o", actor=PERSON)


def test_an_ambiguous_name_is_refused(victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several blobs begin so, none is chosen."""
    from trial_ledger import redaction_targets  # noqa: PLC0415 - only here

    monkeypatch.setattr(redaction_targets, "SHORTEST_NAME", 1)
    with writing(victim) as ledger:
        known = sorted({one.blob[0] for one in mentions(ledger, ledger.events())})
        with pytest.raises(AmbiguousError, match="is ambiguous"):
            redact(ledger, known[0], reason="w", authority="o", actor=PERSON)


def test_gold_that_is_not_here_is_not_redacted(victim: Path) -> None:
    """Without the gold file its texts cannot be erased, so nothing is recorded; others can."""
    with writing(victim) as ledger:
        gold, sealed = noted(ledger, WORDS, class_="gold"), noted(ledger, WORDS)
    gold_path(victim).unlink()
    with writing(victim) as ledger:
        with pytest.raises(NotFoundError, match="gold file is not here"):
            redacted(ledger, gold)
        assert redacted(ledger, sealed).equal == []


def test_what_was_erased_without_a_word_is_not_covered_up(victim: Path) -> None:
    """A text that somebody erased by hand is refused: recording it now would hide that."""
    with writing(victim) as ledger:
        reference = noted(ledger, WORDS)
    connection = raw(victim)
    connection.execute("DROP TRIGGER blob_only_erased")
    connection.execute(
        "UPDATE blob SET salt = NULL, content = NULL WHERE hash = ?",
        (bytes.fromhex(reference.blob),),
    )
    connection.close()
    with writing(victim) as ledger, pytest.raises(VerificationError, match="without a word"):
        redacted(ledger, reference)


def test_c11_an_append_of_what_was_redacted_exists(victim: Path) -> None:
    """The same id and a text of the same length exist: an output appended again goes through."""
    submitted = Submission(
        kind="note.added",
        data={"about": "x", "text": NewText(content=WORDS)},
        id=event_id("again"),
        actor=HARNESS,
    )
    with writing(victim) as ledger:
        first = ledger.append(submitted)
        reference = ledger.read(first.seq).event.data.text  # type: ignore[union-attr]
        assert isinstance(reference, BlobRef)
        redacted(ledger, reference)
        again = ledger.append(submitted)
        assert (again.seq, again.hash, again.status) == (first.seq, first.hash, "exists")
        assert ledger.blob(reference) is None
        longer = {"about": "x", "text": NewText(content=WORDS + b"!")}
        other = {"about": "y", "text": NewText(content=WORDS)}
        for data in (longer, other):
            changed = Submission(kind="note.added", data=data, id=event_id("again"), actor=HARNESS)
            with pytest.raises(ConflictError):
                ledger.append(changed)
    assert files_with(victim.parent, windows(WORDS)) == []


def test_gold_that_is_not_here_is_no_redacted_text(victim: Path) -> None:
    """Without the gold file nobody can tell whether a text is the same: that stays a conflict."""
    submitted = Submission(
        kind="note.added",
        data={"about": "x", "text": NewText(content=WORDS, class_="gold")},
        id=event_id("gold again"),
        actor=HARNESS,
    )
    with writing(victim) as ledger:
        ledger.append(submitted)
    gold_path(victim).unlink()
    with writing(victim) as ledger, pytest.raises(ConflictError):
        ledger.append(submitted)


def test_c33_numbers_do_not_change_by_a_redaction(victim: Path) -> None:
    """One text of every field is redacted: the ledger verifies, and goes on growing."""
    with writing(victim) as ledger:
        before = [stored.hash for stored in ledger.events()]
        texts = {
            (one.kind, one.field): one.blob
            for one in mentions(ledger, ledger.events())
            if one.class_ != "plain" and one.bytes is not None
        }
        for blob in texts.values():
            redact(ledger, blob, reason="all of it", authority="o", actor=PERSON)
        assert [stored.hash for stored in ledger.events(upto=len(before))] == before
        assert next(ledger.events(run=RUN)).event.kind == "run.opened"
        ledger.append(note("goes on"))
    found = checked(victim)
    assert (found.is_intact, found.redacted) == (True, len(texts))
