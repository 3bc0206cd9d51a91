"""Clauses of the contract on the public interface, each with its bad case."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from document_cases import problems_of, rubric_table
from ledger_cases import (
    HARNESS,
    PERSON,
    RUN,
    empty_ledger,
    full_ledger,
    opened,
    sample_run,
    small_dataset,
    small_ledger,
    small_manifest,
    small_rubric,
    started,
    trial,
)
from trial_ledger.book import Ledger
from trial_ledger.documents.manifest import parse_manifest
from trial_ledger.documents.rubric import parse_rubric
from trial_ledger.errors import ConflictError, RuleError
from trial_ledger.keyed_file import projections_path
from trial_ledger.submission import Submission
from trial_projections.reading import ReadModel
from trial_projections.replay import replay
from trial_projections.summary import RunSummary, summarise


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with frozen documents and an open live run."""
    with small_ledger(tmp_path) as made:
        made.append(opened())
        yield made


def act(ledger: Ledger, kind: str, question: str | None = "q1", **data: object) -> None:
    """Append one event of the run, or of one of its trials."""
    human = kind.startswith(("review.", "disagreement.", "judgment.overridden"))
    key = None if question is None else trial(question)
    actor = PERSON if human else HARNESS
    ledger.append(Submission(kind=kind, run=RUN, trial=key, data=data, actor=actor))


def refuse(
    clause: str, ledger: Ledger, kind: str, question: str | None = "q1", **data: object
) -> None:
    """Expect that one event is refused by a clause and leaves no trace."""
    before = ledger.head()
    with pytest.raises(RuleError) as caught:
        act(ledger, kind, question, **data)
    assert caught.value.clause == clause
    assert ledger.head() == before


def summary_of(ledger: Ledger, run: str = RUN) -> RunSummary:
    """Return what `scores` shows."""
    model = ReadModel.open(ledger)
    try:
        return summarise(model, model.run(run))
    finally:
        model.close()


def start_call(ledger: Ledger, question: str = "q1") -> None:
    """Start a trial and a search call in it."""
    ledger.append(started(RUN, trial(question)))
    act(ledger, "call.started", question, call="c1", purpose="search", endpoint="search")


def lose(ledger: Ledger, *, fault: str = "harness", name: str = "f1") -> None:
    """Record the failure behind a lost response."""
    act(
        ledger, "failure.occurred", occurrence=name, fault=fault, call="c1", impact="trial_failed",
        **{"class": "response_lost"},
    )  # fmt: skip


def document(table: dict[str, object]) -> bytes:
    """Return a document as JSON, which the parsers take for TOML."""
    return json.dumps(table).encode()


def test_c08_a_list_metric_needs_values_for_empty_sets() -> None:
    """Without the three cases a rubric of lists is refused; with them they are frozen."""
    metrics = {"recall": {"measure": "list.recall"}}
    table = rubric_table(primary="recall", metrics=metrics)
    found = problems_of(lambda: parse_rubric(document(table), source="rubric.toml"))
    assert ("empty_sets", "C8") in {(problem.field, problem.clause) for problem in found}
    case = {"precision": "undefined", "recall": "0", "f1": "0"}
    table["empty_sets"] = {"both_empty": case, "answer_empty": case, "gold_empty": case}
    rubric = parse_rubric(document(table), source="rubric.toml")
    assert rubric.empty_sets["answer_empty"].recall == "0"
    assert rubric.empty_sets["answer_empty"].precision == "undefined"


def test_c09_no_run_opens_under_a_manifest_that_is_not_frozen(tmp_path: Path) -> None:
    """Neither a missing manifest nor a changed one can be run under; the frozen one stays."""
    with empty_ledger(tmp_path) as ledger:
        ledger.freeze([small_dataset(), small_rubric()])
        with pytest.raises(RuleError) as missing:
            ledger.append(opened())
        assert missing.value.clause == "C9"
        frozen = ledger.freeze([small_manifest()])[0]
        assert ledger.freeze([small_manifest()])[0].seq == frozen.seq
        with pytest.raises(RuleError) as changed:
            ledger.freeze([small_manifest(limits={"tool_calls": 1})])
        assert changed.value.clause == "C9"
        assert ledger.append(opened()).seq == frozen.seq + 1


def test_c13_a_metric_is_of_one_run_and_a_run_of_one_phase(tmp_path: Path) -> None:
    """A manifest says pilot or final; a final run tells which of its questions a pilot asked."""
    table = json.loads(
        document({"configuration": "x", "dataset": "example@1", "rubric": "quality@1"})
    )
    found = problems_of(
        lambda: parse_manifest(
            document(table), source="manifest.toml", harness=None, environment=None
        )
    )
    assert "phase" in {problem.field for problem in found}
    with empty_ledger(tmp_path) as ledger:
        pilot = small_manifest(phase="pilot", seed=1)
        final = small_manifest(phase="final", seed=2)
        ledger.freeze([small_dataset(), small_rubric()])
        for name, manifest in (("a", pilot), ("b", final)):
            seq = ledger.freeze([manifest])[0].seq
            digest = getattr(ledger.read(seq).event.data, "manifest_hash", "")
            ledger.append(opened(name, manifest=digest))
        pilot_run, final_run = summary_of(ledger, "a"), summary_of(ledger, "b")
    assert (pilot_run.phase, final_run.phase) == ("pilot", "final")
    contaminated = "contaminated: 10 of 10 questions are in pilot a"
    assert contaminated in {mark.text for mark in final_run.trust}
    assert not any("contaminated" in mark.text for mark in pilot_run.trust)


