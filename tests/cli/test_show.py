"""`ledger show`: one event, blob, document or judgment, by any of its names."""

import hashlib
import json
from pathlib import Path

import pytest
from blake3 import blake3

from cli_cases import LEDGER, RUN, Here, event, full, ledger, opening, ready, write
from ledger_cases import PERSON, tools
from ledger_cases import RUN as SAMPLE
from trial_ledger.book import Ledger
from trial_ledger.documents.rubric import parse_rubric, rubric_hash
from trial_ledger.events import JudgmentRecorded, ManifestFrozen, RubricFrozen
from trial_ledger.goldfile import gold_path
from trial_ledger.redaction import redact
from trial_ledger.submission import Submission
from trial_ledger.view import Stored


def stored(path: Path, seq: int) -> Stored:
    """Return one event of a closed ledger."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as book:
        return book.read(seq)


def first_judgment(path: Path) -> Stored:
    """Return the first judgment of the sample run."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as book:
        return next(
            found
            for found in book.events()
            if isinstance(found.event.data, JudgmentRecorded) and found.event.data.raw is not None
        )


def test_an_event_has_three_names(tmp_path: Path, here: Here) -> None:
    """Seq, id and hash, and prefixes of the latter two, show the same event."""
    path = full(tmp_path)
    wanted = stored(path, 5)
    names = ("5", wanted.event.id, wanted.event.id[:8], wanted.hash, wanted.hash[:8])
    for name in names:
        shown = here("show", name, "--json").json
        assert shown["schema"] == "ledger.show/1"
        assert shown["hash"] == wanted.hash
        assert shown["event"] == json.loads(wanted.document)


def test_raw_writes_the_stored_bytes(tmp_path: Path) -> None:
    """`--raw` writes the document and nothing else, so that its hash can be checked."""
    wanted = stored(full(tmp_path), 17)
    done = ledger(tmp_path, "show", "17", "--raw")
    assert blake3(done.out.encode()).hexdigest() == wanted.hash


def test_text_shows_the_beginning_of_every_text(tmp_path: Path, here: Here) -> None:
    """Below the document stand its hash and its texts; long ones are cut with the way on."""
    ready(tmp_path)
    long = "word " * 1000
    records = [opening(reason=long), event("note.added", None, about="x", text="")]
    assert here("append", write(tmp_path, records)).code == 0
    shown = here("show", "5")
    assert shown.code == 0
    assert "--- reason: sealed, text/plain, 5000 bytes\nword word" in shown.out
    (more,) = [line for line in shown.out.splitlines() if "bytes more" in line]
    assert more.startswith("… 3000 bytes more: ledger show ")
    blob = more.split()[-2]
    assert ledger(tmp_path, "show", blob, "--raw").out == long
    assert here("show", "6").out.endswith("--- text: sealed, text/plain, 0 bytes\n\n")


def test_documents_are_shown_by_name(tmp_path: Path, here: Here) -> None:
    """Dataset, rubric and manifest by `name@version`, configuration, and hash."""
    path = full(tmp_path)
    rubric, manifest = stored(path, 3).event.data, stored(path, 4).event.data
    assert isinstance(rubric, RubricFrozen)
    assert isinstance(manifest, ManifestFrozen)
    for name, seq in (
        ("example@1", 2),
        ("quality@1", 3),
        ("local", 4),
        (f"local@{manifest.manifest_hash[:10]}", 4),
    ):
        assert here("show", name, "--json").json["event"]["seq"] == seq
    for name, digest in (
        ("quality@1", rubric.rubric_hash),
        (rubric.rubric_hash[:12], rubric.rubric_hash),
        (f"local@{manifest.manifest_hash[:10]}", manifest.manifest_hash),
        (manifest.manifest_hash, manifest.manifest_hash),
    ):
        raw = ledger(tmp_path, "show", name, "--raw")
        assert blake3(raw.out.encode()).hexdigest() == digest
    raw = ledger(tmp_path, "show", "example@1", "--raw")
    assert len(json.loads(raw.out)) == 10


