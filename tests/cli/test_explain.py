"""`ledger explain`: what a number is made of, on one screen and down to events."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long, without
from rescore_cases import fates_log, lax, revision
from trial_ledger.rescoring import derive_run

SCREEN = """\
judged = 6-7/10  60.0-70.0 %
  fast-01: mean over questions, errors as the rubric says
  by rule      search provider fault    1  scores 0; q1#1
  by rule      harness fault            1  scores 0; q2#1
  undecided    judge failed             1  q3#1
  judged       correct                  6  scores 1; 5 by model; 1 by human;
                                           q4#1 q5#1 q6#1 q7#1 q8#1 q10#1
  judged       incorrect                1  scores 0; 1 by model; q9#1
  left out                              0

"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def test_c34_the_whole_screen(here: Here) -> None:
    """Groups with their ground, documents with their places, graders, log and marks."""
    sample(here.folder)
    done = here("explain", RUN, "judged")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(SCREEN)
    lines = (
        "graders   judge@1 6, Ada 1\n",
        f"log       events 1..128, links 1..68 of {RUN}\n",
        "trust     ok  recorded live; manifest frozen at seq 4, first trial at seq 6\n",
        "members: --json (10 with event hashes)   recheck: ledger help recompute\n",
    )
    assert without(done.out, lines) == []
    assert too_long(done.out) == []


def test_the_primary_metric_is_the_default(here: Here) -> None:
    """And the run may be named by a prefix."""
    sample(here.folder)
    assert here("explain", "f").out.startswith("exact = 6/10  60.0 %\n")


def test_c34_the_json_form_has_every_member(here: Here) -> None:
    """The number follows from the members alone; hashes are whole."""
    sample(here.folder)
    document = here("explain", RUN, "judged", "--json").json
    assert document["schema"] == "ledger.explain/1"
    members = document["members"]
    assert len(members) == 10
    for end in ("low", "high"):
        mean = sum(Fraction(member[end]) for member in members) / len(members)
        assert document["score"]["headline"][end]["value"] == str(mean)
    assert {len(event["hash"]) for member in members for event in member["events"]} == {64}
    assert document["trust"][0]["level"] == "ok"
    assert document["rules"]["judge_failed"] == "undecided"


def test_the_tabular_forms_have_a_row_a_slot(here: Here) -> None:
    """Events stand in one cell, by role, place and hash."""
    sample(here.folder)
    rows = here("explain", RUN, "judged", "--format", "jsonl").rows
    assert [row["question"] for row in rows] == [f"q{number}" for number in range(1, 11)]
    assert rows[9]["events"][-1].startswith("override:119:")
    assert (
        here("explain", RUN, "judged", "--format", "csv")
        .out.splitlines()[0]
        .startswith(
            "question,repetition,trial,outcome,low,high,basis,excluded,judgment,by,grader,events"
        )
    )
    assert len(here("explain", RUN, "judged", "--format", "md").out.splitlines()) == 12


def test_one_slot_is_explained_with_its_events(here: Here) -> None:
    """By slot or by the session that counts; the same in JSON."""
    sample(here.folder)
    done = here("explain", RUN, "judged", "--trial", "q10#1")
    assert done.out.startswith(
        "judged of q10#1@s1 in fast-01\n"
        "  outcome   correct\n"
        "  adds      1\n"
        "  ground    judged, human Ada, judgment j3\n"
        "  started          seq 104      "
    )
    assert "  override         seq 119      " in done.out
    assert too_long(done.out) == []
    assert here("explain", RUN, "judged", "--trial", "q10#1@s1").out == done.out
    document = here("explain", RUN, "judged", "--trial", "q10#1", "--json").json
    assert [member["question"] for member in document["members"]] == ["q10"]


