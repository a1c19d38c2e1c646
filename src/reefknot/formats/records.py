"""Files cut into records and joined again, byte for byte: the layer below all formats.

Nothing here knows what a message is. The one invariant: `join(source)` gives the bytes that were read.
"""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import cast

from reefknot.errors import FormatError
from reefknot.formats.json_text import (
    JsonError,
    first_item,
    items,
    limit_depth,
    load_value,
    next_item,
    read_key,
    scan_value,
    skip_space,
)
from reefknot.formats.splice import Piece, Spliced, edit_value, restore_pieces, splice
from reefknot.model import zstd
from reefknot.model.message import Json
from reefknot.model.transcript import Edit, Record, Source, Transcript

__all__ = [
    "LIST_KEYS",
    "Change",
    "Items",
    "Piece",
    "Rendered",
    "Spliced",
    "join",
    "line_notes",
    "read_file",
    "render",
    "render_values",
    "replace_records",
    "restore_pieces",
    "splice",
    "split_items",
    "split_lines",
    "unpack",
]

LIST_KEYS = ("messages", "traj")  # members under which documents keep their list of messages

MAX_NOTES = 5  # lines that are named one by one

_BOM = b"\xef\xbb\xbf"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A document cut into the items of its list. `outer` are the other members of the object that holds it."""

    source: Source
    outer: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A changed record: its index, its new bytes, and the pieces that undo it."""

    record: int
    raw: bytes
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A file with edits in it, and every record that they changed, in order."""

    data: bytes
    changes: tuple[Change, ...]


def read_file(path: FilePath | str) -> bytes:
    """The content of a file; gzip and zstd are recognised by their first bytes and unpacked.

    Raises:
        FormatError: a packed file is cut off or damaged.
        OSError: the file cannot be read.
    """
    return unpack(FilePath(path).read_bytes())


def unpack(data: bytes) -> bytes:
    """What bytes hold: the content of a gzip or zstd archive, which its first bytes tell, or themselves.

    Raises:
        FormatError: the archive is cut off or damaged.
    """
    if data.startswith(_GZIP):
        return _unpack_gzip(data)
    if data.startswith(_ZSTD):
        return _unpack_zstd(data)
    return data


def _unpack_gzip(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        raise FormatError("the gzip archive is cut off before its end: fetch the whole file") from None
    except (OSError, zlib.error) as error:
        raise FormatError(f"the gzip archive is damaged ({error}): fetch the file again") from None


def _unpack_zstd(data: bytes) -> bytes:
    parts: list[bytes] = []
    while data:
        frame = zstd.ZstdDecompressor()
        try:
            parts.append(frame.decompress(data))
        except zstd.ZstdError as error:
            raise FormatError(f"the zstd archive is damaged ({error}): fetch the file again") from None
        if not frame.eof:
            raise FormatError("the zstd archive is cut off before its end: fetch the whole file")
        data = frame.unused_data
    return b"".join(parts)


def split_lines(data: bytes) -> Source:
    """Cut a file of one JSON value a line. Blank lines and line ends are glue.

    A line that is no JSON is a record whose value is None.

    >>> source = split_lines(b'{"a":1}\\r\\n\\n// note\\n')
    >>> source.glue, [record.value for record in source.records]
    ((b'', b'\\r\\n\\n', b'\\n'), [{'a': 1}, None])
    """
    records: list[Record] = []
    glue: list[bytes] = []
    gap = _BOM if data.startswith(_BOM) else b""
    position, end = len(gap), len(data)
    while position < end:
        stop = data.find(b"\n", position)
        stop = end if stop < 0 else stop
        cut = stop - 1 if stop > position and data[stop - 1] == 13 and stop < end else stop
        raw = data[position:cut]
        if raw.strip(b" \t\r"):
            glue.append(gap)
            records.append(Record(raw=raw, value=load_value(raw)))
            gap = data[cut : stop + 1]
        else:
            gap += data[position : stop + 1]
        position = stop + 1
    return Source(records=tuple(records), glue=(*glue, gap))


def line_notes(source: Source) -> tuple[str, ...]:
    """What a reader of `split_lines` should tell: lines that are no JSON, a last line that is not whole."""
    notes: list[str] = []
    line, unread = 1, 0
    for index, record in enumerate(source.records):
        line += source.glue[index].count(b"\n")
        raw = record.raw or b""
        if record.value is not None or raw.lstrip().startswith(b"//"):
            continue
        if index + 1 == len(source.records) and b"\n" not in source.glue[-1]:
            notes.append(f"line {line}, the last one, is not whole (still being written?): it is passed through")
        elif (unread := unread + 1) <= MAX_NOTES:
            notes.append(f"line {line} is no JSON that can be read: it is passed through")
    if unread > MAX_NOTES:
        notes.append(f"{unread - MAX_NOTES:,} further lines are no JSON that can be read: they are passed through")
    return tuple(notes)


def split_items(data: bytes, keys: Sequence[str] = LIST_KEYS) -> Items:
    """Cut a document that is a list, or an object that holds one under one of `keys` (the first that is there).

    An item that is nested too deeply has the value None.

    Raises:
        FormatError: the document is cut off or no JSON (with the byte), or holds no such list.

    >>> split_items(b'{"messages": [1, {"a": 2}]}').source.glue
    (b'{"messages": [', b', ', b']}')
    """
    offset = len(_BOM) if data.startswith(_BOM) else 0
    try:
        found = _scan_document(data[offset:].decode("latin-1"), keys)  # one character is one byte
    except JsonError as error:
        raise _document_error(error, offset) from None
    records: list[Record] = []
    glue: list[bytes] = []
    position = 0
    for span in found.spans:
        raw = data[span.start + offset : span.end + offset]
        glue.append(data[position : span.start + offset])
        value = load_value(raw) if span.value is _MISREAD else limit_depth(raw, cast("Json", span.value))
        records.append(Record(raw=raw, value=value))
        position = span.end + offset
    return Items(source=Source(records=tuple(records), glue=(*glue, data[position:])), outer=found.outer)


_MISREAD = object()  # stands for a value with bytes beyond ASCII in it: the scan took each for a character


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    spans: Sequence[_Span]
    outer: Mapping[str, Json]


def _scan_document(text: str, keys: Sequence[str]) -> _Document:
    start = skip_space(text, 0)
    if text.startswith("[", start):
        spans, end = _scan_list(text, start)
        _expect_end(text, end)
        return _Document(spans=spans, outer={})
    if not text.startswith("{", start):
        raise FormatError("the document is neither a list of messages nor an object that holds one")
    lists: dict[str, Sequence[_Span]] = {}
    outer: dict[str, Json] = {}
    position, end = first_item(text, start, "}"), start + 1
    while position is not None:
        key, value_start = read_key(text, position)
        if key in keys and text.startswith("[", value_start):
            lists[key], end = _scan_list(text, value_start)
        else:
            _, end = scan_value(text, value_start)
            outer[key] = load_value(text[value_start:end].encode("latin-1"))
            lists.pop(key, None)
        position = next_item(text, end, "}")
    _expect_end(text, skip_space(text, end) + 1)
    chosen = next((key for key in keys if key in lists), None)
    if chosen is None:
        held = ", ".join(map(repr, list(outer)[:6])) or "nothing"
        raise FormatError(
            f"the document is an object without a list under {' or '.join(map(repr, keys))} (it holds {held})"
        )
    return _Document(spans=lists[chosen], outer={key: value for key, value in outer.items() if key != chosen})


def _scan_list(text: str, start: int) -> tuple[list[_Span], int]:
    """The items of the list at `start`, and the position behind its closing bracket."""
    is_plain = text.isascii()
    spans: list[_Span] = []
    end = start + 1
    for item in items(text, start):
        end = item.value_end
        spans.append(_Span(item.value_start, end, item.value if is_plain else _MISREAD))
    return spans, skip_space(text, end) + 1


def _expect_end(text: str, position: int) -> None:
    end = skip_space(text, position)
    if end != len(text):
        raise JsonError(end, cut=False)


def _document_error(error: JsonError, offset: int) -> FormatError:
    at = error.position + offset
    if error.cut:
        return FormatError(f"the JSON is cut off: what begins at or before byte {at} has no end; the file is not whole")
    return FormatError(f"the file is no JSON from byte {at} on")


def join(source: Source) -> bytes:
    """The bytes of a source that was read from bytes."""
    return replace_records(source, {})


def replace_records(source: Source, changed: Mapping[int, bytes]) -> bytes:
    """The bytes of a source with some records' bytes in the place of theirs.

    >>> replace_records(split_lines(b"1\\n2\\n"), {1: b"3"})
    b'1\\n3\\n'
    """
    if len(source.glue) != len(source.records) + 1:
        raise FormatError("a transcript that was given as values has no bytes: it can only be rendered as values")
    parts: list[bytes] = []
    for index, record in enumerate(source.records):
        parts.append(source.glue[index])
        parts.append(changed.get(index, record.raw or b""))
    return b"".join([*parts, source.glue[-1]])


def _by_record(edits: Sequence[Edit]) -> dict[int, list[Edit]]:
    grouped: dict[int, list[Edit]] = {}
    for edit in edits:
        grouped.setdefault(edit.place.record, []).append(edit)
    return dict(sorted(grouped.items()))


def render(transcript: Transcript, edits: Sequence[Edit]) -> Rendered:
    """The file of a transcript with edits in it; records without an edit keep their bytes.

    Raises:
        FormatError: the transcript was given as values, or a place is not in its record.
    """
    changes: list[Change] = []
    for index, own in _by_record(edits).items():
        record = transcript.source.records[index]
        if record.raw is None or record.value is None:
            raise FormatError(f"record {index} cannot be changed: it has no bytes or is no JSON")
        spliced = splice(record.raw, own)
        changes.append(Change(record=index, raw=spliced.raw, pieces=spliced.pieces))
    data = replace_records(transcript.source, {change.record: change.raw for change in changes})
    return Rendered(data=data, changes=tuple(changes))


def render_values(transcript: Transcript, edits: Sequence[Edit]) -> list[Json]:
    """The records' values with edits in them: a new list; changed items are copied along the changed path.

    Raises:
        FormatError: a place is not in its record.
    """
    values = [record.value for record in transcript.source.records]
    for index, own in _by_record(edits).items():
        values[index] = edit_value(values[index], own)
    return values
