"""`ledger costs`: account by account, unknown costs counted and never added."""

from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long

SCREEN = """\
fast-01  a cost that nobody reported is unknown, never 0
inference 8 calls unknown
          8 calls: 0 of known cost, 8 unknown
          input tokens 960 (8 calls)  output tokens 240 (8 calls)
search    $0.02 + 3 calls unknown
          11 calls: 8 of known cost, 3 unknown
          no usage known; 11 calls of unknown usage
judge     8 calls unknown  (evaluation, separate)
          8 calls: 0 of known cost, 8 unknown
          no usage known; 8 calls of unknown usage
"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def test_c18_the_whole_screen(here: Here) -> None:
    """Known sum and unknown count, usage and how many calls told it, in 80 columns."""
    sample(here.folder)
    done = here("costs", RUN)
    assert (done.code, done.out, done.err) == (0, SCREEN, "")
    assert too_long(done.out) == []


def test_c19_the_other_forms_have_a_row_an_account(here: Here) -> None:
    """Accounts are never added together."""
    sample(here.folder)
    document = here("costs", RUN, "--json").json
    assert (document["schema"], document["valid"]) == ("ledger.costs/1", True)
    assert [account["name"] for account in document["accounts"]] == ["inference", "search", "judge"]
    search = document["accounts"][1]
    assert (search["known"], search["known_count"], search["unknown_count"]) == (
        {"USD": "0.02"}, 8, 3,
    )  # fmt: skip
    rows = here("costs", RUN, "--format", "csv").out.splitlines()
    assert rows[0].startswith("name,calls,known,known_count,unknown_count")
    assert len(rows) == 4


def test_c18_two_currencies_and_one_unknown_call(here: Here, log: Log) -> None:
    """Each currency has its own sum; one call is a call."""
    log.act("trial.started", "q1", input="which?")
    for number, (amount, currency) in enumerate((("1.50", "EUR"), ("2", "CHF"), ("3", "USD"))):
        call = f"c{number}"
        log.act("call.started", "q1", call=call, purpose="model", endpoint="model")
        cost = {"amount": amount, "currency": currency, "basis": "reported"}
        log.act("call.finished", "q1", call=call, status="ok", cost=cost, usage={})
    log.act("call.started", "q1", call="open", purpose="model", endpoint="model")
    log.act("run.invalidated", reason="wrong")
    log.ledger.close()
    shown = here("costs", RUN).out
    assert shown == (
        "fast-01  INVALID  a cost that nobody reported is unknown, never 0\n"
        "inference CHF 2 + €1.5 + $3 + 1 call unknown\n"
        "          4 calls: 3 of known cost, 1 unknown\n"
        "          no usage known; 1 calls of unknown usage\n"
    )


def test_no_calls_are_no_cost_of_zero(here: Here, log: Log) -> None:
    """Nobody recorded any: unknown. A derived run points at its parent."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    assert here("costs", RUN).out.endswith("no calls recorded: cost unknown\n")
    assert here("costs", "again").out.endswith("of the trials: ledger costs fast-01\n")
    assert here("costs", RUN, "--json").json["accounts"] == []


def test_usage_that_was_told_without_any_part(here: Here, log: Log) -> None:
    """An empty usage is neither known nor unknown in any part."""
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="search", endpoint="search")
    log.act("call.finished", "q1", call="c1", status="ok", usage={})
    log.ledger.close()
    assert here("costs", RUN).out.splitlines()[-1].strip() == "1 calls: 0 of known cost, 1 unknown"


def test_an_unknown_run(here: Here) -> None:
    """Exit code 6."""
    sample(here.folder)
    assert here("costs", "slow").code == 6
