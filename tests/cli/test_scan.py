"""`ledger scan`: findings with place and command, never the thing itself (C3, C11)."""

from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, event, full, ledger, lines, opening, ready, start, write
from redact_cases import noted, redacted, writing
from trial_cli import scan
from trial_ledger.goldfile import gold_path

KEY = "sk-" + "q8Zr2LmX0pTbY5nW1cKd"


def test_c11_a_clean_ledger(tmp_path: Path, here: Here) -> None:
    """Exit code 0, with what was looked at and what could not be."""
    full(tmp_path)
    found = here("scan")
    assert found.code == 0
    assert found.out.startswith("clean       nothing that does not belong here\nlooked at   128 ")
    assert "secrets     none; not set here: MODEL_KEY, SEARCH_KEY\n" in found.out
    assert "canaries    example@1\n" in found.out


def test_c11_findings_name_their_redaction_and_end_with_5(tmp_path: Path) -> None:
    """Through the real command: never shown, each with a command that works."""
    with writing(ready(tmp_path)) as book:
        reference = noted(book, f"use {KEY}".encode())
    found = ledger(tmp_path, "scan", variables={"MODEL_KEY": "something else"})
    assert found.code == 5
    assert KEY[5:] not in found.out
    assert "credential  text of seq 5, note.added at byte 4: key sk-…, 23 bytes\n" in found.out
    assert f"            ledger redact {reference.blob[:16]} --reason TEXT\n" in found.out
    assert "secrets     MODEL_KEY; not set here: SEARCH_KEY\n" in found.out
    command = f"redact {reference.blob[:16]} --reason TEXT".split()
    assert ledger(tmp_path, *command, "--actor", "Ada").code == 0
    clean = ledger(tmp_path, "scan")
    assert clean.code == 0
    assert "1 texts are redacted" in clean.out


def test_c11_evidence_is_kept_and_is_no_fault(tmp_path: Path, here: Here) -> None:
    """A key in a response alone ends with 0; in a document nothing can erase it."""
    ready(tmp_path)
    call = {"call": "c1", "purpose": "search", "endpoint": "search", "request": "towns"}
    done = {"call": "c1", "status": "ok", "response": KEY}
    records = [opening(), start("q1"), event("call.started", "q1", **call)]
    here("append", write(tmp_path, [*records, event("call.finished", "q1", **done)]))
    found = here("scan")
    assert (found.code, found.out.splitlines()[0]) == (
        0, "clean       nothing that does not belong here, 1 kept as evidence",
    )  # fmt: skip
    assert "evidence    response of seq 8, call.finished at byte 0" in found.out
    here("append", write(tmp_path, [event("note.added", None, about=KEY, text="x")]))
    found = here("scan")
    assert found.code == 5
    assert "FOUND       1 that do not belong here, 1 kept as evidence" in found.out
    assert "            a document cannot be erased: revoke it" in found.out


def test_c03_canaries_only(tmp_path: Path, here: Here) -> None:
    """With --canaries nothing else is looked for; JSON lists everything."""
    with writing(ready(tmp_path)) as book:
        noted(book, f"{KEY} CANARY 5BD2D8A6".encode())
        redacted(book, noted(book, b"gone"))
    found = here("scan", "--canaries", "--json")
    assert found.code == 5
    assert (found.json["schema"], found.json["leaks"]) == ("ledger.scan/1", 1)
    (only,) = found.json["scan"]["findings"]
    assert (only["sort"], only["place"], only["is_evidence"]) == ("canary", None, False)
    text = here("scan", "--canaries").out
    assert "canary      text of seq 5, note.added: canary of example@1" in text
    assert "secrets" not in text
    (row,) = here("scan", "--canaries", "--format", "jsonl").rows
    assert row["command"] == only["command"]


def test_c02_without_the_gold_file(tmp_path: Path, here: Here) -> None:
    """Canaries that cannot be known and texts that are not here are said, not passed over."""
    gold_path(full(tmp_path)).unlink()
    out = here("scan").out
    assert "gold texts are not here" in " ".join(out.split())
    assert "canaries    none; not known without the gold file: example@1" in out


def test_c11_a_frozen_text_is_to_be_revoked(tmp_path: Path, here: Here) -> None:
    """What is frozen names no command."""
    (tmp_path / "d.jsonl").write_bytes(
        lines({"id": "a", "question": f"What is {KEY}?", "task_shape": "fact", "as_of": "2026",
               "gold": {"answer": "x"}})
    )  # fmt: skip
    here("init")
    assert here("freeze", "dataset", "d.jsonl", "--name", "d", "--version", "1").code == 0
    out = here("scan").out
    assert "questions of seq 2" in out
    assert "            a frozen text stays: revoke it" in out
    assert "secrets" not in out
    assert "canaries" not in out


def test_many_findings_are_counted(
    tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first are shown, the others counted."""
    monkeypatch.setattr(scan, "SHOWN", 2)
    with writing(ready(tmp_path)) as book:
        for number in range(5):
            noted(book, f"{number} {KEY}".encode())
    assert "… and 3 more (--json lists up to 1000)" in here("scan").out
    assert (tmp_path / LEDGER).exists()
