"""The outcome policy once more, slow and obvious, so that the program can be compared with it.

Written from the specification of events alone: it reads the submitted events from the first to the
last and knows nothing of projections, cells or profiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trial_ledger.submission import Submission

Table = dict[str, Any]

NOT_FAIR = {
    "harness_fault", "search_provider_fault", "model_provider_fault", "environment_fault",
    "cancelled", "unfinished", "not_started",
}  # fmt: skip
FAULTS = {
    "agent": "trial_errored",
    "harness": "harness_fault",
    "search_provider": "search_provider_fault",
    "model_provider": "model_provider_fault",
    "environment": "environment_fault",
    "judge": "judge_failed",
}


@dataclass
class Plan:
    """What was planned and how it is to be scored."""

    rubric: Table
    """The rubric as its author writes it."""
    shapes: dict[str, str]
    """Task shape of every planned question, in order."""
    complete: dict[str, bool]
    """Whether the gold list of a question names every right item."""
    repetitions: int
    """How often each question is asked."""
    retries: bool
    """Whether the manifest allows retries."""


@dataclass
class Slot:
    """How one planned slot counts."""

    question: str
    outcome: str
    score: Fraction | None
    counts: bool
    judged: bool
    invalidated: bool
    leaked: bool = False
    session: "Session | None" = None
    is_first: bool = True


def rule_of(plan: Plan, metric: Table, outcome: str) -> Table:
    """Return the rule for a class: the metric's own where it has one, filled from the rubric's."""
    rule = {"denominator": True, "retryable": False, **plan.rubric["outcomes"][outcome]}
    return {**rule, **metric.get("outcomes", {}).get(outcome, {})}


def number(text: str) -> Fraction:
    """Return the number of a rational text."""
    return Fraction(text)


class Session:
    """The events of one session, each with its place in the log."""

    def __init__(self) -> None:
        self.events: list[tuple[int, Submission]] = []

    def places(self, *kinds: str) -> list[int]:
        """Return where events of these kinds stand."""
        return [place for place, event in self.events if event.kind in kinds]

    def data(self, kind: str) -> list[Table]:
        """Return the data of every event of a kind."""
        return [dict(event.data) for _, event in self.events if event.kind == kind]

    def is_invalidated(self) -> bool:
        """Return whether the last word about its standing is an invalidation."""
        words = [
            event.kind
            for _, event in self.events
            if event.kind in {"trial.invalidated", "trial.reinstated"}
        ]
        return bool(words) and words[-1] == "trial.invalidated"

    def is_out(self) -> bool:
        """Return whether it was invalidated before both its end and its first judgment."""
        if not self.is_invalidated():
            return False
        word = self.places("trial.invalidated")[-1]
        return all(
            word < place
            for place in self.places(
                "trial.finished", "judgment.recorded", "judgment.failed", "judgment.overridden"
            )
        )

    def outcome(self) -> str | None:
        """Return how it ended, None while it is open."""
        ends = self.data("trial.finished")
        return str(ends[0]["outcome"]) if ends else None

    def class_before_judgment(self, plan: Plan) -> str | None:
        """Return its class where no judgment is asked."""
        outcome = self.outcome()
        if self.is_out():
            return "invalidated"
        if outcome is None:
            return "unfinished"
        if outcome == "cancelled":
            return "cancelled"
        if outcome == "errored":
            return self.class_of_error(plan)
        return outcome if outcome in {"refused", "filtered"} else None

    def class_of_error(self, plan: Plan) -> str:
        """Return whose failure ended it: the last unrecovered one with impact `trial_failed`."""
        impact = {known["occurrence"]: known["impact"] for known in self.data("failure.occurred")}
        for assessed in self.data("failure.assessed"):
            impact[assessed["occurrence"]] = assessed["impact"]
        recovered = {known["occurrence"] for known in self.data("failure.recovered")}
        fatal = [
            known
            for known in self.data("failure.occurred")
            if impact[known["occurrence"]] == "trial_failed"
            and known["occurrence"] not in recovered
        ]
        if not fatal:
            return "trial_errored"
        if fatal[-1]["fault"] is not None:
            return FAULTS[fatal[-1]["fault"]]
        mapped = plan.rubric["outcomes"]["failures"][fatal[-1]["class"]]
        if isinstance(mapped, str):
            return mapped
        purposes = {known["call"]: known["purpose"] for known in self.data("call.started")}
        call = fatal[-1]["call"]
        return str(mapped["none" if call is None else purposes[call]])

    def verdicts(self, name: str) -> list[Table]:
        """Return the judgments of a metric that no override replaced, as their passes stand."""
        slots: list[list[Table]] = []
        for _, event in self.events:
            if event.kind == "judgment.recorded" and event.data["metric"] == name:
                slots.append([{**event.data, "person": False}])
            if event.kind == "judgment.overridden":
                for chain in slots:
                    if chain[-1]["judgment"] == event.data["replaces"]:
                        chain.append({"verdict": None, "score": None, **event.data, "person": True})
        slots.sort(key=lambda chain: int(chain[0]["pass"]))
        return [chain[-1] for chain in slots]

    def decision(self, plan: Plan, name: str) -> Table | str:
        """Return the judgment that decides a metric, or the class where there is none."""
        standing = self.verdicts(name)
        judge = plan.rubric.get("judge") or {}
        graded = plan.rubric["metrics"][name].get("grader") == "judge"
        if standing and graded and judge.get("canonical") == "majority":
            return majority(standing)
        if standing:
            return standing[0]
        failed = [known for known in self.data("judgment.failed") if known["metric"] == name]
        if failed:
            return str(failed[-1]["reason"])
        without = {"answered": "unjudged", "unknown": "lost_in_source"}
        outcome = str(self.outcome())
        return without.get(outcome, outcome)


def majority(standing: list[Table]) -> Table | str:
    """Return a person's decision, else what more than half of the passes say."""
    for judgment in standing:
        if judgment["person"]:
            return judgment

    def said(judgment: Table) -> tuple[object, object]:
        score = judgment.get("score")
        return judgment.get("verdict"), None if score is None else number(score)

    for judgment in standing:
        alike = [other for other in standing if said(other) == said(judgment)]
        if len(alike) > len(standing) - len(alike):
            return judgment
    return "not_gradable"


