"""`ledger receipt`: a number with what it rests on, in one file that is only ever new."""

import resource
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, full, ledger
from ledger_cases import PERSON, RUN
from projection_cases import Log
from proof_cases import KEY, made, reopened, signed
from receipt_cases import signing_tools
from trial_cli.receipt import write_new
from trial_ledger.anchoring import sign_head
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.events import AnswerSubmitted
from trial_ledger.redaction import redact
from trial_projections import receipt_check
from trial_projections.receipt_structs import decode_receipt

OUTPUT = ("-o", "out.json")
SCREEN = """\
receipt   out.json: SIZE bytes, 76 documents
number    judged of fast-01 = 6-7/10  60.0-70.0 %
as of     link 68, seq 127, head of 131 events
next      ledger check out.json | ledger key show
"""


@pytest.fixture
def folder(here: Here) -> Path:
    """The folder of the commands with a signed ledger."""
    signed(here.folder)
    return here.folder


def test_c36_a_receipt_is_made_and_checked_elsewhere(tmp_path: Path) -> None:
    """By the real program: the screen, the file, and the check after the ledger is gone."""
    signed(tmp_path)
    done = ledger(tmp_path, "receipt", RUN, "judged", *OUTPUT)
    size = (tmp_path / "out.json").stat().st_size
    assert done == (
        0,
        SCREEN.replace("SIZE", str(size)),
        "",
    )
    for name in made():
        (tmp_path / name).unlink()
    assert ledger(tmp_path, "check", "out.json").code == 0


def test_the_other_forms(here: Here, folder: Path) -> None:
    """JSON has the claim by field and what was opened."""
    document = here("receipt", RUN, "judged", *OUTPUT, "--reveal", "gold", "--json").json
    assert document["schema"] == "ledger.receipt-made/1"
    assert (document["file"], document["documents"], document["revealed"]) == ("out.json", 76, 10)
    assert document["bytes"] == (folder / "out.json").stat().st_size
    assert document["claim"]["decided"] == 9
    assert document["texts"]["answers"] == {"named": 8, "opened": 0, "redacted": 0}
    again = here("receipt", "fast", "exact", "-o", "b.json", "--format", "csv")
    assert (again.code, again.out.count("\n")) == (0, 2)


def test_c02_only_the_texts_that_were_named_are_opened(here: Here, folder: Path) -> None:
    """In any order, each once, with how many there are of each."""
    done = here("receipt", RUN, "exact", *OUTPUT, "--reveal", "reasoning, gold,gold")
    opened = [line for line in done.out.splitlines() if line.startswith("opened")]
    assert opened == ["opened    gold 10 of 10", "opened    reasoning 7 of 7"]
    found = decode_receipt((folder / "out.json").read_bytes())
    assert len(found.revealed) == 17


def test_c28_judgments_by_code_are_run_again_by_the_checker(here: Here, folder: Path) -> None:
    """With gold and answers opened; one alone is not enough, and the check says which is sealed."""
    assert folder == here.folder
    assert here("grade", RUN).code == 0
    with reopened(folder) as book:
        sign_head(book)
    for texts, words in (
        ("gold,answers", "grading       re-run: 8 of 8 judgments by code, alike\n"),
        ("answers", "grading       not re-run: gold sealed\n"),
        ("gold", "grading       not re-run: answer sealed\n"),
    ):
        name = f"{texts}.json"
        assert here("receipt", RUN, "exact", "-o", name, "--reveal", texts).code == 0
        assert words in here("check", name).out


def test_c11_what_was_redacted_is_said(here: Here, folder: Path) -> None:
    """An answer that is gone stays counted."""
    with reopened(folder) as book:
        answers = [
            stored.event.data.answer.blob
            for stored in book.events(run=RUN)
            if isinstance(stored.event.data, AnswerSubmitted) and stored.event.data.answer
        ]
        redact(book, answers[0], reason="asked to", authority="Ada", actor=PERSON)
        sign_head(book)
    done = here("receipt", RUN, "exact", *OUTPUT, "--reveal", "answers")
    assert "opened    answers 7 of 8; 1 could not be: 1 redacted\n" in done.out
    checked = here("check", "out.json")
    assert checked.code == 0
    assert "answers 7 of 8 (1 redacted)" in checked.out


