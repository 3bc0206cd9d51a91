"""The code graders that the ledger has itself: what each measures, and what can be set.

Invariant: every setting that a metric leaves open is written into its frozen form, so that a later
change of a default changes no old hash; one that a grader does not know is refused at freezing.
"""

from collections.abc import Mapping
from typing import Literal, cast

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.outcomes import read_rational
from trial_ledger.documents.reading import Faults, Table, nearest
from trial_ledger.documents.rubric_structs import Metric
from trial_ledger.exact import parse_rational
from trial_ledger.strict_json import shorten

__all__ = [
    "BUILT_IN",
    "NORMALISERS",
    "BuiltIn",
    "Option",
    "Settings",
    "read_grading",
    "settings_of",
]

NORMALISERS = ("none", "nfkc", "casefold", "squad", "triviaqa", "nq-open")
"""How texts can be normalised before a code grader compares them."""

DEFAULT_NORMALISER = "squad"
LONGEST_SEPARATOR = 8


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be set in a metric's `options`."""

    kind: Literal["choice", "names", "name", "tolerance", "labels", "separator"]
    """What its value looks like."""
    default: Json
    """What holds where it is left open."""
    choices: tuple[str, ...] = ()
    """The possible values of a choice."""


class BuiltIn(msgspec.Struct, frozen=True, kw_only=True):
    """What a metric may say that names one of our own graders."""

    measures: tuple[str, ...]
    """The measures that it gives."""
    normalises: bool = True
    """Whether it compares normalised texts."""
    options: Mapping[str, Option] = {}
    """What can be set, by name."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one metric's grader, complete and of the right form."""

    normaliser: str
    """A member of `NORMALISERS`; `none` where the grader normalises nothing."""
    options: dict[str, Json] = {}
    """Every option of the grader with its value."""

    def text(self, name: str) -> str:
        """Return the value of an option that is a text."""
        return cast("str", self.options[name])

    def names(self, name: str) -> tuple[str, ...]:
        """Return the value of an option that is a list of names."""
        return tuple(cast("list[str]", self.options[name]))


FACT_MEASURES = ("verdict", "score", "fact.correctness")
LIST_MEASURES = ("list.precision", "list.recall", "list.f1")
RECORD_MEASURES = (
    "structured.field_accuracy",
    "structured.record_accuracy",
    "structured.record_precision",
)
RESEARCH_MEASURES = (
    "research.coverage",
    "research.correctness",
    "research.sourcing",
    "research.composite",
)

NOTATION: Mapping[str, Option] = {
    "absolute": Option(kind="tolerance", default="0"),
    "relative": Option(kind="tolerance", default="0"),
    "decimal": Option(kind="choice", default="point", choices=("point", "comma")),
    "thousands": Option(
        kind="choice",
        default="none",
        choices=("none", "comma", "point", "blank", "apostrophe"),
    ),
    "percent": Option(kind="choice", default="refused", choices=("refused", "hundredth", "unit")),
    "units": Option(kind="names", default=[]),
}
"""How numbers are written, and how close is close enough."""

JSON_FORM = Option(kind="choice", default="whole", choices=("whole", "fenced"))

NO_ANSWER: Mapping[str, Option] = {"no_answer": Option(kind="name", default="no answer")}
"""The gold answer that stands for none, since gold is never empty."""

EXACT = BuiltIn(measures=FACT_MEASURES, normalises=False)
WORD_F1 = BuiltIn(measures=("score", "fact.correctness"), normalises=False)

