"""Time and tokens: what nobody measured is counted apart, or taken for 0 by a rule that says so."""

from projection_cases import Log
from rule_cases import ruled, value


def timed(log: Log, *durations: int | None) -> None:
    """Append a trial of q1, q2 and so on, which took so many seconds; None is unknown."""
    for number, seconds in enumerate(durations, 1):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        end = {"outcome": "answered", "duration_us": None if seconds is None else seconds * 10**6}
        log.append("trial.finished", f"q{number}", end)


def test_an_unknown_duration_is_0_only_where_the_rule_says_so(log: Log) -> None:
    """The mean and the upper median of what is known, and of the same with zeros."""
    timed(log, 4, None, 10, 1)
    mean = ruled(log, "mean_latency")
    assert (mean.value, mean.count, mean.unit) == ("5", 3, "s")
    assert (mean.left_out, mean.assumed) == ({"duration unknown": 1}, {})
    zero = ruled(log, "mean_latency_unknown_as_zero")
    assert (zero.value, zero.assumed) == ("15/4", {"unknown duration as 0": 1})
    assert value(log, "upper_median_latency") == "4"
    assert value(log, "upper_median_latency_unknown_as_zero") == "4"


def test_no_duration_is_no_number(log: Log) -> None:
    """Two unknown ones have no mean, and a mean of 0 under the rule that takes them for 0."""
    assert ruled(log, "upper_median_latency_unknown_as_zero").value is None
    timed(log, None, None)
    assert ruled(log, "mean_latency").reason == "no trial's duration is known"
    assert value(log, "mean_latency_unknown_as_zero") == "0"


def call(log: Log, question: str, tokens: int | None) -> None:
    """Append a trial with one model call; None is a call that tells no tokens."""
    log.append("trial.started", question, {"input": "which?"})
    log.act("call.started", question, call="c1", purpose="model", endpoint="model")
    usage = None if tokens is None else {"input_tokens": tokens}
    log.act("call.finished", question, call="c1", status="ok", usage=usage)
    log.append("trial.finished", question, {"outcome": "answered"})


def test_tokens_add_up_only_where_every_call_tells_them(log: Log) -> None:
    """A sum with an unknown part is no total; the known part has a name of its own."""
    call(log, "q1", 300)
    assert value(log, "usage:input_tokens") == "300"
    call(log, "q2", None)
    assert ruled(log, "usage:input_tokens").reason == "1 of 2 calls do not tell their input_tokens"
    known = ruled(log, "usage_known:input_tokens")
    assert (known.value, known.unit, known.count) == ("300", "tokens", 1)
    assert known.left_out == {"input_tokens unknown": 1}
    assert ruled(log, "usage:output_tokens").reason == "no call tells its output_tokens"


def test_a_run_without_calls_has_no_tokens(log: Log) -> None:
    """Not 0."""
    assert ruled(log, "usage:input_tokens").value is None
