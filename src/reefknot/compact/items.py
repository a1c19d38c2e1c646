"""What a piece shows, as numbered items with values.

An item is a token that names a thing, a short value beside its label, an error line, an exit code or a receipt. The
constants are prices against the value model's probabilities; they were set on development transcripts with
`benchmarks/facts.py`.
"""

import re
from collections.abc import Sequence

from reefknot.compact import facts
from reefknot.compact.candidates import Candidate
from reefknot.compact.facts import Scan
from reefknot.compact.pieces import Pieces
from reefknot.compact.value import ResultContext, ValueModel

__all__ = ["Items", "piece_items", "token_values"]

ERROR_VALUE = 2.0  # the first error line of a kind: error lines are few, and cost little beside what they tell
ERROR_REPEAT = 0.5  # each further line of a kind is worth this share of the one before
ERROR_LEAST = 0.05
WARNING_VALUE = 0.3
WARNING_LEAST = 0.05
AFTERMATH_VALUE = 0.01
AFTERMATH_LINES = 2
EXIT_VALUE = 2.0
RECEIPT_VALUE = 0.3
RARE_VALUE = 0.5  # the only line of its kind in a text of few kinds: what happened once
LABELLED_VALUE = 0.005
EDGE_VALUE = 0.005  # the first and the last line of an output, so that a reader sees what it is
CAUSE_VALUE = 0.3  # each of the last lines of a failed call: tracebacks end with the cause
CAUSE_LINES = 3
CAMEL_FACTOR = 0.2
RECENT_VALUE = 1.0  # how much more the newest result is worth than an old one
RECENT_RESULTS = 10  # results after which half of that is gone
LINE_VALUE = 1e-5  # per token of a line that is not visible elsewhere: what is left of a budget is not wasted
SUPERSEDED_FACTOR = 0.5
READ_FACTOR = 1.0
ARGUMENT_FACTOR = 0.7
LEAST_WORD = 6  # characters of a token inside a token
MAX_WORDS = 10  # words of a token whose combinations are looked at
_WORD = re.compile(r"[A-Za-z0-9]+")  # tokens are ASCII
_BLANK = "\n"  # the name of a blank line


