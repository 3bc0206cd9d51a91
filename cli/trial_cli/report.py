"""`ledger report`: everything about some runs in one file, by the form of its name.

Invariant: the file is complete or not there; nothing is written over another file unless that was
asked for; gold is in it only where that was asked for.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.gates import gates_named, is_intact, require_option, unmet_gates
from trial_cli.options import (
    as_of_option,
    format_options,
    ledger_option,
    ledger_path,
    opened,
    read_model,
)
from trial_cli.output import Screen, clean, emit, json_text
from trial_cli.words import next_lines, wrapped
from trial_ledger.errors import GateError, InvalidInputError, Problem, StorageError

if TYPE_CHECKING:
    from trial_projections.reading import ReadModel
    from trial_projections.report_structs import Report

__all__ = ["command"]


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
MEDIA = {
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".xml": "application/xml",
}
"""End of a file's name → the media type of its content."""


@click.command("report", short_help="Everything about runs in one file")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where it is written.")
@click.option("--include-gold", is_flag=True, help="Hold gold, reasoning, reviewers' words too.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option("--publish", is_flag=True, help="Record its numbers as events: they leave the house.")
@click.option(
    "--actor", envvar="LEDGER_ACTOR", metavar="NAME", help="Who publishes (LEDGER_ACTOR)."
)
@require_option
@ledger_option
@as_of_option
@format_options
def command(  # noqa: PLR0913 - one for every option
    runs: tuple[str, ...],
    *,
    output: str,
    include_gold: bool,
    force: bool,
    publish: bool,
    actor: str | None,
    gates: str | None,
    as_of: str | None,
    output_format: str,
) -> None:
    """Write the report of RUN... to FILE: .html, .md, .json or .xml (JUnit).

    It holds numbers with what weakens them, failures, costs, every trial with its judgments, and
    the commands that show the same from the log. Made again from the same log it is the same, byte
    for byte. Gates are looked at after the file is written, and where one fails nothing is
    published.

    With --publish the number of every metric becomes an event, with the report and a digest of
    all that the number is made of; ledger replay --check says later whether it still follows.
    """
    from trial_projections.report import make_report  # noqa: PLC0415 - slow to import

    refuse_unpublishable(publish=publish, include_gold=include_gold, actor=actor)
    path = Path(output)
    wanted = gates_named(gates)
    form = form_of(path)
    refuse_present(path, force=force)
    with read_model(as_of) as model:
        report = make_report(model, runs, include_gold=include_gold)
        numbers = numbers_of(model, report) if publish else []
    content = form(report).encode("utf-8")
    write(path, content, include_gold=include_gold)
    screen = screen_of(report, path, len(content))
    missed = unmet(report, wanted)
    if numbers and not missed:
        screen = with_published(screen, record(numbers, actor, path, content))
    emit(screen, output_format)
    if missed:
        message = f"not met by {'; '.join(missed)}"
        raise GateError(message, hint="ledger explain RUN, ledger failures RUN")


def refuse_unpublishable(*, publish: bool, include_gold: bool, actor: str | None) -> None:
    """Refuse to publish gold, or without anybody's name.

    Raises:
        InvalidInputError: what is asked for leaves the house with gold, or by nobody.
    """
    faults = []
    if publish and include_gold:
        faults.append(Problem(message="it holds gold", field="--publish", found="--include-gold"))
    if publish and not actor:
        wanted = "who publishes, or LEDGER_ACTOR in the environment"
        faults.append(Problem(message="nobody is named", field="--actor", expected=wanted))
    if faults:
        raise InvalidInputError(faults, what="command line", hint="ledger report --help")


def numbers_of(model: "ReadModel", report: "Report") -> list[tuple[str, dict[str, object]]]:
    """Return what is published of each run: the data of an event for every number."""
    from trial_projections.publishing import publications  # noqa: PLC0415 - slow to import

    return [
        (run.summary.run.name, data)
        for run in report.runs
        for data in publications(model, run.summary.run)
    ]


def record(
    numbers: list[tuple[str, dict[str, object]]], actor: str | None, path: Path, content: bytes
) -> list[dict[str, object]]:
    """Append the numbers with the report that they stand in, all or none; return the events."""
    from trial_ledger.events import Actor  # noqa: PLC0415 - slow to import
    from trial_ledger.submission import NewText, Submission  # noqa: PLC0415 - likewise

    text = NewText(content=content, media=MEDIA[path.suffix.lower()])
    submissions = [
        Submission(
            kind="metric.published",
            run=run,
            data={**data, "report": text},
            actor=Actor(role="human", name=actor),
        )
        for run, data in numbers
    ]
    with opened(write=True) as ledger:
        appended = ledger.append_many(submissions, what="published numbers")
    return [
        {"run": run, "metric": data["metric"], "low": data["low"], "high": data["high"],
         "seq": found.seq, "hash": found.hash}
        for (run, data), found in zip(numbers, appended, strict=True)
    ]  # fmt: skip


def with_published(screen: Screen, published: list[dict[str, object]]) -> Screen:
    """Return what the command says, with the numbers that were published."""
    places = ", ".join(f"{one['run']} {one['metric']} seq {one['seq']}" for one in published)
    lines = [*screen.lines[:-1], *wrapped("published", places), screen.lines[-1]]
    assert isinstance(screen.value, dict), "the screen of a report has a row"
    value = {**screen.value, "published": published}
    return Screen(schema=screen.schema, value=value, rows=screen.rows, lines=lines)


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


def unmet(report: "Report", wanted: list[str]) -> list[str]:
    """Return the runs that miss a gate which was asked for, or in which nothing worked."""
    faults: list[str] = []
    intact = is_intact(wanted)
    for run in report.runs:
        missed = unmet_gates(run.summary, wanted, intact=intact)
        if run.summary.all_failed:
            missed = ["any trial"]
        if missed:
            faults.append(f"{run.summary.run.name}: {', '.join(missed)}")
    return faults
