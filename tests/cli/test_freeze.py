"""`ledger freeze`: documents into the ledger, once; everything wrong with them at once."""

import json
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, head, lines, ready
from document_cases import manifest_table, question_record, rubric_table
from ledger_cases import questions_jsonl, small_manifest

MAP = """
format = "jsonl"
id = "number"
question = "ask"
task_shape = {const = "fact"}
[gold]
answer = "solution"
"""


def put(folder: Path, name: str, content: bytes | dict[str, object]) -> str:
    """Write a document; return its name."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / name).write_bytes(data)
    return name


def test_the_three_documents_are_frozen_in_order(tmp_path: Path, here: Here) -> None:
    """Dataset, rubric and manifest get their places; what was frozen is said in short."""
    here("init")
    put(tmp_path, "d.jsonl", questions_jsonl())
    put(tmp_path, "r.toml", rubric_table())
    put(tmp_path, "m.toml", manifest_table())
    dataset = here("freeze", "dataset", "d.jsonl", "--name", "example", "--version", "1")
    assert dataset.out.startswith("dataset example@1  10 questions: 10 fact\n  frozen at seq 2  ")
    rubric = here("freeze", "rubric", "r.toml")
    assert rubric.out.startswith("rubric quality@1  hash ")
    assert "primary correct\n  frozen at seq 3" in rubric.out
    manifest = here("freeze", "manifest", "m.toml")
    assert manifest.out.startswith("manifest local@")
    assert "  final\n  dataset example@1  rubric quality@1  x 2\n  frozen at" in manifest.out


def test_freezing_again_finds_it(tmp_path: Path, here: Here) -> None:
    """The same document again appends nothing and says where it stands."""
    path = ready(tmp_path)
    put(tmp_path, "d.jsonl", questions_jsonl())
    put(tmp_path, "meta.toml", b'canary = "canary 5bd2d8a6"\nprovenance = "made for tests"\n')
    arguments = ("freeze", "dataset", "d.jsonl", "--name", "example", "--version", "1")
    again = here(*arguments, "--meta", "meta.toml")
    assert "  was frozen already at seq 2  event " in again.out
    found = here(*arguments, "--meta", "meta.toml", "--json").json
    assert (found["schema"], found["reference"]) == ("ledger.freeze/1", "example@1")
    assert (found["seq"], found["status"]) == (2, "exists")
    assert head(path).size == 4


def test_warnings_about_gold_are_shown(tmp_path: Path, here: Here) -> None:
    """What makes gold doubtful is said when it is frozen, by question and clause."""
    ready(tmp_path)
    evidence = [{"url": "https://example.org/a", "verified_at": "2020-01-01"}]
    old = question_record(gold={"answer": "Samarkand", "evidence": evidence})
    put(tmp_path, "d.jsonl", lines(old))
    found = here("freeze", "dataset", "d.jsonl", "--name", "old", "--version", "1")
    assert found.code == 0
    assert "  warning q1: " in found.out
    assert "(C5)" in found.out


def test_an_existing_format_is_read_by_a_map(tmp_path: Path, here: Here) -> None:
    """A field map reads what another project calls its fields."""
    ready(tmp_path)
    put(tmp_path, "d.jsonl", lines({"number": 7, "ask": "Which town?", "solution": "Merv"}))
    put(tmp_path, "map.toml", MAP.encode())
    arguments = ("freeze", "dataset", "d.jsonl", "--name", "foreign", "--version", "1")
    found = here(*arguments, "--map", "map.toml")
    assert found.code == 0, found.err
    assert "dataset foreign@1  1 questions: 1 fact" in found.out
    broken = here(*arguments, "--map", "d.jsonl")
    assert broken.code == 2


@pytest.mark.parametrize("kind", ["dataset", "rubric", "manifest"])
def test_missing_options_and_files(kind: str, tmp_path: Path, here: Here) -> None:
    """A missing file is not found; a dataset needs a name and a version."""
    ready(tmp_path)
    names = ("--name", "n", "--version", "1") if kind == "dataset" else ()
    missing = here("freeze", kind, "none", *names)
    assert missing.code == 6
    assert "hint: ledger init --template writes documents" in missing.err
    if kind == "dataset":
        put(tmp_path, "d.jsonl", questions_jsonl())
        assert "Missing option '--name'" in here("freeze", "dataset", "d.jsonl").err
        for option in ("--map", "--meta"):
            assert here("freeze", "dataset", "d.jsonl", *names, option, "none").code == 6


def test_the_machine_is_part_of_the_manifest(tmp_path: Path, here: Here) -> None:
    """A manifest records on which machine it was frozen, and the system stays the same system."""
    ready(tmp_path)
    table = manifest_table(
        repetitions=1,
        endpoints={
            "model": {"url": "http://127.0.0.1:8080/v1", "key_env": "MODEL_KEY"},
            "search": {"url": "http://127.0.0.1:8765/search", "key_env": "SEARCH_KEY"},
        },
    )
    put(tmp_path, "m.toml", table)
    assert here("freeze", "manifest", "m.toml").code == 0
    event = here("show", "5", "--json").json["event"]["data"]
    raw = here("show", event["document"]["blob"], "--json").json["blob"]["text"]
    assert set(json.loads(raw)["environment"]) >= {"python", "system", "machine", "processors"}
    first = here("show", "4", "--json").json["event"]["data"]
    assert first["system_hash"] == event["system_hash"]
    assert first["manifest_hash"] != event["manifest_hash"]
    assert small_manifest().configuration == event["configuration"]


def test_hostile_names_are_shown_harmless(tmp_path: Path, here: Here) -> None:
    """Names of documents do not turn the text of the screen."""
    ready(tmp_path)
    put(tmp_path, "r.toml", rubric_table(name="quality\u202e"))
    found = here("freeze", "rubric", "r.toml")
    assert found.code == 0, found.err
    assert "\u202e" not in found.out
    assert (tmp_path / LEDGER).exists()
