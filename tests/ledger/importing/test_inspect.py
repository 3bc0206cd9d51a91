"""Whole imports: planned slots, losses, reported numbers, ids, and ledgers that take them."""

import json
from typing import Any

import pytest

from inspect_cases import Archive, Logs, fields_of, header, of_kind, sample, text_of
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError
from trial_ledger.events import Actor, NoteAdded, RunRelated
from trial_ledger.importing import inspect_mapping_survey
from trial_ledger.importing.appending import append_run, related_runs
from trial_ledger.importing.inspect import import_inspect
from trial_ledger.importing.source import ImportedRun
from trial_ledger.submission import NewText, Submission


def encoded(value: object) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


def imported(events: list[Submission]) -> Submission:
    """Return the event that says where everything came from."""
    return of_kind(events, "source.imported")[0]


def losses(events: list[Submission]) -> list[str]:
    """Return what the source had already lost."""
    return list(json.loads(text_of(imported(events), "losses")))


def planned(run: ImportedRun) -> tuple[tuple[str, ...], int]:
    """Return planned questions and repetitions."""
    assert run.manifest.questions is not None
    assert run.manifest.repetitions is not None
    return run.manifest.questions, run.manifest.repetitions


def test_planned_are_the_listed_ids_times_the_epochs_and_not_the_size_of_the_dataset(
    logs: Logs,
) -> None:
    """The dataset has 100 samples, the run was of two; the ones never started are told."""
    run = logs.run(sample(2), config={"epochs": 3})
    assert planned(run) == (("q1", "q2"), 3)
    events = list(run.submissions("0" * 64))
    assert "Never started: 5 of 6 planned slots." in losses(events)
    counts: Any = imported(events).data["counts"]
    assert counts["planned_slots"] == 6


def test_without_listed_ids_the_samples_are_what_was_planned(logs: Logs) -> None:
    """The oldest logs list none."""
    run = logs.run(sample(1), sample(7), eval={"dataset": {"samples": 100}})
    assert planned(run) == (("q1", "q7"), 1)
    assert losses(list(run.submissions("x")))[0] == (
        "The log lists no sample ids (size of its dataset: 100): planned are the questions of its"
        " samples, 2."
    )


def test_a_sample_that_is_not_listed_is_planned_too(logs: Logs) -> None:
    """A trial in a slot that nobody planned would be refused."""
    events = logs.events(sample(1), sample(2), sample(9, epoch=2))
    assert any(loss.endswith("not list as planned: 1 (q9).") for loss in losses(events))


@pytest.mark.parametrize(
    ("results", "repetitions"),
    [({"total_samples": 6}, 3), ({"total_samples": 5}, 1), ({}, 1)],
    ids=["whole number", "no whole number", "unknown"],
)
def test_epochs_that_are_not_declared_follow_from_the_number_of_samples(
    logs: Logs, results: dict[str, Any], repetitions: int
) -> None:
    """Total samples are questions times epochs; what does not divide tells nothing."""
    run = logs.run(sample(1), config={"epochs": None}, results=results)
    assert planned(run)[1] == repetitions


