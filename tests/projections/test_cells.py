"""How one slot counts: precedence, classes, values, sessions."""

import msgspec
import pytest

from ledger_cases import small_rubric
from trial_ledger.events import BlobRef
from trial_projections.cells import MetricRules, first_counting, is_invalidated_after
from trial_projections.records import (
    FailedJudgment,
    JudgmentRecord,
    Mark,
    SessionRecord,
    StandingChange,
    TrialOccurrence,
)

RUBRIC = small_rubric()
REASON = BlobRef(blob="0" * 64, bytes=1, media="text/plain", class_="sealed")


def mark(seq: int) -> Mark:
    """Return an event at a place."""
    return Mark(seq, f"{seq:064x}")


def session(outcome: str | None, **fields: object) -> SessionRecord:
    """Return a session that was started at 1 and ended at 5."""
    record = SessionRecord(
        question="q1",
        repetition=1,
        session="s1",
        started=mark(1),
        finished=None if outcome is None else mark(5),
        outcome=outcome,
    )
    return msgspec.structs.replace(record, **fields)


def judgment(value: str | None, seq: int = 6, *, metric: str = "judged") -> JudgmentRecord:
    """Return a judgment: a verdict, or for `exact` a score."""
    verdict, score = (None, value) if metric == "exact" else (value, None)
    return JudgmentRecord(f"j{seq}", mark(seq), metric, 1, "model", "judge@1", verdict, score)


def failure(class_: str, fault: str | None, **fields: object) -> TrialOccurrence:
    """Return a failure that ended its trial."""
    known = TrialOccurrence("f1", mark(3), class_, fault, None, "trial_failed")
    return msgspec.structs.replace(known, **fields)


def standing(*words: tuple[int, bool]) -> tuple[StandingChange, ...]:
    """Return invalidations and reinstatements at these places."""
    return tuple(StandingChange(mark(seq), valid, "Ada", REASON) for seq, valid in words)


def placed(trial: SessionRecord | None, metric: str = "judged") -> tuple[str, str | None, str]:
    """Return class, score and ground of a slot."""
    cell, _ = MetricRules(RUBRIC, metric).place(trial, trial)
    return cell.outcome, cell.score, cell.basis


JUDGED = {"judgments": (judgment("correct"),)}
FAILED = {"failed_judgments": (FailedJudgment("j1", mark(6), "judged", "judge_failed"),)}
LOST = {"failed_judgments": (FailedJudgment("j1", mark(6), "judged", "lost_in_source"),)}
ENDED = {"occurrences": (failure("timeout", "harness"),)}