BUILT_IN: Mapping[str, BuiltIn] = {
    "normalised-match@1": BuiltIn(measures=FACT_MEASURES),
    "includes@1": BuiltIn(measures=FACT_MEASURES),
    "choice@1": BuiltIn(
        measures=FACT_MEASURES,
        options={
            "choices": Option(kind="name", default="choices"),
            "labels": Option(kind="labels", default="ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        },
    ),
    "number@1": BuiltIn(
        measures=FACT_MEASURES,
        normalises=False,
        options={
            "find": Option(kind="choice", default="whole", choices=("whole", "only", "last")),
            **NOTATION,
        },
    ),
    "list-match@1": BuiltIn(
        measures=LIST_MEASURES,
        options={
            "items": Option(kind="choice", default="json", choices=("json", "lines", "separated")),
            "json": JSON_FORM,
            "bullets": Option(kind="choice", default="removed", choices=("removed", "kept")),
            "separator": Option(kind="separator", default=","),
            "duplicates": Option(kind="choice", default="removed", choices=("removed", "wrong")),
            "extras": Option(kind="choice", default="wrong", choices=("wrong", "ignored")),
        },
    ),
    "record-match@1": BuiltIn(
        measures=RECORD_MEASURES,
        options={
            "json": JSON_FORM,
            "key": Option(kind="names", default=[]),
            "empty_text": Option(kind="choice", default="value", choices=("value", "null")),
            "dates": Option(
                kind="choice", default="iso", choices=("iso", "day-first", "month-first")
            ),
            **NOTATION,
        },
    ),
    "criteria@1": BuiltIn(
        measures=RESEARCH_MEASURES,
        normalises=False,
        options={
            "metrics": Option(kind="names", default=[]),
            "partial": Option(kind="choice", default="1/2", choices=("1/2", "0")),
        },
    ),
    "judge-reply@1": BuiltIn(
        measures=("verdict",),
        normalises=False,
        options={
            "metric": Option(kind="name", default="judged"),
            "form": Option(
                kind="choice", default="word", choices=("word", "letter", "line", "json")
            ),
        },
    ),
    # Graders of published benchmarks, pinned in `official_pins`.
    "squad-1.1@1": EXACT,
    "squad-1.1-f1@1": WORD_F1,
    "squad-2.0@1": msgspec.structs.replace(EXACT, options=NO_ANSWER),
    "squad-2.0-f1@1": msgspec.structs.replace(WORD_F1, options=NO_ANSWER),
    "triviaqa@1": EXACT,
    "triviaqa-f1@1": WORD_F1,
    "nq-open@1": EXACT,
}
"""Our own graders as `name@version`; any other name is that of a grader outside."""


def read_grading(
    table: Table, *, grader: str | None, measure: str | None, scale: tuple[str, str]
) -> tuple[str | None, dict[str, Json]]:
    """Return a metric's normaliser and options, with those of our own graders complete.

    Args:
        table: the metric.
        grader: its grader; None where that was refused already.
        measure: its measure; None where that was refused already.
        scale: its scale.
    """
    form = BUILT_IN.get(grader or "")
    if form is None:
        report_version(table, grader)
        return table.name("normaliser"), table.mapping("options")
    if measure is not None and measure not in form.measures:
        table.wrong("grader", f"a grader of {measure}: {graders_of(measure)}", clause="C27")
    low, high = (parse_rational(end) for end in scale)
    if measure != "verdict" and not (low <= 0 and high >= 1):
        table.wrong("scale", f"a scale that holds 0 to 1, which is what {grader} gives")
    return read_normaliser(table, form), read_options(table, form)


def report_version(table: Table, grader: str | None) -> None:
    """Report a version that a grader of ours does not have."""
    name = (grader or "").rpartition("@")[0]
    versions = [known for known in BUILT_IN if name and known.rpartition("@")[0] == name]
    if versions:
        table.wrong("grader", f"a version that there is: {', '.join(versions)}")


def graders_of(measure: str) -> str:
    """Return our graders of a measure in words."""
    found = [name for name, form in BUILT_IN.items() if measure in form.measures]
    return ", ".join(found) or "judge, or one outside as name@version"


def read_normaliser(table: Table, form: BuiltIn) -> str | None:
    """Return the normaliser of a grader of ours; None where it normalises nothing."""
    if form.normalises:
        return table.choice("normaliser", NORMALISERS) or DEFAULT_NORMALISER
    if table.raw("normaliser") is not None:
        table.wrong("normaliser", "none: this grader compares no texts")
    return None


def read_options(table: Table, form: BuiltIn) -> dict[str, Json]:
    """Return every option of a grader of ours, defaults filled in."""
    options = table.table("options") or Table({}, table.faults, path=table.at("options"))
    found = {name: read_option(options, name, option) for name, option in form.options.items()}
    for name in options.values:
        if name not in form.options:
            close = nearest(name, form.options)
            expected = close or (f"one of {', '.join(form.options)}" if form.options else "none")
            options.faults.add("unknown option", field=options.at(name), expected=expected)
    return found


def read_option(table: Table, name: str, option: Option) -> Json:
    """Return one option's value in its canonical form, its default where it is left open."""
    if not table.has(name):
        return option.default
    if option.kind == "choice":
        return table.choice(name, option.choices)
    if option.kind == "names":
        return list(table.names(name) or ())
    if option.kind == "name":
        return table.name(name)
    if option.kind == "tolerance":
        return read_tolerance(table, name)
    return read_characters(table, name, distinct=option.kind == "labels")


def read_tolerance(table: Table, name: str) -> str | None:
    """Return a tolerance, a rational from 0, as canonical text."""
    text = read_rational(table, name)
    if text is not None and parse_rational(text) < 0:
        table.wrong(name, 'a tolerance from 0, such as "0.01"')
        return None
    return text


def read_characters(table: Table, name: str, *, distinct: bool) -> str | None:
    """Return a separator, or the labels of choices: letters and digits that stand once each."""
    text = table.text(name)
    if text is None:
        return None
    if distinct:
        folded = text.casefold()
        plain = text.isascii() and text.isalnum()
        if not plain or len(set(folded)) != len(folded):
            table.wrong(name, "letters and digits, each once, such as ABCD")
    elif not 0 < len(text) <= LONGEST_SEPARATOR:
        table.wrong(name, f"1 to {LONGEST_SEPARATOR} characters")
    return text


def settings_of(metric: Metric) -> Settings:
    """Return the settings of a metric whose grader is one of ours.

    A rubric that was frozen before an option existed takes its default.

    Raises:
        InvalidInputError: with every setting that this version does not understand.
    """
    assert metric.grader in BUILT_IN, "only our own graders have settings"
    faults = Faults(source=None, what="rubric")
    values = {"normaliser": metric.normaliser, "options": metric.options, "grader": metric.grader}
    table = Table(
        cast("Mapping[str, Json]", values), faults, path=f"metric {shorten(metric.grader)}"
    )
    normaliser, options = read_grading(
        table, grader=metric.grader, measure=metric.measure, scale=metric.scale
    )
    faults.stop()
    return Settings(normaliser=normaliser or "none", options=options)
