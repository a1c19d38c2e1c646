"""Searches lines for a pattern in a process of its own, so that it can be killed; started by `slices`.

Uses the standard library alone and imports nothing of this package: it is run as a file, in an
interpreter without site packages, which starts in some 15 ms.
"""

import re
import sys
from collections.abc import Sequence

__all__ = ["BAD", "FOUND", "MEMORY", "write_question"]

FOUND = "found"  # answer: how many lines match, then the indexes of those asked for
BAD = "bad"  # answer: position in the pattern, what is wrong there
MEMORY = "memory"  # answer: the pattern takes too much memory
_SPARE_BYTES = 1 << 30  # memory for the interpreter and for what a pattern remembers
_BYTES_PER_BYTE = 16  # memory for a byte of text: text, lines, and marks of a match


def write_question(lines: Sequence[str], pattern: str, ignore_case: bool, most: int, timeout_seconds: float) -> bytes:
    """What the child reads: a line of numbers, the pattern, the lines."""
    wanted = pattern.encode("utf-8", "surrogatepass")
    numbers = f"{int(ignore_case)} {most} {int(timeout_seconds) + 2} {len(wanted)}\n"
    return numbers.encode() + wanted + "".join(lines).encode("utf-8", "surrogatepass")


def answer(question: bytes) -> str:
    """What the child writes.

    >>> answer(write_question(["one\\n", "two\\r\\n"], "o$", False, 10, 1))
    'found 1 1'
    >>> answer(write_question([], "(a", False, 10, 1))
    'bad 0 missing ), unterminated subpattern'
    """
    head, _, rest = question.partition(b"\n")
    ignore_case, most, seconds, length = map(int, head.split())
    pattern = rest[:length].decode("utf-8", "surrogatepass")
    text = rest[length:].decode("utf-8", "surrogatepass")
    if __name__ == "__main__":
        _limit_process(seconds, len(rest))
    try:
        search = re.compile(pattern, re.IGNORECASE if ignore_case else 0).search
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        found = [index for index, line in enumerate(lines) if search(line.removesuffix("\r"))]
    except re.error as error:
        return f"{BAD} {error.pos or 0} {error.msg}"
    except OverflowError as error:
        return f"{BAD} 0 {error}"
    except RecursionError:
        return f"{BAD} 0 nested too deeply"
    except MemoryError:
        return MEMORY
    return " ".join([FOUND, str(len(found)), *map(str, found[:most])])


def _limit_process(seconds: int, size_bytes: int) -> None:
    """End this process by itself when its parent died, or when a pattern would eat the machine's memory."""
    try:
        import resource  # noqa: PLC0415 (POSIX only)
    except ImportError:
        return
    for what, limit in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, _SPARE_BYTES + _BYTES_PER_BYTE * size_bytes),
    ):
        hard = resource.getrlimit(what)[1]
        try:
            resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
        except (ValueError, OSError):
            continue  # a limit that a system does not know; the parent's clock holds all the same


if __name__ == "__main__":
    sys.stdout.write(answer(sys.stdin.buffer.read()))
