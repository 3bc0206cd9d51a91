"""Receipts of real runs: checked elsewhere with the ledger gone, and refused where they cheat."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from adapters import gptr
from cli_cases import LEDGER, ledger
from receipt_cases import changed, left_out
from source_cases import MAPS, REAL_DATA, appended, imported, needs
from trial_ledger.book import Ledger
from trial_ledger.errors import VerificationError
from trial_ledger.goldfile import gold_path
from trial_ledger.heads import parse_note
from trial_projections.receipt import make_receipt
from trial_projections.receipt_check import check_receipt
from trial_projections.receipt_structs import Receipt, decode_receipt, encode_receipt

Json = dict[str, Any]
LOGS = REAL_DATA / "inspect-logs" / "generated"
NUMBERS = ("01", "03", "08", "09")
AGAIN = "s2"
"""A second session that is appended to the run of log 03, as a person who tries again would."""

pytestmark = needs("inspect-logs")


class Signed(NamedTuple):
    """Real runs in one signed ledger."""

    folder: Path
    runs: dict[str, str]
    """Run by the number of its log."""
    old: str
    """The head before the second session."""


def run_in(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Return what a real command prints."""
    done = ledger(folder, *arguments, stdin=stdin)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Signed:
    """Import the logs into a ledger that has a key, and try one question again."""
    folder = tmp_path_factory.mktemp("real")
    run_in(folder, "key", "new")
    run_in(folder, "init")
    runs: dict[str, str] = {}
    for number in NUMBERS:
        (path,) = (LOGS / next(LOGS.glob(f"{number}_*")).name).iterdir()
        run_in(folder, "import", "inspect", str(path))
        known = json.loads(run_in(folder, "runs", "--json"))["runs"]
        (runs[number],) = {row["run"] for row in known} - set(runs.values())
    old = run_in(folder, "head", "--sign")
    run_in(folder, "append", "-", stdin=tried_again(folder, runs["03"]))
    run_in(folder, "head", "--sign")
    return Signed(folder, runs, old)


