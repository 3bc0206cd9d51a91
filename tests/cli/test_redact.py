"""`ledger redact`: what was erased, what was not, and what a crash leaves to finish (C11)."""

from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, event, full, ledger, ready, write
from ledger_cases import PERSON
from redact_cases import files_with, noted, stored_traces, windows, writing
from trial_ledger import sqlite
from trial_ledger.events import BlobRef
from trial_ledger.goldfile import gold_path
from trial_ledger.keyed_file import projections_path
from trial_ledger.mentions import Mention, mentions

TEXT = b"Ada Example, born in 1815, lives at 12 Sample Street. "
WHY = ("--reason", "asked for by the person", "--actor", PERSON.name or "")


def with_note(folder: Path, text: bytes = TEXT, *, class_: str = "sealed") -> BlobRef:
    """Make a ledger with a note; return the reference of its text."""
    with writing(ready(folder)) as book:
        return noted(book, text, class_=class_)


def first(path: Path, kind: str, field: str) -> Mention:
    """Return the first mention of a text of a closed ledger."""
    with writing(path) as book:
        return next(
            one for one in mentions(book, book.events()) if (one.kind, one.field) == (kind, field)
        )


def test_c11_a_text_is_erased_and_says_so(tmp_path: Path, here: Here) -> None:
    """Who and why stand in the log; the text is shown as redacted; nothing of it is left."""
    reference = with_note(tmp_path)
    pieces = stored_traces(tmp_path / LEDGER, reference) | windows(TEXT)
    done = here("redact", reference.blob[:20], *WHY, "--authority", "GDPR Art. 17")
    assert done.code == 0, done.err
    assert done.out.startswith(f"redacted  {reference.blob}\n          text of seq 5, note.added")
    assert "blob.redacted is seq 6" in done.out
    assert "files beside the ledger" in done.out
    assert "bytes: nothing left" in done.out
    assert files_with(tmp_path, pieces) == []
    shown = here("show", "6", "--json").json["event"]
    assert (shown["actor"]["name"], shown["data"]["authority"]) == (PERSON.name, "GDPR Art. 17")
    assert "asked for by the person" in here("show", "6").out
    assert ": redacted" in here("show", reference.blob[:20]).out
    assert "1 redacted" in here("verify").out


def test_c11_the_real_command(tmp_path: Path) -> None:
    """The same through a process; a second time says that it was, with exit code 0."""
    reference = with_note(tmp_path, class_="gold")
    variables = {"LEDGER_ACTOR": "Ada"}
    arguments = ("redact", reference.blob, "--reason", "private")
    done = ledger(tmp_path, *arguments, variables=variables)
    assert (done.code, done.err) == (0, "")
    assert files_with(tmp_path, windows(TEXT)) == []
    again = ledger(tmp_path, *arguments, variables=variables)
    assert again.code == 0
    assert again.out.startswith(f"was redacted  {reference.blob}\n")
    assert "searched" not in again.out
    assert ledger(tmp_path, "verify").out.startswith("intact    6 events")


KILLED = """
import os
from trial_ledger import redaction
redaction.erase_gold = lambda *_: os.kill(os.getpid(), 9)
"""


def test_c11_a_kill_between_event_and_erasure_is_finished(tmp_path: Path, here: Here) -> None:
    """Killed after the event, verify names what is still there; the next redact erases it."""
    reference = with_note(tmp_path, class_="gold")
    killed = ledger(tmp_path, "redact", reference.blob, *WHY, before=KILLED)
    assert killed.code == -9
    assert files_with(tmp_path, windows(TEXT)) == [gold_path(tmp_path / LEDGER).name]
    found = here("verify")
    assert found.code == 0
    assert "unerased  1 recorded as redacted and STILL THERE" in found.out
    assert f"redact {reference.blob[:16]} --reason TEXT" in " ".join(found.out.split())
    with writing(tmp_path / LEDGER) as book:
        other = noted(book, b"another text")
    done = here("redact", other.blob, *WHY)
    assert f"finished  blob {reference.blob[:16]}, recorded before a crash" in done.out
    assert files_with(tmp_path, windows(TEXT)) == []
    found = here("verify")
    assert "2 redacted" in found.out
    assert "unerased" not in found.out


def test_c11_who_and_why(tmp_path: Path, here: Here) -> None:
    """Without a person or a reason everything that is missing is listed; nothing is written."""
    reference = with_note(tmp_path)
    found = here("redact", reference.blob)
    assert found.code == 2
    assert "--actor: an act of a person names the person" in found.err
    assert "--reason: an act of a person says why" in found.err
    refused = here("redact", reference.blob, "--reason", " ", "--actor", "Ada")
    assert refused.code == 3
    assert "(C11)" in refused.err


def test_c11_a_dry_run_shows_and_writes_nothing(tmp_path: Path, here: Here) -> None:
    """What would go is shown; the text stays."""
    reference = with_note(tmp_path)
    found = here("redact", reference.blob, *WHY, "--dry-run")
    assert found.out.startswith(f"would be redacted  {reference.blob}\n")
    assert files_with(tmp_path, windows(TEXT)) != []
    assert here("verify").out.startswith("intact    5 events")


def test_c11_equal_texts_and_longer_ones_are_named(tmp_path: Path, here: Here) -> None:
    """The same text elsewhere stays and is named with the command that shows it; so is a quote."""
    with writing(ready(tmp_path)) as book:
        one = noted(book, TEXT)
        others = [noted(book, TEXT) for _ in range(6)]
        quote = noted(book, b"He said: " + TEXT, class_="gold")
    done = here("redact", one.blob, *WHY)
    words = " ".join(done.out.split())
    assert "the same text stands in 6 other blobs: ledger show" in words
    assert "; …; --all-equal redacts those that are not frozen" in words
    assert f"the text stands in 1 other blob: ledger show 12 (text, {quote.blob[:16]})" in words
    done = here("redact", others[0].blob, *WHY, "--all-equal", "--json").json
    assert {item["blob"] for item in done["blobs"]} == {other.blob for other in others}
    assert (done["schema"], done["equal"], len(done["inside"])) == ("ledger.redact/1", [], 1)
    assert done["searched"]["found"] == []
    assert "needles" not in done


