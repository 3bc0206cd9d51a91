"""Search providers: each asked in its own form, each answer read as what it is."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trial_ledger.documents.manifest_structs import Endpoint
from trial_ledger.running.search.base import Found, Query, Rejection, money_of, read_json
from trial_ledger.running.search.failures import rejection
from trial_ledger.running.search.providers import PROVIDERS, build, provider_of, understand

NOW = datetime(2026, 10, 1, 12, 0, 0, 500_000, tzinfo=UTC)

SUCCESSES: dict[str, dict[str, Any]] = {
    "parallel": {
        "search_id": "s1",
        "results": [
            {"url": "https://a.example/1", "title": "One", "excerpts": ["first", "second"]}
        ],
        "usage": [
            {"name": "sku_search", "count": 1},
            {"name": "sku_search", "count": 2},
            {"name": "x"},
        ],
    },
    "exa": {
        "results": [{"url": "https://a.example/1", "title": "One", "highlights": ["first", ""]}],
        "costDollars": {"total": 5e-3, "search": {"neural": 0.005}},
    },
    "tavily": {
        "query": "q",
        "results": [{"url": "https://a.example/1", "title": "One", "content": "first"}],
        "usage": {"credits": 2},
    },
    "brave": {
        "type": "search",
        "web": {
            "results": [
                {"url": "https://a.example/1", "title": "One", "description": "first"},
            ]
        },
    },
    "linkup": {
        "results": [{"type": "text", "name": "One", "url": "https://a.example/1", "content": "x"}]
    },
    "you": {
        "results": {
            "web": [{"url": "https://a.example/1", "title": "One", "snippets": ["first"]}],
            "news": [{"url": "https://a.example/2", "title": "Two", "description": "second"}],
        },
        "metadata": {"latency": 0.2},
    },
    "serper": {
        "searchParameters": {"q": "q"},
        "organic": [{"link": "https://a.example/1", "title": "One", "snippet": "first"}],
        "credits": 1,
    },
    "plain": {"hits": [{"url": "https://a.example/1", "title": "One", "text": "first"}]},
}
"""A response of each provider in its documented shape."""


def asked(name: str, **options: object) -> tuple[str, str, dict[str, Any]]:
    """Return method, path and arguments of a provider's request."""
    endpoint = Endpoint(
        url="https://search.example/v1/find",
        mode="fast",
        headers={"x-team": "evals"},
        options={"provider": name, "concurrency": 2, **options},
    )
    provider = provider_of(endpoint)
    assert provider is not None
    request = build(provider, endpoint, Query(text="who & what?", limit=3))
    assert request.headers["x-team"] == "evals"
    target = urlsplit(request.url)
    assert target.netloc == "search.example"
    if request.method == "GET":
        return "GET", target.path, {key: value[0] for key, value in parse_qs(target.query).items()}
    return "POST", target.path, json.loads(request.content)


@pytest.mark.parametrize(
    ("name", "method", "arguments"),
    [
        (
            "parallel",
            "POST",
            {
                "search_queries": ["who & what?"],
                "mode": "fast",
                "advanced_settings": {"max_results": 3},
            },
        ),
        ("exa", "POST", {"query": "who & what?", "type": "fast", "numResults": 3}),
        (
            "tavily",
            "POST",
            {
                "query": "who & what?",
                "search_depth": "fast",
                "max_results": 3,
                "include_usage": True,
            },
        ),
        ("brave", "GET", {"q": "who & what?", "count": "3"}),
        (
            "linkup",
            "POST",
            {
                "q": "who & what?",
                "depth": "fast",
                "outputType": "searchResults",
                "maxResults": 3,
            },
        ),
        ("you", "POST", {"query": "who & what?", "count": 3}),
        ("serper", "POST", {"q": "who & what?", "num": 3}),
        ("plain", "GET", {"q": "who & what?", "mode": "fast", "limit": "3"}),
    ],
)
def test_every_provider_is_asked_in_its_own_form(
    name: str, method: str, arguments: dict[str, Any]
) -> None:
    """Method and arguments are the documented ones, the host the endpoint's own."""
    assert asked(name) == (method, "/v1/find", arguments)


def test_options_of_the_endpoint_go_into_the_request() -> None:
    """What the manifest says wins over the adapter; what is for the runner stays out."""
    _, _, arguments = asked("tavily", topic="news", search_depth="advanced", requests_per_minute=9)
    assert arguments["topic"] == "news"
    assert arguments["search_depth"] == "advanced"
    assert not {"provider", "concurrency", "requests_per_minute"} & set(arguments)
    parallel = provider_of(Endpoint(url="https://h.example/s", options={"provider": "parallel"}))
    assert parallel is PROVIDERS["parallel"]
    request = build(parallel, Endpoint(url="https://h.example/s"), Query(text="t"))
    assert json.loads(request.content) == {"search_queries": ["t"]}


