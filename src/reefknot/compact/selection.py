"""One token budget over all pieces of all candidates: greedy coverage per real token.

Each piece holds items (a token that names a thing, an error line, an exit code). An item is worth its value once: where
it is visible in what stays already, or in a piece that was taken, it is worth nothing more. The piece with the most new
value per token is taken first; what it costs is its own tokens, and what it does to the markers: a piece in the middle
of a gap makes two gaps, the last piece of a text saves its marker. The gain is monotone submodular, so a lazy heap
finds the greedy choice.
Ties go to the earlier candidate and piece: the outcome depends on nothing but the arguments.
"""

import heapq
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

__all__ = ["Bundle", "rank", "select"]

_SMALL = 1e-12


@dataclass(slots=True, kw_only=True)
class Bundle:
    """One candidate: its pieces with costs and items, and what its markers cost.

    costs: tokens of each piece. items: per piece, item number -> value. floor: tokens when nothing is kept.
    marker: tokens of the marker when something is kept, which stands for the first gap too. gap: tokens of each further
    gap.
    whole: tokens of the whole text. An `atomic` bundle is taken whole or not at all.
    """

    costs: Sequence[int]
    items: Sequence[Mapping[int, float]]
    floor: int
    marker: int
    gap: int
    whole: int
    atomic: bool = False
    kept: list[bool] = field(default_factory=list[bool])

    def __post_init__(self) -> None:
        self.kept = [False] * len(self.costs)


class _State:
    """The tokens that a bundle costs now, and what one more piece would change.

    `run` is the first and the last piece of the kept run that the piece taken last stands in.
    """

    __slots__ = ("_ends", "bundle", "kept_count", "run", "tokens")

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.kept_count = 0
        self.tokens = bundle.floor
        self.run = (0, -1)
        self._ends: dict[int, int] = {}  # first piece of a kept run -> its last piece, and the reverse

    def cost_of(self, piece: int) -> int:
        """Tokens that taking this piece adds; may be negative when it closes a gap."""
        bundle = self.bundle
        kept, size = bundle.kept, len(bundle.costs)
        if self.kept_count + 1 == size:
            return bundle.whole - self.tokens
        before = piece > 0 and not kept[piece - 1]
        after = piece + 1 < size and not kept[piece + 1]
        if self.kept_count == 0:
            return bundle.costs[piece] + bundle.marker - bundle.floor + (bundle.gap if before and after else 0)
        change = bundle.gap if before and after else 0 if before or after else -bundle.gap
        return bundle.costs[piece] + change

    def take(self, piece: int) -> None:
        self.tokens += self.cost_of(piece)
        self.bundle.kept[piece] = True
        self.kept_count += 1
        first, last = self._ends.get(piece - 1, piece), self._ends.get(piece + 1, piece)
        self._ends[first], self._ends[last] = last, first
        self.run = (first, last)


def rank(bundles: Sequence[Bundle], covered: Set[int]) -> list[tuple[float, int, int]]:
    """Every piece that shows something new, while nothing is kept: a heap, the best value per token first.

    An entry is the negative value per token, the number of the bundle, the piece (-1: the whole of an atomic bundle).
    """
    heap: list[tuple[float, int, int]] = []
    for number, bundle in enumerate(bundles):
        if bundle.atomic:
            _push_atomic(heap, number, bundle, covered)
            continue
        state = _State(bundle)
        for piece, items in enumerate(bundle.items):
            gain = _gain(items, covered)
            if gain > _SMALL:
                heap.append((-gain / max(1, state.cost_of(piece)), number, piece))
    heapq.heapify(heap)
    return heap


