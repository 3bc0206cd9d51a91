"""`ledger import`: other tools' logs into the ledger.

Invariant: a command names its files and its reader; everything else is the same for all of them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli import import_rows
from trial_cli.import_files import files_in, import_files
from trial_cli.options import format_options, ledger_option

if TYPE_CHECKING:
    from trial_ledger.importing.source import ImportedRun

__all__ = ["command"]

SUFFIXES = (".eval", ".json")


@click.group("import", short_help="Bring in other tools' logs, or your own records")
def command() -> None:
    """Import another tool's log, or your own records; nothing is judged again or invented."""


command.add_command(import_rows.command)


@command.command("inspect")
@click.argument("paths", nargs=-1, required=True)
@ledger_option
@format_options
def import_inspect(paths: tuple[str, ...], *, output_format: str) -> int:
    """Import Inspect logs (.eval or .json): files, or folders of them."""
    files = files_in(paths, is_inspect_log, expected=".eval or .json file")
    return import_files(files, read_inspect, output_format=output_format)


@command.command("lm-eval")
@click.argument("paths", nargs=-1, required=True)
@ledger_option
@format_options
def import_lm_eval(paths: tuple[str, ...], *, output_format: str) -> int:
    """Import evaluations of the lm-evaluation-harness: results files, or folders of them.

    The samples (--log_samples) are found beside their results_*.json; each task becomes a run.
    """
    from trial_ledger.importing import lm_eval, lm_eval_files  # noqa: PLC0415 - slow to import

    files = files_in(
        paths, lm_eval_files.is_lm_eval_file, expected="results_*.json or samples_*.jsonl file"
    )
    evaluations = list(dict.fromkeys(map(lm_eval_files.evaluation_of, files)))
    return import_files(evaluations, lm_eval.import_lm_eval, output_format=output_format)


def is_inspect_log(file: Path) -> bool:
    """Return whether a file in a folder may be an Inspect log."""
    return file.suffix in SUFFIXES


def read_inspect(file: Path) -> "Sequence[ImportedRun]":
    """Return the run of an Inspect log."""
    from trial_ledger.importing.inspect import import_inspect as read  # noqa: PLC0415 - slow

    return [read(file)]