@pytest.mark.parametrize(
    ("trial", "expected"),
    [
        (None, ("not_started", "0", "rule")),
        (session(None), ("unfinished", "0", "rule")),
        (session("cancelled", **JUDGED), ("cancelled", "0", "rule")),
        (session("errored", **JUDGED), ("trial_errored", "0", "rule")),
        (session("errored", **JUDGED, **ENDED), ("harness_fault", "0", "rule")),
        (session("refused", **JUDGED), ("refused", "0", "rule")),
        (session("filtered", **JUDGED), ("filtered", "0", "rule")),
        (session("answered", **JUDGED), ("correct", "1", "judgment")),
        (session("limit", **JUDGED), ("correct", "1", "judgment")),
        (session("limit"), ("limit", "0", "rule")),
        (session("abstained", **JUDGED), ("correct", "1", "judgment")),
        (session("abstained"), ("abstained", "0", "rule")),
        (session("answered", abstained=True), ("abstained", "0", "rule")),
        (session("unknown", abstained=True), ("abstained", "0", "rule")),
        (session("limit", abstained=True), ("limit", "0", "rule")),
        (session("answered", abstained=True, **JUDGED), ("correct", "1", "judgment")),
        (session("answered"), ("unjudged", None, "nothing")),
        (session("answered", **FAILED), ("judge_failed", None, "nothing")),
        (session("answered", **LOST), ("lost_in_source", None, "nothing")),
        (session("answered", **JUDGED, **FAILED), ("correct", "1", "judgment")),
        (session("unknown"), ("lost_in_source", None, "nothing")),
        (session("unknown", **JUDGED), ("correct", "1", "judgment")),
        (
            session("answered", judgments=(judgment("not_gradable"),)),
            ("not_gradable", None, "nothing"),
        ),
        (session("answered", judgments=(judgment("partial"),)), ("partial", "1/2", "judgment")),
        (session("answered", changes=standing((2, False))), ("invalidated", None, "nothing")),
        (session("errored", changes=standing((2, False))), ("invalidated", None, "nothing")),
        (session(None, changes=standing((2, False))), ("invalidated", None, "nothing")),
        (session("answered", **JUDGED, changes=standing((7, False))), ("correct", "1", "judgment")),
    ],
)  # fmt: skip
def test_the_precedence_is_that_of_the_policy(
    trial: SessionRecord | None, expected: tuple[str, str | None, str]
) -> None:
    """Invalidated, not started, unfinished, cancelled, errored, refused, filtered, judgment."""
    assert placed(trial) == expected


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("agent", "trial_errored"),
        ("harness", "harness_fault"),
        ("search_provider", "search_provider_fault"),
        ("model_provider", "model_provider_fault"),
        ("environment", "environment_fault"),
        ("judge", "judge_failed"),
    ],
)
def test_c20_the_fault_decides_the_class_of_an_errored_trial(fault: str, expected: str) -> None:
    """Whose failure ended the trial is its class, whatever kind of failure it was."""
    trial = session("errored", occurrences=(failure("timeout", fault),))
    assert placed(trial)[0] == expected


@pytest.mark.parametrize(
    ("class_", "purpose", "expected"),
    [
        ("timeout", "model", "model_provider_fault"),
        ("timeout", "search", "search_provider_fault"),
        ("timeout", "tool", "environment_fault"),
        ("timeout", "judge", "judge_failed"),
        ("timeout", None, "trial_errored"),
        ("auth", "search", "harness_fault"),
        ("limit", None, "limit"),
        ("cancelled", None, "cancelled"),
    ],
)
def test_c20_the_rubric_maps_a_failure_of_unknown_fault(
    class_: str, purpose: str | None, expected: str
) -> None:
    """By its class, and where the rubric says so by whom the call went to."""
    trial = session("errored", occurrences=(failure(class_, None, purpose=purpose),))
    assert placed(trial)[0] == expected


def test_only_the_last_unrecovered_fatal_failure_decides() -> None:
    """Failures that were recovered, or that did not end the trial, are no reason."""
    occurrences = (
        failure("timeout", "agent"),
        failure("timeout", "harness"),
        failure("timeout", "environment", recovered=mark(4)),
        failure("timeout", "model_provider", impact="degraded"),
    )
    assert placed(session("errored", occurrences=occurrences))[0] == "harness_fault"
    assert placed(session("errored", occurrences=occurrences[2:]))[0] == "trial_errored"


@pytest.mark.parametrize(
    ("words", "out", "after"),
    [
        ((), False, False),
        (((2, False),), True, False),
        (((2, False), (3, True)), False, False),
        (((2, False), (3, True), (9, False)), False, True),
        (((5, False),), False, True),
        (((9, False),), False, True),
        (((9, False), (10, True)), False, False),
    ],
)
def test_c12_only_an_early_invalidation_leaves_the_denominator(
    words: tuple[tuple[int, bool], ...], out: bool, after: bool
) -> None:
    """What counts is the last word, and whether it came before the end and the first judgment."""
    trial = session("answered", **JUDGED, changes=standing(*words))
    cell, _ = MetricRules(RUBRIC, "judged").place(trial, trial)
    assert (not cell.counts, cell.invalidated) == (out, after)
    assert is_invalidated_after(trial) is after


