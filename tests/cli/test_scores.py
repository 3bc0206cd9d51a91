"""`ledger scores`: the screen, its forms, gates, and what stands beside a number."""

import csv
import io
import sqlite3
from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from policy_cases import append_random, policy_ledger
from projection_cases import Log
from read_cases import sample, too_long, without
from run_cases import Judging, Session

SCREEN = """\
fast-01  FINAL  example@1  rubric quality@1
10 questions x 1 = 10 planned, 10 started, complete

exact                 60.0 %        6/10          all 10 decided, 2 by rule
  95 % by question    26.7-86.1 %   cluster-wilson, 10 clusters
  worst to best       60.0-80.0 %   6-8/10        2 missing outcomes
  errors left out     75.0 %        6/8           never a headline
  answered + judged   75.0 %        6/8           never a headline
  without invalidated 55.6 %        5/9           beside, not instead

judged                60.0-70.0 %   6-7/10        1 undecided: no point value
  decided             9 of 10       2 by rule     judge failed 1
  gate decided        FAILED                      10.0 % undecided
  95 % by question    26.7-91.3 %   cluster-wilson, 10 clusters, both ends
  worst to best       60.0-90.0 %   6-9/10        3 missing outcomes
  errors left out     75.0-87.5 %   6-7/8         never a headline
  answered + judged   85.7 %        6/7           never a headline
  without invalidated 55.6-66.7 %   5-6/9         beside, not instead

outcomes  scored 8  harness fault 1  search provider fault 1  (exact)
failures  4: 1 recovered, 3 not (1 judge), 2 trials lost; misses 1 (apart)
cost      inference 8 calls unknown
          search    $0.02 + 3 calls unknown
          judge     8 calls unknown (separate)
          per correct >= $0.00333, no upper bound (no cap declared)
published exact 60.0 % at seq 127
trust     ok  recorded live; manifest frozen at seq 4, first trial at seq 6
"""


def test_the_whole_screen(here: Here) -> None:
    """Every metric, every number, outcomes, failures, accounts and marks, in 80 columns."""
    sample(here.folder)
    done = here("scores", RUN)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(SCREEN)
    assert done.out.endswith(
        f"next      ledger explain {RUN} exact | ledger failures {RUN}\n          ledger trace 8\n"
    )
    assert too_long(done.out) == []


def test_the_json_form_is_versioned_and_complete(here: Here) -> None:
    """It holds every number of the screen, exactly."""
    sample(here.folder)
    document = here("scores", "fast", "--json").json
    assert document["schema"] == "ledger.scores/1"
    assert (document["run"]["name"], document["size"]) == (RUN, 128)
    judged = document["metrics"][1]
    assert judged["headline"]["low"] == {"sum": "6", "count": 10, "unit": "trials", "value": "3/5"}
    assert judged["headline"]["high"]["value"] == "7/10"
    assert document["metrics"][0]["interval"] == {
        "method": "cluster-wilson", "level": "19/20", "clusters": 10, "of": "point",
        "low": "0.266579984376", "high": "0.860922653071", "unavailable": None,
    }  # fmt: skip
    assert judged["interval"]["of"] == "range"
    assert sorted(judged["sensitivity"]) == [
        "best", "complete_case", "errors_excluded", "without_invalidated", "worst",
    ]  # fmt: skip
    assert document["failures"]["total"] == 4
    assert document["trust"][0]["level"] == "ok"


def test_the_tabular_forms_have_a_row_a_metric(here: Here) -> None:
    """JSON lines, CSV and Markdown say the same."""
    sample(here.folder)
    rows = here("scores", RUN, "--format", "jsonl").rows
    expected = {
        "run": RUN, "metric": "judged", "low": "3/5", "high": "7/10", "low_sum": "6",
        "high_sum": "7", "count": 10, "decided": 9, "undecided": 1, "planned": 10,
        "gate_decided": False, "unavailable": None, "valid": True,
    }  # fmt: skip
    assert rows[1] == expected
    table = list(csv.DictReader(io.StringIO(here("scores", RUN, "--format", "csv").out)))
    assert (table[1]["low"], table[1]["high"], table[1]["gate_decided"]) == ("3/5", "7/10", "False")
    markdown = here("scores", RUN, "--format", "md").out.splitlines()
    assert markdown[0].startswith("| run | metric | low | high |")
    assert markdown[3].startswith("| fast-01 | judged | 3/5 | 7/10 |")


