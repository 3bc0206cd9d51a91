"""`trace`: attempts, gaps, what came back and was seen, recovery, surfacing, order (C21 to C26)."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_cases import RUN
from policy_cases import METRICS, QUESTIONS, append_random, policy_ledger, read_side
from run_cases import runs
from trace_cases import Story, effects, fates, steps
from trial_ledger.errors import NotFoundError
from trial_ledger.submission import NewText
from trial_projections.trace import trace
from trial_projections.trace_facts import facts_of
from trial_projections.trace_fate import RetryPolicy, fate_of
from trial_projections.trace_lookup import find_target


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A run that retries, with one trial begun at noon."""
    made = Story(tmp_path)
    made.start()
    return made


def test_c21_a_lost_response_was_seen_by_nobody(story: Story) -> None:
    """Bytes of the expected, the model saw nothing, no miss can be declared, the trial is lost."""
    story.call("12:00:01.000000", "c1")
    occurred = story.tell(
        "12:00:02.500000", "failure.occurred", occurrence="f1", class_="response_lost",
        fault="harness", call="c1", impact="trial_failed", message="cut",
    )  # fmt: skip
    lost = story.tell(
        "12:00:02.600000", "response.lost", call="c1", occurrence="f1", bytes_received=18204,
        bytes_expected=41377,
    )  # fmt: skip
    story.end("12:00:03.000000", "errored")
    found = story.trace("f1")
    (step,) = steps(found, "response.lost")
    assert (step.bytes_received, step.bytes_expected, step.delivered) == (18204, 41377, False)
    assert (step.offset_us, step.related, step.marked) == (1_600_000, True, False)
    (marked,) = [step for step in found.steps if step.marked]
    assert (marked.seq, marked.offset_us, marked.message) == (occurred, 1_500_000, "cut")
    assert (found.seq, found.outcome, found.subject) == (occurred, "errored", "occurrence")
    assert (found.miss.state, found.miss.seqs) == ("lost_response", [lost])
    (attempt,) = found.attempts
    assert (attempt.ending, attempt.cost) == ("lost", None)
    assert (found.cost.known_count, found.cost.unknown_count) == (0, 1)
    fate = fates(found)["f1"]
    assert (fate.not_tried, fate.why_not) == (2, ["class_not_retried"])
    effect = effects(found)["exact"]
    assert (effect.ground, effect.why) == ("lost", "trial_lost")


def test_c23_attempts_with_gaps_and_their_recovery(story: Story) -> None:
    """Each retry names what it tries again and how long it waited; the fate what made it good."""
    cost = {"amount": "0.5", "currency": "USD", "basis": "reported"}
    story.call("12:00:01.000000", "c1")
    story.fail("12:00:02.000000", "f1", "c1")
    story.call("12:00:04.250000", "c2", attempt=2, retry_of="c1")
    story.fail("12:00:05.000000", "f2", "c2", class_="rate_limited")
    story.call("12:00:05.500000", "c3", attempt=3, retry_of="c2")
    story.tell(
        "12:00:06.000000", "call.finished", call="c3", status="ok", response="[1]",
        delivered=True, duration_us=500_000, cost=cost, served={"endpoint": "search"},
    )  # fmt: skip
    recovered = story.tell("12:00:06.000001", "failure.recovered", occurrence="f2", by="retry",
                           call="c3")  # fmt: skip
    story.tell(None, "failure.recovered", occurrence="f1", by="retry", call="c3")
    story.tell("12:00:06.000003", "failure.assessed", occurrence="f1", impact="none")
    other = story.call("12:00:07.000000", "c4")
    story.tell("12:00:07.100000", "call.finished", call="c4", status="empty")
    story.end("12:00:08.000000", "answered")
    found = story.trace("f1")
    starts = {step.call: step for step in steps(found, "call.started")}
    assert [starts[name].waited_us for name in ("c1", "c2", "c3")] == [None, 2_250_000, 500_000]
    assert [starts[name].related for name in ("c1", "c2", "c3", "c4")] == [True] * 3 + [False]
    assert [call.call for call in found.attempts] == ["c1", "c2", "c3"]
    assert (found.cost.known, found.cost.unknown_count) == ({"USD": "0.5"}, 2)
    first, second = fates(found)["f1"], fates(found)["f2"]
    assert [(known.call, known.linked) for known in first.next_calls] == [("c2", True)]
    assert (first.recovered_by, first.recovered_call) == ("retry", "c3")
    assert (first.recovered_at, first.recovered_after_us) == (None, None)
    assert (first.impact, first.why_not, first.not_tried) == ("none", [], None)
    assert (second.recovered_seq, second.recovered_after_us) == (recovered, 1_000_001)
    (finish,) = [step for step in steps(found, "call.finished") if step.call == "c3"]
    assert (finish.delivered, finish.bytes_received, finish.served) == (True, 3, "search")
    assert effects(found)["exact"].why == "recovered"
    assert [step.seq for step in found.steps if not step.related][1:] == [other, other + 1]


