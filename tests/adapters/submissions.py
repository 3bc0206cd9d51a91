"""What the adapters of real record sets share: documents, events in submission form, a main.

An adapter turns a source's files into documents for `ledger freeze` and events for `ledger append`.
It moves and names what the source says and computes nothing that the ledger computes; numbers of
the source are read as decimal text.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from blake3 import blake3

from document_cases import outcome_table

Table = dict[str, Any]

SPEND_UNKNOWN = "cost in money: not recorded, so unknown and not 0"


@dataclass
class Adapted:
    """Everything that a source's files become."""

    datasets: dict[str, list[Table]] = field(default_factory=dict)
    """Records of each dataset by `name@version`."""
    rubrics: list[Table] = field(default_factory=list)
    """Rubrics."""
    manifests: list[Table] = field(default_factory=list)
    """Manifests."""
    events: list[Table] = field(default_factory=list)
    """Events in submission form, in order."""

    def documents(self) -> Iterator[tuple[list[str], bytes]]:
        """Yield arguments of `ledger freeze`, less the file, and the bytes of the file."""
        for reference, records in self.datasets.items():
            name, _, version = reference.partition("@")
            yield ["dataset", "--name", name, "--version", version], lines(records)
        for kind, tables in (("rubric", self.rubrics), ("manifest", self.manifests)):
            for table in tables:
                yield [kind], json.dumps(table).encode()

    def open_run(self, name: str, table: Table, adapter: str) -> "Run":
        """Open a run under a manifest, which is kept unless it is there already.

        The event names the manifest by its number, as `#3`; whoever freezes it learns its hash.
        """
        if table not in self.manifests:
            self.manifests.append(table)
        run = Run(self, name, adapter)
        number = self.manifests.index(table)
        run.add("run.opened", manifest=f"#{number}", entry="imported")
        return run

    def numbered_events(self, references: Sequence[str]) -> Iterator[Table]:
        """Yield the events, manifests named by what `ledger freeze` called them, in order."""
        for event in self.events:
            if event["kind"] == "run.opened":
                number = int(event["data"]["manifest"].removeprefix("#"))
                data = {**event["data"], "manifest": references[number]}
                yield {**event, "data": data}
            else:
                yield event


def lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return records as JSON lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read_json(path: Path) -> Any:  # noqa: ANN401 - whatever the source says
    """Return a JSON document whose decimals are text, as the source wrote them."""
    return json.loads(path.read_bytes(), parse_float=str)


def read_json_lines(path: Path) -> list[Any]:
    """Return the records of JSON lines whose decimals are text."""
    return [json.loads(line, parse_float=str) for line in path.read_bytes().splitlines() if line]


def microseconds(seconds: str | int) -> int:
    """Return decimal seconds as whole microseconds, exactly."""
    whole, _, part = str(seconds).partition(".")
    assert len(part) <= 6
    return int(whole) * 10**6 + int(part.ljust(6, "0"))


def slug(*parts: object) -> str:
    """Return a name for a run, of lower-case words."""
    return re.sub(r"[^a-z0-9._-]+", "-", "-".join(map(str, parts)).lower()).strip("-")[:80]


def short_hash(text: str) -> str:
    """Return a question id made of its text."""
    return blake3(text.encode()).hexdigest()[:12]


def rubric(
    name: str, metrics: Mapping[str, Mapping[str, Any]], *, judge: str | None = None
) -> Table:
    """Return a reconstructed rubric with the usual outcome policy; the first metric is primary."""
    table: Table = {
        "name": name, "version": "1", "reconstructed": True, "primary": next(iter(metrics)),
        "metrics": dict(metrics), "outcomes": outcome_table(),
    }  # fmt: skip
    return table if judge is None else {**table, "judge": {"model": judge}}


def manifest(configuration: str, dataset: str, rubric_name: str, **fields: object) -> Table:
    """Return a reconstructed manifest of a system that another harness ran."""
    table: Table = {
        "configuration": configuration, "reconstructed": True, "dataset": dataset,
        "rubric": f"{rubric_name}@1", "repetitions": 1,
        "agent": {"kind": "external", "target": configuration},
    }  # fmt: skip
    return {**table, **fields}


class Run:
    """Makes the events of one imported run."""

    def __init__(self, adapted: Adapted, name: str, adapter: str) -> None:
        self.adapted = adapted
        self.name = name
        self.actor = {"role": "importer", "name": adapter, "version": "1"}

    def add(self, kind: str, trial: str | None = None, /, **data: object) -> None:
        """Append an event; a field's underscore at the end is for Python only."""
        self.add_as(self.actor, kind, trial, **data)

    def add_as(self, who: Table, kind: str, trial: str | None = None, /, **data: object) -> None:
        """Append what somebody else did."""
        event: Table = {
            "kind": kind, "run": self.name, "at": None, "actor": who,
            "data": {
                key.rstrip("_"): value for key, value in data.items() if value is not None
            },
        }  # fmt: skip
        if trial is not None:
            event["trial"] = trial
        self.adapted.events.append(event)

    def source(
        self,
        *files: Path,
        format_: str,
        reported: list[Table] | None = None,
        losses: list[str] | None = None,
    ) -> None:
        """Say which files came in, what they report themselves and what they do not hold."""
        digests = []
        for path in files:
            content = path.read_bytes()
            digest = {"blake3": blake3(content).hexdigest(), "sha256": sha256(content).hexdigest()}
            digests.append({"name": path.name, "bytes": len(content), **digest})
        self.add(
            "source.imported", format=format_, files=digests, importer=f"{format_}-adapter@1",
            reported=json.dumps(reported or []), losses=json.dumps(losses or []),
        )  # fmt: skip

    def failure(self, trial: str, class_: str, **data: object) -> None:
        """Append a failure occurrence."""
        self.add("failure.occurred", trial, class_=class_, **data)

    def judge_failed(self, trial: str, metric: str, *, detail: str, raw: str) -> None:
        """Append that a judge said nothing that can be read."""
        occurrence = f"{metric}-judge"
        self.failure(
            trial, "judge_unparseable", occurrence=occurrence, fault="judge", detail_class=detail,
            impact="none",
        )  # fmt: skip
        self.add(
            "judgment.failed", trial, judgment=f"{metric}-1", metric=metric, reason="judge_failed",
            occurrence=occurrence, raw=raw,
        )  # fmt: skip


def main(adapt: Callable[[list[Path]], Adapted]) -> None:
    """Write the documents of some files into the first argument's folder, print the events.

    A run names its manifest by number, `#0` being the first; `ledger freeze` says its name.
    """
    folder, *names = sys.argv[1:]
    adapted = adapt([Path(name) for name in names])
    for number, (arguments, content) in enumerate(adapted.documents(), 1):
        path = Path(folder) / f"{number:03d}-{'-'.join(arguments).replace('--', '')}"
        path.write_bytes(content)
    sys.stdout.buffer.write(lines(adapted.events))
