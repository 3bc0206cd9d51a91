"""Two search agents, real records: 219 published numbers under their source's rules, ours beside.

Short answers, briefs graded by criteria, reports compared; each file and arm is a run.
"""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters import gptr
from adapters.submissions import Adapted, slug
from cli_cases import ledger
from source_cases import (
    REAL_DATA,
    WHOLE,
    Read,
    Row,
    Value,
    appended,
    names_of,
    needs,
    published,
    reading,
)
from trial_projections.reported import losses_of
from trial_projections.source_rules.explaining import explain_all
from trial_projections.source_rules.registry import compute_over_runs

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
    "correct_rate": ("rate:correct", SHARE),
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
LATER = ("hybrid_2026-07-05_14-29-57", "hybrid_2026-07-05_14-37-31", "hybrid_2026-07-05_14-43-50")


def files() -> list[Path]:
    """Return the files that hold records of trials."""
    return sorted(path for path in FOLDER.glob("*.json") if path.name.startswith(FAMILIES))


def run_name(file: str, arm: str) -> str:
    """Return the run of an arm of a file."""
    return slug(file, arm.replace("@", "-at-"))


@pytest.fixture(scope="module")
def adapted() -> Adapted:
    """What the adapter makes of all files."""
    return gptr.adapt(files())


