"""`ledger receipt`: one number that a stranger can check without the ledger.

Invariant: no text leaves the ledger unless it was named; gold and reasoning only by their names.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import format_options, ledger_option, opened, run_named
from trial_cli.output import Screen, clean, emit
from trial_cli.words import next_lines, percent_range, range_text, wrapped
from trial_ledger.errors import InvalidInputError, Problem, StorageError

if TYPE_CHECKING:
    from trial_projections.receipt_structs import Revealable
    from trial_projections.receipt_texts import TextCount

__all__ = ["command"]


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
    from trial_projections.receipt_check import check_receipt  # noqa: PLC0415 - likewise
    from trial_projections.receipt_structs import encode_receipt  # noqa: PLC0415 - likewise

    wanted = revealed_kinds(reveal)
    path = Path(output)
    with opened() as ledger:
        receipt = make_receipt(ledger, run_named(ledger, run), metric, reveal=wanted)
    # What would not hold elsewhere is not handed out.
    checked = check_receipt(receipt)
    content = encode_receipt(receipt)
    write_new(path, content)
    claim = receipt.claim
    number = f"{range_text(claim.headline)}  {percent_range(claim.headline, checked.scale)}"
    lines = wrapped("receipt", f"{path}: {len(content)} bytes, {len(receipt.documents)} documents")
    lines += wrapped("number", f"{claim.metric} of {claim.run} = {number}")
    lines += wrapped(
        "as of", f"link {claim.link}, seq {checked.seq}, head of {checked.head.size} events"
    )
    for kind in wanted:
        lines += wrapped("opened", opened_words(kind, checked.texts[kind]))
    lines += next_lines(f"ledger check {clean(path)}", "ledger key show")
    row: dict[str, object] = {
        "file": str(path),
        "bytes": len(content),
        "documents": len(receipt.documents),
        "revealed": len(receipt.revealed),
        "size": checked.head.size,
        "seq": checked.seq,
        "claim": msgspec.to_builtins(claim),
        "texts": msgspec.to_builtins(checked.texts),
    }
    emit(Screen(schema="ledger.receipt-made/1", value=row, rows=[row], lines=lines), output_format)


def revealed_kinds(text: str) -> "list[Revealable]":
    """Return the kinds of texts that are to be opened, in the order of the receipt, each once.

    Raises:
        InvalidInputError: with every word that is none.
    """
    from trial_projections.receipt_structs import REVEALABLE  # noqa: PLC0415 - slow to import

    wanted = [part.strip() for part in text.split(",") if part.strip()]
    faults = [
        Problem(
            message="no such texts",
            field="--reveal",
            found=repr(part),
            expected=" or ".join(REVEALABLE),
        )
        for part in wanted
        if part not in REVEALABLE
    ]
    if faults:
        raise InvalidInputError(faults, what="command line", hint="ledger receipt --help")
    return [kind for kind in REVEALABLE if kind in wanted]


def opened_words(kind: str, count: "TextCount") -> str:
    """Return how many texts of a kind were opened, and why others were not."""
    left = count.named - count.opened
    redacted = f": {count.redacted} redacted" if count.redacted else ""
    not_opened = f"; {left} could not be{redacted}" if left else ""
    return f"{kind} {count.opened} of {count.named}{not_opened}"


def write_new(path: Path, content: bytes) -> None:
    """Write a new file.

    Raises:
        StorageError: something of that name exists, or it cannot be written.
    """
    try:
        stream = path.open("xb")
        try:
            with stream:
                stream.write(content)
        except OSError:
            path.unlink()
            raise
    except FileExistsError as error:
        message = f"{path} exists"
        raise StorageError(message, hint="name another file with -o FILE") from error
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise StorageError(message, hint="name another file with -o FILE") from error
