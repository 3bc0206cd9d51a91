"""The same digits everywhere: a digest over results of every statistic, to the last of 50 digits.

The digest was taken once. Continuous integration runs this test under every Python that the project
supports, so that one which computes any digit otherwise fails it.
"""

import hashlib
import json
from decimal import ROUND_UP, Decimal, getcontext, localcontext
from fractions import Fraction

import pytest

from reference_cases import STATISTICS, Case, plain
from trial_projections.statistics.clusters import clusters_of
from trial_projections.statistics.decimals import root_of

DIGEST = "fb9d606f837714f0bde436e1143a2228"
"""BLAKE2b of the results below."""

COUNTS = ((0, 1), (1, 1), (3, 11), (17, 17), (211, 977))
LEVELS = ("0.80", "0.95", "0.999")
UNEVEN = [[1, 0, "1/3"], [0], [1, 1, "2/7", 0], ["5/11", 1], [0, 0, 0], [1]]
EVEN = [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0]]
P_VALUES = ["0.013", None, "1/7", "0.0004", "1/7", "0.9", "0.031"]
UNITS = [[1, 2, None], [2, 2, 2], [3, 1, 3], [4, None, 4], [1, 1, 2], [None, None, 3]]
CREDIT = [["1", "1/2", "0"], ["1/2", "1", "1/2"], ["0", "1/2", "1"]]
STRATA = ([[97, 11, 9], [41, 8, 1]], [[5, 5, 3], [60, 7, 7], [0, 0, 0]], [[10, 1, 1], [9, 3, 2]])
SPREAD = {"omega2": "1/7", "sa2": "2/13", "sb2": "1/6", "ka": 3, "kb": 5}
TASKS = [[0, 0, 1], [0, 1, 0], [0, 2, 1], [1, 0, 1], [1, 1, 1], [2, 0, 0], [2, 2, 1]]
CONFIDENCES = [(37 * i) % 101 for i in range(250)]

INPUTS: dict[str, list[Case]] = {
    "adjust": [
        {"pvals": P_VALUES, "method": method} for method in ("bonferroni", "holm", "bh", "by")
    ],
    "agreement2": [{"table": [[31, 4], [7, 15]]}, {"table": [[3, 1, 0], [2, 5, 1], [0, 2, 7]]}],
    "ac2": [{"table_counts": [[3, 0, 1], [0, 2, 0], [1, 1, 1], [0, 0, 1]], "weights": CREDIT}],
    "alce_sentence": [
        {"joint": True, "singles": [True, False, False], "leave_one_out": [False, True, False]}
    ],
    "alpha": [
        {"units": UNITS, "level": level} for level in ("nominal", "ordinal", "interval", "ratio")
    ],
    "boot_indices": [{"seed": "ß", "b": 41, "n": n, "count": 300} for n in (19, (1 << 63) + 1)],
    "calib_rms_official": [{"conf": CONFIDENCES, "correct": [c % 2 for c in CONFIDENCES]}],
    "clopper_pearson": [{"k": k, "n": n, "level": x} for k, n in COUNTS for x in LEVELS],
    "cluster_bootstrap": [{"clusters": UNEVEN, "seed": "s", "B": 199, "level": "0.9"}],
    "cluster_wilson": [{"clusters": rows, "level": x} for rows in (UNEVEN, EVEN) for x in LEVELS],
    "clustered_se": [{"clusters": UNEVEN}, {"clusters": EVEN}],
    "cost_summary": [{"costs": ["1/3", None, 7, 0], "correct": 3, "cap": "22/7"}],
    "crag": [{"n_correct": 17, "n_miss": 5, "n": 31}],
    "denominators": [{"success": 3, "failure": 4, "infra": 5, "unjudged": 6}],
    "exact_sum": [{"xs": ["0.1", "1e30", "-1e30", "0.2"]}],
    "fact_citations": [{"per_task": [[3, 2, 2], None, [1, 0, 5]]}],
    "hb_meta": [{"self_pred": [True, False], "others": [[True, False, True], [False, True]]}],
    "healthbench_item": [{"points": [3, 7, -2], "met": [True, False, True]}],
    "healthbench_mean": [{"xs": ["1/3", "2/7", "-1/9"]}],
    "judge_ci": [{"p": "0.61", "q0": "0.83", "q1": "0.77", "n": 301, "m0": 40, "m1": 55}],
    "mcnemar": [{"b": 13, "c": 29}, {"b": 4, "c": 4}],
    "mde": [{"n": 173, **SPREAD}, {"n": 173, **SPREAD, "level": "0.99", "power": "0.95"}],
    "mean_se": [{"xs": ["1/3", "2/7", "-1/9"]}],
    "muc": [{"cor": 13, "inc": 3, "par": 5, "mis": 2, "spu": 7}],
    "nested_components": [{"data": [[[1, 0], ["1/3", 1]], [[0, 0], [0, "1/2"]], [[1, 1], [1, 0]]]}],
    "newcombe_unpaired": [{"k1": 5, "n1": 13, "k2": 0, "n2": 17, "level": x} for x in LEVELS],
    "paired": [{"a": ["1/3", 1, 0, "1/2", 1], "b": [0, 1, "1/5", "1/2", "2/3"]}],
    "pareto": [{"points": {"a": [1, 2, 3], "b": [1, 2, 4], "c": [None, 1, 1], "d": [0, 3, 2]}}],
    "pass_at_k": [{"n": 100, "c": 13, "k": 10}],
    "pass_at_k_macro": [{"counts": [[7, 3], [5, 0], [6, 6]], "k": 3}],
    "pass_hat_k": [{"n": 100, "c": 83, "k": 10}],
    "penalised": [{"c": 17, "i": 9, "na": 5, "lam": "7/3"}],
    "penalty_for_threshold": [{"t": "0.85"}],
    "power_mcnemar_n": [{"psi": "3/13", "delta": "1/17"}],
    "power_n": [{"delta": "1/31", **SPREAD}],
    "ppi_mean": [{"y": [1, 0, 1], "f_lab": [1, 1, 0], "f_unl": [1, 0, 0, 1, 1], "lam": "0.3"}],
    "qampari": [{"pred_items": ["a", "b", "b", "x"], "gold": [["a", "c"], ["b"], ["d"]]}],
    "quantile": [{"xs": [7, 3, "1/3", 11, 5], "p": "5/7", "type": kind} for kind in range(1, 10)],
    "quantile_ci_ranks": [
        {"n": n, "p": p, "level": x} for n in (1, 30, 400) for p in ("1/2", "19/20") for x in LEVELS
    ],
    "question_level": [{"clusters": UNEVEN}],
    "race": [{"target": "7.3", "reference": "6.1"}],
    "ratio_se": [{"y": [12, 7, 9, "1/3"], "x": [1, 0, 1, 1]}],
    "researchrubrics": [{"weights": ["3", "7", "-2"], "scores": ["1", "0.5", "0.5"]}],
    "review_pick": [{"ids": [f"trial {i}" for i in range(40)], "seed": "ß", "m": 7}],
    "review_quota": [{"strata": {"a": 101, "b": 7, "c": 0}}],
    "rogan_gladen": [{"p": "0.61", "sens": "0.83", "spec": "0.77"}],
    "round_half_even": [{"x": "-2.345", "places": 2}],
    "rubric_bounds": [{"points": [3, 7, -2], "met": [True, None, None]}],
    "signflip_exact": [{"diffs": [5, -3, 2, 2, -1, 4, 0, 3, 3, -2] * 4}],
    "simpleqa": [{"c": 17, "i": 9, "na": 5}],
    "simpleqa_parse_official": [{"reply": "no Capital"}],
    "stratified": [{"strata": rows} for rows in STRATA],
    "stratified_mover": [{"strata": rows, "level": x} for rows in STRATA for x in LEVELS],
    "t_quantile": [{"df": df, "level": x} for df in (1, 2, 3, 4, 29, 500) for x in LEVELS],
    "tau_hat_official": [{"results": TASKS, "k": 2}],
    "token_f1": [{"gold": "the red cat", "pred": "A cat, a cat", "norm": "squad2"}],
    "total_variance": [{"var_x": "1/7", "mean_sigma2": "2/13", "k": 3}],
    "variance_components": [{"groups": UNEVEN}, {"groups": EVEN}],
    "weighted_confusion": [{"strata": {"pass": [97, 11, 9], "fail": [41, 8, 1]}}],
    "wilson": [{"k": k, "n": n, "level": x} for k, n in COUNTS for x in LEVELS],
}
"""Inputs for every statistic; nothing that a rounding could leave alone."""


