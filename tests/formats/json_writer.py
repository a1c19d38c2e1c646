"""Random JSON values and random ways to write them: blanks, escapes, number texts, duplicate keys, broken bytes."""

import json
from typing import Any

from hypothesis import strategies as st

BLANKS = st.sampled_from(["", "", " ", "\n  ", "\t", "\r\n"])

# all of Unicode, halves of surrogate pairs, and (as U+DC80..U+DCFF) bytes that are no UTF-8
strings = st.one_of(
    st.text(max_size=12),
    st.text(st.sampled_from('ab"\\/\n\x1b\u00e9\u2026\U0001f600'), max_size=12),
    st.sampled_from(["\ud83d", "x\udc80y", "\udfff!", '{"a": "q\\u2026"}', '["\\ud83d", 1.0]']),
)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([1.5, 1e300]) | strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=12,
)


def write(draw: st.DrawFn, value: Any) -> str:
    """A value as text, each string and gap in a style of its own; a broken byte may stand raw."""
    if isinstance(value, dict):
        members = [_write_member(draw, key, item) for key, item in value.items()]
        if value and draw(st.integers(0, 4)) == 0:  # an earlier member of the same key, which the last one hides
            members.insert(0, _write_member(draw, next(iter(value)), draw(strings)))
        return "{" + _joined(draw, members) + "}"
    if isinstance(value, list):
        return "[" + _joined(draw, [write(draw, item) for item in value]) + "]"
    if isinstance(value, str):
        return write_string(draw, value)
    return json.dumps(value)


def _write_member(draw: st.DrawFn, key: str, value: Any) -> str:
    return f"{write_string(draw, key)}{draw(BLANKS)}:{draw(BLANKS)}{write(draw, value)}"


def _joined(draw: st.DrawFn, members: list[str]) -> str:
    return draw(BLANKS) + f"{draw(BLANKS)},{draw(BLANKS)}".join(members) + draw(BLANKS)


def write_string(draw: st.DrawFn, value: str) -> str:
    style, bits = draw(st.sampled_from(["ascii", "literal", "escaped"])), draw(st.integers(0, 0xFFFF))
    written = (_write_character(character, style, bits >> index % 16 & 1 == 1) for index, character in enumerate(value))
    return '"' + "".join(written) + '"'


def _write_character(character: str, style: str, is_odd: bool) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF and style == "literal" and is_odd:
        return character
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    if character == "/" and style == "escaped":
        return "\\/"
    if style == "escaped" and is_odd and code < 0x10000:
        return f"\\u{code:04X}"
    return json.dumps(character, ensure_ascii=style == "ascii")[1:-1]
