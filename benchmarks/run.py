"""`make bench`: the entry point.

Invariant: the checkout's own modules are measured, whatever folder it is started from.
"""

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    importlib.import_module("benchmarks.suite").main()
