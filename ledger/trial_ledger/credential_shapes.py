"""Finds what looks like a credential in any text: keys of known forms, and named fields (C11).

Invariant: nothing that is made here shows a credential; what is told of one is its form, its length
and the beginning that all of its form share.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from trial_ledger.scrubbing import named_values

__all__ = ["Credential", "credentials_in"]

SHORTEST = 16
"""A shorter value of a field named like a credential is a word or a number."""

DISTINCT = 8
"""A key has at least so many different characters; a placeholder such as `xxxxxxxx` has not."""


class Shape(NamedTuple):
    """A form that keys of some services have."""

    name: str
    """What it is."""
    public: bytes
    """What all of its form begin with; looked for first, since that is quick."""
    pattern: re.Pattern[bytes]
    """The whole of it."""


def shape(name: str, public: bytes, rest: bytes) -> Shape:
    """Return a form, which does not begin inside a longer word."""
    return Shape(name, public, re.compile(rb"(?<![A-Za-z0-9_-])" + re.escape(public) + rest))


SHAPES = (
    shape("key", b"sk-", rb"[A-Za-z0-9_-]{20,}"),
    shape("key", b"sk_live_", rb"[A-Za-z0-9]{16,}"),
    shape("AWS key id", b"AKIA", rb"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    shape("GitHub token", b"ghp_", rb"[A-Za-z0-9]{36}"),
    shape("GitHub token", b"gho_", rb"[A-Za-z0-9]{36}"),
    shape("GitHub token", b"ghs_", rb"[A-Za-z0-9]{36}"),
    shape("GitHub token", b"github_pat_", rb"[A-Za-z0-9_]{40,}"),
    shape("GitLab token", b"glpat-", rb"[A-Za-z0-9_-]{20,}"),
    shape("Google key", b"AIza", rb"[A-Za-z0-9_-]{35}"),
    shape("Google token", b"ya29.", rb"[A-Za-z0-9_-]{20,}"),
    shape("Hugging Face token", b"hf_", rb"[A-Za-z0-9]{30,}"),
    shape("Slack token", b"xox", rb"[abprs]-[A-Za-z0-9-]{10,}"),
    shape("SendGrid key", b"SG.", rb"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    shape("npm token", b"npm_", rb"[A-Za-z0-9]{36}"),
    shape("PyPI token", b"pypi-", rb"[A-Za-z0-9_-]{50,}"),
    shape("signed token", b"eyJ", rb"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    shape("bearer token", b"Bearer ", rb"[A-Za-z0-9._~+/-]{16,}=*"),
    shape("bearer token", b"bearer ", rb"[A-Za-z0-9._~+/-]{16,}=*"),
    Shape(
        "password in a URL",
        b"://",
        re.compile(rb"://[^\s/:@\"'<>\\]{1,64}:[^\s/:@\"'<>\\]{4,128}@(?=[A-Za-z0-9\[])"),
    ),
)
"""Every form that is known."""

PRIVATE_KEY = re.compile(rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")
SCHEME = re.compile(rb"(?i:bearer|basic|token|digest) +")


class Credential(NamedTuple):
    """One thing in some bytes that looks like a credential."""

    start: int
    """Its first byte."""
    end: int
    """Behind its last byte."""
    what: str
    """Its form, without anything of its own."""


def credentials_in(content: bytes) -> list[Credential]:
    """Return everything in some bytes that looks like a credential, in order, none inside another.

    Fields that are named like one count where their value is long and varied, without a blank.
    """
    found = sorted([*shaped(content), *private_keys(content), *named(content)])
    kept: list[Credential] = []
    for credential in found:
        if not kept or credential.start >= kept[-1].end:
            kept.append(credential)
    return kept


def shaped(content: bytes) -> Iterator[Credential]:
    """Yield what has one of the known forms."""
    for name, public, pattern in SHAPES:
        if public in content:
            for match in pattern.finditer(content):
                if is_varied(match[0][len(public) :]):
                    yield Credential(
                        *match.span(), f"{name} {public.decode().strip()}…, {len(match[0])} bytes"
                    )


def private_keys(content: bytes) -> Iterator[Credential]:
    """Yield the beginnings of private keys."""
    for match in PRIVATE_KEY.finditer(content):
        yield Credential(*match.span(), "private key")


def named(content: bytes) -> Iterator[Credential]:
    """Yield the values of fields, headers and parameters that are named like a credential."""
    for start, value in named_values(content):
        scheme = SCHEME.match(value)
        skipped = 0 if scheme is None else scheme.end()
        bare = value[skipped:].rstrip()
        if len(bare) >= SHORTEST and not re.search(rb"\s", bare) and is_varied(bare):
            begin = start + skipped
            what = f"value of a field named like a credential, {len(bare)} bytes"
            yield Credential(begin, begin + len(bare), what)


def is_varied(value: bytes) -> bool:
    """Return whether a value is no word and no placeholder: many characters, a digit among them."""
    return len(set(value)) >= DISTINCT and re.search(rb"[0-9]", value) is not None
