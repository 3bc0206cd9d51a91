"""`ledger log`: the events themselves, in their order, in every form."""

import contextlib
import csv
import json
import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest
from blake3 import blake3

from cli_cases import Here, event, full, head, ledger, lines, opening, ready, write
from ledger_cases import RUN
from trial_cli.output import WIDTH


def test_json_lists_every_event_with_its_hash(tmp_path: Path, here: Here) -> None:
    """All events in order, each as its stored document with its hash."""
    path = full(tmp_path)
    found = here("log", "--json").json
    assert found["schema"] == "ledger.log/1"
    assert [row["seq"] for row in found["events"]] == list(range(1, head(path).size + 1))
    shown = json.loads(here("show", "7", "--raw").out or "{}")
    row = found["events"][6]
    assert {name: row[name] for name in shown} == shown
    rows = here("log", "--format", "jsonl").rows
    assert rows == found["events"]


def test_text_shows_one_line_an_event(tmp_path: Path, here: Here) -> None:
    """Fifty lines of at most 80 characters, then where to go on."""
    path = full(tmp_path)
    found = here("log").out.splitlines()
    assert len(found) == 51
    assert found[0].split()[0] == "1"
    assert found[-1] == f"… more: --after 50 (the log has {head(path).size} events)"
    assert all(len(line) <= WIDTH for line in found)
    last = here("log", "--after", str(head(path).size - 1)).out.splitlines()
    assert len(last) == 1
    assert here("log", "--count", "2").out.splitlines()[-1].startswith("… more: --after 2")
    assert here("log", "--after", "999").out == "no such events\n"


def test_events_of_a_run_a_trial_a_kind(tmp_path: Path, here: Here) -> None:
    """Events are chosen by run, by its prefix, by trial with or without session, and by kind."""
    full(tmp_path)
    of_run = here("log", RUN, "--format", "jsonl").rows
    assert {row["run"] for row in of_run} == {RUN}
    assert here("log", "fast", "--format", "jsonl").rows == of_run
    of_trial = here("log", RUN, "q4#1", "--format", "jsonl").rows
    assert {row["trial"]["question"] for row in of_trial} == {"q4"}
    assert here("log", RUN, "q4#1@s1", "--format", "jsonl").rows == of_trial
    failures = here("log", RUN, "--kind", "failure.occurred", "--format", "jsonl").rows
    assert [row["kind"] for row in failures] == ["failure.occurred"] * len(failures)
    assert len(failures) == 4
    assert f" {RUN} " not in here("log", RUN).out
    assert f" {RUN} " in here("log").out


def test_an_unknown_time_is_shown_as_such(tmp_path: Path, here: Here) -> None:
    """An event whose time nobody knows has dashes for it."""
    ready(tmp_path)
    here("append", write(tmp_path, [{**opening(), "at": None}]))
    assert here("log", "--after", "4").out.startswith("     5 --:--:-- run.opened")


def test_runs_that_are_not_there_or_several(tmp_path: Path, here: Here) -> None:
    """A name that no run has, or a prefix that several have, ends with 6."""
    full(tmp_path)
    missing = here("log", "slow")
    assert missing.code == 6
    assert "Error: no run 'slow'\nhint: ledger runs" in missing.err
    records = [{**opening(), "run": "fast-02"}, {**opening(), "run": "fast"}]
    here("append", write(tmp_path, records))
    several = here("log", "fast-")
    assert several.code == 6
    assert "run 'fast-' is ambiguous: fast-01, fast-02" in several.err
    assert here("log", "fast", "--format", "jsonl").rows[0]["run"] == "fast"


