"""OpenAI chat messages: a list of {role, content, tool_calls?}, or an object that holds one.

All tool messages in a row are one message here. Arguments are JSON inside a string: their strings get places
with an `inner` path; arguments that are no JSON object stay a raw string. Flat calls ({id, name, arguments})
and tool messages that are named by `id`, as simulators write them, are read too.
"""

from collections.abc import Iterator, Mapping, Sequence

from reefknot.formats.content import estimate_media, read_call, text_of
from reefknot.formats.images import openai_image_tokens
from reefknot.formats.json_text import compact_json, load_value
from reefknot.formats.pairing import find_faults
from reefknot.formats.records import Items, split_items
from reefknot.model.encoding import to_bytes
from reefknot.model.message import (
    Block,
    Json,
    MediaBlock,
    Message,
    Path,
    Place,
    Role,
    TextBlock,
    TextPart,
    ThinkingBlock,
    ToolCall,
    ToolResult,
)
from reefknot.model.transcript import Record, Source, Transcript

__all__ = ["parse", "parse_messages", "read_items"]

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

_REASONING = ("reasoning_content", "reasoning")  # members in which servers return a model's thoughts


def parse(data: bytes) -> Transcript:
    """Read a document.

    Raises:
        FormatError: it is cut off, no JSON, or holds no list of messages.
    """
    return read_items(split_items(data))


def parse_messages(messages: Sequence[Json]) -> Transcript:
    """Read a list of messages given as Python values; the list is not changed."""
    records = tuple(Record(raw=None, value=value) for value in messages)
    return read_items(Items(source=Source(records=records), outer={}))


def read_items(items: Items) -> Transcript:
    """Read messages from the items of a document; an item that is no message is left out and kept."""
    messages: list[Message] = []
    for index, record in enumerate(items.source.records):
        message = _read_message(record.value, index)
        if message is None:
            continue
        last = messages[-1] if messages else None
        if last is not None and message.role == "tool" == last.role:
            messages[-1] = Message(
                role="tool", blocks=last.blocks + message.blocks, records=last.records + message.records
            )
        else:
            messages.append(message)
    return Transcript(
        format="openai_chat",
        messages=tuple(messages),
        source=items.source,
        session=text_of(items.outer.get("session_id")),
        faults=find_faults(messages),
    )


def _read_message(value: Json, index: int) -> Message | None:
    role = _ROLES.get(text_of(value.get("role"))) if isinstance(value, dict) else None
    if role is None or not isinstance(value, dict):
        return None
    blocks = _read_tool(value, index) if role == "tool" else _read_spoken(value, index)
    return Message(role=role, blocks=tuple(blocks), records=(index,))


def _read_spoken(message: Mapping[str, Json], index: int) -> Iterator[Block]:
    thought = next((text for key in _REASONING if (text := text_of(message.get(key)))), "")
    if thought:
        yield ThinkingBlock(text=thought)
    content = message.get("content")
    if isinstance(content, str):
        if content:
            yield TextBlock(text=content)
    elif isinstance(content, list):
        yield from (_read_part(part) for part in content if isinstance(part, dict))
    if refusal := text_of(message.get("refusal")):
        yield TextBlock(text=refusal)
    if isinstance(message.get("function_call"), dict):
        yield TextBlock(text=compact_json(message["function_call"]))
    calls = message.get("tool_calls")
    for position, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            yield _read_call(call, index, ("tool_calls", position))


def _read_part(part: Mapping[str, Json]) -> Block:
    match part.get("type"):
        case "text" | "refusal" | "input_text" | "output_text":
            return TextBlock(text=text_of(part.get("text")) or text_of(part.get("refusal")))
        case "image_url":
            return MediaBlock(kind="image_url", tokens=openai_image_tokens(part.get("image_url")))
        case _:
            return estimate_media(part)


def _read_call(call: Mapping[str, Json], index: int, path: Path) -> ToolCall:
    id_ = text_of(call.get("id"))
    if isinstance(custom := call.get("custom"), dict):  # a tool that takes free text
        return read_call(id_, text_of(custom.get("name")), custom.get("input"), Place(record=index, path=path))
    nested = call.get("function")
    function, path = (nested, (*path, "function")) if isinstance(nested, dict) else (call, path)
    tool, arguments, place = text_of(function.get("name")), function.get("arguments"), (*path, "arguments")
    if isinstance(arguments, str):
        parsed = load_value(to_bytes(arguments))
        if isinstance(parsed, dict):
            return read_call(id_, tool, parsed, Place(record=index, path=place, inner=()))
    return read_call(id_, tool, arguments, Place(record=index, path=place))


def _read_tool(message: Mapping[str, Json], index: int) -> Iterator[Block]:
    id_ = text_of(message.get("tool_call_id")) or text_of(message.get("id"))
    content = message.get("content")
    if message.get("role") == "function" and not id_:  # the old interface pairs by order: it is only counted
        yield TextBlock(text=text_of(content))
        return
    parts: list[TextPart] = []
    media: list[MediaBlock] = []
    if isinstance(content, str):
        parts.append(TextPart(text=content, place=Place(record=index, path=("content",))))
    elif isinstance(content, list):
        for position, part in enumerate(content):
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                place = Place(record=index, path=("content", position, "text"))
                parts.append(TextPart(text=text_of(part["text"]), place=place))
            elif isinstance(part, dict) and isinstance(block := _read_part(part), MediaBlock):
                media.append(block)
    is_error = message.get("error") is True or message.get("is_error") is True
    yield ToolResult(call_id=id_, parts=tuple(parts), media=tuple(media), is_error=is_error)
