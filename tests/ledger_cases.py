"""Small ledgers: a fixed clock, seeded bytes, frozen documents and one complete live run."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from blake3 import blake3

from document_cases import manifest_table, rubric_table
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.documents.dataset import Dataset, parse_dataset
from trial_ledger.documents.manifest import Manifest, parse_manifest
from trial_ledger.documents.rubric import Rubric, parse_rubric
from trial_ledger.events import Actor, AnswerSubmitted
from trial_ledger.goldfile import gold_path
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import NewText, Submission
from trial_ledger.tools import Tools

CONFIGURATION = "local"
RUN = "fast-01"
PERSON = Actor(role="human", name="Ada")
HARNESS = Actor(role="harness", name="cases", version="1")
GRADERS = {
    "code": Actor(role="grader", name="normalised-match"),
    "model": Actor(role="judge", name="judge-model"),
}
"""Who decides, by how it is decided."""
ANSWERS = {
    "q1": "Samarkand", "q2": "Bukhara", "q3": "Khiva", "q4": "Tashkent", "q5": "Kokand",
    "q6": "Nukus", "q7": "Termez", "q8": "Fergana", "q9": "Namangan", "q10": "Andijan",
}  # fmt: skip
"""Gold answer by question; no question shows one."""
RIGHT = ("q3", "q4", "q5", "q6", "q7", "q8")
WRONG = ("q9", "q10")


def stepping_clock(start: str = "2026-10-01T12:00:00") -> Callable[[], str]:
    """Return a clock that moves by one microsecond whenever it is read."""
    ticks = iter(range(1_000_000))
    return lambda: f"{start}.{next(ticks):06d}Z"


def seeded_bytes(seed: int = 7) -> Callable[[int], bytes]:
    """Return bytes that are the same for the same seed."""
    return Random(seed).randbytes  # noqa: S311 - repeatable on purpose


def tools(
    folder: Path,
    *,
    seed: int = 7,
    pins: bool = True,
    environ: Mapping[str, str] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Tools:
    """Return a world in which nothing is left to chance; a warning nobody asked for is a fault."""
    return Tools(
        clock=stepping_clock(),
        random_bytes=seeded_bytes(seed),
        environ=environ or {},
        state_directory=folder / "state" if pins else None,
        warn=warn or refuse_warning,
    )


def refuse_warning(message: str) -> None:
    """Fail on a warning that the test does not expect."""
    raise AssertionError(message)


def questions_jsonl() -> bytes:
    """Return ten fact questions with gold."""
    records = [
        {
            "id": question,
            "question": f"Which town is meant by riddle {question}?",
            "task_shape": "fact",
            "as_of": "2026-10-01",
            "split": "holdout",
            "context": {"region": "Transoxiana"},
            "gold": {
                "answer": answer,
                "evidence": [
                    {"url": f"https://example.org/{question}", "verified_at": "2026-10-02"}
                ],
            },
        }
        for question, answer in ANSWERS.items()
    ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def small_dataset(
    *, name: str = "example", version: str = "1", canary: str | None = "canary 5bd2d8a6"
) -> Dataset:
    """Return the ten questions as a dataset."""
    return parse_dataset(
        questions_jsonl(),
        source="dataset.jsonl",
        name=name,
        version=version,
        meta={"canary": canary, "provenance": "made for tests"},
    )


def small_rubric(**changes: object) -> Rubric:
    """Return a rubric with one metric graded by code and one by a judge."""
    table = rubric_table(
        primary="exact",
        metrics={
            "exact": {"measure": "fact.correctness"},
            "judged": {"measure": "verdict", "grader": "judge"},
        },
        judge={"model": "judge-model", "endpoint": "judge", "prompt": "{question} {answer}"},
    )
    return parse_rubric(json.dumps({**table, **changes}).encode(), source="rubric.toml")


def small_manifest(**changes: object) -> Manifest:
    """Return the manifest of configuration `local`: ten questions, once each."""
    table = manifest_table(
        repetitions=1,
        endpoints={
            "model": {"url": "http://127.0.0.1:8080/v1", "key_env": "MODEL_KEY"},
            "search": {"url": "http://127.0.0.1:8765/search", "key_env": "SEARCH_KEY"},
        },
    )
    return parse_manifest(
        json.dumps({**table, **changes}).encode(),
        source="manifest.toml",
        harness={"name": "cases", "version": "1"},
        environment={"python": "3.11"},
    )


def empty_ledger(
    folder: Path, *, name: str = "trials.ledger", world: Tools | None = None
) -> Ledger:
    """Make a ledger that holds ledger.opened only."""
    return Ledger.create(folder / name, tools=world or tools(folder))


def small_ledger(
    folder: Path, *, name: str = "trials.ledger", world: Tools | None = None
) -> Ledger:
    """Make a ledger with the frozen documents, and no run."""
    ledger = empty_ledger(folder, name=name, world=world)
    ledger.freeze([small_dataset(), small_rubric(), small_manifest()])
    return ledger


def full_ledger(folder: Path, *, name: str = "trials.ledger", world: Tools | None = None) -> Ledger:
    """Make a ledger with the frozen documents, the sample run and what people did about it."""
    ledger = small_ledger(folder, name=name, world=world)
    sample_run(ledger)
    sample_review(ledger)
    return ledger


def every_kind_ledger(folder: Path, *, name: str = "trials.ledger") -> Ledger:
    """Make a ledger that holds at least one event of every kind."""
    ledger = full_ledger(folder, name=name)
    answer = next(
        stored.event.data.answer.blob
        for stored in ledger.events(run=RUN)
        if isinstance(stored.event.data, AnswerSubmitted) and stored.event.data.answer is not None
    )
    digest = {"name": "log.json", "blake3": "cd" * 32, "sha256": "ef" * 32, "bytes": 3}
    ledger.append_many(
        numbered(
            "the rest",
            iter(
                [
                    opened("fast-02", supersedes=RUN, reason="tried again"),
                    Submission(
                        kind="run.related", run=RUN, data={"run": "fast-02", "how": "retry"}
                    ),
                    Submission(
                        kind="run.closed",
                        run="fast-02",
                        data={"status": "interrupted", "reason": "stopped by hand"},
                    ),
                    Submission(kind="run.resumed", run="fast-02", data={"reason": "goes on"}),
                    Submission(
                        kind="source.imported",
                        data={"format": "inspect", "files": [digest], "importer": "inspect@1"},
                    ),
                    Submission(kind="key.rotated", data={"new_public_key": "key"}),
                    Submission(
                        kind="blob.redacted",
                        data={"blob": answer, "reason": "asked to", "authority": "Ada"},
                        actor=PERSON,
                    ),
                ]
            ),
        )
    )
    return ledger


def files_of(path: Path) -> tuple[Path, Path]:
    """Return a ledger file and its gold file."""
    return path, gold_path(path)


def copied(path: Path, folder: Path) -> Path:
    """Copy a closed ledger and its gold file into another folder; return the new ledger file."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files_of(path):
        if file.exists():
            (folder / file.name).write_bytes(file.read_bytes())
    return folder / path.name