class Items:
    """Item numbers by name, and which other items a token shows: parts of it that no letter or digit touches."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._inside: dict[str, tuple[str, ...]] = {}

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def inside(self, token: str) -> tuple[str, ...]:
        """Known tokens that stand inside a token as words of their own (a hash in a path, a date in a time)."""
        known = self._inside.get(token)
        if known is None:
            numbers = self.numbers
            known = self._inside[token] = tuple([part for part in _parts(token) if part in numbers])
        return known

    def shown_by(self, texts: Sequence[str]) -> set[int]:
        """The items that texts show."""
        numbers = self.numbers
        lines = list(dict.fromkeys(line for text in texts for line in text.split("\n")))
        names = facts.names_in(lines)
        shown = {numbers[name] for name in names if name in numbers}
        shown.update(numbers[part] for name in names for part in self.inside(name))
        shown.update(numbers[name] for line in lines if (name := _line_name(line)) in numbers)
        return shown


def _parts(token: str) -> list[str]:
    spans = [match.span() for match in _WORD.finditer(token)]
    if len(spans) < 2:
        return []
    size = len(token)
    return [
        token[start:end]
        for first, (start, _) in enumerate(spans[:MAX_WORDS])
        for _, end in spans[first : first + MAX_WORDS]
        if LEAST_WORD <= end - start < size
    ]


def _line_name(line: str) -> str:
    return f"\n{line.rstrip()}"  # a line feed first: no token has one


def token_values(
    model: ValueModel, candidate: Candidate, scanned: Scan, pieces: Pieces, context: ResultContext
) -> dict[str, float]:
    """The value of each token of one candidate."""
    counts: dict[str, tuple[int, int]] = {}
    weights: dict[str, float] = {}
    offset = 0
    for text, tokens, weight in zip(pieces.texts, scanned.tokens, scanned.weights, strict=True):
        for token in tokens:
            seen = counts.get(token)
            counts[token] = (1, offset) if seen is None else (seen[0] + 1, seen[1])
            if weight > weights.get(token, 0.0):
                weights[token] = weight
        offset += len(text) + 1
    factor = _factor(candidate) * (1 + RECENT_VALUE / (1 + context.results_after / RECENT_RESULTS))
    return {
        token: value * factor * weights[token] * _camel(token) for token, value in model.values(counts, context).items()
    }


def _factor(candidate: Candidate) -> float:
    if candidate.part == "argument":
        return ARGUMENT_FACTOR
    if candidate.repeat_of and not candidate.is_near:
        return 0.0
    if candidate.superseded:
        return SUPERSEDED_FACTOR
    return READ_FACTOR if candidate.read is not None else 1.0


def _camel(token: str) -> float:
    return CAMEL_FACTOR if token.isalpha() else 1.0


def piece_items(
    candidate: Candidate,
    pieces: Pieces,
    scanned: Scan,
    costs: Sequence[int],
    values: dict[str, float],
    items: Items,
    kinds: dict[str, int],
) -> list[dict[int, float]]:
    """The items of each piece, with values. `kinds` counts error lines by template over all candidates so far.

    A piece that holds a secret has none: it is never chosen.
    """
    factor = _factor(candidate)
    if factor == 0.0:
        return [{} for _ in pieces.texts]
    rows: list[dict[int, float]] = []  # of numbers alone: nothing in them for the garbage collector to look at
    secret = _secret_pieces(candidate, pieces)
    last = len(pieces) - 1
    is_result = candidate.part == "result"
    aftermath = _aftermath(scanned)
    numbers, inner = items.numbers, _inner(values, items)
    for index, (text, tokens) in enumerate(zip(pieces.texts, scanned.tokens, strict=True)):
        if index in secret:
            rows.append({})
            continue
        row: dict[int, float] = {}
        for token in tokens:
            row[numbers[token]] = values[token]
            if token in inner:
                for part, value in inner[token]:
                    row.setdefault(part, value)
        for label in scanned.labelled.get(index, ()):
            row[items.number(label)] = LABELLED_VALUE * factor
        name = _line_name(text)
        if is_result:
            _add_line(row, index, text, scanned, items, kinds, factor)
            if candidate.read is None and index in aftermath and name != _BLANK:
                row[items.number(f"\naftermath {candidate.position} {index}")] = AFTERMATH_VALUE * factor
            if candidate.is_error and index > last - CAUSE_LINES and name != _BLANK:
                row[items.number(f"\ncause {candidate.position} {index}")] = CAUSE_VALUE
        if name != _BLANK:
            row.setdefault(items.number(name), LINE_VALUE * costs[index] * factor)
        if index in (0, last) and name != _BLANK:
            row[items.number(f"\nedge {candidate.part} {candidate.position} {index}")] = EDGE_VALUE * factor
        rows.append(row)
    return rows


def _inner(values: dict[str, float], items: Items) -> dict[str, list[tuple[int, float]]]:
    """The items inside each token that has any, with values."""
    return {
        token: [(items.numbers[part], values.get(part, 0.0)) for part in parts]
        for token in values
        if (parts := items.inside(token))
    }


def _add_line(
    row: dict[int, float], index: int, text: str, scanned: Scan, items: Items, kinds: dict[str, int], factor: float
) -> None:
    """Items of a line as a whole: an error, an exit code, a receipt."""
    if index in scanned.exits:
        row[items.number(_line_name(text))] = EXIT_VALUE
    elif index in scanned.errors:
        template = facts.error_template(text)
        name = _line_name(text)
        if name not in items.numbers:
            kinds[template] = kinds.get(template, 0) + 1
        earlier = max(0, kinds.get(template, 1) - 1)
        first, least = (WARNING_VALUE, WARNING_LEAST) if index in scanned.warnings else (ERROR_VALUE, ERROR_LEAST)
        row[items.number(name)] = max(least, first * ERROR_REPEAT**earlier)
    elif index in scanned.rare:
        row[items.number(_line_name(text))] = RARE_VALUE * factor
    elif index in scanned.receipts:
        row[items.number(_line_name(text))] = RECEIPT_VALUE * factor


def _aftermath(scanned: Scan) -> set[int]:
    """The pieces that stand just behind an error line that is more than a warning."""
    return {index + step for index in scanned.errors - scanned.warnings for step in range(1, AFTERMATH_LINES + 1)}


def _secret_pieces(candidate: Candidate, pieces: Pieces) -> set[int]:
    """Pieces that touch a masked span; spans are in order and apart."""
    spans = candidate.masked.spans
    if not spans:
        return set()
    found: set[int] = set()
    offset, at = 0, 0
    for index, text in enumerate(pieces.texts):
        end = offset + len(text)
        while at < len(spans) and spans[at][1] <= offset:
            at += 1
        if at < len(spans) and spans[at][0] < end:
            found.add(index)
        is_line_end = index + 1 == len(pieces) or pieces.lines[index + 1] != pieces.lines[index]
        offset = end + is_line_end
    return found
