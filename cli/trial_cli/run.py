"""`ledger run`: executes the trials of frozen manifests, or goes on with runs that were begun.

Invariant: a failure is on standard error as it happens; what moves is drawn only on a terminal;
nothing is opened while any of the manifests could not be executed.
"""

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from trial_cli.files import environment, read_file
from trial_cli.options import ledger_option, ledger_path, opened, run_named
from trial_cli.output import WIDTH, clean, fit, json_text
from trial_cli.words import counts_text
from trial_ledger.errors import InvalidInputError, Problem

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.documents.manifest_structs import Manifest
    from trial_ledger.running.plan import Plan
    from trial_ledger.running.runner import RunProgress

__all__ = ["command"]

ALL_FAILED = 5
NOT_COMPLETE = 1
INTERRUPTED = 130
SECOND_NS = 1_000_000_000
LONGEST_NAME = 70


@click.command("run", short_help="Execute the trials of frozen manifests")
@click.argument("manifests", nargs=-1, metavar="MANIFEST...")
@click.option("--freeze", "freezes", is_flag=True, help="MANIFEST is a file, frozen first.")
@click.option("--name", help="Name of the run (default: the configuration and a number).")
@click.option("--supersedes", metavar="RUN", help="Run that this one corrects.")
@click.option("--reason", help="Why.")
@click.option("--resume", metavar="RUN", multiple=True, help="Go on with an interrupted run.")
@click.option(
    "--retry-errored", metavar="RUN", multiple=True, help="Add a session to each errored slot too."
)
@click.option(
    "--allow-unknown-cost", is_flag=True, help="Run capped manifests that no cap makes certain."
)
@click.option("--json", "as_json", is_flag=True, help="Progress as JSON lines.")
@ledger_option
def command(  # noqa: PLR0913 - one argument an option
    manifests: tuple[str, ...],
    *,
    freezes: bool,
    name: str | None,
    supersedes: str | None,
    reason: str | None,
    resume: tuple[str, ...],
    retry_errored: tuple[str, ...],
    allow_unknown_cost: bool,
    as_json: bool,
) -> int:
    """Execute the trials of each frozen MANIFEST, several side by side.

    MANIFEST is a configuration, or configuration@hash. A first Ctrl-C ends the running trials as
    cancelled and closes the run, to be resumed; a second one kills.
    """
    from trial_ledger.running.execution import execute  # noqa: PLC0415 - loads the network
    from trial_ledger.running.runner import World  # noqa: PLC0415 - loads the network

    refuse_wrong_use(manifests, resume, retry_errored, name, supersedes)
    with opened(write=True) as ledger:
        frozen = [named_manifest(ledger, one, freezes=freezes) for one in manifests]
        begun = [
            (run_named(ledger, one), one in retry_errored) for one in (*resume, *retry_errored)
        ]
        check([*(one for _, one in frozen), *manifests_of(ledger, begun)], allow_unknown_cost)
        plans = planned(ledger, frozen, begun, (name, supersedes, reason))
    screen = Live(plans, as_json=as_json)
    world = World(
        environ=os.environ, folder=Path.cwd(), surface=screen.surface, progress=screen.progress
    )
    found = execute(ledger_path(), plans, world)
    screen.end(found)
    return exit_code(found)


def refuse_wrong_use(
    manifests: Sequence[str],
    resume: Sequence[str],
    retry: Sequence[str],
    name: str | None,
    supersedes: str | None,
) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: they do not.
    """
    if bool(manifests) == bool(resume or retry):
        message = "give manifests to run, or runs to go on with by --resume or --retry-errored"
        raise click.UsageError(message)
    if (name or supersedes) and len(manifests) != 1:
        message = "--name and --supersedes are for one manifest"
        raise click.UsageError(message)


def named_manifest(ledger: "Ledger", name: str, *, freezes: bool) -> "tuple[str, Manifest]":
    """Return the hash and the document of a manifest, frozen first where that is asked for."""
    registry = ledger.registry()
    if freezes:
        from trial_ledger.documents.manifest import parse_manifest  # noqa: PLC0415 - slow

        manifest = parse_manifest(
            read_file(name),
            source=name,
            harness=None,
            environment=environment(),
            environ=os.environ,
        )
        acknowledged = ledger.freeze([manifest])[0]
        name = getattr(ledger.read(acknowledged.seq).event.data, "manifest_hash", "")
        registry = ledger.registry()
    found = registry.manifest(name)
    return found.manifest_hash, registry.manifest_document(found)


def manifests_of(ledger: "Ledger", begun: Sequence[tuple[str, bool]]) -> "list[Manifest]":
    """Return the manifests of runs that were begun."""
    registry = ledger.registry()
    return [
        registry.manifest_document(registry.manifest(ledger.run_opened(run).manifest))
        for run, _ in begun
    ]


def check(manifests: "Sequence[Manifest]", allow_unknown_cost: bool) -> None:
    """Refuse manifests that cannot be executed, all reasons at once.

    Raises:
        InvalidInputError: some cannot.
    """
    from trial_ledger.running.budget import cap_problem, refuse_uncapped  # noqa: PLC0415 - slow
    from trial_ledger.running.execution import check_ready  # noqa: PLC0415 - loads the network
    from trial_ledger.running.readiness import readiness_problems  # noqa: PLC0415 - likewise

    missing = [problem for one in manifests for problem in readiness_problems(one, os.environ)]
    if missing:
        raise InvalidInputError(missing, what="manifests to run")
    if not allow_unknown_cost:
        capped = [cap_problem(one.budget, one.configuration) for one in manifests]
        refuse_uncapped([problem for problem in capped if isinstance(problem, Problem)])
    for one in manifests:
        check_ready(one, Path.cwd())


def planned(
    ledger: "Ledger",
    frozen: "Sequence[tuple[str, Manifest]]",
    begun: Sequence[tuple[str, bool]],
    wanted: tuple[str | None, str | None, str | None],
) -> "list[Plan]":
    """Open the runs of manifests, or take up runs; return what is left to do in each."""
    from trial_ledger.running.plan import (  # noqa: PLC0415 - loads the network
        Opening,
        opened_plan,
        resumed_plan,
    )

    name, supersedes, reason = wanted
    plans = [resumed_plan(ledger, run, retry_errored=retry) for run, retry in begun]
    seed: int | None = None
    for digest, manifest in frozen:
        run = name or free_name(ledger, manifest.configuration)
        opening = Opening(run=run, manifest=digest, supersedes=supersedes, reason=reason)
        plans.append(opened_plan(ledger, opening, seed))
        seed = plans[0].order_seed
    return plans


def free_name(ledger: "Ledger", configuration: str) -> str:
    """Return the first free name of a run: the configuration and a number."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", configuration.lower()).strip("._-")[:LONGEST_NAME]
    base = plain or "run"
    taken = set(ledger.store.run_names(base))
    return next(name for n in range(1, len(taken) + 2) if (name := f"{base}-{n}") not in taken)