def sessions_of(events: Sequence[Submission]) -> dict[tuple[str, int], list[Session]]:
    """Return the started sessions of every slot, in the order of their start."""
    by_trial: dict[tuple[str, int, str], Session] = {}
    for place, event in enumerate(events):
        if event.trial is not None:
            key = (event.trial.question, event.trial.repetition, event.trial.session)
            by_trial.setdefault(key, Session()).events.append((place, event))
    started = sorted(by_trial.items(), key=lambda item: item[1].places("trial.started")[0])
    slots: dict[tuple[str, int], list[Session]] = {}
    for (question, repetition, _), session in started:
        slots.setdefault((question, repetition), []).append(session)
    return slots


def counting(plan: Plan, sessions: list[Session], *, retries: bool) -> Session:
    """Return which session counts: the first that does not give way, else the last."""
    for session in sessions:
        interrupted = session.outcome() in {None, "cancelled"}
        if interrupted and not session.data("answer.submitted"):
            continue
        outcome = session.class_before_judgment(plan)
        if retries and outcome is not None and plan.rubric["outcomes"][outcome].get("retryable"):
            continue
        return session
    return sessions[-1]


def slots_of(
    plan: Plan, events: Sequence[Submission], name: str, *, choice: str = "policy"
) -> list[Slot]:
    """Return how every planned slot of a metric's shapes counts."""
    metric = plan.rubric["metrics"][name]
    started = sessions_of(events)
    found: list[Slot] = []
    for question, shape in plan.shapes.items():
        if metric.get("shapes") and shape not in metric["shapes"]:
            continue
        for repetition in range(1, plan.repetitions + 1):
            sessions = started.get((question, repetition), [])
            if not sessions:
                rule = rule_of(plan, metric, "not_started")
                score = None if rule["score"] == "undecided" else number(rule["score"])
                found.append(Slot(question, "not_started", score, True, False, False))
                continue
            retries = plan.retries or choice == "retried"
            session = counting(plan, sessions, retries=retries)
            if choice == "first":
                session = sessions[0]
            slot = slot_of(plan, metric, name, question, session)
            slot.session, slot.is_first = session, session is sessions[0]
            slot.leaked = any(
                known["class"] == "gold_leak" for known in session.data("failure.occurred")
            )
            found.append(slot)
    return found


def slot_of(plan: Plan, metric: Table, name: str, question: str, session: Session) -> Slot:
    """Return how a started slot counts."""
    outcome = session.class_before_judgment(plan)
    decision = session.decision(plan, name) if outcome is None else outcome
    late = session.is_invalidated() and not session.is_out()
    value = None
    if not isinstance(decision, str):
        outcome = decision.get("verdict") or "scored"
        value = decision.get("score") if metric["measure"] != "verdict" else None
    else:
        outcome = decision
    judged = not isinstance(decision, str)
    if value is not None:
        return Slot(question, outcome, number(value), True, judged, late)
    rule = rule_of(plan, metric, outcome)
    undecided = not rule["denominator"] or rule["score"] == "undecided"
    score = None if undecided else number(rule["score"])
    return Slot(question, outcome, score, rule["denominator"], judged, late)


