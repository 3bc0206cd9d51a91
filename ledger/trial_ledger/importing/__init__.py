"""Other tools' logs as documents and events of this ledger.

Invariant: an importer is a pure function of the bytes of its source; it reads, and never appends.
"""
