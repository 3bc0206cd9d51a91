"""An Inspect log, opened: its header, and its samples one at a time, with references resolved.

Invariant: a log that was opened is one whole log of a known version; samples come in the order of
the file, each at most once; of a `.eval` only one sample is unpacked at any moment.

Both shapes are read, by their content and not by their name: `.eval` (a ZIP file with
`header.json`, or with `_journal/start.json` alone where the run crashed) and `.json` (one
document). Two records of one sample are two sessions where the log gives them different uuids: a
requeued sample is appended beside its former record, and Inspect itself counts the last. Without
uuids that differ they are duplicates, and the log is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from trial_ledger.errors import InvalidInputError, Problem, UnsupportedFormatError
from trial_ledger.importing.inspect_resolve import resolve_sample
from trial_ledger.importing.lenient_json import (
    JsonObject,
    count_at,
    list_at,
    mapping_at,
    mappings_at,
    parse_json,
    text_at,
    whole_text,
)
from trial_ledger.importing.source import SourceFile, safe_name
from trial_ledger.importing.zip_members import Limits, Member, ZipMembers
from trial_ledger.strict_json import shorten

__all__ = ["InspectHeader", "InspectLog", "Limits", "SampleRecord", "open_inspect_log"]

VERSIONS = frozenset({2, 3})
ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
MONOLITH = re.compile(r"samples/(?P<key>.+_epoch_[0-9]+)\.json")
CHUNK = re.compile(
    r"samples/(?P<key>.+_epoch_[0-9]+)/"
    r"(?P<part>sample|metadata|messages|events|calls|attachments)(?:/(?P<start>[0-9]{1,15}))?\.json"
)
SIDECAR = re.compile(r"samples/.+_epoch_[0-9]+/(skeleton|events/stats|events/uuids)\.json")
SUMMARIES = re.compile(r"_journal/summaries/([0-9]{1,15})\.json")
CONFIG_UPDATES = re.compile(r"_journal/config_updates/([0-9]{1,15})\.json")
START = "_journal/start.json"
KNOWN_MEMBERS = frozenset({"header.json", "summaries.json", "reductions.json", START})
KEPT_BYTES = 8 * 1024 * 1024
"""Unpacked size up to which the samples of a log are kept between the two passes over it."""
Chunks: TypeAlias = dict[str, list[tuple[int, Member]]]
"""Members of one chunked sample: by sequence, each with the number of its first item."""
HINT = "an Inspect log is the .eval or .json file that `inspect eval` writes into its log folder"


class InspectHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says about the whole evaluation."""

    version: int
    """Version of the log format."""
    status: str
    """`started`, `success`, `cancelled` or `error`, as the log writes it."""
    spec: JsonObject
    """The evaluation: task, dataset, model, configuration, packages."""
    plan: JsonObject
    """The solvers."""
    results: JsonObject
    """The source's own results; empty where there are none."""
    stats: JsonObject
    """Times and usage of the whole evaluation."""
    error: JsonObject
    """What stopped the evaluation; empty where nothing did."""
    invalidated: bool
    """Whether the log is marked as holding invalidated samples."""
    log_updates: Sequence[JsonObject]
    """Later edits of tags and metadata, with author and reason."""
    config_updates: Sequence[JsonObject]
    """Changes of the configuration while the evaluation ran."""
    crashed: bool
    """Whether there is no header and only the journal was read."""
    has_reductions: bool
    """Whether scores reduced over epochs were stored beside the samples."""
    summaries: Sequence[tuple[str, int]]
    """Question and epoch of every sample that the log's summaries list."""
    foreign_members: Sequence[str]
    """Names of members that no known version writes."""


class SampleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One sample, as the log holds it."""

    question: str
    """Its id as a question id."""
    repetition: int
    """Its epoch."""
    session: str
    """`s1`, or the number of the record where a sample has several."""
    content: JsonObject
    """The sample with its references resolved."""
    missing: int
    """References in it that lead nowhere."""

    @property
    def path(self) -> str:
        """Place of the sample in the source, the same whatever member holds it."""
        return f"samples/{self.question}/{self.repetition}/{self.session}"


class InspectLog:
    """One log, opened."""

    def __init__(self, source: SourceFile, *, limits: Limits) -> None:
        """Read everything but the samples.

        Raises:
            InvalidInputError: not an Inspect log, or not a whole one.
            UnsupportedFormatError: a version of the format that is not known here.
        """
        self.source = source
        self.limits = limits
        self.archive: ZipMembers | None = None
        self.document: JsonObject = {}
        self.kept: Sequence[SampleRecord] | None = None
        if source.content.startswith(ZIP_SIGNATURES):
            self.archive = ZipMembers(source.content, source=source.label, limits=limits)
            self.by_name = self.members_by_name(self.archive)
            self.header = self.read_header()
        else:
            value = parse_json(source.content, source=source.label)
            self.document = value if isinstance(value, dict) else {}
            self.header = self.header_of(self.document, {})

    @property
    def suffix(self) -> str:
        """`.eval` or `.json`, by content."""
        return ".json" if self.archive is None else ".eval"

    def members_by_name(self, archive: ZipMembers) -> Mapping[str, Member]:
        """Return the members that are no samples by name; two of one name are refused."""
        found: dict[str, Member] = {}
        problems: list[Problem] = []
        for member in archive.members:
            if MONOLITH.fullmatch(member.name):
                continue
            if member.name in found:
                problems.append(
                    archive.problem("two members of one name", found=repr(member.name[:80]))
                )
            found[member.name] = member
        if problems:
            raise InvalidInputError(problems, what="Inspect log")
        return found

    def read_header(self) -> InspectHeader:
        """Return the header of a ZIP file, from its journal where the run crashed."""
        crashed = "header.json" not in self.by_name
        name = START if crashed else "header.json"
        value = self.read_member(name) if name in self.by_name else None
        journal: dict[str, object] = {"crashed": crashed}
        journal["summaries"] = self.summary_keys()
        if crashed:
            journal["config_updates"] = [
                self.read_member(found) for found in self.numbered(CONFIG_UPDATES)
            ]
        return self.header_of(value if isinstance(value, dict) else {}, journal)

    def numbered(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the names of numbered members in the order of their numbers."""
        found = [
            (int(match[1]), match[0]) for match in map(pattern.fullmatch, self.by_name) if match
        ]
        return [name for _, name in sorted(found)]

    def read_member(self, name: str) -> object:
        """Return the parsed content of a member that is no sample."""
        return self.parse(self.by_name[name])

    def parse(self, member: Member) -> object:
        """Return the parsed content of a member."""
        assert self.archive is not None, "only a ZIP file has members"
        return parse_json(
            self.archive.read(member), source=f"{self.source.label}:{member.name[:120]}"
        )

    def summary_keys(self) -> list[tuple[str, int]]:
        """Return question and epoch of every sample in the summaries, each once."""
        names = ["summaries.json"] if "summaries.json" in self.by_name else self.numbered(SUMMARIES)
        keys: dict[tuple[str, int], None] = {}
        for name in names:
            for summary in mappings_at({"all": self.read_member(name)}, "all"):
                epoch = count_at(summary, "epoch")
                if epoch and "id" in summary:
                    keys[question_id(summary["id"]), epoch] = None
        return list(keys)

    def header_of(self, value: JsonObject, journal: JsonObject) -> InspectHeader:
        """Return the typed header of a log's outermost object."""
        spec = mapping_at(value, "eval")
        if text_at(spec, "task") is None or "version" not in value:
            raise InvalidInputError.single(
                "not an Inspect log",
                what="Inspect log",
                source=self.source.label,
                expected="a version and an evaluation with its task",
                hint=HINT,
            )
        version = value["version"]
        if not isinstance(version, int) or version not in VERSIONS:
            raise UnsupportedFormatError(
                [
                    Problem(
                        message="unknown version of the log format",
                        source=self.source.label,
                        field="version",
                        found=shorten(version),
                        expected="2 or 3",
                    )
                ],
                what="Inspect log",
            )
        return InspectHeader(
            version=version,
            status=text_at(value, "status") or "started",
            spec=spec,
            plan=mapping_at(value, "plan"),
            results=mapping_at(value, "results"),
            stats=mapping_at(value, "stats"),
            error=mapping_at(value, "error"),
            invalidated=value.get("invalidated") is True,
            log_updates=mappings_at(value, "log_updates"),
            config_updates=mappings_at(value, "config_updates")
            or mappings_at(journal, "config_updates"),
            crashed=journal.get("crashed") is True,
            has_reductions=self.has_reductions(value),
            summaries=journal.get("summaries", []),  # type: ignore[arg-type] # built by read_header
            foreign_members=self.foreign_members(),
        )

    def has_reductions(self, value: JsonObject) -> bool:
        """Return whether the log stores scores reduced over epochs."""
        if self.archive is not None:
            return "reductions.json" in self.by_name
        in_results = list_at(mapping_at(value, "results"), "sample_reductions")
        return bool(list_at(value, "reductions") or in_results)

    def foreign_members(self) -> list[str]:
        """Return the names of members that no known version writes."""
        if self.archive is None:
            return []
        patterns = (CHUNK, SIDECAR, SUMMARIES, CONFIG_UPDATES)
        return [
            name
            for name in self.by_name
            if name not in KNOWN_MEMBERS and not any(known.fullmatch(name) for known in patterns)
        ]

    @property
    def unpacked(self) -> int:
        """Bytes that the log unfolds to, as it declares."""
        if self.archive is None:
            return len(self.source.content)
        return sum(member.size for member in self.archive.members)

    def samples(self) -> Iterator[SampleRecord]:
        """Return the samples in the order of the file; those of a small log are read once.

        Raises:
            InvalidInputError: a member is damaged, no sample, or the sample is there twice.
        """
        if self.kept is None and self.unpacked <= KEPT_BYTES:
            self.kept = list(self.read_samples())
        return self.read_samples() if self.kept is None else iter(self.kept)

    def read_samples(self) -> Iterator[SampleRecord]:
        """Yield the samples in the order of the file.

        Raises:
            InvalidInputError: a member is damaged, no sample, or the sample is there twice.
        """
        sessions: dict[tuple[str, int], list[str | None]] = {}
        kinds: dict[str, type] = {}
        for place, value in self.raw_samples():
            epoch = count_at(value, "epoch") if isinstance(value, dict) else None
            if not isinstance(value, dict) or not epoch:
                raise self.refuse("not a sample", place)
            raw_id = value.get("id")
            question = question_id(raw_id)
            if kinds.setdefault(question, type(raw_id)) is not type(raw_id):
                raise self.refuse("a number and a text are the same question id", place)
            former = sessions.setdefault((question, epoch), [])
            uuid = text_at(value, "uuid")
            if former and (uuid is None or uuid in former or None in former):
                raise self.refuse(f"sample {question!r} epoch {epoch} is there twice", place)
            former.append(uuid)
            content, missing = resolve_sample(value)
            yield SampleRecord(
                question=question,
                repetition=epoch,
                session=f"s{len(former)}",
                content=content,
                missing=missing,
            )

    def raw_samples(self) -> Iterator[tuple[str, object]]:
        """Yield every sample as it is stored, with its place for messages."""
        if self.archive is None:
            for index, sample in enumerate(list_at(self.document, "samples")):
                yield f"samples[{index}]", sample
            return
        chunked: dict[str, Chunks] = {}
        for member in self.archive.members:
            if MONOLITH.fullmatch(member.name):
                yield member.name, self.parse(member)
            elif match := CHUNK.fullmatch(member.name):
                parts = chunked.setdefault(match["key"], {})
                parts.setdefault(match["part"], []).append((int(match["start"] or 0), member))
        for key, parts in chunked.items():
            yield f"samples/{key}", self.chunked_sample(key, parts)

    def chunked_sample(self, key: str, parts: Chunks) -> object:
        """Return a sample of log version 3 whose sequences lie in members of their own."""
        size = sum(member.size for chunks in parts.values() for _, member in chunks)
        if size > self.limits.member_bytes:
            raise self.refuse("a chunked sample is too large", f"samples/{key}")
        shell = self.parse(parts["sample"][0][1]) if "sample" in parts else None
        if not isinstance(shell, dict):
            raise self.refuse("a chunked sample without its shell", f"samples/{key}")
        metadata = self.parse(parts["metadata"][0][1]) if "metadata" in parts else None
        return {
            "metadata": metadata,
            **shell,
            "attachments": self.sequence(parts, "attachments"),
            "events": self.sequence(parts, "events"),
            "events_data": {"messages": self.sequence(parts, "messages")},
        }

    def sequence(self, parts: Chunks, part: str) -> list[object]:
        """Return the items of one sequence, its chunks in order; a gap between them is refused."""
        items: list[object] = []
        for start, member in sorted(parts.get(part, []), key=lambda chunk: chunk[0]):
            content = self.parse(member)
            if start != len(items) or not isinstance(content, list):
                raise self.refuse("a chunk is missing or no list", member.name)
            items += content
        return items

    def refuse(self, message: str, place: str) -> InvalidInputError:
        """Return the error for one sample."""
        return InvalidInputError.single(
            message, what="Inspect log", source=f"{self.source.label}:{place[:120]}"
        )


def question_id(raw: object) -> str:
    """Return a sample id as a question id: a number as its digits, a text as it is."""
    return safe_name(whole_text(raw) or "")


def open_inspect_log(path: Path, *, limits: Limits | None = None) -> InspectLog:
    """Open an Inspect log of either shape.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it is no Inspect log, is damaged, or unfolds to too much.
    """
    bounds = limits or Limits()
    source = SourceFile.read(path, limit=bounds.source_bytes)
    return InspectLog(source, limits=bounds)
