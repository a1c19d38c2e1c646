"""New values put into a record's raw text, every other byte left as it is.

`splice` is exact in both directions: each `Piece` of its answer tells which bytes of the new text stand
where which old bytes stood. A string inside a string that is itself JSON (the arguments of an OpenAI call)
is changed in place too: only the characters of its own lexeme are written anew.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from reefknot.errors import FormatError
from reefknot.formats.json_text import (
    JsonError,
    Member,
    compact_json,
    decode_bytes,
    encode_text,
    items,
    members,
    scan_value,
    skip_space,
)
from reefknot.model.message import Json, Path
from reefknot.model.transcript import Edit

__all__ = ["Piece", "Spliced", "edit_value", "restore_pieces", "splice"]

_UNSET = object()
_WIDE_ESCAPE = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_ESCAPED = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Bytes `start`..`end` of the new raw stand where `removed` stood in the old one."""

    start: int
    end: int
    removed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Spliced:
    """A changed record; `pieces` in ascending order, none overlapping."""

    raw: bytes
    pieces: tuple[Piece, ...]


@dataclass(slots=True, kw_only=True)
class _Node:
    """What is to happen at one value: all edits of a record as a tree, so that one walk serves them all."""

    value: object = _UNSET
    below: "dict[str | int, _Node]" = field(default_factory=dict[str | int, "_Node"])  # at a path below this value
    added: dict[str, Json] = field(default_factory=dict[str, Json])  # members of this object
    inner: "_Node | None" = None  # inside this string

    def child(self, key: str | int) -> "_Node":
        return self.below.setdefault(key, _Node())

    @property
    def is_deeper(self) -> bool:
        return bool(self.below or self.added or self.inner)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Swap:
    """Characters `start`..`end` of the old text give way to `text`."""

    start: int
    end: int
    text: str


def splice(raw: bytes, edits: Sequence[Edit]) -> Spliced:
    """Write new values at their places in one record; of equal keys the last one is meant, as in `json`.

    New strings keep the escaping style of the record; undecodable bytes stay the bytes that they were.

    Raises:
        FormatError: a place is not in the record, two edits touch the same value in two ways, or an inner
            path leads into a string that is no JSON.

    >>> from reefknot.model.message import Place
    >>> splice(b'{"a" : "x", "n":1.50}', [Edit(place=Place(record=0, path=("a",)), value="yz")])
    Spliced(raw=b'{"a" : "yz", "n":1.50}', pieces=(Piece(start=7, end=11, removed=b'"x"'),))
    """
    text = decode_bytes(raw)
    start = skip_space(text, 0)
    try:
        swaps = _swaps(text, start, _plan(edits), _is_ascii_style(text))
    except JsonError as error:
        raise FormatError(f"a record cannot be changed: {error}") from None
    return _apply(text, swaps)


def restore_pieces(raw: bytes, pieces: Sequence[Piece]) -> bytes:
    """The old raw of a `Spliced`.

    >>> restore_pieces(b'{"a":"yz"}', [Piece(start=5, end=9, removed=b'"x"')])
    b'{"a":"x"}'
    """
    parts: list[bytes] = []
    position = 0
    for piece in pieces:
        parts += [raw[position : piece.start], piece.removed]
        position = piece.end
    return b"".join([*parts, raw[position:]])


def edit_value(value: Json, edits: Sequence[Edit]) -> Json:
    """The same edits on a Python value: a new value, sharing all that is not on a changed path.

    Raises:
        FormatError: as `splice`.
    """
    return _edited(value, _plan(edits))


def _plan(edits: Sequence[Edit]) -> _Node:
    root = _Node()
    for edit in edits:
        node = _descend(root, edit.place.path)
        if edit.place.inner is not None:
            node.inner = node.inner or _Node()
            node = _descend(node.inner, edit.place.inner)
        if edit.key is None:
            node.value = edit.value
        else:
            node.added[edit.key] = edit.value
    return root


def _descend(node: _Node, path: Path) -> _Node:
    for key in path:
        node = node.child(key)
    return node


def _swaps(text: str, start: int, node: _Node, ascii_only: bool) -> list[_Swap]:
    if node.value is not _UNSET:
        if node.is_deeper:
            raise FormatError("two edits change the same value: one as a whole, one inside it")
        _, end = scan_value(text, start)
        return [_Swap(start=start, end=end, text=_lexeme(cast("Json", node.value), text[start:end], ascii_only))]
    if node.inner is not None:
        return _inner_swaps(text, start, node, ascii_only)
    found = list(_children(text, start, node))
    latest = {member.key: member for member in found}
    swaps: list[_Swap] = []
    for key, child in node.below.items():
        if key not in latest:
            raise FormatError(f"a place is not in its record: there is no {key!r}")
        swaps += _swaps(text, latest[key].value_start, child, ascii_only)
    if node.added:
        swaps += _added(text, start, found, node, ascii_only)
    return sorted(swaps, key=lambda swap: swap.start)


def _children(text: str, start: int, node: _Node) -> Sequence[Member]:
    match text[start : start + 1]:
        case "{":
            return list(members(text, start))
        case "[" if not node.added:
            return list(items(text, start))
        case _ if node.is_deeper:
            raise FormatError("a place is not in its record: the value there has no members of that kind")
        case _:
            return []


