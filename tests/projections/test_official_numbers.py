"""What a benchmark's own code prints for a run, beside the rubric's mean (C15)."""

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest

from document_cases import real_data
from official_cases import official_table
from projection_cases import Log
from trial_projections.cells import Cell, Placed
from trial_projections.official_numbers import numbers_text, official_numbers
from trial_projections.records import SessionRecord

SOURCED = {"correct": {"measure": "score", "grader": "source", "scale": ["-9", "1"]}}


def placed(
    question: str, repetition: int, outcome: str, score: str | None, *, started: bool = True
) -> Placed:
    """Return a slot that counts."""
    decided: Literal["judgment", "rule"] = "judgment" if started else "rule"
    cell = Cell(
        outcome=outcome,
        score=score,
        basis="nothing" if score is None else decided,
        counts=True,
        invalidated=False,
        leaked=False,
    )
    trial = SessionRecord(question=question, repetition=repetition, session="s1")
    return Placed(question, repetition, [], trial if started else None, None, None, cell)


def numbers(grader: str, slots: list[Placed]) -> Mapping[str, Fraction | None]:
    """Return the numbers by name."""
    return {number.name: number.result.value for number in official_numbers(grader, slots)}


def verdicts(correct: int, incorrect: int, abstained: int) -> list[Placed]:
    """Return as many slots of each class."""
    classes = ["correct"] * correct + ["incorrect"] * incorrect + ["abstained"] * abstained
    return [
        placed(f"q{number}", 1, name, "1" if name == "correct" else "0")
        for number, name in enumerate(classes)
    ]


@pytest.mark.parametrize(
    ("counts", "accuracy", "attempted", "f1"),
    [
        ((42, 38, 20), "21/50", "21/40", "7/15"),
        ((10, 0, 0), "1", "1", "1"),
        ((0, 10, 0), "0", "0", "0"),
        ((0, 0, 10), "0", "0", "0"),
    ],
)
def test_simpleqa_is_0_where_nothing_was_attempted(
    counts: tuple[int, int, int], accuracy: str, attempted: str, f1: str
) -> None:
    """Its three numbers, of the published formulas."""
    found = list(numbers("simpleqa@1", verdicts(*counts)).values())
    assert found == [Fraction(value) for value in (accuracy, attempted, f1)]


def test_browsecomp_shows_both_numbers() -> None:
    """As published nothing is right; with the patch what the judge said is."""
    found = official_numbers("browsecomp@1", verdicts(3, 1, 0))
    assert numbers_text(found) == "accuracy as published 0.0 %, accuracy with group-1 75.0 %"


def test_squad_2_leaves_missing_predictions_out() -> None:
    """Two of four answered and right are all of it in the published script."""
    missing = [placed(f"m{n}", 1, "not_started", "0", started=False) for n in range(2)]
    assert numbers("squad-2.0@1", verdicts(2, 0, 0) + missing) == {"of the answered alone": 1}
    assert numbers("squad-2.0@1", missing) == {"of the answered alone": None}


def test_healthbench_cuts_the_mean_alone() -> None:
    """An answer below 0 stays there; the mean of all does not."""
    slots = [placed("a", 1, "scored", "-2"), placed("b", 1, "scored", "1/2")]
    assert numbers("healthbench@1", slots) == {"mean cut to 0 to 1": 0}
    more = [placed(name, 1, "scored", "1") for name in "cde"]
    assert numbers("healthbench@1", slots + more) == {"mean cut to 0 to 1": Fraction(3, 10)}


def test_tau_bench_counts_a_lost_trial_as_failed() -> None:
    """The reference table of three tasks with four trials, full and with one trial lost."""
    table = {"a": "1101", "b": "0100", "c": "1111"}
    slots = [
        placed(task, place, "scored", value)
        for task, row in table.items()
        for place, value in enumerate(row, 1)
    ]
    full = [Fraction(2, 3), Fraction(1, 2), Fraction(5, 12), Fraction(1, 3)]
    assert list(numbers("tau-bench@1", slots).values()) == full
    lost = [Fraction(7, 12), Fraction(1, 3), Fraction(1, 6), Fraction(0)]
    gone = placed("c", 4, "not_started", "0", started=False)
    assert list(numbers("tau-bench@1", [*slots[:-1], gone]).values()) == lost


def test_c15_pass_hat_k_of_real_trials_is_that_of_the_leaderboard() -> None:
    """200 trials of 50 tasks: the four published numbers, to three digits."""
    rows = json.loads(real_data("taubench-gpt4o-airline/gpt-4o-airline.json"))
    slots = [
        placed(str(row["task_id"]), row["trial"] + 1, "scored", str(int(row["reward"])))
        for row in rows
    ]
    found = [round(value * 1000) for value in numbers("tau-bench@1", slots).values() if value]
    assert (len(slots), found) == (200, [420, 273, 220, 200])


def test_while_something_is_undecided_there_is_no_number() -> None:
    """An undecided trial is neither right nor wrong; other graders have no other number."""
    slots = [*verdicts(1, 0, 0), placed("u", 1, "unjudged", None)]
    found = official_numbers("simpleqa@1", slots)
    assert numbers_text(found) == "every number undefined (1 of 2 slots undecided)"
    assert official_numbers("squad-1.1@1", slots) == []


def test_scores_show_the_numbers_of_an_official_run(tmp_path: Path) -> None:
    """Beside the numbers, never instead of them."""
    log = Log(tmp_path, rubric=official_table("healthbench@1", metrics=SOURCED))
    for number in range(1, 11):
        log.trial(f"q{number}")
        log.judge(f"q{number}", "correct", "-3" if number > 1 else "1")
    (text,) = [mark.text for mark in log.summary().trust if mark.text.startswith("as ")]
    assert text == "as HealthBench's own code computes it: mean cut to 0 to 1 0.0 %"
    log.ledger.close()
