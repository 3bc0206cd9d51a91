"""`ledger check`: a receipt, verified by somebody who has nothing but the file.

Invariant: no ledger is opened; every line says what was checked, or that it was not.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import format_options
from trial_cli.output import Screen, clean, emit
from trial_cli.words import percent_range, range_text, wrapped
from trial_ledger.errors import NotFoundError, StorageError, VerificationError

if TYPE_CHECKING:
    from trial_ledger.heads import PublicKey
    from trial_projections.receipt_check import CheckedReceipt

__all__ = ["command"]

LABEL = 14
PROOF = "ledger.proof/1"


@click.command("check", short_help="Check a receipt without its ledger")
@click.argument("file")
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY|FILE",
    help="A public key that you have from elsewhere; or a file with some, one a line.",
)
@format_options
def command(file: str, *, keys: tuple[str, ...], output_format: str) -> None:
    """Check FILE, which somebody gave you: a receipt of ledger receipt, a proof of ledger prove.

    Exits with 4 where anything in it does not hold, and says what. Without --key the head is
    checked against the key that the file itself names: then it is only as good as that.
    """
    content, known = bytes_of(file), known_keys(keys)
    if schema_of(content) == PROOF:
        emit(event_screen(content, known), output_format)
        return
    from trial_projections.receipt_check import (  # noqa: PLC0415 - slow to import
        check_receipt,
        decode_receipt,
    )

    found = check_receipt(decode_receipt(content), known)
    emit(
        Screen(
            schema="ledger.check/1",
            value=msgspec.to_builtins(found),
            rows=[{"run": found.claim.run, "metric": found.claim.metric, "holds": True}],
            lines=lines_of(found),
        ),
        output_format,
    )


class Form(msgspec.Struct):
    """What a file says that it is."""

    schema: str = ""
    """Name and version of its form."""


def schema_of(content: bytes) -> str:
    """Return what a file says that it is; nothing where it says nothing."""
    try:
        return msgspec.json.decode(content, type=Form).schema
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


def event_screen(content: bytes, known: "list[PublicKey]") -> Screen:
    """Return what holds of one event.

    Raises:
        VerificationError: something does not.
    """
    from trial_ledger.event_proof import EventProof, check_event  # noqa: PLC0415 - slow to import
    from trial_ledger.heads import parse_public_key  # noqa: PLC0415 - likewise

    try:
        proof = msgspec.json.decode(content, type=EventProof)
    except msgspec.ValidationError as error:
        message = f"not a proof: {error}"
        raise VerificationError(message) from error
    found = check_event(proof, known or [parse_public_key(text) for text in proof.keys])
    event, head = found.event, found.head
    where = "" if event.run is None else f" of run {event.run}"
    about = f"{event.kind}{where}" + ("" if event.trial is None else f", trial {event.trial}")
    signer = str(head.signers[0])
    key = "known to you" if known else "NOT known to you: it is the proof's own"
    facts = (
        ("event", f"seq {event.seq}, {about}"),
        ("hash", found.hash),
        ("included", f"in the log of {head.size} events that was signed"),
        ("recorded", f"{event.recorded_at}, by the clock of the one who recorded it"),
        ("key", f"{key}: {signer}"),
        ("not shown", "that no other event stands beside it; a receipt shows that for a run"),
    )
    lines = [f"holds         {clean(head.origin)}"]
    for label, text in facts:
        lines += wrapped(label, text, indent=LABEL)
    value: dict[str, object] = {
        "seq": event.seq,
        "kind": event.kind,
        "run": event.run,
        "trial": None if event.trial is None else str(event.trial),
        "hash": found.hash,
        "origin": head.origin,
        "size": head.size,
        "root": head.root.hex(),
        "signer": signer,
        "key_is_known": bool(known),
    }
    return Screen(schema="ledger.check-event/1", value=value, rows=[value], lines=lines)


def bytes_of(file: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        NotFoundError: there is none.
        StorageError: it cannot be read.
    """
    try:
        return Path(file).read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {file}", hint="ledger receipt RUN METRIC -o FILE") from error
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror}") from error


def known_keys(named: tuple[str, ...]) -> "list[PublicKey]":
    """Return the public keys that were given, each as itself or in a file.

    Raises:
        VerificationError: one is no public key.
        StorageError: a file cannot be read.
    """
    from trial_ledger.heads import parse_public_key  # noqa: PLC0415 - slow to import

    texts: list[str] = []
    for name in named:
        if "+" in name and not Path(name).is_file():
            texts.append(name)
        else:
            lines = bytes_of(name).decode("utf-8", errors="replace").splitlines()
            texts += [line.strip() for line in lines if line.strip()]
    return [parse_public_key(text) for text in texts]


def lines_of(found: "CheckedReceipt") -> list[str]:
    """Return what holds, line by line, and what nobody can know from this file."""
    claim, about = found.claim, found.about
    number = f"{range_text(claim.headline)}  {percent_range(claim.headline, ('0', '1'))}"
    regraded = f"{found.regraded} judgments by code given again, alike"
    if found.not_regraded is not None:
        again = f"; {regraded}" if found.regraded else ""
        regraded = f"not run again: {found.not_regraded}{again}"
    order = "recorded live" if about.entry == "live" else f"not witnessed: {about.entry} afterwards"
    known = "known to you" if found.key_is_known else "NOT known to you: it is the receipt's own"
    facts = (
        ("number", f"{claim.metric} of {claim.run} = {number}"),
        ("arithmetic", f"verified from the documents of {about.trials} trials"),
        (
            "complete",
            f"as of link {claim.link}, seq {found.seq} of {found.size}, and of nothing later",
        ),
        ("decided", f"{claim.decided} of {claim.denominator}, planned {claim.planned}"),
        ("overrides", f"{about.overrides} by people, all of them here"),
        ("grading", regraded),
        ("opened", f"{found.revealed} texts, each what the log committed to"),
        ("rubric", about.rubric),
        ("manifest", about.manifest),
        ("gold", about.dataset),
        ("order", order),
        ("key", f"{known}: {found.signer}"),
        ("anchor", "none here: compare the head with a note kept elsewhere"),
    )
    lines = [f"holds         {clean(found.origin)}"]
    for label, text in facts:
        lines += wrapped(label, text, indent=LABEL)
    return lines
