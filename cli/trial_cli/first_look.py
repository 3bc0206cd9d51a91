"""`ledger scores FILE`: somebody's log, scored at once from a ledger that is thrown away.

Invariant: the numbers are those of `import` and `scores`; nothing stays on disk, whatever happens
short of a killed process.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trial_cli.output import Screen, clean
from trial_cli.scores_screen import scores_screen
from trial_cli.words import next_lines, wrapped
from trial_ledger.errors import InvalidInputError, Problem

if TYPE_CHECKING:
    from trial_ledger.importing.source import ImportedRun
    from trial_projections.reading import ReadModel
    from trial_projections.summary import RunSummary

__all__ = ["FirstLook", "first_look"]


class FirstLook(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a file shows."""

    screen: Screen
    """The screen."""
    summaries: "list[RunSummary]"
    """Its runs, for the gates that were asked for."""


def first_look(path: Path, map_path: str | None) -> FirstLook:
    """Return the scores of every run in a file, with the source's own numbers explained.

    Args:
        path: an Inspect log, results of the lm-evaluation-harness, or rows.
        map_path: the map of rows.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it is not what it seems, or is rows without a map.
    """
    runs, source_format = runs_in(path, map_path)
    screens: list[Screen] = []
    summaries: list[RunSummary] = []
    found: list[dict[str, object]] = []
    with thrown_away(runs) as (model, losses):
        from trial_projections.source_rules.explaining import explain_all  # noqa: PLC0415 - slow
        from trial_projections.summary import summarise  # noqa: PLC0415 - likewise

        for run in model.runs():
            summary = summarise(model, run)
            explained = explain_all(model, run)
            screens.append(scores_screen(summary, explained=explained, kept=False))
            summaries.append(summary)
            found.append({
                **msgspec.to_builtins(summary),
                "explained": msgspec.to_builtins(explained),
                "losses": losses[run.name],
            })  # fmt: skip
    lines: list[str] = []
    for screen, shown in zip(screens, found, strict=True):
        lines += [*screen.lines, *loss_lines(shown["losses"]), ""]
    lines += closing(path, map_path, source_format)
    return FirstLook(
        screen=Screen(
            schema="ledger.first-look/1",
            value={"file": clean(path), "format": source_format, "runs": found},
            rows=[row for screen in screens for row in screen.rows],
            lines=lines,
        ),
        summaries=summaries,
    )


def runs_in(path: Path, map_path: str | None) -> "tuple[Sequence[ImportedRun], str]":
    """Return the runs of a file and the name of its format.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it is damaged, or rows without a map.
    """
    from trial_ledger.importing.recognising import recognise  # noqa: PLC0415 - slow to import

    if map_path is not None:
        from trial_ledger.importing.rows import read_rows  # noqa: PLC0415 - likewise

        return read_rows(path, Path(map_path)), "rows"
    source_format = recognise(path)
    if source_format == "inspect":
        from trial_ledger.importing.inspect import import_inspect  # noqa: PLC0415 - likewise

        return [import_inspect(path)], source_format
    if source_format == "lm-eval":
        from trial_ledger.importing.lm_eval import read_lm_eval  # noqa: PLC0415 - likewise

        return read_lm_eval(path), source_format
    fault = Problem(
        message="rows need a map that says where everything stands",
        source=str(path),
        expected="an Inspect log, lm-evaluation-harness results, or --map MAP.toml",
    )
    name = clean(path)
    hint = f"ledger import rows {name} --suggest > map.toml; ledger scores {name} --map map.toml"
    raise InvalidInputError([fault], what="source file", hint=hint, nothing_written=False)


@contextmanager
def thrown_away(
    runs: "Sequence[ImportedRun]",
) -> "Iterator[tuple[ReadModel, dict[str, list[str]]]]":
    """Give the read side of a ledger that holds some runs, and what each source had lost."""
    from trial_ledger.book import Ledger  # noqa: PLC0415 - slow to import
    from trial_ledger.importing.appending import append_runs  # noqa: PLC0415 - likewise
    from trial_ledger.tools import system_tools  # noqa: PLC0415 - likewise
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise
    from trial_projections.reported import losses_of  # noqa: PLC0415 - likewise

    tools = msgspec.structs.replace(system_tools(), state_directory=None)
    with (
        tempfile.TemporaryDirectory(prefix="ledger-look-") as folder,
        Ledger.create(Path(folder) / "look.ledger", tools=tools) as ledger,
    ):
        append_runs(ledger, runs)
        # Folded in memory: as of the end is the end, and no projections file is made.
        model = ReadModel.open(ledger, as_of=ledger.store.size())
        try:
            yield model, {run.name: losses_of(model, run) for run in model.runs()}
        finally:
            model.close()


def loss_lines(losses: object) -> list[str]:
    """Return what a source had already lost."""
    assert isinstance(losses, list), "sentences"
    return [line for loss in losses for line in wrapped("lost", str(loss))]


def closing(path: Path, map_path: str | None, source_format: str) -> list[str]:
    """Return that nothing was kept, and how to keep it."""
    with_map = "" if map_path is None else f" --map {clean(map_path)}"
    return [
        "nothing was kept: no run, no file",
        *next_lines("ledger init", f"ledger import {source_format} {clean(path)}{with_map}"),
    ]
