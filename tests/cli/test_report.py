"""`ledger report`: one value in several forms, whole or not there, gold only where asked for."""

import json
import stat
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cli_cases import Here
from document_cases import outcome_table
from ledger_cases import RUN, opened, small_manifest, small_rubric, tools
from projection_cases import Log
from read_cases import sample, too_long, without
from rescore_cases import corrected, fates_log, lax, revision
from signing_cases import signed_ledger
from trial_ledger import durable
from trial_ledger.book import Ledger
from trial_ledger.goldfile import gold_path
from trial_ledger.keyed_file import projections_path
from trial_ledger.rescoring import derive_run
from trial_projections import report as report_module
from trial_projections import report_trials

FORMS = ("report.json", "report.md", "report.junit.xml")


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def parsed(text: str) -> ET.Element:
    """Return the root of XML that this program wrote."""
    return ET.fromstring(text)  # noqa: S314 - our own, without entities


def made(here: Here, name: str, *options: str, run: str = RUN) -> str:
    """Make a report and return it."""
    done = here("report", run, "-o", name, *options)
    assert (done.code, done.err) == (0, "")
    return (here.folder / name).read_text("utf-8")


def test_what_it_says_of_the_file(here: Here) -> None:
    """Where it is, of what part of the log it speaks, whether gold is in it."""
    sample(here.folder)
    done = here("report", RUN, "-o", "report.md")
    assert (done.code, done.err) == (0, "")
    size = (here.folder / "report.md").stat().st_size
    parts = (f"report.md: {size} bytes, 10 of 10 trials\n", "gold      not in it\n", "128 events")
    assert without(done.out, parts) == []
    assert too_long(done.out) == []
    done = here("report", RUN, "-o", "report.json", "--include-gold", "--json")
    assert done.json["schema"] == "ledger.report-made/1"
    assert (done.json["trials"], done.json["include_gold"]) == (10, True)
    mode = stat.S_IMODE((here.folder / "report.json").stat().st_mode)
    assert mode == stat.S_IRUSR | stat.S_IWUSR


def test_c35_the_json_form(here: Here) -> None:
    """It names its schema, and numbers are those of `scores`."""
    sample(here.folder)
    value = json.loads(made(here, "report.json"))
    assert value["schema"] == "ledger.report/1"
    scores = here("scores", RUN, "--json").json
    assert value["runs"][0]["summary"]["metrics"] == scores["metrics"]
    assert value["runs"][0]["summary"]["trust"] == scores["trust"]


def test_c35_the_markdown_form(here: Here) -> None:
    """Numbers, failures with their trace, every trial, the commands."""
    sample(here.folder)
    text = made(here, "report.md", "--include-gold")
    parts = (
        "## Run fast-01 (final)\n",
        "| judged | all | 60.0-70.0 % (6-7/10) | 26.7-91.3 % (cluster-wilson, 10 clusters,",
        "| errors left out | 75.0 % (6/8) |",
        "| ledger trace 33 | q4\\#1 | rate\\_limited |",
        "- retrieval miss, no failure: q9\\#1, seq 99\n",
        "- disagreement d1 of q10\\#1, seq 118: judge\\_wrong\n",
        "#### q10\\#1: failed, answered\n",
        "- answer: Babylon\n",
        "- reasoning: the reviewer is right\n",
        "    ledger explain fast-01 judged --as-of 128 --json\n",
        "    ledger report fast-01 --as-of 128 --include-gold -o FILE\n",
        "nobody signed for these 128 events",
    )
    assert without(text, parts) == []
    shy = made(here, "shy.md")
    assert "may show gold: \\-\\-include" not in shy
    assert "\\[may show gold: --include-gold\\]" in shy


