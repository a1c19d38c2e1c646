"""Anthropic message arrays: a list of {role, content}, or a request object {system, messages}.

The system text of an object is the first message; it stands outside the records and is never changed.
Adjacent messages of one role stay apart, as they are in the list.
"""

from collections.abc import Sequence

from reefknot.formats.content import read_content, text_of
from reefknot.formats.pairing import find_faults
from reefknot.formats.records import Items, split_items
from reefknot.model.message import Json, Message, Role
from reefknot.model.transcript import Record, Source, Transcript

__all__ = ["parse", "parse_messages", "read_items"]

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


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
    system = tuple(read_content(items.outer.get("system"), 0, ()))
    messages = [Message(role="system", blocks=system)] if system else []
    for index, record in enumerate(items.source.records):
        value = record.value
        role = _ROLES.get(text_of(value.get("role"))) if isinstance(value, dict) else None
        if role is not None and isinstance(value, dict):
            blocks = tuple(read_content(value.get("content"), index, ("content",)))
            messages.append(Message(role=role, blocks=blocks, records=(index,)))
    return Transcript(format="anthropic", messages=tuple(messages), source=items.source, faults=find_faults(messages))
