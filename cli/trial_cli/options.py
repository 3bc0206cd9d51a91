"""Options that commands share, and how they open the ledger.

Invariant: the ledger is found in one way everywhere: `--ledger`, else `$LEDGER_PATH`, else
`./trials.ledger`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trial_ledger.errors import AmbiguousError, InvalidInputError, NotFoundError, Problem

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_projections.reading import ReadModel

__all__ = [
    "DEFAULT_LEDGER",
    "as_of_option",
    "format_options",
    "ledger_option",
    "ledger_path",
    "opened",
    "read_model",
    "resolve_as_of",
    "run_named",
]

DEFAULT_LEDGER = "trials.ledger"
SEQ_DIGITS = 18
"""Longer numbers are no place in any log."""

FORMATS = ("text", "json", "jsonl", "csv", "md")

Command = TypeVar("Command", bound=Callable[..., Any])


def remember_ledger(context: click.Context, _: click.Parameter, value: str | None) -> None:
    """Keep the path that was named after the command."""
    if value is not None:
        context.ensure_object(dict)["ledger"] = value


def ledger_option(command: Command) -> Command:
    """Add `--ledger PATH`."""
    return click.option(
        "--ledger",
        metavar="PATH",
        expose_value=False,
        callback=remember_ledger,
        help="The ledger file (default $LEDGER_PATH, else ./trials.ledger).",
    )(command)


def format_options(command: Command) -> Command:
    """Add `--format` and `--json`, which arrive as `output_format`."""
    command = click.option(
        "--json", "output_format", flag_value="json", help="Short for --format json."
    )(command)
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(FORMATS),
        default="text",
        help="Form of the output (default text).",
    )(command)


def as_of_option(command: Command) -> Command:
    """Add `--as-of SEQ|TIME`."""
    return click.option(
        "--as-of",
        metavar="SEQ|TIME",
        help="As the log stood at that seq, or at that time (UTC, as 2026-10-01T12:00:00Z).",
    )(command)


def ledger_path() -> Path:
    """Return the path of the ledger that this command works on."""
    found = click.get_current_context().ensure_object(dict).get("ledger")
    return Path(found or os.environ.get("LEDGER_PATH") or DEFAULT_LEDGER)


@contextmanager
def opened(*, write: bool = False) -> "Iterator[Ledger]":
    """Open the ledger of this command and close it afterwards."""
    from trial_ledger.book import Ledger  # noqa: PLC0415 - slow to import

    with Ledger.open(ledger_path(), write=write) as ledger:
        yield ledger


@contextmanager
def read_model(as_of: str | None = None) -> "Iterator[ReadModel]":
    """Open the read side of the ledger of this command, and close it afterwards."""
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - slow to import

    with opened() as ledger:
        size = None if as_of is None else resolve_as_of(ledger, as_of)
        model = ReadModel.open(ledger, as_of=size)
        try:
            yield model
        finally:
            model.close()


def run_named(ledger: "Ledger", name: str) -> str:
    """Return the run of that name, or the only one whose name begins so.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
    """
    names = ledger.store.run_names(name)
    if name in names or len(names) == 1:
        return name if name in names else names[0]
    if names:
        raise AmbiguousError("run", name, names)
    message = f"no run {name!r}"
    raise NotFoundError(message, hint="ledger runs")


def resolve_as_of(ledger: "Ledger", text: str) -> int:
    """Return the seq that `--as-of` means.

    Raises:
        InvalidInputError: neither a seq nor a time.
    """
    from datetime import UTC, datetime  # noqa: PLC0415 - needed only here

    from trial_projections.reading import size_at_time  # noqa: PLC0415 - slow to import

    if text.isascii() and text.isdigit() and len(text) <= SEQ_DIGITS:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fault = Problem(
            message="not a place in the log",
            found=repr(text[:40]),
            expected="a seq, or a time such as 2026-10-01T12:00:00Z",
        )
        raise InvalidInputError([fault], what="--as-of", nothing_written=False) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return size_at_time(ledger, moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