def test_judgments_reviews_and_failures_are_shown_by_id(tmp_path: Path, here: Here) -> None:
    """An id that several trials have is told apart by run and trial; the labels say how."""
    full(tmp_path)
    several = here("show", "j1")
    assert several.code == 6
    assert "name 'j1' is ambiguous: seq " in several.err
    assert "hint: name it by its seq, by more of its hash, or as run/trial/id" in several.err
    found = here("show", f"{SAMPLE}/q4#1@s1/j1", "--json").json["event"]
    assert (found["kind"], found["trial"]["question"]) == ("judgment.recorded", "q4")
    for name, kind in (
        ("j3", "judgment.overridden"),
        ("r1", "review.recorded"),
        ("f3", "failure.occurred"),
        (f"{SAMPLE}/q3#1@s1/j2", "judgment.failed"),
    ):
        assert here("show", name, "--json").json["event"]["kind"] == kind


def test_a_prefix_of_several_things_names_them(tmp_path: Path, here: Here) -> None:
    """A blob and an event whose hex begins alike are both named."""
    path = ready(tmp_path)
    data = stored(path, 3).event.data
    assert isinstance(data, RubricFrozen)
    note = {"kind": "note.added", "data": {"about": "x", "text": "y"}}
    here("append", write(tmp_path, [{**note, "id": data.document.blob[:8] + "0" * 24}]))
    found = here("show", data.document.blob[:8])
    assert found.code == 6
    assert f"is ambiguous: blob {data.document.blob[:16]}, seq 5 note.added" in found.err


def test_a_failure_of_the_run_as_a_whole_has_its_own_address(tmp_path: Path, here: Here) -> None:
    """Run and id name what belongs to no trial."""
    ready(tmp_path)
    failure = event("failure.occurred", None, occurrence="f1", **{"class": "environment"})
    here("append", write(tmp_path, [opening(), failure]))
    assert here("show", f"{RUN}/f1", "--json").json["event"]["seq"] == 6


@pytest.mark.parametrize("name", ["nothing", "None@None", "9999", "0", "abcd", "local@zz"])
def test_what_is_not_there_is_said(name: str, tmp_path: Path, here: Here) -> None:
    """A name that means nothing ends with 6 and the way to find one."""
    full(tmp_path)
    result = here("show", name)
    assert result.code == 6
    assert "hint: ledger log" in result.err


def test_gold_is_shown_only_when_asked_for(tmp_path: Path, here: Here) -> None:
    """Texts of the gold file are named and not shown, in every form, unless asked for."""
    path = full(tmp_path)
    found = first_judgment(path)
    seq = str(found.event.seq)
    reference = found.event.data.raw  # type: ignore[union-attr]
    assert reference is not None
    assert "--- raw: gold, text/plain, 7 bytes: --include-gold shows it" in here("show", seq).out
    assert "\nVERDICT\n" in here("show", seq, "--include-gold").out
    assert here("show", reference.blob, "--json").json["blob"]["text"] is None
    asked = here("show", reference.blob, "--json", "--include-gold").json
    assert asked["blob"]["text"] == "VERDICT"
    refused = ledger(tmp_path, "show", reference.blob, "--raw")
    assert (refused.code, refused.out) == (3, "")
    assert "is gold (C2)" in refused.err
    assert "hint: --include-gold shows it" in refused.err
    raw = ledger(tmp_path, "show", reference.blob, "--raw", "--include-gold")
    assert raw.out == "VERDICT"


