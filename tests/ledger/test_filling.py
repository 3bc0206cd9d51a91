"""Filling: what only the ledger knows is filled; what the writer gave is kept or refused."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import (
    ANSWERS,
    RUN,
    Script,
    opened,
    questions_jsonl,
    small_dataset,
    small_ledger,
    small_manifest,
    small_rubric,
    started,
    tools,
    trial,
)
from trial_ledger.book import Ledger
from trial_ledger.documents.dataset import parse_dataset
from trial_ledger.documents.manifest import prices_hash
from trial_ledger.errors import InvalidInputError, RuleError, VerificationError
from trial_ledger.events import CallFinished, JudgmentRecorded, RunOpened, TrialStarted
from trial_ledger.goldfile import gold_path
from trial_ledger.loading import decode_slots
from trial_ledger.submission import NewText, Submission

Q1 = Script(RUN, trial("q1"))


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents."""
    with small_ledger(tmp_path) as ledger:
        yield ledger


def data_of(book: Ledger, submission: Submission) -> object:
    """Append an event and return its stored data."""
    return book.read(book.append(submission).seq).event.data


def opening_of(book: Ledger, submission: Submission) -> RunOpened:
    """Append a run.opened and return it."""
    data = data_of(book, submission)
    assert isinstance(data, RunOpened)
    return data


def start_of(book: Ledger, submission: Submission) -> TrialStarted:
    """Append a trial.started and return it."""
    data = data_of(book, submission)
    assert isinstance(data, TrialStarted)
    return data


def refusal(book: Ledger, submission: Submission) -> RuleError:
    """Return the refusal of an event."""
    with pytest.raises(RuleError) as caught:
        book.append(submission)
    return caught.value


def test_a_run_gets_the_references_of_its_manifest(book: Ledger) -> None:
    """Rubric, its hash, dataset and planned slots come from the frozen manifest."""
    data = opening_of(book, opened())
    registry = book.registry()
    assert data.manifest in registry.manifests
    assert (data.rubric, data.dataset, data.planned) == ("quality@1", "example@1", 10)
    assert data.rubric_hash == registry.rubric("quality@1").rubric_hash
    assert data.slots is not None
    slots = decode_slots(book.blob(data.slots) or b"")
    assert (slots.questions, slots.repetitions) == (tuple(ANSWERS), 1)


@pytest.mark.parametrize(
    ("fields", "clause", "message"),
    [
        ({"rubric": "quality@2"}, "C14", "rubric quality@2 is not the manifest's quality@1"),
        ({"dataset": "other@1"}, "C9", "dataset other@1 is not the manifest's example@1"),
        ({"rubric_hash": "a" * 64}, "C14", "rubric quality@1 has hash "),
        ({"planned": 11}, "C16", "10 slots are planned, not 11"),
        ({"manifest": "other"}, "C9", "manifest other is not frozen"),
    ],
)
def test_a_contradiction_to_the_documents_is_refused(
    fields: dict[str, object], clause: str, message: str, book: Ledger
) -> None:
    """What the writer gave and the frozen documents contradict is refused with the clause."""
    error = refusal(book, opened(RUN, **fields))
    assert error.bare_message.startswith(message)
    assert error.clause == clause
    assert error.field == f"data.{next(iter(fields))}"


def test_questions_are_planned_by_the_manifest(book: Ledger) -> None:
    """Listed questions in their order, or those of the splits, or every one."""
    book.freeze([
        small_manifest(configuration="listed", questions=["q3", "q1"], repetitions=2),
        small_manifest(configuration="split", splits=["pilot"]),
        small_manifest(configuration="both", splits=["pilot", "holdout"]),
    ])  # fmt: skip
    assert opening_of(book, opened("r1", manifest="listed")).planned == 4
    error = refusal(book, opened("r2", manifest="split"))
    assert error.bare_message == "no question of example@1 is in the manifest's splits"
    assert (error.clause, error.field) == ("C16", "splits")
    assert opening_of(book, opened("r3", manifest="both")).planned == 10


def test_a_manifest_with_unknown_questions_plans_nothing(book: Ledger) -> None:
    """A question that the dataset lacks is refused when the run is opened."""
    book.freeze([small_manifest(configuration="lost", questions=["q1", "q99"])])
    error = refusal(book, opened(manifest="lost"))
    assert (error.clause, error.field) == ("C16", "questions")
    assert "'q99'" in error.bare_message


