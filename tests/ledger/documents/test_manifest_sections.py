"""Sections of a manifest: each field is checked where it stands."""

import pytest

from document_cases import Table, fields_of, manifest_table
from trial_ledger.documents.manifest import Manifest, manifest_from_table


def built(section: str, value: object) -> Manifest:
    """Return the small manifest with one section changed."""
    table = manifest_table(**{section: value})
    return manifest_from_table(table, source=None, reconstructed=False)


URL: Table = {"url": "http://127.0.0.1:8080/v1"}


@pytest.mark.parametrize(
    ("section", "value", "field"),
    [
        ("models", {"main": {"endpoint": "model"}}, "models.main.name"),
        ("prompts", {"p": {"source": "x"}}, "prompts.p.text"),
        ("tools", [{"schema": {}}], "tools[0].name"),
        ("endpoints", {"model": {}}, "endpoints.model.url"),
        ("endpoints", {"model": {"url": "ftp://x"}}, "endpoints.model.url"),
        ("endpoints", {"model": {**URL, "key_env": "a b"}}, "endpoints.model.key_env"),
        ("endpoints", {"model": {**URL, "headers": {"a": 1}}}, "endpoints.model.headers.a"),
        ("endpoints", {"model": {**URL, "headers": {"a": "b\r\nc"}}}, "endpoints.model.headers.a"),
        (
            "endpoints",
            {"model": {**URL, "headers": {"x-key": "b"}}},
            "endpoints.model.headers.x-key",
        ),
        ("limits", {"concurrency": 0}, "limits.concurrency"),
        ("retry", {"on": ["timout"]}, "retry.on"),
        ("retry", {"on": ["zzz"]}, "retry.on"),
        ("outage", {"pause_after": 0}, "outage.pause_after"),
        ("budget", {"usd": "-1"}, "budget.usd"),
        ("budget", {"usd": "1e3"}, "budget.usd"),
        ("budget", {"usd": True}, "budget.usd"),
        ("budget", {"usd": "1" * 31}, "budget.usd"),
        ("budget", {"usd": "0." + "1" * 31}, "budget.usd"),
        ("prices", {"source": "s"}, "prices.as_of"),
        ("prices", {"as_of": "last year", "source": "s"}, "prices.as_of"),
        ("prices", {"as_of": "2026", "source": "s", "x": 1}, "prices.x"),
        ("prices", {"as_of": "2026", "source": "s", "x": {}}, "prices.x"),
        ("prices", {"as_of": "2026", "source": "s", "x": {"unit": "request"}}, "prices.x.usd"),
        (
            "prices",
            {"as_of": "2026", "source": "s", "x": {"input_tokens": "x"}},
            "prices.x.input_tokens",
        ),
        ("documentation", {}, "documentation.read_on"),
        ("documentation", {"read_on": "2026-13-01"}, "documentation.read_on"),
        ("documentation", {"read_on": "2026-10-01", "urls": "x"}, "documentation.urls"),
        ("harness", {"version": "1"}, "harness.name"),
        ("environment", {"python": {"version": 3}}, "environment.python"),
    ],
)
def test_each_field_of_a_section_is_checked(section: str, value: object, field: str) -> None:
    """A wrong or missing field is named by its path."""
    assert field in fields_of(lambda: built(section, value))


def test_a_key_in_the_place_of_its_name_is_not_shown() -> None:
    """Whoever writes the key itself into `key_env` does not read it in the message (C11)."""
    value = {"model": {**URL, "key_env": "sk-live-0123456789"}}
    assert fields_of(lambda: built("endpoints", value)) == {"endpoints.model.key_env"}


def test_amounts_are_canonical() -> None:
    """Trailing zeros go, whole numbers may stand bare, and nothing passes through binary."""
    budget = built("budget", {"usd": "2.50", "judge_usd": 3, "unknown_call_cap": "0.000"}).budget
    assert budget is not None
    assert (budget.usd, budget.judge_usd, budget.unknown_call_cap) == ("2.5", "3", "0")


def test_headers_that_are_no_credential_are_kept() -> None:
    """Plain headers belong to the system under test."""
    endpoint = built("endpoints", {"model": {**URL, "headers": {"accept": "x"}}}).endpoints["model"]
    assert endpoint.headers == {"accept": "x"}
