"""The neutral form: {"id", "source", "format", "messages": [...]}, or the list of messages alone.

A message is {"role", "text", "calls": [{"id", "tool", "input"}], "results": [{"id", "text", "is_error"}]};
"thinking" and "kind" may stand beside them. A reduced result carries its reference under "ref".
"""

from collections.abc import Iterator, Mapping, Sequence

from reefknot.formats.content import read_call, text_of
from reefknot.formats.pairing import find_faults
from reefknot.formats.records import Items, split_items
from reefknot.model.message import Block, Json, Message, Place, Role, TextBlock, TextPart, ThinkingBlock, ToolResult
from reefknot.model.transcript import Record, Source, Transcript

__all__ = ["parse", "parse_messages", "read_items", "reference_place"]

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


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
        value = record.value
        role = _ROLES.get(text_of(value.get("role"))) if isinstance(value, dict) else None
        if role is not None and isinstance(value, dict):
            messages.append(Message(role=role, blocks=tuple(_read_blocks(value, index)), records=(index,)))
    return Transcript(
        format="neutral",
        messages=tuple(messages),
        source=items.source,
        session=text_of(items.outer.get("id")),
        project=text_of(items.outer.get("source")),
        faults=find_faults(messages),
    )


def reference_place(result: ToolResult) -> Place | None:
    """The object of a result, where its reference is written under "ref"."""
    if not result.parts:
        return None
    place = result.parts[0].place
    return Place(record=place.record, path=place.path[:-1])


def _read_blocks(message: Mapping[str, Json], index: int) -> Iterator[Block]:
    """Results stand before text, as providers want them; thoughts before all that an agent says."""
    if thought := text_of(message.get("thinking")):
        yield ThinkingBlock(text=thought)
    for position, result in _objects(message.get("results")):
        text, place = result.get("text"), Place(record=index, path=("results", position, "text"))
        parts = (TextPart(text=text, place=place),) if isinstance(text, str) else ()
        yield ToolResult(call_id=text_of(result.get("id")), parts=parts, is_error=result.get("is_error") is True)
    if text := text_of(message.get("text")):
        yield TextBlock(text=text)
    for position, call in _objects(message.get("calls")):
        place = Place(record=index, path=("calls", position, "input"))
        yield read_call(text_of(call.get("id")), text_of(call.get("tool")), call.get("input"), place)


def _objects(value: Json) -> Iterator[tuple[int, Mapping[str, Json]]]:
    for position, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield position, item
