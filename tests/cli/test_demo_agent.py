"""The demo's agent: what it searches for, how it reads, and that nothing of it is chance."""

import ast
import io
import json
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from trial_cli.demo import agent
from trial_cli.demo.agent import Hit
from trial_cli.demo.search_service import Index

DEFAULT = "What is the default value of the parameter `{}` of `{}`?"


def hit(name: str, text: str, signature: str = "", kind: str = "function") -> Hit:
    """Return one document as the service sends it."""
    return {"name": name, "kind": kind, "signature": signature, "text": text}


class Shelf:
    """A search that finds what was laid out for each query, and remembers the queries."""

    def __init__(self, found: dict[str, list[Hit]]) -> None:
        self.found = found
        self.queries: list[str] = []

    def __call__(self, query: str) -> list[Hit]:
        """Return what there is."""
        self.queries.append(query)
        return self.found.get(query, [])


def ask(question: str, search: Shelf, seed: int = 0, **context: object) -> agent.Found:
    """Ask the agent one question."""
    asked = {"id": "q", "question": question, "context": context}
    return agent.answer(asked, seed, search)


def test_a_repetition_words_its_query_differently() -> None:
    """The seed says which of the question's words in a row are searched for."""
    terms = ["removes", "common", "leading", "whitespace"]
    assert agent.query(terms, 0) == "removes common leading"
    assert agent.query(terms, 1) == "common leading whitespace"
    assert agent.query(terms, 2) == "removes common leading"
    assert agent.query(["disk"], 7) == "disk"


def test_words_that_mean_nothing_are_not_searched_for() -> None:
    """Function words go, underscores part words, each word counts once."""
    assert agent.words("Which function finds the n largest, the LARGEST disk_usage?") == [
        "finds", "n", "largest", "disk", "usage",
    ]  # fmt: skip


def test_the_function_most_like_the_question_is_the_answer() -> None:
    """Of what was found the best description wins; classes and modules are no functions."""
    shelf = Shelf(
        {
            "removes leading blanks": [
                hit("a", "Removes leading blanks.", kind="class"),
                hit("b.c", "Removes blanks."),
                hit("b.d", "Remove leading blanks.\n\nAnything else."),
            ]
        }
    )
    found = ask("Which function removes leading blanks?", shelf)
    assert found == agent.Found("b.d", ("b.d",))
    assert shelf.queries == ["removes leading blanks"]


def test_a_second_search_is_by_the_longest_word() -> None:
    """Where nothing fits half-way the longest word is tried, and a third of the words may do."""
    shelf = Shelf({"transmogrify": [hit("x.y", "Transmogrify a tree.")]})
    found = ask("Which function can transmogrify old shrubs?", shelf, seed=1)
    assert shelf.queries == ["transmogrify old shrubs", "transmogrify"]
    assert found.answer is None
    found = ask("Which function can transmogrify shrubs?", shelf)
    assert found.answer == "x.y"


def test_a_default_is_read_from_the_signature() -> None:
    """The named function is preferred, and searched for by its name where it was not found."""
    wrap = hit("t.wrap", "", "text, /, width=70, *lines, fix=True, **more")
    shelf = Shelf({"t wrap fix": [hit("t.fill", "", "text, fix=False")], "t.wrap": [wrap]})
    assert ask(DEFAULT.format("fix", "t.wrap"), shelf).answer == "True"
    assert shelf.queries == ["t wrap fix", "t.wrap"]
    assert ask(DEFAULT.format("width", "t.wrap"), Shelf({"t wrap width": [wrap]})).answer == "70"
    assert ask(DEFAULT.format("text", "t.wrap"), Shelf({"t.wrap": [wrap]})).answer is None


def test_another_document_is_a_last_resort() -> None:
    """Where the named function is not to be found, the first document is read: plainly wrong."""
    shelf = Shelf({"t wrap fix": [hit("t.fill", "", "text, fix=False")]})
    assert ask(DEFAULT.format("fix", "t.wrap"), shelf).answer == "False"
    shelf = Shelf({"t wrap fix": [hit("t.Wrapper", "", "object", kind="class")]})
    assert ask(DEFAULT.format("fix", "t.wrap"), shelf).answer is None
    assert ask(DEFAULT.format("fix", "t.wrap"), Shelf({})).answer is None


def test_an_exception_is_read_from_the_sentence_about_raising() -> None:
    """Of the sentences that speak of raising, the one most like the question is read."""
    text = "Copy. Raises BigError on Monday. If both are the same file, a SameError\nis raised."
    shelf = Shelf({"s.copy": [hit("s.copy", text)]})
    asked = "Which exception does `s.copy` raise when both are the same file?"
    assert ask(asked, shelf).answer == "SameError"
    shelf = Shelf({"s.copy": [hit("s.copy", "Copy. This may raise eyebrows.")]})
    assert ask(asked, shelf) == agent.Found(None, ("s.copy",))
    assert ask(asked, Shelf({})) == agent.Found(None, ())


RECORD = "For the function that merges sorted inputs: give its name."


