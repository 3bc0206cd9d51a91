"""`ledger report`: everything about some runs in one file, by the form of its name.

Invariant: the file is complete or not there; nothing is written over another file unless that was
asked for; gold is in it only where that was asked for.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.options import (
    as_of_option,
    format_options,
    ledger_option,
    ledger_path,
    read_model,
)
from trial_cli.output import Screen, clean, emit, json_text
from trial_cli.words import next_lines, wrapped
from trial_ledger.errors import GateError, InvalidInputError, Problem, StorageError

if TYPE_CHECKING:
    from trial_projections.report_structs import Report

__all__ = ["command"]

GATES = ("decided", "valid", "live", "reviewed", "resolved")


def json_form(report: "Report") -> str:
    """Return a report as JSON, `ledger.report/1`."""
    import msgspec  # noqa: PLC0415 - only needed here

    value = msgspec.to_builtins(report)
    return json_text({"schema": "ledger.report/1", **value}, indent=2) + "\n"


def markdown_form(report: "Report") -> str:
    """Return a report as Markdown."""
    from trial_cli.render.markdown import markdown_report  # noqa: PLC0415 - one form is needed

    return markdown_report(report)


def junit_form(report: "Report") -> str:
    """Return a report as JUnit XML."""
    from trial_cli.render.junit import junit_report  # noqa: PLC0415 - one form is needed

    return junit_report(report)


def html_form(report: "Report") -> str:
    """Return a report as one HTML file."""
    from trial_cli.render.page import html_report  # noqa: PLC0415 - one form is needed

    return html_report(report)


FORMS: Mapping[str, Callable[["Report"], str]] = {
    ".html": html_form,
    ".json": json_form,
    ".md": markdown_form,
    ".xml": junit_form,
}
"""End of a file's name → what makes its content."""


@click.command("report", short_help="Everything about runs in one file")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where it is written.")
@click.option("--include-gold", is_flag=True, help="Hold gold, reasoning, reviewers' words too.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option(
    "--require",
    "gates",
    metavar="GATES",
    help="Exit with 5 unless these hold, comma separated: " + ", ".join(GATES) + ".",
)
@ledger_option
@as_of_option
@format_options
def command(
    runs: tuple[str, ...],
    *,
    output: str,
    include_gold: bool,
    force: bool,
    gates: str | None,
    as_of: str | None,
    output_format: str,
) -> None:
    """Write the report of RUN... to FILE: .html, .md, .json or .xml (JUnit).

    It holds numbers with what weakens them, failures, costs, every trial with its judgments, and
    the commands that show the same from the log. Made again from the same log it is the same, byte
    for byte. Gates are looked at after the file is written.
    """
    from trial_projections.report import make_report  # noqa: PLC0415 - slow to import

    path = Path(output)
    wanted = gates_named(gates)
    form = form_of(path)
    refuse_present(path, force=force)
    with read_model(as_of) as model:
        report = make_report(model, runs, include_gold=include_gold)
    content = form(report).encode("utf-8")
    write(path, content, include_gold=include_gold)
    emit(screen_of(report, path, len(content)), output_format)
    refuse_unmet(report, wanted)


def gates_named(text: str | None) -> list[str]:
    """Return the gates that were asked for.

    Raises:
        BadParameter: with the first that is none.
    """
    wanted = [gate.strip() for gate in (text or "").split(",") if gate.strip()]
    unknown = [gate for gate in wanted if gate not in GATES]
    if unknown:
        message = f"no gate {unknown[0]!r}; there is {', '.join(GATES)}"
        raise click.BadParameter(message, param_hint="--require")
    return wanted


def form_of(path: Path) -> Callable[["Report"], str]:
    """Return what makes the content of a file of that name.

    Raises:
        InvalidInputError: its name ends in nothing that is a form.
    """
    form = FORMS.get(path.suffix.lower())
    if form is None:
        fault = Problem(
            message="no form of a report",
            field="--output",
            found=repr(path.name),
            expected=f"a name that ends in {', '.join(FORMS)}",
        )
        raise InvalidInputError([fault], what="command line", hint="ledger report --help")
    return form


def refuse_present(path: Path, *, force: bool) -> None:
    """Refuse to write over a file before anything is computed; over a ledger always.

    Raises:
        StorageError: it is there, and nobody said that it may be replaced.
    """
    from trial_ledger.durable import is_there  # noqa: PLC0415 - slow to import
    from trial_ledger.goldfile import gold_path  # noqa: PLC0415 - likewise

    if not is_there(path):
        return
    own = [file for file in (ledger_path(), gold_path(ledger_path())) if is_there(file)]
    if not force or not path.is_file() or any(path.samefile(file) for file in own):
        message = f"{path} exists"
        hint = "name another file with -o FILE" + ("" if force else ", or --force")
        raise StorageError(message, hint=hint)


def write(path: Path, content: bytes, *, include_gold: bool) -> None:
    """Write a file whole; with gold in it only its owner may read it.

    Raises:
        StorageError: it cannot be written; what was there is still there.
    """
    from trial_ledger.durable import write_whole  # noqa: PLC0415 - slow to import

    try:
        write_whole(path, content, mode=0o600 if include_gold else 0o666)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise StorageError(message, hint="name another file with -o FILE") from error


def screen_of(report: "Report", path: Path, size: int) -> Screen:
    """Return what the command says of the file that it wrote."""
    embedded = sum(run.shown.embedded for run in report.runs)
    planned = sum(run.shown.planned for run in report.runs)
    lines = wrapped("report", f"{path}: {size} bytes, {embedded} of {planned} trials")
    for run in report.runs:
        state = "" if run.summary.run.is_valid else "  INVALID"
        lines += wrapped("run", f"{run.summary.run.name}{state}")
    lines += wrapped("as of", f"{report.size} events, the last recorded {report.recorded_at}")
    lines += wrapped("gold", "in it: do not publish" if report.include_gold else "not in it")
    lines += next_lines("ledger verify", f"ledger scores {clean(report.runs[0].summary.run.name)}")
    row: dict[str, object] = {
        "file": str(path),
        "bytes": size,
        "runs": [run.summary.run.name for run in report.runs],
        "trials": embedded,
        "planned": planned,
        "size": report.size,
        "recorded_at": report.recorded_at,
        "include_gold": report.include_gold,
    }
    return Screen(schema="ledger.report-made/1", value=row, rows=[row], lines=lines)


def refuse_unmet(report: "Report", wanted: list[str]) -> None:
    """Fail where a gate that was asked for is not met, or nothing in a run worked.

    Raises:
        GateError: with the runs and their gates.
    """
    faults: list[str] = []
    for run in report.runs:
        missed = ["any trial"] if run.summary.all_failed else run.summary.unmet(wanted)
        if missed:
            faults.append(f"{run.summary.run.name}: {', '.join(missed)}")
    if faults:
        message = f"not met by {'; '.join(faults)}"
        raise GateError(message, hint="ledger explain RUN, ledger failures RUN")
