"""Rows as runs: keys, plans, systems, sources, and importing twice."""

import gzip
import json
from pathlib import Path

import pytest

from rows_cases import (
    CSV,
    JSON,
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
    runs,
    text_of,
)
from trial_ledger import events as kinds
from trial_ledger.importing import rows, rows_runs
from trial_ledger.importing.appending import RELATION, append_runs
from trial_ledger.verification import verify

TABLE = """\
id,question,answer,expected,ok,why,error,seconds,cost
q1,What is the capital of France?,Paris,Paris,yes,same,,1.5,0.0021
q2,Which river flows through Vienna?,Rhine,Danube,no,another river,,2.0,0
q3,Who wrote Faust?,Goethe,Goethe,,,,1.1,
q4,How many moons has Mars?,,2,,,TimeoutError: none,30,
"""
FULL = (
    CSV
    + 'name = "Capitals & more"\nphase = "final"\nquestion = "question"\nanswer = "answer"\n'
    + 'duration = "seconds"\ngold = {answer = "expected"}\nunknown = ["tool calls"]\n'
    + VERDICT
    + 'reasoning = "why"\n[spend.agent]\ncost = "cost"\ncurrency = "USD"\n'
    + '[[failures]]\nvalue = "error"\n'
)


def test_a_table_becomes_a_run_that_the_guards_accept(tmp_path: Path) -> None:
    """A plain table is appended whole, verifies, and says what it says and no more."""
    found = runs(tmp_path, TABLE, FULL)
    with appended(tmp_path, found) as ledger:
        assert verify(ledger).findings == []
        assert [stored.event.run for stored in ledger.events(run=found[0].name)]
    (run,) = found
    assert run.name.startswith("capitals-more-")
    assert outcomes(run) == ["answered", "answered", "answered", "errored"]
    assert labels(run) == ["correct", "incorrect"]
    assert [text_of(one["reasoning"]) for one in data(run, "judgment.recorded")] == [
        "same",
        "another river",
    ]
    assert [one["duration_us"] for one in data(run, "trial.finished")][:2] == [1_500_000, 2_000_000]
    assert run.dataset.reconstructed
    assert json.loads(run.dataset.gold["q2"])["gold"]["answer"] == "Danube"
    assert run.manifest.phase == "final"
    assert events(run, "run.opened")[0].data["entry"] == "imported"
    assert losses(run) == [
        "Not recorded by the source, as its map says: tool calls.",
        (
            "What was planned is not stated: planned are the questions and repetitions of the rows,"
            " 4 x 1."
        ),
        "Calls are not shown: what a trial consumed stands on one call for each account.",
        "Trials that the source does not judge, correct: 2 of 4.",
    ]


def test_importing_again_appends_nothing(tmp_path: Path) -> None:
    """The same bytes under the same map are the same events, whatever the files are called."""
    (run,) = runs(tmp_path, TABLE, FULL)
    with appended(tmp_path, [run]) as ledger:
        size = ledger.head().size
        (tmp_path / "rows.txt").rename(tmp_path / "other.csv")
        (tmp_path / "map.toml").write_text("# commented\n" + FULL)
        again = rows.read_rows(tmp_path / "other.csv", tmp_path / "map.toml")
        (came,) = append_runs(ledger, again)
        assert (came.run, came.count("appended")) == (run.name, 0)
        assert ledger.head().size == size


def test_another_map_is_another_run(tmp_path: Path) -> None:
    """What is read in another way does not change what was read before."""
    (first,) = runs(tmp_path, TABLE, FULL)
    (other,) = runs(tmp_path, TABLE, FULL.replace('"final"', '"pilot"'))
    assert first.name != other.name
    with appended(tmp_path, [first]) as ledger:
        append_runs(ledger, [other])
        assert {event.id for event in events(first)}.isdisjoint(event.id for event in events(other))


def test_runs_of_one_source_id_name_each_other(tmp_path: Path) -> None:
    """Two files of the same run value are related once both are imported."""
    text = JSONL + 'name = "n"\nrun = "batch"\n' + VERDICT
    (first,) = runs(tmp_path, lines({"id": 1, "batch": "b7", "ok": True}), text)
    (second,) = runs(tmp_path, lines({"id": 1, "batch": "b7", "ok": False}), text)
    assert first.source_keys == second.source_keys == ("rows:n/b7/agent-a",)
    with appended(tmp_path, [first]) as ledger:
        append_runs(ledger, [second])
        found = [stored.event.data for stored in ledger.events(run=second.name)]
        related = [one.how for one in found if isinstance(one, kinds.RunRelated)]
        assert related == [RELATION]


