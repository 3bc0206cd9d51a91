"""The HTML form of a report: no script, nothing from elsewhere, and no text of a log is markup."""

import base64
import json
import re
from collections import Counter
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_cases import Here
from document_cases import outcome_table
from ledger_cases import RUN, opened, questions_jsonl, small_manifest, small_rubric, tools
from projection_cases import Log
from read_cases import sample
from rescore_cases import METRICS, fates_log, lax, revision
from signing_cases import signed_ledger
from trial_cli.output import clean_lines
from trial_cli.render.charts import WIDTH, ChartRow, Segment, chart, upto
from trial_cli.render.markdown import markdown_report
from trial_cli.render.markup import anchor, element, escaped, quoted
from trial_cli.render.page import html_report
from trial_cli.render.style import STYLE, security_policy
from trial_ledger.book import Ledger
from trial_ledger.documents.dataset import parse_dataset
from trial_ledger.rescoring import derive_run
from trial_projections import report as report_module
from trial_projections import report_trials
from trial_projections.reading import ReadModel
from trial_projections.report import make_report
from trial_projections.reported import Reported

VOID = frozenset({"meta"})
ELEMENTS = frozenset({
    "a", "b", "body", "caption", "code", "dd", "desc", "details", "div", "dl", "dt", "figure", "h1",
    "h2", "h3", "h4", "head", "header", "html", "li", "main", "meta", "nav", "p", "pre", "rect",
    "section", "span", "strong", "style", "summary", "svg", "table", "tbody", "td", "text", "th",
    "thead", "title", "tr", "ul",
})  # fmt: skip
"""Every element that a report has."""
HOSTILE = (
    "<script>alert(1)</script>",
    "</title></style></div><img src=x onerror=alert(1)>",
    "]]><!--<svg onload=alert(1)>",
    '" autofocus onfocus="alert(1)',
    "' style='x",
    "javascript:alert(1) https://example.org/?a=1&lt;",
    "\x1b[31mred\x1b]8;;http://x\x07link\x1b]8;;\x07",
    "\u202egnp.exe\u2066x",
    "\ufffe\uffff\ufdd0 &amp; &#0; \x00\x08",
    "line one\nline two\r\n\tthree",
    "![x](http://x) [a](javascript:x) | a | `b` **c**",
)


class Page(HTMLParser):
    """A page as a browser would read it: its elements, its texts, its links."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.texts: list[str] = []
        self.values: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.style = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element."""
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        for name, value in attrs:
            self.values.setdefault(name, []).append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Every element ends where it should."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Take a text."""
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """There is none."""
        raise AssertionError(data)

    @property
    def tags(self) -> Counter[str]:
        """Return how many elements of each name there are."""
        return Counter(tag for tag, _ in self.elements)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def page_of(here: Here, *options: str, run: str = RUN, name: str = "report.html") -> Page:
    """Make a report as a page, and read it."""
    done = here("report", run, "-o", name, "--force", *options)
    assert (done.code, done.err) == (0, "")
    return Page((here.folder / name).read_text("utf-8"))


def test_c35_a_page_needs_nothing_but_itself(here: Here) -> None:
    """No script, image, frame, form or style of an element; links stay in the page and lead on."""
    sample(here.folder)
    page = page_of(here, "--include-gold")
    assert {*page.tags} - ELEMENTS == set()
    assert {"src", "style", "action", "onload"} & {*page.values} == set()
    assert all(place.startswith("#") for place in page.values["href"])
    assert {place[1:] for place in page.values["href"]} <= {*page.values["id"]}
    assert len(page.values["id"]) == len({*page.values["id"]})
    assert "url(" not in page.style
    assert "@import" not in page.style
    digest = base64.b64encode(sha256(page.style.encode()).digest()).decode()
    (policy,) = (value for value in page.values["content"] if "default-src" in value)
    assert policy == security_policy()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert page.values["lang"] == ["en"]


def test_c35_each_chart_has_words_and_a_table(here: Here) -> None:
    """A title, a description, and a table with the same numbers."""
    sample(here.folder)
    page = page_of(here)
    assert page.tags["svg"] == page.values["role"].count("img") == 5
    assert page.tags["desc"] == 5
    assert {*page.values["aria-labelledby"], *page.values["aria-describedby"]} <= {
        *page.values["id"]
    }
    words = " ".join(page.texts)
    for part in (
        "Outcomes of the planned slots, by metric",
        "judged: judge failed",
        "judged under every rule",
        "errors left out: never a headline",
        "95 % interval by question",
        "Failure occurrences by class",
        "Calls of known and of unknown cost",
        "Accounts, kept apart",
        "$0.02 + 3 calls unknown",
    ):
        assert part in words, part


