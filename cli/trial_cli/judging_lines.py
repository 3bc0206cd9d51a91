"""What came of judging a run's answers, by metric.

Invariant: what nobody could judge here is counted with its reason.
"""

from typing import TYPE_CHECKING

from trial_cli.words import wrapped

if TYPE_CHECKING:
    from trial_ledger.judging import Tallies

__all__ = ["tally_lines", "tally_rows"]


def tally_rows(tallies: "Tallies") -> list[dict[str, object]]:
    """Return what came of judging, a row a metric."""
    names = {
        *tallies.given, *tallies.carried, *tallies.present, *(name for name, _ in tallies.left)
    }  # fmt: skip
    return [
        {
            "metric": name,
            "given": tallies.given[name],
            "carried": tallies.carried[name],
            "present": tallies.present[name],
            "left": {
                reason: count for (metric, reason), count in tallies.left.items() if metric == name
            },
        }
        for name in sorted(names)
    ]


def tally_lines(tallies: "Tallies") -> list[str]:
    """Return what came of judging, a line a metric."""
    words = {
        "given": "judged by code",
        "carried": "carried from the parent",
        "present": "judged before",
    }
    lines: list[str] = []
    for row in tally_rows(tallies):
        parts = [f"{row[key]} {text}" for key, text in words.items() if row[key]]
        left = row["left"]
        assert isinstance(left, dict), "counts by reason"
        parts += [f"{count} not judged: {reason}" for reason, count in left.items()]
        lines += wrapped(f"  {row['metric']}", ", ".join(parts), indent=22)
    return lines