@pytest.mark.parametrize(
    ("gates", "code", "missed"),
    [
        ("valid", 0, None),
        ("valid, live", 0, None),
        ("decided", 5, "decided"),
        ("live,decided,valid", 5, "decided"),
        ("resolved", 0, None),
        ("resolved,reviewed", 5, "reviewed"),
        ("verified,final", 0, None),
        ("", 0, None),
    ],
)
def test_gates_that_are_asked_for(here: Here, gates: str, code: int, missed: str | None) -> None:
    """The screen is shown all the same, then the command fails."""
    sample(here.folder)
    done = here("scores", RUN, "--require", gates)
    assert done.code == code
    assert done.out.startswith(SCREEN)
    expected = "" if missed is None else f"Error: run {RUN} does not meet: {missed}\n"
    assert done.err.startswith(expected)
    assert bool(done.err) is bool(expected)


def test_a_changed_log_is_not_verified(here: Here) -> None:
    """The numbers are shown, and the gate fails; so does it for a pilot run that is to be final."""
    path = sample(here.folder)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER IF EXISTS events_no_update")
    connection.execute("CREATE TABLE more (a)")
    connection.commit()
    connection.close()
    done = here("scores", RUN, "--require", "decided,verified")
    assert (done.code, done.err) == (
        5, f"Error: run {RUN} does not meet: verified, decided\nhint: ledger verify\n",
    )  # fmt: skip
    done = here("report", RUN, "-o", "r.md", "--require", "verified")
    assert (done.code, "not met by fast-01: verified" in done.err) == (5, True)


def test_an_unknown_gate_is_refused_before_anything_is_read(here: Here) -> None:
    """With the names of those there are."""
    done = here("scores", RUN, "--require", "valid,good")
    assert done.code == 2
    assert "no gate 'good'; there is verified, reviewed, resolved, final," in done.err


def test_an_unknown_run_names_what_there_is(here: Here) -> None:
    """Exit code 6, and the command that lists runs."""
    sample(here.folder)
    done = here("scores", "slow")
    assert (done.code, done.out) == (6, "")
    assert "no run 'slow'" in done.err
    assert f"hint: ledger runs; there is {RUN}" in done.err


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def test_two_runs_of_one_prefix_are_ambiguous(here: Here, log: Log) -> None:
    """Type more of the name."""
    log.open("fast-02")
    log.ledger.close()
    done = here("scores", "fast")
    assert done.code == 6
    assert "run 'fast' is ambiguous: fast-01, fast-02" in done.err


def test_nothing_missing_is_said_in_one_line(here: Here, log: Log) -> None:
    """The JSON form keeps every rule."""
    for number in range(1, 11):
        log.trial(f"q{number}")
        for metric, value in (("exact", "1"), ("judged", "correct")):
            log.judge(f"q{number}", metric, value, name=metric)
    log.ledger.close()
    done = here("scores", RUN)
    assert (
        "exact                 100.0 %       10/10         all 10 decided\n"
        "  95 % by question    72.2-100.0 %  cluster-wilson, 10 clusters\n"
        "  same under every rule\n\n"
    ) in done.out
    assert "worst to best" not in done.out
    metric = here("scores", RUN, "--json").json["metrics"][0]
    assert metric["sensitivity"]["worst"] == metric["headline"]


