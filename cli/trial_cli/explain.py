"""`ledger explain`: the derivation of a number, down to events and rules.

Invariant: the text form is a summary of the JSON form, which holds every member and hash.
"""

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, clean, emit
from trial_cli.words import percent_range, range_text
from trial_ledger.errors import NotFoundError

if TYPE_CHECKING:
    from trial_projections.derivation import Derivation, Member
    from trial_projections.reading import ReadModel

__all__ = ["command"]

NAMED = 6


@click.command("explain", short_help="What a number is made of, down to events")
@click.argument("run")
@click.argument("metric", required=False)
@click.option("--trial", metavar="KEY", help="Only this trial, as question#repetition.")
@ledger_option
@as_of_option
@format_options
def command(
    run: str, metric: str | None, *, trial: str | None, as_of: str | None, output_format: str
) -> None:
    """Show what METRIC of RUN is made of (default: the primary metric).

    The JSON form lists every member with the events behind it, by place and hash; a score can be
    recomputed from it alone (ledger help recompute).
    """
    from trial_projections.derivation import derive  # noqa: PLC0415 - slow to import

    with read_model(as_of) as model:
        record = model.run(run)
        source = model.score_input(record)
        name = metric or source.rubric.primary
        if name not in source.rubric.metrics:
            message = f"rubric {record.rubric} has no metric {name!r}"
            raise NotFoundError(message, hint=f"it has {', '.join(sorted(source.rubric.metrics))}")
        found = derive(source, record, name, size=model.size)
        shown = found.members if trial is None else [member_named(found, trial)]
        lines = trial_lines(found, shown[0]) if trial else summary_lines(found, model)
    value: dict[str, object] = {"derivation": found}
    if trial is not None:
        value = {"derivation": {**as_dict(found), "members": shown}}
    emit(
        Screen(
            schema="ledger.explain/1",
            value=value["derivation"],
            rows=[row_of(member) for member in shown],
            lines=lines,
        ),
        output_format,
    )


def as_dict(found: "Derivation") -> dict[str, object]:
    """Return a derivation's fields."""
    return {name: getattr(found, name) for name in found.__struct_fields__}


def row_of(member: "Member") -> dict[str, object]:
    """Return a member as one flat row."""
    return {
        "question": member.question,
        "repetition": member.repetition,
        "trial": member.trial,
        "outcome": member.outcome,
        "low": member.low,
        "high": member.high,
        "basis": member.basis,
        "excluded": member.excluded,
        "judgment": member.judgment,
        "by": member.by,
        "grader": member.grader,
        "events": [f"{event.role}:{event.seq}:{event.hash}" for event in member.events],
    }


def member_named(found: "Derivation", key: str) -> "Member":
    """Return the member of a slot or trial.

    Raises:
        NotFoundError: the slot is not planned for this metric.
    """
    slot = key.partition("@")[0]
    for member in found.members:
        name = f"{member.question}#{member.repetition}"
        if key in {name, member.trial} or (member.trial or "").partition("@")[0] == slot:
            return member
    message = f"slot {key!r} is not planned for {found.metric} of {found.run}"
    raise NotFoundError(message, hint=f"ledger trials {found.run}")


def summary_lines(found: "Derivation", model: "ReadModel") -> list[str]:
    """Return a derivation on one screen."""
    score = found.score
    if score.headline is None:
        number = f"unavailable: {score.unavailable}"
    else:
        number = f"{range_text(score.headline)}  {percent_range(score.headline, found.scale)}"
    over = "questions" if found.aggregate == "question-mean" else "planned slots"
    lines = [f"{found.metric} = {number}   mean over {over}, errors as the rubric says"]
    lines += group_lines(found)
    registry = model.registry
    dataset = registry.datasets[found.dataset]
    lines += [
        "",
        f"manifest  {found.manifest[:12]} seq {registry.places[found.manifest]}",
        (
            f"rubric    {clean(found.rubric)} {found.rubric_hash[:12]}"
            f" seq {registry.places[found.rubric_hash]}"
        ),
        f"gold      {clean(found.dataset)} {dataset.commitments_root[:12]} (sealed)",
        f"graders   {graders_text(found)}",
        f"log       events 1..{found.size}, links 1..{found.link} of {found.run}",
        "",
        (
            f"members: --json ({len(found.members)} with event hashes)"
            "   recheck: ledger help recompute"
        ),
    ]
    return lines


def group_lines(found: "Derivation") -> list[str]:
    """Return how many slots add what, and on what ground."""
    groups: defaultdict[tuple[str, str], list[Member]] = defaultdict(list)
    for member in found.members:
        groups[ground(member), member.outcome].append(member)
    lines: list[str] = []
    for (reason, outcome), members in groups.items():
        by = Counter(member.by for member in members if member.by)
        who = ", ".join(f"{count} by {name}" for name, count in by.items())
        rule = found.rules.get(outcome)
        parts = [part for part in (who, f"rule: {rule}" if rule and not by else "") if part]
        names = named(members) if len(members) <= NAMED or not by else ""
        text = "; ".join([*parts, names] if names else parts)
        lines.append(f"  {reason:<13}{outcome.replace('_', ' '):<22}{len(members):>4}  {text}")
    lines.append(f"  {'left out':<35}{excluded(found):>4}")
    return lines


def ground(member: "Member") -> str:
    """Return on what ground a member counts as it does."""
    if member.excluded is not None:
        return "left out"
    return {"judgment": "judged", "rule": "by rule", "nothing": "undecided"}[member.basis]


def excluded(found: "Derivation") -> int:
    """Return how many slots do not count."""
    return sum(member.excluded is not None for member in found.members)


def named(members: "list[Member]") -> str:
    """Return the first few slots by name."""
    names = [f"{clean(member.question)}#{member.repetition}" for member in members[:NAMED]]
    return " ".join(names) + (" …" if len(members) > NAMED else "")


def graders_text(found: "Derivation") -> str:
    """Return who decided how many."""
    counts = Counter(member.grader for member in found.members if member.grader)
    return ", ".join(f"{clean(name)} {count}" for name, count in counts.most_common()) or "none"


def trial_lines(found: "Derivation", member: "Member") -> list[str]:
    """Return one member with its events."""
    value = member.low if member.low == member.high else f"{member.low} to {member.high}"
    lines = [
        (
            f"{found.metric} of {clean(member.trial or f'{member.question}#{member.repetition}')}"
            f" in {found.run}"
        ),
        f"  outcome   {member.outcome}",
        f"  adds      {value if member.excluded is None else member.excluded}",
        f"  ground    {ground(member)}"
        + (f", {member.by} {clean(member.grader)}" if member.by else "")
        + (f", judgment {clean(member.judgment)}" if member.judgment else ""),
    ]
    lines += [f"  {event.role:<16}seq {event.seq:<8}{event.hash}" for event in member.events]
    lines.append("bytes: ledger show SEQ --raw")
    return lines