def test_an_absurd_number_of_slots_is_refused(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Epochs are a number from the source and not to be trusted for size."""
    monkeypatch.setattr(inspect_mapping_survey, "MAX_SLOTS", 5)
    with pytest.raises(InvalidInputError) as caught:
        logs.run(sample(1), config={"epochs": 3})
    assert caught.value.problems[0].message == "too many planned slots"


@pytest.mark.parametrize("ids", [["q1", "q1"], [1, "1"]], ids=["twice", "number and text"])
def test_a_question_id_that_is_listed_twice_is_refused(logs: Logs, ids: list[object]) -> None:
    """`1` and `"1"` are the same id here."""
    with pytest.raises(InvalidInputError) as caught:
        logs.run(eval={"dataset": {"sample_ids": ids}})
    assert caught.value.problems[0].message == "a question id is listed twice"


def test_samples_that_ran_and_are_not_held_are_lost_and_not_unstarted(logs: Logs) -> None:
    """The results count all of them as completed, so the absent ones were lost."""
    events = logs.events(sample(1), results={"completed_samples": 2})
    lost = of_kind(events, "trial.finished")[0]
    assert str(lost.trial) == "q2#1@s1"
    assert fields_of(lost, "outcome", "reason") == ("unknown", "lost_in_source")
    assert "Samples that ran and are not in the log: 1 (samples/q2/1)." in losses(events)


def test_lost_samples_that_nothing_names_are_told_as_a_number(logs: Logs) -> None:
    """One of two ran and is missing; which one is not guessed."""
    stats = {"model_usage": {"maker/model": {"input_tokens": 5}}}
    events = logs.events(results={"completed_samples": 1}, stats=stats)
    assert of_kind(events, "trial.started") == []
    assert losses(events) == [
        "Never started: 1 of 2 planned slots.",
        "The usage of samples that are not in the log stands only in the log's totals.",
        "Further samples that ran and are not in the log, without their names: 1.",
    ]


def test_a_crashed_run_is_interrupted_and_its_summaries_name_lost_samples(
    logs: Logs, archive: Archive
) -> None:
    """The journal's summaries list samples whose own member was never written."""
    start = {key: value for key, value in header().items() if key in {"version", "eval", "plan"}}
    archive.add("_journal/start.json", encoded(start))
    summaries = [{"id": name, "epoch": 1} for name in ("q1", "q2", "q9")]
    archive.add("_journal/summaries/1.json", encoded([*summaries, {"id": "q1", "epoch": 7}]))
    archive.add("samples/q1_epoch_1.json", encoded(sample(1)))
    run = import_inspect(logs.archived(archive))
    logs.appended(run)
    events = list(run.submissions("0" * 64))
    trials = [str(one.trial) for one in of_kind(events, "trial.started")]
    assert trials == ["q2#1@s1", "q1#1@s1"]
    closed = of_kind(events, "run.closed")[0]
    assert (closed.data["status"], text_of(closed, "reason")) == (
        "interrupted",
        "the log's status is 'started'",
    )
    assert closed.at is None
    assert losses(events)[0].startswith("The run crashed: there is no header.json")
    assert of_kind(events, "run.opened")[0].at == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("status", "error", "expected", "reason"),
    [
        ("success", {}, "complete", None),
        ("cancelled", {}, "interrupted", "the log's status is 'cancelled'"),
        ("error", {"message": "ValueError('x')"}, "failed", "ValueError('x')"),
        ("surprise", {}, "interrupted", "the log's status is 'surprise'"),
    ],
)
def test_the_end_of_the_run_follows_the_status_of_the_log(
    logs: Logs, status: str, error: dict[str, Any], expected: str, reason: str | None
) -> None:
    """A run that did not complete says why."""
    closed = of_kind(logs.events(sample(1), status=status, error=error), "run.closed")[0]
    assert closed.data["status"] == expected
    found = closed.data.get("reason")
    assert (found.content.decode() if isinstance(found, NewText) else None) == reason


def test_the_source_is_kept_with_both_digests_and_its_own_numbers(logs: Logs) -> None:
    """The file is named after the run, because a copy under another name is the same source."""
    scores = [
        {
            "name": "match",
            "scorer": "match",
            "reducer": "mean",
            "scored_samples": 2,
            "metrics": {"accuracy": {"value": 0.50}, "stderr": {"value": float("nan")}},
        }
    ]
    run = logs.run(sample(1), results={"scores": scores})
    event = imported(list(run.submissions("0" * 64)))
    content = event.data["content"]
    assert isinstance(content, NewText)
    assert (content.content, content.class_) == (run.source.content, "gold")
    assert event.data["files"] == [
        {
            "name": f"{run.name}.json",
            "blake3": run.source.blake3,
            "sha256": run.source.sha256,
            "bytes": len(run.source.content),
        }
    ]
    assert event.data["importer"] == "inspect@1"
    reported = json.loads(text_of(event, "reported"))
    assert [(one["metric"], one["value"], one["scored_samples"]) for one in reported] == [
        ("accuracy", "0.5", 2),
        ("stderr", "NaN", 2),
    ]


