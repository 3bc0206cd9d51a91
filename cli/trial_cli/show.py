"""`ledger show`: one event, blob, document or judgment.

Invariant: `--raw` writes the stored bytes and nothing else, so that they can be hashed; gold is
shown only when asked for.
"""

import re
import sys
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, clean, emit
from trial_ledger.errors import AmbiguousError, NotFoundError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.events import BlobRef
    from trial_ledger.view import Stored

__all__ = ["command"]

HEX = re.compile(r"[0-9a-f]{4,64}")
PREVIEW = 2000


@click.command("show", short_help="One event, blob or document")
@click.argument("name")
@ledger_option
@format_options
@click.option("--raw", is_flag=True, help="The stored bytes and nothing else.")
@click.option("--include-gold", is_flag=True, help="Show texts of the gold file too.")
def command(name: str, *, raw: bool, include_gold: bool, output_format: str) -> None:
    """Show one event by seq, id or hash; a blob by hash; a document by name@version.

    Prefixes of at least four hex digits will do. A judgment is named by its id. With --raw, an
    event is its stored document, and name@version the frozen document itself.
    """
    with opened() as ledger:
        found = find(ledger, name)
        if isinstance(found, tuple):
            show_blob(ledger, found[1], raw=raw, include_gold=include_gold)
            return
        if raw:
            sys.stdout.buffer.write(raw_bytes(ledger, found, name))
            return
        document: dict[str, object] = msgspec.json.decode(found.document)
        lines = [msgspec.json.format(found.document, indent=2).decode("utf-8", "replace")]
        lines = [clean_lines(lines[0]), f"hash {found.hash}"]
        for field, reference in references(found):
            lines += text_lines(ledger, field, reference, include_gold=include_gold)
    value = {"event": document, "hash": found.hash}
    emit(
        Screen(
            schema="ledger.show/1",
            value=value,
            rows=[{**document, "hash": found.hash}],
            lines=lines,
        ),
        output_format,
    )


def raw_bytes(ledger: "Ledger", found: "Stored", name: str) -> bytes:
    """Return the stored bytes of an event, or of the document that was named by its version."""
    if "@" not in name:
        return found.document
    data = found.event.data
    document = getattr(data, "document", None) or getattr(data, "questions", None)
    assert document is not None, "only documents are named with a version"
    return ledger.document_bytes(document)


def clean_lines(text: str) -> str:
    """Return a text of several lines without control characters in any of them."""
    return "\n".join(clean(line) for line in text.split("\n"))


def references(stored: "Stored") -> "list[tuple[str, BlobRef]]":
    """Return the texts of an event by field."""
    from trial_ledger.events import TEXT_CLASSES  # noqa: PLC0415 - loaded with the ledger

    found = [(name, getattr(stored.event.data, name)) for name in TEXT_CLASSES[stored.event.kind]]
    return [(name, reference) for name, reference in found if reference is not None]


def text_lines(
    ledger: "Ledger", field: str, reference: "BlobRef", *, include_gold: bool
) -> list[str]:
    """Return the beginning of one text."""
    title = f"--- {field}: {reference.class_}, {reference.media}, {reference.bytes} bytes"
    if reference.class_ == "gold" and not include_gold:
        return [f"{title}: --include-gold shows it"]
    if reference.class_ == "gold" and ledger.gold is None:
        return [f"{title}: the gold file is not here"]
    content = ledger.blob(reference)
    if content is None:
        return [f"{title}: redacted"]
    text = clean_lines(content[:PREVIEW].decode("utf-8", "replace"))
    more = f"\n… {len(content) - PREVIEW} bytes more: ledger show {reference.blob[:16]} --raw"
    return [title, text + (more if len(content) > PREVIEW else "")]


def show_blob(ledger: "Ledger", reference: "BlobRef", *, raw: bool, include_gold: bool) -> None:
    """Write one blob."""
    if raw and (reference.class_ != "gold" or include_gold):
        content = ledger.blob(reference)
        if content is None:
            message = f"blob {reference.blob} was redacted"
            raise NotFoundError(message, hint="ledger log --kind blob.redacted")
        sys.stdout.buffer.write(content)
        return
    click.echo(f"blob {reference.blob}")
    click.echo("\n".join(text_lines(ledger, "content", reference, include_gold=include_gold)))


def find(ledger: "Ledger", name: str) -> "Stored | tuple[str, BlobRef]":
    """Return the one event or blob that a name means.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
    """
    if name.isascii() and name.isdigit() and len(name) < 16:  # noqa: PLR2004 - longer is a hash
        return ledger.read(int(name))
    matches: dict[str, Stored | tuple[str, BlobRef]] = {}
    is_hex = HEX.fullmatch(name) is not None
    for stored in ledger.events():
        event, data = stored.event, stored.event.data
        if is_hex and (stored.hash.startswith(name) or event.id.startswith(name)):
            matches[stored.hash] = stored
        if is_hex:
            for _, reference in references(stored):
                if reference.blob.startswith(name):
                    matches[reference.blob] = ("blob", reference)
        label = f"{getattr(data, 'name', None)}@{getattr(data, 'version', None)}"
        names = {label, getattr(data, "judgment", None), getattr(data, "occurrence", None)}
        if event.kind.endswith((".registered", ".frozen", ".recorded", ".overridden", ".occurred")):
            if name in names:
                matches[stored.hash] = stored
            manifest = getattr(data, "manifest_hash", None)
            if manifest is not None and (
                name == getattr(data, "configuration", None)
                or (is_hex and str(manifest).startswith(name))
            ):
                matches[stored.hash] = stored
    if not matches:
        message = f"nothing called {name!r}"
        raise NotFoundError(
            message, hint="ledger log lists events; name one by its seq, as: ledger show 17"
        )
    if len(matches) > 1:
        raise AmbiguousError("name", name, (label_of(found) for found in matches.values()))
    return next(iter(matches.values()))


def label_of(found: "Stored | tuple[str, BlobRef]") -> str:
    """Return what distinguishes one of several matches."""
    if isinstance(found, tuple):
        return f"blob {found[1].blob[:16]}"
    where = "" if found.event.trial is None else f" {found.event.trial}"
    return f"seq {found.event.seq} {found.event.kind}{where}"
