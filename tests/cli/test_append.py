"""`ledger append`: lines in, acknowledgements out; what is refused leaves no trace."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_cases import (
    LEDGER,
    RUN,
    Here,
    environment,
    event,
    head,
    ledger,
    lines,
    opening,
    ready,
    start,
    write,
)
from event_cases import KEYS, PRINTABLE, RATIONALS
from ledger_cases import tools
from trial_cli import lines as reading
from trial_ledger.book import Ledger
from trial_ledger.exact import parse_rational
from trial_ledger.identifiers import MAX_INTEGER

NOTE = {"kind": "note.added", "data": {"about": "x", "text": "y"}}
BAD_NOTE = {"kind": "note.added", "data": {"about": "x"}}
END = event("trial.finished", "q1", outcome="answered")


def test_every_line_is_acknowledged_in_order(tmp_path: Path, here: Here) -> None:
    """An acknowledgement has seq, id, hash and status, one line for each event."""
    path = ready(tmp_path)
    found = here("append", write(tmp_path, [opening(), start("q1"), END]))
    assert found.code == 0
    assert [(row["seq"], row["status"]) for row in found.rows] == [
        (5, "appended"),
        (6, "appended"),
        (7, "appended"),
    ]
    with Ledger.open(path, tools=tools(tmp_path, pins=False)) as book:
        for row in found.rows:
            assert book.read(row["seq"]).hash == row["hash"]
            assert book.read(row["seq"]).event.id == row["id"]


def test_standard_input_is_read_by_default(tmp_path: Path) -> None:
    """Without a file, or for `-`, the events come from standard input, which faults name."""
    ready(tmp_path)
    assert ledger(tmp_path, "append", stdin=lines(NOTE)).rows[0]["seq"] == 5
    assert ledger(tmp_path, "append", "-", stdin=lines(NOTE)).rows[0]["seq"] == 6
    refused = ledger(tmp_path, "append", stdin=lines(BAD_NOTE))
    assert "standard input:1: data.text: missing, expected a text" in refused.err
    assert "Error: standard input not acceptable: 1 fault, nothing written" in refused.err


def test_blank_lines_line_ends_and_marks(tmp_path: Path, here: Here) -> None:
    """Blank lines count as lines only; CRLF, a mark at the start and a missing end are nothing."""
    ready(tmp_path)
    one = json.dumps(NOTE).encode()
    content = b"\xef\xbb\xbf" + one + b"\r\n\r\n   \n" + one + b"\r\n\n" + one
    (tmp_path / "in.jsonl").write_bytes(content)
    assert len(here("append", "in.jsonl").rows) == 3
    (tmp_path / "in.jsonl").write_bytes(b"\n\r\n" + json.dumps(BAD_NOTE).encode())
    assert "in.jsonl:3: data.text: missing" in here("append", "in.jsonl").err
    (tmp_path / "in.jsonl").write_bytes(b"\n" + content)
    assert "in.jsonl:2: not JSON" in here("append", "in.jsonl").err


def test_nothing_is_nothing(tmp_path: Path, here: Here) -> None:
    """An empty input appends nothing and is no fault."""
    before = head(ready(tmp_path))
    assert here("append", write(tmp_path, [])) == (0, "", "")
    assert head(tmp_path / LEDGER) == before


def test_all_faults_of_a_file_are_reported_at_once(tmp_path: Path, here: Here) -> None:
    """Faults of form and refusals stand together with their lines; echoes are only counted."""
    before = head(ready(tmp_path))
    records = [
        opening(),
        b'{"kind": "note.added", "data": {"x": 0.5}}',
        start("q1", inptu="x"),
        event("answer.submitted", "q1", answer="a"),
        {**start("q2"), "seq": 9},
        event("trial.finished", "q2", outcome="answered"),
        start("q99"),
        event("trial.finished", "q99", outcome="answered"),
        event("answer.submitted", "q3", answer="a"),
        start("q4"),
        event("trial.finished", "q4", outcome="answered"),
        ["not", "an", "event"],
    ]
    result = here("append", write(tmp_path, records))
    assert result.code == 2
    money = '"1/2" as a score, "0.5" as money'
    hints = "ledger help append; planned are 10 questions x 1; append its trial.started first"
    assert result.err.splitlines() == [
        f"in.jsonl:2: data.x: bare decimal, found 0.5, expected text: {money}",
        "in.jsonl:3: data.inptu: unknown field, expected perhaps input",
        "in.jsonl:5: seq: only the ledger fills this field, expected to be left out",
        "in.jsonl:7: trial: slot q99#1 is not planned in run r1 (C16)",
        "in.jsonl:9: trial: trial q3#1@s1 of run r1 was never started",
        "in.jsonl:12: not an event, found an array, expected an object",
        "Error: in.jsonl not acceptable: 6 faults, nothing written",
        f"hint: {hints}; not checked: 3 later events of the same trials",
    ]
    assert head(tmp_path / LEDGER) == before


def test_a_long_decimal_is_refused_without_its_value(tmp_path: Path, here: Here) -> None:
    """A decimal too long to be shown whole is not turned into a rational either."""
    ready(tmp_path)
    result = here("append", write(tmp_path, [b'{"data": {"x": 0.' + b"1" * 90 + b"}}"]))
    assert result.code == 2
    assert "in.jsonl:1: data.x: bare decimal, found 0.1111" in result.err
    assert "as a score" not in result.err


def test_a_run_that_could_not_be_opened_echoes_nothing(tmp_path: Path, here: Here) -> None:
    """Where the opening is at fault, nothing else of that run is reported."""
    ready(tmp_path)
    result = here("append", write(tmp_path, [opening(entry="lively"), start("q1"), END]))
    assert result.err.splitlines()[0].startswith("in.jsonl:1: data.entry: not acceptable")
    assert "in.jsonl:2" not in result.err
    assert "not checked: 2 later events" in result.err


def test_many_faults_are_counted(tmp_path: Path, here: Here) -> None:
    """Fifty faults are listed, the rest is counted."""
    ready(tmp_path)
    result = here("append", write(tmp_path, [BAD_NOTE] * 60))
    assert len(result.err.splitlines()) == 53
    assert "… and 10 more\nError: in.jsonl not acceptable: 60 faults" in result.err


def test_a_dry_run_checks_everything_and_writes_nothing(tmp_path: Path, here: Here) -> None:
    """`--dry-run` says what an append would, and leaves the file as it is."""
    path = ready(tmp_path)
    before = path.read_bytes()
    good = here("append", "--dry-run", write(tmp_path, [opening(), start("q1")]))
    assert (good.code, good.out) == (0, "")
    assert good.err == "2 events acceptable, nothing written\n"
    bad = here("append", "--dry-run", write(tmp_path, [opening(), END]))
    assert bad.code == 3
    assert "was never started" in bad.err
    assert path.read_bytes() == before
    both = here("append", "--dry-run", "--stream", "in.jsonl")
    assert both.code == 2
    assert "--stream and --dry-run exclude each other" in both.err


def test_derived_ids_make_an_input_repeatable(tmp_path: Path, here: Here) -> None:
    """The same file again adds nothing; identical lines of it stay as many events as they are."""
    ready(tmp_path)
    own = {**NOTE, "id": "ab" * 16}
    name = write(tmp_path, [NOTE, opening(), NOTE, NOTE, own])
    first = here("append", "--derive-ids", name)
    assert [row["status"] for row in first.rows] == ["appended"] * 5
    assert len({row["id"] for row in first.rows}) == 5
    assert first.rows[-1]["id"] == own["id"]
    again = here("append", "--derive-ids", name)
    assert [row["seq"] for row in again.rows] == [row["seq"] for row in first.rows]
    assert {row["status"] for row in again.rows} == {"exists"}
    more = here("append", "--derive-ids", write(tmp_path, [NOTE] * 4))
    assert [row["status"] for row in more.rows] == ["exists"] * 3 + ["appended"]


def test_a_stream_answers_each_line_and_goes_on(tmp_path: Path) -> None:
    """`--stream` acknowledges what is good, answers what is not, and tells it by its exit code."""
    path = ready(tmp_path)
    records = [opening(), b"{", END, b"", start("q1"), {**NOTE, "id": "ab" * 16}, start("q1")]
    result = ledger(tmp_path, "append", "--stream", stdin=lines(*records))
    assert result.code == 2
    assert [row["status"] for row in result.rows] == [
        "appended", "refused", "refused", "appended", "appended", "refused",
    ]  # fmt: skip
    syntax, order, twice = (row for row in result.rows if row["status"] == "refused")
    assert (syntax["line"], syntax["exit_code"], syntax["clause"]) == (2, 2, None)
    assert syntax["problems"][0].startswith("standard input:2: not JSON")
    assert (order["line"], order["exit_code"], order["hint"]) == (
        3,
        3,
        "append its trial.started first",
    )
    assert (twice["line"], twice["clause"]) == (7, "C16")
    assert twice["problems"] == ["standard input:7: trial: trial q1#1@s1 of run r1 exists (C16)"]
    assert head(path).size == 7


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([opening(), start("q1")], 0),
        ([opening(), END], 3),
        ([start("q1")], 3),
        ([b"{"], 2),
        ([start("q1"), b"{"], 2),
    ],
)
def test_a_stream_ends_as_the_whole_would(
    records: list[object], code: int, tmp_path: Path, here: Here
) -> None:
    """The exit code of a stream is that of the same lines appended all or none."""
    ready(tmp_path)
    name = write(tmp_path, records)
    assert here("append", "--dry-run", name).code == code
    assert here("append", "--stream", name).code == code


def test_a_stream_is_acknowledged_while_it_goes_on(tmp_path: Path) -> None:
    """What has arrived is durable and acknowledged before more comes, however it is cut."""
    path = ready(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-m", "trial_cli", "append", "--stream"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        whole = lines(opening(), NOTE)
        for part in (whole[:30], whole[30:-10]):
            process.stdin.write(part)
            process.stdin.flush()
        assert json.loads(process.stdout.readline())["seq"] == 5
        assert head(path).size == 5
        process.stdin.write(whole[-10:-1])
        process.stdin.close()
        assert json.loads(process.stdout.readline())["seq"] == 6
    assert process.returncode == 0


def test_an_interrupt_ends_with_130(tmp_path: Path, here: Here) -> None:
    """Ctrl-C while waiting for input ends quietly; what was acknowledged stays."""
    path = ready(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-m", "trial_cli", "append", "--stream"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(lines(NOTE))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["status"] == "appended"
        os.kill(process.pid, signal.SIGINT)
        said = process.stderr.read().decode()
    assert process.returncode == 130
    assert said.strip() == "Interrupted."
    assert head(path).size == 5
    assert here("verify").code == 0


def test_who_goes_away_is_no_error(tmp_path: Path) -> None:
    """A reader that closes the pipe ends the command quietly, from a file and from a stream."""
    ready(tmp_path)
    name = write(tmp_path, [NOTE] * 2000)
    for arguments in (["append", name], ["append", "--stream", name], ["log", "--format", "jsonl"]):
        command = " ".join([sys.executable, "-m", "trial_cli", *arguments])
        done = subprocess.run(
            ["bash", "-c", f"{command} | head -1"],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        assert done.stdout.count(b"\n") == 1


LONG_LINE = 70 * 1024 * 1024
MEASURED = (
    "import atexit, re, sys;"
    " atexit.register(lambda: sys.stderr.write('peak ' + re.search("
    "r'VmHWM:\\s+([0-9]+)', open('/proc/self/status').read())[1] + '\\n'))"
)
"""Says at the end how much memory a process had at most, in KiB.

