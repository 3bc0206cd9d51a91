"""The numbers and losses that an imported source itself reports."""

import json

import pytest

from projection_cases import Log
from trial_projections.reported import Reported, losses_of, reported_by_source


def imported(log: Log, **texts: object) -> None:
    """Append that a source came in, with what it reports as JSON."""
    data: dict[str, object] = {"format": "inspect", "files": [], "importer": "inspect@1"}
    data |= {name: json.dumps(value) for name, value in texts.items()}
    log.append("source.imported", None, data)


def reported_of(log: Log) -> list[Reported]:
    """Return what the sources of the run report."""
    with log.model() as model:
        return reported_by_source(model, model.run(log.run))


def test_a_sources_numbers_are_shown_as_they_were_written(log: Log) -> None:
    """Their text is kept; what has no value is no number."""
    rows = [
        {"score": "match", "metric": "accuracy", "reducer": "mean", "value": "0.38330000"},
        {"score": "match", "metric": "stderr", "reducer": None, "value": None},
        {"score": "match", "metric": "stderr", "value": "nan", "rule": "standard_error"},
        "no row at all",
    ]
    imported(log, reported=rows)
    assert reported_of(log) == [
        Reported(metric="match", name="accuracy", reducer="mean", value="0.38330000"),
        Reported(metric="match", name="stderr", reducer=None, value="nan", rule="standard_error"),
    ]


def test_several_sources_are_joined_and_silent_ones_add_nothing(log: Log) -> None:
    """In the order in which they came in."""
    for value in ("1", "2"):
        imported(log, reported=[{"score": "s", "metric": "m", "value": value}], losses=[value])
    imported(log)
    assert [known.value for known in reported_of(log)] == ["1", "2"]
    with log.model() as model:
        assert losses_of(model, model.run(log.run)) == ["1", "2"]


def test_a_run_without_a_source_reports_nothing(log: Log) -> None:
    """Nothing was imported, nothing was lost."""
    assert reported_of(log) == []
    with log.model() as model:
        assert losses_of(model, model.run(log.run)) == []


def test_what_was_erased_is_gone(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that were redacted are not shown; that losses were is said in their place."""
    imported(log, reported=[{"score": "s", "metric": "m", "value": "1"}], losses=["a", "b"])
    with log.model() as model:
        run = model.run(log.run)
        monkeypatch.setattr(log.ledger, "blob", lambda _: None)
        assert reported_by_source(model, run) == []
        assert losses_of(model, run) == ["a list of what the source had lost was redacted"]
