"""`ledger latency`: quantiles with intervals, in every form."""

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long

SCREEN = """\
fast-01  a time that nobody measured is unknown, never 0
trials  10: 8 timed, 2 failed, lost or unfinished
  p50     300 ms        95 %: 300 ms to 300 ms
  p90     300 ms        95 %: 300 ms to no upper end  (8 values are too few)
  p95     300 ms        95 %: 300 ms to no upper end  (8 values are too few)
  p99     300 ms        95 %: 300 ms to no upper end  (8 values are too few)
model model  8: 8 timed
  p50     250 ms        95 %: 250 ms to 250 ms
  p90     250 ms        95 %: 250 ms to no upper end  (8 values are too few)
  p95     250 ms        95 %: 250 ms to no upper end  (8 values are too few)
  p99     250 ms        95 %: 250 ms to no upper end  (8 values are too few)
search search  11: 8 timed, 3 failed, lost or unfinished
  p50     15 ms         95 %: 15 ms to 15 ms
  p90     15 ms         95 %: 15 ms to no upper end  (8 values are too few)
  p95     15 ms         95 %: 15 ms to no upper end  (8 values are too few)
  p99     15 ms         95 %: 15 ms to no upper end  (8 values are too few)
judge judge  8: 0 timed, 1 failed, lost or unfinished, 7 unknown
"""


def test_c17_the_whole_screen(here: Here) -> None:
    """Counts first, then a line a quantile, in 80 columns."""
    sample(here.folder)
    done = here("latency", RUN)
    assert (done.code, done.out, done.err) == (0, SCREEN, "")
    assert too_long(done.out) == []


def test_c17_the_other_forms(here: Here) -> None:
    """JSON holds every kind; a table has a row a quantile, and one where nothing was timed."""
    sample(here.folder)
    document = here("latency", RUN, "--json").json
    assert (document["schema"], document["valid"]) == ("ledger.latency/1", True)
    rows = here("latency", RUN, "--format", "csv").out.splitlines()
    assert rows[0].startswith("of,purpose,endpoint,count,timed,cut_off,ended_early,unknown,p,")
    assert len(rows) == 14


def test_c17_bounds_and_hostile_names(here: Here) -> None:
    """What was cut off is a bound; an endpoint's name moves no cursor; an invalid run says so."""
    log = Log(here.folder, manifest={"limits": {"trial_timeout_ms": 5_000}})
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="model", endpoint="model")
    log.act("call.finished", "q1", call="c1", status="ok", duration_us=7)
    log.act(
        "failure.occurred", "q1", occurrence="f1", class_="agent_timeout", fault="harness",
        impact="trial_failed",
    )  # fmt: skip
    log.act("trial.finished", "q1", outcome="errored")
    log.act("run.invalidated", reason="wrong")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="once more")
    log.ledger.close()
    shown = here("latency", RUN).out.splitlines()
    assert shown[0] == "fast-01  INVALID  a time that nobody measured is unknown, never 0"
    assert shown[1] == "trials  1: 0 timed, 1 cut off"
    assert shown[2].startswith("  p50     >= 5.000 s    95 %: no lower end to no upper end")
    assert "  p50     7 us " in here("latency", RUN).out
    assert "of the trials of fast-01 to its link 4\n" in here("latency", "again").out
