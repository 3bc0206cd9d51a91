"""Normalise texts as each benchmark's own code does, one function a benchmark (C15).

Invariant: none of these is interchangeable with another or with a normaliser of ours; each gives
what the published code gives for every text, in time that is no more than proportional to n log n.
"""

import re
import string
import unicodedata
from itertools import groupby

__all__ = ["decomposed", "nq_open_text", "squad_text", "triviaqa_text"]

ARTICLE = re.compile(r"\b(?:a|an|the)\b")
NOTHING = str.maketrans("", "", string.punctuation)
BLANKS = {ord(mark): " " for mark in string.punctuation + "\u2018\u2019\u00b4`"}


def squad_text(text: str) -> str:
    """Return a text as SQuAD 1.1 and 2.0 compare it.

    Lower case, then ASCII punctuation deleted, then articles, then white space.
    """
    return without_articles(text.lower().translate(NOTHING))


def triviaqa_text(text: str) -> str:
    """Return a text as TriviaQA compares it.

    Lower case, then a blank for each mark of ASCII punctuation and each of four quotation marks,
    then articles, then white space.
    """
    return without_articles(text.lower().translate(BLANKS))


def nq_open_text(text: str) -> str:
    """Return a text as NQ-open compares it: taken apart (NFD), then as SQuAD does."""
    return squad_text(decomposed(text))


def without_articles(text: str) -> str:
    """Return a lower-case text without articles, with one blank for each run of white space."""
    return " ".join(ARTICLE.sub(" ", text).split())


def decomposed(text: str) -> str:
    """Return a text in NFD.

    Python's own takes time that grows with the square of the marks in a row; here each character
    is taken apart by itself and each run of marks sorted by class, which is the same by definition
    (Unicode, D109 canonical ordering).
    """
    if text.isascii():
        return text
    apart = "".join(unicodedata.normalize("NFD", character) for character in text)
    pieces: list[str] = []
    for is_mark, run in groupby(apart, key=lambda character: unicodedata.combining(character) > 0):
        characters = list(run)
        pieces += sorted(characters, key=unicodedata.combining) if is_mark else characters
    return "".join(pieces)