def mean(slots: list[tuple[str, Fraction]], *, by_question: bool) -> Fraction | None:
    """Return the mean of trials, or the mean over questions of the means over their trials."""
    if not slots:
        return None
    if not by_question:
        return sum((score for _, score in slots), Fraction(0)) / len(slots)
    questions = {question for question, _ in slots}
    means = [
        mean([slot for slot in slots if slot[0] == question], by_question=False)
        for question in sorted(questions)
    ]
    return sum((value for value in means if value is not None), Fraction(0)) / len(means)


def bounds(plan: Plan, name: str, slots: list[Slot]) -> tuple[Fraction | None, Fraction | None]:
    """Return the lowest and highest mean that the undecided scores allow."""
    metric = plan.rubric["metrics"][name]
    low, high = (number(end) for end in metric.get("scale", ("0", "1")))
    by_question = metric.get("aggregate", "question-mean") == "question-mean"
    ends = []
    for end in (low, high):
        known = [
            (slot.question, end if slot.score is None else slot.score)
            for slot in slots
            if slot.counts
        ]
        ends.append(mean(known, by_question=by_question))
    return ends[0], ends[1]


def as_extreme(plan: Plan, name: str, slots: list[Slot], end: int) -> list[Slot]:
    """Return the slots with everything that nobody knows put at one end of the scale."""
    scale = plan.rubric["metrics"][name].get("scale", ("0", "1"))
    found = []
    for slot in slots:
        missing = slot.score is None or slot.outcome in NOT_FAIR
        score = number(scale[end]) if missing else slot.score
        found.append(Slot(slot.question, slot.outcome, score, slot.counts, False, False))
    return found


def places(slots: list[Slot]) -> list[int]:
    """Return where the sessions that count were started, 0 for none."""
    return [
        0 if slot.session is None else slot.session.places("trial.started")[0] + 1 for slot in slots
    ]


def metric_numbers(plan: Plan, events: Sequence[Submission], name: str) -> Table:
    """Return every number of a metric."""
    metric = plan.rubric["metrics"][name]
    slots = slots_of(plan, events, name)
    counted = [slot for slot in slots if slot.counts]
    undecided = [slot for slot in counted if slot.score is None]
    share = Fraction(len(undecided), len(counted)) if counted else Fraction(0)
    errored = NOT_FAIR | {"trial_errored"}
    views = {
        "headline": slots,
        "errors_excluded": [slot for slot in slots if slot.outcome not in errored],
        "complete_case": [slot for slot in slots if slot.judged and slot.score is not None],
        "worst": as_extreme(plan, name, slots, 0),
        "best": as_extreme(plan, name, slots, 1),
    }
    late = sum(slot.invalidated for slot in counted)
    if late:
        views["without_invalidated"] = [slot for slot in slots if not slot.invalidated]
    leaked = sum(slot.leaked for slot in counted)
    if leaked:
        views["without_leaks"] = [slot for slot in slots if not slot.leaked]
    retried = sum(not slot.is_first for slot in slots)
    if retried:
        views["first_sessions"] = slots_of(plan, events, name, choice="first")
    if not plan.retries:
        allowed = slots_of(plan, events, name, choice="retried")
        if places(allowed) != places(slots):
            views["retries_counted"] = allowed
    outcomes: dict[str, int] = {}
    for slot in slots:
        outcomes[slot.outcome] = outcomes.get(slot.outcome, 0) + 1
    lists = [name for name, shape in plan.shapes.items() if shape == "list"]
    incomplete = [name for name in lists if not plan.complete[name]]
    is_recall = metric["measure"] in {"list.recall", "list.f1"}
    return {
        "planned": len(slots),
        "denominator": len(counted),
        "decided": len(counted) - len(undecided),
        "by_rule": sum(slot.score is not None and not slot.judged for slot in counted),
        "undecided": {
            outcome: sum(slot.outcome == outcome for slot in undecided)
            for outcome in {slot.outcome for slot in undecided}
        },
        "missing": sum(slot.score is None or slot.outcome in NOT_FAIR for slot in counted),
        "undecided_share": share,
        "gate_decided": share <= number(plan.rubric.get("max_undecided", "1/20")),
        "outcomes": outcomes,
        "invalidated_after": late,
        "leaked": leaked,
        "retried": retried,
        "unavailable": bool((is_recall and incomplete) or not counted),
        "views": {view: bounds(plan, name, known) for view, known in views.items()},
        "members": views,
    }
