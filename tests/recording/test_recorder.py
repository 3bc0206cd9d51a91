"""Runs, trials and calls of a harness as context managers."""

import io
import sys
import threading

import anyio
import pytest

from ledger_cases import small_manifest
from recorder_cases import RUN, failures, kinds, only, told, words
from trial_ledger.amounts import Cost, Usage
from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError, NotFoundError, RuleError
from trial_ledger.events import (
    AnswerSubmitted,
    CallFinished,
    CallStarted,
    FailureAssessed,
    FailureOccurred,
    FailureRecovered,
    FailureSurfaced,
    ResponseLost,
    RunClosed,
    RunOpened,
    Served,
    TrialFinished,
    TrialStarted,
)
from trial_ledger.recording import RunRecorder, TrialRecorder, current_trial, recorded_run

BACKENDS = ("asyncio", "trio")
USAGE = Usage(input_tokens=3)
COST = Cost(amount="0.0025", currency="USD", basis="reported")


def test_c17_a_trial_retains_what_its_harness_tells(book: Ledger) -> None:
    """Input, calls with request and response, usage, cost, answer and citations are all there."""
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        assert trial.given["question"] == "Which town is meant by riddle q1?"
        with trial.call("search", endpoint="search", name="web", request={"q": "town"}) as call:
            assert kinds(book) == ["run.opened", "trial.started", "call.started"]
            call.respond(b"[1]", usage=USAGE, cost=COST, media="application/json")
        trial.answer("Samarkand", citations=["https://example.org"])
    assert kinds(book)[3:] == ["call.finished", "answer.submitted", "trial.finished", "run.closed"]
    begun, ended = only(book, CallStarted), only(book, CallFinished)
    assert words(book, begun.request) == '{"q":"town"}'
    assert words(book, ended.response) == "[1]"
    assert (ended.usage, ended.cost, ended.delivered) == (USAGE, COST, True)
    assert ended.duration_us is not None
    assert words(book, only(book, AnswerSubmitted).citations) == '["https://example.org"]'
    assert only(book, TrialStarted).leak_check == "clean"
    assert only(book, TrialFinished).outcome == "answered"
    assert only(book, RunClosed).status == "complete"


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_objects_work_in_event_loops(book: Ledger, backend: str) -> None:
    """Under `async with` the same log comes about, on asyncio and on trio, also unawaited."""

    async def one(run: RunRecorder, question: str) -> None:
        async with run.trial(question) as trial:
            assert current_trial() == trial
            async with trial.call("search", endpoint="search", request="r") as call:
                await anyio.lowlevel.checkpoint()
                call.respond("found")
            failure = trial.fail("tool_error", "no such tool")
            trial.recovered(failure.occurrence, "retry")
            await trial.answer("Bukhara")

    async def harness() -> None:
        async with book.run("local", name=RUN) as run, anyio.create_task_group() as group:
            for number in range(1, 9):
                group.start_soon(one, run, f"q{number}")
        assert current_trial() is None

    anyio.run(harness, backend=backend)
    assert len(told(book, AnswerSubmitted)) == 8
    assert len(told(book, FailureRecovered)) == 8
    assert {one.outcome for one in told(book, TrialFinished)} == {"answered"}
    assert only(book, RunClosed).status == "complete"


