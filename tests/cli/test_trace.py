"""`ledger trace`: the screen around one failure, trial or call, and its other forms."""

from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from read_cases import sample, too_long, without
from trace_cases import Story
from trial_cli.trace_words import class_text, seconds_text

LOST = """\
response_lost f1  fault harness  impact trial_failed  seq 15
fast-01  q2#1@s1  outcome errored, harness fault: scores 0 in exact

                      … 1 other event, seq 13
    +0.000 s      14  search call c1, attempt 1, endpoint search
>   +0.000 s      15  response_lost f1, fault harness, in c1: response_lost!
    +0.000 s      16  f1 emitted on stderr: no terminal, not known to be seen
    +0.000 s      17  c1 RESPONSE LOST: 18204 of 41377 bytes; the model saw
                      nothing
    +0.000 s      18  trial finished: errored after 0.001 s

recovered  never; attempt 2 not made: class response_lost is not in retry.on; no
           more than 1 attempt allowed
surfaced   emitted on stderr: no terminal, not known to be seen, seq 16
cost       c1 unknown; a provider may bill what is unknown
effect     the trial was lost by it:
             exact 6/10 60.0 %; right instead: 7/10 70.0 % (+10.00)
             judged 6-7/10 60.0-70.0 %; right instead: 7-8/10 70.0-80.0 %
             (+10.00)
miss?      cannot be declared: a response was lost (seq 17)
alike      no other response_lost in fast-01, endpoint search
order      live; 14 was in the log before anything came back
bytes      ledger show 15 --raw
trial      ledger trace 'fast-01/q2#1@s1'
"""


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A run that retries, beside which commands run, with one trial begun at noon."""
    made = Story(tmp_path)
    made.start()
    return made


def test_c21_the_whole_screen_of_a_lost_response(here: Here) -> None:
    """What came back, what the model saw, why it was not tried again, and what that cost."""
    sample(here.folder)
    done = here("trace", "15")
    assert (done.code, done.out, done.err) == (0, LOST, "")
    assert too_long(done.out) == []
    assert here("trace", f"{RUN}/q2#1/f1").out == LOST


def test_c23_the_screen_of_a_recovered_failure(here: Here) -> None:
    """The retry and its gap, what made it good, and that it had no effect."""
    sample(here.folder)
    done = here("trace", "f0")
    lines = (
        "rate_limited f0  fault search_provider  impact none  seq 33\n",
        "36  search call c1, attempt 2, endpoint search: c0 again, same\n",
        "37  c1 ok after 0.015 s, 9 bytes; it reached the model\n",
        "38  f0 recovered by retry, call c1\n",
        "… 3 other events, seq 39 to 41\n",
        "recovered  by retry, call c1, seq 38, 0.000 s later\n",
        "cost       c0 unknown, c1 $0.0025; a provider may bill what is unknown\n",
        "effect     no effect: recovered; the trial was judged: exact 6/10 60.0 %, judged\n",
        "order      live; each call was in the log before anything came back\n",
    )
    assert without(done.out, lines) == []
    assert too_long(done.out) == []


def test_a_judges_failure_costs_one_metric(here: Here) -> None:
    """Its message stays in the gold file; both ends of a range move by themselves."""
    sample(here.folder)
    done = here("trace", "f3", "--run", RUN)
    lines = (
        ">   +0.000 s      28  judge_error f3, fault judge, in c3: (its message is in the\n",
        "29  c3 failed, no response recorded\n",
        "30  judgment of judged failed: judge_failed\n",
        "surfaced   not known to be surfaced while the run executed\n",
        "its judgment was lost by it:\n",
        "judged 6-7/10 60.0-70.0 %; right instead: 7/10 70.0 % (+10.00 at\n",
        "the low end, +0.00 at the high)\n",
    )
    assert without(done.out, lines) == []


def test_a_trial_shows_every_event_of_it(here: Here) -> None:
    """From its start to what people said of it; nothing is folded away."""
    sample(here.folder)
    done = here("trace", "q10#1")
    lines = (
        "trial q10#1@s1  0 failures  seq 104\n",
        "104  trial started, leak check clean\n",
        "109  answer submitted\n",
        "111  judged exact: 0 by normalised-match\n",
        "113  c3 ok, 7 bytes; it reached the grader\n",
        "119  judgment overridden: correct by Ada\n",
        "recovered  nothing failed here\n",
        "effect     had this trial been right:\n",
        "judged 6-7/10 60.0-70.0 %; right instead: the same\n",
    )
    assert without(done.out, lines) == []
    assert "other event" not in done.out
    assert "\ntrial      ledger trace" not in done.out
    shown = here("trace", "q9#1").out
    assert "98  query inspected: adequate by cases\n" in shown
    assert "miss?      declared: seq 99\n" in shown


def test_a_call_is_marked_at_its_start(here: Here) -> None:
    """And named with how it ended."""
    sample(here.folder)
    done = here("trace", f"{RUN}/q2#1/c1")
    assert done.out.startswith("search call c1  lost  seq 14\nfast-01  q2#1@s1  ")
    assert "\n>   +0.000 s      14  search call c1" in done.out
    assert done.out.count("\n>") == 1
    assert "effect     the trial was lost by it:\n" in done.out


def test_the_other_forms_hold_every_event(here: Here) -> None:
    """JSON names its schema and all that the screen says; rows are the steps."""
    sample(here.folder)
    document = here("trace", "15", "--json").json
    assert document["schema"] == "ledger.trace/1"
    assert (document["address"], document["seq"]) == (f"{RUN}/q2#1@s1/f1", 15)
    assert [step["seq"] for step in document["steps"]] == [13, 14, 15, 16, 17, 18]
    (step,) = [step for step in document["steps"] if step["marked"]]
    assert (step["class"], step["offset_us"], len(step["hash"])) == ("response_lost", 1, 64)
    assert document["fates"][0]["why_not"] == ["class_not_retried", "attempts_used"]
    assert here("trace", "15", "--format", "jsonl").rows == document["steps"]
    table = here("trace", "15", "--format", "csv").out.splitlines()
    assert (len(table), table[0].startswith("seq,hash,kind,at,offset_us,related")) == (7, True)
    assert len(here("trace", "15", "--format", "md").out.splitlines()) == 8


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (("nope",), 6, "nothing called 'nope' can be traced", "ledger failures RUN lists"),
        (("f1",), 6, f"{RUN}/q1#1@s1/f1, {RUN}/q2#1@s1/f1", "name it as RUN/TRIAL/ID"),
        (("q11#1",), 6, "nothing called 'q11#1' can be traced", "ledger trials RUN trials"),
        (("5",), 6, "event 5 (run.opened) is of no trial", "ledger show 5"),
        (("999",), 6, "no event 999: the log is seen up to seq 128", "ledger log"),
        (("\x1b[2J",), 6, r"nothing called '\x1b[2J' can be traced", "ledger log RUN calls"),
        (("f1", "--run", "slow"), 6, "no run 'slow'", f"there is {RUN}"),
        (("15", "--as-of", "14"), 6, "no event 15: the log is seen up to seq 14", "ledger log"),
        (("15", "--as-of", "soon"), 2, "not a place in the log, found 'soon'", ""),
        ((), 2, "Missing argument 'OCCURRENCE|TRIAL|CALL'", ""),
        (("15", "--format", "xml"), 2, "'xml' is not one of", ""),
    ],
)
def test_what_cannot_be_traced(
    here: Here, arguments: tuple[str, ...], code: int, message: str, hint: str
) -> None:
    """One clause with the name, all that it could mean, and where to look."""
    sample(here.folder)
    done = here("trace", *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert hint in done.err
    assert "\x1b" not in done.err


def test_what_nobody_recorded_is_called_unknown(here: Here, story: Story) -> None:
    """Times, sizes, endpoints, faults, gaps, policies: never 0, never left out."""
    story.call(None, "c1", purpose="tool", endpoint=None, name="browse")
    story.tell(
        None, "failure.occurred", occurrence="f1", class_="response_lost", fault="harness",
        call="c1",
    )  # fmt: skip
    story.tell(None, "response.lost", call="c1", occurrence="f1")
    story.call(None, "c2", retry_of="c1", attempt=2)
    story.tell(None, "call.finished", call="c2", status="partial", response="x",
               served={"endpoint": "mirror"})  # fmt: skip
    story.ledger.close()
    shown = here("trace", "f1").out
    lines = (
        "unknown       7  tool call c1 to browse, attempt 1\n",
        "c1 RESPONSE LOST: unknown of unknown bytes; the model saw\n",
        "search call c2, attempt 2, endpoint search: c1 again,\n",
        "another endpoint, after an unknown time\n",
        "c2 partial, 1 byte from mirror; not known whether the\n",
        "recovered  never, though tried again: c2 partial\n",
        "alike      no other response_lost in fast-01, no endpoint recorded\n",
        "order      not witnessed: fast-01 was appended after the fact\n",
        "outcome unfinished: scores 0 in exact\n",
    )
    assert without(shown, lines) == []


def test_several_failures_are_told_apart_and_what_is_alike_is_told_once(
    here: Here, story: Story
) -> None:
    """Each by its name; where the same holds for all it stands once."""
    for number in (1, 2, 3):
        story.call("12:00:01.000000", f"c{number}")
        story.fail("12:00:02.000000", f"f{number}", f"c{number}", impact="degraded")
    story.tell(None, "failure.recovered", occurrence="f3", by="repair")
    story.tell(None, "failure.assessed", occurrence="f1", impact="degraded")
    story.tell(
        "12:00:05.000000", "failure.surfaced", occurrence="f3", channel="stderr", seen="terminal"
    )
    story.ledger.close()
    shown = here("trace", "f1").out
    lines = (
        "unknown      17  f1 assessed: impact degraded\n",
        "recovered  f1: never; attempt 2 not made: the trial is still open. The same was\n",
        "           called later: c2 failed, c3 failed\n",
        "           f3: by repair, seq 16; when is not recorded\n",
        "surfaced   f1, f2: not known to be surfaced while the run executed\n",
        "           f3: shown on stderr: a terminal was there, seq 18\n",
        "it degraded the answer, how far is not known; the trial counts as\n",
        "alike      2 more timeout, endpoint search, 2026-10-01 12:00, 1 recovered: seq\n",
    )
    assert without(shown, lines) == []
    assert too_long(shown) == []


def test_many_calls_are_paid_together_and_many_alike_are_counted(here: Here, story: Story) -> None:
    """With the known sum and how many are unknown; places beyond a few are in the JSON form."""
    cost = {"amount": "0.5", "currency": "USD", "basis": "reported"}
    for number in range(1, 8):
        story.call("12:00:01.000000", f"c{number}")
        paid = {"cost": cost} if number > 1 else {}
        story.tell(None, "call.finished", call=f"c{number}", status="ok", **paid)  # type: ignore[arg-type]
    for number, second in enumerate(("12:01:00.000000", "13:59:00.000000", None) * 3):
        story.tell(second, "failure.occurred", occurrence=f"f{number}", class_="auth")
    story.ledger.close()
    shown = here("trace", "q1#1").out
    assert "cost       $3 + 1 of 7 calls unknown; a provider may bill what is unknown\n" in shown
    assert "recovered  f0, f1, f2, f3, f4, f5, f6, f7, f8: never; it happened in no call\n" in shown
    shown = here("trace", "f0").out
    lines = (
        "cost       no call\n",
        "8 more auth, no endpoint recorded, 2026-10-01 12:01-13:59 (3 at\n",
        "order      not witnessed: fast-01 was appended after the fact\n",
    )
    assert without(shown, lines) == []
    assert ", …\n" in shown


def test_known_costs_alone_bear_no_warning(here: Here, story: Story) -> None:
    """Where every call has its price, the sum is all."""
    cost = {"amount": "0.5", "currency": "USD", "basis": "reported"}
    for number in range(1, 7):
        story.call("12:00:01.000000", f"c{number}")
        story.tell(None, "call.finished", call=f"c{number}", status="ok", cost=cost)
    story.ledger.close()
    assert "\ncost       $3\n" in here("trace", "q1#1").out


def test_alike_over_days_and_at_unknown_times(here: Here, tmp_path: Path) -> None:
    """A day is named where they lie on several; no time is made up."""
    story = Story(tmp_path)
    times = ("2026-10-01T23:59:00.000000", "2026-10-02T00:01:00.000000", None)
    for name, second in zip("abc", times, strict=True):
        story.tell(second, "failure.occurred", None, occurrence=name, class_="auth")
    story.tell(None, "failure.occurred", None, occurrence="d", class_="dns")
    story.tell(None, "failure.occurred", None, occurrence="e", class_="dns")
    story.ledger.close()
    assert (
        "1 more dns, no endpoint recorded, at unknown times, 0 recovered: seq\n"
        in here("trace", "d").out
    )
    shown = here("trace", f"{RUN}/c").out
    assert "2 more auth, no endpoint recorded, 2026-10-01 23:59 to 2026-10-02\n" in shown
    assert "fast-01  no trial: the run as a whole\n" in shown
    assert "effect     no effect: it belongs to no trial: exact 0/10 0.0 %, judged\n" in shown
    assert "\n           0/10 0.0 %\n" in shown
    assert "miss?      cannot be declared: it belongs to no trial\n" in shown


def test_in_a_live_run_late_and_unknown_intents_are_named(here: Here, tmp_path: Path) -> None:
    """Nothing is called witnessed that was not."""
    story = Story(tmp_path, entry="live")
    story.tell("12:00:00.000000", "trial.started", input="Which town is meant by riddle q1?")
    story.call("12:00:00.000000", "open")
    assert "order      live; not known to be recorded before: open\n" in here("trace", "open").out
    story.call("11:00:00.000000", "late")
    story.tell("11:00:01.000000", "call.finished", call="late", status="ok")
    story.tell(None, "failure.occurred", occurrence="f1", class_="environment")
    story.ledger.close()
    shown = here("trace", "late").out
    assert "order      live; recorded only after something came back: late\n" in shown
    assert "\norder      live\n" in here("trace", "f1").out


def test_hostile_texts_neither_move_the_cursor_nor_break_the_width(
    here: Here, story: Story
) -> None:
    """Names of any length, messages with escape sequences, endpoints in another script."""
    name = "f" + "x" * 200
    story.call("12:00:01.000000", "c" * 100)
    story.tell(
        None, "failure.occurred", occurrence=name, class_="other", detail_class="W" * 90,
        call="c" * 100, endpoint="\u202eabc" * 2, message="\x1b[2Jgone\nnext line",
    )  # fmt: skip
    story.ledger.close()
    shown = here("trace", "fx").out
    assert too_long(shown) == []
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[2Jgone next line" in shown


def test_c12_an_invalid_run_and_one_derived_from_it(here: Here, story: Story) -> None:
    """Both are marked in the heading; the effect is that on the numbers of the run named."""
    story.fail("12:00:01.000000", "f1", None)
    story.end("12:00:02.000000", "answered")
    story.judge("q1", "exact", "1")
    story.act("run.invalidated", reason="wrong endpoint")
    story.open("again", derived_from={"run": RUN, "link": 5}, reason="another rubric")
    story.judge("q1", "exact", "0")
    story.ledger.close()
    assert here("trace", "f1").out.startswith(
        "timeout f1  fault unknown  impact unknown  seq 7\nfast-01  INVALID  q1#1@s1  outcome"
    )
    shown = here("trace", "again/q1#1/f1").out
    lines = (
        "again  derived from fast-01  q1#1@s1  outcome answered: scores 0 in exact\n",
        "… 2 other events, seq 9 to 12\n",
        "effect     what it did to the answer is not known; the trial was judged; at\n",
        "exact 0/10 0.0 %; right instead: 1/10 10.0 % (+10.00)\n",
        "order      not witnessed: fast-01 was appended after the fact; judged in again,\n",
    )
    assert without(shown, lines) == []


def test_other_things_that_a_trace_may_have_to_say(here: Here, tmp_path: Path) -> None:
    """Signed scales, metrics of other shapes, no number at all, sessions that do not count."""
    metrics = {
        "odd": {
            "measure": "verdict", "grader": "judge",
            "outcomes": {"correct": {"denominator": False}},
        },
        "signed": {"measure": "score", "grader": "source", "scale": ["-1", "1"]},
        "worse": {
            "measure": "score", "grader": "source", "scale": ["-1", "1"], "direction": "lower",
        },
        "listed": {"measure": "score", "grader": "source", "shapes": ["list"]},
    }  # fmt: skip
    story = Story(
        tmp_path,
        rubric={"metrics": metrics, "primary": "listed"},
        manifest={"questions": ["q1"]},
    )
    story.start()
    story.tell(None, "answer.submitted", abstained=True)
    story.tell(None, "trial.finished", outcome="abstained", reason="gave_up")
    story.judge("q1", "worse", "not_gradable")
    story.tell(None, "trial.started", session="s2", input="which?")
    story.ledger.close()
    shown = here("trace", "q1#1@s1").out
    lines = (
        "outcome abstained: scores 0 in odd\n",
        "answer: abstained\n",
        "trial finished: abstained (gave_up) after an unknown time\n",
        "judged worse: not_gradable by judge\n",
        "odd 0/1 0.0 %; right instead: no number, since no slot would count\n",
        "signed 0/1 0.000; right instead: 1/1 1.000 (+1.000)\n",
        "worse -1 to 1/1 -1.000 to 1.000; right instead: -1/1 -1.000 (+0.000\n",
        "at the low end, -2.000 at the high)\n",
        "unavailable in this run: listed\n",
    )
    assert without(shown, lines) == []
    shown = here("trace", "q1#1@s2").out
    assert "no effect: another session of the slot counts: odd 0/1 0.0 %" in shown
    assert "q1#1@s2  outcome unfinished\n" in shown


def test_words_of_small_things() -> None:
    """Signs, and a class that the source calls by the same word."""
    assert seconds_text(None) == "unknown"
    assert seconds_text(-1_500_000) == "-1.500 s"
    assert seconds_text(1_500_000, sign=True) == "+1.500 s"
    assert class_text("timeout", "timeout") == "timeout"
    assert class_text("other", "Odd") == "other (Odd)"
