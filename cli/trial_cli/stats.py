"""`ledger stats`: how large a ledger is, and of what.

Invariant: sizes are those of the files as they lie there.
"""

from collections import Counter

import click

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, columns, emit

__all__ = ["command"]


@click.command("stats", short_help="Sizes and counts")
@ledger_option
@format_options
def command(*, output_format: str) -> None:
    """Show sizes and counts: files, events by kind, blobs."""
    from trial_ledger.goldfile import gold_path  # noqa: PLC0415 - slow to import
    from trial_ledger.keyed_file import projections_path  # noqa: PLC0415 - slow to import

    with opened() as ledger:
        kinds: Counter[str] = Counter()
        document_bytes = 0
        for row in ledger.store.rows():
            kinds[row.kind] += 1
            document_bytes += len(row.document)
        blobs = ledger.store.blobs.totals()
        path = ledger.store.path
        files = {
            str(file): file.stat().st_size
            for file in (path, gold_path(path), projections_path(path))
            if file.exists()
        }
        head = ledger.head()
    rows: list[dict[str, object]] = [
        {"kind": kind, "events": count} for kind, count in kinds.most_common()
    ]
    lines = [f"ledger    {head.ledger}", f"head      {head.size} events, root {head.root}"]
    lines += [f"file      {size:>12} bytes  {name}" for name, size in files.items()]
    lines += [
        f"documents {document_bytes:>12} bytes",
        (
            f"blobs     {blobs.stored_bytes:>12} bytes stored for {blobs.content_bytes} of content,"
            f" {blobs.blobs} blobs, {blobs.erased} erased"
        ),
        "",
        *columns(rows, ("kind", "events")),
    ]
    value = {
        "head": head,
        "files": files,
        "document_bytes": document_bytes,
        "blobs": blobs,
        "kinds": dict(kinds),
    }
    emit(Screen(schema="ledger.stats/1", value=value, rows=rows, lines=lines), output_format)
