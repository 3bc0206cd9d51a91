"""Signs a ledger's head on demand, and hands the signing over to another key.

Invariant: a head is signed by the key that the log itself names as the present one; a handing over
is signed by the old key before the new one is used.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.errors import NotFoundError
from trial_ledger.events import Actor
from trial_ledger.heads import Signer, parse_note
from trial_ledger.intake import draft
from trial_ledger.submission import Submission
from trial_ledger.writer import Writer

__all__ = ["rotate_key", "sign_head", "transaction"]


@contextmanager
def transaction(ledger: Ledger) -> Iterator[Writer]:
    """Give the write side of a ledger inside a transaction that is committed at the end."""
    ledger.require_own_process()
    with ledger.commit_lock:
        writer = ledger.writer
        writer.begin()
        try:
            yield writer
            writer.commit()
        except BaseException:
            writer.rollback()
            raise


def sign_head(ledger: Ledger) -> str:
    """Sign the log as it is, unless it is signed, and return the note, which heads/ has then too.

    Raises:
        NotFoundError: the ledger has no key, or its key is not at hand.
        VerificationError: the log does not go on from its newest signed head.
        StorageError: the file is busy or failing.
    """
    with transaction(ledger) as writer:
        require_key(writer)
        writer.head_signer.is_due = True
    note = ledger.store.heads.newest()
    assert note is not None, "it was signed just now, or before"
    # Signed before, its file may be gone, or was never written.
    size = parse_note(note)[1].size
    writer.head_signer.publish(ledger.store.path, note, size, warn=ledger.tools.warn)
    return note


def require_key(writer: Writer) -> None:
    """Refuse to go on where the ledger's key is not at hand.

    Raises:
        NotFoundError: it is not, or the ledger has none.
    """
    current = writer.known.registry.current_key
    if current is None:
        raise NotFoundError("this ledger has no key", hint="ledger key new; ledger key rotate")
    if writer.head_signer.signer_of(current) is None:
        origin, key_id, _ = current.split("+", 2)
        message = f"the key of this ledger is not at hand: {origin}+{key_id}"
        raise NotFoundError(message, hint="name its file with LEDGER_KEY")


def rotate_key(ledger: Ledger, new: Signer, *, actor: Actor) -> Acknowledgement:
    """Hand the signing of heads over to another key, or give a ledger its first one.

    The old key, where it is at hand, signs the head that holds the handing over; only then is the
    new one used. Where it is lost, the new key signs, and the heads before stay what they are.

    Raises:
        RuleError: it is a key that the ledger has or had.
        StorageError: the file is busy or failing.
    """
    with transaction(ledger) as writer:
        signing, current = writer.head_signer, writer.known.registry.current_key
        data: dict[str, object] = {
            "old_public_key": current,
            "new_public_key": str(signing.public_key(new)),
        }
        old = signing.signer_of(current)
        found = writer.prepare(draft(Submission(kind="key.rotated", data=data, actor=actor)))
        signing.is_due, signing.handing_over = True, old or new
    return found
