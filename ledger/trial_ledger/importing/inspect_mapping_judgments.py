"""Scores of an Inspect sample as judgments, failed judgments and human overrides.

Invariant: what was scored first is recorded first, and every later edit as an override that names
what it replaces, who and why; a value that the source lacks never becomes a verdict.

A score without a value (NaN) is told apart by the source's own reason. Where it blames the answer
(refusal, no response, a broken format) the trial was judged and found not gradable. Everything
else blames the instrument: the judgment failed (`judge_unparseable` where a grader's answer could
not be read, else `judge_error`). `lost_in_source` is only for a value that the log once had: its
own results count it, and the sample does not hold it.

A judgment is a model's where a judge call or a grading conversation is behind it, else code's.
What the judge was shown and its raw reply are kept with the judgment as well as with its calls.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from blake3 import blake3

from trial_ledger.events import Actor
from trial_ledger.importing.emitting import Emitter, gold_text
from trial_ledger.importing.inspect_mapping_calls import CALL_EVENTS, call_id
from trial_ledger.importing.inspect_mapping_events import NO_REASON, provenance
from trial_ledger.importing.inspect_mapping_report import Tallies
from trial_ledger.importing.inspect_mapping_scores import (
    UNCHANGED,
    Decision,
    Metrics,
    ScoredMetric,
    decide,
    scored_values,
    unscored_reason,
)
from trial_ledger.importing.inspect_mapping_spans import Located
from trial_ledger.importing.lenient_json import (
    JsonObject,
    json_bytes,
    mapping_at,
    mappings_at,
    text_at,
    utc_text,
    whole_text,
)
from trial_ledger.importing.source import safe_name
from trial_ledger.submission import Submission

__all__ = ["Graders", "JudgmentWriter"]

ANSWER_AT_FAULT = frozenset({"refusal", "no_response", "invalid_response_format"})
GRADER_FAILED = "grader_failed"
CONVERSATION_LENGTH = 2
MAX_CALLS = 1000
"""Judge calls that a judgment names; the last ones, since the first lead up to them."""


class Graders(msgspec.Struct, frozen=True, kw_only=True):
    """What the log says about its scorers."""

    version: str | None
    """Version of Inspect, which is theirs too."""
    digests: Mapping[str, str]
    """Digest of a scorer's declaration, by name."""

    @classmethod
    def of(cls, spec: JsonObject, *, version: str | None) -> "Graders":
        """Return the graders that an evaluation declares."""
        declared = {
            name: scorer
            for scorer in mappings_at(spec, "scorers")
            if (name := text_at(scorer, "name")) is not None
        }
        return cls(
            version=version,
            digests={
                name: blake3(json_bytes(scorer, ordered=True)).hexdigest()
                for name, scorer in declared.items()
            },
        )

    def reference(self, scorer: str) -> Mapping[str, object]:
        """Return the grader of a judgment."""
        found: dict[str, object] = {"name": safe_name(scorer)}
        if self.version is not None:
            found["version"] = self.version
        if scorer in self.digests:
            found["digest"] = self.digests[scorer]
        return found


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What lies behind one scorer's scores in one sample."""

    calls: tuple[str, ...]
    """Ids of its judge calls."""
    model: str | None
    """Judge model."""
    shown: str | None
    """What the judge was shown."""
    raw: str | None
    """What the judge replied."""
    at: str | None
    """When the score was given."""

    @property
    def is_model(self) -> bool:
        """Whether a model judged."""
        return bool(self.calls) or self.raw is not None