def failing(story: Story, *, attempt: int = 1, class_: str = "timeout") -> None:
    """Let one call fail and nothing follow."""
    story.call("12:00:01.000000", "c1", attempt=attempt)
    story.fail("12:00:02.000000", "f1", "c1", class_=class_)


@pytest.mark.parametrize(
    ("attempt", "class_", "outcome", "why"),
    [
        (1, "auth", "errored", ["class_not_retried"]),
        (3, "timeout", "errored", ["attempts_used"]),
        (3, "auth", "errored", ["class_not_retried", "attempts_used"]),
        (1, "timeout", "limit", ["trial_ended"]),
        (1, "auth", "cancelled", ["class_not_retried", "trial_ended"]),
        (1, "timeout", None, ["trial_open"]),
        (1, "timeout", "errored", ["not_recorded"]),
    ],
)
def test_c23_why_a_failed_call_was_not_tried_again(
    story: Story, attempt: int, class_: str, outcome: str | None, why: list[str]
) -> None:
    """The manifest's rule, the end of the trial, or that nobody says."""
    failing(story, attempt=attempt, class_=class_)
    if outcome is not None:
        story.end("12:00:03.000000", outcome)
    fate = fates(story.trace("f1"))["f1"]
    assert (fate.not_tried, fate.why_not) == (attempt + 1, why)
    assert fate.recovered_by is None


def test_c23_without_a_known_policy_nothing_is_guessed(story: Story) -> None:
    """A source that does not say its retries; and one that tries every class again."""
    failing(story, class_="auth")
    events = [stored for stored in story.ledger.events(run=RUN) if stored.event.trial is not None]
    facts = facts_of(events)
    (occurrence,) = facts.occurrences.values()
    assert fate_of(occurrence, facts, None).why_not == ["policy_unknown"]
    assert fate_of(occurrence, facts, RetryPolicy(2, None)).why_not == ["trial_open"]


def test_c23_a_failure_outside_any_call_could_not_be_tried_again(story: Story) -> None:
    """Nothing is said of attempts where there is no call, or one that nobody started."""
    story.fail("12:00:01.000000", "f1", None, class_="harness_error")
    story.tell(
        "12:00:01.000000", "failure.occurred", occurrence="f2", class_="timeout", call="gone"
    )
    for name in ("f1", "f2"):
        found = story.trace(name)
        fate = fates(found)[name]
        assert (fate.not_tried, fate.why_not, fate.next_calls) == (None, [], [])
        assert (found.attempts, fate.purpose) == ([], None)


def test_c23_calls_that_do_the_same_work_are_named_but_are_no_retries(story: Story) -> None:
    """Where no retry is linked; up to the one that made it good, a few at most."""
    failing(story, class_="auth")
    story.call("12:00:03.000000", "other", endpoint="model", purpose="model")
    for number in range(2, 10):
        story.call("12:00:03.000000", f"c{number}")
        story.tell("12:00:04.000000", "call.finished", call=f"c{number}", status="ok")
    fate = fates(story.trace("f1"))["f1"]
    names = [known.call for known in fate.next_calls]
    assert names == ["c2", "c3", "c4", "c5", "c6"]
    assert {known.linked for known in fate.next_calls} == {False}
    assert fate.why_not == ["class_not_retried"]
    story.tell(None, "failure.recovered", occurrence="f1", by="fallback", call="c4")
    found = story.trace("f1")
    assert [known.call for known in fates(found)["f1"].next_calls] == ["c2", "c3", "c4"]
    assert [call.call for call in found.attempts] == ["c1", "c2", "c3", "c4"]


