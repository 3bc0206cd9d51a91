"""Keeps the projections file in step with the log, and rebuilds it while verifying (C33).

Invariant: a state is used only where the log's root at its size is the one it was folded from;
anything else is folded anew. A state resumed and a state folded in one go are byte for byte equal.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.keyed_file import KeyedFile, StateTag, projections_path
from trial_ledger.merkle import root_at
from trial_ledger.view import Stored
from trial_projections.costs import CostsProjection
from trial_projections.failures import FailuresProjection
from trial_projections.fold import Projection, State, fold, state_digest
from trial_projections.standing import RunsProjection, TrialsProjection
from trial_projections.tallies import TALLIES

__all__ = ["PROJECTIONS", "Replay", "States", "bring_up_to_date", "fold_part", "replay"]

PROJECTIONS: tuple[Projection[Any], ...] = (
    RunsProjection(),
    TrialsProjection(),
    FailuresProjection(),
    CostsProjection(),
)
"""Every projection that is kept."""


class States(msgspec.Struct, frozen=True, kw_only=True):
    """The states of every projection, in one file, at one size of the log."""

    file: KeyedFile
    """Where they are."""
    size: int
    """Events folded."""
    by_name: dict[str, State[Any]]
    """State by projection name."""

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay made, and how it compares with what was stored."""

    ledger: str
    """Id of the ledger."""
    size: int
    """Events folded."""
    root: str
    """Root of the tree over them, recomputed."""
    digest: str
    """BLAKE3 over every record of every projection."""
    projections: dict[str, int]
    """Version of every projection by name."""
    stored_size: int | None
    """Events behind the stored states; None where there were none."""
    stored_digest: str | None
    """Digest of the stored states; None where there were none."""
    matches: bool | None
    """Whether the stored states are those of the log; None where not checked."""


def states_in(file: KeyedFile, size: int) -> States:
    """Return the states of a file."""
    return States(
        file=file,
        size=size,
        by_name={projection.name: projection.start(file) for projection in PROJECTIONS},
    )


def fold_into(states: States, events: Iterable[Stored]) -> int:
    """Fold events into states; return how many there were."""
    return fold(
        [(projection, states.by_name[projection.name]) for projection in PROJECTIONS], events
    )


def resumable_size(ledger: Ledger, file: KeyedFile, size: int) -> int:
    """Return how many events the stored states are a faithful fold of; 0 to begin anew."""
    tags = file.tags()
    sizes = {tag.size for tag in tags.values()}
    expected = {projection.name: projection.version for projection in PROJECTIONS}
    found = {name: tag.version for name, tag in tags.items()}
    if found != expected or len(sizes) != 1:
        return 0
    stored = sizes.pop()
    if stored == 0 or stored > size:
        return 0
    try:
        root = root_at(stored, ledger.store.node).hex()
    except VerificationError:
        return 0
    same = all(tag.ledger == ledger.id and tag.root == root for tag in tags.values())
    return stored if same else 0


def tag_all(ledger: Ledger, file: KeyedFile, size: int, root: str) -> None:
    """Say what every state was folded from."""
    for projection in PROJECTIONS:
        file.set_tag(
            StateTag(
                projection=projection.name,
                version=projection.version,
                ledger=ledger.id,
                size=size,
                root=root,
            )
        )


def bring_up_to_date(ledger: Ledger) -> States:
    """Return the states of the whole log, folding only what was appended since the last time.

    Where the projections file cannot be written, as on a read-only medium, the states are folded
    into a temporary file instead and a note says so.
    """
    path = projections_path(ledger.store.path)
    try:
        return advance(ledger, KeyedFile.open(path))
    except StorageError as error:
        ledger.tools.warn(f"projections not kept: {error.message}")
        return advance(ledger, KeyedFile.temporary())


def advance(ledger: Ledger, file: KeyedFile) -> States:
    """Return the states of the whole log in a file, after folding what they lack.

    They stay as they are until the file is closed, whatever other processes fold meanwhile. The
    file is closed where this fails.
    """
    try:
        size = held_size(ledger, file)
        if size != ledger.store.size():
            file.rollback()
            size = fold_rest(ledger, file)
    except BaseException:
        file.rollback()
        file.close()
        raise
    return states_in(file, size)


def held_size(ledger: Ledger, file: KeyedFile) -> int:
    """Return how many events the states are a faithful fold of, and keep them so from here on."""
    file.hold()
    return resumable_size(ledger, file, ledger.store.size())


