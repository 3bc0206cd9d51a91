"""Real logs judged again under stricter and laxer rubrics: nothing of the old run moves.

Shown by 3: an Inspect log of 40 questions three times, and short answers of a search agent. The
rubric is what `show --toml` prints, revised as a person would; the flips and the sum of the bridge
are recomputed from the members that `explain` lists.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli_cases import ledger
from source_cases import MAPS, REAL_DATA, here, imported, needs

INSPECT = "inspect-logs/generated/01_epochs3_multiscorer"
ANSWERS = "gptr-deepagents"
FILE = "simpleqa_2026-07-04_14-19-50_n30.json"

pytestmark = [needs(*INSPECT.split("/")), needs(ANSWERS)]

Changes = Mapping[str, str]
"""What a person changes in a rubric: a pattern of its lines → what stands there afterwards."""

STRICT: Changes = {
    r"^scale = .*": 'scale = ["-1", "1"]',
    r"^interval = .*": 'interval = "cluster-t"',
    r"^incorrect = .*": 'incorrect = {score = "-1"}',
}
LAX: Changes = {r"^incorrect = .*": 'incorrect = {score = "1/4"}'}
BY_CODE: Changes = {
    r"^grader = \"source\"": 'grader = "includes@1"',
    r"\[metrics\.\w+\.options[^#]*?(?=\n\[(?!metrics\.\w+\.options))": "",
}


class Case(NamedTuple):
    """One revision of one run, and what becomes of its metrics."""

    run: str
    """Which run."""
    version: str
    """The revised rubric's version."""
    changes: Changes
    """What is revised."""
    numbers: Mapping[str, tuple[str, str, int]]
    """Metric → old value, new value, how many slots count otherwise."""


CASES = (
    Case("inspect", "strict", STRICT, {
        "includes": ("46/120", "-28/120", 74), "model_graded_fact": ("69/120", "18/120", 51),
    }),
    Case("inspect", "lax", LAX, {
        "includes": ("46/120", "129/240", 74), "model_graded_fact": ("69/120", "327/480", 51),
    }),
    Case("inspect", "code", BY_CODE, {
        "includes": ("46/120", "46/120", 2), "model_graded_fact": ("69/120", "46/120", 23),
    }),
    Case("gptr", "strict", STRICT, {"grade": ("25/30", "20/30", 5)}),
    Case("gptr", "lax", LAX, {"grade": ("25/30", "105/120", 5)}),
    Case("gptr", "code", BY_CODE, {"grade": ("25/30", "21/30", 4)}),
)  # fmt: skip


class Books(NamedTuple):
    """A ledger with both runs."""

    folder: Path
    runs: dict[str, str]
    """Name of each run."""


def command(books: Books, *arguments: str) -> Any:  # noqa: ANN401 - whatever a command says
    """Return the JSON of a real command."""
    done = here(books.folder, *arguments, "--json")
    assert done.code == 0, done.err
    return done.json


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Books:
    """Import an Inspect log and a file of short answers into one ledger."""
    folder = tmp_path_factory.mktemp("rescore")
    imported(folder, MAPS / "gptr-short-answers.toml", REAL_DATA / ANSWERS / FILE)
    (log,) = (REAL_DATA / INSPECT).iterdir()
    assert ledger(folder, "import", "inspect", log).code == 0
    names = [run["run"] for run in here(folder, "runs", "--json").json["runs"]]
    runs = {word: next(name for name in names if word in name) for word in ("gptr", "nq301")}
    return Books(folder, {"gptr": runs["gptr"], "inspect": runs["nq301"]})


def revised(books: Books, case: Case) -> str:
    """Write a run's rubric, revised, into a file; return its name."""
    rubric = command(books, "scores", books.runs[case.run])["run"]["rubric"]
    shown = here(books.folder, "show", rubric, "--toml")
    assert shown.code == 0, shown.err
    text = shown.out
    changes = {r"^version = .*": f'version = "{case.version}"', **case.changes}
    for pattern, new in changes.items():
        text = re.sub(pattern, new, text, flags=re.MULTILINE)
    path = books.folder / f"{case.run}-{case.version}.toml"
    path.write_text(text, "utf-8")
    return path.name


