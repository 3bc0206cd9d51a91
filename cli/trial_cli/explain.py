"""`ledger explain`: the derivation of a number, down to events and rules.

Invariant: the text form is a summary of the JSON form, which holds every member and hash.
"""

from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.bridge_lines import bridge_lines, change_lines, change_row
from trial_cli.compare_screen import paired_lines
from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, clean, emit
from trial_cli.words import percent_range, range_text, run_title, trust_lines, wrapped
from trial_ledger.errors import InvalidInputError, NotFoundError, Problem
from trial_ledger.identifiers import parse_trial

if TYPE_CHECKING:
    from trial_projections.bridge_structs import Bridge
    from trial_projections.derivation import Derivation, Member, OtherSession, SlotGroup
    from trial_projections.reading import ReadModel
    from trial_projections.scores import RunInput
    from trial_projections.trust import TrustMark

__all__ = ["command", "summary_lines"]

NAMED = 6
"""Slots or sessions that are named; the JSON form names all."""
COUNT = 42
"""Where the words of a group begin."""
HASH_DIGITS = 32


@click.command("explain", short_help="What a number is made of, down to events")
@click.argument("run")
@click.argument("metric", required=False)
@click.option("--trial", metavar="KEY", help="Only this slot, as question#repetition.")
@click.option("--against", metavar="RUN", help="What lies between the same metric of RUN and this.")
@click.option("--against-metric", metavar="METRIC", help="Another metric of that run.")
@ledger_option
@as_of_option
@format_options
def command(
    run: str,
    metric: str | None,
    *,
    trial: str | None,
    against: str | None,
    against_metric: str | None,
    as_of: str | None,
    output_format: str,
) -> None:
    """Show what METRIC of RUN is made of (default: the primary metric).

    With --against the number is reached from that of another run, step by step: answers changed,
    lost to errors, regained, overrides, rubric, gold, judge, denominator. The parts add up exactly.

    The JSON form lists every member with the events behind it, by place and hash; a score can be
    recomputed from it alone (ledger help recompute).
    """
    from trial_projections.derivation import derive  # noqa: PLC0415 - slow to import

    if against_metric is not None and against is None:
        refuse_metric_alone(against_metric)
    with read_model(as_of) as model:
        record = model.run(run)
        source = model.score_input(record)
        name = metric_named(source, metric, record.rubric)
        everything = trial is not None or output_format != "text"
        found = derive(source, record, name, size=model.size, members=everything)
        shown = found.members or []
        marks = marks_of(found, model, source)
        if trial is not None:
            shown = [member_named(found, trial)]
            lines = trial_lines(found, shown[0])
        else:
            lines = summary_lines(found, model, marks)
        way = None
        if against is not None:
            way = bridged(model, (against, against_metric), found)
            if trial is not None:
                way = way_of(way, shown[0])
                lines = [*lines[:-1], *slot_lines(way), lines[-1]]
            else:
                paired = paired_with(model, way)
                lines = against_lines(lines, [*bridge_lines(way, found.scale), *paired], way)
    value = {**msgspec.structs.asdict(found), "members": shown, "trust": marks}
    if way is not None:
        value["bridge"] = way
    emit(
        Screen(
            schema="ledger.explain/1",
            value=value,
            rows=[row_of(member) for member in shown]
            if way is None
            else [change_row(change) for change in way.changes],
            lines=lines,
        ),
        output_format,
    )


def metric_named(source: "RunInput", metric: str | None, rubric: str) -> str:
    """Return a metric of a rubric, the primary one where none is named.

    Raises:
        NotFoundError: the rubric has no such metric.
    """
    name = metric or source.rubric.primary
    if name not in source.rubric.metrics:
        message = f"rubric {rubric} has no metric {name!r}"
        raise NotFoundError(message, hint=f"it has {', '.join(sorted(source.rubric.metrics))}")
    return name


