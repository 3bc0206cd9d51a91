"""Every quantity of the reference cases, by the name that they give it, and what of ours gives it.

The cases stand in one file that many implementations can be tested against; `fn` names a quantity.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trial_ledger.grading.normalisers import normalise
from trial_projections.statistics import (
    bootstrap,
    calibration,
    chance,
    clusters,
    correction,
    decimals,
    distributions,
    drawing,
    frontier,
    multiplicity,
    order_statistics,
    outcomes,
    paired,
    power,
    prediction,
    proportions,
    published,
    repetitions,
    spending,
    variance,
)
from trial_projections.statistics.result import Interval, Result

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "stats" / "reference_cases.json"
Case = dict[str, Any]

GRADING = "tests/ledger/grading/test_reference_cases.py"
ELSEWHERE = {
    "list_scores": GRADING,
    "field_outcome": GRADING,
    "record_scores": GRADING,
    "norm_squad": GRADING,
    "norm_trivia": GRADING,
    "norm_nq_open": GRADING,
}
"""Quantities that a grader gives and no statistic, with the test that holds their cases."""


def cases_file() -> Path:
    """Return the file of cases: the one that LEDGER_STATS_CASES names, else the one beside us."""
    return Path(os.environ.get("LEDGER_STATS_CASES") or BESIDE)


def is_other_file() -> bool:
    """Return whether another file is read than the one whose cases are counted here."""
    return "LEDGER_STATS_CASES" in os.environ


@cache
def all_cases() -> list[Case]:
    """Return every case."""
    file = cases_file()
    if not file.is_file():
        pytest.skip("the reference cases are not here: set LEDGER_STATS_CASES")
    found: list[Case] = json.loads(file.read_bytes())["cases"]
    return found


def exact(value: object) -> Fraction:
    """Return a number of the file: an integer, or the decimal that a float or a text shows."""
    return Fraction(str(value))


def exacts(values: Sequence[object]) -> list[Fraction]:
    """Return several."""
    return [exact(value) for value in values]


def level_of(inputs: Case) -> Fraction:
    """Return the confidence level of a case, 95 % where it names none."""
    return exact(inputs.get("level", "0.95"))


def plain(found: object) -> object:
    """Return what a function gives as numbers, lists and tables; None where it is undefined."""
    if isinstance(found, Result):
        return plain(found.value)
    if isinstance(found, Interval):
        return [found.low, found.high]
    if isinstance(found, msgspec.Struct):
        return {name: plain(getattr(found, name)) for name in found.__struct_fields__}
    if isinstance(found, Mapping):
        return {name: plain(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [plain(value) for value in found]
    return found


def named(found: object, **names: str) -> Case:
    """Return fields of a struct under the names of the cases."""
    table = plain(found)
    assert isinstance(table, dict)
    return {name: table[field] for name, field in names.items()}


def grouped(inputs: Case) -> Mapping[clusters.Cluster, int]:
    """Return the clusters of a case."""
    return clusters.clusters_of([exacts(scores) for scores in inputs["clusters"]])


def adjusted(inputs: Case) -> object:
    """Return adjusted p-values."""
    p_values = [None if p is None else exact(p) for p in inputs["pvals"]]
    return multiplicity.adjust(p_values, inputs["method"])


def agreement_of_table(inputs: Case) -> object:
    """Return agreement of two raters."""
    return named(
        chance.table_agreement(inputs["table"]),
        po="observed",
        kappa="kappa",
        pabak="pabak",
        scott_pi="pi",
        ac1="ac1",
        alpha_nominal="alpha",
    )


def components(inputs: Case) -> object:
    """Return the components of variance."""
    return named(
        variance.variance_components([exacts(group) for group in inputs["groups"]]),
        msb="between_square",
        msw="within_square",
        n0="size",
        var_between_raw="between_raw",
        var_between="between",
        var_within="within",
        icc1="correlation",
    )


def nested(inputs: Case) -> object:
    """Return the components of a nested design."""
    data = [[exacts(passes) for passes in question] for question in inputs["data"]]
    return named(
        variance.nested_components(data),
        ms_question="question_square",
        ms_repetition="repetition_square",
        ms_judge="judge_square",
        var_judge="judge",
        var_repetition="repetition",
        var_question="question",
        var_of_mean="mean",
    )


def cluster_bootstrap(inputs: Case) -> object:
    """Return the percentile interval of the mean of clusters."""
    members = [exacts(scores) for scores in inputs["clusters"]]
    return bootstrap.bootstrap_interval(
        members,
        bootstrap.pooled_mean,
        seed=inputs["seed"],
        times=inputs["B"],
        level=level_of(inputs),
    )


def places(inputs: Case) -> object:
    """Return the first places of a replicate."""
    drawn = bootstrap.bootstrap_places(inputs["seed"], inputs["b"], inputs["n"])
    return list(islice(drawn, inputs.get("count", inputs["n"])))


def clustered_se(inputs: Case) -> object:
    """Return standard errors of clusters."""
    found = clusters.cluster_errors(grouped(inputs))
    return named(
        found, mean="mean", se_naive="naive", se_miller="miller", se_cr0="cr0", se_cr1="cr1"
    )


def cluster_wilson(inputs: Case) -> object:
    """Return the interval of clusters."""
    found = clusters.cluster_wilson(grouped(inputs), level_of(inputs))
    if found.interval.value is None:
        return None
    return named(found, mean="mean", n_eff="effective", ci="interval")


def mean_se(inputs: Case) -> object:
    """Return a mean and its standard error."""
    found = clusters.cluster_errors(clusters.clusters_of([(x,) for x in exacts(inputs["xs"])]))
    return named(found, mean="mean", se="cr1")


def question_level(inputs: Case) -> object:
    """Return the mean of question means and its standard error."""
    found = clusters.cluster_errors(clusters.question_means(grouped(inputs)))
    return named(found, mean="mean", se="naive")


def cost_summary(inputs: Case) -> object:
    """Return known sum, bounds and cost per right trial."""
    costs = [None if cost is None else exact(cost) for cost in inputs["costs"]]
    limit = inputs.get("cap")
    return named(
        spending.spending(costs, inputs["correct"], None if limit is None else exact(limit)),
        known_sum="known",
        unknown="unknown",
        total="total",
        lower="lower",
        upper="upper",
        per_correct_lower="per_right_lower",
        per_correct_upper="per_right_upper",
    )


def denominators(inputs: Case) -> object:
    """Return shares of successes."""
    found = outcomes.denominators(
        inputs["success"], inputs["failure"], inputs["infra"], inputs["unjudged"]
    )
    return named(
        found,
        planned="planned",
        primary="primary",
        excl_infra="without_faults",
        worst="worst",
        best="best",
        complete_case="complete",
    )


def fact_citations(inputs: Case) -> object:
    """Return citation support."""
    found = outcomes.citation_support(inputs["per_task"])
    return named(found, valid_rate="valid_share", effective_per_task="supported_each")


def hb_meta(inputs: Case) -> object:
    """Return the balanced F1 of a judge and several physicians."""
    pairs = [
        (mine, other)
        for mine, others in zip(inputs["self_pred"], inputs["others"], strict=True)
        for other in others
    ]
    return published.balanced_f1(pairs)


def judge_ci(inputs: Case) -> object:
    """Return the interval of a corrected share."""
    return correction.rogan_gladen_interval(
        (exact(inputs["p"]), inputs["n"]),
        (exact(inputs["q1"]), inputs["m1"]),
        (exact(inputs["q0"]), inputs["m0"]),
        level_of(inputs),
    )


def mcnemar(inputs: Case) -> object:
    """Return McNemar's test."""
    found = paired.mcnemar(inputs["b"], inputs["c"])
    return named(found, p_exact="exact", p_mid="mid", chi2="statistic", chi2_cc="corrected")


