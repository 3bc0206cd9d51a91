"""The parts of a frozen manifest, its canonical form and its two hashes (C9, C10).

Invariant: the canonical form has every default written out; in a reconstructed manifest whatever
the source did not say is null, and nothing is filled in.
"""

from typing import Literal

import msgspec

from trial_ledger.amounts import DecimalText
from trial_ledger.documents.canonical_form import canonical_json, canonical_struct, document_hash
from trial_ledger.documents.rubric_structs import Judge
from trial_ledger.events import FailureClass, Phase
from trial_ledger.identifiers import Count, Hash, Name, Positive

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
    "manifest_hash",
    "prices_hash",
    "secret_names",
    "system_hash",
    "with_references",
]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all parts share."""


class Agent(Section, frozen=True, kw_only=True):
    """What answers the questions."""

    kind: Literal["python", "command", "http", "chat", "external"]
    """How it is started; `external` where another harness drives it and appends the events."""
    target: str
    """`package.module:name`, program, URL, key of `models`, or a free name (external)."""
    arguments: tuple[str, ...] = ()
    """Arguments of a command."""
    environment: tuple[Name, ...] = ()
    """Environment variables that a command may see; names, never values."""
    version: Name | None = None
    """Version of the agent's own code; part of the system under test."""
    options: dict[str, object] = {}
    """Settings that are handed to the agent, as JSON values."""


class Model(Section, frozen=True, kw_only=True):
    """A model that the agent uses."""

    name: Name
    """Name as its provider knows it."""
    version: Name | None = None
    """Version or date, where the name does not say it."""
    endpoint: Name | None = None
    """Name of the endpoint that serves it; None only in a reconstructed manifest."""
    sampling: dict[str, object] = {}
    """Sampling settings, decimals as text."""


class Prompt(Section, frozen=True, kw_only=True):
    """A prompt that the agent uses."""

    text: str
    """The prompt."""
    source: str | None = None
    """Where it comes from, as a benchmark's own research prompt."""


class Tool(Section, frozen=True, kw_only=True):
    """A tool definition as the model sees it."""

    name: Name
    """Its name."""
    description: str | None = None
    """What the model is told about it."""
    endpoint: Name | None = None
    """Endpoint that it calls; None where it calls none."""
    schema: dict[str, object] = {}
    """JSON schema of its arguments."""


class Endpoint(Section, frozen=True, kw_only=True):
    """A service that may be called (C24)."""

    url: str | None = None
    """Where it is; None only in a reconstructed manifest."""
    mode: Name | None = None
    """Mode of the service, as `ranked`."""
    fallback: tuple[Name, ...] = ()
    """Endpoints that may be used instead, in order; empty means none."""
    key_env: Name | None = None
    """Environment variable that holds its key; the name, never the value (C11)."""
    key_header: Name = "authorization"
    """Header that carries the key; `authorization` carries it as a bearer token."""
    headers: dict[Name, str] = {}
    """Further headers, none of them a credential."""
    options: dict[str, object] = {}
    """Settings of the request, as JSON values."""


class Limits(Section, frozen=True, kw_only=True):
    """Where a trial is stopped; None means without limit."""

    timeout_ms: Positive | None = None
    """Longest wait for one call."""
    trial_timeout_ms: Positive | None = None
    """Longest time of one trial."""
    tool_calls: Count | None = None
    """Most tool calls of one trial."""
    model_calls: Count | None = None
    """Most model calls of one trial."""
    output_tokens: Count | None = None
    """Most output tokens of one trial."""
    concurrency: Positive = 1
    """Trials at the same time."""


class Retry(Section, frozen=True, kw_only=True):
    """When a failing call is tried again."""

    attempts: Positive = 1
    """Tries of one call, the first included."""
    on: tuple[FailureClass, ...] = ()
    """Failure classes after which it is tried again."""
    wait_ms: Count = 500
    """Wait before the second try; doubled before each further one."""
    wait_most_ms: Count = 60_000
    """Longest wait, also where the service asks for a longer one."""


class Outage(Section, frozen=True, kw_only=True):
    """When the run pauses because a service is down."""

    pause_after: Positive | None = None
    """Failures in a row of one endpoint; None never pauses."""


class Budget(Section, frozen=True, kw_only=True):
    """What may be spent; None means without cap."""

    usd: DecimalText | None = None
    """Most for inference, search and tools together, in US dollars."""
    judge_usd: DecimalText | None = None
    """Most for judging, an account of its own (C19)."""
    unknown_call_cap: DecimalText | None = None
    """What a call of unknown cost counts as; None lets a capped run refuse to start (C18)."""


class Price(Section, frozen=True, kw_only=True):
    """What one thing costs."""

    per: Positive = 1
    """How many units the amounts are for, as 1000000 tokens."""
    units: dict[Name, DecimalText]
    """US dollars by unit: `request`, or a field of the usage such as `input_tokens`."""


class Prices(Section, frozen=True, kw_only=True):
    """A dated price table; what it does not list is unknown (C18)."""

    as_of: str
    """Date of the prices."""
    source: str
    """Where they were read."""
    entries: dict[Name, Price] = {}
    """Prices by `endpoint.name`, by name of a model or tool, or by endpoint."""


class Documentation(Section, frozen=True, kw_only=True):
    """When the documentation of the services was read."""

    read_on: str
    """Date."""
    urls: tuple[str, ...] = ()
    """Which pages."""


class Harness(Section, frozen=True, kw_only=True):
    """The program that executes the trials."""

    name: Name
    """Its name."""
    version: Name | None = None
    """Its version."""
    commit: Name | None = None
    """Commit of its source."""
    dirty: bool | None = None
    """Whether the source differed from that commit; None where unknown."""


