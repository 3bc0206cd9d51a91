"""The frozen documents: dataset, rubric, manifest; parsed, validated at once, hashed, compared.

Invariant: everything in here is a pure function of its arguments; nothing reads a file, a clock or
the environment.
"""
