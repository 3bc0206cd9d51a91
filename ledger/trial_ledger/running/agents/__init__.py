"""Agents: a Python callable, a command, a service, or the built-in chat loop.

Invariant: whatever an agent does wrong is a failure of its trial; it never ends the run.
"""