def select(
    bundles: Sequence[Bundle],
    budget: int,
    covered: Set[int],
    ranked: Sequence[tuple[float, int, int]] | None = None,
) -> int:
    """Mark the pieces to keep in each bundle's `kept`; the tokens that all bundles cost then.

    `budget` is in tokens and counts floors and markers; when it is below the sum of the floors, nothing is taken.
    `covered` are items that are visible without any candidate; `ranked` is `rank` of the same, where it is at hand.
    """
    states = [_State(bundle) for bundle in bundles]
    room = budget - sum(state.tokens for state in states)
    seen = set(covered)
    heap = [*ranked] if ranked is not None else rank(bundles, covered)
    while heap and room > 0:
        key, number, piece = heapq.heappop(heap)
        bundle, state = bundles[number], states[number]
        if piece < 0:
            room -= _take_atomic(bundle, state, key, number, heap, seen, room)
            continue
        if bundle.kept[piece]:
            continue
        gain = _gain(bundle.items[piece], seen)
        if gain <= _SMALL:
            continue
        cost = state.cost_of(piece)
        now = -gain / max(1, cost)
        if now > key + _SMALL and heap and now > heap[0][0] + _SMALL:
            heapq.heappush(heap, (now, number, piece))
            continue
        if cost > room:
            continue
        room -= cost
        state.take(piece)
        seen.update(bundle.items[piece])
        room -= _close_gaps(state, piece, seen)
        _refresh(heap, number, state, seen)
    return budget - room


def _gain(items: Mapping[int, float], seen: Set[int]) -> float:
    gain = 0.0
    for item, value in items.items():  # a plain loop: twice as fast as a generator, and the same sum on each Python
        if item not in seen:
            gain += value
    return gain


def _atomic_gain(bundle: Bundle, seen: Set[int]) -> float:
    new: dict[int, float] = {}
    for items in bundle.items:
        for item, value in items.items():
            if item not in seen and value > new.get(item, 0.0):
                new[item] = value
    return sum(new.values())


def _push_atomic(heap: list[tuple[float, int, int]], number: int, bundle: Bundle, seen: Set[int]) -> None:
    gain = _atomic_gain(bundle, seen)
    if gain > _SMALL:
        heap.append((-gain / max(1, bundle.whole - bundle.floor), number, -1))


def _take_atomic(
    bundle: Bundle,
    state: _State,
    key: float,
    number: int,
    heap: list[tuple[float, int, int]],
    seen: set[int],
    room: int,
) -> int:
    """Take a whole small bundle if it still pays; the tokens that were spent."""
    cost = bundle.whole - bundle.floor
    gain = _atomic_gain(bundle, seen)
    if gain <= _SMALL or cost > room:
        return 0
    now = -gain / max(1, cost)
    if now > key + _SMALL and heap and now > heap[0][0] + _SMALL:
        heapq.heappush(heap, (now, number, -1))
        return 0
    bundle.kept[:] = [True] * len(bundle.kept)
    state.kept_count, state.tokens = len(bundle.kept), bundle.whole
    for items in bundle.items:
        seen.update(items)
    return cost


def _close_gaps(state: _State, piece: int, seen: set[int]) -> int:
    """Fill gaps beside a piece that cost no more than the line that would stand for them; the tokens spent."""
    bundle = state.bundle
    kept, costs = bundle.kept, bundle.costs
    spent = 0
    for step in (-1, 1):
        run: list[int] = []
        at, total = piece + step, 0
        while 0 <= at < len(costs) and not kept[at] and total <= bundle.gap:
            run.append(at)
            total += costs[at]
            at += step
        if not run or total > bundle.gap or (0 <= at < len(costs) and not kept[at]):
            continue
        before = state.tokens
        for member in run:
            state.take(member)
            seen.update(bundle.items[member])
        spent += state.tokens - before
    return spent


def _refresh(heap: list[tuple[float, int, int]], number: int, state: _State, seen: Set[int]) -> None:
    """The pieces on both sides of what was taken cost less now: say so in the heap."""
    bundle = state.bundle
    first, last = state.run
    for at in (first - 1, last + 1):
        if 0 <= at < len(bundle.costs):
            gain = _gain(bundle.items[at], seen)
            if gain > _SMALL:
                heapq.heappush(heap, (-gain / max(1, state.cost_of(at)), number, at))
