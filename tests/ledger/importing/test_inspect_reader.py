"""Opening logs of both shapes, whole and crashed, chunked and hostile."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspect_cases import Archive, Logs, header, sample
from trial_ledger.errors import InvalidInputError, NotFoundError, UnsupportedFormatError
from trial_ledger.importing import inspect_reader
from trial_ledger.importing.inspect_reader import InspectLog, Limits, open_inspect_log

CHUNKED = "samples/q1_epoch_1"


def encoded(value: object) -> bytes:
    """Return a value as JSON, NaN as the literal that Inspect writes."""
    return json.dumps(value).encode()


def opened(logs: Logs, archive: Archive) -> InspectLog:
    """Return the log that an archive holds."""
    return open_inspect_log(logs.archived(archive))


def refusal(log: InspectLog) -> str:
    """Return why the samples of a log are refused."""
    with pytest.raises(InvalidInputError) as caught:
        list(log.samples())
    return caught.value.problems[0].message


def with_samples(archive: Archive, *samples: dict[str, Any]) -> Archive:
    """Return the archive with a header and these samples."""
    archive.add("header.json", encoded(header()))
    for one in samples:
        archive.add(f"samples/{one['id']}_epoch_{one['epoch']}.json", encoded(one))
    return archive


def test_both_shapes_give_the_same_samples(logs: Logs, archive: Archive) -> None:
    """The shape is told by the content, whatever the file is called."""
    samples = [sample(1), sample(2)]
    zipped = open_inspect_log(logs.archived(with_samples(archive, *samples), name="a.json"))
    plain = open_inspect_log(logs.json(samples, name="b.eval"))
    assert (zipped.suffix, plain.suffix) == (".eval", ".json")
    assert list(zipped.samples()) == list(plain.samples())
    assert [record.path for record in plain.samples()] == ["samples/q1/1/s1", "samples/q2/1/s1"]
    assert zipped.header.spec == plain.header.spec


def test_a_nan_literal_in_a_member_is_read(logs: Logs, archive: Archive) -> None:
    """Inspect writes NaN for a score without a value."""
    scores = {"match": {"value": float("nan")}}
    record = next(opened(logs, with_samples(archive, sample(1, scores=scores))).samples())
    assert str(record.content["scores"]) == "{'match': {'value': Decimal('NaN')}}"


def test_a_crashed_run_is_read_from_its_journal(logs: Logs, archive: Archive) -> None:
    """Without a header the start, the summaries and the changes of the journal speak."""
    start = header(status=...)
    archive.add("_journal/start.json", encoded({key: start[key] for key in ("version", "eval")}))
    archive.add("_journal/config_updates/2.json", encoded({"changes": [2]}))
    archive.add("_journal/config_updates/1.json", encoded({"changes": [1]}))
    archive.add("_journal/summaries/10.json", encoded([{"id": "q2", "epoch": 1}, {"id": "q3"}]))
    archive.add("_journal/summaries/2.json", encoded([{"id": 1, "epoch": 1}, {"epoch": 1}, 7]))
    archive.add("samples/q1_epoch_1.json", encoded(sample(1)))
    log = opened(logs, archive)
    assert (log.header.status, log.header.crashed) == ("started", True)
    assert log.header.summaries == [("1", 1), ("q2", 1)]
    assert [update["changes"] for update in log.header.config_updates] == [[1], [2]]
    assert [record.question for record in log.samples()] == ["q1"]


def test_summaries_of_a_whole_log_are_read_from_one_member(logs: Logs, archive: Archive) -> None:
    """The journal's copies are not read twice."""
    with_samples(archive).add("summaries.json", encoded([{"id": "q1", "epoch": 2}]))
    archive.add("_journal/summaries/1.json", encoded([{"id": "q9", "epoch": 1}]))
    archive.add("reductions.json", b"[]")
    archive.add("surprise.bin", b"\x00")
    header_read = opened(logs, archive).header
    assert header_read.summaries == [("q1", 2)]
    assert header_read.has_reductions
    assert header_read.foreign_members == ["surprise.bin"]


