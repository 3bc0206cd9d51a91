"""`ledger review`: people look at a drawn part of what graders and judges decided.

Invariant: which trials are drawn is the choice of the rubric's seed and of nobody else; a review is
blind unless its command names the judgment (C29).
"""

from pathlib import Path
from typing import TypedDict, Unpack

import click

from trial_cli.acts import HINT, NO_ACTOR
from trial_cli.options import as_of_option, format_options, ledger_option, opened, read_model
from trial_cli.output import emit
from trial_cli.review_act import FINDINGS, Opinion, metric_of, perform_review, plan_review
from trial_cli.review_screens import draw_screen, status_screen
from trial_ledger.errors import InvalidInputError, NotFoundError, RuleError

__all__ = ["command"]


class Given(TypedDict):
    """What the options of `record` say."""

    verdict: str | None
    score: str | None
    judgment: str | None
    finding: str | None
    override: bool
    reason: str | None
    actor: str | None


@click.group("review", short_help="People review a drawn part of the judgments")
def command() -> None:
    """Draw judged trials by the rubric's seed, review them, see how far it got.

    At least the rubric's fraction of the judged trials is reviewed, successes and failures both;
    without it metrics judged by a model are marked untrusted.
    """


@command.command("draw")
@click.argument("run")
@click.argument("metric")
@click.option(
    "--actor", metavar="NAME", envvar="LEDGER_ACTOR", help="Who draws (default $LEDGER_ACTOR)."
)
@ledger_option
@format_options
def draw(run: str, metric: str, *, actor: str | None, output_format: str) -> None:
    """Draw the trials of RUN whose judgments under METRIC people are to review.

    The order is BLAKE3 of the trial's name, keyed from the seed that the rubric fixed beforehand,
    so anybody can draw again. Drawing twice finds the same drawing and appends nothing.
    """
    from trial_ledger.building import ACTOR  # noqa: PLC0415 - slow to import
    from trial_ledger.events import Actor  # noqa: PLC0415 - likewise
    from trial_ledger.submission import NewText, Submission  # noqa: PLC0415 - likewise
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise
    from trial_projections.review_coverage import drawings_of  # noqa: PLC0415 - likewise
    from trial_projections.reviewing import (  # noqa: PLC0415 - likewise
        document_text,
        draw_document,
        require_strata,
    )

    with opened(write=True) as ledger:
        model = ReadModel.open(ledger)
        try:
            record = model.run(run)
            metric_of(model, record, metric)
            plan = model.rubric(record).review
            if plan is None:
                message = f"rubric {record.rubric} has no review plan, so no seed to draw by"
                hint = f"ledger rescore {record.name} --rubric RUBRIC with [review]"
                raise RuleError(message, clause="C29", hint=hint)
            require_strata(plan)
            source = model.score_input(record)
            configuration = model.manifest(record).configuration
            document = draw_document(source, metric, plan, configuration)
            if not document.strata:
                message = f"no automated judgment of {metric} in {record.name}"
                raise NotFoundError(message, hint=f"ledger grade {record.name}")
            known = drawings_of(model, record)
        finally:
            model.close()
        same = next((drawing for drawing in known if drawing.document == document), None)
        found = None
        name = f"p{len(known) + 1}" if same is None else same.plan
        if same is None:
            text = NewText.of(document_text(document), media="application/json")
            submitted = Submission(
                kind="review.drawn",
                run=record.name,
                data={"plan": name, "seed": plan.seed, "strata": text},
                actor=Actor(role="human", name=actor) if actor else ACTOR,
            )
            found = ledger.append(submitted)
    place = found.seq if found is not None else same.seq if same is not None else None
    emit(
        draw_screen(record.name, name, plan.seed, document, seq=place, appended=found is not None),
        output_format,
    )


@command.command("status")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
def status(run: str, *, as_of: str | None, output_format: str) -> None:
    """Show how far the judgments of RUN are reviewed, by metric and stratum, and what is open."""
    from trial_projections.review_coverage import coverage_of, drawings_of  # noqa: PLC0415 - slow

    with read_model(as_of) as model:
        record = model.run(run)
        source = model.score_input(record)
        names = sorted(
            source.rubric.metrics, key=lambda name: (name != source.rubric.primary, name)
        )
        coverages = [coverage_of(model, record, source, name) for name in names]
        foreign = [known.plan for known in drawings_of(model, record) if known.document is None]
    emit(status_screen(record, coverages, foreign), output_format)


