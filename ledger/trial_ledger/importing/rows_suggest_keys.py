"""The lines of a suggested map about keys: configuration, question, repetition.

Invariant: the suggested key tells all rows apart, and gives one question one text and one right
answer; where no column does, each row is a question of its own, and that is said.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from trial_ledger.documents.canonical_form import Json
from trial_ledger.importing.rows_map_values import text_of
from trial_ledger.importing.rows_source import Row
from trial_ledger.importing.rows_structs import ANY_KEY
from trial_ledger.importing.rows_suggest_columns import Column, Sample
from trial_ledger.importing.rows_suggest_roles import Roles
from trial_ledger.importing.rows_suggest_text import path, path_text, quoted, remark, unused

__all__ = ["key_lines"]

MODEL_KEYS = ("model", "model_name", "agent_model", "researcher_model")
SYSTEM_KEYS = ("configuration", "system", "agent", "agent_name")
"""Where a document names its model, and the system under test."""

NameOf = Callable[[Row], str]
"""What names the question of a row."""


def key_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield what names configuration, question and repetition."""
    yield ""
    yield from configuration_lines(sample, roles)
    name = name_of(sample, roles)
    counts = () if name is None else times(sample, roles, name)
    repetition = roles.get("repetition")
    if name is None or contradicts(sample, roles, name):
        yield from row_lines(sample, roles)
    elif repetition is not None and set(times(sample, roles, name, repetition)) == {1}:
        yield from name_lines(sample, roles)
        first = min(int(text) for text in repetition.distinct)
        rule = path(repetition)
        yield f"repetition = {f'{{path = {rule}, from = 0}}' if first == 0 else rule}"
    elif len(set(counts)) == 1:
        yield from name_lines(sample, roles)
        if counts[0] > 1:
            yield "repetition = {count = true}  # questions stand several times, in file order"
    else:
        yield from row_lines(sample, roles)
    if "question" in roles:
        yield f"question = {path(roles['question'])}"


def name_of(sample: Sample, roles: Roles) -> NameOf | None:
    """Return what names the question of a row; None where nothing does in all rows."""
    column = roles.get("id")
    if column is None and is_row_key(sample):
        return lambda row: row.keys[-1]
    if column is None:
        column = roles.get("question")
    if column is None or column.known < len(sample.rows):
        return None
    named = column
    return lambda row: text_of(value_at(row, named))


def name_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield the rule of the question id, as `name_of` found it."""
    if "id" in roles:
        yield f"id = {path(roles['id'])}"
    elif is_row_key(sample):
        yield f'id = "{matched(sample)}"  # the key of each row'
    else:
        yield "# no column of question ids: a hash of the question is the id"


def row_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield an id that makes each row a question of its own."""
    if "id" in roles:
        yield f"# rows of one {quoted(path_text(roles['id'].path))} differ, or their number does:"
        yield "# is there a column that tells them apart, a configuration or a repetition?"
        yield "# Until then each row is a question of its own:"
        yield f"id = [{path(roles['id'])}, {{row = true}}]"
    else:
        yield remark("which column names the question? One of these", unused(sample, roles))
        yield "id = {row = true}  # until then each row is a question of its own"


def is_row_key(sample: Sample) -> bool:
    """Return whether each row stands under a key of its own."""
    return bool(sample.path) and sample.path[-1] == ANY_KEY


def is_by_key(sample: Sample, roles: Roles) -> bool:
    """Return whether a key on the way to the rows names the system under test."""
    return ANY_KEY in sample.path[:-1] or (is_row_key(sample) and "id" in roles)


def times(
    sample: Sample, roles: Roles, name: NameOf, repetition: Column | None = None
) -> Sequence[int]:
    """Return how often each question stands for one configuration, and one repetition."""
    group = None if is_by_key(sample, roles) else roles.get("configuration")
    columns = [column for column in (group, repetition) if column is not None]
    keys = (
        (*row.keys, name(row), *(text_of(value_at(row, column)) for column in columns))
        for row in sample.rows
    )
    return tuple(Counter(keys).values())


def contradicts(sample: Sample, roles: Roles, name: NameOf) -> bool:
    """Return whether rows of one question have several texts of it, or several right answers."""
    for role in ("question", "gold"):
        known: dict[str, Json] = {}
        for row in sample.rows:
            value = value_at(row, roles[role]) if role in roles else None
            if value not in (None, "") and known.setdefault(name(row), value) != value:
                return True
    return False


def value_at(row: Row, column: Column) -> Json:
    """Return the value of a column in a row."""
    value: Json = dict(row.values)
    for key in column.path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def matched(sample: Sample) -> str:
    """Return how a map names the last matched key."""
    count = sum(key == ANY_KEY for key in sample.path)
    return f"*{count}" if count > 1 else "*"


def configuration_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield the name of the system under test, and its model."""
    column = roles.get("configuration")
    first = sample.rows[0]
    document = None if first.document is first.values else first.document
    system = next(named_places(document, SYSTEM_KEYS), None)
    if is_by_key(sample, roles):
        yield 'configuration = "*"  # the key that the * of rows matched'
    elif column is not None:
        yield f"configuration = {path(column)}  # one run for each value"
    elif system is not None:
        yield f"configuration = {quoted(system)}"
    else:
        yield 'configuration = {const = "my-agent"}  # name the system that was evaluated'
    model = next(named_places(document, MODEL_KEYS), None)
    if model is not None:
        yield f"system = {{model = {quoted(model)}}}"


def named_places(document: Json, names: Sequence[str]) -> Iterator[str]:
    """Yield where a document has a text under one of some names, at most one object deep."""
    if not isinstance(document, dict):
        return
    for key, value in document.items():
        if key in names and isinstance(value, str):
            yield f"$.{path_text([key])}"
        elif isinstance(value, dict):
            for inner in names:
                if isinstance(value.get(inner), str):
                    yield f"$.{path_text([key, inner])}"
