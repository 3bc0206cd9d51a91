"""A report as a value: what C35 asks for, gold only where asked for, the same from the same log."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from ledger_cases import HARNESS, RUN, opened, small_dataset, small_manifest, small_rubric, tools
from projection_cases import Log
from read_cases import sample
from rescore_cases import corrected, erase, fates_log, lax, revision
from signing_cases import signed_ledger
from trial_ledger.book import Ledger
from trial_ledger.documents.rubric_structs import Metric
from trial_ledger.goldfile import gold_path
from trial_ledger.keyed_file import projections_path
from trial_ledger.rescoring import derive_run
from trial_ledger.submission import Submission
from trial_projections import report as report_module
from trial_projections import report_trials
from trial_projections.cells import Cell
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.report import RunBuilder, make_report
from trial_projections.report_structs import Report, Status
from trial_projections.report_texts import (
    GOLD_HIDDEN,
    NO_GOLD_FILE,
    REDACTED,
    TextReader,
    without_absent,
)
from trial_projections.report_trials import Slot, chosen_slots, slots_of, status_of, text_limit


def report_at(
    path: Path, *runs: str, as_of: int | None = None, include_gold: bool = False
) -> Report:
    """Return the report of some runs of a closed ledger."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as book:
        return report_of(book, *runs, as_of=as_of, include_gold=include_gold)


def report_of(
    book: Ledger, *runs: str, as_of: int | None = None, include_gold: bool = False
) -> Report:
    """Return the report of some runs of an open ledger."""
    model = ReadModel.open(book, as_of=as_of)
    try:
        return make_report(model, runs or (RUN,), include_gold=include_gold)
    finally:
        model.close()


def test_c35_a_report_of_the_sample_run(tmp_path: Path) -> None:
    """Trouble stands first, and every part that C35 asks for is there or said to be missing."""
    found = report_at(sample(tmp_path), include_gold=True)
    (run,) = found.runs
    assert [row.status for row in run.trials] == ["error"] * 2 + ["failed"] * 2 + ["passed"] * 6
    assert [metric.name for metric in run.summary.metrics] == ["exact", "judged"]
    assert [derivation.score for derivation in run.derivations] == run.summary.metrics
    assert run.shapes == {"exact": ["fact"], "judged": []}
    assert [(row.seq, row.recovered_by) for row in run.failures] == [
        (8, None), (15, None), (28, None), (33, "retry"),
    ]  # fmt: skip
    assert run.failures[1].class_ == "response_lost"
    assert run.failures[1].message is not None
    assert run.failures[1].message.text == "response_lost!"
    assert sum(group.count for group in run.failure_groups) == run.failures_total == 4
    assert [(miss.slot, miss.seq) for miss in run.misses] == [("q9#1", 99)]
    assert [(row.slot, row.finding) for row in run.disagreements] == [("q10#1", "judge_wrong")]
    assert [change.valid for change in run.changes] == [False, True]
    assert run.changes[0].reason is not None
    assert run.changes[0].reason.text == "looked wrong"
    assert run.dataset.provenance is not None
    assert run.dataset.provenance.text == "made for tests"
    assert (run.dataset.seq, run.rubric_seq, run.manifest_seq) == (2, 3, 4)
    assert [mark.text for mark in run.summary.trust if mark.level == "!"] == run.limitations
    assert run.latency.trials.count == 10
    assert [effect.outcome for effect in run.effects if effect.metric == "exact"] == [
        "harness_fault", "search_provider_fault",
    ]  # fmt: skip
    assert [(row.metric, row.judged, row.reviewed) for row in run.reviews] == [
        ("exact", 8, 0), ("judged", 7, 0),
    ]  # fmt: skip
    assert found.comparison is None
    assert (found.size, found.head, run.related) == (128, None, [])


def test_c35_a_row_has_question_answer_gold_judgment_and_reasoning(tmp_path: Path) -> None:
    """Side by side; an override names what it replaced."""
    (run,) = report_at(sample(tmp_path), include_gold=True).runs
    row = next(row for row in run.trials if row.slot == "q10#1")
    assert row.question is not None
    assert row.question.text == "Which town is meant by riddle q10?"
    assert row.answer is not None
    assert row.answer.text == "Babylon"
    assert row.gold is not None
    assert '"answer":"Andijan"' in (row.gold.text or "")
    exact, judged = row.verdicts
    assert (exact.score, exact.by, exact.reasoning) == ("0", "code", None)
    assert (judged.score, judged.by, judged.overrides) == ("1", "human", "j2")
    assert judged.reasoning is not None
    assert judged.reasoning.text == "the reviewer is right"
    lost = run.trials[0]
    assert (lost.slot, lost.answer, lost.failures) == ("q1#1", None, [8])
    assert [verdict.basis for verdict in lost.verdicts] == ["rule", "rule"]