def digits_of(found: object) -> object:
    """Return a result with every number as its full text."""
    if isinstance(found, dict):
        return {name: digits_of(value) for name, value in found.items()}
    if isinstance(found, list):
        return [digits_of(value) for value in found]
    return str(found) if isinstance(found, Decimal | Fraction) else found


def every_result() -> bytes:
    """Return all results as one text."""
    found = {
        quantity: [digits_of(plain(STATISTICS[quantity](inputs))) for inputs in given]
        for quantity, given in INPUTS.items()
    }
    return json.dumps(found, sort_keys=True, ensure_ascii=True).encode("ascii")


def test_every_statistic_gives_the_digits_that_it_always_gave() -> None:
    """The digest of all results is the one that was taken once, under Python 3.11."""
    assert set(INPUTS) == set(STATISTICS)
    assert hashlib.blake2b(every_result(), digest_size=16).hexdigest() == DIGEST


def test_a_changed_digit_changes_the_digest() -> None:
    """The text that is hashed holds all fifty digits."""
    assert str(root_of(2)).encode("ascii") == b"1.4142135623730950488016887242096980785696718753769"
    assert b"0.16112515" not in every_result()
    assert every_result().count(b".") > 100


@pytest.mark.parametrize("precision", [3, 28, 200])
def test_the_context_of_the_caller_has_no_influence(precision: int) -> None:
    """Neither its precision nor its rounding changes a digit, and both stay as they were."""
    with localcontext(prec=precision, rounding=ROUND_UP):
        before = repr(getcontext())
        found = every_result()
        assert repr(getcontext()) == before
    assert found == every_result()


def test_the_order_of_questions_has_no_influence() -> None:
    """Clusters are counted by kind, so that no sum depends on their order."""
    rows = [[Fraction(1, 3)], [Fraction(1), Fraction(0)], [Fraction(0)], [Fraction(1, 3)]]
    assert clusters_of(rows) == clusters_of(rows[::-1])