def test_c12_an_invalid_run_is_never_green(here: Here, log: Log) -> None:
    """Markdown says so under the title, JUnit has an error of its own."""
    log.trial("q1")
    log.judge("q1", "exact", "1")
    log.act("run.invalidated", reason="the wrong index")
    log.act("trial.invalidated", "q1", reason="the wrong page")
    log.ledger.close()
    text = made(here, "report.md")
    assert "## Run fast-01 (INVALID) (final)\n\n**This run does not count.**" in text
    assert "Ada: the wrong index" in text
    assert ", invalidated\n" in text
    suite = parsed(made(here, "report.xml"))[0]
    case = suite.find("testcase")
    assert case is not None
    error = case.find("error")
    assert error is not None
    assert error.attrib["message"].endswith(": the wrong index")
    assert suite.attrib["errors"] == "10"


def test_the_junit_form(here: Here) -> None:
    """A case a slot and one for the run; what broke is an error, what is wrong a failure."""
    sample(here.folder)
    root = parsed(made(here, "report.junit.xml", "--include-gold"))
    (suite,) = root
    assert {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "11", "failures": "2", "errors": "2", "skipped": "0",
    }  # fmt: skip
    cases = {case.attrib["name"]: case for case in suite.findall("testcase")}
    assert len(cases) == 11
    assert len(list(cases["the run is valid"])) == 0
    error = cases["q1#1"].find("error")
    assert error is not None
    assert error.attrib["type"] == "search provider fault"
    failure = cases["q9#1"].find("failure")
    assert failure is not None
    assert failure.attrib["message"].startswith("exact: scored, 0 (code normalised-match@1")
    said = cases["q9#1"].findtext("system-out")
    assert said is not None
    assert "answer: Babylon\ngold: {" in said
    assert cases["q9#1"].attrib["time"] == "0.300000"
    properties = {part.attrib["name"]: part.attrib["value"] for part in suite.iter("property")}
    assert properties["metric exact"] == "60.0 % (6/10)"


def test_what_is_not_decided_is_skipped(here: Here, log: Log) -> None:
    """Undecided is never wrong, and never green; what broke is an error, with and without time."""
    log.trial("q1")
    log.ledger.close()
    (suite,) = parsed(made(here, "report.xml"))
    assert (suite.attrib["skipped"], suite.attrib["failures"]) == ("1", "0")
    assert "time" not in suite.findall("testcase")[1].attrib


@pytest.mark.parametrize("name", FORMS)
def test_rebuilt_from_the_log_the_file_is_the_same(here: Here, name: str) -> None:
    """Byte for byte: built twice, and after the projections were deleted."""
    path = sample(here.folder)
    first = made(here, name, "--include-gold")
    assert made(here, f"again-{name}", "--include-gold") == first
    projections_path(path).unlink()
    assert made(here, f"anew-{name}", "--include-gold") == first


def test_nothing_is_written_over_unless_asked_for(here: Here) -> None:
    """Not over a file, never over a folder or the ledger."""
    path = sample(here.folder)
    (here.folder / "r.md").write_text("mine", "utf-8")
    done = here("report", RUN, "-o", "r.md")
    assert done.code == 7
    assert "r.md exists" in done.err
    assert "--force" in done.err
    assert (here.folder / "r.md").read_text("utf-8") == "mine"
    assert made(here, "r.md", "--force").startswith("# Evaluation report")
    (here.folder / "folder.md").mkdir()
    assert here("report", RUN, "-o", "folder.md", "--force").code == 7
    for file in (path, gold_path(path)):
        name = here.folder / f"{file.name}.json"
        name.symlink_to(file)
        assert here("report", RUN, "-o", name.name, "--force").code == 7
    assert here("verify").code == 0


def test_a_file_that_cannot_be_written(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk's own words, and another name."""
    sample(here.folder)
    done = here("report", RUN, "-o", "nowhere/r.md")
    assert done.code == 7
    assert "cannot write nowhere/r.md: No such file or directory" in done.err

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable, "write_whole", full)
    done = here("report", RUN, "-o", "r.md")
    assert (done.code, (here.folder / "r.md").exists()) == (7, False)


def test_a_name_that_is_no_form(here: Here) -> None:
    """Every form is named."""
    sample(here.folder)
    done = here("report", RUN, "-o", "report.pdf")
    assert done.code == 2
    assert without(done.err, (".json", ".md", ".xml", "'report.pdf'")) == []


