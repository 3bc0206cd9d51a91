"""`ledger redact`: a person has a text erased, and says why and on whose word.

Invariant: the text itself is never shown; what could not be erased, or still holds the text, is
named.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.acts import act_options, require_words
from trial_cli.options import format_options, ledger_option, ledger_path, opened
from trial_cli.output import Screen, clean, emit, note
from trial_cli.words import wrapped
from trial_ledger.errors import LedgerError

if TYPE_CHECKING:
    from trial_ledger.mentions import Mention
    from trial_ledger.redaction import Redacted, Redaction
    from trial_ledger.remains import Search

__all__ = ["command"]

SHOWN = 5
HASH_DIGITS = 16
LABEL = 10


@click.command("redact", short_help="Erase a text, keep what proves it")
@click.argument("blob")
@click.option(
    "--authority", metavar="NAME", help="On whose word, as a law or an owner (default the actor)."
)
@click.option("--all-equal", is_flag=True, help="The other blobs that hold the same text too.")
@act_options
@ledger_option
@format_options
def command(
    blob: str,
    *,
    authority: str | None,
    all_equal: bool,
    actor: str | None,
    reason: str | None,
    dry_run: bool,
    output_format: str,
) -> int:
    """Erase the text of BLOB, named by its hash or the beginning of it, in both files.

    Who, why and on whose word is recorded first. Hashes, chain, proofs and receipts stay valid;
    the text is shown as redacted from then on. It cannot be taken back. Frozen documents and gold
    records stay. Copies made before keep the text: erase them yourself.
    """
    from trial_ledger.events import Actor  # noqa: PLC0415 - slow to import
    from trial_ledger.redaction import redact  # noqa: PLC0415 - likewise

    require_words(actor, reason)
    assert actor is not None, "it was required"
    with opened(write=True) as ledger:
        done = redact(
            ledger,
            blob,
            reason=reason or "",
            authority=authority or actor,
            actor=Actor(role="human", name=actor),
            all_equal=all_equal,
            dry_run=dry_run,
        )
    searched = searched_after(done) if done.needles else None
    emit(screen_of(done, searched), output_format)
    return LedgerError.exit_code if searched is not None and searched.found else 0


def searched_after(done: "Redaction") -> "Search":
    """Look for what is left of the text; write the files anew where something is, and look again.

    A program that moved rows without overwriting their old place can have left copies.
    """
    from trial_ledger.redaction import left_over, rewrite  # noqa: PLC0415 - loaded before

    path = ledger_path()
    searched = left_over(path, done.needles)
    if searched.found:
        note("rests of the text were left by another program: the files are written anew")
        with opened(write=True) as ledger:
            rewrite(ledger)
        searched = left_over(path, done.needles)
    return searched


def screen_of(done: "Redaction", searched: "Search | None") -> Screen:
    """Return what was redacted, what was not, and what was searched."""
    lines = [line for item in done.blobs for line in lines_of(item)]
    for blob in done.finished:
        lines += wrapped(label("finished"), f"blob {blob[:HASH_DIGITS]}, recorded before a crash")
    if done.equal:
        lines += wrapped(label("equal"), equal_words(done.equal))
    if done.inside:
        lines += wrapped(label("inside"), f"the text stands in {places(done.inside)}")
    elif done.inside is None and done.needles:
        lines += wrapped(label("inside"), "not looked for in longer texts: too short to tell")
    if searched is not None:
        lines += search_lines(searched)
    rows: list[dict[str, object]] = [
        {"blob": item.blob, "status": item.status, "seq": item.seq} for item in done.blobs
    ]
    value = {
        "blobs": done.blobs,
        "finished": done.finished,
        "equal": done.equal,
        "inside": done.inside,
        "searched": None if searched is None else msgspec.to_builtins(searched),
    }
    return Screen(schema="ledger.redact/1", value=value, rows=rows, lines=lines)


def lines_of(item: "Redacted") -> list[str]:
    """Return what became of one blob, and where it stands."""
    place = f"; {item.mentions[0]}" if item.mentions else "; named by no event"
    if item.seq is not None:
        place += f"; blob.redacted is seq {item.seq}"
    return [f"{clean(item.status)}  {item.blob}", *wrapped(label(""), place[2:])]


def equal_words(equal: "Sequence[Mention]") -> str:
    """Return which other blobs hold the same text, and how they are redacted."""
    return f"the same text stands in {places(equal)}; --all-equal redacts those that are not frozen"


def places(found: "Sequence[Mention]") -> str:
    """Return how many other blobs are meant, and how to see the first ones."""
    count = "1 other blob" if len(found) == 1 else f"{len(found)} other blobs"
    shown = "; ".join(
        f"ledger show {mention.seq} ({mention.field}, {mention.blob[:HASH_DIGITS]})"
        for mention in found[:SHOWN]
    )
    return f"{count}: {shown}" + ("; …" if len(found) > SHOWN else "")


def search_lines(searched: "Search") -> list[str]:
    """Return what was searched for rests of the text, and where there are any."""
    if not searched.found:
        files = "1 file" if len(searched.files) == 1 else f"{len(searched.files)} files"
        return wrapped(
            label("searched"), f"{files} beside the ledger, {searched.bytes} bytes: nothing left"
        )
    left = ", ".join(f"{file} at byte {place}" for file, place in searched.found[:SHOWN])
    return wrapped(label("LEFT"), f"{left}: remove that copy")


def label(word: str) -> str:
    """Return the word that begins a line, as wide as all of them."""
    return f"{word:<{LABEL}}"
