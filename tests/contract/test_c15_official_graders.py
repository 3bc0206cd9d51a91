"""C15: official grading is a pinned grader unchanged, and nothing else bears a benchmark's name."""

from pathlib import Path

import pytest

from document_cases import Table, outcome_table, problems_of
from ledger_cases import tools
from official_cases import UNREAD, official_table, section
from projection_cases import Log
from trial_ledger.book import Ledger
from trial_ledger.documents.official_guard import prompt_digest
from trial_ledger.documents.official_pins import PINS, JudgePin
from trial_ledger.documents.rubric import Rubric, rubric_from_table
from trial_ledger.goldfile import gold_path
from trial_projections.reading import ReadModel
from trial_projections.records import JudgmentRecord, Mark
from trial_projections.summary import summarise
from trial_projections.trust import is_pinned, official_marks

SQUAD = "squad-1.1@1"
FILE = "metrics/squad/compute_score.py"
SOURCED = {"correct": {"measure": "score", "grader": "source"}}
PROMPT = "Judge {question} against {target}: {predicted_answer}\n"


def faulted(table: Table) -> list[str | None]:
    """Return the fields that are refused under C15, every one."""
    problems = problems_of(lambda: rubric_from_table(table, source="r.toml"))
    assert {problem.clause for problem in problems} == {"C15"}
    return [problem.field for problem in problems]


def marked(rubric: Rubric) -> list[str]:
    """Return the marks about official grading as `level text`."""
    return [f"{mark.level} {mark.text}" for mark in official_marks(rubric, {})]


@pytest.mark.parametrize("grader", [name for name, pin in PINS.items() if pin.graders])
def test_c15_a_rubric_that_declares_the_pin_bears_the_name(grader: str) -> None:
    """Each grader of code is official where everything is as pinned, its F1 too."""
    pin = PINS[grader]
    for name in pin.graders:
        metrics = {"correct": {"measure": "fact.correctness", "grader": name}}
        rubric = rubric_from_table(
            official_table(grader, metrics=metrics, name=pin.benchmark), source=None
        )
        first, *rest = marked(rubric)
        assert first == (
            f"ok official: correct is {pin.benchmark} by {grader}, {pin.source} ({pin.licence})"
        )
        assert rest[: len(pin.faults)] == [
            f"! kept fault of {pin.benchmark}: {fault}" for fault in pin.faults
        ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"benchmark": "SQuAD"}, "official.benchmark"),
        ({"repository": "https://example.org/copy"}, "official.repository"),
        ({"repository": None}, "official.repository"),
        ({"commit": "b6e7c3b"}, "official.commit"),
        ({"commit": None}, "official.commit"),
        ({"digests": {FILE: UNREAD}}, f"official.digests.{FILE}"),
        ({"patches": ["articles kept"]}, "official.patches"),
    ],
)
def test_c15_what_departs_from_the_pin_is_refused(changes: Table, field: str) -> None:
    """By its field; nothing of the kind is frozen as official."""
    changed = {key: value for key, value in section(SQUAD, **changes).items() if value is not None}
    assert faulted(official_table(official=changed)) == [field]


def test_c15_every_departure_is_named_at_once() -> None:
    """Another file, another grader, scale and direction, and classes that count otherwise."""
    digests = {"copy.py": UNREAD}
    metric = {
        "measure": "fact.correctness",
        "grader": "normalised-match@1",
        "scale": ["-1", "1"],
        "direction": "lower",
        "outcomes": {"incorrect": {"score": "-1"}},
    }
    outcomes = {
        **outcome_table(),
        "refused": {"denominator": False},
        "not_started": {"score": "undecided"},
    }
    changed = section(SQUAD, digests=digests)
    fields = faulted(
        official_table(official=changed, metrics={"correct": metric}, outcomes=outcomes)
    )
    assert fields == [
        "official.digests.copy.py",
        f"official.digests.{FILE}",
        "metrics.correct.grader",
        "metrics.correct.scale",
        "metrics.correct.direction",
        "outcomes.incorrect",
        "outcomes.refused",
        "outcomes.not_started",
    ]


@pytest.mark.parametrize(
    ("name", "version"),
    [("SQuAD 1.1", "1"), ("squad", "1.1"), ("nq_open", "x"), ("Simple-QA", "2")],
)
def test_c15_no_other_rubric_bears_a_benchmarks_name(name: str, version: str) -> None:
    """However it is spelled; the name alone is refused, another one is not."""
    table = official_table(name=name, version=version, official=None)
    assert faulted(table) == ["name"]
    ours = {**table, "name": f"our {name}"}
    assert marked(rubric_from_table(ours, source=None)) == []