def tried_again(folder: Path, run: str) -> bytes:
    """Return a second session of the run's first trial as lines."""
    (first,) = json.loads(run_in(folder, "trials", run, "--json"))["trials"][:1]
    trial = f"{first['trial'].rpartition('@')[0]}@{AGAIN}"
    kinds: list[tuple[str, str | None, Json]] = [
        ("run.resumed", None, {"reason": "once more"}),
        ("trial.started", trial, {"input": "again"}),
        ("trial.finished", trial, {"outcome": "abstained"}),
        ("run.closed", None, {"status": "complete"}),
    ]
    records = [
        {"kind": kind, "run": run, "data": data} | ({} if key is None else {"trial": key})
        for kind, key, data in kinds
    ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize("number", NUMBERS)
def test_c36_the_receipt_of_a_real_run_checks_where_no_ledger_is(
    signed: Signed, number: str, tmp_path: Path
) -> None:
    """Both metrics of each log, by the real program, one with every text opened, one with none."""
    run = signed.runs[number]
    shown = json.loads(run_in(signed.folder, "scores", run, "--json"))
    for metric, texts in (("includes", ""), ("model_graded_fact", "gold,answers,reasoning")):
        path = tmp_path / f"{metric}.json"
        run_in(signed.folder, "receipt", run, metric, "-o", str(path), "--reveal", texts)
        found = json.loads(run_in(tmp_path, "check", path.name, "--json"))
        (score,) = [one for one in shown["metrics"] if one["name"] == metric]
        assert found["claim"]["headline"] == score["headline"]
        assert found["about"]["order"] == "not witnessed: imported after the fact"
        opened = {kind: count["opened"] for kind, count in found["texts"].items()}
        named = {kind: count["named"] for kind, count in found["texts"].items()}
        assert opened == (named if texts else dict.fromkeys(named, 0))
    assert not (tmp_path / LEDGER).exists()
    assert sorted(path.suffix for path in tmp_path.iterdir() if path.is_file()) == [".json"] * 2


def test_the_overrides_and_sessions_of_real_runs_are_in_their_receipts(signed: Signed) -> None:
    """19 judgments of log 08 were replaced by people; log 03 has 31 trials in 30 slots."""
    with Ledger.open(signed.folder / LEDGER) as book:
        overridden = check_receipt(make_receipt(book, signed.runs["08"], "model_graded_fact"))
        tried = check_receipt(make_receipt(book, signed.runs["03"], "model_graded_fact"))
    assert overridden.about.overrides == 19
    assert (tried.about.trials, tried.claim.planned) == (31, 30)


def of(kind: str) -> Callable[[Json], bool]:
    """Return whether a document is of a kind."""
    return lambda table: bool(table["kind"] == kind)


def one_trial(table: Json) -> bool:
    """Return whether a document belongs to the trial of one question."""
    return (table["trial"] or {}).get("question") == CHOSEN[0]


def second_session(table: Json) -> bool:
    """Return whether a document belongs to the second session."""
    return (table["trial"] or {}).get("session") == AGAIN


CHOSEN = [""]
"""The question whose trial is left out."""


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        ("03", one_trial),
        ("03", second_session),
        ("08", of("judgment.overridden")),
        ("09", of("trial.invalidated")),
        ("01", of("answer.submitted")),
        ("03", of("failure.occurred")),
    ],
    ids=["a trial", "a session", "an override", "an invalidation", "a link", "a failure"],
)
def test_c36_nothing_of_a_real_run_can_be_left_out(
    signed: Signed, number: str, wanted: Callable[[Json], bool]
) -> None:
    """Whoever leaves it out has the whole ledger, and proves what is left honestly."""
    run = signed.runs[number]
    with Ledger.open(signed.folder / LEDGER) as book:
        receipt = make_receipt(book, run, "model_graded_fact")
        documents = [json.loads(text) for text in receipt.documents]
        CHOSEN[0] = next(table["trial"]["question"] for table in documents if table["trial"])
        assert check_receipt(receipt).claim == receipt.claim
        forged = left_out(book, receipt, wanted)
    with pytest.raises(VerificationError, match=rf"link [0-9]+ of {run} is missing before seq"):
        check_receipt(decode_receipt(encode_receipt(forged)))


def test_c36_a_shorter_receipt_says_that_it_is_shorter(signed: Signed) -> None:
    """Cut at the end, together with its claim, it is what the ledger said then, and says so."""
    run = signed.runs["03"]
    with Ledger.open(signed.folder / LEDGER) as book:
        receipt = make_receipt(book, run, "model_graded_fact")
        last = max(json.loads(text)["seq"] for text in receipt.documents)
        cut = left_out(book, receipt, lambda table: bool(table["seq"] == last))
    with pytest.raises(VerificationError, match=f"holds {receipt.claim.link - 1} links of {run}"):
        check_receipt(cut)
    claim = msgspec.structs.replace(receipt.claim, link=receipt.claim.link - 1)
    found = check_receipt(msgspec.structs.replace(cut, claim=claim))
    assert (found.claim.link, found.seq < last) == (receipt.claim.link - 1, True)


def altered_judgment(table: Json) -> None:
    """Turn the first wrong answer into a right one."""
    place = next(
        number
        for number, text in enumerate(table["documents"])
        if '"judgment.recorded"' in text and '"verdict":"incorrect"' in text
    )
    text = table["documents"][place]
    table["documents"][place] = text.replace('"verdict":"incorrect"', '"verdict":"correct"')


