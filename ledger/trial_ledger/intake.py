"""From what a writer sends to a typed draft: form is checked here, rules in `lifecycle`.

Invariant: a draft's data is exactly of its kind, its texts are bytes, and no field that only the
ledger may fill was set; every fault of a submission is reported at once.
"""

from collections.abc import Mapping

import msgspec

from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.events import KINDS, TEXT_CLASSES, Actor, AnyData
from trial_ledger.forms import FORMS, fits, form_problems
from trial_ledger.identifiers import DEFAULT_SESSION, TrialKey, parse_trial
from trial_ledger.submission import NewText, Submission
from trial_ledger.texts import kind_of, nearest, parse_text, placeholder, shown

__all__ = ["COMMAND_KINDS", "Draft", "draft", "parse_record"]

SUBMISSION_KEYS = ("kind", "run", "trial", "data", "id", "at", "actor")
LEDGER_KEYS = frozenset({"ledger", "seq", "prev", "link", "recorded_at", "v"})

COMMAND_KINDS: Mapping[str, str] = {
    "ledger.opened": "ledger init",
    "dataset.registered": "ledger freeze dataset",
    "rubric.frozen": "ledger freeze rubric",
    "manifest.frozen": "ledger freeze manifest",
    "blob.redacted": "ledger redact",
    "key.rotated": "ledger key rotate",
}
"""Kinds that only a command writes, since they carry more than their document shows."""

UNKNOWN_ACTOR = Actor(role="harness")


class Draft(msgspec.Struct, kw_only=True):
    """A submission whose form is right."""

    kind: str
    """Tag of the kind."""
    run: str | None
    """Run, as submitted."""
    trial: TrialKey | None
    """Trial, as submitted; an empty-named configuration is filled from the run."""
    data: AnyData
    """Its data, with placeholders where texts will be."""
    texts: dict[str, NewText]
    """Its texts, by encoded field name."""
    id: str | None
    """The writer's id."""
    at: str | None
    """When it happened."""
    at_defaulted: bool
    """Whether the ledger is to fill `at` with the present."""
    actor: Actor
    """Who did it."""


def parse_record(record: object, *, source: str | None, line: int | None) -> Submission:
    """Return the submission that one decoded JSON record means.

    Args:
        record: plain JSON value, already known to be free of duplicate keys and floats.
        source: file name for faults.
        line: line for faults, from 1.

    Raises:
        InvalidInputError: with every fault of the envelope.
    """
    if not isinstance(record, dict):
        raise InvalidInputError.single(
            "not an event", source=source, line=line, found=kind_of(record), expected="an object"
        )
    problems = envelope_problems(record)
    trial: TrialKey | None = None
    try:
        trial = parse_trial_field(record.get("trial"))
    except InvalidInputError as error:
        problems += [msgspec.structs.replace(p, field="trial") for p in error.problems]
    if problems:
        raise InvalidInputError(
            [msgspec.structs.replace(p, source=source, line=line) for p in problems],
            hint="ledger help append",
        )
    actor = record.get("actor")
    return Submission(
        kind=record["kind"],
        run=record.get("run"),
        trial=trial,
        data=record.get("data") or {},
        id=record.get("id"),
        at=record.get("at"),
        at_unknown="at" in record and record["at"] is None,
        actor=None if actor is None else msgspec.convert(actor, Actor),
    )


def envelope_problems(record: dict[str, object]) -> list[Problem]:
    """Return the faults of every envelope field but the trial."""
    problems = [envelope_key_problem(key) for key in record if key not in SUBMISSION_KEYS]
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        problems.append(unknown_kind(kind))
    elif kind in COMMAND_KINDS:
        problems.append(
            Problem(
                message="this kind is written by a command",
                field="kind",
                found=kind,
                expected=f"`{COMMAND_KINDS[kind]}`",
            )
        )
    checks: tuple[tuple[str, object, str | None], ...] = (
        ("run", str | None, "run"),
        ("id", str | None, "id"),
        ("actor", Actor | None, None),
        ("data", dict | None, None),
        ("at", str | None, "time"),
    )
    for name, expected, form in checks:
        problems += field_problems(name, record.get(name), expected, form=form)
    return problems


def envelope_key_problem(key: str) -> Problem:
    """Return the fault of a key that a submission may not have."""
    if key in LEDGER_KEYS:
        return Problem(
            message="only the ledger fills this field", field=key, expected="to be left out"
        )
    return Problem(message="unknown field", field=key, expected=nearest(key, SUBMISSION_KEYS))


