"""`ledger trials`: every session of every slot of a run, with its verdicts.

Invariant: sessions that do not count, invalidated trials and slots never started are listed too.
"""

from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import WIDTH, Screen, emit, fit, table
from trial_cli.words import duration_text, run_title

if TYPE_CHECKING:
    from trial_projections.reading import ReadModel
    from trial_projections.records import RunRecord, SessionRecord, TrialRecord
    from trial_projections.scores import RunInput

__all__ = ["command"]

OTHER_COUNTS = "(outcome): another session of the slot counts"
OVERRIDDEN = "verdict*: a person's, in the place of another one"


@click.command("trials", short_help="The trials of a run with their verdicts")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
@click.option("--outcome", help="Only trials of this outcome, as errored or not_started.")
def command(run: str, *, outcome: str | None, as_of: str | None, output_format: str) -> None:
    """List the trials of RUN with outcome, verdicts and failures."""
    with read_model(as_of) as model:
        record = model.run(run)
        rows = [
            row for row in trial_rows(model, record) if outcome is None or row["outcome"] == outcome
        ]
    shown = [{**row, "outcome": outcome_text(row)} for row in rows]
    names = ("trial", "outcome", "failures", "time", "verdicts")
    lines = [run_title(record)] if not record.is_valid else []
    lines += [fit(line, WIDTH) for line in table(shown, names, "no such trial")]
    lines += [f"  {OTHER_COUNTS}"] if not all(row["counts"] for row in rows) else []
    lines += [f"  {OVERRIDDEN}"] if any("*" in str(row["verdicts"]) for row in rows) else []
    value = {"run": record.name, "valid": record.is_valid, "trials": rows}
    emit(Screen(schema="ledger.trials/1", value=value, rows=rows, lines=lines), output_format)


def outcome_text(row: dict[str, object]) -> str:
    """Return an outcome as the table shows it."""
    text = f"INVALIDATED {row['outcome']}" if row["invalidated"] else str(row["outcome"])
    return text if row["counts"] else f"({text})"


def trial_rows(model: "ReadModel", run: "RunRecord") -> list[dict[str, object]]:
    """Return a row for every session of every planned slot, in planned order."""
    from trial_projections.reading import sessions_by_slot  # noqa: PLC0415 - slow to import

    source = model.score_input(run)
    sessions = sessions_by_slot(model.trials(run))
    return [
        row
        for question in source.slots.questions
        for repetition in range(1, source.slots.repetitions + 1)
        for row in slot_rows(source, question, repetition, sessions.get((question, repetition), []))
    ]


def slot_rows(
    source: "RunInput", question: str, repetition: int, sessions: "list[TrialRecord]"
) -> list[dict[str, object]]:
    """Return a row for every session of a slot, or one that says that none was started."""
    from trial_projections.cells import first_counting  # noqa: PLC0415 - slow to import
    from trial_projections.derivation import slot_name  # noqa: PLC0415 - likewise

    if not sessions:
        return [
            {
                "trial": slot_name(question, repetition),
                "outcome": "not_started",
                "counts": True,
                "verdicts": "",
                "judgments": [],
                "failures": 0,
                "unrecovered": 0,
                "calls": 0,
                "duration_us": None,
                "time": "",
                "invalidated": False,
                "started_seq": None,
            }
        ]
    counting = first_counting(sessions, source.rubric, allows_retries=source.allows_retries)
    return [session_row(source, trial, counts=trial is counting) for trial in sessions]


def session_row(source: "RunInput", trial: "TrialRecord", *, counts: bool) -> dict[str, object]:
    """Return the row of one session."""
    from trial_projections.derivation import trial_name  # noqa: PLC0415 - slow to import

    judged: SessionRecord | None = trial
    if source.judged is not None:
        judged = source.judged.get((trial.question, trial.repetition, trial.session))
    return {
        "trial": trial_name(trial),
        "outcome": trial.outcome or "unfinished",
        "counts": counts,
        "verdicts": verdicts_text(judged),
        "judgments": [] if judged is None else [known.id for known in judged.judgments],
        "failures": len(trial.occurrences),
        "unrecovered": sum(known.recovered is None for known in trial.occurrences),
        "calls": len(trial.calls),
        "duration_us": trial.duration_us,
        "time": duration_text(trial.duration_us),
        "invalidated": bool(trial.changes) and not trial.changes[-1].valid,
        "started_seq": None if trial.started is None else trial.started.seq,
    }


def verdicts_text(judged: "SessionRecord | None") -> str:
    """Return what stands of a trial's judgments; a person's override bears a star."""
    if judged is None:
        return ""
    standing = [judgment for judgment in judged.judgments if judgment.replaced_by is None]
    verdicts = [
        f"{judgment.metric} {judgment.verdict or judgment.score}"
        + ("*" if judgment.replaces else "")
        for judgment in standing
    ]
    verdicts += [f"{failed.metric} {failed.reason}" for failed in judged.failed_judgments]
    return ", ".join(verdicts)
