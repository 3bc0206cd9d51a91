"""A ledger of this format is read, verified and hashed alike for ever.

The file `golden/format-1.zst` was written once, by the first version, with a fixed clock, ids and
salts; one of its texts was redacted and erased. A failing test here means that ledgers written
before would no longer verify, or that the same events would get other hashes. That is another
format, with a version and an upcaster; the file and the constants are never made anew.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from blake3 import blake3

from attack_cases import checked
from ledger_cases import RUN, note, tools, trial
from trial_ledger.book import Ledger
from trial_ledger.canonical import canonical_bytes, decode_event
from trial_ledger.events import KINDS, AnswerSubmitted, BlobRedacted, JudgmentRecorded
from trial_ledger.goldfile import gold_path
from trial_ledger.merkle import root_at
from trial_ledger.sqlite import sqlite3

GOLDEN = Path(__file__).parent / "golden"

SIZE = 135
ROOT = "6ac3f1a7d4b9328237bd5bd6f38f8912116a273f3916d579bc8fa946131d6461"
ROOT_AT_128 = "9690d5f21c95b73c14383ce5b3eca950dae1f16caeb1be9cb84cb3bfa27360a9"
HASHES = {
    1: "52388781ae3c926e83ea7c8c27400e4b38b121308bae0757420ef4e0abf0fa81",
    5: "83ba7f2b922e557d017ddfda75debb8a1ade9afcb0815286d7704953bb670806",
    60: "9aa12c83b6a022967ee6442daf57bec9a8de64f23df0b43f03e435dd8e2c3723",
    128: "89643989e1faa69caf301473b4c26ccc2d736ae91bd3838be18aa2e4d1475198",
    135: "d17f8c53e98d04a1c412c8481d10a7accee3eec4a4008f7fcfd2b295a419490d",
}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Return the golden ledger with its gold file, unpacked."""
    path = tmp_path / "a.ledger"
    for file, packed in ((path, "format-1.zst"), (gold_path(path), "format-1-gold.zst")):
        content = (GOLDEN / packed).read_bytes()
        file.write_bytes(zstandard.decompress(content))
    return path


def test_the_first_format_verifies_for_ever(golden: Path) -> None:
    """Bytes, chain, links, tree, columns, schema, texts and gold are as they were written."""
    found = checked(golden)
    assert [str(finding) for finding in found.findings] == []
    assert (found.size, found.root) == (SIZE, ROOT)
    assert (found.redacted, found.orphans, found.gold) == (1, 0, "checked")
    assert found.open_trials == []


def test_hashes_and_roots_are_the_frozen_ones(golden: Path) -> None:
    """Every event has the hash it had, and every earlier size the root it had."""
    with Ledger.open(golden, tools=tools(golden.parent, pins=False)) as ledger:
        assert {seq: ledger.read(seq).hash for seq in HASHES} == HASHES
        assert ledger.head().root == ROOT
        assert root_at(128, ledger.store.node).hex() == ROOT_AT_128
        assert (
            root_at(1, ledger.store.node)
            == hashlib.sha256(b"\x00" + ledger.read(1).document).digest()
        )


def test_events_of_every_kind_are_read_and_encoded_alike(golden: Path) -> None:
    """Each stored document is decoded, and encoding the event gives the stored bytes."""
    kinds = set()
    with Ledger.open(golden, tools=tools(golden.parent, pins=False)) as ledger:
        for stored in ledger.events():
            kinds.add(stored.event.kind)
            assert canonical_bytes(decode_event(stored.document)) == stored.document
    assert kinds == set(KINDS)


def test_texts_are_read_and_erased_ones_are_not(golden: Path) -> None:
    """A sealed and a gold text come out as they went in; the redacted answer is gone for good."""
    with Ledger.open(golden, tools=tools(golden.parent, pins=False)) as ledger:
        found = [stored.event for stored in ledger.events()]
        redacted = next(event.data.blob for event in found if isinstance(event.data, BlobRedacted))
        answers = {
            event.trial: ledger.blob(event.data.answer)
            for event in found
            if isinstance(event.data, AnswerSubmitted) and event.data.answer is not None
        }
        reasons = {
            ledger.blob(event.data.reasoning)
            for event in found
            if isinstance(event.data, JudgmentRecorded) and event.data.reasoning is not None
        }
    assert answers[trial("q3")] is None
    assert answers[trial("q10")] == b"Babylon"
    assert reasons == {b"compared with gold"}
    assert len(redacted) == 64
    assert b"Khiva" not in golden.read_bytes()


def test_a_stranger_rechecks_a_hash_with_public_tools(golden: Path) -> None:
    """The stored text and BLAKE3 are all that is needed."""
    connection = sqlite3.connect(golden)
    for seq, digest in HASHES.items():
        row = connection.execute("SELECT doc FROM event WHERE seq = ?", (seq,)).fetchone()
        assert blake3(row[0].encode()).hexdigest() == digest
    connection.close()


def test_it_can_be_appended_to(golden: Path) -> None:
    """A ledger of the first format goes on growing under this version."""
    with Ledger.open(golden, write=True, tools=tools(golden.parent, seed=9)) as ledger:
        assert ledger.append(note("still growing")).seq == SIZE + 1
        assert next(ledger.events(run=RUN)).event.kind == "run.opened"
    assert checked(golden).is_intact


SCRIPT = """
import sys
from pathlib import Path
from ledger_cases import full_ledger
with full_ledger(Path(sys.argv[1])) as ledger:
    print(ledger.head().root)
"""


def test_the_same_world_gives_the_same_log(tmp_path: Path) -> None:
    """Clock, ids and salts alone decide: no order of a set or dict reaches the bytes."""
    roots = set()
    for seed in ("0", "1", "random"):
        folder = tmp_path / seed
        folder.mkdir()
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        roots.add(done.stdout.strip())
    assert len(roots) == 1