def test_a_missing_gold_file_is_said(tmp_path: Path, here: Here) -> None:
    """Where the gold file is not here, its texts are null and said to be away."""
    path = full(tmp_path)
    found = first_judgment(path)
    gold_path(path).rename(tmp_path / "away")
    text = here("show", str(found.event.seq), "--include-gold")
    assert "--- raw: gold, text/plain, 7 bytes: the gold file is not here" in text.out
    blob = found.event.data.raw.blob  # type: ignore[union-attr]
    assert here("show", blob, "--json", "--include-gold").json["blob"]["text"] is None
    assert here("show", blob, "--raw", "--include-gold").code == 6


def erase(path: Path) -> str:
    """Redact the text of a note; return the blob."""
    with Ledger.open(path, write=True, tools=tools(path.parent, pins=False)) as book:
        noted = book.append(Submission(kind="note.added", data={"about": "x", "text": "too much"}))
        blob: str = book.read(noted.seq).event.data.text.blob  # type: ignore[union-attr]
        redact(book, blob, reason="private", authority="Ada", actor=PERSON)
        return blob


def test_a_redacted_text_is_a_state_of_its_own(tmp_path: Path, here: Here) -> None:
    """An erased text is said to be redacted, null in JSON, and not there as bytes."""
    path = ready(tmp_path)
    blob = erase(path)
    assert "--- text: sealed, text/plain, 8 bytes: redacted" in here("show", "5").out
    assert f"blob {blob}\n--- content: sealed, text/plain, 8 bytes: redacted\n" in (
        here("show", blob[:12]).out
    )
    assert here("show", blob, "--json").json["blob"]["text"] is None
    gone = here("show", blob, "--raw")
    assert gone.code == 6
    assert f"blob {blob} was redacted" in gone.err
    assert here("verify").code == 0


def test_hashes_can_be_checked_with_public_tools(tmp_path: Path) -> None:
    """The raw bytes are those in the file: SQLite's own reading hashes the same."""
    wanted = stored(full(tmp_path), 9)
    raw = ledger(tmp_path, "show", "9", "--raw").out.encode()
    assert hashlib.sha256(raw).digest() == hashlib.sha256(wanted.document).digest()
    assert (tmp_path / LEDGER).read_bytes().find(raw[:200]) > 0


def test_c14_a_rubric_is_shown_as_people_write_it(tmp_path: Path, here: Here) -> None:
    """By name or by hash: what is read back has the very hash, and a new version can be frozen."""
    path = full(tmp_path)
    data = stored(path, 3).event.data
    assert isinstance(data, RubricFrozen)
    done = ledger(tmp_path, "show", "quality@1", "--toml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# quality@1 as it was frozen.\n")
    assert rubric_hash(parse_rubric(done.out.encode(), source=None)) == data.rubric_hash
    assert here("show", "3", "--toml").out == done.out
    (tmp_path / "same.toml").write_text(done.out, "utf-8")
    assert "was frozen already at seq 3" in here("freeze", "rubric", "same.toml").out
    revised = done.out.replace('version = "1"', 'version = "2"')
    (tmp_path / "new.toml").write_text(revised, "utf-8")
    assert "frozen at seq " in here("freeze", "rubric", "new.toml").out


@pytest.mark.parametrize("name", ["1", "example@1", "local"])
def test_only_a_rubric_is_shown_as_toml(tmp_path: Path, here: Here, name: str) -> None:
    """Anything else is named as none, with where rubrics are listed."""
    full(tmp_path)
    done = here("show", name, "--toml")
    assert (done.code, done.out) == (6, "")
    assert done.err == (
        f"Error: {name!r} is no frozen rubric\nhint: ledger log --kind rubric.frozen\n"
    )


def test_a_blob_is_no_rubric(tmp_path: Path, here: Here) -> None:
    """Not even that of a rubric's own document."""
    data = first_judgment(full(tmp_path)).event.data
    assert isinstance(data, JudgmentRecorded)
    assert data.raw is not None
    done = here("show", data.raw.blob, "--toml")
    assert (done.code, done.out) == (6, "")
    assert "is no frozen rubric" in done.err
