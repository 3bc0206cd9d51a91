"""`ledger review`, `disagreements`, `resolve`: people draw, look, differ and settle it."""

from pathlib import Path

import pytest

from cli_cases import LEDGER, RUN, Here, full, ledger, opening, ready, start, write
from ledger_cases import ANSWERS
from ledger_cases import RUN as SAMPLE
from projection_cases import Log
from trial_ledger.book import Ledger

LOG = Path(__file__).resolve().parents[2] / "docs" / "examples" / "inspect-log.json"
ADA = ("--actor", "Ada", "--reason", "looked it up")
DRAWN = """\
plan      p2 of fast-01 judged: drawn, seq 129
seed      seven, of the rubric; at least 1/10 and 5
  judged  drawn  stratum
       2      2  configuration=local judged=failure
       5      5  configuration=local judged=success
next      ledger review next fast-01 judged
"""
AGREED = """\
event     seq 130  HASH
review    fast-01/q4#1@s1/r1 correct, by Ada, blind
drawing   p2
judgment  fast-01/q4#1@s1/j2 correct, by model judge@1
agree     both say the same; nothing to resolve
"""
SETTLED = """\
event     seq 131  HASH
review    fast-01/q9#1@s1/r1 correct, by Ada, of j2
drawing   p2
judgment  fast-01/q9#1@s1/j2 incorrect, by model judge@1
disagree  fast-01/q9#1@s1/d1 opened
override  fast-01/q9#1@s1/o1; j2 stays
resolved  gold_wrong
judged    60.0-70.0 % 6-7/10 -> 70.0-80.0 % 7-8/10
          without invalidated: 55.6-66.7 % 5-6/9 -> 66.7-77.8 % 6-7/9
"""
OPENED = """\
event     seq 135  HASH
review    fast-01/q9#1@s1/r2 1/2, by Ada, blind
drawing   purposive
judgment  fast-01/q9#1@s1/j1 0, by code normalised-match@1
disagree  fast-01/q9#1@s1/d2 opened
next      ledger resolve 'fast-01/q9#1@s1/d2' --finding F --reason TEXT
"""
STATUS = """\
run       fast-01

exact  0 of 8 = 0.0 %, 7 needed: not met
  judged  needed  done  stratum
       2       2     0  configuration=local judged=failure
       6       5     0  configuration=local judged=success
  1 more reviewed without having been drawn
  1 disagreement open: ledger disagreements fast-01
  next: ledger review draw fast-01 exact

judged  2 of 7 = 28.6 %, 7 needed: not met
  judged  needed  done  stratum
       2       2     1  configuration=local judged=failure
       5       5     1  configuration=local judged=success
  1 more reviewed without having been drawn
  agree 1 of 2
    trials  judged     reviewed
         1  correct    correct
         1  incorrect  correct
  weighted by stratum: kappa 0.000, AC1 0.622, alpha 0.125
  judged right   71.4 % of 7
  by review      unavailable: not all drawn trials are reviewed
  next    NAMES: ledger review next
          fast-01 judged

drawings  p1: of another form, nothing counts by it
"""


def hashed(folder: Path, text: str) -> str:
    """Return a screen with the hash of the event that it names first."""
    seq = int(text.split()[2])
    with Ledger.open(folder / LEDGER) as book:
        return text.replace("HASH", book.read(seq).hash[:32])


def size_of(folder: Path) -> int:
    """Return how many events the ledger of a folder has."""
    with Ledger.open(folder / LEDGER) as book:
        return book.store.size()


def test_c29_c30_from_drawing_to_settling(tmp_path: Path) -> None:
    """Draw, agree, differ and settle at once, differ and settle later; the log verifies."""
    full(tmp_path)
    assert ledger(tmp_path, "review", "draw", SAMPLE, "judged", "--actor", "Ada").out == DRAWN
    agreed = ledger(
        tmp_path, "review", "record", f"{SAMPLE}/q4#1", "judged", "--verdict", "correct", *ADA
    )
    assert agreed == (0, hashed(tmp_path, AGREED), "")
    settled = ledger(
        tmp_path, "review", "record", f"{SAMPLE}/q9#1", "judged", "--verdict", "correct", *ADA,
        "--judgment", "j2", "--override", "--finding", "gold_wrong",
    )  # fmt: skip
    assert settled == (0, hashed(tmp_path, SETTLED), "")
    opened = ledger(tmp_path, "review", "record", f"{SAMPLE}/q9#1", "exact", "--score", "1/2", *ADA)
    assert opened == (0, hashed(tmp_path, OPENED), "")
    status = ledger(tmp_path, "review", "status", SAMPLE)
    start_, _, rest = STATUS.partition("NAMES")
    assert status.out.startswith(start_)
    assert status.out.endswith(rest)
    assert "1 disagreement open" in ledger(tmp_path, "scores", SAMPLE).out
    resolved = ledger(tmp_path, "resolve", f"{SAMPLE}/q9#1/d2", "--finding", "reviewer_wrong", *ADA)
    assert resolved.out.splitlines()[1] == (
        f"resolved  {SAMPLE}/q9#1@s1/d2: reviewer_wrong, by Ada"
    )
    assert ledger(tmp_path, "verify").code == 0
    assert ledger(tmp_path, "replay", "--check").code == 0


