"""Files and machine that documents are frozen from.

Invariant: a file that cannot be read is said in one clause, with the next thing to try.
"""

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from trial_ledger.errors import NotFoundError, StorageError

__all__ = ["environment", "read_file"]


def environment() -> Mapping[str, str | bool | int | None]:
    """Return what a manifest records of the machine."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "byte_order": sys.byteorder,
    }


def read_file(name: str) -> bytes:
    """Return the bytes of a document.

    Raises:
        NotFoundError: there is no such file.
        StorageError: it cannot be read.
    """
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        message = f"no file {name}"
        raise NotFoundError(message, hint="ledger init --template writes documents") from None
    except OSError as error:
        message = f"cannot read {name}: {error.strerror}"
        raise StorageError(message) from error
