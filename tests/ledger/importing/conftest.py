"""Fixtures for imports: where the real Inspect logs lie, and a writer of small ones."""

import os
from pathlib import Path

import pytest

from inspect_cases import Archive, Logs
from lm_eval_cases import Evaluation


@pytest.fixture
def archive() -> Archive:
    """Return an empty ZIP file."""
    return Archive()


@pytest.fixture
def real_logs() -> Path:
    """Return the folder of real Inspect logs, or skip."""
    beside = Path(__file__).parents[4] / "shared" / "data"
    folder = Path(os.environ.get("LEDGER_REAL_DATA", beside)) / "inspect-logs"
    if not folder.is_dir():
        pytest.skip("the real Inspect logs are not here")
    return folder


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Logs:
    """Return a writer of logs whose ledgers keep no state outside of the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Logs(tmp_path)


@pytest.fixture
def evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluation:
    """Return a writer of evaluations whose ledgers keep no state outside of the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Evaluation(tmp_path)
