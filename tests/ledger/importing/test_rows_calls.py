"""Failures, calls, spend and times of rows."""

from pathlib import Path

import pytest

from rows_cases import (
    JSONL,
    VERDICT,
    appended,
    data,
    events,
    faults,
    labels,
    lines,
    losses,
    only,
    outcomes,
    text_of,
)
from trial_ledger.importing import rows_calls
from trial_ledger.verification import verify


def test_c23_words_of_failures_are_classed_and_kept(tmp_path: Path) -> None:
    """A word has the class of the map, of its own name or of an exception; else it is other."""
    text = (
        JSONL
        + 'answer = "a"\n'
        + (
            '[[failures]]\nvalue = "e"\nnone = ["unset"]\nmessage = "m"\ndetail = "d"\n'
            'classes.agent_down = {class = "agent_error", fault = "agent"}\n'
            '[[failures]]\nwhen = {path = "a", is = [""]}\nclass = "other"\n'
            '[[failures]]\nwhen = {path = "a", is = ["?"]}\n'
            '[[failures]]\nvalue = "f"\nclass = "other"\n'
        )
    )
    words = ["unset", "agent_down", "rate_limited", "ConnectionError: no route", "odd", "x" * 70]
    rows_of = [
        {"id": n, "a": "b", "e": word, "m": None, "d": "trace", "f": None}
        for n, word in enumerate(words)
    ]
    rows_of += [
        {"id": 90, "a": "", "e": None, "m": None, "d": None, "f": None},
        {"id": 91, "a": "?", "e": None, "m": None, "d": None, "f": "y" * 70},
    ]
    run = only(tmp_path, lines(*rows_of), text)
    found = data(run, "failure.occurred")
    assert [(one["class"], one.get("detail_class")) for one in found] == [
        ("agent_error", "agent_down"),
        ("rate_limited", "rate_limited"),
        ("connect", "ConnectionError: no route"),
        ("other", "odd"),
        ("other", "error"),
        ("other", "stated by the map"),
        ("other", "stated by the map"),
        ("other", "stated by the map"),
    ]
    assert [one["impact"] for one in found] == ["unknown"] * 5 + ["trial_failed"] + ["unknown"] * 2
    assert (found[0]["fault"], text_of(found[0]["message"])) == ("agent", "agent_down")
    assert (
        "Failures of no class that the map or their words name, kept as other: odd, error,"
        " stated by the map." in losses(run)
    )
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []


CALLS = (
    JSONL
    + VERDICT
    + (
        '[calls]\nrows = "steps"\nonly = {path = "role", not = ["note"]}\n'
        'purpose = {path = "role", map = '
        '{tool = "tool", llm = "model", user = "none", j = "judge"}}\n'
        'name = "name"\nrequest = "in"\nresponse = "out"\n'
        'attempt = {path = "try", optional = true}\n'
        'started = {path = "t0", unit = "s", optional = true}\n'
        'ended = {path = "t1", unit = "s", optional = true}\n'
        'duration = {path = "s", optional = true}\ninput_tokens = {path = "tok", optional = true}\n'
        '[[calls.failures]]\nwhen = {path = "out", starts = "Error"}\nclass = "tool_error"\n'
        'fault = "environment"\nmessage = "out"\n'
    )
)


def step(role: str, name: str, out: str | None, **others: object) -> dict[str, object]:
    """Return a step of a trial."""
    return {"role": role, "name": name, "in": "q", "out": out, **others}


def test_c23_a_failed_call_is_recovered_by_a_later_one_of_its_name(tmp_path: Path) -> None:
    """Both stay: the failure with its call, and the success that made it good."""
    steps = [
        step("user", "u", "hello"),
        step("note", "n", "thought"),
        step("tool", "find", "Error: busy", s=0.5, **{"try": 1}),
        step("tool", "other", "Error: gone"),
        step("llm", "m", "", t0=1, t1=3, tok=7),
        step("tool", "find", "found", t0=5),
        step("j", "judge", "Error: no", t0=5, t1=4),
    ]
    run = only(tmp_path, lines({"id": 1, "ok": True, "steps": steps}), CALLS)
    finished = data(run, "call.finished")
    assert [one["status"] for one in finished] == ["failed", "failed", "empty", "ok", "failed"]
    assert [one.get("duration_us") for one in finished] == [500_000, None, 2_000_000, None, 0]
    assert finished[2]["usage"] == {"input_tokens": 7}
    assert [one["occurrence"] for one in data(run, "failure.recovered")] == ["calls/2"]
    assert [one["call"] for one in data(run, "failure.occurred")] == [
        "calls/2",
        "calls/3",
        "calls/6",
    ]
    assert data(run, "failure.occurred")[2]["message"].class_ == "gold"
    assert data(run, "call.started")[4]["request"].class_ == "gold"
    assert not any(sentence.startswith("Calls are not shown") for sentence in losses(run))
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []


