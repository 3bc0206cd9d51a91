"""The names that people give to columns, and the words that they write into them.

Invariant: data only; what a name suggests is believed only where the values of the column fit.
"""

from collections.abc import Mapping, Sequence

from trial_ledger.importing.rows_judgments import WORDS

__all__ = ["NAMES", "NO_FAILURE", "TELLING", "VERDICT_WORDS"]

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
        "candidate", "report", "sampled", "answer", "result_text",
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
        "created_at", "time_started", "ts", "date",
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

TELLING = frozenset(
    name for role in ("question", "answer", "verdict", "score", "gold") for name in NAMES[role]
)
"""Names that rows of results have and other lists in a document do not."""

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