def slots(*questions: str, repetitions: object = 1, **more: object) -> NewText:
    """Return planned slots as a writer submits them."""
    document = {"questions": questions, "repetitions": repetitions, **more}
    return NewText(content=json.dumps(document).encode(), media="application/json")


def test_submitted_slots_replace_those_of_the_manifest(book: Ledger) -> None:
    """A run may plan fewer slots or other repetitions than its manifest, as an import does."""
    data = opening_of(book, opened(slots=slots("q2", "q1", repetitions=3)))
    assert data.planned == 6
    assert data.slots is not None
    assert decode_slots(book.blob(data.slots) or b"").questions == ("q2", "q1")


@pytest.mark.parametrize(
    ("submitted", "found"),
    [
        (slots("q1", "q99", "q98"), "2 unknown questions"),
        (slots("q1", "q1"), "repeated or no slots"),
        (slots("q1", repetitions=0), "repeated or no slots"),
        (slots("q1", repetitions="many"), "Expected `int`, got `str`"),
        (slots("q1", extra=1), "unknown field"),
        (NewText(content=b"\xff"), ""),
        ("not JSON", ""),
    ],
)
def test_slots_of_another_form_are_invalid_input(
    submitted: object, found: str, book: Ledger
) -> None:
    """Slots that are not questions of the dataset, or no such document, are said to be so."""
    with pytest.raises(InvalidInputError) as caught:
        book.append(opened(slots=submitted))
    (problem,) = caught.value.problems
    assert problem.field == "data.slots"
    assert found in (problem.found or "")


def test_a_derived_run_has_its_parent_s_slots(book: Ledger) -> None:
    """Another rubric over the trials of a run plans what that run planned, whatever it says."""
    book.freeze([small_rubric(version="2")])
    book.append(opened(slots=slots("q1")))
    derived = opened("r2", rubric="quality@2", derived_from={"run": RUN, "link": 1})
    data = opening_of(book, derived)
    assert (data.planned, data.rubric) == (1, "quality@2")


def test_a_reconstructed_manifest_runs_nothing_live(book: Ledger) -> None:
    """What was rebuilt from a log afterwards is no declaration beforehand (C9)."""
    manifest = small_manifest(configuration="rebuilt")
    book.freeze([msgspec.structs.replace(manifest, reconstructed=True)])
    error = refusal(book, opened(manifest="rebuilt"))
    assert (error.clause, error.field) == ("C9", "data.manifest")
    assert book.append(opened(manifest="rebuilt", entry="imported")).status == "appended"


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("Which town is meant?", "clean"),
        ("It is SAMARKAND", "leak"),
        ('{"hint": "Samar\\u006band"}', "leak"),
        ("see example.org/q1", "leak"),
        ("canary 5bd2d8a6", "leak"),
        ("samarkandish", "clean"),
        ("Bukhara is the gold of another question", "clean"),
    ],
)
def test_the_leak_guard_looks_at_the_first_input(text: str, check: str, book: Ledger) -> None:
    """Gold and canary of the question's dataset are found in an input, nothing else is (C3)."""
    book.append(opened(entry="appended"))
    assert start_of(book, started(RUN, trial("q1"), input=text)).leak_check == check


def test_without_input_or_gold_file_nothing_is_looked_at(book: Ledger, tmp_path: Path) -> None:
    """What cannot be checked is recorded as not done, never as clean."""
    book.append(opened(entry="imported"))
    assert start_of(book, started(RUN, trial("q1"), input=None)).leak_check == "not_done"
    book.close()
    gold_path(tmp_path / "trials.ledger").rename(tmp_path / "away")
    with Ledger.open(tmp_path / "trials.ledger", write=True, tools=book.tools) as alone:
        found = start_of(alone, started(RUN, trial("q2"), input="Bukhara"))
        assert found.leak_check == "not_done"
        call = Script(RUN, trial("q2")).call("c1", "search", request="Bukhara")
        assert alone.append(call).seq == alone.head().size


@pytest.mark.parametrize(("given", "accepted"), [("clean", True), ("leak", False)])
def test_a_leak_check_of_the_writer_must_agree(given: str, *, accepted: bool, book: Ledger) -> None:
    """A writer may say what the ledger finds; anything else is refused, not changed."""
    book.append(opened())
    start = started(RUN, trial("q1"), leak_check=given)
    if accepted:
        assert start_of(book, start).leak_check == "clean"
        return
    error = refusal(book, start)
    assert (error.clause, error.field) == ("C3", "data.leak_check")
    assert error.bare_message == "the leak guard finds clean, not leak"


