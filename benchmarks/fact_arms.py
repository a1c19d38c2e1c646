"""Reference arms: simple and published ways to shorten the open results of a prefix, each with one knob.

An arm gets a `Prefix` and gives a curve: knob in 0..1 -> new texts of the open results, in order. Sizes rise with the
knob, from nothing at 0 to everything at 1. Arms write no markers and no references: they are yardsticks of choice.

The published token value model stands here with its own numbers (as published, 13 features), so that a change of the
product's weights does not move the yardstick.
"""

import heapq
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from fact_kinds import Message, first_user, has_error, is_open, tokens_of, written_text

from reefknot.text.tokens import ExactCounter

__all__ = ["ARMS", "COUNTER", "Curve", "Prefix"]

Curve = Callable[[float], list[str]]
COUNTER = ExactCounter()

PIECE_CHARS = 200  # a unit of choice: a line, or a part of a longer one
SEED = 0  # of random_lines

_EXTENSION = re.compile(r"\.[A-Za-z]{1,5}\Z")
_HEX = re.compile(r"[0-9A-Fa-f]{8,}\Z")

INTERCEPT = -2.884622
WEIGHTS: Mapping[str, tuple[float, float, float]] = {  # feature -> mean, deviation, beta
    "digit": (0.400888, 0.490078, -0.227483),
    "path": (0.240747, 0.427537, 0.122111),
    "extension": (0.240281, 0.427254, -0.003107),
    "hex": (0.016752, 0.128343, 0.097325),
    "log_length": (2.832681, 0.642327, -0.170036),
    "digit_share": (0.13081, 0.239112, -0.058623),
    "log_count": (0.871874, 0.385938, 0.360508),
    "in_input": (0.004401, 0.066197, 0.183316),
    "in_user": (0.007997, 0.089067, 0.152196),
    "log_distance": (3.024303, 0.954716, -0.008517),
    "position": (0.478259, 0.292466, -0.118614),
    "log_result_length": (9.281838, 1.062772, -0.332467),
    "reused": (0.050729, 0.219443, 0.520239),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A line of an open result, or a part of one that is longer than `PIECE_CHARS`."""

    result: int  # which open result
    line: int  # which line of it: the pieces of one line are joined again
    text: str


class Prefix:
    """Messages to compact: which results are open, and the same messages with new texts for those."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = list(messages)
        first = first_user(messages)
        self.open = [
            (i, k)  # message, result of that message
            for i, message in enumerate(messages)
            if is_open(i, first, len(messages))
            for k in range(len(message["results"]))
        ]
        self.texts = [self.messages[i]["results"][k]["text"] for i, k in self.open]

    def rendered(self, texts: Sequence[str]) -> list[Message]:
        """The messages with `texts` in place of the open results; the given ones are not changed."""
        new = dict(zip(self.open, texts, strict=True))
        return [
            message | {"results": [r | {"text": new.get((i, k), r["text"])} for k, r in enumerate(message["results"])]}
            if message["results"]
            else message
            for i, message in enumerate(self.messages)
        ]

    @cached_property
    def pieces(self) -> list[Piece]:
        """All lines of all open results in order, empty ones too; long ones in parts."""
        return [
            Piece(result=n, line=k, text=part)
            for n, text in enumerate(self.texts)
            for k, line in enumerate(text.split("\n"))
            for part in _parts(line)
        ]

    @cached_property
    def protected_text(self) -> str:
        """All that stays in view whatever happens to open results."""
        return "\n".join(part for m in self.rendered([""] * len(self.open)) for part in _seen(m))


def _seen(message: Message) -> list[str]:
    return [written_text(message), *(result["text"] for result in message["results"])]


def _parts(line: str) -> Iterable[str]:
    """Parts of at most `PIECE_CHARS`, cut behind a space or comma of their second half; joined, they are the line."""
    while len(line) > PIECE_CHARS:
        at = max(line.rfind(mark, PIECE_CHARS // 2, PIECE_CHARS) for mark in (" ", ",", ";", "|"))
        end = at + 1 if at > 0 else PIECE_CHARS
        yield line[:end]
        line = line[end:]
    yield line


# Rules of characters and age


def drop_all(prefix: Prefix) -> Curve:
    """Every open result is emptied, whatever the knob says."""
    return lambda knob: list(prefix.texts) if knob >= 1 else [""] * len(prefix.texts)


def mask_old(prefix: Prefix) -> Curve:
    """All but the newest N results are emptied."""

    def curve(knob: float) -> list[str]:
        old = len(prefix.texts) - round(knob * len(prefix.texts))
        return ["" if i < old else text for i, text in enumerate(prefix.texts)]

    return curve


def threshold(prefix: Prefix) -> Curve:
    """Results longer than N characters keep their first N."""
    return lambda knob: [text[: _limit(prefix, knob)] for text in prefix.texts]


def erase_head(prefix: Prefix) -> Curve:
    """Results longer than N + 120 characters keep a head of N."""

    def curve(knob: float) -> list[str]:
        limit = _limit(prefix, knob)
        return [text if limit and len(text) <= limit + 120 else text[:limit] for text in prefix.texts]

    return curve


def head_tail(prefix: Prefix) -> Curve:
    """Results longer than N characters keep whole lines of N/2 from the head and of N/2 from the tail.

    A line that is cut is only kept in part when it is most of its half.
    """

    def curve(knob: float) -> list[str]:
        limit = _limit(prefix, knob)
        return [_head_tail(text, limit) for text in prefix.texts]

    return curve


def _head_tail(text: str, limit: int) -> str:
    if len(text) <= limit or not limit:
        return text if len(text) <= limit else ""
    head, tail = text[: limit - limit // 2], text[len(text) - limit // 2 :]
    last, first = head.rfind("\n"), tail.find("\n") + 1
    head = head[:last] if last > len(head) // 2 else head
    tail = tail[first:] if 0 < first < len(tail) // 2 else tail
    return f"{head}\n{tail}"


def _limit(prefix: Prefix, knob: float) -> int:
    """Characters for one result: from 0 to the longest, so that small limits get as fine steps as large ones."""
    longest = max(map(len, prefix.texts), default=0)
    return round(math.expm1(knob * math.log1p(longest)))


# Choice of lines


def _by_order(prefix: Prefix, order: Sequence[int]) -> Curve:
    """Pieces join in this order while tokens last; the knob is the share of the tokens of all pieces."""
    costs = [count + 1 for count in COUNTER.count_many([piece.text for piece in prefix.pieces])]
    total = sum(costs)

    def curve(knob: float) -> list[str]:
        if knob >= 1:
            return list(prefix.texts)
        left, chosen = knob * total, list[int]()
        for i in order:
            if costs[i] > left:
                break
            left -= costs[i]
            chosen.append(i)
        return _render_pieces(prefix, sorted(chosen))

    return curve


def _render_pieces(prefix: Prefix, chosen: Iterable[int]) -> list[str]:
    texts: list[list[str]] = [[] for _ in prefix.texts]
    last: tuple[int, int, int] | None = None  # piece, result, line
    for i in chosen:
        piece = prefix.pieces[i]
        if last == (i - 1, piece.result, piece.line):
            texts[piece.result][-1] += piece.text
        else:
            texts[piece.result].append(piece.text)
        last = (i, piece.result, piece.line)
    return ["\n".join(lines) for lines in texts]


def random_lines(prefix: Prefix) -> Curve:
    """Lines in a random order that is the same at each run."""
    order = list(range(len(prefix.pieces)))
    random.Random(SEED).shuffle(order)
    return _by_order(prefix, order)


def newest_lines(prefix: Prefix) -> Curve:
    """Lines from the newest back."""
    return _by_order(prefix, range(len(prefix.pieces) - 1, -1, -1))


def global_value(prefix: Prefix) -> Curve:
    """One greedy over all lines of all open results: value of tokens not yet in view per real token."""
    return _by_order(prefix, _greedy(prefix, first=()))


def error_first(prefix: Prefix) -> Curve:
    """Distinct lines with a failure word first, in order; then as `global_value`."""
    errors: dict[str, int] = {}
    for i, piece in enumerate(prefix.pieces):
        if has_error(piece.text):
            errors.setdefault(piece.text.strip(), i)
    return _by_order(prefix, _greedy(prefix, first=list(errors.values())))


def _greedy(prefix: Prefix, first: Sequence[int]) -> list[int]:
    """An order of all pieces: `first`, then in rounds by gain; pieces without a valued token last, as they stand.

    The gain of a piece is the value of its tokens that neither the protected text nor an earlier piece of the round
    shows, over its own tokens. When nothing gains any more, the next round begins with nothing shown.
    """
    values = _values(prefix)
    own = [_piece_values(piece, values) for piece in prefix.pieces]
    costs = [count + 1 for count in COUNTER.count_many([piece.text for piece in prefix.pieces])]
    covered = tokens_of(prefix.protected_text)
    order = list(first)
    for i in order:
        covered.update(own[i])
    taken = set(order)
    left = [i for i in range(len(own)) if i not in taken]
    while left:
        chosen = _round(left, own, costs, covered)
        if not chosen and not covered:
            break
        order += chosen
        left = sorted(set(left).difference(chosen))
        covered = set[str]()
    return order + left


def _round(
    left: Sequence[int], own: Sequence[Mapping[str, float]], costs: Sequence[int], covered: Set[str]
) -> list[int]:
    """The pieces of `left` that gain, best first.

    Lazy: gains only fall, so the top of the heap is right once its own gain is up to date.
    """
    shown = set(covered)

    def gain(i: int) -> float:
        return sum(value for token, value in own[i].items() if token not in shown) / costs[i]

    heap = [(-gain(i), i) for i in left]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap:
        _, i = heapq.heappop(heap)
        now = gain(i)
        if now > 0 and heap and now < -heap[0][0] - 1e-12:
            heapq.heappush(heap, (-now, i))
        elif now > 0:
            chosen.append(i)
            shown.update(own[i])
    return chosen


def _piece_values(piece: Piece, values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    known = values[piece.result]
    return {token: known[token] for token in sorted(tokens_of(piece.text)) if token in known}


def _values(prefix: Prefix) -> list[dict[str, float]]:
    """For each open result the value of each token of its lines by the published model."""
    user_text, last_input = "", ""
    reused: set[str] = set()
    introduced: set[str] = set()
    inputs: dict[int, str] = {}  # message -> arguments of the last call before its results
    for i, message in enumerate(prefix.messages):
        if message["role"] == "user" and message["text"] and not message["results"]:
            user_text = message["text"]
        inputs[i] = last_input
        if message["calls"]:
            last_input = json.dumps(message["calls"][-1]["input"], ensure_ascii=False, separators=(",", ":"))
        if message["role"] == "assistant":
            reused |= tokens_of(written_text(message)) & introduced
        for result in message["results"]:
            introduced |= tokens_of(result["text"])
    places = [(i, k) for i, message in enumerate(prefix.messages) for k in range(len(message["results"]))]
    after = {place: len(places) - n for n, place in enumerate(places)}
    lines: list[Counter[str]] = [Counter() for _ in prefix.texts]
    for piece in prefix.pieces:
        lines[piece.result].update(tokens_of(piece.text))
    return [
        {token: _value(token, text, inputs[place[0]], user_text, after[place], token in reused) for token in lines[n]}
        for n, (place, text) in enumerate(zip(prefix.open, prefix.texts, strict=True))
    ]


def _value(token: str, text: str, input_text: str, user_text: str, after: int, reused: bool) -> float:
    digits = sum(character.isdigit() for character in token)
    length = max(1, len(text))
    features = {
        "digit": digits > 0,
        "path": "/" in token or "\\" in token,
        "extension": _EXTENSION.search(token) is not None,
        "hex": _HEX.match(token) is not None,
        "log_length": math.log(len(token)),
        "digit_share": digits / len(token),
        "log_count": math.log1p(text.count(token)),
        "in_input": token in input_text,
        "in_user": token in user_text,
        "log_distance": math.log1p(after),
        "position": text.find(token) / length,
        "log_result_length": math.log(length),
        "reused": reused,
    }
    z = INTERCEPT + sum(beta * (features[name] - mean) / deviation for name, (mean, deviation, beta) in WEIGHTS.items())
    return 1 / (1 + math.exp(-z))


ARMS: Mapping[str, Callable[[Prefix], Curve]] = {
    "drop_all": drop_all,
    "mask_old": mask_old,
    "newest_lines": newest_lines,
    "random_lines": random_lines,
    "threshold": threshold,
    "head_tail": head_tail,
    "erase_head": erase_head,
    "global_value": global_value,
    "error_first": error_first,
}