def test_each_number_and_failure_leads_on(here: Here) -> None:
    """A number to what it is made of, a failure to its trial, a trial back to its failure."""
    sample(here.folder)
    links = page_of(here).values["href"]
    wanted = ["#r1-d-exact", "#r1-d-judged", "#r1-t-q1_23_1", "#r1-f8"]
    assert [place for place in wanted if place not in links] == []


def test_what_went_wrong_stands_first_and_open(here: Here) -> None:
    """Failures before the rest; trials in trouble before those that are right, and open."""
    sample(here.folder)
    done = here("report", RUN, "-o", "r.html", "--include-gold")
    text = (here.folder / "r.html").read_text("utf-8")
    assert done.code == 0
    assert text.index('id="r1-failures"') < text.index('id="r1-trials"')
    assert re.findall(r'<details id="r1-t-(q[0-9]+)_23_1"( open="")?>', text)[:5] == [
        ("q1", ' open=""'), ("q2", ' open=""'), ("q9", ' open=""'), ("q10", ' open=""'), ("q3", ""),
    ]  # fmt: skip
    assert "Holds gold: do not publish." in text
    assert "Invalidated, and reinstated since" in text


def test_c12_an_invalid_run_says_so_at_the_top(here: Here, log: Log) -> None:
    """In the header, and over its numbers with who said so and why."""
    log.trial("q1")
    log.judge("q1", "exact", "1")
    log.act("run.invalidated", reason="the wrong index")
    log.act("trial.invalidated", "q1", reason="the wrong page")
    log.ledger.close()
    text = " ".join(page_of(here).texts)
    assert f"1 run in this report INVALID: {RUN}" in text
    assert "This run does not count. INVALID since seq" in text
    assert "the wrong index" in text
    assert "INVALIDATED" in text
    assert text.count("INVALID 10.0 % (1/10)") == 2


def test_a_derived_run_and_a_signed_log(here: Here, tmp_path: Path) -> None:
    """Other runs on the questions, and the note of the signed head."""
    log = fates_log(tmp_path)
    derived = derive_run(log.ledger, revision(rubric=lax())).run
    log.ledger.close()
    text = " ".join(page_of(here, run=derived).texts)
    assert "its trials are judged here, as of its link" in text
    other = tmp_path / "other"
    other.mkdir()
    path = signed_ledger(other, pins=False)
    text = " ".join(page_of(here, "--ledger", str(path), name="s.html").texts)
    assert "a signed head of 115 events" in text
    assert "— trial-ledger/" in text


@pytest.mark.parametrize(("failures", "troubled"), [(3, 9), (6, 1)])
def test_a_large_run_has_links_only_to_what_it_holds(
    here: Here, log: Log, monkeypatch: pytest.MonkeyPatch, failures: int, troubled: int
) -> None:
    """A failure whose trial is not in the page, or a trial whose failure is not, is named only."""
    monkeypatch.setattr(report_module, "MOST_TRIALS", 9)
    monkeypatch.setattr(report_module, "MOST_FAILURES", failures)
    monkeypatch.setattr(report_trials, "MOST_TROUBLED", troubled)
    log.trial("q4")
    for question in ("q1", "q2", "q3"):
        log.trial(question, outcome="errored", answer=None)
        for name in ("f1", "f2"):
            log.act("failure.occurred", question, call=None, occurrence=name, class_="other",
                    detail_class="Odd", fault=None, impact="none")  # fmt: skip
    log.act("failure.occurred", call=None, occurrence="f9", class_="timeout", impact="none")
    log.ledger.close()
    page = page_of(here)
    text = " ".join(page.texts)
    assert f"the first {failures} are listed" in text
    assert "other (Odd)" in text
    assert f": {troubled} of the 10 in error, undecided or failed" in text
    assert {place[1:] for place in page.values["href"]} <= {*page.values["id"]}


def test_a_metric_without_a_number_has_no_chart(here: Here) -> None:
    """It says why, and still what its slots are."""
    outcomes = {**outcome_table(), "not_started": {"denominator": False}}
    Log(here.folder, rubric={"outcomes": outcomes}).ledger.close()
    page = page_of(here)
    text = " ".join(page.texts)
    assert "unavailable: no planned slot counts" in text
    assert "No calls recorded: cost unknown." in text
    assert page.tags["svg"] == 1


