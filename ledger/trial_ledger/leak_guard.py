"""Looks for gold in what an agent sends after its first input (C3).

Invariant: a gold text counts as a leak only where it stands in no question, no context and no
response delivered earlier in that trial; a later leak is recorded by the ledger itself as a failure
occurrence, and a canary invalidates the trial. Nothing is refused: the request may have left.
"""

from collections.abc import Iterator

from trial_ledger import events
from trial_ledger.canonical import decode_event
from trial_ledger.documents.dataset import find_leak
from trial_ledger.documents.leaks import holds, normalise
from trial_ledger.events import Actor
from trial_ledger.filling import Filler
from trial_ledger.identifiers import TrialKey
from trial_ledger.lifecycle.states import RunState
from trial_ledger.store import Store
from trial_ledger.submission import NewText, Submission

__all__ = ["LeakGuard"]

LEDGER = Actor(role="ledger", name="leak guard")


class LeakGuard:
    """The leak guard of one ledger, for requests after the first input."""

    def __init__(self, store: Store, filler: Filler) -> None:
        self.store = store
        self.filler = filler

    def disclosures(
        self, run: RunState, trial: TrialKey, data: events.CallStarted, request: bytes
    ) -> Iterator[Submission]:
        """Yield the events that disclose gold in a request; none where it is clean.

        An imported log is left alone: what its source recorded of responses may have gaps, and
        nothing is invented. A judge is meant to see gold.
        """
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
                "occurrence": f"gold-leak/{data.call}"[:256],
                "class": "gold_leak",
                "call": data.call,
                "endpoint": data.endpoint,
                "message": NewText(content=found.encode(), class_="gold"),
            },
        )
        if leak == canary:
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
