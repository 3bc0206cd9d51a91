"""The rules of the house about words: hints, commands, event tags, banned synonyms.

Invariant of the frozen list below: a tag is never renamed or taken away.
"""

import ast
import inspect
import re
from collections.abc import Iterator

import cli_reference
import click
import pytest

from house import ROOT, Module, identifiers, modules, strings, words
from trial_cli.help_topics import TOPICS
from trial_cli.main import COMMANDS
from trial_ledger.documents.templates import TEMPLATES, read_template
from trial_ledger.events import KINDS
from trial_ledger.intake import COMMAND_KINDS
from trial_ledger.lifecycle import guards

TAGS = (
    "ledger.opened", "dataset.registered", "rubric.frozen", "manifest.frozen",
    "run.opened", "run.resumed", "run.closed", "run.related", "run.invalidated", "run.reinstated",
    "trial.started", "call.started", "call.finished", "response.lost",
    "failure.occurred", "failure.recovered", "failure.assessed", "failure.surfaced",
    "answer.submitted", "trial.finished", "trial.invalidated", "trial.reinstated",
    "query.inspected", "retrieval_miss.declared",
    "judgment.recorded", "judgment.failed", "judgment.overridden", "item.judged",
    "review.drawn", "review.recorded", "disagreement.opened", "disagreement.resolved",
    "metric.published", "blob.redacted", "source.imported", "note.added", "key.rotated",
)  # fmt: skip
"""Frozen: a tag stands in stored bytes, so this list only ever grows."""

BANNED_MEANINGS = (
    "sample", "rollout", "epoch", "experiment", "job", "setup", "variant", "spec", "scorer",
    "checkpoint", "vault", "figure", "kpi", "incident", "issue", "blame", "rationale", "rating",
    "lineage", "ack",
)  # fmt: skip
"""The never-say column of the glossary, as far as it holds words that could be identifiers."""

BANNED_SHORTCUTS = (
    "util", "helper", "manager", "misc", "foo", "bar", "cfg", "msg", "idx", "num", "tmp", "ret",
    "val", "obj", "func", "evt",
)  # fmt: skip
"""Words that say nothing, and abbreviations."""

BANNED_WORDS = {
    form for word in (*BANNED_MEANINGS, *BANNED_SHORTCUTS) for form in (word, word + "s")
}

COMMAND = re.compile(
    r"(?:^|[:;,|(`]\s*|\b(?:run|then|at|is|with)\s+)ledger ([a-z][a-z-]*)", re.MULTILINE
)
"""A command that a text tells its reader to type."""


def advice(module: Module) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every hint, of every text named HINT, and of every note."""
    for node in ast.walk(module.tree):
        is_hint = (
            (isinstance(node, ast.keyword) and node.arg == "hint")
            or (isinstance(node, ast.Assign) and "HINT" in ast.unparse(node.targets[0]))
            or (isinstance(node, ast.Call) and ast.unparse(node.func) == "note")
        )
        if is_hint:
            place = module.place(node.value if isinstance(node, ast.keyword) else node)
            for text in strings(node):
                yield place, text


def dead_commands(text: str) -> list[str]:
    """Return the commands that a text names and that do not exist."""
    lines = "\n".join(line.strip() for line in text.split("\n"))
    return [word for word in COMMAND.findall(lines) if word not in COMMANDS]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ledger recount", ["recount"]),
        ("another rubric is another run: ledger recount", ["recount"]),
        ("ledger runs; ledger gone", ["gone"]),
        ("remove it and run ledger gone again", ["gone"]),
        ("open the ledger again", []),
        ("where --ledger does not name it", []),
        ("ledger verify", []),
    ],
)
def test_a_dead_command_is_recognised(text: str, found: list[str]) -> None:
    """What is meant to be typed is told from what is only said."""
    assert dead_commands(text) == found


def test_hints_name_commands_that_exist() -> None:
    """A hint never sends anybody to a command that is not there."""
    wrong = [
        f"{place}: ledger {word}"
        for module in modules()
        for place, text in advice(module)
        for word in dead_commands(text)
    ]
    wrong += [
        f"{kind}: ledger {word}"
        for kind, command in COMMAND_KINDS.items()
        for word in dead_commands(command or "")
    ]
    assert wrong == []


def test_templates_and_topics_name_commands_that_exist() -> None:
    """The same for the comments of the templates and the texts of `ledger help`."""
    texts = {name: read_template(name).decode("utf-8") for name in TEMPLATES} | TOPICS
    wrong = {
        f"{name}: ledger {word}" for name, text in texts.items() for word in dead_commands(text)
    }
    assert wrong == set()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_and_a_chapter(name: str) -> None:
    """A command says what it does, and so does the reference, subcommands and options included."""
    text = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    found = [
        (typed, command)
        for typed, command, _ in cli_reference.commands()
        if typed == f"ledger {name}" or typed.startswith(f"ledger {name} ")
    ]
    assert found
    for typed, command in found:
        assert f"\n## {typed}\n" in text, typed
        assert command.help, typed
        bare = [
            option.opts[0]
            for option in command.params
            if isinstance(option, click.Option) and not option.help
        ]
        assert bare == [], typed


def test_event_tags_are_frozen() -> None:
    """No tag is renamed or taken away; a new one is added to the list on purpose."""
    assert tuple(KINDS) == TAGS


def test_every_event_is_documented_and_guarded() -> None:
    """Every tag has a chapter in the reference, and every class a case in the guards."""
    text = (ROOT / "docs" / "reference" / "events.md").read_text("utf-8")
    cases = set(re.findall(r"events\.([A-Za-z]+)\(", inspect.getsource(guards.check)))
    assert [tag for tag in KINDS if f"\n### `{tag}`\n" not in text] == []
    assert {kind.__name__ for kind in KINDS.values()} - cases == set()


def test_identifiers_use_the_words_of_the_glossary() -> None:
    """No name holds a word that the glossary bans; importers use the words of their source."""
    wrong = {
        f"{module.place(node)} {name}"
        for module in modules()
        if ".importing" not in module.name
        for name, node in identifiers(module)
        if words(name) & BANNED_WORDS
    }
    assert wrong == set()


@pytest.mark.parametrize("word", BANNED_MEANINGS)
def test_the_glossary_bans_what_the_test_bans(word: str) -> None:
    """A word that is refused for its meaning stands in the last column of the glossary."""
    rows = (ROOT / "docs" / "glossary.md").read_text("utf-8").split("\n")
    banned = " ".join(row.rpartition("| ")[2] if row.endswith(" |") else "" for row in rows)
    last = " ".join(row.strip("| ").split(" | ")[-1] for row in rows if row.startswith("| **"))
    assert re.search(rf"\b{word}\b", f"{banned} {last}")