def test_c29_drawing_twice_appends_nothing(here: Here) -> None:
    """The same plan is found again, whoever draws; the JSON form has every stratum."""
    full(here.folder)
    first = here("review", "draw", SAMPLE, "judged", "--json").json
    assert (first["schema"], first["appended"], first["plan"]) == (
        "ledger.review.draw/1", True, "p2",
    )  # fmt: skip
    size = size_of(here.folder)
    again = here("review", "draw", SAMPLE, "judged", "--actor", "Bob", "--json").json
    assert again == {**first, "appended": False}
    assert size_of(here.folder) == size
    drawn = [trial for stratum in first["strata"] for trial in stratum["drawn"]]
    rows = here("review", "draw", SAMPLE, "judged", "--format", "jsonl").rows
    assert [row["trial"] for row in rows] == drawn
    told = here("review", "draw", SAMPLE, "judged").out
    assert "p2 of fast-01 judged: drawn before, nothing appended, seq 129" in told


def test_c29_the_remaining_trials_tell_no_stratum(here: Here) -> None:
    """Status names them in the order of their hashes: failures do not stand first."""
    full(here.folder)
    document = here("review", "draw", SAMPLE, "judged", "--json").json
    failures = document["strata"][0]["drawn"]
    (status,) = [
        metric
        for metric in here("review", "status", SAMPLE, "--json").json["metrics"]
        if metric["metric"] == "judged"
    ]
    assert (status["met"], status["needed"], status["plan"]) == (False, 7, "p2")
    assert set(status["remaining"]) == {
        trial for stratum in document["strata"] for trial in stratum["drawn"]
    }
    assert status["remaining"][: len(failures)] != failures


@pytest.mark.parametrize(
    ("given", "override"),
    [
        (("--verdict", "correct"), (None, "1")),
        (("--score", "3/4"), (None, "3/4")),
        (("--verdict", "not_gradable"), ("not_gradable", None)),
    ],
)
def test_c31_an_override_by_review_has_the_score_that_the_verdict_names(
    here: Here, given: tuple[str, str], override: tuple[str | None, str | None]
) -> None:
    """The finding is judge_wrong unless another is given; all in one transaction."""
    full(here.folder)
    done = here("review", "record", f"{SAMPLE}/q9#1", "exact", *given, *ADA, "--override", "--json")
    document = done.json
    assert (document["override"], document["finding"]) == ("o1", "judge_wrong")
    assert [event["kind"] for event in document["events"]] == [
        "review.recorded", "disagreement.opened", "judgment.overridden", "disagreement.resolved",
    ]  # fmt: skip
    with Ledger.open(here.folder / LEDGER) as book:
        data = book.read(document["events"][2]["seq"]).event.data
    verdict, score = override
    # The label stands beside the score that it names.
    assert getattr(data, "score") == score  # noqa: B009 - of the union of kinds
    assert verdict is None or getattr(data, "verdict") == verdict  # noqa: B009 - likewise


def test_the_worst_end_is_named_by_incorrect(here: Here) -> None:
    """A right answer that a person finds wrong."""
    full(here.folder)
    arguments = ("--verdict", "incorrect", *ADA, "--override", "--json")
    document = here("review", "record", f"{SAMPLE}/q4#1", "exact", *arguments).json
    with Ledger.open(here.folder / LEDGER) as book:
        data = book.read(document["events"][2]["seq"]).event.data
    assert getattr(data, "score") == "0"  # noqa: B009 - of the union of kinds


