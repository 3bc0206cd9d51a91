"""A small signed ledger, and receipts of it that somebody changed."""

import base64
import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger_cases import RUN, tools
from projection_cases import Log
from trial_ledger.anchoring import sign_head
from trial_ledger.book import Ledger
from trial_ledger.canonical import canonical_bytes, decode_event, event_hash
from trial_ledger.heads import Signer, head_text, signed_note
from trial_ledger.merkle import Frontier, leaf_hash
from trial_ledger.proof import several_path
from trial_ledger.tools import Tools
from trial_projections.receipt import make_receipt
from trial_projections.receipt_structs import Receipt

Json = dict[str, Any]


def signer(seed: int) -> Signer:
    """Return the key of a seed."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    public = private.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    return Signer(key=public, sign=private.sign)


OURS, THEIRS = signer(1), signer(2)


def signing_tools(folder: Path, key: Signer = OURS) -> Tools:
    """Return a world with a key."""
    return msgspec.structs.replace(tools(folder, pins=False), signer=lambda: key)


@contextmanager
def signed_log(folder: Path) -> Iterator[Log]:
    """Give a ledger with a key and a run of every kind of trouble, signed when it closed."""
    log = Log(folder, world=signing_tools(folder))
    for number, question in enumerate(("q1", "q2", "q3", "q4", "q5")):
        log.trial(question, answer="Samarkand" if number == 0 else "Babylon")
        log.judge(question, "judged", "correct" if number < 3 else "incorrect")
    log.act(
        "judgment.overridden", "q4", judgment="o1", replaces="j1", verdict="correct", reason="seen"
    )
    log.trial("q6", outcome=None, answer=None)
    call: Json = {"call": "c1", "purpose": "search", "endpoint": "search", "name": "find"}
    log.act("call.started", "q6", attempt=1, **call)
    log.act(
        "failure.occurred", "q6",
        occurrence="f1", class_="timeout", fault=None, call="c1", impact="trial_failed",
    )  # fmt: skip
    log.act("call.finished", "q6", call="c1", status="failed", occurrence="f1")
    log.act("trial.finished", "q6", outcome="errored")
    log.act("trial.started", "q7", input="again?")
    log.act("trial.finished", "q7", outcome="cancelled")
    log.trial("q7", session="s2")
    log.act("run.closed", status="complete")
    try:
        yield log
    finally:
        log.ledger.close()


def receipt_of(log: Log, metric: str = "judged", run: str = RUN, **reveal: Any) -> Receipt:  # noqa: ANN401 - texts
    """Return a receipt of a log whose end is signed."""
    sign_head(log.ledger)
    return make_receipt(log.ledger, run, metric, **reveal)


def changed(receipt: Receipt, change: Callable[[Json], object]) -> Receipt:
    """Return a receipt with something in it changed."""
    table: Json = copy.deepcopy(json.loads(msgspec.json.encode(receipt)))
    change(table)
    return msgspec.convert(table, type=Receipt)


def left_out(ledger: Ledger, receipt: Receipt, wanted: Callable[[Json], bool]) -> Receipt:
    """Return a receipt without some documents, with an honest proof of those that are left.

    Its maker has the whole log: only the gap can show that something was left out.
    """
    kept = [text for text in receipt.documents if not wanted(json.loads(text))]
    assert len(kept) < len(receipt.documents)
    return proven(ledger, receipt, kept)


def proven(ledger: Ledger, receipt: Receipt, documents: list[str]) -> Receipt:
    """Return a receipt of other documents with the proof that belongs to them."""
    size = int(receipt.note.split("\n")[1])
    places = [json.loads(text)["seq"] - 1 for text in documents]
    path = several_path(places, size, ledger.store.node)
    proof = [base64.b64encode(one).decode() for one in path]
    return msgspec.structs.replace(receipt, documents=documents, proof=proof)


def rewritten(receipt: Receipt, change: Callable[[Json], object], key: Signer = OURS) -> Receipt:
    """Return a receipt of a log that its owner rewrote as a whole, hashes, links and head anew.

    Only documents that the receipt holds are left of it, so that the proof needs nothing else.
    """
    frontier = Frontier(0, [])
    nodes: dict[tuple[int, int], bytes] = {}
    links: dict[str, str] = {}
    texts: list[str] = []
    previous = "0" * 64
    for seq, text in enumerate(receipt.documents, 1):
        table = json.loads(text)
        change(table)
        table["seq"], table["prev"] = seq, previous
        if table["link"] is not None:
            table["link"]["prev"] = links.get(table["run"], "0" * 64)
        document = canonical_bytes(decode_event(json.dumps(table).encode()))
        previous = event_hash(document)
        if table["link"] is not None:
            links[table["run"]] = previous
        nodes[0, seq - 1] = leaf_hash(document)
        for level, position, found in frontier.append(leaf_hash(document)):
            nodes[level, position] = found
        texts.append(document.decode())
    size = len(texts)
    origin = receipt.note.split("\n")[0]
    note = signed_note(head_text(origin, size, frontier.root()), key, name=origin)
    path = several_path(range(size), size, lambda level, position: nodes[level, position])
    proof = [base64.b64encode(one).decode() for one in path]
    return msgspec.structs.replace(receipt, documents=texts, proof=proof, note=note)