def test_a_slot_that_is_undecided_or_by_rule_says_so(here: Here) -> None:
    """With the interval that it may add."""
    sample(here.folder)
    undecided = here("explain", RUN, "judged", "--trial", "q3#1").out
    assert "  outcome   judge_failed\n  adds      0 to 1\n  ground    undecided\n" in undecided
    ruled = here("explain", RUN, "judged", "--trial", "q1#1").out
    assert "  adds      0\n  ground    by rule\n" in ruled


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (("slow",), 6, "no run 'slow'", f"ledger runs; there is {RUN}"),
        ((RUN, "exakt"), 6, "rubric quality@1 has no metric 'exakt'", "it has exact, judged"),
        (
            (RUN, "exact", "--trial", "q11#1"),
            6,
            "slot 'q11#1' is not planned for exact of fast-01",
            "ledger trials fast-01",
        ),
        (
            (RUN, "exact", "--trial", "q1#1@s2"),
            6,
            "session q1#1@s2 does not count in exact of fast-01",
            "q1#1@s1 counts there",
        ),
        ((RUN, "exact", "--trial", "q1"), 2, "trial not acceptable", None),
    ],
)
def test_what_there_is_not(
    here: Here, arguments: tuple[str, ...], code: int, message: str, hint: str | None
) -> None:
    """Run, metric, slot and session: each is named, with what to try."""
    sample(here.folder)
    done = here("explain", *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert hint is None or f"hint: {hint}" in done.err


def test_a_slot_that_was_never_started_has_no_session(here: Here, log: Log) -> None:
    """It is named as a slot."""
    log.ledger.close()
    done = here("explain", RUN, "exact", "--trial", "q1#1")
    assert done.out.startswith("exact of q1#1 in fast-01\n  outcome   not_started\n")
    missing = here("explain", RUN, "exact", "--trial", "q1#1@s1")
    assert "hint: no session counts there" in missing.err


def test_c34_what_is_left_out_and_which_sessions_do_not_count(here: Here, log: Log) -> None:
    """Both are on the screen, with the reason."""
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    for number in range(1, 9):
        log.trial("q2", outcome=None, answer=None, session=f"s{number}")
    log.ledger.close()
    shown = here("explain", RUN, "exact").out
    lines = (
        "  left out     invalidated              1  q1#1\n",
        "  left out                              1\n",
        "  other sessions                        7  q2#1@s1 (unfinished; q2#1@s8 counts),\n",
        "q2#1@s6 (unfinished; q2#1@s8 counts),\n" + " " * 43 + "…\n",
        "  by rule      not started              8  scores 0; q3#1 q4#1 q5#1 q6#1 q7#1\n",
        " " * 43 + "q8#1 …\n",
        "graders   none\n",
    )
    assert without(shown, lines) == []
    assert too_long(shown) == []
    excluded = here("explain", RUN, "exact", "--trial", "q1#1").out
    assert "  adds      invalidated: not in the denominator\n  ground    left out\n" in excluded


def test_many_values_are_shown_by_their_ends(here: Here, log: Log) -> None:
    """And many slots of one judge are not listed by name."""
    for number in range(1, 9):
        log.trial(f"q{number}")
        log.judge(f"q{number}", "exact", f"{number}/9")
    log.ledger.close()
    shown = here("explain", RUN).out
    assert "  judged       scored                   8  scores 1/9 to 8/9; 8 by model\n" in shown


def test_an_unavailable_metric_is_explained_too(here: Here, tmp_path: Path) -> None:
    """Why there is no number, and what happened."""
    log = Log(tmp_path, manifest={"questions": ["q1"]})
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    log.ledger.close()
    done = here("explain", RUN)
    assert done.out.startswith("exact = unavailable: no planned slot counts\n")
    assert json.loads(here("explain", RUN, "--json").out)["score"]["headline"] is None


def test_c12_an_invalid_run_is_marked(here: Here, log: Log) -> None:
    """In the heading and among the marks."""
    log.act("run.invalidated", reason="wrong endpoint")
    log.ledger.close()
    shown = here("explain", RUN).out
    assert "  fast-01  INVALID: mean over questions, errors as the rubric says\n" in shown
    assert "said Ada: wrong endpoint\n" in shown


def test_c14_a_derived_number_names_both_parts_of_the_log(here: Here, tmp_path: Path) -> None:
    """Its own links, and those of the parent that it judges; a mean of trials says so."""
    metrics = {"judged": {"measure": "verdict", "aggregate": "trial-mean"}}
    log = Log(tmp_path, rubric={"metrics": metrics, "primary": "judged"})
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    shown = here("explain", "again").out
    lines = (
        "  again: mean over planned slots, errors as the rubric says\n",
        "links 1..1 of again, links 1..4 of fast-01\n",
    )
    assert without(shown, lines) == []


def test_c33_as_of_explains_the_earlier_number(here: Here) -> None:
    """Before the override its judgment decided."""
    sample(here.folder)
    earlier = here("explain", RUN, "judged", "--trial", "q10#1", "--as-of", "118").out
    assert "  outcome   incorrect\n" in earlier


@pytest.fixture
def two(tmp_path: Path) -> None:
    """A run, and one derived from it under a laxer rubric, beside which commands run."""
    log = fates_log(tmp_path)
    derive_run(log.ledger, revision(rubric=lax()))
    log.ledger.close()


@pytest.mark.usefixtures("two")
def test_c34_against_another_run_the_way_is_shown(here: Here) -> None:
    """Below the number: where it comes from, what each cause adds, and the slots that moved."""
    alone = here("explain", "fast-01.rubric-2", "judged").out
    shown = here("explain", "fast-01.rubric-2", "judged", "--against", RUN).out
    way = """
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
              q2#1 seq 37 -> 42
  1 slot      trial errored 0 -> trial errored 1/2
              by rubric (outcomes.trial_errored: 0 -> 1/2)
              q5#1
"""
    assert way in shown
    assert shown.replace(way, "") == alone
    assert too_long(shown) == []


@pytest.mark.usefixtures("two")
def test_c34_the_parts_of_the_json_form_add_up(here: Here) -> None:
    """Both numbers, the members and the way; rows are the slots that moved."""
    document = here("explain", "fast-01.rubric-2", "exact", "--against", RUN, "--json").json
    bridge = document["bridge"]
    assert (bridge["old_run"], bridge["new_run"]) == (RUN, "fast-01.rubric-2")
    assert bridge["new"] == document["score"]["headline"]
    for end in ("low", "high"):
        parts = sum(Fraction(step[end]) for step in bridge["steps"])
        assert parts == Fraction(bridge["new"][end]["value"]) - Fraction(
            bridge["old"][end]["value"]
        )
    rows = here("explain", "fast-01.rubric-2", "exact", "--against", RUN, "--format", "jsonl").rows
    assert [row["slot"] for row in rows] == [change["slot"] for change in bridge["changes"]]
    assert "bridge" not in here("explain", "fast-01.rubric-2", "exact", "--json").json


@pytest.mark.usefixtures("two")
def test_another_metric_of_the_other_run(here: Here) -> None:
    """A judge's number beside a code grader's: labels and values say nothing of each other."""
    arguments = ("explain", RUN, "judged", "--against", RUN, "--against-metric", "exact")
    shown = here(*arguments).out
    assert "from  exact of fast-01\n" in shown
    assert "to    judged of fast-01\n" in shown
    assert here("explain", RUN, "exact", "--against", RUN).out.count("same  exact of") == 1


@pytest.mark.usefixtures("two")
def test_c34_one_slot_against_the_other_run(here: Here) -> None:
    """How it counts there, or that it counts alike."""
    arguments = ("explain", "fast-01.rubric-2", "judged", "--against", RUN, "--trial")
    assert here(*arguments, "q2#1").out.endswith(
        "  against   judged of fast-01\n"
        "  1 slot      correct 1 [Ada] -> incorrect 0 [judge@1]\n"
        "              by override\n"
        "              q2#1 seq 37 -> 42\n"
        "bytes: ledger show SEQ --raw\n"
    )
    assert here(*arguments, "q1#1").out.endswith(
        "  against   judged of fast-01: this slot counts alike\nbytes: ledger show SEQ --raw\n"
    )
    document = here(*arguments, "q2#1", "--json").json
    assert [change["slot"] for change in document["bridge"]["changes"]] == ["q2#1"]


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--against", "slow"), 6, "no run 'slow'"),
        (("--against", "fast"), 6, "run 'fast' is ambiguous"),
        (("--against", RUN, "--against-metric", "gone"), 6, "has no metric 'gone'"),
        (("--against-metric", "exact"), 2, "--against-metric: no run to take it from"),
    ],
)
def test_there_is_nothing_to_go_from(
    here: Here, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Each is named."""
    done = here("explain", "fast-01.rubric-2", "exact", *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_a_number_that_is_unavailable_has_no_way_to_it(here: Here, tmp_path: Path) -> None:
    """The reason is named, with where it stands."""
    log = Log(tmp_path, manifest={"questions": ["q1"]})
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    log.ledger.close()
    done = here("explain", RUN, "exact", "--against", RUN)
    assert (done.code, done.out) == (6, "")
    assert "exact of fast-01 is unavailable: no planned slot counts" in done.err
    assert "hint: ledger scores fast-01\n" in done.err


def test_c34_two_runs_of_one_rubric_are_paired_by_question(here: Here, tmp_path: Path) -> None:
    """Below the way stands whether chance explains the difference, or why nobody can say."""
    log = Log(tmp_path)
    for run, right in ((RUN, 2), ("second", 9), ("third", 9)):
        if run != RUN:
            log.open(run)
        for number in range(1, 11):
            log.trial(f"q{number}")
            log.judge(f"q{number}", "judged", "correct" if number <= right else "incorrect")
        if run == "third":
            log.act("run.invalidated", reason="wrong")
        else:
            log.act("run.closed", status="complete")
    log.open("fourth")
    log.trial("q1")
    log.judge("q1", "judged", "incorrect")
    log.open("fifth")
    for run in ("fourth", "fifth"):
        log.run = run
        log.act("run.closed", status="interrupted", reason="enough")
    log.ledger.close()
    shown = here("explain", "second", "judged", "--against", RUN).out
    line = "paired by question: +35.4 to +104.6, p = 0.0156: higher\n"
    assert line in shown
    shown = here("explain", "third", "judged", "--against", "second").out
    assert "paired by question: no verdict: third is invalid (C12)" in shown
    assert "paired by" not in here("explain", "fifth", "judged", "--against", "fourth").out
