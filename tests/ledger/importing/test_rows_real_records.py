"""Real records under a map: their published numbers, their failures, and suggested maps."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from rows_cases import data, losses, outcomes
from source_cases import REAL_DATA, needs
from trial_ledger.importing.rows import read_rows
from trial_ledger.importing.rows_suggest import suggest_map
from trial_ledger.importing.source import ImportedRun

pytestmark = [
    needs("gptr-deepagents"),
    needs("terminal-bench-orca"),
    needs("taubench-gpt4o-airline"),
    needs("openqa-eval-nq301"),
    needs("drb-race-claude37"),
]

SHORT_ANSWERS = """
format = "json"
rows = "systems.*.records"
name = "simpleqa"
configuration = "*"
system = {model = "$.run_metadata.model"}
question = "question"
answer = "prediction"
duration = {path = "latency_seconds", unknown = [0], when = {path = "prediction", is = [""]}}
[gold]
answer = "target"
[metrics.correct]
by = "model"
[metrics.correct.verdict]
path = "grade"
map = {CORRECT = "correct", INCORRECT = "incorrect", NOT_ATTEMPTED = "abstained"}
[spend.agent]
input_tokens = "agent_tokens.input"
output_tokens = "agent_tokens.output"
"""
TERMINAL = """
format = "json"
rows = "results"
configuration = {const = "orca"}
id = "task_id"
question = "instruction"
repetition = {path = "trial_name", parts = [[".", -2], ["-of-", 0]]}
started = "trial_started_at"
ended = "trial_ended_at"
[metrics.resolved]
verdict = "is_resolved"
[spend.agent]
input_tokens = {path = "total_input_tokens", unknown = [0]}
[[failures]]
value = "failure_mode"
none = ["unset"]
[failures.classes]
agent_timeout = {class = "agent_timeout", fault = "agent"}
test_timeout = {class = "timeout", fault = "harness"}
parse_error = {class = "harness_error", fault = "harness"}
unknown_agent_error = {class = "environment", fault = "environment"}
"""
AIRLINE = """
format = "json"
configuration = {const = "gpt-4o-tc"}
id = "task_id"
repetition = {path = "trial", from = 0}
[metrics.reward]
score = "reward"
[calls]
rows = "traj"
name = {path = "name", optional = true}
response = "content"
[calls.purpose]
path = "role"
map = {tool = "tool", assistant = "model", system = "none", user = "none"}
[[calls.failures]]
when = {path = "content", starts = "Error"}
class = "tool_error"
"""


def read(folder: Path, place: str, text: str) -> list[ImportedRun]:
    """Return the runs of a real file under a map."""
    row_map = folder / "map.toml"
    row_map.write_text(text)
    return read_rows(REAL_DATA / place, row_map)


def test_two_search_agents_are_two_runs_with_their_published_counts(tmp_path: Path) -> None:
    """The arms of a file are runs; labels, tokens and the rate are those of its summary."""
    found = read(tmp_path, "gptr-deepagents/simpleqa_2026-07-04_13-07-09_n30.json", SHORT_ANSWERS)
    counts = [Counter(one["verdict"] for one in data(run, "judgment.recorded")) for run in found]
    assert counts == [
        {"correct": 23, "incorrect": 5, "abstained": 2},
        {"correct": 19, "incorrect": 7, "abstained": 4},
    ]
    tokens = [
        sum(one["usage"]["input_tokens"] for one in data(run, "call.finished")) for run in found
    ]
    assert tokens == [728_316, 699_103]


def test_terminal_tasks_keep_what_was_null_and_what_was_zero(tmp_path: Path) -> None:
    """240 slots, 20 resolved as published; 83 token counts of 0 are unknown, nulls are errors."""
    (run,) = read(tmp_path, "terminal-bench-orca/qwen3-32b_all.json", TERMINAL)
    assert len(run.manifest.questions or ()) == 80
    assert run.manifest.repetitions == 3
    verdicts = Counter(one["verdict"] for one in data(run, "judgment.recorded"))
    assert Fraction(verdicts["correct"], 240) == Fraction(1, 12)
    assert Counter(outcomes(run)) == {"answered": 225, "errored": 15}
    assert "Values that the map declares unknown, spend.agent.input_tokens: 83 in the file." in (
        losses(run)
    )


def test_tool_errors_of_an_agent_are_recovered_by_later_successes(tmp_path: Path) -> None:
    """200 trajectories: 84 rewards, 73 tool errors, 49 of them made good by the same tool."""
    (run,) = read(tmp_path, "taubench-gpt4o-airline/gpt-4o-airline.json", AIRLINE)
    assert Counter(one["score"] for one in data(run, "judgment.recorded")) == {"0": 116, "1": 84}
    assert len(data(run, "failure.occurred")) == 73
    assert len(data(run, "failure.recovered")) == 49


@pytest.mark.parametrize(
    ("place", "rows"),
    [
        ("gptr-deepagents/simpleqa_2026-07-04_13-07-09_n30.json", 60),
        ("gptr-deepagents/frames_2026-07-04_14-38-19_n20.json", 20),
        ("gptr-deepagents/eval_2026-05-29_19-03-20_n3.jsonl", 3),
        ("terminal-bench-orca/qwen3-30b-a3b_all.json", 240),
        ("taubench-gpt4o-airline/gpt-4o-airline.json", 200),
        ("openqa-eval-nq301/NQ301_human.tsv", 1490),
        ("openqa-eval-nq301/NQ301_gpt-4.tsv", 1490),
        ("openqa-eval-nq301/NQ301_BEM.tsv", 1490),
        ("drb-race-claude37/raw_results.jsonl", 100),
    ],
)
def test_a_suggested_map_is_accepted_by_its_file(tmp_path: Path, place: str, rows: int) -> None:
    """Real files of five sources come in under the map that was suggested for them."""
    found = read(tmp_path, place, suggest_map(REAL_DATA / place))
    assert sum(len(data(run, "trial.started")) for run in found) == rows
    assert all(data(run, "judgment.recorded") for run in found)
