"""The local provider: documents on this machine behind the form of any other search."""

import json
from pathlib import Path

import pytest

from document_cases import fields_of, manifest_table
from trial_ledger.documents.manifest import parse_manifest
from trial_ledger.errors import InvalidInputError, StorageError
from trial_ledger.running.search.base import Found, Query, Rejection, read_json
from trial_ledger.running.search.local import answer, is_local, open_documents
from trial_ledger.running.search.providers import PROVIDERS, understand


def refused() -> Rejection:
    """Fail: a local search is never refused."""
    raise AssertionError


def found(url: str, text: str, limit: int | None = None) -> list[str]:
    """Return the names of the documents that a search finds, in order."""
    index = open_documents(url)
    try:
        body = answer(index, Query(text=text, limit=limit))
    finally:
        index.close()
    result = understand(PROVIDERS["plain"], 200, read_json(body), refused)
    assert isinstance(result, Found)
    return [hit.url for hit in result.hits]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three texts and something that is none."""
    (tmp_path / "towns").mkdir()
    (tmp_path / "towns" / "khiva.md").write_text("Khiva has walls. Khiva is old.", "utf-8")
    (tmp_path / "towns" / "nukus.txt").write_text("Nukus has a museum, and no walls.", "utf-8")
    (tmp_path / "read me.txt").write_text("Towns of the oasis", "utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    (tmp_path / "link.txt").symlink_to(tmp_path / "towns" / "khiva.md")
    return tmp_path


def test_a_folder_is_searched(folder: Path) -> None:
    """The best document comes first; what is no text is none; a link is not followed."""
    url = f"file:{folder}"
    assert found(url, "Khiva walls") == ["towns/khiva.md", "towns/nukus.txt"]
    assert found(url, "walls", limit=1) == ["towns/khiva.md"]
    assert found(url, "oasis") == ["read me.txt"]


@pytest.mark.parametrize("text", ["", "?!", 'Khiva" OR name:*', "NEAR(", "nothing-like-it"])
def test_a_query_is_words_and_no_language(folder: Path, text: str) -> None:
    """Marks and operators of the index mean nothing; what holds no word finds nothing."""
    assert found(f"file:{folder}", text) in ([], ["towns/khiva.md"])


def test_a_jsonl_file_is_searched(tmp_path: Path) -> None:
    """One document a line, under its address or id."""
    path = tmp_path / "my documents.jsonl"
    path.write_text(
        '{"url": "https://a.example", "title": "A", "text": "alpha"}\n\n'
        '{"id": "b", "content": "beta alpha alpha"}\n',
        "utf-8",
    )
    assert found(f"file:{str(path).replace(' ', '%20')}", "beta") == ["b"]


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    """A file with lines that are no documents is refused, all lines at once."""
    path = tmp_path / "documents.jsonl"
    path.write_text('{"id": "a"}\nnot json\n{"id": "b", "text": "beta"}\n', "utf-8")
    with pytest.raises(InvalidInputError) as caught:
        open_documents(f"file:{path}")
    assert [problem.line for problem in caught.value.problems] == [1, 2]


def test_documents_that_are_not_there_are_said(tmp_path: Path) -> None:
    """A missing file and an empty folder are errors before anything is asked."""
    with pytest.raises(StorageError, match="cannot read the documents"):
        open_documents(f"file:{tmp_path / 'gone.jsonl'}")
    with pytest.raises(InvalidInputError, match="not acceptable"):
        open_documents(f"file:{tmp_path}")


def test_a_manifest_may_name_documents() -> None:
    """`file:PATH` is a URL of an endpoint; other schemes are refused."""
    table = manifest_table(endpoints={"search": {"url": "file:documents"}}, models=None)
    manifest = parse_manifest(json.dumps(table).encode(), source="m", harness=None, environment={})
    assert is_local(manifest.endpoints["search"].url)
    assert not is_local("https://a.example/file:")
    table["endpoints"]["search"]["url"] = "ftp://a.example"
    assert fields_of(
        lambda: parse_manifest(json.dumps(table).encode(), source="m", harness=None, environment={})
    ) == {"endpoints.search.url"}
