"""A run of 5,000 trials with long answers, and its report: `python large.py FOLDER`."""

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from ledger_cases import CONFIGURATION, HARNESS
from projection_cases import Log
from trial_cli.main import run
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import Submission

__all__ = ["main"]

QUESTIONS, REPETITIONS = 10, 500
ANSWER = "The city lies on the Euphrates, as the tablets say; " * 8


def events(name: str) -> Iterator[Submission]:
    """Yield the events of every trial."""
    for question in range(1, QUESTIONS + 1):
        for repetition in range(1, REPETITIONS + 1):
            key = TrialKey(
                question=f"q{question}", configuration=CONFIGURATION, repetition=repetition,
                session="s1",
            )  # fmt: skip
            right = (question + repetition) % 3 > 0
            judgment = {
                "judgment": "j1", "metric": "judged", "by": "model", "reasoning": ANSWER,
                "grader": {"name": "judge", "version": "1"},
                "verdict": "correct" if right else "incorrect",
            }  # fmt: skip
            for kind, data in (
                ("trial.started", {"input": "which?"}),
                ("answer.submitted", {"answer": f"{ANSWER} {key}"}),
                ("trial.finished", {"outcome": "answered", "duration_us": 1_000 * repetition}),
                ("judgment.recorded", judgment),
            ):
                yield Submission(kind=kind, run=name, trial=key, data=data, actor=HARNESS)


def main() -> int:
    """Make ledger and report in the folder that is named."""
    folder = Path(sys.argv[1])
    log = Log(folder, manifest={"repetitions": REPETITIONS})
    log.ledger.append_many(list(events(log.run)), what="trials")
    log.act("run.closed", status="complete")
    log.ledger.close()
    report = str(folder / "report.html")
    return run(["--ledger", str(log.path), "report", log.run, "-o", report, "--force"])


if __name__ == "__main__":
    sys.exit(main())
