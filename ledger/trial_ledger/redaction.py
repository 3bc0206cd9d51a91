"""Erases the bytes of a text, after recording who, why and on whose word (C11).

Invariant: nothing is erased that no durable blob.redacted names, and everything that one names is
erased by this call or the next; hashes, chain, tree and proofs stay as they are.

A text in the ledger file goes in the transaction that records it. One in the gold file goes just
after: a crash between the two leaves a recorded redaction whose bytes are still there, which
`verify` names and which the next call finishes.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from trial_ledger.anchoring import transaction
from trial_ledger.batch import Entry
from trial_ledger.blobs import BlobTable
from trial_ledger.book import Ledger
from trial_ledger.erasing import Traces, compact, erase, is_erased
from trial_ledger.events import Actor
from trial_ledger.intake import draft
from trial_ledger.mentions import Mention
from trial_ledger.redaction_targets import announced, look, tables
from trial_ledger.remains import WINDOW_BYTES, Search, files_beside, needles_of, search
from trial_ledger.submission import NewText, Submission

__all__ = ["Redacted", "Redaction", "left_over", "redact", "rewrite"]


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """One blob that is redacted."""

    blob: str
    """Its hash, by which documents go on naming it."""
    status: str
    """`redacted` by this call, `finished` where only its bytes were left to erase, `was redacted`
    before, or `would be redacted` in a dry run."""
    seq: int | None
    """Its blob.redacted; None in a dry run."""
    mentions: list[Mention]
    """Where it stands; empty where an interrupted append left it."""


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """What a redaction did, and what it did not."""

    blobs: list[Redacted]
    """The blob that was named, then those redacted with it."""
    finished: list[str]
    """Other blobs, whose redaction a crash had left unfinished."""
    equal: list[Mention]
    """Other blobs that hold the same text and keep it."""
    inside: list[Mention] | None
    """Longer texts in which the text stands; None where it is too short to look for, or gone."""
    needles: list[bytes]
    """Pieces of what was erased, to look for in the files once they are closed."""


def redact(
    ledger: Ledger,
    name: str,
    *,
    reason: str,
    authority: str,
    actor: Actor,
    all_equal: bool = False,
    dry_run: bool = False,
) -> Redaction:
    """Record that a text is redacted, and erase it.

    Args:
        ledger: open for writing.
        name: the blob's hash, or the beginning of it.
        reason: why, in words that do not repeat the text.
        authority: on whose word.
        actor: the person who acts.
        all_equal: whether the other blobs that hold the same text go with it.
        dry_run: look, and write nothing.

    Raises:
        NotFoundError: no event names such a blob, or it is gold and the gold file is not here.
        AmbiguousError: several begin so.
        RuleError: it is a frozen document or a gold record, or nobody acts, or nobody says why.
        InvalidInputError: a value has a wrong form.
        VerificationError: its bytes are not what was written, or went without a word.
        StorageError: a file cannot be written.
    """
    target = look(ledger, name, reason=reason, all_equal=all_equal)
    before = announced(ledger)
    data = {"reason": NewText.of(reason), "authority": authority}
    acts = {
        blob: Submission(kind="blob.redacted", data={**data, "blob": blob}, actor=actor)
        for blob in target.blobs
    }
    erased: dict[str, Traces] = {}
    if dry_run:
        ledger.append_all([Entry(submission=act) for act in acts.values()], dry_run=True)
    else:
        record(ledger, acts, erased)
        erase_gold(ledger, erased)
    after = announced(ledger)
    return Redaction(
        blobs=[
            Redacted(
                blob=blob,
                status=status_of(blob, before, erased, dry_run=dry_run),
                seq=after.get(blob),
                mentions=found,
            )
            for blob, found in target.blobs.items()
        ],
        finished=sorted(erased.keys() - target.blobs.keys()),
        equal=target.equal,
        inside=target.inside,
        needles=needles(erased.values(), alone=not target.inside),
    )


def left_over(path: Path, pieces: Iterable[bytes]) -> Search:
    """Look for what is left of erased texts in every file whose name begins with the ledger's.

    Call it when the ledger is closed: see `trial_ledger.remains`.

    Raises:
        StorageError: a file cannot be read.
    """
    return search(files_beside(path), pieces)


def rewrite(ledger: Ledger) -> None:
    """Write both files anew, which leaves behind whatever no table holds any more.

    Needed only where a program without `secure_delete` moved or deleted rows before.

    Raises:
        StorageError: the file is busy, or there is no room for a copy of it.
    """
    ledger.store.lock.acquire()
    try:
        for table in tables(ledger):
            compact(table)
    finally:
        ledger.store.lock.release()


def record(ledger: Ledger, acts: dict[str, Submission], erased: dict[str, Traces]) -> None:
    """Append what was not announced before, and erase what lies in the ledger file, in one commit.

    Raises:
        RuleError: nobody acts, or nobody says why.
        InvalidInputError: a value has a wrong form.
    """
    with transaction(ledger) as writer:
        known = announced(ledger)
        for blob, act in acts.items():
            if blob not in known:
                writer.prepare(draft(act))
        writer.flush()
        erased.update(erase_all(ledger.store.blobs, announced(ledger)))


def erase_gold(ledger: Ledger, erased: dict[str, Traces]) -> None:
    """Erase what lies in the gold file, now that it is durably announced."""
    if ledger.gold is not None:
        with transaction(ledger):
            ledger.gold.begin()
            erased.update(erase_all(ledger.gold.blobs, announced(ledger)))


def erase_all(table: BlobTable, blobs: Iterable[str]) -> dict[str, Traces]:
    """Erase those of some blobs that a file has and that are not erased yet."""
    return {
        blob: erase(table, name)
        for blob, name in ((blob, bytes.fromhex(blob)) for blob in blobs)
        if is_erased(table, name) is False
    }


def status_of(
    blob: str, before: dict[str, int], erased: dict[str, Traces], *, dry_run: bool
) -> str:
    """Return what became of a blob that was to be redacted."""
    if blob not in before:
        return "would be redacted" if dry_run else "redacted"
    return "finished" if blob in erased else "was redacted"


def needles(traces: Iterable[Traces], *, alone: bool) -> list[bytes]:
    """Return what to look for in the files after some erasures.

    Salts and digests stand nowhere by chance. The bytes themselves do where they are few, or where
    longer texts hold them too.

    Args:
        traces: what stood in the files.
        alone: whether no longer text holds the bytes.
    """
    found: list[bytes] = []
    for trace in traces:
        found += [piece for piece in (trace.salt, trace.digest) if piece is not None]
        if alone and len(trace.data) >= WINDOW_BYTES:
            found += needles_of(trace.data)
    return found
