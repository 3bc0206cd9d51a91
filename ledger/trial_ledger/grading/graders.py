"""Every code grader of ours by name and version (C15, C27).

Invariant: a name and version that a rubric may give (`BUILT_IN`) has exactly one grader.
"""

from collections.abc import Mapping

from trial_ledger.documents.rubric_structs import Metric
from trial_ledger.grading.choices import CHOICE
from trial_ledger.grading.criteria import CRITERIA
from trial_ledger.grading.facts import INCLUDES, NORMALISED_MATCH
from trial_ledger.grading.grader import CodeGrader
from trial_ledger.grading.lists import LIST_MATCH
from trial_ledger.grading.number import NUMBER
from trial_ledger.grading.official.answers import ANSWER_GRADERS
from trial_ledger.grading.records import RECORD_MATCH
from trial_ledger.grading.replies import JUDGE_REPLY

__all__ = ["GRADERS", "grader_of"]

GRADERS: Mapping[str, CodeGrader] = {
    grader.reference: grader
    for grader in (
        *(NORMALISED_MATCH, INCLUDES, CHOICE, NUMBER, LIST_MATCH, RECORD_MATCH),
        *(CRITERIA, JUDGE_REPLY),
        *ANSWER_GRADERS,
    )
}
"""Grader by `name@version`."""


def grader_of(metric: Metric) -> CodeGrader | None:
    """Return the code grader of a metric; None where something else judges."""
    return GRADERS.get(metric.grader)
