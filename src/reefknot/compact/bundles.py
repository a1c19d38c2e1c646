"""Candidates as the selection sees them: pieces with real token costs, and items with values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reefknot.compact.candidates import Candidate, Survey
from reefknot.compact.facts import Scan, scan_all, tokens
from reefknot.compact.items import Items, piece_items, token_values
from reefknot.compact.markers import Marked, excerpt_marker, whole_marker
from reefknot.compact.outline import outline
from reefknot.compact.pieces import Pieces, cut
from reefknot.compact.reads import Read
from reefknot.compact.selection import Bundle
from reefknot.compact.value import ResultContext, load_model
from reefknot.model.reference import NAME_LENGTH
from reefknot.model.transcript import Transcript
from reefknot.store.digest import digest_text
from reefknot.text.tokens import TokenCounter

__all__ = ["Bundled", "Planned", "bundle_up"]

ATOMIC_TOKENS = 40  # a smaller text is shown whole or not at all
LEAST_SAVING = 8  # tokens: for less, nobody should have to fetch a text back
GAP_TOKENS = 7  # "[... 29 lines ...]" and its line feed


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A candidate with its pieces, the words of its marker and its bundle.

    `name` is its reference as it will most likely be.
    """

    candidate: Candidate
    pieces: Pieces
    marked: Marked
    bundle: Bundle
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """All candidates that are worth shortening, and the items that are covered without them."""

    planned: tuple[Planned, ...]
    covered: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    candidate: Candidate
    pieces: Pieces
    marked: Marked
    name: str
    floor: int
    marker: int
    scanned: Scan


def bundle_up(transcript: Transcript, found: Survey, counter: TokenCounter) -> Bundled:
    """Turn candidates into bundles; those whose marker would cost nearly as much as they do are left out, and stay."""
    drafts = _draft(found.candidates, counter)
    reused = _reused(transcript, drafts)
    user_text = _last_prompt(transcript)
    model = load_model()
    valued = [
        token_values(model, draft.candidate, draft.scanned, draft.pieces, _context(draft, found, user_text, reused))
        for draft in drafts
    ]
    items = Items()
    for values in valued:  # all tokens get their numbers before tokens inside tokens are looked up
        for token in values:
            items.number(token)
    kinds: dict[str, int] = {}
    planned: list[Planned] = []
    for draft, values, costs in zip(drafts, valued, _costs(drafts, counter), strict=True):
        rows = piece_items(draft.candidate, draft.pieces, draft.scanned, costs, values, items, kinds)
        planned.append(_plan_one(draft, rows, costs))
    chosen = {id(draft.candidate) for draft in drafts}
    stays = [*found.stays, *(candidate.text for candidate in found.candidates if id(candidate) not in chosen)]
    return Bundled(planned=tuple(planned), covered=frozenset(items.shown_by(stays)))


def _outline_of(text: str, read: Read) -> str:
    """The outline of a read, with the line of the file that it begins with where that is known."""
    first_line = read.span[0] if read.span else 1 if read.whole else None
    return outline(text, read.label, first_line=first_line)


def _draft(candidates: Sequence[Candidate], counter: TokenCounter) -> list[_Draft]:
    cuts = [cut(candidate.text) for candidate in candidates]
    marks = [
        Marked(
            read=candidate.read.label if candidate.read else "",
            outline=_outline_of(candidate.text, candidate.read) if candidate.read else "",
            repeat_of=candidate.repeat_of,
            near=candidate.is_near,
        )
        for candidate in candidates
    ]
    names = [digest_text(candidate.masked.text)[:NAME_LENGTH] for candidate in candidates]
    markers = [whole_marker(name, pieces, marked) for name, pieces, marked in zip(names, cuts, marks, strict=True)]
    floors = counter.count_many(markers)
    half = [
        excerpt_marker(name, pieces, (pieces.total_lines + 1) // 2, marked) + "\n"
        for name, pieces, marked in zip(names, cuts, marks, strict=True)
    ]
    excerpt_costs = counter.count_many(half)
    worth = [
        floor + LEAST_SAVING <= candidate.tokens and len(marker) < len(candidate.text)
        for candidate, marker, floor in zip(candidates, markers, floors, strict=True)
    ]
    scans = iter(scan_all([pieces.texts for pieces, is_worth in zip(cuts, worth, strict=True) if is_worth]))
    return [
        _Draft(
            candidate=candidate,
            pieces=pieces,
            marked=marked,
            name=name,
            floor=floor,
            marker=excerpt_cost,
            scanned=next(scans),
        )
        for candidate, pieces, marked, name, floor, excerpt_cost, is_worth in zip(
            candidates, cuts, marks, names, floors, excerpt_costs, worth, strict=True
        )
        if is_worth
    ]


def _plan_one(draft: _Draft, rows: Sequence[Mapping[int, float]], costs: Sequence[int]) -> Planned:
    bundle = Bundle(
        costs=costs,
        items=rows,
        floor=draft.floor,
        marker=draft.marker,
        gap=GAP_TOKENS,
        whole=draft.candidate.tokens,
        atomic=draft.candidate.tokens <= ATOMIC_TOKENS,
    )
    return Planned(candidate=draft.candidate, pieces=draft.pieces, marked=draft.marked, bundle=bundle, name=draft.name)


def _costs(drafts: Sequence[_Draft], counter: TokenCounter) -> list[list[int]]:
    """Real tokens of each piece, its line feed included; equal pieces are counted once."""
    ended = [_ended(draft.pieces) for draft in drafts]
    distinct = list(dict.fromkeys(text for texts in ended for text in texts))
    tokens_of = dict(zip(distinct, counter.count_many(distinct), strict=True))
    return [[tokens_of[text] for text in texts] for texts in ended]


def _ended(pieces: Pieces) -> list[str]:
    """The text of each piece, with its line feed unless the line goes on."""
    lines, last = pieces.lines, len(pieces) - 1
    return [
        text if index < last and lines[index + 1] == lines[index] else f"{text}\n"
        for index, text in enumerate(pieces.texts)
    ]


def _context(draft: _Draft, found: Survey, user_text: str, reused: frozenset[str]) -> ResultContext:
    candidate = draft.candidate
    return ResultContext(
        length=len(candidate.text),
        input_text="" if candidate.part == "argument" else candidate.call.input_text,
        user_text=user_text,
        results_after=max(1, found.results - candidate.position),
        reused=reused,
    )


def _last_prompt(transcript: Transcript) -> str:
    for message in reversed(transcript.messages):
        if message.is_prompt:
            return "\n".join(message.texts)
    return ""


def _reused(transcript: Transcript, drafts: Sequence[_Draft]) -> frozenset[str]:
    """Tokens that the agent wrote after some result had introduced them."""
    introduced: dict[str, int] = {}
    for draft in drafts:
        if draft.candidate.part == "result":
            message = draft.candidate.message
            for row in draft.scanned.tokens:
                for token in row:
                    if introduced.get(token, message) >= message:
                        introduced[token] = message
    reused: set[str] = set()
    for index, message in enumerate(transcript.messages):
        if message.role == "assistant":
            for text in (*message.texts, *(call.input_text for call in message.calls)):
                reused.update(token for token in tokens(text) if introduced.get(token, index) < index)
    return frozenset(reused)
