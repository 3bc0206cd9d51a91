"""Test runs that record trials: each test here runs pytest on tests of its own."""

import os
import sys
from pathlib import Path

import pytest

from cli_cases import LEDGER, ready
from ledger_cases import small_ledger, small_manifest
from recorder_cases import kinds, told, words
from trial_ledger.book import Ledger
from trial_ledger.events import (
    FailureOccurred,
    RunClosed,
    TrialFinished,
    TrialStarted,
)

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "trial_ledger.pytest_plugin", "-p", "no:cacheprovider")
RUN = "from-tests"
LIGHT = """
import sys
import pytest
code = pytest.main(["-p", "trial_ledger.pytest_plugin", "-q", "test_plain.py"])
own = {name for name in sys.modules if name.startswith(("trial_ledger.", "msgspec", "blake3"))}
sys.exit(code or sorted(own - {"trial_ledger.pytest_plugin"}) or 0)
"""
DIES = """
import os
import pytest

@pytest.mark.parametrize("question", [f"q{number}" for number in range(1, 10)])
def test_asked(ledger_trial, question):
    if question == "q5":
        with ledger_trial.call("search", endpoint="search"):
            os._exit(3)
    ledger_trial.answer("Herat")
"""
AGAIN = """
import pytest
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for time in (1, 2):
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=time == 2)
    return True
"""
"""Runs every test twice, as plugins that repeat failed tests do."""


def repeated(folder: Path, **fields: object) -> Ledger:
    """Make a ledger whose manifest asks every question twice."""
    ledger = small_ledger(folder, **fields)  # type: ignore[arg-type]
    ledger.freeze([small_manifest(configuration="twice", repetitions=2)])
    return ledger


