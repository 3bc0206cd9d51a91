"""`ledger override`: a person decides otherwise than a judgment.

Invariant: the judgment stays; the decision names it, and who decided and why stand beside (C31).
"""

import shlex
from itertools import count
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.acts import (
    Performed,
    act_options,
    act_screen,
    perform,
    require_words,
    seen,
    submission,
)
from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, emit
from trial_cli.words import wrapped
from trial_ledger.errors import Problem, RuleError

if TYPE_CHECKING:
    from trial_projections.addresses import About, Found
    from trial_projections.records import JudgmentRecord, SessionRecord

__all__ = ["command"]

NO_VALUE = Problem(
    message="no decision",
    field="--verdict, --score",
    expected="a verdict or a score, as the metric takes",
)


@click.command("override", short_help="Decide otherwise than a judgment")
@click.argument("judgment")
@click.option(
    "--verdict", metavar="V", help="correct, partial, incorrect, abstained, not_gradable."
)
@click.option("--score", metavar="S", help="A rational on the metric's scale, as 3/4.")
@act_options
@ledger_option
@format_options
def command(
    judgment: str,
    *,
    verdict: str | None,
    score: str | None,
    actor: str | None,
    reason: str | None,
    dry_run: bool,
    output_format: str,
) -> None:
    """Put a person's decision in the place of JUDGMENT, which stays.

    JUDGMENT is RUN/TRIAL/ID, or an id that only one judgment has; a beginning that only one has
    will do. The metric is shown before and after. Another override takes it back.
    """
    from trial_projections.addresses import find_judgment  # noqa: PLC0415 - slow to import
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise

    require_words(actor, reason, NO_VALUE if verdict is None and score is None else None)
    with opened(write=True) as ledger:
        model = ReadModel.open(ledger)
        try:
            found = find_judgment(model, judgment)
            require_effective(found)
        except BaseException:
            model.close()
            raise
        before = seen(model, found.about)
        data: dict[str, object] = {
            "judgment": new_name(found.trial),
            "replaces": found.judgment.id,
            "verdict": verdict,
            "score": score,
            "reason": reason,
        }
        event = submission("judgment.overridden", found.about, actor, data)
        performed = perform(ledger, found.about, before, event, dry_run=dry_run)
    emit(override_screen(found, performed), output_format)


def require_effective(found: "Found") -> None:
    """Refuse to replace again what was replaced, and name what is in force.

    Raises:
        RuleError: it was replaced (C31).
    """
    effective = found.effective
    if effective is found.judgment:
        return
    address = msgspec.structs.replace(found.about, judgment=effective.id)
    message = f"judgment {found.about} was already replaced, {effective.id} is in force"
    raise RuleError(message, clause="C31", hint=f"ledger override {shlex.quote(str(address))}")


def new_name(trial: "SessionRecord") -> str:
    """Return an id that no judgment of a trial has yet: o1, o2 and so on."""
    known = {judgment.id for judgment in trial.judgments}
    known |= {failed.id for failed in trial.failed_judgments}
    return next(name for number in count(1) if (name := f"o{number}") not in known)


def override_screen(found: "Found", performed: Performed) -> Screen:
    """Return what an override shows, in every form."""
    trial = performed.after.trial
    assert trial is not None, "a judged trial has a record"
    decision = trial.judgments[-1]
    replaced = next(known for known in trial.judgments if known.id == decision.replaces)
    address = msgspec.structs.replace(found.about, judgment=decision.id)
    lines = [
        *wrapped("before", judgment_text(found.judgment, found.about)),
        *wrapped("after", f"{judgment_text(decision, address)}; {replaced.id} stays in the log"),
    ]
    facts: dict[str, object] = {
        "before": facts_of(found.judgment),
        "after": facts_of(decision),
        "replaced": facts_of(replaced),
    }
    return act_screen(
        "ledger.override/1",
        found.about,
        performed,
        lines=lines,
        facts=facts,
        columns={"judgment": decision.id, "replaces": decision.replaces},
        undo=undoing(address, found.judgment),
    )


def facts_of(judgment: "JudgmentRecord") -> dict[str, object]:
    """Return a judgment by field."""
    return {
        "judgment": judgment.id,
        "metric": judgment.metric,
        "verdict": judgment.verdict,
        "score": judgment.score,
        "by": judgment.by,
        "grader": judgment.grader,
        "seq": judgment.mark.seq,
        "hash": judgment.mark.hash,
        "replaces": judgment.replaces,
        "replaced_by": judgment.replaced_by,
    }


def judgment_text(judgment: "JudgmentRecord", address: "About") -> str:
    """Return a judgment with its address, what it says and who says so."""
    value = " ".join(part for part in (judgment.verdict, judgment.score) if part is not None)
    return f"{address} {value}, by {judgment.by} {judgment.grader}, seq {judgment.mark.seq}"


def undoing(address: "About", judgment: "JudgmentRecord") -> str:
    """Return the command that decides again as the replaced judgment did."""
    values = [
        f"--{name} {shlex.quote(value)}"
        for name, value in (("verdict", judgment.verdict), ("score", judgment.score))
        if value is not None
    ]
    return " ".join(["ledger override", shlex.quote(str(address)), *values, "--reason TEXT"])
