"""The texts that gold accepts, and whether an answer is of a length to be compared with them.

Invariant: a text, an integer and a truth value each have one text; nothing else has any.
"""

from collections.abc import Mapping

from trial_ledger.documents.canonical_form import Json

__all__ = ["LONGEST_ANSWER", "accepted_answers", "scalar_text", "too_long"]

LONGEST_ANSWER = 1_000_000
"""Characters of an answer that a code grader reads; a longer one is no answer in any form."""


def accepted_answers(gold: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    """Return (what to call it, its text) of every accepted answer of a fact, the answer first."""
    found = [("answer", scalar_text(gold.get("answer")))]
    alternatives = gold.get("alternatives")
    for number, member in enumerate(alternatives if isinstance(alternatives, list) else (), 1):
        found.append((f"alternative {number}", scalar_text(member)))
    return tuple((label, text) for label, text in found if text is not None and text.strip())


def scalar_text(value: Json) -> str | None:
    """Return a text, integer or truth value as text; None for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else None


def too_long(answer: str) -> str | None:
    """Return why an answer is too long to be read, None where it is not."""
    if len(answer) <= LONGEST_ANSWER:
        return None
    return f"the answer has {len(answer)} characters, of which at most {LONGEST_ANSWER} are read"