class Live:
    """What a person or a program sees of runs while they execute."""

    def __init__(self, plans: "Sequence[Plan]", *, as_json: bool) -> None:
        self.as_json = as_json
        self.is_terminal = sys.stderr.isatty()
        self.to_do = sum(len(plan.slots) for plan in plans)
        self.done = 0
        self.outcomes: dict[str, int] = {}
        self.failures = 0
        self.began = time.monotonic_ns()
        if not as_json:
            for plan in plans:
                click.echo(
                    f"{plan.run}  {len(plan.slots)} of {plan.planned} slots to do,"
                    f" order by seed {plan.order_seed}",
                    err=True,
                )

    def surface(self, line: str) -> Literal["terminal", "emitted"]:
        """Show a failure on a line of its own; return whether a terminal was there."""
        erase = f"\r{' ' * (WIDTH - 1)}\r" if self.is_terminal else ""
        click.echo(f"{erase}! {clean(line)}", err=True)
        self.draw()
        return "terminal" if self.is_terminal else "emitted"

    def progress(self, kind: str, run: str, news: Mapping[str, object]) -> None:
        """Take news into account and show them."""
        if kind == "trial":
            self.done += 1
            outcome = str(news["outcome"])
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.failures += kind == "failure"
        if self.as_json:
            row = {"event": kind, "run": run, "done": self.done, "to_do": self.to_do, **news}
            click.echo(json_text(row))
        self.draw()

    def draw(self) -> None:
        """Draw the live line, on a terminal only."""
        if self.is_terminal and not self.as_json:
            click.echo(f"\r{fit(self.line(), WIDTH - 1).ljust(WIDTH - 1)}", err=True, nl=False)

    def line(self) -> str:
        """Return the live line: done, outcomes, failures, time left."""
        parts = [f"{self.done}/{self.to_do}", counts_text(self.outcomes)]
        if self.failures:
            parts.append(f"failures {self.failures}")
        if self.done:
            took = (time.monotonic_ns() - self.began) // SECOND_NS
            parts.append(f"{took * (self.to_do - self.done) // self.done} s left")
        return "  ".join(part for part in parts if part)

    def end(self, found: "Mapping[str, RunProgress]") -> None:
        """Say how every run ended."""
        if self.is_terminal and not self.as_json:
            click.echo(f"\r{' ' * (WIDTH - 1)}\r", err=True, nl=False)
        if self.as_json:
            return
        for run, one in found.items():
            why = f": {one.why}" if one.why else ""
            click.echo(clean(f"{run}  {one.status}{why}"))
            click.echo(
                f"  trials    {one.done} of {one.to_do}  {counts_text(one.outcomes)}".rstrip()
            )
            if one.failures:
                click.echo(f"  failures  {counts_text(one.failures)}")
            click.echo(f"  spent     {one.spent}")
            again = f"ledger run --resume {run}" if one.status == "interrupted" else ""
            click.echo(f"next: {again or f'ledger grade {run}'}")


def exit_code(found: "Mapping[str, RunProgress]") -> int:
    """Return 130 for interrupted runs, 5 where all trials of one failed, 1 for others left open."""
    if any((one.why or "").startswith("interrupted") for one in found.values()):
        return INTERRUPTED
    if any(one.done and set(one.outcomes) == {"errored"} for one in found.values()):
        return ALL_FAILED
    return NOT_COMPLETE if any(one.status != "complete" for one in found.values()) else 0
