"""Answer questions about the standard library from what a search returns; no model, no chance.

Invariant: the same input, seed and hits give the same queries and the same answer; the agent knows
nothing but the line it is given and the documents it retrieved, at most two times a question.

A plain script of the demo, run by the harness as a process of its own, so that what it sees is
what the harness sent. It reads and writes JSON lines::

    <- {"input": {"id", "question", "as_of", "context"}, "seed": 20261002}
    -> {"search": "removes common leading whitespace every"}
    <- {"hits": [{"name", "kind", "signature", "text"}, …]}
    -> {"answer": "textwrap.dedent", "citations": ["pydoc:textwrap.dedent"]}

or `{"abstain": "nothing read that fits"}`. The rules are plain on purpose and are sometimes wrong.
"""

import ast
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

Hit = dict[str, str]
Step = dict[str, object]
Search = Callable[[str], list[Hit]]

STOPWORDS = frozenset(
    """a an and are as by default do does each for from function give given has in into is it its
    last method name of on one or parameter parameters raise raised that the their this to value
    what when where which whose with""".split()  # noqa: SIM905 - forty quoted words say less
)
ENOUGH = Fraction(1, 2)
"""Share of the question's words that a document must hold for the agent to stop searching."""
BARELY = Fraction(1, 3)
"""Share below which the agent rather abstains."""
QUERY_WORDS = 3
"""Words in a query; where the question has more, the seed says which."""


class Found(NamedTuple):
    """What the agent made of the documents it read."""

    answer: object
    """Its answer, None where it found nothing."""
    names: tuple[str, ...]
    """The documents behind it."""


def words(text: str) -> list[str]:
    """Return the words that carry meaning, lower case, each once, in order."""
    found = re.findall(r"[a-z0-9]+", text.lower().replace("_", " "))
    return list(dict.fromkeys(word for word in found if word not in STOPWORDS))


def stems(text: str) -> frozenset[str]:
    """Return the words with common endings taken off, so that `removes` meets `remove`."""
    return frozenset(re.sub(r"(?<=\w\w\w)(ing|ed|es|s|e)$", "", word) for word in words(text))


def quoted(text: str) -> list[str]:
    """Return the names that a question sets in back quotes."""
    return re.findall(r"`([^`]+)`", text)


def query(terms: list[str], seed: int) -> str:
    """Return a short query: some of the terms in a row, others in each repetition."""
    start = seed % max(1, len(terms) - QUERY_WORDS + 1)
    return " ".join(terms[start : start + QUERY_WORDS])


def likeness(question: str, hit: Hit) -> Fraction:
    """Return which share of the question's words stands in a name and its first paragraph."""
    asked = stems(question)
    first = hit["text"].split("\n\n")[0]
    return Fraction(len(asked & stems(f"{hit['name'].replace('.', ' ')} {first}")), len(asked))


def parameters(signature: str) -> list[tuple[str, str | None]]:
    """Return names and defaults of a signature as written, without `self`."""
    arguments = ast.parse(f"def f({signature}): pass").body[0].args  # type: ignore[attr-defined]
    plain = arguments.posonlyargs + arguments.args
    bare: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    pairs = list(zip(plain, bare + arguments.defaults, strict=True))
    pairs += [(arguments.vararg, None)] if arguments.vararg else []
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(arguments.kwarg, None)] if arguments.kwarg else []
    return [
        (argument.arg, None if default is None else ast.unparse(default))
        for argument, default in pairs
        if argument.arg not in {"self", "cls"}
    ]


def described(question: str, hits: list[Hit], least: Fraction) -> Hit | None:
    """Return the function whose description is most like the question, the first of equals."""
    callables = [hit for hit in hits if hit["kind"] in {"function", "method"}]
    best = max(callables, key=lambda hit: likeness(question, hit), default=None)
    return best if best and likeness(question, best) >= least else None


def find_described(question: str, seed: int, search: Search) -> Hit | None:
    """Search by the question's words, then by its longest word alone."""
    terms = words(question)
    hits = search(query(terms, seed))
    found = described(question, hits, ENOUGH)
    if found is None:
        hits = hits + search(max(terms, key=len))
        found = described(question, hits, BARELY)
    return found


def find_named(name: str, terms: list[str], seed: int, search: Search) -> Hit | None:
    """Search by words, then by the name itself; take another document only as a last resort."""
    hits = search(query(terms, seed))
    exact = next((hit for hit in hits if hit["name"] == name), None)
    if exact is None:
        hits = search(name) + hits
        exact = next((hit for hit in hits if hit["name"] == name), None)
    return exact or next(iter(hits), None)


