"""The transcript that a command was given: a file, or standard input."""

import errno
import sys
from pathlib import Path

from reefknot.errors import FormatError
from reefknot.flows.files import read_input
from reefknot.formats.records import unpack

__all__ = ["read_source"]


def read_source(path: Path | None) -> bytes:
    """The content of a file, or of standard input where there is no path; unpacked when it is gzip or zstd.

    Raises:
        FormatError: the archive is damaged; names the file.
        OSError: the file cannot be read, or nobody gave us a standard input.
    """
    if path is not None:
        return read_input(path)
    if sys.stdin is None:  # it is None where the caller closed it
        raise OSError(errno.EBADF, "standard input is closed")
    try:
        return unpack(sys.stdin.buffer.read())
    except FormatError as error:
        raise FormatError(f"-: {error}") from error
