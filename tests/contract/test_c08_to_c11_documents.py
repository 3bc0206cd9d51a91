"""C8, C9, C11 and C20 from the command line: what is frozen beforehand, and what never enters."""

import json
from pathlib import Path

import pytest

from cli_cases import LEDGER, RUN, Here, event, full, head, lines, opening, ready, start
from contract_cases import PERSON, accept, contents, refuse, screens
from document_cases import manifest_table, rubric_table
from ledger_cases import questions_jsonl
from trial_ledger.documents import outcomes, rubric

SECRET = "hunter22/é"  # noqa: S105 - made up
ENDPOINTS = {
    "model": {"url": "http://127.0.0.1:8080/v1", "key_env": "MODEL_KEY"},
    "search": {"url": "http://127.0.0.1:8765/search", "key_env": "SEARCH_KEY"},
}
CASES = ("both_empty", "answer_empty", "gold_empty")
LISTS = {"m": {"measure": "list.f1", "grader": "human"}}


def put(here: Here, name: str, table: dict[str, object]) -> str:
    """Write a document; return its name."""
    (here.folder / name).write_text(json.dumps(table))
    return name


def list_rubric(**changes: object) -> dict[str, object]:
    """Return a rubric of lists with every case of empty sets."""
    case = {"precision": "undefined", "recall": "0", "f1": "0"}
    empty = dict.fromkeys(CASES, case)
    return rubric_table(version="2", primary="m", metrics=LISTS, empty_sets={**empty, **changes})


@pytest.mark.parametrize("case", CASES)
def test_c08_every_case_of_empty_sets_has_its_values_before_scoring(
    case: str, tmp_path: Path, here: Here
) -> None:
    """A rubric of lists that leaves one case, or one value of it, open is not frozen."""
    path = ready(tmp_path)
    before = head(path)
    for broken in (
        {name: value for name, value in list_rubric().items() if name != "empty_sets"},
        list_rubric(**{case: {"precision": "0", "recall": "0"}}),
        list_rubric(**{case: {"precision": "0", "recall": "maybe", "f1": "0"}}),
    ):
        refused = here("freeze", "rubric", put(here, "r.toml", broken))
        assert refused.code == 2
        assert "r.toml: empty_sets" in refused.err
        assert "(C8)" in refused.err or "maybe" in refused.err
    assert head(path) == before
    assert here("freeze", "rubric", put(here, "r.toml", list_rubric())).code == 0


def test_c09_a_trial_needs_a_manifest_that_was_frozen_before(tmp_path: Path, here: Here) -> None:
    """Without the frozen manifest there is no run, and without a run no trial."""
    here("init")
    (tmp_path / "d.jsonl").write_bytes(questions_jsonl())
    here("freeze", "dataset", "d.jsonl", "--name", "example", "--version", "1")
    here("freeze", "rubric", put(here, "r.toml", rubric_table()))
    refuse(here, "C9", opening())
    refused = here("append", "--stream", "in.jsonl")
    assert refused.rows[0]["hint"] == "ledger freeze manifest FILE"
    table = manifest_table(repetitions=1, endpoints=ENDPOINTS)
    assert here("freeze", "manifest", put(here, "m.toml", table)).code == 0
    accept(here, opening(), start("q1"))


def test_c09_a_frozen_manifest_cannot_change(tmp_path: Path, here: Here) -> None:
    """Another system under the same name is refused; a record cannot stand in for freezing."""
    path = ready(tmp_path)
    before = head(path)
    table = manifest_table(repetitions=1, endpoints={**ENDPOINTS, "mirror": ENDPOINTS["search"]})
    refused = here("freeze", "manifest", put(here, "m.toml", table))
    assert refused.code == 3
    assert "configuration local is system" in refused.err
    assert "(C9)" in refused.err
    assert "hint: a changed system gets a new configuration name" in refused.err
    forged = {"kind": "manifest.frozen", "data": {"configuration": "local"}}
    (tmp_path / "in.jsonl").write_bytes(lines(forged))
    assert here("append", "in.jsonl").code == 2
    assert head(path) == before
    put(here, "m.toml", {**table, "configuration": "mirrored"})
    assert here("freeze", "manifest", "m.toml").code == 0