@command.command("record")
@click.argument("trial", metavar="RUN/TRIAL")
@click.argument("metric")
@click.option(
    "--verdict", metavar="V", help="correct, partial, incorrect, abstained, not_gradable."
)
@click.option("--score", metavar="S", help="Instead, a rational on the metric's scale, as 3/4.")
@click.option("--judgment", metavar="ID", help="The judgment you looked at; without it, blind.")
@click.option(
    "--finding", type=click.Choice(FINDINGS), help="Who was wrong, where you and it differ."
)
@click.option("--override", is_flag=True, help="Where you differ, count your verdict instead.")
@click.option("--reason", metavar="TEXT", help="Why, in words.")
@click.option(
    "--actor", metavar="NAME", envvar="LEDGER_ACTOR", help="The reviewer (default $LEDGER_ACTOR)."
)
@ledger_option
@format_options
def record(
    trial: str,
    metric: str,
    *,
    output_format: str,
    **given: Unpack[Given],
) -> None:
    """Record what a person finds of RUN/TRIAL under METRIC, and compare it with the judgment.

    Where both differ a disagreement is opened. --override counts your verdict from now on and
    resolves it, as judge_wrong unless --finding says otherwise; --finding alone resolves it. All of
    it is one transaction. Where both agree, neither does anything.
    """
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - slow to import

    opinion = Opinion(**given)
    name, slash, rest = trial.partition("/")
    if not slash:
        raise InvalidInputError.single(
            "not a trial of a run",
            what="command line",
            found=repr(trial[:80]),
            expected="RUN/question#repetition[@session]",
        )
    with opened(write=True) as ledger:
        model = ReadModel.open(ledger)
        try:
            plan = plan_review(model, model.run(name).name, rest, metric, opinion)
        except BaseException:
            model.close()
            raise
        screen = perform_review(ledger, model, plan)
    emit(screen, output_format)


@command.command("next")
@click.argument("run")
@click.argument("metric", required=False)
@click.option("--include-gold", is_flag=True, help="With the right answer.")
@click.option(
    "--actor", metavar="NAME", envvar="LEDGER_ACTOR", help="The reviewer (default $LEDGER_ACTOR)."
)
@ledger_option
@format_options
def next_(
    run: str, metric: str | None, *, include_gold: bool, actor: str | None, output_format: str
) -> None:
    """Show the next drawn trial of RUN that nobody reviewed, and nothing of what was judged.

    At a terminal one key gives the verdict, then the reason is asked. Elsewhere nothing is asked:
    the command that records the review is shown.
    """
    from trial_cli.review_next import (  # noqa: PLC0415 - slow to import
        has_terminal,
        next_sheet,
        review_at_terminal,
        sheet_screen,
    )
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - likewise

    asks = output_format == "text" and has_terminal()
    if asks and not actor:
        raise InvalidInputError([NO_ACTOR], what="command line", hint=HINT)
    with opened(write=asks) as ledger:
        model = ReadModel.open(ledger)
        try:
            sheet, remaining = next_sheet(model, run, metric, include_gold=include_gold)
            name = model.run(run).name
        finally:
            model.close()
        emit(sheet_screen(name, sheet, remaining), output_format)
        if asks and actor:
            screen = review_at_terminal(ledger, name, sheet, actor)
            if screen is not None:
                emit(screen, output_format)


@command.command("export")
@click.argument("run")
@click.argument("metric", required=False)
@click.option("-o", "--output", required=True, metavar="FILE.csv", help="Where it is written.")
@click.option("--include-gold", is_flag=True, help="With the right answers.")
@ledger_option
@format_options
def export(
    run: str, metric: str | None, *, output: str, include_gold: bool, output_format: str
) -> None:
    """Write the drawn trials of RUN that nobody reviewed into a file, to be filled in elsewhere.

    It shows question and answer, and nothing of what was judged. Fill in verdict or score, reviewer
    and reason, and bring it back with ledger review import.
    """
    from trial_cli.review_files import export_screen  # noqa: PLC0415 - slow to import

    with read_model() as model:
        screen = export_screen(model, run, metric, Path(output), include_gold=include_gold)
    emit(screen, output_format)


@command.command("import")
@click.argument("file", metavar="FILE.csv")
@click.option(
    "--actor",
    metavar="NAME",
    envvar="LEDGER_ACTOR",
    help="The reviewer of rows that name none (default $LEDGER_ACTOR).",
)
@ledger_option
@format_options
def import_(file: str, *, actor: str | None, output_format: str) -> None:
    """Record the reviews of a file that ledger review export made, all of them or none.

    Rows without verdict and score are left out; what is recorded already is found again. Every
    review is compared with the judgment, and a disagreement opened where they differ.
    """
    from trial_cli.review_files import import_screen  # noqa: PLC0415 - slow to import

    with opened(write=True) as ledger:
        screen = import_screen(ledger, Path(file), actor)
    emit(screen, output_format)
