"""Small evaluations of the lm-evaluation-harness, built for one test each."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.importing.lm_eval import read_lm_eval
from trial_ledger.importing.source import ImportedRun
from trial_ledger.submission import NewText, Submission

DATE = "2026-01-02T03-04-05.678901"
RESULTS = f"results_{DATE}.json"
TASK = "capitals"
SAMPLES = f"samples_{TASK}_{DATE}.jsonl"
COUNTRIES = (("France", "Paris"), ("Chad", "N'Djamena"), ("Peru", "Lima"))


def digest(text: str) -> str:
    """Return the hash that the harness makes of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def line(number: int = 0, *, filter_: str = "none", **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a sample of one document, right or wrong by turns; None takes a field away."""
    country, capital = COUNTRIES[number % len(COUNTRIES)]
    prompt = f"Capital of {country}?\nAnswer:"
    document = {"country": country, "capital": [capital, capital.upper()], "area": 1.5}
    base: dict[str, Any] = {
        "doc_id": number,
        "doc": document,
        "target": str(document["capital"]),
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n"]}}},
        "resps": [[f"It is {capital}."]],
        "filtered_resps": [f"It is {capital}."],
        "filter": filter_,
        "metrics": ["exact_match"],
        "doc_hash": digest(json.dumps(document)),
        "prompt_hash": digest(prompt),
        "target_hash": digest(capital),
        "exact_match": float(number % 2),
    }
    return {key: value for key, value in {**base, **fields}.items() if value is not None}


class Stated(NamedTuple):
    """A task's configuration beside its numbers."""

    config: Mapping[str, Any]
    numbers: Mapping[str, Any]


def config(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return the configuration of a task."""
    base: dict[str, Any] = {
        "task": TASK,
        "doc_to_text": "Capital of {{country}}?\nAnswer:",
        "doc_to_target": "capital",
        "num_fewshot": 0,
        "metric_list": [{"metric": "exact_match", "aggregation": "mean"}],
        "filter_list": [{"name": "none", "filter": [{"function": "take_first"}]}],
        "generation_kwargs": {"until": ["\n"], "temperature": 0.7},
        "metadata": {"version": 1.1},
    }
    return {key: value for key, value in {**base, **fields}.items() if value is not None}


def results(tasks: Mapping[str, Stated], **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a results file; a field that is None is taken away."""
    base: dict[str, Any] = {
        "results": {name: {"alias": name, **task.numbers} for name, task in tasks.items()},
        "configs": {name: task.config for name, task in tasks.items()},
        "versions": dict.fromkeys(tasks, 1.1),
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {name: {"exact_match": True} for name in tasks},
        "config": {
            "model": "local-completions",
            "model_args": {"model": "tiny", "base_url": "http://127.0.0.1:1/v1"},
            "random_seed": 0,
            "numpy_seed": 1,
            "torch_seed": 2,
            "fewshot_seed": 3,
        },
        "git_hash": "abc1234",
        "date": 1767323045.5,
        "lm_eval_version": "0.4.13",
        "model_name": "tiny",
    }
    return {key: value for key, value in {**base, **fields}.items() if value is not None}


class Evaluation:
    """Writes the files of evaluations into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(
        self,
        lines: Sequence[Mapping[str, Any] | bytes],
        *,
        numbers: Mapping[str, Any] | None = None,
        task: Mapping[str, Any] | None = None,
        counted: Mapping[str, int] | None = None,
        **fields: Any,  # noqa: ANN401 - JSON
    ) -> Path:
        """Write one task's evaluation; everything that the harness derives is derived.

        Args:
            lines: the samples; bytes stand as they are.
            numbers: what is reported of the task.
            task: fields of its configuration.
            counted: `n-samples` of the task.
            fields: of the results file; None takes one away.
        """
        self.samples(SAMPLES, lines)
        records = [one for one in lines if not isinstance(one, bytes)]
        hashes = "".join(
            str(one.get(key))
            for one in records
            for key in ("doc_hash", "prompt_hash", "target_hash")
        )
        number = len({one.get("doc_id") for one in records})
        derived = {
            "n-samples": {TASK: counted or {"original": number, "effective": number}},
            "task_hashes": {TASK: digest(hashes)},
        }
        stated = Stated(
            config(**(task or {})),
            numbers or {"exact_match,none": 0.5, "exact_match_stderr,none": 0.1},
        )
        return self.results(RESULTS, results({TASK: stated}, **{**derived, **fields}))

    def results(self, name: str, content: object) -> Path:
        """Write a results file."""
        path = self.folder / name
        path.write_bytes(json.dumps(content).encode())
        return path

    def samples(self, name: str, lines: Sequence[Mapping[str, Any] | bytes]) -> Path:
        """Write a samples file."""
        path = self.folder / name
        path.write_bytes(
            b"".join(
                one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in lines
            )
        )
        return path

    def run(self, *lines: Mapping[str, Any] | bytes, **fields: Any) -> ImportedRun:  # noqa: ANN401 - JSON
        """Write an evaluation and return its one run."""
        (run,) = read_lm_eval(self.write(lines or (line(0), line(1)), **fields))
        return run

    def appended(self, run: ImportedRun) -> Ledger:
        """Return a new ledger that holds a run, verified."""
        from trial_ledger.importing.appending import append_run  # noqa: PLC0415 - heavy

        ledger = Ledger.create(self.folder / f"{run.name}.ledger")
        append_run(ledger, run)
        assert ledger.verify().findings == [], "what was appended is what was written"
        return ledger


def events(run: ImportedRun) -> list[Submission]:
    """Return the events of a run."""
    return list(run.submissions("0" * 64))


def of_kind(run: ImportedRun, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the data of every event of a kind."""
    return (dict(event.data) for event in events(run) if event.kind == kind)


def text(value: object) -> str:
    """Return what a new text says."""
    assert isinstance(value, NewText), value
    return value.content.decode()


def json_of(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return what a new JSON text says."""
    return msgspec.json.decode(text(value))


def losses(run: ImportedRun) -> list[str]:
    """Return what is said to be lost."""
    found = [event["losses"] for event in of_kind(run, "source.imported") if "losses" in event]
    assert len(found) == 1, "one of a run's sources says it"
    sentences = json_of(found[0])
    assert isinstance(sentences, list)
    return sentences


def reported(run: ImportedRun) -> list[dict[str, Any]]:
    """Return what the source reports itself."""
    found = [event["reported"] for event in of_kind(run, "source.imported") if "reported" in event]
    assert len(found) == 1, "one of a run's sources says it"
    rows = json_of(found[0])
    assert isinstance(rows, list)
    return rows