def trial(question: str, *, repetition: int = 1, session: str = "s1") -> TrialKey:
    """Return a trial of the sample configuration."""
    return TrialKey(
        question=question, configuration=CONFIGURATION, repetition=repetition, session=session
    )


def event_id(*parts: object) -> str:
    """Return an event id that is a function of its parts."""
    return blake3("\n".join(map(str, parts)).encode()).hexdigest(length=16)


def note(text: str, **fields: object) -> Submission:
    """Return a note of the whole ledger: the smallest event there is."""
    values: dict[str, object] = {"about": "ledger", "text": text}
    return Submission(kind="note.added", data={**values, **fields}, actor=HARNESS)


def started(run: str, key: TrialKey, **fields: object) -> Submission:
    """Return the start of a trial with an innocent input."""
    values: dict[str, object] = {
        "input": f"Which town is meant by riddle {key.question}?",
        "fields": ("id", "question"),
    }
    return Submission(
        kind="trial.started", run=run, trial=key, data={**values, **fields}, actor=HARNESS
    )


def opened(run: str = RUN, **fields: object) -> Submission:
    """Return the opening of a live run."""
    values: dict[str, object] = {"manifest": CONFIGURATION, "entry": "live"}
    return Submission(kind="run.opened", run=run, data={**values, **fields}, actor=HARNESS)


def sample_run(ledger: Ledger, run: str = RUN) -> list[Acknowledgement]:
    """Append a complete live run: ten trials, every kind of trouble, judged by code and by a model.

    q1 and q2 are lost to infrastructure, q3 to q8 are answered right, q9 and q10 wrong, and the
    judge crashes on q3: `exact` is 6/10, `judged` is 5/10 to 6/10.
    """
    return ledger.append_many(numbered(run, run_submissions(run)), what=run)