def name_of(question: str, seed: int, search: Search) -> Found:
    """Answer `which function …` with a name."""
    hit = find_described(question, seed, search)
    return Found(hit["name"], (hit["name"],)) if hit else Found(None, ())


def default_of(question: str, seed: int, search: Search) -> Found:
    """Answer `default value of the parameter … of …` from the signature."""
    parameter, function = quoted(question)
    hit = find_named(function, words(f"{function} {parameter}"), seed, search)
    if hit is None or hit["kind"] not in {"function", "method"}:
        return Found(None, ())
    return Found(dict(parameters(hit["signature"])).get(parameter), (hit["name"],))


def exception_of(question: str, seed: int, search: Search) -> Found:
    """Answer `which exception …` from the sentence that speaks of raising and fits best."""
    hit = find_named(quoted(question)[0], words(question), seed, search)
    if hit is None:
        return Found(None, ())
    sentences = [" ".join(part.split()) for part in re.split(r"(?<=[.:])\s+", hit["text"])]
    told = [part for part in sentences if "rais" in part.lower() and re.search(EXCEPTION, part)]
    best = max(told, key=lambda part: len(stems(part) & stems(question)), default=None)
    return Found(re.findall(EXCEPTION, best)[0] if best else None, (hit["name"],))


EXCEPTION = r"\b[A-Z]\w*(?:Error|Exception|Warning)\b"


def record_of(question: str, fields: list[str], seed: int, search: Search) -> Found:
    """Answer `for the function that …` with one record of its name and signature."""
    hit = find_described(question.partition(":")[0], seed, search)
    if hit is None:
        return Found(None, ())
    signature = parameters(hit["signature"])
    known = {
        "name": hit["name"],
        "parameters": len(signature),
        "last_default": signature[-1][1] if signature else None,
    }
    return Found([{field: known[field] for field in fields}], (hit["name"],))


def items_of(candidates: list[str], condition: str, seed: int, search: Search) -> Found:
    """Answer `which of the candidates …` with those that were read and that fit."""
    module = candidates[0].rpartition(".")[0]
    (sought,) = quoted(condition)
    hits = search(query(words(f"{module} {sought}"), seed))
    read = {hit["name"]: hit for hit in hits}
    if not set(candidates) <= set(read):
        read |= {hit["name"]: hit for hit in search(f"{module}.")}
    seen = [name for name in candidates if name in read]
    fitting = [name for name in seen if fits(read[name], condition, sought)]
    return Found(fitting or None, tuple(seen))


def fits(hit: Hit, condition: str, sought: str) -> bool:
    """Tell whether a document meets a condition, as far as plain reading can tell."""
    if "parameter" in condition:
        return hit["kind"] != "class" and sought in dict(parameters(hit["signature"]))
    if "derives" in condition:
        return sought in hit["signature"]
    return sought in hit["text"]


def answer(asked: dict[str, Any], seed: int, search: Search) -> Found:
    """Answer one question in the way that its form asks for."""
    question, context = asked["question"], asked.get("context", {})
    if "candidates" in context:
        return items_of(context["candidates"], context["conditions"][0], seed, search)
    if "fields" in context:
        return record_of(question, context["fields"], seed, search)
    if "default value" in question:
        return default_of(question, seed, search)
    if "exception" in question:
        return exception_of(question, seed, search)
    return name_of(question, seed, search)


def serve(lines: Iterator[str], write: Callable[[str], object]) -> None:
    """Answer questions, one after the other, until there are no more lines."""

    def say(step: Step) -> None:
        write(json.dumps(step) + "\n")

    def search(text: str) -> list[Hit]:
        say({"search": text})
        hits: list[Hit] = json.loads(next(lines, '{"hits": []}'))["hits"]
        return hits

    for line in lines:
        asked = json.loads(line)
        found = answer(asked["input"], asked["seed"], search)
        if found.answer is None:
            say({"abstain": "nothing read that fits"})
        else:
            text = found.answer if isinstance(found.answer, str) else json.dumps(found.answer)
            say({"answer": text, "citations": [f"pydoc:{name}" for name in found.names]})


def main() -> None:
    """Serve standard input until it ends; an interrupt is for the harness, which then ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    serve(iter(sys.stdin), write)


if __name__ == "__main__":
    main()
