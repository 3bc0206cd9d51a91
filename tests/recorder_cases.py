"""What the tests of recording share: a world with secrets, and what stands in a run."""

from pathlib import Path
from typing import TypeVar

from ledger_cases import tools
from trial_ledger.book import Ledger
from trial_ledger.events import BlobRef, FailureOccurred, FailureSurfaced
from trial_ledger.tools import Tools

SECRET = "sk-planted-0123456789abcdef"  # noqa: S105 - planted, to be looked for
"""The value of both keys that the manifest of the small ledger names."""
RUN = "local-01"

Kind = TypeVar("Kind")


def world(folder: Path) -> Tools:
    """Return a world whose environment holds the secrets."""
    return tools(folder, environ={"MODEL_KEY": SECRET, "SEARCH_KEY": SECRET})


def kinds(ledger: Ledger, run: str = RUN) -> list[str]:
    """Return the kinds of a run's events, in order."""
    return [stored.event.kind for stored in ledger.events(run=run)]


def told(ledger: Ledger, type_: type[Kind], run: str = RUN) -> list[Kind]:
    """Return the data of a run's events of one type, in order."""
    return [s.event.data for s in ledger.events(run=run) if isinstance(s.event.data, type_)]


def only(ledger: Ledger, type_: type[Kind], run: str = RUN) -> Kind:
    """Return the data of the only event of a type."""
    (found,) = told(ledger, type_, run)
    return found


def words(ledger: Ledger, reference: BlobRef | None) -> str:
    """Return a text that must be there."""
    assert reference is not None
    content = ledger.blob(reference)
    assert content is not None
    return content.decode()


def failures(ledger: Ledger) -> list[tuple[str, str | None, str]]:
    """Return class, fault and impact of every failure, each of which was surfaced."""
    found = told(ledger, FailureOccurred)
    shown = {one.occurrence for one in told(ledger, FailureSurfaced)}
    assert {one.occurrence for one in found} == shown, "a failure was not surfaced"
    return [(one.class_, one.fault, one.impact) for one in found]
