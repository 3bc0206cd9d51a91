"""Which column of a file is most likely what, by its name and its values.

Invariant: a role is given only where the values of the column fit it; what is left over is named as
left over, never given a role by exclusion.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from trial_ledger.importing.rows_judgments import WORDS
from trial_ledger.importing.rows_suggest_columns import Column, Sample

__all__ = ["NO_FAILURE", "VERDICT_WORDS", "Roles", "roles_of"]

Roles = Mapping[str, Column]
"""Role → its column."""

NAMES: Mapping[str, Sequence[str]] = {
    "id": (
        "question_id", "qid", "task_id", "example_id", "problem_id", "item_id", "case_id",
        "prompt_id", "doc_id", "test_id", "sample_id", "uid", "id", "nr", "no", "number", "index",
        "idx", "key", "case", "test", "task", "name",
    ),
    "question": (
        "question", "query", "problem", "prompt", "instruction", "input", "question_text",
        "user_input", "task_description", "description", "task",
    ),
    "answer": (
        "prediction", "model_answer", "predicted_answer", "model_output", "model_response",
        "response", "output", "completion", "final_answer", "generated_answer", "generation",
        "candidate", "report", "answer", "result_text",
    ),
    "gold": (
        "target", "gold", "gold_answer", "gold_answers", "ground_truth", "expected",
        "expected_answer", "expected_output", "reference", "reference_answer", "correct_answer",
        "right_answer", "ideal", "label", "answer", "answers",
    ),
    "verdict": (
        "verdict", "is_correct", "correct", "grade", "judgment", "judgement", "label", "passed",
        "pass", "is_resolved", "resolved", "success", "solved", "acceptable", "match",
        "exact_match", "em", "result", "outcome", "status", "score", "ok",
    ),
    "score": (
        "score", "overall_score", "total_score", "final_score", "reward", "rating", "accuracy",
        "f1", "quality", "points", "grade", "correctness", "judge_score", "mean_score",
    ),
    "reasoning": (
        "reasoning", "explanation", "rationale", "reason", "why", "judge_reasoning",
        "judge_explanation", "grader_reasoning", "feedback", "comment", "justification",
    ),
    "error": (
        "failure_mode", "error", "error_type", "exception", "failure", "error_message",
        "error_class", "failure_reason", "traceback",
    ),
    "repetition": (
        "repetition", "trial", "attempt", "epoch", "rep", "repeat", "run_number", "iteration",
        "sample_index", "trial_number", "replicate", "try",
    ),
    "configuration": (
        "configuration", "config", "system", "agent", "model", "model_name", "variant", "arm",
        "provider", "engine", "agent_name", "system_name",
    ),
    "started": (
        "started_at", "trial_started_at", "start_time", "started", "start", "timestamp",
        "created_at", "time_started", "date",
    ),
    "ended": (
        "ended_at", "trial_ended_at", "end_time", "ended", "end", "finished_at", "completed_at",
        "time_ended",
    ),
    "duration": (
        "latency", "latency_seconds", "latency_s", "latency_ms", "duration", "duration_seconds",
        "duration_s", "duration_ms", "elapsed", "elapsed_seconds", "elapsed_s", "elapsed_ms",
        "runtime", "runtime_s", "seconds", "time_s", "time_ms", "time_seconds", "time_taken",
        "response_time", "response_time_ms", "wall_time", "wall_time_seconds", "time", "ms",
    ),
    "input_tokens": (
        "input_tokens", "prompt_tokens", "total_input_tokens", "tokens_in", "in_tokens",
        "agent_tokens_input", "tokens_input", "usage_input_tokens", "usage_prompt_tokens",
        "n_input_tokens", "input_token_count",
    ),
    "output_tokens": (
        "output_tokens", "completion_tokens", "total_output_tokens", "tokens_out", "out_tokens",
        "agent_tokens_output", "tokens_output", "usage_output_tokens", "usage_completion_tokens",
        "n_output_tokens", "output_token_count",
    ),
    "cost": (
        "cost_usd", "cost", "total_cost_usd", "total_cost", "price_usd", "usd", "price",
        "cost_dollars", "agent_cost", "agent_cost_usd",
    ),
    "citations": ("citations", "sources", "urls", "cited_urls", "references"),
}  # fmt: skip
"""Role → names of columns that have it, the surest first."""

VERDICT_WORDS: Mapping[str, str] = {
    **WORDS,
    "c": "correct",
    "i": "incorrect",
    "p": "partial",
    "n": "abstained",
    "partially_correct": "partial",
    "partially correct": "partial",
    "not attempted": "abstained",
    "not_attempted": "abstained",
    "abstain": "abstained",
    "refused": "abstained",
    "success": "correct",
    "solved": "correct",
    "resolved": "correct",
    "acceptable": "correct",
    "ok": "correct",
    "failure": "incorrect",
    "unsolved": "incorrect",
    "unresolved": "incorrect",
    "unacceptable": "incorrect",
    "nan": "lost_in_source",
    "none": "unjudged",
    "null": "unjudged",
    "n/a": "unjudged",
    "error": "judge_failed",
}
"""What the words that people use for verdicts mean; more than a map accepts without saying so."""

NO_FAILURE = frozenset(
    {"unset", "none", "null", "no", "no_error", "ok", "success", "false", "nan", "0", "n/a"}
)
"""Words in a column of errors that mean that there was none."""

SUREST_LENGTH = 4
"""A name that is as long says enough as the end of another: `evaluation_grade`."""
BY_ENDING = frozenset({"verdict", "score", "question", "answer", "gold", "reasoning", "duration"})
"""Roles that such an ending gives; not cost, whose account it would not tell."""
FEW = 30
"""Columns of verdicts and of systems have at most so many different values."""


def is_text(column: Column) -> bool:
    return column.known > 0 and column.truths == 0


def is_key(column: Column) -> bool:
    return column.empty == 0 and column.lists == 0 and column.truths == 0


def is_verdict(column: Column) -> bool:
    words = {text.strip().lower() for text in column.distinct}
    return 0 < len(words) <= FEW and words <= set(VERDICT_WORDS) and words != {"null"}


def is_score(column: Column) -> bool:
    return column.known > 0 and column.numbers >= column.known - nan_count(column)


def nan_count(column: Column) -> int:
    return sum(count for text, count in column.distinct.items() if text.lower() == "nan")


def is_amount(column: Column) -> bool:
    return column.is_number and not any(text.startswith("-") for text in column.distinct)


def is_position(column: Column) -> bool:
    return is_amount(column) and all(text.isdigit() for text in column.distinct)


def is_group(column: Column) -> bool:
    return column.empty == 0 and column.lists == 0 and len(column.distinct) <= FEW


def is_time(column: Column) -> bool:
    return column.known > 0 and all(
        column.is_number or text[:4].isdigit() for text in column.distinct
    )


def is_anything(column: Column) -> bool:
    return column.known > 0


FITS: Mapping[str, Callable[[Column], bool]] = {
    "id": is_key,
    "question": is_text,
    "answer": is_text,
    "gold": is_anything,
    "verdict": is_verdict,
    "score": is_score,
    "reasoning": is_text,
    "error": is_anything,
    "repetition": is_position,
    "configuration": is_group,
    "started": is_time,
    "ended": is_time,
    "duration": is_amount,
    "input_tokens": is_amount,
    "output_tokens": is_amount,
    "cost": is_amount,
    "citations": is_anything,
}
"""Role → whether the values of a column fit it."""

ORDER = (
    "duration", "input_tokens", "output_tokens", "cost", "error", "started", "ended", "id",
    "repetition", "verdict", "score", "reasoning", "question", "answer", "gold", "citations",
    "configuration",
)  # fmt: skip
"""In which order roles choose, since a column has one role."""


def roles_of(sample: Sample) -> Roles:
    """Return the role of every column that has one."""
    taken: dict[str, Column] = {}
    for role in ORDER:
        for column in ranked(role, sample.columns):
            if column not in taken.values() and FITS[role](column):
                taken[role] = column
                break
    if "verdict" in taken and "score" not in taken and taken["verdict"].name == "score":
        taken["score"] = taken.pop("verdict")
    return taken


def ranked(role: str, columns: Sequence[Column]) -> Iterator[Column]:
    """Yield the columns whose name is one of a role's, the surest first."""
    leaves = [(column, Column(path=column.path[-1:]).name) for column in columns]
    for name in NAMES[role]:
        yield from (column for column, _ in leaves if column.name == name)
        yield from (column for column, leaf in leaves if leaf == name)
    for name in NAMES[role] if role in BY_ENDING else ():
        yield from (
            column
            for column, leaf in leaves
            if len(column.path) == 1 and leaf.endswith(f"_{name}") and len(name) >= SUREST_LENGTH
        )