def reads(books: Books, case: Case, size: int) -> list[str]:
    """Return what is said of the old run as of a size of the log, byte for byte."""
    run = books.runs[case.run]
    commands = [("scores", run), *(("explain", run, metric) for metric in case.numbers)]
    return [here(books.folder, *name, "--json", "--as-of", str(size)).out for name in commands]


def members(books: Books, run: str, metric: str) -> dict[str, tuple[str, str, str]]:
    """Return how every slot of a number counts: class, lowest and highest score."""
    return {
        f"{member['question']}#{member['repetition']}": (
            member["outcome"], member["low"], member["high"]
        )
        for member in command(books, "explain", run, metric)["members"]
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.run}-{case.version}")
def test_a_real_run_is_judged_again(books: Books, case: Case) -> None:
    """Old numbers to the bit; flips with both judgments; the parts add up to the last digit."""
    run = books.runs[case.run]
    before = command(books, "scores", run)
    old_reads = reads(books, case, before["size"])
    name = revised(books, case)
    rescored = command(books, "rescore", run, "--rubric", name, "--reason", "another look")
    assert rescored["is_new"] is True
    assert reads(books, case, before["size"]) == old_reads
    now = command(books, "scores", run)
    assert now["metrics"] == before["metrics"]
    bridges = {bridge["new_metric"]: bridge for bridge in rescored["bridges"]}
    assert set(bridges) == set(case.numbers)
    for metric, (old, new, count) in case.numbers.items():
        check_bridge(books, rescored, bridges[metric], Fraction(old), Fraction(new))
        assert len(bridges[metric]["changes"]) == count
    again = command(books, "rescore", run, "--rubric", name, "--reason", "another look")
    assert (again["is_new"], again["bridges"]) == (False, rescored["bridges"])


def check_bridge(
    books: Books,
    rescored: Any,  # noqa: ANN401 - a JSON document
    bridge: Any,  # noqa: ANN401 - likewise
    old: Fraction,
    new: Fraction,
) -> None:
    """Compare a bridge with the members of both numbers, and these with what is expected."""
    metric = bridge["new_metric"]
    before, after = (
        members(books, name, metric) for name in (rescored["derived_from"], rescored["run"])
    )
    for place, end in ((1, "low"), (2, "high")):
        sums = [
            sum((Fraction(known[place]) for known in found.values()), Fraction(0))
            for found in (before, after)
        ]
        assert [total / len(before) for total in sums] == [old, new]
        assert [Fraction(bridge[side][end]["value"]) for side in ("old", "new")] == [old, new]
        assert sum(Fraction(step[end]) for step in bridge["steps"]) == new - old
        moved = sum(Fraction(move[end]) for change in bridge["changes"] for move in change["moves"])
        assert moved / len(before) == new - old
    flips = {slot for slot, counts in after.items() if counts != before[slot]}
    assert {change["slot"] for change in bridge["changes"]} == flips
    for change in bridge["changes"]:
        for side in ("old", "new"):
            event = change[side]["event"]
            assert command(books, "show", str(event["seq"]))["hash"] == event["hash"]


def test_the_screen_lists_them_on_80_columns(books: Books) -> None:
    """Both judgments, the rule that changed, and how many there are."""
    case = next(case for case in CASES if (case.run, case.version) == ("inspect", "code"))
    done = here(
        books.folder, "rescore", books.runs["inspect"], "--rubric", revised(books, case),
        "--reason", "another look",
    )  # fmt: skip
    assert done.code == 0, done.err
    for line in (
        "  rubric            1 up, 1 down                   2      0.00\n",
        "  1 slot      correct 1 [includes@0.3.285] -> incorrect 0 [includes@1]\n",
        "rule  grader: source -> includes@1; normaliser: none -> squad\n",
    ):
        assert line in done.out
    commands = [line for line in done.out.splitlines() if line.startswith("next: ")]
    assert [line for line in done.out.splitlines() if len(line) > 80] in ([], commands)


def test_the_log_is_intact_afterwards(books: Books) -> None:
    """And the projections are those of a fresh start."""
    assert ledger(books.folder, "verify").code == 0
    assert ledger(books.folder, "replay", "--check").code == 0
