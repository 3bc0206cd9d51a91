"""Real Inspect logs through the real commands: their published numbers and ours beside them."""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from blake3 import blake3

from cli_cases import ledger
from trial_ledger.book import Ledger
from trial_ledger.events import JudgmentOverridden, SourceImported
from trial_projections.comparison import compare
from trial_projections.derivation import derive
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.scores import MetricScore, score_run
from trial_projections.source_rules.digits import parse_published
from trial_projections.source_rules.explaining import explain_all

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL_DATA = Path(os.environ.get("LEDGER_REAL_DATA") or BESIDE)
LOGS = REAL_DATA / "inspect-logs"
EXPECTATION = re.compile(r"(?P<path>.+) (?P<scorer>\S+) accuracy \(.*")
CLOSE = Fraction(1, 10**12)

pytestmark = pytest.mark.skipif(
    not LOGS.is_dir(), reason="the real Inspect logs are not here: set LEDGER_REAL_DATA"
)


class Imported(NamedTuple):
    """All logs in one ledger, read once."""

    folder: Path
    model: ReadModel
    runs: dict[str, RunRecord]
    """Run by the BLAKE3 digest of its log."""


def all_logs() -> list[str]:
    """Return every log, byte copies too."""
    return sorted(str(path) for path in LOGS.rglob("*") if path.suffix in {".eval", ".json"})


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    """Import every log with one command."""
    folder = tmp_path_factory.mktemp("inspect")
    assert ledger(folder, "init").code == 0
    done = ledger(folder, "import", "inspect", *all_logs())
    assert done.code == 0, done.err
    with Ledger.open(folder / "trials.ledger") as opened:
        model = ReadModel.open(opened)
        runs: dict[str, RunRecord] = {}
        for run in model.runs():
            for mark in run.imported:
                data = opened.read(mark.seq).event.data
                assert isinstance(data, SourceImported)
                runs.update({file.blake3: run for file in data.files})
        yield Imported(folder, model, runs)
        model.close()


def run_of(imported: Imported, path: Path) -> RunRecord:
    """Return the run of a log; byte copies are one run."""
    return imported.runs[blake3(path.read_bytes()).hexdigest()]


def numbered(number: str) -> Path:
    """Return one of the generated logs."""
    return next((LOGS / "generated").glob(f"{number}_*/*"))


def scores_of(imported: Imported, path: Path) -> dict[str, MetricScore]:
    """Return every metric of a log's run."""
    return score_run(imported.model.score_input(run_of(imported, path)))


def published() -> list[tuple[Path, str, str]]:
    """Return log, scorer and published accuracy of every row about Inspect."""
    found: list[tuple[Path, str, str]] = []
    for row in csv.reader((REAL_DATA / "expected.csv").read_text("utf-8").splitlines()):
        if row and row[0] == "inspect":
            match = EXPECTATION.fullmatch(row[1])
            assert match is not None, row
            paths = [
                path
                for path in all_logs()
                if str(Path(path).relative_to(LOGS)).startswith(match["path"])
            ]
            assert len(paths) == 1, row
            found.append((Path(paths[0]), match["scorer"], row[2]))
    return found


def test_all_32_published_accuracies_are_our_complete_case_view(imported: Imported) -> None:
    """Answered and judged, mean over ids of the mean over repetitions: the source's own rule."""
    rows = published()
    assert len(rows) == 32
    wrong = []
    for path, scorer, text in rows:
        found = scores_of(imported, path)[scorer].sensitivity["complete_case"]
        assert found.is_point
        value = Fraction(str(found.low.value))
        if abs(value - Fraction(text)) >= CLOSE:
            wrong.append((path.name, scorer, text, str(value)))
    assert wrong == []


def shown(score: MetricScore, view: str | None = None) -> str:
    """Return a number as `18/30`, or `18-21/30` where it is a range."""
    found = score.headline if view is None else score.sensitivity[view]
    assert found is not None
    low = found.low.sum
    return f"{low if found.is_point else f'{low}-{found.high.sum}'}/{found.low.count}"


