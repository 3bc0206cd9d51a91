"""Texts of a suggested map: TOML strings, paths and comments, whatever the file holds.

Invariant: what comes from the file is quoted, so that no name in it can become a line of the map.
"""

import json
import re
import unicodedata
from collections.abc import Sequence

from trial_ledger.importing.rows_structs import ANY_KEY, RowsPath
from trial_ledger.importing.rows_suggest_columns import Column, Sample
from trial_ledger.importing.rows_suggest_roles import Roles

__all__ = [
    "BARE_KEY",
    "SHOWN",
    "WORD_LENGTH",
    "path",
    "path_text",
    "quoted",
    "remark",
    "rows_text",
    "rule",
    "unused",
]

PLAIN_KEY = re.compile(r"[^.\[\]\"'\\$^*]+")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
"""A key that TOML takes without quotation marks."""
SHOWN = 8
"""Names that a comment lists."""
WORD_LENGTH = 40
"""Characters of a name that a comment shows."""


def quoted(text: str) -> str:
    """Return a text as a TOML string of one line, whatever is in it."""
    if "'" not in text and ('"' in text or "\\" in text) and text.isprintable():
        return f"'{text}'"
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(
        f"\\U{ord(char):08X}" if unicodedata.category(char)[0] in "CZ" and char != " " else char
        for char in shown
    )


def path_text(keys: Sequence[str]) -> str:
    """Return the path of a value in a row, keys quoted where they need it."""
    return ".".join(
        key if PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False) for key in keys
    )


def path(column: Column) -> str:
    """Return the path of a column as a TOML value."""
    return quoted(path_text(column.path))


def rule(column: Column, *steps: str) -> str:
    """Return the rule of a number, a time or a label: its path, with steps where there are some.

    An empty text is none of these; in a form of file where it is a value it means unknown.
    """
    unknown = ('unknown = [""]',) if column.blank else ()
    parts = (f"path = {path(column)}", *unknown, *steps)
    return path(column) if len(parts) == 1 else f"{{{', '.join(parts)}}}"


def remark(text: str, names: Sequence[str] = ()) -> str:
    """Return a comment of one line."""
    shown = ", ".join(quoted(name[:WORD_LENGTH]) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"# {text}{': ' if names else ''}{shown}{more}"


def rows_text(steps: RowsPath) -> str:
    """Return the path to the rows."""
    return ".".join("*" if key == ANY_KEY else path_text([str(key)]) for key in steps)


def unused(sample: Sample, roles: Roles) -> list[str]:
    """Return the columns that have no role."""
    return [path_text(one.path) for one in sample.columns if one not in roles.values()]
