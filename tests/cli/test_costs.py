"""`ledger costs`: account by account, unknown costs counted and never added."""

from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long
from trial_cli.words import per_right_text
from trial_projections.spending import CostPerRight, Spending

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
per correct  >= $0.00333, no upper bound (no cap declared)  (6 right under
             exact)
p50 of one   >= $0.0025  95 %: $0 to no upper end
p95 of one   >= $0.0025  95 %: $0.0025 to no upper end
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
        "per correct  unknown: costs are in several currencies  (0 right under exact)\n"
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
    assert here("costs", RUN).out.splitlines()[2].strip() == "1 calls: 0 of known cost, 1 unknown"


def test_an_unknown_run(here: Here) -> None:
    """Exit code 6."""
    sample(here.folder)
    assert here("costs", "slow").code == 6


def test_c18_unknown_costs_make_the_price_of_a_right_trial_a_bound(here: Here) -> None:
    """The same words stand in `scores`, and every form names both bounds."""
    sample(here.folder)
    text = here("scores", RUN).out
    assert "          per correct >= $0.00333, no upper bound (no cap declared)\n" in text
    trials = here("costs", RUN, "--json").json["trials"]
    assert (trials["known"], trials["unknown_calls"], trials["currency"]) == ("0.02", 11, "USD")


@pytest.mark.parametrize(
    ("low", "high", "no_low", "no_high", "words"),
    [
        ("0.05", "0.05", None, None, "$0.0500"),
        ("0.05", "12", None, None, "$0.0500 to $12.0000"),
        ("0.0000123456", None, None, "no cap declared",
         ">= $0.0000123, no upper bound (no cap declared)"),
        ("0", None, None, "no cap declared", ">= $0, no upper bound (no cap declared)"),
        (None, "0.05", "no cost is known", None, "<= $0.0500 (no cost is known)"),
        (None, None, "no trial was right", "no trial was right", "unknown: no trial was right"),
    ],
)  # fmt: skip
def test_c18_each_kind_of_bound_has_its_words(
    low: str | None, high: str | None, no_low: str | None, no_high: str | None, words: str
) -> None:
    """What is not known is said, with the reason."""
    per = CostPerRight(low=low, high=high, error=None, no_low=no_low, no_high=no_high)
    spending = Spending(
        metric="judged", currency="USD", known=low, unknown_calls=0, cap=None, most=high,
        right_low=1, right_high=1, per_right=per, quantiles=[],
    )  # fmt: skip
    assert per_right_text(spending) == words


def test_c18_a_price_has_an_error_and_undecided_trials_widen_it(here: Here, log: Log) -> None:
    """With all costs known it is a number; whoever is undecided may be right."""
    undecided = ""
    for question, amount, verdict in (("q1", "0.10", "right"), ("q2", "0.30", "right")):
        log.act("trial.started", question, input="which?")
        log.act("call.started", question, call="c1", purpose="model", endpoint="model")
        cost = {"amount": amount, "currency": "USD", "basis": "reported"}
        log.act("call.finished", question, call="c1", status="ok", cost=cost, usage={})
        log.act("answer.submitted", question, answer=verdict)
        log.act("trial.finished", question, outcome="answered")
        judged: dict[str, object] = {"judgment": "j1", "metric": "exact", "by": "code"}
        undecided = here("costs", RUN).out
        grader = {"name": "exact", "version": "1"}
        judged |= {"score": "1", "grader": grader, "parts": [{"name": "is"}]}
        log.append("judgment.recorded", question, judged)
    log.ledger.close()
    assert "per correct  $0.2000 to $0.4000  (1-2 right under exact)\n" in undecided
    shown = " ".join(here("costs", RUN).out.split())
    assert "per correct $0.2000 (2 right under exact), standard error $0.0745 p50" in shown
