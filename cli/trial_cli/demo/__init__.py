"""A real evaluation on this machine: data, plain scripts, and the command that runs them.

Invariant: the scripts and data files of this package import nothing of this project; they know the
ledger only as a program that reads JSONL.
"""
