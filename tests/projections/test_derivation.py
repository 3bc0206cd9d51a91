"""The events behind one number: members, groups, what was left out and why (C34)."""

from fractions import Fraction
from pathlib import Path

from ledger_cases import RUN, full_ledger
from projection_cases import Log
from trial_ledger.book import Ledger
from trial_projections.derivation import Derivation, Member, OtherSession, SlotGroup, derive
from trial_projections.reading import ReadModel


def derivation_of(log: Log, metric: str, *, members: bool = True) -> Derivation:
    """Return the derivation of a metric of the run."""
    with log.model() as model:
        run = model.run(log.run)
        return derive(model.score_input(run), run, metric, size=model.size, members=members)


def members_of(found: Derivation) -> dict[str, Member]:
    """Return the members by question."""
    assert found.members is not None
    return {member.question: member for member in found.members}


def roles(member: Member) -> list[str]:
    """Return the roles of a member's events in the order of the log."""
    return [event.role for event in member.events]


def sample(ledger: Ledger, metric: str) -> Derivation:
    """Return a derivation of the sample run."""
    model = ReadModel.open(ledger)
    run = model.run(RUN)
    found = derive(model.score_input(run), run, metric, size=model.size, members=True)
    model.close()
    return found


def test_c34_the_number_can_be_recomputed_from_the_members_alone(tmp_path: Path) -> None:
    """Sums over the lowest and highest score of every member that is not excluded."""
    with full_ledger(tmp_path) as ledger:
        for metric in ("exact", "judged"):
            found = sample(ledger, metric)
            assert found.score.headline is not None
            counted = [known for known in found.members or [] if known.excluded is None]
            low = sum(Fraction(str(known.low)) for known in counted)
            high = sum(Fraction(str(known.high)) for known in counted)
            assert found.score.headline.low.value == str(low / len(counted))
            assert found.score.headline.high.value == str(high / len(counted))


def test_c34_every_event_is_named_by_place_and_hash(tmp_path: Path) -> None:
    """Each is in the log at that place, with those bytes, and about that trial."""
    with full_ledger(tmp_path) as ledger:
        found = sample(ledger, "judged")
        members = members_of(found)
        for member in members.values():
            assert [event.seq for event in member.events] == sorted(
                event.seq for event in member.events
            )
            for event in member.events:
                stored = ledger.read(event.seq)
                assert (stored.hash, str(stored.event.trial)) == (event.hash, member.trial)
    assert roles(members["q1"]) == ["started", "failure", "finished"]
    assert roles(members["q3"]) == ["started", "answer", "finished", "failed judgment"]
    assert roles(members["q8"]) == ["started", "answer", "finished", "judgment", "invalidated"]
    assert roles(members["q7"])[-2:] == ["invalidated", "reinstated"]
    assert roles(members["q10"])[-2:] == ["judgment", "override"]
    assert (members["q10"].by, members["q10"].grader) == ("human", "Ada")
    assert (members["q10"].judgment, members["q9"].judgment) == ("j3", "j2")


def test_c34_the_documents_and_the_log_are_named(log: Log) -> None:
    """Manifest, rubric, dataset, rules, size and links: what the number depends on."""
    log.trial("q1")
    found = derivation_of(log, "judged", members=False)
    assert found.members is None
    assert (found.size, found.link, found.run) == (log.ledger.store.size(), 4, RUN)
    assert (found.rubric, found.dataset) == ("quality@1", "example@1")
    registry = log.ledger.registry()
    assert registry.places[found.manifest] < registry.places[found.rubric_hash] + 2
    assert found.rules == {"unjudged": "undecided", "not_started": "scores 0"}
    assert (found.derived_from, found.derived_link) == (None, None)


def test_c34_what_was_left_out_says_why(log: Log) -> None:
    """A trial outside of the denominator stays listed, with the rule that takes it out."""
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    found = derivation_of(log, "judged")
    member = members_of(found)["q1"]
    assert (member.low, member.high, member.basis) == (None, None, "nothing")
    assert member.excluded == "invalidated: not in the denominator"
    assert roles(member) == ["started", "invalidated"]
    assert found.rules["invalidated"] == "not in the denominator"
    assert found.groups[0].ground == "left out"
    never = members_of(found)["q2"]
    assert (never.trial, never.events) == (None, [])


