"""C18 and C19: an unknown cost is unknown, and judging is an account of its own."""

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.errors import InvalidInputError, RuleError

DOLLAR = {"amount": "1", "currency": "USD", "basis": "reported"}


def spent(log: Log) -> None:
    """Append a judged trial with calls of known, unknown, lost and open cost."""
    log.act("trial.started", "q1", input="which?")
    for call, purpose, cost in (("c1", "model", DOLLAR), ("c2", "model", None)):
        log.act("call.started", "q1", call=call, purpose=purpose, endpoint=purpose)
        log.act("call.finished", "q1", call=call, status="ok", cost=cost)
    log.act("call.started", "q1", call="c3", purpose="search", endpoint="search")
    log.act("failure.occurred", "q1", occurrence="f1", class_="response_lost", fault="harness")
    log.act("response.lost", "q1", call="c3", occurrence="f1")
    log.act("trial.finished", "q1", outcome="answered")
    log.act("call.started", "q1", call="c4", purpose="judge", endpoint="judge")
    log.act("call.finished", "q1", call="c4", status="ok", cost=DOLLAR)
    log.judge("q1", "judged", "correct", calls=["c4"], reasoning="compared")


def test_c18_a_total_is_a_known_sum_and_a_count_of_the_unknown(here: Here, log: Log) -> None:
    """On both screens, and nowhere a zero for what nobody told."""
    spent(log)
    assert (
        "cost      inference $1 + 1 call unknown\n"
        "          search    1 call unknown\n"
        "          judge     $1 (separate)\n"
    ) in here("scores", RUN).out
    accounts = {known["name"]: known for known in here("costs", RUN, "--json").json["accounts"]}
    assert accounts["search"]["known"] == {}
    assert (accounts["inference"]["known_count"], accounts["inference"]["unknown_count"]) == (1, 1)


def test_c18_an_unknown_cost_cannot_be_given_as_a_float_or_below_zero(log: Log) -> None:
    """Money is decimal text; a cost that is not known is left out."""
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="model", endpoint="model")
    for amount in (0.25, "-1", "unknown"):
        with pytest.raises(InvalidInputError):
            log.act(
                "call.finished", "q1", call="c1", status="ok", cost={**DOLLAR, "amount": amount}
            )


def test_c19_a_judgment_names_judge_calls_only_and_no_cost_beside_them(log: Log) -> None:
    """A call of the agent is no judge's, and what the calls cost is not told twice."""
    spent(log)
    with pytest.raises(RuleError, match=r"call c1 is no judge call of this trial \(C19\)"):
        log.judge("q1", "judged", "correct", name="j2", pass_=2, calls=["c1"], reasoning="x")
    with pytest.raises(RuleError, match=r"stand with the judge calls, not here too \(C19\)"):
        log.judge(
            "q1", "judged", "correct", name="j2", pass_=2, calls=["c4"], cost=DOLLAR, reasoning="x"
        )


def test_c19_the_judges_spend_is_in_no_other_account(here: Here, log: Log) -> None:
    """Inference, search and judging have a row each, and no row adds them."""
    spent(log)
    rows = here("costs", RUN, "--format", "jsonl").rows
    assert [(row["name"], row["calls"], row["known"]) for row in rows] == [
        ("inference", 2, {"USD": "1"}), ("search", 1, {}), ("judge", 1, {"USD": "1"}),
    ]  # fmt: skip
