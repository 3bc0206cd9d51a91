"""Going on with a run that was cut off."""

from pathlib import Path

import anyio
import pytest

from ledger_cases import opened
from recorder_cases import RUN, failures, kinds, only, told
from trial_ledger.book import Ledger
from trial_ledger.errors import NotFoundError, RuleError
from trial_ledger.events import FailureOccurred, ResponseLost, RunClosed, TrialFinished
from trial_ledger.submission import Submission


def left_open(book: Ledger) -> None:
    """Record what a process leaves that dies in the middle of two trials, with one done."""
    run = book.run("local", name=RUN)
    run.__enter__()
    with run.trial("q1") as trial:
        trial.answer("x")
    cut = run.trial("q2")
    cut.__enter__()
    cut.fail("tool_error", "hm")
    cut.call("search", endpoint="search").__enter__()
    answered = run.trial("q3")
    answered.__enter__()
    answered.answer("y")
    declined = run.trial("q4")
    declined.__enter__()
    declined.answer(None, abstained=True)


@pytest.mark.parametrize("way", ["sync", "trio"])
def test_c17_c21_a_resumed_run_ends_what_was_open_and_does_the_rest(book: Ledger, way: str) -> None:
    """Open calls are lost, open trials end as far as they came, cut off slots get a new session."""
    left_open(book)

    def wait() -> None:
        with book.resume(RUN) as run:
            rest.extend(str(trial.key) for trial in run.remaining())
            for trial in run.remaining():
                with trial:
                    trial.answer("z")

    async def soon() -> None:
        async with book.resume(RUN) as run:
            rest.extend(str(trial.key) for trial in run.remaining())
            for trial in run.remaining():
                async with trial:
                    await trial.answer("z")

    rest: list[str] = []
    wait() if way == "sync" else anyio.run(soon, backend=way)
    assert rest == ["q2#1@s2", *[f"q{n}#1@s1" for n in range(5, 11)]]
    assert failures(book) == [
        ("tool_error", None, "unknown"),
        ("response_lost", "harness", "unknown"),
    ]
    assert [one.occurrence for one in told(book, FailureOccurred)] == ["f1", "f2"]
    assert only(book, ResponseLost).call == "c1"
    ended = [(one.outcome, one.reason) for one in told(book, TrialFinished)]
    assert ended[:4] == [
        ("answered", None),
        ("cancelled", "interrupted"),
        ("answered", "interrupted"),
        ("abstained", "interrupted"),
    ]
    assert ended[4:] == [("answered", None)] * 7
    assert only(book, RunClosed).status == "complete"
    assert "run.resumed" not in kinds(book)
    with book.resume(RUN) as again:
        assert again.remaining() == []
    assert kinds(book)[-2:] == ["run.resumed", "run.closed"]


def test_a_run_with_a_spool_is_not_resumed(book: Ledger, tmp_path: Path) -> None:
    """Events that wait come first; the spool of another run is none of ours."""
    left_open(book)
    name = f"{book.store.path.name}.{RUN}"
    for other in (f"{name}2.ab.spool", f"{name}.b.ab.spool", f"{name}.ab.txt"):
        (tmp_path / other).touch()
    assert book.resume(RUN).name == RUN
    (tmp_path / f"{name}.ab.spool").touch()
    with pytest.raises(RuleError, match="wait in") as caught:
        book.resume(RUN)
    assert "ledger append" in str(caught.value.hint)


def test_c9_only_a_live_run_is_resumed(book: Ledger) -> None:
    """What came in otherwise is not gone on with, and what is not there neither."""
    book.append(opened("given", entry="appended"))
    with pytest.raises(RuleError, match="not recorded here"):
        book.resume("given")
    with pytest.raises(NotFoundError):
        book.resume("nowhere")
    left_open(book)
    book.append(
        Submission(kind="run.closed", run=RUN, data={"status": "interrupted", "reason": "by hand"})
    )
    assert book.resume(RUN).history.is_closed
