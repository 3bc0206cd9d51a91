"""Texts of the log as a report shows them: cut where they are long, gold only where asked for.

Invariant: a text that may hold gold is never read unless gold was asked for; what cannot be shown
says why, and names the blob that `ledger show` takes.
"""

import msgspec

from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.errors import NotFoundError
from trial_ledger.events import BlobRef
from trial_ledger.view import LedgerView

__all__ = ["GOLD_HIDDEN", "NO_GOLD_FILE", "REDACTED", "ReportText", "TextReader"]

GOLD_HIDDEN = "may show gold: --include-gold"
"""Stands for a text that nobody asked for."""
NO_GOLD_FILE = "in the gold file, which is not here"
"""Stands for a text that cannot be read here."""
REDACTED = "redacted"
"""Stands for a text whose bytes were erased."""


class ReportText(msgspec.Struct, frozen=True, kw_only=True):
    """One text of the log, as far as a report shows it."""

    blob: str | None
    """Its blob, as `ledger show` takes it; None for a part of a frozen document."""
    bytes: int
    """How many bytes the whole text has."""
    text: str | None
    """The text or its beginning; None where it is not shown."""
    missing: str | None
    """Why it is not shown; None where it is."""
    is_cut: bool
    """Whether only its beginning is shown."""


class TextReader:
    """Reads the texts of one report.

    Args:
        ledger: where they lie.
        include_gold: whether texts that may show gold are read.
        limit: most characters of one text.
    """

    def __init__(self, ledger: LedgerView, *, include_gold: bool, limit: int) -> None:
        self.ledger = ledger
        self.include_gold = include_gold
        self.limit = limit

    def read(self, reference: BlobRef | None) -> ReportText | None:
        """Return a text; None where there is none."""
        if reference is None:
            return None
        if reference.class_ == "gold" and not self.include_gold:
            return self.missing(reference.blob, reference.bytes, GOLD_HIDDEN)
        try:
            content = self.ledger.blob(reference)
        except NotFoundError:
            return self.missing(reference.blob, reference.bytes, NO_GOLD_FILE)
        if content is None:
            return self.missing(reference.blob, reference.bytes, REDACTED)
        return self.shown(content.decode("utf-8", errors="replace"), reference.blob, len(content))

    def plain(self, text: str | None) -> ReportText | None:
        """Return a text of a frozen document; None where there is none."""
        return None if text is None else self.shown(text, None, len(text.encode()))

    def gold(self, commitment: str | None) -> ReportText | None:
        """Return the gold of a question; None without gold, or where nobody asked for it.

        A frozen record has every key of its shape; those that hold nothing are not shown.
        """
        if commitment is None or not self.include_gold:
            return None
        if self.ledger.gold is None:
            return self.missing(commitment, 0, NO_GOLD_FILE)
        record = self.ledger.gold.blobs.read_named(bytes.fromhex(commitment))
        if record is None:
            return self.missing(commitment, 0, REDACTED)
        gold = canonical_json(without_absent(msgspec.json.decode(record)["gold"]))
        return self.shown(gold.decode(), commitment, len(record))

    def shown(self, text: str, blob: str | None, size: int) -> ReportText:
        """Return a text, cut where it is too long."""
        return ReportText(
            blob=blob,
            bytes=size,
            text=text[: self.limit],
            missing=None,
            is_cut=len(text) > self.limit,
        )

    def missing(self, blob: str, size: int, why: str) -> ReportText:
        """Return what stands for a text that is not shown."""
        return ReportText(blob=blob, bytes=size, text=None, missing=why, is_cut=False)


def without_absent(gold: object) -> object:
    """Return gold without the keys that hold nothing."""
    if not isinstance(gold, dict):
        return gold
    return {name: value for name, value in gold.items() if value is not None and value != []}