def test_c16_the_other_choice_of_sessions_stands_beside(here: Here, log: Log) -> None:
    """Retries that were not declared are shown, and a resumed slot is counted as retried."""
    log.trial("q1", outcome="cancelled", answer=None)
    log.trial("q1", session="s2")
    log.act("trial.started", "q2", input="which?")
    fault = {"class_": "timeout", "fault": "model_provider", "impact": "trial_failed"}
    log.append("failure.occurred", "q2", {"occurrence": "f1", **fault})
    log.act("trial.finished", "q2", outcome="errored")
    log.trial("q2", session="s2")
    log.judge("q2", "judged", "correct", session="s2")
    log.ledger.close()
    shown = here("scores", RUN).out
    lines = (
        "  first sessions only 0.0 %         0/10          beside, not instead\n",
        "  retries counted     10.0-20.0 %   1-2/10        beside, not instead\n",
        "retried 1: a later session counts there\n",
    )
    assert without(shown, lines) == []


def test_c12_an_invalid_run_is_marked_and_readable(here: Here, log: Log) -> None:
    """With who, why and what takes its place; the gate `valid` is not met."""
    log.trial("q1")
    log.open("fast-02", supersedes=RUN, reason="better")
    log.run = RUN
    log.act("run.invalidated", reason="wrong endpoint", superseded_by="fast-02")
    log.ledger.close()
    done = here("scores", RUN, "--require", "valid")
    assert done.code == 5
    assert done.out.startswith(f"{RUN}  INVALID  FINAL  example@1  rubric quality@1\n")
    assert "superseded by fast-02\n" in done.out
    assert "said Ada: wrong endpoint\n" in done.out
    assert "supersedes fast-01, which is kept\n" in here("scores", "fast-02").out
    assert here("scores", RUN, "--format", "jsonl").rows[0]["valid"] is False


def test_c14_a_derived_run_says_whose_trials_it_judges(here: Here, log: Log) -> None:
    """Failures and costs of the trials stand with the parent."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.judge(
        "q1", "judged", "correct", cost={"amount": "1", "currency": "USD", "basis": "reported"}
    )
    log.ledger.close()
    lines = (
        "derived from fast-01 as of its link 4\n",
        "failures  none recorded by judging; of the trials: ledger failures fast-01\n",
        "cost      judge     $1 (separate)\n          of the trials: ledger costs fast-01\n",
        "rubric after the fact: derived from fast-01 as of its link 4\n",
    )
    assert without(here("scores", "again").out, lines) == []


def test_a_run_without_calls_has_no_cost_of_zero(here: Here, log: Log) -> None:
    """Nothing recorded is unknown; a derived run points at its parent."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    assert "cost      no calls recorded: unknown\n" in here("scores", RUN).out
    assert "cost      of the trials: ledger costs fast-01\n" in here("scores", "again").out


def test_c06_an_unavailable_metric_says_why_and_an_uneven_mean_what_it_counts(here: Here) -> None:
    """Incomplete lists give no recall; a dropped question is told; signed scales are decimals."""
    ledger = policy_ledger(here.folder)
    out = Session("answered", True, [], [], "e")
    wrong = Judging("cautious", 1, 2, None)
    right = Judging("exact", 1, 2, None)
    plan = {
        ("q1", 1): [out],
        ("q1", 2): [out],
        ("q2", 1): [out],
        ("q3", 1): [Session("answered", True, [], [wrong, right], "")],
    }
    append_random(ledger, "r1", "usual-first-all", plan)
    ledger.close()
    (here.folder / "policy.ledger").rename(here.folder / "trials.ledger")
    (here.folder / "policy.ledger.gold").rename(here.folder / "trials.ledger.gold")
    shown = here("scores", "r1").out
    lines = (
        "recall                unavailable   1 of 2 gold lists not exhaustive\n",
        "  questions left out  1 without a counting trial: q1\n",
        "cautious              -0.200        -1/5          all 5 decided, 4 by rule\n",
        "exact                 16.7 %        0.333/2       all 2 decided, 1 by rule\n",
        "  95 % by question    -0.989 to 0.589  cluster-t, 3 clusters\n",
        "  95 % by question    0.0-85.1 %    cluster-wilson, 3 clusters, both ends\n",
        (
            "  95 % by question    unavailable\n"
            "                      one question says nothing about the spread between\n"
        ),
        (
            "quality               -0.167 to 0.167  -0.5 to 0.5/3\n"
            "                      of questions; 1 undecided: no point value\n"
        ),
    )
    assert without(shown, lines) == []
    assert too_long(shown) == []
    assert here("scores", "r1", "--format", "jsonl").rows[4]["low"] is None


