"""The demo's dataset: every gold record holds on this Python, checked by importing, not by search.

The demo itself only parses sources; here the modules are imported and asked, so that gold and the
search service do not rest on the same reading.
"""

import importlib
import inspect
import json
import re
from collections import Counter
from functools import reduce
from importlib.resources import files
from typing import Any

import pytest

RECORDS: list[dict[str, Any]] = [
    json.loads(line)
    for line in files("trial_cli.demo").joinpath("dataset.jsonl").read_text("utf-8").splitlines()
]
BY_ID = {record["id"]: record for record in RECORDS}


def resolve(name: str) -> Any:  # noqa: ANN401 - any object of the standard library
    """Return what a qualified name means."""
    module, _, attributes = name.partition(".")
    return reduce(getattr, attributes.split("."), importlib.import_module(module))


def parameters(name: str) -> list[inspect.Parameter]:
    """Return the parameters of a function or method, without self."""
    found = inspect.signature(resolve(name)).parameters.values()
    return [one for one in found if one.name != "self"]


def default_text(parameter: inspect.Parameter) -> str | None:
    """Return a default as a signature shows it."""
    return None if parameter.default is parameter.empty else repr(parameter.default)


def meets(name: str, condition: str) -> bool:
    """Tell whether a candidate meets a list question's condition."""
    match = re.fullmatch(
        r"takes a parameter named `(?P<parameter>\w+)`"
        r"|derives directly from `(?P<base>\w+)`"
        r"|its documentation says that `(?P<error>[\w.]+)` is raised",
        condition,
    )
    assert match, condition
    if match["parameter"]:
        return match["parameter"] in [one.name for one in parameters(name)]
    if match["base"]:
        return [base.__name__ for base in resolve(name).__bases__] == [match["base"]]
    return bool(re.search(rf"{re.escape(match['error'])}\b", inspect.getdoc(resolve(name)) or ""))


def test_the_questions_are_enough_and_of_three_shapes() -> None:
    """Eighteen questions count and two were for trying out; ids are unique."""
    splits = Counter(record["split"] for record in RECORDS)
    shapes = Counter(record["task_shape"] for record in RECORDS if record["split"] == "holdout")
    assert splits == {"holdout": 18, "pilot": 2}
    assert shapes == {"fact": 8, "list": 5, "structured": 5}
    assert len(BY_ID) == len(RECORDS)


@pytest.mark.parametrize("key", BY_ID)
def test_evidence_is_documented_and_not_older_than_the_question(key: str) -> None:
    """Each record names the documentation it was verified against, no earlier than it asks."""
    record = BY_ID[key]
    for evidence in record["gold"]["evidence"]:
        scheme, _, name = evidence["url"].partition(":")
        assert scheme == "pydoc"
        assert inspect.getdoc(resolve(name))
        assert evidence["verified_at"] >= record["as_of"]


@pytest.mark.parametrize("key", [key for key in BY_ID if BY_ID[key]["task_shape"] == "list"])
def test_a_list_question_has_exactly_its_gold(key: str) -> None:
    """The condition stands before the agent and picks just the gold items from the candidates."""
    record = BY_ID[key]
    gold, context = record["gold"], record["context"]
    assert context["conditions"] == gold["inclusion_conditions"]
    (condition,) = context["conditions"]
    assert gold["items"] == [name for name in context["candidates"] if meets(name, condition)]
    assert gold["exhaustive"] is True


@pytest.mark.parametrize("key", [key for key in BY_ID if BY_ID[key]["task_shape"] == "structured"])
def test_a_record_is_what_the_signature_says(key: str) -> None:
    """Name, number of parameters and last default are those of the imported function."""
    record = BY_ID[key]
    (gold,) = record["gold"]["records"]
    found = parameters(gold["name"])
    expected = {"name": gold["name"], "parameters": len(found)}
    assert gold == {**expected, "last_default": default_text(found[-1])}
    assert record["context"]["fields"] == list(gold) == list(record["gold"]["fields"])


@pytest.mark.parametrize("key", [key for key in BY_ID if BY_ID[key]["task_shape"] == "fact"])
def test_a_fact_is_what_the_documentation_says(key: str) -> None:
    """A default stands in the signature, an exception in the text, a function exists."""
    record = BY_ID[key]
    question, answer = record["question"], record["gold"]["answer"]
    names = re.findall(r"`([^`]+)`", question)
    if "default value" in question:
        (parameter,) = (one for one in parameters(names[1]) if one.name == names[0])
        assert default_text(parameter) == answer
    elif "exception" in question:
        assert answer in (inspect.getdoc(resolve(names[0])) or "")
    else:
        assert record["gold"]["evidence"][0]["url"] == f"pydoc:{answer}"
        assert callable(resolve(answer))
