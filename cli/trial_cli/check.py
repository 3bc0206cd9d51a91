"""`ledger check`: a receipt or a proof, verified by somebody who has nothing but the file.

Invariant: no ledger is opened; every line says what was checked, or that it was not.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.check_screen import event_screen, heads_screen, receipt_screen
from trial_cli.options import format_options
from trial_cli.output import Screen, emit
from trial_ledger.errors import (
    InvalidInputError,
    NotFoundError,
    Problem,
    StorageError,
    VerificationError,
)

if TYPE_CHECKING:
    from trial_ledger.event_proof import EventProof
    from trial_ledger.head_proof import HeadProof
    from trial_ledger.heads import PublicKey, SignedHead
    from trial_ledger.kept_heads import Standing

__all__ = ["command"]

BARE_PROOF = b"c2sp.org/tlog-proof@v1\n"
LARGEST = 1 << 30
"""Bytes of a file that is read at all."""


@click.command("check", short_help="Check a receipt without its ledger")
@click.argument("file")
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY|FILE",
    help="A public key that you have from elsewhere; or a file with some, one a line.",
)
@click.option(
    "--note",
    "notes",
    multiple=True,
    metavar="FILE",
    help="A signed head that you kept: this one must agree with it.",
)
@click.option(
    "--proof",
    "proofs",
    multiple=True,
    metavar="FILE",
    help="What ledger prove --from NOTE gave: leads from an earlier head to a later one.",
)
@click.option(
    "--document",
    metavar="FILE",
    help="The event of a bare tlog-proof (default: FILE with the ending .json).",
)
@format_options
def command(
    file: str,
    *,
    keys: tuple[str, ...],
    notes: tuple[str, ...],
    proofs: tuple[str, ...],
    document: str | None,
    output_format: str,
) -> None:
    """Check FILE, which somebody gave you: a receipt of ledger receipt, a proof of ledger prove.

    Exits with 4 where anything in it does not hold, and says what. Without --key the head is
    checked against the key that the file itself names: then it is only as good as that. Without
    --note nobody but the owner of the ledger vouches that there is no other history of it.
    """
    content = bytes_of(file)
    outside = Outside(keys, notes, proofs)
    if content.startswith(BARE_PROOF):
        screen = checked_event(bare_proof(file, content, document, outside), outside)
    else:
        screen = checked_file(file, content, outside)
    emit(screen, output_format)


class Form(msgspec.Struct):
    """What a file says that it is."""

    schema: str = ""
    """Name and version of its form."""


def checked_file(file: str, content: bytes, outside: "Outside") -> Screen:
    """Return what holds of a file of our own forms.

    Raises:
        VerificationError: something does not, or it is of none of these forms.
    """
    try:
        schema = msgspec.json.decode(content, type=Form).schema
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"{file} is neither a receipt nor a proof: {error}"
        raise VerificationError(message) from error
    match schema:
        case "ledger.receipt/1":
            return checked_receipt(content, outside)
        case "ledger.proof/1":
            from trial_ledger.event_proof import decode_event_proof  # noqa: PLC0415 - slow

            return checked_event(decode_event_proof(content), outside)
        case "ledger.consistency/1":
            from trial_ledger.head_proof import decode_head_proof  # noqa: PLC0415 - slow

            return checked_heads(decode_head_proof(content), outside)
        case _:
            named = f": its schema is {schema[:60]!r}" if schema else ""
            message = f"{file} is neither a receipt nor a proof of this version{named}"
            raise VerificationError(message, hint="ledger receipt RUN METRIC -o FILE writes one")


def checked_receipt(content: bytes, outside: "Outside") -> Screen:
    """Return what holds of a receipt.

    Raises:
        VerificationError: something does not.
    """
    from trial_projections.receipt_check import check_receipt  # noqa: PLC0415 - slow to import
    from trial_projections.receipt_structs import decode_receipt  # noqa: PLC0415 - likewise

    receipt = decode_receipt(content)
    found = check_receipt(receipt, outside.known)
    return receipt_screen(found, outside.anchors(found.head, receipt.keys))


def checked_event(proof: "EventProof", outside: "Outside") -> Screen:
    """Return what holds of one event.

    Raises:
        VerificationError: something does not.
    """
    from trial_ledger.event_proof import check_event  # noqa: PLC0415 - slow to import

    found = check_event(proof, outside.keys_or(proof.keys))
    anchors = outside.anchors(found.head, proof.keys)
    return event_screen(found, anchors, key_is_known=bool(outside.known))


def checked_heads(proof: "HeadProof", outside: "Outside") -> Screen:
    """Return what holds between two heads.

    Raises:
        VerificationError: something does not.
    """
    from trial_ledger.head_proof import check_heads  # noqa: PLC0415 - slow to import

    found = check_heads(proof, outside.keys_or(proof.keys))
    anchors = outside.anchors(found.head, proof.keys, proof)
    return heads_screen(found, anchors, key_is_known=bool(outside.known))


def bare_proof(file: str, content: bytes, document: str | None, outside: "Outside") -> "EventProof":
    """Return a C2SP tlog-proof with the document that lies beside it.

    Raises:
        InvalidInputError: no key was named; such a proof names none.
    """
    from trial_ledger.event_proof import EventProof  # noqa: PLC0415 - slow to import

    if not outside.known:
        raise InvalidInputError.single(
            "a bare proof names no key",
            what="command line",
            field="--key",
            expected="a public key, or a file with some",
            hint="ledger key show prints the public key of a ledger",
        )
    beside = str(Path(file).with_suffix(".json")) if document is None else document
    return EventProof(
        document=text_of(beside),
        proof=content.decode("utf-8", errors="replace"),
        keys=[str(key) for key in outside.known],
    )


class Outside:
    """What the checker has from elsewhere than the file: keys, kept heads, proofs between heads."""

    def __init__(
        self, keys: tuple[str, ...], notes: tuple[str, ...], proofs: tuple[str, ...]
    ) -> None:
        self.known = known_keys(keys)
        self.notes = [(name, text_of(name)) for name in notes]
        self.proofs = [(name, bytes_of(name)) for name in proofs]

    def keys_or(self, own: list[str]) -> "list[PublicKey]":
        """Return the known keys; where there is none, those that the file names.

        Raises:
            VerificationError: one of these is none, whether it is used or not.
        """
        from trial_ledger.heads import parse_public_key  # noqa: PLC0415 - slow to import

        named_by_file = [parse_public_key(text) for text in own]
        return self.known or named_by_file

    def anchors(
        self, head: "SignedHead", own: list[str], inner: "HeadProof | None" = None
    ) -> "list[Standing]":
        """Return how a verified head stands to every kept one.

        Args:
            head: the head.
            own: keys that the file names.
            inner: a proof that is the file itself.

        Raises:
            VerificationError: it contradicts one, or a note or proof does not hold.
        """
        from trial_ledger.head_proof import check_heads, decode_head_proof  # noqa: PLC0415 - slow
        from trial_ledger.heads import verified_head  # noqa: PLC0415 - likewise
        from trial_ledger.kept_heads import standings  # noqa: PLC0415 - likewise

        keys = self.keys_or(own)
        checked = [] if inner is None else [check_heads(inner, keys)]
        kept: list[SignedHead] = []
        for name, note in self.notes:
            with named(name):
                kept.append(verified_head(note, keys, origin=None))
        for name, content in self.proofs:
            with named(name):
                checked.append(check_heads(decode_head_proof(content), keys))
        return standings(head, kept, checked)


@contextmanager
def named(file: str) -> Iterator[None]:
    """Say of which file it is that something does not hold.

    Raises:
        VerificationError: something does not.
    """
    try:
        yield
    except VerificationError as error:
        raise VerificationError(f"{file}: {error.message}", hint=error.hint) from error


def bytes_of(file: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        NotFoundError: there is none.
        StorageError: it cannot be read.
        VerificationError: it is larger than anything of ours.
    """
    try:
        with Path(file).open("rb") as stream:
            # The size of a file is known before it is read; that of a pipe is not.
            is_small = os.fstat(stream.fileno()).st_size <= LARGEST
            content = stream.read(LARGEST + 1) if is_small else b""
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {file}", hint="ledger check --help") from error
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror}") from error
    if not is_small or len(content) > LARGEST:
        raise VerificationError(f"{file} is larger than any receipt")
    return content