def test_gates(here: Here) -> None:
    """The file is written, then the gates that are not met are named; an unknown one is refused."""
    sample(here.folder)
    done = here("report", RUN, "-o", "a.md", "--require", "decided, valid,live")
    assert done.code == 5
    assert f"not met by {RUN}: decided" in done.err
    assert (here.folder / "a.md").exists()
    assert here("report", RUN, "-o", "b.md", "--require", "valid").code == 0
    done = here("report", RUN, "-o", "c.md", "--require", "valid,nice")
    assert done.code == 2
    assert "no gate 'nice'" in done.err


def test_a_run_of_which_nothing_worked_is_no_success(here: Here, log: Log) -> None:
    """As with `scores`: every trial failed."""
    log.trial("q1", outcome="errored", answer=None)
    log.act("run.closed", status="failed", reason="all of it broke")
    log.ledger.close()
    done = here("report", RUN, "-o", "a.md")
    assert done.code == 5
    assert "any trial" in done.err
    assert "all of it broke" in (here.folder / "a.md").read_text("utf-8")


def test_a_derived_run_names_its_parent(here: Here) -> None:
    """Failures of the trials are its parent's, and are said to be."""
    log = fates_log(here.folder)
    derived = derive_run(log.ledger, revision(rubric=lax())).run
    log.ledger.close()
    text = made(here, "report.md", run=derived)
    assert f"those of the trials: ledger failures {RUN}" in text
    assert "its trials are judged here, as of its link" in text


def test_a_metric_without_a_number_says_why(here: Here) -> None:
    """Where no planned slot counts there is no number, not 0."""
    outcomes = {**outcome_table(), "not_started": {"denominator": False}}
    Log(here.folder, rubric={"outcomes": outcomes}).ledger.close()
    assert "| exact | fact | unavailable: no planned slot counts |" in made(here, "report.md")


def test_c5_warnings_of_the_dataset_are_in_it(here: Here) -> None:
    """Each with its clause and question."""
    world = tools(here.folder, pins=False)
    with Ledger.create(here.folder / "trials.ledger", tools=world) as book:
        book.freeze((corrected(version="1", gold={"q1": None}), small_rubric(), small_manifest()))
        book.append(opened(RUN, entry="appended"))
    text = made(here, "report.md")
    assert "- C4 q1: no gold: no code grader can judge it\n" in text


def test_the_signed_head_is_in_it(here: Here) -> None:
    """The note stands there as it can be checked."""
    signed_ledger(here.folder, pins=False)
    text = made(here, "report.md")
    assert "a signed head of 115 events" in text
    assert "    trial-ledger/" in text
    assert "    — trial-ledger/" in text


def test_a_large_run_says_what_the_report_holds(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many of how many, and the command that lists all."""
    sample(here.folder)
    monkeypatch.setattr(report_module, "MOST_TRIALS", 9)
    monkeypatch.setattr(report_module, "MOST_FAILURES", 3)
    monkeypatch.setattr(report_trials, "OTHERS", 2)
    text = made(here, "report.md")
    assert "6 of 10 planned slots: 4 of the 4 in error, undecided or failed" in text
    assert "the first 3 are listed" in text


def test_cut_texts_name_the_whole(here: Here, log: Log) -> None:
    """The command that shows all of it stands behind the beginning."""
    log.trial("q1", answer="x" * 30_000)
    log.ledger.close()
    text = made(here, "report.md")
    assert "… \\[30000 bytes in all: ledger show " in text


def test_several_runs_stand_one_after_the_other(here: Here) -> None:
    """Never mixed in one number; trials without sessions, runs without calls."""
    log = fates_log(here.folder)
    log.open("r2", supersedes=RUN, reason="again")
    log.ledger.close()
    done = here("report", "r2", RUN, "-o", "r.md")
    assert done.code == 0
    text = (here.folder / "r.md").read_text("utf-8")
    assert text.index("## Run r2") < text.index("## Run fast-01")
    assert "No calls recorded: cost unknown." in text
    assert "superseded by this run; 10 questions in common" in text
