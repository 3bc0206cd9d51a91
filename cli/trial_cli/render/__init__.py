"""The forms of a report.

Invariant: a form is a function of the report alone; it computes nothing and leaves out no run.
"""
