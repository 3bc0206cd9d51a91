"""`ledger init`: a new ledger, or documents to start from.

Invariant: nothing that exists is overwritten.
"""

import os
from pathlib import Path

import click

from trial_cli.options import ledger_option, ledger_path
from trial_cli.output import clean, note
from trial_ledger.errors import StorageError

__all__ = ["command"]


@click.command("init", short_help="Make a ledger, or documents to start from")
@ledger_option
@click.option(
    "--template",
    "folder",
    is_flag=False,
    flag_value=".",
    metavar="[FOLDER]",
    help="Write a dataset, a rubric and a manifest to start from (default: here).",
)
def command(folder: str | None) -> None:
    """Make a new ledger and its gold file; or documents to start from."""
    if folder is not None:
        write_templates(Path(folder))
        return
    from trial_ledger.book import Ledger  # noqa: PLC0415 - slow to import
    from trial_ledger.keys import default_key_path, require_apart  # noqa: PLC0415 - likewise

    path = ledger_path()
    key = default_key_path(os.environ)
    if key.exists():
        require_apart(key, path)
    with Ledger.create(path) as ledger:
        click.echo(f"{clean(path)}  ledger {ledger.id}")
        if key.exists():
            click.echo(f"{clean(key)}  signs its heads; ledger key show")
        click.echo(f"{clean(path)}.gold  gold records: for the grader only, never share it")
    note("next: ledger init --template, then ledger freeze dataset|rubric|manifest FILE")


def write_templates(folder: Path) -> None:
    """Write a complete set of documents.

    Raises:
        StorageError: one of them exists, or the folder cannot be written.
    """
    from trial_ledger.documents.templates import TEMPLATES, read_template  # noqa: PLC0415 - rare

    existing = [name for name in TEMPLATES if (folder / name).exists()]
    if existing:
        message = f"{folder / existing[0]} exists"
        raise StorageError(message, hint="name another folder: ledger init --template FOLDER")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in TEMPLATES:
            (folder / name).write_bytes(read_template(name))
    except OSError as error:
        message = f"cannot write to {folder}: {error.strerror}"
        raise StorageError(message, hint="name another folder") from error
    for name in TEMPLATES:
        click.echo(clean(folder / name))
    note("next: ledger init")
    note("      ledger freeze dataset dataset.jsonl --name example --version 1")
    note("      ledger freeze rubric rubric.toml")
    note("      ledger freeze manifest manifest.toml")
