"""The named rules by which sources compute the numbers that they publish, beside ours.

Invariant: a rule is exact and has one name; no rule replaces the headline, it stands beside it.
"""