def sample_review(ledger: Ledger, run: str = RUN) -> list[Acknowledgement]:
    """Append what people do with the sample run: review, disagree, override, invalidate, publish.

    Afterwards q10 is right by override, q8 is invalidated after its judgment, and the run itself
    was invalidated and reinstated.
    """
    return ledger.append_many(numbered(f"{run} review", review_submissions(run)), what=run)


def numbered(name: str, submissions: Iterator[Submission]) -> Iterator[Submission]:
    """Give submissions ids by their place, so that appending them again adds nothing."""
    for place, item in enumerate(submissions):
        yield Submission(
            kind=item.kind,
            run=item.run,
            trial=item.trial,
            data=item.data,
            id=event_id(name, place),
            at=f"2026-10-01T12:00:00.{place:06d}Z",
            actor=item.actor,
        )


def run_submissions(run: str) -> Iterator[Submission]:
    """Yield the events of the sample run in order."""
    yield opened(run)
    for question in ANSWERS:
        yield started(run, trial(question))
        yield from Script(run, trial(question)).events()
    yield Submission(kind="run.closed", run=run, data={"status": "complete"}, actor=HARNESS)


class Script:
    """What happens in one trial of the sample run."""

    def __init__(self, run: str, key: TrialKey) -> None:
        self.run = run
        self.key = key

    def event(self, kind: str, **data: object) -> Submission:
        """Return one event of this trial, by the harness unless it is a verdict."""
        actor = GRADERS.get(str(data.get("by")), HARNESS)
        return Submission(kind=kind, run=self.run, trial=self.key, data=data, actor=actor)

    def events(self) -> Iterator[Submission]:
        """Yield what follows the trial's start."""
        question = self.key.question
        if question == "q1":
            yield from self.overloaded()
        elif question == "q2":
            yield from self.lost()
        else:
            yield from self.answered(right=question in RIGHT)
            yield from self.judged(right=question in RIGHT)

    def call(self, call: str, purpose: str, **fields: object) -> Submission:
        """Return the start of a call to the endpoint of its purpose."""
        values: dict[str, object] = {"call": call, "purpose": purpose, "endpoint": purpose}
        values["request"] = f'{{"call": "{call}"}}'
        return self.event("call.started", **{**values, **fields})

    def failure(self, name: str, class_: str, fault: str, **fields: object) -> Submission:
        """Return a failure occurrence."""
        values: dict[str, object] = {"occurrence": name, "class": class_, "fault": fault}
        return self.event("failure.occurred", **{**values, "message": f"{class_}!", **fields})

    def surfaced(self, name: str) -> Submission:
        """Return that an occurrence was shown."""
        return self.event("failure.surfaced", occurrence=name, channel="stderr", seen="emitted")

    def overloaded(self) -> Iterator[Submission]:
        """Yield a trial that the search provider fails."""
        yield self.call("c1", "search")
        yield self.failure(
            "f1", "overloaded", "search_provider", call="c1", attempt=1, endpoint="search"
        )
        yield self.surfaced("f1")
        yield self.event("call.finished", call="c1", status="failed", occurrence="f1")
        yield self.event(
            "failure.assessed", occurrence="f1", impact="trial_failed", reason="nothing to answer"
        )
        yield self.event(
            "trial.finished", outcome="errored", reason="search", detail="gave up", duration_us=900
        )

    def lost(self) -> Iterator[Submission]:
        """Yield a trial that loses a response."""
        yield self.call("c1", "search")
        yield self.failure(
            "f1", "response_lost", "harness", call="c1", attempt=1, impact="trial_failed"
        )
        yield self.surfaced("f1")
        yield self.event(
            "response.lost", call="c1", occurrence="f1", bytes_received=18204, bytes_expected=41377
        )
        yield self.event("trial.finished", outcome="errored", duration_us=1200)

    def answered(self, *, right: bool) -> Iterator[Submission]:
        """Yield a trial with an answer; q4 needs a second search, q9 misses its evidence."""
        question = self.key.question
        attempt = 1
        if question == "q4":
            yield from self.limited()
            attempt = 2
        fields = {"retry_of": "c0"} if attempt == 2 else {}
        yield self.call("c1", "search", attempt=attempt, **fields)
        yield self.event(
            "call.finished", call="c1", status="ok", response="[results]", delivered=True,
            duration_us=15_000,
            cost={"amount": "0.0025", "currency": "USD", "basis": "reported"},
            served={"endpoint": "search"},
        )  # fmt: skip
        if question == "q4":
            yield self.event("failure.recovered", occurrence="f0", by="retry", call="c1")
        yield self.call("c2", "model", name="m")
        yield self.event(
            "call.finished", call="c2", status="ok", response="thinking", delivered=True,
            duration_us=250_000, usage={"input_tokens": 120, "output_tokens": 30},
            served={"model": "m", "endpoint": "model"},
        )  # fmt: skip
        answer = ANSWERS[question] if right else "Babylon"
        yield self.event("answer.submitted", answer=answer, citations='["https://example.org"]')
        yield self.event("trial.finished", outcome="answered", duration_us=300_000)
        if question == "q9":
            yield self.event(
                "query.inspected", verdict="adequate", queries="riddle q9", reason="names it"
            )
            yield self.event(
                "retrieval_miss.declared", missing="the town's page", reason="not in the results"
            )

    def limited(self) -> Iterator[Submission]:
        """Yield a search that is refused once."""
        yield self.call("c0", "search")
        yield self.failure("f0", "rate_limited", "search_provider", call="c0", impact="none")
        yield self.surfaced("f0")
        yield self.event("call.finished", call="c0", status="failed", occurrence="f0")

    def judged(self, *, right: bool) -> Iterator[Submission]:
        """Yield the verdicts of code and judge; the judge crashes on q3."""
        yield self.event(
            "judgment.recorded",
            judgment="j1", metric="exact", by="code",
            grader={"name": "normalised-match", "version": "1"},
            score="1" if right else "0",
            parts=[{"name": "equal", "numerator": int(right), "denominator": 1}],
        )  # fmt: skip
        yield self.call("c3", "judge", name="judge-model")
        if self.key.question == "q3":
            yield self.failure("f3", "judge_error", "judge", call="c3")
            yield self.event("call.finished", call="c3", status="failed", occurrence="f3")
            yield self.event(
                "judgment.failed", judgment="j2", metric="judged", reason="judge_failed",
                occurrence="f3", calls=["c3"], raw="(cut off",
            )  # fmt: skip
            return
        yield self.event(
            "call.finished", call="c3", status="ok", response="VERDICT", delivered=True
        )
        yield self.event(
            "judgment.recorded",
            judgment="j2", metric="judged", by="model", grader={"name": "judge", "version": "1"},
            verdict="correct" if right else "incorrect", reasoning="compared with gold",
            shown="question, gold, answer", raw="VERDICT", model="judge-model", calls=["c3"],
        )  # fmt: skip


