"""A run of a harness, as a context manager.

Invariant: the run is open before any trial of it, and closed after the last; trials that nobody
ended are ended as cancelled.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from trial_ledger.book import Ledger
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.errors import NotFoundError
from trial_ledger.identifiers import TrialKey
from trial_ledger.recording.blocks import HARNESS, Block, as_text, without_secrets
from trial_ledger.recording.journal import Journal, Seen, Written, show_on_stderr
from trial_ledger.recording.spool import Spool
from trial_ledger.recording.trials import TrialRecorder
from trial_ledger.registry import Registry
from trial_ledger.scrubbing import Scrubber
from trial_ledger.sealing import secret_names_of_all
from trial_ledger.submission import Submission

__all__ = ["RunRecorder", "journal_of", "recorded_run", "spool_folders"]

NAME_BYTES = 4


def status_of(error: BaseException | None) -> str:
    """Return how a run ended that was left by an exception, or by none."""
    if error is None:
        return "complete"
    return "failed" if isinstance(error, Exception) else "interrupted"


class RunRecorder(Block):
    """One live run of a frozen manifest; made by `Ledger.run`.

    Args:
        journal: its events.
        manifest: its frozen manifest.
        questions: of its dataset, by id.
        opening: fields of `run.opened`.
    """

    def __init__(
        self,
        journal: Journal,
        manifest: Manifest,
        questions: Mapping[str, Question],
        opening: Mapping[str, object],
    ) -> None:
        self.journal = journal
        self.manifest = manifest
        self.questions = questions
        self.opening = opening
        self.open_trials: dict[TrialKey, TrialRecorder] = {}

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.journal.run

    def event(self, kind: str, data: Mapping[str, object]) -> Submission:
        """Return an event of the run itself."""
        return self.journal.submission(kind, data, None, HARNESS)

    def begin(self) -> Written:
        """Open the run."""
        return self.journal.push([self.event("run.opened", self.opening)])

    def end(self, error: BaseException | None) -> Written:
        """Close the run, and before that the trials that nobody ended."""
        for trial in list(self.open_trials.values()):
            trial.abandon()
        status = status_of(error)
        reason = (
            None if error is None else as_text(without_secrets(f"{type(error).__name__}: {error}"))
        )
        return self.journal.push([self.event("run.closed", {"status": status, "reason": reason})])

    def trial(
        self,
        question: str,
        repetition: int = 1,
        *,
        session: str = "s1",
        given: object = None,
        seed: int | None = None,
    ) -> "TrialRecorder":
        """Return a trial, to be entered.

        Args:
            question: id of its question.
            repetition: which one, from 1.
            session: which try at the slot.
            given: exactly what the agent is given; None gives it what it may see of the question.
            seed: seed of this repetition.

        Raises:
            NotFoundError: the dataset has no such question.
        """
        asked = self.questions.get(question)
        if asked is None:
            message = f"run {self.name} has no question {question[:80]!r}"
            raise NotFoundError(message, hint=f"ledger trials {self.name}")
        key = TrialKey(
            question=question,
            configuration=self.manifest.configuration,
            repetition=repetition,
            session=session,
        )
        return TrialRecorder(self, key, asked, given=given, seed=seed)


def recorded_run(
    ledger: Ledger,
    manifest: str | Manifest,
    *,
    name: str | None = None,
    supersedes: str | None = None,
    reason: str | None = None,
    show: Callable[[str], Seen | None] = show_on_stderr,
) -> RunRecorder:
    """Return a run of a manifest, to be entered; see `Ledger.run`.

    Args:
        ledger: opened for writing.
        manifest: a frozen one by configuration, `configuration@prefix` or hash; or one to freeze.
        name: of the run; None takes the configuration and some random digits.
        supersedes: run that this one corrects (C12).
        reason: why.
        show: shows failures while they happen; None where it could not.

    Raises:
        RuleError: the manifest is not frozen (C9), or means something else.
    """
    if isinstance(manifest, Manifest):
        ledger.freeze([manifest])
        manifest = manifest.configuration
    registry = ledger.registry()
    frozen = registry.manifest(manifest)
    document = registry.manifest_document(frozen)
    if name is None:
        stem = "".join(
            letter if letter.isascii() and letter.isalnum() else "-"
            for letter in document.configuration.lower()
        )
        name = f"{stem.strip('-')[:40] or 'run'}-{ledger.tools.random_bytes(NAME_BYTES).hex()}"
    opening = {
        "manifest": frozen.manifest_hash,
        "entry": "live",
        "supersedes": supersedes,
        "reason": as_text(reason),
    }
    questions = registry.questions(document.dataset)
    return RunRecorder(journal_of(ledger, registry, name, show), document, questions, opening)


def spool_folders(ledger: Ledger) -> list[Path]:
    """Return where spools may lie: beside the ledger, else among this user's state."""
    state = ledger.tools.state_directory
    return [ledger.store.path.parent, *([] if state is None else [state])]


def journal_of(
    ledger: Ledger, registry: Registry, name: str, show: Callable[[str], Seen | None]
) -> Journal:
    """Return what writes the events of a run."""
    own = ledger.tools.random_bytes(NAME_BYTES).hex()
    scrubber = Scrubber(ledger.tools.environ, secret_names_of_all(registry))
    spool = Spool(spool_folders(ledger), f"{ledger.store.path.name}.{name}.{own}.spool", scrubber)
    return Journal(ledger, name, spool, show)
