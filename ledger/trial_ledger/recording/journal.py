"""Where recorders write: to the ledger, and where that cannot be written, to a spool.

Invariant: events are durable in the order in which they were pushed; once one went to the spool all
later ones of its run do, so that no event stands before what it follows from.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping
from typing import Literal

from anyio import CapacityLimiter

from trial_ledger.async_turns import to_its_end
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError, StorageError
from trial_ledger.events import Actor
from trial_ledger.identifiers import TrialKey
from trial_ledger.recording.spool import Spool
from trial_ledger.submission import Submission

__all__ = ["Journal", "Seen", "Written", "show_on_stderr"]

Seen = Literal["terminal", "emitted"]

LONGEST_LINE = 400
ID_BYTES = 16


class Written:
    """Events on their way into the log; awaiting it waits until they are durable.

    Args:
        journal: writes them.
        submissions: in order.
    """

    def __init__(self, journal: "Journal", submissions: list[Submission]) -> None:
        self.journal = journal
        self.submissions = submissions
        self.is_decided = False
        self.failure: LedgerError | None = None
        self.occurrence = ""
        """Id of the failure that they tell; empty where they tell none."""

    def __await__(self) -> Generator[object, object, None]:
        """Wait until all that was pushed up to here is durable."""
        return self.journal.settle_soon([self]).__await__()


def harmless(line: str) -> str:
    """Return a line in which nothing steers a terminal or turns the direction of its text."""
    return "".join(letter if letter.isprintable() else " " for letter in line)


def show_on_stderr(line: str) -> Seen | None:
    """Write one line to standard error; return who could see it, None where nobody could."""
    stream = sys.stderr
    try:
        stream.write(f"{harmless(line)[:LONGEST_LINE]}\n")
        stream.flush()
        return "terminal" if stream.isatty() else "emitted"
    except (AttributeError, OSError, ValueError):
        return None  # There is no standard error; the report lists the failure as unsurfaced.


class Journal:
    """The events of one run, on their way into one ledger; threads and tasks may share it.

    Args:
        ledger: opened for writing.
        run: name of the run.
        spool: takes what the ledger cannot.
        show: shows one line to whoever watches.
    """

    def __init__(
        self, ledger: Ledger, run: str, spool: Spool, show: Callable[[str], Seen | None]
    ) -> None:
        self.ledger = ledger
        self.run = run
        self.spool = spool
        self.show = show
        self.pending: deque[Written] = deque()
        self.lock = threading.Lock()

    def submission(
        self, kind: str, data: Mapping[str, object], trial: TrialKey | None, actor: Actor
    ) -> Submission:
        """Return an event that happens now, with an id, so that it can be told twice."""
        tools = self.ledger.tools
        return Submission(
            kind=kind,
            run=self.run,
            trial=trial,
            data={name: value for name, value in data.items() if value is not None},
            id=tools.random_bytes(ID_BYTES).hex(),
            at=tools.clock(),
            actor=actor,
        )

    def push(self, submissions: list[Submission]) -> Written:
        """Put events in line; nothing is durable before `settle`."""
        written = Written(self, submissions)
        self.pending.append(written)
        return written

    def settle(self, mine: list[Written]) -> None:
        """Write all that is in line, in one commit; durable on return.

        Raises:
            LedgerError: one of `mine` was refused.
            StorageError: neither ledger nor spool could take them.
        """
        with self.lock:
            if not all(one.is_decided for one in mine):
                self.write_pending()
        for one in mine:
            if one.failure is not None:
                raise one.failure

    async def settle_soon(self, mine: list[Written]) -> None:
        """Do `settle` in a worker thread and come back when it has ended, whatever is cancelled."""
        done = await to_its_end(lambda: self.settle(mine), CapacityLimiter(1))
        done.outcome()

    def write_pending(self) -> None:
        """Write what is in line, and decide it."""
        group: list[Written] = []
        while self.pending:
            group.append(self.pending.popleft())
        try:
            if self.spool.path is None:
                self.append(group)
            else:
                self.keep(group)
        except LedgerError as error:
            for one in group:
                one.failure = error
        for one in group:
            one.is_decided = True

    def append(self, group: list[Written]) -> None:
        """Append a group; where the file cannot be written, spool it."""
        entries = [Entry(submission=item) for one in group for item in one.submissions]
        try:
            results = iter(self.ledger.append_group(entries))
        except StorageError as error:
            self.keep(group)
            self.show(f"{self.run}: {error.message}; events go to {self.spool.path}")
            return
        for one in group:
            refused = [
                result
                for _, result in zip(one.submissions, results, strict=False)
                if isinstance(result, LedgerError)
            ]
            one.failure = refused[0] if refused else None

    def keep(self, group: list[Written]) -> None:
        """Spool a group."""
        self.spool.keep(item for one in group for item in one.submissions)
