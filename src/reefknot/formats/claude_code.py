"""Claude Code session files (JSONL): one line a block, a tree of lines, mirrors and harness records beside them.

A message here is what a model sees as one: all lines of one answer, or one batch of results. Which lines
are live is told by `claude_chain`; what is not live, and every unknown line, stays in the source untouched.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reefknot.errors import FormatError
from reefknot.formats.claude_chain import live_lines
from reefknot.formats.content import read_content, text_of
from reefknot.formats.json_text import compact_json
from reefknot.formats.pairing import find_faults
from reefknot.formats.records import line_notes, split_lines
from reefknot.model.message import Block, Json, Message, Place, Role, TextBlock, ToolCall, ToolResult
from reefknot.model.transcript import Source, Transcript

__all__ = ["LINE_TYPES", "looks_like", "mirror_place", "parse", "progress_places", "read_lines"]

LINE_TYPES = frozenset(
    {
        *("user", "assistant", "system", "progress", "attachment", "summary", "file-history-snapshot"),
        *("queue-operation", "custom-title", "ai-title", "agent-name", "last-prompt", "permission-mode", "pr-link"),
    }
)

# Attachments that the host renders into the request: kind -> the members that hold the text. Others are not sent.
_SEEN_ATTACHMENTS: Mapping[str, tuple[str, ...]] = {
    "queued_command": ("prompt",),
    "edited_text_file": ("filename", "snippet"),
    "hook_additional_context": ("content",),
    "hook_blocking_error": ("blockingError",),
    "nested_memory": ("content",),
    "skill_listing": ("content",),
    "deferred_tools_delta": ("addedLines", "addedNames"),
    "mcp_instructions_delta": ("addedBlocks",),
    "todo_reminder": ("content",),
    "task_reminder": ("content",),
    "plan_file_reference": ("planContent",),
    "invoked_skills": ("skills",),
    "file": ("filename", "content"),
    "compact_file_reference": ("filename",),
    "selected_lines_in_ide": ("filename", "content"),
}

_MESSAGE = ("message", "content")

Line = Mapping[str, Json]


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A message that more lines may still be added to."""

    role: Role
    answer: str = ""  # message id of an assistant's answer
    blocks: list[Block] = field(default_factory=list[Block])
    records: list[int] = field(default_factory=list[int])


@dataclass(slots=True, kw_only=True)
class _Seen:
    """What the live conversation holds already, to know a replayed line by."""

    lines: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    calls: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    replays: list[tuple[int, ToolResult]] = field(default_factory=list[tuple[int, ToolResult]])  # with their record


def looks_like(value: Json) -> bool:
    """Whether a value has the shape of one of the host's lines."""
    return (
        isinstance(value, dict)
        and text_of(value.get("type")) in LINE_TYPES
        and any(key in value for key in ("uuid", "sessionId", "message", "leafUuid", "messageId"))
    )


def parse(data: bytes) -> Transcript:
    """Read a session file.

    Raises:
        FormatError: no line of the file is one of the host's.
    """
    return read_lines(split_lines(data))


def read_lines(source: Source) -> Transcript:
    """Read a session from its lines.

    Raises:
        FormatError: none of the lines is one of the host's.
    """
    lines = {index: record.value for index, record in enumerate(source.records) if isinstance(record.value, dict)}
    if not any(looks_like(line) for line in lines.values()):
        raise FormatError("no line is one of a Claude Code session: each should be a JSON object with a known 'type'")
    order = live_lines(lines)
    seen = _Seen()
    drafts = _drafts(lines, order, seen)
    copies, hidden = _sort_out([*seen.replays, *_results_off(lines, set(order))], seen.results)
    messages = tuple(_finish(draft, copies) for draft in drafts)
    return Transcript(
        format="claude_code",
        messages=messages,
        source=source,
        hidden=tuple(hidden),
        session=_last_text(lines, order, "sessionId"),
        project=_last_text(lines, order, "cwd"),
        faults=find_faults(messages),
        notes=line_notes(source),
    )


def mirror_place(transcript: Transcript, result: ToolResult) -> Place | None:
    """Where the host's structured copy of a result (or of one of its copies) stands, if the record has one."""
    if not result.parts:
        return None
    record = result.parts[0].place.record
    value = transcript.source.records[record].value
    if isinstance(value, dict) and "toolUseResult" in value:
        return Place(record=record, path=("toolUseResult",))
    return None


def progress_places(transcript: Transcript) -> dict[str, list[Place]]:
    """By call id, where lines stand that hold what a command had printed up to then."""
    places: dict[str, list[Place]] = {}
    for record, source in enumerate(transcript.source.records):
        line = source.value
        if isinstance(line, dict) and line.get("type") == "progress" and isinstance(data := line.get("data"), dict):
            call = text_of(line.get("parentToolUseID"))
            if call and data.get("type") == "bash_progress":
                places.setdefault(call, []).append(Place(record=record, path=("data",)))
    return places


def _last_text(lines: Mapping[int, Line], order: Sequence[int], key: str) -> str:
    return next((text for index in reversed(order) if (text := text_of(lines[index].get(key)))), "")


