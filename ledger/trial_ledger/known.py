"""What a writer remembers of the ledger between events: documents, runs, trials.

Invariant: everything here was read inside the running transaction, or since the last one with no
other writer in between; `forget` and `reload` are how that is kept.
"""

from trial_ledger.canonical import decode_event
from trial_ledger.errors import NotFoundError
from trial_ledger.filling import Filler
from trial_ledger.goldfile import GoldFile
from trial_ledger.identifiers import TrialKey
from trial_ledger.lifecycle.states import RunState, TrialState
from trial_ledger.loading import load_run, load_trial, read_plain
from trial_ledger.registry import Registry
from trial_ledger.store import Store

__all__ = ["Known"]

MAX_TRIALS = 400
"""Trial states kept from one group of events to the next."""


class Known:
    """Guard states by name, loaded by index when first asked for."""

    def __init__(self, store: Store, gold: GoldFile | None) -> None:
        self.store = store
        self.gold = gold
        self.registry = Registry(lambda reference: read_plain(store, reference))
        self.filler = Filler(gold, self.registry)
        self.runs: dict[str, RunState] = {}
        self.trials: dict[tuple[str, str], TrialState] = {}

    def reload(self) -> None:
        """Forget everything and read the documents of the ledger anew."""
        self.forget()
        store = self.store
        self.registry = Registry(lambda reference: read_plain(store, reference))
        self.filler = Filler(self.gold, self.registry)
        for document in store.scope(None, None):
            self.registry.apply(decode_event(document))

    def forget(self) -> None:
        """Forget runs and trials, as after a rollback."""
        self.runs.clear()
        self.trials.clear()

    def trim(self) -> None:
        """Forget trials when there are many; call only where every collected row is in the file."""
        if len(self.trials) > MAX_TRIALS:
            self.trials.clear()

    def run(self, name: str) -> RunState:
        """Return the state of a run.

        Raises:
            NotFoundError: it was never opened.
        """
        state = self.runs.get(name)
        if state is None:
            state = load_run(self.store, self.registry, name)
            self.runs[name] = state
        return state

    def has_run(self, name: str) -> bool:
        """Return whether a run was opened."""
        try:
            self.run(name)
        except NotFoundError:
            return False
        return True

    def trial(self, run: RunState, key: TrialKey) -> TrialState:
        """Return the state of a trial, empty where it was never started."""
        name = (run.name, str(key))
        state = self.trials.get(name)
        if state is None:
            state = load_trial(self.store, run, name[1])
            self.trials[name] = state
        return state
