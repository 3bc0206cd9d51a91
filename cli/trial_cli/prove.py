"""`ledger prove`: that one event is in the log, or that the log goes on from an earlier head.

Invariant: what is written shows this event's document and nothing of any other; texts are named by
hash and not shown. Nothing is handed out that does not hold.
"""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.options import ledger_option, ledger_path, opened
from trial_cli.output import clean
from trial_cli.words import wrapped
from trial_ledger.errors import AmbiguousError, InvalidInputError, NotFoundError, StorageError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.event_proof import EventProof
    from trial_ledger.head_proof import HeadProof

__all__ = ["command"]

HEX = re.compile(r"[0-9a-f]{4,64}")
SEQ_DIGITS = 15
"""Longer numbers are hashes."""

RECHECK = """\
# How to check this folder with public tools: sh RECHECK.txt
# It needs jq, b3sum, sha256sum, xxd, base64 and openssl.

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

# 5. where you have the ledger too, at $LEDGER: that it holds this event
LEDGER=${{LEDGER:-{ledger}}}
test ! -f "$LEDGER" ||
  test "$(sqlite3 "$LEDGER" "select doc from event where seq=$seq")" = "$(cat event.json)" &&
  echo "no ledger here, or it holds the event"
"""


@click.command("prove", short_help="Prove that one event is in the log")
@click.argument("event", required=False)
@click.option(
    "--from",
    "note",
    metavar="NOTE",
    help="Prove instead that the log goes on from this signed head, a file.",
)
@click.option("-o", "--output", metavar="FOLDER", help="Write a folder to hand out instead.")
@ledger_option
def command(event: str | None, *, note: str | None, output: str | None) -> None:
    """Print the proof that EVENT is in the log, against the newest signed head.

    EVENT is a seq, or the beginning of an event's id or hash. Whoever has the proof checks it with
    ledger check FILE. With -o the same stands in a folder, in parts that public tools read, for an
    event with the shell lines that check them (RECHECK.txt).
    """
    if (event is None) == (note is None):
        raise InvalidInputError.single(
            "one of EVENT and --from NOTE is needed",
            what="command line",
            hint="ledger log lists events; ledger head --sign prints a note",
        )
    with opened() as ledger:
        if event is not None:
            content, files = proven_event(ledger, event)
        else:
            assert note is not None, "one of them was given"
            content, files = proven_heads(ledger, note)
    if output is None:
        click.echo(content, nl=False)
        return
    folder = Path(output)
    write_folder(folder, {**files, "proof.json": content})
    click.echo("\n".join(wrapped("proof", f"{folder}: {', '.join(sorted(files))}, proof.json")))
    more = f", or as {clean(folder)}/RECHECK.txt says" if "RECHECK.txt" in files else ""
    click.echo(f"next      ledger check {clean(folder / 'proof.json')}{more}")


def proven_event(ledger: "Ledger", name: str) -> tuple[bytes, dict[str, bytes]]:
    """Return the proof of an event as a file, and as the parts of a folder.

    Raises:
        NotFoundError: there is no such event, or no signed head that covers it.
        VerificationError: the proof does not hold; it is not handed out then.
    """
    from trial_ledger.event_proof import (  # noqa: PLC0415 - slow to import
        check_event,
        encode_event_proof,
        prove_event,
    )
    from trial_ledger.heads import parse_public_key  # noqa: PLC0415 - likewise

    keys = ledger.registry().keys
    proof: EventProof = prove_event(ledger, seq_of(ledger, name), keys=keys)
    checked = check_event(proof, [parse_public_key(text) for text in keys])
    recheck = RECHECK.format(ledger=shlex.quote(ledger_path().name))
    files = {
        "event.json": proof.document,
        "event.tlog-proof": proof.proof,
        "head.note": proof.proof.partition("\n\n")[2],
        "signer.txt": f"{checked.head.signers[0]}\n",
        "RECHECK.txt": recheck,
    }
    return encode_event_proof(proof), {name: text.encode() for name, text in files.items()}


def proven_heads(ledger: "Ledger", file: str) -> tuple[bytes, dict[str, bytes]]:
    """Return the proof between two heads as a file, and as the parts of a folder.

    Raises:
        NotFoundError: there is no such file, or no signed head is as long.
        StorageError: the file cannot be read.
        VerificationError: the log does not go on from that head.
    """
    from trial_ledger.head_proof import (  # noqa: PLC0415 - slow to import
        check_heads,
        encode_head_proof,
        prove_heads,
    )
    from trial_ledger.heads import parse_public_key  # noqa: PLC0415 - likewise

    keys = ledger.registry().keys
    proof: HeadProof = prove_heads(ledger, note_of(file), keys=keys)
    checked = check_heads(proof, [parse_public_key(text) for text in keys])
    files = {
        "old.note": proof.old,
        "add-checkpoint.txt": proof.proof,
        "head.note": proof.proof.partition("\n\n")[2],
        "signer.txt": f"{checked.head.signers[0]}\n",
    }
    return encode_head_proof(proof), {name: text.encode() for name, text in files.items()}


def note_of(file: str) -> str:
    """Return the text of a note.

    Raises:
        NotFoundError: there is no such file.
        StorageError: it cannot be read.
    """
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {file}", hint="ledger head --sign prints a note") from error
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror}") from error


def seq_of(ledger: "Ledger", name: str) -> int:
    """Return the seq of the one event that a seq, or the beginning of an id or hash, means.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
    """
    if name.isascii() and name.isdigit() and len(name) <= SEQ_DIGITS:
        return int(name)
    found: list[int] = []
    if HEX.fullmatch(name) is not None:
        found = [
            stored.event.seq
            for stored in ledger.events()
            if stored.hash.startswith(name) or stored.event.id.startswith(name)
        ]
    if not found:
        raise NotFoundError(f"no event {name!r}", hint="ledger log lists them by seq")
    if len(found) > 1:
        raise AmbiguousError(
            "event", name, (f"seq {seq}" for seq in found), hint="name it by its seq"
        )
    return found[0]


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write a new folder with a proof in parts.

    Raises:
        StorageError: it exists, or cannot be written.
    """
    try:
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except FileExistsError as error:
        message = f"{folder} exists"
        raise StorageError(message, hint="name another folder with -o FOLDER") from error
    except OSError as error:
        message = f"cannot write {folder}: {error.strerror}"
        raise StorageError(message, hint="name another folder with -o FOLDER") from error
