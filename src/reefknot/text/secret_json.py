"""Secrets in JSON text, masked in place: what stands outside of them keeps its bytes.

Strings are masked by what they say, not by how they are written, so that an escape is neither cut through nor taken
for a part of a secret. A string behind a member's name is also looked at together with that name.
"""

import json
import re
from collections.abc import Iterator, Sequence

from reefknot.model.encoding import to_bytes, to_text
from reefknot.text.secrets import Masked, MaskedBytes, mask

__all__ = ["mask_json"]

NAMED_CHARACTERS = 1_000  # a longer string is no password or key by itself

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_COLON = re.compile(r"\s*:")


def mask_json(data: bytes) -> MaskedBytes:
    """JSON text with the secrets in its strings masked; the same bytes where there is none.

    `data` is a JSON value, or a part of a JSON string that holds JSON itself (the arguments of an OpenAI call), or,
    when it is neither, any text. `spans` are not told.

    >>> mask_json(b'{"n": 1.50,  "password": "tr0ub4dor-3"}').data
    b'{"n": 1.50,  "password": "[REDACTED:password]"}'
    """
    text = to_text(data)
    if _is_json(text):
        masked, count = _mask_strings(text, list(text))
    elif (inside := _inside_string(text)) is not None:
        masked, count = _mask_strings(inside, _units(text))
    else:
        plain = mask(text)
        masked, count = plain.text, plain.count
    return MaskedBytes(data=to_bytes(masked), count=count) if count else MaskedBytes(data=data)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _inside_string(text: str) -> str | None:
    """The JSON text that `text` gives as the inside of a JSON string; None when it gives none."""
    try:
        inside = json.loads(f'"{text}"')
    except (ValueError, RecursionError):
        return None
    return inside if isinstance(inside, str) and _is_json(inside) else None


def _units(written: str) -> list[str]:
    """The inside of a JSON string, cut so that each piece writes one character of what it says."""
    return _UNIT.findall(written)


def _mask_strings(text: str, written: Sequence[str]) -> tuple[str, int]:
    """JSON text as it is written, with its strings masked; `written[i]` is how its character `i` is written."""
    parts: list[str] = []
    position = total = 0
    for string, name in _strings(text):
        found, count = _secrets(str(json.loads(string[0], strict=False)), name)
        if not found:
            continue
        starts = [string.start() + 1]  # where each character of the string begins in `text`
        for unit in _units(string[0][1:-1]):
            starts.append(starts[-1] + len(unit))
        for start, end, marker in found:
            parts += ["".join(written[position : starts[start]]), marker]
            position = starts[end]
        total += count
    return "".join([*parts, *written[position:]]), total


def _strings(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each string that is a value, with the name of the member that it is, as written; empty if it is none."""
    name: re.Match[str] | None = None
    for string in _STRING.finditer(text):
        if _COLON.match(text, string.end()):
            name = string
            continue
        is_member = name is not None and text[name.end() : string.start()].strip() == ":"
        yield string, name[0] if name is not None and is_member else ""
        name = None


def _secrets(text: str, name: str) -> tuple[list[tuple[int, int, str]], int]:
    """Start, end and marker of each span to mask in a string, and the number of secrets."""
    alone = mask(text)
    if alone.spans or not name or len(text) > NAMED_CHARACTERS:
        return list(_marked(alone)), alone.count
    before = f'{name}: "'
    told = _marked(mask(f'{before}{text}"'))
    inside = [(start - len(before), end - len(before), marker) for start, end, marker in told]
    own = [one for one in inside if one[0] >= 0 and one[1] <= len(text)]
    return own, len(own)


def _marked(masked: Masked) -> Iterator[tuple[int, int, str]]:
    """Each span that was masked, with the marker that stands there now."""
    position = before = 0
    for start, end in masked.spans:
        position += start - before
        stop = masked.text.index("]", position) + 1
        yield start, end, masked.text[position:stop]
        position, before = stop, end