def test_a_short_text_is_not_looked_for_in_others(tmp_path: Path, here: Here) -> None:
    """A word stands in other texts by chance, so nothing is claimed."""
    reference = with_note(tmp_path, b"Ada")
    assert "not looked for in longer texts: too short to tell" in (
        here("redact", reference.blob, *WHY).out
    )


def test_what_an_interrupted_append_left_is_said_to_be_nobodys(tmp_path: Path, here: Here) -> None:
    """An equal blob that no event names goes along."""
    from trial_ledger.blobs import sealed_blob  # noqa: PLC0415 - only here

    with writing(ready(tmp_path)) as book:
        reference = noted(book, TEXT)
        assert book.gold is not None
        book.gold.add(sealed_blob(TEXT, class_="gold", random_bytes=book.tools.random_bytes))
        book.gold.commit()
    assert "named by no event; blob.redacted is seq" in here("redact", reference.blob, *WHY).out


@pytest.mark.parametrize("kind", ["dataset.registered", "rubric.frozen", "manifest.frozen"])
def test_c11_frozen_documents_are_refused(tmp_path: Path, here: Here, kind: str) -> None:
    """With the clause that keeps them and what to do instead."""
    path = ready(tmp_path)
    field = "questions" if kind.startswith("dataset") else "document"
    found = here("redact", first(path, kind, field).blob, *WHY)
    assert found.code == 3
    assert f"is frozen: {field} of seq" in found.err
    assert "hint: " in found.err


def test_c11_rests_of_another_program_are_written_over(
    tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where SQLite left copies, the files are written anew and searched again."""
    lax = tuple(line for line in sqlite.WRITER_SETTINGS if "secure_delete" not in line)
    monkeypatch.setattr(sqlite, "WRITER_SETTINGS", (*lax, "PRAGMA secure_delete=OFF"))
    reference = with_note(tmp_path, TEXT * 9)
    pieces = stored_traces(tmp_path / LEDGER, reference)
    done = here("redact", reference.blob, *WHY)
    assert "rests of the text were left by another program" in done.err
    assert "nothing left" in done.out
    assert done.code == 0
    assert files_with(tmp_path, pieces) == []


def test_c11_a_copy_with_the_ledger_s_name_is_told(tmp_path: Path, here: Here) -> None:
    """What is still in a file beside the ledger is named, and the exit code is not 0."""
    reference = with_note(tmp_path, TEXT)
    (tmp_path / f"{LEDGER}.old").write_bytes((tmp_path / LEDGER).read_bytes())
    done = here("redact", reference.blob, *WHY)
    assert done.code == 1
    assert f"LEFT      {LEDGER}.old at byte " in done.out


def test_c33_screens_and_projections_go_on(tmp_path: Path, here: Here) -> None:
    """Numbers stay; trace, show and explain say what was redacted; nothing keeps a copy of it."""
    path = full(tmp_path)
    before = [here(*command).out for command in (("scores", "fast-01"), ("failures", "fast-01"))]
    assert here("replay").code == 0
    assert projections_path(path).exists()
    message = first(path, "failure.occurred", "message")
    answer = first(path, "answer.submitted", "answer")
    for blob in (message.blob, answer.blob):
        assert here("redact", blob, *WHY).code == 0
    after = [here(*command).out for command in (("scores", "fast-01"), ("failures", "fast-01"))]
    assert [text.splitlines()[1:] for text in after] == [text.splitlines()[1:] for text in before]
    assert here("replay", "--check").code == 0
    traced = " ".join(here("trace", "fast-01/q1#1").out.split())
    assert "(its message was redacted)" in traced
    assert here("explain", "fast-01", "exact").code == 0
    assert ": redacted" in here("show", str(answer.seq)).out
    assert here("verify").out.startswith("intact")


def test_c11_proofs_and_receipts_hold(tmp_path: Path, here: Here) -> None:
    """What was given away before still checks, and so does what is made afterwards."""
    answer = first(full(tmp_path), "answer.submitted", "answer")
    for command in (("key", "new"), ("key", "rotate"), ("head", "--sign")):
        assert here(*command).code == 0
    (tmp_path / "p.txt").write_text(here("prove", str(answer.seq)).out, "utf-8")
    assert here("receipt", "fast-01", "exact", "-o", "before.json").code == 0
    assert here("redact", answer.blob, *WHY).code == 0
    assert here("head", "--sign").code == 0
    after = here("receipt", "fast-01", "exact", "-o", "after.json", "--reveal", "answers")
    assert after.code == 0
    assert "1 redacted" in after.out
    for file in ("p.txt", "before.json", "after.json"):
        assert here("check", file).code == 0


def test_c11_an_append_of_redacted_text_exists(tmp_path: Path, here: Here) -> None:
    """A harness's output that is appended again goes through and brings nothing back."""
    ready(tmp_path)
    records = [{**event("note.added", None, about="x", text=TEXT.decode()), "id": "ab" * 16}]
    records[0].pop("run")
    name = write(tmp_path, records)
    assert here("append", name).code == 0
    blob = first(tmp_path / LEDGER, "note.added", "text").blob
    here("redact", blob, *WHY)
    again = here("append", name)
    assert again.rows[0]["status"] == "exists"
    (tmp_path / name).unlink()
    assert files_with(tmp_path, windows(TEXT)) == []
