"""The event kinds, by what they are about; `trial_ledger.events` is their closed union.

Invariant: data only; every field is documented under itself.
"""
