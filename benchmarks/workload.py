"""A generated evaluation of any length: documents and events, from a fixed seed.

Invariant: the same seed, size and Python give the same bytes; texts are English prose about code,
never random bytes, so that compression and hashing see what they would see in use.
"""

import json
import random
import re
import sysconfig
import tomllib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from trial_ledger.documents.dataset import Dataset, parse_dataset
from trial_ledger.documents.manifest import Manifest, parse_manifest
from trial_ledger.documents.rubric import Rubric, parse_rubric
from trial_ledger.documents.templates import read_template
from trial_ledger.events import Actor
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import Submission

__all__ = [
    "CODE_METRIC",
    "CONFIGURATION",
    "JUDGED_METRIC",
    "TRIALS_PER_RUN",
    "Record",
    "Workload",
    "chunks",
    "documents",
    "line_of",
    "revised_rubric",
    "submission_of",
]

Record = dict[str, Any]
"""One event as a harness submits it."""

SEED = 20261001
CONFIGURATION = "local-ranked"
CODE_METRIC = "exact"
JUDGED_METRIC = "judged"
QUESTIONS = 2_000
REPETITIONS = 5
TRIALS_PER_RUN = QUESTIONS * REPETITIONS
FIRST_MOMENT = datetime(2026, 10, 1, tzinfo=UTC)

HARNESS = {"role": "harness", "name": "bench", "version": "1"}
AGENT = {"role": "agent", "name": CONFIGURATION, "version": "1"}
GRADER = {"role": "grader", "name": "normalised-match", "version": "1"}
JUDGE = {"role": "judge", "name": "judge-model", "version": "2026-09"}

RECOVERED = 0.04
"""Share of trials whose first search is rate limited and tried again."""
ERRORED = 0.02
"""Share that no retry saves."""
JUDGE_FAILED = 0.01
"""Share whose judge gives no verdict."""
ABSTAINED = 0.05
"""Share in which the agent declines."""

DOCSTRING = re.compile(r'"""(.{80,4000}?)"""', re.DOTALL)


def prose() -> list[str]:
    """Return the longer docstrings of this Python's standard library, in file order."""
    found: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        found += DOCSTRING.findall(path.read_text("utf-8", "replace"))
    return [text for text in found if text.isascii()]


