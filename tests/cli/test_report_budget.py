"""Pages of very long texts stay small, and failures that nobody could see are told (C25, C35)."""

from pathlib import Path

import msgspec
import pytest

from projection_cases import Log
from read_cases import sample
from trial_cli.render.budget import MOST_BYTES, fitted
from trial_cli.render.markdown import markdown_report
from trial_cli.render.page import html_report, page_of
from trial_ledger.book import Ledger
from trial_projections.reading import ReadModel
from trial_projections.report import make_report
from trial_projections.report_structs import Report
from trial_projections.report_texts import ReportText


@pytest.fixture(name="report")
def sample_report(tmp_path: Path) -> Report:
    """The report of the sample run."""
    with Ledger.open(sample(tmp_path)) as ledger:
        model = ReadModel.open(ledger)
        try:
            return make_report(model, ["fast-01"], include_gold=True)
        finally:
            model.close()


def large(report: Report, trials: int, text: str) -> Report:
    """Return a report of so many trials whose every text is one and the same."""
    run = report.runs[0]
    long = ReportText(blob="b" * 64, bytes=len(text), text=text, missing=None, is_cut=False)
    first = next(row for row in run.trials if row.verdicts)
    rows = [
        msgspec.structs.replace(
            first,
            slot=f"q{number}",
            question=msgspec.structs.replace(long, blob=None),
            answer=long,
            gold=long,
            verdicts=[msgspec.structs.replace(one, reasoning=long) for one in first.verdicts],
        )
        for number in range(trials)
    ]
    shown = msgspec.structs.replace(run.shown, text_limit=300)
    return msgspec.structs.replace(
        report, runs=[msgspec.structs.replace(run, trials=rows, shown=shown)]
    )


def test_c35_five_thousand_trials_of_long_texts_are_a_small_page(report: Report) -> None:
    """Every trial is in it, the ends of texts are not, and it says so."""
    found = large(report, 5_000, "<&'\"é" * 60)
    page = html_report(found)
    assert len(page.encode()) < MOST_BYTES
    assert all(f"<b>q{number}</b>" in page for number in (0, 2_500, 4_999))
    assert "texts are cut at " in page
    assert "bytes in all: ledger show " in page


def test_a_page_that_is_small_is_left_alone(report: Report) -> None:
    """Nothing is cut that need not be."""
    assert html_report(report) == page_of(report)
    assert "texts are cut at " not in page_of(report)


def test_a_page_that_no_cut_makes_small_is_still_whole(report: Report) -> None:
    """The shortest texts are tried last; what has no text has none afterwards."""
    tried: list[int] = []

    def render(one: Report) -> str:
        tried.append(one.runs[0].shown.text_limit)
        return "x" * MOST_BYTES

    assert fitted(large(report, 1, "é"), render) == "x" * MOST_BYTES
    assert tried == [300, 100, 20, 2]


def test_c25_a_report_lists_what_was_not_surfaced(tmp_path: Path) -> None:
    """Each failure says whether anybody could see it, and the rest are counted."""
    log = Log(tmp_path)
    log.trial("q1", outcome="errored", answer=None)
    for name in ("f1", "f2"):
        log.act("failure.occurred", "q1", call=None, occurrence=name, class_="timeout",
                impact="none")  # fmt: skip
    log.act("failure.surfaced", "q1", occurrence="f1", channel="stderr", seen="emitted")
    with log.model() as model:
        found = make_report(model, [log.run])
    log.ledger.close()
    for text in (html_report(found), markdown_report(found)):
        assert "1 not known to be surfaced" in text
        assert "emitted" in text
        assert text.count("not known to be") == 2
