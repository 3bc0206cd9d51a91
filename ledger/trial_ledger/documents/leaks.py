"""Find gold where an agent could see it (C3).

Invariant: a gold text that the question itself shows an agent is never looked for, and no text is
found inside a longer word.
"""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urldefrag

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.dataset_structs import Question, agent_view

__all__ = ["find_leak", "gold_terms", "normalise", "visible_texts"]

MOST_MARKS = 30
LONG_TEXT = 1_000
"""Characters; the marks of shorter texts are put in order in no time."""


def normalise(text: str) -> str:
    """Return a text in NFKC, case-folded, each run of white space as one blank."""
    if text.isascii():  # Then all three are what `lower` does, at a third of the cost.
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", with_few_marks(text)).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def with_few_marks(text: str) -> str:
    """Return a text without the combining marks that follow 30 others (UAX #15, D4).

    Putting marks in order takes time that grows with the square of their number: a megabyte of
    them in a hostile response would hold the writer for hours.
    """
    if len(text) < LONG_TEXT:
        return text
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def visible_texts(question: Question) -> tuple[str, ...]:
    """Return every text that an agent may see of a question, normalised."""
    return tuple(normalise(text) for text in texts_of(agent_view(question), keys=True))


def texts_of(value: Json, *, keys: bool = False) -> Iterator[str]:
    """Yield every text and number below a JSON value, and the keys of objects if asked for."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            if keys:
                yield key
            yield from texts_of(member, keys=keys)
    elif isinstance(value, list):
        for member in value:
            yield from texts_of(member, keys=keys)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)


def gold_terms(
    gold_record: Mapping[str, Json], question: Question, min_length: int
) -> tuple[str, ...]:
    """Return the normalised gold texts that the leak guard looks for, sorted.

    Args:
        gold_record: the record `{"extra":…, "gold":…, "id":…}` of the question.
        question: the question; what it shows an agent is no secret.
        min_length: shortest text to look for, in characters after normalising.
    """
    gold = gold_record.get("gold")
    if gold is None:
        return ()
    visible = visible_texts(question)
    terms = {normalise(text) for text in secret_texts(gold)}
    return tuple(
        sorted(
            term
            for term in terms
            if len(term) >= max(min_length, 1) and not any(holds(text, term) for text in visible)
        )
    )


PARTS = ("answer", "alternatives", "items", "aliases", "records")
"""Parts of gold whose every text is an answer."""


def secret_texts(gold: Json) -> Iterator[str]:
    if not isinstance(gold, dict):
        yield from texts_of(gold)
        return
    for part in PARTS:
        yield from texts_of(gold.get(part))
    yield from evidence_urls(gold)
    for part in ("criteria", "claims"):
        pieces = gold.get(part)
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, dict):
                yield from texts_of(piece.get("text"))
                yield from evidence_urls(piece)
            else:
                yield from texts_of(piece)


def evidence_urls(gold: Mapping[str, Json]) -> Iterator[str]:
    evidence = gold.get("evidence")
    for piece in evidence if isinstance(evidence, list) else ():
        if isinstance(piece, dict):
            for url in texts_of(piece.get("url")):
                # The same page is a leak under http, with a fragment, or without the scheme.
                page = urldefrag(url.strip()).url.rstrip("/")
                yield page.partition("://")[2] or page


def find_leak(text: str, terms: Iterable[str], canary: str | None) -> str | None:
    """Return the canary, or the first gold term, that a text holds; None where it holds none.

    Args:
        text: what an agent is about to see; if it is JSON its texts are looked at unescaped too.
        terms: what `gold_terms` returned.
        canary: the dataset's canary, which is looked for first.
    """
    texts = [normalise(part) for part in (text, *unescaped(text))]
    if canary is not None and any(normalise(canary) in part for part in texts):
        return canary
    return next((term for term in terms if any(holds(part, term) for part in texts)), None)


def unescaped(text: str) -> tuple[str, ...]:
    # Without a backslash every text of JSON stands in it as it is, and is found there.
    if "\\" not in text or not text.lstrip().startswith(("{", "[", '"')):
        return ()
    try:
        value = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return ()  # not JSON after all: the text itself is looked at in any case
    return tuple(texts_of(value, keys=True))


def holds(text: str, term: str) -> bool:
    """Return whether a normalised text holds a term that is not part of a longer word."""
    start = text.find(term)
    while start >= 0:
        end = start + len(term)
        before = text[start - 1] if start else ""
        after = text[end] if end < len(text) else ""
        if not (joins(before, term[0]) or joins(term[-1], after)):
            return True
        start = text.find(term, start + 1)
    return False


def joins(left: str, right: str) -> bool:
    """Return whether two neighbouring characters belong to one word."""
    return is_word(left) and is_word(right)


def is_word(character: str) -> bool:
    # Letters without case (Lo) include scripts that put no space between words.
    return character.isalnum() and unicodedata.category(character) != "Lo"
