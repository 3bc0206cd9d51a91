"""Where blobs stand: every text and every commitment, each with its place."""

from pathlib import Path

import pytest

from attack_cases import tampering
from ledger_cases import RUN, empty_ledger, small_dataset, tools
from trial_ledger.blobs import content_hash
from trial_ledger.book import Ledger
from trial_ledger.errors import VerificationError
from trial_ledger.mentions import mentions
from trial_ledger.named_blobs import References


def test_every_named_blob_is_mentioned(victim: Path) -> None:
    """What `verify` finds named is mentioned, with run, trial, class and length."""
    with Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger:
        found = list(mentions(ledger, ledger.events()))
        references = References()
        for stored in ledger.events():
            references.take(stored)
    texts = [one for one in found if one.bytes is not None]
    prefixes = {bytes.fromhex(one.blob)[:16] for one in texts}
    named = {name for names in (references.named, references.gold) for name, _ in names.names()}
    canary = {bytes.fromhex(one.blob)[:16] for one in found if one.field == "canary"}
    assert prefixes | canary == named
    answer = next(one for one in found if one.field == "answer")
    assert (answer.run, answer.trial, answer.class_) == (RUN, "q3#1@s1", "sealed")
    gold = [one for one in found if one.bytes is None]
    assert len(gold) == 11
    assert {one.class_ for one in gold} == {"gold"}


def test_a_dataset_without_a_canary_has_none(tmp_path: Path) -> None:
    """What is null is no mention."""
    with empty_ledger(tmp_path) as ledger:
        ledger.register(small_dataset(canary=None))
        assert "canary" not in {one.field for one in mentions(ledger, ledger.events())}


def test_commitments_that_cannot_be_read_are_told(victim: Path) -> None:
    """A dataset whose commitments are no JSON is damage, not a dataset without gold."""
    with Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger:
        blob = next(
            one.blob
            for one in mentions(ledger, ledger.events())
            if (one.field, one.class_) == ("commitments", "plain")
        )
    with tampering(victim) as connection:
        name = bytes.fromhex(blob)
        size = connection.execute("SELECT bytes FROM content WHERE hash = ?", (name,)).fetchone()[0]
        content = b"[" * size
        digest = content_hash(content)
        connection.execute(
            "UPDATE content SET data = ?, encoding = 'raw', hash = ? WHERE hash = ?",
            (content, digest, name),
        )
        connection.execute("UPDATE blob SET hash = ? WHERE hash = ?", (digest, name))
        connection.execute(
            "UPDATE event SET doc = replace(doc, ?, ?) WHERE seq = 2", (blob, digest.hex())
        )
    with (
        Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger,
        pytest.raises(VerificationError, match="commitments of seq 2 cannot be read"),
    ):
        list(mentions(ledger, ledger.events()))
