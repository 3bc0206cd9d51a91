"""The screens of docs/how-to/trace.md, and what of them may differ from one machine to another."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```text\n\$ ledger (trace [^\n]+)\n(.*?)```", re.DOTALL)


def documented() -> dict[str, str]:
    """Return every screen of the page by its command."""
    text = (ROOT / "docs" / "how-to" / "trace.md").read_text("utf-8")
    return dict(BLOCK.findall(text))


def of_demo(command: str) -> bool:
    """Return whether a command is one of the demo's."""
    return command.split()[1].startswith("f-")


def normalised(screen: str) -> str:
    """Return a screen without what differs by machine and by the docstrings of its Python.

    These are seconds, bytes, and the values of metrics; with them goes where lines are broken.
    """
    text = " ".join(screen.split())
    text = re.sub(r"[+-]?\b\d+\.\d{3} s\b", "SECONDS", text)
    text = re.sub(r"\b\d+ of \d+ bytes", "BYTES", text)
    return re.sub(
        r"(\w+) [\d./]+ [\d.]+ %; right instead: [\d./]+ [\d.]+ % \(\+[\d.]+\)", r"\1 VALUES", text
    )
