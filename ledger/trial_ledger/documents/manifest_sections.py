"""Read one section of a manifest each: agent, models, endpoints, limits, prices and the like.

Invariant: a reader returns only what its section says; the defaults stand in the structs alone.
"""

import re
from collections.abc import Mapping

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.credentials import is_credential_name, read_variable
from trial_ledger.documents.outcomes import FAILURE_CLASSES
from trial_ledger.documents.reading import Table, given, nearest
from trial_ledger.exact import decimal_text, parse_decimal
from trial_ledger.strict_json import join_path, shorten

__all__ = [
    "read_agent",
    "read_budget",
    "read_date",
    "read_documentation",
    "read_endpoint",
    "read_environment",
    "read_harness",
    "read_limits",
    "read_model",
    "read_outage",
    "read_prices",
    "read_prompt",
    "read_retry",
    "read_tool",
]

AGENT_KINDS = ("python", "command", "http", "chat", "external")
PYTHON_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
WEB_URL = re.compile(r"https?://[^\s/]+(/\S*)?")
DOCUMENTS_URL = re.compile(r"file:\S+")
LARGEST_AMOUNT_DIGITS = 30
TOKEN_UNITS = (
    "input_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
    "output_tokens",
    "reasoning_tokens",
)


def read_agent(table: Table | None) -> dict[str, object] | None:
    """Return the fields of an `Agent`."""
    if table is None:
        return None
    table.require("kind", "target")
    kind = table.choice("kind", AGENT_KINDS)
    target = table.text("target")
    if target is not None and kind == "python" and not PYTHON_TARGET.fullmatch(target):
        table.wrong("target", "package.module:name")
    if target is not None and kind == "http" and not WEB_URL.fullmatch(target):
        table.wrong("target", "an http or https URL")
    found = given(
        kind=kind,
        target=target,
        arguments=read_texts(table, "arguments"),
        environment=table.names("environment"),
        version=table.name("version"),
        options=table.mapping("options"),
    )
    table.finish()
    return found


def read_texts(table: Table, key: str) -> tuple[str, ...] | None:
    """Return a list of texts, which may repeat and may be empty."""
    value = table.raw(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(member, str) for member in value):
        table.wrong(key, "a list of texts")
        return None
    return tuple(str(member) for member in value)


def read_model(table: Table) -> dict[str, object]:
    """Return the fields of a `Model`."""
    table.require("name")
    table.want("endpoint")
    found = given(
        name=table.name("name"),
        version=table.name("version"),
        endpoint=table.name("endpoint"),
        sampling=table.mapping("sampling"),
    )
    table.finish()
    return found


def read_prompt(table: Table) -> dict[str, object]:
    """Return the fields of a `Prompt`."""
    table.require("text")
    found = given(text=table.text("text"), source=table.text("source"))
    table.finish()
    return found


def read_tool(table: Table) -> dict[str, object]:
    """Return the fields of a `Tool`."""
    table.require("name")
    found = given(
        name=table.name("name"),
        description=table.text("description"),
        endpoint=table.name("endpoint"),
        schema=table.mapping("schema"),
    )
    table.finish()
    return found


def read_endpoint(table: Table) -> dict[str, object]:
    """Return the fields of an `Endpoint`."""
    url = table.text("url")
    if url is None:
        table.want("url")
    elif not (WEB_URL.fullmatch(url) or DOCUMENTS_URL.fullmatch(url)):
        table.wrong("url", "an http or https URL, or file:PATH for documents on this machine")
    found = given(
        url=url,
        mode=table.name("mode"),
        fallback=table.names("fallback"),
        key_env=read_variable(table, "key_env"),
        key_header=table.name("key_header"),
        headers=read_headers(table),
        options=table.mapping("options"),
    )
    table.finish()
    return found


def read_headers(table: Table) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in table.mapping("headers").items():
        field = join_path(table.at("headers"), name)
        if is_credential_name(name, header=True):
            continue  # reported by the search for credentials
        if isinstance(value, str) and re.fullmatch(r"[^\x00-\x1f\x7f]*", value):
            headers[name] = value
        else:
            table.faults.add("wrong value", field=field, expected="text on one line")
    return headers


def read_limits(table: Table | None) -> dict[str, object] | None:
    """Return the fields of `Limits`."""
    if table is None:
        return None
    found = given(
        timeout_ms=table.integer("timeout_ms", least=1),
        trial_timeout_ms=table.integer("trial_timeout_ms", least=1),
        tool_calls=table.integer("tool_calls"),
        model_calls=table.integer("model_calls"),
        output_tokens=table.integer("output_tokens"),
        concurrency=table.integer("concurrency", least=1),
    )
    table.finish()
    return found


