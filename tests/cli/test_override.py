"""`ledger override`: a person decides otherwise; both numbers are shown, and both events stay."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, full, ledger
from ledger_cases import RUN
from projection_cases import Log
from trial_cli import acts
from trial_ledger.book import Ledger
from trial_ledger.goldfile import gold_path
from trial_projections import reading
from trial_projections.reading import ReadModel

WRONG = f"{RUN}/q9#1@s1/j2"
SCREEN = """\
event     seq 129  HASH
before    fast-01/q9#1@s1/j2 incorrect, by model judge@1, seq 103
after     fast-01/q9#1@s1/o1 correct, by human Ada, seq 129; j2 stays in the log
judged    60.0-70.0 % 6-7/10 -> 70.0-80.0 % 7-8/10
          without invalidated: 55.6-66.7 % 5-6/9 -> 66.7-77.8 % 6-7/9
undo      ledger override 'fast-01/q9#1@s1/o1' --verdict incorrect --reason TEXT
"""


def words(*more: str) -> tuple[str, ...]:
    """Return the options of a complete decision."""
    return ("--verdict", "correct", "--actor", "Ada", "--reason", "an old name of it", *more)


def size_of(folder: Path) -> int:
    """Return how many events the ledger of a folder has."""
    with Ledger.open(folder / LEDGER) as book:
        return book.store.size()


def test_c31_the_whole_screen(tmp_path: Path) -> None:
    """The event, the judgment before and after, the number before and after, the way back."""
    full(tmp_path)
    done = ledger(tmp_path, "override", WRONG, *words())
    with Ledger.open(tmp_path / LEDGER) as book:
        stored = book.read(129)
    assert done == (0, SCREEN.replace("HASH", stored.hash[:32]), "")
    assert stored.event.actor.name == "Ada"
    assert stored.event.actor.role == "human"
    assert ledger(tmp_path, "verify").code == 0
    assert ledger(tmp_path, "replay", "--check").code == 0


def test_a_dry_run_shows_the_same_and_writes_nothing(here: Here) -> None:
    """But for the event, which is not there."""
    full(here.folder)
    foreseen = here("override", WRONG, *words("--dry-run"))
    assert foreseen.code == 0
    first, rest = foreseen.out.split("\n", 1)
    assert first == "event     would be seq 129; nothing was written"
    assert size_of(here.folder) == 128
    assert here("override", WRONG, *words("--dry-run", "--json")).json["event"] == {
        "seq": 129, "id": None, "hash": None,
    }  # fmt: skip
    assert here("override", WRONG, *words()).out.split("\n", 1)[1] == rest
    assert here("replay", "--check").code == 0


def test_the_other_forms(here: Here) -> None:
    """JSON has the judgment before and after by field; rows are one a metric."""
    full(here.folder)
    document = here("override", WRONG, *words("--json")).json
    assert (document["schema"], document["written"]) == ("ledger.override/1", True)
    assert (document["run"], document["trial"]) == (RUN, "q9#1@s1")
    before, after, replaced = (document[name] for name in ("before", "after", "replaced"))
    assert (before["judgment"], before["verdict"], before["replaced_by"]) == (
        "j2", "incorrect", None,
    )  # fmt: skip
    assert (after["judgment"], after["verdict"], after["grader"]) == ("o1", "correct", "Ada")
    assert (after["replaces"], replaced) == ("j2", {**before, "replaced_by": "o1"})
    (metric,) = document["metrics"]
    low = metric["after"]["headline"]["low"]
    assert (low["sum"], low["count"], low["value"]) == ("7", 10, "7/10")
    assert document["marks"] == []
    undo = "ledger override 'fast-01/q9#1@s1/o1' --verdict incorrect --reason TEXT"
    assert document["undo"] == undo
    rows = here(
        "override", f"{RUN}/q9#1/o1", *words("--verdict", "partial", "--format", "jsonl")
    ).rows
    (row,) = rows
    assert (row["metric"], row["judgment"], row["replaces"]) == ("judged", "o2", "o1")
    assert (row["low_before"], row["low_after"], row["count_after"]) == ("7/10", "13/20", 10)
    again = ("--verdict", "correct", "--format", "csv")
    assert here("override", f"{RUN}/q9#1/o2", *words(*again)).out.count("\n") == 2


def test_c31_undone_by_another_override_the_numbers_are_the_original_ones(here: Here) -> None:
    """Override and override back: every number is what it was, and all three events stay."""
    full(here.folder)
    original = here("scores", RUN, "--json").json
    first = here("override", WRONG, *words("--json")).json
    changed = here("scores", RUN, "--json").json
    assert changed["metrics"] != original["metrics"]
    undone = here(*first["undo"].replace("'", "").removeprefix("ledger ").split()[:4], *BACK).json
    assert here("scores", RUN, "--json").json["metrics"] == original["metrics"]
    assert undone["metrics"][0]["after"] == first["metrics"][0]["before"]
    member = here("explain", RUN, "judged", "--trial", "q9#1", "--json").json["members"][0]
    roles = [(event["role"], event["seq"]) for event in member["events"][-3:]]
    assert roles == [("judgment", 103), ("override", 129), ("override", 130)]
    assert [here("show", str(seq)).code for _, seq in roles] == [0, 0, 0]


BACK = ("--reason", "it is none", "--actor", "Bob", "--json")
"""What the words of the undo command leave to be said."""


@pytest.mark.parametrize(
    ("name", "options", "code", "said"),
    [
        (f"{RUN}/q9#1/j2", ("--reason", " "), 3, "needs a reason in words (C31)"),
        (f"{RUN}/q9#1/j2", ("--score", "1"), 3, "takes a verdict and no score (C20)"),
        (f"{RUN}/q9#1/j1", (), 3, "takes a score, or the verdict not_gradable (C20)"),
        (f"{RUN}/q9#1/j1", ("--score", "2"), 3, "score 2 lies outside the scale 0 to 1 (C20)"),
        (f"{RUN}/q9#1/j1", ("--score", "1.5.2"), 2, "data.score: not acceptable, found '1.5.2'"),
        (f"{RUN}/q9#1/j2", ("--verdict", "good"), 2, "data.verdict: not acceptable, found 'good'"),
        (f"{RUN}/q9#1/j2", ("--actor", "A\x1b"), 2, "actor.name: not acceptable"),
        (f"{RUN}/q10#1/j2", (), 3, "j2 was already replaced, j3 is in force (C31)"),
        (f"{RUN}/q3#1/j2", (), 6, "gave no verdict that could be overridden"),
        (f"{RUN}/q9#1/gone", (), 6, "no judgment 'fast-01/q9#1/gone'"),
        ("j3x", (), 6, "no judgment 'j3x'"),
        ("j2", (), 6, f"judgment 'j2' is ambiguous: {RUN}/q10#1@s1/j2, {RUN}/q3#1@s1/j2, "),
        ("slow/q9#1/j2", (), 6, "no run 'slow'"),
    ],
)
def test_c31_bad_cases_through_the_real_command(
    here: Here, name: str, options: tuple[str, ...], code: int, said: str
) -> None:
    """Each guard and each wrong form: its exit code, its words, and nothing is written."""
    full(here.folder)
    done = ledger(here.folder, "override", name, *words(*options))
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert size_of(here.folder) == 128
    dry = here("override", name, *words(*options, "--dry-run"))
    assert (dry.code, dry.err) == (code, done.err)


def test_the_hint_of_a_replaced_judgment_names_the_one_in_force(here: Here) -> None:
    """In full, as the command takes it."""
    full(here.folder)
    done = here("override", f"{RUN}/q10#1/j2", *words())
    assert done.err.endswith(f"hint: ledger override '{RUN}/q10#1@s1/j3'\n")


def test_every_fault_of_the_command_line_is_told_at_once(tmp_path: Path) -> None:
    """Who, why and what: exit code 2, before anything is opened."""
    done = ledger(tmp_path, "override", "j1")
    assert done.code == 2
    assert done.err.splitlines() == [
        "--actor: an act of a person names the person, expected a name, here or in $LEDGER_ACTOR",
        "--reason: an act of a person says why, expected a reason in words",
        "--verdict, --score: no decision, expected a verdict or a score, as the metric takes",
        "Error: command line not acceptable: 3 faults, nothing written",
        f"hint: {acts.HINT}",
    ]


def test_the_person_may_stand_in_the_environment(tmp_path: Path) -> None:
    """The option outweighs it; an empty one is none."""
    full(tmp_path)
    decision = ("override", WRONG, "--verdict", "partial", "--reason", "half")
    assert ledger(tmp_path, *decision, variables={"LEDGER_ACTOR": ""}).code == 2
    done = ledger(tmp_path, *decision, variables={"LEDGER_ACTOR": "Eve"})
    assert "partial, by human Eve, seq 129" in done.out
    done = ledger(
        tmp_path, "override", f"{RUN}/q9#1/o1", *words(), variables={"LEDGER_ACTOR": "Eve"}
    )
    assert "correct, by human Ada, seq 130" in done.out


def test_a_score_is_overridden_by_a_score_and_a_label(here: Here) -> None:
    """And by the verdict that it cannot be graded, which leaves a range."""
    full(here.folder)
    options = ("--actor", "Ada", "--reason", "half right")
    done = here("override", f"{RUN}/q9#1/j1", "--score", "2/4", "--verdict", "partial", *options)
    assert "o1 partial 2/4, by human Ada, seq 129" in done.out.replace("\n          ", " ")
    assert "exact     60.0 % 6/10 -> 65.0 % 6.5/10\n" in done.out
    assert "undo      ledger override 'fast-01/q9#1@s1/o1' --score 0 --reason TEXT\n" in done.out
    done = here("override", f"{RUN}/q9#1/o1", "--verdict", "not_gradable", *options)
    assert "exact     65.0 % 6.5/10 -> 60.0-70.0 % 6-7/10\n" in done.out
    assert "--verdict partial --score 2/4 --reason TEXT\n" in done.out


def test_reasons_are_gold_and_need_their_file(here: Here) -> None:
    """Without the gold file nothing is written: exit code 7."""
    path = full(here.folder)
    gold_path(path).unlink()
    assert here("override", WRONG, *words()).code == 7
    assert size_of(here.folder) == 128


def meanwhile(folder: Path) -> Callable[..., ReadModel]:
    """Return how a read side is opened while another person appends something just before."""
    opened, left = ReadModel.open, [1]

    def open_late(book: Ledger, *, as_of: int | None = None) -> ReadModel:
        model = opened(book, as_of=as_of)
        if as_of is None and left:
            left.pop()
            decided = ("--verdict", "correct", "--actor", "Bob", "--reason", "as good")
            # The first one has the projections' file for itself: nobody waits ten seconds for it.
            world = "from trial_ledger import keyed_file; keyed_file.LOCK_WAIT_SECONDS = 0.01"
            arguments = ("override", f"{RUN}/q4#1/j2", *decided[:-1], "so")
            assert ledger(folder, *arguments, before=world).code == 0
        return model

    return open_late


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["act", "dry run"])
def test_the_numbers_are_those_beside_the_event_whoever_else_writes(
    here: Here, monkeypatch: pytest.MonkeyPatch, dry: tuple[str, ...]
) -> None:
    """What another process appended in between counts as before."""
    full(here.folder)
    monkeypatch.setattr(reading, "LEAST_SLOTS", 1)
    monkeypatch.setattr(ReadModel, "open", staticmethod(meanwhile(here.folder)))
    document = here("override", WRONG, *words("--json", *dry)).json
    assert document["event"]["seq"] == 130
    (metric,) = document["metrics"]
    assert metric["before"]["headline"]["low"]["sum"] == "6"
    assert metric["after"]["headline"]["low"]["sum"] == "7"


def test_what_is_written_just_after_does_not_count(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number after an act is that of its own event."""
    full(here.folder)
    append = Ledger.append_all

    def append_and_more(*arguments: object, **fields: object) -> object:
        found = append(*arguments, **fields)  # type: ignore[arg-type]
        monkeypatch.setattr(Ledger, "append_all", append)
        other = ("override", f"{RUN}/q4#1/j2", "--verdict", "incorrect", "--actor", "Bob")
        assert ledger(here.folder, *other, "--reason", "no").code == 0
        return found

    monkeypatch.setattr(Ledger, "append_all", append_and_more)
    (metric,) = here("override", WRONG, *words("--json")).json["metrics"]
    assert metric["after"]["headline"]["low"]["sum"] == "7"
    assert "6-7/10" in here("scores", RUN).out


def test_an_override_in_a_run_without_a_number_says_why_there_is_none(
    here: Here, tmp_path: Path
) -> None:
    """Recall against a list that is not complete has none; the judgment changes all the same."""
    log = Log(tmp_path, rubric={
        "metrics": {"judged": {"measure": "verdict",
                               "outcomes": {"not_started": {"denominator": False},
                                            "correct": {"denominator": False}}}},
        "primary": "judged",
    })  # fmt: skip
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.ledger.close()
    decision = ("--verdict", "incorrect", "--actor", "Ada", "--reason", "no")
    done = here("override", f"{RUN}/q1#1/j1", *decision)
    assert "judged    unavailable: no planned slot counts -> 0.0 % 0/1\n" in done.out
    row = here("override", f"{RUN}/q1#1/o1", *words("--format", "jsonl")).rows[0]
    assert (row["low_before"], row["low_after"], row["count_after"]) == ("0", None, None)