def test_c21_a_lost_response_is_a_harness_fault(ledger: Ledger) -> None:
    """It cannot be put on anybody else, and its trial counts as lost by the harness."""
    start_call(ledger)
    lose(ledger, fault="search_provider")
    refuse("C21", ledger, "response.lost", call="c1", occurrence="f1")
    lose(ledger, name="f2")
    act(ledger, "response.lost", call="c1", occurrence="f2", bytes_received=10, bytes_expected=20)
    act(ledger, "trial.finished", outcome="errored")
    assert summary_of(ledger).metrics[0].outcomes["harness_fault"] == 1


def test_c22_a_miss_needs_inspected_queries_and_no_lost_response(ledger: Ledger) -> None:
    """Neither before the queries were looked at, nor where a response was lost."""
    miss: dict[str, object] = {"missing": "the page", "reason": "not among the results"}
    start_call(ledger)
    refuse("C22", ledger, "retrieval_miss.declared", "q1", **miss)
    act(ledger, "query.inspected", verdict="inadequate", reason="too short")
    refuse("C22", ledger, "retrieval_miss.declared", "q1", **miss)
    act(ledger, "query.inspected", verdict="adequate", reason="they name the thing")
    lose(ledger)
    act(ledger, "response.lost", call="c1", occurrence="f1")
    refuse("C22", ledger, "retrieval_miss.declared", "q1", **miss)
    start_call(ledger, "q2")
    act(ledger, "query.inspected", "q2", verdict="adequate", reason="they name the thing")
    act(ledger, "retrieval_miss.declared", "q2", **miss)


def test_c25_a_failure_that_nobody_saw_is_counted(ledger: Ledger) -> None:
    """Surfacing is an event about a recorded occurrence; what was not surfaced is listed."""
    start_call(ledger)
    refuse("C23", ledger, "failure.surfaced", occurrence="f1", channel="stderr", seen="terminal")
    lose(ledger)
    assert summary_of(ledger).failures.unsurfaced == 1
    act(ledger, "failure.surfaced", occurrence="f1", channel="stderr", seen="emitted")
    assert summary_of(ledger).failures.unsurfaced == 0
    model = ReadModel.open(ledger)
    assert [found.surfaced for found in model.occurrences(RUN)] == ["emitted"]
    model.close()


def test_c26_failures_are_counted_by_class_and_misses_are_none_of_them(ledger: Ledger) -> None:
    """A retrieval miss does not appear among the failures."""
    start_call(ledger)
    lose(ledger)
    start_call(ledger, "q2")
    act(ledger, "query.inspected", "q2", verdict="adequate", reason="they name the thing")
    act(ledger, "retrieval_miss.declared", "q2", missing="the page", reason="not found")
    failures = summary_of(ledger).failures
    assert (failures.total, dict(failures.by_class)) == (1, {"response_lost": 1})


@pytest.mark.parametrize(
    ("measure", "shape"),
    [
        ("fact.correctness", "fact"),
        ("list.precision", "list"),
        ("structured.record_accuracy", "structured"),
        ("research.sourcing", "research"),
    ],
)
def test_c27_a_measure_applies_to_its_task_shape(measure: str, shape: str) -> None:
    """The shape is the measure's own, and another one is refused."""
    case = {"precision": "0", "recall": "0", "f1": "0"}
    empty = {"both_empty": case, "answer_empty": case, "gold_empty": case}
    table = rubric_table(
        primary="m", metrics={"m": {"measure": measure, "grader": "human"}}, empty_sets=empty
    )
    assert parse_rubric(document(table), source=None).metrics["m"].shapes == (shape,)
    other = "fact" if shape != "fact" else "list"
    table["metrics"] = {"m": {"measure": measure, "grader": "human", "shapes": [other]}}
    found = problems_of(lambda: parse_rubric(document(table), source=None))
    assert [problem.field for problem in found] == ["metrics.m.shapes"]