def test_an_interval_that_nobody_asked_for_is_no_bar(here: Here) -> None:
    """Why there is none is said in words."""
    metrics = {name: {**metric, "interval": "none"} for name, metric in METRICS.items()}
    log = Log(here.folder, rubric={"metrics": metrics})
    log.trial("q1")
    log.ledger.close()
    page = page_of(here)
    assert "95 % interval by question: unavailable (the rubric asks for none)" in page.texts
    assert page.texts.count("95 % interval by question") == 2


def test_what_a_source_said_and_had_lost(tmp_path: Path) -> None:
    """Its own numbers, its losses, warnings of the dataset, costs that are all known."""
    with Ledger.open(sample(tmp_path), tools=tools(tmp_path, pins=False)) as book:
        model = ReadModel.open(book)
        found = make_report(model, [RUN])
        model.close()
    (run,) = found.runs
    replace = msgspec.structs.replace
    own = Reported(metric="exact", name="accuracy", reducer=None, value="0.75")
    known = [replace(account, unknown_count=0) for account in run.summary.accounts]
    said = replace(
        run,
        summary=replace(run.summary, reported=[own], accounts=known),
        dataset=replace(run.dataset, warnings=["C4 q1: no gold"]),
        losses=["three verdicts"],
    )
    whole = replace(found, runs=[said])
    words = "\n".join(Page(html_report(whole)).texts)
    for text in ("exact accuracy", "0.75", "C4 q1: no gold", "three verdicts"):
        assert text in words, text
    assert "| exact accuracy | 0.75 |" in markdown_report(whole)


def hostile_log(folder: Path, words: list[str]) -> None:
    """Write a run whose every text holds some words."""
    text = " ".join(words)
    records = [json.loads(line) for line in questions_jsonl().splitlines()]
    for record in records:
        record["question"] = f"{record['id']} {text}"
        record["gold"]["answer"] = f"gold {text}"
    dataset = parse_dataset(
        b"".join(json.dumps(record).encode() + b"\n" for record in records),
        source="dataset.jsonl", name="example", version="1", meta={"provenance": f"from {text}"},
    )  # fmt: skip
    log = Log.__new__(Log)
    log.path, log.run = folder / "trials.ledger", RUN
    log.ledger = Ledger.create(log.path, tools=tools(folder, pins=False))
    log.ledger.freeze((dataset, small_rubric(), small_manifest()))
    log.ledger.append(opened(RUN, entry="appended"))
    log.trial("q1", answer=f"answer {text}")
    log.judge("q1", "judged", "incorrect")
    log.act("judgment.overridden", "q1", judgment="o1", replaces="j1", verdict="correct",
            reason=f"rather {text}")  # fmt: skip
    log.trial("q2", answer="x" * 100 + text * 1_000)
    log.act("failure.occurred", "q2", call=None, occurrence="f1", class_="timeout",
            message=f"failed {text}", impact="none")  # fmt: skip
    log.act("run.invalidated", reason=f"wrong {text}")
    log.act("run.closed", status="failed", reason=f"closed {text}")
    log.ledger.close()


