"""999 pairs compared by three people and two judges: agreement and majorities as published."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from adapters import pandalm
from cli_cases import ledger
from real_review_cases import SEEDS, reviewed, truth_of, with_plan
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
from trial_projections.source_rules.computed import Computed

FOLDER = REAL_DATA / "pandalm-human"
ROWS = published("pandalm")
RUN = pandalm.RUN
KAPPA = re.compile(r"Cohen kappa annotators (\d)-(\d)")
MAJORITY = re.compile(r"majority label (\d)")
PLACES = 2

pytestmark = needs("pandalm-human")


def files(folder: Path = FOLDER) -> list[Path]:
    """Return the three files of a folder."""
    return [folder / name for name in pandalm.FILES.values()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger into which all of it was appended."""
    made = tmp_path_factory.mktemp("pandalm")
    appended(made, with_plan(pandalm.adapt(files()), "pandalm"))
    return made


@pytest.fixture(scope="module")
def read(folder: Path) -> Iterator[Read]:
    """Its read side."""
    with reading(folder) as found:
        yield found


def value_of(read: Read, row: Row) -> Value:
    """Return what comes out of the ledger for a published number."""
    pair = KAPPA.fullmatch(row.quantity)
    if pair:
        rule = f"cohen_kappa:annotator{pair[1]},annotator{pair[2]}"
        return Value(read.value(RUN, rule), PLACES)
    label = MAJORITY.fullmatch(row.quantity)
    assert label is not None, row
    return Value(read.value(RUN, f"majority:{pandalm.SCORES[label[1]]}"), WHOLE)


def test_every_row_is_asked_for() -> None:
    """As many as the set has; an empty list would prove nothing."""
    assert len(ROWS) == 6


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_number_comes_out_of_the_ledger(read: Read, row: Row) -> None:
    """To its digits, and in full as it was recomputed."""
    assert value_of(read, row).holds(row)


def test_no_pair_splits_three_ways(read: Read) -> None:
    """Every pair has a majority."""
    assert read.computed(RUN, "majority:1").left_out == {}


def test_c28_a_reply_that_says_nothing_is_a_failure_of_the_judge(read: Read, folder: Path) -> None:
    """25 garbage replies are undecided; counted as wrong they would be 25 verdicts."""
    score = read.score(RUN)
    assert (score.undecided, score.decided) == ({"judge_failed": 25}, 974)
    assert read.ours(RUN) == "479 to 504 of 999"
    counts = ledger(folder, "failures", RUN, "--json").json["counts"]
    assert counts["by_class"] == {"judge_unparseable": 25}


def both(read: Read, judge: str) -> tuple[Computed, Computed]:
    """Return how often a judge says what most people say, and of how many."""
    pair = f"majority,{judge}"
    return read.computed(RUN, f"raters_equal:{pair}"), read.computed(RUN, f"raters_both:{pair}")


def test_judges_are_measured_against_people_on_what_both_decided(read: Read) -> None:
    """697 of 974, where the source divides by 999; the other judge decided all of them."""
    equal, count = both(read, "gpt-3.5-turbo")
    assert (equal.value, count.value) == ("697", "974")
    equal, count = both(read, "pandalm-7b")
    assert (equal.value, count.value) == ("667", "999")
    kappa = read.value(RUN, "cohen_kappa:majority,pandalm-7b")
    assert abs(float(kappa) - 0.435) < 0.0005


def test_people_keep_their_names(read: Read) -> None:
    """Three reviews of each pair, blind, under the annotators' own names."""
    assert read.model.run(RUN).reviews == 3 * 999
    assert list(read.facts(RUN).reviewers) == ["annotator1", "annotator2", "annotator3"]


@pytest.fixture(scope="module")
def people() -> dict[str, str]:
    """The score that most people gave, by trial."""
    return {
        f"{record['idx']}#1@s1": Counter(
            pandalm.SCORES[str(record[person])] for person in pandalm.PEOPLE
        ).most_common(1)[0][0]
        for record in json.loads(files()[0].read_text("utf-8"))
    }


LABELS = {"1": "correct", "1/2": "partial", "0": "incorrect"}
COVERED = {"gpt-3.5-turbo": 187, "pandalm-7b": 190}
"""Judge → of how many of 200 seeds the interval holds what most people say of all."""
LEAST = Fraction(93, 100)


@pytest.mark.parametrize("judge", COVERED)
def test_c29_a_tenth_covers_what_people_say_of_all(
    read: Read, people: dict[str, str], judge: str
) -> None:
    """Of 200 seeds at least 93 % give an interval that holds it; the judge says otherwise."""
    labels = {trial: LABELS[score] for trial, score in people.items()}
    truth = truth_of(read, RUN, judge, labels)
    assert (len(truth.estimates), truth.covered) == (SEEDS, COVERED[judge])
    assert truth.covered >= LEAST * SEEDS
    assert truth.judges != truth.right


def test_c29_a_tenth_reviewed_with_the_real_commands(
    tmp_path: Path, folder: Path, people: dict[str, str]
) -> None:
    """Scores are reviewed by score; the interval holds the 422 of 999 that most people gave."""
    shutil.copytree(folder, tmp_path / "copy")
    done = reviewed(tmp_path / "copy", RUN, "pandalm-7b", "score", people)
    found = next(metric for metric in done.json["metrics"] if metric["metric"] == "pandalm-7b")
    assert (found["judged"], found["reviewed"], found["met"]) == (999, found["needed"], True)
    estimate = found["estimate"]
    assert Fraction(estimate["low"]) <= Fraction(422, 999) <= Fraction(estimate["high"])


def planted(folder: Path, faults: dict[int, dict[str, int]]) -> set[str]:
    """Return which numbers do not come out of a copy with wrong labels in some records."""
    for path in files():
        records = json.loads(path.read_text("utf-8"))
        if path.name == pandalm.FILES["people"]:
            for place, fault in faults.items():
                assert all(records[place][person] != label for person, label in fault.items())
                records[place].update(fault)
        (folder / path.name).write_text(json.dumps(records), "utf-8")
    appended(folder, pandalm.adapt(files(folder)))
    with reading(folder) as found:
        return {row.quantity for row in ROWS if not value_of(found, row).holds(row)}


def test_one_wrong_label_shows_in_the_kappas_of_its_person(tmp_path: Path) -> None:
    """In full; the two digits that were published need more of them to move."""
    wrong = planted(tmp_path, {0: {"annotator1": 1}})
    assert wrong == {"Cohen kappa annotators 1-2", "Cohen kappa annotators 1-3"}


def test_pairs_that_two_people_see_otherwise_show_in_every_number(tmp_path: Path) -> None:
    """A pair that all call 1 and one that all call 2 become ties by two of three."""
    records = json.loads((FOLDER / pandalm.FILES["people"]).read_text("utf-8"))
    places = [
        next(
            place
            for place, record in enumerate(records)
            if {record[person] for person in pandalm.PEOPLE} == {label}
        )
        for label in (1, 2)
    ]
    wrong = planted(tmp_path, {place: {"annotator1": 0, "annotator2": 0} for place in places})
    assert wrong == {row.quantity for row in ROWS}


def test_everything_verifies(folder: Path) -> None:
    """The log is intact."""
    assert ledger(folder, "verify").code == 0