def text_of(file: str) -> str:
    """Return the text of a file; what is no UTF-8 becomes what no signature covers.

    Raises:
        NotFoundError: there is none.
        StorageError: it cannot be read.
    """
    return bytes_of(file).decode("utf-8", errors="replace")


def known_keys(named: tuple[str, ...]) -> "list[PublicKey]":
    """Return the public keys that were given, each as itself or in a file.

    Raises:
        InvalidInputError: with every text that is no public key.
        NotFoundError: there is no such file.
        StorageError: a file cannot be read.
    """
    from trial_ledger.heads import parse_public_key  # noqa: PLC0415 - slow to import

    found: list[PublicKey] = []
    problems: list[Problem] = []
    for name in named:
        is_text = "+" in name and not Path(name).is_file()
        lines = [name] if is_text else text_of(name).splitlines()
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                found.append(parse_public_key(line))
            except VerificationError as error:
                # The line itself is not shown: it may be somebody's private key.
                problems.append(
                    Problem(
                        message=error.message,
                        source=None if is_text else name,
                        line=None if is_text else number,
                        field="--key" if is_text else None,
                    )
                )
        if not is_text and not any(line.strip() for line in lines):
            problems.append(Problem(message="no public key in it", source=name))
    if problems:
        raise InvalidInputError(
            problems,
            what="--key",
            hint="ledger key show prints the public key of a ledger",
            nothing_written=False,
        )
    return found