def test_threads_record_into_one_run(book: Ledger) -> None:
    """Each thread has its own current trial, and every trial is whole."""

    def work(question: str) -> None:
        assert current_trial() is None
        with run.trial(question) as trial:
            assert current_trial() is trial
            with trial.call("tool", name="clock") as call:
                call.respond("noon")
            trial.answer("x")

    with book.run("local", name=RUN) as run:
        threads = [threading.Thread(target=work, args=(f"q{n}",)) for n in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(told(book, CallFinished)) == 8
    assert [one.outcome for one in told(book, TrialFinished)] == ["answered"] * 8
    assert book.verify(fast=True).findings == []


def test_c23_an_exception_is_a_failure_and_goes_on(book: Ledger) -> None:
    """An exception of the agent is recorded with its traceback, ends the trial, and is raised."""
    caught = pytest.raises(ValueError, match="boom")
    with caught, book.run("local", name=RUN) as run, run.trial("q1"):
        raise ValueError("boom")
    assert failures(book) == [("agent_error", None, "trial_failed")]
    occurred = only(book, FailureOccurred)
    assert occurred.detail_class == "ValueError"
    assert "Traceback" in words(book, occurred.detail)
    ended = only(book, TrialFinished)
    assert (ended.outcome, ended.reason) == ("errored", "exception")
    assert only(book, RunClosed).status == "failed"


def test_c23_an_exception_of_a_call_is_one_failure(book: Ledger) -> None:
    """What leaves a call and then its trial is one occurrence, assessed as what failed it."""
    run = book.run("local", name=RUN)
    caught = pytest.raises(ConnectionError)
    with run, caught, run.trial("q1") as trial, trial.call("search", endpoint="search"):
        raise ConnectionError
    assert failures(book) == [("connect", "search_provider", "unknown")]
    assert only(book, FailureAssessed).impact == "trial_failed"
    ended = only(book, CallFinished)
    assert (ended.status, ended.delivered) == ("failed", False)
    assert only(book, TrialFinished).outcome == "errored"


def test_c23_a_failure_that_was_caught_does_not_fail_the_trial(book: Ledger) -> None:
    """A harness that catches the exception of a call and goes on has an answered trial."""
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        with pytest.raises(KeyError), trial.call("tool", name="clock"):
            raise KeyError
        trial.answer("x")
    assert failures(book) == [("tool_error", None, "unknown")]
    assert told(book, FailureAssessed) == []
    assert only(book, TrialFinished).outcome == "answered"


def test_c23_the_recorded_failure_of_a_call_is_not_told_twice(book: Ledger) -> None:
    """An exception that leaves a call whose failure was told is that failure."""

    def give_up(trial: TrialRecorder) -> None:
        with trial.call("search", endpoint="search") as call:
            call.fail("rate_limited", "429", fault="search_provider")
            raise KeyError

    run = book.run("local", name=RUN)
    with run, pytest.raises(KeyError), run.trial("q1") as trial:
        give_up(trial)
    assert failures(book) == [("rate_limited", "search_provider", "unknown")]
    assert only(book, FailureAssessed).impact == "trial_failed"


def test_an_agent_that_takes_too_long(book: Ledger) -> None:
    """A time-out of the trial is the agent's class, one of a call is the call's."""
    caught = pytest.raises(TimeoutError)
    with book.run("local", name=RUN) as run:
        with caught, run.trial("q1"):
            raise TimeoutError
        with caught, run.trial("q2") as trial, trial.call("model", endpoint="model", name="m"):
            raise TimeoutError
    assert failures(book) == [
        ("agent_timeout", None, "trial_failed"),
        ("timeout", "model_provider", "unknown"),
    ]


def test_an_interrupt_cancels(book: Ledger) -> None:
    """An interrupt ends the call as the harness's, the trial as cancelled, the run so too."""
    run = book.run("local", name=RUN)
    caught = pytest.raises(KeyboardInterrupt)
    with caught, run, run.trial("q1") as trial, trial.call("tool", name="clock"):
        raise KeyboardInterrupt
    assert failures(book) == [("cancelled", "harness", "unknown")]
    ended = only(book, TrialFinished)
    assert (ended.outcome, ended.reason) == ("cancelled", "interrupted")
    assert only(book, RunClosed).status == "interrupted"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cancelled_task_ends_its_trial(book: Ledger, backend: str) -> None:
    """Cancellation is recorded although nothing may be awaited any more, and goes on."""

    async def harness() -> None:
        async with book.run("local", name=RUN) as run:
            with anyio.CancelScope() as scope:
                async with run.trial("q1") as trial, trial.call("tool", name="clock"):
                    scope.cancel()
                    await anyio.sleep_forever()

    anyio.run(harness, backend=backend)
    assert failures(book) == [("cancelled", "harness", "unknown")]
    assert only(book, TrialFinished).outcome == "cancelled"
    assert only(book, RunClosed).status == "complete"


def test_c21_a_call_without_a_response_is_lost(book: Ledger) -> None:
    """A block that ends without a response lost it, which is the harness's fault."""
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        with trial.call("search", endpoint="search"):
            pass
        with trial.call("search", endpoint="search") as call:
            call.lost("the connection broke", received=12, expected=40)
        trial.answer("x")
    assert failures(book) == [("response_lost", "harness", "unknown")] * 2
    first, second = told(book, ResponseLost)
    assert (first.bytes_received, first.bytes_expected) == (None, None)
    assert (second.bytes_received, second.bytes_expected) == (12, 40)
    assert told(book, CallFinished) == []


def test_c21_what_was_not_ended_is_closed_as_lost(book: Ledger) -> None:
    """A trial and a call that nobody left end with their run; leaving them later adds nothing."""
    with book.run("local", name=RUN) as run:
        trial = run.trial("q1")
        trial.__enter__()
        call = trial.call("search", endpoint="search")
        call.__enter__()
    call.__exit__(None, None, None)
    trial.__exit__(None, None, None)
    assert failures(book) == [
        ("response_lost", "harness", "unknown"),
        ("cancelled", "harness", "trial_failed"),
    ]
    ended = only(book, TrialFinished)
    assert (ended.outcome, ended.reason) == ("cancelled", "not_ended")
    assert kinds(book)[-1] == "run.closed"


def test_a_trial_without_an_answer_is_errored(book: Ledger) -> None:
    """A block that ends in peace and without an answer is no answer of any kind."""
    with book.run("local", name=RUN) as run, run.trial("q1"):
        pass
    assert failures(book) == [("agent_error", None, "trial_failed")]
    ended = only(book, TrialFinished)
    assert (ended.outcome, ended.reason) == ("errored", "no_answer")


def test_outcomes_that_a_harness_states(book: Ledger) -> None:
    """Abstention, refusal and limit are kept apart."""
    with book.run("local", name=RUN) as run:
        with run.trial("q1") as trial:
            trial.answer(None, abstained=True)
        with run.trial("q2") as trial:
            trial.finish("refused")
        with run.trial("q3") as trial:
            trial.finish("limit", reason="turns")
    assert [(one.outcome, one.reason) for one in told(book, TrialFinished)] == [
        ("abstained", None),
        ("refused", None),
        ("limit", "turns"),
    ]
    assert failures(book) == []


def test_c24_another_model_or_endpoint_is_a_failure(book: Ledger) -> None:
    """What was served is compared with what was asked; a dated version is the same model."""
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        for served in (
            Served(model="m-2026-10-01", endpoint="model", fingerprint="fp"),
            Served(model="smaller"),
            Served(endpoint="search"),
        ):
            with trial.call("model", endpoint="model", name="m") as call:
                call.respond("hm", served=served)
        trial.answer("x")
    assert failures(book) == [
        ("model_fallback", "model_provider", "degraded"),
        ("endpoint_fallback", "model_provider", "degraded"),
    ]
    assert [one.served for one in told(book, CallFinished)] == [
        Served(model="m-2026-10-01", endpoint="model", fingerprint="fp"),
        Served(model="smaller"),
        Served(endpoint="search"),
    ]


def test_c25_failures_are_shown_as_they_happen(
    book: Ledger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is on standard error at once, harmless, and the event says who could see it."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        trial.fail("other", "bad \x1b[31m\u202eword")
        assert "other: bad  [31m word\n" in capsys.readouterr().err
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        trial.fail("tool_error", "again", detail_class="E17")
        assert terminal.getvalue() == f"{RUN} {trial.key} tool_error: again\n"
        trial.answer("x")
    assert [(one.channel, one.seen) for one in told(book, FailureSurfaced)] == [
        ("stderr", "emitted"),
        ("stderr", "terminal"),
    ]
    assert [one.detail_class for one in told(book, FailureOccurred)] == ["unnamed", "E17"]


def test_c25_without_standard_error_nothing_claims_to_be_shown(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is nowhere to show a failure it is recorded, and stays unsurfaced."""
    monkeypatch.setattr(sys, "stderr", None)
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        trial.fail("tool_error", "hm")
        trial.answer("x")
    assert len(told(book, FailureOccurred)) == 1
    assert told(book, FailureSurfaced) == []


def test_c3_a_trial_that_shows_gold_does_not_begin(book: Ledger) -> None:
    """An input with gold is refused before the block runs, and the run goes on without it."""
    with book.run("local", name=RUN) as run:
        with pytest.raises(RuleError, match="shows gold"), run.trial("q1", given="Samarkand"):
            pytest.fail("the block ran")
        with run.trial("q1", given="riddle", seed=7) as trial:
            trial.answer("x")
    assert only(book, TrialStarted).seed == 7
    assert words(book, only(book, TrialStarted).input) == "riddle"


@pytest.mark.parametrize("backend", BACKENDS)
def test_refusals_reach_who_awaits(book: Ledger, backend: str) -> None:
    """Under `async with` a refused start keeps the block from running, a refused answer raises."""

    async def harness() -> None:
        async with book.run("local", name=RUN) as run, run.trial("q1") as trial:
            with pytest.raises(RuleError):
                async with trial.call("search", endpoint="elsewhere"):
                    pytest.fail("the block ran")
            await trial.answer("x")
            with pytest.raises(RuleError):
                await trial.answer("y")

    anyio.run(harness, backend=backend)
    assert told(book, CallStarted) == []
    assert len(told(book, AnswerSubmitted)) == 1


def test_c24_a_call_outside_the_policy_is_refused(book: Ledger) -> None:
    """An endpoint that the manifest does not name is not called; an occurrence allows it."""
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        with pytest.raises(RuleError, match="outside the policy"):
            trial.call("search", endpoint="elsewhere").__enter__()
        failure = trial.fail("endpoint_fallback", "search is down", impact="degraded")
        occurrence = failure.occurrence
        with trial.call("search", endpoint="elsewhere", occurrence=occurrence) as call:
            call.respond("found", status="empty")
        trial.answer("x")
    assert only(book, CallFinished).status == "empty"
    assert only(book, CallStarted).occurrence == occurrence


def test_a_judge_is_not_called_inside_a_trial(book: Ledger) -> None:
    """A harness cannot show gold to itself (C2), and asks no question that is not there."""
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        with pytest.raises(RuleError, match="C2"):
            trial.call("judge")
        with pytest.raises(NotFoundError, match="no question"):
            run.trial("q99")
        trial.answer("x")


def test_c9_a_run_needs_a_frozen_manifest(book: Ledger) -> None:
    """A manifest can be frozen on the way; one that is not frozen is refused; names are made."""
    with pytest.raises(RuleError, match="C9"):
        book.run("unknown")
    with book.run(small_manifest(), reason="again") as run:
        assert run.name.startswith("local-")
    assert words(book, only(book, RunOpened, run.name).reason) == "again"
    other = small_manifest(configuration="Ä Б")
    with book.run(other) as run:
        assert run.name.startswith("run-")


def test_a_refused_event_reaches_its_own_writer_only(book: Ledger) -> None:
    """In one commit the refused event fails its writer, and the others are written."""
    run = recorded_run(book, "local", name=RUN, show=lambda _: "emitted")
    with run, run.trial("q1") as trial:
        refused = run.journal.push([trial.event("call.finished", {"call": "c9", "status": "ok"})])
        good = run.journal.push([trial.event("answer.submitted", {"abstained": True})])
        run.journal.settle([good])
        with pytest.raises(LedgerError, match="never started"):
            run.journal.settle([refused])
        trial.finish("abstained")
    assert len(told(book, AnswerSubmitted)) == 1