def test_c2_no_gold_unless_it_was_asked_for(tmp_path: Path) -> None:
    """Neither gold records nor reasoning; why is said, and which blob it is."""
    path = sample(tmp_path)
    shy, open_ = (
        msgspec.json.encode(report_at(path, include_gold=wanted)).decode()
        for wanted in (False, True)
    )
    for text in ("Samarkand", "Bukhara", "compared with gold", "the reviewer is right"):
        assert text in open_
        assert text not in shy
    reasoning = report_at(path).runs[0].trials[-1].verdicts[1].reasoning
    assert reasoning is not None
    assert (reasoning.text, reasoning.missing) == (None, GOLD_HIDDEN)
    assert reasoning.blob is not None
    assert reasoning.blob in open_


def test_c12_an_invalid_run_says_why_and_a_reason_of_gold_is_not_read(log: Log) -> None:
    """The trust mark quotes the reason, unless that may show gold and nobody asked for it."""
    log.trial("q1")
    log.act("run.invalidated", reason={"text": "the answer was Samarkand", "class": "gold"})
    log.act("run.closed", status="failed", reason="stopped")
    shown = [report_of(log.ledger, include_gold=wanted).runs[0] for wanted in (False, True)]
    texts = [[mark.text for mark in run.summary.trust] for run in shown]
    seq = shown[0].changes[0].seq
    assert f"INVALID since seq {seq}, said Ada: ({GOLD_HIDDEN})" in texts[0]
    assert f"INVALID since seq {seq}, said Ada: the answer was Samarkand" in texts[1]
    assert "Samarkand" not in msgspec.json.encode(shown[0]).decode()
    assert shown[0].closing_reason is not None
    assert shown[0].closing_reason.text == "stopped"


def test_c12_a_plain_reason_of_an_invalid_run_is_quoted(log: Log) -> None:
    """A reason that cannot show gold stands as it is."""
    log.act("run.invalidated", reason="the wrong index")
    (run,) = report_of(log.ledger).runs
    assert any(mark.text.endswith(": the wrong index") for mark in run.summary.trust)


def test_without_the_gold_file_it_is_said(tmp_path: Path) -> None:
    """Asking for gold that is not here is no failure of the report."""
    path = sample(tmp_path)
    gold_path(path).unlink()
    (run,) = report_at(path, include_gold=True).runs
    row = run.trials[-1]
    assert row.gold is not None
    assert row.gold.missing == NO_GOLD_FILE
    assert row.verdicts[1].reasoning is not None
    assert row.verdicts[1].reasoning.missing == NO_GOLD_FILE


def test_c11_erased_texts_are_said_to_be_erased(tmp_path: Path) -> None:
    """An erased answer is not an answer that was never given; so with gold."""
    log = fates_log(tmp_path)
    with log.model() as model:
        answer = report_of(log.ledger).runs[0].trials[-1].answer
        gold = model.registry.commitments("example@1")["q1"]
    assert answer is not None
    assert answer.blob is not None
    assert gold is not None
    erase(log.ledger, answer.blob)
    erase(log.ledger, gold)
    rows = report_of(log.ledger, include_gold=True).runs[0].trials
    assert {row.answer.missing for row in rows if row.answer is not None} == {None, REDACTED}
    assert [row.gold.missing for row in rows if row.slot == "q1#1" and row.gold] == [REDACTED]
    log.ledger.close()


def test_c14_other_runs_and_rubrics_on_the_same_questions(tmp_path: Path) -> None:
    """Superseded, derived and related runs are named, on both sides; others are not."""
    log = fates_log(tmp_path)
    derived = derive_run(log.ledger, revision(rubric=lax())).run
    log.open("r2", supersedes=RUN, reason="again")
    log.act("run.related", run=RUN, how="the same service")
    with log.model() as model:
        (run,) = make_report(model, [RUN]).runs
        ours = {other.run: other.how for other in run.related}
        assert ours == {
            derived: ["judges the trials of this run again"],
            "r2": ["supersedes this run"],
        }
        assert {other.shared for other in run.related} == {10}
        child, later = make_report(model, [derived, "r2"]).runs
        assert {other.run: other.how[:1] for other in child.related}[RUN] == [
            f"its trials are judged here, as of its link {model.run(derived).derived_link}"
        ]
        assert {other.run: other.how for other in later.related}[RUN] == [
            "superseded by this run",
            "the same service",
        ]
        builder = RunBuilder(
            model,
            model.run("r2"),
            model.score_input(model.run("r2")),
            TextReader(log.ledger, include_gold=False, limit=9),
        )
        stranger = msgspec.structs.replace(model.run(derived), name="x", dataset="example@1")
        assert builder.relations(stranger) == []
    log.ledger.close()


