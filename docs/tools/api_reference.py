"""The references of documents, of the JSON output and of the Python interface, from the source.

Invariant: what is described is what is importable; a method without a docstring cannot appear.
"""

from collections.abc import Sequence

from event_reference import words_of
from source import class_doc, function_section, struct_table

from trial_ledger import book, submission, verification
from trial_ledger.async_book import AsyncLedger
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.checking import Finding
from trial_ledger.documents import dataset_structs, manifest_structs, outcomes, rubric_structs
from trial_ledger.errors import Problem
from trial_ledger.signed_heads import HeadState, NoteState
from trial_ledger.tools import Tools
from trial_ledger.view import Head, LedgerView, Stored
from trial_projections import (
    acts,
    aggregate,
    bridge_structs,
    comparison_structs,
    derivation,
    failure_groups,
    failures,
    fault_effects,
    intervals,
    latency,
    publishing,
    reading,
    records,
    replay,
    report_structs,
    report_texts,
    reported,
    review_estimate,
    scores,
    spending,
    summary,
    trace,
    trace_effect,
    trace_facts,
    trace_fate,
    trace_steps,
    trust,
)
from trial_projections.reading import ReadModel

__all__ = ["async_methods", "documents", "json_structs", "ledger_methods", "read_model", "values"]

RUBRIC = (
    ("The document", rubric_structs.Rubric),
    ("`[metrics.NAME]`", rubric_structs.Metric),
    ("`[outcomes]`, one table a class", outcomes.OutcomeRule),
    ("`[judge]`", rubric_structs.Judge),
    ("`[empty_sets]`, one table a case", rubric_structs.EmptySet),
    ("`[review]`", rubric_structs.Review),
)
MANIFEST = (
    ("The document", manifest_structs.Manifest),
    ("`[agent]`", manifest_structs.Agent),
    ("`[models.NAME]`", manifest_structs.Model),
    ("`[prompts.NAME]`", manifest_structs.Prompt),
    ("`[[tools]]`", manifest_structs.Tool),
    ("`[endpoints.NAME]`", manifest_structs.Endpoint),
    ("`[limits]`", manifest_structs.Limits),
    ("`[retry]`", manifest_structs.Retry),
    ("`[outage]`", manifest_structs.Outage),
    ("`[budget]`", manifest_structs.Budget),
    ("`[prices]`", manifest_structs.Prices),
    ("one entry of `[prices]`, as frozen", manifest_structs.Price),
    ("`[documentation]`", manifest_structs.Documentation),
    ("`[harness]`", manifest_structs.Harness),
    ("`references`, filled in at freezing", manifest_structs.References),
)
DATASET = (
    ("A question, as agents and commands see it", dataset_structs.Question),
    ("A warning", dataset_structs.DatasetWarning),
)
DOCUMENTS = {"rubric": RUBRIC, "manifest": MANIFEST, "dataset": DATASET}

JSON_STRUCTS = (
    summary.RunSummary, records.RunRecord, records.StandingChange, scores.MetricScore,
    intervals.ScoreInterval,
    aggregate.Range, aggregate.Share, reported.Reported, failures.FailureCounts, reading.Account,
    comparison_structs.Comparison, comparison_structs.Pair, comparison_structs.PairedMetric,
    comparison_structs.SettingChange, comparison_structs.Flip, comparison_structs.Frontier,
    comparison_structs.FrontierPoint, comparison_structs.Bounds, comparison_structs.MissingOutcomes,
    spending.Spending, spending.CostPerRight, spending.CostQuantile,
    latency.Latency, latency.Times, latency.Quantile, trust.TrustMark,
    derivation.Derivation, derivation.Member, derivation.EventReference,
    bridge_structs.Bridge, bridge_structs.Step, bridge_structs.SlotChange, bridge_structs.Side,
    bridge_structs.Move,
    verification.Verification, Finding, HeadState, NoteState, replay.Replay, Head,
    acts.MetricChange, acts.MetricValue, acts.MarkChange,
    failure_groups.FailureGroup, failure_groups.FailureReference, fault_effects.FaultEffect,
    trace.Trace,
    trace_steps.TraceStep, trace_fate.Fate, trace_fate.NextCall, trace_facts.Surfacing,
    trace_fate.Attempt, trace_effect.Effect, trace_fate.Miss, trace.Alike, trace.Order,
    report_structs.Report, report_structs.HeadFacts, report_structs.RunReport,
    report_structs.DatasetFacts, report_structs.Shown, report_structs.TrialRow,
    report_structs.VerdictRow, report_texts.ReportText, report_structs.FailureRow,
    report_structs.MissRow, report_structs.DisagreementRow, report_structs.Change,
    publishing.Followed, report_structs.RelatedRun, report_structs.ReviewRow,
    review_estimate.ReviewEstimate,
)  # fmt: skip

METHODS = (
    "create", "open", "append", "append_many", "append_group", "append_all", "register", "freeze",
    "close",
)  # fmt: skip
ASYNC_METHODS = (
    "open", "new_id", "append", "append_group", "append_many", "append_all", "register", "freeze",
    "fate", "read", "blob", "events", "head", "verify",
)  # fmt: skip
VIEW_METHODS = ("events", "read", "blob", "head")
MODEL_METHODS = ("open", "runs", "run", "trials", "occurrences", "accounts", "score_input", "close")


def plain(annotation: str) -> str:
    """Return a type in words, without links to another page."""
    return words_of(annotation).replace("](#", "](events.md#")


def documents(name: str) -> list[str]:
    """Return the sections of one document's reference."""
    lines: list[str] = []
    for heading, kind in DOCUMENTS[name]:
        lines += [f"#### {heading}", "", class_doc(kind), ""]
        lines += [*struct_table(kind, describe=plain), ""]
    return lines


def structs(kinds: Sequence[type]) -> list[str]:
    """Return a section for each struct, types that have one linked to it."""
    names = {kind.__name__ for kind in kinds}

    def linked(annotation: str) -> str:
        words = plain(annotation)
        for name in names:
            words = words.replace(f"`{name}`", f"[{name}](#{name.lower()})")
        return words

    lines: list[str] = []
    for kind in kinds:
        lines += [f"### {kind.__name__}", "", class_doc(kind), ""]
        lines += [*struct_table(kind, describe=linked, default=False), ""]
    return lines


def json_structs() -> list[str]:
    """Return the structs that JSON output is made of."""
    return structs(JSON_STRUCTS)


def methods(owner: type, names: Sequence[str]) -> list[str]:
    """Return the sections of some methods."""
    lines: list[str] = []
    for name in names:
        lines += function_section(owner, name, getattr(owner, name))
    return lines


def ledger_methods() -> list[str]:
    """Return the methods of an open ledger."""
    return methods(book.Ledger, METHODS) + methods(LedgerView, VIEW_METHODS)


def async_methods() -> list[str]:
    """Return the methods of a ledger to be awaited."""
    return methods(AsyncLedger, ASYNC_METHODS)


def read_model() -> list[str]:
    """Return the methods of the read side."""
    return methods(ReadModel, MODEL_METHODS)


def values() -> list[str]:
    """Return the values that go in and come out."""
    kinds = (submission.Submission, submission.NewText, Entry, Acknowledgement, Stored, Head,
             verification.Verification, Finding, Problem, Tools)  # fmt: skip
    return structs(kinds) + function_section(None, "verify", verification.verify)


assert issubclass(Ledger, LedgerView), "a ledger is read like a view"
