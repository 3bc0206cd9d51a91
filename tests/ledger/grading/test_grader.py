"""What all code graders have in common: who they are, what they give, what defines them."""

import ast
from pathlib import Path

import msgspec
import pytest

from document_cases import fields_of
from grading_cases import fact, graded, listed, metric_of
from trial_ledger import grading
from trial_ledger.documents.dataset import parse_dataset
from trial_ledger.documents.grader_options import BUILT_IN
from trial_ledger.documents.rubric_structs import Metric
from trial_ledger.grading import grader as grader_module
from trial_ledger.grading.grader import CodeGrader, gold_of
from trial_ledger.grading.graders import GRADERS, grader_of

FOLDER = Path(str(grading.__file__)).parent


def test_every_name_that_a_rubric_may_give_has_its_grader() -> None:
    """The declared graders and the ones that there are, are the same."""
    assert set(GRADERS) == set(BUILT_IN)
    for name, found in GRADERS.items():
        assert (found.reference, found.measures) == (name, BUILT_IN[name].measures)


@pytest.mark.parametrize("grader", ["judge", "human", "source", "other@1", "list-match@2"])
def test_other_graders_are_not_ours(grader: str) -> None:
    """A model, a person, a log or a program outside judges."""
    assert grader_of(Metric(measure="verdict", grader=grader)) is None


@pytest.mark.parametrize("measure", ["verdict", "score", "fact.correctness"])
def test_c20_a_verdict_or_a_score_as_the_measure_takes_it(measure: str) -> None:
    """Under `verdict` there is no score, elsewhere no label."""
    right, wrong = (graded("normalised-match@1", fact("x"), text, measure) for text in "xy")
    labels = ("correct", "incorrect") if measure == "verdict" else (None, None)
    scores = (None, None) if measure == "verdict" else ("1", "0")
    assert (right.verdict, wrong.verdict) == labels
    assert (right.score, wrong.score) == scores


def test_gold_is_read_from_a_record_of_the_gold_file() -> None:
    """As the dataset made it; a record may hold no gold, and a question no record."""
    line = b'{"id":"q1","question":"?","task_shape":"fact","gold":{"answer":"x"}}'
    dataset = parse_dataset(line, source=None, name="n", version="1")
    gold = gold_of(dataset.gold["q1"])
    assert gold is not None
    assert (gold["answer"], gold["alternatives"]) == ("x", [])
    assert gold_of(None) is None
    assert gold_of(b'{"extra":{},"id":"q1"}') is None
    assert gold_of(b'{"gold":"a text","id":"q1"}') is None


def digest(metric: Metric) -> str:
    """Return the digest of a metric's grader."""
    found = grader_of(metric)
    assert found is not None
    return found.digest(metric)


def test_c28_a_digest_covers_name_settings_and_measure() -> None:
    """Whatever changes what is decided gives another digest; defaults written out do not."""
    metric = metric_of("number@1")
    assert digest(metric) == digest(metric_of("number@1", find="whole", absolute="0"))
    others = [
        metric_of("number@1", absolute="0.1"),
        metric_of("number@1", "fact.correctness"),
        metric_of("normalised-match@1"),
        metric_of("normalised-match@1", normaliser="casefold"),
        metric_of("includes@1"),
    ]
    assert len({digest(other) for other in [metric, *others]}) == len(others) + 1


def test_c28_a_digest_covers_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another source of a module that defines the grader is another definition."""
    metrics = {name: metric_of(name) for name in BUILT_IN}
    before = {name: digest(metric) for name, metric in metrics.items()}
    monkeypatch.setattr(grader_module, "source_digest", lambda module: f"other {module}")
    assert all(digest(metric) != before[name] for name, metric in metrics.items())


def imported_from_here(module: str) -> set[str]:
    """Return the modules of the package that one of them imports."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text("utf-8"))
    return {
        node.module.removeprefix("trial_ledger.grading.").replace(".", "/")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("trial_ledger.grading.")
        and node.module is not None
    }


def unnamed(found: CodeGrader) -> set[str]:
    """Return the modules that a grader's own modules import and that it does not name."""
    named = {"grader", *found.modules}
    return {other for module in named for other in imported_from_here(module)} - named


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_c28_a_digest_leaves_no_module_out(name: str) -> None:
    """A grader names every module of the package that its rule is made of."""
    found = GRADERS[name]
    assert unnamed(found) == set()
    less = msgspec.structs.replace(found, modules=found.modules[:-1])
    assert unnamed(less) == {found.modules[-1]}


def test_settings_that_this_version_does_not_know_are_an_error() -> None:
    """A rubric of another version is not graded by half of its settings."""
    metric = metric_of("list-match@1", normaliser="squid", sorted="yes", duplicates="kept")
    found = grader_of(metric)
    assert found is not None
    fields = {
        "metric 'list-match@1'.normaliser",
        "metric 'list-match@1'.options.sorted",
        "metric 'list-match@1'.options.duplicates",
    }
    assert fields_of(lambda: found.digest(metric)) == fields


def test_a_text_without_limit_in_gold_is_shown_short() -> None:
    """A reasoning is words, whatever gold and answer are made of."""
    texts = ["\x1b[31m" + "x" * 10_000, "\u202e" * 300]
    for text in texts:
        for grader in ("normalised-match@1", "includes@1"):
            found = graded(grader, fact(text), text)
            assert len(found.reasoning) < 400
            assert found.reasoning.isprintable()
        lists = graded("list-match@1", listed(text), f'["{"y" * 9000}"]')
        assert len(lists.reasoning) < 400
        assert lists.reasoning.isprintable()
