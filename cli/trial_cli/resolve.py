"""`ledger resolve`: a person says who was right where reviewer and judge differ.

Invariant: judgment, review and disagreement stay; the finding stands beside them (C30).
"""

import shlex
from typing import TYPE_CHECKING

import click

from trial_cli.acts import require_words, submission
from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, clean, emit
from trial_cli.review_act import FINDINGS
from trial_cli.words import wrapped
from trial_ledger.errors import InvalidInputError, NotFoundError, Problem

if TYPE_CHECKING:
    from trial_projections.addresses import About
    from trial_projections.reading import ReadModel
    from trial_projections.records import DisagreementRecord

__all__ = ["command"]

PARTS = 3
"""Of the address of a disagreement."""
NO_FINDING = Problem(
    message="no finding", field="--finding", expected=f"one of {', '.join(FINDINGS)}"
)


@click.command("resolve", short_help="Say who was right in a disagreement")
@click.argument("name", metavar="RUN/TRIAL/ID")
@click.option("--finding", type=click.Choice(FINDINGS), help="What was found.")
@click.option("--reason", metavar="TEXT", help="Why, in words.")
@click.option(
    "--actor",
    metavar="NAME",
    envvar="LEDGER_ACTOR",
    help="The person who acts (default $LEDGER_ACTOR).",
)
@ledger_option
@format_options
def command(
    name: str,
    *,
    finding: str | None,
    reason: str | None,
    actor: str | None,
    output_format: str,
) -> None:
    """Resolve the disagreement RUN/TRIAL/ID, as ledger disagreements lists it.

    No number changes by it. Where the judge was wrong, ledger override counts another verdict.
    """
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - slow to import

    require_words(actor, reason, NO_FINDING if finding is None else None)
    with opened(write=True) as ledger:
        model = ReadModel.open(ledger)
        try:
            about, known = find_disagreement(model, name)
        finally:
            model.close()
        data: dict[str, object] = {
            "disagreement": known.id,
            "judgment": known.judgment,
            "review": known.review,
            "finding": finding,
            "reason": reason,
        }
        found = ledger.append(submission("disagreement.resolved", about, actor, data))
    address = f"{about}/{known.id}"
    judgment = f"{about}/{known.judgment}"
    lines = [
        f"{'event':<10}seq {found.seq}  {found.hash[:32]}",
        *wrapped("resolved", f"{address}: {finding}, by {actor}"),
    ]
    if finding in {"judge_wrong", "gold_wrong"}:
        undo = f"ledger override {shlex.quote(judgment)} --verdict V --reason TEXT"
        lines.append(f"{'next':<10}{clean(undo)}")
    row: dict[str, object] = {
        "disagreement": address,
        "finding": finding,
        "judgment": known.judgment,
        "review": known.review,
        "seq": found.seq,
        "id": found.id,
        "hash": found.hash,
    }
    emit(Screen(schema="ledger.resolve/1", value=row, rows=[row], lines=lines), output_format)


def find_disagreement(model: "ReadModel", name: str) -> "tuple[About, DisagreementRecord]":
    """Return the disagreement that an address means.

    Raises:
        InvalidInputError: it is no address.
        NotFoundError: there is none.
    """
    from trial_ledger.identifiers import parse_trial  # noqa: PLC0415 - slow to import
    from trial_projections.addresses import About  # noqa: PLC0415 - likewise
    from trial_projections.fold import key_of  # noqa: PLC0415 - likewise

    parts = name.split("/")
    if len(parts) != PARTS:
        raise InvalidInputError.single(
            "not a disagreement",
            what="command line",
            found=repr(name[:80]),
            expected="RUN/question#repetition[@session]/ID",
        )
    run = model.run(parts[0])
    key = parse_trial(parts[1], configuration=model.manifest(run).configuration)
    record = model.state("trials").read(key_of(run.name, str(key)))
    for known in () if record is None else record.disagreements:
        if known.id == parts[2]:
            return About(run=run.name, trial=key), known
    message = f"no disagreement {name[:80]!r}"
    raise NotFoundError(message, hint=f"ledger disagreements {run.name}")
