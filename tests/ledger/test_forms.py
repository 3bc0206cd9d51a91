"""Short texts are looked up before they are looked at, and what is remembered stays bounded."""

import pytest

from trial_ledger import forms
from trial_ledger.forms import KNOWN, MISSING, fits


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many texts have a form, few are kept; a forgotten one still has it."""
    monkeypatch.setattr(forms, "KEPT_TEXTS", 5)
    for number in range(20):
        assert fits("run", f"bounded-{number}")
        assert len(KNOWN["run"]) <= 5
        assert KNOWN["run"] >= MISSING
    assert fits("run", "bounded-0")


def test_what_has_not_the_form_is_never_remembered() -> None:
    """A text is known only after it was looked at, whatever was found before."""
    for _ in range(2):
        assert not fits("run", "No Run")
        assert not fits("time", "2026-02-31T00:00:00.000000Z")
    assert not KNOWN["run"] & {"No Run"}
    assert fits("name", "No Run")
