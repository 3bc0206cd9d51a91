"""Projections: pure folds of the log into scores, failures, costs and derivations.

Invariant: importing this package loads nothing heavy; names are taken from its modules.
"""
