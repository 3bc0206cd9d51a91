"""Holds a log against heads that were signed of it: its own, those in heads/, those kept elsewhere.

Invariant: a head counts only under a key that the log itself names for that size, or that the
checker's policy names, and only where the log has the root that it states; what a head cannot show
is not claimed of it.

What finds what: whoever holds the key and all copies of the notes can sign another history, which
only a note in other hands shows.
"""

from collections.abc import Sequence

import msgspec

from trial_ledger.checking import Finding
from trial_ledger.errors import VerificationError
from trial_ledger.events import KeyRotated, LedgerOpened
from trial_ledger.head_policy import HeadPolicy
from trial_ledger.heads import (
    PublicKey,
    SignedHead,
    origin_of,
    parse_note,
    public_keys,
    verified_head,
)
from trial_ledger.merkle import root_at
from trial_ledger.note_files import KeptNote, notes_in
from trial_ledger.signing import heads_folder
from trial_ledger.store import Store
from trial_ledger.view import Stored

__all__ = ["HeadCheck", "HeadState", "KeysInForce", "NoteState"]

CUT = "the tail was cut or an older copy put back"
OTHER = "forked or written anew"
OTHER_LEDGER = "other ledger"


class NoteState(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one note that was kept elsewhere."""

    source: str
    """Its file."""
    state: str
    """`matches`, `other ledger` (in a folder of several), or what is wrong."""
    size: int | None = None
    """Events that it speaks of; None where it is no signed head."""


class HeadState(msgspec.Struct, kw_only=True):
    """What signed heads say of a log."""

    count: int = 0
    """Signed heads that the ledger keeps of itself."""
    signed: int = 0
    """Events under the newest of them that is good; 0 without one."""
    unsigned_tail: int = 0
    """Events after it: nobody signed for them."""
    in_folder: int = 0
    """Notes of this ledger in the folder heads/ beside it."""
    unvouched: list[int] = []
    """Where a key was handed over without a head signed by the one before, as when it is lost."""
    notes: list[NoteState] = []
    """Notes kept elsewhere that the log was held against."""
    policy: str = "none"
    """`none`, `met`, or why it is not."""
    accepted: int = 0
    """Events under the newest head that the policy accepts; 0 without one or without a policy."""


class KeysInForce:
    """Which key may sign a head of some size, as the log says."""

    def __init__(self) -> None:
        self.since: list[tuple[int, str]] = []

    def take(self, stored: Stored) -> list[str]:
        """Take one event into account; return what no guard would have let pass."""
        data, seq = stored.event.data, stored.event.seq
        if isinstance(data, LedgerOpened):
            self.since += [(seq, key) for key in data.public_keys]
        elif isinstance(data, KeyRotated):
            present = self.since[-1][1] if self.since else None
            self.since.append((seq, data.new_public_key))
            if data.old_public_key != present:
                return ["hands over from a key that is not the present one"]
        return []

    def at(self, size: int) -> list[str]:
        """Return the keys that may sign a head of a size: one, or both where it hands over."""
        past = [(seq, key) for seq, key in self.since if seq <= size]
        if len(past) > 1 and past[-1][0] == size:
            return [past[-2][1], past[-1][1]]
        return [key for _, key in past[-1:]]

    def rotations(self) -> list[tuple[int, str]]:
        """Return (seq, the key before) of every handing over from one key to another."""
        pairs = zip(self.since, self.since[1:], strict=False)
        return [(seq, key) for (before, key), (seq, _) in pairs if before < seq]


class HeadCheck:
    """Holds one log against heads.

    Args:
        ledger: its id.
        store: its file.
        size: events that were checked.
        keys: which key may sign when.
        policy: whose signatures the checker asks for; None where it asks for none.
    """

    def __init__(
        self, ledger: str, store: Store, size: int, keys: KeysInForce, policy: HeadPolicy | None
    ) -> None:
        self.ledger = ledger
        self.store = store
        self.size = size
        self.keys = keys
        self.policy = policy
        self.state = HeadState()
        self.findings: list[Finding] = []
        self.roots: dict[int, bytes] = {}
        self.own: set[int] = set()

    def run(self, kept: Sequence[KeptNote]) -> HeadState:
        """Check every head there is; `findings` says what is wrong.

        Args:
            kept: notes kept elsewhere.
        """
        vouched: set[tuple[int, PublicKey]] = set()
        for size, note in self.store.heads.all():
            self.state.count += 1
            head = self.taken(f"head {size}", note, recorded=size)
            if head is not None:
                self.own.add(size)
                vouched |= {(size, key) for key in head.signers}
        self.state.signed = max(self.own, default=0)
        self.state.unsigned_tail = max(0, self.size - self.state.signed)
        self.state.unvouched = [
            seq
            for seq, key in self.keys.rotations()
            if not vouched & {(seq, found) for found in public_keys([key])}
        ]
        self.check_folder()
        self.state.notes = [self.held(note) for note in kept]
        self.check_kept(kept)
        self.check_policy()
        return self.state

    def check_folder(self) -> None:
        """Check the notes beside the ledger, each of which the ledger must keep itself."""
        for note in notes_in(heads_folder(self.store.path), f"{self.ledger[:8]}-"):
            self.state.in_folder += 1
            place = f"heads/{note.source.rpartition('/')[2]}"
            if note.fault is not None:
                self.add(place, note.fault)
                continue
            head = self.taken(place, note.text)
            if head is not None and head.size not in self.own:
                self.add(place, "is a signed head that the ledger does not keep: it was taken out")

    def taken(self, place: str, note: str, *, recorded: int | None = None) -> SignedHead | None:
        """Return one of the ledger's own heads where it is good; otherwise add why it is not.

        Args:
            place: where it lies.
            note: its text.
            recorded: the size under which the ledger keeps it; None for a file.
        """
        try:
            size = parse_note(note)[1].size
            if self.size < size <= self.store.size():
                return None  # Signed since the check began; the next one will look at it.
            head = self.own_head(note, size)
            self.compare(head)
        except VerificationError as error:
            self.add(place, error.message)
            return None
        if recorded not in (None, size):
            self.add(place, f"is kept as the head of {recorded} events and says {size}")
        return head

    def own_head(self, note: str, size: int) -> SignedHead:
        """Return the head of a note that a key of this ledger signed.

        Raises:
            VerificationError: none did that the log names for its size.
        """
        keys = public_keys(self.keys.at(size))
        head = verified_head(note, [*keys, *self.asked_for()], origin=origin_of(self.ledger))
        if not {*keys} & {*head.signers}:
            raise VerificationError("no signature of the key that the log names for that size")
        return head

    def asked_for(self) -> tuple[PublicKey, ...]:
        """Return the keys that the policy names."""
        return () if self.policy is None else self.policy.signers

    def compare(self, head: SignedHead) -> None:
        """Hold the log against a head whose signatures are good.

        Raises:
            VerificationError: the log has not that beginning.
        """
        known = self.roots.setdefault(head.size, head.root)
        if known != head.root:
            message = f"another history of {head.size} events was signed too: {OTHER}"
            raise VerificationError(message)
        present = self.store.size()
        if head.size > present:
            message = f"speaks of {head.size} events, the log has {present}: {CUT}"
            raise VerificationError(message)
        if root_at(head.size, self.store.node) != head.root:
            message = f"the first {head.size} events are not those that were signed: {OTHER}"
            raise VerificationError(message)
        if self.policy is not None and self.policy.accepts(head):
            self.state.accepted = max(self.state.accepted, head.size)

    def held(self, note: KeptNote) -> NoteState:
        """Return what a note kept elsewhere says of the log; add it where it is bad."""
        size: int | None = None
        fault, state = note.fault, "matches"
        if fault is None:
            try:
                size, state = self.held_text(note)
            except VerificationError as error:
                fault = error.message
        if fault is not None:
            self.add(note.source, fault)
            state = fault
        return NoteState(source=note.source, size=size, state=state)

    def held_text(self, note: KeptNote) -> tuple[int, str]:
        """Return (size, state) of a note that could be read.

        Raises:
            VerificationError: it is none, is not signed, or the log has not that beginning.
        """
        unsigned = parse_note(note.text)[1]
        origin = origin_of(self.ledger)
        if note.in_folder and unsigned.origin != origin:
            return unsigned.size, OTHER_LEDGER
        is_beyond = unsigned.size > self.size
        named = [key for _, key in self.keys.since] if is_beyond else self.keys.at(unsigned.size)
        keys = [*public_keys(named), *self.asked_for()]
        self.compare(verified_head(note.text, keys, origin=origin))
        return unsigned.size, "matches"

    def check_kept(self, kept: Sequence[KeptNote]) -> None:
        """Refuse a folder of notes none of which is about this ledger."""
        if kept and all(state.state == OTHER_LEDGER for state in self.state.notes):
            about = "none of these notes is about this ledger: it is not the one that was signed"
            self.add(kept[0].source.rpartition("/")[0] or ".", about)

    def check_policy(self) -> None:
        """Say whether the policy is met."""
        if self.policy is None:
            return
        fault = self.policy.fault(self.ledger, self.size, self.state.accepted)
        self.state.policy = "met" if fault is None else fault
        if fault is not None:
            self.add("policy", fault)

    def add(self, place: str, what: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(place=place, what=what))
