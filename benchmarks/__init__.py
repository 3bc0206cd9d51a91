"""What the product costs, as ratios against the physical limit measured in the same run.

Invariant: a benchmark changes nothing outside its own folder; `docs/benchmarks.md` says how to read
what it prints.
"""
