"""`ledger failures`: every occurrence, recovered or not; retrieval misses apart (C26)."""

from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long
from trial_cli.failures import KEYS
from trial_projections.failure_groups import GROUP_KEYS

SCREEN = """\
fast-01  4 failures: 1 recovered, 3 not (1 judge); 1 not known to be surfaced
  judge error 1  overloaded 1  rate limited 1  response lost 1

seq  trial    class          fault            recovered  impact        endpoint
  8  q1#1@s1  overloaded     search_provider  no         trial_failed  search
 15  q2#1@s1  response_lost  harness          no         trial_failed  search
 28  q3#1@s1  judge_error    judge            no         unknown       judge
 33  q4#1@s1  rate_limited   search_provider  retry      none          search

misses    1, no failures: q9#1@s1 seq 99

effect    harness fault 1: exact 60.0 %, had they been right 70.0 %
          search provider fault 1: exact 60.0 %, had they been right 70.0 %
          harness fault 1: judged 60.0-70.0 %, had they been right 70.0-80.0 %
          search provider fault 1: judged 60.0-70.0 %, had they been right
          70.0-80.0 %
          judge failed 1: judged 60.0-70.0 %, had they been right 70.0 %

next      ledger trace 8 | ledger failures fast-01 --by class,endpoint
"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def test_c26_the_whole_screen(here: Here) -> None:
    """Counts by class, the list with places, and misses apart, in 80 columns."""
    sample(here.folder)
    done = here("failures", RUN)
    assert (done.code, done.out, done.err) == (0, SCREEN, "")
    assert too_long(done.out) == []


def test_the_json_form_is_complete(here: Here) -> None:
    """Every occurrence with its hash, attempt, purpose and what became of it."""
    sample(here.folder)
    document = here("failures", RUN, "--json").json
    assert (document["schema"], document["valid"]) == ("ledger.failures/1", True)
    assert document["counts"]["unsurfaced"] == 1
    last = document["failures"][-1]
    assert (last["recovered"], last["recovered_seq"], last["purpose"]) == ("retry", 38, "search")
    assert (last["surfaced"], len(last["hash"])) == ("emitted", 64)
    (miss,) = document["retrieval_misses"]
    assert (miss["trial"], miss["seq"], len(miss["hash"])) == ("q9#1@s1", 99, 64)
    assert here("failures", RUN, "--format", "jsonl").rows == document["failures"]
    assert here("failures", RUN, "--format", "md").out.count("\n") == 6


def test_only_what_was_not_recovered(here: Here) -> None:
    """The counts stay those of all."""
    sample(here.folder)
    done = here("failures", RUN, "--unrecovered")
    assert done.out.startswith("fast-01  4 failures: 1 recovered, 3 not")
    assert "rate_limited" not in done.out
    assert len(here("failures", RUN, "--unrecovered", "--format", "jsonl").rows) == 3


def test_nothing_failed(here: Here, log: Log) -> None:
    """None is said in words."""
    log.trial("q1")
    log.ledger.close()
    assert here("failures", RUN).out == (
        "fast-01  0 failures: 0 recovered, 0 not (0 judge); 0 not known to be surfaced\n\nnone\n"
    )


def test_an_invalid_run_and_a_failure_of_unknown_fault(here: Here, log: Log) -> None:
    """Marked, and never blamed on anybody; a failure of the run as a whole has no trial."""
    log.act("failure.occurred", None, occurrence="f1", class_="overloaded", endpoint="e" * 60)
    log.act("run.invalidated", reason="wrong")
    log.ledger.close()
    done = here("failures", RUN)
    assert done.out.startswith("fast-01  INVALID  1 failures:")
    assert too_long(done.out) == []
    (row,) = here("failures", RUN, "--format", "jsonl").rows
    assert (row["trial"], row["fault"], row["endpoint"]) == (None, "unknown", "e" * 60)


def test_a_derived_run_points_at_the_failures_of_its_trials(here: Here, log: Log) -> None:
    """Its own list holds what failed while judging."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    assert "  those of the trials: ledger failures fast-01\n" in here("failures", "again").out


def test_misses_without_failures_are_listed(here: Here, log: Log) -> None:
    """In the order of the log."""
    for question in ("q2", "q1"):
        log.trial(question)
        log.act("query.inspected", question, verdict="adequate", reason="they name it")
        log.act("retrieval_miss.declared", question, missing="the page", reason="not there")
    log.ledger.close()
    shown = here("failures", RUN).out
    assert "none\n\nmisses    2, no failures: q2#1@s1 seq 10, q1#1@s1 seq 15\n" in shown


