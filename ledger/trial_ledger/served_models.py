"""Whether the model that answered is the one that was asked for (C24).

Invariant: the provider's prefix (`openai/`) is no difference, and neither is the dated version of
the same name (`gpt-4o-mini` answered by `gpt-4o-mini-2024-07-18`), which only says what the name
stood for. Any other number at the end is another model: `claude-3-5` is not `claude-3`.
"""

import re

__all__ = ["is_other_model"]

VERSION = re.compile(r"[-@:](?:latest|[0-9]{4}(?:-[0-9]{2}-[0-9]{2})?|[0-9]{6}|[0-9]{8})")


def is_other_model(requested: str, served: str) -> bool:
    """Return whether another model answered than was asked for."""
    wanted, found = requested.lower(), served.lower()
    while True:
        if found == wanted or found.endswith("/" + wanted):
            return False
        if found.startswith(wanted) and VERSION.fullmatch(found[len(wanted) :]):
            return False
        if "/" not in wanted:
            return True
        wanted = wanted.partition("/")[2]
