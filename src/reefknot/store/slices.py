"""Parts of a stored text: ranges of lines, and the lines that match a pattern. Pure but for a child process.

Only a line feed ends a line. Lines count from 1 and keep their ends, so slices that follow each other
join to the text again. A pattern that is no plain word runs in a child process, which is killed at the
time limit: no pattern, whatever it is, takes longer.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from reefknot.errors import PatternError, UsageError
from reefknot.store import searcher

__all__ = ["MATCHES_SHOWN", "LineRange", "Matches", "count_lines", "cut_lines", "grep", "parse_range", "split_lines"]

LineRange: TypeAlias = tuple[int | None, int | None]  # first and last line, both included; None is open

MATCHES_SHOWN = 10_000  # lines; the most that a search without a limit shows (all are counted)
PATTERN_LENGTH = 10_000  # characters; longer is no pattern that a person or a model wrote
_SPECIAL = frozenset(r".^$*+?{}[]\|()")  # a pattern without any of these is a plain word


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The lines that match, those around them, and how many match in all.

    `text`: verbatim lines, in order, a line `--` between two groups that are not adjacent (only when
    context was asked for, as grep does). `line_numbers`: of the matching lines shown, from 1.
    """

    text: str
    line_numbers: tuple[int, ...]
    total: int


def split_lines(text: str) -> list[str]:
    r"""The lines of a text with their ends; what follows the last line feed is a line when it is not empty.

    >>> split_lines("a\r\nb\x0bc\n\nd")
    ['a\r\n', 'b\x0bc\n', '\n', 'd']
    """
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def count_lines(text: str) -> int:
    r"""How many lines `split_lines` gives.

    >>> count_lines("a\nb"), count_lines("a\nb\n"), count_lines("")
    (2, 2, 0)
    """
    return text.count("\n") + (not text.endswith("\n") and text != "")


def parse_range(text: str) -> LineRange:
    """A range as a person writes it.

    Raises:
        UsageError: it is no range, or counts from 0, or ends before it begins.

    >>> parse_range("41:43"), parse_range("41:"), parse_range(":43"), parse_range("41")
    ((41, 43), (41, None), (None, 43), (41, 41))
    """
    first, colon, last = text.strip().partition(":")
    ends = [end.strip() for end in ((first, last) if colon else (first, first))]
    if not any(ends) or not all(not end or (end.isascii() and end.isdecimal() and len(end) < 20) for end in ends):
        raise UsageError(f"lines {text!r}: expected A:B, A: or :B, counted from 1")
    return check_range((int(ends[0]) if ends[0] else None, int(ends[1]) if ends[1] else None))


def check_range(lines: LineRange) -> LineRange:
    """The range itself, when it can be meant.

    Raises:
        UsageError: it counts from 0 or below, or ends before it begins.
    """
    first, last = lines
    if (first is not None and first < 1) or (last is not None and last < 1):
        raise UsageError(f"lines {_shown(lines)}: lines count from 1")
    if first is not None and last is not None and last < first:
        raise UsageError(f"lines {_shown(lines)}: it ends before it begins")
    return lines


def _shown(lines: LineRange) -> str:
    return ":".join("" if end is None else str(end) for end in lines)


def cut_lines(lines: Sequence[str], first: int | None, last: int | None) -> Sequence[str]:
    r"""The lines of a range; fewer, or none, where the text is shorter.

    >>> cut_lines(split_lines("a\nb\nc\n"), 2, None)
    ['b\n', 'c\n']
    """
    return lines[(first or 1) - 1 : last]


