"""Files of the lm-evaluation-harness that are damaged, or do not belong together."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lm_eval_cases import RESULTS, SAMPLES, TASK, Evaluation, line
from trial_ledger.errors import InvalidInputError, LedgerError, NotFoundError, Problem
from trial_ledger.importing import lm_eval_samples
from trial_ledger.importing.lm_eval import read_lm_eval
from trial_ledger.importing.lm_eval_files import evaluation_files
from trial_ledger.importing.zip_members import Limits


def faults(path: Path, **limits: int) -> Sequence[Problem]:
    """Return every fault that reading tells."""
    with pytest.raises(InvalidInputError) as raised:
        read_lm_eval(path, limits=Limits(**limits) if limits else None)
    assert raised.value.hint is not None
    assert "ledger import lm-eval" in raised.value.hint or "too large" in str(raised.value.problems)
    return raised.value.problems


def fault(path: Path) -> Problem:
    """Return the only fault."""
    (found,) = faults(path)
    return found


def test_results_without_samples(evaluation: Evaluation) -> None:
    """The file that is missing is named, for every task."""
    evaluation.write([line(0)])
    (evaluation.folder / SAMPLES).unlink()
    found = fault(evaluation.folder)
    assert (found.source, found.field) == (str(evaluation.folder / RESULTS), f"results.{TASK}")
    assert found.expected == f"{SAMPLES} beside it"


def test_samples_without_results(evaluation: Evaluation) -> None:
    """Alone, or beside results that know no such task."""
    evaluation.write([line(0)])
    (evaluation.folder / RESULTS).rename(evaluation.folder / "kept")
    found = fault(evaluation.folder)
    assert (found.message, found.source) == (
        "samples without results", str(evaluation.folder / SAMPLES)
    )  # fmt: skip
    (evaluation.folder / "kept").rename(evaluation.folder / RESULTS)
    other = evaluation.samples(SAMPLES.replace(TASK, "rivers"), [line(0)])
    found = fault(other)
    assert (found.source, found.found) == (str(other), "task 'rivers'")
    assert found.expected == f"a task of {RESULTS}"


def test_two_results_files_for_the_same_samples(evaluation: Evaluation) -> None:
    """Neither is preferred."""
    path = evaluation.write([line(0)])
    other = evaluation.folder / RESULTS.replace("results", "backup")
    other.write_bytes(path.read_bytes())
    for one, rival in ((path, other), (other, path)):
        found = fault(one)
        assert found.message == "two results files for the same samples"
        assert (found.source, found.found) == (str(one), rival.name)


def test_a_results_file_without_a_date_takes_what_lies_beside_it(evaluation: Evaluation) -> None:
    """As long as there is one samples file for each task, and no other claims it."""
    path = evaluation.write([line(0)])
    plain = path.rename(evaluation.folder / "results.json")
    assert len(read_lm_eval(plain)) == 1
    assert len(read_lm_eval(evaluation.folder / SAMPLES)) == 1
    plain.rename(evaluation.folder / "mine.json")
    assert len(read_lm_eval(evaluation.folder / "mine.json")) == 1
    evaluation.samples(SAMPLES.replace("2026", "2027"), [line(0)])
    found = fault(evaluation.folder / "mine.json")
    assert found.message == "several samples files for one task"
    assert found.found is not None
    assert SAMPLES in found.found


def test_a_date_is_not_needed_in_the_name_of_samples(evaluation: Evaluation) -> None:
    """Beside a results file that has none either."""
    evaluation.write([line(0)]).rename(evaluation.folder / "results.json")
    (evaluation.folder / SAMPLES).rename(evaluation.folder / f"samples_{TASK}.jsonl")
    assert len(read_lm_eval(evaluation.folder)) == 1
    (evaluation.folder / "results.json").unlink()
    found = faults(evaluation.folder)[0]
    assert found.message == "samples without results"


def test_a_task_without_samples_in_undated_results_is_told(evaluation: Evaluation) -> None:
    """The name that is missing has a place for its date."""
    evaluation.write([line(0)]).rename(evaluation.folder / "results.json")
    (evaluation.folder / SAMPLES).unlink()
    assert fault(evaluation.folder).expected == f"samples_{TASK}_<date>.jsonl beside it"


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        (b"[]", {"results", "configs"}),
        (b'{"results": {"a": {"x,none": 1}}, "configs": 7}', {"configs"}),
        (b'{"results": {"a": {"x,none": 1}}, "configs": {"b": {}}}', {None}),
        (b'{"results": {"a": {"alias": "a"}}, "configs": {"a": {}}}', {"results.a"}),
        (b'{"results": {"a": {"x_stderr,none": 1}}, "configs": {"a": {}}}', {"results.a"}),
    ],
)
def test_what_is_no_results_file(
    evaluation: Evaluation, content: bytes, fields: set[object]
) -> None:
    """Which field is missing or wrong is said."""
    evaluation.write([line(0)]).write_bytes(content)
    found = faults(evaluation.folder)
    assert {problem.field for problem in found} == fields
    assert all(problem.found for problem in found)


def test_a_results_file_that_is_no_json(evaluation: Evaluation) -> None:
    """It is named, and the place in it."""
    path = evaluation.write([line(0)])
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InvalidInputError) as raised:
        read_lm_eval(path)
    (problem,) = raised.value.problems
    assert (problem.message, problem.source) == ("not JSON", str(path))


def test_a_line_that_is_cut_off(evaluation: Evaluation) -> None:
    """The last line without its end, told from a damaged one in the middle."""
    path = evaluation.write([line(0), line(1)])
    samples = evaluation.folder / SAMPLES
    samples.write_bytes(samples.read_bytes()[:-30])
    found = fault(path)
    assert (found.source, found.line) == (str(samples), 2)
    assert found.message == "the file is cut off in this line"
    evaluation.write([b"{oops\n", line(0), b"[1]\n"])
    first, second = faults(path)
    assert (first.line, first.message) == (1, "not JSON")
    assert (second.line, second.message, second.found) == (3, "not an object", "[1]")


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("doc_id", None, "null"),
        ("doc_id", True, "true"),
        ("doc_id", "", "''"),
        ("filter", "some", "'some'"),
        ("filter", 7, "7"),
        ("resps", "text", "'text'"),
        ("filtered_resps", 7, "7"),
        ("filtered_resps", None, "null"),
    ],
)
def test_a_field_that_is_missing_or_wrong(
    evaluation: Evaluation, field: str, value: object, found: str
) -> None:
    """File, line, field, what was found and what was expected."""
    path = evaluation.write([line(0), {**line(1), field: value}])
    problem = fault(path)
    assert (problem.line, problem.field, problem.found) == (2, field, found)
    assert problem.source == str(evaluation.folder / SAMPLES)
    assert problem.expected


def test_a_field_that_is_not_there_is_told_from_one_that_is_null(evaluation: Evaluation) -> None:
    """The message says which."""
    assert fault(evaluation.write([line(0, resps=None)])).found == "no such field"


def test_samples_find_their_own_results(evaluation: Evaluation) -> None:
    """By the date, where results of other evaluations lie beside them."""
    path = evaluation.write([line(0)])
    for year in ("2025", "2027"):
        for name in (RESULTS, SAMPLES):
            other = evaluation.folder / name.replace("2026", year)
            other.write_bytes((evaluation.folder / name).read_bytes())
    assert list(evaluation_files(evaluation.folder / SAMPLES)) == [path]
    assert len(evaluation_files(evaluation.folder)) == 3


def test_a_metric_that_a_line_names_and_has_not(evaluation: Evaluation) -> None:
    """A verdict that got lost in a line is no verdict."""
    path = evaluation.write([line(0, metrics=["exact_match", "f1", 7])])
    assert [(one.field, one.found) for one in faults(path)] == [
        ("metrics", "'f1'"),
        ("metrics", "7"),
    ]


def test_a_filter_that_is_not_named_must_be_the_only_one(evaluation: Evaluation) -> None:
    """Older versions do not name it."""
    lines = [line(0, filter=None), line(1, filter=None)]
    assert len(read_lm_eval(evaluation.write(lines))) == 1
    path = evaluation.write(lines, numbers={"exact_match,a": 1, "exact_match,b": 1})
    assert {problem.field for problem in faults(path)} == {"filter"}


def test_a_document_that_stands_twice(evaluation: Evaluation) -> None:
    """Both lines are named; the same id with another content is another fault."""
    path = evaluation.write([line(0), line(1), line(0)])
    found = fault(path)
    assert (found.line, found.field) == (3, "doc_id")
    assert found.found == "0 under none, also in line 1"
    numbers = {"exact_match,none": 1, "exact_match,b": 1}
    path = evaluation.write([line(0), line(0, filter_="b", doc_hash="0" * 64)], numbers=numbers)
    found = fault(path)
    assert (found.line, found.field, found.message) == (
        2,
        "doc_hash",
        "another document of the same id",
    )


def test_documents_that_are_missing(evaluation: Evaluation) -> None:
    """Fewer than the results count, under any filter; a whole line less is a fault too."""
    counted = {"original": 3, "effective": 3}
    found = fault(evaluation.write([line(0), line(1)], counted=counted))
    assert (found.found, found.expected) == ("2 of 2 documents", "3 documents")
    numbers = {"exact_match,none": 1, "exact_match,b": 1}
    found = fault(evaluation.write([line(0), line(1), line(0, filter_="b")], numbers=numbers))
    assert found.message.endswith("under filter b")
    lines = [line(0), line(1), line(1, filter_="b"), line(2, filter_="b")]
    counted = {"original": 2, "effective": 2}
    found = fault(evaluation.write(lines, numbers=numbers, counted=counted))
    assert found.found == "2 of 3 documents"
    found = fault(evaluation.write([], **{"n-samples": None}))
    assert found.expected == "at least one document"


def test_samples_of_another_evaluation(evaluation: Evaluation) -> None:
    """The hash over all hashes tells them apart, even where they are as many."""
    path = evaluation.write([line(0), line(1)])
    evaluation.samples(SAMPLES, [line(0), line(2, doc_id=1)])
    found = fault(path)
    assert "not the samples that the results were computed from" in found.message
    assert found.found is not None
    assert found.found.startswith("task hash ")


def test_faults_of_all_tasks_come_at_once(evaluation: Evaluation) -> None:
    """Whatever the file of each is."""
    path = evaluation.write([line(0, doc_id=None)])
    content = json.loads(path.read_bytes())
    content["results"]["two"] = content["results"][TASK]
    content["configs"]["two"] = content["configs"][TASK]
    path.write_bytes(json.dumps(content).encode())
    evaluation.samples(SAMPLES.replace(TASK, "two"), [line(0, resps=None)])
    assert [problem.field for problem in faults(path)] == ["doc_id", "resps"]


def test_a_file_full_of_faults_is_read_no_further(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million faults tell no more than the first thousand."""
    monkeypatch.setattr(lm_eval_samples, "MAX_PROBLEMS", 3)
    assert len(faults(evaluation.write([b"oops\n"] * 10))) == 3


