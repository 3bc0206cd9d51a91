"""How many questions count alike under a metric, kept from one command to the next.

Invariant: a tally names the link of the run that it was counted at, by number and hash. Links are
all that can change a score, so the tally of a run's last link is what counting anew would give; one
of any other link is not used.

One act of a person changes one question. With the tally of what was before, the number after it
needs that question only, however many trials the run has.
"""

from collections import Counter
from collections.abc import Mapping

import msgspec

from trial_ledger.errors import StorageError
from trial_ledger.keyed_file import KeyedFile
from trial_projections.aggregate import Profile
from trial_projections.cells import Cell
from trial_projections.fold import key_of

__all__ = ["LEAST_SLOTS", "TALLIES", "TallyMark", "keep_tallies", "kept_tally"]

TALLIES = "tallies"
"""Name of their state in the projections file."""
VERSION = 1
"""Of the rules by which trials become cells: another rule is another number."""
LEAST_SLOTS = 1_000
"""Planned slots from which on a tally is worth keeping; fewer are counted faster than one is
written."""


class TallyMark(msgspec.Struct, frozen=True, kw_only=True):
    """What a tally was counted from."""

    run: str
    """The run."""
    link: int
    """Number of its last link."""
    hash: str
    """BLAKE3 of the event at that link, which stands for all before it."""


class TallyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A tally as it is stored."""

    version: int
    """Of the rules."""
    link: int
    """Of the mark."""
    hash: str
    """Of the mark."""
    profiles: list[tuple[tuple[Cell, ...], int]]
    """Profiles, and how many questions have each."""


DECODER = msgspec.msgpack.Decoder(TallyRecord)


def kept_tally(file: KeyedFile, mark: TallyMark, metric: str) -> Counter[Profile] | None:
    """Return the tally of a metric at a mark; None where there is none, or one of another link.

    Raises:
        StorageError: the file cannot be read.
    """
    value = file.get(TALLIES, key_of(mark.run, metric))
    if value is None:
        return None
    try:
        found = DECODER.decode(value)
    except msgspec.MsgspecError:
        return None  # Of another version of this program: counted anew.
    if (found.version, found.link, found.hash) != (VERSION, mark.link, mark.hash):
        return None
    return Counter(dict(found.profiles))


def keep_tallies(
    file: KeyedFile, tallies: Mapping[tuple[TallyMark, str], Counter[Profile]]
) -> None:
    """Keep tallies by mark and metric, unless another process uses the file just now.

    Whoever finds none counts anew, so nobody waits for this.
    """
    encode = msgspec.msgpack.Encoder(order="deterministic").encode
    items = [
        (
            key_of(mark.run, metric),
            encode(
                TallyRecord(
                    version=VERSION,
                    link=mark.link,
                    hash=mark.hash,
                    profiles=list(profiles.items()),
                )
            ),
        )
        for (mark, metric), profiles in tallies.items()
    ]
    file.rollback()
    file.do_not_wait()
    try:
        file.begin()
        file.put_many(TALLIES, items)
        file.commit()
    except StorageError:
        file.rollback()  # Somebody else is at it: what is not kept is counted again.