def paired_variance(inputs: Case) -> power.PairedVariance:
    """Return the variance of a difference."""
    return power.PairedVariance(
        questions=exact(inputs["omega2"]),
        first=exact(inputs["sa2"]),
        second=exact(inputs["sb2"]),
        first_repetitions=inputs["ka"],
        second_repetitions=inputs["kb"],
    )


def powered(inputs: Case) -> dict[str, Fraction]:
    """Return level and power of a case."""
    return {"level": level_of(inputs), "power": exact(inputs.get("power", "0.80"))}


def power_n(inputs: Case) -> object:
    """Return how many questions are needed."""
    needed = power.questions_needed(
        exact(inputs["delta"]), paired_variance(inputs), **powered(inputs)
    )
    return named(needed.value, n_exact="exact", n="count")


def power_once(inputs: Case) -> object:
    """Return how many questions McNemar's test needs."""
    needed = power.questions_needed_once(
        exact(inputs["psi"]), exact(inputs["delta"]), **powered(inputs)
    )
    return named(needed.value, n_exact="exact", n="count")


def newcombe(inputs: Case) -> object:
    """Return a difference of proportions."""
    k1, n1, k2, n2 = (inputs[name] for name in ("k1", "n1", "k2", "n2"))
    return named(
        proportions.newcombe(k1, n1, k2, n2, level_of(inputs)), diff="value", ci="interval"
    )


