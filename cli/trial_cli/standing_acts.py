"""What `invalidate` and `reinstate` have in common: one changes what the other changes back.

Invariant: nothing is taken away; the run or trial and all of its events stay readable (C12).
"""

import shlex
from typing import TYPE_CHECKING

from trial_cli.acts import Performed, act_screen, perform, require_words, seen, submission
from trial_cli.options import opened
from trial_cli.output import Screen, emit
from trial_cli.words import wrapped
from trial_ledger.errors import Problem

if TYPE_CHECKING:
    from trial_projections.acts import Seen
    from trial_projections.addresses import About

__all__ = ["change_standing"]


def change_standing(
    name: str,
    *,
    valid: bool,
    superseded_by: str | None,
    actor: str | None,
    reason: str | None,
    dry_run: bool,
    output_format: str,
) -> None:
    """Invalidate or reinstate a run or a trial, and show what that changes.

    Args:
        name: `RUN`, or `RUN/question#repetition[@session]`.
        valid: whether it is to count from here on.
        superseded_by: the run that takes the place of an invalidated one.
        actor: the person.
        reason: why.
        dry_run: check and show, write nothing.
        output_format: form of the output.
    """
    from trial_projections.addresses import find_run_or_trial  # noqa: PLC0415 - slow to import
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise

    lost = None
    if superseded_by is not None and "/" in name:
        lost = Problem(
            message="a trial is superseded by no run",
            field="--superseded-by",
            found=repr(superseded_by[:80]),
            expected="a RUN to invalidate, not a trial",
        )
    require_words(actor, reason, lost)
    with opened(write=True) as ledger:
        model = ReadModel.open(ledger)
        try:
            about = find_run_or_trial(model, name)
        except BaseException:
            model.close()
            raise
        before = seen(model, about)
        data: dict[str, object] = {"reason": reason}
        if superseded_by is not None:
            data["superseded_by"] = superseded_by
        scope = "run" if about.trial is None else "trial"
        kind = f"{scope}.{'reinstated' if valid else 'invalidated'}"
        event = submission(kind, about, actor, data)
        performed = perform(ledger, about, before, event, dry_run=dry_run)
    emit(standing_screen(about, performed, valid=valid, actor=actor or ""), output_format)


def standing_screen(about: "About", performed: Performed, *, valid: bool, actor: str) -> Screen:
    """Return what an invalidation or its opposite shows, in every form."""
    verb, opposite = ("reinstate", "invalidate") if valid else ("invalidate", "reinstate")
    before, after = (standing_text(found, about) for found in (performed.before, performed.after))
    lines = [
        *wrapped("before", f"{about}: {before}"),
        *wrapped("after", f"{about}: {after}, said {actor}"),
    ]
    was, is_now = (is_valid(found, about) for found in (performed.before, performed.after))
    facts: dict[str, object] = {
        "before": {"valid": was},
        "after": {"valid": is_now},
        "superseded_by": performed.after.run.superseded_by,
    }
    undo = f"ledger {opposite} {shlex.quote(str(about))} --reason TEXT"
    return act_screen(
        f"ledger.{verb}/1",
        about,
        performed,
        lines=lines,
        facts=facts,
        columns={"valid_before": was, "valid_after": is_now},
        undo=undo,
    )


def is_valid(found: "Seen", about: "About") -> bool:
    """Return whether the run or trial counts."""
    if about.trial is None:
        return found.run.is_valid
    assert found.trial is not None, "a trial that is acted on was started"
    return not found.trial.changes or found.trial.changes[-1].valid


def standing_text(found: "Seen", about: "About") -> str:
    """Return how the run or trial stands, and what that means for the metrics."""
    from trial_projections.cells import is_invalidated_before  # noqa: PLC0415 - slow to import

    if is_valid(found, about):
        return "counts"
    if about.trial is None:
        successor = found.run.superseded_by
        return "INVALID, kept and readable" + (f", superseded by {successor}" if successor else "")
    assert found.trial is not None, "a trial that is acted on was started"
    if is_invalidated_before(found.trial):
        return "INVALIDATED before its end and first judgment, not in the denominator"
    return "INVALIDATED after its end or first judgment, stays in the metrics"