def test_long_names_are_cut_and_numbers_never(here: Here, tmp_path: Path) -> None:
    """A metric's name takes what room there is."""
    name = "a metric with a very long name indeed"
    log = Log(tmp_path, rubric={"metrics": {name: {"measure": "verdict"}}, "primary": name})
    log.ledger.close()
    done = here("scores", RUN)
    assert "a metric with a very…" in done.out
    assert "0.0 %         0/10          all 10 decided, 10 by rule" in done.out


def test_what_a_source_says_stands_under_its_metric(here: Here, log: Log) -> None:
    """As it was written, with the rule that gives it or that none does, beside ours."""
    log.act(
        "source.imported", format="inspect", files=[], importer="inspect@1",
        reported=(
            '[{"score": "exact", "metric": "accuracy", "reducer": "mean", "value": "0.66666666"},'
            ' {"score": "exact", "metric": "stderr", "value": "not a number at all"},'
            ' {"score": "exact", "metric": "count", "value": "3"},'
            ' {"score": "other", "metric": "accuracy", "value": "1"}]'
        ),
    )  # fmt: skip
    log.act("run.related", run=RUN, how="same source id, other bytes")
    log.ledger.close()
    shown = here("scores", RUN).out
    lines = (
        "  source              says accuracy 0.66666666: no named rule gives that from\n",
        "  source              says stderr not a number at all: no named rule gives that\n",
        "related to fast-01: same source id, other bytes\n",
    )
    assert without(shown, lines) == []
    assert here("scores", RUN, "--json").json["reported"][0]["value"] == "0.66666666"


def test_a_long_run_name_puts_the_next_step_on_two_lines(here: Here, log: Log) -> None:
    """Commands can be copied from the screen."""
    name = "a-run-with-a-rather-long-name-of-its-own"
    log.open(name)
    log.ledger.close()
    done = here("scores", name)
    assert done.out.endswith(
        f"next      ledger explain {name} exact\n          ledger failures {name}\n"
    )


def test_c33_as_of_gives_the_earlier_number(here: Here) -> None:
    """By seq or by time of recording; before the run there is none."""
    sample(here.folder)
    before = here("scores", RUN, "--as-of", "118").out
    assert "judged                50.0-60.0 %   5-6/10" in before
    assert "judged                60.0-70.0 %   6-7/10" in here("scores", RUN).out
    assert here("scores", RUN, "--as-of", "4").code == 6
    assert here("scores", RUN, "--as-of", "2999-01-01T00:00:00Z").out == here("scores", RUN).out
    assert here("scores", RUN, "--as-of", "1999-01-01").code == 6
    assert here("scores", RUN, "--as-of", "yesterday").code == 2


def test_c33_as_of_a_time_gives_what_was_recorded_until_then(here: Here, log: Log) -> None:
    """The time of recording decides, to the microsecond."""
    log.trial("q1")
    log.judge("q1", "judged", "incorrect")
    before = log.ledger.read(log.ledger.store.size()).event.recorded_at
    log.act(
        "judgment.overridden", "q1", judgment="o1", replaces="j1", verdict="correct", reason="it is"
    )
    after = log.ledger.read(log.ledger.store.size()).event.recorded_at
    log.ledger.close()
    assert "judged                0.0 %         0/10" in here("scores", RUN, "--as-of", before).out
    assert "judged                10.0 %        1/10" in here("scores", RUN, "--as-of", after).out
