"""`ledger trials`: every session of every slot of a run, with its verdicts.

Invariant: sessions that do not count, invalidated trials and slots never started are listed too.
"""

from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, clean, emit, table
from trial_cli.words import duration_text
from trial_ledger.identifiers import TrialKey

if TYPE_CHECKING:
    from trial_projections.records import TrialRecord
    from trial_projections.scores import RunInput

__all__ = ["command"]


@click.command("trials", short_help="The trials of a run with their verdicts")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
@click.option("--outcome", help="Only trials of this outcome, as errored.")
def command(run: str, *, outcome: str | None, as_of: str | None, output_format: str) -> None:
    """List the trials of RUN with outcome, verdicts and failures."""
    with read_model(as_of) as model:
        record = model.run(run)
        source = model.score_input(record)
    rows = [
        row
        for question in source.slots.questions
        for repetition in range(1, source.slots.repetitions + 1)
        for row in slot_rows(source, question, repetition)
        if outcome is None or row["outcome"] == outcome
    ]
    shown = [{**row, "time": duration_text(row["duration_us"])} for row in rows]  # type: ignore[arg-type]
    lines = table(
        shown, ("trial", "outcome", "verdicts", "failures", "calls", "time"), "no planned slot"
    )
    value = {"run": record.name, "trials": rows}
    emit(Screen(schema="ledger.trials/1", value=value, rows=rows, lines=lines), output_format)


def slot_rows(source: "RunInput", question: str, repetition: int) -> list[dict[str, object]]:
    """Return a row for every session of a slot, or one that says that none was started."""
    from trial_projections.cells import first_counting  # noqa: PLC0415 - slow to import

    sessions = source.sessions.get((question, repetition), [])
    if not sessions:
        return [
            {
                "trial": f"{question}#{repetition}",
                "outcome": "not_started",
                "counts": True,
                "verdicts": "",
                "judgments": [],
                "failures": 0,
                "unrecovered": 0,
                "calls": 0,
                "duration_us": None,
                "invalidated": False,
                "started_seq": None,
            }
        ]
    counting = first_counting(sessions, source.rubric, allows_retries=source.allows_retries)
    return [session_row(source, trial, counts=trial is counting) for trial in sessions]


def session_row(source: "RunInput", trial: "TrialRecord", *, counts: bool) -> dict[str, object]:
    """Return the row of one session."""
    judged = trial
    if source.judged is not None:
        key = (trial.question, trial.repetition, trial.session)
        judged = source.judged.get(key, trial)
    key_text = TrialKey(
        question=trial.question,
        configuration="-",
        repetition=trial.repetition,
        session=trial.session,
    )
    standing = [judgment for judgment in judged.judgments if judgment.replaced_by is None]
    verdicts = [
        f"{judgment.metric} {judgment.verdict or judgment.score}"
        + ("*" if judgment.replaces else "")
        for judgment in standing
    ] + [f"{failed.metric} {failed.reason}" for failed in judged.failed_judgments]
    invalidated = bool(trial.changes) and not trial.changes[-1].valid
    return {
        "trial": str(key_text),
        "outcome": ("INVALIDATED " if invalidated else "") + (trial.outcome or "unfinished"),
        "counts": counts,
        "verdicts": clean(", ".join(verdicts)),
        "judgments": [judgment.id for judgment in judged.judgments],
        "failures": len(trial.occurrences),
        "unrecovered": sum(known.recovered is None for known in trial.occurrences),
        "calls": len(trial.calls),
        "duration_us": trial.duration_us,
        "invalidated": invalidated,
        "started_seq": None if trial.started is None else trial.started.seq,
    }
