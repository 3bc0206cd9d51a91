"""`ledger runs`: every run, invalid and superseded ones too."""

from pathlib import Path

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from read_cases import sample, too_long


def test_no_runs_yet(here: Here, tmp_path: Path) -> None:
    """An empty list is said in words, and is empty in JSON."""
    Log(tmp_path, entry=None).ledger.close()
    assert here("runs").out == "no runs yet\n"
    assert here("runs", "--json").json == {"schema": "ledger.runs/1", "runs": []}


def test_the_sample_run(here: Here) -> None:
    """Name, state, entry, trials done, time; everything else in the other forms."""
    sample(here.folder)
    done = here("runs")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "run      state     entry  done      opened\n"
        "fast-01  complete  live   10 of 10  2026-10-01 12:00\n"
    )
    (row,) = here("runs", "--format", "jsonl").rows
    assert (row["configuration"], row["phase"], row["seq"]) == ("local", "final", 5)
    assert here("runs", "--format", "csv").out.splitlines()[0].startswith("run,state,valid,entry")
    assert here("runs", "--format", "md").out.startswith("| run | state | valid |")


def test_c12_invalid_superseding_and_derived_runs_are_listed(here: Here, tmp_path: Path) -> None:
    """None is left out, and how they relate is said."""
    log = Log(tmp_path)
    log.trial("q1")
    log.act("run.invalidated", reason="wrong endpoint")
    log.open("fast-02", supersedes=RUN, reason="the endpoint was wrong")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.ledger.close()
    done = here("runs")
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == [RUN, "fast-02", "again"]
    assert "INVALID open  appended  1 of 10" in lines[1]
    assert lines[4:] == ["  fast-02 supersedes fast-01", "  again judges the trials of fast-01"]
    assert too_long(done.out) == []
    rows = {row["run"]: row for row in here("runs", "--json").json["runs"]}
    assert (rows[RUN]["valid"], rows[RUN]["superseded_by"]) == (False, "fast-02")
    assert (rows["again"]["derived_from"], rows["again"]["valid"]) == (RUN, True)


def test_a_run_whose_time_is_unknown(here: Here, tmp_path: Path) -> None:
    """A source may not say when."""
    log = Log(tmp_path, entry=None)
    from ledger_cases import opened  # noqa: PLC0415 - only here
    from trial_ledger.submission import Submission  # noqa: PLC0415 - only here

    first = opened(RUN, entry="imported")
    log.ledger.append(Submission(kind=first.kind, run=first.run, data=first.data, at_unknown=True))
    log.ledger.close()
    assert here("runs").out.splitlines()[1].endswith("0 of 10  unknown")


def test_c33_as_of_an_earlier_seq(here: Here) -> None:
    """Runs that were opened later are not there."""
    sample(here.folder)
    assert here("runs", "--as-of", "4").out == "no runs yet\n"
    assert "open   live   0 of 10" in here("runs", "--as-of", "6").out


def test_a_derived_run_has_no_trials_to_be_done(here: Here, tmp_path: Path) -> None:
    """What it judges are its parent's trials, so it does not look as if nothing had run."""
    log = Log(tmp_path)
    log.trial("q1")
    with log.model() as model:
        link = model.run(log.run).links
    log.open("again", derived_from={"run": log.run, "link": link}, reason="another rubric")
    log.ledger.close()
    lines = here("runs").out.splitlines()
    assert [line.split()[3] for line in lines[1:3]] == ["1", "derived"]
