"""The `local` provider: a folder of texts or a JSONL file of documents as a search endpoint.

Invariant: only the documents that the endpoint's `file:` URL names can be found; the answer has the
form of the `plain` provider, so that it is recorded and read like any other response.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from trial_ledger.errors import InvalidInputError, Problem, StorageError
from trial_ledger.full_text import Document, FullText
from trial_ledger.running.search.base import Query, Request, count_of, member, read_json, text_of

__all__ = ["answer", "found_in", "is_local", "open_documents"]

SCHEME = "file:"
USUAL_LIMIT = 10
NAMES = ("url", "id", "name")
TEXTS = ("text", "content", "snippet")


def is_local(url: str | None) -> bool:
    """Return whether an endpoint is a set of documents on this machine."""
    return url is not None and url.startswith(SCHEME)


def open_documents(url: str) -> FullText:
    """Return the index of the documents that a `file:` URL names: a folder, or a JSONL file.

    Raises:
        InvalidInputError: there are none, or a line of the file is no document.
        StorageError: they cannot be read.
    """
    path = Path(unquote(url.removeprefix(SCHEME)))
    try:
        documents = list(of_folder(path)) if path.is_dir() else of_lines(path)
    except OSError as error:
        message = f"cannot read the documents in {path}: {error.strerror}"
        raise StorageError(
            message, hint="name a folder or a JSONL file: url = file:PATH"
        ) from error
    if not documents:
        raise InvalidInputError.single(
            "holds no document", what=str(path), source=str(path), expected="texts in UTF-8"
        )
    return FullText(documents)


def of_folder(folder: Path) -> Iterator[Document]:
    """Yield every file below a folder that is UTF-8 text, by its path, in order of the paths."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            try:
                text = path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                continue  # An image or the like among the documents is none of them.
            name = path.relative_to(folder).as_posix()
            yield Document(name=name, title=path.stem, text=text)


def of_lines(path: Path) -> list[Document]:
    """Return the documents of a JSONL file.

    Raises:
        InvalidInputError: a line is no document; every such line is named.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        value = read_json(line)
        name = next((found for key in NAMES if (found := text_of(member(value, key)))), None)
        text = next((found for key in TEXTS if (found := text_of(member(value, key)))), None)
        if name is None or text is None:
            problems.append(
                Problem(
                    message="not a document",
                    source=str(path),
                    line=number,
                    expected=f"an object with one of {', '.join(NAMES)}"
                    f" and one of {', '.join(TEXTS)}",
                )
            )
            continue
        documents.append(Document(name=name, title=text_of(member(value, "title")), text=text))
    if problems:
        raise InvalidInputError(problems, what=str(path))
    return documents


def found_in(index: FullText, request: Request) -> bytes:
    """Return the response to a request that the `plain` provider built."""
    asked = parse_qs(urlsplit(request.url).query)
    limit = count_of(asked.get("limit", [""])[0])
    return answer(index, Query(text=asked["q"][0], limit=limit))


def answer(index: FullText, query: Query) -> bytes:
    """Return the response to a query, as the `plain` provider reads it."""
    found = index.search(query.text, query.limit or USUAL_LIMIT)
    hits = [{"url": one.name, "title": one.title, "text": one.text} for one in found]
    return msgspec.json.encode({"hits": hits})
