"""C1 to C4 from the command line: records, gold for the grader only, leaks, gold by shape."""

import json
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, full, head, lines, opening, ready, start
from contract_cases import accept, contents, refuse, screens
from document_cases import question_record
from ledger_cases import ANSWERS, RUN, small_ledger, tools
from trial_ledger import filling
from trial_ledger.blobs import blob_hash
from trial_ledger.book import Ledger
from trial_ledger.documents.dataset import AGENT_FIELDS, agent_view
from trial_ledger.documents.templates import read_template

SHAPES = {
    "fact": ("answer",),
    "list": ("items",),
    "structured": ("records", "fields"),
    "research": ("criteria",),
}
"""Shape → what its gold cannot do without."""


def freeze(here: Here, content: bytes, *, version: str = "2") -> tuple[int, str]:
    """Freeze a dataset; return exit code and everything said."""
    (here.folder / "d.jsonl").write_bytes(content)
    result = here("freeze", "dataset", "d.jsonl", "--name", "new", "--version", version)
    return result.code, result.out + result.err


def test_c01_nothing_is_registered_unless_every_record_is_good(tmp_path: Path, here: Here) -> None:
    """All faults of all records come with file, line and field; the mended file registers."""
    path = ready(tmp_path)
    before = head(path)
    bad = [
        question_record(id="a", task_shape="fakt"),
        question_record(id="b"),
        question_record(id="b"),
        question_record(id="c", gold={"answer": ""}),
        b"not JSON",
    ]
    code, said = freeze(here, lines(*bad))
    assert code == 2
    for place in ("d.jsonl:1: task_shape", "d.jsonl:3: id", "d.jsonl:4: gold.answer", "d.jsonl:5:"):
        assert place in said
    assert head(path) == before
    code, said = freeze(here, lines(question_record(id="a"), question_record(id="b")))
    assert (code, head(path).size) == (0, before.size + 1)


def test_c02_no_gold_is_in_the_ledger_file(tmp_path: Path, here: Here) -> None:
    """Gold that no agent said is in no byte, document or blob of the ledger, and on no screen."""
    path = full(tmp_path)
    secret = [ANSWERS[question] for question in ("q1", "q2", "q9")]
    needles = [answer.casefold() for answer in secret]
    for content in contents(path):
        text = content.decode("utf-8", "replace").casefold()
        assert not [needle for needle in needles if needle in text]
    commands = [f"{name} {RUN}" for name in ("scores", "trials", "explain")]
    commands += [f"trace {RUN}/{question}#1" for question in ANSWERS]
    for screen in screens(here, "log", "runs", *commands):
        assert not [needle for needle in needles if needle in screen.casefold()]
    with Ledger.open(path, tools=tools(tmp_path, pins=False)) as book:
        assert book.gold is not None
        assert any(
            secret[0].encode() in (book.gold.blobs.read_named(name) or b"")
            for name, _ in book.gold.blobs.names()
        ), "it is in the gold file"


def test_c02_what_was_graded_against_can_be_proven_and_not_guessed(tmp_path: Path) -> None:
    """A commitment is the salted hash of the record: provable with the salt, another elsewhere."""
    (tmp_path / "other").mkdir()
    found: list[str] = []
    for folder, seed in ((tmp_path, 7), (tmp_path / "other", 8)):
        with small_ledger(folder, world=tools(folder, seed=seed)) as book:
            commitment = book.registry().commitments("example@1")["q1"]
            assert commitment is not None
            assert book.gold is not None
            name = bytes.fromhex(commitment)
            record = book.gold.blobs.read_named(name)
            row = book.gold.connection.execute("SELECT salt FROM blob WHERE hash = ?", (name,))
            assert record is not None
            assert json.loads(record)["gold"]["answer"] == "Samarkand"
            assert blob_hash(record, row.fetchone()[0]) == name
            found.append(commitment)
    assert found[0] != found[1]


def test_c02_an_agent_gets_four_fields(tmp_path: Path) -> None:
    """The view of a question is an allow-list: nothing that is added later appears in it."""
    with small_ledger(tmp_path) as book:
        view = agent_view(book.registry().questions("example@1")["q1"])
    assert tuple(view) == AGENT_FIELDS == ("id", "question", "as_of", "context")
    assert "Samarkand" not in json.dumps(view)


