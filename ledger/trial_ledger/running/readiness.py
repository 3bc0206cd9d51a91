"""What a manifest needs before its first trial: its agent, its documents, its keys.

Invariant: everything that is missing is said at once, before anything is written or sent.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import msgspec

from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.errors import Problem
from trial_ledger.full_text import FullText
from trial_ledger.running.agents.command import command_agent, program_of
from trial_ledger.running.agents.http import http_agent
from trial_ledger.running.agents.python import python_agent
from trial_ledger.running.chat.loop import chat_agent
from trial_ledger.running.search.local import is_local, open_documents
from trial_ledger.running.search.providers import PROVIDERS, provider_of
from trial_ledger.running.work import Agent

__all__ = ["Ready", "readiness_problems", "ready"]


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed to execute a manifest."""

    agent: Agent
    """Answers its questions."""
    documents: Mapping[str, FullText]
    """What is searched on this machine, by endpoint."""


def readiness_problems(manifest: Manifest, environ: Mapping[str, str]) -> list[Problem]:
    """Return everything in a manifest that cannot be executed here."""
    source = manifest.configuration
    found = [
        Problem(
            message=f"the variable {endpoint.key_env} is not set",
            source=source,
            field=f"endpoints.{name}.key_env",
        )
        for name, endpoint in manifest.endpoints.items()
        if endpoint.key_env is not None and not environ.get(endpoint.key_env)
    ]
    talks = manifest.agent is not None and manifest.agent.kind == "chat"
    for tool in manifest.tools:
        if tool.endpoint is None:
            if talks:
                found.append(
                    Problem(
                        message="a tool of the chat agent calls an endpoint",
                        source=source,
                        field=f"tools.{tool.name}.endpoint",
                        expected=", ".join(manifest.endpoints) or None,
                    )
                )
            continue
        endpoint = manifest.endpoints[tool.endpoint]
        if not is_local(endpoint.url) and provider_of(endpoint) is None:
            found.append(
                Problem(
                    message="names no search provider",
                    source=source,
                    field=f"endpoints.{tool.endpoint}.options.provider",
                    found=str(endpoint.options.get("provider")),
                    expected=", ".join(sorted(PROVIDERS)),
                )
            )
    if manifest.agent is None or manifest.agent.kind == "external":
        found.append(
            Problem(
                message="an external agent is driven by its own harness",
                source=source,
                field="agent.kind",
                expected="python, command, http or chat",
            )
        )
    return found


def ready(manifest: Manifest, client: httpx.AsyncClient, folder: Path) -> Ready:
    """Return what is needed to execute a manifest.

    Args:
        manifest: one without `readiness_problems`.
        client: sends the requests of an `http` agent.
        folder: where relative file names of a command begin.

    Raises:
        InvalidInputError: its agent or its documents cannot be had.
        StorageError: its documents cannot be read.
    """
    documents = {
        name: open_documents(endpoint.url or "")
        for name, endpoint in manifest.endpoints.items()
        if is_local(endpoint.url)
    }
    return Ready(agent=agent_of(manifest, client, folder), documents=documents)


def agent_of(manifest: Manifest, client: httpx.AsyncClient, folder: Path) -> Agent:
    """Return the agent of a manifest.

    Raises:
        InvalidInputError: it cannot be had.
    """
    agent = manifest.agent
    assert agent is not None, "checked by `readiness_problems`"
    at_once = manifest.limits.concurrency if manifest.limits is not None else 1
    makers: Mapping[str, Callable[[], Agent]] = {
        "python": lambda: python_agent(agent.target, at_once),
        "command": lambda: command_agent(
            program_of(agent.target, agent.arguments, folder), agent.environment
        ),
        "http": lambda: http_agent(agent.target, client),
        "chat": lambda: chat_agent(manifest),
    }
    return makers[agent.kind]()
