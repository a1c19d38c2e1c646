"""Decide what is kept of each candidate: one budget over the whole transcript, measured as it will really be.

Pure: the same transcript, pressure and settings give the same plan. What the selection spends is an estimate by pieces;
the plan composes the texts, counts them, and selects again with what is over or left, a few times at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reefknot.compact.bundles import Bundled, Planned, bundle_up
from reefknot.compact.candidates import Survey
from reefknot.compact.compose import compose, form_of
from reefknot.compact.pressure import Pressure
from reefknot.compact.selection import rank, select
from reefknot.model.report import Form
from reefknot.model.transcript import Transcript
from reefknot.text.tokens import TokenCounter

__all__ = ["Decision", "Plan", "make_plan"]

MAX_ROUNDS = 4
SLACK_SHARE = 0.01  # of the budget: less than this left over is not worth another round
MARGIN_SHARE = 0.001  # of the budget: what a plan that is too large aims below it, so that the next one fits


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of one candidate: which pieces stay, and its size then with a name of the usual length."""

    planned: Planned
    kept: tuple[bool, ...]
    form: Form
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A decision for each candidate that is worth shortening, in order."""

    decisions: tuple[Decision, ...]


def make_plan(transcript: Transcript, found: Survey, pressure: Pressure, counter: TokenCounter) -> Plan:
    """Choose what stays, so that the scope of `pressure` is at most its target; as little as can be where it cannot."""
    bundled = bundle_up(transcript, found, counter)
    size = found.result_tokens if pressure.scope == "results" else found.text_tokens
    fixed = size - sum(planned.candidate.tokens for planned in bundled.planned)
    goal = pressure.target - fixed
    budget, best = goal, None
    ranked = rank([planned.bundle for planned in bundled.planned], bundled.covered)
    for _ in range(MAX_ROUNDS):
        decisions = _decide(bundled, budget, ranked, counter)
        spent = sum(decision.tokens for decision in decisions)
        fits = spent <= goal
        if best is None or _is_better(fits, spent, best[0], best[1]):
            best = (fits, spent, decisions)
        slack = goal - spent
        nothing_kept = all(not any(decision.kept) for decision in decisions)
        if (fits and slack <= SLACK_SHARE * goal) or (not fits and nothing_kept):
            break
        budget += int(slack * 0.9) if fits else slack - int(MARGIN_SHARE * goal)
        if fits and all(decision.form == "kept" for decision in decisions):
            break
    assert best is not None
    _, spent, decisions = best
    if pressure.hard > pressure.target:
        decisions = _spare(decisions, pressure.hard - fixed - spent, counter)
    return Plan(decisions=tuple(decisions))


def _spare(decisions: Sequence[Decision], room: int, counter: TokenCounter) -> list[Decision]:
    """Give each observation of which nothing is shown its best piece back, the newest first, while there is room.

    Between target and hard line nothing has to vanish wholly: only past the hard line are the oldest evicted.
    """
    spared = list(decisions)
    for index in reversed(range(len(spared))):
        decision = spared[index]
        if decision.form != "evicted" or decision.planned.bundle.atomic:
            continue
        kept = [False] * len(decision.kept)
        kept[_best_piece(decision.planned)] = True
        parts = compose(decision.planned, kept, decision.planned.name)
        shown = _one(decision.planned, kept, sum(counter.count_many(parts)), parts)
        if shown.form == "excerpted" and shown.tokens - decision.tokens <= room:
            room -= shown.tokens - decision.tokens
            spared[index] = shown
    return spared


def _best_piece(planned: Planned) -> int:
    """The piece of most value per token; the first of them."""
    bundle = planned.bundle
    worth = [sum(items.values()) / max(1, cost) for items, cost in zip(bundle.items, bundle.costs, strict=True)]
    return worth.index(max(worth))


def _is_better(fits: bool, spent: int, best_fits: bool, best_spent: int) -> bool:
    if fits != best_fits:
        return fits
    return spent > best_spent if fits else spent < best_spent


def _decide(
    bundled: Bundled, budget: int, ranked: Sequence[tuple[float, int, int]], counter: TokenCounter
) -> list[Decision]:
    bundles = [planned.bundle for planned in bundled.planned]
    for bundle in bundles:
        bundle.kept = [False] * len(bundle.costs)
    select(bundles, budget, bundled.covered, ranked)
    texts = [compose(planned, planned.bundle.kept, planned.name) for planned in bundled.planned]
    counts = iter(counter.count_many([text for parts in texts for text in parts]))
    decisions: list[Decision] = []
    for planned, parts in zip(bundled.planned, texts, strict=True):
        tokens = sum(next(counts) for _ in parts)
        decisions.append(_one(planned, planned.bundle.kept, tokens, parts))
    return decisions


def _one(planned: Planned, kept: Sequence[bool], tokens: int, parts: Sequence[str]) -> Decision:
    """The decision, unless it would not make the text shorter: then the text stays whole."""
    candidate = planned.candidate
    if tokens >= candidate.tokens or sum(map(len, parts)) >= len(candidate.text):
        kept, tokens = [True] * len(kept), candidate.tokens
    return Decision(planned=planned, kept=tuple(kept), form=form_of(planned, kept), tokens=tokens)
