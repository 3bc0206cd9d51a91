"""Events of the ledger as a whole: documents, sources, redactions, keys.

Invariant: a document is frozen once and known by hash.
"""

from trial_ledger.forms import HashForm, NameForm
from trial_ledger.identifiers import Count, Positive
from trial_ledger.kinds.base import (
    Data,
    GoldText,
    Phase,
    PlainText,
    Text,
)

__all__ = [
    "BlobRedacted",
    "DatasetRegistered",
    "FileDigest",
    "KeyRotated",
    "LedgerOpened",
    "ManifestFrozen",
    "NoteAdded",
    "Official",
    "RubricFrozen",
    "SourceImported",
]


class Official(Data, frozen=True, kw_only=True, gc=False):
    """A benchmark's own grading, used unchanged (C15)."""

    benchmark: NameForm
    """Name of the benchmark."""
    grader: NameForm
    """Its grader, as `name@version`."""
    repository: str | None = None
    """Where it came from."""
    commit: str | None = None
    """At which commit."""
    digests: dict[str, str] = {}
    """File name to digest."""
    patches: tuple[str, ...] = ()
    """What was changed; must be empty for the run to bear the benchmark's name."""


class LedgerOpened(Data, frozen=True, kw_only=True, gc=False):
    """The first event: what this file is."""

    format: Positive
    """Format version of the file."""
    algorithms: dict[str, str]
    """Name of each algorithm by its use."""
    public_keys: tuple[str, ...] = ()
    """Keys that may sign heads; empty until a key is made."""
    created_by: NameForm | None = None
    """Program and version."""


class DatasetRegistered(Data, frozen=True, kw_only=True, gc=False):
    """Questions an agent may see, and commitments to gold it may not (C1, C2)."""

    name: NameForm
    """Name of the dataset."""
    version: NameForm
    """Its version."""
    reconstructed: bool = False
    """Rebuilt from another tool's log, so that only ids are certain."""
    questions: PlainText
    """Canonical JSON list of the agent's view of each question."""
    count: Count
    """Number of questions."""
    by_shape: dict[str, Count] = {}
    """Questions by task shape; `unknown` where the source does not say."""
    by_split: dict[str, Count] = {}
    """Questions by split; `none` where there is none."""
    commitments: PlainText
    """Canonical JSON: question id to the commitment of its gold record, null without gold."""
    commitments_root: HashForm
    """BLAKE3 of that JSON."""
    canary: HashForm | None = None
    """Commitment to the canary string; None without one."""
    leak_min_length: Positive
    """Shortest gold text that the leak guard looks for, in characters (C3)."""
    cutoff: str | None = None
    """Date after which nothing may be used."""
    warnings: PlainText | None = None
    """Canonical JSON list of warnings (C4, C5); None without any."""
    warning_count: Count = 0
    """How many."""
    provenance: Text | None = None
    """Where the records come from."""


class RubricFrozen(Data, frozen=True, kw_only=True, gc=False):
    """How answers are scored, before the first trial (C14, C20)."""

    name: NameForm
    """Name of the rubric."""
    version: NameForm
    """Its version."""
    reconstructed: bool = False
    """Rebuilt from another tool's log."""
    document: PlainText
    """Canonical form with every default written out."""
    rubric_hash: HashForm
    """Hash of that form."""
    official: Official | None = None
    """Set only where a benchmark's own grading is used unchanged."""


class ManifestFrozen(Data, frozen=True, kw_only=True, gc=False):
    """The frozen declaration of one configuration (C9, C10)."""

    configuration: NameForm
    """The manifest's name of the system under test."""
    manifest_hash: HashForm
    """Hash over everything."""
    system_hash: HashForm
    """Hash over what changes the behaviour of the system under test."""
    phase: Phase | None
    """Pilot or final, never mixed in one metric (C13); None where a source does not say."""
    dataset: NameForm
    """`name@version` of a registered dataset."""
    rubric: NameForm
    """`name@version` of a frozen rubric."""
    document: PlainText
    """Canonical form with every default written out."""
    supersedes: HashForm | None = None
    """Manifest that this one replaces."""
    reconstructed: bool = False
    """Rebuilt from another tool's log."""


class BlobRedacted(Data, frozen=True, kw_only=True, gc=False):
    """The bytes of a blob are erased; what proves it stays (C11)."""

    blob: HashForm
    """Which."""
    reason: Text
    """Why."""
    authority: NameForm
    """On whose word."""


class FileDigest(Data, frozen=True, kw_only=True, gc=False):
    """A source file, by both digests."""

    name: NameForm
    """File name without its folder."""
    blake3: HashForm
    """BLAKE3 of the bytes."""
    sha256: HashForm
    """SHA-256 of the bytes."""
    bytes: Count
    """How many bytes."""


class SourceImported(Data, frozen=True, kw_only=True, gc=False):
    """Another tool's log came in."""

    format: NameForm
    """Its format, as `inspect`."""
    files: tuple[FileDigest, ...]
    """The source files."""
    content: GoldText | None = None
    """The bytes of the source file itself; None where there are several."""
    importer: NameForm
    """Importer and version."""
    counts: dict[str, Count] = {}
    """How many of what were read."""
    losses: Text | None = None
    """JSON list of what the source had already lost or what could not be carried over."""
    reported: Text | None = None
    """JSON list of the numbers that the source itself reports."""


class NoteAdded(Data, frozen=True, kw_only=True, gc=False):
    """A remark; changes no number."""

    about: NameForm
    """What it is about."""
    text: Text
    """The remark."""


class KeyRotated(Data, frozen=True, kw_only=True, gc=False):
    """Another key signs heads from here on."""

    old_public_key: str | None = None
    """The key before; None where there was none."""
    new_public_key: str
    """The key from now on."""