def test_the_source_and_the_map_are_kept(tmp_path: Path) -> None:
    """The bytes with both digests, the map's content, and the name of the run as the file's."""
    content = gzip.compress(TABLE.encode(), mtime=0)
    file, row_map = tmp_path / "results.csv.gz", tmp_path / "map.toml"
    file.write_bytes(content)
    row_map.write_text(FULL)
    (run,) = rows.read_rows(file, row_map)
    (imported,) = data(run, "source.imported")
    (digests,) = imported["files"]
    assert digests["name"] == f"{run.name}.csv.gz"
    assert (len(digests["blake3"]), len(digests["sha256"])) == (64, 64)
    assert imported["content"].class_ == "gold"
    assert imported["counts"]["planned_slots"] == 4
    (note,) = data(run, "note.added")
    assert json.loads(text_of(note["text"]))["name"] == "Capitals & more"


# Keys (C16).


def test_c16_a_trial_that_stands_twice_names_both_lines(tmp_path: Path) -> None:
    """Question, configuration, repetition and session are a key, and a key stands once."""
    found = faults(tmp_path, "id,ok\n1,yes\n2,no\n1,no\n", CSV + VERDICT)
    assert found == [
        (
            "rows.txt:4: the trial of line 2 again: question, configuration, repetition and session"
            " are the same (C16), found '1', expected another repetition or session, or"
            " repetition = {count = true}"
        )
    ]


def test_c16_repetitions_can_be_named_or_counted(tmp_path: Path) -> None:
    """Equal questions are repetitions where the map says so, from 0 or from 1."""
    rows_of = lines(*({"id": 1, "try": number, "ok": True} for number in range(3)))
    for rule in ('{path = "try", from = 0}', "{count = true}"):
        run = only(tmp_path, rows_of, JSONL + f"repetition = {rule}\n" + VERDICT)
        assert run.manifest.repetitions == 3
        assert [
            event.trial.repetition for event in events(run, "trial.started") if event.trial
        ] == [
            1,
            2,
            3,
        ]


def test_c16_sessions_are_trials_of_one_slot(tmp_path: Path) -> None:
    """Another session at the same slot is another trial; an empty one is the first."""
    rows_of = lines({"id": 1, "s": "", "ok": False}, {"id": 1, "s": "again", "ok": True})
    run = only(tmp_path, rows_of, JSONL + 'session = "s"\n' + VERDICT)
    assert [str(event.trial) for event in events(run, "trial.started")] == ["1#1@s1", "1#1@again"]
    counted = JSONL + 'session = "s"\nrepetition = {count = true}\n' + VERDICT
    assert only(tmp_path, rows_of, counted).manifest.repetitions == 1


def test_c16_ids_that_are_one_text_are_refused(tmp_path: Path) -> None:
    """1 and "1" are two ids in the source and would be one here; so are joined parts."""
    (fault,) = faults(
        tmp_path, lines({"id": 1, "r": 1, "ok": 1}, {"id": "1", "r": 2, "ok": 1}),
        JSONL + 'repetition = "r"\n' + VERDICT,
    )  # fmt: skip
    assert fault.startswith(
        "rows.txt:2: id: two question ids are one text, the other on line 1 (C1)"
    )
    text = JSONL.replace('id = "id"', 'id = ["a", "b"]') + "repetition = {count = true}\n" + VERDICT
    joined = lines({"a": "x/y", "b": "z", "ok": 1}, {"a": "x", "b": "y/z", "ok": 1})
    (fault,) = faults(tmp_path, joined, text)
    assert "two question ids are one text" in fault
    assert only(tmp_path, lines({"a": "x", "b": 2, "ok": 1}), text).manifest.questions == ("x/2",)


def test_a_question_without_an_id_is_known_by_its_hash(tmp_path: Path) -> None:
    """Equal texts are one question, whatever the file; a row without a question is a fault."""
    text = JSONL.replace('id = "id"', 'question = "q"') + VERDICT
    run = only(tmp_path, lines({"q": "Why?", "ok": True}), text)
    (name,) = run.manifest.questions or ()
    assert name.startswith("q-")
    assert len(name) == 14
    assert faults(tmp_path, lines({"q": " ", "ok": True}, {"q": "Why?", "ok": True}), text) == [
        "rows.txt:1: q: no value for question, expected a question, whose hash is the key"
    ]


def test_a_row_can_be_its_own_question(tmp_path: Path) -> None:
    """The number of the row keeps apart what nothing else does."""
    text = CSV.replace('id = "id"', 'id = ["id", {row = true}]') + VERDICT
    assert only(tmp_path, "id,ok\n7,yes\n7,no\n", text).manifest.questions == ("7/1", "7/2")