@pytest.fixture
def tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder for tests, with a ledger whose manifest is frozen."""
    for name in [name for name in os.environ if name.startswith(("LEDGER_", "PYTEST_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(pytester.path / "state"))
    ready(pytester.path, repeated)
    pytester.makeini(f"[pytest]\nledger_manifest = twice\nledger_run = {RUN}\n")
    return pytester


def recorded(tests: pytest.Pytester) -> Ledger:
    """Return the ledger that the tests recorded into."""
    return Ledger.open(tests.path / LEDGER)


def ended(book: Ledger) -> dict[str, tuple[str | None, str | None]]:
    """Return outcome and reason of every trial, by question, repetition and session."""
    return {
        f"{s.event.trial.question}#{s.event.trial.repetition}@{s.event.trial.session}": (
            s.event.data.outcome,
            s.event.data.reason,
        )
        for s in book.events(run=RUN)
        if isinstance(s.event.data, TrialFinished) and s.event.trial is not None
    }


def test_a_test_is_a_trial_of_one_run(tests: pytest.Pytester) -> None:
    """Marker, parameter and id name the question; the run is opened once and closed at the end."""
    tests.makepyfile("""
        import pytest

        @pytest.mark.ledger_question("q1", repetition=2)
        def test_marked(ledger_trial):
            ledger_trial.answer("Samarkand")

        @pytest.mark.parametrize("question", ["q2", "q3"])
        @pytest.mark.parametrize("repetition", [1, 2])
        def test_named(ledger_trial, question, repetition):
            with ledger_trial.call("search", endpoint="search") as call:
                call.respond("found")
            ledger_trial.answer(question)

        @pytest.mark.parametrize("number", [pytest.param(4, id="q4")])
        def test_by_id(ledger_trial, number):
            ledger_trial.answer(None, abstained=True)

        def test_q5(ledger_trial):
            ledger_trial.answer("Kokand")

        def test_that_records_nothing():
            pass
    """)
    result = tests.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines([
        f"ledger: run {RUN}: 7 done, 0 failed, 0 cancelled",
        f"next: ledger grade {RUN}",
    ])  # fmt: skip
    with recorded(tests) as book:
        outcomes = {key: outcome for key, (outcome, _) in ended(book).items()}
        assert outcomes == {
            "q1#2@s1": "answered", "q2#1@s1": "answered", "q2#2@s1": "answered",
            "q3#1@s1": "answered", "q3#2@s1": "answered", "q4#1@s1": "abstained",
            "q5#1@s1": "answered",
        }  # fmt: skip
        assert kinds(book, RUN).count("run.opened") == 1
        assert [one.status for one in told(book, RunClosed, RUN)] == ["complete"]
        assert book.verify().findings == []


def test_c23_what_a_test_raises_is_a_failure_and_goes_on(tests: pytest.Pytester) -> None:
    """Exceptions, assertions without an answer and broken fixtures fail the trial, and the test."""
    tests.makepyfile("""
        import pytest

        def test_q1(ledger_trial):
            raise TimeoutError("too slow")

        def test_q2(ledger_trial):
            assert ledger_trial.given is None

        def test_q3(ledger_trial):
            pytest.fail("not today")

        @pytest.fixture
        def broken(ledger_trial):
            raise OSError("no disk")

        def test_q4(broken):
            pass

        def test_q5(ledger_trial):
            pass

        def test_q6(ledger_trial):
            ledger_trial.answer("Nukus")
            raise KeyError("after the answer")
    """)
    result = tests.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=1, failed=4, errors=1)
    result.stdout.fnmatch_lines([
        "*TimeoutError: too slow*",
        f"ledger: run {RUN}: 0 done, 6 failed, 0 cancelled",
        f"next: ledger failures {RUN}",
    ])  # fmt: skip
    with recorded(tests) as book:
        assert set(ended(book).values()) == {("errored", "exception"), ("errored", "no_answer")}
        found = [(one.class_, one.impact) for one in told(book, FailureOccurred, RUN)]
        assert found == [("agent_timeout", "trial_failed")] + 5 * [("agent_error", "trial_failed")]
        said = [words(book, one.message) for one in told(book, FailureOccurred, RUN)]
        assert said[0] == "TimeoutError: too slow"
        assert said[1].startswith("AssertionError: assert {")
        assert said[2] == "Failed: not today"
        assert said[3] == "OSError: no disk"
        assert said[4] == "the trial ended without an answer"
        assert said[5] == "KeyError: 'after the answer'"


def test_what_a_test_asserts_of_an_answer_is_no_failure_of_the_agent(
    tests: pytest.Pytester,
) -> None:
    """The trial stays answered, whatever the test says of it; a skipped one is cancelled."""
    tests.makepyfile("""
        import pytest

        def test_q1(ledger_trial):
            ledger_trial.answer("Herat")
            assert ledger_trial.outcome is None

        def test_q2(ledger_trial):
            ledger_trial.answer("Herat")
            pytest.fail("wrong town")

        def test_q3(ledger_trial):
            pytest.skip("no network")

        def test_q4(ledger_trial):
            ledger_trial.answer("Tashkent")
            pytest.skip("the rest")

        @pytest.mark.skip
        def test_q5(ledger_trial):
            pass
    """)
    tests.runpytest_inprocess(*PLUGIN).assert_outcomes(failed=2, skipped=3)
    with recorded(tests) as book:
        assert ended(book) == {
            "q1#1@s1": ("answered", None),
            "q2#1@s1": ("answered", None),
            "q3#1@s1": ("cancelled", "skipped"),
            "q4#1@s1": ("answered", None),
        }
        assert told(book, FailureOccurred, RUN) == []
        assert [one.status for one in told(book, RunClosed, RUN)] == ["complete"]


def test_c16_a_repeated_test_is_a_new_session_and_two_tests_are_two_slots(
    tests: pytest.Pytester,
) -> None:
    """What is run again keeps its first session; another test has to name another repetition."""
    tests.makeconftest(AGAIN)
    tests.makepyfile("""
        import pytest

        def test_q1(ledger_trial):
            ledger_trial.answer("Herat")

        @pytest.mark.ledger_question("q1")
        def test_other(ledger_trial):
            pass
    """)
    result = tests.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["ledger: slot q1#1 is *::test_q1; another test needs another*"])
    with recorded(tests) as book:
        assert list(ended(book)) == ["q1#1@s1", "q1#1@s2"]


@pytest.mark.parametrize(
    ("arguments", "body", "said"),
    [
        ((), "def test_x(ledger_trial): pass", "ledger: which question does *test_x ask? mark*"),
        ((), "def test_q5(ledger_trial, question): pass", "ledger: run * has no question 'no'"),
        (("--ledger", "no.ledger"), "def test_q1(ledger_trial): pass", "*no.ledger*"),
        (("--ledger-manifest", "no"), "def test_q1(ledger_trial): pass", "*no*not frozen*"),
        (
            ("-o", "ledger_manifest="),
            "def test_q1(ledger_trial): pass",
            "ledger: * needs a frozen*",
        ),
    ],
)
def test_what_cannot_be_recorded_is_an_error_of_the_test(
    tests: pytest.Pytester, arguments: tuple[str, ...], body: str, said: str
) -> None:
    """The message says what is missing, without a traceback; nothing is opened or closed."""
    tests.makeconftest("""
        import pytest

        @pytest.fixture(params=["no"])
        def question(request):
            return request.param
    """)
    tests.makepyfile(body)
    result = tests.runpytest_inprocess(*PLUGIN, *arguments)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])
    result.stdout.no_fnmatch_line("*Traceback*")
    with recorded(tests) as book:
        assert "trial.started" not in kinds(book, RUN)


def test_c12_a_name_of_an_earlier_run_is_refused(tests: pytest.Pytester) -> None:
    """The earlier run stays as it was, and is not closed a second time."""
    tests.makepyfile("def test_q1(ledger_trial): ledger_trial.answer('Herat')")
    tests.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)
    with recorded(tests) as book:
        before = kinds(book, RUN)
    result = tests.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"ledger: run {RUN} exists*"])
    with recorded(tests) as book:
        assert kinds(book, RUN) == before


@pytest.mark.parametrize(
    ("body", "arguments", "outcome", "reason"),
    [
        ("raise KeyboardInterrupt", (), ("cancelled", "interrupted"), "INTERRUPTED"),
        ("raise ValueError", ("-x",), ("errored", "exception"), "stopping after 1 failures"),
    ],
)
def test_a_test_run_that_stops_is_closed_as_interrupted(
    tests: pytest.Pytester,
    body: str,
    arguments: tuple[str, ...],
    outcome: tuple[str, str],
    reason: str,
) -> None:
    """The trial under way is ended, then the run, with why."""
    tests.makepyfile(f"def test_q1(ledger_trial):\n    {body}\n\ndef test_q2(ledger_trial): 1")
    result = tests.runpytest_inprocess(*PLUGIN, *arguments, no_reraise_ctrlc=True)
    result.stdout.fnmatch_lines([f"ledger: run {RUN}: 0 done, *"])
    with recorded(tests) as book:
        assert ended(book) == {"q1#1@s1": outcome}
        (closed,) = told(book, RunClosed, RUN)
        assert closed.status == "interrupted"
        assert reason in words(book, closed.reason)


def test_events_that_wait_in_a_spool_are_named(tests: pytest.Pytester) -> None:
    """A run whose events did not all reach the ledger is not closed; the summary says where."""
    tests.makepyfile(f"""
        import os
        from pathlib import Path

        def test_q1(ledger_trial):
            ledger_trial.answer("Herat")
            Path("{LEDGER}.{RUN}.00000000.spool").write_text("")
    """)
    result = tests.runpytest_inprocess(*PLUGIN)
    result.stdout.fnmatch_lines([f"ledger: events of run {RUN} wait: ledger append *.spool"])
    with recorded(tests) as book:
        assert told(book, RunClosed, RUN) == []


def test_a_run_that_cannot_be_closed_is_named(tests: pytest.Pytester) -> None:
    """The summary says so and why; the tests keep their results."""
    tests.makepyfile(f"""
        from pathlib import Path

        def test_q1(ledger_trial):
            ledger_trial.answer("Herat")
            Path("{LEDGER}").unlink()
    """)
    result = tests.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"ledger: run {RUN} was not closed: *"])


def test_a_ledger_elsewhere_is_named_in_the_next_command(tests: pytest.Pytester) -> None:
    """The option goes before the variable, and the variable before the ini file."""
    (tests.path / "below").mkdir()
    path = ready(tests.path / "below", repeated)
    tests.makepyfile("def test_q1(ledger_trial): pass")
    result = tests.runpytest_inprocess(*PLUGIN, f"--ledger={path}", "--ledger-run=other")
    result.stdout.fnmatch_lines([f"next: ledger --ledger {path} failures other"])
    with recorded(tests) as book:
        assert kinds(book, "other") == []


def test_c16_workers_write_one_run_and_a_dead_one_leaves_its_trial_open(
    tests: pytest.Pytester,
) -> None:
    """Two workers, one of which dies: one run, links without gaps, one trial unfinished."""
    tests.makepyfile(DIES)
    result = tests.runpytest_subprocess(*PLUGIN, "-n", "2")
    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines([
        f"ledger: run {RUN}: 8 done, 0 failed, 0 cancelled, 1 unfinished",
        f"next: ledger grade {RUN}",
    ])  # fmt: skip
    with recorded(tests) as book:
        assert kinds(book, RUN).count("run.opened") == 1
        assert len(told(book, TrialStarted, RUN)) == 9
        assert sorted(ended(book)) == [f"q{number}#1@s1" for number in (1, 2, 3, 4, 6, 7, 8, 9)]
        (closed,) = told(book, RunClosed, RUN)
        assert closed.status == "failed"
        assert words(book, closed.reason).startswith("1 trials were left open")
        assert book.verify().findings == []


def test_without_a_trial_nothing_of_the_ledger_is_loaded(tests: pytest.Pytester) -> None:
    """A test run that does not ask for a trial imports nothing heavy and makes no file."""
    tests.makepyfile(test_plain="def test_plain(): pass")
    before = (tests.path / LEDGER).read_bytes()
    result = tests.run(sys.executable, "-c", LIGHT)
    assert result.ret == 0, result.stderr.str()
    assert (tests.path / LEDGER).read_bytes() == before


def test_workers_that_record_nothing_open_no_run(tests: pytest.Pytester) -> None:
    """One dies and cannot say whether it recorded, one says that it did not: there is no run."""
    tests.makepyfile("import os\ndef test_dying(): os._exit(3)\ndef test_plain(): pass")
    result = tests.runpytest_inprocess(*PLUGIN, "-n", "1")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("ledger: *")
