"""What an Inspect log calls an error, in the closed list of failure classes.

Invariant: a class is taken only from a word that the source itself wrote (an error type, the name
of an exception); everything else is `other` with that word, and nobody's fault is made up.
"""

import re

from trial_ledger.importing.source import safe_name

__all__ = ["error_class", "is_cancellation", "tool_error_class"]

EXCEPTION = re.compile(r"\s*(?:[A-Za-z_][\w]*\.)*([A-Za-z_]\w{2,60})\s*(?:\(|:|$)")

TOOL_CLASSES = {
    "timeout": "timeout",
    "unicode_decode": "decode_error",
    "limit": "limit",
    "output_limit": "limit",
    "cancelled": "cancelled",
    "sandbox_unavailable": "environment",
}
"""Error types of tool calls that have a class of their own; the others are `tool_error`."""

EXCEPTION_CLASSES = {
    "TimeoutError": "timeout",
    "APITimeoutError": "timeout",
    "ReadTimeout": "timeout",
    "ConnectTimeout": "timeout",
    "WriteTimeout": "timeout",
    "PoolTimeout": "timeout",
    "ConnectionError": "connect",
    "ConnectionResetError": "connect",
    "ConnectionRefusedError": "connect",
    "ConnectionAbortedError": "connect",
    "APIConnectionError": "connect",
    "ConnectError": "connect",
    "ReadError": "connect",
    "RemoteProtocolError": "connect",
    "gaierror": "dns",
    "SSLError": "tls",
    "SSLCertVerificationError": "tls",
    "RateLimitError": "rate_limited",
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "OverloadedError": "overloaded",
    "ServiceUnavailableError": "overloaded",
    "InternalServerError": "server_error",
    "BadRequestError": "client_error",
    "NotFoundError": "client_error",
    "UnprocessableEntityError": "client_error",
    "JSONDecodeError": "decode_error",
    "UnicodeDecodeError": "decode_error",
    "LimitExceededError": "limit",
    "CancelledError": "cancelled",
    "KeyboardInterrupt": "cancelled",
}
"""Exceptions whose name says what happened, whoever raised them."""

CANCELLED_BY = "Cancelled by "
"""How Inspect marks a model call that an operator, a limit or the system cut short."""


def tool_error_class(kind: str | None) -> tuple[str, str]:
    """Return failure class and detail class of a tool error's type."""
    word = kind or "unknown"
    return TOOL_CLASSES.get(word, "tool_error"), safe_name(word)


def error_class(message: str | None) -> tuple[str, str]:
    """Return failure class and detail class of an error message that begins with an exception."""
    text = (message or "")[:500]
    if text.startswith(CANCELLED_BY):
        return "cancelled", safe_name(text[:60])
    match = EXCEPTION.match(text)
    if match is None:
        return "other", "error"
    name = match[1]
    return EXCEPTION_CLASSES.get(name, "other"), name


def is_cancellation(message: str | None) -> bool:
    """Return whether a sample ended because it was cancelled and not because it failed."""
    return error_class(message)[0] == "cancelled"
