"""Small Inspect logs and ZIP files, built for one test each."""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard

from trial_ledger.book import Ledger
from trial_ledger.importing.inspect import import_inspect
from trial_ledger.importing.source import ImportedRun
from trial_ledger.submission import NewText, Submission

STORED, DEFLATED, ZSTANDARD = 0, 8, 93


def compressed(content: bytes, method: int) -> bytes:
    """Return the content as a member's data; Zstandard as several frames, as Inspect writes it."""
    if method == DEFLATED:
        stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return stream.compress(content) + stream.flush()
    if method == ZSTANDARD:
        half = len(content) // 2
        return zstandard.compress(content[:half]) + zstandard.compress(content[half:])
    return content


class Archive:
    """A ZIP file written byte by byte, so that every field of it can be made to lie."""

    def __init__(self) -> None:
        self.local = b""
        self.directory = b""
        self.count = 0

    def add(
        self,
        name: str,
        content: bytes,
        *,
        method: int = ZSTANDARD,
        data: bytes | None = None,
        **lies: Any,  # noqa: ANN401 - size, checksum, flags, local_name, offset
    ) -> None:
        """Add one member; every keyword replaces what would be true."""
        packed = compressed(content, method) if data is None else data
        raw = name.encode()
        inner = lies.get("local_name", name).encode()
        common = struct.pack(
            "<HHHHIII",
            lies.get("flags", 0x800),
            method,
            0,
            0,
            lies.get("checksum", zlib.crc32(content)),
            len(packed),
            lies.get("size", len(content)),
        )
        start = lies.get("offset", len(self.local))
        self.local += b"PK\x03\x04" + struct.pack("<H", 20) + common
        self.local += struct.pack("<HH", len(inner), 0) + inner + packed
        self.directory += b"PK\x01\x02" + struct.pack("<HH", 20, 20) + common
        self.directory += struct.pack("<HHHHHII", len(raw), 0, 0, 0, 0, 0, start) + raw
        self.count += 1

    def content(self) -> bytes:
        """Return the whole file."""
        sizes = struct.pack("<HHII", self.count, self.count, len(self.directory), len(self.local))
        return self.local + self.directory + b"PK\x05\x06" + bytes(4) + sizes + bytes(2)


Value = Mapping[str, Any]


def sample(number: int = 1, *, epoch: int = 1, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a sample that ended well, one field after the other replaced."""
    base: dict[str, Any] = {
        "id": f"q{number}",
        "epoch": epoch,
        "input": f"question {number}?",
        "target": "right",
        "messages": [],
        "output": {"choices": [{"stop_reason": "stop", "message": {"content": "right"}}]},
        "scores": {"match": {"value": "C", "answer": "right", "explanation": "it is"}},
        "events": [],
        "uuid": f"uuid-{number}-{epoch}",
    }
    return {key: value for key, value in {**base, **fields}.items() if value is not ...}


def header(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return the header of a log of two questions; `eval` and `config` are merged into it."""
    spec: dict[str, Any] = {
        "eval_id": "eval-1",
        "run_id": "run-1",
        "task_id": "task-1",
        "created": "2026-01-01T00:00:00+00:00",
        "task": "demo",
        "dataset": {"name": "demo", "samples": 100, "sample_ids": ["q1", "q2"]},
        "model": "maker/model",
        "model_generate_config": {},
        "config": {"epochs": 1, **fields.pop("config", {})},
        "packages": {"inspect_ai": "0.3.1"},
        "scorers": [{"name": "match", "options": {}}],
    }
    spec.update(fields.pop("eval", {}))
    base: dict[str, Any] = {
        "version": 2,
        "status": "success",
        "eval": {key: value for key, value in spec.items() if value is not ...},
        "plan": {"steps": [{"solver": "generate", "params": {}}]},
        "stats": {
            "started_at": "2026-01-01T00:00:00+00:00",
            "completed_at": "2026-01-01T00:01:00+00:00",
        },
    }
    return {**base, **fields}


class Logs:
    """Writes logs and reads them back."""

    sample = staticmethod(sample)
    header = staticmethod(header)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def json(self, samples: Sequence[Value], *, name: str = "log.json", **fields: Any) -> Path:  # noqa: ANN401 - JSON
        """Write a `.json` log."""
        path = self.folder / name
        path.write_text(json.dumps({**header(**fields), "samples": list(samples)}))
        return path

    def archived(self, archive: Archive, *, name: str = "log.eval") -> Path:
        """Write a ZIP file as a `.eval` log."""
        path = self.folder / name
        path.write_bytes(archive.content())
        return path

    def run(self, *samples: Value, **fields: Any) -> ImportedRun:  # noqa: ANN401 - JSON
        """Return the run of a `.json` log with these samples."""
        return import_inspect(self.json(samples, **fields))

    def events(self, *samples: Value, **fields: Any) -> list[Submission]:  # noqa: ANN401 - JSON
        """Return the events of a `.json` log, after the guards of a ledger accepted them all."""
        run = self.run(*samples, **fields)
        self.appended(run)
        return list(run.submissions("0" * 64))

    def appended(self, run: ImportedRun) -> Ledger:
        """Append a run to a new ledger, with every guard looking."""
        from trial_ledger.importing.appending import append_run  # noqa: PLC0415 - heavy

        number = len(list(self.folder.glob("*.ledger")))
        ledger = Ledger.create(self.folder / f"{number}.ledger")
        append_run(ledger, run)
        return ledger


def of_kind(events: Sequence[Submission], kind: str) -> list[Submission]:
    """Return the events of one kind, in order."""
    return [event for event in events if event.kind == kind]


def text_of(event: Submission, field: str) -> str:
    """Return a text of an event."""
    text = event.data[field]
    assert isinstance(text, NewText)
    return text.content.decode()


def fields_of(event: Submission, *names: str) -> tuple[object, ...]:
    """Return fields of an event's data, None for those that are not there."""
    return tuple(event.data.get(name) for name in names)