class JudgmentWriter:
    """Writes the judgments of one sample."""

    def __init__(
        self, emitter: Emitter, tallies: Tallies, *, metrics: Metrics, graders: Graders
    ) -> None:
        self.emitter = emitter
        self.tallies = tallies
        self.metrics = metrics
        self.graders = graders

    def write(
        self, scores: Mapping[str, object], judging: Sequence[Located]
    ) -> Iterator[Submission]:
        """Yield the judgments and overrides of every score of a sample."""
        for scorer, score in scores.items():
            if not isinstance(score, dict):
                continue
            evidence = evidence_of(scorer, score, judging)
            versions = versions_of(score)
            for key, _ in scored_values(versions[0]["value"]):
                metric = self.metrics.of(scorer, key)
                yield from self.metric(metric, key, versions, evidence)

    def metric(
        self,
        metric: ScoredMetric,
        key: str | None,
        versions: Sequence[Mapping[str, object]],
        evidence: Evidence,
    ) -> Iterator[Submission]:
        """Yield the first judgment of one metric, then its overrides."""
        effective: str | None = None
        for number, version in enumerate(versions):
            values = dict(scored_values(version["value"]))
            decision = decide(metric, values.get(key))
            place = f"scores/{metric.name}/{number}"
            judgment = safe_name(metric.name if number == 0 else f"{metric.name}#{number}")
            edited = version.get("provenance") is not None or number > 0
            if effective is not None:
                yield self.override(place, judgment, effective, decision, version)
            elif edited:
                yield self.by_person(place, judgment, metric, decision, version)
            elif decision.unscored and unscored_reason(version) not in ANSWER_AT_FAULT:
                yield from self.failed(place, judgment, metric, version, evidence)
                continue
            else:
                yield self.recorded(place, judgment, metric, decision, version, evidence)
            effective = judgment

    def recorded(
        self,
        place: str,
        judgment: str,
        metric: ScoredMetric,
        decision: Decision,
        version: Mapping[str, object],
        evidence: Evidence,
    ) -> Submission:
        """Return what the scorer decided."""
        self.count(metric, decision)
        explanation = text_at(version, "explanation")
        data: dict[str, object] = {
            "judgment": judgment,
            "metric": metric.name,
            "by": "model" if evidence.is_model else "code",
            "grader": self.graders.reference(metric.scorer),
            "verdict": decision.verdict,
            "score": decision.score,
            "parts": [{"name": "value", "outcome": decision.label}],
            "reasoning": gold_text(explanation),
            "shown": gold_text(evidence.shown),
            "raw": gold_text(evidence.raw),
            "model": None if evidence.model is None else safe_name(evidence.model),
            "calls": list(evidence.calls),
        }
        return self.emitter.event("judgment.recorded", place, data, at=evidence.at)

    def count(self, metric: ScoredMetric, decision: Decision) -> None:
        """Count a judgment, and a value that is neither a number nor a verdict."""
        self.tallies.counts["judgments"] += 1
        if decision.verdict == "not_gradable" and not decision.unscored:
            self.tallies.labels[metric.name] += 1

    def failed(
        self,
        place: str,
        judgment: str,
        metric: ScoredMetric,
        version: Mapping[str, object],
        evidence: Evidence,
    ) -> Iterator[Submission]:
        """Yield the failure of a grader that gave no value, and the failed judgment."""
        self.tallies.counts["failures"] += 1
        self.tallies.counts["judgments_failed"] += 1
        occurrence = safe_name(f"{place}/failure")
        reason = unscored_reason(version)
        unreadable = reason == GRADER_FAILED
        yield self.emitter.event(
            "failure.occurred",
            place,
            {
                "occurrence": occurrence,
                "class": "judge_unparseable" if unreadable else "judge_error",
                "detail_class": reason or "unscored",
                "fault": "judge",
                "call": evidence.calls[-1] if evidence.calls else None,
                "message": gold_text(text_at(version, "explanation")),
            },
            at=evidence.at,
        )
        yield self.emitter.event(
            "judgment.failed",
            place,
            {
                "judgment": judgment,
                "metric": metric.name,
                "reason": "judge_failed",
                "occurrence": occurrence,
                "calls": list(evidence.calls),
                "raw": gold_text(evidence.raw),
            },
            at=evidence.at,
        )

    def lost(self, metric: ScoredMetric) -> Submission:
        """Return the judgment that the source counted and does not hold."""
        self.tallies.counts["judgments_lost"] += 1
        return self.emitter.event(
            "judgment.failed",
            f"scores/{metric.name}/lost",
            {"judgment": metric.name, "metric": metric.name, "reason": "lost_in_source"},
        )

    def override(
        self,
        place: str,
        judgment: str,
        replaces: str,
        decision: Decision,
        version: Mapping[str, object],
    ) -> Submission:
        """Return a person's other decision."""
        self.tallies.counts["overrides"] += 1
        actor, reason, at = self.person(version)
        return self.emitter.event(
            "judgment.overridden",
            place,
            {
                "judgment": judgment,
                "replaces": replaces,
                "verdict": decision.verdict,
                "score": decision.score,
                "reason": gold_text(reason),
            },
            at=at,
            actor=actor,
        )

    def by_person(
        self,
        place: str,
        judgment: str,
        metric: ScoredMetric,
        decision: Decision,
        version: Mapping[str, object],
    ) -> Submission:
        """Return a person's decision where there was none to replace."""
        self.count(metric, decision)
        self.tallies.counts["judgments_by_people"] += 1
        actor, reason, at = self.person(version)
        return self.emitter.event(
            "judgment.recorded",
            place,
            {
                "judgment": judgment,
                "metric": metric.name,
                "by": "human",
                "grader": {"name": actor.name},
                "verdict": decision.verdict,
                "score": decision.score,
                "parts": [{"name": "value", "outcome": decision.label}],
                "reasoning": gold_text(reason),
            },
            at=at,
            actor=actor,
        )

    def person(self, version: Mapping[str, object]) -> tuple[Actor, str, str | None]:
        """Return who edited a score, why, and when; the new explanation is part of the reason."""
        record = mapping_at(version, "provenance")
        self.tallies.unnamed += text_at(record, "author") is None
        actor, reason, at = provenance(record)
        explanation = version.get("new_explanation")
        if isinstance(explanation, str) and explanation.strip():
            reason = explanation if reason == NO_REASON else f"{reason}\n\n{explanation}"
        return actor, reason, at