def test_c23_a_recovery_by_a_call_of_another_kind_is_shown(story: Story) -> None:
    """A fallback to another endpoint belongs to what is traced; a repair needs no call."""
    failing(story)
    story.call("12:00:03.000000", "c2", endpoint="model", purpose="model")
    story.tell("12:00:04.000000", "call.finished", call="c2", status="partial")
    story.tell(None, "failure.recovered", occurrence="f1", by="fallback", call="c2")
    found = story.trace("f1")
    assert [call.call for call in found.attempts] == ["c1", "c2"]
    story.fail("12:00:05.000000", "f2", None)
    story.tell(None, "failure.recovered", occurrence="f2", by="repair")
    assert fates(story.trace("f2"))["f2"].recovered_by == "repair"


def test_a_judge_is_tried_again_by_its_own_rule(story: Story) -> None:
    """The rubric's attempts; what the judge does next is another judgment."""
    story.end("12:00:01.000000", "answered")
    for name in ("c1", "c2"):
        story.call("12:00:02.000000", name, purpose="judge", endpoint="judge", name="judge-model")
        story.fail("12:00:03.000000", f"f-{name}", name, class_="judge_error", fault="judge")
    fate = fates(story.trace("f-c1"))["f-c1"]
    assert (fate.why_not, fate.next_calls) == (["attempts_used"], [])


def test_a_judge_that_nobody_configured_has_no_known_rule(tmp_path: Path) -> None:
    """A rubric without a judge says nothing of its attempts."""
    metrics = {"exact": {"measure": "fact.correctness"}}
    story = Story(tmp_path, rubric={"judge": None, "metrics": metrics}, entry="imported")
    story.start()
    story.call("12:00:02.000000", "c1", purpose="judge", endpoint=None)
    story.fail("12:00:03.000000", "f1", "c1", class_="judge_error", fault="judge")
    assert fates(story.trace("f1"))["f1"].why_not == ["policy_unknown"]


def test_unknown_times_stay_unknown(story: Story) -> None:
    """No offset and no gap is made of a time that nobody recorded."""
    story.call(None, "c1")
    story.fail("12:00:02.000000", "f1", "c1")
    story.call("12:00:03.000000", "c2", attempt=2, retry_of="c1")
    found = story.trace("f1")
    assert {step.offset_us for step in found.steps} == {None}
    starts = {step.call: step for step in steps(found, "call.started")}
    assert starts["c2"].waited_us == 1_000_000
    story.tell(None, "call.finished", call="c2", status="ok")
    story.call("12:00:04.000000", "c3", retry_of="c2")
    starts = {step.call: step for step in steps(story.trace("f1"), "call.started")}
    assert starts["c3"].waited_us is None


def test_times_may_run_backwards(story: Story) -> None:
    """What a clock said is told as it said it."""
    story.call("12:00:05.000000", "c1")
    story.fail("12:00:04.000000", "f1", "c1")
    (step,) = [step for step in story.trace("f1").steps if step.marked]
    assert step.offset_us == -1_000_000


def test_c25_where_and_when_a_failure_was_surfaced(story: Story) -> None:
    """Every time that it was shown, and whether a person could see it."""
    failing(story)
    first = story.tell(None, "failure.surfaced", occurrence="f1", channel="log", seen="emitted")
    story.tell(
        "12:00:03.000000", "failure.surfaced", occurrence="f1", channel="stderr", seen="terminal"
    )
    known = fates(story.trace("f1"))["f1"].surfaced
    assert [(one.channel, one.seen, one.at) for one in known] == [
        ("log", "emitted", None),
        ("stderr", "terminal", "2026-10-01T12:00:03.000000Z"),
    ]
    assert known[0].seq == first


def test_c26_alike_are_those_of_the_same_class_and_endpoint(story: Story) -> None:
    """With their minutes, how many have no time, and where they are; itself is none of them."""
    failing(story)
    for number, (second, class_, endpoint) in enumerate(
        (
            ("12:01:02.000000", "timeout", "search"),
            ("12:59:59.000000", "timeout", "search"),
            (None, "timeout", "search"),
            ("12:01:02.000000", "timeout", "model"),
            ("12:01:02.000000", "auth", "search"),
            ("12:01:02.000000", "timeout", None),
        )
    ):
        story.tell(
            second, "failure.occurred", None, occurrence=f"g{number}", class_=class_,
            endpoint=endpoint,
        )  # fmt: skip
    story.tell(None, "failure.recovered", None, occurrence="g1", by="retry")
    found = story.trace("f1")
    (alike,) = found.alike
    assert (alike.class_, alike.endpoint, alike.count) == ("timeout", "search", 3)
    assert (alike.recovered, alike.unknown_times, len(alike.seqs)) == (1, 1, 3)
    assert (alike.first_at, alike.last_at) == (
        "2026-10-01T12:01:02.000000Z",
        "2026-10-01T12:59:59.000000Z",
    )
    assert found.seq not in alike.seqs
    (alone,) = story.trace("g4").alike
    assert (alone.count, alone.first_at, alone.last_at) == (0, None, None)


