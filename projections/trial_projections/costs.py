"""What a run cost, by account, and what each trial spent in money and time (C17-C19): `costs`.

Invariant: inference, search and tools, and judging are separate accounts; an unknown cost is
counted and never added as zero; a call whose response was lost, or that never ended, is unknown.
"""

from collections.abc import Iterator

import msgspec

from trial_ledger import events
from trial_ledger.amounts import Cost, Tally, Usage
from trial_ledger.identifiers import TrialKey
from trial_ledger.keyed_file import KeyedFile
from trial_ledger.view import Stored
from trial_projections.fold import State, key_of
from trial_projections.records import AccountRecord, CallEnd, CallTime, TrialSpending

__all__ = ["ACCOUNTS", "ACCOUNT_OF_PURPOSE", "CostState", "CostsProjection"]

ACCOUNTS = ("inference", "search", "judge")
"""Every account, in the order in which they are shown."""

ACCOUNT_OF_PURPOSE = {"model": "inference", "search": "search", "tool": "search", "judge": "judge"}
"""Purpose of a call → its account; `search` is the account of search and tools."""


KINDS = frozenset(
    {"call.started", "call.finished", "response.lost", "judgment.recorded", "judgment.failed"}
    | {"failure.occurred"}
)
"""Kinds that cost something, or tell how a call ended."""

TIMEOUTS = frozenset({"timeout", "agent_timeout"})
"""Failure classes of what was cut off because it took too long."""


class CostState(msgspec.Struct, kw_only=True):
    """A record of this projection: an account, or what a trial spent."""

    account: AccountRecord | None = None
    """An account."""
    trial: TrialSpending | None = None
    """What a trial spent."""


class CostsProjection:
    """Keys: run, `account`, account; and run, `trial`, trial."""

    name = "costs"
    version = 2

    def start(self, file: KeyedFile) -> State[CostState]:
        """Return its state."""
        return State(file, self.name, CostState)

    def apply(self, state: State[CostState], stored: Stored) -> None:
        """Take one event into account."""
        event = stored.event
        if event.kind not in KINDS or event.run is None or event.trial is None:
            return
        run, trial = event.run, event.trial
        match event.data:
            case events.CallStarted(call=call, purpose=purpose, endpoint=endpoint):
                account = account_of(state, run, ACCOUNT_OF_PURPOSE[purpose])
                account.calls += 1
                account.open += 1
                trial_of(state, run, trial).open[call] = (purpose, endpoint)
            case events.CallFinished(call=call) as data:
                self.end(state, run, trial, call, data)
            case events.ResponseLost(call=call):
                # Lost after it finished: the call has told its cost already.
                self.end(state, run, trial, call, None)
            case events.FailureOccurred(class_=class_, occurrence=occurrence):
                if class_ in TIMEOUTS:
                    trial_of(state, run, trial).timeouts.append(occurrence)
            case (
                events.JudgmentRecorded(carried_from=str())
                | events.JudgmentFailed(carried_from=str())
            ):
                pass  # Paid for in the parent.
            case events.JudgmentRecorded(by="model", calls=(), cost=cost, usage=usage):
                add_judgment(state, event.run, cost, usage)
            case events.JudgmentFailed(reason="judge_failed", calls=()):
                # It may have been billed; nobody recorded a call that could say so.
                add_judgment(state, event.run, None, None)
            case _:
                pass  # Nothing else costs.

    def end(
        self,
        state: State[CostState],
        run: str,
        key: TrialKey,
        call: str,
        data: events.CallFinished | None,
    ) -> None:
        """Add what a call took, once; its end is None where its response was lost."""
        trial = trial_of(state, run, key)
        begun = trial.open.pop(call, None)
        if begun is None:
            return
        purpose, endpoint = begun
        cost, usage = (None, None) if data is None else (data.cost, data.usage)
        account = account_of(state, run, ACCOUNT_OF_PURPOSE[purpose])
        account.open -= 1
        add(account, cost, usage)
        if purpose != "judge":
            trial.tally.add(cost)
        end: CallEnd = "lost"
        if data is not None:
            cut = data.occurrence in trial.timeouts
            end = "answered" if data.status != "failed" else "timeout" if cut else "failed"
        duration = None if data is None else data.duration_us
        trial.calls.append(CallTime(purpose, endpoint, end, duration))


def trial_of(state: State[CostState], run: str, trial: TrialKey) -> TrialSpending:
    """Return what a trial spent, nothing at first."""
    key = key_of(run, "trial", str(trial))
    found = state.get(key)
    if found is None:
        found = CostState(trial=TrialSpending(tally=Tally()))
        state.put(key, found)
    assert found.trial is not None, "keys of trials hold trials"
    return found.trial


def account_of(state: State[CostState], run: str, name: str) -> AccountRecord:
    """Return an account, empty at first."""
    key = key_of(run, "account", name)
    found = state.get(key)
    if found is None:
        found = CostState(account=AccountRecord(tally=Tally()))
        state.put(key, found)
    assert found.account is not None, "keys of accounts hold accounts"
    return found.account


def add_judgment(state: State[CostState], run: str, cost: Cost | None, usage: Usage | None) -> None:
    """Add what a judgment without recorded calls cost."""
    record = account_of(state, run, "judge")
    record.calls += 1
    add(record, cost, usage)


def add(record: AccountRecord, cost: Cost | None, usage: Usage | None) -> None:
    """Add one amount and one consumption; None is one unknown."""
    record.tally.add(cost)
    if usage is None:
        record.usage_unknown += 1
        return
    for name, count in usage_parts(usage):
        record.usage[name] = record.usage.get(name, 0) + count
        record.usage_calls[name] = record.usage_calls.get(name, 0) + 1


def usage_parts(usage: Usage) -> Iterator[tuple[str, int]]:
    """Yield every known part of a consumption by name; billed units bear `units.` before theirs."""
    for name, count in msgspec.structs.asdict(usage).items():
        if isinstance(count, int):
            yield name, count
    for name, count in usage.units.items():
        yield f"units.{name}", count