def test_a_dataset_without_gold_or_canary_leaks_nothing(tmp_path: Path) -> None:
    """Where there is no gold for a question, an input is clean whatever it says."""
    records = [json.loads(line) for line in questions_jsonl().splitlines()]
    del records[0]["gold"]
    content = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    dataset = parse_dataset(content, source=None, name="bare", version="1")
    with small_ledger(tmp_path) as book:
        book.freeze([dataset, small_manifest(configuration="bare", dataset="bare@1")])
        book.append(opened(manifest="bare"))
        key = type(trial("q1"))(question="q1", configuration="bare", repetition=1)
        assert start_of(book, started(RUN, key, input="Samarkand")).leak_check == "clean"


def judged(book: Ledger, question: str, **fields: object) -> JudgmentRecorded:
    """Append a finished trial with one judgment; return the judgment."""
    script = Script(RUN, trial(question))
    book.append(started(RUN, trial(question)))
    book.append(script.event("trial.finished", outcome="answered"))
    values: dict[str, object] = {
        "judgment": "j1", "metric": "exact", "by": "code", "score": "1",
        "grader": {"name": "match"}, "parts": [{"name": "equal"}],
    }  # fmt: skip
    data = data_of(book, script.event("judgment.recorded", **{**values, **fields}))
    assert isinstance(data, JudgmentRecorded)
    return data


def test_a_judgment_gets_rubric_gold_and_prices(book: Ledger) -> None:
    """A judgment names the run's rubric, what it was graded against, and its price table."""
    book.append(opened())
    cost = {"amount": "1", "currency": "USD", "basis": "computed"}
    data = judged(book, "q1", cost=cost)
    registry = book.registry()
    commitment = registry.commitments("example@1")["q1"]
    assert (data.rubric, data.gold) == (registry.rubric("quality@1").rubric_hash, commitment)
    (manifest,) = registry.manifests.values()
    assert data.cost is not None
    assert data.cost.prices == prices_hash(registry.manifest_document(manifest))
    assert judged(book, "q2", gold=registry.commitments("example@1")["q2"]).gold is not None


def test_a_judgment_against_other_gold_is_refused(book: Ledger) -> None:
    """What was graded against is what the dataset commits to, or the judgment does not count."""
    book.append(opened())
    with pytest.raises(RuleError) as caught:
        judged(book, "q1", gold="a" * 64)
    assert (caught.value.clause, caught.value.field) == ("C2", "data.gold")


@pytest.mark.parametrize(
    ("cost", "is_filled"),
    [
        (None, False),
        ({"amount": "1", "currency": "USD", "basis": "reported"}, False),
        ({"amount": "1", "currency": "USD", "basis": "computed"}, True),
        ({"amount": "1", "currency": "USD", "basis": "computed", "prices": "b" * 64}, False),
    ],
)
def test_only_a_computed_cost_gets_a_price_table(
    cost: dict[str, str] | None, *, is_filled: bool, book: Ledger
) -> None:
    """Unknown stays unknown, a reported cost has no table, and a given table is kept."""
    book.append_many([opened(), started(RUN, trial("q1")), Q1.call("c1", "model")])
    data = data_of(book, Q1.event("call.finished", call="c1", status="ok", cost=cost))
    assert isinstance(data, CallFinished)
    if cost is None:
        assert data.cost is None
        return
    assert data.cost is not None
    (manifest,) = book.registry().manifests.values()
    filled = prices_hash(book.registry().manifest_document(manifest))
    assert data.cost.prices == (filled if is_filled else cost.get("prices"))


def test_a_gold_file_of_another_ledger_is_not_believed(tmp_path: Path) -> None:
    """Where the gold of a question is not in the gold file, that is said, not passed over."""
    (tmp_path / "other").mkdir()
    with small_ledger(tmp_path / "other", world=tools(tmp_path, seed=9)) as other:
        assert other.register(small_dataset()).status == "exists"
    with small_ledger(tmp_path) as book:
        book.append(opened())
    gold_path(tmp_path / "trials.ledger").write_bytes(
        gold_path(tmp_path / "other" / "trials.ledger").read_bytes()
    )
    with (
        Ledger.open(tmp_path / "trials.ledger", write=True, tools=tools(tmp_path)) as book,
        pytest.raises(VerificationError, match=r"blob [0-9a-f]{64} is not in "),
    ):
        book.append(started(RUN, trial("q1")))
