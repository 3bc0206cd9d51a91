"""Ledgers whose heads are signed, and what somebody can do to the signatures."""

from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from attack_cases import raw, tampering
from ledger_cases import copied, full_ledger, tools
from trial_ledger.book import Ledger
from trial_ledger.head_policy import HeadPolicy
from trial_ledger.heads import PublicKey, Signer, head_text, origin_of, parse_note, signed_note
from trial_ledger.merkle import root_at
from trial_ledger.note_files import kept_notes
from trial_ledger.signing import heads_folder
from trial_ledger.tools import Tools
from trial_ledger.verification import Verification, verify


def key_of(seed: int) -> Signer:
    """Return the key of a seed."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    public = private.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    return Signer(key=public, sign=private.sign)


OWNER, SUCCESSOR, STRANGER, WITNESS = (key_of(seed) for seed in (11, 12, 13, 14))
WITNESS_KEY = PublicKey(name="witness.example", key=WITNESS.key)


def signing_tools(
    folder: Path, signer: Signer | None = OWNER, *, seed: int = 7, pins: bool = False
) -> Tools:
    """Return a world in which a key is at hand."""
    return msgspec.structs.replace(tools(folder, seed=seed, pins=pins), signer=lambda: signer)


def signed_ledger(folder: Path, *, pins: bool = True) -> Path:
    """Make the full ledger with a key at hand: its heads of 4 and of 115 events are signed."""
    with full_ledger(folder, world=signing_tools(folder, pins=pins)) as ledger:
        return ledger.store.path


def copied_with_heads(path: Path, folder: Path) -> Path:
    """Copy a closed ledger, its gold file and its notes; return the new ledger file."""
    found = copied(path, folder)
    notes = heads_folder(found)
    notes.mkdir(exist_ok=True)
    for note in heads_folder(path).glob("*.note"):
        (notes / note.name).write_bytes(note.read_bytes())
    return found


def notes_of(path: Path) -> list[Path]:
    """Return the notes beside a ledger, oldest first."""
    return sorted(heads_folder(path).glob("*.note"))


def origin_at(path: Path) -> str:
    """Return the origin of a ledger."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        return origin_of(ledger.id)


def vkey(path: Path, signer: Signer = OWNER) -> PublicKey:
    """Return a key as it is named in the notes of a ledger."""
    return PublicKey(name=origin_at(path), key=signer.key)


def policy_of(*keys: PublicKey, required: int = 1, **fields: object) -> HeadPolicy:
    """Return a policy of some keys."""
    return msgspec.structs.replace(HeadPolicy(signers=keys, required=required), **fields)


def checked_against(
    path: Path,
    *notes: Path,
    policy: HeadPolicy | None = None,
    pins: Path | None = None,
) -> Verification:
    """Verify a file as somebody who holds some notes, a policy, or head pins in a folder."""
    world = tools(path.parent if pins is None else pins, pins=pins is not None)
    with Ledger.open(path, tools=world) as ledger:
        return verify(ledger, against=kept_notes(notes), policy=policy)


def lines(found: Verification) -> list[str]:
    """Return the findings as lines."""
    return [str(finding) for finding in found.findings]


def signed_anew(path: Path, size: int, signer: Signer, *, name: str | None = None) -> str:
    """Return a note that a key signs of the log as it is now."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        origin = origin_of(ledger.id)
        root = root_at(size, ledger.store.node)
    return signed_note(head_text(origin, size, root), signer, name=name or origin)


def put_head(path: Path, size: int, note: str) -> None:
    """Put a note in place of what the ledger keeps for a size."""
    with tampering(path) as connection:
        connection.execute("INSERT OR REPLACE INTO head (size, note) VALUES (?, ?)", (size, note))


def kept_heads(path: Path) -> dict[int, str]:
    """Return what the ledger keeps, by size."""
    connection = raw(path)
    rows = connection.execute("SELECT size, note FROM head ORDER BY size").fetchall()
    connection.close()
    return dict(rows)


def resigned(path: Path, signer: Signer) -> None:
    """Sign every head of a rewritten log anew, in the table and beside the file."""
    sizes = list(kept_heads(path))
    for size in sizes:
        note = signed_anew(path, size, signer)
        put_head(path, size, note)
        for file in notes_of(path):
            if parse_note(file.read_text("utf-8"))[1].size == size:
                file.write_text(note, encoding="utf-8")
