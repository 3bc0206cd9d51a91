"""Reviews of real runs whose every trial people judged: what a tenth says, beside the whole truth.

People's verdicts stand in for reviewers: only those of the drawn trials are looked at.
"""

import csv
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import msgspec

from adapters.submissions import Adapted
from cli_cases import Result
from source_cases import Read, here
from trial_ledger.documents.rubric_structs import Review
from trial_projections.review_estimate import ReviewedStratum, ReviewEstimate, estimate_of
from trial_projections.reviewing import draw_document, judged_trials, label_of

PLAN = Review(fraction="1/10", floor=5, strata=("configuration", "judged"), seed="0")
SEEDS = 200
RIGHT = "correct"
Labels = Mapping[str, str]
"""People's verdict of every trial, by its name."""


class Truth(NamedTuple):
    """Judged trials and what people say of all of them."""

    right: Fraction
    """Share that people find right."""
    judges: Fraction
    """Share that the judge finds right."""
    estimates: list[ReviewEstimate]
    """What a tenth says of it, a seed each."""

    @property
    def covered(self) -> int:
        """How many intervals hold the truth."""
        return sum(holds(found, self.right) for found in self.estimates)


def holds(found: ReviewEstimate, truth: Fraction) -> bool:
    """Return whether the interval of an estimate holds a number."""
    assert found.low is not None, found.reason
    assert found.high is not None
    return Fraction(found.low) <= truth <= Fraction(found.high)


def truth_of(read: Read, run: str, metric: str, people: Labels) -> Truth:
    """Draw a tenth with each of 200 seeds, and compare what people say of it with the whole.

    Args:
        read: the read side of a ledger.
        run: a run.
        metric: the judge's metric.
        people: what people say of all of its trials.
    """
    model = read.model
    record = model.run(run)
    source = model.score_input(record)
    rules = source.rubric.metrics[metric]
    judged = judged_trials(source, metric)
    said = {trial.trial: label_of(trial.automated, rules) for trial in judged}
    configuration = model.manifest(record).configuration
    estimates = []
    for seed in range(SEEDS):
        plan = msgspec.structs.replace(PLAN, seed=str(seed))
        drawing = draw_document(source, metric, plan, configuration, judged=judged)
        strata = [
            ReviewedStratum(
                stratum.judged,
                len(stratum.drawn),
                [(said[trial], people[trial]) for trial in stratum.drawn],
            )
            for stratum in drawing.strata
        ]
        estimates.append(estimate_of(strata))
    count = len(judged)
    return Truth(
        right=Fraction(sum(people[trial] == RIGHT for trial in said), count),
        judges=Fraction(sum(label == RIGHT for label in said.values()), count),
        estimates=estimates,
    )


def with_plan(adapted: Adapted, seed: str) -> Adapted:
    """Return what an adapter made, under a rubric that fixes a tenth to review and its seed."""
    for rubric in adapted.rubrics:
        rubric["review"] = {"fraction": PLAN.fraction, "floor": PLAN.floor, "seed": seed}
    return adapted


def reviewed(folder: Path, run: str, metric: str, column: str, people: Labels) -> Result:
    """Review a tenth of a run with the real commands, as people did; return the status.

    Drawn, exported as a sheet, filled in elsewhere, and imported.

    Args:
        folder: where the ledger lies.
        run: a run.
        metric: the judge's metric.
        column: what people give, `verdict` or `score`.
        people: it, by the trial's name.
    """
    drawn = here(folder, "review", "draw", run, metric, "--actor", "R. Viewer", "--json")
    assert drawn.code == 0, drawn.err
    sheet = folder / "sheet.csv"
    assert here(folder, "review", "export", run, metric, "-o", sheet.name).code == 0
    with sheet.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row[column] = people[row["trial"]]
        row |= {"reason": "as people said", "reviewer": "R. Viewer"}
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = here(folder, "review", "import", sheet.name)
    assert done.code == 0, done.err
    return here(folder, "review", "status", run, "--json")
