"""Verdicts and scores of rows, who gave them, and how a trial ended."""

from pathlib import Path

import pytest

from rows_cases import (
    JSONL,
    SCORE,
    VERDICT,
    appended,
    data,
    events,
    faults,
    labels,
    lines,
    only,
    outcomes,
)
from trial_ledger.verification import verify


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"a": "x", "ok": True, "e": None}, "answered"),
        ({"a": "x", "ok": None, "e": "boom"}, "answered"),
        ({"a": "", "ok": None, "e": "boom"}, "errored"),
        ({"a": None, "ok": False, "e": "boom"}, "errored"),
        ({"a": None, "ok": False, "e": None}, "answered"),
        ({"a": None, "ok": None, "e": None}, "unknown"),
        ({"a": None, "ok": None, "e": "late"}, "limit"),
        ({"a": "x", "ok": True, "e": None, "o": "abstained"}, "abstained"),
        ({"a": None, "ok": True, "e": None, "o": "abstained"}, "abstained"),
    ],
)
def test_how_a_trial_ended_follows_from_what_the_row_shows(
    tmp_path: Path, row: dict[str, object], expected: str
) -> None:
    """An outcome that is stated counts, then a failure's, then answer and judgment."""
    text = JSONL + 'answer = "a"\noutcome = {path = "o", optional = true}\n' + VERDICT
    text += '[[failures]]\nvalue = "e"\nclasses.late = {class = "limit", outcome = "limit"}\n'
    run = only(tmp_path, lines({"id": 1, **row}), text)
    assert outcomes(run) == [expected]
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []


def test_a_judgment_is_an_answer_where_no_answers_are_shown(tmp_path: Path) -> None:
    """Without a column of answers a judged trial with a failure was answered, an unjudged erred."""
    text = JSONL + VERDICT + '[[failures]]\nvalue = "e"\n'
    rows_of = lines({"id": 1, "ok": True, "e": "slow"}, {"id": 2, "ok": None, "e": "slow"})
    assert outcomes(only(tmp_path, rows_of, text)) == ["answered", "errored"]


def test_verdicts_are_translated_and_never_guessed(tmp_path: Path) -> None:
    """Words mean what the map says; a failed judge and a lost verdict are their own states."""
    rule = (
        'verdict = {path = "g", map = {A = "correct", B = "partial", C = "abstained", '
        'X = "judge_failed", NaN = "lost_in_source", null = "unjudged"}}\n'
    )
    text = JSONL + f'answer = "g"\n[metrics.m]\n{rule}message = "why"\nraw = "why"\n'
    words = ["A", "B", "C", "X", "NaN", None]
    rows_of = lines(*({"id": str(n), "g": g, "why": "it broke"} for n, g in enumerate(words)))
    run = only(tmp_path, rows_of, text)
    assert labels(run) == ["correct", "partial", "abstained", "judge_failed", "lost_in_source"]
    (failure,) = data(run, "failure.occurred")
    assert (failure["class"], failure["fault"]) == ("judge_error", "judge")
    assert failure["message"].class_ == "gold"
    assert [one["parts"] for one in data(run, "judgment.recorded")][1] == [
        {"name": "value", "outcome": "B"}
    ]
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []
    assert faults(tmp_path, lines({"id": 1, "g": "D", "why": ""}), text) == [
        (
            "rows.txt:1: g: wrong value for metrics.m.verdict, found 'D', expected A, B, C, X, NaN,"
            " null, as metrics.m.verdict.map knows"
        )
    ]


def test_common_words_are_verdicts_in_any_case(tmp_path: Path) -> None:
    """True, Yes, PASSED and 1 are correct without a map; a word beyond is a fault."""
    words = [True, "Yes", "PASSED", 1, "1.0", False, "wrong", 0, "Partial", "NOT_ATTEMPTED"]
    rows_of = lines(*({"id": n, "ok": word} for n, word in enumerate(words)))
    with pytest.raises(AssertionError, match="1"):
        # Only the text counts: "1.0" is no word for a verdict.
        assert not faults(tmp_path, rows_of, JSONL + VERDICT)
    words.remove("1.0")
    rows_of = lines(*({"id": n, "ok": word} for n, word in enumerate(words)))
    assert labels(only(tmp_path, rows_of, JSONL + VERDICT)) == [
        *["correct"] * 4,
        *["incorrect"] * 3,
        "partial",
        "abstained",
    ]


