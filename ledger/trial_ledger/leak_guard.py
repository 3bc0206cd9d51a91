"""Looks for gold in what an agent sends after its first input (C3).

Invariant: a gold text counts as a leak only where it stands in no question, no context and no
response delivered earlier in that trial; a later leak is recorded by the ledger itself as a failure
occurrence, and a canary invalidates the trial. Nothing is refused: the request may have left.
"""

from collections.abc import Iterator
from itertools import count

from trial_ledger import events
from trial_ledger.canonical import decode_event
from trial_ledger.documents.leaks import find_leak, holds, normalise
from trial_ledger.events import Actor
from trial_ledger.filling import Filler
from trial_ledger.identifiers import TrialKey
from trial_ledger.lifecycle.scope import Scope
from trial_ledger.lifecycle.states import RunState, TrialState
from trial_ledger.store import Store
from trial_ledger.submission import NewText, Submission

__all__ = ["LeakGuard"]

MAX_NAME = 256
LEDGER = Actor(role="ledger", name="leak guard")


class LeakGuard:
    """The leak guard of one ledger, for requests after the first input."""

    def __init__(self, store: Store, filler: Filler) -> None:
        self.store = store
        self.filler = filler

    def suspects(self, scope: Scope) -> bool:
        """Return whether a request holds any gold, shown before or not."""
        request = scope.texts.get("request")
        if request is None:
            return False
        assert scope.run is not None, "a call lies in a run"
        assert scope.trial_key is not None, "a call lies in a trial"
        return self.filler.leak_in(scope.run, scope.trial_key, request) is not None

    def disclosures(self, scope: Scope, data: events.CallStarted) -> Iterator[Submission]:
        """Yield the events that disclose gold in a request; none where it was shown before.

        An imported log is left alone: what its source recorded of responses may have gaps, and
        nothing is invented. A judge is meant to see gold. The call is in the log by now, so no
        guard may refuse what follows from it.
        """
        run, trial, state = scope.run, scope.trial_key, scope.trial
        assert run is not None, "a call lies in a run"
        assert trial is not None, "a call lies in a trial"
        assert state is not None, "a key has a state"
        request = scope.texts["request"]
        if run.is_imported or data.purpose == "judge":
            return
        dataset = run.opened.dataset
        assert dataset is not None, "the ledger filled it"
        canary = self.filler.canary(dataset)
        leak = self.filler.leak_in(run, trial, request)
        if leak is not None and leak != canary:
            leak = find_leak(request.decode("utf-8", "replace"), self.unseen(run, trial), None)
        if leak is None:
            return
        found = f"the request of call {data.call} holds gold that the agent was never shown: {leak}"
        yield Submission(
            kind="failure.occurred",
            run=run.name,
            trial=trial,
            actor=LEDGER,
            data={
                "occurrence": new_occurrence(state, data.call),
                "class": "gold_leak",
                "call": data.call,
                "endpoint": data.endpoint,
                "message": NewText(content=found.encode(), class_="gold"),
            },
        )
        if leak == canary and not state.invalidated:
            yield Submission(
                kind="trial.invalidated",
                run=run.name,
                trial=trial,
                actor=LEDGER,
                data={"reason": f"the canary of {dataset} stands in the request of {data.call}"},
            )

    def unseen(self, run: RunState, trial: TrialKey) -> list[str]:
        """Return the gold texts that no earlier response of a trial showed."""
        assert run.opened.dataset is not None, "the ledger filled it"
        shown = [normalise(text) for text in self.responses(run, trial)]
        return [
            term
            for term in self.filler.gold_terms(run.opened.dataset, trial.question)
            if not any(holds(text, term) for text in shown)
        ]

    def responses(self, run: RunState, trial: TrialKey) -> Iterator[str]:
        """Yield the responses of a trial that may have reached the model; erased ones are gone."""
        for document in self.store.scope(run.name, str(trial)):
            data = decode_event(document).data
            if not isinstance(data, events.CallFinished) or data.response is None:
                continue
            if data.delivered is not False and data.response.class_ != "gold":
                content = self.store.blobs.read(data.response)
                if content is not None:
                    yield content.decode("utf-8", "replace")


def new_occurrence(state: TrialState, call: str) -> str:
    """Return the name of an occurrence that the trial does not have yet."""
    names = (f"gold-leak/{number}/{call}"[:MAX_NAME] for number in count(1))
    return next(name for name in names if name not in state.occurrences)
