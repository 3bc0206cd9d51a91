"""The way from one number to another: every slot's part in the difference, by cause (C14, C34).

Invariant: the parts add up exactly, at the lower and at the upper end of the range, whatever
rubrics, datasets and trials the two numbers have; what cannot be told apart is named together.

For every slot that counts in both numbers the old cell is led to the new one in four moves:
overrides of the old run taken away, the new rubric's rules put on the old judgment, the new trial
and judgment put in their place, overrides of the new run put back. Each move has one cause. What
remains is the slots that count in only one of the two, and another kind of mean.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from trial_ledger.carrying import prompt_of, what_gives
from trial_ledger.events import AnswerSubmitted
from trial_ledger.exact import parse_rational, rational_text
from trial_projections.aggregate import Range
from trial_projections.bridge_cells import (
    NOTHING,
    added,
    bounds_of,
    changed_givers,
    changed_rule,
    changed_rules,
    counts_alike,
    is_comparable,
    is_higher,
    is_lost,
    is_other_life,
    less,
    renamed,
    side_of,
    weights_of,
    without_overrides,
)
from trial_projections.bridge_structs import (
    CAUSES,
    Bounds,
    Bridge,
    BridgeEnd,
    Cause,
    Move,
    Slot,
    SlotChange,
    Step,
)
from trial_projections.cells import Cell, MetricRules, Placed
from trial_projections.derivation import slot_name
from trial_projections.reading import ReadModel
from trial_projections.records import Mark, RunRecord
from trial_projections.scores import place_slots, score_placed

__all__ = ["bridge", "end_of"]


def bridge(old: BridgeEnd, new: BridgeEnd) -> Bridge | str:
    """Return the way from one number to another, or why there is none.

    Args:
        old: the number that was there.
        new: the number to explain.
    """
    before, after = place_slots(old.source, old.metric), place_slots(new.source, new.metric)
    first = score_placed(old.source, old.metric, before)
    last = score_placed(new.source, new.metric, after)
    for end, score in ((old, first), (new, last)):
        if score.headline is None:
            return f"{end.metric} of {end.run.name} is unavailable: {score.unavailable}"
    assert first.headline is not None, "looked at above"
    assert last.headline is not None, "looked at above"
    walk = Walk(old, new, before, after)
    ends = (bounds_of_range(first.headline), bounds_of_range(last.headline))
    low, high = less(ends[1], ends[0])
    return Bridge(
        old_run=old.run.name,
        old_metric=old.metric,
        old=first.headline,
        new_run=new.run.name,
        new_metric=new.metric,
        new=last.headline,
        low=rational_text(low),
        high=rational_text(high),
        steps=walk.steps(ends),
        unmoved=len(walk.common) - len(walk.moved),
        changes=walk.changes(),
        rubric=changed_rules(old, new),
    )


def bounds_of_range(found: Range) -> Bounds:
    """Return both ends of a headline."""
    low, high = found.low.value, found.high.value
    assert low is not None, "a headline has members"
    assert high is not None, "a headline has members"
    return parse_rational(low), parse_rational(high)


class Walk:
    """Leads every slot from its old cell to its new one."""

    def __init__(
        self, old: BridgeEnd, new: BridgeEnd, before: Sequence[Placed], after: Sequence[Placed]
    ) -> None:
        self.old, self.new = old, new
        self.before = {slot_of(placed): placed for placed in before}
        self.after = {slot_of(placed): placed for placed in after}
        self.old_rules = MetricRules(old.rubric, old.metric)
        self.new_rules = MetricRules(new.rubric, new.metric)
        self.is_same_rubric = (old.run.rubric_hash, old.metric) == (new.run.rubric_hash, new.metric)
        self.common = [
            slot
            for slot, placed in self.after.items()
            if placed.cell.counts and slot in self.before and self.before[slot].cell.counts
        ]
        self.moved: dict[Slot, list[tuple[Cause, Bounds]]] = {}
        still: set[tuple[Cell, Cell]] = set()
        for slot in self.common:
            placed = self.before[slot], self.after[slot]
            cells = placed[0].cell, placed[1].cell
            # Without a trial the cells are all there is to look at: the first such slot tells.
            is_empty = placed[0].trial is None and placed[1].trial is None
            if is_empty and cells in still:
                continue
            moves = merged(self.moves(*placed))
            if moves:
                self.moved[slot] = moves
            elif is_empty:
                still.add(cells)

    def moves(self, before: Placed, after: Placed) -> Iterator[tuple[Cause, Bounds]]:
        """Yield what each cause adds to one slot that counts in both numbers.

        A stage that would not count adds nothing of its own: the next one takes over its part.
        """
        stages = self.stages(before, after)
        last = bounds_of(before.cell, self.old.scale)
        for cause, cell, scale in stages:
            if not cell.counts:
                continue
            here = bounds_of(cell, scale)
            if here != last:
                yield cause(), (here[0] - last[0], here[1] - last[1])
            last = here

    def stages(
        self, before: Placed, after: Placed
    ) -> list[tuple[Callable[[], Cause], Cell, Bounds]]:
        """Return the cells from the old one to the new one, each with what leads to it."""
        old, new = self.old, self.new
        bare, ours = without_overrides(before), without_overrides(after)
        stages: list[tuple[Callable[[], Cause], Cell, Bounds]] = []
        cell = before.cell
        if bare is not before.judged:
            cell = self.old_rules.place(before.trial, bare)[0]
            stages.append((lambda: "override", cell, old.scale))
        if not self.is_same_rubric and is_comparable(old.rules, new.rules):
            cell = self.new_rules.place(before.trial, renamed(bare, old.metric, new.metric))[0]
            stages.append((lambda: "rubric", cell, new.scale))
        reached = cell
        target = after.cell
        if ours is not after.judged:
            target = self.new_rules.place(after.trial, ours)[0]
        stages.append((lambda: self.cause(before, after, reached, target), target, new.scale))
        if ours is not after.judged:
            stages.append((lambda: "override", after.cell, new.scale))
        return stages

    def cause(self, before: Placed, after: Placed, reached: Cell, target: Cell) -> Cause:
        """Return why the new trial or its judgment counts otherwise than the old one."""
        if not self.is_same_trial(before, after):
            lost, losing = is_lost(reached), is_lost(target)
            if losing and not lost:
                return "lost to errors"
            if lost:
                return "regained" if not losing or is_higher(reached, target) else "lost to errors"
            if not self.is_same_answer(before, after):
                return "answers changed"
        elif is_other_life(before.trial, after.trial, self.new.rubric):
            return "later events"
        return self.cause_of_verdict(after.question)

    def cause_of_verdict(self, question: str) -> Cause:
        """Return why the same answer has another verdict."""
        other_gold = self.old.gold.get(question) != self.new.gold.get(question)
        givers = [what_gives(end.rubric, end.metric) for end in (self.old, self.new)]
        other_rules = givers[0] != givers[1]
        if other_gold:
            return "rubric and gold" if other_rules or self.is_other_judge() else "gold"
        return "rubric" if other_rules else "judge"

    def is_other_judge(self) -> bool:
        """Return whether another judge gives the metric."""
        return self.new.rules.grader == "judge" and prompt_of(self.old.rubric) != prompt_of(
            self.new.rubric
        )

    def is_same_trial(self, before: Placed, after: Placed) -> bool:
        """Return whether both numbers judge one and the same session."""
        if before.trial is None or after.trial is None:
            return before.trial is after.trial
        return (
            self.old.root == self.new.root
            and before.trial.session == after.trial.session
            and before.trial.started == after.trial.started
        )

    def is_same_answer(self, before: Placed, after: Placed) -> bool:
        """Return whether two trials gave the same words."""
        digests = []
        for end, placed in ((self.old, before), (self.new, after)):
            mark = None if placed.trial is None else placed.trial.answered
            digests.append(None if mark is None else end.answer_digest(mark))
        return digests[0] is not None and digests[0] == digests[1]

    def steps(self, ends: tuple[Bounds, Bounds]) -> list[Step]:
        """Return every cause's part in the way from the old number to the new one.

        Args:
            ends: both numbers, each with its lower and upper end.
        """
        weights = weights_of(self.common, self.old.rules.aggregate)
        parts: defaultdict[Cause, Bounds] = defaultdict(lambda: NOTHING)
        counts: defaultdict[Cause, Counter[str]] = defaultdict(Counter)
        for slot, moves in self.moved.items():
            for cause, change in moves:
                parts[cause] = added(parts[cause], change, weights[slot])
                direction = "up" if sum(change) > 0 else "down" if sum(change) < 0 else "level"
                counts[cause][direction] += 1
        other_mean = less(
            self.mean_of_common(self.new, self.after, self.new.rules.aggregate),
            self.mean_of_common(self.new, self.after, self.old.rules.aggregate),
        )
        if other_mean != NOTHING:
            parts["rubric"] = added(parts["rubric"], other_mean, Fraction(1))
        parts["denominator"] = added(
            less(self.mean_of_common(self.old, self.before, self.old.rules.aggregate), ends[0]),
            less(ends[1], self.mean_of_common(self.new, self.after, self.new.rules.aggregate)),
            Fraction(1),
        )
        alone = self.counting_alone()
        counts["denominator"]["level"] = alone
        return [
            Step(
                cause=cause,
                slots=counts[cause].total(),
                up=counts[cause]["up"],
                down=counts[cause]["down"],
                low=rational_text(parts[cause][0]),
                high=rational_text(parts[cause][1]),
            )
            for cause in CAUSES
        ]

    def mean_of_common(
        self, end: BridgeEnd, placed: Mapping[Slot, Placed], aggregate: str
    ) -> Bounds:
        """Return the mean over the slots that count in both numbers."""
        weights = weights_of(self.common, aggregate)
        # Slots that count and weigh alike are added at once: sums of fractions take long.
        alike = Counter(
            (placed[slot].cell, weights[slot].as_integer_ratio()) for slot in self.common
        )
        total = NOTHING
        for (cell, weight), times in alike.items():
            total = added(total, bounds_of(cell, end.scale), Fraction(*weight) * times)
        return total

    def counting_alone(self) -> int:
        """Return how many slots count in one of the numbers only."""
        counting = [
            {slot for slot, placed in known.items() if placed.cell.counts}
            for known in (self.before, self.after)
        ]
        return len(counting[0] ^ counting[1])

    def changes(self) -> list[SlotChange]:
        """Return every slot that counts otherwise: new ones in their order, then those gone."""
        slots = [*self.after, *(slot for slot in self.before if slot not in self.after)]
        found: list[SlotChange] = []
        for slot in slots:
            before, after = self.before.get(slot), self.after.get(slot)
            old = None if before is None else side_of(before, self.old)
            new = None if after is None else side_of(after, self.new)
            alike = old is not None and new is not None and counts_alike(old, new)
            if slot not in self.moved and alike:
                continue
            moves = [
                Move(
                    cause=cause,
                    low=rational_text(low),
                    high=rational_text(high),
                    because=self.because(cause, before, after),
                )
                for cause, (low, high) in self.moved.get(slot, [])
            ]
            found.append(SlotChange(slot=slot_name(*slot), old=old, new=new, moves=moves))
        return found

    def because(self, cause: Cause, before: Placed | None, after: Placed | None) -> list[str]:
        """Return the rules that changed for one slot, where rules did."""
        if cause == "rubric and gold":
            return changed_givers(self.old, self.new)
        if cause != "rubric" or before is None or after is None:
            return []
        outcomes = dict.fromkeys((before.cell.outcome, after.cell.outcome))
        rules = [text for name in outcomes for text in changed_rule(self.old, self.new, name)]
        return rules or changed_givers(self.old, self.new)


def merged(moves: Iterable[tuple[Cause, Bounds]]) -> list[tuple[Cause, Bounds]]:
    """Return the moves of one slot, a cause once; those that took back what they gave are none."""
    found: dict[Cause, Bounds] = {}
    for cause, change in moves:
        found[cause] = added(found.get(cause, NOTHING), change, Fraction(1))
    return [(cause, change) for cause, change in found.items() if change != NOTHING]


def slot_of(placed: Placed) -> Slot:
    """Return the slot of a placed trial."""
    return placed.question, placed.repetition


def end_of(model: ReadModel, run: RunRecord, metric: str) -> BridgeEnd:
    """Return one end of a bridge.

    Args:
        model: the read side, at the size of the log that the number is of.
        run: a run.
        metric: a metric of its rubric.
    """

    def answer_digest(mark: Mark) -> bytes | None:
        data = model.ledger.read(mark.seq).event.data
        assert isinstance(data, AnswerSubmitted), "the mark of an answer"
        if data.answer is None:
            return None
        return model.ledger.store.blobs.digest(bytes.fromhex(data.answer.blob))

    return BridgeEnd(
        run=run,
        source=model.score_input(run),
        metric=metric,
        gold=model.registry.commitments(run.dataset),
        answer_digest=answer_digest,
    )
