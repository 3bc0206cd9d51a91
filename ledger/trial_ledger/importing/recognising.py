"""Which importer reads a file, told from its name and its first bytes.

Invariant: at most `HEAD_BYTES` are read, and nothing is decided by a suffix that the bytes deny.
"""

import re
from pathlib import Path
from typing import Literal

from trial_ledger.errors import InvalidInputError, NotFoundError
from trial_ledger.importing.lm_eval_files import is_lm_eval_file

__all__ = ["SourceFormat", "recognise"]

SourceFormat = Literal["inspect", "lm-eval", "rows"]
"""Formats by the name of their `ledger import` command."""

HEAD_BYTES = 4096
ZIP = b"PK\x03\x04"
INSPECT = re.compile(rb'\s*\{\s*"version"\s*:\s*[0-9]+\s*,\s*"(status|eval)"\s*:')
"""How an Inspect log in JSON begins: its writers keep this order."""


def recognise(path: Path) -> SourceFormat:
    """Return the format of a file, or of a folder that the lm-evaluation-harness filled.

    Raises:
        NotFoundError: there is no such file, or the folder holds none.
        InvalidInputError: it cannot be read.
    """
    try:
        if path.is_dir():
            return format_of_folder(path)
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {path}") from error
    except OSError as error:
        raise InvalidInputError.single(
            f"cannot be read: {error.strerror}", what="source file", source=str(path)
        ) from error
    if head.startswith(ZIP) or INSPECT.match(head):
        return "inspect"
    return "lm-eval" if is_lm_eval_file(path) else "rows"


def format_of_folder(path: Path) -> SourceFormat:
    """Return the format of a folder: only the lm-evaluation-harness fills one for a run.

    Raises:
        NotFoundError: no results of it are there.
    """
    if any(is_lm_eval_file(file) for file in sorted(path.iterdir())):
        return "lm-eval"
    message = f"{path} is a folder without results of the lm-evaluation-harness"
    raise NotFoundError(message, hint="name a file in it")