def grep(
    lines: Sequence[str],
    pattern: str,
    *,
    context: int = 0,
    ignore_case: bool = False,
    limit: int | None = None,
    first_number: int = 1,
    timeout_seconds: float,
) -> Matches:
    r"""The lines in which a pattern (Python's `re`) is found, with `context` lines on both sides.

    The end of a line, `\r\n` or `\n`, is not searched. At most `limit` matching lines are shown (never
    more than MATCHES_SHOWN), all are counted. `first_number` is the number of the first line given.

    Raises:
        PatternError: the pattern is wrong, or the search took longer than `timeout_seconds`.

    >>> grep(split_lines("one\ntwo\nthree\n"), "t", limit=1, timeout_seconds=5)
    Matches(text='two\n', line_numbers=(2,), total=2)
    """
    if context < 0 or (limit is not None and limit < 0):
        raise UsageError("context and limit cannot be below 0")
    if len(pattern) > PATTERN_LENGTH:
        raise PatternError(f"a pattern of {len(pattern):,} characters: at most {PATTERN_LENGTH:,} are allowed")
    most = MATCHES_SHOWN if limit is None else min(limit, MATCHES_SHOWN)
    shown, total = _search(lines, pattern, ignore_case, most, timeout_seconds)
    return Matches(
        text=_with_context(lines, shown, context),
        line_numbers=tuple(index + first_number for index in shown),
        total=total,
    )


def _search(
    lines: Sequence[str], pattern: str, ignore_case: bool, most: int, timeout_seconds: float
) -> tuple[list[int], int]:
    """Indexes of the first `most` matching lines, and how many match.

    A plain word is searched here, in linear time; where case is ignored only in ASCII, whose two cases
    are the same for everybody.
    """
    if _SPECIAL.isdisjoint(pattern) and pattern.isprintable():
        if not ignore_case:
            return _first([index for index, line in enumerate(lines) if pattern in line], most)
        if pattern.isascii() and all(map(str.isascii, lines)):
            word = pattern.lower()
            return _first([index for index, line in enumerate(lines) if word in line.lower()], most)
    return _search_in_child(lines, pattern, ignore_case, most, timeout_seconds)


def _first(found: list[int], most: int) -> tuple[list[int], int]:
    return found[:most], len(found)


def _search_in_child(
    lines: Sequence[str], pattern: str, ignore_case: bool, most: int, timeout_seconds: float
) -> tuple[list[int], int]:
    question = searcher.write_question(lines, pattern, ignore_case, most, timeout_seconds)
    command = [sys.executable, "-I", "-S", "-W", "ignore", str(Path(searcher.__file__))]
    try:
        # S603: the interpreter that runs already, a file of this package; the pattern is on stdin
        done = subprocess.run(command, input=question, capture_output=True, timeout=timeout_seconds, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise PatternError(_too_long(pattern, timeout_seconds)) from None
    except OSError as error:
        raise PatternError(f"cannot search for a pattern: {error}: use a plain word") from error
    return _read_answer(done.stdout.decode("utf-8", "replace"), pattern, timeout_seconds)


def _read_answer(answer: str, pattern: str, timeout_seconds: float) -> tuple[list[int], int]:
    match answer.split(" ", 2):
        case [searcher.FOUND, total, *indexes]:
            return [int(index) for index in " ".join(indexes).split()], int(total)
        case [searcher.BAD, position, message]:
            raise PatternError(f"pattern {pattern!r}: {message} (at character {position})")
        case [searcher.MEMORY, *_]:
            raise PatternError(f"pattern {pattern!r} needs too much memory: make it simpler, or use a plain word")
        case _:  # killed by its own limit of processor time, or from outside
            raise PatternError(_too_long(pattern, timeout_seconds))


def _too_long(pattern: str, timeout_seconds: float) -> str:
    return f"pattern {pattern!r} took longer than {timeout_seconds:g} s: make it simpler, or use a plain word"


def _with_context(lines: Sequence[str], matching: Sequence[int], context: int) -> str:
    """The matching lines with those around them, each line once."""
    pieces: list[str] = []
    end = 0  # index after the last line that was taken
    for index in matching:
        start = max(index - context, end)
        if context and pieces and start > end:
            pieces.append("--\n")
        pieces.extend(lines[start : index + context + 1])
        end = max(end, min(index + context + 1, len(lines)))
    return "".join(pieces)
