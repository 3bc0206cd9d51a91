"""A ledger with a run that has every kind of trouble, and its report: `python trouble.py FOLDER`.

Invariant: everything in it is made of events, as a harness and people would append them; the report
is what `ledger report` writes.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from ledger_cases import PERSON
from projection_cases import Log
from trial_cli.main import run

__all__ = ["main", "troubled"]

DOLLARS = {"amount": "0.0125", "currency": "USD", "basis": "reported"}


def call(log: Log, question: str, name: str, *, cost: bool, purpose: str = "model") -> None:
    """Append a call, of known cost or not."""
    log.act("call.started", question, call=name, purpose=purpose, endpoint=purpose)
    end: dict[str, object] = {"call": name, "status": "ok", "duration_us": 250_000}
    log.append("call.finished", question, {**end, "cost": DOLLARS} if cost else end)


def answered(log: Log, question: str, verdict: str | None, *, cost: bool = True) -> None:
    """Append a trial that was answered, and judged where a verdict is given."""
    log.act("trial.started", question, input="which?")
    call(log, question, "c1", cost=cost)
    log.act("answer.submitted", question, answer=f"<b>Babylon</b> & {question}")
    log.act("trial.finished", question, outcome="answered", duration_us=900_000)
    if verdict is not None:
        log.judge(question, "judged", verdict)


def failed(log: Log, question: str, class_: str, fault: str) -> None:
    """Append a trial that a failure ended."""
    log.act("trial.started", question, input="which?")
    log.act(
        "failure.occurred", question, occurrence=f"f-{question}", class_=class_, fault=fault,
        impact="trial_failed", message="connection reset",
    )  # fmt: skip
    log.act("trial.finished", question, outcome="errored")


def troubled(folder: Path) -> Path:
    """Make the ledger; return its path."""
    log = Log(folder)
    answered(log, "q1", "correct")
    log.act("run.invalidated", reason="the wrong prompt was sent")
    log.open("fast-02", supersedes="fast-01", reason="with the right prompt")
    answered(log, "q1", "correct")
    answered(log, "q2", "correct", cost=False)
    failed(log, "q3", "response_lost", "harness")
    failed(log, "q4", "timeout", "search_provider")
    recovered(log, "q5")
    answered(log, "q6", None)
    log.act("query.inspected", "q6", verdict="adequate", reason="the queries name it")
    log.act("retrieval_miss.declared", "q6", missing="the page", reason="not in the results")
    answered(log, "q7", "correct")
    log.act("failure.occurred", "q7", occurrence="leak", class_="gold_leak", fault="harness")
    answered(log, "q8", "correct")
    reviewed(log, "q8")
    log.act("run.closed", status="interrupted", reason="out of money")
    log.ledger.close()
    return log.path


def recovered(log: Log, question: str) -> None:
    """Append a trial in which a failure was made good."""
    log.act("trial.started", question, input="which?")
    log.act(
        "failure.occurred", question, occurrence="f-retry", class_="rate_limited",
        fault="search_provider", impact="none",
    )  # fmt: skip
    log.act("failure.recovered", question, occurrence="f-retry", by="retry")
    log.act("failure.surfaced", question, occurrence="f-retry", channel="stderr", seen="terminal")
    call(log, question, "c1", cost=True, purpose="search")
    log.act("answer.submitted", question, answer="Nineveh")
    log.act("trial.finished", question, outcome="answered", duration_us=2_400_000)
    log.judge(question, "judged", "incorrect")


def reviewed(log: Log, question: str) -> None:
    """Append what a person says against the judge; nobody resolves it."""
    log.act(
        "review.recorded", question, review="r1", metric="judged", judgment="j1",
        plan="purposive", verdict="incorrect", reason="it is another town", blind=True,
    )  # fmt: skip
    opened = {"disagreement": "d1", "judgment": "j1", "review": "r1"}
    log.append("disagreement.opened", question, opened, actor=PERSON)


def main() -> int:
    """Make ledger and report in the folder that is named."""
    folder = Path(sys.argv[1])
    path = troubled(folder)
    report = str(folder / "report.html")
    return run(["--ledger", str(path), "report", "fast-02", "fast-01", "-o", report, "--force"])


if __name__ == "__main__":
    sys.exit(main())
