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
from trial_cli.output import Screen, clean_lines, emit, json_text
from trial_ledger import events
from trial_ledger.errors import AmbiguousError, NotFoundError, RuleError
from trial_ledger.events import TEXT_CLASSES, BlobRef, Event

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
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
@click.option("--toml", is_flag=True, help="A frozen rubric as a document to revise.")
def command(name: str, *, raw: bool, include_gold: bool, toml: bool, output_format: str) -> None:
    """Show one event by seq, id or hash; a blob by hash; a document by name@version.

    Prefixes of at least four hex digits will do. A judgment is named by its id. With --raw, an
    event is its stored document, and name@version the frozen document itself. With --toml, a
    rubric is the document that people write: change it, give it a new version, and rescore.
    """
    with opened() as ledger:
        found = find(ledger, name)
        if raw:
            sys.stdout.buffer.write(raw_bytes(ledger, found, name, include_gold=include_gold))
            return
        if toml:
            click.echo(rubric_document(ledger, found, name), nl=False)
            return
        if isinstance(found, BlobRef):
            screen = blob_screen(ledger, found, include_gold=include_gold)
        else:
            screen = event_screen(ledger, found, include_gold=include_gold)
    emit(screen, output_format)


def event_screen(ledger: "Ledger", found: "Stored", *, include_gold: bool) -> Screen:
    """Return an event with the beginnings of its texts."""
    document: dict[str, object] = msgspec.json.decode(found.document)
    row = {**document, "hash": found.hash}
    lines = [json_text(document, indent=2), f"hash {found.hash}"]
    for field, reference in references(found):
        lines += text_lines(ledger, field, reference, include_gold=include_gold)
    return Screen(
        schema="ledger.show/1",
        value={"event": document, "hash": found.hash},
        rows=[row],
        lines=lines,
    )


def blob_screen(ledger: "Ledger", reference: "BlobRef", *, include_gold: bool) -> Screen:
    """Return a blob; its text is null where it is redacted, not here, or gold nobody asked for."""
    text = None
    if may_read(ledger, reference, include_gold=include_gold):
        content = ledger.blob(reference)
        text = None if content is None else content.decode("utf-8", "replace")
    row: dict[str, object] = {**msgspec.to_builtins(reference), "text": text}
    lines = [f"blob {reference.blob}"]
    lines += text_lines(ledger, "content", reference, include_gold=include_gold)
    return Screen(schema="ledger.show/1", value={"blob": row}, rows=[row], lines=lines)


def raw_bytes(
    ledger: "Ledger", found: "Stored | BlobRef", name: str, *, include_gold: bool
) -> bytes:
    """Return the stored bytes of an event, of a blob, or of a document named by its version.

    Raises:
        RuleError: it is gold that was not asked for.
        NotFoundError: it was redacted.
    """
    if not isinstance(found, BlobRef):
        data = found.event.data
        document = getattr(data, "document", None) or getattr(data, "questions", None)
        if "@" in name and document is not None:
            return ledger.document_bytes(document)
        return found.document
    if found.class_ == "gold" and not include_gold:
        message = f"blob {found.blob} is gold"
        raise RuleError(message, clause="C2", hint="--include-gold shows it")
    content = ledger.blob(found)
    if content is None:
        message = f"blob {found.blob} was redacted"
        raise NotFoundError(message, hint="ledger log --kind blob.redacted")
    return content


def rubric_document(ledger: "Ledger", found: "Stored | BlobRef", name: str) -> str:
    """Return a frozen rubric as the TOML that people write.

    Raises:
        NotFoundError: the name means something else.
    """
    from trial_ledger.documents.authoring import rubric_toml  # noqa: PLC0415 - seldom needed
    from trial_ledger.documents.rubric_structs import decode_rubric  # noqa: PLC0415 - likewise

    if isinstance(found, BlobRef) or not isinstance(found.event.data, events.RubricFrozen):
        message = f"{name!r} is no frozen rubric"
        raise NotFoundError(message, hint="ledger log --kind rubric.frozen")
    return rubric_toml(decode_rubric(ledger.document_bytes(found.event.data.document)))


def may_read(ledger: "Ledger", reference: "BlobRef", *, include_gold: bool) -> bool:
    """Return whether a text can be shown and was asked for."""
    return reference.class_ != "gold" or (include_gold and ledger.gold is not None)


def references(stored: "Stored") -> "list[tuple[str, BlobRef]]":
    """Return the texts of an event by field."""
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


def find(ledger: "Ledger", name: str) -> "Stored | BlobRef":
    """Return the one event or blob that a name means.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
    """
    if name.isascii() and name.isdigit() and len(name) < 16:  # noqa: PLR2004 - longer is a hash
        return ledger.read(int(name))
    matches: dict[str, Stored | BlobRef] = {}
    is_hex = HEX.fullmatch(name) is not None
    for stored in ledger.events():
        if is_hex:
            if stored.hash.startswith(name) or stored.event.id.startswith(name):
                matches[stored.hash] = stored
            for _, reference in references(stored):
                if reference.blob.startswith(name):
                    matches[reference.blob] = reference
        if is_named(stored.event, name):
            matches[stored.hash] = stored
    if not matches:
        message = f"nothing called {name!r}"
        raise NotFoundError(
            message, hint="ledger log lists events; name one by its seq, as: ledger show 17"
        )
    if len(matches) > 1:
        raise AmbiguousError(
            "name",
            name,
            (label_of(found) for found in matches.values()),
            hint="name it by its seq, by more of its hash, or as run/trial/id",
        )
    return next(iter(matches.values()))


def is_named(event: "Event", name: str) -> bool:
    """Return whether an event is the one that froze a document, or began what has an id."""
    match event.data:
        case events.DatasetRegistered() | events.RubricFrozen() as data:
            return name == f"{data.name}@{data.version}"
        case events.ManifestFrozen() as data:
            configuration, at, prefix = name.rpartition("@")
            return name == data.configuration or (
                at != ""
                and configuration == data.configuration
                and data.manifest_hash.startswith(prefix)
            )
        case (
            events.JudgmentRecorded(judgment=identifier)
            | events.JudgmentFailed(judgment=identifier)
            | events.JudgmentOverridden(judgment=identifier)
            | events.ReviewRecorded(review=identifier)
            | events.FailureOccurred(occurrence=identifier)
        ):
            scope = f"{event.run}/" + ("" if event.trial is None else f"{event.trial}/")
            return name in {identifier, scope + identifier}
        case _:
            return False


def label_of(found: "Stored | BlobRef") -> str:
    """Return what distinguishes one of several matches."""
    if isinstance(found, BlobRef):
        return f"blob {found.blob[:16]}"
    where = "" if found.event.trial is None else f" {found.event.trial}"
    return f"seq {found.event.seq} {found.event.kind}{where}"
