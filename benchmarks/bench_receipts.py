"""Score receipts: how long checking one of 1,000 trials takes a stranger, and how large it is.

Invariant: what is measured is the whole process of `ledger check` on a file, with no ledger beside
it; making the ledger and the receipt is not timed.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.bench_ledger import NO_GOAL, tools_in
from benchmarks.bench_processes import FULL_IMPORTS, LEDGER, commands, python
from benchmarks.measuring import Limit, Row, compared, value_row
from benchmarks.workload import (
    CODE_METRIC,
    Record,
    Workload,
    documents,
    question_id,
    submission_of,
)
from trial_ledger.anchoring import sign_head
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.heads import Signer
from trial_ledger.rescoring import judge_run
from trial_projections.receipt import make_receipt
from trial_projections.receipt_structs import REVEALABLE, encode_receipt

__all__ = ["receipt_rows"]

TRIALS = 1_000
REPETITIONS = 5
RUN = "run-1"
CHECK_GOAL = Limit("<= 1 s", 1)


def receipt_rows(directory: Path, rounds: int) -> Iterator[Row]:
    """Yield what checking a receipt of 1,000 trials takes, without texts and with all of them."""
    directory.mkdir()
    path, size = signed_ledger(directory)
    for texts in ((), REVEALABLE):
        with Ledger.open(path, tools=tools_in(directory)) as ledger:
            receipt = make_receipt(ledger, RUN, CODE_METRIC, reveal=texts)
        elsewhere = directory / f"elsewhere-{len(texts)}"
        elsewhere.mkdir()
        file = elsewhere / "receipt.json"
        content = encode_receipt(receipt)
        file.write_bytes(content)
        what = f"ledger check, receipt of {TRIALS} trials, " + (
            "all texts, regraded" if texts else "no text"
        )
        pairs = commands([str(LEDGER), "check", str(file)], python(FULL_IMPORTS), elsewhere, rounds)
        note = f"{len(content) / 1e6:.2f} MB, {len(receipt.documents)} documents"
        yield compared(
            "8", f"{what} / python -c imports", pairs, NO_GOAL, work=1, events=size, note=note
        )
        row = value_row(
            "8", what, median(ours.cpu for ours, _ in pairs), "s", CHECK_GOAL, events=size,
            note=note,
        )  # fmt: skip
        row.wall = median(ours.wall for ours, _ in pairs)
        row.wall_verdict = CHECK_GOAL.verdict(row.wall)
        row.rounds = len(pairs)
        yield row


def signed_ledger(directory: Path) -> tuple[Path, int]:
    """Make a signed ledger of a run whose 1,000 planned trials all ended; return path and size."""
    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    public = private.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    signer = Signer(key=public, sign=private.sign)
    tools = msgspec.structs.replace(tools_in(directory), signer=lambda: signer)
    path = directory / "trials.ledger"
    dataset, rubric, manifest = documents()
    asked = tuple(question_id(number) for number in range(TRIALS // REPETITIONS))
    with Ledger.create(path, tools=tools) as ledger:
        ledger.freeze([dataset, rubric, msgspec.structs.replace(manifest, questions=asked)])
        ledger.append_all([Entry(submission=submission_of(record)) for record in first_trials()])
        # The workload's own verdicts are made up; these come out again when a check gives them.
        judge_run(ledger, RUN)
        sign_head(ledger)
        return path, ledger.head().size


def first_trials() -> Iterator[Record]:
    """Yield the events of the workload's first trials, and the end of their run."""
    workload = Workload()
    for record in workload.events():
        if workload.trials > TRIALS:
            break
        if record["data"].get("metric") != CODE_METRIC:
            yield record
    harness: Record = {"role": "harness", "name": "bench"}
    yield workload.event(RUN, None, "run.closed", {"status": "complete"}, harness)
