"""The search providers: how each is asked, and where its answer has what.

Invariant: an adapter has no host of its own: it asks the URL of the manifest's endpoint and nothing
else. What a response does not state about money is unknown.

Request and response shapes as documented by the providers in 2026 (Parallel v1, Exa, Tavily, Brave,
Linkup, You.com, Serper); `plain` is any service that takes `q` and returns a list of hits.
"""

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlencode

import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.manifest_structs import Endpoint
from trial_ledger.running.search.base import (
    Found,
    Hit,
    Query,
    Rejection,
    Request,
    Trouble,
    count_of,
    listed,
    member,
    money_of,
    named,
    text_of,
)

__all__ = ["OWN_OPTIONS", "PROVIDERS", "Provider", "build", "provider_of", "understand"]

OWN_OPTIONS = frozenset({"provider", "concurrency", "requests_per_minute"})
"""Options of an endpoint that are for the runner; the others go into the request."""

Arguments = Callable[[Query, str | None], dict[str, object]]
Reading = Callable[[object], "Iterator[Trouble]"]


def nothing_more(_body: object) -> "Iterator[Trouble]":
    """Yield no trouble: the provider has no place for any."""
    yield from ()


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """How one provider is asked and read."""

    name: str
    """Its name in the manifest."""
    method: Literal["GET", "POST"] = "POST"
    """HTTP method."""
    arguments: Arguments
    """Query and mode → its arguments."""
    lists: tuple[tuple[str, ...], ...]
    """Where hits stand in its response."""
    marks: tuple[str, ...]
    """Keys of which a response of this provider has at least one."""
    url: str = "url"
    """Field of a hit that is its address."""
    title: str = "title"
    """Field of a hit that is its title."""
    texts: tuple[str, ...]
    """Fields of a hit that show what it says, the first that is there."""
    published: str = "published_date"
    """Field of a hit that is its date."""
    nothing: frozenset[str] = frozenset()
    """Error codes that mean an empty result."""
    troubles: Reading = nothing_more
    """What a response admits beside its hits."""
    units: Callable[[object], Mapping[str, int]] = lambda _: {}
    """Billed units that a response names."""
    cost: Callable[[object], Cost | None] = lambda _: None
    """Money that a response names."""


def given(**fields: object) -> dict[str, object]:
    """Return the arguments that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def parallel(query: Query, mode: str | None) -> dict[str, object]:
    """Return the arguments of Parallel's `POST /v1/search`."""
    limit = None if query.limit is None else {"max_results": query.limit}
    return given(search_queries=[query.text], mode=mode, advanced_settings=limit)


def warnings_of(body: object) -> Iterator[Trouble]:
    """Yield the warnings of a response; one about a cache is a fallback of its own class."""
    for warning in listed(body, "warnings"):
        message = text_of(warning) or text_of(member(warning, "message")) or "a warning"
        word = named(member(warning, "type"))
        is_cached = "cache" in f"{word or ''} {message}".lower()
        yield Trouble(
            class_="cached_fallback" if is_cached else "other",
            detail_class=word or "warning",
            message=message,
        )


def exa_troubles(body: object) -> Iterator[Trouble]:
    """Yield Exa's warnings, and the addresses of which it could not fetch the contents."""
    yield from warnings_of(body)
    for item in listed(body, "statuses"):
        error = member(item, "error")
        if error is not None or text_of(member(item, "status")) == "error":
            word = named(member(error, "tag"))
            message = f"{text_of(member(item, 'id')) or 'an item'}: {word or 'failed'}"
            yield Trouble(class_="partial_result", detail_class=word, message=message)


def tavily_troubles(body: object) -> Iterator[Trouble]:
    """Yield the addresses that Tavily could not read."""
    for item in listed(body, "failed_results"):
        message = f"{text_of(member(item, 'url')) or 'an item'}: {member(item, 'error')}"
        yield Trouble(class_="partial_result", message=message)


def parallel_units(body: object) -> dict[str, int]:
    """Return the billed items that Parallel counts by name."""
    found: dict[str, int] = {}
    for item in listed(body, "usage"):
        name, count = named(member(item, "name")), count_of(member(item, "count"))
        if name is not None and count is not None:
            found[name] = found.get(name, 0) + count
    return found


