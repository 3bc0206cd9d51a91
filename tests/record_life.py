"""Makes the stored recording anew: python tests/record_life.py, on x86-64 Linux.

It is used where processes cannot be followed. Make it anew when the commit path changes.
"""

import platform
import sqlite3
import sys
import tempfile
from pathlib import Path

import msgspec
import zstandard

from commit_path_cases import record_life
from process_cases import told

STORED = Path(__file__).parent / "ledger" / "recordings" / "life.zst"


def main() -> None:
    """Record a life and store it."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "root"
        root.mkdir()
        found = told(record_life, root, "as it is")
    if isinstance(found, str):
        raise SystemExit(found)
    STORED.parent.mkdir(exist_ok=True)
    content = zstandard.ZstdCompressor(19).compress(msgspec.msgpack.encode(found))
    STORED.write_bytes(content)
    made = f"SQLite {sqlite3.sqlite_version}, Python {platform.python_version()}"
    sys.stdout.write(f"{STORED}: {len(found)} operations, {len(content)} bytes, {made}\n")


if __name__ == "__main__":
    main()
