"""Two search agents, real records: 219 published numbers under their source's rules, ours beside.

Short answers, briefs graded by criteria, reports compared; each file and arm is a run.
"""

import copy
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adapters import gptr
from adapters.submissions import slug
from cli_cases import ledger
from source_cases import (
    MAPS,
    REAL_DATA,
    WHOLE,
    Read,
    Row,
    Value,
    appended,
    imported,
    names_of,
    needs,
    published,
    reading,
)
from trial_projections.comparison import compare
from trial_projections.comparison_structs import Pair
from trial_projections.latency import latency_of
from trial_projections.reported import losses_of
from trial_projections.source_rules.explaining import explain_all
from trial_projections.source_rules.registry import compute_over_runs
from trial_projections.spending import spending_of

SET = "gptr-deepagents"
FOLDER = REAL_DATA / SET
FAMILIES = ("simpleqa", "frames", "breadth", "recency", "hybrid", "reports")
ROWS = published(SET)

pytestmark = needs(SET)

SHARE, SECONDS = 3, 1
SHARES = ("correct_rate", "accuracy_given_attempted", "f1")
SHORT_ANSWERS = {
    "correct": ("count:correct", WHOLE),
    "incorrect": ("count:incorrect", WHOLE),
    "not_attempted": ("count:abstained", WHOLE),
    "correct_rate": ("correct_rate", SHARE),
    "accuracy_given_attempted": ("accuracy_given_attempted", SHARE),
    "f1": ("attempted_f1", SHARE),
    "avg_latency": ("mean_latency_unknown_as_zero", SECONDS),
    "p50 (upper median, sorted[n//2])": ("upper_median_latency_unknown_as_zero", SECONDS),
    "agent_input_tokens": ("usage:input_tokens", WHOLE),
}
"""What the source publishes → the rule by which it does, and the places that it rounds to."""
BRIEFS = {
    "checkpoints": ("criteria_total", WHOLE),
    "correct": ("criteria_count:correct", WHOLE),
    "partial": ("criteria_count:partial", WHOLE),
    "missing": ("criteria_count:missing", WHOLE),
    "coverage (C+P/2)/N": ("criteria_pooled", SHARE),
    "avg_latency": ("mean_latency_unknown_as_zero", SECONDS),
}
ROW = re.compile(r"(?P<file>\w+-[\w-]+)\.json:(?P<arm>\S+) (?P<what>.+)")
WINS = re.compile(r"reports n8 wins gptr (?P<metric>\w+)")
MEANS = {
    "BENCHMARK.md hybrid 3-run mean, file tools 62.5%": "baseline+files",
    "BENCHMARK.md hybrid 3-run mean, gptr 87.5%": "gptr",
}
REPORTS = "reports_2026-07-04_14-33-21_n8"
QUOTED = ("simpleqa_2026-07-04_14-19-50", "simpleqa_2026-07-04_14-40-49")
"""The pair that the source's report quotes; the other runs of these questions tried things out."""
LATER = ("hybrid_2026-07-05_14-29-57", "hybrid_2026-07-05_14-37-31", "hybrid_2026-07-05_14-43-50")


def files(folder: Path = FOLDER) -> list[Path]:
    """Return the files that hold records of trials."""
    return sorted(path for path in folder.glob("*.json") if path.name.startswith(FAMILIES))


def is_short(name: str) -> bool:
    """Return whether a file holds short answers, which a map reads; an adapter reads the others."""
    return name.startswith(("simpleqa", "frames"))


def phase_of(path: Path) -> str | None:
    """Return the phase of a file's runs; of other questions than these nobody says."""
    if not path.name.startswith("simpleqa"):
        return None
    return "final" if path.name.startswith(QUOTED) else "pilot"


def entered(folder: Path, paths: list[Path]) -> None:
    """Make a ledger of some files with the real commands."""
    appended(folder, gptr.adapt([path for path in paths if not is_short(path.name)]))
    base = (MAPS / "gptr-short-answers.toml").read_text("utf-8")
    for phase in ("pilot", "final", None):
        short = [path for path in paths if is_short(path.name) and phase_of(path) == phase]
        if short:
            map_path = folder / f"{phase}.toml"
            line = "" if phase is None else f'phase = "{phase}"\n'
            map_path.write_text(line + base, "utf-8")
            imported(folder, map_path, *short)


