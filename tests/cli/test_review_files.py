"""Reviews by people elsewhere and at a terminal: what they are shown, and what they bring back."""

import csv
import io
from pathlib import Path

import click
import pytest

from cli_cases import LEDGER, Here, full, ledger
from ledger_cases import ANSWERS, RUN
from projection_cases import Log
from trial_cli import review_next
from trial_ledger.book import Ledger
from trial_ledger.events import AnswerSubmitted
from trial_ledger.goldfile import gold_path
from trial_projections import review_sheet

SECRETS = ("compared with gold", "judge@1", "judge-model", "VERDICT", "incorrect", "success")
"""What only judgments and strata say in the sample run."""
SHEET = f"""\
trial     {RUN}/NAME#1@s1  judged, 7 to review
question  Which town is meant by riddle NAME?
context   {{"region":"Transoxiana"}}
answer    ANSWER
record    ledger review record '{RUN}/NAME#1@s1' judged --verdict V --reason TEXT
"""


def leaks(text: str) -> list[str]:
    """Return what a text tells of a judgment."""
    return [secret for secret in SECRETS if secret in text]


def drawn(here: Here) -> Path:
    """Make the sample run with a drawing of `judged`; return the ledger's path."""
    path = full(here.folder)
    assert here("review", "draw", RUN, "judged").code == 0
    return path


def exported(here: Here, *options: str) -> list[dict[str, str]]:
    """Export the sheets of the sample run; return the rows."""
    done = here("review", "export", RUN, "-o", "out.csv", *options)
    assert done.code == 0, done.err
    return list(csv.DictReader(io.StringIO((here.folder / "out.csv").read_text())))


