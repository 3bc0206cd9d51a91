"""The declaration of one configuration, read from what people write, all faults at once (C9, C10).

Invariant: a manifest that was parsed here names only endpoints, models and failure classes that
exist, and holds no credential (C11); in a reconstructed one nothing is made up that the source did
not say.
"""

import re
from collections.abc import Collection, Mapping

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.credentials import NO_VARIABLES, mask_secret_values, report_credentials
from trial_ledger.documents.manifest_sections import (
    read_agent,
    read_budget,
    read_documentation,
    read_endpoint,
    read_environment,
    read_harness,
    read_limits,
    read_model,
    read_outage,
    read_prices,
    read_prompt,
    read_retry,
    read_tool,
)
from trial_ledger.documents.manifest_structs import (
    Agent,
    Budget,
    Documentation,
    Endpoint,
    Harness,
    Limits,
    Manifest,
    Model,
    Outage,
    Price,
    Prices,
    Prompt,
    References,
    Retry,
    Tool,
    canonical,
    decode_manifest,
    endpoint_policy,
    find_price,
    manifest_hash,
    prices_hash,
    secret_names,
    system_hash,
    with_references,
)
from trial_ledger.documents.reading import Faults, Table, given, nearest
from trial_ledger.documents.rubric_sections import read_judge
from trial_ledger.documents.toml_form import parse_table, plain_table
from trial_ledger.strict_json import shorten

__all__ = [
    "Agent",
    "Budget",
    "Documentation",
    "Endpoint",
    "Harness",
    "Limits",
    "Manifest",
    "Model",
    "Outage",
    "Price",
    "Prices",
    "Prompt",
    "References",
    "Retry",
    "Tool",
    "canonical",
    "decode_manifest",
    "endpoint_policy",
    "find_price",
    "manifest_from_table",
    "manifest_hash",
    "parse_manifest",
    "prices_hash",
    "secret_names",
    "system_hash",
    "with_references",
]

HINT = "ledger init --template writes a complete manifest.toml to start from"
HASH = re.compile(r"[0-9a-f]{64}")


def parse_manifest(
    data: bytes,
    *,
    source: str | None,
    harness: Mapping[str, Json] | None,
    environment: Mapping[str, Json] | None,
    environ: Mapping[str, str] = NO_VARIABLES,
) -> Manifest:
    """Return the manifest of a TOML (or JSON) document.

    Args:
        data: the document.
        source: file name for the messages.
        harness: name, version, commit and dirty flag of the program that will execute it; used
            where the document does not name its harness.
        environment: what to record of the machine; likewise.
        environ: environment variables; only the values of those that a `key_env` of the document
            names are looked at, to refuse a document that holds one (C11).

    Raises:
        InvalidInputError: with every fault found; no message shows a secret.
    """
    values, faults = parse_table(data, source=source, what="manifest")
    values = mask_secret_values(values, faults, environ)
    filled = {"harness": harness, "environment": environment}
    for key, value in filled.items():
        if value is not None and values.get(key) is None:
            values[key] = dict(value)
    return read_manifest(values, faults, reconstructed=False)


def manifest_from_table(
    table: Mapping[str, object], *, source: str | None, reconstructed: bool = True
) -> Manifest:
    """Return the manifest of a table in the form of manifest.toml, as importers build it.

    Args:
        table: the document; decimals are text.
        source: file name for the messages.
        reconstructed: whether only `configuration`, `dataset` and `rubric` are required and
            everything else may be left unknown.

    Raises:
        InvalidInputError: with every fault found.
    """
    faults = Faults(source=source, what="manifest")
    return read_manifest(plain_table(table, faults), faults, reconstructed=reconstructed)


