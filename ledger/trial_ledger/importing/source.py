"""What every importer gives back, and the parts of it that must not depend on the importer.

Invariant: everything here is a pure function of the bytes of the source. Nothing depends on the
name or place of the file, on the clock or on the version of an importer, so that the same bytes
always give the same event ids and a second import appends nothing.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from blake3 import blake3

from trial_ledger.documents.dataset import Dataset
from trial_ledger.documents.manifest import Manifest
from trial_ledger.documents.rubric import Rubric
from trial_ledger.errors import InvalidInputError, NotFoundError
from trial_ledger.identifiers import Name
from trial_ledger.submission import Submission

__all__ = ["SOURCE_KEYS", "ImportedRun", "SourceFile", "event_id", "run_name", "safe_name"]

RUN_PREFIX_LENGTH = 60
DIGEST_PREFIX_LENGTH = 12
NAME_LENGTH = 256
NOT_IN_RUN_NAME = re.compile(r"[^a-z0-9._-]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

SOURCE_KEYS = "source-keys"
"""`about` of the note that lists the keys by which another import of the same source is found."""


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of one source file, and both of their digests."""

    label: str
    """The file as the user named it; for messages only, never stored."""
    content: bytes
    """The bytes."""
    blake3: str
    """BLAKE3 of them, 64 hex digits."""
    sha256: str
    """SHA-256 of them, 64 hex digits."""

    @classmethod
    def of(cls, content: bytes, *, label: str) -> "SourceFile":
        """Return the source file that consists of these bytes."""
        return cls(
            label=label,
            content=content,
            blake3=blake3(content).hexdigest(),
            sha256=hashlib.sha256(content).hexdigest(),
        )

    @classmethod
    def read(cls, path: Path, *, limit: int) -> "SourceFile":
        """Read a file of at most `limit` bytes.

        Raises:
            NotFoundError: there is no such file.
            InvalidInputError: it is no file, cannot be read, or is larger.
        """
        label = str(path)
        try:
            with path.open("rb") as stream:
                content = stream.read(limit + 1)
        except FileNotFoundError as error:
            raise NotFoundError(f"no such file: {label}") from error
        except OSError as error:
            raise InvalidInputError.single(
                f"cannot be read: {error.strerror}", what="source file", source=label
            ) from error
        if len(content) > limit:
            raise InvalidInputError.single(
                "too large", what="source file", source=label, expected=f"<= {limit} bytes"
            )
        return cls.of(content, label=label)


class ImportedRun(msgspec.Struct, frozen=True, kw_only=True):
    """Another tool's log, as documents and events that nobody has accepted yet.

    A caller registers the dataset, freezes rubric and manifest, appends the submissions in the
    given order, and relates the run to earlier ones that share a source key.
    """

    name: str
    """Name of the run: the source's task and a prefix of the source's digest."""
    source_format: str
    """Format of the source, as `inspect`."""
    source: SourceFile
    """The source file."""
    dataset: Dataset
    """Dataset as far as the source shows it."""
    rubric: Rubric
    """Rubric as far as the source shows it."""
    manifest: Manifest
    """Manifest as far as the source shows it."""
    submissions: Callable[[str], Iterator[Submission]]
    """From the hash of the frozen manifest to the events from `run.opened` to `run.closed`.

    They come in an order that the guards accept, the same ones at every call.
    """
    source_keys: tuple[str, ...]
    """What identifies the evaluation in its source, whatever its bytes."""


def event_id(source_format: str, digest: str, path: str, part: str = "") -> str:
    """Return the id of the event that comes from one place in a source."""
    text = f"{source_format}\0{digest}\0{path}\0{part}"
    return blake3(text.encode()).hexdigest(length=16)


def run_name(task: str, digest: str) -> str:
    """Return the run's name: the task in the letters a name may have, and a digest prefix."""
    lowered = NOT_IN_RUN_NAME.sub("-", task.lower()).strip("-._")[:RUN_PREFIX_LENGTH]
    return f"{lowered or 'run'}-{digest[:DIGEST_PREFIX_LENGTH]}"


def safe_name(text: str, *, limit: int = NAME_LENGTH) -> Name:
    """Return a text as a label: as it is where the rules allow, else cleaned and made unique.

    Control characters and lone surrogates become U+FFFD and an overlong text is cut; a digest of
    the original is added, so that texts which differ only there keep different labels.
    """
    cleaned = CONTROL.sub("\ufffd", text)
    if cleaned == text and 0 < len(text) <= limit:
        return text
    digest = blake3(text.encode("utf-8", "surrogatepass")).hexdigest(length=8)
    return f"{cleaned[: limit - 20]}~{digest}"