@pytest.mark.parametrize("ending", [{"finished": None}, {"finished": mark(5)}])
def test_c12_a_failed_judgment_is_a_judgment_in_the_order_of_things(
    ending: dict[str, object],
) -> None:
    """A verdict that failed was asked for: invalidating afterwards takes nothing out."""
    trial = session("answered", **FAILED, **ending, changes=standing((8, False)))
    assert is_invalidated_after(trial)


def test_a_value_counts_where_the_measure_is_no_verdict() -> None:
    """The score counts, its label is only shown; `not_gradable` is the undecided form."""
    scored = session("answered", judgments=(judgment("1/3", metric="exact"),))
    assert placed(scored, "exact") == ("scored", "1/3", "judgment")
    labelled = msgspec.structs.replace(judgment("1/3", metric="exact"), verdict="correct")
    assert placed(session("answered", judgments=(labelled,)), "exact") == (
        "correct", "1/3", "judgment",
    )  # fmt: skip
    undecided = msgspec.structs.replace(
        judgment(None, metric="exact"), verdict="not_gradable", score=None
    )
    assert placed(session("answered", judgments=(undecided,)), "exact") == (
        "not_gradable", None, "nothing",
    )  # fmt: skip


def test_passes_without_a_majority_are_not_gradable() -> None:
    """Where the rubric asks for a majority and there is none, the trial is undecided."""
    judge = {"model": "m", "endpoint": "judge", "prompt": "p", "canonical": "majority"}
    passes = (judgment("correct", 6), judgment("incorrect", 7))
    trial = session("answered", judgments=passes)
    rules = MetricRules(small_rubric(judge=judge), "judged")
    cell, decided = rules.place(trial, trial)
    assert (cell.outcome, cell.score, cell.basis, decided) == (
        "not_gradable",
        None,
        "nothing",
        None,
    )
    other = MetricRules(small_rubric(judge=judge), "exact")
    assert not other.majority


def test_slots_that_count_alike_share_a_cell() -> None:
    """Each way to count is made once, so that scoring costs what is distinct."""
    rules = MetricRules(RUBRIC, "judged")
    trial = session("answered", **JUDGED)
    other = session("answered", judgments=(judgment("correct", 7),))
    assert rules.place(trial, trial)[0] is rules.place(other, other)[0]
    assert rules.place(trial, None)[0].outcome == "unjudged"


def sessions(*records: SessionRecord) -> list[SessionRecord]:
    """Return sessions of one slot in order."""
    return [
        msgspec.structs.replace(record, session=f"s{number}")
        for number, record in enumerate(records, 1)
    ]


PROVIDER = {"occurrences": (failure("timeout", "model_provider"),)}
AGENT = {"occurrences": (failure("timeout", "agent"),)}


@pytest.mark.parametrize(
    ("first", "retries", "counts"),
    [
        (session("answered"), False, "s1"),
        (session("answered"), True, "s1"),
        (session(None), False, "s2"),
        (session(None, answered=mark(4)), False, "s1"),
        (session("cancelled"), False, "s2"),
        (session("cancelled", answered=mark(4)), False, "s1"),
        (session("errored", **PROVIDER), False, "s1"),
        (session("errored", **PROVIDER), True, "s2"),
        (session("errored", **AGENT), True, "s1"),
        (session("answered", changes=standing((2, False))), True, "s1"),
    ],
)
def test_c16_which_session_counts(first: SessionRecord, retries: bool, counts: str) -> None:
    """The first, unless an interruption left it without an answer, or retries were declared."""
    found = first_counting(sessions(first, session("answered")), RUBRIC, allows_retries=retries)
    assert found.session == counts


def test_c16_the_last_session_counts_where_all_give_way() -> None:
    """Somebody has to."""
    slot = sessions(session(None), session("cancelled"), session("errored", **PROVIDER))
    assert first_counting(slot, RUBRIC, allows_retries=True).session == "s3"
    assert first_counting(slot[:1], RUBRIC, allows_retries=True).session == "s1"
