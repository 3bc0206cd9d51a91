"""Planted wrong, missing, null and spurious fields of real records, graded in a ledger (C27).

What has to come out is told by the table of gold state and answer state alone, written down below.
"""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from adapters import golds
from cli_cases import LEDGER
from source_cases import REAL_DATA, appended, here, needs
from trial_ledger.book import Ledger
from trial_ledger.events import JudgmentRecorded

SROIE = REAL_DATA / "gold-sroie-records" / "sroie_keys.jsonl"
BFCL = [
    REAL_DATA / "gold-bfcl" / "possible_answer" / f"BFCL_v4_{name}.json"
    for name in ("live_simple", "simple_python")
]
ABSENT = object()
RIGHT = ("correct", "correct_null", "correct_omission")

pytestmark = [needs("gold-sroie-records"), needs("gold-bfcl")]

Answered = tuple[str, dict[str, Any], str, Any]


def state(value: object) -> str:
    """Return in which state a field is; an empty text is null here, as both rubrics say."""
    if value is ABSENT:
        return "absent"
    return "null" if value is None or value == "" else "value"


TABLE = {
    ("value", "null"): "false_null",
    ("value", "absent"): "missing",
    ("null", "value"): "spurious",
    ("null", "null"): "correct_null",
    ("null", "absent"): "missing_null_key",
}
"""Gold state and answer state → outcome, where no values have to be compared."""


def outcomes(answered: Answered) -> Counter[str]:
    """Return the outcomes of the fields of one answer; only what was planted is another value."""
    _, gold, plant, answer = answered
    (record,) = gold["records"]
    given = next(iter(answer), {}) if isinstance(answer, list) else answer
    found: Counter[str] = Counter()
    for name, form in gold["fields"].items():
        truth = record.get(name, ABSENT)
        said = given.get(name, ABSENT)
        if state(truth) == "absent":
            found["ungraded"] += 1
        elif answer == []:
            found["missing_record_field"] += 1
        elif form.get("comparator") == "any_of":
            found[of_accepted(truth, said)] += 1
        elif (state(truth), state(said)) == ("value", "value"):
            found["wrong" if plant == "wrong" and name == "company" else "correct"] += 1
        else:
            found[TABLE[state(truth), state(said)]] += 1
    return found


def of_accepted(accepted: list[Any], said: object) -> str:
    """Return the outcome of a parameter, of whose accepted values "" means that it may lack."""
    may_lack = "" in accepted
    if said is ABSENT:
        return "correct_omission" if may_lack else "missing"
    if state(said) == "null":
        return "correct_null" if may_lack else "false_null"
    if said in accepted:
        return "correct"
    return "wrong" if [value for value in accepted if value != ""] else "spurious"


def planted(name: str) -> list[Answered]:
    """Return the answers of a set with what was planted."""
    return list(golds.receipts(SROIE) if name == golds.RECEIPTS else golds.calls(BFCL))


OPTIONS = {golds.RECEIPTS: golds.NOTATION, golds.CALLS: {"empty_text": "null"}}
SIZES = {golds.RECEIPTS: 626, golds.CALLS: 655}


@pytest.fixture(scope="module", params=sorted(SIZES))
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401
    """A folder with a ledger in which the answers of a set were graded, and the set's name."""
    name = str(request.param)
    folder = tmp_path_factory.mktemp(name)
    appended(folder, golds.adapt(name, planted(name), OPTIONS[name]))
    done = here(folder, "grade", name)
    assert done.code == 0, done.err
    return folder, name


def judgments(folder: Path, metric: str) -> dict[str, JudgmentRecorded]:
    """Return the judgments of a metric by question."""
    with Ledger.open(folder / LEDGER) as opened:
        return {
            stored.event.trial.question: stored.event.data
            for stored in opened.events()
            if isinstance(stored.event.data, JudgmentRecorded)
            and stored.event.trial is not None
            and stored.event.data.metric == metric
        }


def test_c27_planted_faults_come_out_as_the_table_says(graded: tuple[Path, str]) -> None:
    """Every field of every record has the outcome of its states, per question and in all."""
    folder, name = graded
    found = judgments(folder, "fields")
    total: Counter[str] = Counter()
    for answered in planted(name):
        counts = outcomes(answered)
        total += counts
        parts = {part.name: part.numerator for part in found[answered[0]].parts}
        known = {outcome: parts.get(outcome, 0) for outcome in counts}
        assert known == dict(counts), answered
        right, size = sum(counts[outcome] for outcome in RIGHT), counts.total() - counts["ungraded"]
        assert found[answered[0]].score == str(Fraction(right, size))
    assert len(found) == SIZES[name]
    assert {"correct", "wrong", "missing"} <= set(total)
    other = {"spurious", "false_null", "missing_record_field", "ungraded"}
    assert set(total) >= (other if name == golds.RECEIPTS else {"correct_omission"})


def test_c27_a_record_is_right_when_all_of_it_is_and_extra_ones_cost_precision(
    graded: tuple[Path, str],
) -> None:
    """Accuracy per record and precision, each of what was planted in the record."""
    folder, name = graded
    accuracy, precision = (judgments(folder, metric) for metric in ("records", "precision"))
    for answered in planted(name):
        key, _, plant, answer = answered
        counts = outcomes(answered)
        is_right = not set(counts) - {*RIGHT, "ungraded"}
        assert accuracy[key].score == str(int(is_right))
        if answer == []:
            assert precision[key].verdict == "not_gradable"
        else:
            of = 2 if plant == "extra" else 1
            assert precision[key].score == str(Fraction(int(is_right), of))


def test_c27_the_score_of_a_run_is_the_mean_of_its_records(graded: tuple[Path, str]) -> None:
    """As `ledger scores` says it, all of them decided."""
    folder, name = graded
    rows = here(folder, "scores", name, "--format", "jsonl").rows
    (row,) = [row for row in rows if row["metric"] == "records"]
    right = [not set(outcomes(known)) - {*RIGHT, "ungraded"} for known in planted(name)]
    assert Fraction(row["low"]) == Fraction(row["high"]) == Fraction(sum(right), len(right))