def test_a_query_joins_the_one_that_a_url_has() -> None:
    """A GET keeps the arguments that stand in the endpoint's URL."""
    endpoint = Endpoint(url="https://h.example/s?index=a")
    assert build(PROVIDERS["brave"], endpoint, Query(text="t")).url == (
        "https://h.example/s?index=a&q=t"
    )


def test_an_unknown_provider_is_none() -> None:
    """A name that is no provider's is not taken for another."""
    assert provider_of(Endpoint(url="https://h.example/", options={"provider": "exxa"})) is None


def said(name: str, body: object, status: int = 200, **headers: str) -> Found | Rejection:
    """Return what a provider's response means."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    value = read_json(content)
    return understand(
        PROVIDERS[name],
        status,
        value,
        lambda: rejection(status, headers, value, provider="search_provider", now=NOW),
    )


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_every_provider_is_read_in_its_own_form(name: str) -> None:
    """Address, title and text of a hit come from where that provider puts them."""
    found = said(name, SUCCESSES[name])
    assert isinstance(found, Found)
    assert found.status == "ok"
    assert (found.hits[0].url, found.hits[0].title) == ("https://a.example/1", "One")
    assert found.hits[0].text
    assert found.troubles == ()


def test_c18_only_what_a_response_states_is_known() -> None:
    """Exa tells money, three others units; of the rest nothing is known, and nothing is 0."""
    money = {}
    units = {}
    for name, body in SUCCESSES.items():
        found = said(name, body)
        assert isinstance(found, Found)
        money[name] = found.cost and found.cost.amount
        units[name] = found.usage and found.usage.units
    assert {name: amount for name, amount in money.items() if amount} == {"exa": "0.005"}
    assert {name: one for name, one in units.items() if one} == {
        "parallel": {"sku_search": 3},
        "tavily": {"credits": 2},
        "serper": {"credits": 1},
    }
    without = said("tavily", {"results": []})
    assert isinstance(without, Found)
    assert without.usage is None


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("parallel", {"results": []}),
        ("brave", {"type": "search", "query": {"original": "q"}}),
        ("serper", {"searchParameters": {"q": "q"}}),
        ("you", {"results": {}}),
    ],
)
def test_an_empty_result_is_no_failure(name: str, body: object) -> None:
    """A response without hits is found, and empty."""
    found = said(name, body)
    assert isinstance(found, Found)
    assert found.status == "empty"


def test_linkup_says_nothing_found_with_an_error_code() -> None:
    """A 400 that means no result is empty; another 400 is a failure."""
    found = said("linkup", {"error": {"code": "SEARCH_QUERY_NO_RESULT", "message": "none"}}, 400)
    assert isinstance(found, Found)
    assert found.status == "empty"
    refused = said("linkup", {"error": {"code": "VALIDATION_ERROR", "message": "q"}}, 400)
    assert isinstance(refused, Rejection)
    assert (refused.class_, refused.fault) == ("client_error", "harness")


@pytest.mark.parametrize(
    ("name", "status", "body", "class_", "fault"),
    [
        ("exa", 401, {"error": "bad key"}, "auth", "harness"),
        ("you", 403, {"detail": "scope"}, "auth", "harness"),
        ("linkup", 402, {}, "quota_exhausted", "search_provider"),
        ("plain", 404, b"<html>", "client_error", "harness"),
        ("plain", 408, {}, "timeout", "search_provider"),
        ("plain", 302, {}, "endpoint_fallback", "search_provider"),
        ("brave", 429, {"error": {"code": "RATE_LIMITED"}}, "rate_limited", "search_provider"),
        (
            "linkup",
            429,
            {"error": {"code": "INSUFFICIENT_FUNDS_CREDITS", "message": "top up"}},
            "quota_exhausted",
            "search_provider",
        ),
        (
            "serper",
            400,
            {"message": "Not enough credits", "statusCode": 400},
            "quota_exhausted",
            "search_provider",
        ),
        ("tavily", 432, {"detail": {"error": "plan"}}, "quota_exhausted", "search_provider"),
        ("tavily", 433, {}, "quota_exhausted", "search_provider"),
        ("parallel", 500, {"type": "error", "error": {"message": "x"}}, "server_error", None),
        ("parallel", 503, {}, "overloaded", None),
        ("linkup", 504, {}, "timeout", None),
    ],
)
def test_every_refusal_has_its_class(
    name: str, status: int, body: object, class_: str, fault: str | None
) -> None:
    """Quota is no rate limit, a wrong key is our own fault, a redirect is not followed."""
    refused = said(name, body, status)
    assert isinstance(refused, Rejection)
    assert (refused.class_, refused.fault) == (class_, fault or "search_provider")
    assert str(status) in refused.message
    assert refused.wait_ms is None


@pytest.mark.parametrize(
    ("told", "body", "wait_ms"),
    [
        ("3", {}, 3_000),
        ("999999999999", {}, 86_400_000),
        ("Thu, 01 Oct 2026 12:00:02 GMT", {}, 2_000),
        ("Thu, 01 Oct 2026 12:00:02 -0000", {}, 2_000),
        ("Thu, 01 Oct 2026 11:00:00 GMT", {}, 0),
        ("soon", {}, None),
        ("", {"error": {"code": "c", "retry_after_seconds": 7}}, 7_000),
        ("", {}, None),
    ],
)
def test_how_long_to_wait_is_read(told: str, body: object, wait_ms: int | None) -> None:
    """Seconds, a date, or the body's own field; nothing is made up."""
    refused = said("plain", body, 429, **{"retry-after": told})
    assert isinstance(refused, Rejection)
    assert refused.wait_ms == wait_ms