def test_c22_whether_a_miss_can_be_declared(story: Story) -> None:
    """By the same rules as the guard: inspected, adequate, nothing lost; or declared already."""
    assert story.trace("q1#1").miss.state == "not_inspected"
    story.tell(None, "query.inspected", verdict="inadequate", reason="they name nothing")
    assert story.trace("q1#1").miss.state == "inadequate"
    seq = story.tell(None, "query.inspected", verdict="adequate", reason="they name it")
    miss = story.trace("q1#1").miss
    assert (miss.state, miss.seqs) == ("can_be", [seq])
    declared = story.tell(None, "retrieval_miss.declared", missing="the page", reason="not there")
    miss = story.trace("q1#1").miss
    assert (miss.state, miss.seqs) == ("declared", [declared])


def test_order_is_witnessed_only_in_a_live_run(tmp_path: Path) -> None:
    """There the start of a call is compared with the first news of it; else nothing is said."""
    story = Story(tmp_path, entry="live")
    story.tell("12:00:00.000000", "trial.started", input="Which town is meant by riddle q1?")
    story.call("12:00:00.000000", "early")
    story.tell("12:00:09.000000", "call.finished", call="early", status="ok")
    story.call("11:00:00.000000", "late")
    story.fail("11:00:01.000000", "f1", "late")
    story.call("12:00:00.000000", "silent")
    story.tell(None, "call.finished", call="silent", status="ok")
    story.call("12:00:00.000000", "open")
    story.call("12:00:00.000000", "timed")
    story.act("call.finished", "q1", call="timed", status="ok")
    found = story.trace("q1#1")
    before = {call.call: call.recorded_before for call in found.attempts}
    assert before == {"early": True, "late": False, "silent": None, "open": None, "timed": None}
    assert [call.ending for call in found.attempts] == ["ok", "failed", "ok", "open", "ok"]
    assert (found.order.entry, found.order.judged_in) == ("live", None)
    story.open("after")
    story.start()
    story.call("12:00:00.000000", "c1")
    story.tell("12:00:09.000000", "call.finished", call="c1", status="ok")
    found = story.trace("after/q1#1")
    assert (found.order.entry, found.attempts[0].recorded_before) == ("appended", None)


def test_a_call_is_traced_with_its_attempts_and_failures(story: Story) -> None:
    """The mark is on its start; without a failure it has no effect."""
    first = story.call("12:00:01.000000", "c1")
    story.fail("12:00:02.000000", "f1", "c1", impact="degraded")
    second = story.call("12:00:04.000000", "c2", attempt=2, retry_of="c1")
    story.tell("12:00:05.000000", "call.finished", call="c2", status="ok")
    story.end("12:00:06.000000", "answered")
    story.judge("q1", "exact", "0")
    found = story.trace("c1")
    assert (found.subject, found.id, found.seq) == ("call", "c1", first)
    assert [step.seq for step in found.steps if step.marked] == [first]
    assert effects(found)["exact"].why == "impact_degraded"
    assert [alike.class_ for alike in found.alike] == ["timeout"]
    found = story.trace("c2")
    assert (found.seq, list(fates(found)), found.alike) == (second, ["f1"], [])
    assert effects(found)["exact"].why == "no_failure"


def test_a_failure_of_the_run_as_a_whole(story: Story) -> None:
    """It has no trial, no effect on a metric and nothing to miss."""
    story.tell(None, "failure.occurred", None, occurrence="f9", class_="connect")
    found = story.trace("f9")
    assert (found.trial, found.outcome, found.address) == (None, None, f"{RUN}/f9")
    assert [step.kind for step in found.steps if step.related] == ["failure.occurred"]
    assert {effect.why for effect in found.effects} == {"no_trial"}
    assert found.miss.state == "no_trial"


