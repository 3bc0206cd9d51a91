"""`ledger help`: topics that belong to no single command.

Invariant: exit codes here are those of `trial_ledger.errors`, and every command is listed.
"""

import click

from trial_cli.main import COMMANDS, cli
from trial_ledger.errors import NotFoundError

__all__ = ["TOPICS", "command"]

EXIT_CODES = """\
Exit codes
  0    fine
  1    something went wrong
  2    input or usage not acceptable: every fault is listed, nothing was written
  3    a rule of the contract refuses it, or the id exists with other content
  4    verification failed: stored bytes are not what was written
  5    a gate asked for with --require is not met, every trial failed, or scan
       found what does not belong in a ledger
  6    not found, or ambiguous
  7    storage: busy, full, read-only
  130  interrupted"""

ENVIRONMENT = """\
Environment
  LEDGER_PATH     the ledger file, where --ledger does not name it
  LEDGER_ACTOR    the person who acts, where --actor does not name one
  LEDGER_DEBUG    1 shows the traceback of an error too
  XDG_STATE_HOME  where head pins lie, as trial-ledger/heads/<ledger id>
                  (default ~/.local/state)
  NO_COLOR        no colours (there are none yet)"""

FORMATS = """\
Formats of output (--format)
  text   for people, 80 columns
  json   one document that names its schema and version, as ledger.scores/1
  jsonl  one row a line
  csv    rows with a heading; what a spreadsheet would run gets an apostrophe
  md     a Markdown table

Formats of input
  append           JSON lines: ledger help append
  freeze           dataset.jsonl, rubric.toml, manifest.toml, as written by
                   ledger init --template
  freeze --map     an existing dataset: docs/how-to/field-map.md
  import inspect   Inspect logs, .eval and .json
  import lm-eval   results and samples of the lm-evaluation-harness
  import rows      your own JSON, JSON lines, CSV or TSV, gzip too, by a map:
                   docs/how-to/own-records.md"""

APPEND = """\
What `ledger append` reads: one JSON object a line
  kind    what happened, as trial.started (docs/reference/events.md lists all)
  run     name of the run
  trial   {"question": "q1", "repetition": 1, "session": "s1"} or "q1#1@s1"
  data    the fields of the kind; a text is a string, or
          {"text": "...", "class": "sealed" or "gold", "media": "..."}
  id      32 hex digits chosen by you: the same id and content append once
  at      when it happened, as 2026-10-01T12:00:00.000000Z; null = not known
  actor   {"role": "harness", "name": "...", "version": "..."}
Refused are ledger, seq, prev, link, recorded_at, v: only the ledger fills them.
Numbers are integers below 2^53; scores are rationals as text, "3/4"; money is
decimal text. Example:
  {"kind": "trial.started", "run": "r1", "trial": "q1#1", "data": {"input": ""}}"""

RECOMPUTE = """\
Recompute a score without this program
  ledger explain RUN METRIC --json > score.json
  python docs/recompute.py score.json
The JSON lists every planned slot with what it adds and why, and the events
behind it by place (seq) and hash. Check a hash with public tools:
  sqlite3 FILE "select doc from event where seq=17" | tr -d '\\n' | b3sum"""

TOPICS = {
    "append": APPEND,
    "environment": ENVIRONMENT,
    "exit-codes": EXIT_CODES,
    "formats": FORMATS,
    "recompute": RECOMPUTE,
}


@click.command("help", short_help="Explain a topic")
@click.argument("topic", required=False)
def command(topic: str | None) -> None:
    """Explain a topic: append, commands, environment, exit-codes, formats, recompute."""
    if topic is None:
        click.echo("Topics: " + ", ".join(sorted([*TOPICS, "commands"])))
        click.echo("ledger help TOPIC, or ledger COMMAND --help")
    elif topic == "commands":
        click.echo(commands_text())
    elif topic in TOPICS:
        click.echo(TOPICS[topic])
    elif topic in COMMANDS:
        click.echo(f"ledger {topic} --help describes the command")
    else:
        message = f"no topic {topic!r}"
        raise NotFoundError(message, hint=f"there is {', '.join(sorted([*TOPICS, 'commands']))}")


def commands_text() -> str:
    """Return every command with its one line of help."""
    context = click.Context(cli, info_name="ledger")
    lines = ["Commands"]
    for name in cli.list_commands(context):
        found = cli.get_command(context, name)
        assert found is not None, "a listed command exists"
        lines.append(f"  {name:<14}{found.get_short_help_str(62)}")
    return "\n".join(lines)