def filled(here: Here, rows: list[dict[str, str]]) -> None:
    """Write rows back as in.csv."""
    with (here.folder / "in.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_c29_a_sheet_tells_nothing_of_any_judgment(here: Here) -> None:
    """Neither the file nor the screen, in any form, with gold or without."""
    drawn(here)
    exported(here)
    texts = [(here.folder / "out.csv").read_text()]
    for form in ("text", "json", "jsonl", "csv", "md"):
        for gold in ((), ("--include-gold",)):
            done = here("review", "next", RUN, *gold, "--format", form)
            assert done.code == 0
            texts.append(done.out)
    assert [leaks(text) for text in texts] == [[]] * 11


def test_c29_a_planted_leak_is_found(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were an answer shown with its reasoning, the test above would fail."""
    drawn(here)
    monkeypatch.setattr(review_sheet, "answer_text", lambda *_: "Babylon: compared with gold")
    assert leaks(here("review", "next", RUN).out) == ["compared with gold"]


def test_without_a_terminal_nothing_is_asked(here: Here) -> None:
    """The trial and the command that records the review are shown, in a process of its own."""
    drawn(here)
    done = ledger(here.folder, "review", "next", RUN)
    name = done.out.split("/")[1].partition("#")[0]
    answer = "Babylon" if name in {"q9", "q10"} else ANSWERS[name]
    assert done.out == SHEET.replace("NAME", name).replace("ANSWER", answer)
    with_gold = here("review", "next", RUN, "judged", "--include-gold", "--json").json
    assert ANSWERS[name] in with_gold["gold"]
    assert here("review", "next", RUN, "--json").json["gold"] is None


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal at which these keys are pressed."""
    keys: list[str] = []
    monkeypatch.setattr(review_next, "has_terminal", lambda: True)
    monkeypatch.setattr(click, "getchar", lambda: keys.pop(0))
    monkeypatch.setattr(click, "prompt", lambda _: "looked it up")
    return keys


def test_at_a_terminal_one_key_gives_the_verdict(here: Here, terminal: list[str]) -> None:
    """Other keys do nothing; what was judged is told afterwards."""
    drawn(here)
    terminal += ["x", "N"]
    done = here("review", "next", RUN, "--actor", "Ada")
    shown, _, after = done.out.partition("q leave\n")
    assert leaks(shown.replace("i incorrect", "")) == []
    assert "not_gradable, by Ada, blind" in after
    assert "disagree" in after
    assert "6 to review" in here("review", "next", RUN, "--json").out or terminal == []


def test_leaving_records_nothing(here: Here, terminal: list[str]) -> None:
    """The trial stays the next one."""
    drawn(here)
    terminal += ["q"]
    assert here("review", "next", RUN, "--actor", "Ada").code == 0
    assert here("review", "next", RUN, "--json").json["remaining"] == 7


def test_a_person_at_a_terminal_has_a_name(here: Here, terminal: list[str]) -> None:
    """Said before anything is shown; a reason that says nothing is refused by the guard."""
    drawn(here)
    done = here("review", "next", RUN)
    assert (done.code, done.out) == (2, "")
    assert "an act of a person names the person" in done.err
    assert terminal == []


def test_an_empty_reason_at_a_terminal_is_refused(
    here: Here, terminal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with the command."""
    drawn(here)
    terminal += ["c"]
    monkeypatch.setattr(click, "prompt", lambda _: "")
    done = here("review", "next", RUN, "--actor", "Ada")
    assert done.code == 2
    assert "an act of a person says why" in done.err


def test_a_terminal_is_looked_for() -> None:
    """In tests there is none."""
    assert review_next.has_terminal() is False


def test_c30_reviews_come_back_as_a_whole_and_once(here: Here) -> None:
    """Agreeing and differing rows, rows left out; the same file again adds nothing."""
    drawn(here)
    rows = exported(here)
    assert len(rows) == 7
    for row in rows[:3]:
        row.update(verdict="correct", reason="=looked", reviewer="Bob")
    rows[3].update(verdict="partial", reason="half")
    filled(here, [*rows, rows[0]])
    done = here("review", "import", "in.csv", "--actor", "Ada", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert (found["recorded"], found["known"]) == (4, 1)
    assert found["agree"] + found["disagree"] == 4
    assert found["events"] == 4 + found["disagree"]
    again = here("review", "import", "in.csv", "--actor", "Ada")
    assert "0 of 5 reviews, 5 were there already" in again.out
    assert "judged  4 of 7" in here("review", "status", RUN).out
    assert len(exported_again(here)) == 3
    assert ledger(here.folder, "verify").code == 0
    told = here("review", "import", "in.csv", "--actor", "Cora")
    assert "recorded  1 of 5 reviews" in told.out
    assert f"ledger disagreements {RUN}" in told.out


def exported_again(here: Here) -> list[dict[str, str]]:
    """Export once more, into a file that is not there."""
    (here.folder / "out.csv").unlink()
    return exported(here)


def test_gold_and_formulas_are_safe_in_a_file(here: Here) -> None:
    """Only its owner may read it; gold is in it only where asked for; no cell is a formula."""
    drawn(here)
    assert "gold" not in exported(here)[0]
    (here.folder / "out.csv").unlink()
    rows = exported(here, "--include-gold")
    assert all(ANSWERS[row["trial"].partition("#")[0]] in row["gold"] for row in rows)
    assert (here.folder / "out.csv").stat().st_mode & 0o077 == 0
    done = here("review", "export", RUN, "-o", "out.csv")
    assert (done.code, "File exists" in done.err) == (7, True)


def test_an_answer_that_is_a_formula_is_no_formula(here: Here) -> None:
    """And a question whose name begins like one is found again."""
    log = Log(here.folder, entry="live")
    log.trial("q1", answer="=1+1")
    log.trial("q2", answer=None)
    log.trial("q3", answer=None, outcome=None)
    log.act("answer.submitted", "q3", abstained=True)
    log.act("trial.finished", "q3", outcome="abstained")
    for name in ("q1", "q2", "q3"):
        log.judge(name, "judged", "correct", reasoning="as gold")
    log.ledger.close()
    here("review", "draw", log.run, "judged")
    rows = {row["trial"]: row for row in exported(here)}
    assert rows["q1#1@s1"]["answer"] == "'=1+1"
    for name in ("q2", "q3"):
        assert rows[f"{name}#1@s1"]["answer"] == "(no answer was submitted)"


def test_texts_that_are_not_here_say_so(here: Here) -> None:
    """Redacted answers, and gold without its file."""
    path = drawn(here)
    name = here("review", "next", RUN, "--json").json["trial"]
    with Ledger.open(path) as book:
        blob = next(
            stored.event.data.answer.blob
            for stored in book.events(run=RUN)
            if isinstance(stored.event.data, AnswerSubmitted)
            and str(stored.event.trial) == name
            and stored.event.data.answer is not None
        )
    done = here("redact", blob, "--actor", "Ada", "--reason", "asked to", "--authority", "Ada")
    assert done.code == 0, done.err
    assert here("review", "next", RUN, "--json").json["answer"] == "(redacted)"
    gold_path(path).unlink()
    sheet = here("review", "next", RUN, "--include-gold", "--json").json
    assert sheet["gold"] == "(in the gold file, which is not here)"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"run,trial\n", "in.csv:1: no such column, expected metric"),
        (b"\xff\xfe", "no CSV in UTF-8"),
        (b'run,trial,metric,verdict,reason\n"a"b,c,d,e,f\n', "no CSV in UTF-8"),
        (b"", "no such column, expected run"),
    ],
)
def test_files_of_another_form_are_refused(here: Here, content: bytes, said: str) -> None:
    """With what was expected."""
    drawn(here)
    (here.folder / "in.csv").write_bytes(content)
    done = here("review", "import", "in.csv", "--actor", "Ada")
    assert done.code == 2
    assert said in done.err


def test_all_faults_of_all_rows_come_at_once(here: Here) -> None:
    """With line and column; nothing is written."""
    drawn(here)
    head = "run,trial,metric,verdict,score,reviewer,reason\n"
    lines = [
        f"{RUN},q4#1,judged,good,,Ada,why\n",
        f"{RUN},q4,judged,correct,,Ada,why\n",
        "none,q4#1,judged,correct,,Ada,why\n",
        f"{RUN},q4#1,judged,correct,1,,\n",
        f"{RUN},q5#1,judged,correct,,Ada,why\n",
        f"{RUN},zz#1,judged,correct,,Ada,why\n",
    ]
    (here.folder / "in.csv").write_text(head + "".join(lines))
    with Ledger.open(here.folder / LEDGER) as book:
        size = book.store.size()
    done = here("review", "import", "in.csv")
    assert done.code == 2
    places = [line.partition(": ")[0] for line in done.err.splitlines() if "in.csv:" in line]
    assert [place.split(":")[1] for place in places] == ["2", "3", "4", "5", "5", "5", "7"]
    assert "verdict, score: not one opinion" in done.err
    with Ledger.open(here.folder / LEDGER) as book:
        assert book.store.size() == size


def test_a_guard_refuses_a_whole_file(here: Here) -> None:
    """A reason of spaces is found by the guard, with its line."""
    drawn(here)
    text = f"run,trial,metric,verdict,reason\n{RUN},q4#1,judged,correct,\u00a0\n"
    (here.folder / "in.csv").write_text(text)
    done = here("review", "import", "in.csv", "--actor", "Ada")
    assert done.code == 2
    assert "says why" in done.err


@pytest.mark.parametrize("command", [("next",), ("export", "-o", "x.csv")])
def test_c29_nothing_drawn_and_nothing_left(here: Here, command: tuple[str, ...]) -> None:
    """The hint names the command that helps; an unknown metric is one."""
    full(here.folder)
    name, *rest = command
    assert here("review", name, RUN, *rest).code == 6
    assert here("review", name, RUN, "gone", *rest).code == 6
    here("review", "draw", RUN, "judged")
    for question in ANSWERS:
        options = ("--verdict", "correct", "--actor", "Ada", "--reason", "looked")
        here("review", "record", f"{RUN}/{question}#1", "judged", *options)
    done = here("review", name, RUN, "judged", *rest)
    assert (done.code, "is left to review" in done.err) == (6, True)
