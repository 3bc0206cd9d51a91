"""What `ledger check` shows: what holds, line by line, and what nobody can know from the file.

Invariant: every line says what was checked or that it was not; text of strangers is never markup.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from trial_cli.output import Screen, clean
from trial_cli.words import percent_range, range_text, wrapped

if TYPE_CHECKING:
    from trial_ledger.event_proof import CheckedEvent
    from trial_ledger.head_proof import CheckedHeads
    from trial_ledger.heads import SignedHead
    from trial_ledger.kept_heads import Standing
    from trial_projections.receipt_check import CheckedReceipt
    from trial_projections.receipt_regrading import Regraded
    from trial_projections.receipt_texts import TextCount

__all__ = ["event_screen", "heads_screen", "receipt_screen"]

LABEL = 14
SCHEMA = "ledger.check/1"
NO_ANCHOR = "none: nobody but the ledger's owner vouches for this head (--note)"


def receipt_screen(found: "CheckedReceipt", anchors: "Sequence[Standing]") -> Screen:
    """Return what holds of a receipt."""
    claim, about = found.claim, found.about
    number = f"{range_text(claim.headline)}  {percent_range(claim.headline, found.scale)}"
    facts = [
        ("number", f"{claim.metric} of {claim.run} = {number}"),
        *(("!", mark) for mark in about.marks),
        ("arithmetic", f"verified: computed anew from the documents of {about.trials} trials"),
        (
            "complete",
            f"as of link {claim.link}, seq {found.seq} of {found.head.size}; nothing later",
        ),
        ("decided", f"{claim.decided} of {claim.denominator}, planned {claim.planned}"),
        ("overrides", f"{about.overrides} by people, all of them here"),
        ("grading", grading_words(found.regraded)),
        ("opened", opened_words(found.texts)),
        ("rubric", about.rubric),
        ("manifest", about.manifest),
        ("gold", about.dataset),
        ("order", about.order),
        ("key", key_words(found.head, is_known=found.key_is_known)),
        *anchor_facts(anchors, found.head),
        ("not shown", "that all of it was recorded; other runs and ledgers"),
    ]
    value: dict[str, object] = {
        "what": "receipt",
        **head_value(found.head, anchors, key_is_known=found.key_is_known),
        "claim": msgspec.to_builtins(claim),
        "scale": list(found.scale),
        "seq": found.seq,
        "about": msgspec.to_builtins(about),
        "texts": msgspec.to_builtins(found.texts),
        "regraded": msgspec.to_builtins(found.regraded),
    }
    row: dict[str, object] = {
        "what": "receipt",
        "run": claim.run,
        "metric": claim.metric,
        "low": claim.headline.low.value,
        "high": claim.headline.high.value,
        "link": claim.link,
        "seq": found.seq,
        "key_is_known": found.key_is_known,
    }
    return Screen(schema=SCHEMA, value=value, rows=[row], lines=lines_of(found.head, facts))


def event_screen(
    found: "CheckedEvent", anchors: "Sequence[Standing]", *, key_is_known: bool
) -> Screen:
    """Return what holds of one event."""
    event, head = found.event, found.head
    where = "" if event.run is None else f" of run {event.run}"
    about = f"{event.kind}{where}" + ("" if event.trial is None else f", trial {event.trial}")
    facts = [
        ("event", f"seq {event.seq}, {about}"),
        ("hash", found.hash),
        ("included", f"in the log of {head.size} events that was signed"),
        ("recorded", f"{event.recorded_at}, by the clock of the one who recorded it"),
        ("key", key_words(head, is_known=key_is_known)),
        *anchor_facts(anchors, head),
        ("not shown", "that no other event stands beside it; a receipt shows that for a run"),
    ]
    row: dict[str, object] = {
        "what": "event",
        "seq": event.seq,
        "kind": event.kind,
        "run": event.run,
        "trial": None if event.trial is None else str(event.trial),
        "hash": found.hash,
        "key_is_known": key_is_known,
    }
    value = {**row, **head_value(head, anchors, key_is_known=key_is_known)}
    return Screen(schema=SCHEMA, value=value, rows=[row], lines=lines_of(head, facts))


def heads_screen(
    found: "CheckedHeads", anchors: "Sequence[Standing]", *, key_is_known: bool
) -> Screen:
    """Return what holds between two heads."""
    old, head = found.old, found.head
    facts = [
        (
            "goes on",
            f"the log of {head.size} events begins with the {old.size} of the earlier head",
        ),
        ("earlier", f"{old.size} events, root {old.root.hex()}"),
        ("later", f"{head.size} events, root {head.root.hex()}"),
        ("key", key_words(head, is_known=key_is_known)),
        *anchor_facts(anchors, head),
        ("not shown", "what the events say; that there is no third history"),
    ]
    row: dict[str, object] = {
        "what": "heads",
        "old_size": old.size,
        "old_root": old.root.hex(),
        "key_is_known": key_is_known,
    }
    value = {**row, **head_value(head, anchors, key_is_known=key_is_known)}
    return Screen(schema=SCHEMA, value=value, rows=[value], lines=lines_of(head, facts))


def head_value(
    head: "SignedHead", anchors: "Sequence[Standing]", *, key_is_known: bool
) -> dict[str, object]:
    """Return what is said of a head in JSON."""
    return {
        "holds": True,
        "origin": head.origin,
        "size": head.size,
        "root": head.root.hex(),
        "signer": str(head.signers[0]),
        "key_is_known": key_is_known,
        "anchors": [msgspec.to_builtins(anchor) for anchor in anchors],
    }


def lines_of(head: "SignedHead", facts: Sequence[tuple[str, str]]) -> list[str]:
    """Return facts as lines of a screen; the first says that all of them hold."""
    lines = [f"{'holds':<{LABEL}}{clean(head.origin)}"]
    for label, text in facts:
        lines += wrapped(label, text, indent=LABEL)
    return lines


def key_words(head: "SignedHead", *, is_known: bool) -> str:
    """Return who signed, and how the checker knows."""
    known = "known to you" if is_known else "NOT known to you: it is the file's own"
    # A ledger's own key is called by its origin, which stands above; the rest fits on one line.
    return f"{known}: {str(head.signers[0]).removeprefix(head.origin + '+')}"


def anchor_facts(anchors: "Sequence[Standing]", head: "SignedHead") -> list[tuple[str, str]]:
    """Return what outside traces say of a head."""
    words = {
        "same": "the head is the one that you kept, of {kept} events",
        "goes on": "the head goes on from the one of {kept} events that you kept",
        "part of": "part of the log whose head of {kept} events you kept; {later} came later",
        "not compared": (
            "your note of {kept} events was NOT compared: the giver's ledger prove --from NOTE"
            " leads from it to this head (--proof)"
        ),
    }
    return [
        (
            "anchor" if not place else "",
            words[anchor.relation].format(kept=anchor.size, later=anchor.size - head.size),
        )
        for place, anchor in enumerate(anchors)
    ] or [("anchor", NO_ANCHOR)]


def grading_words(regraded: "Regraded") -> str:
    """Return how far the grading was run again."""
    if not regraded.given:
        return "no judgment to re-run"
    alike = f"re-run: {regraded.alike} of {regraded.given} judgments by code, alike"
    if regraded.reason is None:
        return alike
    return f"not re-run: {regraded.reason}" + (f"; {alike}" if regraded.alike else "")


def opened_words(texts: "Mapping[str, TextCount]") -> str:
    """Return what was opened of each kind of text, and what cannot be any more."""
    parts = []
    for kind, count in texts.items():
        redacted = f" ({count.redacted} redacted)" if count.redacted else ""
        parts.append(f"{kind} {count.opened} of {count.named}{redacted}")
    words = ", ".join(parts)
    if not any(count.opened for count in texts.values()):
        return f"nothing: {words}"
    return f"{words}; each what the log committed to"