def read_retry(table: Table | None) -> dict[str, object] | None:
    """Return the fields of a `Retry`."""
    if table is None:
        return None
    classes = table.names("on")
    for name in classes or ():
        if name not in FAILURE_CLASSES:
            table.faults.add(
                "no such failure class",
                field=table.at("on"),
                found=shorten(name),
                expected=nearest(name, FAILURE_CLASSES) or "one of the closed list",
            )
    found = given(
        attempts=table.integer("attempts", least=1),
        on=classes,
        wait_ms=table.integer("wait_ms"),
        wait_most_ms=table.integer("wait_most_ms"),
    )
    table.finish()
    return found


def read_outage(table: Table | None) -> dict[str, object] | None:
    """Return the fields of an `Outage`."""
    if table is None:
        return None
    found = given(pause_after=table.integer("pause_after", least=1))
    table.finish()
    return found


def read_budget(table: Table | None) -> dict[str, object] | None:
    """Return the fields of a `Budget`."""
    if table is None:
        return None
    found = given(
        usd=read_amount(table, "usd"),
        judge_usd=read_amount(table, "judge_usd"),
        unknown_call_cap=read_amount(table, "unknown_call_cap"),
    )
    table.finish()
    return found


def read_amount(table: Table, key: str) -> str | None:
    """Return an amount of money as canonical decimal text; an integer may stand bare."""
    value = table.raw(key)
    if value is None:
        return None
    try:
        amount = parse_decimal(str(value) if is_number_form(value) else "")
    except ValueError:
        amount = parse_decimal("-1")
    text = decimal_text(amount)
    whole, _, part = text.partition(".")
    if amount < 0 or len(whole) > LARGEST_AMOUNT_DIGITS or len(part) > LARGEST_AMOUNT_DIGITS:
        table.wrong(key, 'an amount as text, such as "2.00"')
        return None
    return text


def is_number_form(value: Json) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"[0-9]{1,40}(\.[0-9]{1,40})?", value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def read_prices(table: Table | None) -> dict[str, object] | None:
    """Return the fields of `Prices`: every key but `as_of` and `source` is an entry."""
    if table is None:
        return None
    table.require("as_of", "source")
    names = [name for name in table.values if name not in {"as_of", "source"}]
    entries = {}
    for name in names:
        entry = table.table(name)
        if entry is not None:
            entries[name] = read_price(entry)
    return given(as_of=read_date(table, "as_of"), source=table.text("source"), entries=entries)


def read_price(table: Table) -> dict[str, object]:
    """Return the fields of a `Price`, however its units are written."""
    units = {unit: read_amount(table, unit) for unit in TOKEN_UNITS if table.has(unit)}
    unit = table.name("unit")
    if unit is not None:
        table.require("usd")
        units[unit] = read_amount(table, "usd")
    further = table.table("units")
    if further is not None:
        units.update({name: read_amount(further, name) for name in further.values})
    table.known.update((*TOKEN_UNITS, "usd"))
    found = given(per=table.integer("per", least=1), units=units)
    if not units:
        table.faults.add(
            "names no unit", field=table.path, expected='unit = "request" and usd, or input_tokens'
        )
    table.finish()
    return found


def read_documentation(table: Table | None) -> dict[str, object] | None:
    """Return the fields of `Documentation`."""
    if table is None:
        return None
    table.require("read_on")
    found = given(read_on=read_date(table, "read_on"), urls=read_texts(table, "urls"))
    table.finish()
    return found


def read_harness(table: Table | None) -> dict[str, object] | None:
    """Return the fields of a `Harness`."""
    if table is None:
        return None
    table.require("name")
    found = given(
        name=table.name("name"),
        version=table.name("version"),
        commit=table.name("commit"),
        dirty=table.boolean("dirty"),
    )
    table.finish()
    return found


def read_environment(table: Table) -> Mapping[str, object] | None:
    """Return what is recorded of the machine: a flat table."""
    inner = table.table("environment")
    if inner is None:
        return None
    for key, value in inner.values.items():
        if isinstance(value, list | dict):
            inner.wrong(key, "a single value")
    return inner.values


DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])(T\d{2}:\d{2}.*)?)?)?", re.ASCII)


def read_date(table: Table, key: str) -> str | None:
    """Return an ISO 8601 date as text: a year, a month, a day or a time of day."""
    value = table.text(key)
    if value is not None and not DATE.fullmatch(value):
        table.wrong(key, 'a date such as "2026-10-01"')
    return value