def test_the_oldest_form_of_results_and_scores_is_read(logs: Logs) -> None:
    """One scorer with its metrics beside it, and one score without a name."""
    results = {"scorer": {"name": "score"}, "metrics": {"accuracy": {"value": 1}, "odd": 7}}
    events = logs.events(sample(1, scores=..., score={"value": "C"}), results=results)
    assert of_kind(events, "judgment.recorded")[0].data["metric"] == "score"
    reported = json.loads(text_of(imported(events), "reported"))
    assert [(one["scorer"], one["metric"], one["value"]) for one in reported] == [
        ("score", "accuracy", "1"),
        ("score", "odd", "7"),
    ]


def test_everything_that_was_left_out_is_told_in_plain_sentences(
    logs: Logs, archive: Archive
) -> None:
    """Counts and places; nothing about the importer or the file's name."""
    archive.add("header.json", encoded(header(invalidated=True, status="started")))
    archive.add("reductions.json", b"[]")
    archive.add("notes.txt", b"x")
    events = [
        {"event": "model", "call": {"raw": 1}, "retries": 1, "input_refs": [[0, 1]]},
        {"event": "score", "intermediate": True},
        {"event": "info"},
        {"event": "info"},
        {},
    ]
    archive.add("samples/q1_epoch_1.json", encoded(sample(1, events=events)))
    archive.add("samples/q2_epoch_1.json", encoded(sample(2)))
    run = import_inspect(logs.archived(archive))
    assert "\n".join(losses(list(run.submissions("x")))) == LEFT_OUT


LEFT_OUT = """\
The log was written while the run was going on; its end is not shown.
Scores reduced over epochs (reductions) were not carried over; they follow from the samples.
The log is marked as invalidated, but not one of its samples is.
Members of no known version were not carried over: notes.txt.
Cost not reported, so unknown: 1 of 1 model and judge calls.
Samples without events, so that their calls and times are not shown: samples/q2/1/s1.
References to attachments or pooled messages that lead nowhere and stand as they were: 1.
Model events whose raw request and response of the provider stand in the source only: 1.
Intermediate scores that were not carried over: 1.
Requests that failed and were repeated, of whose failures only the number is known: 1.
Events of kinds without a counterpart, which stand in the source only: info 2, unnamed 1."""


def test_a_long_list_of_places_is_shortened(logs: Logs) -> None:
    """The number of further ones is told."""
    events = logs.events(*(sample(number) for number in range(1, 30)))
    shown = next(loss for loss in losses(events) if loss.startswith("Samples without events"))
    assert shown.endswith("samples/q20/1/s1 and 9 more.")


def test_later_changes_of_a_log_are_notes_with_their_author(logs: Logs) -> None:
    """Edits of tags and changes of the running configuration are kept as they were stated."""
    update = {"edits": [], "provenance": {"author": "Ada", "timestamp": "2026-01-01T00:00:00Z"}}
    events = logs.events(sample(1), log_updates=[update], config_updates=[{"changes": []}])
    notes = of_kind(events, "note.added")
    assert [one.data["about"] for one in notes] == ["log_updates", "config_updates", "source-keys"]
    assert notes[0].actor == Actor(role="human", name="Ada")
    assert json.loads(text_of(notes[0], "text")) == update


