"""Real logs of the lm-evaluation-harness through the real commands: its numbers and ours."""

import csv
import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from blake3 import blake3

from cli_cases import Result, ledger
from trial_ledger.book import Ledger
from trial_ledger.events import (
    AnswerSubmitted,
    CallFinished,
    CallStarted,
    RunInvalidated,
    RunOpened,
    RunRelated,
    SourceImported,
)
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.reported import reported_by_source
from trial_projections.scores import MetricScore, place_slots, score_run
from trial_projections.source_rules.explaining import explain_all
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.registry import compute

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL_DATA = Path(os.environ.get("LEDGER_REAL_DATA") or BESIDE)
LOGS = REAL_DATA / "lm-eval-logs"
STDERR = "_stderr"
DOUBLE_DIGITS = 15
"""Significant digits that a decimal keeps on its way through a double."""
ZERO_SHOT = "NQ301_text-davinci-003_zeroshot"
REASON = "doc_to_target was a template, which made one text of all aliases: every score is 0"

pytestmark = pytest.mark.skipif(
    not LOGS.is_dir(), reason="the real lm-eval logs are not here: set LEDGER_REAL_DATA"
)


class Imported(NamedTuple):
    """All logs in one ledger, read once."""

    folder: Path
    model: ReadModel
    runs: dict[str, RunRecord]
    """Run by the folder of its files, as `run/dummy`."""


def folder_of(digest: str) -> str:
    """Return the folder of the results file with a digest."""
    (path,) = (
        path
        for path in LOGS.rglob("results_*.json")
        if blake3(path.read_bytes()).hexdigest() == digest
    )
    return str(path.parent.relative_to(LOGS))


def opened_model(folder: Path) -> Iterator[Imported]:
    """Open a ledger and find the run of each folder of logs."""
    with Ledger.open(folder / "trials.ledger") as opened:
        model = ReadModel.open(opened)
        runs = {
            folder_of(data.files[0].blake3): run
            for run in model.runs()
            for data in sources(model, run)
            if data.reported is not None
        }
        yield Imported(folder, model, runs)
        model.close()


def sources(model: ReadModel, run: RunRecord) -> list[SourceImported]:
    """Return where a run comes from: a samples file, and a results file."""
    found = [model.ledger.read(mark.seq).event.data for mark in run.imported]
    assert all(isinstance(data, SourceImported) for data in found)
    return [data for data in found if isinstance(data, SourceImported)]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    """Import every log with one command."""
    folder = tmp_path_factory.mktemp("lm-eval")
    assert ledger(folder, "init").code == 0
    done = ledger(folder, "import", "lm-eval", LOGS)
    assert done.code == 0, done.err
    assert "7 of 7 files, " in done.out
    yield from opened_model(folder)


def published() -> list[tuple[str, str, str]]:
    """Return folder, key and number of every row about lm-eval, each with all of its digits."""
    found: list[tuple[str, str, str]] = []
    for row in csv.reader((REAL_DATA / "expected.csv").read_text("utf-8").splitlines()):
        if row and row[0] == "lm-eval":
            folder, _, key = row[1].partition(" ")
            found.append((folder, key, row[2]))
    return found


def metric_of(key: str) -> str:
    """Return the metric that a key of the source is about."""
    return key.replace(STDERR, "")


def score_of(imported: Imported, folder: str, key: str) -> MetricScore:
    """Return our number of a metric."""
    source = imported.model.score_input(imported.runs[folder])
    return score_run(source)[metric_of(key)]


def values_of(imported: Imported, folder: str, key: str) -> list[Fraction]:
    """Return the score of every document, in the order of the source."""
    source = imported.model.score_input(imported.runs[folder])
    placed = place_slots(source, metric_of(key))
    found = [slot.cell.score for slot in placed]
    assert None not in found, "all are judged"
    return [Fraction(value) for value in found if value is not None]


def rounded(value: Fraction) -> Decimal:
    """Return a number at the digits that a double holds."""
    with_digits = Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(f"{with_digits:.{DOUBLE_DIGITS - 1}e}")


def test_all_20_published_numbers_come_out_of_the_records(imported: Imported) -> None:
    """Each mean is the double next to ours; each standard error is ours to a double's 15 digits."""
    rows = published()
    assert len(rows) == 20
    wrong = []
    for folder, key, text in rows:
        if STDERR in key:
            facts = RunFacts(imported.model, imported.runs[folder], metric_of(key))
            found = compute(facts, "standard_error").fraction
            assert found is not None
            same = rounded(found) == rounded(Fraction(text))
        else:
            headline = score_of(imported, folder, key).headline
            assert headline is not None
            assert headline.is_point
            same = float(Fraction(str(headline.low.value))) == float(text)
        if not same:
            wrong.append((folder, key, text))
    assert wrong == []


