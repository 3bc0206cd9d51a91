"""The command line: commands parse, call one function, render.

Invariant: no arithmetic and no SQL in this package.
"""
