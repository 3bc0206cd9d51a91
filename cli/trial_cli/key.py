"""`ledger key`: the key with which a ledger's heads are signed.

Invariant: private bytes are written to a key file once and shown never; what is printed may be
given to anybody.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.options import format_options, ledger_option, ledger_path, opened
from trial_cli.output import Screen, clean, emit
from trial_cli.words import wrapped
from trial_ledger.errors import NotFoundError

if TYPE_CHECKING:
    from trial_ledger.heads import Signer

__all__ = ["command"]

KEY_OPTION = click.option(
    "--key", "key_file", metavar="PATH", help="The key file (default $LEDGER_KEY, else your own)."
)


@click.group("key", short_help="The key that signs heads")
def command() -> None:
    """Make, show or hand over the key that signs the heads of your ledgers.

    With a key, a head is signed whenever a manifest is frozen or a run closes. Give the public key
    to whoever shall check your numbers, by another way than the ledger.
    """


@command.command("new")
@KEY_OPTION
@format_options
def new(key_file: str | None, *, output_format: str) -> None:
    """Make a key file that only you can read. Ledgers made from now on bear its public key."""
    from trial_ledger.keys import create_key  # noqa: PLC0415 - slow to import

    path = key_path(key_file)
    signer = create_key(path)
    public = signer.key.hex()
    lines = [
        f"{clean(path)}  made, for your eyes only: never put it beside a ledger",
        f"public    {public}",
        "next      ledger init: new ledgers are signed with it",
        "          ledger key rotate: an existing ledger is signed with it from now on",
    ]
    row: dict[str, object] = {"file": clean(path), "public": public}
    emit(Screen(schema="ledger.key/1", value=row, rows=[row], lines=lines), output_format)


@command.command("show")
@KEY_OPTION
@ledger_option
@format_options
def show(key_file: str | None, *, output_format: str) -> None:
    """Show the public key of this ledger, and whether its key file is at hand."""
    path = key_path(key_file)
    signer = key_at(path)
    with opened() as ledger:
        current = ledger.registry().current_key
        origin = ledger.id
    mine = None if signer is None else public_text(origin, signer)
    lines = [f"ledger    {origin}"]
    lines += [f"key       {current or 'none: heads are not signed'}"]
    if mine is None:
        lines += wrapped("file", f"{path}: not there (ledger key new)")
    elif mine == current:
        lines += wrapped("file", f"{path}: this key")
    else:
        lines += wrapped("file", f"{path}: another key; ledger key rotate would hand over to it")
    row: dict[str, object] = {"ledger": origin, "key": current, "file": clean(path), "mine": mine}
    emit(Screen(schema="ledger.key/1", value=row, rows=[row], lines=lines), output_format)


@command.command("rotate")
@KEY_OPTION
@click.option(
    "--actor", metavar="NAME", envvar="LEDGER_ACTOR", help="Who does it (default $LEDGER_ACTOR)."
)
@ledger_option
@format_options
def rotate(key_file: str | None, *, actor: str | None, output_format: str) -> None:
    """Hand the signing over to the key of --key, or give a ledger without a key its first one.

    The key before, where $LEDGER_KEY names it, signs the handing over. Keep the old key file until
    everybody who checks your heads knows the new key.
    """
    from trial_ledger.anchoring import rotate_key  # noqa: PLC0415 - slow to import
    from trial_ledger.building import ACTOR  # noqa: PLC0415 - likewise
    from trial_ledger.events import Actor  # noqa: PLC0415 - likewise
    from trial_ledger.keys import load_key, require_apart  # noqa: PLC0415 - likewise

    path = key_path(key_file)
    require_apart(path, ledger_path())
    new_key = load_key(path)
    who = ACTOR if not actor else Actor(role="human", name=actor)
    with opened(write=True) as ledger:
        old = ledger.registry().current_key
        found = rotate_key(ledger, new_key, actor=who)
        current = public_text(ledger.id, new_key)
    lines = [
        f"key.rotated  seq {found.seq}  {found.hash[:32]}",
        *wrapped("old", old or "none: heads were not signed"),
        f"new       {current}",
        "next      ledger head --sign; give the new public key to whoever checks your heads",
    ]
    row: dict[str, object] = {"seq": found.seq, "hash": found.hash, "old": old, "new": current}
    emit(Screen(schema="ledger.key/1", value=row, rows=[row], lines=lines), output_format)


def key_path(named: str | None) -> Path:
    """Return the key file of this command."""
    from trial_ledger.keys import default_key_path  # noqa: PLC0415 - slow to import

    return default_key_path(os.environ) if named is None else Path(named)


def key_at(path: Path) -> "Signer | None":
    """Return the key of a file, None where there is none."""
    from trial_ledger.keys import load_key  # noqa: PLC0415 - slow to import

    try:
        return load_key(path)
    except NotFoundError:
        return None


def public_text(ledger: str, signer: "Signer") -> str:
    """Return a public key as it is handed out for one ledger."""
    from trial_ledger.heads import PublicKey, origin_of  # noqa: PLC0415 - slow to import

    return str(PublicKey(name=origin_of(ledger), key=signer.key))