PRIMARIES = {
    "03": {"includes": "11/30", "model_graded_fact": "18-21/30"},
    "04": {"includes": "22/60", "model_graded_fact": "26/60"},
    "05": {"includes": "3/15"},
    "06": {"includes": "0/8"},
    "07": {"picky": "12-13/20"},
    "09": {"includes": "11/30", "model_graded_fact": "18-21/30"},
    "10": {"includes": "3/40", "model_graded_fact": "5/40"},
}
"""Log → metric → our headline: errors score 0 and stay in, unscored samples make a range."""


@pytest.mark.parametrize("number", sorted(PRIMARIES))
def test_c20_the_headline_keeps_errors_in_the_denominator(imported: Imported, number: str) -> None:
    """What the source leaves out stays planned, and what it does not know is a range."""
    found = scores_of(imported, numbered(number))
    assert {name: shown(found[name]) for name in PRIMARIES[number]} == PRIMARIES[number]


def test_c12_log_09_stands_with_and_without_its_invalidated_trials(imported: Imported) -> None:
    """Three trials were invalidated after their verdicts: both numbers are there."""
    found = scores_of(imported, numbered("09"))
    for name, without in (("includes", "11/27"), ("model_graded_fact", "18/27")):
        assert found[name].invalidated_after == 3
        assert shown(found[name], "without_invalidated") == without


def test_c20_log_10_counts_what_never_started(imported: Imported) -> None:
    """Thirty of forty samples never started and one was cancelled; all forty are planned."""
    score = scores_of(imported, numbered("10"))["includes"]
    assert (score.planned, score.denominator) == (40, 40)
    assert score.outcomes == {"correct": 3, "incorrect": 6, "cancelled": 1, "not_started": 30}
    assert (score.by_rule, score.missing) == (31, 31)
    assert shown(score, "complete_case") == "3/9"


def test_c31_log_08_shows_19_overrides_with_author_and_reason(imported: Imported) -> None:
    """Each is behind its member beside what it replaced; the reason can be read."""
    run = run_of(imported, numbered("08"))
    model = imported.model
    found = derive(model.score_input(run), run, "model_graded_fact", size=model.size, members=True)
    overridden = [member for member in found.members or [] if member.by == "human"]
    assert len(overridden) == 19
    assert found.graders["NQ301 human annotation"] == 19
    for member in overridden:
        roles = [event.role for event in member.events][-2:]
        assert roles == ["judgment", "override"]
        event = model.ledger.read(member.events[-1].seq).event
        assert (event.actor.role, event.actor.name) == ("human", "NQ301 human annotation")
        assert isinstance(event.data, JudgmentOverridden)
        reason = model.ledger.blob(event.data.reason)
        assert reason is not None
        assert b"human review disagrees with the automated verdict" in reason
    before = scores_of(imported, numbered("01"))["model_graded_fact"]
    after = scores_of(imported, numbered("08"))["model_graded_fact"]
    assert (shown(before), shown(after)) == ("69/120", "82/120")


def test_c23_log_03_lists_every_failure_recovered_or_not(imported: Imported) -> None:
    """14 time-outs were recovered, 9 permission failures and 3 judge replies were not."""
    run = run_of(imported, numbered("03")).name
    document = ledger(imported.folder, "failures", run, "--json").json
    assert document["schema"] == "ledger.failures/1"
    counts = document["counts"]
    assert (counts["total"], counts["recovered"], counts["unrecovered"]) == (26, 14, 12)
    assert counts["by_class"] == {"timeout": 14, "tool_error": 9, "judge_unparseable": 3}
    rows = document["failures"]
    assert {row["recovered"] for row in rows if row["class"] == "timeout"} == {"retry"}
    assert {row["recovered"] for row in rows if row["class"] == "tool_error"} == {"no"}
    assert {row["detail_class"] for row in rows if row["class"] == "tool_error"} == {"permission"}
    unrecovered = ledger(imported.folder, "failures", run, "--unrecovered", "--json").json
    assert len(unrecovered["failures"]) == 12


