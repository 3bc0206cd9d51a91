"""C14, C28, C31: a derived run may repeat what its parent's judge said, word for word, and no more.

The same run with every fate of an answer stands behind each case.
"""

from pathlib import Path

import pytest

from cli_cases import Here
from contract_cases import accept, refuse
from ledger_cases import RUN
from rescore_cases import fates_log, revised

AGAIN = "again"
UNSAID = "has no judgment j1 that says so"
SAID: dict[str, object] = {
    "judgment": "j1", "metric": "judged", "by": "model", "verdict": "correct",
    "grader": {"name": "judge", "version": "1"}, "carried_from": "j1",
}  # fmt: skip
FAILED: dict[str, object] = {
    "judgment": "j1", "metric": "judged", "reason": "judge_failed", "carried_from": "j1",
}  # fmt: skip


@pytest.fixture
def derived(here: Here, tmp_path: Path) -> Here:
    """Commands beside a derived run that judges nothing yet."""
    log = fates_log(tmp_path)
    log.ledger.freeze([revised()])
    log.open(AGAIN, rubric="quality@2", derived_from={"run": RUN, "link": 33}, reason="again")
    log.ledger.close()
    return here


def record(kind: str, question: str, data: dict[str, object], *, run: str = AGAIN) -> object:
    """Return a verdict on a trial as a line of an input."""
    return {"kind": kind, "run": run, "trial": f"{question}#1", "data": data}


def recorded(question: str, *, run: str = AGAIN, **changes: object) -> object:
    """Return a carried verdict."""
    return record("judgment.recorded", question, {**SAID, **changes}, run=run)


def failed(question: str, *, run: str = AGAIN, **changes: object) -> object:
    """Return a carried failure of a judge."""
    return record("judgment.failed", question, {**FAILED, **changes}, run=run)


def test_c28_what_the_parent_s_judge_said_is_carried(derived: Here) -> None:
    """A verdict, and that there was none; of an outside grader nothing else is asked."""
    accept(derived, recorded("q1"), failed("q7"))
    assert derived("scores", AGAIN).code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (recorded("q1", verdict="incorrect"), UNSAID),
        (recorded("q1", carried_from="j9"), "has no judgment j9 that says so"),
        (recorded("q2"), UNSAID),
        (recorded("q1", metric="exact", verdict=None, score="1"), UNSAID),
        (recorded("q7"), UNSAID),
        (recorded("q2", carried_from="o1"), "is an override, which a derived run does not inherit"),
        (recorded("q8", run=RUN), "run fast-01 is not derived"),
        (failed("q1"), UNSAID),
        (failed("q7", metric="exact"), UNSAID),
        (failed("q8", run=RUN), "run fast-01 is not derived"),
    ],
)  # fmt: skip
def test_c14_nothing_else_is(derived: Here, line: object, said: str) -> None:
    """Another verdict, another judgment, an override, a failure as a verdict, no parent at all."""
    assert said in refuse(derived, "C14", line)


def test_c28_it_is_carried_once(derived: Here) -> None:
    """A second copy is a second verdict of the same grader."""
    accept(derived, recorded("q1"))
    done = derived("append", "in.jsonl")
    assert done.code == 3
    assert "judgment j1 exists" in done.err
