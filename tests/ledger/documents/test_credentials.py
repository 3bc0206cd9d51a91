"""C11: credentials are found before a document is frozen, and never repeated in a message."""

import pytest

from document_cases import Table
from trial_ledger.documents.credentials import (
    is_credential_name,
    mask_secret_values,
    named_variables,
    report_credentials,
    url_has_credential,
)
from trial_ledger.documents.reading import Faults


def faults() -> Faults:
    """Return no faults yet."""
    return Faults(source="m.toml", what="manifest")


@pytest.mark.parametrize(
    ("name", "header", "carries"),
    [
        ("Authorization", False, True),
        ("proxy-authorization", False, True),
        ("x-api-key", False, True),
        ("apikey", False, True),
        ("client_secret", False, True),
        ("password", False, True),
        ("token", False, True),
        ("access_token", False, True),
        ("set-cookie", False, True),
        ("X-Subscription-Token", True, True),
        ("X-Goog-Key", True, True),
        ("key_env", False, False),
        ("max_tokens", False, False),
        ("stop_token", False, False),
        ("accept", True, False),
    ],
)
def test_names_that_carry_credentials(name: str, header: bool, carries: bool) -> None:
    """Header and field names are known by form; settings of a model are none."""
    assert is_credential_name(name, header=header) is carries


@pytest.mark.parametrize(
    ("url", "holds"),
    [
        ("https://user:secret@example.org/", True),
        ("https://user@example.org/", True),
        ("https://example.org/?api_key=abc&q=1", True),
        ("https://example.org/?q=token", False),
        ("https://example.org/?api_key=", False),
        ("https://[bad@example.org", True),
        ("https://[bad", False),
    ],
)
def test_urls_that_hold_credentials(url: str, holds: bool) -> None:
    """User information and credential parameters are found, also in a URL that is none."""
    assert url_has_credential(url) is holds


def test_c11_literal_credentials_are_reported_by_field() -> None:
    """Each place is named with its clause; schemas, prices and empty fields are left alone."""
    table: Table = {
        "agent": {"options": {"password": "p4ss", "nested": [{"token": "t"}]}},
        "endpoints": {
            "a": {"url": "https://u:p@example.org", "headers": {"X-Key": "k", "accept": "json"}},
        },
        "tools": [{"schema": {"token": "string"}, "token": "t"}],
        "prices": {"x": {"units": {"token": "0.1"}}},
        "prompts": {"p": {"text": "see https://u:p@example.org for more"}},
        "secret": "",
        "token": 3,
    }
    found = faults()
    report_credentials(table, found)
    assert {(p.field, p.clause) for p in found.problems} == {
        ("agent.options.password", "C11"),
        ("agent.options.nested[0].token", "C11"),
        ("endpoints.a.url", "C11"),
        ("endpoints.a.headers.X-Key", "C11"),
        ("tools[0].token", "C11"),
    }
    assert not any("p4ss" in str(problem) for problem in found.problems)


def test_variables_are_collected_wherever_they_are_named() -> None:
    """Every `key_env` counts, at any depth."""
    table: Table = {"a": {"key_env": "A"}, "b": [{"key_env": "B"}, "x"], "key_env": 3}
    assert named_variables(table) == {"A", "B"}


def test_c11_secret_values_are_masked_everywhere() -> None:
    """Values, keys and percent-encoded spellings are reported and replaced; nothing shows them."""
    environ = {"KEY": " s3cret/value \n", "SHORT": "abc", "UNNAMED": "https"}
    table: Table = {
        "endpoints": {"x": {"key_env": "KEY"}, "y": {"key_env": "SHORT"}},
        "url": "https://example.org/s3cret%2Fvalue",
        "list": ["a s3cret/value b", 1, "abc"],
        "s3cret/value": {"inner": True},
    }
    found = faults()
    found.add("bare decimal", field="n", found="s3cret/value")
    found.add("other", field="m", found="7")
    masked = mask_secret_values(table, found, environ)
    assert masked["list"] == ["a [credential] b", 1, "abc"]
    assert masked["url"] == "https://example.org/[credential]"
    assert masked["[credential]"] == {"inner": True}
    messages = {(p.field, p.message) for p in found.problems if p.clause == "C11"}
    held = "holds the value of the environment variable KEY"
    assert messages == {("url", held), ("list[0]", held), (None, held)}
    assert [p.found for p in found.problems[:2]] == [None, "7"]
    assert not any("s3cret" in str(problem) for problem in found.problems)


def test_without_secrets_nothing_changes() -> None:
    """A document that names no set variable is returned as it is."""
    table: Table = {"endpoints": {"x": {"key_env": "KEY"}}}
    assert mask_secret_values(table, faults(), {}) == table
