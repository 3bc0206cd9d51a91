"""Manifest: one immutable declaration, two hashes, no secret, nothing made up."""

import contextlib
import random
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_cases import Table, fields_of, manifest_table, problems_of
from trial_ledger.documents.canonical_form import canonical_struct, document_hash
from trial_ledger.documents.manifest import (
    Endpoint,
    Manifest,
    Price,
    References,
    canonical,
    decode_manifest,
    endpoint_policy,
    find_price,
    manifest_from_table,
    manifest_hash,
    parse_manifest,
    prices_hash,
    secret_names,
    system_hash,
    with_references,
)
from trial_ledger.documents.templates import read_template
from trial_ledger.errors import InvalidInputError

PRICES: Table = {
    "as_of": "2026-10-01",
    "source": "https://example.org/pricing",
    "search": {"unit": "request", "usd": "0.0050"},
    "search.fast": {"unit": "request", "usd": 0},
    "m": {"per": 1000000, "input_tokens": "1.25", "output_tokens": 10, "units": {"image": "0.1"}},
}


def built(**changes: object) -> Manifest:
    """Return the small manifest with changes, as somebody would write it."""
    return manifest_from_table(manifest_table(**changes), source="m.toml", reconstructed=False)


def refused(**changes: object) -> Callable[[], Manifest]:
    """Return the call that builds the small manifest with changes."""
    return lambda: built(**changes)


def parsed(data: bytes, **environ: str) -> Manifest:
    """Return the manifest of a document under these environment variables."""
    return parse_manifest(data, source="m.toml", harness=None, environment=None, environ=environ)


def test_c10_every_default_is_written_out() -> None:
    """What a short manifest leaves open stands in its frozen form."""
    document = msgspec.json.decode(canonical(built()))
    assert document["session"] == "first"
    assert document["limits"] == {
        "timeout_ms": None,
        "trial_timeout_ms": None,
        "tool_calls": None,
        "model_calls": None,
        "output_tokens": None,
        "concurrency": 1,
    }
    assert document["retry"] == {"attempts": 1, "on": [], "wait_ms": 500, "wait_most_ms": 60000}
    assert document["outage"] == {"pause_after": None}
    assert document["budget"] == {"usd": None, "judge_usd": None, "unknown_call_cap": None}
    assert document["endpoints"]["model"]["key_header"] == "authorization"
    assert set(document) == {field.name for field in msgspec.structs.fields(Manifest)}


def test_c10_the_template_holds_what_the_clause_lists() -> None:
    """Harness and environment are filled in at parsing, the document hashes at freezing."""
    manifest = parse_manifest(
        read_template("manifest.toml"),
        source="m.toml",
        harness={"name": "trial-ledger", "version": "0.1.0", "commit": "abc", "dirty": False},
        environment={"python": "3.11", "cores": 2, "container": None},
    )
    references = References(questions="1" * 64, gold="2" * 64, cutoff="2026-10-01", rubric="3" * 64)
    frozen = with_references(manifest, references)
    document = msgspec.json.decode(canonical(frozen))
    unset = {key for key, value in document.items() if value in (None, {}, [])}
    assert unset == {"questions", "judge", "frozen_by", "supersedes"}
    assert document["references"]["gold"] == "2" * 64
    assert document["harness"]["dirty"] is False
    assert manifest_hash(frozen) != manifest_hash(manifest)
    assert system_hash(frozen) == system_hash(manifest)


def test_a_harness_that_the_document_names_is_kept() -> None:
    """Somebody whose own harness drives the trials states it in the manifest."""
    data = msgspec.json.encode(manifest_table(harness={"name": "mine"}))
    manifest = parse_manifest(data, source=None, harness={"name": "ours"}, environment=None)
    assert manifest.harness is not None
    assert manifest.harness.name == "mine"
    assert manifest.environment is None


@pytest.mark.parametrize(
    "changes",
    [
        {"agent": {"kind": "external", "target": "my harness", "version": "2"}},
        {"models": {"main": {"name": "m", "endpoint": "model", "sampling": {"temperature": "0"}}}},
        {"prompts": {"p": {"text": "x"}}},
        {"tools": [{"name": "search"}]},
        {"endpoints": {"model": {"url": "http://127.0.0.1:8081/v1", "key_env": "MODEL_KEY"}}},
        {"limits": {"timeout_ms": 5}},
        {"retry": {"attempts": 2}},
    ],
)
def test_c10_what_changes_behaviour_changes_the_system_hash(changes: Table) -> None:
    """Agent, models, prompts, tools, endpoints, limits and retries are the system under test."""
    assert system_hash(built(**changes)) != system_hash(built())
    assert manifest_hash(built(**changes)) != manifest_hash(built())


