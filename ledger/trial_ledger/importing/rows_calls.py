"""Calls, failures and consumption as rows state them.

Invariant: a failure is taken only from what the source says; a word that the map does not know is
kept as `other` with that word. An amount that the source does not know is None.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from trial_ledger.documents.outcomes import FAILURE_CLASSES, PURPOSES
from trial_ledger.importing.inspect_mapping_failures import error_class
from trial_ledger.importing.rows_faults import RowFaults
from trial_ledger.importing.rows_source import Row, inner_rows
from trial_ledger.importing.rows_structs import (
    CallsMap,
    FailureClassMap,
    FailureMap,
    RowsPath,
    Value,
)
from trial_ledger.importing.rows_values import RowReader, match
from trial_ledger.importing.source import safe_name

__all__ = ["Amounts", "CallFacts", "CallReader", "FailureFacts", "objects_in"]

CURRENCY = re.compile(r"[A-Z]{3}")
UNITS = "units."
NO_CALL = "none"
WORD_LENGTH = 60
MAX_MEMBERS = 100_000


class Amounts(msgspec.Struct, frozen=True, kw_only=True):
    """What something consumed and cost."""

    usage: Mapping[str, object] | None
    """Consumption in the form of an event; None where nothing is known."""
    cost: Mapping[str, object] | None
    """Cost in the form of an event; None where unknown."""


class Priced(Protocol):
    """A part of a map with amounts."""

    @property
    def usage(self) -> dict[str, Value]:
        """Consumption by part."""

    @property
    def cost(self) -> Value | None:
        """Cost."""

    @property
    def currency(self) -> Value | None:
        """Currency."""


class FailureFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One failure occurrence."""

    place: str
    """Place below its trial."""
    class_: str
    """Failure class."""
    detail_class: str | None
    """The source's own word."""
    fault: str | None
    """Whose."""
    outcome: str | None
    """How a trial with it ended, where the map says."""
    message: str | None
    """What was reported."""
    detail: str | None
    """More of it."""
    listed: bool
    """Whether the map knows the word."""


class CallFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One call."""

    place: str
    """Place below its trial; also its id."""
    purpose: str
    """model, search, tool or judge."""
    name: str | None
    """Model or tool."""
    request: str | None
    """What was sent."""
    response: str | None
    """What came back."""
    attempt: int
    """Which try."""
    started: datetime | None
    """When it began."""
    ended: datetime | None
    """When it ended."""
    duration_us: int | None
    """How long it took."""
    amounts: Amounts
    """Consumption and cost."""
    failure: FailureFacts | None
    """What went wrong; None where nothing did."""


class CallReader:
    """Reads calls, failures and amounts from rows."""

    def __init__(self, calls: CallsMap | None, reader: RowReader) -> None:
        self.calls = calls
        self.reader = reader

    def read(self, row: Row, *, alone: bool) -> list[CallFacts]:
        """Return the calls of a row: itself, or the members of a list in it."""
        if self.calls is None:
            return []
        members = [row] if alone else objects_in(row, self.calls.rows, self.reader.faults)
        found = (self.call(member, number) for number, member in enumerate(members))
        return [call for call in found if call is not None]

    def call(self, row: Row, number: int) -> CallFacts | None:
        """Return the call that a member is; None where it is none."""
        assert self.calls is not None, "the caller looked"
        calls, reader = self.calls, self.reader
        if calls.only is not None and not reader.holds(calls.only, row):
            return None
        purpose = reader.text(calls.purpose, row)
        if purpose == NO_CALL or purpose is None:
            return None
        if purpose not in PURPOSES:
            reader.wrong(calls.purpose, row, purpose, f"one of {', '.join(PURPOSES)}, none")
            return None
        place = f"calls/{number}"
        name = reader.text(calls.name, row)
        failures = (self.failure(failure, row, place=place) for failure in calls.failures)
        return CallFacts(
            place=place,
            purpose=purpose,
            name=None if not name else safe_name(name),
            request=reader.text(calls.request, row),
            response=reader.text(calls.response, row),
            attempt=reader.position(calls.attempt, row) or 1,
            started=reader.moment(calls.started, row),
            ended=reader.moment(calls.ended, row),
            duration_us=reader.duration(calls.duration, row),
            amounts=self.amounts(calls, row),
            failure=next((failure for failure in failures if failure is not None), None),
        )

    def failure(self, failure: FailureMap, row: Row, *, place: str) -> FailureFacts | None:
        """Return what a row says that went wrong; None where nothing did."""
        reader = self.reader
        if failure.when is not None and not reader.holds(failure.when, row):
            return None
        word = reader.text(failure.value, row)
        if failure.value is not None and (word is None or match(word, failure.none) is not None):
            return None
        key = None if word is None else match(word, failure.classes)
        meant = failure.otherwise if key is None else failure.classes[key]
        class_, detail = class_of(meant, word)
        message = reader.text(failure.message, row)
        return FailureFacts(
            place=place,
            class_=class_,
            detail_class=detail,
            fault=meant.fault,
            outcome=meant.outcome,
            message=message if message is not None else word,
            detail=reader.text(failure.detail, row),
            listed=key is not None or meant.class_ is not None or class_ != "other",
        )

    def amounts(self, priced: Priced, row: Row) -> Amounts:
        """Return what something consumed and cost."""
        usage = dict(self.usage(priced.usage, row))
        amount = self.reader.cost(priced.cost, row)
        currency = self.reader.text(priced.currency, row) if amount is not None else None
        if priced.currency is not None and amount is not None:
            currency = (currency or "").strip().upper()
            if not CURRENCY.fullmatch(currency):
                self.reader.wrong(priced.currency, row, currency, "a code such as USD")
        cost = None
        if amount is not None:
            cost = {"amount": amount, "currency": currency, "basis": "reported"}
        return Amounts(usage=usage or None, cost=cost)

    def usage(self, parts: Mapping[str, Value], row: Row) -> Iterator[tuple[str, object]]:
        """Yield the known parts of a consumption in the form of an event."""
        units: dict[str, int] = {}
        for part, value in parts.items():
            count = self.reader.count(value, row)
            if count is not None and part.startswith(UNITS):
                units[part.removeprefix(UNITS)] = count
            elif count is not None:
                yield part, count
        if units:
            yield "units", units


def objects_in(row: Row, path: RowsPath, faults: RowFaults) -> list[Row]:
    """Return the members of a list in a row, reporting what is no object."""
    members: list[Row] = []
    for member in inner_rows(dict(row.values), path, row):
        if not isinstance(member.values, dict):
            faults.add(
                "not an object",
                place=member.place,
                found=member.values,
                expected="a row of its own",
            )
        elif len(members) >= MAX_MEMBERS:
            faults.add("too many members", place=row.place, expected=f"<= {MAX_MEMBERS}")
            break
        else:
            members.append(member)
    return members


def class_of(meant: FailureClassMap, word: str | None) -> tuple[str, str | None]:
    """Return failure class and the source's own word, shortened to a label."""
    detail = None if not word or len(word) > WORD_LENGTH else safe_name(word)
    if meant.class_ is not None:
        needs_word = meant.class_ == "other" and detail is None
        return meant.class_, "stated by the map" if needs_word else detail
    if word is None:
        return "other", "stated by the map"
    if word.lower() in FAILURE_CLASSES:
        return word.lower(), detail
    class_, exception = error_class(word)
    return class_, detail or exception