def paired_means(inputs: Case) -> object:
    """Return a paired difference."""
    found = paired.paired_difference(exacts(inputs["a"]), exacts(inputs["b"]), level_of(inputs))
    return named(
        found,
        diff="difference",
        se_paired="error",
        se_unpaired="unpaired_error",
        corr="correlation",
    )


def pareto(inputs: Case) -> object:
    """Return the frontier of quality, cost and latency."""
    points = {
        name: [None if x is None else exact(x) for x in point]
        for name, point in inputs["points"].items()
    }
    return frontier.frontier(points, ("most", "least", "least"))


def ppi_mean(inputs: Case) -> object:
    """Return a prediction-powered mean."""
    found = prediction.prediction_powered_mean(
        *(exacts(inputs[name]) for name in ("y", "f_lab", "f_unl")),
        weight=exact(inputs["lam"]),
        level=level_of(inputs),
    )
    return named(found, estimate="value", se="error", ci="interval")


def qampari(inputs: Case) -> object:
    """Return the scores of a list; the cases hold names that need no normaliser."""
    found = published.qampari_scores(inputs["pred_items"], inputs["gold"])
    return named(
        found,
        precision="precision",
        recall="recall",
        recall_top5="recall_five",
        f1="f1",
        f1_top5="f1_five",
    )


def ranks(inputs: Case) -> object:
    """Return the ranks of a quantile's interval."""
    found = order_statistics.quantile_ranks(inputs["n"], exact(inputs["p"]), level_of(inputs))
    return named(found, lower_rank="lower", upper_rank="upper", coverage="coverage")


def rogan_gladen(inputs: Case) -> object:
    """Return a corrected share."""
    shares = (exact(inputs[name]) for name in ("p", "sens", "spec"))
    return correction.rogan_gladen(*shares, clip=inputs.get("clip", True))


def review_pick(inputs: Case) -> object:
    """Return which trials are drawn; the cases use SHA-256, the product BLAKE3."""

    def sha256(content: bytes) -> bytes:
        return hashlib.sha256(content).digest()

    return drawing.draw(inputs["ids"], inputs["seed"], inputs["m"], sha256)


def simpleqa(inputs: Case) -> object:
    """Return SimpleQA's shares; its code says 0 where nothing was attempted, which has none."""
    found = named(
        outcomes.attempts(inputs["c"], inputs["i"], inputs["na"]),
        correct="right",
        incorrect="wrong",
        not_attempted="abstained",
        accuracy_given_attempted="right_of_attempted",
        f1="f1",
    )
    if not inputs["c"] + inputs["i"]:
        assert found["accuracy_given_attempted"] is None
        found["accuracy_given_attempted"] = Fraction(0)
    return found


def muc(inputs: Case) -> object:
    """Return slot scores."""
    found = outcomes.slot_scores(*(inputs[name] for name in ("cor", "inc", "par", "mis", "spu")))
    return named(
        found,
        precision="precision",
        recall="recall",
        f1="f1",
        slot_error_rate="slot_error_rate",
        error_per_response_fill="error",
    )


