"""Whether the model that answered is the one that was asked for (C24)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.served_models import is_other_model


@pytest.mark.parametrize(
    ("requested", "served", "other"),
    [
        ("openai/gpt-4o-mini", "gpt-4o-mini-2024-07-18", False),
        ("openai/gpt-4o-mini", "gpt-4o-mini", False),
        ("ollama/llama3.1", "llama3.1", False),
        ("llama3.1", "ollama/llama3.1", False),
        ("openrouter/maker/claude", "Claude", False),
        ("anthropic/claude-4", "claude-4-20250514", False),
        ("openai/gpt-4o", "gpt-4o-mini", True),
        ("claude-3", "claude-3-5", True),
        ("gpt-4", "gpt-4-1", True),
        ("gpt-4", "gpt-45", True),
        ("openai/gpt-4o", "gpt-4o-mini-2024-07-18", True),
        ("azureai/Llama-3-1-405B-jqf", "Llama-3-405B", True),
    ],
)
def test_c24_another_model_is_told_from_a_dated_version(
    requested: str, served: str, *, other: bool
) -> None:
    """A provider's prefix and a date say what a name stood for; a different name is a fallback."""
    assert is_other_model(requested, served) is other


@given(st.text("m-1@:/", min_size=1, max_size=6))
def test_c24_a_name_is_itself_and_its_dated_version(name: str) -> None:
    """Whatever it looks like; with a further word or a short number it is another one."""
    assert not is_other_model(name, name)
    assert not is_other_model(name, f"{name}-2026-10-01")
    assert not is_other_model(f"maker/{name}", name)
    assert is_other_model(name, f"{name}-mini")
    assert is_other_model(name, f"{name}-5")