def test_c09_a_rebuilt_manifest_starts_no_live_run(tmp_path: Path, here: Here) -> None:
    """What was reconstructed from a log is no declaration made beforehand."""
    here("init")
    log = Path(__file__).parents[2] / "docs" / "examples" / "inspect-log.json"
    assert here("import", "inspect", str(log)).code == 0
    frozen = here("log", "--kind", "manifest.frozen", "--format", "jsonl").rows[0]["data"]
    refuse(here, "C9", {**opening(manifest=frozen["manifest_hash"]), "run": "live-1"})
    assert (tmp_path / LEDGER).exists()


def test_c11_a_secret_reaches_nothing_that_is_kept(tmp_path: Path, here: Here) -> None:
    """Wherever an event holds the key that the manifest names, a marker is stored instead."""
    here.monkeypatch.setenv("MODEL_KEY", SECRET)
    path = ready(tmp_path)
    failure = {"class": "other", "detail_class": f"E {SECRET}", "message": f"401 for {SECRET}"}
    accept(
        here,
        opening(reason=f"with {SECRET}"),
        start("q1", input=f"key {SECRET}"),
        event("call.started", "q1", call="c1", purpose="model", endpoint="model",
              name=SECRET, request=json.dumps({"k": SECRET, "Authorization": "Bearer other"})),
        event("failure.occurred", "q1", occurrence="f1", **failure),
        event("call.finished", "q1", call="c1", status="ok",
              response=f"echo {SECRET}", served={"model": f"m-{SECRET}"}),
        {**event("note.added", None, about=SECRET, text=SECRET), "run": None},
    )  # fmt: skip
    escaped = json.dumps(SECRET)[1:-1].encode()
    for content in contents(path):
        assert SECRET.encode() not in content
        assert escaped not in content
        assert b"Bearer other" not in content
    for screen in screens(here, "log", f"failures {RUN}", f"trace {RUN}/q1#1"):
        assert SECRET not in screen
    shown = here("show", "7").out
    assert "[secret MODEL_KEY]" in shown
    assert "[credential removed]" in shown
    refuse(here, "C11", {**event("note.added", None, about="x", text="y"),
                         "actor": {"role": "human", "name": SECRET}})  # fmt: skip
    assert here("verify").code == 0


def test_c11_without_the_scrubber_the_secret_would_be_kept(
    tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the scrubbing taken out, the same event stores the secret: the scrubber is the guard."""
    monkeypatch.setenv("MODEL_KEY", SECRET)
    monkeypatch.setattr("trial_ledger.sealing.Sealer.scrub", lambda *_: None)
    path = ready(tmp_path)
    accept(here, opening(reason=f"with {SECRET}"))
    assert any(SECRET.encode() in content for content in contents(path))


def test_c20_a_gap_in_the_outcome_table_is_what_the_check_refuses(
    tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rubric that leaves an outcome out is refused; with the check taken out it would pass."""
    ready(tmp_path)
    table = rubric_table(version="2")
    table["outcomes"] = {
        name: rule for name, rule in table["outcomes"].items() if name != "refused"
    }
    refused = here("freeze", "rubric", put(here, "r.toml", table))
    assert refused.code == 2
    assert "r.toml: outcomes: outcome classes without a rule: refused (C20)" in refused.err
    without = tuple(name for name in outcomes.OUTCOME_CLASSES if name != "refused")
    for module in (outcomes, rubric):
        if hasattr(module, "OUTCOME_CLASSES"):
            monkeypatch.setattr(module, "OUTCOME_CLASSES", without)
    assert here("freeze", "rubric", "r.toml").code == 0


def test_c12_the_words_of_an_invalid_run_stay(tmp_path: Path, here: Here) -> None:
    """An invalidation adds one event; every document before it is what it was."""
    path = full(tmp_path)
    size = head(path).size
    before = [here("show", str(seq), "--raw") for seq in range(1, 6)]
    invalid = {"kind": "run.invalidated", "run": "fast-01", "actor": PERSON}
    accept(here, {**invalid, "data": {"reason": "wrong dataset"}})
    assert head(path).size == size + 1
    assert [here("show", str(seq), "--raw") for seq in range(1, 6)] == before
    assert "INVALID" in here("runs").out