@pytest.fixture(scope="module")
def folder(adapted: Adapted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger into which all of it was appended."""
    made = tmp_path_factory.mktemp("gptr")
    appended(made, adapted)
    return made


@pytest.fixture(scope="module")
def read(folder: Path) -> Iterator[Read]:
    """Its read side."""
    with reading(folder) as found:
        yield found


def value_of(read: Read, row: Row) -> Value:
    """Return what comes out of the ledger for a published number, under its source's rule."""
    if row.quantity in MEANS:
        runs = [read.facts(run_name(file, MEANS[row.quantity]), "internal") for file in LATER]
        mean = compute_over_runs(runs, "criteria_pooled").fraction
        assert mean is not None
        return Value(mean * 100, SECONDS)
    wins = WINS.fullmatch(row.quantity)
    if wins:
        run = run_name("reports_2026-07-04_14-33-21_n8", "gptr")
        return Value(read.value(run, "count:correct", wins["metric"]), WHOLE)
    match = ROW.fullmatch(row.quantity)
    assert match is not None, row
    run, metric, what = run_name(match["file"], match["arm"]), None, match["what"]
    if match["file"].startswith("hybrid"):
        metric, what = what.removesuffix("_coverage"), "coverage (C+P/2)/N"
    short = match["file"].startswith(("simpleqa", "frames"))
    rule, places = (SHORT_ANSWERS if short else BRIEFS)[what]
    return Value(read.value(run, rule, metric), places)


def test_every_row_is_asked_for() -> None:
    """As many as the set has; an empty list would prove nothing."""
    assert len(ROWS) == 219


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_number_comes_out_of_the_ledger(read: Read, row: Row) -> None:
    """To its digits, under the named rule of its source; in full as it was recomputed."""
    assert value_of(read, row).holds(row)


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
    made = []
    for path in files():
        document = planted(json.loads(path.read_text("utf-8")))
        made.append(tmp_path / path.name)
        made[-1].write_text(json.dumps(document), "utf-8")
    appended(tmp_path, gptr.adapt(made))
    with reading(tmp_path) as found:
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
    appended(tmp_path, gptr.adapt([tmp_path / path.name]))
    rows = [row for row in ROWS if row.quantity.startswith(f"{path.name}:baseline_tavily ")]
    with reading(tmp_path) as found:
        wrong = {
            row.quantity.partition(" ")[2] for row in rows if not value_of(found, row).holds(row)
        }
    assert wrong == changed


def test_ours_stands_beside_the_sources(read: Read) -> None:
    """Of briefs the source pools criteria and we give them equal weight: two names, two values."""
    run = run_name("simpleqa_2026-07-04_14-19-50_n30", "gptr_deep_agent")
    assert read.ours(run) == "25 of 30"
    run = run_name("breadth_2026-07-04_22-39-24", "gptr@25")
    assert read.computed(run, "criteria_pooled").value == "17/23"
    assert read.ours(run) == "258/175 of 2"
    run = run_name("hybrid_2026-07-04_22-06-28", "gptr")
    assert read.ours(run, "internal") == "15/16 of 1"


def test_c18_an_empty_report_took_unknown_time_and_not_none(read: Read) -> None:
    """The source averages 0 s in; ours leaves what nobody measured out, or has no number."""
    run = run_name("breadth_2026-07-04_22-44-58", "gptr@40")
    source, ours = (
        read.computed(run, name) for name in ("mean_latency_unknown_as_zero", "mean_latency")
    )
    assert (source.value, source.assumed) == ("449/10", {"unknown duration as 0": 1})
    assert (ours.value, ours.count, ours.left_out) == ("449/5", 1, {"duration unknown": 1})
    run = run_name("breadth_2026-07-04_22-44-58", "baseline@15")
    assert read.computed(run, "mean_latency").reason == "no trial's duration is known"
    assert read.score(run).outcomes == {"trial_errored": 2}


def test_c13_the_final_pair_stands_apart_from_the_runs_before_it(read: Read) -> None:
    """The same thirty questions were asked five times; the source quotes the last pair only."""
    phases = {
        run.name: read.model.manifest(run).phase or "not said"
        for run in read.model.runs()
        if run.dataset == "simpleqa-n30@1"
    }
    assert sorted(phases.values()) == ["final", "final", "pilot", "pilot", "pilot"]
    final = {name for name, phase in phases.items() if phase == "final"}
    assert {name: read.ours(name) for name in final} == dict.fromkeys(final, "25 of 30")
    pilot = sorted(read.ours(name) for name, phase in phases.items() if phase == "pilot")
    assert pilot == ["19 of 30", "21 of 30", "23 of 30"]


def test_c18_three_kinds_of_spend_two_of_them_unknown(read: Read) -> None:
    """Nothing is 0: the agent's and the judge's are unknown, a tool's own sum is the source's."""
    run = run_name("simpleqa_2026-07-04_13-07-09_n30", "gptr_deep_agent")
    accounts = {account.name: account for account in read.model.accounts(run)}
    for name in ("inference", "judge"):
        assert (accounts[name].known, accounts[name].unknown_count) == ({}, 30)
    record = read.model.run(run)
    assert "cost in money: not recorded, so unknown and not 0" in losses_of(read.model, record)
    told = {number.reported.name: number for number in explain_all(read.model, record)}
    assert told["gptr_internal_cost_usd"].reported.value == "3.3245"
    assert told["gptr_internal_cost_usd"].rule is None


def test_the_sources_own_summary_is_explained_by_name(read: Read) -> None:
    """Every number of a summary that its records can give has its rule; wall time has none."""
    record = read.model.run(run_name("simpleqa_2026-07-04_13-07-09_n30", "gptr_deep_agent"))
    told = {number.reported.name: number for number in explain_all(read.model, record)}
    rules = {name: number.rule for name, number in told.items() if number.by_name}
    assert rules == {
        "correct": "count:correct",
        "incorrect": "count:incorrect",
        "not_attempted": "count:abstained",
        "correct_rate": "headline",
        "accuracy_given_attempted": "accuracy_given_attempted",
        "f1": "attempted_f1",
        "avg_latency_seconds": "mean_latency",
        "p50_latency_seconds": "upper_median_latency",
        "agent_input_tokens": "usage:input_tokens",
        "agent_output_tokens": "usage:output_tokens",
    }
    assert told["accuracy_given_attempted"].difference == "19/195"


def test_the_same_records_add_nothing_and_everything_verifies(
    folder: Path, adapted: Adapted
) -> None:
    """Ids come from content; the log is intact."""
    assert len(adapted.events) == 1890
    assert ledger(folder, "verify").code == 0
