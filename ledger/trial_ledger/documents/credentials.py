"""Find credentials in a document before it is frozen (C11).

Invariant: no message made here, and no document that passed here, holds the value of an environment
variable that the document itself names.
"""

import re
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.reading import Faults, Table
from trial_ledger.strict_json import join_path

__all__ = [
    "NO_VARIABLES",
    "is_credential_name",
    "mask_secret_values",
    "named_variables",
    "read_variable",
    "report_credentials",
]

MARK = "[credential]"
NO_VARIABLES: Mapping[str, str] = {}
SHORTEST_SECRET = 8
"""A shorter value would be found in innocent text."""

CREDENTIAL_NAME = re.compile(
    r"(.*_)?(authorization|(api|access|secret|private|auth|subscription)_?key|secret|password|passwd"
    r"|credentials?|cookie|(access|api|auth|bearer|id|refresh|session|subscription)_?token)|token"
)
"""A `stop_token` or `max_tokens` of a model is none."""

CREDENTIAL_HEADER = re.compile(r".*(key|token)")
"""In a header such a name says enough."""

EXPECTED = "key_env with the name of an environment variable"


def is_credential_name(name: str, *, header: bool = False) -> bool:
    """Return whether a field, or a header, of that name carries a credential."""
    plain = name.lower().replace("-", "_")
    if header and CREDENTIAL_HEADER.fullmatch(plain):
        return True
    return CREDENTIAL_NAME.fullmatch(plain) is not None


def strings(value: Json, path: str | None) -> Iterator[tuple[str | None, str, str]]:
    """Yield path, own key and text of every text below a value."""
    if isinstance(value, dict):
        for key, member in value.items():
            inner = join_path(path, key)
            if isinstance(member, str):
                yield inner, key, member
            else:
                yield from strings(member, inner)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            inner = join_path(path, index)
            if isinstance(member, str):
                yield inner, "", member
            else:
                yield from strings(member, inner)


def named_variables(values: Mapping[str, Json]) -> frozenset[str]:
    """Return the environment variables that any `key_env` of a document names."""
    found = strings(dict(values), None)
    return frozenset(text for _, key, text in found if key == "key_env")


def report_credentials(values: Mapping[str, Json], faults: Faults) -> None:
    """Report literal credentials: fields named like one, and those inside a URL."""
    for path, key, text in strings(dict(values), None):
        if text and carries_credential(path or "", key):
            faults.add("holds a credential", field=path, expected=EXPECTED, clause="C11")
        elif "://" in text and not re.search(r"\s", text) and url_has_credential(text):
            faults.add("URL holds a credential", field=path, expected=EXPECTED, clause="C11")


def carries_credential(path: str, key: str) -> bool:
    if re.match(r"tools\[\d+\]\.schema\.|prices\.", path):
        # A property of a schema named `token` is a type there, and a priced unit is a unit.
        return False
    return is_credential_name(key, header=".headers." in path)


def url_has_credential(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "@" in url
    query = parse_qsl(parts.query, keep_blank_values=False)
    return "@" in parts.netloc or any(is_credential_name(name) for name, _ in query)


def mask_secret_values(
    values: Mapping[str, Json], faults: Faults, environ: Mapping[str, str]
) -> dict[str, Json]:
    """Report every secret value in a document and return the document without them.

    What is returned is only for finding the remaining faults; the secrets never reach a message.
    """
    secrets = {
        form: name for name in named_variables(values) for form in forms(environ.get(name, ""))
    }
    if not secrets:
        return dict(values)
    faults.problems = [
        msgspec.structs.replace(problem, found=None)
        if problem.found is not None and any(secret in problem.found for secret in secrets)
        else problem
        for problem in faults.problems
    ]
    return cast("dict[str, Json]", masked(dict(values), None, faults, secrets))


def forms(secret: str) -> set[str]:
    """Return the spellings under which a secret may stand in a document."""
    bare = secret.strip()
    return {bare, quote(bare, safe="")} if len(bare) >= SHORTEST_SECRET else set()


def masked(value: Json, path: str | None, faults: Faults, secrets: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return masked_text(value, path, faults, secrets)
    if isinstance(value, list):
        return [
            masked(member, join_path(path, index), faults, secrets)
            for index, member in enumerate(value)
        ]
    if isinstance(value, dict):
        members: dict[str, Json] = {}
        for key, member in value.items():
            shown = masked_text(key, path, faults, secrets)
            members[shown] = masked(member, join_path(path, shown), faults, secrets)
        return members
    return value


def masked_text(text: str, path: str | None, faults: Faults, secrets: Mapping[str, str]) -> str:
    for secret, name in secrets.items():
        if secret in text:
            faults.add(
                f"holds the value of the environment variable {name}",
                field=path,
                expected=EXPECTED,
                clause="C11",
            )
            text = text.replace(secret, MARK)
    return text


def read_variable(table: Table, key: str) -> str | None:
    """Return the name of an environment variable."""
    value = table.name(key)
    if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        # The value itself may be a key that was put here by mistake: it is not shown.
        table.faults.add(
            "not the name of an environment variable",
            field=table.at(key),
            expected="a name such as SEARCH_KEY",
            clause="C11",
        )
    return value