def test_c16_sessions_that_do_not_count_are_named(log: Log) -> None:
    """With how they ended, and which one counts in their place."""
    log.trial("q1", outcome=None, answer=None)
    log.trial("q1", session="s2")
    log.trial("q1", session="s3", outcome="refused")
    assert derivation_of(log, "judged").others == [
        OtherSession(trial="q1#1@s1", instead="q1#1@s2", outcome=None),
        OtherSession(trial="q1#1@s3", instead="q1#1@s2", outcome="refused"),
    ]


def test_c31_other_passes_and_the_whole_chain_of_overrides_are_listed(log: Log) -> None:
    """What decides is told apart from what another pass said."""
    log.trial("q1")
    log.judge("q1", "judged", "correct", name="j1", pass_=1)
    log.judge("q1", "judged", "incorrect", name="j2", pass_=2)
    log.judge("q1", "exact", "1", name="j3")
    for replaces, name in (("j1", "o1"), ("o1", "o2"), ("j2", "o3")):
        log.act(
            "judgment.overridden", "q1", judgment=name, replaces=replaces, verdict="partial",
            reason="half of it",
        )  # fmt: skip
    member = members_of(derivation_of(log, "judged"))["q1"]
    assert roles(member)[3:] == [
        "judgment", "other judgment", "override", "override", "other override",
    ]  # fmt: skip
    assert (member.judgment, member.low) == ("o2", "1/2")


def test_a_recovered_failure_that_ended_nothing_is_named_with_its_recovery(log: Log) -> None:
    """Only failures that were said to end the trial are behind its score."""
    log.act("trial.started", "q1", input="which?")
    for name, impact in (("f1", "trial_failed"), ("f2", "degraded")):
        log.act("failure.occurred", "q1", occurrence=name, class_="timeout", impact=impact)
    log.act("failure.recovered", "q1", occurrence="f1", by="retry")
    log.act("trial.finished", "q1", outcome="errored")
    member = members_of(derivation_of(log, "judged"))["q1"]
    assert roles(member) == ["started", "failure", "recovered", "finished"]
    assert member.outcome == "trial_errored"


def test_slots_that_count_alike_are_a_group(log: Log) -> None:
    """By ground, class and score; who decided, and the first few by name."""
    for number in range(1, 10):
        log.trial(f"q{number}")
    for number in range(1, 9):
        log.judge(f"q{number}", "judged", "correct")
    assert derivation_of(log, "judged").groups == [
        SlotGroup(
            ground="judged", outcome="correct", low="1", high="1", count=8, by={"model": 8},
            slots=["q1#1", "q2#1", "q3#1", "q4#1", "q5#1", "q6#1"],
        ),
        SlotGroup(
            ground="undecided", outcome="unjudged", low=None, high=None, count=1, by={},
            slots=["q9#1"],
        ),
        SlotGroup(
            ground="by rule", outcome="not_started", low="0", high="0", count=1, by={},
            slots=["q10#1"],
        ),
    ]  # fmt: skip
    assert derivation_of(log, "judged").graders == {"judge@1": 8}


def test_many_values_are_one_group_with_its_ends(log: Log) -> None:
    """Few values of a class stand apart, many together."""
    scores = ["1/7", "2/7", "3/7", "4/7", "5/7", "10/14", "6/7", "1"]
    for number, score in enumerate(scores[:6], 1):
        log.trial(f"q{number}")
        log.judge(f"q{number}", "exact", score)
    apart = [group for group in derivation_of(log, "exact").groups if group.outcome == "scored"]
    assert [(group.low, group.count) for group in apart] == [
        ("1/7", 1), ("2/7", 1), ("3/7", 1), ("4/7", 1), ("5/7", 2),
    ]  # fmt: skip
    for number, score in enumerate(scores[6:], 7):
        log.trial(f"q{number}")
        log.judge(f"q{number}", "exact", score)
    together = derivation_of(log, "exact").groups[0]
    assert (together.low, together.high, together.count) == ("1/7", "1", 8)


def test_a_derived_run_names_the_part_of_its_parent_that_it_judges(log: Log) -> None:
    """Members rest on events of both runs."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    log.judge("q1", "judged", "correct")
    found = derivation_of(log, "judged")
    assert (found.derived_from, found.derived_link, found.link) == (RUN, 4, 2)
    runs = [log.ledger.read(event.seq).event.run for event in members_of(found)["q1"].events]
    assert runs == [RUN, RUN, RUN, "again"]


def test_names_are_escaped_as_in_the_log(tmp_path: Path) -> None:
    """A member's trial is what the command line takes."""
    with full_ledger(tmp_path) as ledger:
        found = sample(ledger, "exact")
        names = {str(stored.event.trial) for stored in ledger.events() if stored.event.trial}
    assert {member.trial for member in found.members or []} <= names
