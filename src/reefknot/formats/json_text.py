"""JSON text read with positions: where each member and item stands, and what one value is.

Works on `str` whose undecodable bytes are kept as U+DC80..U+DCFF. The scanning of values is the standard
library's own C code, so what counts as JSON here is exactly what `json.loads` takes.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from reefknot.model.message import Json

__all__ = [
    "MAX_DEPTH",
    "JsonError",
    "Member",
    "compact_json",
    "decode_bytes",
    "encode_text",
    "first_item",
    "items",
    "limit_depth",
    "load_value",
    "members",
    "next_item",
    "read_key",
    "scan_value",
    "skip_space",
]

MAX_DEPTH = 200  # levels; no host writes more, and recursive readers stay far from the interpreter's limit

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_DECODER = json.JSONDecoder()


class JsonError(ValueError):
    """No JSON at `position` (in characters of the text); `cut` when the text ends too early."""

    def __init__(self, position: int, *, cut: bool) -> None:
        super().__init__(f"no JSON at character {position}")
        self.position = position
        self.cut = cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an object (or item of a list): its key or index, where the key and the value stand."""

    key: str | int
    key_start: int
    value_start: int
    value_end: int
    value: Json


def decode_bytes(raw: bytes) -> str:
    """The text of JSON bytes; bytes that are no UTF-8 become U+DC80..U+DCFF, one each.

    >>> decode_bytes(b'"\\xff"')
    '"\\udcff"'
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")


def encode_text(text: str) -> bytes:
    """The bytes of a text from `decode_bytes`; exactly those that it was made of."""
    return text.encode("utf-8", "surrogateescape")


def load_value(raw: bytes) -> Json:
    """The value of JSON bytes, or None when they are no JSON or are nested deeper than `MAX_DEPTH`.

    >>> load_value(b'{"a": 1}'), load_value(b"// note"), load_value(b"[" * 500 + b"]" * 500)
    ({'a': 1}, None, None)
    """
    try:
        value = cast("Json", json.loads(decode_bytes(raw)))
    except (ValueError, RecursionError):
        return None
    return limit_depth(raw, value)


def limit_depth(raw: bytes, value: Json) -> Json:
    """The value that was read from `raw`, or None when it is nested deeper than `MAX_DEPTH`."""
    return None if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _is_too_deep(value) else value


def _is_too_deep(value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return False
        level = below
    return True


def compact_json(value: Json, *, ascii_only: bool = False) -> str:
    """JSON without blanks; half surrogate pairs are always escaped.

    >>> compact_json({"a": ["é", "\\ud83d"]})
    '{"a":["é","\\\\ud83d"]}'
    """
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def skip_space(text: str, position: int) -> int:
    """The position of the first character at or after `position` that is not a blank of JSON."""
    if text[position : position + 1] > " ":  # nearly always: JSON's blanks are all at or below the space
        return position
    return cast("re.Match[str]", _SPACE.match(text, position)).end()


def scan_value(text: str, position: int) -> tuple[Json, int]:
    """The value that begins at `position` and where it ends; None for one that is nested too deeply to read.

    Raises:
        JsonError: no value begins there, or the text ends within it.
    """
    try:
        value, end = cast("tuple[Json, int]", _DECODER.raw_decode(text, position))
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text) or error.msg.startswith("Unterminated")
        raise JsonError(error.pos, cut=cut) from None
    except ValueError:  # a number of thousands of digits
        raise JsonError(position, cut=False) from None
    except RecursionError:
        return None, _end_of_nest(text, position)
    return value, end


def _end_of_nest(text: str, position: int) -> int:
    depth = 0
    for match in _STRUCTURE.finditer(text, position):
        mark = match[0]
        depth += mark in "[{"
        depth -= mark in "]}"
        if depth == 0:
            return match.end()
    raise JsonError(len(text), cut=True)


def members(text: str, start: int) -> Iterator[Member]:
    """The members of the object that begins at `start`, in order, duplicates included.

    Raises:
        JsonError: the object is not whole.
    """
    position = first_item(text, start, "}")
    while position is not None:
        key, value_start = read_key(text, position)
        value, end = scan_value(text, value_start)
        yield Member(key=key, key_start=position, value_start=value_start, value_end=end, value=value)
        position = next_item(text, end, "}")


def items(text: str, start: int) -> Iterator[Member]:
    """The items of the list that begins at `start`, in order.

    Raises:
        JsonError: the list is not whole.
    """
    position, index = first_item(text, start, "]"), 0
    while position is not None:
        value, end = scan_value(text, position)
        yield Member(key=index, key_start=position, value_start=position, value_end=end, value=value)
        position, index = next_item(text, end, "]"), index + 1


def first_item(text: str, start: int, closing: str) -> int | None:
    """Where the first item or key of the list or object at `start` begins; None when it is empty."""
    position = skip_space(text, start + 1)
    return None if text.startswith(closing, position) else position


def next_item(text: str, end: int, closing: str) -> int | None:
    """Where the item or key after the one that ends at `end` begins; None at the closing bracket."""
    position = skip_space(text, end)
    return None if text.startswith(closing, position) else skip_space(text, _expect(text, position, ","))


def read_key(text: str, position: int) -> tuple[str, int]:
    """The key that begins at `position` and where its value begins."""
    if not text.startswith('"', position):
        raise JsonError(position, cut=position >= len(text))
    key, end = scan_value(text, position)
    return cast("str", key), skip_space(text, _expect(text, end, ":"))


def _expect(text: str, position: int, mark: str) -> int:
    position = skip_space(text, position)
    if not text.startswith(mark, position):
        raise JsonError(position, cut=position >= len(text))
    return position + 1
