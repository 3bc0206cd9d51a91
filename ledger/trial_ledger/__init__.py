"""Trial Ledger: an append-only, content-hashed log of everything that happened in an evaluation.

Invariant: importing this package loads nothing heavy; names are taken from its modules.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