def test_the_sources_own_arithmetic_gives_its_last_digits(imported: Imported) -> None:
    """Its rule in doubles, on the scores of the ledger, gives every published digit."""
    for folder, key, text in published():
        values = [float(value) for value in values_of(imported, folder, key)]
        mean = sum(values) / len(values)
        if STDERR in key:
            squares = sum((value - mean) ** 2 for value in values)
            found = math.sqrt(squares / (len(values) - 1)) / math.sqrt(len(values))
        else:
            found = mean
        assert repr(found) == text, (folder, key)


def test_every_reported_number_is_explained_by_a_named_rule(imported: Imported) -> None:
    """What the source says stands with its digits beside the rule of ours that gives it."""
    told: set[tuple[str, str, str]] = set()
    for folder, run in imported.runs.items():
        for found in explain_all(imported.model, run):
            name = found.reported.name
            assert found.by_name, (folder, found.words)
            assert found.rule == {"mean": "headline", "stderr": "standard_error"}[name]
            metric, _, filter_ = found.metric.partition(",")
            suffix = STDERR if name == "stderr" else ""
            told.add((folder, f"{metric}{suffix},{filter_}", found.reported.value))
    assert told == set(published())


def test_c16_a_document_is_one_trial_with_every_response_and_a_judgment_a_filter(
    imported: Imported,
) -> None:
    """Asked three times, under two filters: one trial, three calls, two judgments."""
    run = imported.runs["run/rotate"]
    source = imported.model.score_input(run)
    assert sorted(source.rubric.metrics) == ["exact_match,first", "exact_match,maj3"]
    assert (len(source.slots.questions), source.slots.repetitions) == (301, 1)
    kinds = Counter(stored.event.kind for stored in imported.model.ledger.events(run=run.name))
    assert kinds["trial.started"] == kinds["answer.submitted"] == 301
    assert kinds["call.started"] == kinds["call.finished"] == 903
    assert kinds["judgment.recorded"] == 602
    calls = calls_of(imported, "run/rotate", "1")
    assert [response for _, response in calls] == [
        "Baylor Bears",
        "The Baylor Lady Bears won the 2020 NCAA Women's Basketball Championship.",
        "South Carolina",
    ]


def calls_of(imported: Imported, folder: str, question: str) -> list[tuple[str, str]]:
    """Return request and response of every call of a document."""
    book = imported.model.ledger
    texts: list[str] = []
    for stored in book.events(run=imported.runs[folder].name):
        data, trial = stored.event.data, stored.event.trial
        reference = None
        if trial is not None and trial.question == question:
            if isinstance(data, CallStarted):
                reference = data.request
            elif isinstance(data, CallFinished):
                reference = data.response
        if reference is not None:
            texts.append((book.blob(reference) or b"").decode())
    return list(zip(texts[::2], texts[1::2], strict=True))


def test_multiple_choice_keeps_both_likelihoods(imported: Imported) -> None:
    """One call a choice, with the choice in its request and the likelihood in its response."""
    calls = calls_of(imported, "run/dummy", "0")
    assert [json.loads(request)["arg_1"] for request, _ in calls] == [" Yes", " No"]
    assert [json.loads(response) for _, response in calls] == [
        ["-0.2604923103919594", "False"],
        ["-0.8050278270130223", "False"],
    ]


def test_runs_of_one_task_share_its_dataset_but_not_the_invalid_gold(imported: Imported) -> None:
    """Prompts are no part of a dataset; a target that was made otherwise is."""
    datasets = {
        stored.event.run: stored.event.data.dataset
        for stored in imported.model.ledger.events()
        if isinstance(stored.event.data, RunOpened)
    }
    names = {folder: datasets[run.name] for folder, run in imported.runs.items()}
    few = "NQ301_text-davinci-003_fewshot-n64"
    assert names[f"run/{ZERO_SHOT}"] == names[f"run/{few}"]
    assert names[f"invalid_run/{ZERO_SHOT}"] == names[f"invalid_run/{few}"]
    assert names[f"run/{few}"] != names[f"invalid_run/{few}"]


def test_both_files_are_kept_byte_for_byte(imported: Imported) -> None:
    """With both digests, and the bytes in the gold file."""
    for folder, run in imported.runs.items():
        kept = [
            imported.model.ledger.blob(data.content)
            for data in sources(imported.model, run)
            if data.content
        ]
        assert sorted(filter(None, kept)) == sorted(
            path.read_bytes() for path in (LOGS / folder).iterdir()
        )