class Workload:
    """Endless trials; each call of `events` goes on where the last one ended."""

    def __init__(self, seed: int = SEED) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a workload wants repeatable chance
        self.prose = prose()
        self.trials = 0
        self.count = 0

    def text(self, least: int, most: int) -> str:
        """Return prose of a length between two numbers of characters."""
        wanted = self.random.randint(least, most)
        parts: list[str] = []
        length = 0
        while length < wanted:
            part = self.random.choice(self.prose)
            parts.append(part)
            length += len(part) + 2
        return "\n\n".join(parts)[:wanted]

    def events(self) -> Iterator[Record]:
        """Yield the events of one trial after another, opening a run where one is full."""
        while True:
            number, place = divmod(self.trials, TRIALS_PER_RUN)
            run = f"run-{number + 1}"
            if place == 0:
                yield self.event(run, None, "run.opened", opening(), HARNESS)
            question, repetition = divmod(place, REPETITIONS)
            trial = {
                "question": question_id(question),
                "configuration": CONFIGURATION,
                "repetition": repetition + 1,
            }
            self.trials += 1
            for kind, data, actor in self.trial(question):
                yield self.event(run, trial, kind, data, actor)

    def event(
        self, run: str, trial: Record | None, kind: str, data: Record, actor: Record
    ) -> Record:
        """Return one event with an id and a time of its own."""
        self.count += 1
        at = FIRST_MOMENT + timedelta(milliseconds=140 * self.count)
        record: Record = {
            "kind": kind,
            "run": run,
            "data": data,
            "id": f"{self.random.getrandbits(128):032x}",
            "at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "actor": actor,
        }
        if trial is not None:
            record["trial"] = trial
        return record

    def trial(self, question: int) -> Iterator[tuple[str, Record, Record]]:
        """Yield (kind, data, actor) of one trial: seven events where nothing goes wrong."""
        chance = self.random.random()
        yield "trial.started", self.input(question), HARNESS
        call = "c1"
        yield "call.started", self.request(call), HARNESS
        if chance < RECOVERED + ERRORED:
            yield from self.rate_limited(call, fatal=chance < ERRORED)
            if chance < ERRORED:
                yield "trial.finished", {"outcome": "errored", "reason": "rate_limited"}, HARNESS
                return
            call = "c2"
            yield "call.started", self.request(call, attempt=2, retry_of="c1"), HARNESS
        yield "call.finished", self.response(call), HARNESS
        if call == "c2":
            yield "failure.recovered", {"occurrence": "f1", "by": "retry", "call": call}, HARNESS
        abstained = self.random.random() < ABSTAINED
        answer = {"answer": self.text(900, 2400), "citations": self.text(200, 700)}
        yield "answer.submitted", {**answer, "abstained": abstained}, AGENT
        duration = self.random.randint(500_000, 90_000_000)
        outcome = "abstained" if abstained else "answered"
        yield "trial.finished", {"outcome": outcome, "duration_us": duration}, HARNESS
        yield "judgment.recorded", self.code_judgment(), GRADER
        yield from self.model_judgment()

    def input(self, question: int) -> Record:
        """Return the data of trial.started: what the agent is sent, with its context."""
        shown = {
            "id": question_id(question),
            "question": question_text(question),
            "as_of": "2026-10-01",
            "context": self.text(1_900, 4_600),
        }
        return {"input": json.dumps(shown), "fields": list(shown), "seed": self.count}

    def request(self, call: str, **retry: object) -> Record:
        """Return the data of call.started."""
        query = json.dumps({"query": self.text(40, 120), "mode": "ranked", "limit": 8})
        return {
            "call": call,
            "purpose": "search",
            "endpoint": "search",
            "name": "search_web",
            "request": query,
            **retry,
        }

    def response(self, call: str) -> Record:
        """Return the data of call.finished with a tool result of 2 to 8 KB."""
        return {
            "call": call,
            "status": "ok",
            "response": self.text(2_000, 8_000),
            "delivered": True,
            "duration_us": self.random.randint(20_000, 4_000_000),
            "usage": {"units": {"requests": 1}},
            "cost": {"amount": "0.0025", "currency": "USD", "basis": "reported"},
        }

    def rate_limited(self, call: str, *, fatal: bool) -> Iterator[tuple[str, Record, Record]]:
        """Yield a failure and the failed end of its call."""
        failure = {
            "occurrence": "f1",
            "class": "rate_limited",
            "fault": "search_provider",
            "call": call,
            "attempt": 1,
            "endpoint": "search",
            "message": f"429 Too Many Requests\n{self.text(100, 400)}",
            "impact": "trial_failed" if fatal else "unknown",
        }
        yield "failure.occurred", failure, HARNESS
        yield (
            "call.finished",
            {"call": call, "status": "failed", "occurrence": "f1", "delivered": False},
            HARNESS,
        )

    def code_judgment(self) -> Record:
        """Return a judgment by code, whose reasoning is its parts."""
        right = self.random.random() < 0.7
        return {
            "judgment": "j1",
            "metric": CODE_METRIC,
            "by": "code",
            "grader": {"name": "normalised-match", "version": "1"},
            "score": "1" if right else "0",
            "parts": [{"name": "match", "outcome": "accepted" if right else "no accepted form"}],
            "duration_us": self.random.randint(20, 900),
        }

    def model_judgment(self) -> Iterator[tuple[str, Record, Record]]:
        """Yield a model's judgment with what it was shown and wrote, or its failure."""
        if self.random.random() < JUDGE_FAILED:
            failure = {
                "occurrence": "f9",
                "class": "judge_unparseable",
                "fault": "judge",
                "message": self.text(200, 600),
            }
            yield "failure.occurred", failure, HARNESS
            failed = {
                "judgment": "j2",
                "metric": JUDGED_METRIC,
                "reason": "judge_failed",
                "occurrence": "f9",
            }
            yield "judgment.failed", failed, JUDGE
            return
        reasoning = self.text(400, 1_600)
        judgment = {
            "judgment": "j2",
            "metric": JUDGED_METRIC,
            "by": "model",
            "grader": {"name": "judge", "version": "1"},
            "verdict": "correct" if self.random.random() < 0.7 else "incorrect",
            "reasoning": reasoning,
            "shown": self.text(1_500, 3_500),
            "raw": f"{reasoning}\nVERDICT: as reasoned",
            "model": "judge-model",
            "usage": {"input_tokens": self.random.randint(400, 1400), "output_tokens": 210},
            "duration_us": self.random.randint(300_000, 5_000_000),
        }
        yield "judgment.recorded", judgment, JUDGE


