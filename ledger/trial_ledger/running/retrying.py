"""Whether a failed call is tried again, and after which wait.

Invariant: only what the manifest's `[retry]` lists is tried again, never more often and never after
a longer wait than it says.
"""

from blake3 import blake3

from trial_ledger.documents.manifest_structs import Retry
from trial_ledger.events import FailureClass

__all__ = ["is_retried", "wait_us"]

MICROSECONDS = 1_000
MOST_DOUBLINGS = 40
DIE = 1 << 32


def is_retried(retry: Retry, class_: FailureClass, attempt: int) -> bool:
    """Return whether the attempt after this one (from 1) is made."""
    return attempt < retry.attempts and class_ in retry.on


def wait_us(retry: Retry, attempt: int, asked_ms: int | None, chance: str) -> int:
    """Return the microseconds to wait after a failed attempt.

    The wait doubles with each attempt; between half of it and all of it is waited, so that many
    trials that failed together do not come back together. What the service asked for is waited at
    least, as far as the manifest's longest wait allows.

    Args:
        retry: the manifest's policy.
        attempt: the one that failed, from 1.
        asked_ms: what the service asked for; None where it did not.
        chance: names the try; the jitter follows from it, so that it can be checked afterwards.
    """
    longest = retry.wait_most_ms * MICROSECONDS
    doubled = retry.wait_ms * MICROSECONDS << min(attempt - 1, MOST_DOUBLINGS)
    most = min(doubled, longest)
    die = int.from_bytes(blake3(chance.encode()).digest()[:4], "big")
    jittered = most - most * die // (2 * DIE)
    return min(max(jittered, (asked_ms or 0) * MICROSECONDS), longest)
