"""Members of hostile and damaged ZIP files, and of good ones in every compression."""

import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspect_cases import DEFLATED, STORED, ZSTANDARD, Archive
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.zip_members import Limits, ZipMembers

SMALL = Limits(source_bytes=10_000, member_bytes=1000, total_bytes=1500, members=5)


def opened(archive: Archive, limits: Limits | None = None) -> ZipMembers:
    """Return the members of an archive."""
    return ZipMembers(archive.content(), source="log.eval", limits=limits or Limits())


def messages(archive: Archive, limits: Limits | None = None) -> list[str]:
    """Return what is wrong with an archive."""
    with pytest.raises(InvalidInputError) as caught:
        opened(archive, limits)
    return [problem.message for problem in caught.value.problems]


def read_error(archive: Archive) -> str:
    """Return what is wrong with the only member of an archive whose directory is good."""
    members = opened(archive)
    with pytest.raises(InvalidInputError) as caught:
        members.read(members.members[0])
    return str(caught.value.problems[0])


@given(
    contents=st.lists(st.binary(max_size=3000), max_size=4),
    method=st.sampled_from([STORED, DEFLATED, ZSTANDARD]),
)
def test_every_member_comes_back_as_it_was_written(contents: list[bytes], method: int) -> None:
    """Reading is the inverse of writing, in all three compressions and with several frames."""
    archive = Archive()
    for number, content in enumerate(contents):
        archive.add(f"samples/{number}.json", content, method=method)
    members = opened(archive)
    assert [members.read(member) for member in members.members] == contents


def test_a_member_may_be_larger_than_one_chunk(archive: Archive) -> None:
    """What is unfolded piece by piece is put together again."""
    content = b"0123456789" * 400_000
    archive.add("deflated", content, method=DEFLATED)
    archive.add("zstandard", content)
    members = opened(archive)
    assert [members.read(member) for member in members.members] == [content, content]


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "a\\b", "samples/../../x", "C:x", "a\nb", "a\u202eb", "..", "a/.."],
)
def test_a_hostile_member_name_is_refused(archive: Archive, name: str) -> None:
    """Names that would leave a folder or mislead a reader do not come in."""
    archive.add(name, b"{}")
    assert messages(archive) == ["hostile member name"]


def test_every_fault_of_a_directory_is_reported_at_once(archive: Archive) -> None:
    """One error names all bad entries."""
    archive.add("../x", b"{}")
    archive.add("locked", b"{}", flags=0x801)
    archive.add("odd", b"{}", method=12)
    archive.add("large", b"", size=5000)
    assert messages(archive, SMALL) == [
        "hostile member name",
        "encrypted member",
        "member 'odd' has an unknown compression method",
        "member 'large' is too large",
        "members unfold to too much",
    ]


def test_a_file_with_too_many_members_is_refused(archive: Archive) -> None:
    """The number of members is bounded before any is looked at."""
    for number in range(6):
        archive.add(str(number), b"")
    assert messages(archive, SMALL) == ["too many members"]


@pytest.mark.parametrize("kept", [3, 40, -1])
def test_a_truncated_file_is_refused(archive: Archive, kept: int) -> None:
    """A file whose end is missing is not read as far as it goes."""
    archive.add("header.json", b"{}" * 50)
    with pytest.raises(InvalidInputError, match="not acceptable") as caught:
        ZipMembers(archive.content()[:kept], source="log.eval", limits=Limits())
    assert caught.value.problems[0].message == "not a whole ZIP file"
    assert "unzip -t" in str(caught.value.hint)


def test_an_entry_that_points_outside_or_at_something_else_is_refused(archive: Archive) -> None:
    """A directory entry must lead to a local header of the same name, and to data in the file."""
    archive.add("a", b"{}", local_name="b")
    archive.add("c", b"{}", offset=10_000_000)
    archive.add("d", b"{}", offset=1)
    assert messages(archive)[:3] == [
        "member 'a' lies outside the file",
        "member 'c' lies outside the file",
        "member 'd' lies outside the file",
    ]


def test_members_that_share_bytes_are_refused(archive: Archive) -> None:
    """Overlapping entries are how small files unfold to huge ones."""
    archive.add("a", b"{}")
    archive.add("a", b"{}", offset=0)
    assert messages(archive) == ["members share bytes"]


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
def test_a_bomb_is_stopped_at_its_declared_size(archive: Archive, method: int) -> None:
    """What unfolds to more than the directory says is refused before it is all there."""
    archive.add("bomb", b"0" * 5_000_000, method=method, size=10)
    assert "is larger than it declares" in read_error(archive)


def test_damaged_data_are_refused(archive: Archive) -> None:
    """Data that no longer unfold are named with their member."""
    for method in (DEFLATED, ZSTANDARD):
        broken = Archive()
        broken.add("x", b"content", method=method, data=b"\xff" * 40)
        assert "member 'x' is damaged" in read_error(broken)
    archive.add("x", b"content", checksum=1)
    assert "CRC-32" in read_error(archive)


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_data_that_end_early_are_refused(archive: Archive, method: int) -> None:
    """A stream cut in the middle is damaged, not short."""
    content = bytes(range(256)) * 40
    if method == ZSTANDARD:
        data = zstandard.compress(content)
    else:
        stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        data = stream.compress(content) + stream.flush()
    archive.add("x", content, method=method, data=data[:-20])
    assert "its data end early" in read_error(archive)


def test_a_name_in_the_old_encoding_is_compared_in_it() -> None:
    """Without the UTF-8 flag a name is read as code page 437 in both places."""
    archive = Archive()
    archive.add("plain", b"{}", flags=0)
    assert [member.name for member in opened(archive).members] == ["plain"]
