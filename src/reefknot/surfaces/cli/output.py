"""What a command prints: results as bytes on standard output, words for people on standard error.

Bytes, since a result may hold what no locale's encoding knows, and must come out as it was stored.
"""

import contextlib
import errno
import json
import sys
from collections.abc import Mapping

from reefknot.model.encoding import to_bytes
from reefknot.surfaces.guard import ReaderGone

__all__ = ["print_bytes", "print_json", "print_line", "print_text", "say"]


def print_bytes(data: bytes) -> None:
    """Write bytes to standard output, as they are.

    Raises:
        ReaderGone: the other end of the pipe has been closed.
        OSError: nobody gave us a standard output, or it cannot be written.
    """
    if sys.stdout is None:  # it is None where the caller closed it
        raise OSError(errno.EBADF, "standard output is closed")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def print_text(text: str) -> None:
    """Write a text to standard output, as it is; nothing is added at its end."""
    try:
        data = text.encode("utf-8", "surrogateescape")  # names from the system come back as the bytes that they are
    except UnicodeEncodeError:
        data = to_bytes(text)
    print_bytes(data)


def print_line(text: str) -> None:
    """Write a text and a line feed to standard output."""
    print_text(text + "\n")


def print_json(value: Mapping[str, object]) -> None:
    """Write one JSON object and a line feed to standard output; what UTF-8 cannot hold is escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        data = json.dumps(value, ensure_ascii=True, allow_nan=False).encode("ascii")
    print_bytes(data + b"\n")


def say(text: str) -> None:
    """Write a line for people to standard error, which holds no results; where that cannot be, it is left out."""
    if sys.stderr is not None:  # it is None where the caller closed it
        with contextlib.suppress(OSError):
            sys.stderr.write(text + "\n")