def test_runs_without_a_question_in_common_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What neither asks the same nor is related is another evaluation."""
    log = fates_log(tmp_path)
    log.open("r2")
    texts = ReadModel.planned_texts

    def none_of_r2(model: ReadModel, run: RunRecord) -> frozenset[str]:
        return frozenset() if run.name == "r2" else texts(model, run)

    monkeypatch.setattr(ReadModel, "planned_texts", none_of_r2)
    assert report_of(log.ledger).runs[0].related == []
    log.ledger.close()


def test_c30_open_disagreements_stand_first(tmp_path: Path) -> None:
    """What nobody resolved has no finding."""
    (run,) = report_at(sample(tmp_path), as_of=118).runs
    assert [(row.disagreement, row.finding) for row in run.disagreements] == [("d1", None)]


def test_the_signed_head_is_one_of_the_part_that_was_read(tmp_path: Path) -> None:
    """A later head says nothing of an earlier state; the tail after it is counted."""
    path = signed_ledger(tmp_path, pins=False)
    newest = report_at(path)
    assert newest.head is not None
    assert (newest.head.size, newest.head.unsigned_tail) == (115, newest.size - 115)
    assert newest.head.note.startswith("trial-ledger/")
    earlier = report_at(path, as_of=60)
    assert earlier.head is not None
    assert (earlier.head.size, earlier.size) == (4, 60)
    assert earlier.root != newest.root
    exact = report_at(path, as_of=115)
    assert exact.head is not None
    assert (exact.head.root, exact.head.unsigned_tail) == (exact.root, 0)


def test_c16_other_sessions_are_named(log: Log) -> None:
    """The one that counts has the row; the other stands in it."""
    log.trial("q1", outcome="errored", answer=None)
    log.trial("q1", session="s2")
    log.trial("q2", outcome=None)
    rows = {row.slot: row for row in report_of(log.ledger).runs[0].trials}
    assert (rows["q1#1"].trial, rows["q1#1"].other_sessions) == ("q1#1@s1", ["q1#1@s2"])
    assert (rows["q2#1"].outcome, rows["q3#1"].outcome) == ("unfinished", "not_started")
    assert rows["q3#1"].seq is None


def test_a_failure_of_the_run_as_a_whole_has_no_slot(log: Log) -> None:
    """It belongs to no trial."""
    log.act("failure.occurred", call=None, occurrence="f1", class_="timeout", fault="harness",
            impact="none")  # fmt: skip
    (row,) = report_of(log.ledger).runs[0].failures
    assert (row.slot, row.trial, row.message) == (None, None, None)


CELL = Cell(
    outcome="correct", score="1", basis="judgment", counts=True, invalidated=False, leaked=False
)


@pytest.mark.parametrize(
    ("change", "direction", "status"),
    [
        ({}, "higher", "passed"),
        ({"score": "0"}, "higher", "failed"),
        ({"score": "1/2"}, "higher", "partial"),
        ({}, "lower", "failed"),
        ({"score": "0"}, "lower", "passed"),
        ({"score": None, "outcome": "unjudged"}, "higher", "undecided"),
        ({"score": None, "outcome": "judge_failed"}, "higher", "error"),
        ({"score": "0", "outcome": "harness_fault"}, "higher", "error"),
        ({"score": None, "counts": False}, "higher", "excluded"),
    ],
)
def test_how_a_slot_stands(change: dict[str, object], direction: str, status: Status) -> None:
    """Undecided is never failed, and a broken service never the agent's failure."""
    metric = Metric(measure="score", grader="source", direction=direction)  # type: ignore[arg-type]
    assert status_of(msgspec.structs.replace(CELL, **change), metric) == status


def test_a_slot_that_no_metric_covers_is_shown(log: Log) -> None:
    """It is in no denominator, and not lost."""
    log.trial("q1")
    with log.model() as model:
        run = model.run(RUN)
        source = model.score_input(run)
        only = {"exact": msgspec.structs.replace(source.rubric.metrics["exact"], shapes=("list",))}
        source.rubric = msgspec.structs.replace(source.rubric, metrics=only)
        slots = slots_of(source)
        assert {slot.status for slot in slots} == {"excluded"}
        reader = TextReader(log.ledger, include_gold=False, limit=100)
        rows = report_trials.trial_rows(model, run, source, slots, reader)
    assert [(row.trial, row.verdicts) for row in rows[:2]] == [("q1#1@s1", []), (None, [])]


