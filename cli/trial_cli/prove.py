"""`ledger prove`: that one event is in the log, for somebody who has not got the log.

Invariant: what is written shows this event's document and nothing of any other; texts are named by
hash and not shown.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import ledger_option, ledger_path, opened
from trial_cli.output import clean
from trial_ledger.errors import StorageError

if TYPE_CHECKING:
    from trial_ledger.event_proof import EventProof

__all__ = ["command"]

RECHECK = """\
How to check this folder with public tools (jq, b3sum, openssl, sha256sum, xxd, base64).

# 1. the hash of the event, as the ledger states it
b3sum < event.json

# 2. its leaf in the tree: SHA-256 of a zero byte and the document
leaf=$( (printf '\\0'; cat event.json) | sha256sum | cut -c1-64 )

# 3. from the leaf to the root, along the hashes of the proof. Place and size are those of the
#    document and of the signed head, not those that the proof states.
seq=$(jq .seq event.json); size=$(sed -n 2p head.note)
index=$((seq - 1)); last=$((size - 1)); found=$leaf
node() {{ (printf '\\1'; printf %s "$1$2" | xxd -r -p) | sha256sum | cut -c1-64; }}
for line in $(sed -n '3,/^$/p' event.tlog-proof); do
  hash=$(printf %s "$line" | base64 -d | xxd -p -c 64)
  if [ $((index & 1)) = 1 ] || [ "$index" = "$last" ]; then
    found=$(node "$hash" "$found")
    while [ $((index & 1)) = 0 ] && [ "$index" != 0 ]; do
      index=$((index >> 1)); last=$((last >> 1))
    done
  else
    found=$(node "$found" "$hash")
  fi
  index=$((index >> 1)); last=$((last >> 1))
done
root=$(sed -n 3p head.note | base64 -d | xxd -p -c 64)
test "$found" = "$root" && echo "the event is in the log"

# 4. the signature on the head (Ed25519); better with your own copy of the key in signer.txt
(printf '302a300506032b6570032100' | xxd -r -p
 cut -d+ -f3- signer.txt | base64 -d | tail -c 32) > key.der
openssl pkey -pubin -inform DER -in key.der -out key.pem
head -n 3 head.note > head.text
sed -n 5p head.note | awk '{{print $3}}' | base64 -d | tail -c 64 > head.sig
openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in head.text -sigfile head.sig

# 5. where you have the ledger too
sqlite3 {ledger} "select doc from event where seq=$seq" | head -c -1 | cmp - event.json
"""


@click.command("prove", short_help="Prove that one event is in the log")
@click.argument("event", metavar="SEQ")
@click.option("-o", "--output", metavar="FOLDER", help="Write a folder to hand out instead.")
@ledger_option
def command(event: str, *, output: str | None) -> None:
    """Print the proof that event SEQ is in the log, against the newest signed head.

    Whoever has it checks it with ledger check FILE. With -o the same stands in a folder, in parts
    that public tools read, with the shell lines that check them (RECHECK.txt).
    """
    from trial_ledger.event_proof import prove_event  # noqa: PLC0415 - slow to import

    if not (event.isascii() and event.isdigit()):
        message = f"{event!r} is no seq; ledger log lists them"
        raise click.BadParameter(message, param_hint="SEQ")
    with opened() as ledger:
        proof = prove_event(ledger, int(event), keys=ledger.registry().keys)
    if output is None:
        click.echo(msgspec.json.encode(proof))
        return
    folder = Path(output)
    write_folder(folder, proof)
    click.echo(f"{clean(folder)}  event.json event.tlog-proof head.note signer.txt")
    click.echo(f"check: ledger check {clean(folder / 'proof.json')}, or as RECHECK.txt says")


def write_folder(folder: Path, proof: "EventProof") -> None:
    """Write a new folder with a proof in parts.

    Raises:
        VerificationError: the proof does not hold; it is not handed out then.
        StorageError: it exists, or cannot be written.
    """
    from trial_ledger.event_proof import check_event  # noqa: PLC0415 - slow to import
    from trial_ledger.heads import parse_public_key  # noqa: PLC0415 - likewise

    note = proof.proof.partition("\n\n")[2]
    checked = check_event(proof, [parse_public_key(text) for text in proof.keys])
    files = {
        "event.json": proof.document,
        "event.tlog-proof": proof.proof,
        "head.note": note,
        "signer.txt": f"{checked.head.signers[0]}\n",
        "proof.json": msgspec.json.encode(proof).decode() + "\n",
        "RECHECK.txt": RECHECK.format(ledger=ledger_path().name),
    }
    try:
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except FileExistsError as error:
        message = f"{folder} exists"
        raise StorageError(message, hint="name another folder with -o FOLDER") from error
    except OSError as error:
        message = f"cannot write {folder}: {error.strerror}"
        raise StorageError(message, hint="name another folder with -o FOLDER") from error
