"""Executes frozen manifests: agents, search providers, schedule, retries, budgets.

Invariant: nothing here opens a gold file; what is about to happen is recorded before it happens.
"""