def test_c15_a_pinned_benchmark_has_its_pinned_grader_alone() -> None:
    """Another version of the grader is none; a benchmark that nobody pinned is marked so."""
    other = section(SQUAD, grader="squad-1.1@2")
    assert faulted(official_table(official=other)) == ["official.grader"]
    unpinned = official_table(official=section(SQUAD, benchmark="B", grader="b@1"))
    unknown = rubric_from_table(unpinned, source=None)
    assert marked(unknown) == ["! correct claims B by b@1: not pinned here, compared with nothing"]


def test_c15_a_digest_that_was_never_compared_is_marked() -> None:
    """The author states it; nobody here saw the file."""
    rubric = rubric_from_table(official_table("squad-2.0@1"), source=None)
    assert marked(rubric)[-1] == (
        "! digest of evaluate-v2.0.py: as declared, compared with nothing"
    )
    missing = section("squad-2.0@1", digests={"other.py": UNREAD})
    assert faulted(official_table("squad-2.0@1", official=missing)) == [
        "official.digests.other.py",
        "official.digests.evaluate-v2.0.py",
    ]


def test_c15_what_a_source_claims_is_not_compared() -> None:
    """A reconstructed rubric keeps the claim, patches and all, and says so."""
    claim = section(SQUAD, commit="0" * 40, patches=["timeout raised"])
    rubric = rubric_from_table(
        official_table(official=claim, name="squad"), source=None, reconstructed=True
    )
    assert rubric.official is not None
    assert rubric.official.patches == ("timeout raised",)
    assert marked(rubric) == [
        "! correct claims SQuAD 1.1 by squad-1.1@1: reconstructed, compared with nothing"
    ]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Table:
    """Return a rubric of BrowseComp, whose prompt is pinned to a short one in its place."""
    pin = PINS["browsecomp@1"]
    short = JudgePin(model="m", prompt=prompt_digest(PROMPT))
    own = {name: getattr(pin, name) for name in pin.__struct_fields__}
    monkeypatch.setitem(PINS, pin.grader, type(pin)(**{**own, "judge": short}))
    return official_table(
        official=section(pin.grader),
        metrics={"correct": {"measure": "verdict", "grader": "judge"}},
        judge={"model": "m", "endpoint": "judge", "prompt": PROMPT},
    )


def test_c15_a_judge_is_pinned_by_model_prompt_and_passes(judged: Table) -> None:
    """The prompt is known by its digest, whatever white space is around it."""
    assert marked(rubric_from_table(judged, source=None))[0] == (
        "ok official: correct is BrowseComp by browsecomp@1, openai/simple-evals@ee3b031 (MIT)"
    )
    judge = {"model": "other", "endpoint": "judge", "prompt": PROMPT + "Be kind.", "passes": 3}
    assert faulted({**judged, "judge": judge}) == ["judge.model", "judge.prompt", "judge.passes"]
    people = {"correct": {"measure": "verdict", "grader": "human"}}
    assert faulted({**judged, "metrics": people, "judge": {}}) == ["metrics.correct", "judge"]


def test_c15_a_patched_grader_is_shown_as_such_and_bears_no_name(judged: Table) -> None:
    """A named departure alone is taken; the benchmark's name is refused with it."""
    patched = {**judged, "official": section("browsecomp@1", patches=["group-1"])}
    first = marked(rubric_from_table(patched, source=None))[0]
    assert first == (
        "! official+patch: correct is not BrowseComp's own score, by browsecomp@1, "
        "openai/simple-evals@ee3b031 (MIT); group-1: reads the word after `correct: ` "
        "instead of the whole match"
    )
    assert faulted({**patched, "name": "BrowseComp"}) == ["name"]
    unknown = section("browsecomp@1", patches=["group-2"])
    assert faulted({**judged, "official": unknown}) == ["official.patches"]


