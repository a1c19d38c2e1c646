"""Private keys written out as blocks of base64: PEM, OpenSSH, PGP, PuTTY; whole, cut short, or inside a JSON string.

Each stretch of base64 is found by itself, never across a line end, so that masking keeps every line where it is;
the BEGIN and END lines stay.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from reefknot.text.secret_shapes import is_placeholder
from reefknot.text.secret_values import Found

__all__ = ["find_private_keys"]

FAMILY = "private-key"
MIN_RUN = 16  # shorter runs of base64 inside a block are line numbers and header words, but for the last of a block
SURE_RUN = 40  # only a run of this length begins a block that lacks its other end; it needs no digit
WORDS_BEFORE = 10  # pieces of a block's header (Proc-Type, Comment) before its first run
MAX_HEADLESS = 16_384  # bytes before an END without BEGIN that are looked at
MAX_LINE_PREFIX = 24  # bytes that a listing writes in front of a line
MATERIAL_SHARE = 0.5  # of what stands between BEGIN and END; below that the two words do not belong together

_EDGE = re.compile(rb"-----(BEGIN|END)[A-Z0-9 ]{1,40}PRIVATE KEY(?: BLOCK)?-----")
_BREAK = re.compile(rb"\\+[nrt]|[\s\"',`]+")  # what stands between runs: white space, real or escaped, and quotes
_RUN = re.compile(rb"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]++={0,3}\Z")
_NOT_LETTER = re.compile(rb"[0-9+/=]")
_LISTED = re.compile(rb"[0-9]{0,6}(?:[:|>+-]|\xe2\x86\x92)?\Z")  # what a listing writes before each line
_MASKED = re.compile(rb".{0,12}\[REDACTED:private-key\]\Z")
_PUTTY = re.compile(rb"Private-Lines:[ ]?[0-9]{1,4}")
_PUTTY_END = b"Private-MAC:"


def find_private_keys(data: bytes) -> Iterator[Found]:
    """The stretches of key material in `data`; `first` is true for one stretch of each key."""
    if b"PRIVATE KEY" in data:
        yield from _find_pem(data)
    if b"Private-Lines:" in data:
        yield from _find_putty(data)


def _find_pem(data: bytes) -> Iterator[Found]:
    edges = list(_EDGE.finditer(data))
    for index, edge in enumerate(edges):
        before = edges[index - 1] if index else None
        after = edges[index + 1] if index + 1 < len(edges) else None
        if edge[1] == b"BEGIN":
            stop = _before_line(data, edge.end(), after.start()) if after else len(data)
            closed = after is not None and after[1] == b"END"
            yield from _as_found(_body(data, edge.end(), stop, closed=closed))
        elif before is None or before[1] == b"END":
            start = max(before.end() if before else 0, edge.start() - MAX_HEADLESS)
            yield from _as_found(_headless_body(data, start, _before_line(data, start, edge.start())))


def _before_line(data: bytes, start: int, edge: int) -> int:
    """The end of the line before the one of an edge, past what a listing wrote in front of the edge."""
    line_end = data.rfind(b"\n", start, edge)
    return line_end if line_end >= 0 and edge - line_end <= MAX_LINE_PREFIX else edge


def _as_found(runs: Iterable[tuple[int, int]]) -> Iterator[Found]:
    for index, (start, end) in enumerate(runs):
        yield Found(start=start, end=end, family=FAMILY, first=index == 0)


def _pieces(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """What stands between breaks, without the breaks."""
    at = start
    for gap in _BREAK.finditer(data, start, stop):
        if gap.start() > at:
            yield at, gap.start()
        at = gap.end()
    if stop > at:
        yield at, stop


def _run(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The base64 at the end of a piece, whatever a listing put before it; empty when there is none."""
    match = _RUN.search(data[start:end])
    return (start + match.start(), end) if match else (end, end)


def _is_material(data: bytes, run: tuple[int, int]) -> bool:
    start, end = run
    long_enough = end - start >= SURE_RUN or (
        end - start >= MIN_RUN and _NOT_LETTER.search(data, start, end) is not None
    )
    return long_enough and not is_placeholder(data[start:end])


def _body(data: bytes, start: int, stop: int, *, closed: bool) -> list[tuple[int, int]]:
    """The runs between BEGIN and its END; without END, until something else stands there."""
    runs = _closed_body(data, start, stop) if closed else []
    return runs or list(_open_body(data, start, stop))


def _closed_body(data: bytes, start: int, stop: int) -> list[tuple[int, int]]:
    pieces = list(_pieces(data, start, stop))
    runs = [run for piece in pieces if _is_material(data, run := _run(data, *piece))]
    if not runs or sum(b - a for a, b in runs) < MATERIAL_SHARE * sum(b - a for a, b in pieces):
        return []
    last = _run(data, *pieces[-1])
    return runs if last in (runs[-1], (stop, stop)) else [*runs, last]


def _open_body(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int]]:
    words, begun = 0, False
    for piece in _pieces(data, start, stop):
        run = _run(data, *piece)
        length = run[1] - run[0]
        if _is_material(data, run) and (begun or length >= SURE_RUN or (words == 0 and run[1] == len(data))):
            yield run
            words, begun = 0, True
        elif begun and length and (run[1] == len(data) or data[run[1] - 1] == ord("=")):
            yield run
        elif _MASKED.match(data, *piece):
            words, begun = 0, True
        elif begun and not _LISTED.match(data, *piece):
            return
        else:
            words += 1
            if words > WORDS_BEFORE:
                return


def _headless_body(data: bytes, start: int, stop: int) -> list[tuple[int, int]]:
    """The runs before an END whose BEGIN was cut away, from the last one up; the last may be short."""
    runs: list[tuple[int, int]] = []
    for index, piece in enumerate(reversed(list(_pieces(data, start, stop)))):
        run = _run(data, *piece)
        if (_is_material(data, run) and run[1] - run[0] >= SURE_RUN) or (index == 0 and run[1] > run[0]):
            runs.append(run)
        elif not _LISTED.match(data, *piece):
            break
    return runs[::-1] if any(end - start >= SURE_RUN for start, end in runs) else []


def _find_putty(data: bytes) -> Iterator[Found]:
    heads = list(_PUTTY.finditer(data))
    for head, after in zip_longest(heads, heads[1:]):
        stop = after.start() if after else len(data)
        end = data.find(_PUTTY_END, head.end(), stop)
        yield from _as_found(_body(data, head.end(), end if end >= 0 else stop, closed=end >= 0))
