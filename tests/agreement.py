"""Checks a file with both verifiers, which must agree whether anything is wrong with it."""

from pathlib import Path

import zstandard

import attack_cases
from second_verifier import second_look
from trial_ledger.errors import LedgerError
from trial_ledger.verification import Verification

PIN = "head pin"
"""What only the first looks at."""


def unpacked(content: bytes) -> bytes:
    """Return what Zstandard packed."""
    return zstandard.ZstdDecompressor().decompress(content)


def checked(path: Path, *, pins: Path | None = None, fast: bool = False) -> Verification:
    """Verify a file as `attack_cases.checked` does, and hold the second verifier against it.

    Raises:
        LedgerError: the file is refused; the second verifier says that something is wrong too.
    """
    second = second_look(path, decompress=unpacked)
    try:
        found = attack_cases.checked(path, pins=pins, fast=fast)
    except LedgerError:
        assert second, "the second verifier takes what the first refuses"
        raise
    wrong = [finding for finding in found.findings if finding.place != PIN]
    assert fast or bool(wrong) == bool(second), (wrong, second)
    return found
