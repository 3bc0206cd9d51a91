"""What a rule made of a run, and what a rule is.

Invariant: a value is exact; where there is none the reason says why.
"""

from collections.abc import Callable
from fractions import Fraction

import msgspec

from trial_ledger.exact import parse_rational, rational_text
from trial_projections.source_rules.facts import RunFacts

__all__ = ["Computed", "Rule", "no_arguments", "number", "undefined"]


class Computed(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule made of a run."""

    rule: str = ""
    """Name of the rule, its argument after a colon."""
    value: str | None
    """Rational text; None where the rule has no number here."""
    reason: str | None = None
    """Why there is none; None where there is one."""
    unit: str | None = None
    """`s` or `tokens`; None for shares and counts."""
    count: int | None = None
    """How many trials, questions or criteria it is a mean of; None where it is none."""
    left_out: dict[str, int] = {}
    """What our headline counts and this rule does not: by why, how many."""
    assumed: dict[str, int] = {}
    """What is unknown or undecided and the rule takes for known: by as what, how many."""

    @property
    def fraction(self) -> Fraction | None:
        """Return the value as a number."""
        return None if self.value is None else parse_rational(self.value)


def number(
    value: Fraction | int,
    *,
    count: int | None = None,
    unit: str | None = None,
    left_out: dict[str, int] | None = None,
    assumed: dict[str, int] | None = None,
) -> Computed:
    """Return a value; what is left out or assumed of nothing is not named."""
    return Computed(
        value=rational_text(value),
        count=count,
        unit=unit,
        left_out={why: times for why, times in (left_out or {}).items() if times},
        assumed={what: times for what, times in (assumed or {}).items() if times},
    )


def undefined(reason: str) -> Computed:
    """Return that there is no number, and why."""
    return Computed(value=None, reason=reason)


def no_arguments(facts: RunFacts) -> list[str]:
    """Return the one argument of a rule that takes none: nothing."""
    del facts
    return [""]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A named way to compute a number."""

    name: str
    """Its name, without an argument."""
    says: str
    """What it does, as a sentence about a source: `leaves errored trials out`."""
    compute: Callable[[RunFacts, str], Computed]
    """Computes it, from the facts and what stands after the colon."""
    arguments: Callable[[RunFacts], list[str]] = no_arguments
    """Which arguments are worth trying on a run; the empty text for none."""
    known_as: tuple[str, ...] = ()
    """Names under which sources publish it, lower-case words; `{}` stands for the argument."""
    instead: str | None = None
    """Our own rule for the same quantity, which takes the same argument; None where it has none."""