@pytest.mark.parametrize(
    ("by", "grader", "says"),
    [
        ("code", "squad-1.1@1", None),
        ("code", "squad-1.1-f1@1", None),
        ("code", "normalised-match@1", "judged by code normalised-match@1 1"),
        ("model", "judge@1", "judged by model judge@1 1"),
    ],
)
def test_c15_scores_say_whose_grading_it_is(
    tmp_path: Path, by: str, grader: str, says: str | None
) -> None:
    """Beside the numbers; what another grader judged takes the name away."""
    log = Log(tmp_path, rubric=official_table())
    log.trial("q1")
    name, _, version = grader.partition("@")
    log.judge("q1", "correct", "1", by=by, grader={"name": name, "version": version})
    with log.model() as model:
        first = next(
            f"{mark.level} {mark.text}" for mark in summarise(model, model.run(log.run)).trust[1:]
        )
    pinned = "by squad-1.1@1, huggingface/evaluate@b6e7c3b (Apache-2.0)"
    assert first == (
        f"ok official: correct is SQuAD 1.1 {pinned}"
        if says is None
        else f"! not official: correct is to be SQuAD 1.1 {pinned}, but {says}"
    )
    log.ledger.close()


def test_c15_a_persons_override_takes_the_name_away(tmp_path: Path) -> None:
    """Under a grader of the source a judgment is by whom it says, and a person is nobody's code."""
    log = Log(tmp_path, rubric=official_table("tau-bench@1", metrics=SOURCED))
    log.trial("q1")
    log.judge("q1", "correct", "1", by="code", grader={"name": "env", "version": "1"})
    assert log.summary().trust[1].level == "ok"
    log.act(
        "judgment.overridden",
        "q1",
        judgment="o1",
        replaces="j1",
        score="0",
        reason="The refund was wrong.",
    )
    assert log.summary().trust[1].text.endswith("but judged by human Ada 1")
    log.ledger.close()


def test_c15_a_judged_benchmark_is_judged_by_its_model(judged: Table) -> None:
    """A code grader or a person is not the judge that the pin names."""
    rubric = rubric_from_table(judged, source=None)
    pin = PINS["browsecomp@1"]
    marks = official_marks(rubric, {"by code x@1": 2, "by human A": 1})
    assert marks[0].text.endswith("but judged by code x@1 2, by human A 1")
    for by, expected in (("model", True), ("code", False), ("human", False)):
        record = JudgmentRecord("j", Mark(1, "00"), "correct", 1, by, "x@1", "correct", None)
        assert is_pinned(pin, record) is expected


def replied(log: Log, question: str, verdict: str, reply: str | None) -> None:
    """Append a trial with what a judge said of it."""
    log.trial(question)
    raw = {} if reply is None else {"raw": reply}
    log.judge(question, "correct", verdict, **raw)


def trust_of(log: Log) -> list[str]:
    """Return the marks of the run as `level text`, those of official grading first."""
    marks = [f"{mark.level} {mark.text}" for mark in log.summary().trust[1:]]
    return [mark for mark in marks if "kept fault" not in mark and "digest of" not in mark]


def test_c15_a_verdict_is_what_the_published_code_reads(tmp_path: Path, judged: Table) -> None:
    """Another verdict, or one without its reply, takes the name away; strict reading is counted."""
    patched = section("browsecomp@1", patches=["group-1"])
    metrics = {**judged["metrics"], "other": {"measure": "score", "grader": "source"}}
    log = Log(tmp_path, rubric={**judged, "official": patched, "metrics": metrics})
    replied(log, "q1", "correct", "correct: yes")
    log.judge("q1", "other", "1", name="j2")
    replied(log, "q2", "incorrect", "**correct:** yes")
    assert trust_of(log)[0].startswith("! official+patch: ")
    assert "! read strictly, 1 of 2 verdicts differ" in trust_of(log)
    replied(log, "q3", "correct", "Correct: yes")
    replied(log, "q4", "incorrect", None)
    assert trust_of(log)[0].endswith(
        "but judged otherwise than its code reads the raw reply 1, without a raw reply 1"
    )
    log.ledger.close()


def test_c15_a_reply_that_is_not_here_is_compared_with_nothing(
    tmp_path: Path, judged: Table
) -> None:
    """It went with the gold file; as published BrowseComp finds no match right."""
    log = Log(tmp_path, rubric=judged)
    replied(log, "q1", "incorrect", "correct: yes")
    first, _, strictly, *_ = trust_of(log)
    assert first.startswith("ok official: correct is BrowseComp by browsecomp@1")
    assert strictly == "! read strictly, 1 of 1 verdicts differ"
    log.ledger.close()
    gold_path(log.path).unlink()
    with Ledger.open(log.path, tools=tools(tmp_path, pins=False)) as ledger:
        model = ReadModel.open(ledger)
        texts = [mark.text for mark in summarise(model, model.run(log.run)).trust]
        model.close()
    assert "raw replies not here, so that verdicts are not compared: 1" in texts
