"""`ledger head`: the end of the log, and its signed heads.

Invariant: what is printed with `--sign` is the note itself and nothing else, so that it can be
kept, sent and checked as it is.
"""

import click

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, emit
from trial_cli.words import signed_words, wrapped

__all__ = ["command"]


@click.command("head", short_help="The end of the log, signed or not")
@click.option("--sign", is_flag=True, help="Sign it with the ledger's key and print the note.")
@ledger_option
@format_options
def command(*, sign: bool, output_format: str) -> None:
    """Show how long the log is, the root over it, and which of it is signed.

    A note kept elsewhere (a git repository, a mail) shows whether this log was cut or rewritten
    since. Notes also lie in the folder heads/ beside the ledger.
    """
    if sign:
        from trial_ledger.anchoring import sign_head  # noqa: PLC0415 - slow to import

        with opened(write=True) as ledger:
            note = sign_head(ledger)
        click.echo(note, nl=False)
        return
    with opened() as ledger:
        head = ledger.head()
        heads = ledger.store.heads.all()
        key = ledger.registry().current_key
    signed = heads[-1][0] if heads else 0
    lines = [
        f"ledger    {head.ledger}",
        f"size      {head.size} events",
        f"root      {head.root}",
        *wrapped("signed", signed_words(len(heads), signed, head.size)),
        f"key       {key or 'none: ledger key new, then ledger key rotate'}",
    ]
    row: dict[str, object] = {
        "ledger": head.ledger,
        "size": head.size,
        "root": head.root,
        "signed": signed,
        "unsigned_tail": head.size - signed,
        "heads": [size for size, _ in heads],
        "key": key,
    }
    emit(Screen(schema="ledger.head/1", value=row, rows=[row], lines=lines), output_format)
