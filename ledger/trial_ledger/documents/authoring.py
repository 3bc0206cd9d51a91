"""A frozen rubric as people write one: to be read, revised and frozen under the next version.

Invariant: reading what stands here gives the very rubric again, but for settings that are null,
which TOML cannot say.
"""

from collections.abc import Iterator, Mapping

import msgspec
import tomli_w

from trial_ledger.documents.canonical_form import Json, without_nulls
from trial_ledger.documents.difference import next_version
from trial_ledger.documents.outcome_structs import OUTCOME_CLASSES, OutcomeRule
from trial_ledger.documents.outcomes import UNDECIDED
from trial_ledger.documents.rubric_structs import Rubric, canonical

__all__ = ["rubric_toml"]

FREE = frozenset({"options", "sampling", "digests"})
"""Settings that mean something to a grader or a model only, so that `{}` in them may too."""


def rubric_toml(rubric: Rubric) -> str:
    """Return the TOML document of a rubric, with a line that says how to revise it.

    Outcome rules stand on one line each, as people write them.
    """
    # Line ends within a text would become plain newlines in TOML's multi-line strings.
    multiline = b"\\r" not in canonical(rubric)

    def written(table: Mapping[str, object]) -> str:
        return tomli_w.dumps(table, multiline_strings=multiline)

    document = stated(msgspec.to_builtins(rubric))
    for own in ("metrics", "outcomes", "failure_outcomes"):
        del document[own]
    if not rubric.reconstructed:
        del document["reconstructed"]
    sections = {key: value for key, value in document.items() if isinstance(value, dict)}
    parts = [
        f"# {rubric.reference} as it was frozen.\n"
        f"# A changed rubric needs another version, such as {next_version(rubric.version)}.\n"
        + written({key: value for key, value in document.items() if key not in sections})
    ]
    for name, metric in rubric.metrics.items():
        table = stated(msgspec.to_builtins(metric))
        options = table.pop("options", None)
        table.pop("outcomes", None)
        if not metric.shapes:
            del table["shapes"]
        parts.append(section(("metrics", name), table))
        if options is not None:
            parts.append(written({"metrics": {name: {"options": options}}}))
        if metric.outcomes:
            # The classes that a metric has for itself: the rubric's may differ in any setting.
            rules = {key: rule_table(rule, whole=True) for key, rule in metric.outcomes.items()}
            parts.append(section(("metrics", name, "outcomes"), rules))
    parts += [written({name: table}) for name, table in sections.items()]
    classes = sorted(rubric.outcomes, key=OUTCOME_CLASSES.index)
    rules = {key: rule_table(rubric.outcomes[key], whole=False) for key in classes}
    parts.append(section(("outcomes",), rules))
    parts.append(section(("outcomes", "failures"), rubric.failure_outcomes))
    return "\n".join(parts)


def section(path: tuple[str, ...], values: Mapping[str, object]) -> str:
    """Return a table of short values, each on one line."""
    heading = ".".join(map(key_text, path))
    lines = [f"{key_text(key)} = {value_text(value)}\n" for key, value in values.items()]
    return f"[{heading}]\n" + "".join(lines)


def key_text(key: str) -> str:
    """Return a key as TOML writes it."""
    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")


def value_text(value: object) -> str:
    """Return a value on one line."""
    if isinstance(value, Mapping):
        inner = (f"{key_text(key)} = {value_text(member)}" for key, member in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(value_text, value))}]"
    return tomli_w.dumps({"_": value}).removeprefix("_ = ").removesuffix("\n")


def rule_table(rule: OutcomeRule, *, whole: bool) -> dict[str, str | bool]:
    """Return the rule of one outcome class; an undecided score is written so.

    Args:
        rule: the rule.
        whole: whether what it leaves open comes from another rule, so that all of it is written.
    """
    return dict(settings(rule, whole=whole))


def settings(rule: OutcomeRule, *, whole: bool) -> Iterator[tuple[str, str | bool]]:
    """Yield what has to be written of a rule."""
    if whole or rule.denominator or rule.score is not None:
        yield "score", rule.score or UNDECIDED
    if whole or not rule.denominator:
        yield "denominator", rule.denominator
    if whole or rule.retryable:
        yield "retryable", rule.retryable


def stated(table: dict[str, Json]) -> dict[str, Json]:
    """Return a table without what it leaves open, which TOML cannot say; settings stay whole."""
    found: dict[str, Json] = {}
    for key, value in table.items():
        if value is None or value == {}:
            continue
        if key in FREE:
            found[key] = without_nulls(value)
        else:
            found[key] = stated(value) if isinstance(value, dict) else value
    return found
