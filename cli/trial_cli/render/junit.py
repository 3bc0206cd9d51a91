"""A report as JUnit XML, which every CI shows: a test suite a run, a test case a planned slot.

Invariant: what broke is an error, what is wrong a failure, what is not decided or not counted is
skipped; an invalid run never looks green. The file holds no text that XML cannot.

Source: the schema of Jenkins' xunit plugin (junit-10.xsd), as far as GitLab and GitHub read it.
"""

from typing import TYPE_CHECKING

from trial_cli.render.facts import (
    head_words,
    marked_number,
    moment_words,
    shown_words,
    spaced,
    text_words,
    verdict_words,
)
from trial_cli.render.markup import element

if TYPE_CHECKING:
    from trial_projections.report_structs import Report, RunReport, TrialRow

__all__ = ["junit_report"]

SECOND_US = 1_000_000
FAULTS = {
    "error": "error",
    "failed": "failure",
    "undecided": "skipped",
    "excluded": "skipped",
}
"""Status → element of the test case; one that is right, wholly or in part, has none."""


def junit_report(report: "Report") -> str:
    """Return a report as JUnit XML."""
    suites = [suite_of(report, run) for run in report.runs]
    body = element("testsuites", *suites, joint="\n", name="Trial Ledger")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def suite_of(report: "Report", run: "RunReport") -> str:
    """Return the suite of one run, whose first case says whether the run counts."""
    record = run.summary.run
    kinds = [FAULTS.get(trial.status) for trial in run.trials]
    properties = [
        ("ledger", moment_words(report)),
        ("signed head", head_words(report)),
        ("phase", run.summary.phase or "unknown"),
        ("manifest", run.manifest),
        ("rubric", f"{record.rubric} {run.rubric_hash}"),
        ("dataset", record.dataset),
        ("shown", shown_words(run.shown, record.name)),
        *((f"metric {metric.name}", marked_number(run, metric)) for metric in run.summary.metrics),
    ]
    return element(
        "testsuite",
        element(
            "properties",
            *(element("property", name=name, value=value) for name, value in properties),
            joint="\n",
        ),
        validity_case(run),
        *(case_of(run, trial) for trial in run.trials),
        joint="\n",
        name=record.name,
        tests=str(len(run.trials) + 1),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error") + (not record.is_valid)),
        skipped=str(kinds.count("skipped")),
    )


def validity_case(run: "RunReport") -> str:
    """Return the case that is an error where the run does not count (C12)."""
    record = run.summary.run
    if record.is_valid:
        return element("testcase", classname=record.name, name="the run is valid")
    marks = [mark.text for mark in run.summary.trust if mark.text.startswith("INVALID")]
    return element(
        "testcase",
        element("error", message="; ".join(marks), type="invalid run"),
        classname=record.name,
        name="the run is valid",
    )


def case_of(run: "RunReport", trial: "TrialRow") -> str:
    """Return the case of one slot."""
    name = run.summary.run.name
    verdicts = [verdict_words(verdict) for verdict in trial.verdicts]
    kind = FAULTS.get(trial.status)
    parts: list[str] = []
    if kind is not None:
        outcome = trial.verdicts[0].outcome if trial.verdicts else trial.outcome
        message = verdicts[0] if verdicts else "no metric covers it"
        parts.append(element(kind, message=message, type=spaced(outcome)))
    lines = [
        f"question: {text_words(trial.question, 'not in the source')}",
        f"answer: {text_words(trial.answer, 'none')}",
        *([] if trial.gold is None else [f"gold: {text_words(trial.gold, '')}"]),
        *verdicts,
        *(f"failure: ledger trace {seq}" for seq in trial.failures),
        *([] if trial.valid else ["the trial was invalidated"]),
        *(["gold leaked to it"] if trial.leaked else []),
    ]
    parts.append(element("system-out", text="\n".join(lines)))
    time = {} if trial.duration_us is None else {"time": seconds(trial.duration_us)}
    return element("testcase", *parts, classname=name, name=trial.slot, **time)


def seconds(duration_us: int) -> str:
    """Return a duration in seconds with all of its digits."""
    whole, rest = divmod(duration_us, SECOND_US)
    return f"{whole}.{rest:06d}"
