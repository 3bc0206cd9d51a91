"""Statistics, exact and from the standard library alone: one module a question.

Invariant: integers and fractions in, fractions out; what is undefined is None, never 0.
"""
