"""`ledger verify`: the screen of a check, its exit code, and what it cannot see."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, full, opening, ready, start, write
from trial_cli.verify import SHOWN, lines_of
from trial_ledger import verification
from trial_ledger.checking import Finding
from trial_ledger.verification import Verification


def changed(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of a file behind the back of the program."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def test_an_intact_ledger(tmp_path: Path, here: Here) -> None:
    """What was checked is said, and what no check can see as well."""
    full(tmp_path)
    found = here("verify")
    assert found.code == 0
    assert found.out.startswith(
        "intact    128 events: bytes, chain, links, tree, columns, schema\n"
    )
    assert "every byte checked, 0 redacted, 0 named by no event" in found.out
    assert "not seen  a cut tail" in found.out
    assert found.err == ""
    fast = here("verify", "--fast")
    assert fast.code == 0
    assert "bytes not checked (--fast)" in fast.out


def test_json_holds_the_whole_check(tmp_path: Path, here: Here) -> None:
    """The JSON form has the verdict first and everything that was found."""
    full(tmp_path)
    found = here("verify", "--json").json
    assert (found["schema"], found["intact"]) == ("ledger.verify/1", True)
    assert found["verification"]["size"] == 128
    (row,) = here("verify", "--format", "jsonl").rows
    assert (row["findings"], row["first"], row["size"]) == (0, None, 128)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_changed_byte_ends_with_4(form: str, tmp_path: Path, here: Here) -> None:
    """A byte changed in a stored event is found, at its place, in every form."""
    path = full(tmp_path)
    changed(path, b'"kind":"answer.submitted"', b'"kind":"answer.sabmitted"')
    found = here("verify", "--format", form)
    assert found.code == 4
    if form == "json":
        assert json.loads(found.out)["intact"] is False
    else:
        assert found.out.startswith("NOT WHAT WAS WRITTEN: ")
        assert "the first at seq " in found.out


def test_open_trials_are_listed(tmp_path: Path, here: Here) -> None:
    """What has not ended is no fault, and is said."""
    ready(tmp_path)
    here("append", write(tmp_path, [opening(), start("q1")]))
    one = here("verify").out
    assert "open      1: " in one
    assert "…" not in one
    here("append", write(tmp_path, [start("q2")]))
    two = here("verify").out
    assert "open      2: " in two
    assert ", …\n" in two


def report(**changes: object) -> Verification:
    """Return a check with these results."""
    values: dict[str, object] = {"ledger": "a", "size": 3, "root": "b", "findings": [], **changes}
    return Verification(**values)  # type: ignore[arg-type]


def test_findings_are_listed_and_counted() -> None:
    """Twenty findings are shown, the others counted; one is one."""
    one = lines_of(report(findings=[Finding(what="is odd", seq=2)]))
    assert one[0] == "NOT WHAT WAS WRITTEN: 1 finding, the first at seq 2"
    many = [Finding(what="is odd\x1b", place=f"blob {number}") for number in range(SHOWN + 5)]
    found = lines_of(report(findings=many, unlisted=7))
    assert found[0] == f"NOT WHAT WAS WRITTEN: {SHOWN + 12} findings, the first at blob 0"
    assert found[SHOWN + 1] == "  … and 12 more (--json lists up to 1000)"
    assert "\x1b" not in "".join(found)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(
    tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool
) -> None:
    """A long check says how far it is where somebody watches, and stays quiet elsewhere."""
    full(tmp_path)

    def long_check(
        _: object, *, progress: Callable[[int, int], None] | None, **options: object
    ) -> Verification:
        assert options == {"fast": False, "against": [], "policy": None}
        for done in (1, 2):
            if progress is not None:
                progress(done, 3)
        return report()

    monkeypatch.setattr(verification, "verify", long_check)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    found = here("verify")
    assert found.code == 0
    assert found.err == ("\rverifying 1/3\rverifying 2/3\n" if is_terminal else "")


def test_a_file_behind_its_pin_is_told(tmp_path: Path, here: Here) -> None:
    """A ledger put back from an older copy is behind what this user has seen of it."""
    path = ready(tmp_path)
    older = path.read_bytes()
    here("append", write(tmp_path, [opening()]))
    path.write_bytes(older)
    found = here("verify")
    assert found.code == 4
    assert "pin" in found.out
    assert "behind" in found.out
    refused = here("append", write(tmp_path, [opening()]))
    assert refused.code == 4
    assert f"{LEDGER} is behind its head pin: 4 events, 5 were seen" in refused.err