class References(Section, frozen=True, kw_only=True):
    """Hashes of the documents that the manifest names, filled in at freezing (C10)."""

    questions: Hash
    """Hash of the dataset's questions."""
    gold: Hash
    """Root of the commitments to its gold."""
    cutoff: str | None = None
    """The dataset's cutoff."""
    rubric: Hash
    """Hash of the rubric."""


class Manifest(Section, frozen=True, kw_only=True):
    """The frozen declaration of one configuration."""

    schema: Positive = 1
    """Version of this document's form."""
    configuration: Name
    """Name of the system under test."""
    reconstructed: bool = False
    """Rebuilt from another tool's log, so that parts of it may be unknown (null)."""
    phase: Phase | None = None
    """Pilot or final; None only in a reconstructed manifest."""
    dataset: Name
    """`name@version`."""
    splits: tuple[Name, ...] = ()
    """Splits that are asked; empty means every one."""
    questions: tuple[Name, ...] | None = None
    """Ids of the questions that are asked; None means every one of the splits."""
    rubric: Name
    """`name@version`."""
    references: References | None = None
    """Hashes behind these names; None until it is frozen."""
    repetitions: Positive | None = None
    """How many times each question is asked; None only in a reconstructed manifest."""
    session: Literal["first", "first-unless-retryable"] | None = None
    """Which session of a slot counts (C16); None only in a reconstructed manifest."""
    seed: Count | None = None
    """Seed of everything random; None where nothing is seeded or the source does not say."""
    agent: Agent | None = None
    """The agent; None only in a reconstructed manifest."""
    models: dict[Name, Model] = {}
    """Models by the name that the agent uses."""
    prompts: dict[Name, Prompt] = {}
    """Prompts by name."""
    tools: tuple[Tool, ...] = ()
    """Tool definitions in the order in which the model sees them."""
    endpoints: dict[Name, Endpoint] = {}
    """Services by name: the endpoint policy."""
    limits: Limits | None = None
    """Limits; None only in a reconstructed manifest."""
    retry: Retry | None = None
    """Retries; None only in a reconstructed manifest."""
    outage: Outage | None = None
    """Outages; None only in a reconstructed manifest."""
    budget: Budget | None = None
    """Caps; None only in a reconstructed manifest."""
    prices: Prices | None = None
    """Price table; None leaves every cost that no provider reports unknown."""
    documentation: Documentation | None = None
    """When the documentation was read; None where it was not declared."""
    judge: Judge | None = None
    """Judge configuration where it is declared here; None leaves it to the rubric."""
    harness: Harness | None = None
    """The program that executes the trials; None where unknown."""
    environment: dict[str, str | bool | int | None] | None = None
    """Machine, system and library versions; None where unknown."""
    frozen_by: Name | None = None
    """Who froze it."""
    reason: str | None = None
    """Why it was frozen."""
    supersedes: Hash | None = None
    """Hash of the manifest that it replaces."""


SYSTEM_FIELDS = ("agent", "models", "prompts", "tools", "endpoints", "limits", "retry")
"""What changes the behaviour of the system under test.

The harness is not among them: its version and commit stand in the manifest hash, because otherwise
every commit of the surrounding program would make another system of the same name. The version of
the agent's own code belongs in `agent.version`.
"""


def canonical(manifest: Manifest) -> bytes:
    """Return the canonical form, every default written out."""
    return canonical_struct(manifest)


def manifest_hash(manifest: Manifest) -> str:
    """Return the hash over everything."""
    return document_hash(canonical(manifest))


def system_hash(manifest: Manifest) -> str:
    """Return the hash over what changes the behaviour of the system under test (C10).

    The names of the variables that hold keys are left out: renaming one changes no behaviour.
    """
    document = msgspec.to_builtins(manifest)
    system = {field: document[field] for field in SYSTEM_FIELDS}
    for endpoint in system["endpoints"].values():
        del endpoint["key_env"]
    return document_hash(canonical_json(system))


def prices_hash(manifest: Manifest) -> str | None:
    """Return the hash of the price table, None without one; computed costs name it."""
    return None if manifest.prices is None else document_hash(canonical_struct(manifest.prices))


def decode_manifest(document: bytes) -> Manifest:
    """Return the manifest that `canonical` wrote.

    Raises:
        msgspec.ValidationError: the bytes are no such document.
    """
    return msgspec.json.decode(document, type=Manifest)


def endpoint_policy(manifest: Manifest) -> frozenset[str]:
    """Return the names of the endpoints that may be called (C24)."""
    return frozenset(manifest.endpoints)


def secret_names(manifest: Manifest) -> frozenset[str]:
    """Return the environment variables whose values must never enter an event (C11)."""
    names = {endpoint.key_env for endpoint in manifest.endpoints.values()}
    if manifest.judge is not None:
        names.add(manifest.judge.key_env)
    return frozenset(name for name in names if name is not None)


def find_price(prices: Prices, *, endpoint: str | None, name: str | None) -> Price | None:
    """Return the price of a call: by `endpoint.name`, else by name, else by endpoint."""
    keys = [key for key in (name, endpoint) if key is not None]
    if endpoint is not None and name is not None:
        keys.insert(0, f"{endpoint}.{name}")
    return next((prices.entries[key] for key in keys if key in prices.entries), None)


def with_references(manifest: Manifest, references: References) -> Manifest:
    """Return the manifest as it is frozen: with the hashes of the documents it names."""
    return msgspec.structs.replace(manifest, references=references)