def test_c03_gold_in_a_first_input_is_refused_before_it_is_sent(tmp_path: Path, here: Here) -> None:
    """The trial does not start, nothing is written, and a clean input starts it."""
    ready(tmp_path)
    accept(here, opening())
    said = refuse(here, "C3", start("q1", input="Hint: SAMARKAND"))
    assert "in.jsonl:1: data.input: the input of trial q1#1@s1 shows gold: samarkand (C3)" in said
    assert "hint: send the agent only id, question, as_of and context" in said
    refuse(here, "C3", start("q1", input='["canary 5bd2d8a6"]'))
    accept(here, start("q1", input="Which town is meant by riddle q1?"))


def test_c03_without_the_guard_the_gold_would_pass(
    tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the search for gold taken out, the same input is accepted: the guard is what refuses."""
    ready(tmp_path)
    monkeypatch.setattr(filling, "find_leak", lambda *_: None)
    accept(here, opening(), start("q1", input="Hint: SAMARKAND"))


def test_c03_what_the_question_shows_and_what_is_short_is_no_leak(
    tmp_path: Path, here: Here
) -> None:
    """Gold counts only where it is absent from question and context and of the declared length."""
    here("init")
    records = [
        question_record(id="q1", question="Samarkand or Bukhara?", gold={"answer": "Samarkand"}),
        question_record(id="q2", context={"towns": ["Merv"]}, gold={"answer": "Merv"}),
        question_record(id="q3", gold={"answer": "Ur"}),
        question_record(id="q4", gold={"answer": "Nippur"}),
    ]
    for name in ("rubric.toml", "manifest.toml"):
        (tmp_path / name).write_bytes(read_template(name))
    (tmp_path / "d.jsonl").write_bytes(lines(*records))
    (tmp_path / "meta.toml").write_bytes(b"leak_min_length = 6\n")
    manifest = (tmp_path / "manifest.toml").read_text().replace('splits = ["holdout"]', "")
    (tmp_path / "manifest.toml").write_text(manifest)
    named = ("--name", "example", "--version", "1", "--meta", "meta.toml")
    assert here("freeze", "dataset", "d.jsonl", *named).code == 0
    assert here("freeze", "rubric", "rubric.toml").code == 0
    assert here("freeze", "manifest", "manifest.toml").code == 0
    accept(
        here,
        opening(manifest="local-ranked"),
        start("q1", input="Samarkand or Bukhara?"),
        start("q2", input="Merv?"),
        start("q3", input="Ur?"),
    )
    refuse(here, "C3", start("q4", input="Nippur?"))


@pytest.mark.parametrize("shape", SHAPES)
def test_c04_gold_has_what_its_shape_needs(shape: str, tmp_path: Path, here: Here) -> None:
    """The template's record of every shape is accepted; without a part of its gold it is not."""
    path = ready(tmp_path)
    record = next(
        json.loads(line)
        for line in read_template("dataset.jsonl").splitlines()
        if json.loads(line)["task_shape"] == shape
    )
    for part in SHAPES[shape]:
        gold = {name: value for name, value in record["gold"].items() if name != part}
        code, said = freeze(here, lines({**record, "gold": gold}))
        assert code == 2
        assert f"d.jsonl:1: gold.{part}: missing (C4)" in said
    assert head(path).size == 4
    assert freeze(here, lines(record))[0] == 0


def test_c04_a_condition_that_stands_only_in_gold_is_warned_about(
    tmp_path: Path, here: Here
) -> None:
    """Conditions belong in the question or the context; where they do not stand, that is said."""
    ready(tmp_path)
    gold = {
        "items": ["Merv"],
        "exhaustive": True,
        "inclusion_conditions": ["older than a thousand years"],
        "evidence": [{"url": "https://example.org/a", "verified_at": "2026-10-02"}],
    }
    hidden = question_record(id="a", task_shape="list", gold=gold)
    open_one = question_record(
        id="b", task_shape="list", gold=gold, context={"rule": "older than a thousand years"}
    )
    code, said = freeze(here, lines(hidden, open_one))
    assert code == 0
    warnings = [line for line in said.splitlines() if line.startswith("  warning ")]
    assert len(warnings) == 1
    assert warnings[0].startswith("  warning a: ")
    assert warnings[0].endswith("(C4)")
    assert (tmp_path / LEDGER).exists()
