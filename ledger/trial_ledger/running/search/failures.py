"""What a response that is no success means: failure class, whose fault, how long to wait.

Invariant: a spent quota is never called a rate limit, whatever its status, and every status has a
class.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from trial_ledger.events import FailureClass
from trial_ledger.kinds.base import Fault
from trial_ledger.running.search.base import Rejection, count_of, member, named, text_of

__all__ = ["fault_of", "rejection", "wait_asked_ms"]

CLASSES: Mapping[int, FailureClass] = {
    401: "auth",
    402: "quota_exhausted",
    403: "auth",
    408: "timeout",
    429: "rate_limited",
    432: "quota_exhausted",  # Tavily: the plan's limit
    433: "quota_exhausted",  # Tavily: the pay-as-you-go limit
    503: "overloaded",
    504: "timeout",
    529: "overloaded",  # Anthropic
}
"""Failure class by status, where the status says more than its first digit."""

SPENT = (
    "insufficient_quota",  # OpenAI
    "insufficient_funds_credits",  # Linkup
    "exceed_budget_limit",  # Linkup
    "billing_hard_limit_reached",  # OpenAI
    "quota_exceeded",
    "not enough credits",  # Serper
    "credit balance is too low",  # Anthropic
)
"""Words of providers for money or quota that is used up, in lower case."""

OWN = frozenset({"auth", "client_error", "decode_error"})
"""Classes that are the harness's fault where no provider failed."""

LONGEST_MESSAGE = 300
LONGEST_WAIT_S = 86_400
MILLISECONDS = 1_000


def fault_of(class_: FailureClass, provider: Fault) -> Fault:
    """Return whose failure it is: a wrong key or request is the harness's own."""
    return "harness" if class_ in OWN else provider


def rejection(
    status: int,
    headers: Mapping[str, str],
    body: object,
    *,
    provider: Fault,
    now: datetime,
) -> Rejection:
    """Return what a response without success means.

    Args:
        status: its HTTP status.
        headers: its headers, names in lower case.
        body: its body as `read_json` returned it; None where it is no JSON.
        provider: whose fault it is unless it is our own.
        now: the present time, for a Retry-After that is a date.
    """
    code, message = words_of(body)
    class_ = class_of(status, f"{code or ''} {message or ''}".lower())
    shown = f"HTTP {status}{f' {code}' if code else ''}{f': {message}' if message else ''}"
    return Rejection(
        class_=class_,
        fault=fault_of(class_, provider),
        detail_class=code or f"http_{status}",
        message=shown[:LONGEST_MESSAGE],
        wait_ms=wait_asked_ms(headers, body, now),
    )


def class_of(status: int, said: str) -> FailureClass:
    """Return the failure class of a status and of what the provider said."""
    if status >= HTTPStatus.BAD_REQUEST and any(word in said for word in SPENT):
        return "quota_exhausted"
    if status in CLASSES:
        return CLASSES[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server_error"
    # A redirect is not followed: it could lead to a host that the manifest does not name (C24).
    return "client_error" if status >= HTTPStatus.BAD_REQUEST else "endpoint_fallback"


def words_of(body: object) -> tuple[str | None, str | None]:
    """Return the code and the message of an error, in whichever envelope a provider puts them."""
    for envelope in (member(body, "error"), member(body, "detail"), body):
        if isinstance(envelope, str):
            return None, text_of(envelope)
        found = [
            next((word for key in keys if (word := text_of(member(envelope, key)))), None)
            for keys in (("code", "type", "tag"), ("message", "error", "detail"))
        ]
        if any(found):
            return named(found[0]), found[1]
    return None, None


def wait_asked_ms(headers: Mapping[str, str], body: object, now: datetime) -> int | None:
    """Return how many milliseconds a provider asks to wait; None where it does not say.

    Seconds or a date in Retry-After (RFC 9110, 10.2.3), else the body's `retry_after_seconds`.
    """
    told = headers.get("retry-after", "").strip()
    seconds = count_of(told)
    if seconds is None and told:
        seconds = seconds_until(told, now)
    if seconds is None:
        seconds = count_of(member(body, "error", "retry_after_seconds"))
    return None if seconds is None else min(seconds, LONGEST_WAIT_S) * MILLISECONDS


def seconds_until(told: str, now: datetime) -> int | None:
    """Return the whole seconds until an HTTP date, rounded up; None where it is none."""
    try:
        moment = parsedate_to_datetime(told)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(-((now - moment) // timedelta(seconds=1)), 0)
