"""The reference of the command line, from the help of every command.

Invariant: every command and every subcommand has a heading of its own.
"""

from collections.abc import Iterator

import click

from trial_cli.main import cli

__all__ = ["commands", "reference"]

WIDTH = 78
"""Columns of a help text: click leaves two of a terminal's eighty free."""


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield (name as typed, command, context) of every command, subcommands after their group."""
    root = cli.make_context("ledger", [], resilient_parsing=True, terminal_width=WIDTH)
    yield "ledger", cli, root
    yield from below(cli, root, "ledger")


def below(
    group: click.Group, parent: click.Context, name: str
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield what stands below a group."""
    for word in group.list_commands(parent):
        command = group.get_command(parent, word)
        assert command is not None, "a listed command exists"
        context = command.make_context(
            word, [], parent=parent, resilient_parsing=True, terminal_width=WIDTH
        )
        yield f"{name} {word}", command, context
        if isinstance(command, click.Group):
            yield from below(command, context, f"{name} {word}")


def reference() -> list[str]:
    """Return the lines of the reference."""
    lines: list[str] = []
    for name, command, context in commands():
        lines += [f"## {name}", "", "```text", command.get_help(context), "```", ""]
    return lines
