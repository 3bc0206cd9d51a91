"""The reference of events, from the closed union of kinds.

Invariant: every kind stands here with every field, and nothing that is not in the code.
"""

import re
from collections.abc import Mapping
from typing import get_args

from source import class_doc, struct_table

from trial_ledger import events
from trial_ledger.amounts import Cost, Usage
from trial_ledger.events import KINDS, LINKED_KINDS
from trial_ledger.identifiers import TrialKey
from trial_ledger.intake import COMMAND_KINDS
from trial_ledger.kinds import base
from trial_ledger.upcasting import newest_version

__all__ = ["RULES", "kinds", "lists", "parts", "words_of"]

RULES: Mapping[str, str] = {
    "ledger.opened": "Only as the first event.",
    "dataset.registered": "Every record valid (C1); no gold inside (C2); name and version new.",
    "rubric.frozen": "Every outcome and failure class has a rule (C8, C20); name and version new.",
    "manifest.frozen": (
        "Dataset and rubric are there (C9, C10); one configuration name has one `system_hash`;"
        " no credential inside (C11)."
    ),
    "run.opened": (
        "Name new; manifest and rubric frozen (C9, C14); the run it supersedes or derives from"
        " exists (C12, C14). A reconstructed manifest cannot open a live run."
    ),
    "run.resumed": "The run is closed.",
    "run.closed": (
        "The run is open. `complete` needs every trial and call ended; the other states need a"
        " reason. Afterwards no trial starts and no agent call or answer comes, unless resumed."
    ),
    "run.related": "The other run exists.",
    "run.invalidated": "By a named person, with a reason, once (C12).",
    "run.reinstated": "By a named person, with a reason, while invalidated (C12).",
    "trial.started": (
        "Key new and slot planned (C16); run open. In a live run the input is there (C17) and shows"
        " no gold (C3)."
    ),
    "call.started": (
        "Call id new, trial open; endpoint in the frozen policy, or `occurrence` names a recorded"
        " `endpoint_fallback` (C24). Judge calls may follow the end of the trial; their endpoint is"
        " the rubric's."
    ),
    "call.finished": "Call open; `failed` names a recorded occurrence (C23).",
    "response.lost": (
        "Call started; the occurrence is of class `response_lost` and fault `harness` (C21)."
    ),
    "failure.occurred": "Never refused; the occurrence id is new in its trial (C23).",
    "failure.recovered": "Occurrence recorded and not recovered yet.",
    "failure.assessed": "Occurrence recorded.",
    "failure.surfaced": "Occurrence recorded (C25).",
    "answer.submitted": "Trial open, once; without text only as an abstention.",
    "trial.finished": "Trial open, no call open; outcome `unknown` in imports only.",
    "trial.invalidated": "By a named person or by the leak guard, with a reason, once (C3, C12).",
    "trial.reinstated": "By a named person, with a reason, while invalidated (C12).",
    "query.inspected": "Trial started; a reason is given (C22).",
    "retrieval_miss.declared": (
        "Queries inspected and found adequate, and no response lost in the trial (C22)."
    ),
    "judgment.recorded": (
        "Trial ended; rubric is the run's (C14); the metric exists; (trial, metric, grader, pass)"
        " new; the value fits the measure and its scale (C20). In a live run it carries reasoning"
        " or parts (C28)."
    ),
    "judgment.failed": "Trial ended; a failed judge names its occurrence (C23).",
    "judgment.overridden": (
        "By a named person, with a reason; `replaces` is the effective judgment, which stays (C31)."
    ),
    "item.judged": "Trial ended; a reason is given (C6). `ledger grade` judges the list again.",
    "review.drawn": "The seed is the rubric's (C29).",
    "review.recorded": "By a named person, with a reason; trial ended.",
    "disagreement.opened": "Judgment and review exist (C30).",
    "disagreement.resolved": "The disagreement is open (C30).",
    "metric.published": "The rubric has the metric; `link` is not beyond the run's (C36).",
    "blob.redacted": "Names who and why; only afterwards can the bytes be erased (C11).",
    "source.imported": "Written by importers.",
    "note.added": "Changes no number.",
    "key.rotated": "Names the new key.",
}
"""What the guard of a kind asks, in a sentence."""