def strata_of(rows: Sequence[Sequence[int]]) -> list[correction.Stratum]:
    """Return strata of trials, reviews and right ones."""
    return [correction.Stratum(*row) for row in rows]


def stratified(inputs: Case) -> object:
    """Return a stratified estimate."""
    found = correction.stratified(strata_of(inputs["strata"]), level_of(inputs))
    return named(found, estimate="value", se="error", ci="interval")


def stratified_mover(inputs: Case) -> object:
    """Return a stratified estimate with its square-and-add interval."""
    found = correction.stratified_mover(strata_of(inputs["strata"]), level_of(inputs))
    return named(found, estimate="value", ci="interval")


def sign_flip(inputs: Case) -> object:
    """Return the p-value, and its parts."""
    p = paired.sign_flip(inputs["diffs"]).value
    assert p is not None
    return {"p": p, "num": p.numerator, "den": p.denominator}


def token_f1(inputs: Case) -> object:
    """Return the F1 of common words."""
    normaliser: str = {"squad2": "squad"}.get(inputs["norm"], str(inputs["norm"]))
    gold, answer = (normalise(inputs[name], normaliser).split() for name in ("gold", "pred"))
    return published.token_f1(gold, answer)


def weighted_confusion(inputs: Case) -> object:
    """Return how a judge compares with reviewers, weighted and not."""
    passed, failed = strata_of([inputs["strata"][name] for name in ("pass", "fail")])
    weighted = correction.judge_accuracy(passed, failed)
    raw = correction.judge_accuracy(passed, failed, weighted=False)
    return plain(
        {
            "sens": weighted.sensitivity,
            "spec": weighted.specificity,
            "sens_unweighted": raw.sensitivity,
            "spec_unweighted": raw.specificity,
            "prevalence": weighted.right,
            "kappa_weighted": weighted.agreement.kappa,
            "kappa_unweighted": raw.agreement.kappa,
        }
    )


def calibration_percent(inputs: Case) -> object:
    """Return the published calibration error in percent, as it is printed."""
    shares = [confidence / 100 for confidence in exacts(inputs["conf"])]
    found = calibration.calibration_error_published(shares, inputs["correct"]).value
    return None if found is None else 100 * Fraction(found)


def citation_sentence(inputs: Case) -> object:
    """Return what a sentence adds to ALCE's scores."""
    found = published.sentence_support(inputs["joint"], inputs["singles"], inputs["leave_one_out"])
    return [found.supported, found.precise, found.citations]