@pytest.mark.parametrize(
    "content",
    [b"[]", b"{}", b'{"version":2,"eval":{"model":"m"}}', b'{"eval":{"task":"t"}}'],
)
def test_json_that_is_no_log_is_refused_with_a_hint(logs: Logs, content: bytes) -> None:
    """A log has a version and an evaluation with a task."""
    path = logs.folder / "other.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError) as caught:
        open_inspect_log(path)
    assert caught.value.problems[0].message == "not an Inspect log"
    assert "inspect eval" in str(caught.value.hint)


def test_a_zip_that_is_no_log_is_refused(logs: Logs, archive: Archive) -> None:
    """A ZIP file without header and journal, or with a list as its header, is something else."""
    archive.add("word/document.xml", b"<x/>")
    with pytest.raises(InvalidInputError, match="not acceptable"):
        opened(logs, archive)
    other = Archive()
    other.add("header.json", b"[]")
    with pytest.raises(InvalidInputError, match="not acceptable"):
        opened(logs, other)


@pytest.mark.parametrize("version", [1, 4, "2", None])
def test_an_unknown_version_is_refused_as_such(logs: Logs, version: object) -> None:
    """Only versions 2 and 3 are known."""
    with pytest.raises(UnsupportedFormatError) as caught:
        open_inspect_log(logs.json([], version=version))
    assert caught.value.problems[0].expected == "2 or 3"


def test_a_missing_an_unreadable_and_an_oversize_file_are_refused(logs: Logs) -> None:
    """Each has its own error."""
    with pytest.raises(NotFoundError, match="no such file"):
        open_inspect_log(logs.folder / "nothing.eval")
    with pytest.raises(InvalidInputError) as caught:
        open_inspect_log(logs.folder)
    assert caught.value.problems[0].message.startswith("cannot be read")
    with pytest.raises(InvalidInputError) as caught:
        open_inspect_log(logs.json([sample()]), limits=Limits(source_bytes=10))
    assert caught.value.problems[0].message == "too large"


def test_two_members_of_one_name_are_refused(logs: Logs, archive: Archive) -> None:
    """A second header could say anything."""
    with_samples(archive).add("header.json", encoded(header()))
    with pytest.raises(InvalidInputError) as caught:
        opened(logs, archive)
    assert caught.value.problems[0].message == "two members of one name"


@pytest.mark.parametrize("uuid", [..., "uuid-1-1"])
def test_a_duplicate_sample_is_refused(logs: Logs, archive: Archive, uuid: object) -> None:
    """Two records without uuids that differ are one sample twice."""
    log = opened(logs, with_samples(archive, sample(1, uuid=uuid), sample(1, uuid=uuid)))
    assert refusal(log) == "sample 'q1' epoch 1 is there twice"


def test_a_requeued_sample_is_a_second_session(logs: Logs, archive: Archive) -> None:
    """Two records with different uuids are two tries at one slot."""
    log = opened(logs, with_samples(archive, sample(1), sample(1, uuid="other")))
    assert [record.session for record in log.samples()] == ["s1", "s2"]


def test_a_number_and_a_text_may_not_be_the_same_id(logs: Logs) -> None:
    """`1` and `"1"` would be one question."""
    log = open_inspect_log(logs.json([sample(1, id=1), sample(2, id="1", epoch=2)]))
    assert refusal(log) == "a number and a text are the same question id"


@pytest.mark.parametrize("value", [7, {"id": "q1"}, {"id": "q1", "epoch": 0}])
def test_what_is_no_sample_is_refused(logs: Logs, value: Any) -> None:  # noqa: ANN401 - JSON
    """A sample is an object with an epoch from 1."""
    assert refusal(open_inspect_log(logs.json([value]))) == "not a sample"