FORMS: Mapping[str, str] = {
    "Name": "name",
    "RunName": "run name",
    "Hash": "hash",
    "EventId": "id",
    "Rational": "rational",
    "Decimal": "decimal",
    "Timestamp": "time",
    "Currency": "currency code",
}
"""Forms of short texts, as `Name` or `NameForm`, and what they are called outside the code."""

WORDS: Mapping[str, str] = {
    **FORMS,
    **{f"{name}Form": words for name, words in FORMS.items()},
    **{f"{name}Text": words for name, words in FORMS.items()},
    "Positive": "integer from 1",
    "Count": "integer from 0",
    "Text": "sealed text",
    "GoldText": "gold text",
    "PlainText": "plain document",
    "Json": "any JSON value",
    "AnyData": "the fields of its kind",
    "str": "string",
    "bool": "boolean",
    "int": "integer",
    "object": "any JSON value",
    "TaskShape": "`fact`, `list`, `structured`, `research`",
}
"""What a type is called outside the code."""


PARTS = (
    events.Event, TrialKey, events.Actor, events.Link, events.BlobRef, Cost, Usage, events.Served,
    events.Grader, events.ScorePart, events.DerivedFrom, events.FileDigest, events.Official,
)  # fmt: skip
"""Structs that events are made of."""

LISTS = (
    "Role", "Entry", "Phase", "Outcome", "Verdict", "Purpose", "Fault", "Impact", "FailureClass",
    "BlobClass",
)  # fmt: skip
"""Closed lists of words."""


def words_of(annotation: str) -> str:
    """Return a type in words, as `list of names` or `hash, or null`."""
    text = annotation.strip()
    if text.endswith(" | None"):
        return f"{words_of(text.removesuffix(' | None'))}, or null"
    if text.endswith(" | UnsetType"):
        return f"{words_of(text.removesuffix(' | UnsetType'))}, or absent"
    parts = re.split(r" \| (?![^\[]*\])", text)
    if len(parts) > 1:
        return " or ".join(words_of(part) for part in parts)
    inner = re.fullmatch(r"(tuple|list|dict|Annotated|Literal)\[(.*)\]", text)
    return single(text) if inner is None else generic(*inner.groups())


def generic(outer: str, content: str) -> str:
    """Return a type with a parameter in words."""
    parts = content.split(", ")
    if outer == "Literal":
        return ", ".join("`" + part.strip("'") + "`" for part in parts)
    if outer == "Annotated":
        return words_of(parts[0])
    if outer == "dict":
        return f"object: {words_of(parts[0])} to {words_of(content.partition(', ')[2])}"
    if outer == "tuple" and parts[-1] != "...":
        return f"list: {', '.join(words_of(part) for part in parts)}"
    return f"list of {words_of(content.removesuffix(', ...'))}"


def single(name: str) -> str:
    """Return the name of one type in words, with a link to where it is described."""
    if name in WORDS:
        return WORDS[name]
    if name in LISTS:
        return f"[{name}](#closed-lists)"
    linked = {kind.__name__ for kind in PARTS}
    return f"[{name}](#{name.lower()})" if name in linked else f"`{name}`"


def kinds() -> list[str]:
    """Return a section for every kind, in the order of the union."""
    lines: list[str] = []
    for tag, kind in KINDS.items():
        facts = [
            f"Version {newest_version(tag)}",
            "linked" if tag in LINKED_KINDS else "not linked",
            f"written by `{COMMAND_KINDS[tag]}`" if tag in COMMAND_KINDS else "",
        ]
        lines += [f"### `{tag}`", "", class_doc(kind), ""]
        lines += [f"*{', '.join(fact for fact in facts if fact)}.* {RULES[tag]}", ""]
        rows = struct_table(kind, describe=words_of)
        lines += [*rows, ""] if len(rows) > 2 else ["No fields.", ""]  # noqa: PLR2004 - the heading
    return lines


def parts() -> list[str]:
    """Return a section for every struct that events are made of."""
    lines: list[str] = []
    for kind in PARTS:
        default = kind not in {events.Event, events.Link, events.BlobRef}
        lines += [f"### {kind.__name__}", "", class_doc(kind), ""]
        lines += [*struct_table(kind, describe=words_of, default=default), ""]
    return lines


def lists() -> list[str]:
    """Return the closed lists of words."""
    return [
        f"- **{name}**: {', '.join(f'`{word}`' for word in get_args(getattr(base, name)))}"
        for name in LISTS
    ]
