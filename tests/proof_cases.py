"""A signed ledger for the commands that prove and check, and what they write about it."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cli_cases import LEDGER
from ledger_cases import RUN, files_of, full_ledger, note
from receipt_cases import THEIRS, signing_tools
from trial_ledger.anchoring import sign_head
from trial_ledger.book import Ledger
from trial_ledger.event_proof import encode_event_proof, prove_event
from trial_ledger.head_proof import encode_head_proof, prove_heads
from trial_ledger.heads import PublicKey, head_text, origin_of, signed_note
from trial_projections.receipt import make_receipt
from trial_projections.receipt_structs import encode_receipt

OLD, NEW, KEY, OTHER_KEY = "old.note", "new.note", "key.txt", "other-key.txt"
RECEIPT, EVENT, HEADS, FORK = "receipt.json", "event.json", "heads.json", "fork.note"


@cache
def made() -> dict[str, bytes]:
    """Return a signed ledger with its gold, its notes and key, a receipt and proofs of it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        world = signing_tools(folder)
        with full_ledger(folder, world=world) as ledger:
            old = sign_head(ledger)
            for number in range(3):
                ledger.append(note(f"note {number}"))
            new = sign_head(ledger)
            keys = ledger.registry().keys
            origin = origin_of(ledger.id)
            size = ledger.head().size
            files = {
                OLD: old.encode(),
                NEW: new.encode(),
                KEY: f"\n{keys[0]}\n".encode(),
                OTHER_KEY: str(PublicKey(name=origin, key=THEIRS.key)).encode(),
                FORK: signed_note(
                    head_text(origin, size, b"x" * 32), world.signer() or THEIRS, name=origin
                ).encode(),
                RECEIPT: encode_receipt(make_receipt(ledger, RUN, "judged", reveal=["gold"])),
                EVENT: encode_event_proof(prove_event(ledger, 6, keys=keys)),
                HEADS: encode_head_proof(prove_heads(ledger, old, keys=keys)),
            }
        for file in files_of(folder / LEDGER):
            files[file.name] = file.read_bytes()
    return files


def signed(folder: Path, *names: str) -> Path:
    """Write some of these files, all of them unless some are named; return the ledger's path."""
    files = made()
    for name in names or files:
        (folder / name).write_bytes(files[name])
    return folder / LEDGER


def reopened(folder: Path) -> Ledger:
    """Open the ledger of a folder for writing, with its key."""
    return Ledger.open(folder / LEDGER, write=True, tools=signing_tools(folder))