@pytest.mark.parametrize(
    ("spec", "keys"),
    [
        ({}, ("eval:eval-1", "sample:uuid-1-1")),
        ({"eval_id": ...}, ("task:run-1/task-1", "sample:uuid-1-1")),
        ({"eval_id": ..., "task_id": ...}, ("sample:uuid-1-1",)),
    ],
    ids=["evaluation id", "older", "oldest"],
)
def test_the_keys_of_a_source_are_its_own_ids(
    logs: Logs, spec: dict[str, Any], keys: tuple[str, ...]
) -> None:
    """Evaluation and samples are recognised whatever the bytes are."""
    run = logs.run(sample(1), eval=spec)
    assert run.source_keys == keys
    assert json.loads(text_of(of_kind(list(run.submissions("x")), "note.added")[0], "text")) == [
        *keys
    ]


def test_a_log_without_any_id_has_no_keys(logs: Logs) -> None:
    """Then nothing is noted."""
    events = logs.events(sample(1, uuid=...), eval={"eval_id": ..., "run_id": ...})
    assert of_kind(events, "note.added") == []


def test_ids_depend_on_the_bytes_and_not_on_the_name_of_the_file(logs: Logs) -> None:
    """A byte copy gives the same events; one changed letter gives others."""
    first = import_inspect(logs.json([sample(1)], name="a.json"))
    copy = import_inspect(logs.json([sample(1)], name="b.json"))
    other = import_inspect(logs.json([sample(1, target="other")], name="c.json"))
    assert list(first.submissions("x")) == list(copy.submissions("x"))
    ids = [{one.id for one in run.submissions("x")} for run in (first, other)]
    assert len(ids[0]) == len(list(first.submissions("x")))
    assert not ids[0] & ids[1]


def test_events_come_again_as_often_as_they_are_asked_for(logs: Logs) -> None:
    """Counts start anew each time."""
    run = logs.run(sample(1), sample(2))
    assert list(run.submissions("x")) == list(run.submissions("x"))


def test_a_second_import_appends_nothing(logs: Logs) -> None:
    """Nor does a copy under another name."""
    with Ledger.create(logs.folder / "x.ledger") as ledger:
        append_run(ledger, import_inspect(logs.json([sample(1)], name="a.json")))
        size = ledger.head().size
        again = append_run(ledger, import_inspect(logs.json([sample(1)], name="b.json")))
        assert {one.status for one in again} == {"exists"}
        assert ledger.head().size == size


def test_runs_of_one_source_are_related_both_ways_and_others_are_not(logs: Logs) -> None:
    """A shared sample is enough; a second import finds the relation there."""
    runs = [
        logs.run(sample(1)),
        logs.run(sample(1, target="edited"), eval={"eval_id": "eval-2"}),
        logs.run(sample(2), eval={"eval_id": "eval-3"}),
    ]
    with Ledger.create(logs.folder / "x.ledger") as ledger:
        for run in (*runs, runs[0]):
            append_run(ledger, run)
        found = [
            (stored.event.run, stored.event.data.run)
            for stored in ledger.events()
            if isinstance(stored.event.data, RunRelated)
        ]
        first, second, third = (run.name for run in runs)
        assert found == [(second, first), (first, second)]
        assert related_runs(ledger, runs[2]) == []
        assert third not in {name for pair in found for name in pair}


def test_keys_that_were_erased_relate_nothing(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redacted note is unknown, not a mistake; other notes are no keys."""
    run, edited = logs.run(sample(1)), logs.run(sample(1, target="edited"))
    with Ledger.create(logs.folder / "x.ledger") as ledger:
        append_run(ledger, run)
        note = {"about": run.name, "text": "a remark"}
        ledger.append(Submission(kind="note.added", run=run.name, data=note))
        assert related_runs(ledger, edited) == [run.name]
        notes = [one for one in ledger.events() if isinstance(one.event.data, NoteAdded)]
        assert len(notes) == 2
        monkeypatch.setattr(ledger, "blob", lambda _: None)
        assert related_runs(ledger, edited) == []