def bridged(model: "ReadModel", against: tuple[str, str | None], found: "Derivation") -> "Bridge":
    """Return the way from a metric of another run to a derived number.

    Raises:
        NotFoundError: there is no such run, its rubric has no such metric, or one of the two
            metrics has no number.
    """
    from trial_projections.bridge import bridge, end_of  # noqa: PLC0415 - slow to import

    other = model.run(against[0])
    source = model.score_input(other)
    wanted = against[1] or (found.metric if found.metric in source.rubric.metrics else None)
    metric = metric_named(source, wanted, other.rubric)
    way = bridge(end_of(model, other, metric), end_of(model, model.run(found.run), found.metric))
    if isinstance(way, str):
        raise NotFoundError(way, hint=f"ledger scores {other.name}")
    return way


def refuse_metric_alone(metric: str) -> None:
    """Refuse another run's metric without the run.

    Raises:
        InvalidInputError: always.
    """
    fault = Problem(
        message="no run to take it from",
        field="--against-metric",
        found=repr(metric),
        expected="--against RUN beside it",
    )
    raise InvalidInputError([fault], what="command line", nothing_written=False)


def way_of(way: "Bridge", member: "Member") -> "Bridge":
    """Return a bridge whose only slot is that of one member; none where it counts alike."""
    from trial_projections.derivation import slot_name  # noqa: PLC0415 - slow to import

    slot = slot_name(member.question, member.repetition)
    changes = [change for change in way.changes if change.slot == slot]
    return msgspec.structs.replace(way, changes=changes)


def slot_lines(way: "Bridge") -> list[str]:
    """Return how the one slot of a bridge counts in the other number."""
    title = f"{way.old_metric} of {way.old_run}"
    if not way.changes:
        return wrapped("  against", f"{title}: this slot counts alike", indent=12)
    return [*wrapped("  against", title, indent=12), *change_lines(way.changes)]


def against_lines(lines: list[str], steps: list[str], way: "Bridge") -> list[str]:
    """Return the summary with the way from the other number before its last lines."""
    return [*lines[:-2], "", *steps, *change_lines(way.changes), *lines[-2:]]


def paired_with(model: "ReadModel", way: "Bridge") -> list[str]:
    """Return whether two numbers differ by more than chance, question by question."""
    from trial_projections.comparison import compare  # noqa: PLC0415 - slow to import

    if way.old_metric != way.new_metric or way.old_run == way.new_run:
        return []
    runs = [model.run(way.old_run), model.run(way.new_run)]
    (pair,) = compare(model, runs, [way.new_metric], frontier=False).pairs
    return paired_lines(pair)


def marks_of(found: "Derivation", model: "ReadModel", source: "RunInput") -> "list[TrustMark]":
    """Return what supports a number and what weakens it."""
    from trial_projections.review_coverage import coverage_of  # noqa: PLC0415 - slow to import
    from trial_projections.trust import trust_marks  # noqa: PLC0415 - slow to import

    run = model.run(found.run)
    coverage = coverage_of(model, run, source, found.metric)
    return trust_marks(model, run, {found.metric: found.score}, [coverage])


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
    """Return the member of a slot; a session may be named too.

    Raises:
        InvalidInputError: the key is of another form.
        NotFoundError: the slot is not planned for this metric, or the session does not count.
    """
    wanted = parse_trial(key, configuration="-")
    for member in found.members or []:
        if (member.question, member.repetition) != wanted.slot:
            continue
        session = key.rpartition("@")[2] if "@" in key else None
        if session is None or member.trial == str(wanted):
            return member
        message = f"session {key} does not count in {found.metric} of {found.run}"
        raise NotFoundError(message, hint=f"{member.trial or 'no session'} counts there")
    message = f"slot {key!r} is not planned for {found.metric} of {found.run}"
    raise NotFoundError(message, hint=f"ledger trials {found.run}")


