"""What led to an exception.

Invariant: the exception itself comes first, and nothing that Python tied to it is left out.
"""

from collections.abc import Iterator

__all__ = ["causes_of"]


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what led to it."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__
