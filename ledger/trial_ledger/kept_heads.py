"""Compares a head with those that a checker kept: what nobody but an outside trace can show.

Invariant: two heads are of one history only where they are equal, or proofs lead from both to one
head; whatever contradicts a kept head is refused, and what was not compared is said to be so.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from trial_ledger.errors import VerificationError
from trial_ledger.head_proof import CheckedHeads
from trial_ledger.heads import SignedHead

__all__ = ["Standing", "standings"]

Place = tuple[str, int, bytes]
"""Origin, size and root of a head, whoever signed it."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How a head stands to one that was kept."""

    size: int
    """Events of the kept head."""
    relation: Literal["same", "goes on", "part of", "not compared"]
    """The same head; it goes on from the kept one; it is a part of the kept one's log, which went
    on; or the kept one is earlier and no proof leads from it."""


def standings(
    head: SignedHead, kept: Sequence[SignedHead], proofs: Sequence[CheckedHeads] = ()
) -> list[Standing]:
    """Return how a head stands to each head that was kept.

    Args:
        head: the verified head of what is checked.
        kept: heads that the checker has from earlier, verified.
        proofs: checked proofs between heads.

    Raises:
        VerificationError: a kept head is of another ledger or another history, or is longer and
            nothing shows that it goes on from this one.
    """
    for known in kept:
        if known.origin != head.origin:
            message = f"it is of {head.origin}, the head that you kept of {known.origin}"
            raise VerificationError(message)
    links = [(place_of(proof.old), place_of(proof.head)) for proof in proofs]
    refuse_forks([place_of(head), *map(place_of, kept), *(end for link in links for end in link)])
    return [standing(head, known, links) for known in kept]


def place_of(head: SignedHead) -> Place:
    """Return what a head says, without who signed it."""
    return head.origin, head.size, head.root


def refuse_forks(places: Iterable[Place]) -> None:
    """Refuse heads of one size and ledger with different roots.

    Raises:
        VerificationError: there are two.
    """
    roots: dict[tuple[str, int], bytes] = {}
    for origin, size, root in places:
        if roots.setdefault((origin, size), root) != root:
            raise VerificationError(f"two histories: heads of {size} events with different roots")


def standing(head: SignedHead, known: SignedHead, links: Sequence[tuple[Place, Place]]) -> Standing:
    """Return how a head stands to one kept head.

    Raises:
        VerificationError: the kept one is longer and nothing shows that it goes on from this one.
    """
    ours, theirs = place_of(head), place_of(known)
    if ours == theirs:
        return Standing(size=known.size, relation="same")
    # Both are beginnings of one log where proofs lead from both to one head; a proof that leads
    # from one head to two others says nothing of these.
    is_one = not leading_from(ours, links).isdisjoint(leading_from(theirs, links))
    if known.size > head.size:
        if not is_one:
            message = (
                f"an older head, of {head.size} events: the one that you kept has {known.size}"
            )
            raise VerificationError(
                message, hint="ask for a newer one, or for what ledger prove --from NOTE gives"
            )
        return Standing(size=known.size, relation="part of")
    return Standing(size=known.size, relation="goes on" if is_one else "not compared")


def leading_from(start: Place, links: Sequence[tuple[Place, Place]]) -> set[Place]:
    """Return every head to which proofs lead from one, itself among them."""
    found, todo = {start}, [start]
    while todo:
        place = todo.pop()
        for old, new in links:
            if old == place and new not in found:
                found.add(new)
                todo.append(new)
    return found