def read_manifest(values: Mapping[str, Json], faults: Faults, *, reconstructed: bool) -> Manifest:
    faults.hint = HINT
    report_credentials(values, faults)
    table = Table(values, faults)
    reconstructed = table.boolean("reconstructed") or reconstructed
    table.require("configuration", "dataset", "rubric")
    faults.lenient = reconstructed
    table.want("phase", "repetitions", "agent")
    if table.integer("schema", least=1) not in {None, 1}:
        table.wrong("schema", "1, the only form that this version knows")
    document = given(
        reconstructed=reconstructed,
        configuration=read_configuration(table),
        phase=table.choice("phase", ("pilot", "final")),
        dataset=read_reference(table, "dataset"),
        splits=table.names("splits"),
        questions=table.names("questions"),
        rubric=read_reference(table, "rubric"),
        repetitions=table.integer("repetitions", least=1),
        session=table.choice("session", ("first", "first-unless-retryable")),
        seed=table.integer("seed"),
        judge=read_judge(table),
        frozen_by=table.name("frozen_by"),
        reason=table.text("reason"),
        supersedes=read_supersedes(table),
        **read_system(table),
        **read_conditions(table),
    )
    table.finish()
    check_names(table, document)
    faults.stop()
    if not reconstructed:
        document = {**STATED, **document}
    return msgspec.convert(document, type=Manifest)


STATED: Mapping[str, object] = {
    "session": "first",
    "limits": {},
    "retry": {},
    "outage": {},
    "budget": {},
}
"""What a document that leaves these out means; a reconstructed one means nothing by it."""


def read_configuration(table: Table) -> str | None:
    value = table.name("configuration")
    if value is not None and "@" in value:
        table.wrong("configuration", "a name without @, which separates name and hash")
    return value


def read_reference(table: Table, key: str) -> str | None:
    value = table.name(key)
    if value is not None:
        name, at, version = value.partition("@")
        if not (name and at and version) or "@" in version:
            table.wrong(key, "name@version")
    return value


def read_supersedes(table: Table) -> str | None:
    value = table.text("supersedes")
    if value is not None and not HASH.fullmatch(value):
        table.wrong("supersedes", "the hash of a manifest, 64 hex digits")
    return value


def read_system(table: Table) -> dict[str, object]:
    """Return the sections that make up the system under test."""
    prices = read_prices(table.table("prices"))
    return given(
        agent=read_agent(table.table("agent")),
        models={name: read_model(inner) for name, inner in table.tables("models").items()},
        prompts={name: read_prompt(inner) for name, inner in table.tables("prompts").items()},
        tools=[read_tool(inner) for inner in table.listed("tools")],
        endpoints={name: read_endpoint(inner) for name, inner in table.tables("endpoints").items()},
        limits=read_limits(table.table("limits")),
        retry=read_retry(table.table("retry")),
        prices=prices,
    )


def read_conditions(table: Table) -> dict[str, object]:
    """Return the sections that say under which conditions it is run."""
    return given(
        outage=read_outage(table.table("outage")),
        budget=read_budget(table.table("budget")),
        documentation=read_documentation(table.table("documentation")),
        harness=read_harness(table.table("harness")),
        environment=read_environment(table),
    )


def check_names(table: Table, document: Mapping[str, object]) -> None:
    """Report every name that stands for nothing in this document."""
    if table.has("splits") and table.has("questions"):
        table.faults.add("both splits and questions", field="questions", expected="one of them")
    endpoints = names_in(document, "endpoints")
    for name, model in tables_in(document, "models"):
        check_name(table, f"models.{name}.endpoint", model.get("endpoint"), endpoints)
    for name, endpoint in tables_in(document, "endpoints"):
        for fallback in tuples_in(endpoint, "fallback"):
            check_name(table, f"endpoints.{name}.fallback", fallback, endpoints)
    tools = document.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if tool.get("endpoint") is not None:
            check_name(table, f"tools[{index}].endpoint", tool["endpoint"], endpoints)
    agent = document.get("agent")
    if isinstance(agent, dict) and agent.get("kind") == "chat":
        check_name(table, "agent.target", agent.get("target"), names_in(document, "models"))


def tables_in(document: Mapping[str, object], key: str) -> list[tuple[str, dict[str, object]]]:
    value = document.get(key)
    return list(value.items()) if isinstance(value, dict) else []


def names_in(document: Mapping[str, object], key: str) -> list[str]:
    return [name for name, _ in tables_in(document, key)]


def tuples_in(document: Mapping[str, object], key: str) -> tuple[object, ...]:
    value = document.get(key)
    return value if isinstance(value, tuple) else ()


def check_name(table: Table, field: str, name: object, known: Collection[str]) -> None:
    if isinstance(name, str) and name not in known:
        table.faults.add(
            "names nothing in this manifest",
            field=field,
            found=shorten(name),
            expected=nearest(name, known) or f"one of {', '.join(known) or 'none declared'}",
        )
