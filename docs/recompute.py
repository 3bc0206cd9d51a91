"""Recompute a metric from `ledger explain RUN METRIC --json` alone, with nothing but Python.

Usage: python recompute.py FILE; exit code 1 where the stated number does not follow.
"""

import json
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

found = json.loads(Path(sys.argv[1]).read_bytes())
stated = found["score"]["headline"]
questions = defaultdict(list)
for member in found["members"]:
    if member["excluded"] is None:  # every other slot is in the denominator
        questions[member["question"]].append((Fraction(member["low"]), Fraction(member["high"])))
groups = list(questions.values())
if found["aggregate"] == "trial-mean":  # each trial weighs alike; else each question does
    groups = [[bounds] for group in groups for bounds in group]
ends = {}
for place, name in enumerate(("low", "high")):
    means = [sum(bounds[place] for bounds in group) / len(group) for group in groups]
    ends[name] = str(sum(means) / len(means)) if means else None
value = ends["low"] if ends["low"] == ends["high"] else None
expected = {name: None if stated is None else stated[name]["value"] for name in ends}
print(f"low {ends['low']}  high {ends['high']}  value {value}  of {found['run']} {found['metric']}")
if stated is None and found["score"]["unavailable"]:
    print(f"unavailable: {found['score']['unavailable']}")
elif ends != expected:
    sys.exit(f"DIFFERENT: stated low {expected['low']}  high {expected['high']}")
else:
    print("as stated")