def test_where_both_agree_override_and_finding_do_nothing(here: Here) -> None:
    """A blind reviewer cannot know; the review alone is recorded."""
    full(here.folder)
    arguments = ("--verdict", "correct", *ADA, "--override", "--finding", "judge_wrong", "--json")
    document = here("review", "record", f"{SAMPLE}/q4#1", "judged", *arguments).json
    assert (document["agrees"], document["override"], document["finding"]) == (True, None, None)
    assert len(document["events"]) == 1


RECORD = ("review", "record")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((*RECORD, "q4#1", "judged", "--verdict", "correct", *ADA), 2, "not a trial of a run"),
        ((*RECORD, f"{SAMPLE}/q4", "judged", *ADA), 2, "not a trial"),
        ((*RECORD, f"{SAMPLE}/q4#1", "judged"), 2, "an act of a person names the person"),
        ((*RECORD, f"{SAMPLE}/q4#1", "judged", *ADA), 2, "not one opinion"),
        ((*RECORD, f"{SAMPLE}/q4#1", "judged", "--verdict", "good", *ADA), 2, "no verdict"),
        ((*RECORD, f"{SAMPLE}/q4#1", "judged", "--score", "1", *ADA), 2, "a verdict and no score"),
        ((*RECORD, f"{SAMPLE}/q4#1", "exact", "--score", "2", *ADA), 2, "no score, found '2'"),
        ((*RECORD, f"{SAMPLE}/q4#1", "exact", "--score", "1.5", *ADA), 2, "no score"),
        (
            (*RECORD, f"{SAMPLE}/q4#1", "exact", "--verdict", "partial", "--override", *ADA),
            2,
            "names no score",
        ),
        ((*RECORD, f"{SAMPLE}/q4#1", "gone", "--verdict", "correct", *ADA), 6, "no metric 'gone'"),
        ((*RECORD, f"{SAMPLE}/q1#1", "judged", "--verdict", "correct", *ADA), 6, "decides a trial"),
        ((*RECORD, f"{SAMPLE}/qx#1", "judged", "--verdict", "correct", *ADA), 6, "decides a trial"),
        ((*RECORD, f"{SAMPLE}/q4#2", "judged", "--verdict", "correct", *ADA), 6, "decides a trial"),
        (
            (*RECORD, f"{SAMPLE}/q4#1", "judged", "--verdict", "correct", *ADA, "--judgment", "j1"),
            6,
            "no judgment 'j1' of judged",
        ),
        (
            (*RECORD, f"{SAMPLE}/q4#1", "judged", "--verdict", "correct", *ADA, "--reason", " "),
            3,
            "needs a reason in words (C28)",
        ),
        (("review", "draw", SAMPLE, "gone"), 6, "no metric 'gone'"),
        (("review", "draw", "none", "judged"), 6, "no run 'none'"),
        (("resolve", "d1", "--finding", "judge_wrong", *ADA), 2, "not a disagreement"),
        (("resolve", f"{SAMPLE}/q9#1/d1", *ADA), 2, "no finding"),
        (
            ("resolve", f"{SAMPLE}/q9#1/d1", "--finding", "judge_wrong", *ADA),
            6,
            f"no disagreement '{SAMPLE}/q9#1/d1'",
        ),
        (("resolve", f"{SAMPLE}/q10#1/d9", "--finding", "judge_wrong", *ADA), 6, "no disagreement"),
        (("resolve", f"{SAMPLE}/qx#1/d1", "--finding", "judge_wrong", *ADA), 6, "no disagreement"),
        (
            ("resolve", f"{SAMPLE}/q10#1/d1", "--finding", "judge_wrong", *ADA),
            3,
            "disagreement d1 is not open (C30)",
        ),
    ],
)
def test_c30_bad_cases_through_the_real_command(
    here: Here, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Each guard and each wrong form: its exit code, its words, and nothing is written."""
    full(here.folder)
    done = ledger(here.folder, *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert size_of(here.folder) == 128


def test_all_faults_of_an_opinion_come_at_once(here: Here) -> None:
    """Who, why and what."""
    full(here.folder)
    done = here(*RECORD, f"{SAMPLE}/q4#1", "judged", "--verdict", "good")
    assert [line.split(":")[0] for line in done.err.splitlines()[:3]] == [
        "--actor", "--reason", "--verdict",
    ]  # fmt: skip


def test_c29_without_a_judgment_or_a_seed_nothing_is_drawn(here: Here) -> None:
    """The hint names the command that changes it."""
    ready(here.folder)
    records = [opening(), start("q1")]
    assert here("append", write(here.folder, records)).code == 0
    done = here("review", "draw", RUN, "judged")
    assert (done.code, done.err.splitlines()[-1]) == (6, f"hint: ledger grade {RUN}")
    assert "nothing judged automatically" in here("review", "status", RUN).out
    assert "no disagreement recorded" in here("disagreements", RUN).out


def test_c29_a_rubric_without_a_plan_has_no_seed(here: Here) -> None:
    """A rubric that was rebuilt from a source's log: refused by the clause, and status says so."""
    assert here("init").code == 0
    assert here("import", "inspect", str(LOG)).code == 0
    (run,) = [row["run"] for row in here("runs", "--format", "jsonl").rows]
    metric = here("scores", run, "--json").json["primary"]
    refused = here("review", "draw", run, metric)
    assert refused.code == 3
    assert "no seed to draw by (C29)" in refused.err
    assert "the rubric has no seed to draw by" in here("review", "status", run).out


def test_c30_disagreements_are_listed_open_ones_first(here: Here) -> None:
    """Both sides, who, and what was found; the other forms have the same."""
    full(here.folder)
    here(*RECORD, f"{SAMPLE}/q9#1", "exact", "--verdict", "correct", *ADA)
    assert (
        here("disagreements", SAMPLE).out
        == f"""\
run       {SAMPLE}

{SAMPLE}/q9#1@s1/d1  exact  open
  judged  0, j1 by code normalised-match@1
  review  correct, r1 by Ada, blind
  next    ledger resolve '{SAMPLE}/q9#1@s1/d1' --finding F --reason TEXT

{SAMPLE}/q10#1@s1/d1  judged  resolved: judge_wrong, seq 120
  judged  incorrect, j2 by model judge@1
  review  correct, r1 by Ada, not blind
"""
    )
    rows = here("disagreements", SAMPLE, "--format", "jsonl").rows
    assert [(row["open"], row["resolved_seq"]) for row in rows] == [(True, None), (False, 120)]
    done = here("resolve", rows[0]["disagreement"], "--finding", "gold_wrong", *ADA)
    assert done.out.splitlines()[-1] == (
        f"next      ledger override '{SAMPLE}/q9#1@s1/j1' --verdict V --reason TEXT"
    )


def test_c29_gates_of_review(here: Here) -> None:
    """Exit code 5 until the drawn trials are reviewed and nothing is open."""
    log = Log(here.folder, entry="live", rubric=None)
    log.trial("q1")
    log.judge("q1", "judged", "correct", reasoning="as gold")
    log.ledger.close()
    gates = ("--require", "reviewed,resolved")
    refused = here("scores", log.run, *gates)
    assert refused.code == 5
    assert f"run {log.run} does not meet: reviewed" in refused.err
    assert f"hint: ledger review status {log.run}" in refused.err
    assert here("review", "draw", log.run, "judged").code == 0
    record = (*RECORD, f"{log.run}/q1#1", "judged", "--verdict", "incorrect", *ADA)
    assert here(*record).code == 0
    refused = here("scores", log.run, *gates)
    assert refused.code == 5
    assert f"run {log.run} does not meet: resolved" in refused.err
    assert here("resolve", f"{log.run}/q1#1/d1", "--finding", "reviewer_wrong", *ADA).code == 0
    assert here("scores", log.run, *gates).code == 0


def test_more_remaining_trials_than_a_line_holds_are_counted(here: Here) -> None:
    """Five are named."""
    full(here.folder)
    here("review", "draw", SAMPLE, "judged")
    out = here("review", "status", SAMPLE).out
    assert "and 2 more: ledger review next" in " ".join(out.split())
    here(*RECORD, f"{SAMPLE}/q4#1", "judged", "--verdict", "correct", *ADA)
    one = here("review", "status", SAMPLE).out
    assert "kappa undefined, AC1 undefined, alpha undefined" in one
    assert "by review      unavailable: a stratum has no review" in one
    for name in ANSWERS:
        here(*RECORD, f"{SAMPLE}/{name}#1", "judged", "--verdict", "correct", *ADA)
    here(*RECORD, f"{SAMPLE}/q4#1", "judged", "--verdict", "partial", *ADA)
    done = here("review", "status", SAMPLE).out
    assert "judged  7 of 7 = 100.0 %, 7 needed: met" in done
    assert "2 disagreements open" in done
    assert "by review      85.7 %, 95 % 85.7-85.7 %, beside, not instead" in done
