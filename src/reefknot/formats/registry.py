"""The formats that can be read, and which of them a file or a list of messages has, told by its shape.

Files are bytes here; their names and compression are dealt with before (`records.read_file`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from reefknot.errors import FormatError
from reefknot.formats import anthropic, claude_code, neutral, openai_chat
from reefknot.formats.content import text_of
from reefknot.formats.json_text import JsonError, first_item, load_value, next_item, read_key, scan_value
from reefknot.formats.records import LIST_KEYS, Items, split_items, split_lines
from reefknot.model.message import Json, Place, ToolResult
from reefknot.model.transcript import FormatName, Record, Source, Transcript

__all__ = ["FORMATS", "FormatSpec", "detect", "parse", "parse_messages"]


def _no_mirror(_transcript: Transcript, _result: ToolResult) -> Place | None:
    return None


def _no_progress(_transcript: Transcript) -> Mapping[str, Sequence[Place]]:
    return {}


def _no_reference(_result: ToolResult) -> Place | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatSpec:
    """What a format can do. Exactly one of `read_lines` (one JSON value a line) and `read_items` (one
    document) is set.

    `mirror_place`: where the host's own copy of a result stands that must be reduced with it.
    `progress_places`: by call id, where else the host kept what a tool printed while it ran; reduced with it, too.
    `reference_place`: the object to which a reduced result's reference is added under "ref".
    """

    name: FormatName
    title: str
    read_lines: Callable[[Source], Transcript] | None = None
    read_items: Callable[[Items], Transcript] | None = None
    mirror_place: Callable[[Transcript, ToolResult], Place | None] = _no_mirror
    progress_places: Callable[[Transcript], Mapping[str, Sequence[Place]]] = _no_progress
    reference_place: Callable[[ToolResult], Place | None] = _no_reference


FORMATS: dict[str, FormatSpec] = {
    "claude_code": FormatSpec(
        name="claude_code",
        title="Claude Code session lines",
        read_lines=claude_code.read_lines,
        mirror_place=claude_code.mirror_place,
        progress_places=claude_code.progress_places,
    ),
    "openai_chat": FormatSpec(name="openai_chat", title="OpenAI chat messages", read_items=openai_chat.read_items),
    "anthropic": FormatSpec(name="anthropic", title="Anthropic messages", read_items=anthropic.read_items),
    "neutral": FormatSpec(
        name="neutral",
        title="the neutral form",
        read_items=neutral.read_items,
        reference_place=neutral.reference_place,
    ),
}

_Layout: TypeAlias = Literal["lines", "document"]

_HEAD_BYTES = 8192  # enough to tell text from a binary file
_BOM = b"\xef\xbb\xbf"

_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "server_tool_use"}
)
_OPENAI_PARTS = frozenset({"image_url", "input_audio", "file", "refusal"})
_OPENAI_ROLES = frozenset({"tool", "developer", "function"})
_RESPONSES_ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "custom_tool_call"})


def detect(data: bytes) -> str:
    """The name of the format that a file has.

    Raises:
        FormatError: the file is empty, binary, cut off, or of no known format; says which, and what is nearest.

    >>> detect(b'[{"role": "user", "content": "hi"}]')
    'openai_chat'
    """
    _check_text(data)
    if _layout(data) == "lines":
        return _detect_lines(split_lines(data))
    return _detect_items(split_items(data))


def parse(data: bytes, format: str | None = None) -> Transcript:
    """Read a file's content, in the format named or in the one that its shape tells.

    Raises:
        FormatError: as `detect`, or the file does not have the format that was named.
    """
    _check_text(data)
    spec = None if format is None else _spec(format)
    is_lines = _layout(data) == "lines" if spec is None else spec.read_lines is not None
    if is_lines:
        source = split_lines(data)
        spec = spec or FORMATS[_detect_lines(source)]
        return _must(spec.read_lines)(source)
    items = split_items(data)
    spec = _named(spec, items) if spec else FORMATS[_detect_items(items)]
    transcript = _must(spec.read_items)(items)
    if items.source.records and not transcript.messages:
        raise FormatError(f"the list holds no message of {spec.title}: its items should be objects with a 'role'")
    return transcript


def parse_messages(messages: Sequence[Json], format: str | None = None) -> Transcript:
    """Read messages given as Python values; neither the list nor its items are changed or copied.

    An empty list without a format is an empty OpenAI chat.

    Raises:
        FormatError: the messages have no known format, or the format is one of files only.
    """
    items = Items(source=Source(records=tuple(Record(raw=None, value=value) for value in messages)), outer={})
    if format is None:
        spec = FORMATS[_detect_items(items) if messages else "openai_chat"]
    else:
        spec = _named(_spec(format), items)
    if spec.read_items is None:
        raise FormatError(f"{spec.title} can only be read from a file, not from a list of messages")
    return spec.read_items(items)


def _spec(name: str) -> FormatSpec:
    if name not in FORMATS:
        raise FormatError(f"there is no format {name!r}: use one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _named(spec: FormatSpec, items: Items) -> FormatSpec:
    """A format that was named, unless every sign in the items is of another one."""
    signs = {kind for record in items.source.records if (kind := _kind_of(record.value))}
    if signs and spec.name not in signs:
        raise FormatError(f"the messages are not {spec.title}: they look like {' or '.join(sorted(signs))}")
    return spec


def _must(reader: Callable[..., Transcript] | None) -> Callable[..., Transcript]:
    assert reader is not None  # each format reads either lines or items
    return reader


def _check_text(data: bytes) -> None:
    head = data[:_HEAD_BYTES]
    if not head.strip(b" \t\r\n" + _BOM) and not data.strip(b" \t\r\n" + _BOM):
        raise FormatError("the file is empty: there is no transcript in it")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("the file is UTF-16 text: save it as UTF-8")
    if b"\0" in head:
        raise FormatError("the file is binary, not JSON text")


def _layout(data: bytes) -> _Layout:
    """Whether a file is one JSON value a line, or one document."""
    text = data.removeprefix(_BOM)
    start = len(text) - len(text.lstrip(b" \t\r\n"))
    stop = text.find(b"\n", start)
    if text.startswith(b"[", start) or (stop < 0 and not text.startswith(b"{", start)):
        return "document"
    if not text.startswith(b"{", start):
        return "lines"
    try:
        sign = _sign_of_layout(text[start : stop if stop >= 0 else len(text)].decode("latin-1"))
    except JsonError:  # the object goes on in the next line, or was cut off at its front
        return "lines" if _second_is_object(text, stop) else "document"
    if sign is not None:
        return sign
    return "lines" if stop >= 0 and text[stop : stop + _HEAD_BYTES].strip() else "document"


def _sign_of_layout(line: str) -> _Layout | None:
    """What the members of a first line tell; a list of messages is not read for it."""
    position = first_item(line, 0, "}")
    while position is not None:
        key, start = read_key(line, position)
        if key in LIST_KEYS and line.startswith("[", start):
            return "document"
        value, end = scan_value(line, start)
        if key == "type" and text_of(value) in claude_code.LINE_TYPES:
            return "lines"
        position = next_item(line, end, "}")
    return None


def _second_is_object(text: bytes, stop: int) -> bool:
    if stop < 0:
        return False
    end = text.find(b"\n", stop + 1)
    return isinstance(load_value(text[stop + 1 : end if end >= 0 else len(text)]), dict)


def _detect_lines(source: Source) -> FormatName:
    values = [record.value for record in source.records if isinstance(record.value, dict)]
    if any(claude_code.looks_like(value) for value in values):
        return "claude_code"
    if not values:
        raise FormatError("the file is no JSON: not one of its lines is an object")
    kind = _line_kind(values[:50])
    raise FormatError(
        f"the lines look like {kind}; of files with one JSON value a line, only Claude Code's can be read"
    )


def _line_kind(values: Sequence[Mapping[str, Json]]) -> str:
    if any("payload" in value and "type" in value for value in values):
        return "a Codex rollout"
    if values[0].get("type") == "session":
        return "a pi session"
    if any("role" in value for value in values):
        return "chat messages without the list around them (nearest: openai_chat)"
    return f"no known format (members of the first: {', '.join(map(repr, list(values[0])[:6]))})"


def _detect_items(items: Items) -> FormatName:
    if not items.source.records:
        raise FormatError("the list of messages is empty, so its format cannot be told: name the format")
    kinds = (_kind_of(record.value) for record in items.source.records)
    found = next((kind for kind in kinds if kind is not None), None)
    match found:
        case "openai_responses":
            raise FormatError("the items look like OpenAI Responses, which is not among the formats that can be read")
        case "openai_chat" | "anthropic" | "neutral":
            return found
        case _:
            pass
    if not any(isinstance(record.value, dict) and "role" in record.value for record in items.source.records):
        raise FormatError("the document is a list, but not of messages: its items should be objects with a 'role'")
    return "anthropic" if "system" in items.outer else "openai_chat"


def _kind_of(value: Json) -> Literal["openai_chat", "anthropic", "neutral", "openai_responses"] | None:
    """The format that one item gives away; None when it could be of several."""
    if not isinstance(value, dict):
        return None
    if "role" not in value:
        return "openai_responses" if text_of(value.get("type")) in _RESPONSES_ITEMS else None
    if "content" not in value and ("text" in value or "calls" in value or "results" in value):
        return "neutral"
    if text_of(value["role"]) in _OPENAI_ROLES or "tool_calls" in value or "function_call" in value:
        return "openai_chat"
    kinds = set(_part_types(value.get("content")))
    if kinds & _ANTHROPIC_BLOCKS:
        return "anthropic"
    return "openai_chat" if kinds & _OPENAI_PARTS else None


def _part_types(content: Json) -> Iterable[str]:
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(kind := part.get("type"), str):
            yield kind