def summary_lines(found: "Derivation", model: "ReadModel", marks: "list[TrustMark]") -> list[str]:
    """Return a derivation on one screen."""
    score = found.score
    number = f"unavailable: {score.unavailable}"
    if score.headline is not None:
        number = f"{range_text(score.headline)}  {percent_range(score.headline, found.scale)}"
    over = "questions" if found.aggregate == "question-mean" else "planned slots"
    lines = wrapped("", f"{found.metric} = {number}", indent=0)
    title = run_title(model.run(found.run))
    lines += wrapped("", f"{title}: mean over {over}, errors as the rubric says", indent=2)
    for group in found.groups:
        lines += group_lines(group)
    lines.append(f"  {'left out':<35}{score.planned - score.denominator:>4}")
    lines += other_lines(found.others)
    lines += ["", *document_lines(found, model), *trust_lines(marks), ""]
    lines.append(
        f"members: --json ({score.planned} with event hashes)   recheck: ledger help recompute"
    )
    return lines


def document_lines(found: "Derivation", model: "ReadModel") -> list[str]:
    """Return the frozen documents and the part of the log that a number rests on."""
    registry = model.registry
    dataset = registry.datasets[found.dataset]
    graders = ", ".join(f"{name} {count}" for name, count in found.graders.items())
    log = f"events 1..{found.size}, links 1..{found.link} of {found.run}"
    if found.derived_from is not None:
        log += f", links 1..{found.derived_link} of {found.derived_from}"
    return [
        f"manifest  {found.manifest[:12]} seq {registry.places[found.manifest]}",
        *wrapped(
            "rubric",
            f"{found.rubric} {found.rubric_hash[:12]} seq {registry.places[found.rubric_hash]}",
        ),
        *wrapped("gold", f"{found.dataset} {dataset.commitments_root[:12]} (sealed)"),
        *wrapped("graders", graders or "none"),
        *wrapped("log", log),
    ]


def group_lines(group: "SlotGroup") -> list[str]:
    """Return how many slots count alike, what they add and on what ground."""
    parts: list[str] = []
    if group.low is not None:
        parts.append(
            f"scores {group.low}" + (f" to {group.high}" if group.high != group.low else "")
        )
    parts += [f"{count} by {name}" for name, count in group.by.items()]
    if group.count <= NAMED or not group.by:
        more = " …" if group.count > len(group.slots) else ""
        parts.append(" ".join(group.slots) + more)
    outcome = group.outcome.replace("_", " ")
    return wrapped(
        f"  {group.ground:<13}{outcome:<22}{group.count:>4}", "; ".join(parts), indent=COUNT + 1
    )


def other_lines(others: "list[OtherSession]") -> list[str]:
    """Return the sessions that do not count."""
    if not others:
        return []
    named = ", ".join(
        f"{other.trial} ({other.outcome or 'unfinished'}; {other.instead} counts)"
        for other in others[:NAMED]
    )
    more = ", …" if len(others) > NAMED else ""
    return wrapped(f"  {'other sessions':<35}{len(others):>4}", named + more, indent=COUNT + 1)


def interval_text(low: str | None, high: str | None) -> str:
    """Return one score, or the lowest and highest of several."""
    return str(low) if low == high else f"{low} to {high}"


def trial_lines(found: "Derivation", member: "Member") -> list[str]:
    """Return one member with its events."""
    from trial_projections.derivation import slot_name  # noqa: PLC0415 - slow to import

    ground = "left out" if member.excluded else GROUNDS[member.basis]
    if member.by is not None:
        ground += f", {member.by} {clean(member.grader)}, judgment {clean(member.judgment)}"
    name = member.trial or slot_name(member.question, member.repetition)
    lines = [
        *wrapped("", f"{found.metric} of {name} in {found.run}", indent=0),
        f"  outcome   {member.outcome}",
        f"  adds      {member.excluded or interval_text(member.low, member.high)}",
        *wrapped("  ground", ground, indent=12),
    ]
    lines += [
        f"  {event.role:<16} seq {event.seq:<8} {event.hash[:HASH_DIGITS]}"
        for event in member.events
    ]
    lines.append("bytes: ledger show SEQ --raw")
    return lines


GROUNDS = {"judgment": "judged", "rule": "by rule", "nothing": "undecided"}
"""On what ground a member has its score, in words."""
