"""What the tests of clauses share: an append that is expected to pass, or to be refused."""

from collections.abc import Iterator
from pathlib import Path

from cli_cases import LEDGER, Here, Result, head, write
from ledger_cases import tools
from trial_ledger.book import Ledger

PERSON = {"role": "human", "name": "Ada"}


def accept(here: Here, *records: object) -> Result:
    """Append records, expecting that all are accepted."""
    result = here("append", write(here.folder, records))
    assert result.code == 0, result.err
    return result


def refuse(here: Here, clause: str, *records: object) -> str:
    """Append records, expecting that a clause refuses them and nothing is written."""
    before = head(here.folder / LEDGER)
    result = here("append", write(here.folder, records))
    assert result.code == 3, result.err
    assert f"({clause})" in result.err
    assert head(here.folder / LEDGER) == before
    return result.err


def contents(path: Path) -> Iterator[bytes]:
    """Yield everything that a ledger file holds: its bytes, every document, every blob."""
    yield path.read_bytes()
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as book:
        for stored in book.events():
            yield stored.document
        for name, is_erased in book.store.blobs.names():
            if not is_erased:
                yield book.store.blobs.read_named(name) or b""


def screens(here: Here, *names: str) -> Iterator[str]:
    """Yield what every command that reads says, in text and JSON."""
    size = head(here.folder / LEDGER).size
    commands = [name.split() for name in names]
    commands += [["show", str(seq)] for seq in range(1, size + 1)]
    for command in commands:
        for form in ("text", "json"):
            result = here(*command, "--format", form)
            assert result.code in {0, 5}, result.err
            yield result.out
