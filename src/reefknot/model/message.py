"""Messages, and the blocks, calls and results in them, as every format is read into.

All values are frozen. A `Place` says where in the source a string stands, so that a writer can change
that string and leave every other byte alone. Messages hold what a model sees; what a host keeps beside
it (mirrors, metadata) stays in the source records.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = [
    "Argument",
    "Block",
    "Json",
    "MediaBlock",
    "Message",
    "Path",
    "Place",
    "Role",
    "TextBlock",
    "TextPart",
    "ThinkingBlock",
    "ToolCall",
    "ToolResult",
]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Path: TypeAlias = tuple[str | int, ...]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a string stands: a record of the source, and the path of keys and indexes below it.

    `inner` is the path inside a string that is itself JSON text (the arguments of an OpenAI call);
    None when the string at `path` is meant as a whole.
    """

    record: int
    path: Path
    inner: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """What a user, an agent or the system wrote; never rewritten."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingBlock:
    """Reasoning that a model wrote; opaque, never rewritten. `text` is empty when it is encrypted."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaBlock:
    """An image, a document or any other block that is not text; `tokens` by the provider's published rule."""

    kind: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One string in the input of a call, at `name` (its path inside the input)."""

    name: Path
    text: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call. `input_text` is its input as compact JSON, or the raw string where that is no JSON object."""

    id: str
    tool: str
    input: Mapping[str, Json]
    input_text: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """One text of a result (a result may be a list of texts and images)."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """A result, paired with its call by id alone.

    `copies` are further results in the source with the same id and the same texts (a replayed prefix):
    what happens to this one happens to them.
    """

    call_id: str
    parts: tuple[TextPart, ...]
    is_error: bool = False
    media: tuple[MediaBlock, ...] = ()
    copies: tuple["ToolResult", ...] = ()

    @property
    def text(self) -> str:
        """The texts of all parts, a line feed between two; this is what is stored under one reference."""
        return self.parts[0].text if len(self.parts) == 1 else "\n".join(part.text for part in self.parts)


Block: TypeAlias = TextBlock | ThinkingBlock | MediaBlock | ToolCall | ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One model message: a whole streamed answer, or a whole batch of results; not a line of a file.

    `records` are the source records that it was read from, in order.
    """

    role: Role
    blocks: tuple[Block, ...]
    records: tuple[int, ...] = field(default=())

    @property
    def calls(self) -> Iterator[ToolCall]:
        return (block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> Iterator[ToolResult]:
        return (block for block in self.blocks if isinstance(block, ToolResult))

    @property
    def texts(self) -> Iterator[str]:
        return (block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def has_thinking(self) -> bool:
        return any(isinstance(block, ThinkingBlock) for block in self.blocks)

    @property
    def is_prompt(self) -> bool:
        """What a person (or the harness for them) said: a user message with text and no result."""
        return self.role == "user" and not any(True for _ in self.results)
