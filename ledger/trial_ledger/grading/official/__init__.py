"""Graders of published benchmarks, written anew from what their code does (C15).

Invariant: each decides as the code at its pin does, faults and all; what it departs in is a named
patch, under which nothing bears the benchmark's name.
"""