@pytest.mark.parametrize(
    "changes",
    [
        {"configuration": "renamed"},
        {"phase": "pilot"},
        {"dataset": "example@2"},
        {"rubric": "quality@2"},
        {"splits": ["holdout"]},
        {"questions": ["q1"]},
        {"repetitions": 9},
        {"session": "first-unless-retryable"},
        {"seed": 1},
        {"outage": {"pause_after": 1}},
        {"budget": {"usd": "1"}},
        {"prices": PRICES},
        {"documentation": {"read_on": "2026-10-01", "urls": ["https://example.org"]}},
        {"harness": {"name": "h", "commit": "c"}},
        {"environment": {"python": "3.12"}},
        {"frozen_by": "somebody"},
        {"reason": "why"},
        {"supersedes": "a" * 64},
        {"judge": {"model": "j", "endpoint": "judge", "prompt": "p"}},
        {"endpoints": {"model": {"url": "http://127.0.0.1:8080/v1", "key_env": "OTHER"}}},
    ],
)
def test_c10_the_same_system_is_recognised(changes: Table) -> None:
    """Name, plan, prices, harness and the like change the manifest, not the system."""
    assert system_hash(built(**changes)) == system_hash(built())
    assert manifest_hash(built(**changes)) != manifest_hash(built())


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"configuration": None}, "configuration"),
        ({"configuration": "a@b"}, "configuration"),
        ({"phase": None}, "phase"),
        ({"phase": "finale"}, "phase"),
        ({"dataset": "example"}, "dataset"),
        ({"dataset": "a@1@2"}, "dataset"),
        ({"rubric": "@1"}, "rubric"),
        ({"rubric": 1}, "rubric"),
        ({"repetitions": 0}, "repetitions"),
        ({"repetitions": None}, "repetitions"),
        ({"session": "last"}, "session"),
        ({"seed": -1}, "seed"),
        ({"splits": ["a"], "questions": ["q"]}, "questions"),
        ({"supersedes": "abc"}, "supersedes"),
        ({"schema": 2}, "schema"),
        ({"agent": None}, "agent"),
        ({"agent": {"kind": "python", "target": "module"}}, "agent.target"),
        ({"agent": {"kind": "http", "target": "module"}}, "agent.target"),
        ({"agent": {"kind": "chat", "target": "mian"}}, "agent.target"),
        ({"agent": {"kind": "command", "target": "x", "arguments": [1]}}, "agent.arguments"),
        ({"models": {"main": {"name": "m", "endpoint": "modle"}}}, "models.main.endpoint"),
        ({"models": {"main": {"name": "m"}}}, "models.main.endpoint"),
        (
            {"endpoints": {"model": {"url": "http://x", "fallback": ["y"]}}},
            "endpoints.model.fallback",
        ),
        ({"tools": [{"name": "t", "endpoint": "y"}]}, "tools[0].endpoint"),
        ({"nothing": 1}, "nothing"),
    ],
)
def test_each_field_is_checked(changes: Table, field: str) -> None:
    """A wrong or missing field is named."""
    assert field in fields_of(refused(**changes))


def test_names_without_any_candidate_say_that_none_is_declared() -> None:
    """A model of an endpoint in a manifest without endpoints is told so."""
    (problem,) = problems_of(refused(endpoints=None))
    assert (problem.field, problem.expected) == ("models.main.endpoint", "one of none declared")


def test_names_that_exist_are_accepted() -> None:
    """Fallbacks, tools and a chat agent's model may name what is declared."""
    manifest = built(
        agent={"kind": "chat", "target": "main"},
        tools=[{"name": "t", "endpoint": "model"}],
        endpoints={"model": {"url": "http://a", "fallback": ["b"]}, "b": {"url": "http://b"}},
    )
    assert endpoint_policy(manifest) == {"model", "b"}


def test_c11_a_manifest_that_holds_a_secret_is_refused() -> None:
    """The value of a variable that the manifest names is found anywhere and never repeated."""
    text = read_template("manifest.toml").decode()
    text = text.replace("Answer the question", "Use 0123456789abcdef")
    text = text.replace("timeout_ms = 10000", 'timeout_ms = "0123456789abcdef"')
    problems = problems_of(lambda: parsed(text.encode(), SEARCH_KEY="0123456789abcdef"))
    assert {p.field for p in problems} == {"prompts.research.text", "limits.timeout_ms"}
    assert {p.clause for p in problems} == {"C11"}
    assert not any("0123456789" in str(problem) for problem in problems)
    parsed(read_template("manifest.toml"), SEARCH_KEY="0123456789abcdef", OTHER="trial")