def test_files_that_are_too_large_are_refused(evaluation: Evaluation) -> None:
    """By the limits that hold for every source."""
    path = evaluation.write([line(0)])
    for limits in ({"member_bytes": 10}, {"source_bytes": 10}):
        with pytest.raises(InvalidInputError) as raised:
            read_lm_eval(path, limits=Limits(**limits))
        assert "too large" in str(raised.value.problems[0])


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """A missing path, and a folder without anything of the harness."""
    with pytest.raises(NotFoundError, match="no file"):
        evaluation_files(tmp_path / "none")
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(NotFoundError, match=r"no results_\*\.json"):
        evaluation_files(tmp_path)


def test_blank_lines_and_a_missing_last_end_of_line_are_no_faults(evaluation: Evaluation) -> None:
    """What an editor does to a file loses nothing; the line numbers stay right."""
    last = json.dumps(line(1)).encode()
    lines: list[dict[str, Any] | bytes] = [line(0), b"\n", b"  \n", last]
    path = evaluation.write(lines, **{"n-samples": None, "task_hashes": None})
    assert len(read_lm_eval(path)[0].dataset.questions) == 2
    samples = evaluation.folder / SAMPLES
    samples.write_bytes(samples.read_bytes()[:-1])
    assert fault(path).line == 4


MUTATIONS: Sequence[Callable[[bytes, int], bytes]] = (
    lambda content, at: content[:at],
    lambda content, at: content[:at] + b"\x00" + content[at:],
    lambda content, at: content[:at] + content[at + 1 :],
    lambda content, at: content[at:] + content[:at],
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_damage_anywhere_gives_the_same_run_or_an_error(evaluation: Evaluation, data: Any) -> None:  # noqa: ANN401 - hypothesis
    """Never a traceback, and never a run with fewer documents."""
    path = evaluation.write([line(0), line(1)])
    damaged = data.draw(st.sampled_from([path, evaluation.folder / SAMPLES]))
    content = damaged.read_bytes()
    change = data.draw(st.sampled_from(MUTATIONS))
    damaged.write_bytes(change(content, data.draw(st.integers(0, len(content) - 1))))
    try:
        runs = read_lm_eval(path)
    except LedgerError:
        return
    assert [len(run.dataset.questions) for run in runs] == [2]
    assert [len(list(run.submissions("0" * 64))) > 10 for run in runs] == [True]
