"""Members of a ZIP file from an untrusted source, decompressed within stated bounds.

Invariant: no more bytes are produced than the limits allow, whatever the file declares; a member
that is handed out has the size and the CRC-32 that its directory entry states. Names are labels:
nothing here touches the file system.

The directory is read with the standard library, the data are not: its `zipfile` knows method 93
(Zstandard) only from Python 3.14 on, and Inspect writes a member as several concatenated frames.
"""

import io
import itertools
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence

import msgspec
import zstandard

from trial_ledger.errors import InvalidInputError, Problem

__all__ = ["Limits", "Member", "ZipMembers"]

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
LOCAL_HEADER = struct.Struct("<4s22xHH")
LOCAL_SIGNATURE = b"PK\x03\x04"
ENCRYPTED, UTF8_NAME = 0x1, 0x800
CHUNK_BYTES = 1 << 20
MEBIBYTE = 1 << 20
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line separators and marks that reverse the reading direction."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much an untrusted file may unfold to."""

    source_bytes: int = 512 * MEBIBYTE
    """Size of the file itself; it is kept as one text."""
    member_bytes: int = 256 * MEBIBYTE
    """Size of one member, unpacked."""
    total_bytes: int = 8192 * MEBIBYTE
    """Size of all members, unpacked."""
    members: int = 1_000_000
    """Number of members."""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the directory."""

    name: str
    """Its name, checked to be a relative path without tricks."""
    method: int
    """Compression method: stored, deflated or Zstandard."""
    size: int
    """Declared size of the content."""
    checksum: int
    """Declared CRC-32 of the content."""
    start: int
    """Where its data begin in the file."""
    end: int
    """Where they end."""


class ZipMembers:
    """The members of a ZIP file in memory."""

    def __init__(self, content: bytes, *, source: str, limits: Limits) -> None:
        """Read and check the directory.

        Raises:
            InvalidInputError: not a whole ZIP file, or an entry is hostile; all faults at once.
        """
        self.source = source
        self.limits = limits
        self.content = content
        self.members = self.read_directory()

    def read_directory(self) -> Sequence[Member]:
        """Return every entry in the order of the directory, once all of them are acceptable."""
        try:
            with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
                entries = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise self.refuse("not a whole ZIP file", found=str(error)[:120]) from error
        if len(entries) > self.limits.members:
            raise self.refuse(
                "too many members", found=str(len(entries)), expected=f"<= {self.limits.members}"
            )
        problems: list[Problem] = []
        members = [self.member_of(entry, problems) for entry in entries]
        self.check_extent(members, problems)
        if problems:
            raise InvalidInputError(problems, what="Inspect log")
        return members

    def member_of(self, entry: zipfile.ZipInfo, problems: list[Problem]) -> Member:
        """Return one entry, adding to `problems` what is wrong with it."""
        name = entry.orig_filename
        label = repr(name[:80])
        if is_hostile(name):
            problems.append(self.problem("hostile member name", found=label))
        if entry.flag_bits & ENCRYPTED:
            problems.append(self.problem("encrypted member", found=label))
        if entry.compress_type not in {STORED, DEFLATED, ZSTANDARD}:
            problems.append(
                self.problem(
                    f"member {label} has an unknown compression method",
                    found=str(entry.compress_type),
                    expected="0, 8 or 93",
                )
            )
        if entry.file_size > self.limits.member_bytes:
            problems.append(
                self.problem(
                    f"member {label} is too large",
                    found=f"{entry.file_size} bytes",
                    expected=f"<= {self.limits.member_bytes}",
                )
            )
        start = self.data_start(entry)
        end = start + entry.compress_size
        if start == 0 or end > len(self.content):
            problems.append(self.problem(f"member {label} lies outside the file"))
        return Member(
            name=name,
            method=entry.compress_type,
            size=entry.file_size,
            checksum=entry.CRC,
            start=start,
            end=end,
        )

    def data_start(self, entry: zipfile.ZipInfo) -> int:
        """Return where the data of an entry begin; 0 where its local header is not there."""
        header = self.content[entry.header_offset : entry.header_offset + LOCAL_HEADER.size]
        if len(header) < LOCAL_HEADER.size:
            return 0
        signature, name_length, extra_length = LOCAL_HEADER.unpack(header)
        name_start = entry.header_offset + LOCAL_HEADER.size
        raw_name = self.content[name_start : name_start + name_length]
        encoding = "utf-8" if entry.flag_bits & UTF8_NAME else "cp437"
        if signature != LOCAL_SIGNATURE or raw_name != entry.orig_filename.encode(encoding):
            return 0
        return int(name_start + name_length + extra_length)

    def check_extent(self, members: Sequence[Member], problems: list[Problem]) -> None:
        """Add to `problems` where members share bytes or unfold to more than is allowed."""
        total = sum(member.size for member in members)
        if total > self.limits.total_bytes:
            problems.append(
                self.problem(
                    "members unfold to too much",
                    found=f"{total} bytes",
                    expected=f"<= {self.limits.total_bytes}",
                )
            )
        ordered = sorted(members, key=lambda member: member.start)
        for before, after in itertools.pairwise(ordered):
            if after.start < before.end:
                problems.append(self.problem("members share bytes", found=repr(after.name[:80])))

    def read(self, member: Member) -> bytes:
        """Return the content of a member.

        Raises:
            InvalidInputError: it is damaged, or larger than it declares.
        """
        data = self.content[member.start : member.end]
        output = bytearray()
        try:
            for chunk in unfold(data, member.method):
                output += chunk
                if len(output) > member.size:
                    raise self.refuse(
                        f"member {member.name[:80]!r} is larger than it declares",
                        expected=f"{member.size} bytes",
                    )
        except zlib.error as error:
            raise self.damaged(member, str(error)) from error
        except EOFError as error:
            raise self.damaged(member, "its data end early") from error
        if len(output) < member.size:
            raise self.damaged(member, "its data end early")
        if zlib.crc32(output) != member.checksum:
            raise self.damaged(member, "its CRC-32 differs from the directory's")
        return bytes(output)

    def damaged(self, member: Member, how: str) -> InvalidInputError:
        """Return the error for a member whose bytes are not what the directory says."""
        return self.refuse(f"member {member.name[:80]!r} is damaged", found=how[:120])

    def problem(
        self, message: str, *, found: str | None = None, expected: str | None = None
    ) -> Problem:
        """Return a fault of this file."""
        return Problem(message=message, source=self.source, found=found, expected=expected)

    def refuse(
        self, message: str, *, found: str | None = None, expected: str | None = None
    ) -> InvalidInputError:
        """Return the error for exactly one fault of this file."""
        return InvalidInputError(
            [self.problem(message, found=found, expected=expected)],
            what="Inspect log",
            hint="copy the log again from where it was written; `unzip -t FILE` tests it",
        )


def is_hostile(name: str) -> bool:
    """Return whether a member name could mislead somebody who uses it as a path."""
    if not name or name.startswith("/") or "\\" in name or CONTROL.search(name):
        return True
    return ".." in name.split("/") or name[1:2] == ":"


def unfold(data: bytes, method: int) -> Iterator[bytes]:
    """Yield the content piece by piece, each piece of bounded size.

    Raises:
        EOFError: the data end before the content does.
        zlib.error: the data are damaged.
    """
    if method == ZSTANDARD:
        yield from unfold_zstandard(data)
    elif method == DEFLATED:
        yield from unfold_deflated(data)
    else:
        yield data


def unfold_deflated(data: bytes) -> Iterator[bytes]:
    """Yield a raw deflate stream piece by piece."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    rest = data
    while not stream.eof:
        piece = stream.decompress(rest, CHUNK_BYTES)
        rest = stream.unconsumed_tail
        if not piece and not rest and not stream.eof:
            raise EOFError
        yield piece


def unfold_zstandard(data: bytes) -> Iterator[bytes]:
    """Yield concatenated Zstandard frames piece by piece."""
    reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    try:
        while piece := reader.read(CHUNK_BYTES):
            yield piece
    except zstandard.ZstdError as error:
        raise zlib.error(str(error)) from error