def test_an_unknown_run(here: Here) -> None:
    """Exit code 6."""
    sample(here.folder)
    assert here("failures", "slow").code == 6


GROUPED = """\
fast-01  4 failures: 1 recovered, 3 not (1 judge); 1 not known to be surfaced
  judge error 1  overloaded 1  rate limited 1  response lost 1

count  recovered  not  trials lost  first  last  fault, endpoint
    2          1    1            1      8    33  search_provider, search
    1          0    1            1     15    15  harness, search
    1          0    1            0     28    28  judge, judge
    4          1    3            2      8    33  all

misses    1, no failures: q9#1@s1 seq 99

effect    harness fault 1: exact 60.0 %, had they been right 70.0 %
          search provider fault 1: exact 60.0 %, had they been right 70.0 %
          harness fault 1: judged 60.0-70.0 %, had they been right 70.0-80.0 %
          search provider fault 1: judged 60.0-70.0 %, had they been right
          70.0-80.0 %
          judge failed 1: judged 60.0-70.0 %, had they been right 70.0 %

next      ledger trace 8 | ledger failures fast-01
"""


def test_c26_the_screen_of_groups(here: Here) -> None:
    """Counts recovered and not, trials lost and references, summing up to the list."""
    sample(here.folder)
    done = here("failures", RUN, "--by", "fault,endpoint")
    assert (done.code, done.out, done.err) == (0, GROUPED, "")


def test_c26_groups_in_the_other_forms(here: Here) -> None:
    """JSON keeps the whole list beside them; rows are the groups; keys stand once."""
    sample(here.folder)
    document = here("failures", RUN, "--by", "class, class", "--json").json
    assert (document["by"], len(document["failures"])) == (["class"], 4)
    assert sum(group["count"] for group in document["groups"]) == document["counts"]["total"]
    first = document["groups"][0]["first"]
    assert (first["trial"], first["occurrence"], len(first["hash"])) == ("q1#1@s1", "f1", 64)
    rows = here("failures", RUN, "--by", "minute", "--format", "jsonl").rows
    assert [(row["minute"], row["count"], row["first_seq"]) for row in rows] == [
        ("2026-10-01T12:00", 4, 8)
    ]
    shown = here("failures", RUN, "--by", "minute,class").out
    assert "  2026-10-01 12:00, overloaded\n" in shown
    table = here("failures", RUN, "--by", "class", "--format", "csv").out.splitlines()
    assert table[0] == "class,count,recovered,unrecovered,trials_lost,first_seq,last_seq"
    assert len(here("failures", RUN, "--by", "class", "--format", "md").out.splitlines()) == 6


def test_groups_of_what_was_not_recovered(here: Here) -> None:
    """The filter goes first, and the sum is that of what is shown."""
    sample(here.folder)
    shown = here("failures", RUN, "--by", "endpoint", "--unrecovered").out
    assert "    3          0    3            2      8    28  all\n" in shown


def test_what_is_unknown_is_shown_as_unknown(here: Here, log: Log) -> None:
    """In four keys at once no number is cut, and no line is too long."""
    log.act("failure.occurred", None, occurrence="f1", class_="overloaded", endpoint="e" * 60)
    log.act("failure.occurred", None, occurrence="f2", class_="overloaded")
    log.ledger.close()
    shown = here("failures", RUN, "--by", "class,fault,endpoint,minute").out
    assert too_long(shown) == []
    assert "overloaded, unknown, unknown,\n" in shown
    (row, _) = here("failures", RUN, "--by", "fault,endpoint", "--format", "jsonl").rows
    assert (row["fault"], row["endpoint"]) == (None, "e" * 60)


def test_groups_of_nothing(here: Here, log: Log) -> None:
    """None is said in words."""
    log.ledger.close()
    assert here("failures", RUN, "--by", "class").out.endswith("surfaced\n\nnone\n")


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("when", "no key 'when'; there is class, fault, endpoint, minute"),
        ("class,,Fault", "no key '', 'Fault'; there is"),
        ("", "no key ''; there is"),
        ("\x1b[2J", "no key '\\x1b[2J'; there is"),
    ],
)
def test_a_key_that_there_is_not(here: Here, by: str, message: str) -> None:
    """All of them at once, and what there is."""
    sample(here.folder)
    done = here("failures", RUN, "--by", by)
    assert (done.code, done.out) == (2, "")
    assert f"Invalid value for --by: {message}" in done.err


def test_the_keys_of_the_option_are_those_of_the_projection() -> None:
    """The command says before it loads anything what it can group by."""
    assert tuple(GROUP_KEYS) == KEYS