def credits_at(*path: str) -> Callable[[object], dict[str, int]]:
    """Return what reads a number of credits at a place of a response."""

    def read(body: object) -> dict[str, int]:
        count = count_of(member(body, *path))
        return {} if count is None else {"credits": count}

    return read


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            name="parallel",
            arguments=parallel,
            lists=(("results",),),
            marks=("results",),
            texts=("excerpts",),
            published="publish_date",
            troubles=warnings_of,
            units=parallel_units,
        ),
        Provider(
            name="exa",
            arguments=lambda q, mode: given(query=q.text, type=mode, numResults=q.limit),
            lists=(("results",),),
            marks=("results",),
            texts=("text", "highlights", "summary"),
            published="publishedDate",
            troubles=exa_troubles,
            cost=lambda body: money_of(member(body, "costDollars", "total")),
        ),
        Provider(
            name="tavily",
            # Without `include_usage` it tells no credits.
            arguments=lambda q, mode: given(
                query=q.text, search_depth=mode, max_results=q.limit, include_usage=True
            ),
            lists=(("results",),),
            marks=("results",),
            texts=("raw_content", "content"),
            troubles=tavily_troubles,
            units=credits_at("usage", "credits"),
        ),
        Provider(
            name="brave",
            method="GET",
            arguments=lambda q, _: given(q=q.text, count=q.limit),
            lists=(("web", "results"),),
            marks=("web", "query", "type"),
            texts=("description", "extra_snippets"),
            published="page_age",
        ),
        Provider(
            name="linkup",
            arguments=lambda q, mode: given(
                q=q.text, depth=mode or "standard", outputType="searchResults", maxResults=q.limit
            ),
            lists=(("results",),),
            marks=("results",),
            title="name",
            texts=("content",),
            nothing=frozenset({"SEARCH_QUERY_NO_RESULT"}),
        ),
        Provider(
            name="you",
            arguments=lambda q, _: given(query=q.text, count=q.limit),
            lists=(("results", "web"), ("results", "news")),
            marks=("results",),
            texts=("snippets", "description"),
            published="page_age",
        ),
        Provider(
            name="serper",
            arguments=lambda q, _: given(q=q.text, num=q.limit),
            lists=(("organic",),),
            marks=("organic", "searchParameters"),
            url="link",
            texts=("snippet",),
            published="date",
            units=credits_at("credits"),
        ),
        Provider(
            name="plain",
            method="GET",
            arguments=lambda q, mode: given(q=q.text, mode=mode, limit=q.limit),
            lists=(("hits",), ("results",)),
            marks=("hits", "results"),
            texts=("text", "snippet"),
            troubles=warnings_of,
            cost=lambda body: money_of(member(body, "cost_usd")),
        ),
    )
}
"""Every provider by its name."""


def provider_of(endpoint: Endpoint) -> Provider | None:
    """Return the provider that an endpoint's options name, `plain` by default; None for others."""
    return PROVIDERS.get(str(endpoint.options.get("provider", "plain")))


def build(provider: Provider, endpoint: Endpoint, query: Query) -> Request:
    """Return the request of a query; options of the endpoint win over the adapter's arguments."""
    assert endpoint.url is not None, "a manifest that is executed names its URLs"
    further = {name: value for name, value in endpoint.options.items() if name not in OWN_OPTIONS}
    arguments = {**provider.arguments(query, endpoint.mode), **further}
    headers = {"accept": "application/json", **endpoint.headers}
    if provider.method == "GET":
        joint = "&" if "?" in endpoint.url else "?"
        url = f"{endpoint.url}{joint}{urlencode(arguments)}"
        return Request(method="GET", url=url, headers=headers)
    return Request(
        url=endpoint.url,
        headers={"content-type": "application/json", **headers},
        content=canonical_json(arguments),
    )


def understand(
    provider: Provider, status: int, body: object, refused: Callable[[], Rejection]
) -> Found | Rejection:
    """Return what a response says.

    Args:
        provider: whose it is.
        status: its HTTP status.
        body: its body as `read_json` returned it.
        refused: what it means where it is no success.
    """
    if status != HTTPStatus.OK:
        codes = {named(member(body, "error", "code")), named(member(body, "code"))}
        return Found() if codes & provider.nothing else refused()
    if body is None:
        return Rejection(
            class_="decode_error", fault="search_provider", message="the body is not JSON"
        )
    if not any(member(body, mark) is not None for mark in provider.marks):
        return Rejection(
            class_="schema_mismatch",
            fault="search_provider",
            message=f"no {' or '.join(provider.marks)} in the response of {provider.name}",
        )
    items = [item for path in provider.lists for item in listed(body, *path)]
    hits = [hit_of(provider, item) for item in items]
    troubles = list(provider.troubles(body))
    lost = hits.count(None)
    if lost:
        message = f"{lost} of {len(hits)} results have no {provider.url}"
        troubles.append(Trouble(class_="partial_result", detail_class="no_url", message=message))
    units = provider.units(body)
    return Found(
        hits=tuple(hit for hit in hits if hit is not None),
        troubles=tuple(troubles),
        usage=Usage(units=dict(units)) if units else None,
        cost=provider.cost(body),
    )


def hit_of(provider: Provider, item: object) -> Hit | None:
    """Return one hit; None where it has no address."""
    url = text_of(member(item, provider.url))
    if url is None:
        return None
    shown = (joined(member(item, field)) for field in provider.texts)
    return Hit(
        url=url,
        title=text_of(member(item, provider.title)),
        text=next((text for text in shown if text), ""),
        published=text_of(member(item, provider.published)),
    )


def joined(value: object) -> str:
    """Return a text, or the texts of a list one under the other."""
    parts = value if isinstance(value, list) else [value]
    return "\n".join(text for part in parts if (text := text_of(part)) is not None)
