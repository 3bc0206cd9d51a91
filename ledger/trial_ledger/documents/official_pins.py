"""The published graders that are written anew here, each pinned to the code that it follows (C15).

Invariant: a pin says only what was read: a digest stands where the published bytes were hashed, and
is None where they were not; a fault of the published code is named, and never repaired in silence.
"""

from collections.abc import Mapping

import msgspec

__all__ = ["PINS", "JudgePin", "Pin"]


class JudgePin(msgspec.Struct, frozen=True, kw_only=True):
    """What a benchmark fixes about the model that judges."""

    model: str
    """The model that the published code takes by default."""
    prompt: str
    """SHA-256 of the prompt's template in UTF-8 without the white space around it, in hex."""


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """One published grader."""

    benchmark: str
    """The benchmark's name, as a rubric writes it."""
    grader: str
    """`name@version`: the key of `PINS`."""
    repository: str
    """Where the published code is."""
    commit: str
    """Its commit, or the beginning of it, in hex."""
    files: Mapping[str, str | None]
    """Path in the repository to SHA-256 in hex; None where this version never saw the bytes."""
    licence: str
    """Licence of the published code."""
    graders: tuple[str, ...] = ()
    """Code graders of ours that decide as it does; empty where a judge or the source does."""
    judge: JudgePin | None = None
    """What is fixed about the judge; None where no model judges."""
    faults: tuple[str, ...]
    """What the published code gets wrong and is kept, each a clause."""
    patches: Mapping[str, str] = {}
    """Named departures that a rubric may take, so that it is `official+patch`: what each does."""

    @property
    def source(self) -> str:
        """Return owner, repository and short commit, as `openai/simple-evals@ee3b031`."""
        return f"{self.repository.removeprefix('https://github.com/')}@{self.commit[:7]}"


SIMPLE_EVALS = "https://github.com/openai/simple-evals"
SIMPLE_EVALS_COMMIT = "ee3b031"
DEFAULT_JUDGE = "gpt-4.1-2025-04-14"

NORMALISER_FAULTS = (
    "a, an and the are taken away wherever they stand as words, so that Vitamin A is Vitamin",
    "punctuation outside ASCII is kept, so that a typographic apostrophe makes answers unequal",
)
NEVER_EMPTY = "two texts of which nothing is left are equal: The is right where gold is A"