STATISTICS: Mapping[str, Callable[[Case], object]] = {
    "adjust": adjusted,
    "agreement2": agreement_of_table,
    "ac2": lambda inputs: named(
        chance.weighted_agreement(
            inputs["table_counts"], [exacts(line) for line in inputs["weights"]]
        ),
        pa="observed",
        pe="chance",
        coef="coefficient",
    ),
    "alce_sentence": citation_sentence,
    "alpha": lambda inputs: chance.krippendorff_alpha(inputs["units"], inputs["level"]),
    "boot_indices": places,
    "calib_rms_official": calibration_percent,
    "clopper_pearson": lambda inputs: proportions.clopper_pearson(
        inputs["k"], inputs["n"], level_of(inputs)
    ),
    "cluster_bootstrap": cluster_bootstrap,
    "cluster_wilson": cluster_wilson,
    "clustered_se": clustered_se,
    "cost_summary": cost_summary,
    "crag": lambda inputs: outcomes.penalised_share(
        inputs["n_correct"],
        inputs["n"] - inputs["n_correct"] - inputs["n_miss"],
        inputs["n"],
        1,
    ),
    "denominators": denominators,
    "exact_sum": lambda inputs: decimals.exact_total([str(x) for x in inputs["xs"]]),
    "fact_citations": fact_citations,
    "hb_meta": hb_meta,
    "healthbench_item": lambda inputs: published.healthbench_item(
        list(zip(exacts(inputs["points"]), inputs["met"], strict=True))
    ),
    "healthbench_mean": lambda inputs: published.healthbench_mean(exacts(inputs["xs"])),
    "judge_ci": judge_ci,
    "mcnemar": mcnemar,
    "mde": lambda inputs: power.detectable_difference(
        inputs["n"], paired_variance(inputs), **powered(inputs)
    ),
    "mean_se": mean_se,
    "muc": muc,
    "nested_components": nested,
    "newcombe_unpaired": newcombe,
    "paired": paired_means,
    "pareto": pareto,
    "pass_at_k": lambda inputs: repetitions.pass_at_k(inputs["n"], inputs["c"], inputs["k"]),
    "pass_at_k_macro": lambda inputs: repetitions.mean_over_questions(
        repetitions.pass_at_k, [(n, c) for n, c in inputs["counts"]], inputs["k"]
    ),
    "pass_hat_k": lambda inputs: repetitions.pass_hat_k(inputs["n"], inputs["c"], inputs["k"]),
    "penalised": lambda inputs: outcomes.penalised_share(
        inputs["c"],
        inputs["i"],
        inputs["c"] + inputs["i"] + inputs["na"],
        exact(inputs["lam"]),
    ),
    "penalty_for_threshold": lambda inputs: outcomes.penalty_for_confidence(exact(inputs["t"])),
    "power_mcnemar_n": power_once,
    "power_n": power_n,
    "ppi_mean": ppi_mean,
    "qampari": qampari,
    "quantile": lambda inputs: order_statistics.quantile(
        sorted(exacts(inputs["xs"])), exact(inputs["p"]), inputs["type"]
    ),
    "quantile_ci_ranks": ranks,
    "question_level": question_level,
    "race": lambda inputs: published.race_score(
        exact(inputs["target"]), exact(inputs["reference"])
    ),
    "ratio_se": lambda inputs: named(
        spending.ratio_error(exacts(inputs["y"]), exacts(inputs["x"])), ratio="value", se="error"
    ),
    "researchrubrics": lambda inputs: published.research_rubrics_item(
        list(zip(exacts(inputs["weights"]), exacts(inputs["scores"]), strict=True))
    ),
    "review_pick": review_pick,
    "review_quota": lambda inputs: drawing.quotas(
        inputs["strata"], inputs.get("floor", drawing.FLOOR)
    ),
    "rogan_gladen": rogan_gladen,
    "round_half_even": lambda inputs: decimals.round_places(inputs["x"], inputs["places"]),
    "rubric_bounds": lambda inputs: outcomes.criteria_bounds(
        list(zip(exacts(inputs["points"]), inputs["met"], strict=True))
    ),
    "signflip_exact": sign_flip,
    "simpleqa": simpleqa,
    "simpleqa_parse_official": lambda inputs: published.simpleqa_letter(inputs["reply"]),
    "stratified": stratified,
    "stratified_mover": stratified_mover,
    "t_quantile": lambda inputs: distributions.student_quantile(inputs["df"], level_of(inputs)),
    "tau_hat_official": lambda inputs: published.tau_pass_hat_k(
        [(task, trial, success) for task, trial, success in inputs["results"]], inputs["k"]
    ),
    "token_f1": token_f1,
    "total_variance": lambda inputs: variance.variance_of_mean(
        exact(inputs["var_x"]), exact(inputs["mean_sigma2"]), inputs["k"]
    ),
    "variance_components": components,
    "weighted_confusion": weighted_confusion,
    "wilson": lambda inputs: proportions.wilson(inputs["k"], inputs["n"], level_of(inputs)),
}
"""What computes each quantity that is a statistic."""


def is_met(found: object, expected: object, tolerance: Fraction) -> bool:
    """Return whether a value is the expected one; of a table, every expected member."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and is_met(found[name], value, tolerance)
            for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(is_met(*pair, tolerance) for pair in zip(found, expected, strict=True))
        )
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return isinstance(found, int | Fraction | Decimal) and (
            abs(Fraction(found) - Fraction(expected)) <= tolerance
        )
    return found == expected


def is_exact(found: object, expected: str) -> bool:
    """Return whether a value is exactly a fraction; of a table, its estimate."""
    value = found["estimate"] if isinstance(found, dict) else found
    return isinstance(value, int | Fraction) and value == Fraction(expected)