def review_submissions(run: str) -> Iterator[Submission]:
    """Yield what people do with the sample run, in order."""

    def act(kind: str, question: str | None = None, **data: object) -> Submission:
        key = None if question is None else trial(question)
        return Submission(kind=kind, run=run, trial=key, data=data, actor=PERSON)

    yield act("review.drawn", plan="p1", seed="seven", strata=NewText.of("{}"))
    yield act(
        "review.recorded", "q10", review="r1", metric="judged", judgment="j2", plan="p1",
        verdict="correct", reason="Babylon is an old name", blind=False,
    )  # fmt: skip
    yield act("disagreement.opened", "q10", disagreement="d1", judgment="j2", review="r1")
    yield act(
        "judgment.overridden", "q10", judgment="j3", replaces="j2", verdict="correct",
        reason="the reviewer is right",
    )  # fmt: skip
    yield act(
        "disagreement.resolved", "q10", disagreement="d1", judgment="j2", review="r1",
        finding="judge_wrong", reason="the name was not known to the judge",
    )  # fmt: skip
    yield act(
        "item.judged", "q7", metric="exact", position=0, item="Termez", verdict="correct",
        reason="the same town",
    )  # fmt: skip
    yield act("trial.invalidated", "q8", reason="the wrong page was served")
    yield act("trial.invalidated", "q7", reason="by mistake")
    yield act("trial.reinstated", "q7", reason="it was a mistake")
    yield act("run.invalidated", reason="looked wrong")
    yield act("run.reinstated", reason="looked again")
    yield act(
        "metric.published", metric="exact", value="3/5", derivation="ab" * 32, report="6 of 10",
        size=126, link=2,
    )  # fmt: skip
    yield act("note.added", about=run, text="reviewed")
