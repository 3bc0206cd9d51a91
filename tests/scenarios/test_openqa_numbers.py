"""1,490 answers with the verdicts of people and of three judges: rows, agreement, lost verdicts."""

import shutil
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

from adapters import openqa
from cli_cases import ledger
from real_review_cases import SEEDS, holds, reviewed, truth_of, with_plan
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
from trial_projections.review_estimate import ReviewEstimate

FOLDER = REAL_DATA / "openqa-eval-nq301"
ROWS = published("openqa-eval")
RUN = openqa.RUN

pytestmark = needs("openqa-eval-nq301")


def files(folder: Path = FOLDER) -> list[Path]:
    """Return the four files of a folder."""
    return [folder / name for name in openqa.FILES.values()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger into which all of it was appended."""
    made = tmp_path_factory.mktemp("openqa")
    appended(made, with_plan(openqa.adapt(files()), "nq301"))
    return made


@pytest.fixture(scope="module")
def read(folder: Path) -> Iterator[Read]:
    """Its read side."""
    with reading(folder) as found:
        yield found


def values_of(read: Read, row: Row) -> list[Value]:
    """Return both sides of the row: how many verdicts of people, how many rows of the judge."""
    assert row.quantity == "rows human=gpt-4 (counts)"
    return [Value(read.value(RUN, f"rows_of:{metric}"), WHOLE) for metric in ("human", "gpt-4")]


def test_every_row_is_asked_for() -> None:
    """As many as the set has; an empty list would prove nothing."""
    assert len(ROWS) == 1


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_number_comes_out_of_the_ledger(read: Read, row: Row) -> None:
    """People and the judge have as many rows."""
    assert [value.holds(row) for value in values_of(read, row)] == [True, True]


COVERED = {"gpt-4": 190, "bem": 188}
"""Judge → of how many of 200 seeds the interval holds what people say of all."""
LEAST = Fraction(93, 100)
MEASURED = {
    "human,gpt-4": (1261, 1489, 693),
    "human,bem": (1201, 1490, 616),
    "annotator1,annotator2": (1288, 1483, 735),
}
"""Two raters → labelled alike, labelled by both, kappa in thousandths."""


@pytest.mark.parametrize("pair", MEASURED)
def test_raters_agree_as_measured(read: Read, pair: str) -> None:
    """84.69 % and 86.85 %; of BEM the source's join of raw texts loses two rows, ours none."""
    found = {
        name: read.value(RUN, f"{name}:{pair}")
        for name in ("raters_equal", "raters_both", "cohen_kappa")
    }
    alike, count, kappa = MEASURED[pair]
    assert (found["raters_equal"], found["raters_both"]) == (Fraction(alike), Fraction(count))
    assert round(found["cohen_kappa"] * 1000) == kappa


def test_what_the_judge_left_open_is_undecided_and_not_wrong(read: Read) -> None:
    """Two empty verdicts and a row about another answer: a range of three trials."""
    assert read.score(RUN, "gpt-4").undecided == {"lost_in_source": 1, "not_gradable": 2}
    assert read.ours(RUN, "gpt-4") == "768 to 771 of 1490"
    assert read.ours(RUN) == "816 of 1490"


def test_a_malformed_file_is_read_and_said_to_be_malformed(read: Read) -> None:
    """1,490 rows without their tab have a verdict each; the repair is among the losses."""
    assert read.score(RUN, "text-davinci-003").decided == 1490
    losses = losses_of(read.model, read.model.run(RUN))
    assert (
        "text-davinci-003, no tab between question and answer, cut after the question: 1490 rows"
    ) in losses
    assert "rows of gpt-4 about another answer: 1 rows" in losses


def test_people_disagree_and_the_sources_word_stands_beside_them(read: Read) -> None:
    """A third person was asked where two differed; the adjudication is a judgment of its own."""
    reviewers = read.facts(RUN).reviewers
    assert {person: len(labels) for person, labels in reviewers.items()} == {
        "annotator1": 1490,
        "annotator2": 1483,
        "annotator3": 223,
    }
    assert read.value(RUN, "raters_equal:majority,human") == 1490


@pytest.fixture(scope="module")
def people() -> dict[str, str]:
    """What people settled on, by trial."""
    asked = Counter[str]()
    return {
        f"{openqa.numbered(row['id'], asked)}#1@s1": openqa.VERDICTS[row["Acceptable?"]]
        for row in openqa.rows_of(FOLDER / openqa.FILES["human"])
    }


@pytest.mark.parametrize("judge", COVERED)
def test_c29_a_tenth_covers_what_people_say_of_all(
    read: Read, people: dict[str, str], judge: str
) -> None:
    """Of 200 seeds at least 93 % give an interval that holds it; the judge says otherwise."""
    truth = truth_of(read, RUN, judge, people)
    assert (len(truth.estimates), truth.covered) == (SEEDS, COVERED[judge])
    assert truth.covered >= LEAST * SEEDS
    assert truth.judges != truth.right


def test_c29_intervals_about_the_judges_own_number_would_not_cover(
    read: Read, people: dict[str, str]
) -> None:
    """A planted fault: what BEM says is no estimate of what people say, and the test can tell."""
    truth = truth_of(read, RUN, "bem", people)
    assert sum(holds(found, truth.judges) for found in truth.estimates) < LEAST * SEEDS


def test_c29_a_tenth_reviewed_with_the_real_commands(
    tmp_path: Path, folder: Path, people: dict[str, str]
) -> None:
    """Drawn by the rubric's seed, filled in elsewhere: the corrected share stands beside."""
    shutil.copytree(folder, tmp_path / "copy")
    done = reviewed(tmp_path / "copy", RUN, "gpt-4", "verdict", people)
    found = next(metric for metric in done.json["metrics"] if metric["metric"] == "gpt-4")
    assert (found["judged"], found["reviewed"], found["met"]) == (1489, found["needed"], True)
    estimate = msgspec.convert(found["estimate"], ReviewEstimate)
    assert holds(estimate, Fraction(sum(v == "correct" for v in people.values()), len(people)))


def test_a_row_that_is_missing_shows(tmp_path: Path) -> None:
    """In a copy without the judge's last row, people and judge have not as many."""
    for path in files():
        content = path.read_bytes()
        if path.name == openqa.FILES["gpt-4"]:
            content = content[: content.rstrip(b"\n").rindex(b"\n") + 1]
        (tmp_path / path.name).write_bytes(content)
    appended(tmp_path, openqa.adapt(files(tmp_path)))
    with reading(tmp_path) as found:
        people, judge = values_of(found, ROWS[0])
    assert (people.holds(ROWS[0]), judge.holds(ROWS[0])) == (True, False)


def test_everything_verifies(folder: Path) -> None:
    """The log is intact."""
    assert ledger(folder, "verify").code == 0