def question_id(number: int) -> str:
    """Return the id of a question."""
    return f"q{number:04d}"


def question_text(number: int) -> str:
    """Return the words of a question."""
    return f"Which name of the standard library does description number {number} belong to?"


def opening() -> Record:
    """Return the data of run.opened: all slots that the manifest plans, captured live."""
    return {"manifest": CONFIGURATION, "entry": "live"}


def rubric_table() -> Record:
    """Return the rubric of the template, with two metrics."""
    rubric: Record = tomllib.loads(read_template("rubric.toml").decode("utf-8"))
    rubric["primary"] = CODE_METRIC
    rubric["metrics"] = {
        CODE_METRIC: {"measure": "fact.correctness"},
        JUDGED_METRIC: {"measure": "verdict", "grader": "judge", "shapes": ["fact"]},
    }
    return rubric


def revised_rubric() -> bytes:
    """Return the same rubric as a new version, by which a run can be judged again."""
    return msgspec.json.encode({**rubric_table(), "version": "2", "max_undecided": "1/10"})


def documents() -> tuple[Dataset, Rubric, Manifest]:
    """Return the frozen documents: the templates, with two metrics and a larger dataset."""
    manifest = tomllib.loads(read_template("manifest.toml").decode("utf-8"))
    manifest |= {"configuration": CONFIGURATION, "phase": "final", "repetitions": REPETITIONS}
    return (
        parse_dataset(questions(), source="dataset.jsonl", name="example", version="1"),
        parse_rubric(msgspec.json.encode(rubric_table()), source="rubric.json"),
        parse_manifest(
            msgspec.json.encode(manifest), source="manifest.json", harness=None, environment=None
        ),
    )


def questions() -> bytes:
    """Return the dataset as JSON lines, gold included."""
    records = [
        {
            "id": question_id(number),
            "question": question_text(number),
            "task_shape": "fact",
            "as_of": "2026-10-01",
            "split": "holdout",
            "gold": {
                "answer": f"collection_{number:04d}.entry",
                "alternatives": [f"entry of collection_{number:04d}"],
                "evidence": [{"url": "https://example.org/a", "verified_at": "2026-10-01"}],
            },
        }
        for number in range(QUESTIONS)
    ]
    return b"\n".join(msgspec.json.encode(record) for record in records)


def submission_of(record: Record) -> Submission:
    """Return an event as a harness in the same process submits it."""
    trial = record.get("trial")
    return Submission(
        kind=record["kind"],
        run=record["run"],
        trial=None if trial is None else TrialKey(**trial),
        data=record["data"],
        id=record["id"],
        at=record["at"],
        actor=Actor(**record["actor"]),
    )


def line_of(record: Record) -> bytes:
    """Return an event as a line of JSON, as `ledger append` reads it."""
    return msgspec.json.encode(record) + b"\n"


def chunks(source: Iterable[Record], size: int) -> Iterator[list[Record]]:
    """Yield lists of so many events, for ever."""
    iterator = iter(source)
    while chunk := list(islice(iterator, size)):
        yield chunk