def test_what_an_import_cannot_have_is_said(imported: Imported) -> None:
    """The order was not witnessed, costs are unknown, and the losses are listed; at 80 columns."""
    for run in imported.runs.values():
        done = ledger(imported.folder, "scores", run.name)
        assert done.code == 0
        assert "order not witnessed: imported after the fact" in done.out
        assert "calls unknown" in done.out
        assert "source says mean 0." in " ".join(done.out.split())
        assert max(map(len, done.out.splitlines())) <= 80
        assert len(reported_by_source(imported.model, run)) in {2, 4}
    (row,) = ledger(imported.folder, "import", "lm-eval", LOGS / "run" / "dummy", "--json").json[
        "files"
    ]
    assert row["appended"] == 0
    assert row["losses"] == [
        "The harness records no times, token usage or cost of single requests: all unknown.",
        "The harness records no failed or repeated requests; whether there were any is unknown.",
        "The commit of the task's definition is not shown (git_hash).",
    ]


def test_a_second_import_adds_nothing_and_everything_verifies(imported: Imported) -> None:
    """By folder, by file, by samples: the same seven runs; log and projections are intact."""
    before = imported.model.ledger.head().size
    every = [str(path) for path in LOGS.rglob("*_20*.json*")]
    assert len(every) == 14
    again = ledger(imported.folder, "import", "lm-eval", *every)
    assert (again.code, "7 of 7 files, 0 events appended" in again.out) == (0, True)
    with Ledger.open(imported.folder / "trials.ledger") as book:
        assert book.head().size == before
        related = [one for one in book.events() if isinstance(one.event.data, RunRelated)]
        assert related == []
    assert ledger(imported.folder, "verify").code == 0
    assert ledger(imported.folder, "replay", "--check").code == 0


def answers_of(model: ReadModel, run: RunRecord) -> list[bytes]:
    """Return every answer of a run, without blanks around it."""
    return [
        (model.ledger.blob(stored.event.data.answer) or b"").strip()
        for stored in model.ledger.events(run=run.name)
        if isinstance(stored.event.data, AnswerSubmitted) and stored.event.data.answer is not None
    ]


def invalidate(folder: Path, wrong: str, right: str) -> Result:
    """Invalidate a run by the command that people use."""
    return ledger(
        folder, "invalidate", wrong, "--superseded-by", right, "--reason", REASON, "--actor", "Ada"
    )


def test_c12_the_invalid_run_and_its_correction_both_stay(tmp_path: Path) -> None:
    """Two runs, one invalid with its explanation and superseded; nothing of it is lost."""
    assert ledger(tmp_path, "init").code == 0
    for part in ("invalid_run", "run"):
        assert ledger(tmp_path, "import", "lm-eval", LOGS / part / ZERO_SHOT).code == 0
    with Ledger.open(tmp_path / "trials.ledger") as book:
        before = [one.hash for one in book.events()]
        names = [one.event.run for one in book.events() if isinstance(one.event.data, RunOpened)]
    wrong, right = (str(name) for name in names)
    key = "exact_match,none"
    assert wrong != right
    done = invalidate(tmp_path, wrong, right)
    assert done.code == 0, done.err

    for imported in opened_model(tmp_path):
        model, runs = imported.model, imported.runs
        found = [one.event for one in model.ledger.events(run=wrong)]
        (act,) = (event for event in found if isinstance(event.data, RunInvalidated))
        assert isinstance(act.data, RunInvalidated)
        assert (act.actor.role, act.actor.name) == ("human", "Ada")
        assert act.data.superseded_by == right
        assert model.ledger.blob(act.data.reason) == REASON.encode()
        # Every event of both runs is what it was.
        assert [one.hash for one in model.ledger.events()][: len(before)] == before
        sums = {folder: score_of(imported, folder, key).headline for folder in runs}
        assert {folder: one.low.sum for folder, one in sums.items() if one} == {
            f"invalid_run/{ZERO_SHOT}": "0",
            f"run/{ZERO_SHOT}": "38",
        }
        # The same answers, but for a blank before each, were judged against other gold.
        answers = [answers_of(model, run) for run in runs.values()]
        assert answers[0] == answers[1]
        assert len(answers[0]) == 301

    for command in ("scores", "trials", "costs", "failures"):
        invalid = ledger(tmp_path, command, wrong)
        assert "INVALID" in invalid.out.splitlines()[0], command
        assert "INVALID" not in ledger(tmp_path, command, right).out, command
    assert "INVALID" in ledger(tmp_path, "explain", wrong, key).out
    listing = ledger(tmp_path, "runs").out.splitlines()
    assert [("INVALID" in row) for row in listing if row.startswith("nq301")] == [True, False]
    shown = ledger(tmp_path, "scores", wrong).out
    assert f"superseded by {right}" in shown
    assert "0/301" in shown
    assert "said Ada: doc_to_target was a template" in " ".join(shown.split())
    assert "38/301" in ledger(tmp_path, "scores", right).out
    document = json.loads(ledger(tmp_path, "scores", wrong, "--json").out)
    assert "INVALID" in json.dumps(document)
    assert ledger(tmp_path, "verify").code == 0
