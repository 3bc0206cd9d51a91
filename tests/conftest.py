"""What holds for all tests: which cases are drawn, and where lines that ran are written down.

Drawn cases are the same ones in every run, and other ones in a soak. No test depends on how fast a
machine is, so that no case has a deadline.

Writing down which lines ran takes about as long as running them. What is long because it does the
same things very often, or with other people's records, is left out; every line has to be reached
without it, as on a machine without those records.
"""

import os
from collections.abc import Iterator

import coverage
import pytest
from hypothesis import settings

settings.register_profile("same", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("soak", max_examples=1_000, deadline=None)
settings.load_profile("soak" if os.environ.get("LEDGER_SOAK") else "same")

UNMEASURED = (
    "tests/scenarios/",
    "tests/test_docs.py",
    "tests/test_house",
    "tests/cli/test_run.py::test_c16_a_",
    "tests/ledger/grading/test_real_gold.py",
    "tests/ledger/importing/test_inspect_real_logs.py",
    "tests/ledger/importing/test_rows_real_records.py",
    "tests/ledger/test_bit_flips.py",
    "tests/ledger/test_concurrency.py",
    "tests/ledger/test_crash_states.py",
    "tests/ledger/test_faults.py",
    "tests/projections/test_policy.py",
)
"""Files of tests that are long."""


LONGEST = (
    "tests/ledger/test_concurrency.py",
    "tests/ledger/test_faults.py",
    "tests/ledger/test_crash_states.py",
    "tests/test_docs.py",
    "tests/cli/test_demo.py",
)
"""Files that are begun with, so that no process is left alone with one of them in the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the order within a file stays."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run one test, and write down which lines ran unless it is a long one."""
    measuring = coverage.Coverage.current()
    if measuring is None or not item.nodeid.startswith(UNMEASURED):
        return (yield)
    inherited = {name: os.environ.pop(name) for name in list(os.environ) if "COVERAGE" in name}
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()
        os.environ.update(inherited)
