"""`ledger rescore`: a run judged again as a derived one; the run itself keeps every byte."""

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_cases import LEDGER, Here, Result, head, ledger
from document_cases import outcome_table
from ledger_cases import RUN, tools
from read_cases import too_long
from rescore_cases import INCLUDES, METRICS, corrected, fates_log, lax, revised, written
from trial_ledger.book import Ledger
from trial_ledger.documents.rubric import Rubric
from trial_ledger.rescoring import judge_run

SCREEN = """\
fast-01.rubric-2
  derived   from fast-01, links 1..39
  rubric    quality@1 -> quality@2
  dataset   example@1, unchanged
  log       43 events verified, root ROOT
  exact               6 judged by code
  judged              5 carried from the parent, 1 not judged: needs its model
                      judge

from  exact of fast-01
      40.0 %  4/10
                                               slots    points
  rubric            2 up                           2    +15.00
to    exact of fast-01.rubric-2
      55.0 %  5.5/10
rule  grader: normalised-match@1 -> includes@1; outcomes.trial_errored: 0 -> 1/2
  1 slot      scored 0 [normalised-match@1] -> scored 1 [includes@1]
              by rubric (grader: normalised-match@1 -> includes@1)
              q3#1 seq 40 -> 51
  1 slot      trial errored 0 -> trial errored 1/2
              by rubric (outcomes.trial_errored: 0 -> 1/2)
              q5#1

from  judged of fast-01
      40.0-60.0 %  4-6/10
                                               slots     lower     upper
  override          1 down                         1    -10.00    -10.00
  rubric            1 up                           1     +5.00     +5.00
  together                                               -5.00     -5.00
to    judged of fast-01.rubric-2
      35.0-55.0 %  3.5-5.5/10
rule  outcomes.trial_errored: 0 -> 1/2
  1 slot      correct 1 [Ada] -> incorrect 0 [judge@1]
              by override
              q2#1 seq 37 -> 48
  1 slot      trial errored 0 -> trial errored 1/2
              by rubric (outcomes.trial_errored: 0 -> 1/2)
              q5#1

next: ledger explain fast-01.rubric-2 --against fast-01
"""


@pytest.fixture(autouse=True)
def fates(tmp_path: Path) -> None:
    """Put the run with every fate of an answer, graded by code, beside the commands."""
    log = fates_log(tmp_path)
    judge_run(log.ledger, RUN)
    log.ledger.close()


def rescore(here: Here, *arguments: str, rubric: Rubric | None = None) -> Result:
    """Judge the run again, under a rubric file where one is given."""
    with_file = [] if rubric is None else ["--rubric", written(here.folder, rubric)]
    return here("rescore", RUN, "--reason", "a second look", *with_file, *arguments)


def freeze(folder: Path, *documents: Any) -> None:  # noqa: ANN401 - datasets and rubrics
    """Put documents into the ledger."""
    with Ledger.open(folder / LEDGER, write=True, tools=tools(folder, pins=False)) as book:
        book.freeze(documents)


def test_c14_the_whole_screen(tmp_path: Path) -> None:
    """What changed, what was judged by whom, both numbers, and every slot with its rule."""
    name = written(tmp_path, lax())
    root = head(tmp_path / LEDGER).root[:12]
    arguments = ("rescore", RUN, "--rubric", name, "--reason", "a sentence will do")
    done = ledger(tmp_path, *arguments)
    assert done == (0, SCREEN.replace("ROOT", root), "")
    assert too_long(done.out) == []
    assert ledger(tmp_path, "verify").code == 0
    assert ledger(tmp_path, "replay", "--check").code == 0


def test_c14_again_appends_nothing_and_says_so(here: Here) -> None:
    """Under the same rubric, by file or by name, the run is found; the numbers are the same."""
    first = rescore(here, rubric=lax())
    before = head(here.folder / LEDGER)
    again = rescore(here, "--rubric", "quality@2")
    assert head(here.folder / LEDGER) == before
    assert "  derived   from fast-01, links 1..39; it was there already\n" in again.out
    assert "  exact               6 judged before\n" in again.out
    assert again.out.partition("\n\n")[2] == first.out.partition("\n\n")[2]


