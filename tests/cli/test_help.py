"""`ledger help`: topics that belong to no command, true to the program."""

import json
import re

import pytest

from cli_cases import COMMANDS, Here
from trial_cli.help_topics import TOPICS
from trial_ledger import errors
from trial_ledger.intake import draft, parse_record


def test_topics_are_listed(here: Here) -> None:
    """Without a topic, all of them are named."""
    found = here("help")
    assert found.code == 0
    assert found.out.startswith(f"Topics: {', '.join(sorted([*TOPICS, 'commands']))}\n")


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_a_topic_fits_the_screen(topic: str, here: Here) -> None:
    """Every topic is shown, at most 80 characters wide."""
    found = here("help", topic)
    assert found.code == 0
    assert len(found.out.splitlines()) > 3
    assert max(len(line) for line in found.out.splitlines()) <= 80


def test_every_command_is_listed(here: Here) -> None:
    """`ledger help commands` has one line for each command there is."""
    found = here("help", "commands").out.splitlines()
    assert [line.split()[0] for line in found[1:]] == list(COMMANDS)
    assert max(len(line) for line in found) <= 80


def test_a_command_as_topic_names_its_help(here: Here) -> None:
    """Whoever asks for a command is sent to its own help; `append` has a topic too."""
    assert here("help", "freeze").out == "ledger freeze --help describes the command\n"
    assert here("help", "append").out.startswith("What `ledger append` reads")


def test_an_unknown_topic_is_not_found(here: Here) -> None:
    """What there is stands in the hint."""
    found = here("help", "everything")
    assert found.code == 6
    assert "Error: no topic 'everything'\nhint: there is append, commands, " in found.err


def test_exit_codes_are_those_of_the_errors() -> None:
    """The topic lists every code that an error of ours can become, 0 and 130."""
    classes = [getattr(errors, name) for name in errors.__all__ if name != "Problem"]
    codes = {found.exit_code for found in classes} | {0, 130}
    listed = {int(code) for code in re.findall(r"^  (\d+) ", TOPICS["exit-codes"], re.MULTILINE)}
    assert listed == codes


def test_the_example_of_append_is_accepted() -> None:
    """The line that the topic shows is one that intake takes."""
    example = TOPICS["append"].splitlines()[-1]
    submission = parse_record(json.loads(example), source=None, line=None)
    assert draft(submission).kind == "trial.started"


def test_environment_variables_are_those_the_program_reads() -> None:
    """The topic names no variable that nothing reads."""
    named = set(re.findall(r"^  ([A-Z_]+) ", TOPICS["environment"], re.MULTILINE))
    assert named == {
        "LEDGER_ACTOR", "LEDGER_PATH", "LEDGER_DEBUG", "XDG_STATE_HOME", "NO_COLOR",
    }  # fmt: skip