def test_c24_what_a_success_admits_is_kept() -> None:
    """Warnings, a cached fallback and failed items inside a 200 are troubles, each by itself."""
    warned = said(
        "parallel",
        {
            "results": SUCCESSES["parallel"]["results"],
            "warnings": [{"type": "cache", "message": "served a cached page"}, "odd", {}],
        },
    )
    assert isinstance(warned, Found)
    assert [one.class_ for one in warned.troubles] == ["cached_fallback", "other", "other"]
    assert warned.status == "ok"
    partly = said(
        "exa",
        {
            **SUCCESSES["exa"],
            "statuses": [
                {"id": "https://a.example/1", "status": "success"},
                {"id": "https://b.example", "error": {"tag": "CRAWL_TIMEOUT"}},
                {"status": "error"},
            ],
        },
    )
    assert isinstance(partly, Found)
    assert [(one.class_, one.detail_class) for one in partly.troubles] == [
        ("partial_result", "CRAWL_TIMEOUT"),
        ("partial_result", None),
    ]
    assert partly.status == "partial"
    unread = said(
        "tavily", {"results": [], "failed_results": [{"url": "https://a.example", "error": "x"}]}
    )
    assert isinstance(unread, Found)
    assert unread.troubles[0].message == "https://a.example: x"


def test_a_hit_without_an_address_is_not_dropped_in_silence() -> None:
    """It cannot be shown, and the response is partial."""
    found = said("plain", {"hits": [{"text": "no address"}, 7, {"url": "https://a.example"}]})
    assert isinstance(found, Found)
    assert (len(found.hits), found.status) == (1, "partial")
    assert found.troubles[0].message == "2 of 3 results have no url"
    assert found.hits[0].text == ""


@pytest.mark.parametrize(
    ("body", "class_"),
    [(b"<html>", "decode_error"), (b"[1]", "schema_mismatch"), (b'{"a":1}', "schema_mismatch")],
)
def test_a_success_of_another_form_is_a_failure(body: bytes, class_: str) -> None:
    """A page, a list or an object of another kind is no empty result."""
    refused = said("tavily", body)
    assert isinstance(refused, Rejection)
    assert (refused.class_, refused.fault) == (class_, "search_provider")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0.005", "0.005"),
        ("5e-3", "0.005"),
        ("0", "0"),
        ("-1", None),
        ("NaN", None),
        ("1e31", None),
        (True, None),
        (None, None),
    ],
)
def test_money_is_read_exactly_or_not_at_all(text: object, amount: str | None) -> None:
    """An amount that is no amount is unknown."""
    cost = money_of(text)
    assert (cost.amount if cost else None) == amount


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["results", "web", "error", "code", "url", "hits", "usage", "warnings", "statuses"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(body=JSON, name=st.sampled_from(sorted(PROVIDERS)), status=st.integers(100, 599))
def test_no_response_is_too_odd(body: object, name: str, status: int) -> None:
    """Whatever a service sends is found or refused; it never breaks the trial."""
    result = said(name, body, status, **{"retry-after": "1"})
    assert isinstance(result, Found | Rejection)
    if isinstance(result, Found):
        assert result.status in {"ok", "empty", "partial"}