Not what `getrusage` says: that counts the memory of the process that this one was forked from.
"""


def peak(tmp_path: Path, content: bytes, *arguments: str) -> int:
    """Return the peak memory of an append in MiB, asserting that the long line is refused."""
    (tmp_path / "in.jsonl").write_bytes(content)
    result = ledger(tmp_path, "append", *arguments, "in.jsonl", before=MEASURED)
    assert result.code == 2
    said = result.err + result.out
    assert "in.jsonl:2: line too long, found over 67108864 bytes, expected one event a line" in said
    assert "in.jsonl:3" not in said
    return int(result.err.rpartition("peak ")[2]) // 1024


def test_a_line_over_the_limit_is_refused_and_passed_over(tmp_path: Path, here: Here) -> None:
    """A line of 70 MB is one fault; its rest is no other line and takes no memory."""
    path = ready(tmp_path)
    before = head(path)
    long = b'{"kind": "' + b"x" * LONG_LINE + b'"}'
    content = b"\n".join((json.dumps(NOTE).encode(), long, json.dumps(NOTE).encode(), b""))
    assert peak(tmp_path, content) < 4 * 64 + 64
    assert head(path) == before
    assert peak(tmp_path, content, "--stream") < 4 * 64 + 64
    assert head(path).size == before.size + 2
    assert here("verify").code == 0


def test_a_long_last_line_is_cut_as_well(
    tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for a line without an end, and a line of just that length passes."""
    ready(tmp_path)
    note = json.dumps(NOTE).encode()
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", len(note))
    monkeypatch.setattr(reading, "READ_BYTES", 16)
    (tmp_path / "in.jsonl").write_bytes(note + b"\n" + note)
    assert here("append", "in.jsonl").code == 0
    assert here("append", "--stream", "in.jsonl").code == 0
    for content in (note + b" x", note + b" x\n", b"x" * 1000):
        (tmp_path / "in.jsonl").write_bytes(content)
        for arguments in (("append",), ("append", "--stream")):
            result = here(*arguments, "in.jsonl")
            assert result.code == 2
            assert "line too long" in result.err + result.out


