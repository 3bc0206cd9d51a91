"""`ledger demo`: a real evaluation in a folder of its own, shown command by command.

Invariant: the evaluation is done by plain scripts that pipe JSON lines into `ledger append -`;
this command only types what a user could type.
"""

import shlex
import shutil
from importlib.resources import files
from pathlib import Path

import click

from trial_cli.demo.stage import Stage
from trial_ledger.errors import InvalidInputError, LedgerError

__all__ = ["command"]

SCRIPTS = ("search_service.py", "harness.py", "agent.py", "grade.py")
DOCUMENTS = ("dataset.jsonl", "rubric.toml")
MANIFESTS = ("manifest-ranked.toml", "manifest-draft.toml", "manifest-substring.toml")
LEDGER, COPY = "trials.ledger", "copy.ledger"
WRONG, RIGHT = b'"score":"0"', b'"score":"1"'
"""What is looked for in the copy of the ledger, and what one flipped byte makes of it."""
REASON = 'mode was "substr", a typing error'


@click.command("demo")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("demo-out"),
    show_default=True,
    help="Folder to make and to leave behind.",
)
@click.option("--force", is_flag=True, help="Replace the folder of an earlier demo.")
def command(into: Path, *, force: bool) -> None:
    """Evaluate a search service on this machine: no network, no key.

    A plain script puts 18 questions to an agent, three times each, under two configurations, while
    the service misbehaves on purpose. What is run is shown, and the ledger is left behind.
    """
    prepare(into, force=force)
    stage = Stage(into)
    stage.say(
        "A real evaluation, run now on this machine: no network, no key. A search service offers "
        "this Python's docstrings, ranked or by plain substring. It fails now and then on purpose."
    )
    stage.show(f"cd {shlex.quote(str(into))}")
    with stage.service() as port:
        for name in MANIFESTS:
            manifest = into / name
            manifest.write_text(manifest.read_text("utf-8").replace(":PORT/", f":{port}/"), "utf-8")
        evaluate(stage)
    look(stage)
    check(stage)
    go_on(stage)


def prepare(folder: Path, *, force: bool) -> None:
    """Make the folder with everything that the demo needs.

    Raises:
        InvalidInputError: there is such a folder, and it may not or must not be replaced.
    """
    if folder.exists():
        is_demo = all((folder / name).is_file() for name in (*SCRIPTS, *DOCUMENTS, *MANIFESTS))
        if not force or not is_demo:
            raise InvalidInputError.single(
                f"{folder} exists" if is_demo else f"{folder} exists and is no earlier demo",
                what="folder",
                hint="ledger demo --force replaces it" if is_demo else "ledger demo --into FOLDER",
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for name in (*SCRIPTS, *DOCUMENTS, *MANIFESTS):
        (folder / name).write_bytes(files("trial_cli.demo").joinpath(name).read_bytes())


def evaluate(stage: Stage) -> None:
    """Freeze, execute two configurations, correct a mistake."""
    stage.say("Everything is frozen first: questions and gold, how answers score, what is tested.")
    stage.ledger("init")
    stage.ledger("freeze", "dataset", "dataset.jsonl", "--name", "stdlib-docs", "--version", "1")
    stage.ledger("freeze", "rubric", "rubric.toml")
    stage.ledger("freeze", "manifest", "manifest-ranked.toml")
    stage.say(
        "A plain script pipes events into the ledger and sends no request before the ledger has "
        "acknowledged it. Failures are flagged as they happen. A second script grades."
    )
    stage.make_fifo("acks")
    stage.execute("manifest-ranked.toml", "ranked-1")
    stage.pipe("grade.py", "ranked-1.answers.jsonl")
    stage.say("The other configuration, with a typing error in its manifest.")
    stage.ledger("freeze", "manifest", "manifest-draft.toml")
    stage.execute("manifest-draft.toml", "substring-1")
    stage.ledger("scores", "substring-1", expect=5, shown=0)
    stage.say(
        "Nothing is changed or deleted. A person says why that run does not count, and a new run "
        "under a corrected manifest takes its place."
    )
    stage.ledger("invalidate", "substring-1", "--actor", "demo", "--reason", REASON, shown=3)
    stage.ledger("freeze", "manifest", "manifest-substring.toml")
    stage.execute(
        "manifest-substring.toml", "substring-2", "--supersedes", "substring-1", "--reason", REASON
    )
    stage.pipe("grade.py", "substring-2.answers.jsonl")


def look(stage: Stage) -> None:
    """Show the numbers and where they come from."""
    stage.say("What came of it. The invalid run is kept and marked.")
    stage.ledger("runs")
    stage.ledger("scores", "ranked-1")
    stage.ledger("scores", "substring-2", shown=5)
    stage.say("Where a number comes from, down to the trials.")
    stage.ledger("explain", "ranked-1", "right")
    stage.say("Every failure is kept, also what a retry made good.")
    stage.ledger("failures", "ranked-1")


def check(stage: Stage) -> None:
    """Replay and verify, then flip one byte of a copy and verify that."""
    stage.say("All this follows from the log alone; computed anew it is the same bit by bit.")
    stage.ledger("replay", "--check")
    stage.ledger("verify", shown=1)
    stage.copy(LEDGER, COPY)
    stage.copy(f"{LEDGER}.gold", f"{COPY}.gold")
    place = flip(stage.folder / COPY)
    stage.say(f"In the copy, byte {place} is changed: an answer that scored 0 now scores 1.")
    stage.ledger("verify", "--ledger", COPY, expect=4, shown=3)


def flip(ledger: Path) -> int:
    """Change one byte in the file and return its offset.

    Raises:
        LedgerError: there is no such place.
    """
    content = bytearray(ledger.read_bytes())
    found = content.find(WRONG)
    if found < 0:
        raise LedgerError(f"{ledger} holds no {WRONG.decode()}")
    content[found : found + len(WRONG)] = RIGHT
    ledger.write_bytes(content)
    return found + len(WRONG) - 2


NEXT = (
    ("ledger trials substring-2", "every trial, its verdicts and failures"),
    ("ledger explain ranked-1 recall", "another metric of the rubric"),
    ("ledger explain ranked-1 --json", "every member with its event hashes"),
    ("ledger log ranked-1", "what happened, event by event"),
    ("ledger help append", "how to pipe in your own harness"),
)


def go_on(stage: Stage) -> None:
    """Say what there is to do next."""
    stage.say("The ledger, the scripts and all they wrote are left behind. Go on:")
    click.echo(f"  cd {shlex.quote(str(stage.folder))}")
    for command_line, what in NEXT:
        click.echo(f"  {command_line:34}{what}")
