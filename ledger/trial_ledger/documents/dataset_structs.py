"""The parts of a dataset: questions that an agent may see, gold that it may not (C2).

Invariant: no field of `Question` holds gold; what a question shows an agent is an allow-list of
four fields, whatever else is added later.
"""

from collections import Counter
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from trial_ledger.documents.canonical_form import Json, canonical_json
from trial_ledger.identifiers import Name, Positive

__all__ = [
    "AGENT_FIELDS",
    "TASK_SHAPES",
    "Dataset",
    "DatasetWarning",
    "Question",
    "TaskShape",
    "agent_view",
    "decode_questions",
]

TaskShape = Literal["fact", "list", "structured", "research"]

TASK_SHAPES: tuple[TaskShape, ...] = ("fact", "list", "structured", "research")
"""What kinds of answers there are (C1)."""

AGENT_FIELDS = ("id", "question", "as_of", "context")
"""Everything that an agent may see of a question (C2)."""

DEFAULT_LEAK_LENGTH = 4


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question without its gold."""

    id: Name
    """Its id, unique in the dataset."""
    question: str | None = None
    """The question; None only in a reconstructed dataset."""
    task_shape: TaskShape | None = None
    """What kind of answer it asks for; None only in a reconstructed dataset."""
    as_of: str | None = None
    """Date for which the answer holds; None where it has none."""
    split: Name | None = None
    """Part of the dataset that it belongs to; None where there are no parts."""
    context: object = None
    """JSON value that the agent gets beside the question; None without any."""
    exhaustive: bool | None = None
    """Whether gold of a list names every right item; None for other shapes or where unknown.

    A fact about the gold, not gold: without it recall is unavailable (C6).
    """


class DatasetWarning(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that makes numbers less certain; never holds gold, since warnings are public."""

    question: Name | None = None
    """Id of the question; None where it concerns the whole dataset."""
    clause: Annotated[str, Meta(pattern=r"\AC[0-9]+\Z")]
    """The clause of the contract behind it."""
    message: str
    """What it is."""


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """Questions, and the gold records that go to the gold file."""

    name: Name
    """Its name."""
    version: Name
    """Its version."""
    reconstructed: bool = False
    """Rebuilt from another tool's log, so that only ids are certain."""
    cutoff: str | None = None
    """Date after which nothing may be used; None without one."""
    leak_min_length: Positive = DEFAULT_LEAK_LENGTH
    """Shortest gold text that the leak guard looks for, in characters (C3)."""
    canary: str | None = None
    """Text that no agent can see unless gold leaked; None without one."""
    provenance: str | None = None
    """Where the records come from; None where nobody said."""
    questions: tuple[Question, ...]
    """Every question in the order of the source."""
    gold: dict[str, bytes]
    """Question id to the canonical JSON of `{"extra":…, "gold":…, "id":…}`.

    Questions with neither gold nor extra are left out.
    """
    warnings: tuple[DatasetWarning, ...] = ()
    """Warnings in the order of the questions (C4, C5)."""

    @property
    def reference(self) -> str:
        """Return `name@version`."""
        return f"{self.name}@{self.version}"

    def questions_json(self) -> bytes:
        """Return the canonical JSON list of the questions, without gold."""
        return canonical_json(msgspec.to_builtins(self.questions))

    def warnings_json(self) -> bytes | None:
        """Return the canonical JSON list of the warnings, None without any."""
        return canonical_json(msgspec.to_builtins(self.warnings)) if self.warnings else None

    def counts_by_shape(self) -> dict[str, int]:
        """Return the number of questions of each task shape, `unknown` where it is None."""
        return dict(Counter(question.task_shape or "unknown" for question in self.questions))

    def counts_by_split(self) -> dict[str, int]:
        """Return the number of questions of each split, `none` where there is none."""
        return dict(Counter(question.split or "none" for question in self.questions))


def decode_questions(document: bytes) -> tuple[Question, ...]:
    """Return the questions that `Dataset.questions_json` wrote.

    Raises:
        msgspec.ValidationError: the bytes are no such document.
    """
    return msgspec.json.decode(document, type=tuple[Question, ...])


def agent_view(question: Question) -> dict[str, Json]:
    """Return what an agent may see of a question, by allow-list (C2)."""
    return {field: getattr(question, field) for field in AGENT_FIELDS}