class Source(NamedTuple):
    """The ledger and the files that it was made of."""

    read: Read
    folder: Path
    """Where the files lie."""

    def run(self, file: str, arm: str) -> str:
        """Return the run of an arm of a file."""
        if is_short(file):
            return self.read.run_of(self.folder / f"{file}.json", arm)
        return slug(file, arm.replace("@", "-at-"))

    def value(self, file: str, arm: str, rule: str, metric: str | None = None) -> Fraction:
        """Return the number that a rule makes of an arm of a file."""
        return self.read.value(self.run(file, arm), rule, metric)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger made of all files."""
    made = tmp_path_factory.mktemp("gptr")
    entered(made, files())
    return made


@pytest.fixture(scope="module")
def source(folder: Path) -> Iterator[Source]:
    """Its read side."""
    with reading(folder) as read:
        yield Source(read, FOLDER)


def value_of(source: Source, row: Row) -> Value:
    """Return what comes out of the ledger for a published number, under its source's rule."""
    if row.quantity in MEANS:
        arm = MEANS[row.quantity]
        runs = [source.read.facts(source.run(file, arm), "internal") for file in LATER]
        mean = compute_over_runs(runs, "criteria_pooled").fraction
        assert mean is not None
        return Value(mean * 100, SECONDS)
    wins = WINS.fullmatch(row.quantity)
    if wins:
        return Value(source.value(REPORTS, "gptr", "count:correct", wins["metric"]), WHOLE)
    match = ROW.fullmatch(row.quantity)
    assert match is not None, row
    file, arm, what = match.groups()
    metric = None
    if file.startswith("hybrid"):
        metric, what = what.removesuffix("_coverage"), "coverage (C+P/2)/N"
    rule, places = (SHORT_ANSWERS if is_short(file) else BRIEFS)[what]
    return Value(source.value(file, arm, rule, metric), places)


def test_every_row_is_asked_for() -> None:
    """As many as the set has; an empty list would prove nothing."""
    assert len(ROWS) == 219


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_number_comes_out_of_the_ledger(source: Source, row: Row) -> None:
    """To its digits, under the named rule of its source; in full as it was recomputed."""
    assert value_of(source, row).holds(row)