def versions_of(score: JsonObject) -> list[dict[str, object]]:
    """Return every state that a score went through, the first one first.

    An edit states only what it changes; in what is returned each version is complete, and what it
    newly explained stands in `new_explanation`.
    """
    history = mappings_at(score, "history")
    if not history:
        return [{**score, "value": score.get("value")}]
    versions: list[dict[str, object]] = []
    state: dict[str, object] = {"value": None}
    for edit in history:
        changed = {key: value for key, value in edit.items() if value != UNCHANGED}
        state = {**state, "new_explanation": None, "provenance": None, **changed}
        state["new_explanation"] = changed.get("explanation")
        versions.append(state)
    return versions


def evidence_of(scorer: str, score: JsonObject, judging: Sequence[Located]) -> Evidence:
    """Return what lies behind a scorer's scores: its judge calls, else the conversation it kept."""
    own = [located for located in judging if located.scorer == scorer]
    models = [located.event for located in own if located.kind == "model"]
    conversation = mappings_at(mapping_at(score, "metadata"), "grading")
    shown = raw = model = None
    if models:
        last = models[-1]
        model = text_at(last, "model")
        shown = shown_text(mappings_at(last, "input"))
        raw = text_at(mapping_at(last, "output"), "completion") or reply_of(last)
    elif len(conversation) >= CONVERSATION_LENGTH:
        shown = shown_text(conversation[:-1])
        raw = whole_text(conversation[-1].get("content"))
        model = text_at(conversation[-1], "model")
    calls = [call_id(located.place) for located in own if located.kind in CALL_EVENTS]
    return Evidence(
        calls=tuple(calls[-MAX_CALLS:]),
        model=model,
        shown=shown,
        raw=raw,
        at=score_time(own),
    )


def shown_text(messages: Sequence[JsonObject]) -> str | None:
    """Return what messages say, one after the other."""
    texts = [whole_text(message.get("content")) for message in messages]
    return "\n\n".join(text for text in texts if text) or None


def reply_of(event: JsonObject) -> str | None:
    """Return the text of a model event's first choice."""
    for choice in mappings_at(mapping_at(event, "output"), "choices"):
        return whole_text(mapping_at(choice, "message").get("content"))
    return None


def score_time(own: Sequence[Located]) -> str | None:
    """Return when a scorer gave its final score."""
    times = [
        utc_text(located.event.get("timestamp"))
        for located in own
        if located.kind == "score" and located.event.get("intermediate") is not True
    ]
    return times[-1] if times else None
