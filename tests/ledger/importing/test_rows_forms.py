"""The same rows in every form are the same trials, and every key of a map is documented."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rows_cases import CSV, JSON, JSONL, data, events, lines, only
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.rows_map import parse_row_map
from trial_ledger.importing.source import ImportedRun

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "docs" / "reference" / "row-map.md"
MAP = (
    'answer = "answer"\nduration = {path = "s", unknown = ["?"]}\ngold = {answer = "gold"}\n'
    '[metrics.correct]\nverdict = "ok"\n[metrics.points]\nscore = "points"\n'
)
ROW = st.fixed_dictionaries(
    {
        "answer": st.sampled_from(["", "a", 'say "b"', "c,d", "é\n"]),
        "s": st.sampled_from(["", "?", "0", "1.25", "1e-3"]),
        "gold": st.sampled_from(["", "g", "h"]),
        "ok": st.sampled_from(["", "yes", "no", "partial", "judge_failed"]),
        "points": st.sampled_from(["", "0", "1/3", "0.75", "1"]),
    }
)
TABLE = st.lists(ROW, min_size=1, max_size=6)
SETTINGS: Mapping[str, str] = {"csv": CSV, "json": JSON, "jsonl": JSONL}


def forms_of(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return rows as CSV, JSON and JSON lines, with an id each."""
    numbered = [{"id": f"q{number}", **row} for number, row in enumerate(rows)]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(numbered[0]))
    writer.writeheader()
    writer.writerows(numbered)
    return {
        "csv": stream.getvalue(),
        "json": json.dumps(numbered),
        "jsonl": lines(*numbered),
    }


def said(run: ImportedRun) -> dict[str, list[tuple[str, object]]]:
    """Return what a run says of each trial, whatever the file was."""
    found: dict[str, list[tuple[str, object]]] = {}
    for event in events(run):
        if event.trial is not None:
            shown = sorted((key, str(value)) for key, value in event.data.items())
            found.setdefault(event.trial.question, []).append((event.kind, shown))
    return found


@given(TABLE)
def test_one_table_is_the_same_trials_in_every_form(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]
) -> None:
    """CSV, JSON and JSON lines of the same texts give equal documents and equal trials."""
    folder = tmp_path_factory.mktemp("forms", numbered=True)
    found = [
        only(folder, content, SETTINGS[form] + 'empty = "null"\n' + MAP)
        for form, content in forms_of(rows).items()
    ]
    assert len({json.dumps(said(run), default=str) for run in found}) == 1
    assert len({run.dataset.version for run in found}) == 1
    assert len({run.rubric.version for run in found}) == 1
    assert len({run.name for run in found}) == 3


@given(TABLE, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_trial(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]], chance: object
) -> None:
    """Rows in another order are the same trials with the same verdicts."""
    folder = tmp_path_factory.mktemp("orders", numbered=True)
    parts = forms_of(rows)["jsonl"].splitlines(keepends=True)
    text = JSONL + 'empty = "null"\n' + MAP
    straight = only(folder, "".join(parts), text)
    chance.shuffle(parts)  # type: ignore[attr-defined] # a random number generator
    mixed = only(folder, "".join(parts), text)
    assert said(straight) == said(mixed)
    assert len(data(mixed, "trial.started")) == len(rows)


PROBE = "zzzzqqqq"
"""No key of any table is like it, so that the fault lists all that there are."""
TABLES = (
    f'{PROBE} = 1\nmetrics.m.verdict = "v"\n',
    f"gold.{PROBE} = 1\n",
    f"metrics.m.{PROBE} = 1\n",
    f"metrics.m.criteria.{PROBE} = 1\n",
    f"spend.s.{PROBE} = 1\n",
    f"calls.{PROBE} = 1\n",
    f"planned.{PROBE} = 1\n",
    f"answer.{PROBE} = 1\n",
    f"only.{PROBE} = 1\n",
    f"[[failures]]\n{PROBE} = 1\n",
    f"[[failures]]\nclasses.x.{PROBE} = 1\n",
    f"[[reported]]\n{PROBE} = 1\n",
)


def keys_of(text: str) -> set[str]:
    """Return the keys that a table takes, as the fault of a strange one lists them."""
    with pytest.raises(InvalidInputError) as caught:
        parse_row_map(text.encode(), source="map.toml")
    (listing,) = (
        str(problem.expected)
        for problem in caught.value.problems
        if problem.message == "unknown key"
    )
    return set(listing.removeprefix("one of ").split(", "))


def undocumented(keys: set[str], page: str) -> set[str]:
    """Return the keys that a page names nowhere as code."""
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]+)`", page))))
    return keys - named


@pytest.mark.parametrize("text", TABLES)
def test_every_key_of_a_map_is_in_the_reference(text: str) -> None:
    """What the parser takes is what docs/reference/row-map.md describes."""
    keys = keys_of(text)
    assert len(keys) > 1
    assert undocumented(keys, REFERENCE.read_text("utf-8")) == set()


def test_a_key_that_is_not_in_the_reference_is_found() -> None:
    """The check above sees a key that nobody described."""
    assert undocumented({"answer", PROBE}, "| `answer`, `x = 1` |") == {PROBE}