def planted(document: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a file in which every arm has records that it never had."""
    copied = copy.deepcopy(document)
    for system in copied.get("systems", {}).values():
        model = {**system["records"][0], "latency_seconds": 5000.5}
        grades = ["CORRECT", *["INCORRECT"] * 31, *["NOT_ATTEMPTED"] * 47]
        system["records"] += [
            {**model, "question": f"never asked {number}", "grade": grade}
            for number, grade in enumerate(grades)
        ]
    for record in copied.get("records", [])[:1]:
        for arm in (value for value in record.values() if isinstance(value, dict)):
            if "report" in arm:
                arm.update(report=arm["report"] or "found later", latency_seconds=5000.5)
            for key in ("grades", "internal_grades", "web_grades"):
                if key in arm:
                    labels = ["CORRECT", *["PARTIAL"] * 3, *["MISSING"] * 5]
                    arm[key] += [
                        {"checkpoint": 100 + number, "grade": label, "evidence": ""}
                        for number, label in enumerate(labels)
                    ]
        if "verdicts" in record:
            won = dict.fromkeys(record["verdicts"], "gptr")
            copied["records"].append({**record, "topic": "never asked", "verdicts": won})
    return copied


def test_records_that_never_were_change_every_number(tmp_path: Path) -> None:
    """None of the 219 comparisons holds for a copy with planted records."""
    for path in files():
        document = planted(json.loads(path.read_text("utf-8")))
        (tmp_path / path.name).write_text(json.dumps(document), "utf-8")
    entered(tmp_path, files(tmp_path))
    with reading(tmp_path) as read:
        found = Source(read, tmp_path)
        assert [row.quantity for row in ROWS if value_of(found, row).is_published(row)] == []


@pytest.mark.parametrize(
    ("fault", "changed"),
    [
        ({"grade": "INCORRECT"}, {"correct", "incorrect", *SHARES}),
        ({"grade": "NOT_ATTEMPTED"}, {"correct", "not_attempted", *SHARES}),
        ({"latency_seconds": 9.4}, {"avg_latency", "p50 (upper median, sorted[n//2])"}),
        ({"agent_tokens": {"input": 11893, "output": 107}}, {"agent_input_tokens"}),
    ],
)
def test_one_wrong_record_shows_in_the_numbers_it_enters(
    tmp_path: Path, fault: dict[str, Any], changed: set[str]
) -> None:
    """A verdict, a time, a number of tokens; of thirty questions, one."""
    path = FOLDER / "simpleqa_2026-07-04_13-07-09_n30.json"
    document = json.loads(path.read_text("utf-8"))
    document["systems"]["baseline_tavily"]["records"][0].update(fault)
    del document["systems"]["gptr_deep_agent"]
    (tmp_path / path.name).write_text(json.dumps(document), "utf-8")
    imported(tmp_path, MAPS / "gptr-short-answers.toml", tmp_path / path.name)
    rows = [row for row in ROWS if row.quantity.startswith(f"{path.name}:baseline_tavily ")]
    with reading(tmp_path) as read:
        found = Source(read, tmp_path)
        wrong = {
            row.quantity.partition(" ")[2] for row in rows if not value_of(found, row).holds(row)
        }
    assert wrong == changed


def test_ours_stands_beside_the_sources(source: Source) -> None:
    """Of briefs the source pools criteria and we give them equal weight: two names, two values."""
    read = source.read
    assert read.ours(source.run("simpleqa_2026-07-04_14-19-50_n30", "gptr")) == "25 of 30"
    run = source.run("breadth_2026-07-04_22-39-24", "gptr@25")
    assert read.computed(run, "criteria_pooled").value == "17/23"
    assert read.ours(run) == "258/175 of 2"
    run = source.run("hybrid_2026-07-04_22-06-28", "gptr")
    assert read.ours(run, "internal") == "15/16 of 1"


def test_c18_an_empty_report_took_unknown_time_and_not_none(source: Source) -> None:
    """The source averages 0 s in; ours leaves what nobody measured out, or has no number."""
    read = source.read
    run = source.run("breadth_2026-07-04_22-44-58", "gptr@40")
    theirs = read.computed(run, "mean_latency_unknown_as_zero")
    assert (theirs.value, theirs.assumed) == ("449/10", {"unknown duration as 0": 1})
    ours = read.computed(run, "mean_latency")
    assert (ours.value, ours.count, ours.left_out) == ("449/5", 1, {"duration unknown": 1})
    run = source.run("breadth_2026-07-04_22-44-58", "baseline@15")
    assert read.computed(run, "mean_latency").reason == "no trial's duration is known"
    assert read.score(run).outcomes == {"trial_errored": 2}


def test_c13_the_final_pair_stands_apart_from_the_runs_before_it(source: Source) -> None:
    """The same thirty questions were asked five times; the source quotes the last pair only."""
    read = source.read
    asked = {run.name: run for run in read.model.runs() if run.planned == 30}
    assert len({run.dataset for run in asked.values()}) == 1
    phases: dict[str, list[str]] = {}
    for name, run in asked.items():
        phase = read.model.manifest(run).phase or "not said"
        phases.setdefault(phase, []).append(read.ours(name))
    assert {phase: sorted(numbers) for phase, numbers in phases.items()} == {
        "final": ["25 of 30", "25 of 30"],
        "pilot": ["19 of 30", "21 of 30", "23 of 30"],
    }


def test_c13_a_pilot_run_is_no_rival_of_the_final_one(source: Source) -> None:
    """The same questions before and after tuning: a difference without a test; the pair has one."""
    model = source.read.model

    def pair_of(*runs: tuple[str, str]) -> Pair:
        names = [source.run(f"{file}_n30", arm) for file, arm in runs]
        (pair,) = compare(model, [model.run(name) for name in names], ["grade"]).pairs
        return pair

    mixed = pair_of(("simpleqa_2026-07-04_13-07-09", "gptr"), (QUOTED[0], "gptr"))
    assert [reason.partition(": ")[2] for reason in mixed.no_verdict] == ["never compared (C13)"]
    (metric,) = mixed.metrics
    assert (metric.pairs, metric.low, metric.p, metric.verdict) == (30, "1/5", None, None)
    final = pair_of((QUOTED[0], "gptr"), (QUOTED[1], "base"))
    assert final.no_verdict == []
    (metric,) = final.metrics
    assert (metric.pairs, metric.low, metric.p) == (30, "0", "1")
    assert (metric.up, metric.down, metric.verdict) == (1, 1, "no difference shown")


def test_c18_three_kinds_of_spend_two_of_them_unknown(source: Source) -> None:
    """Nothing is 0: the agent's and the judge's are unknown, a tool's own sum is the source's."""
    model = source.read.model
    run = source.run("simpleqa_2026-07-04_13-07-09_n30", "gptr")
    accounts = {account.name: account for account in model.accounts(run)}
    for name in ("inference", "judge"):
        assert (accounts[name].known, accounts[name].unknown_count) == ({}, 30)
    briefs = source.run("breadth_2026-07-04_22-39-24", "gptr@25")
    assert [(each.name, each.known, each.unknown_count) for each in model.accounts(briefs)] == [
        ("inference", {}, 2), ("judge", {}, 2),
    ]  # fmt: skip
    losses = losses_of(model, model.run(run))
    assert any("not recorded, so unknown and not 0" in loss for loss in losses)
    told = {number.reported.name: number for number in explain_all(model, model.run(run))}
    assert told["gptr_internal_cost_usd"].reported.value == "3.3245"
    assert told["gptr_internal_cost_usd"].rule is None


def test_c17_times_of_empty_reports_are_unknown_in_every_quantile(source: Source) -> None:
    """Two reports, one of them empty: one time, one trial that errored, and no 0 seconds."""
    model = source.read.model
    run = source.run("breadth_2026-07-04_22-44-58", "gptr@40")
    times = latency_of(model, model.run(run)).trials
    assert (times.count, times.timed, times.ended_early, times.unknown) == (2, 1, 1, 0)
    assert {quantile.value_us for quantile in times.quantiles} == {89_800_000}
    run = source.run("breadth_2026-07-04_22-44-58", "baseline@15")
    times = latency_of(model, model.run(run)).trials
    assert (times.count, times.timed, times.quantiles) == (2, 0, [])


def test_c18_a_right_answer_costs_a_range(tmp_path: Path) -> None:
    """The agent's cost is known to the cent, of its searches nobody says anything: a lower bound.

    Of the later files not even the agent's cost is known: that is no price of 0.
    """
    path = FOLDER / "eval_2026-05-29_19-03-20_n3.jsonl"
    imported(tmp_path, MAPS / "gptr-costs.toml", path)
    imported(tmp_path, MAPS / "gptr-short-answers.toml", FOLDER / f"{QUOTED[0]}_n30.json")
    with reading(tmp_path) as read:
        spent = {
            run.planned: spending_of(read.model, run, read.model.score_input(run), "grade")
            for run in read.model.runs()
        }
    known = spent[3]
    assert (known.known, known.right_low, known.unknown_calls) == ("0.26269282", 3, 3)
    assert (known.per_right.low, known.per_right.high) == ("0.0875642733333", None)
    assert known.per_right.no_high == "no cap declared"
    assert spent[30].per_right.no_low == "no cost is known"


def test_the_sources_own_summary_is_explained_by_name(source: Source) -> None:
    """Every number of a summary that its records can give has its rule."""
    model = source.read.model
    run = source.run("simpleqa_2026-07-04_13-07-09_n30", "gptr")
    told = {number.reported.name: number for number in explain_all(model, model.run(run))}
    rules = {name: number.rule for name, number in told.items() if number.by_name}
    assert rules == {
        "correct": "count:correct",
        "incorrect": "count:incorrect",
        "not_attempted": "count:abstained",
        "correct_rate": "correct_rate",
        "accuracy_given_attempted": "accuracy_given_attempted",
        "f1": "attempted_f1",
        "avg_latency_seconds": "mean_latency_unknown_as_zero",
        "p50_latency_seconds": "upper_median_latency_unknown_as_zero",
        "agent_input_tokens": "usage:input_tokens",
        "agent_output_tokens": "usage:output_tokens",
    }
    assert told["accuracy_given_attempted"].difference == "19/195"


def test_everything_verifies(folder: Path) -> None:
    """The log is intact."""
    assert ledger(folder, "verify").code == 0