def _added(text: str, start: int, found: Sequence[Member], node: _Node, ascii_only: bool) -> list[_Swap]:
    latest = {member.key: member for member in found}
    swaps: list[_Swap] = []
    new: list[str] = []
    colon = text[scan_value(text, found[-1].key_start)[1] : found[-1].value_start] if found else ":"
    for key, value in node.added.items():
        if key in node.below:
            raise FormatError(f"two edits change the same value: {key!r} is added and changed")
        if key in latest:
            there = latest[key]
            old = text[there.value_start : there.value_end]
            swaps.append(_Swap(start=there.value_start, end=there.value_end, text=_lexeme(value, old, ascii_only)))
        else:
            new.append(compact_json(key, ascii_only=ascii_only) + colon + _lexeme(value, "", ascii_only))
    if new:
        at = found[-1].value_end if found else start + 1
        gap = _gap(text, start, found)
        joined = ("," + gap).join(new)
        swaps.append(_Swap(start=at, end=at, text=f",{gap}{joined}" if found else joined))
    return swaps


def _gap(text: str, start: int, found: Sequence[Member]) -> str:
    """The blanks before a member, as this object has them."""
    if len(found) > 1:
        return text[text.index(",", found[-2].value_end) + 1 : found[-1].key_start]
    if not found:
        return ""
    lead = text[start + 1 : found[0].key_start]
    return lead or (" " if text[found[0].value_start - 1] == " " else "")


def _inner_swaps(text: str, start: int, node: _Node, ascii_only: bool) -> list[_Swap]:
    """Swaps inside a string that holds JSON, told in positions of the outer text."""
    outer, end = scan_value(text, start)
    if not isinstance(outer, str) or node.below or node.added:
        raise FormatError("an inner place leads into a value that is no string")
    inner_start = skip_space(outer, 0)
    try:
        _, inner_end = scan_value(outer, inner_start)
        if skip_space(outer, inner_end) != len(outer):
            raise JsonError(inner_end, cut=False)
        swaps = _swaps(outer, inner_start, cast("_Node", node.inner), _is_ascii_style(outer))
    except JsonError:
        raise FormatError("an inner place leads into a string that is no JSON") from None
    lexeme = text[start:end]
    where = _LexemeMap(lexeme)
    return [
        _Swap(
            start=start + where.at(swap.start),
            end=start + where.at(swap.end),
            text=_lexeme(swap.text, lexeme, ascii_only)[1:-1],
        )
        for swap in swaps
    ]


class _LexemeMap:
    """Positions in a decoded string to positions in its lexeme (which begins with a quote)."""

    def __init__(self, lexeme: str) -> None:
        self._decoded: list[int] = []  # position after each escape, in decoded characters
        self._shift: list[int] = []  # lexeme position minus decoded position from there on
        shift = 1
        for match in _ESCAPED.finditer(lexeme):
            shift += len(match[0]) - 1
            self._decoded.append(match.end() - shift)
            self._shift.append(shift)

    def at(self, position: int) -> int:
        before = bisect_left(self._decoded, position + 1) - 1
        return position + (self._shift[before] if before >= 0 else 1)


def _is_ascii_style(text: str) -> bool:
    """Whether a record writes what is not ASCII as escapes; one without a sign of it is written literally."""
    return text.isascii() and _WIDE_ESCAPE.search(text) is not None


def _lexeme(value: Json, old: str, ascii_only: bool) -> str:
    """A value as JSON text; U+DC80..U+DCFF go out as the raw bytes they were where the old text held such."""
    if isinstance(value, str) and _RAW_BYTE.search(old):
        parts = _RAW_BYTE.split(value)
        raw = _RAW_BYTE.findall(value)
        quoted = [compact_json(part)[1:-1] for part in parts]
        return '"' + quoted[0] + "".join(byte + part for byte, part in zip(raw, quoted[1:], strict=True)) + '"'
    return compact_json(value, ascii_only=ascii_only)


def _apply(text: str, swaps: Sequence[_Swap]) -> Spliced:
    parts: list[bytes] = []
    pieces: list[Piece] = []
    position = size = 0
    for swap in swaps:
        kept, new = encode_text(text[position : swap.start]), encode_text(swap.text)
        start = size + len(kept)
        pieces.append(Piece(start=start, end=start + len(new), removed=encode_text(text[swap.start : swap.end])))
        parts += [kept, new]
        size, position = start + len(new), swap.end
    parts.append(encode_text(text[position:]))
    return Spliced(raw=b"".join(parts), pieces=tuple(pieces))


def _edited(value: Json, node: _Node) -> Json:
    if node.value is not _UNSET:
        if node.is_deeper:
            raise FormatError("two edits change the same value: one as a whole, one inside it")
        return cast("Json", node.value)
    if node.inner is not None:
        return _edited_inner(value, node)
    if isinstance(value, dict):
        new = dict(value)
        for key, child in node.below.items():
            if not isinstance(key, str) or key not in value:
                raise FormatError(f"a place is not in its record: there is no {key!r}")
            new[key] = _edited(value[key], child)
        return {**new, **node.added}
    if isinstance(value, list) and not node.added:
        changed = list(value)
        for key, child in node.below.items():
            if not isinstance(key, int) or not 0 <= key < len(value):
                raise FormatError(f"a place is not in its record: there is no {key!r}")
            changed[key] = _edited(value[key], child)
        return changed
    if node.is_deeper:
        raise FormatError("a place is not in its record: the value there has no members of that kind")
    return value


def _edited_inner(value: Json, node: _Node) -> Json:
    """The inner text is spliced, not written anew: its blanks, escapes and number texts stay."""
    text = compact_json(value, ascii_only=True)
    changed = _apply(text, _inner_swaps(text, 0, node, True))
    return cast("Json", json.loads(changed.raw))
