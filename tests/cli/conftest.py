"""Fixtures of the command-line tests."""

from pathlib import Path

import pytest

from cli_cases import Here


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """Run commands in this process, in a folder of their own."""
    return Here(tmp_path, monkeypatch, capsys)