def unknown_kind(kind: object) -> Problem:
    """Return the fault of a missing or unknown kind."""
    if kind is None:
        return Problem(message="missing", field="kind", expected="an event kind, as trial.started")
    return Problem(
        message="unknown kind", field="kind", found=shown(kind), expected=nearest(str(kind), KINDS)
    )


def parse_trial_field(value: object) -> TrialKey | None:
    """Return the trial that a submission names, as an object or as `question#repetition@session`.

    A configuration left out is the run's; it is empty here until the run is known.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return parse_trial(value, configuration=FILL_CONFIGURATION)
    if not isinstance(value, dict):
        raise InvalidInputError.single(
            "not a trial", found=kind_of(value), expected="an object or question#repetition@session"
        )
    completed = {"configuration": FILL_CONFIGURATION, "session": DEFAULT_SESSION, **value}
    try:
        key = msgspec.convert(completed, TrialKey)
    except msgspec.ValidationError as error:
        raise InvalidInputError.single(
            "not a trial",
            found=shown(value),
            expected=readable(str(error)),
        ) from error
    problems = form_problems(key)
    if problems:
        raise InvalidInputError(problems, what="trial")
    return key


FILL_CONFIGURATION = "(the run's)"
"""Stands for a configuration that the writer left out."""


def draft(submission: Submission) -> Draft:
    """Return the typed draft of a submission.

    Raises:
        InvalidInputError: with every fault of its data.
    """
    kind = KINDS.get(submission.kind)
    if kind is None:
        raise InvalidInputError([unknown_kind(submission.kind)])
    classes = TEXT_CLASSES[submission.kind]
    texts: dict[str, NewText] = {}
    values: dict[str, object] = dict(submission.data)
    problems = form_problems(submission)
    for name in classes:
        value = values.get(name)
        if value is not None:
            text = parse_text(value, name, problems)
            texts[name] = text
            values[name] = placeholder(text, classes[name])
    data = None if problems else converted(kind, values, problems)
    if data is None:
        raise InvalidInputError(problems, hint="ledger help append")
    return Draft(
        kind=submission.kind,
        run=submission.run,
        trial=submission.trial,
        data=data,
        texts=texts,
        id=submission.id,
        at=submission.at,
        at_defaulted=submission.at is None and not submission.at_unknown,
        actor=submission.actor or UNKNOWN_ACTOR,
    )


def converted(
    kind: type[AnyData], values: Mapping[str, object], problems: list[Problem]
) -> AnyData | None:
    """Return an event's typed data; None, and every fault of it, where it is not of its kind."""
    try:
        data = msgspec.convert(values, kind)
    except msgspec.ValidationError:
        problems += data_problems(kind, values)
        return None
    problems += form_problems(data, "data")
    problems += cross_field_problems(data)
    return None if problems else data


def data_problems(kind: type[AnyData], values: Mapping[str, object]) -> list[Problem]:
    """Return every fault of an event's data, field by field."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    problems = [
        Problem(message="unknown field", field=f"data.{key}", expected=nearest(key, fields))
        for key in values
        if key not in fields
    ]
    for name, field in fields.items():
        if name not in values:
            if field.required:
                problems.append(Problem(message="missing", field=f"data.{name}"))
            continue
        problems += field_problems(name, values[name], field.type, prefix="data.")
    assert problems, "what msgspec refused as a whole must be refused in a part"
    return problems


def cross_field_problems(data: object) -> list[Problem]:
    """Return faults that lie between the fields of one event."""
    if getattr(data, "class_", None) == "other" and getattr(data, "detail_class", None) is None:
        return [
            Problem(
                message="missing",
                field="data.detail_class",
                expected="the source's own word, since class is other",
            )
        ]
    return []


def field_problems(
    name: str, value: object, expected: object, *, form: str | None = None, prefix: str = ""
) -> list[Problem]:
    """Return the faults of one field."""
    try:
        found = msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        text = str(error)
        path = text.partition(" - at `$")[2].rstrip("`")
        return [
            Problem(
                message="not acceptable",
                field=f"{prefix}{name}{path}",
                found=shown(value),
                expected=readable(text),
            )
        ]
    if form is not None and isinstance(found, str) and not fits(form, found):
        return [
            Problem(
                message="not acceptable",
                field=f"{prefix}{name}",
                found=shown(value),
                expected=FORMS[form].expected,
            )
        ]
    return form_problems(found, f"{prefix}{name}") if isinstance(found, msgspec.Struct) else []


def readable(message: str) -> str:
    """Return what was expected, in words, from a validation message of msgspec."""
    text = message.partition(" - at `$")[0]
    return text.removeprefix("Expected ").replace("`", "")
