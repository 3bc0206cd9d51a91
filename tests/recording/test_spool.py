"""Events that the ledger cannot take wait in a file, and come in later."""

import errno
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_cases import ledger as command
from ledger_cases import tools
from recorder_cases import RUN, SECRET, kinds, only, told, words
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.errors import LedgerError, StorageError
from trial_ledger.events import Actor, AnswerSubmitted, CallFinished, CallStarted, RunClosed
from trial_ledger.recording.journal import Journal
from trial_ledger.recording.spool import Spool, write_behind
from trial_ledger.scrubbing import Scrubber
from trial_ledger.submission import NewText, Submission

Results = list[Acknowledgement | LedgerError]
HARNESS = Actor(role="harness", name="x", version="1")


def failing(book: Ledger, monkeypatch: pytest.MonkeyPatch, *, writes: bool) -> None:
    """Let every append fail from now on, though one may have been written."""
    real = book.append_group
    state = {"writes": writes}

    def append_group(entries: Iterable[Entry]) -> Results:
        if state.pop("writes", False):
            real(entries)
        message = "the disk is full"
        raise StorageError(message)

    monkeypatch.setattr(book, "append_group", append_group)


def spools(folder: Path) -> list[Path]:
    """Return the spool files of a folder."""
    return sorted(folder.glob("*.spool"))


@pytest.mark.parametrize("writes", [False, True])
def test_no_trial_is_lost_because_of_the_ledger(
    book: Ledger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    writes: bool,
) -> None:
    """What a full disk refused is in the spool, taken in whole, once, also where it got in."""
    with book.run("local", name=RUN) as run, run.trial("q1") as trial:
        failing(book, monkeypatch, writes=writes)
        with trial.call("search", endpoint="search", request=f"api_key={SECRET}") as call:
            (spool,) = spools(tmp_path)
            assert b"call.started" in spool.read_bytes(), "the intent is durable first"
            call.respond(f"found {SECRET}", media="text/html")
        trial.answer("Samarkand")
    assert f"{RUN}: the disk is full; events go to {spool}" in capsys.readouterr().err
    assert kinds(book) == ["run.opened", "trial.started"] + ["call.started"] * writes
    assert SECRET.encode() not in spool.read_bytes()
    assert spool.stat().st_mode & 0o777 == 0o600
    book.close()
    taken = command(tmp_path, "append", spool.name)
    assert taken.code == 0
    assert taken.rows[0]["status"] == ("exists" if writes else "appended")
    with Ledger.open(book.store.path, tools=book.tools) as later:
        assert kinds(later)[2:] == [
            "call.started", "call.finished", "answer.submitted", "trial.finished", "run.closed",
        ]  # fmt: skip
        ended = only(later, CallFinished)
        assert words(later, ended.response) == "found [secret SEARCH_KEY]"
        assert ended.response is not None
        assert ended.response.media == "text/html"
        assert len(told(later, CallStarted)) == len(told(later, AnswerSubmitted)) == 1
        assert only(later, RunClosed).status == "complete"


def test_nothing_goes_on_where_neither_takes_it(
    book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that can be announced nowhere is not made."""
    run = book.run("local", name=RUN)
    run.__enter__()
    run.journal.spool.folders = [tmp_path / "nowhere"]
    failing(book, monkeypatch, writes=False)
    with pytest.raises(StorageError, match="neither the ledger nor a spool"):
        run.trial("q1").__enter__()
    assert run.open_trials == {}


def test_the_next_folder_takes_what_the_first_cannot(tmp_path: Path) -> None:
    """The spool lies in the first folder that takes it, and stays there."""
    spool = Spool([tmp_path / "nowhere", tmp_path], "x.spool", Scrubber({}, frozenset()))
    spool.keep([Submission(kind="note.added", data={"about": "a"})])
    (tmp_path / "nowhere").mkdir()
    spool.keep([Submission(kind="note.added", data={"about": "b"})])
    assert spool.path == tmp_path / "x.spool"
    assert spool.count == 2
    assert [json.loads(line)["data"] for line in spool.path.read_bytes().splitlines()] == [
        {"about": "a"},
        {"about": "b"},
    ]


def test_half_a_line_is_never_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk fills in the middle of a line, the file is as it was."""
    path = tmp_path / "x.spool"
    write_behind(path, b"first\n")
    real = os.write

    def write(descriptor: int, content: bytes) -> int:
        if len(content) < 7:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, bytes(content)[:3])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match="No space"):
        write_behind(path, b"the second\n")
    assert path.read_bytes() == b"first\n"


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=40)
@given(st.lists(st.tuples(TEXTS, st.binary(max_size=8)), max_size=5))
def test_a_line_says_what_was_submitted(texts: list[tuple[str, bytes]]) -> None:
    """A line read as JSON has every text that UTF-8 can hold, exactly."""
    spool = Spool([], "x", Scrubber({}, frozenset()))
    for text, content in texts:
        data = {
            "about": text,
            "text": NewText(content=text.encode(), media="a/b"),
            "other": NewText(content=content),
        }
        line = spool.line(Submission(kind="note.added", data=data, actor=HARNESS))
        assert line.count(b"\n") == 1
        assert json.loads(line) == {
            "kind": "note.added",
            "data": {
                "about": text,
                "text": {"text": text, "media": "a/b"},
                "other": {"text": content.decode("utf-8", "replace"), "media": "text/plain"},
            },
            "actor": {"role": "harness", "name": "x", "version": "1"},
        }


class FullDisk:
    """Stands for a ledger that takes so many commits, then none, then again some."""

    def __init__(self, folder: Path, takes: list[bool]) -> None:
        self.tools = tools(folder, pins=False)
        self.takes = takes
        self.taken: list[str] = []

    def append_group(self, entries: list[Entry]) -> list[None]:
        """Take what is given, or fail."""
        if self.takes and not self.takes.pop(0):
            message = "the disk is full"
            raise StorageError(message)
        for entry in entries:
            assert isinstance(entry.submission, Submission)
            self.taken.append(str(entry.submission.data["about"]))
        return [None for _ in entries]


@settings(max_examples=40)
@given(
    groups=st.lists(st.lists(st.integers(0, 2), max_size=3), max_size=6),
    takes=st.lists(st.booleans(), max_size=6),
)
def test_ledger_and_spool_together_keep_the_order(
    groups: list[list[int]], takes: list[bool]
) -> None:
    """What the ledger has, then what the spool has, is everything in the order it was pushed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk = FullDisk(folder, list(takes))
        spool = Spool([folder], "x.spool", Scrubber({}, frozenset()))
        journal = Journal(cast("Ledger", disk), RUN, spool, lambda _: None)
        pushed: list[str] = []
        for sizes in groups:
            written = None
            for size in sizes:
                names = [f"n{len(pushed) + place}" for place in range(size)]
                pushed += names
                written = journal.push(
                    [
                        journal.submission("note.added", {"about": one}, None, HARNESS)
                        for one in names
                    ]
                )
            if written is not None:
                journal.settle([written])
        kept = [] if spool.path is None else spool.path.read_bytes().splitlines()
        assert disk.taken + [json.loads(line)["data"]["about"] for line in kept] == pushed
        assert spool.count == len(kept)
