"""C3, C11: credentials, secrets and canaries are found where they are, and never repeated."""

from pathlib import Path

import pytest

from ledger_cases import HARNESS, RUN, opened, small_ledger, started, tools, trial
from redact_cases import noted, redacted, writing
from trial_ledger import scanning
from trial_ledger.book import Ledger
from trial_ledger.goldfile import gold_path
from trial_ledger.scanning import Scan, scan
from trial_ledger.submission import NewText, Submission

KEY = "sk-" + "q8Zr2LmX0pTbY5nW1cKd"
CANARY = "canary 5bd2d8a6"
HIDDEN = "the very secret value 8"


def scanned(path: Path, *, credentials: bool = True, **environ: str) -> Scan:
    """Scan a closed ledger in a world with some variables."""
    world = tools(path.parent, pins=False, environ=environ)
    with Ledger.open(path, tools=world) as ledger:
        return scan(ledger, credentials=credentials)


def shown(found: Scan) -> list[tuple[str, str, str]]:
    """Return sort, what and field of every finding."""
    return [(one.sort, one.what, one.field) for one in found.findings]


def test_c11_a_clean_ledger_is_clean(honest: Path) -> None:
    """Nothing is found where nothing is, and what was looked at is counted."""
    found = scanned(honest)
    assert (found.findings, found.leaks, found.events) == ([], 0, 128)
    assert (found.unset, found.secrets) == (["MODEL_KEY", "SEARCH_KEY"], [])
    assert (found.canaries, found.unknown_canaries) == (["example@1"], [])
    assert found.texts > 60
    assert found.bytes > 50_000


def test_c11_a_credential_is_found_with_the_command_that_redacts_it(victim: Path) -> None:
    """In texts of every class and in documents; each with its place, and never shown."""
    with writing(victim) as ledger:
        sealed = noted(ledger, f"my key is {KEY}".encode())
        gold = noted(ledger, f"{KEY}".encode(), class_="gold")
        ledger.append(Submission(kind="note.added", data={"about": KEY, "text": "x"}))
    found = scanned(victim)
    what = f"key sk-…, {len(KEY)} bytes"
    assert shown(found) == [
        ("credential", what, "text"),
        ("credential", what, "text"),
        ("credential", what, "document"),
    ]
    assert [one.command for one in found.findings] == [
        f"ledger redact {sealed.blob[:16]} --reason TEXT",
        f"ledger redact {gold.blob[:16]} --reason TEXT",
        None,
    ]
    assert [one.place for one in found.findings][:2] == [10, 0]
    assert KEY[3:] not in repr(found)
    assert found.leaks == 3
    with writing(victim) as ledger:
        redacted(ledger, sealed)
        redacted(ledger, gold)
    found = scanned(victim)
    assert (found.leaks, found.redacted) == (1, 2)


def test_c11_a_credential_in_a_response_is_evidence(tmp_path: Path) -> None:
    """What came from outside is kept and reported; the same in a request is a leak."""
    with small_ledger(tmp_path) as ledger:
        ledger.append_many([opened(), started(RUN, trial("q1"))])
        call = {"call": "c1", "purpose": "search", "endpoint": "search", "request": f"with {KEY}"}
        done = {"call": "c1", "status": "ok", "response": f"{KEY} and {HIDDEN}"}
        for kind, data in (("call.started", call), ("call.finished", done)):
            ledger.append(Submission(kind=kind, run=RUN, trial=trial("q1"), data=data))
        path = ledger.store.path
    found = scanned(path, MODEL_KEY=HIDDEN)
    assert [(one.sort, one.field, one.is_evidence) for one in found.findings] == [
        ("credential", "request", False),
        ("secret", "response", False),
        ("credential", "response", True),
    ]
    assert (found.leaks, found.evidence) == (2, 1)
    assert (found.secrets, found.unset) == (["MODEL_KEY"], ["SEARCH_KEY"])
    assert "very secret" not in repr(found)


def test_c11_a_secret_that_looks_like_a_credential_is_one_finding(victim: Path) -> None:
    """The value of a variable is told as that, in whichever spelling it stands."""
    with writing(victim) as ledger:
        noted(ledger, f"a {KEY} b".encode())
        noted(ledger, b'{"a": "quote \\" in it, 12"}')
    found = scanned(victim, MODEL_KEY=KEY, SEARCH_KEY='quote " in it, 12')
    assert shown(found) == [
        ("secret", "value of MODEL_KEY", "text"),
        ("secret", "value of SEARCH_KEY", "text"),
    ]


def test_c03_a_canary_in_what_an_agent_sees_or_says_is_found(victim: Path) -> None:
    """In any spelling; in gold texts it is where it belongs."""
    with writing(victim) as ledger:
        noted(ledger, f"it says {CANARY} there".encode())
        noted(ledger, CANARY.upper().encode())
        noted(ledger, CANARY.encode(), class_="gold")
        noted(ledger, KEY.encode())
    found = scanned(victim, credentials=False)
    assert [(one.sort, one.what, one.place) for one in found.findings] == [
        ("canary", "canary of example@1", 8),
        ("canary", "canary of example@1", None),
    ]
    assert (found.secrets, found.unset) == ([], [])
    assert CANARY not in repr(found)


def test_c02_without_the_gold_file_what_is_not_known_is_said(victim: Path) -> None:
    """Canaries and gold texts that are not here are counted, not called clean."""
    with writing(victim) as ledger:
        noted(ledger, CANARY.encode())
    gold_path(victim).unlink()
    found = scanned(victim)
    assert (found.findings, found.canaries) == ([], [])
    assert found.unknown_canaries == ["example@1"]
    assert found.absent > 0


def test_a_dataset_without_a_canary_is_not_looked_for(tmp_path: Path) -> None:
    """What was not committed to cannot be found."""
    from ledger_cases import empty_ledger, small_dataset  # noqa: PLC0415 - only here

    with empty_ledger(tmp_path) as ledger:
        ledger.register(small_dataset(canary=None))
        found = scan(ledger)
    assert (found.canaries, found.unknown_canaries) == ([], [])


def test_c11_a_frozen_text_names_no_command(tmp_path: Path) -> None:
    """A key in a frozen document is found; it cannot be redacted, so it must be revoked."""
    from ledger_cases import small_rubric  # noqa: PLC0415 - only here

    rubric = small_rubric(judge={
        "model": "judge-model", "endpoint": "judge", "prompt": "{question} " + KEY,
    })  # fmt: skip
    with small_ledger(tmp_path) as ledger:
        changed = rubric.__class__(**{
            **{name: getattr(rubric, name) for name in rubric.__struct_fields__}, "version": "2",
        })  # fmt: skip
        ledger.freeze([changed])
        (found,) = scan(ledger).findings
    assert (found.field, found.class_, found.command) == ("document", "plain", None)
    assert found.blob is not None


def test_findings_beyond_the_limit_are_counted(
    victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first are listed, all are counted."""
    monkeypatch.setattr(scanning, "MAX_FINDINGS", 2)
    with writing(victim) as ledger:
        for number in range(5):
            data = {"about": "x", "text": NewText(content=f"{number} {KEY}".encode())}
            ledger.append(Submission(kind="note.added", data=data, actor=HARNESS))
    found = scanned(victim)
    assert (len(found.findings), found.unlisted, found.leaks) == (2, 3, 5)
