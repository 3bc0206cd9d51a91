"""`ledger receipt`: one number that a stranger can check without the ledger.

Invariant: no text leaves the ledger unless it was named; gold and reasoning only by their names.
"""

from pathlib import Path

import click
import msgspec

from trial_cli.options import format_options, ledger_option, opened, run_named
from trial_cli.output import Screen, clean, emit
from trial_cli.words import range_text
from trial_ledger.errors import InvalidInputError, Problem, StorageError

__all__ = ["command"]

REVEALABLE = ("gold", "answers", "reasoning")


@click.command("receipt", short_help="A score that can be checked alone")
@click.argument("run")
@click.argument("metric")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the receipt is written.")
@click.option(
    "--reveal",
    metavar="TEXTS",
    default="",
    help="Open these texts in it, comma separated: gold, answers, reasoning.",
)
@ledger_option
@format_options
def command(run: str, metric: str, *, output: str, reveal: str, output_format: str) -> None:
    """Write the receipt of METRIC of RUN: definition, documents and proofs against a signed head.

    It speaks as of the newest signed head (ledger head --sign). Whoever has it checks it with
    ledger check FILE: no ledger, no gold file, no texts are needed.
    """
    from trial_projections.receipt import make_receipt  # noqa: PLC0415 - slow to import

    wanted = [part.strip() for part in reveal.split(",") if part.strip()]
    unknown = [part for part in wanted if part not in REVEALABLE]
    if unknown:
        fault = Problem(
            message="no such texts",
            field="--reveal",
            found=repr(unknown[0]),
            expected=", ".join(REVEALABLE),
        )
        raise InvalidInputError([fault], what="command line")
    path = Path(output)
    with opened() as ledger:
        receipt = make_receipt(ledger, run_named(ledger, run), metric, reveal=wanted)  # type: ignore[arg-type] # looked at above
    content = msgspec.json.encode(receipt)
    write_new(path, content)
    claim = receipt.claim
    lines = [
        f"{clean(path)}  {len(content)} bytes, {len(receipt.documents)} documents",
        f"  {claim.metric} of {claim.run}: {range_text(claim.headline)}, as of link {claim.link}",
        f"  opened texts: {len(receipt.revealed)}",
        f"next: ledger check {clean(path)}",
    ]
    row: dict[str, object] = {
        "file": clean(path),
        "bytes": len(content),
        "documents": len(receipt.documents),
        "revealed": len(receipt.revealed),
        "claim": msgspec.to_builtins(claim),
    }
    emit(Screen(schema="ledger.receipt-made/1", value=row, rows=[row], lines=lines), output_format)


def write_new(path: Path, content: bytes) -> None:
    """Write a new file.

    Raises:
        StorageError: something of that name exists, or it cannot be written.
    """
    try:
        with path.open("xb") as stream:
            stream.write(content)
    except FileExistsError as error:
        message = f"{path} exists"
        raise StorageError(message, hint="name another file with -o FILE") from error
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise StorageError(message, hint="name another file with -o FILE") from error
