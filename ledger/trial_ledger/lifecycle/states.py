"""What a guard needs to know of a run and of a trial, folded from their events.

Invariant: a state is a function of the events it was given, in order; it holds no text and nothing
that grows with the length of a text.
"""

from typing import Literal

import msgspec

from trial_ledger import events
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.events import AnyData, RunOpened
from trial_ledger.identifiers import TrialKey

__all__ = ["CallState", "JudgmentState", "OccurrenceState", "RunState", "Slots", "TrialState"]


class Slots(msgspec.Struct, frozen=True, kw_only=True):
    """The planned slots of a run: every question as often as it is repeated."""

    questions: tuple[str, ...]
    """Question ids, in the manifest's order."""
    repetitions: int
    """How often each, at least once."""

    @property
    def count(self) -> int:
        """How many slots are planned."""
        return len(self.questions) * self.repetitions


class CallState(msgspec.Struct, kw_only=True):
    """One call."""

    purpose: str
    """Whose account."""
    endpoint: str | None
    """Which endpoint."""
    is_open: bool = True
    """Whether it has not ended yet."""
    is_lost: bool = False
    """Whether its response was lost."""


class OccurrenceState(msgspec.Struct, kw_only=True):
    """One failure occurrence."""

    class_: str
    """Its failure class."""
    fault: str | None
    """Whose failure."""
    recovered: bool = False
    """Whether it was made good."""


class JudgmentState(msgspec.Struct, kw_only=True):
    """One judgment or override."""

    metric: str
    """Which metric."""
    verdict: str | None = None
    """Its label."""
    score: str | None = None
    """Its value."""
    is_override: bool = False
    """Whether a person gave it in the place of another."""
    is_effective: bool = True
    """Whether nothing replaced it."""


class TrialState(msgspec.Struct, kw_only=True):
    """What the guards need of one trial."""

    started: bool = False
    """Whether it was started."""
    outcome: str | None = None
    """How it ended; None while it is open."""
    answered: bool = False
    """Whether an answer was submitted."""
    invalidated: bool = False
    """Whether it is invalidated now."""
    lost_response: bool = False
    """Whether any response was lost in it (C22)."""
    inspected: Literal["adequate", "inadequate"] | None = None
    """The latest verdict on its queries."""
    calls: dict[str, CallState] = {}
    """Calls by id."""
    occurrences: dict[str, OccurrenceState] = {}
    """Failure occurrences by id."""
    judgments: dict[str, JudgmentState] = {}
    """Judgments and overrides by id."""
    failed_judgments: dict[str, str] = {}
    """Metrics of the judgments that gave no verdict, by id."""
    carried: "TrialState | None" = None
    """In a derived run, the parent's trial, whose judgments may be repeated; else None."""
    judged: set[tuple[str, str, str | None, int]] = set()
    """(metric, grader, version, pass) that gave a verdict, so that grading twice adds nothing."""
    reviews: set[str] = set()
    """Ids of reviews."""
    disagreements: dict[str, bool] = {}
    """Disagreements by id, and whether they are resolved."""

    def open_calls(self) -> list[str]:
        """Return the ids of calls that have not ended, sorted."""
        return sorted(name for name, call in self.calls.items() if call.is_open)

    def apply(self, data: AnyData) -> None:
        """Take one event of this trial into account."""
        match data:
            case events.TrialStarted():
                self.started = True
            case events.TrialFinished(outcome=outcome):
                self.outcome = outcome
            case events.AnswerSubmitted():
                self.answered = True
            case events.TrialInvalidated():
                self.invalidated = True
            case events.TrialReinstated():
                self.invalidated = False
            case events.QueryInspected(verdict=verdict):
                self.inspected = verdict
            case events.CallStarted() | events.CallFinished() | events.ResponseLost():
                self.apply_call(data)
            case events.FailureOccurred(occurrence=occurrence, class_=class_, fault=fault):
                self.occurrences[occurrence] = OccurrenceState(class_=class_, fault=fault)
            case events.FailureRecovered(occurrence=occurrence):
                self.occurrences[occurrence].recovered = True
            case _:
                self.apply_judgment(data)

    def apply_call(
        self, data: events.CallStarted | events.CallFinished | events.ResponseLost
    ) -> None:
        """Take one event of a call into account."""
        if isinstance(data, events.CallStarted):
            self.calls[data.call] = CallState(purpose=data.purpose, endpoint=data.endpoint)
            return
        call = self.calls[data.call]
        call.is_open = False
        if isinstance(data, events.ResponseLost):
            call.is_lost = True
            self.lost_response = True

    def apply_judgment(self, data: AnyData) -> None:
        """Take one event about the verdicts on this trial into account."""
        match data:
            case events.JudgmentRecorded():
                self.judgments[data.judgment] = JudgmentState(
                    metric=data.metric, verdict=data.verdict, score=data.score
                )
                grader = data.grader
                self.judged.add((data.metric, grader.name, grader.version, data.pass_))
            case events.JudgmentFailed():
                self.failed_judgments[data.judgment] = data.metric
            case events.JudgmentOverridden():
                replaced = self.judgments[data.replaces]
                replaced.is_effective = False
                self.judgments[data.judgment] = JudgmentState(
                    metric=replaced.metric,
                    verdict=data.verdict,
                    score=data.score,
                    is_override=True,
                )
            case events.ReviewRecorded():
                self.reviews.add(data.review)
            case events.DisagreementOpened():
                self.disagreements[data.disagreement] = False
            case events.DisagreementResolved():
                self.disagreements[data.disagreement] = True
            case _:
                pass  # Kinds that no later guard of a trial asks about.


class RunState(msgspec.Struct, kw_only=True):
    """What the guards need of one run."""

    name: str
    """Its name."""
    opened: RunOpened
    """How it was opened."""
    manifest: Manifest
    """Its frozen manifest."""
    rubric: Rubric
    """Its frozen rubric."""
    slots: Slots
    """Its planned slots."""
    shapes: dict[str, str | None]
    """Task shape of every planned question; None where the source does not say."""
    is_closed: bool = False
    """Whether it was closed and not resumed."""
    invalidated: bool = False
    """Whether it is invalidated now."""
    links: int = 0
    """Number of its last link."""
    last_link_hash: str = ""
    """Hash of the event at that link."""
    own: TrialState = msgspec.field(default_factory=TrialState)
    """Failure occurrences and reviews of the run as a whole."""
    parent_cutoff: int | None = None
    """Seq of the parent's cited link, for a derived run."""
    planned: frozenset[str] = frozenset()
    """The planned question ids, for look-up."""

    @property
    def configuration(self) -> str:
        """The manifest's name of the system under test."""
        return self.manifest.configuration

    @property
    def is_live(self) -> bool:
        """Whether order is witnessed: only then are guards about order refusals."""
        return self.opened.entry == "live"

    @property
    def is_imported(self) -> bool:
        """Whether another tool's log came in."""
        return self.opened.entry == "imported"

    def is_planned(self, trial: TrialKey) -> bool:
        """Return whether the slot of a trial is planned (C16)."""
        return trial.question in self.planned and trial.repetition <= self.slots.repetitions

    def apply(self, data: AnyData) -> None:
        """Take one event of the run as a whole into account."""
        match data:
            case events.RunClosed():
                self.is_closed = True
            case events.RunResumed():
                self.is_closed = False
            case events.RunInvalidated():
                self.invalidated = True
            case events.RunReinstated():
                self.invalidated = False
            case _:
                self.own.apply(data)
