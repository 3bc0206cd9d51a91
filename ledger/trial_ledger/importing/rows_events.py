"""The events of one run of rows, from its opening to its end.

Invariant: the events of a trial come in an order that every guard accepts, with ids that depend on
the bytes of the file, on its map and on the place in the file alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from trial_ledger.events import Actor
from trial_ledger.identifiers import TrialKey
from trial_ledger.importing.emitting import Emitter, gold_text, json_text, plain_text
from trial_ledger.importing.rows_calls import CallFacts, FailureFacts
from trial_ledger.importing.rows_judgments import JudgmentFacts
from trial_ledger.importing.rows_runs import RunFacts, Slot
from trial_ledger.importing.rows_trials import SpendFacts, TrialFacts
from trial_ledger.importing.source import SOURCE_KEYS, SourceFile
from trial_ledger.submission import NewText, Submission

__all__ = ["FORMAT", "IMPORTER", "Described", "RunWriter"]

FORMAT = "rows"
IMPORTER = "rows@1"
"""Importer and version; the version rises whenever the same rows would give other events."""
MAP = "row-map"
"""`about` of the note that holds the map."""
LOST = "lost_in_source"


class Described:
    """What is said about a run as a whole."""

    def __init__(
        self,
        *,
        source: SourceFile,
        suffix: str,
        map_document: bytes,
        losses: Sequence[str],
        reported: Sequence[Mapping[str, object]],
        keeps_missing: bool,
    ) -> None:
        self.source = source
        self.suffix = suffix
        self.map_document = map_document
        self.losses = losses
        self.reported = reported
        self.keeps_missing = keeps_missing


class RunWriter:
    """Writes the events of one run."""

    def __init__(
        self,
        run: RunFacts,
        described: Described,
        *,
        name: str,
        digest: str,
        configuration: str,
        keys: Sequence[str],
    ) -> None:
        self.keys = keys
        self.run = run
        self.described = described
        self.configuration = configuration
        self.emitter = Emitter(source_format=FORMAT, run=name, digest=digest, path="run")

    def write(self, manifest: str) -> Iterator[Submission]:
        """Yield every event of the run, in order."""
        times = [trial.started for trial, _ in self.run.trials if trial.started is not None]
        ends = [trial.end for trial, _ in self.run.trials if trial.end is not None]
        opened = {"manifest": manifest, "entry": "imported"}
        yield self.emitter.event("run.opened", "start", opened, at=utc(min(times, default=None)))
        for trial, repetition in self.run.trials:
            yield from self.trial(trial, repetition)
        if self.described.keeps_missing:
            for slot in self.run.missing:
                yield from self.lost(slot)
        yield self.emitter.event(
            "note.added",
            MAP,
            {
                "about": MAP,
                "text": NewText(content=self.described.map_document, media="application/json"),
            },
        )
        if self.keys:
            keys = {"about": SOURCE_KEYS, "text": json_text(list(self.keys))}
            yield self.emitter.event("note.added", SOURCE_KEYS, keys)
        yield self.imported()
        yield self.emitter.event(
            "run.closed", "end", {"status": "complete"}, at=utc(max(ends, default=None))
        )

    def at(self, path: str, question: str, repetition: int, session: str = "s1") -> Emitter:
        """Return the emitter of one trial."""
        return Emitter(
            source_format=FORMAT,
            run=self.emitter.run,
            digest=self.emitter.digest,
            path=path,
            trial=TrialKey(
                question=question,
                configuration=self.configuration,
                repetition=repetition,
                session=session,
            ),
        )

    def lost(self, slot: Slot) -> Iterator[Submission]:
        """Yield a trial that was planned as far as anybody knows, and has no row."""
        emitter = self.at(f"lost/{slot[0]}/{slot[1]}", *slot)
        yield emitter.event("trial.started", "start", {})
        yield emitter.event("trial.finished", "end", {"outcome": "unknown", "reason": LOST})

    def trial(self, trial: TrialFacts, repetition: int) -> Iterator[Submission]:
        """Yield every event of one trial."""
        line, path = trial.place
        emitter = self.at(f"{line or ''}/{path or ''}", trial.question, repetition, trial.session)
        fields = ["question"] if trial.input is not None else []
        yield emitter.event(
            "trial.started",
            "start",
            {"input": plain_text(trial.input), "fields": fields},
            at=utc(trial.started),
        )
        yield from calls(emitter, trial.calls)
        for spend in trial.spend:
            yield from spent(emitter, spend)
        outcome, end = trial.final_outcome, utc(trial.end)
        for failure in trial.failures:
            impact = "trial_failed" if outcome == "errored" else "unknown"
            yield occurred(emitter, failure, impact=impact, at=end)
        if trial.answer is not None or outcome == "abstained":
            yield emitter.event("answer.submitted", "answer", answer(trial, outcome), at=end)
        yield emitter.event(
            "trial.finished",
            "end",
            {
                "outcome": outcome,
                "reason": LOST if outcome == "unknown" else None,
                "duration_us": trial.elapsed_us,
            },
            at=end,
        )
        for judgment in trial.judgments:
            yield from judged(emitter, judgment)

    def imported(self) -> Submission:
        """Return where everything came from, and what is not here."""
        source = self.described.source
        trials = [trial for trial, _ in self.run.trials]
        return self.emitter.event(
            "source.imported",
            "source",
            {
                "format": FORMAT,
                "files": [
                    {
                        "name": f"{self.emitter.run}{self.described.suffix}",
                        "blake3": source.blake3,
                        "sha256": source.sha256,
                        "bytes": len(source.content),
                    }
                ],
                "content": NewText(
                    content=source.content, media="application/octet-stream", class_="gold"
                ),
                "importer": IMPORTER,
                "counts": {
                    "trials": len(trials),
                    "judgments": sum(len(trial.judgments) for trial in trials),
                    "failures": sum(len(trial.failures) for trial in trials),
                    "calls": sum(len(trial.calls) for trial in trials),
                    "planned_slots": len(self.run.questions) * self.run.repetitions,
                },
                "losses": json_text(list(self.described.losses)),
                "reported": json_text(list(self.described.reported)),
            },
        )


def utc(time: datetime | None) -> str | None:
    """Return a time as events have it."""
    if time is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def answer(trial: TrialFacts, outcome: str) -> dict[str, object]:
    """Return the answer of a trial."""
    return {
        "answer": plain_text(trial.answer),
        "citations": plain_text(trial.citations),
        "abstained": True if outcome == "abstained" else None,
    }


def occurred(
    emitter: Emitter,
    failure: FailureFacts,
    *,
    impact: str,
    at: str | None,
    call: CallFacts | None = None,
) -> Submission:
    """Return one failure occurrence; what a judge call says may show gold."""
    text = gold_text if call is not None and call.purpose == "judge" else plain_text
    place = failure.place if call is None else call.place
    return emitter.event(
        "failure.occurred",
        place,
        {
            "occurrence": place,
            "class": failure.class_,
            "detail_class": failure.detail_class,
            "fault": failure.fault,
            "call": None if call is None else call.place,
            "attempt": None if call is None else call.attempt,
            "message": text(failure.message),
            "detail": text(failure.detail),
            "impact": impact,
        },
        at=at,
    )


def calls(emitter: Emitter, found: Sequence[CallFacts]) -> Iterator[Submission]:
    """Yield the calls of a trial; a failed one is made good by a later one of the same name."""
    waiting: dict[tuple[str, str | None], list[str]] = {}
    for call in found:
        text = gold_text if call.purpose == "judge" else plain_text
        place, end = call.place, utc(call.ended)
        yield emitter.event(
            "call.started",
            place,
            {
                "call": place,
                "purpose": call.purpose,
                "name": call.name,
                "attempt": call.attempt,
                "request": text(call.request),
            },
            at=utc(call.started),
        )
        key = (call.purpose, call.name)
        if call.failure is not None:
            yield occurred(emitter, call.failure, impact="unknown", at=end, call=call)
            waiting.setdefault(key, []).append(place)
        yield emitter.event(
            "call.finished",
            place,
            {
                "call": place,
                "status": status_of(call),
                "occurrence": place if call.failure is not None else None,
                "response": text(call.response or None),
                "duration_us": duration_of(call),
                "usage": call.amounts.usage,
                "cost": call.amounts.cost,
            },
            at=end,
        )
        if call.failure is None:
            for failed in waiting.pop(key, []):
                yield emitter.event(
                    "failure.recovered",
                    f"{place}/recovers/{failed}",
                    {"occurrence": failed, "by": "retry", "call": place},
                )


def status_of(call: CallFacts) -> str:
    """Return how a call ended."""
    if call.failure is not None:
        return "failed"
    return "empty" if call.response == "" else "ok"


def duration_of(call: CallFacts) -> int | None:
    """Return how long a call took in microseconds, measured or between its times."""
    if call.duration_us is not None or call.started is None or call.ended is None:
        return call.duration_us
    between = call.ended - call.started
    return max(between.days * 86_400_000_000 + between.seconds * 10**6 + between.microseconds, 0)


def spent(emitter: Emitter, spend: SpendFacts) -> Iterator[Submission]:
    """Yield the one call that carries what a trial consumed in an account."""
    place = f"spend/{spend.name}"
    started = {"call": place, "purpose": spend.purpose, "name": spend.model}
    yield emitter.event("call.started", place, started)
    yield emitter.event(
        "call.finished",
        place,
        {
            "call": place,
            "status": "ok",
            "usage": spend.amounts.usage,
            "cost": spend.amounts.cost,
        },
    )


def judged(emitter: Emitter, judgment: JudgmentFacts) -> Iterator[Submission]:
    """Yield one judgment, or that it failed or was lost."""
    metric = judgment.metric
    place = f"metrics/{metric}"
    if judgment.state == "recorded":
        yield recorded(emitter, judgment, place)
        return
    occurrence = None
    if judgment.state == "judge_failed":
        occurrence = f"{place}/failure"
        yield emitter.event(
            "failure.occurred",
            occurrence,
            {
                "occurrence": occurrence,
                "class": "judge_error",
                "detail_class": judgment.parts[0][1] if judgment.parts else None,
                "fault": "judge",
                "message": gold_text(judgment.message),
            },
        )
    yield emitter.event(
        "judgment.failed",
        place,
        {
            "judgment": metric,
            "metric": metric,
            "reason": judgment.state,
            "occurrence": occurrence,
            "raw": gold_text(judgment.raw),
        },
    )


def recorded(emitter: Emitter, judgment: JudgmentFacts, place: str) -> Submission:
    """Return one judgment."""
    human = judgment.by == "human"
    return emitter.event(
        "judgment.recorded",
        place,
        {
            "judgment": judgment.metric,
            "metric": judgment.metric,
            "by": judgment.by,
            "grader": {
                key: value
                for key, value in (("name", judgment.grader), ("version", judgment.version))
                if value is not None
            },
            "verdict": judgment.verdict,
            "score": judgment.score,
            "parts": [{"name": name, "outcome": label} for name, label in judgment.parts],
            "reasoning": gold_text(judgment.reasoning),
            "shown": gold_text(judgment.shown),
            "raw": gold_text(judgment.raw),
            "model": judgment.model,
            "usage": judgment.amounts.usage,
            "cost": judgment.amounts.cost,
        },
        actor=Actor(role="human", name=judgment.grader) if human else None,
    )