def slot_named(number: int, status: Status) -> Slot:
    """Return a slot of a status."""
    return Slot(question=f"q{number}", repetition=1, status=status, placed={}, sessions=())


def test_a_large_report_holds_trouble_and_a_sample() -> None:
    """All in trouble up to a bound, a sample of the others, in their order, the same every time."""
    slots = [slot_named(number, "failed") for number in range(40)]
    slots += [slot_named(number, "passed") for number in range(40, 9_000)]
    kept = chosen_slots("r", slots, everything=False)
    assert kept == chosen_slots("r", slots, everything=False)
    assert [slot.status for slot in kept] == ["failed"] * 40 + ["passed"] * report_trials.OTHERS
    assert kept != chosen_slots("other", slots, everything=False)
    assert chosen_slots("r", slots, everything=True) == slots
    many = [slot_named(number, "error") for number in range(report_trials.MOST_TROUBLED + 5)]
    assert len(chosen_slots("r", many, everything=False)) == report_trials.MOST_TROUBLED


def test_past_the_bound_the_report_says_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Summary and failures are whole; of the slots it says how many."""
    monkeypatch.setattr(report_module, "MOST_TRIALS", 9)
    monkeypatch.setattr(report_trials, "OTHERS", 2)
    (run,) = report_at(sample(tmp_path)).runs
    shown = run.shown
    assert (shown.planned, shown.embedded, shown.troubled, shown.troubled_embedded) == (10, 6, 4, 4)
    assert len(run.trials) == 6
    assert run.failures_total == 4


def test_long_texts_are_cut_and_say_so(log: Log) -> None:
    """The whole is in the log, under the blob that is named."""
    log.trial("q1", answer="x" * 30_000)
    answer = next(row.answer for row in report_of(log.ledger).runs[0].trials if row.answer)
    assert (answer.bytes, answer.is_cut) == (30_000, True)
    assert answer.text == "x" * report_trials.MOST_TEXT
    assert [text_limit(count) for count in (0, 5_000, 50_000)] == [20_000, 300, 200]


def test_a_question_that_nobody_knows_has_no_text() -> None:
    """In a reconstructed dataset only ids are certain."""
    reader = TextReader(None, include_gold=True, limit=9)  # type: ignore[arg-type]
    assert reader.plain(None) is None
    assert reader.gold(None) is None
    assert reader.read(None) is None


def test_of_gold_what_holds_nothing_is_left_out() -> None:
    """The frozen record has every key of its shape; gold of another form stays as it is."""
    assert without_absent({"answer": "x", "alternatives": [], "provenance": None}) == {
        "answer": "x"
    }
    assert without_absent({"items": ["a"], "exhaustive": False}) == {
        "items": ["a"],
        "exhaustive": False,
    }
    assert without_absent("x") == "x"


def test_a_dataset_without_warnings_has_none(tmp_path: Path) -> None:
    """Warnings of registration are listed where there are any."""
    (run,) = report_at(sample(tmp_path)).runs
    assert run.dataset.warnings == []


def test_c5_warnings_of_the_dataset_are_listed(tmp_path: Path) -> None:
    """Each with its clause and question."""
    book = Ledger.create(tmp_path / "trials.ledger", tools=tools(tmp_path, pins=False))
    with book:
        dataset = corrected(version="1", gold={"q1": None})
        book.freeze((dataset, small_rubric(), small_manifest()))
        book.append(opened(RUN, entry="appended"))
        (run,) = report_of(book).runs
    assert run.dataset.warnings == ["C4 q1: no gold: no code grader can judge it"]
    assert small_dataset().reference == run.dataset.reference


def test_the_same_run_twice_counts_once_and_several_stand_in_order(tmp_path: Path) -> None:
    """Runs are named by prefix too."""
    log = fates_log(tmp_path)
    log.open("z2")
    found = report_of(log.ledger, "z", RUN, "z2")
    assert [run.summary.run.name for run in found.runs] == ["z2", RUN]
    log.ledger.close()


def test_rebuilt_from_the_log_a_report_is_the_same(tmp_path: Path) -> None:
    """Built twice, after the projections were deleted, and as of the same size later."""
    path = sample(tmp_path)
    encode: Callable[[Report], bytes] = msgspec.json.encode
    first = encode(report_at(path, include_gold=True))
    assert encode(report_at(path, include_gold=True)) == first
    projections_path(path).unlink()
    assert encode(report_at(path, include_gold=True)) == first
    with Ledger.open(path, write=True, tools=tools(tmp_path, pins=False)) as book:
        book.append(Submission(kind="note.added", data={"about": "x", "text": "y"}, actor=HARNESS))
    assert encode(report_at(path, as_of=128, include_gold=True)) == first
    assert encode(report_at(path, include_gold=True)) != first