def test_the_other_forms(here: Here) -> None:
    """JSON has the bridges exactly; rows are one a slot that counts otherwise."""
    document = rescore(here, "--actor", "Ada", "--name", "mine", "--json", rubric=lax()).json
    assert document["schema"] == "ledger.rescore/1"
    assert (document["run"], document["derived_from"], document["link"]) == ("mine", RUN, 39)
    assert document["is_new"] is True
    assert document["rubric"] == {"old": "quality@1", "new": "quality@2"}
    assert [bridge["new_metric"] for bridge in document["bridges"]] == ["exact", "judged"]
    for bridge in document["bridges"]:
        for end in ("low", "high"):
            parts = sum(Fraction(step[end]) for step in bridge["steps"])
            numbers = [Fraction(bridge[side][end]["value"]) for side in ("old", "new")]
            assert parts == numbers[1] - numbers[0] == Fraction(bridge[end])
    shown = here("log", "mine", "--json").json["events"]
    assert shown[0]["actor"] == {"role": "human", "name": "Ada", "version": None}
    rows = rescore(here, "--name", "mine", "--format", "jsonl", "--rubric", "quality@2").rows
    assert [(row["metric"], row["slot"], row["causes"]) for row in rows] == [
        ("exact", "q3#1", ["rubric"]), ("exact", "q5#1", ["rubric"]),
        ("judged", "q2#1", ["override"]), ("judged", "q5#1", ["rubric"]),
    ]  # fmt: skip
    assert (rows[0]["old_low"], rows[0]["new_low"]) == ("0", "1")
    assert rows[0]["because"] == ["grader: normalised-match@1 -> includes@1"]
    assert rows[1]["old_seq"] is None
    csv = rescore(here, "--name", "mine", "--format", "csv", "--rubric", "quality@2").out
    assert len(csv.splitlines()) == 5


def without_place(document: Any) -> Any:  # noqa: ANN401 - a JSON document
    """Return a document without what tells of the rest of the log: its size, and what was tried."""
    return {key: value for key, value in document.items() if key not in {"size", "trust", "run"}}


SCORES = st.sampled_from(("0", "1/4", "1/2", "1", "undecided"))