DATA = st.fixed_dictionaries(
    {
        "call": st.text(PRINTABLE, min_size=1, max_size=20),
        "duration_us": st.none() | st.integers(0, MAX_INTEGER),
        "usage": st.none()
        | st.fixed_dictionaries(
            {
                "input_tokens": st.none() | st.integers(0, MAX_INTEGER),
                "units": st.dictionaries(KEYS, st.integers(0, MAX_INTEGER), max_size=3),
            }
        ),
        "served": st.none() | st.fixed_dictionaries({"model": st.text(PRINTABLE, min_size=1)}),
    }
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=DATA, text=st.text(st.characters(exclude_categories=["Cs"])), score=RATIONALS)
def test_what_was_appended_is_what_the_log_shows(
    data: dict[str, object], text: str, score: str, tmp_path: Path, here: Here
) -> None:
    """Whatever is appended, the log shows the same data, and its text is there byte by byte."""
    shutil.rmtree(tmp_path / "state", ignore_errors=True)  # the pin of the example before
    path = ready(tmp_path)
    records = [
        opening(),
        start("q1"),
        event("call.started", "q1", call=data["call"], purpose="model", endpoint="model"),
        event("call.finished", "q1", status="ok", response=text, **data),
        END,
        event(
            "judgment.recorded", "q1", judgment="j", metric="exact", by="code",
            grader={"name": "g"}, score=score, parts=[{"name": "p"}],
        ),
    ]  # fmt: skip
    inside = 0 <= parse_rational(score) <= 1
    result = here("append", write(tmp_path, records if inside else records[:-1]))
    assert result.code == 0, result.err
    rows = here("log", RUN, "--format", "jsonl").rows
    finished = rows[3]["data"]
    assert finished["call"] == data["call"]
    assert finished["duration_us"] == data["duration_us"]
    for name in ("usage", "served"):
        given_value = data[name]
        assert (finished[name] is None) == (given_value is None)
        if isinstance(given_value, dict):
            assert {field: finished[name][field] for field in given_value} == given_value
    if inside:
        assert rows[5]["data"]["score"] == score
    with Ledger.open(path, tools=tools(tmp_path, pins=False)) as book:
        reference = book.read(rows[3]["seq"]).event.data.response  # type: ignore[union-attr]
        assert reference is not None
        assert book.blob(reference) == text.encode()


def test_a_slow_pipe_keeps_the_lock_from_nobody(tmp_path: Path) -> None:
    """While `append -` waits for its input, another writer appends at once."""
    path = ready(tmp_path)
    before = head(path).size
    with subprocess.Popen(
        [sys.executable, "-m", "trial_cli", "append", "-"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as slow:
        assert slow.stdin is not None
        slow.stdin.write(json.dumps(NOTE).encode() + b"\n")
        slow.stdin.flush()
        # A held lock would end this with exit code 7 after ten seconds.
        other = ledger(tmp_path, "append", "-", stdin=json.dumps(NOTE).encode())
        assert slow.poll() is None, "it still waits for the end of its input"
        slow.stdin.close()
        assert slow.wait() == 0
    assert (other.code, head(path).size) == (0, before + 2)
