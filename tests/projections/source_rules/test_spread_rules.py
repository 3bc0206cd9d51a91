"""The standard error that sources publish beside a mean."""

from fractions import Fraction
from pathlib import Path

from projection_cases import Log
from rule_cases import judge_failed, labelled, ruled
from trial_projections.reported import Reported
from trial_projections.source_rules.explaining import candidates, explain_number
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.registry import all_names


def close(text: str | None, square: Fraction) -> bool:
    """Return whether a value is the root of a number, to 40 digits."""
    return text is not None and abs(Fraction(text) ** 2 - square) < Fraction(1, 10**40)


def test_what_never_ran_counts_as_the_headline_counts_it(log: Log) -> None:
    """Three of five right and five that never ran, each 0: s^2/n of 3 in 10."""
    labelled(log, *["correct"] * 3, *["incorrect"] * 2)
    found = ruled(log, "standard_error", "judged")
    assert close(found.value, Fraction(3, 10) * Fraction(7, 10) / 9)
    assert (found.count, found.unit, found.left_out) == (None, None, {})


def test_undecided_trials_leave_no_number(log: Log) -> None:
    """A judge that failed is neither 0 nor 1."""
    judge_failed(log, "q1", "judged")
    assert ruled(log, "standard_error", "judged").reason == "1 undecided"


def test_what_does_not_count_is_no_value(log: Log) -> None:
    """A slot that was invalidated before it ended leaves nine: six right of nine."""
    log.append("trial.started", "q1", {"input": "which?"})
    log.act("trial.invalidated", "q1", reason="leaked")
    labelled(log, "-", *["correct"] * 6, *["incorrect"] * 3)
    assert close(ruled(log, "standard_error", "judged").value, Fraction(2, 9) / 8)


def test_a_metric_that_is_unavailable_says_why(log: Log) -> None:
    """Every planned slot was invalidated."""
    for number in range(1, 11):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        log.act("trial.invalidated", f"q{number}", reason="leaked")
    assert ruled(log, "standard_error").reason == "no planned slot counts"
    assert ruled(log, "clustered_error").reason == "no planned slot counts"


def test_one_planned_slot_has_no_spread(tmp_path: Path) -> None:
    """Nothing can be said about a spread, and nothing is."""
    log = Log(tmp_path, manifest={"questions": ["q1"]})
    labelled(log, "correct")
    found = ruled(log, "standard_error", "judged")
    assert (found.value, found.reason) == (None, "fewer than two values have no spread")
    assert ruled(log, "standard_error:or_zero", "judged").value == "0"
    with log.model() as model:
        assert "standard_error:or_zero" in set(all_names(RunFacts(model, model.run(log.run))))


def test_repetitions_are_one_draw_or_one_each(tmp_path: Path) -> None:
    """Questions are drawn, so their means are the values; `:trials` takes every trial."""
    log = Log(tmp_path, manifest={"questions": ["q1", "q2"], "repetitions": 2})
    for question, verdict in (("q1", "correct"), ("q2", "incorrect")):
        for repetition in (1, 2):
            log.trial(question, repetition=repetition)
            data: dict[str, object] = {"judgment": "j1", "metric": "judged", "by": "code"}
            data |= {"grader": {"name": "g"}, "verdict": verdict}
            log.append("judgment.recorded", question, data, repetition=repetition)
    assert close(ruled(log, "standard_error", "judged").value, Fraction(1, 4))
    assert close(ruled(log, "standard_error:trials", "judged").value, Fraction(1, 12))


def repeated(folder: Path, **scores: str) -> Log:
    """Return a run of two repetitions a question, judged `1`, `0`, or not at all (`-`)."""
    log = Log(folder, manifest={"questions": sorted(scores), "repetitions": 2})
    for question, verdicts in scores.items():
        for repetition, verdict in enumerate(verdicts, 1):
            log.trial(question, repetition=repetition)
            if verdict != "-":
                data: dict[str, object] = {"judgment": "j1", "metric": "judged", "by": "code"}
                data |= {"grader": {"name": "g"}, "verdict": ["incorrect", "correct"][int(verdict)]}
                log.append("judgment.recorded", question, data, repetition=repetition)
    return log


def test_trials_are_clustered_by_question(tmp_path: Path) -> None:
    """Two alike and two alike tell as much as two; the squared sums over n², times C/(C-1)."""
    log = repeated(tmp_path, q1="11", q2="00", q3="10")
    assert close(ruled(log, "clustered_error", "judged").value, Fraction(2, 36) * Fraction(3, 2))
    assert close(ruled(log, "standard_error", "judged").value, Fraction(1, 2) / 2 / 3)


def test_what_a_mean_leaves_out_its_error_leaves_out(tmp_path: Path) -> None:
    """Questions of unequal numbers of trials: then the two errors differ."""
    log = repeated(tmp_path, q1="1-", q2="00", q3="10")
    assert ruled(log, "clustered_error", "judged").reason == "1 undecided"
    errors = {
        rule: ruled(log, f"{rule}:decided_only", "judged")
        for rule in ("standard_error", "clustered_error")
    }
    assert {found.left_out["unjudged"] for found in errors.values()} == {1}
    # Means 1, 0, 1/2; and from 2/5: distances 3/5, -4/5, 1/5 in sum.
    assert close(errors["standard_error"].value, Fraction(1, 12))
    assert close(errors["clustered_error"].value, Fraction(26, 625) * Fraction(3, 2))


def test_errors_of_what_is_made_of_repetitions(tmp_path: Path) -> None:
    """One value a question: passed in any of two, in all of two, most of two."""
    log = repeated(tmp_path, q1="11", q2="00", q3="10", q4="01")
    any_of, all_of, most = (
        ruled(log, f"standard_error:{name}", "judged").value
        for name in ("pass_at_k:2", "pass_hat_k:2", "mode")
    )
    assert close(any_of, Fraction(1, 16))
    assert close(all_of, Fraction(1, 16))
    assert close(most, Fraction(1, 12))
    few = ruled(log, "standard_error:pass_at_k:3", "judged")
    assert few.reason == "4 questions have fewer than 3 repetitions"


def test_errors_of_undecided_repetitions_have_no_number(tmp_path: Path) -> None:
    """Neither of a choice nor of the most."""
    log = repeated(tmp_path, q1="1-", q2="00")
    assert ruled(log, "standard_error:pass_at_k:1", "judged").reason == "1 undecided"
    assert ruled(log, "standard_error:mode", "judged").reason == "1 questions are undecided"


def test_a_published_stderr_is_explained_by_its_name(log: Log) -> None:
    """Where the mean is 0 so is its error; the name says which of the two was meant."""
    labelled(log, *["incorrect"] * 10)
    with log.model() as model:
        facts = RunFacts(model, model.run(log.run), "judged")
        known = candidates(facts)
        reported = [
            Reported(metric="judged", name=name, reducer=None, value="0.0")
            for name in ("mean", "stderr")
        ]
        found = [explain_number(facts, each, known) for each in reported]
    assert [(each.rule, each.by_name, each.difference) for each in found] == [
        ("headline", True, "0"),
        ("standard_error", True, None),
    ]
    assert "rule standard_error is the standard error of the mean" in found[1].words
