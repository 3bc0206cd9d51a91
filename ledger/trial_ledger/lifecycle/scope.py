"""What one guard sees: the draft, and the states that it touches.

Invariant: a scope is read-only.
"""

import msgspec

from trial_ledger.errors import RuleError
from trial_ledger.events import Actor
from trial_ledger.identifiers import TrialKey
from trial_ledger.lifecycle.states import RunState, TrialState

__all__ = ["Scope", "require", "require_human", "require_no_trial", "require_words"]


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a guard may look at besides the event's own data."""

    kind: str
    """Tag of the event."""
    actor: Actor
    """Who acts."""
    run: RunState | None
    """The touched run; None for events that belong to none, and for `run.opened`."""
    trial_key: TrialKey | None
    """The touched trial."""
    trial: TrialState | None
    """Its state."""
    texts: dict[str, bytes]
    """The texts of the event, by field."""
    leak: str | None = None
    """What the leak guard found in a first input; None where clean or not looked at."""

    @property
    def touched(self) -> TrialState:
        """The trial, or where there is none, what is kept for the run as a whole."""
        if self.trial is not None:
            return self.trial
        assert self.run is not None, "an event of a trial or of a run"
        return self.run.own


def require(
    holds: object,
    message: str,
    *,
    clause: str | None = None,
    field: str | None = None,
    hint: str | None = None,
) -> None:
    """Refuse unless a condition holds.

    Raises:
        RuleError: it does not.
    """
    if not holds:
        raise RuleError(message, clause=clause, field=field, hint=hint)


def require_human(scope: Scope, clause: str) -> None:
    """Refuse an act of a person that names no person.

    Raises:
        RuleError: the actor is no named human.
    """
    require(
        scope.actor.role == "human" and scope.actor.name,
        f"{scope.kind} is the act of a named person, actor is {scope.actor.role}"
        f" {scope.actor.name or 'without a name'}",
        clause=clause,
        field="actor",
        hint='give "actor": {"role": "human", "name": "…"}',
    )


def require_no_trial(scope: Scope) -> None:
    """Refuse a trial on an event of the run as a whole.

    Raises:
        RuleError: one is named.
    """
    require(
        scope.trial_key is None,
        f"{scope.kind} belongs to the run as a whole, trial {scope.trial_key} is named",
        field="trial",
    )


def require_words(scope: Scope, clause: str, field: str = "reason") -> None:
    """Refuse an empty reason.

    Raises:
        RuleError: the text is empty or blank.
    """
    require(
        scope.texts.get(field, b"").strip(),
        f"{scope.kind} needs a {field} in words",
        clause=clause,
        field=f"data.{field}",
    )