ALL_PINS = (
    Pin(
        benchmark="SQuAD 1.1",
        grader="squad-1.1@1",
        repository="https://github.com/huggingface/evaluate",
        commit="b6e7c3b0ed02444f1b3f4f1eb48a39f27af321ec",
        files={
            "metrics/squad/compute_score.py": (
                "6c27d9393600a8e6c665adb2dc2c966ae7c7a70960064eb032711dc58914956a"
            )
        },
        licence="Apache-2.0",
        graders=("squad-1.1@1", "squad-1.1-f1@1"),
        faults=(
            *NORMALISER_FAULTS,
            "words joined by a deleted hyphen are one word: state-of-the-art is stateoftheart",
            f"{NEVER_EMPTY}, and its F1 is 0 all the same",
        ),
    ),
    Pin(
        benchmark="SQuAD 2.0",
        grader="squad-2.0@1",
        repository="https://github.com/rajpurkar/SQuAD-explorer",
        commit="eee5fdb",
        files={"evaluate-v2.0.py": None},
        licence="MIT",
        graders=("squad-2.0@1", "squad-2.0-f1@1"),
        faults=(
            *NORMALISER_FAULTS,
            "an answer of which nothing is left is no answer: The is right where there is none",
            "the published script leaves missing predictions out of the mean; here they count 0",
        ),
    ),
    Pin(
        benchmark="TriviaQA",
        grader="triviaqa@1",
        repository="https://github.com/mandarjoshi90/triviaqa",
        commit="ca43b5820b107f3970cf4b7d67f7db7a98117b79",
        files={"evaluation/triviaqa_evaluation.py": None},
        licence="Apache-2.0",
        graders=("triviaqa@1", "triviaqa-f1@1"),
        faults=(
            "a is taken away wherever it stands as a word, so that A-team is team",
            "each mark of punctuation ends a word: The U.S.A. is u s, and 5,000 is not 5000",
            f"{NEVER_EMPTY}, and its F1 is 0 all the same",
        ),
    ),
    Pin(
        benchmark="NQ-open",
        grader="nq-open@1",
        repository="https://github.com/google-research/language",
        commit="208f8523b49f9b182dd9b1b24d39312b8554e1a9",
        files={
            "language/orqa/utils/eval_utils.py": (
                "6c276275aab41919b0cddc9714e665c602ae26cd03a8cda07861d3d57caef10b"
            )
        },
        licence="Apache-2.0",
        graders=("nq-open@1",),
        faults=(
            *NORMALISER_FAULTS,
            "accents are taken apart and kept, so that Cafe is not Caf\u00e9",
            NEVER_EMPTY,
            "the published script knows a question by its text, so that repeated ones collapse",
        ),
    ),
    Pin(
        benchmark="SimpleQA",
        grader="simpleqa@1",
        repository=SIMPLE_EVALS,
        commit=SIMPLE_EVALS_COMMIT,
        files={"simpleqa_eval.py": None},
        licence="MIT",
        judge=JudgePin(
            model=DEFAULT_JUDGE,
            prompt="491d0bd19bed57095b0ec230e9b6005a81e86cfbaf76fb604b68c0d6180bc3e7",
        ),
        faults=(
            "the first capital A, B or C in a reply is the grade, so NOT_ATTEMPTED is correct",
            "a reply without any of them counts as not attempted",
            "accuracy of the attempted is 0 where nothing was attempted",
        ),
    ),
    Pin(
        benchmark="BrowseComp",
        grader="browsecomp@1",
        repository=SIMPLE_EVALS,
        commit=SIMPLE_EVALS_COMMIT,
        files={"browsecomp_eval.py": None},
        licence="MIT",
        judge=JudgePin(
            model=DEFAULT_JUDGE,
            prompt="0f0023ee579b8c134f1834ed8952778b9e01460e31d47c242ee3629da9d44835",
        ),
        faults=(
            "the whole match is compared with yes, so that no answer is ever right: accuracy is 0",
            "a match is neither correct nor incorrect; only a reply without one is incorrect",
            "case and bold type matter: Correct: yes and **correct:** yes are no match",
        ),
        patches={"group-1": "reads the word after `correct: ` instead of the whole match"},
    ),
    Pin(
        benchmark="HealthBench",
        grader="healthbench@1",
        repository=SIMPLE_EVALS,
        commit=SIMPLE_EVALS_COMMIT,
        files={"healthbench_eval.py": None},
        licence="MIT",
        faults=(
            "an answer's score may be below 0 and is kept so; only the mean is cut to 0 to 1",
            "an answer whose criteria have no positive points has no score",
            "the published standard error is of 1,000 draws without a seed",
        ),
    ),
    Pin(
        benchmark="ResearchRubrics",
        grader="researchrubrics@1",
        repository="https://github.com/scaleapi/researchrubrics",
        commit="e0c361f7e886262360071a9e8b83b8a2ef45f2b2",
        files={
            "src/calculate_metrics/calculate_compliance_score.py": (
                "2a0b9582f7f5dbe6b53c11441ffce4ae374f15ded45fab14b98682707a416596"
            )
        },
        licence="MIT",
        faults=(
            "a score is not cut: negative weights bring it below 0",
            "an answer whose criteria have no positive weight scores 0",
            "a criterion that the judge says nothing known about scores 0",
        ),
    ),
    Pin(
        benchmark="tau-bench",
        grader="tau-bench@1",
        repository="https://github.com/sierra-research/tau-bench",
        commit="59a200c",
        files={"run.py": None},
        licence="MIT",
        faults=("a lost trial counts as failed in pass^k, and not at all in the mean reward",),
    ),
)

PINS: Mapping[str, Pin] = {pin.grader: pin for pin in ALL_PINS}
"""Every pinned grader by `name@version`."""