def test_c30_a_disagreement_is_opened_once_and_resolved_once(tmp_path: Path) -> None:
    """It needs a judgment and a review that are there, and a person."""
    with small_ledger(tmp_path) as ledger:
        sample_run(ledger)
        opening = {"disagreement": "d1", "judgment": "j2", "review": "r1"}
        resolution = {**opening, "finding": "judge_wrong", "reason": "looked again"}
        refuse("C30", ledger, "disagreement.opened", "q10", **opening)
        act(
            ledger, "review.recorded", "q10", review="r1", metric="judged", judgment="j2",
            plan="purposive", verdict="correct", reason="an old name", blind=False,
        )  # fmt: skip
        refuse("C30", ledger, "disagreement.resolved", "q10", **resolution)
        act(ledger, "disagreement.opened", "q10", **opening)
        refuse("C30", ledger, "disagreement.opened", "q10", **opening)
        act(ledger, "disagreement.resolved", "q10", **resolution)
        refuse("C30", ledger, "disagreement.resolved", "q10", **resolution)


def test_c32_a_metric_against_misinformation_stands_apart(tmp_path: Path) -> None:
    """Over the same verdicts a wrong answer costs in one metric and not in the other."""
    cautious = {
        "measure": "verdict", "grader": "judge", "scale": ["-1", "1"],
        "outcomes": {"incorrect": {"score": "-1"}},
    }  # fmt: skip
    plain = {"measure": "verdict", "grader": "judge"}
    rubric = small_rubric(primary="judged", metrics={"judged": plain, "cautious": cautious})
    with empty_ledger(tmp_path) as ledger:
        ledger.freeze([small_dataset(), rubric, small_manifest(questions=["q1", "q2"])])
        ledger.append(opened())
        for question, verdict in (("q1", "incorrect"), ("q2", "abstained")):
            ledger.append(started(RUN, trial(question)))
            act(ledger, "answer.submitted", question, answer="x", abstained=verdict == "abstained")
            act(ledger, "trial.finished", question, outcome="answered")
            for metric in ("judged", "cautious"):
                act(
                    ledger, "judgment.recorded", question, judgment=metric, metric=metric,
                    by="model", grader={"name": "judge"}, verdict=verdict, reasoning="compared",
                )  # fmt: skip
        metrics = {metric.name: metric for metric in summary_of(ledger).metrics}
        values = {
            name: metric.headline and metric.headline.low.value for name, metric in metrics.items()
        }
        assert values == {"judged": "0", "cautious": "-1/2"}
        assert metrics["cautious"].outcomes == {"incorrect": 1, "abstained": 1}


def test_c33_projections_rebuilt_from_the_log_are_bit_identical(tmp_path: Path) -> None:
    """Deleted, resumed event by event or folded at once, the states are the same bytes."""
    with full_ledger(tmp_path) as ledger:
        path = projections_path(ledger.store.path)
        first = replay(ledger).digest
        path.unlink()
        ReadModel.open(ledger).close()
        checked = replay(ledger, check=True)
        assert (checked.digest, checked.stored_digest, checked.matches) == (first, first, True)
        ledger.append(opened("another"))
        ReadModel.open(ledger).close()
        assert replay(ledger, check=True).matches is True


def test_c33_a_changed_projection_is_found(tmp_path: Path) -> None:
    """A state that somebody edited is not the log's, and replaying mends it."""
    with full_ledger(tmp_path) as ledger:
        ReadModel.open(ledger).close()
        with sqlite3.connect(projections_path(ledger.store.path)) as connection:
            changed = connection.execute(
                "UPDATE state SET value = ?1 WHERE projection = 'costs' AND value != ?1", (b"\x80",)
            )
            assert changed.rowcount > 0
        connection.close()
        assert replay(ledger, check=True).matches is False
        replay(ledger)
        assert replay(ledger, check=True).matches is True


def test_c36_a_published_metric_is_an_event_of_its_run(tmp_path: Path) -> None:
    """It names a metric that the rubric has, and no more of the run than there is."""
    with small_ledger(tmp_path) as ledger:
        sample_run(ledger)
        links = summary_of(ledger).run.links
        number: dict[str, object] = {"value": "3/5", "derivation": "ab" * 32, "size": 4}
        refuse("C14", ledger, "metric.published", None, metric="other", link=links, **number)
        refuse("C36", ledger, "metric.published", None, metric="exact", link=links + 1, **number)
        act(ledger, "metric.published", None, metric="exact", link=links, **number)
        assert summary_of(ledger).run.links == links + 1


def test_an_id_with_other_content_is_a_conflict(ledger: Ledger) -> None:
    """The same id and content add nothing; the same id and other content are refused."""
    event = started(RUN, trial("q1"))
    named = Submission(
        kind=event.kind, run=event.run, trial=event.trial, data=event.data, id="ab" * 16,
        actor=event.actor,
    )  # fmt: skip
    first = ledger.append(named)
    assert ledger.append(named).status == "exists"
    assert ledger.append(named).seq == first.seq
    other = Submission(
        kind=event.kind, run=event.run, trial=trial("q2"), data=event.data, id="ab" * 16,
        actor=event.actor,
    )  # fmt: skip
    with pytest.raises(ConflictError) as caught:
        ledger.append(other)
    assert caught.value.field == "trial"
