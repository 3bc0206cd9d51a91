"""The page of the reference that lists the named rules."""

import re

from house import ROOT
from trial_projections.source_rules.registry import RULES

PAGE = ROOT / "docs" / "reference" / "source-rules.md"
ROW = re.compile(r"\| `(\w+)` \| (.+) \| (?:`(\w+)` )?\|")


def test_every_rule_stands_in_the_reference_as_it_says_itself() -> None:
    """Name, sentence and our own counterpart, in the order in which they are tried."""
    rows = [
        match.groups()
        for match in map(ROW.fullmatch, PAGE.read_text("utf-8").splitlines())
        if match
    ]
    assert rows == [
        (rule.name, rule.says, rule.instead if rule.instead != rule.name else None)
        for rule in RULES.values()
    ]
