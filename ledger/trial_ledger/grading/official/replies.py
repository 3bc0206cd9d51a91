"""Read a judge's raw reply as SimpleQA and BrowseComp do, and beside it strictly (C15, C28).

Invariant: the raw reply is never changed, so that another reading of it is a new projection and no
lost verdict; only the strict reading may find that a reply says nothing.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal

__all__ = ["Reading", "published_reading", "strict_reading"]

Reading = Literal["correct", "incorrect", "abstained", "neither", "unparsed"]
"""`abstained` is not attempted. `neither` is what BrowseComp as published makes of any match."""

LETTERS: Mapping[str, Reading] = {"A": "correct", "B": "incorrect", "C": "abstained"}
WORDS: Mapping[str, Reading] = {
    "CORRECT": "correct",
    "INCORRECT": "incorrect",
    "NOT_ATTEMPTED": "abstained",
    "NOT ATTEMPTED": "abstained",
}
LETTER = re.compile("[ABC]")
VERDICT = re.compile("correct: (yes|no)")
LINE = re.compile(r"^\W*correct\W*:\W*(yes|no)\b", re.IGNORECASE | re.MULTILINE)
YES: Mapping[str, Reading] = {"yes": "correct", "no": "incorrect"}


def simpleqa(reply: str) -> Reading:
    """Return the grade of the first capital A, B or C anywhere; not attempted without one."""
    found = LETTER.search(reply)
    return "abstained" if found is None else LETTERS[found.group()]


def browsecomp(reply: str) -> Reading:
    """Return incorrect without a match, else neither: the whole match is never `yes` nor `no`."""
    return "incorrect" if VERDICT.search(reply) is None else "neither"


def browsecomp_patched(reply: str) -> Reading:
    """Return what the matched word says; incorrect without a match."""
    found = VERDICT.search(reply)
    return "incorrect" if found is None else YES[found.group(1)]


def simpleqa_strictly(reply: str) -> Reading:
    """Return the grade that a reply consists of: one letter or its word, in marks and blanks."""
    token = reply.strip(" \t\r\n*_`\"'.").upper()
    letter, _, word = token.partition(":")
    if word and LETTERS.get(letter) != WORDS.get(word.strip()):
        return "unparsed"
    return LETTERS.get(letter) or WORDS.get(token) or "unparsed"


def browsecomp_strictly(reply: str) -> Reading:
    """Return what the only line that begins with `correct:` says, in any case and type."""
    found = LINE.findall(reply)
    return YES[found[0].lower()] if len(found) == 1 else "unparsed"


PUBLISHED: Mapping[tuple[str, tuple[str, ...]], Callable[[str], Reading]] = {
    ("simpleqa@1", ()): simpleqa,
    ("browsecomp@1", ()): browsecomp,
    ("browsecomp@1", ("group-1",)): browsecomp_patched,
}

STRICT: Mapping[str, Callable[[str], Reading]] = {
    "simpleqa@1": simpleqa_strictly,
    "browsecomp@1": browsecomp_strictly,
}


def published_reading(grader: str, reply: str, *patches: str) -> Reading:
    """Return what the published code reads in a judge's raw reply.

    Args:
        grader: `simpleqa@1` or `browsecomp@1`.
        reply: the raw reply.
        patches: named departures of its pin; with one the reading is `official+patch`.

    Raises:
        KeyError: there is no such grader or patch.
    """
    return PUBLISHED[grader, patches](reply)


def strict_reading(grader: str, reply: str) -> Reading:
    """Return what a reply says if it says it in the form that was asked for, else `unparsed`.

    Args:
        grader: `simpleqa@1` or `browsecomp@1`.
        reply: the raw reply.

    Raises:
        KeyError: there is no such grader.
    """
    return STRICT[grader](reply)