def test_hostile_texts_are_texts(here: Here, tmp_path: Path) -> None:
    """The page has the elements and attributes of one with harmless texts, and says the same."""
    found: list[Page] = []
    for name, words in (
        ("plain", ["some longer\nwords"] * len(HOSTILE)),
        ("hostile", list(HOSTILE)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        hostile_log(folder, words)
        path = str(folder / "trials.ledger")
        found.append(page_of(here, "--include-gold", "--ledger", path, name=f"{name}.html"))
    plain, hostile = found
    assert hostile.elements == plain.elements
    assert hostile.values["href"] == plain.values["href"]
    assert hostile.values["id"] == plain.values["id"]
    expected = re.sub("[\ufdd0-\ufdef\ufffe\uffff]", "\ufffd", clean_lines(" ".join(HOSTILE)))
    said = "\n".join(hostile.texts)
    for beginning in ("q1 ", "answer ", "rather ", "failed "):
        assert beginning + expected in said, beginning
    assert "closed " + expected.replace("\n", " ") in said
    assert "\x1b" not in said
    assert "\u202e" not in said


@pytest.mark.parametrize("form", ["md", "xml"])
def test_hostile_texts_in_the_other_forms(here: Here, form: str) -> None:
    """Markdown has no markup of it, XML parses to the same text."""
    hostile_log(here.folder, list(HOSTILE))
    assert here("report", RUN, "-o", f"r.{form}", "--include-gold").code == 0
    text = (here.folder / f"r.{form}").read_text("utf-8")
    if form == "md":
        assert "<script" not in text.replace("\\<", "")
        assert re.search(r"(?<!\\)!\[", text) is None
        return
    root = ET.fromstring(text)  # noqa: S314 - our own
    said = "\n".join(part.text or "" for part in root.iter("system-out"))
    assert "<script>alert(1)</script>" in said
    assert {part.tag for part in root.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "error", "failure",
        "skipped", "system-out",
    }  # fmt: skip


def test_a_megabyte_of_text_is_cut(here: Here, log: Log) -> None:
    """The page stays small; how long the text is, and where all of it is, stands behind it."""
    log.trial("q1", answer="<b>" * 350_000)
    log.ledger.close()
    page = page_of(here)
    assert "[1050000 bytes in all: ledger show " in " ".join(page.texts)
    assert (here.folder / "report.html").stat().st_size < 150_000


@given(st.text(), st.text())
def test_whatever_a_text_holds_it_is_read_back(text: str, value: str) -> None:
    """As text and as a value, but for what was replaced; never as markup."""
    page = Page(element("p", text=text, title=value))
    assert page.elements == [("p", ("title",))]
    assert "".join(page.texts) == plain(clean_lines(text))
    assert page.values["title"] == [plain(clean_lines(value).replace("\n", " "))]
    root = ET.fromstring(element("p", text=text, title=value))  # noqa: S314 - our own
    assert (root.text or "") == plain(clean_lines(text))


def plain(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return re.sub("[\ufdd0-\ufdef\ufffe\uffff]", "\ufffd", text)


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_anchors_are_places_of_their_own(one: list[str], other: list[str]) -> None:
    """Letters, digits, dashes and underscores; two different places are never one."""
    assert re.fullmatch(r"[A-Za-z0-9_-]*", anchor(*one))
    assert (anchor(*one) == anchor(*other)) == (one == other)


def test_escaping_without_lines() -> None:
    """A value stands on one line."""
    assert escaped('a\nb"<') == 'a b"&lt;'
    assert quoted('a\n"<') == '"a &quot;&lt;"'


def linear(part: int) -> float:
    """Return one part of a colour, from 0 to 255, as light (WCAG 2.2, relative luminance)."""
    share = part / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> Fraction:
    """Return the relative luminance of `#rgb` or `#rrggbb`, to a thousandth."""
    digits = colour[1:] if len(colour) == 7 else "".join(char * 2 for char in colour[1:])
    red, green, blue = (linear(int(digits[place : place + 2], 16)) for place in (0, 2, 4))
    return Fraction(round((0.2126 * red + 0.7152 * green + 0.0722 * blue) * 1000), 1000)


def contrast(one: str, other: str) -> Fraction:
    """Return the contrast of two colours."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + Fraction(1, 20)) / (dark + Fraction(1, 20))


def test_every_text_has_contrast() -> None:
    """4.5 to 1 for each colour of text on each ground: light, dark, printed."""
    schemes = [
        dict(re.findall(r"--([a-z]):(#[0-9a-f]+)", part))
        for part in re.findall(r":root\{([^}]*)\}", STYLE)
    ]
    assert [len(scheme) for scheme in schemes] == [8, 8, 8]
    weak = [
        (number, text, ground)
        for number, scheme in enumerate(schemes)
        for text in "fmleg"
        for ground in "bs"
        if contrast(scheme[text], scheme[ground]) < Fraction(9, 2)
    ]
    assert weak == []
    assert contrast("#8c9196", "#fff") < Fraction(9, 2)


def test_a_part_of_a_bar_is_seen_and_stays_inside() -> None:
    """One of ten thousand has a width; the last one does not stick out; nothing of nothing is 0."""
    assert (upto(1, 10_000), upto(0, 0), upto(3, 3)) == (0, 0, WIDTH)
    drawn = chart("c", "t", "d", [ChartRow("a" * 99, "b", [Segment(WIDTH, WIDTH, 1)])])
    assert f'x="{WIDTH - 2}"' in drawn
    assert 'width="2"' in drawn
    assert "a" * 99 not in drawn
