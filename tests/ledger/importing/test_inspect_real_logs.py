"""Every real Inspect log at hand: published numbers, our counts, and importing twice."""

import csv
import json
import re
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from inspect_cases import Logs, text_of
from trial_ledger.book import Ledger
from trial_ledger.events import RunRelated
from trial_ledger.importing.appending import RELATION, append_run, related_runs
from trial_ledger.importing.inspect import import_inspect
from trial_ledger.importing.source import ImportedRun
from trial_ledger.submission import NewText
from trial_ledger.verification import verify

WEIGHTS = {"correct": Fraction(1), "partial": Fraction(1, 2)}
EXPECTATION = re.compile(r"(?P<path>.+) (?P<scorer>\S+) accuracy \(.*")


class Scores(NamedTuple):
    """What a run's events say about one metric."""

    planned: int
    sum: Fraction
    undecided: int
    not_started: int
    cancelled: int
    values: dict[str, list[Fraction]]


def all_logs(folder: Path) -> list[Path]:
    """Return every log in the folder."""
    return sorted(path for path in folder.rglob("*") if path.suffix in {".eval", ".json"})


def log_by_number(folder: Path, number: str) -> Path:
    """Return one of the generated logs."""
    return next((folder / "generated").glob(f"{number}_*/*"))


def scores_of(run: ImportedRun, metric: str, *, without_invalidated: bool = False) -> Scores:
    """Return what the events of a run say about one metric, errors scored 0."""
    events = list(run.submissions("0" * 64))
    excluded = {
        event.trial for event in events if without_invalidated and event.kind == "trial.invalidated"
    }
    outcomes = {
        event.trial: event.data["outcome"]
        for event in events
        if event.kind == "trial.finished" and event.trial not in excluded
    }
    values: dict[object, Fraction | None] = {}
    metrics: dict[object, object] = {}
    for event in events:
        if event.trial in excluded or not event.kind.startswith("judgment."):
            continue
        name = event.data.get("metric") or metrics[event.trial, event.data["replaces"]]
        metrics[event.trial, event.data["judgment"]] = name
        if name == metric:
            verdict, score = event.data.get("verdict"), event.data.get("score")
            decided = event.kind != "judgment.failed" and verdict != "not_gradable"
            value = Fraction(str(score)) if score else WEIGHTS.get(str(verdict), Fraction(0))
            values[event.trial] = value if decided else None
    answered = [trial for trial, outcome in outcomes.items() if outcome in {"answered", "limit"}]
    by_question: dict[str, list[Fraction]] = defaultdict(list)
    for trial in answered:
        number = values.get(trial)
        if trial is not None and number is not None:
            by_question[trial.question].append(number)
    counted = Counter(str(outcome) for outcome in outcomes.values())
    planned = len(run.manifest.questions or ()) * (run.manifest.repetitions or 1)
    return Scores(
        planned=planned - len(excluded),
        sum=sum((value for members in by_question.values() for value in members), Fraction(0)),
        undecided=sum(values.get(trial) is None for trial in answered) + counted["unknown"],
        not_started=planned - len(outcomes) - len(excluded),
        cancelled=counted["cancelled"],
        values=dict(by_question),
    )


def expectations(folder: Path) -> list[tuple[Path, str, Decimal]]:
    """Return log, scorer and published accuracy of every row about Inspect."""
    rows = csv.reader((folder.parent / "expected.csv").read_text().splitlines())
    found = []
    for row in rows:
        if row and row[0] == "inspect":
            match = EXPECTATION.fullmatch(row[1])
            assert match is not None
            logs = [
                path
                for path in all_logs(folder)
                if str(path.relative_to(folder)).startswith(match["path"])
            ]
            assert len(logs) == 1
            found.append((logs[0], match["scorer"], Decimal(row[2])))
    return found


def test_every_published_accuracy_follows_from_our_events(real_logs: Path) -> None:
    """All 32 come out under the source's own rule: mean over ids of the mean over repetitions."""
    rows = expectations(real_logs)
    assert len(rows) == 32
    for path, scorer, published in rows:
        values = scores_of(import_inspect(path), scorer).values
        means = [sum(members, Fraction(0)) / len(members) for members in values.values()]
        mean = sum(means, Fraction(0)) / len(means)
        assert abs(mean - Fraction(published)) < Fraction(1, 10**12), (path.name, scorer)


def test_every_published_number_is_kept_as_the_text_it_was_written_with(real_logs: Path) -> None:
    """The source's own numbers stand in `source.imported`, exactly, with their counts."""
    run = import_inspect(log_by_number(real_logs, "03"))
    imported = next(e for e in run.submissions("0" * 64) if e.kind == "source.imported")
    reported = json.loads(text_of(imported, "reported"))
    assert {
        "score": "model_graded_fact",
        "scorer": "model_graded_fact",
        "metric": "accuracy",
        "reducer": None,
        "value": "0.6666666666666666",
        "scored_samples": 27,
        "unscored_samples": 3,
    } in reported


PRIMARY = [
    ("03", "includes", 30, 11, 0, 0, 0),
    ("03", "model_graded_fact", 30, 18, 3, 0, 0),
    ("04", "includes", 60, 22, 0, 0, 0),
    ("04", "model_graded_fact", 60, 26, 0, 0, 0),
    ("05", "includes", 15, 3, 0, 9, 1),
    ("06", "includes", 8, 0, 0, 0, 0),
    ("07", "picky", 20, 12, 1, 0, 0),
    ("09", "includes", 30, 11, 0, 0, 0),
    ("09", "model_graded_fact", 30, 18, 3, 0, 0),
    ("10", "includes", 40, 3, 0, 30, 1),
    ("10", "model_graded_fact", 40, 5, 0, 30, 1),
]


