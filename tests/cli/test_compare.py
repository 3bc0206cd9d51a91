"""`ledger compare`: the screen, its forms, what cannot be compared."""

import csv
import io
from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import too_long
from trial_cli.compare_screen import p_text, pair_lines, settings_lines
from trial_projections.comparison_structs import Pair, SettingChange

METRIC = "judged"
SCREEN = """\
fast-01 -> second  second less first
settings    the manifests are the same

judged      20.0 % -> 30.0-40.0 %  10 paired questions
  difference  +10.0 to +20.0 points
  95 %        -12.6 to +50.2  paired t
  test        p = 1.00  sign-flip, 1.00 adjusted for 2 comparisons (BH): no
              difference shown
  up          1: q3
  undecided   1: q4

fast-01 -> third  second less first
settings    the manifests are the same

judged      20.0 % -> 100.0 %  10 paired questions
  difference  +80.0 points
  95 %        +49.8 to +110.2  paired t
  test        p = 0.0078  sign-flip, 0.0156 adjusted for 2 comparisons (BH):
              higher
  up          8: q3 q4 q5 q6 q7 q8 q9 q10

frontier    judged, cost of a trial, median time  10 questions in every run
  fast-01               0.200  $0.0100  2.000 s  not beaten (100 %)
  second                0.300 to 0.400  $0.0100  3.000 s  not beaten (86 %)
  third                 1.000  unknown  10.000 s  not beaten (100 %)
            in brackets: not beaten for certain, in how many of 200 replicates
next      ledger scores third | ledger explain third judged --against fast-01
          ledger trace 'third/q3#1@s1'
"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


COST = {"amount": "0.01", "currency": "USD", "basis": "reported"}


def answer(log: Log, right: int, undecided: int = 0, *, is_paid: bool = False) -> None:
    """Append ten trials of which the first ones are right, the next undecided, the others wrong."""
    end: dict[str, object] = {"cost": COST} if is_paid else {}
    for number in range(1, 11):
        question = f"q{number}"
        log.act("trial.started", question, input="which?")
        log.act("call.started", question, call="c1", purpose="model", endpoint="model")
        log.append("call.finished", question, {"call": "c1", "status": "ok", **end})
        log.act("answer.submitted", question, answer="Babylon")
        log.act("trial.finished", question, outcome="answered", duration_us=right * 1_000_000)
        if not right < number <= right + undecided:
            log.judge(question, METRIC, "correct" if number <= right else "incorrect")
    log.act("run.closed", status="complete")


def three(log: Log) -> None:
    """Append three runs: two right, three right or more, all right."""
    answer(log, 2, is_paid=True)
    log.open("second")
    answer(log, 3, undecided=1, is_paid=True)
    log.open("third")
    answer(log, 10)
    log.ledger.close()


def test_c35_the_whole_screen(here: Here, log: Log) -> None:
    """Settings, difference, interval, test, flips of every pair; the frontier last; 80 columns."""
    three(log)
    done = here("compare", RUN, "second", "third", "--metric", METRIC)
    assert (done.code, done.out, done.err) == (0, SCREEN, "")
    assert too_long(done.out) == []
    assert here("trace", "third/q3#1@s1").out.startswith("trial q3#1@s1 ")


def test_c35_the_other_forms(here: Here, log: Log) -> None:
    """JSON names every question; a table has a row a pair and metric."""
    three(log)
    document = here("compare", RUN, "second", "third", "--json").json
    assert document["schema"] == "ledger.compare/1"
    (first, second) = document["pairs"]
    assert [flip["way"] for flip in first["metrics"][1]["flips"]] == ["up", "undecided"]
    assert first["metrics"][1]["flips"][0]["first_trials"] == [f"{RUN}/q3#1@s1"]
    assert second["metrics"][1]["verdict"] == "higher"
    assert len(document["frontier"]["points"]) == 3
    text = here("compare", RUN, "second", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["first"], row["second"], row["metric"], row["flips"]) for row in rows] == [
        (RUN, "second", "exact", "10"), (RUN, "second", METRIC, "2"),
    ]  # fmt: skip
    assert [(row["missing_second"], row["missing_lost_second"]) for row in rows] == [
        ("10", "0"), ("1", "0"),
    ]  # fmt: skip


def test_c12_reasons_stand_in_place_of_a_verdict(here: Here, log: Log) -> None:
    """The difference stays; a run without a metric in common has its settings only."""
    answer(log, 2)
    log.open("second")
    log.act("run.invalidated", reason="wrong")
    log.ledger.close()
    shown = here("compare", RUN, "second", "--metric", METRIC).out
    assert "NO VERDICT  second is invalid (C12)\n            second is still open\n" in shown
    assert "  difference  -20.0 points\n" in shown
    assert "  no test     the two runs give no verdict\n" in shown
    assert "\nfrontier    none: second is invalid (C12)\n" in shown


def test_c14_across_rubrics_the_bridge_is_shown(here: Here, log: Log) -> None:
    """A derived run under another rubric: which cause adds what."""
    from ledger_cases import small_rubric  # noqa: PLC0415 - this test alone

    answer(log, 2)
    with log.model() as model:
        link = model.run(RUN).links
    metrics = {METRIC: {"measure": "verdict", "grader": "judge",
                        "outcomes": {"incorrect": {"score": "1/2"}}}}  # fmt: skip
    log.ledger.freeze((small_rubric(version="2", primary=METRIC, metrics=metrics),))
    log.open("second", rubric="quality@2", derived_from={"run": RUN, "link": link}, reason="kinder")
    for number in range(1, 11):
        log.judge(f"q{number}", METRIC, "correct" if number <= 2 else "incorrect")
    log.act("run.closed", status="complete")
    log.ledger.close()
    shown = here("compare", RUN, "second").out
    assert "NO VERDICT  other rubrics: quality@1, quality@2 (C14)\n" in shown
    assert "rubric" in shown


def test_runs_with_little_in_common(here: Here, log: Log) -> None:
    """No metric, no number, a question in one run only: each is said."""
    from ledger_cases import small_manifest, small_rubric  # noqa: PLC0415 - this test alone

    shapes = {METRIC: {"measure": "verdict", "grader": "judge", "shapes": ["list"]}}
    other = {"o": {"measure": "verdict", "grader": "judge"}}
    log.ledger.freeze((
        small_rubric(name="other", primary="o", metrics=other),
        small_rubric(name="lists", primary=METRIC, metrics=shapes),
        small_manifest(rubric="other@1", configuration="other"),
        small_manifest(rubric="lists@1", configuration="lists"),
    ))  # fmt: skip
    for run in ("other", "lists"):
        log.open(run, manifest=run)
        log.act("run.closed", status="interrupted", reason="enough")
    for run in ("whole", "part"):
        log.open(run)
        if run == "part":
            log.act("trial.started", "q1", input="which?")
            log.act("trial.invalidated", "q1", reason="the wrong page")
        log.act("run.closed", status="interrupted", reason="enough")
    log.ledger.close()
    assert (
        "no metric   their rubrics have none in common\n" in here("compare", "other", "whole").out
    )
    shown = here("compare", "whole", "lists").out
    assert "judged      0.0 % -> unavailable  0 paired questions\n" in shown
    assert "  no test     no planned slot" in shown
    shown = here("compare", "whole", "part", "--metric", METRIC).out
    assert "  first only  1: q1\n" in shown
    assert "  95 %        none: all questions score alike, which shows no spread\n" in shown
    assert "  test        p = 1.00  sign-flip: no difference shown\n" in shown
    assert "frontier    judged  9 questions in every run\n" in shown


def test_what_cannot_be_compared_is_refused_all_at_once(here: Here, log: Log) -> None:
    """One run, one run twice, a metric that a rubric lacks; a run that is not there."""
    log.ledger.close()
    done = here("compare", RUN, RUN, "--metric", "speed", "--metric", METRIC)
    assert done.code == 2
    twice, lacking, error, hint = done.err.splitlines()
    assert "ledger runs" in hint
    assert twice == f"RUN: named twice, found {RUN}, expected every run once"
    assert lacking.startswith(f"--metric: rubric quality@1 of {RUN} has no such metric")
    assert lacking.endswith(", found speed, expected exact, judged")
    assert error == "Error: command line not acceptable: 2 faults"
    done = here("compare", RUN)
    assert "RUN: nothing to compare it with, found fast-01, expected two runs" in done.err
    done = here("compare", RUN, "nobody")
    assert (done.code, "no run 'nobody'" in done.err) == (6, True)
    done = here("compare", "nobody", RUN, "no-one", "--metric", "speed")
    assert done.code == 2
    for fault in ("RUN: no run 'nobody'", "RUN: no run 'no-one'", "found speed", "3 faults"):
        assert fault in done.err


def test_c35_runs_that_lost_trials_are_told(here: Here, log: Log) -> None:
    """Seven trials without a fair try: the order may turn, and by chance none loses seven."""
    answer(log, 9)
    log.open("second")
    for number in range(1, 4):
        log.trial(f"q{number}")
        log.judge(f"q{number}", METRIC, "correct")
    log.act("run.closed", status="interrupted", reason="power")
    log.ledger.close()
    shown = " ".join(here("compare", RUN, "second", "--metric", METRIC).out.split())
    assert "missing 0 and 7 outcomes: whatever they are -60.0 to +10.0, either may be" in shown
    assert "lost 0 and 7 without a fair try: p = 0.0156, the runs did not lose alike" in shown
    shown = here("compare", RUN, "second", "--metric", METRIC, "--json").json
    (metric,) = shown["pairs"][0]["metrics"]
    assert metric["missing"] == {
        "first": 0, "second": 7, "lost_first": 0, "lost_second": 7,
        "low": "-3/5", "high": "1/10", "lost_p": "0.015625",
    }  # fmt: skip


def test_small_numbers_are_said_to_be_small() -> None:
    """A p-value is never shown as 0; a long list of settings is cut and counted."""
    assert [p_text(text) for text in ("0.00001", "0.0625", "0.5", "1")] == [
        "below 0.0001", "0.0625", "0.50", "1.00",
    ]  # fmt: skip
    told = Pair(first="a", second="b", no_verdict=[], notes=["nobody says"], settings=[],
                metrics=[], bridges=[])  # fmt: skip
    assert "note        nobody says" in pair_lines(told)
    changes = [SettingChange(path=f"system.{n}", old=None, new="\x1b[2J" * 20) for n in range(14)]
    lines = settings_lines(changes)
    assert lines[-1].strip() == "and 2 more"
    assert "system.0: none -> " in lines[0]
    assert "\x1b" not in "".join(lines)
    assert settings_lines([]) == ["settings    the manifests are the same"]
