"""`ledger latency`: how long the trials of a run and their calls took.

Invariant: a time that nobody measured is counted as unknown, and one that was cut off is a bound:
neither is ever shown as a number (C17).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, clean, emit
from trial_cli.words import bounded_text, duration_text, percentile_name, run_title, wrapped

if TYPE_CHECKING:
    from trial_projections.latency import Quantile, Times

__all__ = ["command"]


@click.command("latency", short_help="How long trials and their calls took")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
def command(run: str, *, as_of: str | None, output_format: str) -> None:
    """Show how long the trials of RUN and their calls took.

    Quantiles are times that were observed, with 95 % intervals between two observations. What was
    cut off took at least so long; what nobody timed is unknown; what failed for another reason has
    no latency.
    """
    from trial_projections.latency import latency_of  # noqa: PLC0415 - others start faster

    with read_model(as_of) as model:
        record = model.run(run)
        found = latency_of(model, record)
    lines = [f"{run_title(record)}  a time that nobody measured is unknown, never 0"]
    if record.derived_from is not None:
        lines.append(f"of the trials of {record.derived_from} to its link {record.derived_link}")
    everything = [found.trials, *found.calls]
    for times in everything:
        lines += times_lines(times)
    value = {"run": record.name, "valid": record.is_valid, **msgspec.to_builtins(found)}
    rows = [row for times in everything for row in rows_of(times)]
    emit(Screen(schema="ledger.latency/1", value=value, rows=rows, lines=lines), output_format)


def times_lines(times: "Times") -> list[str]:
    """Return what is known of things of one kind, a line a quantile."""
    name = times.of if times.purpose is None else f"{times.purpose} {times.endpoint or ''}".strip()
    parts = [f"{times.timed} timed"]
    parts += [
        f"{count} {words}"
        for count, words in (
            (times.cut_off, "cut off"),
            (times.ended_early, "failed, lost or unfinished"),
            (times.unknown, "unknown"),
        )
        if count
    ]
    lines = wrapped("", f"{clean(name)}  {times.count}: {', '.join(parts)}", indent=0)
    for quantile in times.quantiles:
        lines += quantile_lines(quantile)
    return lines


def quantile_lines(quantile: "Quantile") -> list[str]:
    """Return a quantile and its interval."""
    value = bounded_text(text_of(quantile.value_us), text_of(quantile.at_least_us))
    low, high = text_of(quantile.low_us), text_of(quantile.high_us)
    ends = f"95 %: {low or 'no lower end'} to {high or 'no upper end'}"
    why = [reason for reason in (quantile.reason, quantile.open_end) if reason is not None]
    reasons = f"  ({'; '.join(dict.fromkeys(why))})" if why else ""
    return wrapped(f"  {percentile_name(quantile.p):<8}{value:<14}", f"{ends}{reasons}", indent=24)


def text_of(duration_us: int | None) -> str | None:
    """Return a duration as words; None where there is none."""
    return None if duration_us is None else duration_text(duration_us)


def rows_of(times: "Times") -> Iterator[dict[str, object]]:
    """Yield a flat row for every quantile; one without, where nothing has a time."""
    shared: dict[str, object] = msgspec.to_builtins(times)
    quantiles = shared.pop("quantiles")
    assert isinstance(quantiles, list), "the struct has a list of them"
    empty = dict.fromkeys(QUANTILE_FIELDS)
    for quantile in quantiles or [empty]:
        yield {**shared, **quantile}


QUANTILE_FIELDS = (
    "p", "value_us", "at_least_us", "low_us", "high_us", "coverage", "reason", "open_end",
)  # fmt: skip
"""What a row says of a quantile."""
