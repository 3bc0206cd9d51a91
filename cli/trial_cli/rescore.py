"""`ledger rescore`: the trials of a run judged again, under a revised rubric or corrected gold.

Invariant: the run itself is only read; what comes of it is a run of its own, and every slot that
counts otherwise is shown with both judgments and the rule that changed (C14).
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.bridge_lines import bridge_lines, change_lines, change_row
from trial_cli.judging_lines import tally_lines, tally_rows
from trial_cli.options import format_options, ledger_option, opened, run_named
from trial_cli.output import Screen, emit
from trial_cli.words import percent_range, range_text, wrapped
from trial_ledger.errors import InvalidInputError, Problem, VerificationError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.documents.rubric_structs import Rubric
    from trial_ledger.rescoring import Derived
    from trial_projections.bridge_structs import Bridge
    from trial_projections.reading import ReadModel
    from trial_projections.scores import RunInput

__all__ = ["command"]

MOST_FLIPS = 50
"""Slots of a metric that the text form names."""


@click.command("rescore", short_help="Judge a run's trials again, as a derived run")
@click.argument("run")
@click.option("--rubric", metavar="FILE|NAME@V", help="The revised rubric: file or reference.")
@click.option("--dataset", metavar="NAME@V", help="A registered dataset with corrected gold.")
@click.option("--name", metavar="RUN", help="Name of the derived run (default: made from both).")
@click.option("--reason", required=True, help="Why, in words; it stays in the log.")
@click.option(
    "--actor", metavar="NAME", envvar="LEDGER_ACTOR", help="Who does it (default $LEDGER_ACTOR)."
)
@click.option("--skip-verify", is_flag=True, help="Do not check the log's hashes first.")
@ledger_option
@format_options
def command(
    run: str,
    *,
    rubric: str | None,
    dataset: str | None,
    name: str | None,
    reason: str,
    actor: str | None,
    skip_verify: bool,
    output_format: str,
) -> None:
    """Judge the trials of RUN again under a revised rubric or other gold, as a new run.

    Answers come from RUN, gold too unless --dataset names another version. Metrics that a code
    grader gives are judged anew. Judgments of judges and people are carried over where grader,
    prompt and gold are the same; overrides never are. RUN keeps its numbers.
    """
    from trial_ledger.building import ACTOR  # noqa: PLC0415 - slow to import
    from trial_ledger.events import Actor  # noqa: PLC0415 - likewise
    from trial_ledger.rescoring import Revision, derive_run  # noqa: PLC0415 - likewise
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise

    revised = None if rubric is None else rubric_named(rubric)
    with opened(write=True) as ledger:
        parent = run_named(ledger, run)
        checked = "not checked (--skip-verify)" if skip_verify else check_log(ledger)
        revision = Revision(
            parent=parent,
            rubric=revised,
            dataset=dataset,
            name=name,
            reason=reason,
            actor=ACTOR if not actor else Actor(role="human", name=actor),
        )
        derived = derive_run(ledger, revision)
        model = ReadModel.open(ledger)
        try:
            emit(screen_of(model, parent, derived, checked), output_format)
        finally:
            model.close()


def rubric_named(text: str) -> "str | Rubric":
    """Return the rubric of a file, or the reference of one that is frozen.

    Raises:
        InvalidInputError: the file is no rubric, or there is neither.
    """
    path = Path(text)
    if path.is_file():
        from trial_ledger.documents.rubric import parse_rubric  # noqa: PLC0415 - slow to import

        return parse_rubric(path.read_bytes(), source=text, environ=os.environ)
    if "@" in text:
        return text
    fault = Problem(
        message="no such file",
        field="--rubric",
        found=repr(text),
        expected="a rubric file, or name@version of a frozen rubric",
    )
    raise InvalidInputError([fault], what="command line", hint="ledger init --template")


def check_log(ledger: "Ledger") -> str:
    """Check the log before anything is built on it, and say what was checked.

    Raises:
        VerificationError: it is not what was written.
    """
    found = ledger.verify(fast=True)
    if not found.is_intact:
        first = found.findings[0]
        message = f"the log is not what was written: {first}"
        raise VerificationError(message, hint="ledger verify")
    return f"{found.size} events verified, root {found.root[:12]}"


def screen_of(model: "ReadModel", parent: str, derived: "Derived", checked: str) -> Screen:
    """Return the derived run, its numbers beside the parent's, and every slot that moved."""
    old, new = model.run(parent), model.run(derived.run)
    sources = (model.score_input(old), model.score_input(new))
    there = "" if derived.is_new else "; it was there already"
    lines = [
        derived.run,
        *wrapped("  derived", f"from {parent}, links 1..{derived.link}{there}", indent=12),
        *wrapped("  rubric", changed(old.rubric, new.rubric), indent=12),
        *wrapped("  dataset", changed(old.dataset, new.dataset), indent=12),
        *wrapped("  log", checked, indent=12),
        *tally_lines(derived.tallies),
    ]
    bridges: list[Bridge] = []
    for metric in metrics_of(sources[1]):
        found = bridged(model, (parent, derived.run), sources, metric)
        lines.append("")
        if isinstance(found, str):
            lines += wrapped("", found, indent=2)
            continue
        bridges.append(found)
        scale = sources[1].rubric.metrics[metric].scale
        lines += [*bridge_lines(found, scale), *change_lines(found.changes, most=MOST_FLIPS)]
    lines += ["", f"next: ledger explain {derived.run} --against {parent}"]
    return Screen(
        schema="ledger.rescore/1",
        value={
            "run": derived.run,
            "derived_from": parent,
            "link": derived.link,
            "is_new": derived.is_new,
            "rubric": {"old": old.rubric, "new": new.rubric},
            "dataset": {"old": old.dataset, "new": new.dataset},
            "log": checked,
            "judged": tally_rows(derived.tallies),
            "bridges": bridges,
        },
        rows=[
            {"metric": found.new_metric, **change_row(change)}
            for found in bridges
            for change in found.changes
        ],
        lines=lines,
    )


def changed(old: str, new: str) -> str:
    """Return what a document was and is."""
    return f"{new}, unchanged" if old == new else f"{old} -> {new}"


def metrics_of(source: "RunInput") -> list[str]:
    """Return the metrics of the derived run, the primary first."""
    primary = source.rubric.primary
    return sorted(source.rubric.metrics, key=lambda name: (name != primary, name))


def bridged(
    model: "ReadModel",
    runs: tuple[str, str],
    sources: "tuple[RunInput, RunInput]",
    metric: str,
) -> "Bridge | str":
    """Return the way from the parent's number to the derived one, or why there is none."""
    from trial_projections.bridge import bridge, end_of  # noqa: PLC0415 - slow to import
    from trial_projections.scores import score_metric  # noqa: PLC0415 - likewise

    if metric in sources[0].rubric.metrics:
        old, new = (end_of(model, model.run(run), metric) for run in runs)
        return bridge(old, new)
    score = score_metric(sources[1], metric)
    if score.headline is None:
        return f"{metric}: new in this rubric, unavailable: {score.unavailable}"
    number = f"{percent_range(score.headline, score.scale)}  {range_text(score.headline)}"
    return f"{metric}: new in this rubric, {number}"
