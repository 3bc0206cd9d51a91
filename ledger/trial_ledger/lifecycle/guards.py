"""The one entry: `check` sends an event to the guard of its kind.

Invariant: the match over the union is complete; a new kind does not type-check until it has a
guard here.
"""

from typing import assert_never

from trial_ledger import events
from trial_ledger.events import AnyData
from trial_ledger.lifecycle.judgments import check_judgment, check_published, check_review
from trial_ledger.lifecycle.scope import (
    Scope,
    require,
    require_human,
    require_no_trial,
    require_words,
)
from trial_ledger.lifecycle.trials import check_call, check_failure, check_trial

__all__ = ["check"]


def check(scope: Scope, data: AnyData) -> None:
    """Accept an event or refuse it; the ledger-wide rules stand in `registry` and `writer`.

    Raises:
        RuleError: with the clause that refuses it.
    """
    match data:
        case (
            events.LedgerOpened()
            | events.DatasetRegistered()
            | events.RubricFrozen()
            | events.ManifestFrozen()
            | events.RunOpened()
            | events.KeyRotated()
            | events.NoteAdded()
            | events.SourceImported()
        ):
            pass  # Their rules look at the whole ledger: `registry`.
        case events.BlobRedacted():
            check_redaction(scope)
        case (
            events.RunResumed()
            | events.RunClosed()
            | events.RunRelated()
            | events.RunInvalidated()
            | events.RunReinstated()
        ):
            check_run(scope, data)
        case (
            events.TrialStarted()
            | events.TrialFinished()
            | events.TrialInvalidated()
            | events.TrialReinstated()
            | events.AnswerSubmitted()
            | events.QueryInspected()
            | events.RetrievalMissDeclared()
        ):
            check_trial(scope, data)
        case events.CallStarted() | events.CallFinished() | events.ResponseLost():
            check_call(scope, data)
        case (
            events.FailureOccurred()
            | events.FailureRecovered()
            | events.FailureAssessed()
            | events.FailureSurfaced()
        ):
            check_failure(scope, data)
        case (
            events.JudgmentRecorded()
            | events.JudgmentFailed()
            | events.JudgmentOverridden()
            | events.ItemJudged()
        ):
            check_judgment(scope, data)
        case (
            events.ReviewDrawn()
            | events.ReviewRecorded()
            | events.DisagreementOpened()
            | events.DisagreementResolved()
        ):
            check_review(scope, data)
        case events.MetricPublished():
            check_published(scope, data)
        case _ as unreachable:
            assert_never(unreachable)


def check_redaction(scope: Scope) -> None:
    """Refuse to erase a text without a person and a reason (C11)."""
    require_human(scope, "C11")
    require_words(scope, "C11")


def check_run(scope: Scope, data: AnyData) -> None:
    """Refuse an event of a run's own life that may not follow (C12)."""
    run = scope.run
    assert run is not None, "the writer found the run"
    require_no_trial(scope)
    match data:
        case events.RunResumed():
            require(run.is_closed, f"run {run.name} is not closed")
        case events.RunClosed():
            require(not run.is_closed, f"run {run.name} is already closed")
            require(
                data.status == "complete" or scope.texts.get("reason", b"").strip(),
                f"a run closed as {data.status} says why",
                field="data.reason",
            )
        case events.RunInvalidated() | events.RunReinstated():
            require_human(scope, "C12")
            require_words(scope, "C12")
            wanted = isinstance(data, events.RunInvalidated)
            require(
                run.invalidated is not wanted,
                f"run {run.name} is {'already' if wanted else 'not'} invalidated",
                clause="C12",
            )
            require(
                not isinstance(data, events.RunInvalidated) or data.superseded_by != run.name,
                f"run {run.name} supersedes itself",
                clause="C12",
                field="data.superseded_by",
            )
        case _:
            pass  # run.related only points at another run, which `registry` looks up.
