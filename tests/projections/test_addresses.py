"""What a name on the command line means: a run, a trial, a judgment."""

import pytest

from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.errors import AmbiguousError, InvalidInputError, NotFoundError
from trial_projections.addresses import About, Found, find_judgment, find_run_or_trial


@pytest.fixture
def judged(log: Log) -> Log:
    """A run with judgments of names alike and of names of their own, and one that failed."""
    for question in ("q1", "q2", "q3"):
        log.trial(question)
    log.judge("q1", "judged", "correct", name="j1")
    log.judge("q2", "judged", "incorrect", name="j1")
    log.judge("q2", "exact", "1", name="own/part 1")
    log.act("failure.occurred", "q3", occurrence="f1", class_="judge_error", fault="judge")
    log.act(
        "judgment.failed", "q3", judgment="cut", metric="judged", reason="judge_failed",
        occurrence="f1",
    )  # fmt: skip
    return log


def found(log: Log, name: str) -> Found:
    """Return the judgment that a name means."""
    with log.model() as model:
        return find_judgment(model, name)


@pytest.mark.parametrize(
    "name",
    [
        f"{RUN}/q2#1@s1/own/part 1",
        f"{RUN}/q2#1/own/part 1",
        "fast/q2#1/own",
        "own/part 1",
        "own",
        "own/",
    ],
)
def test_a_judgment_is_named_in_full_or_by_what_only_it_has(judged: Log, name: str) -> None:
    """The address that is printed is accepted, and anything that means one judgment."""
    match = found(judged, name)
    assert str(match.about) == f"{RUN}/q2#1@s1/own/part 1"
    assert (match.about.metric, match.judgment.score) == ("exact", "1")
    assert match.effective is match.judgment


def test_a_name_of_several_lists_them(judged: Log) -> None:
    """With the addresses that tell them apart."""
    with pytest.raises(AmbiguousError) as caught:
        found(judged, "j")
    assert caught.value.message.endswith(f"ambiguous: {RUN}/q1#1@s1/j1, {RUN}/q2#1@s1/j1")
    assert caught.value.hint == "name it as run/trial/judgment"


def test_an_exact_id_wins_over_longer_ones(judged: Log) -> None:
    """In its trial and in the whole ledger."""
    judged.judge("q1", "exact", "1", name="j11")
    judged.judge("q3", "exact", "1", name="own")
    assert found(judged, f"{RUN}/q1#1/j1").judgment.id == "j1"
    assert str(found(judged, "own").about) == f"{RUN}/q3#1@s1/own"
    assert found(judged, f"{RUN}/q1#1/j11").judgment.id == "j11"
    with pytest.raises(AmbiguousError):
        found(judged, f"{RUN}/q1#1/j")


@pytest.mark.parametrize(
    "name", ["gone", "", f"{RUN}/q1#1/gone", f"{RUN}/q9#1/j1", "a/b/c", "q1#1/j1", "\udcff"]
)
def test_an_unknown_judgment(judged: Log, name: str) -> None:
    """The hint says where they are listed."""
    with pytest.raises(NotFoundError, match="no judgment") as caught:
        found(judged, name)
    assert caught.value.hint == "ledger trials RUN --json lists them by trial"


def test_an_unknown_run_of_a_judgment_is_told_as_such(judged: Log) -> None:
    """And a trial in another form likewise."""
    with pytest.raises(NotFoundError, match="no run 'slow'"):
        found(judged, "slow/q1#1/j1")
    with pytest.raises(InvalidInputError, match="trial not acceptable"):
        found(judged, f"{RUN}/q1#0/j1")


def test_a_judgment_without_a_verdict_is_told_as_such(judged: Log) -> None:
    """There is nothing to decide otherwise than."""
    for name in ("cut", f"{RUN}/q3#1/cut"):
        with pytest.raises(NotFoundError, match=f"{RUN}/q3#1@s1/cut gave no verdict"):
            found(judged, name)


def test_the_judgment_in_force_is_the_end_of_the_chain(judged: Log) -> None:
    """Whichever link of it is named."""
    for name, replaces in (("o1", "j1"), ("o2", "o1")):
        judged.act(
            "judgment.overridden", "q1", judgment=name, replaces=replaces, verdict="partial",
            reason="half",
        )  # fmt: skip
    for name in ("j1", "o1", "o2"):
        assert found(judged, f"{RUN}/q1#1/{name}").effective.id == "o2"


def about(log: Log, name: str) -> About:
    """Return the run or trial that a name means."""
    with log.model() as model:
        return find_run_or_trial(model, name)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        (RUN, RUN),
        ("fast", RUN),
        (f"{RUN}/q1#1", f"{RUN}/q1#1@s1"),
        ("fast/q1#1@s1", f"{RUN}/q1#1@s1"),
    ],
)
def test_a_run_or_a_trial(judged: Log, name: str, address: str) -> None:
    """A run may be given by a prefix, a session of `s1` left out."""
    assert str(about(judged, name)) == address


def test_a_trial_of_a_question_with_a_slash(judged: Log) -> None:
    """Its address is escaped, and accepted as it is written too."""
    with judged.model() as model, pytest.raises(NotFoundError, match="no trial a%2Fb#1@s1"):
        find_run_or_trial(model, f"{RUN}/a/b#1")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("slow", NotFoundError, "no run 'slow'"),
        ("", NotFoundError, "no run ''"),
        ("slow/q1#1", NotFoundError, "no run 'slow'"),
        (f"{RUN}/q9#1", NotFoundError, f"no trial q9#1@s1 in {RUN}"),
        (f"{RUN}/q1#1@s2", NotFoundError, f"no trial q1#1@s2 in {RUN}"),
        ("q1#1", InvalidInputError, "command line not acceptable"),
        (f"{RUN}/", InvalidInputError, "trial not acceptable"),
        (f"{RUN}/q1", InvalidInputError, "trial not acceptable"),
    ],
)
def test_what_is_no_run_and_no_trial(
    judged: Log, name: str, error: type[Exception], message: str
) -> None:
    """Each is told by what is missing."""
    with pytest.raises(error, match=message):
        about(judged, name)


def test_c14_a_trial_of_a_derived_run_is_left_to_the_guard(judged: Log) -> None:
    """It exists in the parent; the guard says so with the clause."""
    judged.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    assert str(about(judged, "again/q1#1")) == "again/q1#1@s1"


def test_a_trial_that_never_started_is_none(log: Log) -> None:
    """A failure may be recorded of it all the same."""
    log.act("failure.occurred", "q1", occurrence="f1", class_="other", detail_class="lost")
    with pytest.raises(NotFoundError, match="no trial q1#1@s1"):
        about(log, f"{RUN}/q1#1")
