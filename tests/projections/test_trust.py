"""What stands behind a number and what weakens it: the marks beside every metric."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from ledger_cases import PERSON, RUN, small_dataset, small_manifest, tools
from projection_cases import Log
from signing_cases import signed_ledger, signing_tools
from trial_ledger.book import Ledger
from trial_ledger.goldfile import gold_path
from trial_ledger.submission import NewText
from trial_projections.reading import ReadModel
from trial_projections.review_coverage import coverage_of
from trial_projections.reviewing import document_text, draw_document
from trial_projections.scores import score_run
from trial_projections.trust import LONGEST_REASON, review_marks, tail_marks, trust_marks

NO_REVIEW = "no human review recorded"
NOT_VERIFIED = "hashes not checked by this command: ledger verify"
NO_ANCHOR = "no outside anchor: the owner could still rewrite everything"


def marks_of(log: Log, run: str | None = None) -> list[str]:
    """Return the marks of a run as `level text`."""
    with log.model() as model:
        return texts(model, run or log.run)


def texts(model: ReadModel, run: str) -> list[str]:
    """Return the marks of a run as `level text`."""
    record = model.run(run)
    source = model.score_input(record)
    scores = score_run(source)
    coverages = [coverage_of(model, record, source, name) for name in scores]
    return [f"{mark.level} {mark.text}" for mark in trust_marks(model, record, scores, coverages)]


@pytest.mark.parametrize("entry", ["appended", "imported"])
def test_the_order_of_what_came_in_later_was_not_witnessed(tmp_path: Path, entry: str) -> None:
    """Every metric of such a run says so."""
    log = Log(tmp_path, entry=entry)
    assert marks_of(log) == [
        f"! order not witnessed: {entry} after the fact",
        f"! {NO_REVIEW}",
        f"! {NOT_VERIFIED}",
        f"! {NO_ANCHOR}",
    ]
    log.ledger.close()


def test_a_live_run_shows_that_the_manifest_was_first(tmp_path: Path) -> None:
    """Places in the log prove the order, from the first trial on."""
    log = Log(tmp_path, entry="live")
    assert marks_of(log)[0] == "ok recorded live; manifest frozen at seq 4"
    log.trial("q1", outcome=None, answer=None)
    assert marks_of(log)[0] == "ok recorded live; manifest frozen at seq 4, first trial at seq 6"
    with log.model(as_of=5) as earlier:
        assert texts(earlier, RUN)[0] == "ok recorded live; manifest frozen at seq 4"
    log.ledger.close()


@pytest.mark.parametrize(
    ("entry", "mark"),
    [
        ("live", "ok recorded live; manifest frozen at seq 4, first trial at seq 6"),
        ("imported", f"! order not witnessed: trials of {RUN} imported after the fact"),
    ],
)
def test_a_derived_run_is_no_better_witnessed_than_its_trials(
    tmp_path: Path, entry: str, mark: str
) -> None:
    """Judging live what was imported witnesses nothing but the judging; nor is the gate met."""
    log = Log(tmp_path, entry=entry)
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="stricter", entry="live")
    assert marks_of(log)[0] == mark
    assert log.summary().unmet(["live"]) == ([] if entry == "live" else ["live"])
    log.ledger.close()


def test_c12_an_invalid_run_says_since_when_by_whom_and_why(log: Log) -> None:
    """The mark goes where the run is reinstated."""
    log.act("run.invalidated", reason="the  wrong\nendpoint")
    seq = log.ledger.store.size()
    assert f"! INVALID since seq {seq}, said Ada: the wrong endpoint" in marks_of(log)
    log.act("run.reinstated", reason="it was right")
    assert not any("INVALID" in mark for mark in marks_of(log))


def test_a_long_reason_is_cut(log: Log) -> None:
    """The whole of it stays in the log."""
    log.act("run.invalidated", reason="x" * 500)
    mark = next(mark for mark in marks_of(log) if "INVALID" in mark)
    assert mark.endswith("x" * (LONGEST_REASON - 1) + "…")


def test_a_reason_in_a_gold_file_that_is_elsewhere(tmp_path: Path) -> None:
    """Who gets the ledger without gold is told where the reason is."""
    log = Log(tmp_path)
    log.act("run.invalidated", reason=NewText(content=b"shows gold", class_="gold"))
    log.ledger.close()
    gold_path(log.path).unlink()
    with Ledger.open(log.path, tools=tools(tmp_path, pins=False)) as ledger:
        model = ReadModel.open(ledger)
        found = texts(model, RUN)
        model.close()
    assert any("(the reason is in the gold file, which is not here)" in mark for mark in found)


def test_a_reason_that_was_erased(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """The invalidation stands, its words are gone."""
    log.act("run.invalidated", reason="names a person")
    with log.model() as model:
        erased = model.run(RUN).changes[-1].reason
    blob = log.ledger.blob
    monkeypatch.setattr(
        log.ledger, "blob", lambda reference: None if reference == erased else blob(reference)
    )
    assert any(mark.endswith("said Ada: (the reason was redacted)") for mark in marks_of(log))


def test_c14_a_derived_run_is_marked_on_both_sides(log: Log) -> None:
    """The rubric came after the fact, and how many were tried is counted."""
    log.trial("q1")
    for name in ("again", "once-more"):
        log.open(name, derived_from={"run": RUN, "link": 4}, reason="another rubric")
    tried = "! 3 rubrics or datasets tried on these trials"
    assert tried in marks_of(log, RUN)
    assert marks_of(log, "again")[1:3] == [
        f"! rubric after the fact: derived from {RUN} as of its link 4",
        tried,
    ]


def test_c14_what_happens_to_the_parent_later_marks_the_derived_run(log: Log) -> None:
    """Its number stays; that the parent or some of its trials were invalidated is said."""
    for question in ("q1", "q2", "q3"):
        log.trial(question)
    log.act("trial.invalidated", "q3", reason="before")
    log.open("again", derived_from={"run": RUN, "link": 11}, reason="another rubric")
    assert not any("invalidated since" in mark for mark in marks_of(log))
    log.run = RUN
    log.act("trial.invalidated", "q1", reason="the wrong page")
    log.act("trial.invalidated", "q2", reason="by mistake")
    log.act("trial.reinstated", "q2", reason="it was a mistake")
    assert f"! 1 trial of parent {RUN} invalidated since" in marks_of(log, "again")
    log.act("run.invalidated", reason="all wrong")
    assert f"! parent {RUN} invalidated" in marks_of(log, "again")


def opened_pilot(log: Log, name: str, questions: list[str], version: str = "1") -> None:
    """Open a pilot that asks some questions."""
    manifest = small_manifest(
        configuration=f"{name}-trial", phase="pilot", questions=questions,
        dataset=f"example@{version}",
    )  # fmt: skip
    log.ledger.freeze([manifest])
    log.open(name, manifest=f"{name}-trial")


def test_c13_questions_of_a_pilot_contaminate_a_final_run(log: Log) -> None:
    """Known by their words in any version of the dataset, whichever run came first."""
    log.ledger.freeze([small_dataset(version="2")])
    opened_pilot(log, "pilot-1", ["q1", "q2"])
    opened_pilot(log, "pilot-2", ["q9"], version="2")
    found = [mark for mark in marks_of(log, RUN) if "contaminated" in mark]
    assert found == [
        "! contaminated: 2 of 10 questions are in pilot pilot-1",
        "! contaminated: 1 of 10 questions are in pilot pilot-2",
    ]
    assert not any("contaminated" in mark for mark in marks_of(log, "pilot-1"))


def test_c13_a_pilot_of_other_questions_contaminates_nothing(tmp_path: Path) -> None:
    """Neither does another final run."""
    log = Log(tmp_path, manifest={"questions": ["q1"]})
    opened_pilot(log, "pilot-1", ["q2"])
    log.open("fast-02")
    assert not any("contaminated" in mark for mark in marks_of(log, RUN))
    log.ledger.close()


def test_c05_dataset_warnings_are_counted(tmp_path: Path) -> None:
    """What registration warned of stands beside every number of the dataset."""
    log = Log(tmp_path)
    with log.model() as model:
        dataset = model.registry.datasets["example@1"]
        warned = type(dataset)(**{
            **{name: getattr(dataset, name) for name in dataset.__struct_fields__},
            "warning_count": 3,
            "reconstructed": True,
        })  # fmt: skip
        model.registry.datasets["example@1"] = warned
        found = texts(model, RUN)
    assert "! 3 dataset warnings" in found
    assert "! manifest, rubric and dataset reconstructed from the source's log" in found
    log.ledger.close()


def late(log: Log) -> None:
    """Invalidate a trial after its verdict."""
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.act("trial.invalidated", "q1", reason="the wrong page")


def resumed(log: Log) -> None:
    """Start a slot again after an interruption."""
    log.trial("q1", outcome=None, answer=None)
    log.trial("q1", session="s2", outcome="refused")


def leaking(log: Log) -> None:
    """Let gold reach the agent."""
    log.trial("q1")
    log.act("failure.occurred", "q1", occurrence="f1", class_="gold_leak", fault="harness")


def unjudged(log: Log) -> None:
    """Leave an answer without a verdict."""
    log.trial("q1")


@pytest.mark.parametrize(
    ("happens", "expected"),
    [
        (late, "! still counting though invalidated after the end or verdict: 1 trial"),
        (resumed, "! retried 1: a later session counts there"),
        (leaking, "! gold leaked in 1 counting trial"),
        (unjudged, "! gate decided failed: exact, judged"),
    ],
)
def test_what_the_metrics_themselves_say(
    log: Log, happens: Callable[[Log], None], expected: str
) -> None:
    """Trials invalidated late, retries, and gates that are not met."""
    assert expected not in marks_of(log)
    happens(log)
    assert expected in marks_of(log)


def test_what_came_after_the_newest_signed_head_is_marked(tmp_path: Path) -> None:
    """Where somebody signs, the tail that nobody signed for is a weakness; else nothing is said."""
    path = signed_ledger(tmp_path)
    with Ledger.open(path, tools=signing_tools(tmp_path)) as ledger:
        found = {}
        for size in (3, 4, 5, 115, 128):
            model = ReadModel.open(ledger, as_of=size)
            found[size] = tail_marks(model)
            model.close()
    assert found == {
        3: [], 4: [], 5: ["unsigned tail of 1 event"], 115: [],
        128: ["unsigned tail of 13 events"],
    }  # fmt: skip


def judged_twice(log: Log) -> None:
    """Append a trial that a model and code judge."""
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.judge("q1", "exact", "1", name="j2", by="code", parts=[{"name": "equal"}])


def test_c29_metrics_without_their_review_are_marked(log: Log) -> None:
    """Judged by a model untrusted, judged by code unreviewed; alike they share a mark."""
    judged_twice(log)
    text = "review 0/1 = 0.0 %, 1 needed"
    assert f"! judged untrusted: {text}" in marks_of(log)
    assert f"! exact unreviewed: {text}" in marks_of(log)
    assert f"! {NO_REVIEW}" not in marks_of(log)
    assert log.summary().unmet(["reviewed", "resolved"]) == ["reviewed"]


def test_c29_enough_review_takes_the_mark_away(log: Log) -> None:
    """It stands on the other side then; another metric keeps its own mark."""
    judged_twice(log)
    review(log, "judged", "correct")
    found = marks_of(log)
    assert "ok judged reviewed: review 1/1 = 100.0 %, 1 needed" in found
    assert "! exact unreviewed: review 0/1 = 0.0 %, 1 needed" in found
    review(log, "exact", "correct")
    assert "ok exact, judged reviewed: review 1/1 = 100.0 %, 1 needed" in marks_of(log)
    assert log.summary().unmet(["reviewed", "resolved"]) == []


def test_c30_an_open_disagreement_makes_a_metric_untrusted(log: Log) -> None:
    """Whoever judged, and however much was reviewed; resolved, it does not."""
    judged_twice(log)
    review(log, "exact", "incorrect")
    pair = {"disagreement": "d1", "judgment": "j2", "review": "r-exact"}
    log.append("disagreement.opened", "q1", pair, actor=PERSON)
    text = "review 1/1 = 100.0 %, 1 needed"
    assert f"! exact untrusted: {text}; 1 disagreement open" in marks_of(log)
    assert log.summary().unmet(["reviewed", "resolved"]) == ["reviewed", "resolved"]
    resolved = {**pair, "finding": "reviewer_wrong", "reason": "misread"}
    log.append("disagreement.resolved", "q1", resolved, actor=PERSON)
    assert f"ok exact reviewed: {text}" in marks_of(log)


def review(log: Log, metric: str, verdict: str) -> None:
    """Draw the trials of a metric and review the only one."""
    with log.model() as model:
        source = model.score_input(model.run(log.run))
        assert source.rubric.review is not None
        document = draw_document(source, metric, source.rubric.review, "local")
    strata = NewText.of(document_text(document))
    log.act("review.drawn", plan=f"p-{metric}", seed="seven", strata=strata)
    given = {
        "review": f"r-{metric}", "metric": metric, "plan": f"p-{metric}", "verdict": verdict,
        "reason": "looked", "blind": True,
    }  # fmt: skip
    log.append("review.recorded", "q1", given, actor=PERSON)


@pytest.mark.parametrize(
    ("reviews", "opened", "by_model", "mark"),
    [
        (0, 0, True, "untrusted: no human review recorded"),
        (0, 0, False, "unreviewed: no human review recorded"),
        (2, 0, False, "unreviewed: 2 human reviews recorded, no seed to draw by"),
        (
            1,
            1,
            False,
            "untrusted: 1 human review recorded, no seed to draw by; 1 disagreement open",
        ),
    ],
)
def test_c29_without_a_seed_there_is_no_coverage(
    log: Log, reviews: int, opened: int, by_model: bool, mark: str
) -> None:
    """A rubric that was rebuilt from a source's log fixed none; nothing is claimed."""
    judged_twice(log)
    with log.model() as model:
        run = model.run(RUN)
        source = model.score_input(run)
        source.rubric = msgspec.structs.replace(source.rubric, review=None)
        found = coverage_of(model, run, source, "judged" if by_model else "exact")
    run.reviews = reviews
    assert (found.planned, found.is_met, found.remaining) == (False, False, [])
    found = msgspec.structs.replace(found, open=opened)
    assert review_marks(run, [found]) == ([], [mark])


def test_marks_need_no_scores(log: Log) -> None:
    """A run without a number has its marks all the same."""
    with log.model() as model:
        marks = trust_marks(model, model.run(RUN), {}, [])
    assert [mark.level for mark in marks] == ["!", "!", "!", "!"]
