"""Every error says where and what, and has the exit code that the command line documents."""

import pytest

from trial_ledger import errors
from trial_ledger.errors import (
    AmbiguousError,
    InvalidInputError,
    LedgerError,
    Problem,
    RefusedError,
    RuleError,
)

EXIT_CODES = {
    "LedgerError": 1,
    "InvalidInputError": 2,
    "UnsupportedFormatError": 2,
    "RuleError": 3,
    "RefusedError": 3,
    "ConflictError": 3,
    "VerificationError": 4,
    "GateError": 5,
    "NotFoundError": 6,
    "AmbiguousError": 6,
    "StorageError": 7,
}


def test_every_error_has_the_documented_exit_code() -> None:
    """The classes of the module are exactly those of the table, each with its code."""
    found = {
        name: value.exit_code
        for name in errors.__all__
        if isinstance(value := getattr(errors, name), type) and issubclass(value, LedgerError)
    }
    assert found == EXIT_CODES


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    """Each line of the drawing names a class, its code, and stands under its base class."""
    stack: list[tuple[int, type[LedgerError]]] = []
    drawn = set()
    for line in (errors.__doc__ or "").splitlines():
        words = line.replace("│", " ").replace("├─", "  ").replace("└─", "  ").split()
        if not words or words[0] not in EXIT_CODES:
            continue
        depth = line.index(words[0])
        kind = getattr(errors, words[0])
        stack = [entry for entry in stack if entry[0] < depth]
        assert not stack or stack[-1][1] in kind.__bases__
        assert int(words[1]) == kind.exit_code
        stack.append((depth, kind))
        drawn.add(words[0])
    assert drawn == set(EXIT_CODES)


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem(message="missing"), "missing"),
        (Problem(message="missing", source="a.jsonl"), "a.jsonl: missing"),
        (Problem(message="missing", source="a.jsonl", line=3), "a.jsonl:3: missing"),
        (Problem(message="missing", line=3, field="data.call"), "3: data.call: missing"),
        (
            Problem(message="exists", field="trial", clause="C16", found="x", expected="y"),
            "trial: exists (C16), found x, expected y",
        ),
        (Problem(message="wrong", found="", expected=""), "wrong, found , expected "),
    ],
)
def test_a_problem_is_one_line_with_its_place_first(problem: Problem, text: str) -> None:
    """Only what is known is printed; an empty value is known."""
    assert str(problem) == text


def test_an_input_error_counts_its_faults() -> None:
    """One fault and several are worded apart, all are carried; what would write says it did not."""
    one = InvalidInputError(
        [Problem(message="a")], what="rubric.toml", hint="look", nothing_written=False
    )
    two = InvalidInputError([Problem(message="a"), Problem(message="b")])
    assert (one.message, one.hint) == ("rubric.toml not acceptable: 1 fault", "look")
    assert two.message == "input not acceptable: 2 faults, nothing written"
    assert [problem.message for problem in two.problems] == ["a", "b"]


def test_a_single_fault_keeps_every_part() -> None:
    """`single` puts each argument where a reader looks for it."""
    error = InvalidInputError.single(
        "not a time",
        what="event",
        source="-",
        line=2,
        field="at",
        found="x",
        expected="y",
        hint="h",
    )
    assert error.problems == (
        Problem(message="not a time", source="-", line=2, field="at", found="x", expected="y"),
    )
    assert error.hint == "h"
    assert error.what == "event"


def test_errors_without_a_fault_cannot_be_made() -> None:
    """An input error or a refusal that names nothing would tell a user nothing."""
    with pytest.raises(AssertionError):
        InvalidInputError([])
    with pytest.raises(AssertionError):
        RefusedError([], what="input")


def test_a_rule_error_names_its_clause_once() -> None:
    """The clause stands in the message, and apart from it where the refusal becomes a fault."""
    error = RuleError("run r exists", clause="C12", field="run", hint="another name")
    assert error.message == "run r exists (C12)"
    assert error.problem(source="in.jsonl", line=4) == Problem(
        message="run r exists", clause="C12", field="run", source="in.jsonl", line=4
    )
    assert RuleError("run r exists").message == "run r exists"


def test_a_refusal_counts_its_events() -> None:
    """One event and several are worded apart."""
    problem = Problem(message="no")
    assert RefusedError([problem], what="in").message == "in: 1 event refused, nothing written"
    assert RefusedError([problem] * 2, what="in").message == "in: 2 events refused, nothing written"


def test_an_ambiguous_name_shows_five_candidates() -> None:
    """Five candidates fit on a line; more are hinted at."""
    error = AmbiguousError("manifest", "a", ["a5", "a1", "a3", "a2", "a4"])
    assert error.message == "manifest 'a' is ambiguous: a1, a2, a3, a4, a5"
    assert AmbiguousError("x", "a", map(str, range(6))).message.endswith("3, 4, …")
