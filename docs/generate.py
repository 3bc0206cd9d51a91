"""Brings the generated parts of the documentation up to date: `python docs/generate.py [--check]`.

Invariant: running it twice changes nothing the second time.

Generated are the tables of the reference, the tests named in `contract.md`, and the outputs of
examples that differ from what the program prints. `--check` only says what is out of date.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))

import api_reference
import cli_reference
import contract_table
import event_reference
import examples
from source import replaced

from trial_cli.help_topics import ENVIRONMENT, EXIT_CODES

__all__ = ["SECTIONS", "main", "markdown_files", "updated_contract", "updated_reference"]

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def fenced(text: str) -> Sequence[str]:
    """Return a text as a fenced block."""
    return ["```text", text, "```"]


SECTIONS: dict[str, dict[str, Callable[[], Sequence[str]]]] = {
    "reference/cli.md": {
        "commands": cli_reference.reference,
        "exit codes": lambda: fenced(EXIT_CODES),
        "environment": lambda: fenced(ENVIRONMENT),
    },
    "reference/events.md": {
        "kinds": event_reference.kinds,
        "parts": event_reference.parts,
        "lists": event_reference.lists,
    },
    "reference/documents.md": {
        "dataset": lambda: api_reference.documents("dataset"),
        "rubric": lambda: api_reference.documents("rubric"),
        "manifest": lambda: api_reference.documents("manifest"),
    },
    "reference/json.md": {"structs": api_reference.json_structs},
    "reference/python-api.md": {
        "ledger": api_reference.ledger_methods,
        "async ledger": api_reference.async_methods,
        "values": api_reference.values,
        "read model": api_reference.read_model,
    },
}
"""File → generated section → what makes its lines."""


def updated_reference(name: str) -> str:
    """Return a reference page as it should be."""
    text = (DOCS / name).read_text("utf-8")
    for section, make in SECTIONS[name].items():
        text = replaced(text, section, make())
    return text


def updated_contract() -> str:
    """Return the contract table with the tests that there are now."""
    tests = contract_table.named_tests(ROOT / "tests")
    return contract_table.refreshed_table((DOCS / "contract.md").read_text("utf-8"), tests)


def markdown_files() -> list[Path]:
    """Return every Markdown file of the project, sorted."""
    return sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def updated_examples(path: Path) -> str:
    """Return a page with the outputs that the program prints now."""
    text = path.read_text("utf-8")
    blocks = examples.parse(text)
    if not any(block.commands for block in blocks) or examples.missing_programs(blocks):
        return text
    with tempfile.TemporaryDirectory() as folder:
        return examples.refreshed(text, examples.run(blocks, Path(folder)))


def updates() -> Iterator[tuple[Path, str]]:
    """Yield every page with what it should hold, one after the other."""
    for name in SECTIONS:
        yield DOCS / name, updated_reference(name)
    yield DOCS / "contract.md", updated_contract()
    for path in markdown_files():
        yield path, updated_examples(path)


def main(arguments: Sequence[str]) -> int:
    """Write what is out of date, or only say so; return the exit code."""
    check = "--check" in arguments
    stale = 0
    for path, text in updates():
        if text == path.read_text("utf-8"):
            continue
        stale += 1
        print(f"{'out of date' if check else 'updated'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_text(text, "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