def chunked(archive: Archive, **parts: object) -> Archive:
    """Return an archive with one chunked sample, its parts replaced."""
    archive.add("header.json", encoded(header(version=3)))
    shell = {key: value for key, value in sample(1).items() if key not in {"events", "messages"}}
    members = {
        "sample": {**shell, "input": "attachment://0"},
        "metadata": {"kept": True},
        "skeleton": {},
        "messages/0": [{"content": "m0"}],
        "messages/1": [{"content": "m1"}],
        "events/0": [{"event": "model", "input_refs": [[0, 2]]}],
        "events/stats": {},
        "attachments/0": ["the long input"],
        "calls/0": [],
        **{name.replace("_", "/"): value for name, value in parts.items()},
    }
    for name, value in reversed(members.items()):
        if value is not ...:
            archive.add(f"{CHUNKED}/{name}.json", encoded(value))
    return archive


def test_a_chunked_sample_of_version_3_is_put_together(logs: Logs, archive: Archive) -> None:
    """Its sequences lie in members of their own, in any order of the directory."""
    log = opened(logs, chunked(archive))
    record = next(log.samples())
    assert record.content["input"] == "the long input"
    assert record.content["metadata"] == {"kept": True}
    events: Any = record.content["events"]
    assert events[0]["input"] == [{"content": "m0"}, {"content": "m1"}]
    assert log.header.foreign_members == []


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("sample", ..., "a chunked sample without its shell"),
        ("sample", [], "a chunked sample without its shell"),
        ("messages_0", ..., "a chunk is missing or no list"),
        ("events_0", {}, "a chunk is missing or no list"),
    ],
)
def test_an_incomplete_chunked_sample_is_refused(
    logs: Logs, archive: Archive, part: str, value: object, message: str
) -> None:
    """A gap in a sequence would move every reference after it."""
    assert refusal(opened(logs, chunked(archive, **{part: value}))) == message


def test_a_chunked_sample_is_bounded_as_a_whole(logs: Logs, archive: Archive) -> None:
    """Many chunks of allowed size may not add up to more than one member may hold."""
    path: Path = logs.archived(chunked(archive, attachments_0=["a" * 400] * 2))
    largest = max(member.size for member in opened(logs, archive).by_name.values())
    log = open_inspect_log(path, limits=Limits(member_bytes=largest))
    assert refusal(log) == "a chunked sample is too large"


def test_a_truncated_log_is_refused(logs: Logs, archive: Archive) -> None:
    """Half a `.eval` and half a `.json` are not imported as far as they go."""
    path = logs.archived(with_samples(archive, sample(1)))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InvalidInputError) as caught:
        open_inspect_log(path)
    assert caught.value.problems[0].message == "not a whole ZIP file"
    path = logs.json([sample()])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InvalidInputError) as caught:
        open_inspect_log(path)
    assert caught.value.problems[0].message == "not JSON"


def test_a_document_stores_reductions_in_either_place(logs: Logs) -> None:
    """Newer logs keep them beside the results, older ones inside."""
    assert open_inspect_log(logs.json([], reductions=[{}])).header.has_reductions
    old = open_inspect_log(logs.json([], results={"sample_reductions": [{}]}))
    assert old.header.has_reductions
    assert not open_inspect_log(logs.json([])).header.has_reductions


def test_samples_of_a_small_log_are_read_once(
    logs: Logs, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both passes see the same records, kept or read anew; a large log is read twice."""
    log = opened(logs, with_samples(archive, sample(1), sample(2)))
    first = list(log.samples())
    assert [id(record) for record in log.samples()] == [id(record) for record in first]
    monkeypatch.setattr(inspect_reader, "KEPT_BYTES", log.unpacked - 1)
    large = InspectLog(log.source, limits=log.limits)
    again = list(large.samples())
    assert large.kept is None
    assert again == list(large.samples()) == first
