"""The `ledger` program: finds the command, and turns errors into exit codes.

Invariant: no traceback reaches a user unless `LEDGER_DEBUG=1`; what a command needs is imported
only when that command runs.
"""

import gc
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence

import click

from trial_ledger import __version__

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS: Mapping[str, str] = {
    "append": "trial_cli.append",
    "backup": "trial_cli.backup",
    "check": "trial_cli.check",
    "compare": "trial_cli.compare",
    "costs": "trial_cli.costs",
    "demo": "trial_cli.demo.command",
    "disagreements": "trial_cli.disagreements",
    "explain": "trial_cli.explain",
    "failures": "trial_cli.failures",
    "freeze": "trial_cli.freeze",
    "grade": "trial_cli.grade",
    "head": "trial_cli.head",
    "help": "trial_cli.help_topics",
    "import": "trial_cli.import_logs",
    "init": "trial_cli.init",
    "invalidate": "trial_cli.invalidate",
    "key": "trial_cli.key",
    "latency": "trial_cli.latency",
    "log": "trial_cli.log",
    "override": "trial_cli.override",
    "prove": "trial_cli.prove",
    "receipt": "trial_cli.receipt",
    "redact": "trial_cli.redact",
    "reinstate": "trial_cli.reinstate",
    "replay": "trial_cli.replay",
    "report": "trial_cli.report",
    "rescore": "trial_cli.rescore",
    "resolve": "trial_cli.resolve",
    "review": "trial_cli.review",
    "run": "trial_cli.run",
    "runs": "trial_cli.runs",
    "scan": "trial_cli.scan",
    "scores": "trial_cli.scores",
    "show": "trial_cli.show",
    "stats": "trial_cli.stats",
    "trace": "trial_cli.trace",
    "trials": "trial_cli.trials",
    "verify": "trial_cli.verify",
}
"""Command → the module whose `command` it is."""

MOST_USED = ("scores", "explain", "trace", "import", "append", "run", "rescore", "verify")
"""What `ledger --help` shows; `ledger help commands` lists all."""

GARBAGE_AFTER = 50_000
"""New objects after which cyclic garbage is looked for."""

INTERRUPTED = 130
BROKEN_PIPE = 1


class LazyGroup(click.Group):
    """A group that imports a command only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return every command, sorted."""
        return sorted(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """Return a command, imported now; None where there is none of that name."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        found = importlib.import_module(module).command
        assert isinstance(found, click.Command), "every command module has a `command`"
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of these arguments, or say which one is nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib  # noqa: PLC0415 - only needed where something was mistyped

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]}?" if close else " See ledger help commands."
            message = f"no command {args[0]!r}.{hint}"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the most used commands and where the rest is."""
        rows: list[tuple[str, str]] = []
        for name in MOST_USED:
            command = self.get_command(ctx, name)
            assert command is not None, "the most used commands exist"
            rows.append((name, command.get_short_help_str(60)))
        with formatter.section("Most used commands"):
            formatter.write_dl(rows)
        formatter.write_paragraph()
        formatter.write_text("All of them: ledger help commands. Topics: ledger help.")


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="trial-ledger")
@click.option(
    "--ledger", "ledger_path", metavar="PATH", help="The ledger file (default ./trials.ledger)."
)
@click.pass_context
def cli(context: click.Context, ledger_path: str | None) -> None:
    """Record evaluations of agents in a log that can be checked.

    Every event is immutable and hashed; scores are computed from the log and can be explained down
    to its bytes.
    """
    context.ensure_object(dict)
    context.obj["ledger"] = ledger_path
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None) -> int:
    """Run the program and return its exit code."""
    # Nearly nothing that a command makes is garbage: looking for it at Python's usual pace takes a
    # tenth of the time of a short command.
    gc.set_threshold(GARBAGE_AFTER)
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="ledger",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does. Python would complain once more when
        # it flushes at exit, so standard output is pointed at nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the one place where anything becomes an exit code
        return failed(error)
    return result if isinstance(result, int) else 0


def failed(error: Exception) -> int:
    """Say what went wrong and return the exit code of it."""
    from trial_cli.output import show_error  # noqa: PLC0415 - only needed where something failed

    if os.environ.get("LEDGER_DEBUG") == "1":
        traceback.print_exception(error)
    return show_error(error)
