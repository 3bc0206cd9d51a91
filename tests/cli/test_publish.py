"""`ledger report --publish`: numbers that left the house are events, computed anew (C36)."""

from pathlib import Path

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.book import Ledger
from trial_ledger.events import MetricPublished

METRIC = "judged"
PUBLISH = ("--publish", "--actor", "Ada")


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with a run of three trials, one of them undecided, beside which commands run."""
    made = Log(tmp_path)
    for number, verdict in enumerate(("correct", "incorrect", None), 1):
        made.trial(f"q{number}")
        if verdict is not None:
            made.judge(f"q{number}", METRIC, verdict)
    return made


def published(folder: Path) -> list[MetricPublished]:
    """Return the numbers that were published."""
    with Ledger.open(folder / "trials.ledger") as ledger:
        return [
            stored.event.data
            for stored in ledger.events()
            if isinstance(stored.event.data, MetricPublished)
        ]


def test_c36_every_number_becomes_an_event_with_its_report(here: Here, log: Log) -> None:
    """A range has no value; the report is in the log; `scores` says what was published."""
    log.ledger.close()
    done = here("report", RUN, "-o", "r.md", *PUBLISH)
    assert done.code == 0, done.err
    assert "published fast-01 exact seq " in done.out
    first, second = sorted(published(here.folder), key=lambda data: data.metric)
    assert (first.metric, first.value, first.low, first.high) == ("exact", None, "0", "3/10")
    assert (second.metric, second.low, second.high) == (METRIC, "1/10", "1/5")
    assert first.report is not None
    with Ledger.open(here.folder / "trials.ledger") as ledger:
        assert ledger.blob(first.report) == (here.folder / "r.md").read_bytes()
    assert "published exact 0.0-30.0 % at seq " in here("scores", RUN).out
    value = here("report", RUN, "-o", "r.json", "--json", *PUBLISH).json
    assert [one["metric"] for one in value["published"]] == ["exact", METRIC]


def test_c36_what_came_later_changes_nothing_about_a_published_number(here: Here, log: Log) -> None:
    """It follows from the events it was made of; beside it stands what the number is now."""
    log.ledger.close()
    assert here("report", RUN, "-o", "r.md", *PUBLISH).code == 0
    done = here("override", f"{RUN}/q1#1/j1", "--verdict", "incorrect", "--actor", "Bob",
                "--reason", "no")  # fmt: skip
    assert done.code == 0, done.err
    shown = here("scores", RUN).out
    assert "judged 10.0-20.0 % at seq " in shown
    assert "; 0.0-10.0 % now\n" in shown
    checked = here("replay", "--check")
    assert (checked.code, checked.out.splitlines()[-1]) == (
        0, "published 2 of 2 numbers follow from the log",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"low": "1/2", "value": "1/2"}, "judged of fast-01: 1/2 to 1/2, now 1/10 to 1/5"),
        ({"size": 2}, "judged of fast-01: 1/10 to 1/5, now nothing"),
        ({"metric": "exact"}, "exact of fast-01: 1/10 to 1/5, now 0 to 3/10"),
    ],
    ids=["another number", "before the run", "another metric"],
)
def test_c36_a_number_that_does_not_follow_from_the_log_is_found(
    here: Here, log: Log, change: dict[str, object], said: str
) -> None:
    """Whoever appended it, exit code 4 and what comes out in its place."""
    data = {
        "metric": METRIC, "low": "1/10", "high": "1/5", "derivation": "ab" * 32,
        "size": 16, "link": 3, **change,
    }  # fmt: skip
    if "value" in data:
        del data["low"], data["high"]
    log.append("metric.published", None, data)
    log.ledger.close()
    done = here("replay", "--check")
    assert done.code == 4
    assert "published numbers that do not follow from the log: fast-01 " in done.err
    assert said in " ".join(done.out.split())


def test_c36_the_same_number_from_other_members_is_told(here: Here, log: Log) -> None:
    """Another digest of what it is made of, as of another program; no number is no publication."""
    size = log.ledger.head().size
    data = {"metric": METRIC, "derivation": "ab" * 32, "size": size, "link": 3}
    log.append("metric.published", None, {**data, "low": "1/10", "high": "1/5"})
    log.append("metric.published", None, data)
    log.ledger.close()
    done = here("replay", "--check")
    assert done.code == 0
    assert done.out.splitlines()[-2:] == [
        "published 1 of 1 numbers follow from the log",
        f"          seq {size + 1} judged of fast-01: the same number, derived otherwise",
    ]
    value = here("replay", "--check", "--json").json
    assert [one["derived_alike"] for one in value["published"]] == [False]


def test_c36_nothing_is_published_where_a_gate_fails(here: Here, log: Log) -> None:
    """The file is there all the same."""
    log.ledger.close()
    done = here("report", RUN, "-o", "r.md", "--require", "decided", *PUBLISH)
    assert done.code == 5
    assert (here.folder / "r.md").exists()
    assert published(here.folder) == []


def test_c36_gold_and_what_nobody_stands_for_is_not_published(
    here: Here, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both faults at once, and no file."""
    monkeypatch.delenv("LEDGER_ACTOR", raising=False)
    log.ledger.close()
    done = here("report", RUN, "-o", "r.md", "--publish", "--include-gold")
    assert done.code == 2
    assert "--publish: it holds gold, found --include-gold" in done.err
    assert "--actor: nobody is named" in done.err
    assert not (here.folder / "r.md").exists()


def test_a_run_without_numbers_publishes_none(here: Here, tmp_path: Path) -> None:
    """Where no metric has a number there is nothing to be published."""
    outcomes = {"not_started": {"denominator": False}}
    metrics = {METRIC: {"measure": "verdict", "grader": "judge", "outcomes": outcomes}}
    log = Log(tmp_path, rubric={"primary": METRIC, "metrics": metrics})
    log.append("metric.published", None, {
        "metric": METRIC, "value": "1", "derivation": "ab" * 32, "size": 5, "link": 1,
    })  # fmt: skip
    log.ledger.close()
    done = here("report", RUN, "-o", "r.md", *PUBLISH)
    assert (done.code, "published " in done.out) == (0, False)
    assert "published" not in here("replay", "--check", "--as-of", "5").out
    assert "judged 100.0 % at seq 6; no number now\n" in here("scores", RUN).out