def _content(line: Line) -> Json:
    message = line.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _drafts(lines: Mapping[int, Line], order: Sequence[int], seen: _Seen) -> list[_Draft]:
    """The messages of the conversation. One answer may go on after results of its first calls came in."""
    drafts: list[_Draft] = []
    answer: _Draft | None = None
    batch: _Draft | None = None
    for index in order:
        line = lines[index]
        blocks = _fresh_blocks(line, index, seen)
        if not blocks:
            continue
        if line["type"] == "assistant":
            id_ = _answer_id(line)
            if answer is None or not id_ or answer.answer != id_:
                answer, batch = _Draft(role="assistant", answer=id_), None
                drafts.append(answer)
            target = answer
        elif all(isinstance(block, ToolResult) for block in blocks):
            if batch is None:
                batch = _Draft(role="user")
                drafts.append(batch)
            target = batch
        elif _is_reminder(line) and drafts and drafts[-1].role == "user":
            target = drafts[-1]
        else:
            answer = batch = None
            target = _Draft(role="user")
            drafts.append(target)
        target.blocks += blocks
        target.records.append(index)
    return drafts


def _answer_id(line: Line) -> str:
    message = line.get("message")
    return text_of(message.get("id")) if isinstance(message, dict) else ""


def _is_reminder(line: Line) -> bool:
    attachment = line.get("attachment")
    return isinstance(attachment, dict) and attachment.get("type") != "queued_command"


def _fresh_blocks(line: Line, index: int, seen: _Seen) -> list[Block]:
    """What a line adds to the conversation: nothing when it is a replay of a line that stands in it already."""
    match line["type"]:
        case "assistant" | "user":
            blocks = list(read_content(_content(line), index, _MESSAGE))
        case "attachment":
            blocks = list(_read_attachment(line))
        case _:
            return []
    return [] if _is_replay(line, blocks, seen) else [block for block in blocks if _is_fresh(block, index, seen)]


def _is_replay(line: Line, blocks: Sequence[Block], seen: _Seen) -> bool:
    """Whether texts of the same answer, or the same words of a user at the same time, were there before."""
    if any(isinstance(block, (ToolCall, ToolResult)) for block in blocks):
        return False
    stamp = _answer_id(line) or text_of(line.get("timestamp"))
    if not stamp or not blocks:
        return False
    key = (str(line["type"]), stamp, *(_identity(block) for block in _blocks_of(line)))
    if key in seen.lines:
        return True
    seen.lines.add(key)
    return False


def _blocks_of(line: Line) -> Iterator[Json]:
    content = _content(line) if line["type"] != "attachment" else line.get("attachment")
    yield from content if isinstance(content, list) else (content,)


def _identity(block: Json) -> str:
    if isinstance(block, dict):
        known = (block.get(key) for key in ("text", "thinking", "signature", "data"))
        return "\0".join(text for text in known if isinstance(text, str)) or compact_json(block)
    return block if isinstance(block, str) else compact_json(block)


def _is_fresh(block: Block, index: int, seen: _Seen) -> bool:
    match block:
        case ToolCall(id=id_, tool=tool, input_text=text):
            key = (id_, tool, text)
            is_fresh = key not in seen.calls
            seen.calls.add(key)
            return is_fresh
        case ToolResult(call_id=id_):
            first = seen.results.setdefault(id_, block)
            is_fresh = first is block or not _is_copy(first, block)
            if not is_fresh:
                seen.replays.append((index, block))
            return is_fresh
        case _:
            return True


def _is_copy(result: ToolResult, other: ToolResult) -> bool:
    return [part.text for part in result.parts] == [part.text for part in other.parts]


def _read_attachment(line: Line) -> Iterator[Block]:
    attachment = line.get("attachment")
    if not isinstance(attachment, dict):
        return
    for key in _SEEN_ATTACHMENTS.get(text_of(attachment.get("type")), ()):
        value = attachment.get(key)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = "\n".join(text_of(item) for item in value)
        if value:
            yield TextBlock(text=value if isinstance(value, str) else compact_json(value))


def _results_off(lines: Mapping[int, Line], order: set[int]) -> Iterator[tuple[int, ToolResult]]:
    for index, line in lines.items():
        if line.get("type") == "user" and index not in order:
            for block in read_content(_content(line), index, _MESSAGE):
                if isinstance(block, ToolResult):
                    yield index, block


def _sort_out(
    others: Iterable[tuple[int, ToolResult]], live: Mapping[str, ToolResult]
) -> tuple[dict[str, list[ToolResult]], list[ToolResult]]:
    """Results beside the live ones, in file order: the copies of live ones by call id, and all others."""
    copies: dict[str, list[ToolResult]] = {}
    hidden: list[ToolResult] = []
    for _, result in sorted(others, key=lambda other: other[0]):
        first = live.get(result.call_id)
        if first is not None and _is_copy(first, result):
            copies.setdefault(result.call_id, []).append(result)
        else:
            hidden.append(result)
    return copies, hidden


def _finish(draft: _Draft, copies: Mapping[str, Sequence[ToolResult]]) -> Message:
    blocks = tuple(
        replace(block, copies=tuple(copies[block.call_id]))
        if isinstance(block, ToolResult) and block.call_id in copies
        else block
        for block in draft.blocks
    )
    return Message(role=draft.role, blocks=blocks, records=tuple(draft.records))
