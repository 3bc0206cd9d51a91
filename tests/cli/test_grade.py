"""`ledger grade`: judgments by code, once, and what is left to others is named."""

from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, head, ledger
from ledger_cases import RUN
from projection_cases import Log
from read_cases import too_long
from rescore_cases import fates_log
from trial_ledger.goldfile import gold_path

SCREEN = """\
fast-01  6 judgments appended
  exact               6 judged by code
  judged              4 judged before, 2 not judged: needs its model judge
next: ledger scores fast-01
"""


@pytest.fixture(autouse=True)
def fates(tmp_path: Path) -> None:
    """Put the run with every fate of an answer beside the commands."""
    fates_log(tmp_path).ledger.close()


def test_c28_the_whole_screen(tmp_path: Path) -> None:
    """What was appended, by metric; what only a judge can give; what to type next."""
    assert ledger(tmp_path, "grade", "fast") == (0, SCREEN, "")
    assert ledger(tmp_path, "verify").code == 0


def test_grading_twice_appends_nothing(here: Here) -> None:
    """The second screen says that everything was there, and the log ends where it ended."""
    assert here("grade", RUN, "--json").json == {
        "schema": "ledger.grade/1",
        "run": RUN,
        "appended": 6,
        "metrics": [
            {"metric": "exact", "given": 6, "carried": 0, "present": 0, "left": {}},
            {
                "metric": "judged", "given": 0, "carried": 0, "present": 4,
                "left": {"needs its model judge": 2},
            },
        ],
    }  # fmt: skip
    before = head(here.folder / LEDGER)
    again = here("grade", RUN)
    assert again.out.startswith("fast-01  0 judgments appended\n  exact               6 judged")
    assert head(here.folder / LEDGER) == before
    rows = here("grade", RUN, "--format", "jsonl").rows
    assert [(row["metric"], row["present"]) for row in rows] == [("exact", 6), ("judged", 4)]
    assert here("replay", "--check").code == 0


def test_one_judgment_is_one(here: Here, tmp_path: Path) -> None:
    """The number agrees with its noun."""
    (tmp_path / "one").mkdir()
    log = Log(tmp_path / "one")
    log.trial("q1")
    log.ledger.close()
    done = here("grade", RUN, "--ledger", str(log.path))
    assert done.out.startswith("fast-01  1 judgment appended\n")
    assert too_long(done.out) == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("slow",), 6, "Error: no run 'slow'\nhint: ledger runs\n"),
        ((), 2, "Missing argument 'RUN'"),
        ((RUN, "--format", "xml"), 2, "'xml' is not one of"),
        ((RUN, "--ledger", "none.ledger"), 6, "none.ledger"),
    ],
)
def test_what_there_is_not(
    tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Each is named by the real command, and nothing is written."""
    before = head(tmp_path / LEDGER)
    done = ledger(tmp_path, "grade", *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert head(tmp_path / LEDGER) == before


def test_without_the_gold_file(tmp_path: Path) -> None:
    """It is named with what to do, and nothing is written."""
    gold_path(tmp_path / LEDGER).rename(tmp_path / "elsewhere")
    before = head(tmp_path / LEDGER)
    done = ledger(tmp_path, "grade", RUN)
    assert (done.code, done.out) == (7, "")
    assert done.err == (
        "Error: answers are judged against gold, and the gold file is not here\n"
        "hint: put the .gold file beside the ledger\n"
    )
    assert head(tmp_path / LEDGER) == before