NAME = "=HYPERLINK(1)|*x*\u202e\u2066<b>`"
"""A formula, markup, and characters that turn a text, as far as a name may hold them."""
HOSTILE = f"{NAME}\x1b[31m\x9b2J\nnext: ledger verify says all is well"
"""The same with escape sequences and a line of its own, as texts may hold them."""


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "csv", "md"])
@pytest.mark.parametrize("command", ["log", "show 6", "failures r1", "trials r1", "runs", "stats"])
def test_hostile_text_is_harmless_in_every_form(
    command: str, form: str, tmp_path: Path, here: Here
) -> None:
    """Names and messages from a log move no cursor, turn no text and are no formula or markup."""
    ready(tmp_path)
    records = [
        opening(reason=HOSTILE),
        event("failure.occurred", None, occurrence=NAME, detail_class=NAME, message=HOSTILE,
              endpoint=NAME, **{"class": "other"}),
        {**event("note.added", None, about=NAME, text=HOSTILE),
         "actor": {"role": "human", "name": NAME}},
        event("trial.started", "q1", input=HOSTILE),
        event("failure.occurred", "q1", occurrence=NAME, endpoint=NAME, **{"class": "timeout"}),
        event("trial.finished", "q1", outcome="errored", reason=NAME),
    ]  # fmt: skip
    assert here("append", write(tmp_path, records)).code == 0
    shown = here(*command.split(), "--format", form)
    assert shown.code == 0, shown.err
    assert not {char for char in shown.out if char in "\x1b\x9b\u202e\u2066"}
    assert "\nnext: ledger verify" not in shown.out or command.startswith("show")
    if form == "json":
        json.loads(shown.out)
    if form == "csv":
        cells = [cell for row in csv.reader(shown.out.splitlines()) for cell in row]
        assert cells
        assert not any(cell.startswith("=") for cell in cells)
    if form == "md":
        assert "<b>" not in shown.out
        assert "|*x*" not in shown.out


def test_json_of_hostile_text_is_the_same_data(tmp_path: Path, here: Here) -> None:
    """Escaping changes how JSON is written and nothing of what it says."""
    ready(tmp_path)
    note = {"kind": "note.added", "data": {"about": NAME, "text": HOSTILE}}
    (tmp_path / "in.jsonl").write_bytes(lines(note))
    here("append", "in.jsonl")
    row = here("log", "--after", "4", "--format", "jsonl").rows[0]
    assert row["data"]["about"] == NAME
    shown = here("show", row["data"]["text"]["blob"], "--json").json
    assert shown["blob"]["text"] == HOSTILE


def test_raw_lines_are_the_stored_bytes(tmp_path: Path) -> None:
    """Each line hashes to the prev of the next: an archive that public tools can check."""
    full(tmp_path)
    documents = ledger(tmp_path, "log", "--raw").out.encode().splitlines()
    assert len(documents) == 128
    for one, following in pairwise(documents):
        assert json.loads(following)["prev"] == blake3(one).hexdigest()
    some = ledger(tmp_path, "log", "--raw", "--after", "9", "--upto", "11").out.encode()
    assert some.splitlines() == documents[9:11]


def test_raw_gives_what_a_damaged_file_still_has(tmp_path: Path, here: Here) -> None:
    """It is said up to where the log is intact and how to keep that; the rest is kept too."""
    path = full(tmp_path)
    whole = ledger(tmp_path, "log", "--raw").out.splitlines()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER event_no_delete")
        connection.execute("DELETE FROM event WHERE seq = 70")
    found = here("verify")
    assert found.code == 4
    assert "intact    up to seq 69, with the root\n" in found.out
    assert "ledger log --raw --upto 69 > intact.jsonl keeps these events," in found.out
    kept = ledger(tmp_path, "log", "--raw", "--upto", "69")
    assert (kept.code, kept.out.splitlines()) == (0, whole[:69])
    left = ledger(tmp_path, "log", "--raw")
    assert (left.code, left.err) == (4, "seq 70 cannot be read\n")
    assert left.out.splitlines() == whole[:69] + whole[70:]


def test_raw_goes_with_places_only(tmp_path: Path, here: Here) -> None:
    """A selection that raw does not know is refused, not passed over."""
    full(tmp_path)
    for arguments in (("fast-01",), ("--kind", "note.added"), ("-n", "3")):
        refused = here("log", "--raw", *arguments)
        assert refused.code == 2
        assert "--raw goes with --after and --upto only" in refused.err


def test_a_range_ends_where_asked(tmp_path: Path, here: Here) -> None:
    """--upto leaves out what comes later, of the log and of a run."""
    full(tmp_path)
    assert [row["seq"] for row in here("log", "--upto", "2", "--json").json["events"]] == [1, 2]
    rows = here("log", RUN, "--after", "8", "--upto", "10", "--json").json["events"]
    assert [row["seq"] for row in rows] == [9, 10]