def other_rubric(table: Json) -> None:
    """Let errors score 1."""
    for name, text in table["plain"].items():
        if '"primary"' in text:
            table["plain"][name] = text.replace('"score":"0"', '"score":"1"')


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (altered_judgment, "seq [0-9]+ does not follow link [0-9]+ of .* as it is here"),
        (other_rubric, "is not what its hash says"),
        (lambda table: table["claim"].update(decided=1), "the documents give decided"),
        (lambda table: table["claim"]["headline"]["low"].update(sum="1"), "documents give headl"),
    ],
    ids=["a judgment", "the rubric", "a count", "the number"],
)
def test_c36_nothing_of_a_real_run_can_be_altered(
    signed: Signed, change: Callable[[Json], object], words: str
) -> None:
    """A judgment, the rubric, the claim: each is refused with its reason."""
    with Ledger.open(signed.folder / LEDGER) as book:
        receipt = make_receipt(book, signed.runs["01"], "includes")
    forged = changed(receipt, change)
    assert forged != receipt
    with pytest.raises(VerificationError, match=words):
        check_receipt(forged)


def test_c36_an_older_head_is_refused(signed: Signed, tmp_path: Path) -> None:
    """Put under a receipt it covers too little; an honest older receipt is behind a kept note."""
    with Ledger.open(signed.folder / LEDGER) as book:
        receipt = make_receipt(book, signed.runs["03"], "includes")
        newest = book.store.heads.newest()
    assert newest is not None
    size = parse_note(signed.old)[1].size
    older = msgspec.structs.replace(receipt, note=signed.old)
    with pytest.raises(VerificationError, match=f"the leaves do not lie in a log of {size}"):
        check_receipt(older)
    honest = as_of_old(signed)
    assert check_receipt(honest).about.trials == 30
    (tmp_path / "receipt.json").write_bytes(encode_receipt(honest))
    (tmp_path / "new.note").write_text(newest)
    done = ledger(tmp_path, "check", "receipt.json", "--note", "new.note")
    assert done.code == 4
    assert f"an older head, of {size} events: the one that you kept has {size + 4}" in done.err
    (tmp_path / "old.note").write_text(signed.old)
    proof = run_in(signed.folder, "prove", "--from", str(tmp_path / "old.note"))
    (tmp_path / "proof.json").write_text(proof)
    shown = run_in(tmp_path, "check", "receipt.json", "--note", "new.note", "--proof", "proof.json")
    assert "part of the log whose head of" in shown


def as_of_old(signed: Signed) -> Receipt:
    """Return the receipt that could be made before the second session."""

    class Older:
        """The heads of the ledger as they were."""

        def newest(self) -> str:
            """Return the head before the second session."""
            return signed.old

    with Ledger.open(signed.folder / LEDGER) as book:
        book.store.heads = Older()  # type: ignore[assignment] # all that is asked of it
        return make_receipt(book, signed.runs["03"], "includes")


@needs("gptr-deepagents")
def test_c36_receipts_of_another_source_check_too(tmp_path: Path) -> None:
    """Short answers read by a map, briefs by an adapter, in a ledger that got its key late."""
    source = REAL_DATA / "gptr-deepagents"
    folder = tmp_path / "ledger"
    folder.mkdir()
    (briefs,) = sorted(source.glob("hybrid*.json"))[:1]
    appended(folder, gptr.adapt([briefs]))
    (answers,) = sorted(source.glob("simpleqa*.json"))[:1]
    imported(folder, MAPS / "gptr-short-answers.toml", answers)
    run_in(folder, "key", "new")
    run_in(folder, "key", "rotate", "--actor", "Ada")
    run_in(folder, "head", "--sign")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    runs = [row["run"] for row in json.loads(run_in(folder, "runs", "--json"))["runs"]]
    made = 0
    for run in runs:
        for score in json.loads(run_in(folder, "scores", run, "--json"))["metrics"]:
            if score["headline"] is not None:
                path = elsewhere / f"{made}.json"
                run_in(folder, "receipt", run, score["name"], "-o", str(path))
                made += 1
    assert made >= len(runs) > 2
    (folder / LEDGER).unlink()
    gold_path(folder / LEDGER).unlink()
    for number in range(made):
        assert run_in(elsewhere, "check", f"{number}.json").startswith("holds ")
