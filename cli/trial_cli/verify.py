"""`ledger verify`: whether the file is what was written, and what cannot be known from it.

Invariant: exit code 4 if anything is wrong; what a check cannot see is said, not left out.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, clean, emit
from trial_cli.words import signed_words, wrapped
from trial_ledger.errors import NotFoundError, StorageError, VerificationError

if TYPE_CHECKING:
    from trial_ledger.checking import Finding
    from trial_ledger.head_policy import HeadPolicy
    from trial_ledger.signed_heads import HeadState
    from trial_ledger.verification import Verification

__all__ = ["command"]

SHOWN = 20


@click.command("verify", short_help="Check that the file is what was written")
@ledger_option
@format_options
@click.option("--fast", is_flag=True, help="Leave out the bytes of blobs and SQLite's own check.")
@click.option(
    "--since-head",
    is_flag=True,
    help="Only the events after the newest head that --policy or your head pin vouches for.",
)
@click.option("--quick", is_flag=True, help="Only the schema, the last event and the head pin.")
@click.option(
    "--against",
    multiple=True,
    metavar="NOTE|FOLDER",
    help="A signed head kept elsewhere, or a folder of them (*.note); may be repeated.",
)
@click.option(
    "--policy",
    metavar="FILE",
    help="Who must have signed its heads: a TOML file that lies elsewhere.",
)
def command(
    *,
    fast: bool,
    since_head: bool,
    quick: bool,
    against: tuple[str, ...],
    policy: str | None,
    output_format: str,
) -> int:
    """Check every event, node, blob, column and schema object, the head pin and the signed heads.

    With --against, the log is held against notes that were kept elsewhere, which alone show a cut
    tail or a rewritten history. A policy names the public keys that you have from their owners:
    signers = ["KEY", …], and if you like required = 1 (how many of them must have signed one head;
    default all), newest_within = 100 (how many events may follow it), ledger = "ID".
    """
    if fast + since_head + quick > 1:
        raise click.UsageError("--fast, --since-head and --quick exclude one another")
    if quick and (against or policy is not None):
        raise click.UsageError("--quick looks at no signed head")
    progress = Progress()
    found = check(
        progress if sys.stderr.isatty() else None,
        fast=fast,
        since_head=since_head,
        quick=quick,
        against=against,
        policy=policy,
    )
    progress.end()
    value = {"intact": found.is_intact, "verification": found}
    emit(
        Screen(schema="ledger.verify/1", value=value, rows=[row_of(found)], lines=lines_of(found)),
        output_format,
    )
    return 0 if found.is_intact else VerificationError.exit_code


def check(
    progress: "Progress | None",
    *,
    fast: bool,
    since_head: bool,
    quick: bool,
    against: tuple[str, ...],
    policy: str | None,
) -> "Verification":
    """Check the ledger of this command as its options say."""
    from trial_ledger.note_files import kept_notes  # noqa: PLC0415 - slow to import
    from trial_ledger.tail_check import verify_end, verify_since_head  # noqa: PLC0415 - likewise
    from trial_ledger.verification import verify  # noqa: PLC0415 - likewise

    notes = kept_notes(map(Path, against))
    asked = None if policy is None else policy_of(policy)
    with opened() as ledger:
        if quick:
            return verify_end(ledger)
        if since_head:
            return verify_since_head(ledger, progress=progress, against=notes, policy=asked)
        return verify(ledger, fast=fast, progress=progress, against=notes, policy=asked)


def policy_of(name: str) -> "HeadPolicy":
    """Return the policy of a file.

    Raises:
        NotFoundError: there is none.
        StorageError: it cannot be read.
        InvalidInputError: it is no policy.
    """
    from trial_ledger.head_policy import parse_policy  # noqa: PLC0415 - slow to import

    try:
        content = Path(name).read_bytes()
    except FileNotFoundError as error:
        message = f"no policy {name}"
        raise NotFoundError(message, hint="ledger verify --help says what stands in it") from error
    except OSError as error:
        message = f"cannot read {name}: {error.strerror}"
        raise StorageError(message) from error
    return parse_policy(content, source=name)


def row_of(found: "Verification") -> dict[str, object]:
    """Return the check as one row of a table."""
    heads = found.heads
    return {
        "ledger": found.ledger,
        "intact": found.is_intact,
        "level": found.level,
        "size": found.size,
        "root": found.root,
        "findings": len(found.findings) + found.unlisted,
        "first": str(found.findings[0]) if found.findings else None,
        "redacted": found.redacted,
        "pin": found.pin,
        "gold": found.gold,
        "signed": heads.signed,
        "unsigned_tail": heads.unsigned_tail,
        "notes": sum(note.state == "matches" for note in heads.notes),
        "policy": heads.policy,
    }


class Progress:
    """Shows how far the check is, on a terminal."""

    def __init__(self) -> None:
        self.is_shown = False

    def __call__(self, done: int, total: int) -> None:
        """Write over what was shown before."""
        click.echo(f"\rverifying {done}/{total}", nl=False, err=True)
        self.is_shown = True

    def end(self) -> None:
        """Begin a new line where anything was shown."""
        if self.is_shown:
            click.echo(err=True)


def place_of(finding: "Finding") -> str:
    """Return where a finding is, in a few words."""
    return f"seq {finding.seq}" if finding.seq is not None else clean(finding.place)


def lines_of(found: "Verification") -> list[str]:
    """Return the text form."""
    checked = "every byte checked" if found.blobs_checked else "bytes not checked (--fast)"
    lines = verdict_lines(found)
    lines += [f"ledger    {found.ledger}", f"root      {found.root}", *intact_lines(found)]
    if found.level == "full":
        blobs = f"{checked}, {found.redacted} redacted, {found.orphans} named by no event"
        lines += [f"blobs     {blobs}", *unerased_lines(found), f"gold      {found.gold}"]
    lines.append(f"pin       {found.pin}")
    if found.level != "open":
        lines += head_lines(found.heads, found.size)
    if found.open_trials:
        more = ", …" if len(found.open_trials) > 1 else ""
        lines.append(f"open      {len(found.open_trials)}: {clean(found.open_trials[0])}{more}")
    return lines + unseen_lines(found)


def intact_lines(found: "Verification") -> list[str]:
    """Return up to where a damaged log is intact, and how to keep that."""
    if found.intact_upto is None:
        return []
    return [
        f"intact    up to seq {found.intact_upto}, with the root",
        f"          {found.intact_root}",
        f"          ledger log --raw --upto {found.intact_upto} > intact.jsonl keeps these events,",
        "          ledger log --raw whatever else can be read",
    ]


def unerased_lines(found: "Verification") -> list[str]:
    """Return which recorded redactions a crash has left unfinished."""
    if not found.unerased:
        return []
    words = f"{len(found.unerased)} recorded as redacted and STILL THERE since a crash came between"
    finish = f"ledger redact {found.unerased[0][:16]} --reason TEXT finishes all of them"
    return wrapped("unerased", f"{words}: {finish}")


def verdict_lines(found: "Verification") -> list[str]:
    """Return whether the log is what was written, and what is not."""
    count = len(found.findings) + found.unlisted
    if not count:
        return [f"intact    {looked_at(found)}"]
    findings = "1 finding" if count == 1 else f"{count} findings"
    verdict = "NOT WHAT WAS WRITTEN"
    if {finding.place for finding in found.findings} == {"policy"}:
        verdict = "POLICY NOT MET"
    lines = [f"{verdict}: {findings}, the first at {place_of(found.findings[0])}"]
    lines += [f"  {clean(finding)}" for finding in found.findings[:SHOWN]]
    if count > SHOWN:
        lines.append(f"  … and {count - SHOWN} more (--json lists up to 1000)")
    return lines


def looked_at(found: "Verification") -> str:
    """Return what was checked, in a clause."""
    if found.level == "open":
        return f"the last of {found.size} events, and the schema"
    if found.level == "full":
        return f"{found.size} events: bytes, chain, links, tree, columns, schema"
    after = f"{found.size - found.since} events after the first {found.since}"
    return f"{after}: bytes, chain, links, tree, texts"


def head_lines(heads: "HeadState", size: int) -> list[str]:
    """Return what signed heads say of a log."""
    lines = wrapped("heads", signed_words(heads.count, heads.signed, size))
    if heads.unvouched:
        places = ", ".join(map(str, heads.unvouched))
        words = f"handed over at seq {places} without a signature of the key before"
        lines += wrapped("keys", words)
    if heads.notes:
        states = [note.state for note in heads.notes]
        words = f"{states.count('matches')} of {len(states)} given match"
        others = states.count("other ledger")
        lines += wrapped("notes", words + (f", {others} of other ledgers" if others else ""))
    if heads.policy == "met":
        lines += wrapped("policy", f"met by the signed head of {heads.accepted} events")
    elif heads.policy != "none":
        lines += wrapped("policy", f"not met: {heads.policy}")
    return lines


def unseen_lines(found: "Verification") -> list[str]:
    """Return what this check cannot see, or did not look at."""
    if found.level == "open":
        return [f"not done  the {found.since} events before, texts, signed heads: ledger verify"]
    lines: list[str] = []
    if found.level == "since head":
        if found.since:
            trusted = f"on the word of the {found.trusted}"
            lines += wrapped("taken", f"the first {found.since} events and their texts, {trusted}")
        lines.append("not done  calls and trials that never end; SQLite's own check: ledger verify")
    noted = max(
        (note.size or 0 for note in found.heads.notes if note.state == "matches"), default=0
    )
    if noted:
        words = f"what was cut or rewritten after event {noted}: the notes go no further"
        return [*lines, *wrapped("not seen", words)]
    lines.append("not seen  a cut tail, without a head pin or a signed head kept elsewhere;")
    lines.append("          a history rewritten as a whole by the owner of the file and the pin")
    return lines
