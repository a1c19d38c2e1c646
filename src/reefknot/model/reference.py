"""References: the short name of a stored original, and its one text form.

A `Reference` comes only from a store, which has written the bytes, read them back and compared.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["NAME_LENGTH", "Digest", "Reference", "find_names", "is_name"]

NAME_LENGTH = 8  # hex characters; a store makes a name longer until it is unique there

Digest = str  # 64 lower-case hex characters: SHA-256 of the stored bytes

_NAME = re.compile(r"[0-9a-f]{8,64}\Z")
_MARKER = re.compile(r"\[reefknot ([0-9a-f]{8,64})[:\]]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The name under which a store gives an original back.

    `name` is unique in its store: the first 8 or more hex characters of `digest`.
    `masked_secrets` counts the secrets that were masked before the bytes were stored.
    """

    name: str
    digest: Digest
    size_bytes: int
    masked_secrets: int = 0


def is_name(text: str) -> bool:
    """Whether a text has the form of a reference's name.

    >>> is_name("a1b2c3d4"), is_name("A1B2C3D4"), is_name("a1b2")
    (True, False, False)
    """
    return _NAME.match(text) is not None


def find_names(text: str) -> Iterator[str]:
    """The names in all markers of a text, in order. They may be quotes: only a store knows.

    >>> list(find_names("[reefknot a1b2c3d4: 12 of 40 lines cut]"))
    ['a1b2c3d4']
    """
    return (match.group(1) for match in _MARKER.finditer(text))
