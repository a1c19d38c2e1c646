"""How short names are chosen and what a person may type for one; plain functions, no disk.

A name belongs to one digest for ever: it stays registered when its original is removed, so that an old
marker can never lead to other bytes.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from reefknot.model.reference import NAME_LENGTH, Digest, is_name

__all__ = ["DIGEST_LENGTH", "choose_name", "describe_miss", "is_digest"]

DIGEST_LENGTH = 64  # hex characters


def choose_name(digest: Digest, is_taken: Callable[[str], bool]) -> str:
    """The shortest prefix of a digest, 8 characters or more, that no other digest has as its name.

    >>> choose_name("a1b2c3d4e5" + "0" * 54, {"a1b2c3d4"}.__contains__)
    'a1b2c3d4e'
    """
    lengths = range(NAME_LENGTH, DIGEST_LENGTH + 1)
    return next(digest[:length] for length in lengths if not is_taken(digest[:length]))


def is_digest(text: str) -> bool:
    """Whether a text has the form of a full digest."""
    return len(text) == DIGEST_LENGTH and is_name(text)


def describe_miss(reference: str, location: str, removed: tuple[float, str] | None) -> str:
    """The one line about a reference that is not here; `removed` is when (seconds since 1970) and why.

    >>> describe_miss("a1b2c3d4", "memory:", None)
    "reference 'a1b2c3d4' was never stored in 'memory:'"
    >>> describe_miss("a1b2c3d4", "memory:", (0.0, "purge"))
    "reference 'a1b2c3d4' was removed from 'memory:' on 1970-01-01 00:00 UTC (purge)"
    """
    if not is_name(reference):
        return f"{reference!r} is no reference: expected {NAME_LENGTH} to {DIGEST_LENGTH} lower-case hex characters"
    if removed is None:
        return f"reference {reference!r} was never stored in {location!r}"
    when, why = removed
    return f"reference {reference!r} was removed from {location!r} on {_date(when)} ({why})"


def _date(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):  # no date at all, in a damaged file
        return "an unknown date"
