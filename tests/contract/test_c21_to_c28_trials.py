"""C21, C22, C24, C28 to C30 from the command line: losses, misses, fallbacks, reasons, people."""

from pathlib import Path

import pytest

from cli_cases import RUN, Here, event, opening, ready, start
from contract_cases import PERSON, accept, refuse

CALL = event("call.started", "q1", call="c1", purpose="search", endpoint="search")
LOSS = event(
    "failure.occurred", "q1", occurrence="f1", call="c1", fault="harness",
    **{"class": "response_lost"},
)  # fmt: skip
LOST = event("response.lost", "q1", call="c1", occurrence="f1", bytes_received=1)
END = event("trial.finished", "q1", outcome="errored")
INSPECTED = event("query.inspected", "q1", verdict="adequate", reason="it names the town")
MISS = event("retrieval_miss.declared", "q1", missing="its page", reason="not in the results")
OTHER = event("call.started", "q1", call="c1", purpose="search", endpoint="mirror")


@pytest.fixture(autouse=True)
def trial(tmp_path: Path, here: Here) -> None:
    """Make a ledger with an open trial of a live run."""
    ready(tmp_path)
    accept(here, opening(), start("q1"))


def judgment(**fields: object) -> dict[str, object]:
    """Return a verdict by code on the trial."""
    values: dict[str, object] = {
        "judgment": "j1", "metric": "exact", "by": "code", "grader": {"name": "match"},
        "score": "1",
    }  # fmt: skip
    return event("judgment.recorded", "q1", **{**values, **fields})


def test_c21_a_loss_is_nobody_elses_fault(here: Here) -> None:
    """A lost response that is put on the provider, or called a time-out, is refused."""
    by_provider = {**LOSS, "data": {**LOSS["data"], "fault": "search_provider"}}  # type: ignore[dict-item]
    timeout = {**LOSS, "data": {**LOSS["data"], "class": "timeout", "occurrence": "f2"}}  # type: ignore[dict-item]
    refuse(here, "C21", CALL, by_provider, LOST)
    refuse(here, "C21", CALL, timeout, {**LOST, "data": {"call": "c1", "occurrence": "f2"}})
    accept(here, CALL, LOSS, LOST, END)
    trials = here("trials", RUN, "--json").json["trials"]
    assert trials[0]["trial"].startswith("q1#1")
    assert "harness" in here("failures", RUN).out


def test_c22_a_miss_follows_inspection_and_no_loss(here: Here) -> None:
    """Declared before the queries were looked at, or beside a lost response, it is refused."""
    said = refuse(here, "C22", MISS)
    assert "hint: append query.inspected with verdict adequate first" in said
    refuse(here, "C22", CALL, LOSS, LOST, INSPECTED, MISS)
    accept(here, INSPECTED, MISS)


def test_c24_a_fallback_is_disclosed_before_it_is_used(here: Here) -> None:
    """An endpoint outside the policy needs a recorded occurrence, which is counted by itself."""
    said = refuse(here, "C24", OTHER)
    assert "endpoint mirror is outside the policy of local: model, search" in said
    assert "hint: record a failure.occurred of class endpoint_fallback" in said
    disclosed = event(
        "failure.occurred", "q1", occurrence="f1", endpoint="mirror", fault="search_provider",
        **{"class": "endpoint_fallback"},
    )  # fmt: skip
    named = {**OTHER, "data": {**OTHER["data"], "occurrence": "f1"}}  # type: ignore[dict-item]
    accept(here, disclosed, named)
    found = here("failures", RUN, "--json").json
    assert found["counts"]["by_class"] == {"endpoint_fallback": 1}
    assert "mirror" in here("failures", RUN).out


def test_c28_a_verdict_carries_its_reasoning(here: Here) -> None:
    """Without words and without parts a live verdict is refused; with either it is accepted."""
    accept(here, END)
    said = refuse(here, "C28", judgment())
    assert "data.reasoning: an automated judgment carries its reasoning: words or parts" in said
    accept(here, judgment(parts=[{"name": "equal", "numerator": 1, "denominator": 1}]))
    model = {"judgment": "j2", "metric": "judged", "by": "model", "score": None}
    refuse(here, "C28", judgment(**model, verdict="correct"))
    accept(here, judgment(**model, verdict="correct", reasoning="the same town"))
    row = here("log", RUN, "--kind", "judgment.recorded", "--format", "jsonl").rows[1]["data"]
    assert row["reasoning"]["class"] == "gold"
    assert row["rubric"]


def test_c28_a_human_verdict_is_a_persons(here: Here) -> None:
    """Nothing but a named person judges as human."""
    accept(here, END)
    human = judgment(by="human", reasoning="I read it")
    refuse(here, "C28", human)
    refuse(here, "C28", {**human, "actor": {"role": "human"}})
    accept(here, {**human, "actor": PERSON})


def test_c29_a_drawing_uses_the_seed_of_the_rubric(here: Here) -> None:
    """The seed was frozen before the first trial; another one is refused."""
    strata = {"text": "{}", "media": "application/json"}
    refuse(here, "C29", event("review.drawn", None, plan="p1", seed="mine", strata=strata))
    accept(here, event("review.drawn", None, plan="p1", seed="seven", strata=strata))


def test_c30_a_review_is_the_act_of_a_person(here: Here) -> None:
    """A program reviews nothing; a person says why."""
    accept(here, END, judgment(parts=[{"name": "equal"}]))
    review = event(
        "review.recorded", "q1", review="r1", metric="exact", judgment="j1", plan="purposive",
        score="0", reason="another town", blind=False,
    )  # fmt: skip
    refuse(here, "C30", review)
    accept(here, {**review, "actor": PERSON})