def test_what_contradicts_itself_about_a_question_is_told(tmp_path: Path) -> None:
    """One id has one text and one right answer; what a later row adds is taken over."""
    text = JSONL + (
        'question = {path = "q", optional = true}\nrepetition = {count = true}\n'
        'gold = {answer = {path = "g", optional = true}, '
        'alternatives = {path = "gs", optional = true}}\n' + VERDICT
    )
    found = faults(
        tmp_path,
        lines(
            {"id": 1, "q": "Why?", "g": "a", "ok": True},
            {"id": 1, "q": "How?", "g": "b", "ok": True},
        ),
        text,
    )
    assert found == [
        (
            "rows.txt:2: question: another question than on line 1 for one question id (C1),"
            " found 'How?', expected 'Why?'"
        ),
        (
            "rows.txt:2: gold: another gold than on line 1 for one question id (C1),"
            " found ['b'], expected ['a']"
        ),
    ]
    run = only(
        tmp_path,
        lines({"id": 1, "ok": True}, {"id": 1, "q": "Why?", "g": ["a", "b"], "gs": "c", "ok": 1}),
        text,
    )
    assert run.dataset.questions[0].question == "Why?"
    gold = json.loads(run.dataset.gold["1"])["gold"]
    assert (gold["answer"], gold["alternatives"]) == ("a", ["b", "c"])


def test_configurations_and_run_values_split_a_file(tmp_path: Path) -> None:
    """Each configuration and each value of `run` is a run with a name of its own."""
    text = 'format = "csv"\nconfiguration = "who"\nid = "id"\nname = "n"\nrun = "batch"\n' + VERDICT
    content = "id,who,batch,ok\n1,A b,x,yes\n1,a-b,x,no\n2,A b,x,no\n1,A b,y,yes\n"
    found = runs(tmp_path, content, text)
    assert len({run.name for run in found}) == 3
    assert [len(run.manifest.questions or ()) for run in found] == [2, 1, 1]
    with appended(tmp_path, found) as ledger:
        assert verify(ledger).findings == []
    assert faults(tmp_path, content.replace("1,a-b", "1,"), text) == [
        "rows.txt:3: who: no value for configuration, expected the name of the system under test"
    ]


def test_names_that_become_alike_stay_two_systems(tmp_path: Path) -> None:
    """What a name may not have is replaced, and the digest of the system keeps them apart."""
    text = 'format = "csv"\nconfiguration = "who"\nid = "id"\n' + VERDICT
    found = runs(tmp_path, "id,who,ok\n1,a@b,yes\n1,a-b,no\n", text)
    names = [run.manifest.configuration for run in found]
    assert len(set(names)) == len({run.name for run in found}) == 2
    assert all(name.startswith("a-b-") for name in names)


