"""Bring texts into the form in which they are compared.

Invariant: normalising a normalised text changes nothing, and takes time proportional to the text
whatever is in it.

None of the three benchmark normalisers is interchangeable with another (`The U.S.A.` is `usa` in
SQuAD and `u s` in TriviaQA), so a metric names the one it means.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache

from trial_ledger.documents.grader_options import NORMALISERS

__all__ = ["comparable", "normalise"]

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
DELETED = dict.fromkeys(map(ord, string.punctuation))
BLANKED = dict.fromkeys(map(ord, string.punctuation + "\u2018\u2019\u00b4`"), " ")

LONGEST_MARKS = 30
"""Combining marks in a row that text keeps together (UAX #15, Stream-Safe Text Format)."""

JOINER = "\N{COMBINING GRAPHEME JOINER}"


def comparable(text: str, normaliser: str) -> str:
    """Return the form of a text that is compared; empty only where the text is blank.

    A normaliser that leaves nothing of a text, as SQuAD's of `The The`, would make it equal to
    every other such text. There the text is compared case-folded.

    Args:
        text: the text.
        normaliser: a member of `NORMALISERS`.
    """
    return normalise(text, normaliser) or normalise(text, "casefold")


def normalise(text: str, normaliser: str) -> str:
    """Return a text as a normaliser leaves it.

    Args:
        text: the text.
        normaliser: a member of `NORMALISERS`: `none`; `nfkc` (NFKC, each run of white space one
            blank); `casefold` (the same, case-folded); `squad`, `triviaqa` and `nq-open` as these
            benchmarks publish them.
    """
    return RULES[normaliser](text)


def as_it_is(text: str) -> str:
    """Return the text."""
    return text


def nfkc(text: str) -> str:
    """Return a text in NFKC with one blank for each run of white space."""
    return " ".join(unicodedata.normalize("NFKC", stream_safe(text)).split())


def casefold(text: str) -> str:
    """Return a text in NFKC, case-folded, with one blank for each run of white space."""
    return nfkc(nfkc(text).casefold())


def squad(text: str) -> str:
    """Return a text as SQuAD 1.1 and 2.0 do: lower case, no ASCII punctuation, no articles."""
    return without_articles(text.lower().translate(DELETED))


def triviaqa(text: str) -> str:
    """Return a text as TriviaQA does: lower case, punctuation blank, no articles."""
    return without_articles(text.lower().translate(BLANKED))


def nq_open(text: str) -> str:
    """Return a text as NQ-open does: NFD, then as SQuAD.

    Marks that deleted punctuation kept apart are put in order again, which NQ-open leaves.
    """
    return nfd(squad(nfd(text)))


def nfd(text: str) -> str:
    """Return a text in NFD."""
    return unicodedata.normalize("NFD", stream_safe(text))


def without_articles(text: str) -> str:
    """Return a lower-case text without articles, with one blank for each run of white space."""
    return " ".join(ARTICLES.sub(" ", text).split())


RULES: Mapping[str, Callable[[str], str]] = dict(
    zip(NORMALISERS, (as_it_is, nfkc, casefold, squad, triviaqa, nq_open), strict=True)
)


def stream_safe(text: str) -> str:
    """Return a text in which no more than 30 combining marks follow each other (UAX #15, D4).

    Putting marks in order takes time that grows with the square of their number: 96,000 of them
    took 12 s. Where there are more, a joiner that carries no meaning is put between them.
    """
    if text.isascii():
        return text
    safe: list[str] = []
    marks = 0
    for character in text:
        leading, trailing, length = marks_of(character)
        if leading and marks + leading > LONGEST_MARKS:
            safe.append(JOINER)
            marks = 0
        marks = marks + leading if leading == length else trailing
        safe.append(character)
    return "".join(safe)


@lru_cache(maxsize=4096)
def marks_of(character: str) -> tuple[int, int, int]:
    """Return how many combining marks a character starts and ends with, and its full length."""
    full = unicodedata.normalize("NFKD", character)
    bound = [unicodedata.combining(part) != 0 for part in full]
    leading = bound.index(False) if False in bound else len(bound)
    trailing = bound[::-1].index(False) if False in bound else len(bound)
    return leading, trailing, len(full)
