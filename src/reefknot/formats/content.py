"""Anthropic's content blocks, as they stand in the Messages API and in Claude Code's session lines.

Only results' texts and strings in calls' inputs get a place; all other blocks are read to be counted.
"""

from collections.abc import Iterator, Mapping

from reefknot.formats.images import anthropic_image_tokens
from reefknot.formats.json_text import compact_json
from reefknot.model.message import (
    Argument,
    Block,
    Json,
    MediaBlock,
    Path,
    Place,
    TextBlock,
    TextPart,
    ThinkingBlock,
    ToolCall,
    ToolResult,
)

__all__ = ["estimate_media", "read_call", "read_content", "read_leaves", "text_of"]

CHARACTERS_PER_TOKEN = 4  # the usual rule of thumb, for blocks that no provider publishes a rule for
DOCUMENT_TOKENS = 2_000  # a document of unknown length: one page as text and image (Anthropic, "PDF support")


def text_of(value: Json) -> str:
    """A value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def read_content(content: Json, record: int, path: Path) -> Iterator[Block]:
    """The blocks of a message's `content` (a string or a list of blocks) that stands at `path` of a record.

    A string is one text block; empty text gives none.
    """
    if isinstance(content, str):
        if content:
            yield TextBlock(text=content)
    elif isinstance(content, list):
        for index, block in enumerate(content):
            if isinstance(block, dict):
                yield _read_block(block, record, (*path, index))
            elif isinstance(block, str):
                yield TextBlock(text=block)


def _read_block(block: Mapping[str, Json], record: int, path: Path) -> Block:
    match block.get("type"):
        case "text":
            return TextBlock(text=text_of(block.get("text")))
        case "thinking":
            return ThinkingBlock(text=text_of(block.get("thinking")))
        case "redacted_thinking":
            return ThinkingBlock(text="")
        case "tool_use":
            place = Place(record=record, path=(*path, "input"))
            return read_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"), place)
        case "tool_result":
            return _read_result(block, record, path)
        case _:
            return estimate_media(block)


def read_call(id: str, tool: str, input: Json, place: Place) -> ToolCall:
    """A call whose input stands at `place` as a value (or, with `inner`, inside a string)."""
    if isinstance(input, dict):
        return ToolCall(
            id=id, tool=tool, input=input, input_text=compact_json(input), arguments=tuple(read_leaves(input, place))
        )
    return ToolCall(id=id, tool=tool, input={}, input_text=input if isinstance(input, str) else compact_json(input))


def read_leaves(value: Json, place: Place) -> Iterator[Argument]:
    """Every string in a value, in order, with its path below `place`."""
    waiting: list[tuple[Path, Json]] = [((), value)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, str):
            yield Argument(name=name, text=item, place=_below(place, name))
        elif isinstance(item, dict):
            waiting += [((*name, key), below) for key, below in reversed(item.items())]
        elif isinstance(item, list):
            waiting += [((*name, index), below) for index, below in reversed(list(enumerate(item)))]


def _below(place: Place, name: Path) -> Place:
    if place.inner is None:
        return Place(record=place.record, path=(*place.path, *name))
    return Place(record=place.record, path=place.path, inner=(*place.inner, *name))


def _read_result(block: Mapping[str, Json], record: int, path: Path) -> ToolResult:
    content = block.get("content")
    place = (*path, "content")
    parts: list[TextPart] = []
    media: list[MediaBlock] = []
    if isinstance(content, str):
        parts.append(TextPart(text=content, place=Place(record=record, path=place)))
    elif isinstance(content, list):
        for index, item in enumerate(content):
            if isinstance(item, dict) and item.get("type") == "text" and isinstance(item.get("text"), str):
                text = text_of(item["text"])
                parts.append(TextPart(text=text, place=Place(record=record, path=(*place, index, "text"))))
            elif isinstance(item, str):
                parts.append(TextPart(text=item, place=Place(record=record, path=(*place, index))))
            elif isinstance(item, dict):
                media.append(estimate_media(item))
    return ToolResult(
        call_id=text_of(block.get("tool_use_id")),
        parts=tuple(parts),
        is_error=block.get("is_error") is True,
        media=tuple(media),
    )


def estimate_media(block: Mapping[str, Json]) -> MediaBlock:
    """A block that is neither text nor call nor result.

    Images count by Anthropic's rule, packed documents as a stated default, and all others (a provider's own
    tools and their results, references to tools) by the length of their JSON.
    """
    kind = text_of(block.get("type")) or "unknown"
    source = block.get("source")
    if kind == "image":
        return MediaBlock(kind=kind, tokens=anthropic_image_tokens(source))
    if kind == "document" and isinstance(source, dict) and source.get("type") in ("base64", "url", "file"):
        return MediaBlock(kind=kind, tokens=DOCUMENT_TOKENS)
    return MediaBlock(kind=kind, tokens=len(compact_json(dict(block))) // CHARACTERS_PER_TOKEN)
