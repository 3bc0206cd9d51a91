"""Code graders: from an answer, its gold and a metric's settings to a judgment (C7, C27, C28).

Invariant: everything in here is a pure function of its arguments; nothing reads the ledger, a file
of the user, a clock or the environment, and no answer can make it take more than linear time.
"""
