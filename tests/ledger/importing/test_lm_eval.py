"""An evaluation of the lm-evaluation-harness as a run: its events, their texts and ids."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_cases import (
    RESULTS,
    SAMPLES,
    TASK,
    Evaluation,
    Stated,
    config,
    digest,
    events,
    json_of,
    line,
    losses,
    of_kind,
    reported,
    results,
    text,
)
from trial_ledger.importing.appending import append_run, append_runs
from trial_ledger.importing.lenient_json import parse_json
from trial_ledger.importing.lm_eval import read_lm_eval
from trial_ledger.importing.lm_eval_values import number_of
from trial_ledger.importing.source import SOURCE_KEYS
from trial_ledger.submission import NewText

FILTERS = [{"name": "first", "filter": []}, {"name": "maj3", "filter": [{"k": 3}]}]
TWO_FILTERS = {"exact_match,first": 0.5, "exact_match,maj3": 0.5}


def test_a_run_has_its_events_in_order(evaluation: Evaluation) -> None:
    """From the start to the end, each document whole before the next one, sources last."""
    run = evaluation.run(line(0), line(1))
    trial = [
        "trial.started", "call.started", "call.finished", "answer.submitted", "trial.finished",
        "judgment.recorded",
    ]  # fmt: skip
    assert [event.kind for event in events(run)] == [
        "run.opened", *trial, *trial, "note.added", "note.added", "source.imported",
        "source.imported", "run.closed",
    ]  # fmt: skip
    assert {event.actor.name for event in events(run) if event.actor} == {"lm-eval"}
    evaluation.appended(run).close()


def test_only_the_start_has_a_time(evaluation: Evaluation) -> None:
    """The harness writes when the evaluation started, and nothing else."""
    opened, *others = events(evaluation.run())
    assert opened.at == "2026-01-02T03:04:05.500000Z"
    assert all(event.at is None and event.at_unknown for event in others)


@pytest.mark.parametrize("date", [None, "yesterday", -1, 1e30])
def test_a_start_that_is_no_time_is_unknown(evaluation: Evaluation, date: object) -> None:
    """Neither now nor 1970."""
    run = evaluation.run(date=date)
    assert events(run)[0].at is None
    unknown = "When the evaluation ran is not shown: the results have no date."
    assert (unknown in losses(run)) == (not isinstance(date, int | float))


def test_a_second_import_appends_nothing_wherever_the_files_lie(evaluation: Evaluation) -> None:
    """Neither names of folders nor dates in file names are part of anything."""
    run = evaluation.run()
    elsewhere = evaluation.folder / "elsewhere"
    elsewhere.mkdir()
    for name in (RESULTS, SAMPLES):
        renamed = name.replace("2026", "2031")
        (elsewhere / renamed).write_bytes((evaluation.folder / name).read_bytes())
    (moved,) = read_lm_eval(elsewhere)
    assert moved.name == run.name
    with evaluation.appended(run) as ledger:
        size = ledger.head().size
        assert {one.status for one in append_run(ledger, moved)} == {"exists"}
        assert ledger.head().size == size


def test_the_same_events_come_at_every_call(evaluation: Evaluation) -> None:
    """Counts start anew each time, and no id is given twice."""
    run = evaluation.run()
    assert events(run) == events(run)
    ids = [event.id for event in events(run)]
    assert len(ids) == len(set(ids))


def test_either_file_makes_another_run(evaluation: Evaluation) -> None:
    """One that names the first: same start, same model, same task, other bytes."""
    first = evaluation.run()
    other = evaluation.run(transformers_version="5")
    third = evaluation.run(line(0, resps=[["?"]]), line(1))
    assert len({first.name, other.name, third.name}) == 3
    assert first.source_keys == other.source_keys == third.source_keys
    with evaluation.appended(first) as ledger:
        append_run(ledger, other)
        related = [one.event.run for one in ledger.events() if one.event.kind == "run.related"]
        assert sorted(map(str, related)) == sorted([first.name, other.name])


def test_an_evaluation_without_a_date_has_no_key(evaluation: Evaluation) -> None:
    """Nothing else tells two evaluations apart."""
    run = evaluation.run(date=None)
    assert run.source_keys == ()
    assert SOURCE_KEYS not in [note["about"] for note in of_kind(run, "note.added")]


def test_c16_repeats_are_responses_of_one_trial(evaluation: Evaluation) -> None:
    """Each with its request; the answer is the filtered one, and each filter judges once."""
    responses = ["Paris", "Rome", "Paris"]
    lines = [
        line(0, filter_=name, resps=[responses], filtered_resps=[answer])
        for name, answer in (("first", "Rome"), ("maj3", "Paris"))
    ]
    run = evaluation.run(*lines, numbers=TWO_FILTERS, task={"repeats": 3, "filter_list": FILTERS})
    assert [call["call"] for call in of_kind(run, "call.started")] == [
        "gen_args_0#1", "gen_args_0#2", "gen_args_0#3",
    ]  # fmt: skip
    assert [text(call["response"]) for call in of_kind(run, "call.finished")] == responses
    (answer,) = of_kind(run, "answer.submitted")
    assert text(answer["answer"]) == "Rome"
    judged = list(of_kind(run, "judgment.recorded"))
    assert [(one["metric"], text(one["shown"])) for one in judged] == [
        ("exact_match,first", "Rome"),
        ("exact_match,maj3", "Paris"),
    ]
    assert judged[0]["grader"]["digest"] != judged[1]["grader"]["digest"]
    assert any(
        "different answers: 1; the answer here is that of filter first" in loss
        for loss in losses(run)
    )
    assert run.rubric.primary == "exact_match,first"


def test_a_judgment_is_exact_and_says_what_was_written(evaluation: Evaluation) -> None:
    """0.1 is a tenth and no binary float near it."""
    run = evaluation.run(
        line(0, exact_match=0.1), line(1, exact_match=3), line(2, exact_match=True)
    )
    judged = list(of_kind(run, "judgment.recorded"))
    assert [one["score"] for one in judged] == ["1/10", "3", "1"]
    assert [one["parts"][0]["outcome"] for one in judged] == ["0.1", "3", "true"]
    assert {(one["by"], one["grader"]["name"], one["grader"]["version"]) for one in judged} == {
        ("code", "exact_match", "0.4.13")
    }
    assert run.rubric.metrics["exact_match,none"].scale == ("0", "3")


@pytest.mark.parametrize("value", [[-1.5, 7], "yes", float("nan"), 10**300])
def test_what_is_no_number_is_undecided_and_said(evaluation: Evaluation, value: object) -> None:
    """A pair for a perplexity is not 0."""
    run = evaluation.run(line(0, exact_match=value), line(1))
    first, _ = of_kind(run, "judgment.recorded")
    assert (first["verdict"], first.get("score")) == (
        "not_gradable",
        None,
    )
    assert any(
        "that are no numbers" in loss and "exact_match,none 1" in loss for loss in losses(run)
    )
    evaluation.appended(run).close()


def test_a_metric_that_the_samples_lack_is_lost_in_the_source(evaluation: Evaluation) -> None:
    """Reported once, and nowhere to be found: no verdict, neither right nor wrong."""
    numbers = {"exact_match,none": 0.5, "f1,none": 0.25}
    run = evaluation.run(numbers=numbers)
    lost = list(of_kind(run, "judgment.failed"))
    assert [(one["metric"], one["reason"]) for one in lost] == [("f1,none", "lost_in_source")] * 2
    assert any("samples do not hold: f1,none 2." in loss for loss in losses(run))


def test_a_metric_that_only_the_samples_have_is_judged_too(evaluation: Evaluation) -> None:
    """What the results leave out is no reason to lose a verdict."""
    run = evaluation.run(line(0, metrics=["exact_match", "bleu"], bleu=0.5), line(1))
    assert list(run.rubric.metrics) == ["exact_match,none", "bleu,none"]
    assert [one["metric"] for one in of_kind(run, "judgment.failed")] == ["bleu,none"]


def test_multiple_choice_keeps_every_likelihood(evaluation: Evaluation) -> None:
    """One prompt, a call a choice; the answer is all of the filtered responses."""
    arguments = {
        f"gen_args_{index}": {"arg_0": "Sky?", "arg_1": f" {word}"}
        for index, word in enumerate(("blue", "red"))
    }
    likelihoods = [["-0.5", "True"], ["-1.5", "False"]]
    run = evaluation.run(
        line(
            0, arguments=arguments, resps=[[one] for one in likelihoods], filtered_resps=likelihoods
        ),
        task={"doc_to_choice": ["blue", "red"]},
    )
    (started,) = of_kind(run, "trial.started")
    assert text(started["input"]) == "Sky?"
    assert started["fields"] == ["question", "context"]
    requests = [json_of(call["request"]) for call in of_kind(run, "call.started")]
    assert [request["arg_1"] for request in requests] == [" blue", " red"]
    assert [json_of(call["response"]) for call in of_kind(run, "call.finished")] == likelihoods
    (answer,) = of_kind(run, "answer.submitted")
    assert json_of(answer["answer"]) == likelihoods


def test_prompts_that_differ_stand_whole(evaluation: Evaluation) -> None:
    """A document asked with two prompts was given both; what has no text is shown as it is."""
    for arguments in ({"a": {"arg_0": "x"}, "b": {"arg_0": "y"}}, {"a": "z"}):
        run = evaluation.run(line(0, arguments=arguments), line(1))
        first, _ = of_kind(run, "trial.started")
        assert json_of(first["input"]) == arguments


def test_what_the_samples_do_not_show_is_unknown(evaluation: Evaluation) -> None:
    """Without arguments there is no input and no request; a response alone is still one."""
    run = evaluation.run(line(0, arguments=None, resps=["Paris", ""]), line(1))
    first, _ = of_kind(run, "trial.started")
    assert ("input" in first, first["fields"]) == (False, [])
    calls = list(of_kind(run, "call.started"))[:2]
    assert [call["call"] for call in calls] == ["request_0#1", "request_1#1"]
    assert all("request" not in call for call in calls)
    statuses = [call["status"] for call in of_kind(run, "call.finished")][:2]
    assert statuses == ["ok", "empty"]
    assert "Documents of which the samples show no prompt: 1." in losses(run)
    evaluation.appended(run).close()


def test_usage_and_cost_are_unknown_never_zero(evaluation: Evaluation) -> None:
    """No call says what it consumed."""
    for call in of_kind(evaluation.run(), "call.finished"):
        assert {"usage", "cost", "duration_us", "served"}.isdisjoint(call)


def test_hashes_of_the_source_are_kept_with_the_gold(evaluation: Evaluation) -> None:
    """One note holds all three of every document; a hash of short gold would give it away."""
    run = evaluation.run(line(0), line(1))
    (note,) = (one for one in of_kind(run, "note.added") if one["about"] == "document hashes")
    assert isinstance(note["text"], NewText)
    assert note["text"].class_ == "gold"
    kept = json_of(note["text"])
    assert list(kept) == ["0", "1"]
    assert kept["1"][1] == digest("Capital of Chad?\nAnswer:")


def test_both_files_are_kept_with_both_digests(evaluation: Evaluation) -> None:
    """Under names that tell nothing of where they lay."""
    run = evaluation.run()
    sources = list(of_kind(run, "source.imported"))
    contents = [one["content"].content for one in sources]
    assert contents == [(evaluation.folder / name).read_bytes() for name in (SAMPLES, RESULTS)]
    names = [one["files"][0]["name"] for one in sources]
    assert names == [f"{run.name}.samples.jsonl", f"{run.name}.results.json"]
    assert sources[0]["counts"] == {
        "trials": 2, "model_calls": 2, "judgments": 2, "lines": 2, "planned_slots": 2,
    }  # fmt: skip


def test_the_sources_numbers_stand_with_their_digits(evaluation: Evaluation) -> None:
    """Under our metric, with how the source comes to them and its own name of each."""
    numbers = {
        "exact_match,none": 0.1234567890123456789, "exact_match_stderr,none": "N/A",
        "other,none": 2,
    }  # fmt: skip
    rows = reported(evaluation.run(numbers=numbers))
    assert [(row["score"], row["metric"], row["key"], row["value"]) for row in rows] == [
        ("exact_match,none", "mean", "exact_match,none", "0.12345678901234568"),
        ("exact_match,none", "stderr", "exact_match_stderr,none", "N/A"),
        ("other,none", "value", "other,none", "2"),
    ]
    assert {row["scored_samples"] for row in rows} == {2}


def test_tasks_of_one_results_file_are_runs_of_their_own(evaluation: Evaluation) -> None:
    """Each with its samples, configuration and version; groups have numbers only."""
    tasks = {
        name: Stated(config(task=name), {"exact_match,none": 0.5}) for name in ("zoo/one", "two")
    }
    content = results(tasks, versions={"zoo/one": 1, "two": 7})
    content["results"]["zoo"] = {"exact_match,none": 0.5}
    content["group_subtasks"] = {"zoo": ["zoo/one", "two"], "none": []}
    evaluation.results(RESULTS, content)
    evaluation.samples(SAMPLES.replace(TASK, "zoo_one"), [line(0)])
    evaluation.samples(SAMPLES.replace(TASK, "two"), [line(1), line(2)])
    runs = read_lm_eval(evaluation.folder)
    assert [run.name.rpartition("-")[0] for run in runs] == ["zoo-one", "two"]
    assert [len(run.dataset.questions) for run in runs] == [1, 2]
    options = [run.manifest.agent.options for run in runs if run.manifest.agent]
    assert [one["task_version"] for one in options] == [1, 7]
    assert any(
        "groups of tasks stand in the results file only: zoo." in one for one in losses(runs[0])
    )
    assert runs[1].manifest.environment is not None
    assert json.loads(str(runs[1].manifest.environment["task.groups"])) == ["zoo"]
    with evaluation.appended(runs[0]) as ledger:
        first, second = append_runs(ledger, runs)
        assert (first.count("appended"), second.count("exists")) == (0, 0)
        assert second.count("appended") == len(events(runs[1])) + 3


def test_what_is_missing_is_listed(evaluation: Evaluation) -> None:
    """Each loss is a sentence; what is there is no loss."""
    assert losses(evaluation.run()) == [
        "The harness records no times, token usage or cost of single requests: all unknown.",
        "The harness records no failed or repeated requests; whether there were any is unknown.",
    ]
    bare = {
        "n-samples": None, "task_hashes": None, "git_hash": None, "lm_eval_version": None,
        "config": {"use_cache": "cache.db", "torch_seed": 3},
    }  # fmt: skip
    said = " ".join(
        losses(
            evaluation.run(
                task={"metric_list": [{"metric": "exact_match", "aggregation": "f1"}]}, **bare
            )
        )
    )
    for part in (
        "may come from a cache", "version of the harness", "(git_hash)", "exact_match,none (f1)",
        "not shown: random_seed, numpy_seed, fewshot_seed.", "How many documents", "no hash of the",
    ):  # fmt: skip
        assert part in said
    limited = losses(evaluation.run(counted={"original": 50, "effective": 2}))
    assert any("Only 2 of 50 documents were evaluated" in loss for loss in limited)


@given(st.one_of(st.integers(-(10**20), 10**20), st.decimals(allow_nan=False, places=6)))
def test_a_number_is_read_as_it_is_written(value: object) -> None:
    """No digit is lost between the text of a sample and the score."""
    read = parse_json(str(value).encode(), source="x")
    found = number_of(read)
    assert found is None or found == number_of(value)
    assert str(read) == str(value)


def test_a_folder_of_evaluations_is_read_whole(tmp_path: Path) -> None:
    """Every results file below it, in the order of their paths."""
    for name in ("b", "a"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        Evaluation(tmp_path / "logs" / name).write([line(0, resps=[[name]]), line(1)])
    runs = read_lm_eval(tmp_path / "logs")
    given_names = [next(iter(of_kind(run, "call.finished")))["response"] for run in runs]
    assert [text(one) for one in given_names] == ["a", "b"]
