"""One document of the harness as a trial: its requests, its answer, a judgment a metric and filter.

Invariant: a document is one trial however often it was asked (docs/decisions, 0020): the harness
makes one value of all responses to it. Every response is kept, each with its request; what the
source does not record of them (time, usage, cost) is unknown.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from blake3 import blake3

from trial_ledger.exact import rational_text
from trial_ledger.identifiers import TrialKey
from trial_ledger.importing.emitting import Emitter, gold_text, json_text, plain_text
from trial_ledger.importing.lenient_json import (
    JsonObject,
    json_bytes,
    list_at,
    mapping_at,
    whole_text,
)
from trial_ledger.importing.lm_eval_report import Tallies
from trial_ledger.importing.lm_eval_samples import Document
from trial_ledger.importing.lm_eval_values import Metric, number_of, value_label
from trial_ledger.importing.source import safe_name
from trial_ledger.submission import NewText, Submission

__all__ = ["FORMAT", "TrialWriter"]

FORMAT = "lm-eval"
SESSION = "s1"


class TrialWriter(msgspec.Struct, frozen=True, kw_only=True):
    """Writes the trials of one run."""

    run: str
    """Name of the run."""
    digest: str
    """Digest of the source."""
    configuration: str
    """The manifest's name of the system under test."""
    metrics: Sequence[Metric]
    """Metrics of the reconstructed rubric."""
    shows_context: frozenset[str]
    """Questions whose prompt shows more of the document than the question."""
    model: str | None
    """Name of the model; None where the source names none."""
    version: str | None
    """Version of the harness, which is its metrics' too."""
    tallies: Tallies
    """Where everything is counted."""

    def write(self, document: Document, lines: Mapping[str, JsonObject]) -> Iterator[Submission]:
        """Yield every event of one document."""
        emitter = Emitter(
            source_format=FORMAT,
            run=self.run,
            digest=self.digest,
            path=f"documents/{document.number}",
            trial=TrialKey(
                question=document.question,
                configuration=self.configuration,
                repetition=1,
                session=SESSION,
            ),
        )
        self.tallies.counts["trials"] += 1
        line = next(iter(lines.values()))
        yield self.started(emitter, document, line)
        yield from self.requests(emitter, line)
        answers = {name: answer_of(each) for name, each in lines.items()}
        answer = next(iter(answers.values()))
        self.tallies.other_answers += len(set(answers.values())) > 1
        yield emitter.event("answer.submitted", "answer", {"answer": plain_text(answer)})
        yield emitter.event("trial.finished", "end", {"outcome": "answered"})
        for metric in self.metrics:
            each = lines[metric.measure.filter]
            yield self.judgment(emitter, metric, each, answers[metric.measure.filter])

    def started(self, emitter: Emitter, document: Document, line: JsonObject) -> Submission:
        """Return the start of a trial."""
        given = prompt_of(line)
        self.tallies.without_prompt += given is None
        fields = ["question"] if given is not None else []
        if given is not None and document.question in self.shows_context:
            fields.append("context")
        return emitter.event("trial.started", "start", {"input": given, "fields": fields})

    def requests(self, emitter: Emitter, line: JsonObject) -> Iterator[Submission]:
        """Yield a call for each request, and for each time it was repeated."""
        arguments = list(mapping_at(line, "arguments").items())
        for index, responses in enumerate(list_at(line, "resps")):
            name, sent = arguments[index] if index < len(arguments) else (f"request_{index}", None)
            for repeat, response in enumerate(
                responses if isinstance(responses, list) else [responses], 1
            ):
                yield from self.call(emitter, safe_name(f"{name}#{repeat}"), sent, response)

    def call(
        self, emitter: Emitter, call: str, sent: object, response: object
    ) -> Iterator[Submission]:
        """Yield one request and its response; a log-likelihood is a response too."""
        self.tallies.counts["model_calls"] += 1
        text = whole_text(response)
        yield emitter.event(
            "call.started",
            call,
            {
                "call": call,
                "purpose": "model",
                "name": None if self.model is None else safe_name(self.model),
                "request": None if sent is None else json_text(sent),
            },
        )
        yield emitter.event(
            "call.finished",
            call,
            {
                "call": call,
                "status": "ok" if text else "empty",
                "response": plain_text(text),
            },
        )

    def judgment(
        self, emitter: Emitter, metric: Metric, line: JsonObject, answer: str
    ) -> Submission:
        """Return what the source decided about a document under one metric and filter."""
        place = f"metrics/{metric.name}"
        field = metric.measure.metric
        if field not in line:
            self.tallies.counts["judgments_lost"] += 1
            return emitter.event(
                "judgment.failed",
                place,
                {"judgment": metric.name, "metric": metric.name, "reason": "lost_in_source"},
            )
        self.tallies.counts["judgments"] += 1
        number = number_of(line[field])
        return emitter.event(
            "judgment.recorded",
            place,
            {
                "judgment": metric.name,
                "metric": metric.name,
                "by": "code",
                "grader": self.grader(metric),
                "verdict": "not_gradable" if number is None else None,
                "score": None if number is None else rational_text(number),
                "parts": [{"name": "value", "outcome": value_label(line[field])}],
                "shown": gold_text(answer),
            },
        )

    def grader(self, metric: Metric) -> Mapping[str, object]:
        """Return the grader: the harness's metric, and a digest of how it was declared."""
        declared = {"metric": dict(metric.declared), "filter": dict(metric.steps)}
        found: dict[str, object] = {
            "name": safe_name(metric.measure.metric),
            "digest": blake3(json_bytes(declared, ordered=True)).hexdigest(),
        }
        if self.version is not None:
            found["version"] = self.version
        return found


def prompt_of(line: JsonObject) -> NewText | None:
    """Return the prompt: the text that all requests begin with, else all of their arguments.

    A log-likelihood is asked for once a choice, with one prompt and the choices as continuations.
    """
    arguments = mapping_at(line, "arguments")
    if not arguments:
        return None
    first = [sent.get("arg_0") if isinstance(sent, dict) else None for sent in arguments.values()]
    texts = {text for text in first if isinstance(text, str)}
    if len(texts) == 1 and all(isinstance(text, str) for text in first):
        return plain_text(texts.pop())
    return json_text(arguments)


def answer_of(line: JsonObject) -> str:
    """Return the filtered response: the text itself where there is one, else all of it as JSON."""
    filtered = line["filtered_resps"]
    if isinstance(filtered, list) and len(filtered) == 1 and isinstance(filtered[0], str):
        return filtered[0]
    return whole_text(filtered) or ""
