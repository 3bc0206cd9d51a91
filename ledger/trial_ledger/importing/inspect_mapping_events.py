"""The format's name, and who did something in an Inspect log.

Invariant: an act of a person carries that person's name, and a reason even where the log has none.
"""

from trial_ledger.events import Actor
from trial_ledger.importing.lenient_json import JsonObject, text_at, utc_text
from trial_ledger.importing.source import safe_name

__all__ = ["FORMAT", "NO_REASON", "provenance"]

FORMAT = "inspect"
UNNAMED = "unnamed in the source"
"""Author of an act that the source does not name; a human act needs a name."""
NO_REASON = "the source gives no reason"
"""Reason of an act for which the source has none; such an act needs words."""


def provenance(record: JsonObject) -> tuple[Actor, str, str | None]:
    """Return who did something, why, and when, of a record of an edit or an invalidation."""
    actor = Actor(role="human", name=safe_name(text_at(record, "author") or UNNAMED))
    reason = (text_at(record, "reason") or "").strip() or NO_REASON
    return actor, reason, utc_text(record.get("timestamp"))
