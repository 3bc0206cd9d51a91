"""The pytest plugin: a test that asks for `ledger_trial` is one trial of a run.

Invariant: where no test asks for it, a test run is as it is without the plugin: nothing of the
ledger is imported, opened or written; a test's exception always goes on.

With xdist the process that controls the workers names the run and closes it; the first worker that
has a trial opens it.
"""

import os
import secrets
from collections.abc import Generator, Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

if TYPE_CHECKING:
    from trial_ledger.pytest_plugin.session import RecordedSession, Summary
    from trial_ledger.recording.trials import TrialRecorder

__all__ = ["Plan", "ledger_trial"]

FIXTURE = "ledger_trial"
SHARED = "trial_ledger"
"""Key under which controller and workers of xdist tell each other of the run."""
DEFAULT_LEDGER = "trials.ledger"
NAME_BYTES = 4
TOKEN_BYTES = 16
MARKER = (
    "ledger_question(id, repetition=1): which question of the manifest the test asks, and which"
    " repetition of it it is"
)


class Plan(NamedTuple):
    """What this test run records into."""

    ledger: str
    """Path of the ledger."""
    is_usual: bool
    """Whether that is where commands look for it by themselves."""
    manifest: str | None
    """Frozen manifest; None where nobody named one."""
    run: str
    """Name of the run."""
    token: str
    """Id of its first event, by which every process knows it."""


class Node(Protocol):
    """A worker of xdist, as its controller sees it."""

    config: pytest.Config
    """The controller's."""
    workerinput: MutableMapping[str, object]
    """What the worker is told."""


PLAN = pytest.StashKey[Plan]()
RECORDED: "pytest.StashKey[RecordedSession]" = pytest.StashKey()
SUMMARY: "pytest.StashKey[Summary]" = pytest.StashKey()
IS_USED = pytest.StashKey[bool]()
"""Whether a worker recorded, or died and may have."""
RAISED = pytest.StashKey[BaseException | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, each of which the ini file can give too."""
    group = parser.getgroup("trial ledger")
    for name, what in (
        ("ledger", "ledger that tests record into (else $LEDGER_PATH, else trials.ledger)"),
        ("ledger-manifest", "frozen manifest that tests are trials of (else $LEDGER_MANIFEST)"),
        ("ledger-run", "name of the run (else $LEDGER_RUN, else one with random digits)"),
    ):
        group.addoption(f"--{name}", default=None, help=what)
        parser.addini(name.replace("-", "_"), what, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker, and the run."""
    config.addinivalue_line("markers", MARKER)
    given = getattr(config, "workerinput", {}).get(SHARED)
    config.stash[PLAN] = plan_of(config) if given is None else Plan(*given)


def plan_of(config: pytest.Config) -> Plan:
    """Return what options, environment and ini file say, in this order."""

    def setting(name: str, variable: str) -> str | None:
        found: str | None = config.getoption(name) or os.environ.get(variable)
        return found or config.getini(name) or None

    usual = Path(os.environ.get("LEDGER_PATH") or DEFAULT_LEDGER).absolute()
    path = config.getoption("ledger") or os.environ.get("LEDGER_PATH")
    default = config.rootpath / (config.getini("ledger") or DEFAULT_LEDGER)
    ledger = Path(path).absolute() if path else default
    return Plan(
        ledger=str(ledger),
        is_usual=ledger == usual,
        manifest=setting("ledger_manifest", "LEDGER_MANIFEST"),
        run=setting("ledger_run", "LEDGER_RUN") or f"pytest-{secrets.token_hex(NAME_BYTES)}",
        token=secrets.token_hex(TOKEN_BYTES),
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Node) -> None:
    """Tell a worker which run it is."""
    plan = node.config.stash[PLAN]
    node.workerinput[SHARED] = [*plan]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Node) -> None:
    """Hear from a worker whether it recorded; one that died does not say."""
    stash = node.config.stash
    unsaid = {SHARED: stash[PLAN].manifest is not None}
    if getattr(node, "workeroutput", unsaid).get(SHARED):
        stash[IS_USED] = True


@pytest.hookimpl(wrapper=True, specname="pytest_runtest_setup")
def pytest_fixtures(item: pytest.Item) -> Generator[None, object, object]:
    """Remember what a fixture raises beside a trial, and let it go on."""
    return (yield from watched(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Remember what a test raises, and let it go on."""
    return (yield from watched(item))


def watched(item: pytest.Item) -> Generator[None, object, object]:
    """Run a phase of a test."""
    item.stash[RAISED] = None
    try:
        return (yield)
    except BaseException as error:
        item.stash[RAISED] = error
        raise


@pytest.fixture
def ledger_trial(request: pytest.FixtureRequest) -> Iterator["TrialRecorder"]:
    """A trial of the run, open until the test has ended; see docs/how-to/pytest.md."""
    from trial_ledger.pytest_plugin.session import refused, session_of  # noqa: PLC0415 - heavy

    config, item = request.config, request.node
    if RECORDED not in config.stash:
        with refused():
            config.stash[RECORDED] = session_of(config.stash[PLAN])
    recorded = config.stash[RECORDED]
    with refused():
        trial = recorded.entered(item)
    yield trial
    with refused():
        recorded.left(trial, item.stash[RAISED])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Close the run, after the last fixture was torn down."""
    config = session.config
    recorded = config.stash.get(RECORDED, None)
    if recorded is not None:
        recorded.ledger.close()
    if hasattr(config, "workeroutput"):
        config.workeroutput[SHARED] = recorded is not None
    elif recorded is not None or config.stash.get(IS_USED, False):
        from trial_ledger.pytest_plugin.session import closed  # noqa: PLC0415 - heavy

        stopped = session.shouldfail or session.shouldstop
        reason = str(stopped) if stopped else ended_early(exitstatus)
        summary = closed(config.stash[PLAN], reason)
        if summary is not None:
            config.stash[SUMMARY] = summary


def ended_early(exitstatus: int) -> str | None:
    """Return why a test run did not come to its end; None where it did."""
    whole = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    return None if exitstatus in whole else f"pytest ended as {pytest.ExitCode(exitstatus).name}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many trials were recorded, and what comes next."""
    summary = config.stash.get(SUMMARY, None)
    for line in () if summary is None else summary.lines:
        terminalreporter.write_line(line)
