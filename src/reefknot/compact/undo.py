"""How a changed record of a file becomes the record that it was, byte for byte.

A recipe is a JSON list of steps, one for each range of the changed record that differs: `{"start", "end"}` in bytes of
the changed record, and what stood there: `{"text": DIGEST, "from", "to", "style"}` a slice (in characters) of a stored
text written as a JSON string in one of three styles; `{"raw": DIGEST}` stored bytes; `{"inline": TEXT}` a few bytes.
What secrets stood there is masked.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reefknot.errors import Corrupt
from reefknot.formats.splice import Piece
from reefknot.model.encoding import to_bytes, to_text
from reefknot.model.message import Json
from reefknot.model.reference import Digest
from reefknot.store.digest import digest_bytes
from reefknot.text.secret_json import mask_json

__all__ = ["Kept", "Recipe", "apply_recipe", "make_recipe"]

INLINE_BYTES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where a text of the source is stored.

    It is characters `start` to `end` of the text with this digest, which read `masked`.
    """

    digest: Digest
    start: int
    end: int
    masked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The recipe's bytes, and what must be stored beside it."""

    data: bytes
    blobs: tuple[bytes, ...]
    masked_secrets: int


def _ascii(text: str) -> bytes:
    return json.dumps(text).encode()


def _unicode(text: str) -> bytes:
    return to_bytes(json.dumps(text, ensure_ascii=False))


def _html(text: str) -> bytes:
    dumped = json.dumps(text, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        dumped = dumped.replace(character, f"\\u{ord(character):04x}")
    return to_bytes(dumped)


STYLES: Mapping[str, Callable[[str], bytes]] = {
    "ascii": _ascii,
    "unicode": _unicode,
    "html": _html,
}  # how hosts write JSON strings


def make_recipe(pieces: Sequence[Piece], stored: Mapping[str, Kept]) -> Recipe:
    """The recipe that undoes `pieces`; `stored` finds a source text in the store."""
    steps: list[dict[str, Any]] = []
    blobs: list[bytes] = []
    masked_secrets = 0
    for piece in pieces:
        step: dict[str, Any] = {"start": piece.start, "end": piece.end}
        known = _known(piece.removed, stored)
        if known is not None:
            kept, style = known
            step |= {"text": kept.digest, "from": kept.start, "to": kept.end, "style": style}
        else:
            masked = mask_json(piece.removed)
            removed = masked.data
            masked_secrets += masked.count
            if len(removed) <= INLINE_BYTES:
                step["inline"] = to_text(removed)
            else:
                step["raw"] = digest_bytes(removed)
                blobs.append(removed)
        steps.append(step)
    return Recipe(
        data=json.dumps(steps, separators=(",", ":")).encode(), blobs=tuple(blobs), masked_secrets=masked_secrets
    )


def _known(removed: bytes, stored: Mapping[str, Kept]) -> tuple[Kept, str] | None:
    """The stored text that a JSON string holds, and the style in which it is written; None when either is not known."""
    if not removed.startswith(b'"'):
        return None
    try:
        text: Json = json.loads(to_text(removed))
    except ValueError:
        return None
    if not isinstance(text, str) or text not in stored:
        return None
    for style, write in STYLES.items():
        if write(text) == removed:
            return stored[text], style
    return None


def apply_recipe(recipe: bytes, changed: bytes, get: Callable[[Digest], bytes]) -> bytes:
    """The record as it was, from the changed one.

    Raises:
        NotStored: what stood there is not in the store (from `get`).
        Corrupt: the recipe does not fit the record.
    """
    try:
        steps = json.loads(recipe)
        for step in sorted(steps, key=lambda step: -step["start"]):
            changed = changed[: step["start"]] + _removed(step, get) + changed[step["end"] :]
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"the recipe of a changed record is damaged ({error!r}): run `reefknot store verify`") from error
    return changed


def _removed(step: Mapping[str, Any], get: Callable[[Digest], bytes]) -> bytes:
    if "inline" in step:
        return to_bytes(step["inline"])
    if "raw" in step:
        return get(step["raw"])
    return STYLES[step["style"]](to_text(get(step["text"]))[step["from"] : step["to"]])