def test_a_record_is_name_and_signature() -> None:
    """Parameters are counted without self; no default is null, no parameter neither."""
    fields = ["name", "parameters", "last_default"]
    for signature, count, default in (
        ("self, a, *, b=1", 2, "1"),
        ("self, a", 1, None),
        ("", 0, None),
    ):
        shelf = Shelf({"merges sorted inputs": [hit("h.m", "Merge sorted inputs.", signature)]})
        expected = {"name": "h.m", "parameters": count, "last_default": default}
        assert ask(RECORD, shelf, fields=fields).answer == [expected]
    assert ask(RECORD, Shelf({}), fields=fields).answer is None


def items(shelf: Shelf, condition: str) -> object:
    """Ask which of three candidates meet a condition."""
    question = "Which of the candidates?"
    candidates = ["o.A", "o.B", "o.C"]
    return ask(question, shelf, candidates=candidates, conditions=[condition]).answer


def test_items_are_the_candidates_that_were_read_and_fit() -> None:
    """What no search brings is left out; a second search is by the module."""
    found = [hit("o.A", "", "key=None"), hit("o.B", "", "x")]
    shelf = Shelf({"o key": found, "o.": [hit("o.C", "", "*, key=None")]})
    assert items(shelf, "takes a parameter named `key`") == ["o.A", "o.C"]
    assert shelf.queries == ["o key", "o."]
    found.append(hit("o.C", ""))
    shelf = Shelf({"o key": found})
    assert items(shelf, "takes a parameter named `key`") == ["o.A"]
    assert shelf.queries == ["o key"]
    assert items(Shelf({}), "takes a parameter named `key`") is None


def test_plain_reading_is_sometimes_wrong() -> None:
    """A base whose name contains the sought one is taken for it, and a mention for a promise."""
    found = [hit("o.A", "x", "BadError", "class"), hit("o.B", "No Error is raised.", "Error")]
    shelf = Shelf({"o error": found})
    assert items(shelf, "derives directly from `Error`") == ["o.A", "o.B"]
    assert items(shelf, "its documentation says that `Error` is raised") == ["o.B"]


QUESTIONS = [
    {field: record[field] for field in ("id", "question", "as_of", "context") if field in record}
    for record in map(
        json.loads,
        files("trial_cli.demo").joinpath("dataset.jsonl").read_text("utf-8").splitlines(),
    )
]


def dialogue(index: Index, mode: str, seed: int) -> list[str]:
    """Let the agent answer every question over lines, as the harness does; return its lines."""
    said: list[str] = []

    def lines() -> Iterator[str]:
        for question in QUESTIONS:
            yield json.dumps({"input": question, "seed": seed})
            while "search" in (step := json.loads(said[-1])):
                yield json.dumps({"hits": index.search(mode, step["search"])})

    agent.serve(lines(), said.append)
    return said


@pytest.mark.parametrize("mode", ["ranked", "substring"])
def test_the_same_seed_gives_the_same_dialogue(mode: str) -> None:
    """Twice the same input is twice the same output, with at most two searches a question."""
    index = Index(Path(sysconfig.get_path("stdlib")))
    first = dialogue(index, mode, 20261002)
    assert dialogue(index, mode, 20261002) == first
    steps = [next(iter(json.loads(line))) for line in first]
    index.connection.close()
    assert len([step for step in steps if step != "search"]) == len(QUESTIONS)
    assert "search search search" not in " ".join(steps)
    assert {"answer", "search"} <= set(steps) <= {"answer", "search", "abstain"}


def test_both_modes_have_something_to_find_and_to_miss() -> None:
    """Full text finds more, plain substring finds something that full text misses."""
    index = Index(Path(sysconfig.get_path("stdlib")))
    given: dict[str, list[Any]] = {}
    for mode in ("ranked", "substring"):
        lines = [json.loads(line) for line in dialogue(index, mode, 20261002)]
        given[mode] = [line.get("answer") for line in lines if "search" not in line]
    index.connection.close()
    pairs = zip(given["ranked"], given["substring"], strict=True)
    by_id = dict(zip([one["id"] for one in QUESTIONS], pairs, strict=True))
    assert by_id["q01"] == ("textwrap.dedent", None)
    assert by_id["q12"] == ("bisect.insort_left", "bisect.bisect_left")


def test_the_agent_is_a_program() -> None:
    """Started as a program it reads questions from standard input until there are no more."""
    command = [sys.executable, "-m", "trial_cli.demo.agent"]
    question = json.dumps({"input": QUESTIONS[0], "seed": 1}) + "\n"
    lines = question + json.dumps({"hits": [hit("x.y", QUESTIONS[0]["question"])]}) + "\n"
    done = subprocess.run(command, input=lines, capture_output=True, check=True, text=True)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last == {"answer": "x.y", "citations": ["pydoc:x.y"]}


def test_a_lost_response_ends_the_agent_without_noise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Input that ends within a question ends the program."""
    question = json.dumps({"input": QUESTIONS[0], "seed": 1})
    monkeypatch.setattr(sys, "stdin", io.StringIO(question))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    agent.main()
    assert [next(iter(json.loads(line))) for line in capsys.readouterr().out.splitlines()] == [
        "search", "search", "abstain",
    ]  # fmt: skip


@pytest.mark.parametrize("script", ["agent", "grade", "harness", "search_service"])
def test_the_scripts_know_nothing_of_this_project(script: str) -> None:
    """The scripts import the standard library and nothing else: they could be any program."""
    source = files("trial_cli.demo").joinpath(f"{script}.py").read_text("utf-8")
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= sys.stdlib_module_names
