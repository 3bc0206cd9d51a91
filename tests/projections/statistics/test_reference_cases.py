"""Every statistic against values computed with independent libraries and official graders."""

from fractions import Fraction

from house import ROOT
from reference_cases import (
    ELSEWHERE,
    STATISTICS,
    Case,
    all_cases,
    is_exact,
    is_met,
    is_other_file,
    plain,
)


def fault_of(case: Case) -> object:
    """Return what we say instead of what is expected; None where the case is met."""
    found = plain(STATISTICS[case["fn"]](case["inputs"]))
    met = is_met(found, case["expected"], Fraction(str(case["tolerance"])))
    if "exact" in case:
        met = met and is_exact(found, case["exact"])
    return None if met else (found, case["expected"], case.get("exact"))


def test_every_reference_case_is_met() -> None:
    """Within its tolerance, and exactly where it is a fraction; none is passed over."""
    ours = [case for case in all_cases() if case["fn"] not in ELSEWHERE]
    unknown = {case["fn"] for case in ours} - set(STATISTICS)
    assert unknown == set(), "a quantity that nobody here computes"
    wrong = {case["name"]: fault for case in ours if (fault := fault_of(case)) is not None}
    assert wrong == {}
    if not is_other_file():
        assert {case["fn"] for case in ours} == set(STATISTICS)
        assert (len(all_cases()), len(ours)) == (224, 224 - 32)


def test_what_is_a_graders_is_tested_with_the_graders() -> None:
    """The other test names each of these quantities, and nothing is claimed twice."""
    for quantity, place in ELSEWHERE.items():
        assert f'"{quantity}": ' in (ROOT / place).read_text("utf-8")
    assert set(ELSEWHERE) & set(STATISTICS) == set()


def test_a_wrong_value_is_no_match() -> None:
    """The comparison itself refuses a value beyond the tolerance, a gap, and a near fraction."""
    close = Fraction(1, 10**9)
    assert is_met(Fraction(1, 3), 0.3333333333, close)
    assert not is_met(Fraction(1, 3), 0.33333, close)
    assert not is_met(None, 0.0, close)
    assert not is_met(Fraction(0), None, close)
    assert not is_met({"a": None}, {"a": None, "b": None}, close)
    assert not is_met([1], [1, 2], close)
    assert not is_met("A", "B", close)
    assert not is_exact(Fraction(333, 1000), "1/3")
    assert not is_exact(None, "1/3")