def test_c11_names_of_secrets_are_told_to_the_recorder() -> None:
    """Every variable of an endpoint and of the judge is known by name."""
    judge = {"model": "j", "endpoint": "judge", "prompt": "p", "key_env": "JUDGE_KEY"}
    assert secret_names(built(judge=judge)) == {"MODEL_KEY", "JUDGE_KEY"}
    assert secret_names(built(endpoints={"model": {"url": "http://x"}})) == frozenset()
    assert secret_names(built(judge={**judge, "key_env": None})) == {"MODEL_KEY"}


def test_c18_prices_are_hashed_by_themselves() -> None:
    """However units are written, the table is the same; without one there is no hash."""
    manifest = built(prices=PRICES)
    prices = manifest.prices
    assert prices is not None
    assert prices_hash(manifest) == document_hash(canonical_struct(prices))
    assert prices_hash(built()) is None
    assert prices.entries["m"] == Price(
        per=1000000, units={"input_tokens": "1.25", "output_tokens": "10", "image": "0.1"}
    )
    assert prices.entries["search"].units == {"request": "0.005"}


def test_prices_are_found_from_the_most_particular_to_the_general() -> None:
    """`endpoint.name` goes before the name, the name before the endpoint; else unknown."""
    prices = built(prices=PRICES).prices
    assert prices is not None
    assert find_price(prices, endpoint="search", name="fast") == Price(units={"request": "0"})
    assert find_price(prices, endpoint="search", name="m") == prices.entries["m"]
    assert find_price(prices, endpoint="search", name=None) == prices.entries["search"]
    assert find_price(prices, endpoint=None, name="m") == prices.entries["m"]
    assert find_price(prices, endpoint="other", name="thing") is None
    assert find_price(prices, endpoint=None, name=None) is None


def test_a_reconstructed_manifest_makes_nothing_up() -> None:
    """Only names are required; what the source does not say stays null."""
    table = {"configuration": "c", "dataset": "d@1", "rubric": "r@1"}
    manifest = manifest_from_table(table, source="log.json")
    document = msgspec.json.decode(canonical(manifest))
    unset = {key for key, value in document.items() if value in (None, {}, [])}
    assert unset == set(document) - {
        "configuration",
        "dataset",
        "rubric",
        "schema",
        "reconstructed",
    }
    partly = manifest_from_table(
        {**table, "models": {"m": {"name": "x"}}, "endpoints": {"e": {}}}, source=None
    )
    assert partly.models["m"].endpoint is None
    assert partly.endpoints["e"] == Endpoint(url=None)
    assert fields_of(lambda: manifest_from_table({}, source=None)) == set(table)


def test_all_faults_come_at_once_with_their_lines() -> None:
    """Faults of TOML, of form and of meaning are reported together."""
    text = read_template("manifest.toml").decode()
    text = text.replace("repetitions = 3", "repetitions = 3.5")
    text = text.replace("pause_after", "pause_afer").replace('endpoint = "model"', 'endpoint = "x"')
    problems = problems_of(lambda: parsed(text.encode()))
    lines = text.splitlines()
    places = {p.field: lines[p.line - 1].split("=")[0].strip() for p in problems if p.line}
    assert places == {
        "repetitions": "repetitions",
        "outage.pause_afer": "pause_afer",
        "models.main.endpoint": "endpoint",
    }


@given(st.randoms(use_true_random=False))
def test_the_order_of_tables_changes_no_hash(generator: random.Random) -> None:
    """A manifest whose tables were shuffled is the same manifest, and decodes to itself."""
    head, *tables = read_template("manifest.toml").decode().split("\n[")
    generator.shuffle(tables)
    ordered = sorted(tables, key=lambda table: table.startswith("tools.schema"))
    shuffled = parsed("\n[".join([head, *ordered]).encode())
    original = parsed(read_template("manifest.toml"))
    assert manifest_hash(shuffled) == manifest_hash(original)
    assert canonical(decode_manifest(canonical(shuffled))) == canonical(original)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([field.name for field in msgspec.structs.fields(Manifest)]))
def test_no_value_of_any_field_crashes(value: object, field: str) -> None:
    """Whatever stands in a field, the answer is a manifest or an input error."""
    with contextlib.suppress(InvalidInputError):
        manifest = built(**{field: value})
        assert decode_manifest(canonical(manifest)) == manifest