@settings(
    max_examples=8, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(
    rules=st.dictionaries(
        st.sampled_from(("incorrect", "limit", "trial_errored", "not_started", "abstained")),
        SCORES,
        max_size=3,
    ),
    grader=st.sampled_from(("normalised-match@1", "includes@1")),
    prompt=st.sampled_from(("{question} {answer}", "{answer}?")),
    aggregate=st.sampled_from(("question-mean", "trial-mean")),
)
def test_c14_the_parent_keeps_every_byte(
    here: Here, rules: dict[str, str], grader: str, prompt: str, aggregate: str
) -> None:
    """Whatever the rubric: its scores and their derivations are those of before, byte for byte."""
    commands = [("scores", RUN), *(("explain", RUN, metric) for metric in METRICS)]
    size = str(head(here.folder / LEDGER).size)
    before = [here(*command, "--json").out for command in commands]
    version = f"v{size}"
    rubric = revised(
        version=version,
        outcomes={**outcome_table(), **{name: {"score": score} for name, score in rules.items()}},
        metrics={**METRICS, "exact": {**INCLUDES, "grader": grader, "aggregate": aggregate}},
        judge={"model": "judge-model", "endpoint": "judge", "prompt": prompt},
    )
    assert rescore(here, rubric=rubric).code == 0
    for command, old in zip(commands, before, strict=True):
        assert here(*command, "--as-of", size, "--json").out == old
        now = here(*command, "--json").json
        assert without_place(now) == without_place(json.loads(old))


def test_c02_corrected_gold(here: Here) -> None:
    """What gold moved stands alone; a judge's verdict against other gold is not carried."""
    freeze(here.folder, corrected(gold={"q2": "Ur", "q8": None}))
    done = rescore(here, "--dataset", "example@2")
    assert "  rubric    quality@1, unchanged\n  dataset   example@1 -> example@2\n" in done.out
    assert "  gold              1 up, 1 down                   2      0.00    +10.00\n" in done.out
    assert "  1 slot      scored 0 [normalised-match@1] -> scored 1" in done.out
    assert "              by gold\n" in done.out
    assert too_long(done.out) == []
    document = here("explain", f"{RUN}.dataset-2", "--against", RUN, "--json").json
    moves = {change["slot"]: change["moves"][0] for change in document["bridge"]["changes"]}
    assert {slot: move["cause"] for slot, move in moves.items()} == {"q2#1": "gold", "q8#1": "gold"}
    assert moves["q2#1"]["because"] == []


def test_a_metric_that_is_new_has_no_way_from_an_old_one(here: Here) -> None:
    """Its number is named; one without a number says why."""
    metrics = {
        **METRICS,
        "loose": INCLUDES,
        "found": {"measure": "list.recall", "grader": "list-match@1"},
    }
    empty = dict.fromkeys(("precision", "recall", "f1"), "0")
    cases = dict.fromkeys(("both_empty", "answer_empty", "gold_empty"), empty)
    done = rescore(here, rubric=revised(metrics=metrics, empty_sets=cases))
    assert "\n  loose: new in this rubric, 50.0 %  5/10\n" in done.out
    assert "\n  found: new in this rubric, unavailable: no planned slot counts\n" in done.out
    assert "same  exact of fast-01 and fast-01.rubric-2\n      40.0 %  4/10\n" in done.out
    assert len(rescore(here, "--rubric", "quality@2", "--json").json["bridges"]) == 2


def test_slots_that_went_one_way_stand_together(here: Here) -> None:
    """By name and place of both judgments; one that went another way stands alone."""
    outcomes = {**outcome_table(), "correct": {"score": "1/2"}}
    done = rescore(here, rubric=revised(version="3", outcomes=outcomes))
    assert "same  exact of fast-01 and fast-01.rubric-3\n      40.0 %  4/10\nrule" in done.out
    assert (
        "  3 slots     correct 1 [judge@1] -> correct 1/2 [judge@1]\n"
        "              by rubric (outcomes.correct: 1 -> 1/2)\n"
        "              q1#1 seq 9 -> 46, q3#1 seq 17 -> 50, q6#1 seq 26 -> 52\n"
        "  1 slot      correct 1 [Ada] -> incorrect 0 [judge@1]\n"
        "              by override\n"
        "              q2#1 seq 37 -> 48\n"
    ) in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((RUN, "--rubric", "gone.toml"), 2, "--rubric: no such file, found 'gone.toml', expected"),
        (
            (RUN, "--rubric", "gone@1"),
            3,
            "Error: rubric gone@1 is not frozen (C14)\nhint: there is",
        ),
        ((RUN, "--rubric", "bad.toml"), 2, "bad.toml:1: not TOML"),
        ((RUN, "--rubric", "same.toml"), 3, "quality@1 exists and differs: max_undecided"),
        ((RUN, "--dataset", "gone@1"), 3, "dataset gone@1 is not registered (C9)"),
        ((RUN,), 3, "run fast-01 is judged under quality@1 with example@1 already (C14)"),
        ((RUN, "--rubric", "new.toml", "--reason", " "), 3, "needs a reason in words (C14)"),
        ((RUN, "--rubric", "new.toml", "--name", "A b"), 2, "run: not acceptable, found 'A b'"),
        ((RUN, "--rubric", "new.toml", "--name", RUN), 3, "run: run fast-01 exists (C12)"),
        ((RUN, "--rubric", "new.toml", "--actor", "A\x1b"), 2, "actor.name: not acceptable"),
        (("slow", "--rubric", "new.toml"), 6, "no run 'slow'\nhint: ledger runs\n"),
        (("there", "--rubric", "new.toml"), 3, "run there is derived itself (C14)\n"),
        (
            ("there", "--rubric", "new.toml"),
            3,
            "hint: derive from the run that has the trials: fast",
        ),
        ((RUN, "--dataset", "example@few"), 3, "lacks 1 questions of run fast-01, as 'q1' (C16)"),
    ],
)
def test_c14_bad_cases_through_the_real_command(
    tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Each is named in words with its exit code; nothing is written, not even a new rubric."""
    (tmp_path / "bad.toml").write_text("= 1", "utf-8")
    written(tmp_path, revised(version="1", max_undecided="1/2"), name="same.toml")
    written(tmp_path, revised(version="9"), name="new.toml")
    whole = corrected(version="few")
    few = type(whole)(
        name="example", version="few", questions=whole.questions[1:],
        gold={name: gold for name, gold in whole.gold.items() if name != "q1"},
    )  # fmt: skip
    freeze(tmp_path, few)
    rescued = ledger(tmp_path, "rescore", RUN, "--dataset", "example@1", "--rubric",
                     written(tmp_path, lax()), "--reason", "x", "--name", "there")  # fmt: skip
    assert rescued.code == 0, rescued.err
    before = head(tmp_path / LEDGER)
    given_reason = () if "--reason" in arguments else ("--reason", "x")
    done = ledger(tmp_path, "rescore", *arguments, *given_reason)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert head(tmp_path / LEDGER) == before


def test_a_reason_must_be_given(here: Here) -> None:
    """It is an option that is not one."""
    done = here("rescore", RUN, "--rubric", "quality@1")
    assert (done.code, "Missing option '--reason'" in done.err) == (2, True)


def test_nothing_is_built_on_a_log_that_was_changed(here: Here) -> None:
    """The first finding is named, nothing is written; who wants to can go on all the same."""
    path = here.folder / LEDGER
    with Ledger.open(path, write=True, tools=tools(here.folder, pins=False)) as book:
        book.store.connection.execute("DROP TRIGGER event_no_update")
    before = path.read_bytes()
    done = rescore(here, rubric=lax())
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("Error: the log is not what was written: ")
    assert done.err.endswith("hint: ledger verify\n")
    assert path.read_bytes() == before
    skipped = rescore(here, "--skip-verify", "--rubric", "revised.toml")
    assert skipped.code == 0, skipped.err
    assert "  log       not checked (--skip-verify)\n" in skipped.out


def test_c14_two_processes_at_once_end_with_one_derived_run(tmp_path: Path) -> None:
    """Both succeed, whoever was first; the log has the run once."""
    name = written(tmp_path, lax())

    def rescored(reason: str) -> Result:
        arguments = ("rescore", RUN, "--rubric", name, "--reason", reason)
        return ledger(tmp_path, *arguments)

    with ThreadPoolExecutor(2) as both:
        results = list(both.map(rescored, ("the first", "the second")))
    assert [done.code for done in results] == [0, 0], results
    shown = {done.out.partition("\n\n")[2] for done in results}
    assert len(shown) == 1
    there = [done.out for done in results if "it was there already" in done.out]
    assert len(there) == 1
    with Ledger.open(tmp_path / LEDGER, tools=tools(tmp_path, pins=False)) as book:
        assert book.store.run_names("") == [RUN, f"{RUN}.rubric-2"]
        kinds = [stored.event.kind for stored in book.events(run=f"{RUN}.rubric-2")]
        assert (kinds[0], kinds[-1], len(kinds)) == ("run.opened", "run.closed", 13)
    assert ledger(tmp_path, "verify").code == 0