def test_unknown_texts_are_listed_at_once(here: Here, folder: Path) -> None:
    """Every word that names none; nothing is written."""
    done = here("receipt", RUN, "judged", *OUTPUT, "--reveal", "gold,judge,\x1b[2J")
    assert done.code == 2
    assert done.err.splitlines() == [
        "--reveal: no such texts, found 'judge', expected gold or answers or reasoning",
        "--reveal: no such texts, found '\\x1b[2J', expected gold or answers or reasoning",
        "Error: command line not acceptable: 2 faults, nothing written",
        "hint: ledger receipt --help",
    ]
    assert not (folder / "out.json").exists()


def test_what_there_is_no_number_of_has_no_receipt(here: Here, folder: Path) -> None:
    """No such run or metric; a metric that is unavailable; a ledger without a signed head."""
    for run, metric, words, hint in (
        ("other", "judged", "Error: no run 'other'", "ledger runs"),
        (RUN, "\x1b[2J", "has no metric '\\x1b[2J'", "it has exact, judged"),
    ):
        done = here("receipt", run, metric, *OUTPUT)
        assert done.code == 6
        assert words in done.err
        assert f"hint: {hint}" in done.err
    unsigned = folder / "unsigned"
    unsigned.mkdir()
    full(unsigned)
    done = here("receipt", RUN, "judged", *OUTPUT, "--ledger", f"unsigned/{LEDGER}")
    assert (done.code, done.err) == (
        6, "Error: the ledger has no signed head\nhint: ledger head --sign\n",
    )  # fmt: skip
    assert not (folder / "out.json").exists()


def test_c06_an_unavailable_metric_has_no_receipt(here: Here) -> None:
    """Its reason stands in the error."""
    metrics = {
        "judged": {"measure": "verdict", "grader": "judge"},
        "lists": {"measure": "verdict", "grader": "judge", "shapes": ["list"]},
    }
    rubric = {"metrics": metrics, "primary": "judged"}
    log = Log(here.folder, rubric=rubric, world=signing_tools(here.folder))
    log.trial("q1")
    sign_head(log.ledger)
    log.ledger.close()
    assert here("receipt", RUN, "judged", "-o", "judged.json").code == 0
    assert "grading       no judgment to re-run\n" in here("check", "judged.json").out
    done = here("receipt", RUN, "lists", *OUTPUT)
    assert done.code == 6
    assert "lists of fast-01 is unavailable: no planned slot counts" in done.err
    assert "hint: ledger scores fast-01" in done.err


def test_an_existing_file_is_left_alone(here: Here, folder: Path) -> None:
    """A receipt is never written over anything; what cannot be written leaves nothing behind."""
    (folder / "out.json").write_text("mine")
    done = here("receipt", RUN, "judged", *OUTPUT)
    assert done.code == 7
    assert done.err == "Error: out.json exists\nhint: name another file with -o FILE\n"
    assert (folder / "out.json").read_text() == "mine"
    nowhere = here("receipt", RUN, "judged", "-o", "no/folder/out.json")
    assert nowhere.code == 7
    assert "cannot write no/folder/out.json: No such file" in nowhere.err


def test_a_full_disk_leaves_no_part_of_a_receipt(tmp_path: Path) -> None:
    """Half a receipt would be refused as one that was changed."""
    path = tmp_path / "out.json"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(StorageError, match=r"cannot write .*: File too large"):
            write_new(path, b"x" * 5_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not path.exists()


def test_what_would_not_hold_is_not_handed_out(
    here: Here, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receipt is checked before it is written."""

    def refuse(*_: object) -> None:
        message = "it does not hold"
        raise VerificationError(message)

    monkeypatch.setattr(receipt_check, "check_receipt", refuse)
    done = here("receipt", RUN, "judged", *OUTPUT)
    assert (done.code, done.err) == (4, "Error: it does not hold\n")
    assert not (folder / "out.json").exists()
    assert (folder / KEY).exists()