@pytest.mark.parametrize(
    ("number", "metric", "planned", "right", "undecided", "not_started", "cancelled"), PRIMARY
)
def test_c20_the_denominator_is_the_planned_slots(
    real_logs: Path,
    number: str,
    metric: str,
    planned: int,
    right: int,
    undecided: int,
    not_started: int,
    cancelled: int,
) -> None:
    """Errors, unstarted and cancelled samples stay in; unscored ones make the metric a range."""
    scores = scores_of(import_inspect(log_by_number(real_logs, number)), metric)
    found = (scores.planned, int(scores.sum), scores.undecided)
    assert found == (planned, right, undecided)
    assert scores.sum == right
    assert (scores.not_started, scores.cancelled) == (not_started, cancelled)


@pytest.mark.parametrize(("metric", "right"), [("includes", 11), ("model_graded_fact", 18)])
def test_c12_without_the_three_invalidated_trials_the_denominator_is_27(
    real_logs: Path, metric: str, right: int
) -> None:
    """Log 09 invalidates three judged trials, so both numbers can be printed."""
    run = import_inspect(log_by_number(real_logs, "09"))
    scores = scores_of(run, metric, without_invalidated=True)
    assert (scores.planned, int(scores.sum), scores.undecided) == (27, right, 0)


def test_c31_log_08_shows_19_overrides_with_author_and_reason(real_logs: Path) -> None:
    """The first verdict is recorded, then replaced by a named person's."""
    events = list(import_inspect(log_by_number(real_logs, "08")).submissions("0" * 64))
    overrides = [event for event in events if event.kind == "judgment.overridden"]
    recorded = {
        (event.trial, event.data["judgment"]): event.data["verdict"]
        for event in events
        if event.kind == "judgment.recorded"
    }
    assert len(overrides) == 19
    for override in overrides:
        assert override.actor is not None
        assert (override.actor.role, override.actor.name) == ("human", "NQ301 human annotation")
        reason = text_of(override, "reason")
        assert reason.startswith("human review disagrees with the automated verdict\n\nhuman label")
        before = recorded[override.trial, override.data["replaces"]]
        assert {before, override.data["verdict"]} == {"correct", "incorrect"}


def test_c23_log_03_recovers_14_time_outs_and_no_permission_failure(real_logs: Path) -> None:
    """A failure is recovered only where the same call later succeeded."""
    events = list(import_inspect(log_by_number(real_logs, "03")).submissions("0" * 64))
    occurred = {
        (event.trial, event.data["occurrence"]): (event.data["class"], event.data["detail_class"])
        for event in events
        if event.kind == "failure.occurred"
    }
    recovered = Counter(
        occurred[event.trial, event.data["occurrence"]]
        for event in events
        if event.kind == "failure.recovered"
    )
    assert Counter(occurred.values()) == {
        ("timeout", "timeout"): 14,
        ("tool_error", "permission"): 9,
        ("judge_unparseable", "grader_failed"): 3,
    }
    assert recovered == {("timeout", "timeout"): 14}


def test_c19_judge_calls_are_told_apart_by_span(real_logs: Path) -> None:
    """The judge is the same model as the one under test, and the log names no roles."""
    run = import_inspect(log_by_number(real_logs, "01"))
    started = [e for e in run.submissions("0" * 64) if e.kind == "call.started"]
    assert Counter(str(event.data["purpose"]) for event in started) == {"model": 120, "judge": 120}
    for event in started:
        request = event.data["request"]
        assert isinstance(request, NewText)
        assert request.class_ == ("gold" if event.data["purpose"] == "judge" else None)


def test_all_29_files_import_verify_and_import_again_without_a_new_event(
    real_logs: Path, logs: Logs
) -> None:
    """Two of them are byte copies of others and append nothing; neither does a second import."""
    paths = all_logs(real_logs)
    assert len(paths) == 29
    with Ledger.create(logs.folder / "all.ledger") as ledger:
        copies = 0
        for path in paths:
            statuses = {ack.status for ack in append_run(ledger, import_inspect(path))}
            assert statuses in ({"appended"}, {"exists"})
            copies += statuses == {"exists"}
        assert copies == 2
        size = ledger.head().size
        for path in paths:
            append_run(ledger, import_inspect(path))
        assert ledger.head().size == size
        checked = verify(ledger)
        assert (checked.findings, checked.size, checked.open_trials) == ([], size, [])


def test_logs_of_one_evaluation_with_other_bytes_are_related_both_ways(
    real_logs: Path, logs: Logs
) -> None:
    """Log 08 is log 01 after its edits: same evaluation and samples, other bytes."""
    runs = [import_inspect(log_by_number(real_logs, number)) for number in ("01", "08")]
    with Ledger.create(logs.folder / "two.ledger") as ledger:
        for run in runs:
            append_run(ledger, run)
        relations = {
            (stored.event.run, stored.event.data.run, stored.event.data.how)
            for stored in ledger.events()
            if isinstance(stored.event.data, RunRelated)
        }
        first, second = (run.name for run in runs)
        assert relations == {(first, second, RELATION), (second, first, RELATION)}
        assert related_runs(ledger, runs[0]) == [second]
