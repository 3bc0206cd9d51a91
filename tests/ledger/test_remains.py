"""The search below SQLite: any piece, in any file, also where two readings of it meet."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger import remains
from trial_ledger.errors import StorageError
from trial_ledger.remains import WINDOW_BYTES, files_beside, needles_of, search

NOISE = Random(3).randbytes(40_000)  # noqa: S311 - repeatable


@given(
    start=st.integers(0, 36_000), before=st.integers(0, 300), chunk=st.integers(WINDOW_BYTES, 900)
)
def test_what_is_left_of_a_page_is_found_wherever_it_stands(
    tmp_path_factory: pytest.TempPathFactory, start: int, before: int, chunk: int
) -> None:
    """A page's worth of some bytes holds one of their pieces, found at its place in any file."""
    page = NOISE[start : start + 4_000]
    needles = needles_of(NOISE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remains, "CHUNK_BYTES", chunk)
        path = tmp_path_factory.mktemp("search") / "a"
        path.write_bytes(bytes(before) + page + bytes(50))
        found = search([path], needles)
    assert found.bytes == path.stat().st_size
    assert found.found
    content = path.read_bytes()
    for _, place in found.found:
        assert content[place : place + WINDOW_BYTES] in needles


@pytest.mark.parametrize("length", [0, 1, WINDOW_BYTES, WINDOW_BYTES + 1, 5_000])
def test_pieces_reach_from_the_beginning_to_the_end(length: int) -> None:
    """Nothing has no piece; few bytes are one; the first and the last window are always there."""
    content = NOISE[:length]
    found = needles_of(content)
    if length <= WINDOW_BYTES:
        assert found == ([content] if content else [])
    else:
        assert found[0] == content[:WINDOW_BYTES]
        assert found[-1] == content[-WINDOW_BYTES:]


def test_nothing_to_look_for_finds_nothing(tmp_path: Path) -> None:
    """Files are read and counted all the same, empty ones too."""
    (tmp_path / "a.ledger").write_bytes(NOISE)
    (tmp_path / "a.ledger-journal").touch()
    (tmp_path / "a.ledger.folder").mkdir()
    (tmp_path / "b.ledger").touch()
    found = search(files_beside(tmp_path / "a.ledger"), [])
    assert (found.files, found.bytes) == (["a.ledger", "a.ledger-journal"], len(NOISE))
    assert found.found == []


def test_what_cannot_be_searched_is_told(tmp_path: Path) -> None:
    """A file or folder that cannot be read is an error, never a search that found nothing."""
    with pytest.raises(StorageError, match="cannot look through"):
        files_beside(tmp_path / "none" / "a.ledger")
    with pytest.raises(StorageError, match="cannot search"):
        search([tmp_path / "none"], [b"x"])
