"""A transcript: the messages that a model sees, and the source records that they were read from.

The source is kept whole, so that what is not edited is written back byte for byte.
"""

from dataclasses import dataclass
from typing import Literal

from reefknot.model.message import Json, Message, Place, ToolResult

__all__ = ["Edit", "FormatName", "Record", "Source", "Transcript", "value_at"]

FormatName = Literal["claude_code", "openai_chat", "anthropic", "neutral"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of a session file, or one item of a list of messages.

    `raw` are its exact bytes in a file, or None for a transcript that was given as Python values.
    `value` is the parsed form, or None where the bytes are no JSON (the record then passes through).
    """

    raw: bytes | None
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """All records in order, and the bytes before, between and after them: `len(glue) == len(records) + 1`.

    `glue[0] + records[0].raw + glue[1] + ... == the file`. For Python values `glue` is empty.
    """

    records: tuple[Record, ...]
    glue: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """`messages`: the live conversation in order, as the host would send it.

    `hidden`: results in records that are not part of it (abandoned branches, sub-agents, what stands
    before a compaction of the host), copies of live results excepted; they are never changed.
    `session` and `project` are the host's names for them, where the source has any (a session id, a folder).
    `faults`: why pairs cannot be trusted (duplicate ids, a result before its call); empty when they can.
    `notes`: what a reader should tell people (a half line at the end was left out).
    """

    format: FormatName
    messages: tuple[Message, ...]
    source: Source
    hidden: tuple[ToolResult, ...] = ()
    session: str = ""
    project: str = ""
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A new text for the string at a place, or (`key`) a new member of the object at `place.path`.

    `value` replaces whatever stands there; a string is the usual case, a mirror may be any JSON.
    With `key` set, `place.path` names an object, and the member is added as its last one (or replaced).
    """

    place: Place
    value: Json
    key: str | None = None


def value_at(source: Source, place: Place) -> Json:
    """What stands at a place, whole (`place.inner` is left out).

    A place names what stands in its record; one that does not is a fault of ours.
    """
    value = source.records[place.record].value
    for key in place.path:
        match value, key:
            case dict(), str():
                value = value[key]
            case list(), int():
                value = value[key]
            case _:
                raise AssertionError(f"{place} names what does not stand in its record")
    return value