def test_c2_messages_in_the_gold_file_are_not_shown(story: Story) -> None:
    """A long one is cut; one that does not belong to what is traced is not even read."""
    gold = NewText(content=b"the answer is Samarkand", class_="gold")
    for name, message in (("f1", gold), ("f2", "x" * 300), ("f3", None)):
        story.fail("12:00:01.000000", name, None, message=message)
    messages = [step.message for step in steps(story.trace("q1#1"), "failure.occurred")]
    assert messages == ["(its message is in the gold file)", "x" * 199 + "…", None]
    found = steps(story.trace("f1"), "failure.occurred")
    assert [step.message is None for step in found] == [False, True, True]


def test_a_message_that_was_erased(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are gone, and the trace says so."""
    story.fail("12:00:01.000000", "f1", None, message="names a person")
    with story.model() as model:
        (erased,) = [known.message for known in model.occurrences(RUN)]
    blob = story.ledger.blob
    monkeypatch.setattr(
        story.ledger, "blob", lambda reference: None if reference == erased else blob(reference)
    )
    (step,) = steps(story.trace("f1"), "failure.occurred")
    assert step.message == "(its message was redacted)"


def test_c33_as_of_an_earlier_place_tells_what_was_known_then(story: Story) -> None:
    """No recovery that came later; and nothing that was not there yet."""
    failing(story)
    seq = story.trace("f1").seq
    story.tell(None, "failure.recovered", occurrence="f1", by="retry")
    assert fates(story.trace("f1"))["f1"].recovered_by == "retry"
    assert fates(story.trace("f1", as_of=seq))["f1"].recovered_by is None
    assert story.trace("f1", as_of=seq).size == seq
    with pytest.raises(NotFoundError, match="nothing called 'f1' can be traced"):
        story.trace("f1", as_of=seq - 1)


def test_a_derived_run_is_seen_through_its_own_judgments(story: Story) -> None:
    """Events of the trial come from the parent, to the cited link; the effect is its own."""
    failing(story)
    story.end("12:00:03.000000", "answered")
    story.judge("q1", "exact", "1")
    with story.model() as model:
        link = model.run(RUN).links
    later = story.tell(None, "failure.occurred", occurrence="f2", class_="timeout", call="c1")
    story.open("again", derived_from={"run": RUN, "link": link}, reason="another rubric")
    story.judge("q1", "exact", "0")
    story.tell(
        "12:00:09.000000", "failure.occurred", occurrence="f1", class_="judge_error", fault="judge"
    )
    found = story.trace("again/q1#1")
    assert (found.run, found.derived_from) == ("again", RUN)
    assert later not in {step.seq for step in found.steps}
    assert [fate.occurrence for fate in found.fates] == ["f1", "f1"]
    assert [fate.class_ for fate in found.fates] == ["timeout", "judge_error"]
    assert effects(found)["exact"].score == "0"
    assert (found.order.run, found.order.judged_in) == (RUN, "again")
    assert effects(story.trace(f"{RUN}/q1#1"))["exact"].score == "1"
    with pytest.raises(NotFoundError, match="occurrence again/q1#1@s1/f2 is not there yet"):
        story.trace("again/q1#1/f2")
    (alike,) = story.trace("again/q1#1/c1").alike
    assert (alike.class_, alike.count) == ("timeout", 0)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=runs(QUESTIONS["all"], 2, tuple(METRICS)), data=st.data())
def test_no_event_of_a_trial_is_left_out(
    tmp_path_factory: pytest.TempPathFactory, plan: dict[object, object], data: st.DataObject
) -> None:
    """The steps of any trace are the events of its trial, each once, in the order of the log."""
    with policy_ledger(tmp_path_factory.mktemp("steps")) as ledger:
        append_random(ledger, "r", "usual-first-all", plan)  # type: ignore[arg-type]
        places: dict[str, list[int]] = {}
        for stored in ledger.events(run="r"):
            if stored.event.trial is not None:
                places.setdefault(str(stored.event.trial), []).append(stored.event.seq)
        if not places:
            return
        seqs = [seq for known in places.values() for seq in known]
        with read_side(ledger) as model:
            for _ in range(5):
                found = trace(model, find_target(model, str(data.draw(st.sampled_from(seqs)))))
                assert found.trial is not None
                assert [step.seq for step in found.steps] == places[found.trial]
                marked = {step.seq for step in found.steps if step.marked}
                assert all(step.related for step in found.steps if step.seq in marked)
                assert {fate.seq for fate in found.fates} <= set(places[found.trial])
