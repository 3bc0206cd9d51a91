"""What holds for all tests: drawn cases are the same ones in every run, other ones in a soak.

No test depends on how fast a machine is, so that no case has a deadline.
"""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("soak", max_examples=1_000, deadline=None)
settings.load_profile("soak" if os.environ.get("LEDGER_SOAK") else "same")
