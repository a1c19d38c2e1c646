"""The one place where errors become outcomes: one line for people and an exit code, never a traceback.

0     done
1     an expected "no": not stored here, or what is stored is damaged
2     bad usage, bad input, or a fault of ours
130   interrupted
"""

import os
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from reefknot.errors import Corrupt, NotStored, ReefknotError

__all__ = ["ExpectedNo", "ReaderGone", "expect_no", "fold", "run"]

_DONE, _NO, _BAD, _INTERRUPTED = 0, 1, 2, 130


class ExpectedNo(Exception):
    """The answer is no, and its text says why; exit code 1."""


class ReaderGone(Exception):
    """Who reads our output has read enough (`reefknot retrieve a1b2c3d4 | head -1`): we are done."""


@contextmanager
def expect_no(*families: type[ReefknotError]) -> Generator[None]:
    """Within, errors of these families mean "no" (exit 1) rather than bad input (exit 2)."""
    try:
        yield
    except families as error:
        raise ExpectedNo(str(error)) from error


def run(action: Callable[[], int]) -> int:
    """Do it and give its exit code; what it raises becomes one line on standard error and an exit code.

    With REEFKNOT_DEBUG=1 in the environment the traceback is shown before the line.
    """
    code = _outcome(action)
    _leave_nothing_unwritten()
    return code


def _outcome(action: Callable[[], int]) -> int:
    try:
        code = action()
        _flush()
        return code
    except ReaderGone:
        return _DONE
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except (ExpectedNo, NotStored, Corrupt) as error:
        return _say(str(error), _NO)
    except ReefknotError as error:
        return _say(str(error), _BAD)
    except OSError as error:
        return _say(_of_system(error), _BAD)
    except Exception as error:  # the last door: whatever it is, it ends as one line
        kind = type(error).__name__
        return _say(f"internal error: {kind}: {error}; set REEFKNOT_DEBUG=1 to see where, and report it", _BAD)


def fold(text: str) -> str:
    r"""A text as one line: white space becomes a space, other control characters their escapes.

    >>> fold("two\n  lines\x1b[0m")
    'two lines\\x1b[0m'
    """
    line = " ".join(text.split())
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)


def _say(text: str, code: int) -> int:
    if os.environ.get("REEFKNOT_DEBUG") == "1":
        traceback.print_exc()
    line = f"reefknot: {fold(text)}\n"
    if sys.stderr is not None:  # it is None where the caller closed it
        with suppress(OSError):  # a full disk: the exit code tells it
            sys.stderr.write(line)
    return code


def _of_system(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    names = [repr(os.fsdecode(name)) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    return f"{' -> '.join(names)}: {reason}" if names else reason


def _flush() -> None:
    """Write out what is buffered here, where a failure still can be told (disk full, reader gone)."""
    try:
        if sys.stdout is not None:  # it is None where the caller closed it
            sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def _leave_nothing_unwritten() -> None:
    """Keep the interpreter from trying again, at its end, to write what cannot be written, and complaining then."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # it is None where the caller closed it
            continue
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
