"""Compare what a rubric declares to be official grading with the pinned grader (C15).

Invariant: a rubric passes only where everything that it declares equals the pin; a named departure
passes as a patch, under which no rubric bears the benchmark's name.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

from trial_ledger.documents.official_pins import PINS, Pin
from trial_ledger.documents.outcome_structs import OutcomeRule
from trial_ledger.documents.reading import Faults
from trial_ledger.documents.rubric_structs import Rubric, metric_outcomes
from trial_ledger.strict_json import shorten

__all__ = ["check_official", "prompt_digest"]

UNPLAIN = re.compile(r"[^0-9a-z]")

COUNTED = {"correct": "1", "incorrect": "0"}
"""What the published means count for what was decided."""

MISSING = (
    "abstained",
    "refused",
    "filtered",
    "limit",
    "trial_errored",
    "harness_fault",
    "search_provider_fault",
    "model_provider_fault",
    "environment_fault",
    "cancelled",
    "unfinished",
    "not_started",
)
"""Classes without an answer, which count 0 and stay in the denominator."""


def check_official(rubric: Rubric, faults: Faults) -> None:
    """Report everything in which a rubric departs from the grader that it declares (C15).

    A grader that is not pinned here is compared with nothing; a reconstructed rubric is what a
    source says and is not compared either.
    """
    if rubric.reconstructed:
        return
    official = rubric.official
    pin = None if official is None else PINS.get(official.grader)
    if official is None or official.patches:
        check_name(rubric, faults)
    if official is not None and pin is None:
        known = [one for one in PINS.values() if plain(one.benchmark) == plain(official.benchmark)]
        if known:
            report(faults, "official.grader", official.grader, known[0].grader)
        elif official.patches:
            expected = "none: a changed grader is not the official one"
            report(faults, "official.patches", ", ".join(official.patches), expected)
    if pin is not None:
        for field, found, expected in (
            *declared_otherwise(rubric, pin),
            *graded_otherwise(rubric, pin),
            *counted_otherwise(rubric),
        ):
            report(faults, field, found, expected)


def report(faults: Faults, field: str, found: str, expected: str) -> None:
    """Report one departure."""
    faults.add(
        "not as the official grader is pinned",
        field=field,
        found=shorten(found),
        expected=expected,
        clause="C15",
    )


def check_name(rubric: Rubric, faults: Faults) -> None:
    """Report a rubric that bears a benchmark's name without its unchanged grader."""
    names = {plain(rubric.name), plain(rubric.name + rubric.version)}
    for pin in PINS.values():
        if plain(pin.benchmark) in names:
            faults.add(
                f"bears the name of {pin.benchmark} without its official grader unchanged",
                field="name",
                found=shorten(rubric.name),
                expected=f"another name, or [official] with grader {pin.grader} and no patch",
                clause="C15",
            )


def plain(name: str) -> str:
    """Return a name without case, blanks and marks, by which names are compared."""
    return UNPLAIN.sub("", name.lower())


def declared_otherwise(rubric: Rubric, pin: Pin) -> Iterator[tuple[str, str, str]]:
    """Yield (field, found, expected) of what the section says otherwise than the pin."""
    official = rubric.official
    assert official is not None, "there is a pin only for a section"
    if official.benchmark != pin.benchmark:
        yield "official.benchmark", official.benchmark, pin.benchmark
    if official.repository != pin.repository:
        yield "official.repository", official.repository or "none", pin.repository
    if not (official.commit or "").startswith(pin.commit):
        yield "official.commit", official.commit or "none", pin.commit
    for name, digest in official.digests.items():
        if name not in pin.files:
            yield f"official.digests.{name}", digest, f"only {', '.join(pin.files)}"
    for name, known in pin.files.items():
        digest = official.digests.get(name, "none")
        if digest == "none" or known not in {None, digest}:
            yield f"official.digests.{name}", digest, known or "the SHA-256 of that file"
    for patch in official.patches:
        if patch not in pin.patches:
            expected = "none: a changed grader is not the official one"
            yield "official.patches", patch, ", ".join(pin.patches) or expected


def graded_otherwise(rubric: Rubric, pin: Pin) -> Iterator[tuple[str, str, str]]:
    """Yield (field, found, expected) of what the primary metric or judge does otherwise."""
    place = f"metrics.{rubric.primary}"
    metric = rubric.metrics[rubric.primary]
    if pin.graders:
        if metric.grader not in pin.graders:
            yield f"{place}.grader", metric.grader, " or ".join(pin.graders)
        if metric.scale != ("0", "1"):
            yield f"{place}.scale", " to ".join(metric.scale), "0 to 1"
    if metric.direction != "higher":
        yield f"{place}.direction", metric.direction, "higher"
    if pin.judge is not None:
        yield from judged_otherwise(rubric, pin)


def judged_otherwise(rubric: Rubric, pin: Pin) -> Iterator[tuple[str, str, str]]:
    """Yield (field, found, expected) of what is said otherwise about the judge."""
    assert pin.judge is not None, "only a judge's benchmark fixes one"
    metric, judge = rubric.metrics[rubric.primary], rubric.judge
    if (metric.grader, metric.measure) != ("judge", "verdict"):
        found = f"{metric.measure} by {metric.grader}"
        yield f"metrics.{rubric.primary}", found, "verdict by judge"
    if judge is None:
        yield "judge", "none", pin.judge.model
        return
    if judge.model != pin.judge.model:
        yield "judge.model", judge.model, pin.judge.model
    digest = prompt_digest(judge.prompt or "")
    if digest != pin.judge.prompt:
        yield "judge.prompt", f"SHA-256 {digest}", f"SHA-256 {pin.judge.prompt}"
    if judge.passes != 1:
        yield "judge.passes", str(judge.passes), "1"


def counted_otherwise(rubric: Rubric) -> Iterator[tuple[str, str, str]]:
    """Yield (field, found, expected) of classes that the published mean counts otherwise."""
    rules: Mapping[str, OutcomeRule] = metric_outcomes(rubric, rubric.primary)
    for name, score in {**COUNTED, **dict.fromkeys(MISSING, "0")}.items():
        rule = rules[name]
        if not rule.denominator:
            yield f"outcomes.{name}", "outside the denominator", score
        elif rule.score != score:
            yield f"outcomes.{name}", rule.score or "undecided", score


def prompt_digest(template: str) -> str:
    """Return the SHA-256 of a prompt's template without the white space around it, in hex."""
    return sha256(template.strip().encode()).hexdigest()