def fold_rest(ledger: Ledger, file: KeyedFile) -> int:
    """Fold what the states lack, all of it where they are of anything else; hold them so.

    Raises:
        StorageError: another version of this program rewrote them at the same time.
    """
    file.begin()
    size = ledger.store.size()
    done = resumable_size(ledger, file, size)
    if done == 0:
        clear(file)
    fold_into(states_in(file, size), ledger.events(after=done, upto=size))
    tag_all(ledger, file, size, root_at(size, ledger.store.node).hex())
    file.commit()
    held = held_size(ledger, file)
    if held == 0:
        message = f"{file.path} was rewritten by another version at the same time"
        raise StorageError(message, hint="try again when the other program is done")
    return held


def ahead(ledger: Ledger, event: Stored) -> States:
    """Return the states after one more event than the log has; closing forgets them.

    Args:
        ledger: an open ledger.
        event: the event, whose seq is that of its place.
    """
    path = projections_path(ledger.store.path)
    try:
        return folded_ahead(ledger, KeyedFile.open(path), event)
    except StorageError as error:
        ledger.tools.warn(f"projections not used: {error.message}")
        return folded_ahead(ledger, KeyedFile.temporary(), event)


def folded_ahead(ledger: Ledger, file: KeyedFile, event: Stored) -> States:
    """Return the states of a file after what it lacks and one event more, none of it kept.

    The file is closed where this fails.
    """
    size = event.event.seq - 1
    try:
        file.begin()
        done = resumable_size(ledger, file, size)
        if done == 0:
            clear(file)
        states = states_in(file, event.event.seq)
        fold_into(states, ledger.events(after=done, upto=size))
        fold_into(states, [event])
    except BaseException:
        file.rollback()
        file.close()
        raise
    return states


def clear(file: KeyedFile) -> None:
    """Forget every state, also of projections that no longer exist, and what was counted."""
    for name in {*file.tags(), *(projection.name for projection in PROJECTIONS), TALLIES}:
        file.clear(name)


def fold_part(events: Iterable[Stored], size: int) -> States:
    """Return the states of some events in a temporary file, for `--as-of` and derived runs."""
    states = states_in(KeyedFile.temporary(), size)
    fold_into(states, events)
    return states


def replay(ledger: Ledger, *, upto: int | None = None, check: bool = False) -> Replay:
    """Fold the whole log anew, verifying every event, and compare or replace what is stored.

    Args:
        ledger: an open ledger.
        upto: fold only up to this seq, and store nothing.
        check: store nothing; say whether the stored states are those of the log.

    Raises:
        VerificationError: an event or a tree node is not what was written.
        StorageError: the projections file cannot be written.
    """
    from trial_ledger.checking import verified_events  # noqa: PLC0415 - only a replay checks

    path = projections_path(ledger.store.path)
    keep = upto is None and not check
    size = ledger.store.size() if upto is None else min(upto, ledger.store.size())
    stored_size, stored_digest = stored_state(ledger, path)
    file = KeyedFile.open(path) if keep else KeyedFile.temporary()
    try:
        if keep:
            file.begin()
            clear(file)
        states = states_in(file, size)
        fold_into(states, verified_events(ledger, upto=size))
        root = root_at(size, ledger.store.node).hex()
        if keep:
            tag_all(ledger, file, size, root)
            file.commit()
        digest = state_digest(file, states.by_name)
    except BaseException:
        file.rollback()
        raise
    finally:
        file.close()
    matches = None
    if check and stored_size is not None:
        matches = stored_digest == (
            digest if stored_size == size else digest_at(ledger, stored_size)
        )
    return Replay(
        ledger=ledger.id,
        size=size,
        root=root,
        digest=digest,
        projections={projection.name: projection.version for projection in PROJECTIONS},
        stored_size=stored_size,
        stored_digest=stored_digest,
        matches=matches,
    )


def digest_at(ledger: Ledger, size: int) -> str:
    """Return the state digest of the log's first events."""
    states = fold_part(ledger.events(upto=size), size)
    try:
        return state_digest(states.file, states.by_name)
    finally:
        states.close()


def stored_state(ledger: Ledger, path: Path) -> tuple[int | None, str | None]:
    """Return the size and digest of what is stored for this log; None where nothing is."""
    if not path.exists():
        return None, None
    file = KeyedFile.open(path)
    try:
        tags = file.tags()
        if not tags:
            return None, None
        size = resumable_size(ledger, file, ledger.store.size())
        if size == 0:
            return None, None
        return size, state_digest(file, (projection.name for projection in PROJECTIONS))
    finally:
        file.close()
