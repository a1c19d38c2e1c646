"""Finds secrets in texts and masks them, before anything is stored or sent.

Each becomes `[REDACTED:<family>]`. Lines stay lines: a masked text has the line numbers of its original, and a
private key is masked line by line. Masking twice changes nothing more. What is found: secrets with a shape of
their own (`secret_values`), private key blocks (`secret_keys`), values behind the name of a secret
(`secret_names`), and in headers and commands (`secret_headers`). Time grows linearly with the text, whatever
stands in it.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from reefknot.text.secret_headers import find_in_commands, find_in_headers
from reefknot.text.secret_keys import find_private_keys
from reefknot.text.secret_names import find_named
from reefknot.text.secret_values import Found, find_values

__all__ = ["Masked", "MaskedBytes", "mask", "mask_bytes"]


_LINE_END = re.compile(rb"[\r\n\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
_MARKER = re.compile(rb"\[REDACTED:[a-z-]{1,32}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A text without its secrets, and where they stood."""

    text: str
    count: int = 0  # secrets; a private key of many lines is one
    families: Mapping[str, int] = field(default_factory=dict[str, int])  # family -> secrets
    spans: tuple[tuple[int, int], ...] = ()  # in characters of the text that was given, in order, apart


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedBytes:
    """Bytes without their secrets, and where they stood."""

    data: bytes
    count: int = 0
    families: Mapping[str, int] = field(default_factory=dict[str, int])
    spans: tuple[tuple[int, int], ...] = ()  # in bytes of the data that were given, in order, apart


def mask(text: str) -> Masked:
    """The text with every secret replaced by `[REDACTED:<family>]`.

    `mask(mask(x).text).text == mask(x).text`; the number of lines stays; a text without secrets comes back as the
    same object. Lone surrogates are kept.

    >>> masked = mask("user=ada password=" + "tr0ub4dor&3 ok")
    >>> masked.text, masked.count, dict(masked.families), masked.spans
    ('user=ada password=[REDACTED:password]&3 ok', 1, {'password': 1}, ((18, 27),))
    """
    masked = mask_bytes(text.encode("utf-8", "surrogatepass"))
    if not masked.spans:
        return Masked(text=text)
    spans = masked.spans if text.isascii() else _in_characters(text, masked.spans)
    return Masked(
        text=masked.data.decode("utf-8", "surrogatepass"), count=masked.count, families=masked.families, spans=spans
    )


def mask_bytes(data: bytes) -> MaskedBytes:
    """The same for bytes of any kind; those that are no text stay as they are.

    >>> mask_bytes(b"\\xff no secret here").data
    b'\\xff no secret here'
    """
    found: list[Found] = []
    current = data
    while more := _join(_find(current)):
        found = _join([*found, *_in_original(more, found)])
        current = _rebuild(data, found)
    if not found:
        return MaskedBytes(data=data)
    families = Counter(one.family for one in found if one.first)
    spans = tuple((one.start, one.end) for one in found)
    return MaskedBytes(data=current, count=families.total(), families=dict(families), spans=spans)


def _find(data: bytes) -> Iterable[Found]:
    """What is to be masked in `data`; nothing that only a marker gave rise to."""
    low = data.lower()
    found = [
        *find_values(data),
        *find_private_keys(data),
        *find_named(data, low),
        *find_in_headers(data, low),
        *find_in_commands(data),
    ]
    markers = [match.span() for match in _MARKER.finditer(data)] if found else []
    starts = [start for start, _ in markers]

    def inside(place: int, *, at_end: bool) -> bool:
        index = (bisect_left if at_end else bisect_right)(starts, place) - 1
        return index >= 0 and place < markers[index][1] + at_end

    pieces = [piece for one in found for piece in _by_line(one, data)]
    return [one for one in pieces if not (inside(one.start, at_end=False) or inside(one.end, at_end=True))]


def _by_line(one: Found, data: bytes) -> Iterable[Found]:
    """A stretch in pieces that end where any reader may see the end of a line."""
    start, first = one.start, one.first
    for line_end in [*_LINE_END.finditer(data, one.start, one.end), None]:
        end = line_end.start() if line_end else one.end
        if end > start:
            yield replace(one, start=start, end=end, first=first)
            first = False
        start = line_end.end() if line_end else end


def _marker(one: Found) -> bytes:
    return b"[REDACTED:%s]" % one.family.encode()


def _join(found: Iterable[Found]) -> list[Found]:
    """In order, apart: what overlaps becomes one, under the name of what starts first and is longest."""
    joined: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        last = joined[-1] if joined else None
        if last is None or one.start >= last.end:
            joined.append(one)
        elif one.end > last.end:
            joined[-1] = replace(last, end=one.end)
    return joined


def _rebuild(data: bytes, found: Iterable[Found]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for one in found:
        parts += (data[at : one.start], _marker(one))
        at = one.end
    return b"".join([*parts, data[at:]])


def _in_original(more: Iterable[Found], found: list[Found]) -> Iterable[Found]:
    """What was found in a masked copy, in places of the original; a marker that is touched is taken whole."""
    if not found:
        return more
    starts: list[int] = []  # of the markers, in the copy
    grown = 0
    for one in found:
        starts.append(one.start + grown)
        grown += len(_marker(one)) - (one.end - one.start)

    def place(at: int, index: int, *, at_end: bool) -> int:
        if index < 0:
            return at
        one = found[index]
        beyond = at - starts[index] - len(_marker(one))
        if beyond < 0:
            return one.end if at_end else one.start
        return one.end + beyond

    return [
        replace(
            one,
            start=place(one.start, bisect_right(starts, one.start) - 1, at_end=False),
            end=place(one.end, bisect_left(starts, one.end) - 1, at_end=True),
        )
        for one in more
    ]


def _in_characters(text: str, spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Spans in bytes as spans in characters."""
    data = text.encode("utf-8", "surrogatepass")
    places: list[int] = []
    at, characters = 0, 0
    for place in (place for span in spans for place in span):
        characters += len(data[at:place].decode("utf-8", "surrogatepass"))
        places.append(characters)
        at = place
    return tuple(zip(places[::2], places[1::2], strict=True))
