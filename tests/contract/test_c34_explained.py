"""C34: any metric can be explained down to events, bytes, graders and rules."""

from fractions import Fraction

import pytest
from blake3 import blake3

from cli_cases import Here
from ledger_cases import RUN
from read_cases import sample


@pytest.mark.parametrize("metric", ["exact", "judged"])
def test_c34_the_number_follows_from_members_rules_and_bytes(here: Here, metric: str) -> None:
    """Every event is in the log with that hash; rules and verdicts give the members' scores."""
    sample(here.folder)
    document = here("explain", RUN, metric, "--json").json
    total = {"low": Fraction(0), "high": Fraction(0)}
    for member in document["members"]:
        if member["basis"] == "rule":
            assert document["rules"][member["outcome"]] == f"scores {member['low']}"
        for event in member["events"]:
            raw = here("show", str(event["seq"]), "--raw").out.removesuffix("\n").encode()
            assert blake3(raw).hexdigest() == event["hash"]
        for end in total:
            total[end] += Fraction(member[end])
    headline = document["score"]["headline"]
    assert {end: str(value) for end, value in total.items()} == {
        end: headline[end]["sum"] for end in total
    }


def test_c34_graders_and_documents_are_named_with_version_and_hash(here: Here) -> None:
    """Grader versions, rubric, manifest and dataset stand in the derivation."""
    sample(here.folder)
    document = here("explain", RUN, "judged", "--json").json
    assert document["graders"] == {"judge@1": 6, "Ada": 1}
    assert {member["grader"] for member in document["members"]} == {"judge@1", "Ada", None}
    assert (document["rubric"], document["dataset"]) == ("quality@1", "example@1")
    assert {len(document[name]) for name in ("rubric_hash", "manifest")} == {64}


def test_c34_what_there_is_not_is_not_explained(here: Here) -> None:
    """No metric, no run and no slot is made up."""
    sample(here.folder)
    for arguments in ((RUN, "gone"), ("gone",), (RUN, "exact", "--trial", "q99#1")):
        done = here("explain", *arguments)
        assert (done.code, done.out) == (6, "")
