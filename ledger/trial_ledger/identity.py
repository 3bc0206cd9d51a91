"""Whether a submission says the same as a stored event: what makes append idempotent.

Invariant: content is what the writer submitted, blobs compared by their plain bytes; fields that
the ledger fills are ignored where the writer left them out (architecture, The event).

The bytes of a text that was redacted are gone, with the salt of their hash. A text of the same
length and media type is then taken for the same: the id says so, nothing is stored either way, and
a harness that appends its output again, or an import that is repeated, must not break off there.
"""

from collections.abc import Callable, Mapping

import msgspec

from trial_ledger.blobs import content_hash
from trial_ledger.events import BlobRef, Event
from trial_ledger.intake import Draft

__all__ = ["difference"]

LEDGER_FILLED: Mapping[str, frozenset[str]] = {
    "run.opened": frozenset({"rubric", "rubric_hash", "dataset", "planned", "slots"}),
    "trial.started": frozenset({"leak_check"}),
    "judgment.recorded": frozenset({"rubric", "gold"}),
}
"""Fields that the ledger fills where the writer left them null."""


def difference(
    event: Event,
    wanted: Draft,
    *,
    digest_of: Callable[[BlobRef], bytes | None],
    is_redacted: Callable[[BlobRef], bool],
    configuration_of: Callable[[str], str],
) -> str | None:
    """Return the first field in which a submission differs from a stored event, or None.

    Args:
        event: the stored event of the same id.
        wanted: the submission, its trial complete.
        digest_of: BLAKE3 of a stored blob's bytes; None where it was erased or is not here.
        is_redacted: whether a stored blob's bytes were erased.
        configuration_of: configuration of a frozen manifest, by its hash.
    """
    envelope = (
        ("kind", event.kind == wanted.kind),
        ("run", event.run == wanted.run),
        ("trial", event.trial == wanted.trial),
        ("actor", event.actor == wanted.actor),
        ("at", wanted.at_defaulted or event.at == wanted.at),
    )
    for name, same in envelope:
        if not same:
            return name
    filled = LEDGER_FILLED.get(event.kind, frozenset())
    for field in msgspec.structs.fields(event.data):
        stored = getattr(event.data, field.name)
        given = getattr(wanted.data, field.name)
        text = wanted.texts.get(field.encode_name)
        if given is None and field.encode_name in filled:
            continue
        if isinstance(stored, BlobRef) and text is not None:
            same = (stored.bytes, stored.media) == (len(text.content), text.media) and (
                digest_of(stored) == content_hash(text.content) or is_redacted(stored)
            )
        elif field.encode_name == "manifest":
            same = same_manifest(stored, given, configuration_of)
        elif field.encode_name == "cost" and stored is not None and given is not None:
            same = stored == given or (
                given.prices is None and msgspec.structs.replace(stored, prices=None) == given
            )
        else:
            same = stored == given
        if not same:
            return f"data.{field.encode_name}"
    return None


def same_manifest(stored: str, given: str, configuration_of: Callable[[str], str]) -> bool:
    """Return whether a submitted reference means the stored manifest hash."""
    name, at, prefix = given.rpartition("@")
    if not at:
        name, prefix = given, ""
    by_name = name == configuration_of(stored) and stored.startswith(prefix)
    return by_name or stored.startswith(given)
