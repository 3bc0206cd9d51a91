"""From what a writer sends to a typed draft: form is checked here, rules in `lifecycle`.

Invariant: a draft's data is exactly of its kind, its texts are bytes, and no field that only the
ledger may fill was set; every fault of a submission is reported at once.
"""

from collections.abc import Mapping

import msgspec

from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.events import KINDS, TAGS, TEXT_CLASSES, Actor, AnyData
from trial_ledger.forms import EventIdForm, RunNameForm, TimestampForm, form_problems
from trial_ledger.identifiers import DEFAULT_SESSION, MAX_INTEGER, TrialKey, parse_trial
from trial_ledger.submission import NewText, Submission
from trial_ledger.texts import kind_of, nearest, parse_text, placeholder, shown
from trial_ledger.typing_faults import member_faults

__all__ = ["COMMAND_KINDS", "Draft", "draft", "parse_record"]

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

HINT = "ledger help append"
UNKNOWN_ACTOR = Actor(role="harness")


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What a record may hold beside its kind; a trial is read by itself."""

    run: RunNameForm | None = None
    trial: object = None
    data: dict[str, object] | None = None
    id: EventIdForm | None = None
    at: TimestampForm | None = None
    actor: Actor | None = None


SUBMISSION_KEYS = ("kind", *Envelope.__struct_fields__)


class Draft(msgspec.Struct, kw_only=True, gc=False):
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
    problems = [key_problem(key) for key in record if key not in SUBMISSION_KEYS]
    problems += kind_problems(record.get("kind"))
    envelope = parse_envelope(record, problems)
    trial = parse_trial_field(record.get("trial"), problems)
    if problems:
        problems += typed(record.get("kind"), record.get("data"))[2]
        raise InvalidInputError(
            [msgspec.structs.replace(p, source=source, line=line) for p in problems], hint=HINT
        )
    return Submission(
        kind=record["kind"],
        run=envelope.run,
        trial=trial,
        data=envelope.data or {},
        id=envelope.id,
        at=envelope.at,
        at_unknown="at" in record and envelope.at is None,
        actor=envelope.actor,
    )


def parse_envelope(record: dict[str, object], problems: list[Problem]) -> Envelope:
    """Return the envelope of a record; add every fault of it, but for kind and trial."""
    fields = {key: value for key, value in record.items() if key in Envelope.__struct_fields__}
    try:
        envelope = msgspec.convert(fields, Envelope)
    except msgspec.ValidationError:
        problems += member_faults(fields, Envelope, "")
        return Envelope()
    problems += form_problems(envelope)
    return envelope


def key_problem(key: str) -> Problem:
    """Return the fault of a key that a submission may not have."""
    if key in LEDGER_KEYS:
        return Problem(
            message="only the ledger fills this field", field=key, expected="to be left out"
        )
    return Problem(
        message="unknown field", field=shown(key)[1:-1], expected=nearest(key, SUBMISSION_KEYS)
    )


def kind_problems(kind: object) -> list[Problem]:
    """Return what is wrong with the kind of a record."""
    if kind is None:
        return [
            Problem(message="missing", field="kind", expected="an event kind, as trial.started")
        ]
    if not isinstance(kind, str) or kind not in KINDS:
        return [unknown_kind(kind)]
    if kind not in COMMAND_KINDS:
        return []
    message = "this kind is written by a command"
    return [Problem(message=message, field="kind", found=kind, expected=f"`{COMMAND_KINDS[kind]}`")]


def unknown_kind(kind: object) -> Problem:
    """Return the fault of an unknown kind."""
    expected = nearest(kind if isinstance(kind, str) else "", KINDS)
    return Problem(message="unknown kind", field="kind", found=shown(kind), expected=expected)


def parse_trial_field(value: object, problems: list[Problem]) -> TrialKey | None:
    """Return the trial that a record names, as an object or as `question#repetition@session`.

    A configuration left out is the run's; it is unknown here until the run is known.
    """
    if value is None:
        return None
    if isinstance(value, dict):
        completed = {"configuration": FILL_CONFIGURATION, "session": DEFAULT_SESSION, **value}
        try:
            key = msgspec.convert(completed, TrialKey)
        except msgspec.ValidationError:
            problems += member_faults(completed, TrialKey, "trial")
            return None
        problems += form_problems(key, "trial")
        return key
    if isinstance(value, str):
        try:
            return parse_trial(value, configuration=FILL_CONFIGURATION)
        except InvalidInputError as error:
            problems += [msgspec.structs.replace(found, field="trial") for found in error.problems]
            return None
    problems.append(
        Problem(
            message="not a trial",
            field="trial",
            found=shown(value),
            expected="an object or question#repetition@session",
        )
    )
    return None


FILL_CONFIGURATION = "(the run's)"
"""Stands for a configuration that the writer left out."""


def draft(submission: Submission) -> Draft:
    """Return the typed draft of a submission.

    Raises:
        InvalidInputError: with every fault of its data.
    """
    if submission.kind not in KINDS:
        raise InvalidInputError([unknown_kind(submission.kind)], hint=HINT)
    problems = form_problems(submission)
    trial = submission.trial
    if trial is not None and not 1 <= trial.repetition <= MAX_INTEGER:
        problems += member_faults(msgspec.structs.asdict(trial), TrialKey, "trial")
    data, texts, found = typed(submission.kind, submission.data)
    problems += found
    if data is None or problems:
        raise InvalidInputError(problems, hint=HINT)
    return Draft(
        kind=submission.kind,
        run=submission.run,
        trial=trial,
        data=data,
        texts=texts,
        id=submission.id,
        at=submission.at,
        at_defaulted=submission.at is None and not submission.at_unknown,
        actor=submission.actor or UNKNOWN_ACTOR,
    )


def typed(
    tag: object, submitted: object
) -> tuple[AnyData | None, dict[str, NewText], list[Problem]]:
    """Return an event's typed data, its texts, and every fault; no data where there are any.

    Nothing is wrong with the data of what is no known kind, and with what is no data.
    """
    problems: list[Problem] = []
    texts: dict[str, NewText] = {}
    kind = KINDS.get(tag) if isinstance(tag, str) else None
    if kind is None or not isinstance(submitted, Mapping):
        return None, texts, problems
    values: dict[str, object] = dict(submitted)
    for name, class_ in TEXT_CLASSES[TAGS[kind]].items():
        value = values.get(name)
        if value is not None:
            text = parse_text(value, name, problems)
            texts[name] = text
            values[name] = placeholder(text, class_)
    data = converted(kind, values, problems)
    return (None if problems else data), texts, problems


def converted(
    kind: type[AnyData], values: Mapping[str, object], problems: list[Problem]
) -> AnyData | None:
    """Return an event's typed data; add every fault of it."""
    try:
        plain = msgspec.to_builtins(values)
    except TypeError as error:
        problems.append(Problem(message=f"not JSON: {error}", field="data"))
        return None
    try:
        data = msgspec.convert(plain, kind)
    except msgspec.ValidationError:
        problems += member_faults(plain, kind, "data")
        return None
    problems += form_problems(data, "data")
    problems += cross_field_problems(data)
    return data


def cross_field_problems(data: object) -> list[Problem]:
    """Return faults that lie between the fields of one event, or in the keys of a mapping."""
    usage = getattr(data, "usage", None)
    problems = [
        Problem(
            message="not acceptable",
            field=field,
            found=shown(key),
            expected="keys of printable ASCII characters",
        )
        for field, mapping in (
            ("data.usage.units", {} if usage is None else usage.units),
            ("data.counts", getattr(data, "counts", {})),
        )
        for key in mapping
        if not (key.isascii() and key.isprintable())
    ]
    if getattr(data, "class_", None) == "other" and getattr(data, "detail_class", None) is None:
        problems.append(
            Problem(
                message="missing",
                field="data.detail_class",
                expected="the source's own word, since class is other",
            )
        )
    return problems