def test_calls_of_another_form_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown purpose, something that is no call, and too many of them are faults."""
    strange = [step("tool", "a", "b"), 1, step("tool", "a", "b")]
    (fault,) = faults(tmp_path, lines({"id": 1, "ok": True, "steps": strange}), CALLS)
    assert fault == "rows.txt:1: steps[1]: not an object, found 1, expected a row of its own"
    monkeypatch.setattr(rows_calls, "MAX_MEMBERS", 1)
    (fault,) = faults(tmp_path, lines({"id": 1, "ok": True, "steps": [strange[0]] * 2}), CALLS)
    assert fault == "rows.txt:1: too many members, expected <= 1"
    text = CALLS.replace('{path = "role", map', '{path = "role", optional = true, map')
    odd = lines({"id": 1, "ok": True, "steps": [step("robot", "a", "b")]})
    assert "found 'robot', expected tool" in faults(tmp_path, odd, text)[0]
    start = CALLS.index("purpose = ")
    plain = CALLS[:start] + 'purpose = "role"' + CALLS[CALLS.index("}}", start) + 2 :]
    assert "expected one of model, search, tool, judge, none" in faults(tmp_path, odd, plain)[0]
    none = lines({"id": 1, "ok": True, "steps": [{**step("tool", "a", "b"), "role": None}]})
    assert data(only(tmp_path, none, plain), "call.started") == []


ROWS_ARE_CALLS = JSONL + (
    'rows_are = "calls"\nrepetition = {path = "try", from = 0}\nanswer = "a"\n'
    'citations = "c"\n' + VERDICT + '[[failures]]\nvalue = "te"\n[calls]\npurpose = "search"\n'
    'name = "tool"\n[[calls.failures]]\nvalue = {path = "e", unknown = [""]}\n'
    'class = "server_error"\n'
)


def test_rows_of_calls_are_joined_to_trials(tmp_path: Path) -> None:
    """Rows of one key are the calls of one trial, in the order of the file."""

    def row(question: int, **others: object) -> dict[str, object]:
        base = {"id": question, "try": 0, "tool": "s", "a": None, "c": None, "ok": None, "e": ""}
        return {**base, "te": None, **others}

    rows_of = lines(
        row(1, e="503"), row(2), row(1, a="x", c=["u"], ok=True), row(1, te="odd", e="504"),
        row(1, te="odd"),
    )  # fmt: skip
    run = only(tmp_path, rows_of, ROWS_ARE_CALLS)
    assert [str(event.trial) for event in events(run, "trial.started")] == ["1#1@s1", "2#1@s1"]
    assert len(data(run, "call.started")) == 5
    assert outcomes(run) == ["answered", "unknown"]
    assert text_of(data(run, "answer.submitted")[0]["citations"]) == '["u"]'
    classes = [one["class"] for one in data(run, "failure.occurred")]
    assert classes == ["server_error", "server_error", "other"]
    assert len(data(run, "failure.recovered")) == 2
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []
    (fault,) = faults(tmp_path, lines(row(1, a="x"), row(1, a="y")), ROWS_ARE_CALLS)
    assert fault == (
        "rows.txt:2: rows of one trial differ in answer: line 1 says something else,"
        " found 'y', expected 'x'"
    )


def test_what_rows_of_calls_know_of_their_trial_is_put_together(tmp_path: Path) -> None:
    """Each row adds what it knows: model, second metric, cost; what contradicts is told."""
    start, rest = ROWS_ARE_CALLS.split("[[failures]]", 1)
    text = start.replace("citations", 'system = {model = "m"}\ncitations') + (
        '[metrics.other]\nverdict = "v"\n[spend.all]\ncost = "usd"\ncurrency = "USD"\n'
        "[[failures]]" + rest
    )
    empty = {"id": 1, "try": 0, "tool": "s", "a": None, "c": None, "e": "", "te": None}
    nothing = {**empty, "ok": None, "v": None, "usd": None, "m": None}
    rows_of = lines(
        {**nothing, "ok": True}, {**nothing, "m": "big", "usd": "0.5"},
        {**nothing, "ok": True, "v": False}, {**nothing, "usd": "0.50", "a": "x"},
    )  # fmt: skip
    run = only(tmp_path, rows_of, text)
    assert labels(run) == ["correct", "incorrect"]
    assert run.manifest.models["main"].name == "big"
    assert [one["cost"]["amount"] for one in data(run, "call.finished")[4:]] == ["0.5"]
    assert outcomes(run) == ["answered"]
    bad = lines({**nothing, "ok": True, "usd": 1}, {**nothing, "ok": False, "usd": 2, "m": "b"})
    assert faults(tmp_path, bad, text) == [
        "rows.txt:2: rows of one trial differ in metrics.correct: line 1 says something else",
        "rows.txt:2: rows of one trial differ in spend.all: line 1 says something else",
    ]
    unknown = only(tmp_path, lines(nothing, {**nothing, "ok": True, "m": "b"}), text)
    assert data(unknown, "call.finished")[-1].get("cost") is None


def test_c18_c19_spend_stands_in_its_account_and_unknown_is_unknown(tmp_path: Path) -> None:
    """Each account is one call; what the source does not know is no 0."""
    text = (
        JSONL
        + VERDICT
        + (
            '[spend.agent]\nmodel = "m"\ninput_tokens = {path = "i", unknown = [0]}\n'
            'output_tokens = "o"\nunits = {requests = "n"}\ncost = "c"\ncurrency = "USD"\n'
            '[spend.searches]\npurpose = "search"\ncost = "sc"\ncurrency = "USD"\n'
        )
    )
    rows_of = lines(
        {"id": 1, "ok": 1, "m": "big", "i": 0, "o": 3, "n": 2, "c": "0.25", "sc": 0},
        {"id": 2, "ok": 1, "m": None, "i": 5, "o": None, "n": None, "c": None, "sc": None},
    )
    run = only(tmp_path, rows_of, text)
    assert [(one["call"], one["purpose"]) for one in data(run, "call.started")][:2] == [
        ("spend/agent", "model"),
        ("spend/searches", "search"),
    ]
    found = [(one.get("usage"), one.get("cost")) for one in data(run, "call.finished")]
    usd = {"currency": "USD", "basis": "reported"}
    assert found == [
        ({"output_tokens": 3, "units": {"requests": 2}}, {"amount": "0.25", **usd}),
        (None, {"amount": "0", **usd}),
        ({"input_tokens": 5}, None),
        (None, None),
    ]
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []


@pytest.mark.parametrize(
    ("row", "end", "length"),
    [
        ({"t0": 10, "t1": 12, "s": None}, "1970-01-01T00:00:12.000000Z", 2_000_000),
        ({"t0": 10, "t1": None, "s": 3}, "1970-01-01T00:00:13.000000Z", 3_000_000),
        ({"t0": 10, "t1": 12, "s": 1}, "1970-01-01T00:00:12.000000Z", 1_000_000),
        ({"t0": None, "t1": 12, "s": None}, "1970-01-01T00:00:12.000000Z", None),
        ({"t0": 10, "t1": None, "s": None}, None, None),
    ],
)
def test_end_and_length_of_a_trial_follow_from_what_is_known(
    tmp_path: Path, row: dict[str, object], end: str | None, length: int | None
) -> None:
    """Two of start, end and length give the third; a measured length counts."""
    text = JSONL + (
        'started = {path = "t0", unit = "s"}\nended = {path = "t1", unit = "s"}\n'
        'duration = "s"\n' + VERDICT
    )
    run = only(tmp_path, lines({"id": 1, "ok": True, **row}), text)
    (finished,) = events(run, "trial.finished")
    assert (finished.at, finished.data.get("duration_us")) == (end, length)
    assert events(run, "run.closed")[0].at == end


def test_a_trial_does_not_end_before_it_starts(tmp_path: Path) -> None:
    """Reversed times are a fault of their row."""
    text = (
        JSONL + 'started = {path = "a", unit = "s"}\nended = {path = "b", unit = "s"}\n' + VERDICT
    )
    (fault,) = faults(tmp_path, lines({"id": 1, "ok": True, "a": 5, "b": 4}), text)
    assert fault == "rows.txt:1: ended: ends before it starts"
