"""The lazy greedy against a slow, obvious twin."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from reefknot.compact.selection import Bundle, select

ITEMS = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from([0.1, 0.25, 0.5, 1.0])), max_size=4, unique_by=lambda item: item[0]
)
PIECES = st.lists(st.tuples(st.integers(1, 30), ITEMS), min_size=1, max_size=8)


def _bundle(pieces: list[tuple[int, list[tuple[int, float]]]], *, atomic: bool = False) -> Bundle:
    costs = [cost for cost, _ in pieces]
    return Bundle(
        costs=costs,
        items=[dict(items) for _, items in pieces],
        floor=10,
        marker=15,
        gap=8,
        whole=sum(costs),
        atomic=atomic,
    )


def _tokens(bundle: Bundle, kept: Sequence[bool]) -> int:
    """What a bundle costs, counted from scratch: gaps are runs of pieces left out, the first is the marker."""
    if not any(kept):
        return bundle.floor
    if all(kept):
        return bundle.whole
    runs = sum(1 for index, is_kept in enumerate(kept) if not is_kept and (index == 0 or kept[index - 1]))
    return (
        sum(cost for cost, is_kept in zip(bundle.costs, kept, strict=True) if is_kept)
        + bundle.marker
        + (runs - 1) * bundle.gap
    )


@given(st.lists(PIECES, max_size=4), st.integers(0, 300))
def test_spent_tokens_are_what_the_kept_pieces_and_markers_cost(rows, budget: int) -> None:
    bundles = [_bundle(pieces) for pieces in rows]
    floors = sum(bundle.floor for bundle in bundles)
    spent = select(bundles, budget, frozenset())
    assert spent == sum(_tokens(bundle, bundle.kept) for bundle in bundles)
    gap_fill = sum(bundle.gap for bundle in bundles)  # closing a gap may cost a little more than its line
    assert spent <= max(budget + gap_fill, floors)


@given(st.lists(PIECES, max_size=4), st.integers(0, 300))
def test_the_same_arguments_give_the_same_choice(rows, budget: int) -> None:
    first, second = [_bundle(pieces) for pieces in rows], [_bundle(pieces) for pieces in rows]
    assert select(first, budget, frozenset()) == select(second, budget, frozenset())
    assert [bundle.kept for bundle in first] == [bundle.kept for bundle in second]


@given(st.lists(PIECES, max_size=3), st.integers(0, 200))
def test_a_budget_below_the_floors_takes_nothing(rows, budget: int) -> None:
    bundles = [_bundle(pieces) for pieces in rows]
    floors = sum(bundle.floor for bundle in bundles)
    if budget < floors:
        assert select(bundles, budget, frozenset()) == floors
        assert not any(any(bundle.kept) for bundle in bundles)


def test_a_covered_item_is_not_paid_twice() -> None:
    first, second = _bundle([(5, [(1, 1.0)]), (50, [])]), _bundle([(5, [(1, 0.9)]), (50, [])])
    select([first, second], 60, frozenset())
    assert (first.kept, second.kept) == ([True, False], [False, False])


def test_what_is_visible_anyway_is_not_taken() -> None:
    bundle = _bundle([(5, [(1, 1.0)]), (50, [])])
    select([bundle], 60, frozenset({1}))
    assert bundle.kept == [False, False]


def test_the_last_piece_saves_the_marker() -> None:
    bundle = _bundle([(20, [(1, 1.0)]), (20, [(2, 1.0)])])
    assert select([bundle], 40, frozenset()) == 40
    assert bundle.kept == [True, True]


def test_a_small_text_is_taken_whole_or_not_at_all() -> None:
    assert _take_atomic(budget=24) == ([False, False], 10)
    assert _take_atomic(budget=25) == ([True, True], 25)


def _take_atomic(budget: int) -> tuple[list[bool], int]:
    bundle = _bundle([(10, [(1, 1.0)]), (15, [])], atomic=True)
    spent = select([bundle], budget, frozenset())
    return bundle.kept, spent


def test_a_gap_that_costs_as_much_as_its_line_is_filled() -> None:
    bundle = _bundle([(5, [(1, 1.0)]), (3, []), (5, [(2, 1.0)]), (90, [])])
    select([bundle], 60, frozenset())
    assert bundle.kept == [True, True, True, False]