def test_a_source_says_its_own_number_beside_ours(imported: Imported) -> None:
    """Under its own names, never as the headline, on a screen of 80 columns."""
    run = run_of(imported, numbered("01")).name
    done = ledger(imported.folder, "scores", run)
    assert done.code == 0
    assert "  source              says accuracy 0.3833333333333333" in done.out
    assert "rule headline" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def size_of(imported: Imported) -> int:
    """Return how many events the ledger holds now."""
    document: dict[str, Any] = ledger(imported.folder, "replay", "--check", "--json").json
    return int(document["size"])


def test_a_second_import_adds_nothing_and_everything_verifies(imported: Imported) -> None:
    """27 distinct logs are 27 runs; nothing is appended twice; log and projections are intact."""
    before = size_of(imported)
    assert len(imported.model.runs()) == 27
    again = ledger(imported.folder, "import", "inspect", *all_logs())
    assert again.code == 0
    assert "29 of 29 files, 0 events appended" in again.out + again.err
    assert size_of(imported) == before
    assert ledger(imported.folder, "verify").code == 0
    checked = ledger(imported.folder, "replay", "--check")
    assert (checked.code, f"check     stored at {before} events: the same" in checked.out) == (
        0,
        True,
    )


def test_every_published_error_has_a_named_rule(imported: Imported) -> None:
    """Of means with and without what failed, of reduced repetitions; unless all is undecided."""
    named = Counter[str]()
    for run in {run.name: run for run in imported.runs.values()}.values():
        for found in explain_all(imported.model, run):
            published = parse_published(found.reported.value)
            if found.reported.name == "stderr" and published is not None:
                undecided = found.ours is not None and not found.ours.is_point
                assert found.rule is not None or undecided, found.words
                named[found.rule or "none"] += 1
    assert named == {
        "standard_error": 13,
        "standard_error:mode": 6,
        "standard_error:pass_at_k:3": 2,
        "standard_error:errors_excluded": 4,
        "standard_error:decided_only": 3,
        "standard_error:or_zero": 10,
        # Of two runs everything was lost, so that their numbers cannot be had from the records.
        "null_counts_against": 1,
        "none": 1,
    }


def test_c35_two_logs_of_one_task_are_paired_by_question(imported: Imported) -> None:
    """Scores were edited in a copy: one metric is alike, the other's test is one of two."""
    first, second = (run_of(imported, numbered(number)) for number in ("01", "08"))
    found = compare(imported.model, [first, second, run_of(imported, numbered("02"))])
    same, other = found.pairs
    assert (same.no_verdict, same.settings) == ([], [])
    told = {metric.metric: metric for metric in same.metrics}
    alike, edited = told["includes"], told["model_graded_fact"]
    assert (alike.pairs, alike.low, alike.high, alike.p, alike.flips) == (40, "0", "0", "1", [])
    assert (edited.up, edited.down, edited.low, edited.high) == (12, 2, "13/120", "13/120")
    differences = [
        int(3 * (Fraction(flip.second_low) - Fraction(flip.first_low))) for flip in edited.flips
    ]
    sums = Counter({0: 1})
    for each in differences:
        sums = Counter({
            total: sums[total - each] + sums[total + each]
            for total in {known + sign * each for known in sums for sign in (1, -1)}
        })  # fmt: skip
    far = sum(times for total, times in sums.items() if abs(total) >= sum(differences))
    p = Fraction(far, 2 ** len(differences))
    assert edited.p is not None
    assert edited.p_adjusted is not None
    assert abs(Fraction(edited.p) - p) < CLOSE
    assert (edited.adjusted_by, edited.family) == ("bh", 2)
    assert abs(Fraction(edited.p_adjusted) - 2 * p) < CLOSE
    assert edited.flips[0].second_trials[0] == f"{second.name}/nq301-001#1@s1"
    assert [reason.partition(":")[0] for reason in other.no_verdict] == ["other datasets"]
    assert len(other.metrics[0].only_first) == 25
    assert len(other.bridges) == len(other.metrics) == 2
