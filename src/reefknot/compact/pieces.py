"""A text cut into pieces, and put together again from some of them.

A piece is a whole line; a line over `LONG_LINE` characters is several pieces, cut where a reader would cut.
All pieces together give the text back: nothing is added, trimmed or translated. Only a line feed ends a line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["LONG_LINE", "Gap", "Pieces", "assemble", "cut"]

LONG_LINE = 200  # characters; a longer line is no single fact
SEGMENT = 100  # characters; longest piece of a long line
_BREAKS = ("\\n", ", ", "; ", " | ", " ")  # where a long line is cut, best first


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """`texts[i]` stands on line `lines[i]` (from 0); pieces of one line follow one another."""

    texts: tuple[str, ...]
    lines: tuple[int, ...]
    total_lines: int

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Pieces `first` to `last`, both left out.

    They are whole lines, `first_line` to `last_line` counted from 1, or characters of one line.

    `characters` is 0 for whole lines. `is_first` says that no gap stands before it.
    """

    first: int
    last: int
    first_line: int
    last_line: int
    characters: int
    is_first: bool


def cut(text: str) -> Pieces:
    """Cut a text into pieces.

    >>> cut("one\\ntwo").texts
    ('one', 'two')
    >>> pieces = cut("a" * 500)
    >>> [len(piece) for piece in pieces.texts], set(pieces.lines), pieces.total_lines
    ([100, 100, 100, 100, 100], {0}, 1)
    """
    rows = text.split("\n")
    if len(text) <= LONG_LINE or max(map(len, rows)) <= LONG_LINE:
        return Pieces(texts=tuple(rows), lines=tuple(range(len(rows))), total_lines=len(rows))
    texts: list[str] = []
    lines: list[int] = []
    for number, row in enumerate(rows):
        parts = [row] if len(row) <= LONG_LINE else _segments(row)
        texts += parts
        lines += [number] * len(parts)
    return Pieces(texts=tuple(texts), lines=tuple(lines), total_lines=len(rows))


def _segments(row: str) -> list[str]:
    parts: list[str] = []
    start = 0
    while len(row) - start > SEGMENT:
        end = _break_in(row, start)
        parts.append(row[start:end])
        start = end
    parts.append(row[start:])
    return parts


def _break_in(row: str, start: int) -> int:
    """Where the piece that begins at `start` ends: past a separator in the second half of its window."""
    for separator in _BREAKS:
        found = row.rfind(separator, start + SEGMENT // 2, start + SEGMENT)
        if found >= 0:
            return found + len(separator)
    return start + SEGMENT


def assemble(pieces: Pieces, kept: Sequence[bool], show_gap: Callable[[Gap], str]) -> str:
    """The kept pieces in order, each gap in place as `show_gap` writes it.

    A gap of whole lines stands on a line of its own; a gap inside a line stands inside it.
    """
    rows: list[str] = []
    row: list[str] | None = None
    row_line = -1
    position, is_first = 0, True
    while position < len(pieces):
        line = pieces.lines[position]
        if kept[position]:
            if row is None or line != row_line:
                if row is not None:
                    rows.append("".join(row))
                row, row_line = [], line
            row.append(pieces.texts[position])
            position += 1
            continue
        last = position
        while last + 1 < len(pieces) and not kept[last + 1]:
            last += 1
        for gap in _gaps(pieces, position, last, is_first):
            shown = show_gap(gap)
            if gap.characters and row is not None and row_line == gap.first_line - 1:
                row.append(shown)
            else:
                if row is not None:
                    rows.append("".join(row))
                row, row_line = [shown], gap.last_line - 1 if gap.characters else -1
        is_first = False
        position = last + 1
    if row is not None:
        rows.append("".join(row))
    return "\n".join(rows)


def _gaps(pieces: Pieces, first: int, last: int, is_first: bool) -> list[Gap]:
    """The gaps that a run of left-out pieces makes: a part of a line, whole lines, a part of a line."""
    lines = pieces.lines
    gaps: list[Gap] = []
    start = first
    if start and lines[start - 1] == lines[start]:  # the rest of a line that began
        end = start
        while end < last and lines[end + 1] == lines[start]:
            end += 1
        gaps.append(_part(pieces, start, end, is_first))
        start, is_first = end + 1, False
    tail = last + 1
    if (
        start <= last and last + 1 < len(lines) and lines[last] == lines[last + 1]
    ):  # the beginning of a line that goes on
        while tail > start and lines[tail - 1] == lines[last]:
            tail -= 1
    if start < tail:
        gaps.append(
            Gap(
                first=start,
                last=tail - 1,
                first_line=lines[start] + 1,
                last_line=lines[tail - 1] + 1,
                characters=0,
                is_first=is_first,
            )
        )
        is_first = False
    if tail <= last:
        gaps.append(_part(pieces, tail, last, is_first))
    return gaps


def _part(pieces: Pieces, first: int, last: int, is_first: bool) -> Gap:
    line = pieces.lines[first] + 1
    characters = sum(map(len, pieces.texts[first : last + 1]))
    return Gap(first=first, last=last, first_line=line, last_line=line, characters=characters, is_first=is_first)
