"""Which runs, sessions and trials there are: the `runs` and `trials` projections."""

from pathlib import Path

import msgspec

from ledger_cases import RUN, full_ledger
from projection_cases import Log
from trial_ledger.keyed_file import KeyedFile
from trial_projections.fold import fold
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord, TrialRecord
from trial_projections.standing import RunsProjection


def run_of(log: Log, name: str = RUN) -> RunRecord:
    """Return the record of a run."""
    with log.model() as model:
        return model.run(name)


def trials_of(log: Log) -> dict[str, TrialRecord]:
    """Return the records of the run's trials by question."""
    with log.model() as model:
        return {trial.question: trial for trial in model.trials(model.run(log.run))}


def test_a_run_is_opened_closed_and_resumed(log: Log) -> None:
    """Its status is how it last ended, with the reason; resuming takes both back."""
    opened = run_of(log)
    assert (opened.status, opened.entry, opened.planned) == ("open", "appended", 10)
    assert (opened.rubric, opened.dataset) == ("quality@1", "example@1")
    assert opened.opened.hash == log.ledger.read(opened.opened.seq).hash
    log.act("run.closed", status="interrupted", reason="power")
    closed = run_of(log)
    assert (closed.status, closed.closing_reason is not None) == ("interrupted", True)
    log.act("run.resumed")
    resumed = run_of(log)
    assert (resumed.status, resumed.closing_reason) == ("open", None)


def test_a_run_counts_its_trials_and_links(log: Log) -> None:
    """Starts, ends, the number of its last link and its last event."""
    log.trial("q1")
    log.trial("q2", outcome=None)
    run = run_of(log)
    assert (run.started, run.finished) == (2, 1)
    assert run.links == 6
    assert run.last.seq == log.ledger.store.size()
    log.act("note.added", about="it", text="not a link")
    noted = run_of(log)
    assert (noted.links, noted.last.seq) == (6, log.ledger.store.size())


def test_c12_an_invalidated_run_keeps_every_word(log: Log) -> None:
    """Who, when and why stay, also after it was reinstated; its successor is named."""
    log.open("fast-02", supersedes=RUN, reason="the first was wrong")
    log.run = RUN
    log.act("run.invalidated", reason="wrong endpoint", superseded_by="fast-02")
    run = run_of(log)
    assert not run.is_valid
    assert run.superseded_by == "fast-02"
    assert run_of(log, "fast-02").supersedes == RUN
    log.act("run.reinstated", reason="it was right")
    log.act("run.invalidated", reason="no, wrong")
    words = [(change.valid, change.actor) for change in run_of(log).changes]
    assert words == [(False, "Ada"), (True, "Ada"), (False, "Ada")]
    assert run_of(log).superseded_by == "fast-02"


def test_a_run_knows_what_is_derived_from_and_related_to_it(log: Log) -> None:
    """Both sides of a derivation know each other; a relation is known to the run that says it."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 3}, reason="another rubric")
    log.act("run.related", run=RUN, how="same questions")
    parent, derived = run_of(log), run_of(log, "again")
    assert parent.derived == ["again"]
    assert (derived.derived_from, derived.derived_link) == (RUN, 3)
    assert derived.related == [(RUN, "same questions")]


def test_a_fold_of_one_run_does_not_see_the_others(log: Log) -> None:
    """What a run points at may lie outside of what is folded."""
    log.open("fast-02", supersedes=RUN, reason="better")
    log.open("fast-03", derived_from={"run": RUN, "link": 1}, reason="another rubric")
    file = KeyedFile.temporary()
    projection = RunsProjection()
    state = projection.start(file)
    for name in ("fast-02", "fast-03"):
        assert fold([(projection, state)], log.ledger.events(run=name)) == 1
    assert [run.name for run in state.scan()] == ["fast-02", "fast-03"]
    file.close()


def test_the_sample_run_is_recorded_trial_by_trial(tmp_path: Path) -> None:
    """Everything that people did stands in the records, each with its event."""
    with full_ledger(tmp_path) as ledger:
        model = ReadModel.open(ledger)
        run = model.run(RUN)
        trials = {trial.question: trial for trial in model.trials(run)}
        model.close()
    assert (run.started, run.finished, run.reviews, run.status) == (10, 10, 1, "complete")
    assert [change.valid for change in run.changes] == [False, True]
    assert len(trials) == 10
    q1, q4, q7, q9, q10 = (trials[name] for name in ("q1", "q4", "q7", "q9", "q10"))
    assert (q1.outcome, q1.reason, q1.duration_us) == ("errored", "search", 900)
    assert [known.impact for known in q1.occurrences] == ["trial_failed"]
    assert [(known.recovered is not None, known.purpose) for known in q4.occurrences] == [
        (True, "search")
    ]
    assert q4.calls == {"c0": "search", "c1": "search", "c2": "model", "c3": "judge"}
    assert [change.valid for change in q7.changes] == [False, True]
    assert len(q9.misses) == 1
    assert (q9.leak, q9.abstained) == ("clean", False)
    assert [known.replaces for known in q10.judgments] == [None, None, "j2"]


def test_a_source_that_was_imported_is_remembered(log: Log) -> None:
    """By its event, since the numbers that it reported lie there."""
    log.act("source.imported", format="inspect", files=[], importer="inspect@1", counts={})
    assert [mark.seq for mark in run_of(log).imported] == [log.ledger.store.size()]


def test_c23_failures_follow_their_assessment_and_recovery(log: Log) -> None:
    """An occurrence is found by its id among several; only news of it changes it."""
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="model", endpoint="model")
    for name in ("f1", "f2"):
        log.act("failure.occurred", "q1", occurrence=name, class_="timeout", call="c1")
    log.act("failure.recovered", "q1", occurrence="f2", by="retry")
    log.act("failure.assessed", "q1", occurrence="f1", impact="degraded")
    log.act("failure.surfaced", "q1", occurrence="f1", channel="stderr", seen="terminal")
    found = {known.id: known for known in trials_of(log)["q1"].occurrences}
    assert (found["f1"].impact, found["f1"].recovered) == ("degraded", None)
    assert (found["f2"].impact, found["f2"].purpose) == ("unknown", "model")
    assert found["f2"].recovered is not None


def test_a_trial_that_never_started_is_no_session(log: Log) -> None:
    """A failure is accepted of any trial (C23); the slot stays not started."""
    log.act("failure.occurred", "q3", occurrence="f1", class_="dns", fault="environment")
    assert trials_of(log)["q3"].started is None
    assert log.score("judged").outcomes == {"not_started": 10}


def test_records_are_written_without_what_is_not_known(log: Log) -> None:
    """Fields at their defaults take no room, and read back as they were."""
    log.trial("q1", outcome=None, answer=None)
    trial = trials_of(log)["q1"]
    encoded = msgspec.msgpack.encode(trial)
    assert b"judgments" not in encoded
    assert msgspec.msgpack.decode(encoded, type=TrialRecord) == trial
