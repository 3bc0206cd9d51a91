"""Finds what a redaction is about: the blob, what keeps it, and where else its text stands.

Invariant: a frozen document and a gold record are never redacted, since what scores mean and what
they were graded against would be gone with them (C1, C2, C9, C14, C16, C29).
"""

import json

import msgspec

from trial_ledger.blobs import BlobTable, content_hash
from trial_ledger.book import Ledger
from trial_ledger.canonical import decode_event
from trial_ledger.erasing import contents, equal_names
from trial_ledger.errors import AmbiguousError, NotFoundError, RuleError, VerificationError
from trial_ledger.events import BlobRedacted
from trial_ledger.mentions import Mention, mentions

__all__ = ["Target", "announced", "kept_by", "look", "tables"]

SHORTEST_TEXT = 12
"""A shorter text, in bytes, stands in others by chance."""

SHORTEST_NAME = 4
HASH_DIGITS = 64
HASH_SHOWN = 16

KEPT = {
    "dataset.registered": ("C1", "a changed dataset is a new version: ledger freeze dataset"),
    "rubric.frozen": ("C14", "a changed rubric is a new version: ledger freeze rubric"),
    "manifest.frozen": ("C9", "revoke a secret in it, then freeze another: ledger freeze manifest"),
    "run.opened": ("C16", "what a run plans decides what its scores mean: ledger invalidate"),
    "review.drawn": ("C29", "what was drawn decides what a review means: ledger override"),
}
"""Kind of an event with a plain text → the clause that keeps the text, and what to do instead."""

GOLD_KEPT = "to give up all gold remove the gold file: ledger verify then says that it is absent"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be redacted, and what stands around it."""

    blobs: dict[str, list[Mention]]
    """Every blob to redact, the named one first, with where it stands."""
    equal: list[Mention]
    """Blobs of the same text that stay."""
    inside: list[Mention] | None
    """Longer texts that hold it."""


def tables(ledger: Ledger) -> list[BlobTable]:
    """Return the blob tables of a ledger that are here, the gold file's last."""
    found = [ledger.store.blobs]
    return found if ledger.gold is None else [*found, ledger.gold.blobs]


def announced(ledger: Ledger) -> dict[str, int]:
    """Return the blobs that a blob.redacted names, with the seq of the first that does."""
    found: dict[str, int] = {}
    for document in ledger.store.scope(None, None):
        event = decode_event(document)
        if isinstance(event.data, BlobRedacted):
            found.setdefault(event.data.blob, event.seq)
    return found


def look(ledger: Ledger, name: str, *, reason: str, all_equal: bool) -> Target:
    """Return what a redaction is about.

    Raises:
        NotFoundError: no event names such a blob, or it is gold and the gold file is not here.
        AmbiguousError: several begin so.
        RuleError: it may not be redacted.
        VerificationError: its bytes are not what was written.
    """
    blob, places = named(ledger, name)
    refuse_kept(places[0])
    table = table_of(ledger, places[0])
    text = table.read_named(bytes.fromhex(blob))
    if text is None:
        if blob not in announced(ledger):
            message = f"blob {blob} was erased without a word"
            raise VerificationError(message, hint="ledger verify")
        return Target(blobs={blob: places}, equal=[], inside=None)
    if len(text) >= SHORTEST_TEXT and text in reason.encode("utf-8", "surrogateescape"):
        message = "the reason repeats the text that is to be erased"
        raise RuleError(message, clause="C11", hint="say what it was, not what it said")
    same = equals(ledger, blob, text)
    together = {
        other: found
        for other, found in same.items()
        if not found or (all_equal and kept_by(found[0]) is None)
    }
    return Target(
        blobs={blob: places, **together},
        equal=[found[0] for other, found in same.items() if other not in together],
        inside=None if len(text) < SHORTEST_TEXT else containing(ledger, text, {blob, *same}),
    )


def named(ledger: Ledger, name: str) -> tuple[str, list[Mention]]:
    """Return the one blob whose hash begins so, and where it stands.

    Raises:
        NotFoundError: no event names one.
        AmbiguousError: several begin so.
    """
    found: dict[str, list[Mention]] = {}
    if SHORTEST_NAME <= len(name) <= HASH_DIGITS:
        for mention in mentions(ledger, ledger.events()):
            if mention.blob.startswith(name):
                found.setdefault(mention.blob, []).append(mention)
    if not found:
        message = f"no event names a blob {name[:HASH_DIGITS]!r}"
        raise NotFoundError(
            message, hint="ledger show 17 shows the blobs of an event; ledger scan finds some"
        )
    if len(found) > 1:
        raise AmbiguousError("blob", name, found, hint="type more of its hash")
    return next(iter(found.items()))


def kept_by(mention: Mention) -> tuple[str, str] | None:
    """Return the clause that keeps a text, and what to do instead; None where it may go."""
    if mention.class_ == "plain":
        return KEPT[mention.kind]
    return ("C2", GOLD_KEPT) if mention.bytes is None else None


def refuse_kept(mention: Mention) -> None:
    """Refuse to erase what the scores of a run mean, or were graded against.

    A frozen document is known by a hash without salt, so erasing it would leave something to guess
    from, and no run under it could be read again. A gold record is what is later proven.

    Raises:
        RuleError: with the clause.
    """
    kept = kept_by(mention)
    if kept is not None:
        clause, hint = kept
        message = f"blob {mention.blob[:HASH_SHOWN]} is frozen: {mention}"
        raise RuleError(message, clause=clause, hint=hint)


def table_of(ledger: Ledger, mention: Mention) -> BlobTable:
    """Return the table that holds a text.

    Raises:
        NotFoundError: it is gold and the gold file is not here.
    """
    if mention.class_ != "gold":
        return ledger.store.blobs
    if ledger.gold is None:
        message = f"blob {mention.blob} is gold, and the gold file is not here"
        raise NotFoundError(message, hint="put the .gold file beside the ledger")
    return ledger.gold.blobs


def equals(ledger: Ledger, blob: str, text: bytes) -> dict[str, list[Mention]]:
    """Return the other blobs that hold the same bytes, with where they stand.

    One that stands nowhere was left by an interrupted append.
    """
    digest = content_hash(text)
    names = {name.hex() for table in tables(ledger) for name in equal_names(table, digest)}
    return mentioned(ledger, names - {blob})


def containing(ledger: Ledger, text: bytes, known: set[str]) -> list[Mention]:
    """Return a mention of every longer text that holds a text, as it is or inside JSON.

    Args:
        ledger: the ledger.
        text: the text.
        known: blobs that hold the text and nothing else.
    """
    forms = spellings(text)
    names = {
        name.hex()
        for table in tables(ledger)
        for name, content in contents(table)
        if any(form in content for form in forms)
    }
    return [found[0] for found in mentioned(ledger, names - known).values() if found]


def spellings(text: bytes) -> set[bytes]:
    """Return how a text may stand in a longer one: as it is, and as a string of JSON."""
    plain = text.decode("utf-8", "replace")
    escaped = (json.dumps(plain, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False))
    return {text, *(form.encode("utf-8") for form in escaped)}


def mentioned(ledger: Ledger, names: set[str]) -> dict[str, list[Mention]]:
    """Return where some blobs stand, in the order of their hashes."""
    found: dict[str, list[Mention]] = {name: [] for name in sorted(names)}
    if found:
        for mention in mentions(ledger, ledger.events()):
            if mention.blob in found:
                found[mention.blob].append(mention)
    return found