def test_too_many_runs_or_slots_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistaken column does not become a million runs, nor a million slots."""
    monkeypatch.setattr(rows, "MAX_RUNS", 2)
    text = 'format = "csv"\nconfiguration = "id"\nid = "id"\n' + VERDICT
    (fault,) = faults(tmp_path, "id,ok\n1,yes\n2,yes\n3,yes\n", text)
    assert fault == "rows.txt: too many runs in one file, found 3, expected <= 2"
    monkeypatch.setattr(rows_runs, "MAX_SLOTS", 5)
    (fault,) = faults(tmp_path, "id,ok,r\n1,yes,900\n", CSV + 'repetition = "r"\n' + VERDICT)
    assert fault == "rows.txt: too many planned slots, found 900, expected <= 5"


# The system under test (C9, C11).


def test_a_configuration_is_one_system(tmp_path: Path) -> None:
    """What is known of the system is part of its manifest, and the same in all rows."""
    text = JSONL + 'system = {model = "m", temperature = "t"}\n' + VERDICT
    run = only(tmp_path, lines({"id": 1, "m": "acme/large", "t": 0.5, "ok": True}), text)
    assert (run.manifest.models["main"].name, run.manifest.models["main"].endpoint) == (
        "acme/large",
        "acme",
    )
    assert run.manifest.agent is not None
    assert run.manifest.agent.options == {"temperature": "0.5"}
    assert run.manifest.configuration.startswith("agent-a-")
    rows_of = lines(
        {"id": 1, "m": "small", "t": None, "ok": True}, {"id": 2, "m": "big", "t": 1, "ok": True}
    )
    assert faults(tmp_path, rows_of, text) == [
        (
            "rows.txt:2: one configuration, two values of system.model (C9), found 'big',"
            " expected 'small', or a configuration of its own"
        )
    ]


def test_c11_what_may_be_a_credential_does_not_enter_a_manifest(tmp_path: Path) -> None:
    """A key or an address with a password in it is left out of the frozen document."""
    text = JSONL + 'system = {api_key = "k", url = "u", model = "m"}\n' + VERDICT
    row = {"id": 1, "k": "s3cr3t-value", "u": "https://me:pw@example.org", "m": "small", "ok": True}
    run = only(tmp_path, lines(row), text)
    assert run.manifest.agent is not None
    assert run.manifest.agent.options == {"api_key": None, "url": None}
    assert run.manifest.models["main"].endpoint == "provider"


def test_slots_without_a_row_are_undecided_unless_they_never_started(tmp_path: Path) -> None:
    """What is planned as far as anybody knows and has no row is lost, or not started if said so."""
    rows_of = lines({"id": 1, "r": 2, "ok": True}, {"id": 2, "r": 1, "ok": True})
    text = JSONL + 'repetition = "r"\n' + VERDICT
    run = only(tmp_path, rows_of, text)
    assert outcomes(run) == ["answered", "answered", "unknown", "unknown"]
    assert any(
        sentence == "Slots without a row: 2 (1#1, 2#2), undecided, unless the map says"
        ' planned.missing = "not_started".' for sentence in losses(run)
    )  # fmt: skip
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []
    text += '[planned]\nrepetitions = 3\nmissing = "not_started"\n'
    run = only(tmp_path, rows_of, text)
    assert (run.manifest.repetitions, outcomes(run)) == (3, ["answered", "answered"])
    assert any("never started, as the map says" in sentence for sentence in losses(run))
    (fault,) = faults(tmp_path, rows_of, text.replace("= 3", "= 1"))
    assert fault == "rows.txt: more repetitions than planned, found 2, expected 1"


def test_questions_can_be_planned_by_the_file_or_by_a_list_in_it(tmp_path: Path) -> None:
    """A configuration that skipped questions still owes them where the map says so."""
    document = {
        "ids": ["q1", "q2", "q3"],
        "rows": [
            {"id": "q1", "who": "a", "ok": True},
            {"id": "q2", "who": "a", "ok": True},
            {"id": "q1", "who": "b", "ok": True},
        ],
    }
    text = 'format = "json"\nrows = "rows"\nconfiguration = "who"\nid = "id"\n' + VERDICT
    for rule, expected in (
        ('"run"', [2, 1]),
        ('"file"', [2, 2]),
        ('{path = "$.ids"}', [3, 3]),
    ):
        found = runs(tmp_path, document, text + f"[planned]\nquestions = {rule}\n")
        assert [len(run.manifest.questions or ()) for run in found] == expected
        assert [len(data(run, "trial.started")) for run in found] == expected


def test_a_file_without_verdicts_is_all_unjudged(tmp_path: Path) -> None:
    """Answers alone make a run of which nothing was judged."""
    run = only(tmp_path, lines({"id": 1, "a": "x"}), JSONL + 'answer = "a"\ninput = "a"\n')
    assert list(run.rubric.metrics) == ["unscored"]
    assert data(run, "trial.started")[0]["fields"] == ["question"]
    assert "Calls are not shown, nor what they cost." in losses(run)


def test_columns_that_the_map_does_not_name_are_named(tmp_path: Path) -> None:
    """What stays in the source file alone is said, a long list shortened."""
    names = [f"c{number}" for number in range(25)]
    content = ",".join(["id", "ok", *names]) + "\n" + ",".join(["1", "yes", *["x"] * 25]) + "\n"
    (sentence,) = [
        one for one in losses(only(tmp_path, content, CSV + VERDICT)) if "Columns" in one
    ]
    assert sentence.endswith("c18, c19 and 5 more.")


def test_reported_numbers_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    """A number that a file does not report stands nowhere."""
    text = (
        JSON
        + 'rows = "rows"\n'
        + VERDICT
        + (
            '[[reported]]\nmetric = "correct"\nname = "n"\n'
            'value = {path = "$.mean", optional = true}\n'
        )
    )
    run = only(tmp_path, {"rows": [{"id": 1, "ok": True}]}, text)
    assert text_of(data(run, "source.imported")[0]["reported"]) == "[]"


def test_hostile_names_are_made_harmless(tmp_path: Path) -> None:
    """Control characters in ids, labels and names become a replacement, and stay different."""
    text = JSONL.replace('{const = "agent-a"}', '"who"') + 'session = "s"\n' + VERDICT
    row = {"id": "a\x1b[2J", "who": "w\x07@x", "s": "s\u2028", "ok": True}
    run = only(tmp_path, lines(row), text)
    shown = json.dumps([str(event.trial) for event in events(run)]) + run.manifest.configuration
    assert "\x1b" not in shown
    assert "@x" not in run.manifest.configuration
    with appended(tmp_path, [run]) as ledger:
        assert verify(ledger).findings == []