def test_scores_are_exact_and_within_their_scale(tmp_path: Path) -> None:
    """A decimal is the fraction that it says; words need a map, and a scale its ends."""
    rule = 'score = {path = "points", map = {NaN = "judge_failed", top = "7/8", none = "unjudged"}}'
    text = JSONL + f'answer = "points"\n[metrics.m]\n{rule}\nscale = ["0", "10"]\n'
    values = [0.1, "2/3", 7, "1e-3", "top", "NaN", "none", None]
    rows_of = lines(*({"id": n, "points": value} for n, value in enumerate(values)))
    run = only(tmp_path, rows_of, text)
    assert labels(run) == ["1/10", "2/3", "7", "1/1000", "7/8", "judge_failed"]
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []
    found = faults(
        tmp_path,
        lines(*({"id": n, "points": value} for n, value in enumerate([1.5, True, [1], "good"]))),
        JSONL + SCORE,
    )
    assert [fault.partition("expected ")[2] for fault in found] == [
        '0 to 1; scale = ["0", "100"] widens it',
        "a number; verdict takes true and false",
        "a number; verdict takes true and false",
        "a number; metrics.points.score.map can say that a word is judge_failed",
    ]
    long = lines({"id": 1, "points": "0." + "3" * 150})
    assert "expected a number" in faults(tmp_path, long, JSONL + SCORE)[0]
    graded = JSONL + '[metrics.m]\nscore = {path = "points", map = {x = "not_gradable"}}\n'
    assert labels(only(tmp_path, lines({"id": 1, "points": "x"}), graded)) == ["not_gradable"]


def test_who_judged_is_kept(tmp_path: Path) -> None:
    """Grader, version, model and cost of a judge; a person acts under a name of their own."""
    text = JSONL + (
        '[metrics.m]\nverdict = "ok"\nby = "model"\ngrader = {const = "judge"}\n'
        'version = {const = "2"}\nmodel = "jm"\nshown = "s"\nraw = "r"\ncost = "c"\n'
        'currency = "cur"\noutput_tokens = "t"\n[metrics.p]\nverdict = "ok"\nby = "human"\n'
        'grader = {path = "who", optional = true}\n[metrics.k]\nverdict = {const = "correct"}\n'
    )
    row = {"id": 1, "ok": True, "jm": "big", "s": "a", "r": "b", "c": "0.01", "cur": "eur", "t": 5}
    run = only(tmp_path, lines(row, {**row, "id": 2, "who": "Ada"}), text)
    judged = data(run, "judgment.recorded")
    assert judged[0]["grader"] == {"name": "judge", "version": "2"}
    assert (judged[0]["model"], judged[0]["usage"]) == ("big", {"output_tokens": 5})
    assert judged[0]["cost"] == {"amount": "0.01", "currency": "EUR", "basis": "reported"}
    assert judged[0]["shown"].class_ == judged[0]["raw"].class_ == "gold"
    assert judged[2]["parts"] == []
    people = [
        event.actor for event in events(run, "judgment.recorded") if event.data["by"] == "human"
    ]
    assert [person and (person.role, person.name) for person in people] == [
        ("human", "unnamed in the source"),
        ("human", "Ada"),
    ]
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []
    bad = lines({**row, "cur": "euro"})
    assert "expected a code such as USD" in faults(tmp_path, bad, text)[0]


def test_criteria_are_parts_of_a_judgment(tmp_path: Path) -> None:
    """Every member of a list is a part with its label; one without a label is left out."""
    text = (
        JSONL
        + SCORE
        + ('criteria = {rows = "parts", name = {path = "c", optional = true}, label = "g"}\n')
    )
    parts = [{"c": "first", "g": "met"}, {"g": "missing"}, {"c": "third", "g": None}]
    run = only(tmp_path, lines({"id": 1, "points": 0.5, "parts": parts}), text)
    assert data(run, "judgment.recorded")[0]["parts"] == [
        {"name": "first", "outcome": "met"},
        {"name": "2", "outcome": "missing"},
    ]
    (fault,) = faults(tmp_path, lines({"id": 1, "points": 1, "parts": [1, {"g": "x"}]}), text)
    assert fault == "rows.txt:1: parts[0]: not an object, found 1, expected a row of its own"
