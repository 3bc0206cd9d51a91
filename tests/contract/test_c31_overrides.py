"""C31: a human override never erases what it replaces."""

import pytest

from cli_cases import Here
from ledger_cases import HARNESS, RUN
from projection_cases import Log
from trial_ledger.errors import RuleError

OVERRIDE: dict[str, object] = {
    "judgment": "o1",
    "replaces": "j1",
    "verdict": "correct",
    "reason": "Babylon is an old name of it",
}


@pytest.fixture
def judged(log: Log) -> Log:
    """A run with one trial that the judge found wrong."""
    log.trial("q1")
    log.judge("q1", "judged", "incorrect", reasoning="compared")
    return log


def test_c31_both_stay_and_the_persons_counts(here: Here, judged: Log) -> None:
    """The number changes, the judgment does not: both are behind the member, in order."""
    before = judged.ledger.read(9)
    judged.append("judgment.overridden", "q1", OVERRIDE)
    assert "judged                10.0 %        1/10" in here("scores", RUN).out
    assert judged.ledger.read(9) == before
    document = here("explain", RUN, "judged", "--trial", "q1#1", "--json").json
    (member,) = document["members"]
    assert (member["by"], member["grader"], member["judgment"]) == ("human", "Ada", "o1")
    assert [(event["role"], event["seq"]) for event in member["events"][-2:]] == [
        ("judgment", 9), ("override", 10),
    ]  # fmt: skip
    shown = here("trials", RUN).out
    assert "judged correct*\n" in shown
    earlier = here("explain", RUN, "judged", "--trial", "q1#1", "--as-of", "9").out
    assert "  outcome   incorrect\n" in earlier


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replaces": "gone"}, "judgment gone does not exist in trial q1#1@s1"),
        ({"reason": " "}, "needs a reason in words"),
        ({"verdict": None}, "takes a verdict and no score"),
        ({"score": "1"}, "takes a verdict and no score"),
    ],
)
def test_c31_an_override_says_what_and_why(
    judged: Log, change: dict[str, object], message: str
) -> None:
    """It names a judgment that is there, gives a reason, and a value that the metric takes."""
    with pytest.raises(RuleError, match=message):
        judged.append("judgment.overridden", "q1", {**OVERRIDE, **change})


def test_c31_only_a_named_person_overrides(judged: Log) -> None:
    """A program's other opinion is another judgment."""
    with pytest.raises(RuleError, match=r"act of a named person.*\(C31\)"):
        judged.append("judgment.overridden", "q1", OVERRIDE, actor=HARNESS)


def test_c31_what_was_replaced_is_not_replaced_again(judged: Log) -> None:
    """The next override names the effective one; a chain keeps every link."""
    judged.append("judgment.overridden", "q1", OVERRIDE)
    again = {**OVERRIDE, "judgment": "o2", "verdict": "partial"}
    with pytest.raises(RuleError, match=r"judgment j1 was already replaced \(C31\)"):
        judged.append("judgment.overridden", "q1", again)
    judged.append("judgment.overridden", "q1", {**again, "replaces": "o1"})
    assert judged.value("judged") == "1/2 of 10"
