"""Which originals a recipe of an undo needs.

A recipe is opaque to a store but for one thing: it is JSON, and each string under a key "text" or "raw"
in it is the digest of an original. Whatever moves or removes originals follows these.
"""

import json
from collections.abc import Iterator
from typing import cast

from reefknot.model.message import Json
from reefknot.model.reference import Digest
from reefknot.store.names import is_digest

__all__ = ["needed_by"]

_LINK_KEYS = ("text", "raw")


def needed_by(recipe: bytes) -> frozenset[Digest]:
    """The digests in a recipe; none when it is no JSON.

    >>> sorted(needed_by(b'[{"start": 0, "end": 4, "raw": "' + b"a" * 64 + b'"}]')) == ["a" * 64]
    True
    """
    try:
        value = cast("Json", json.loads(recipe))
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(_links(value))


def _links(value: Json) -> Iterator[Digest]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case list() as items:
                waiting.extend(items)
            case dict() as members:
                named = (members.get(key) for key in _LINK_KEYS)
                yield from (text for text in named if isinstance(text, str) and is_digest(text))
                waiting.extend(members.values())
            case _:
                continue
