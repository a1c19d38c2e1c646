"""The pairing rules of two providers, as a checker: what their servers refuse with a 400 error.

`anthropic_faults` and `openai_faults` read plain JSON messages and say in words what is wrong; an empty list is a
request that is accepted. `as_requests` turns a transcript of any format into the messages that a host would send.
Written from the providers' rules, and independent of what is tested with it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reefknot.model.message import MediaBlock, Message, TextBlock, ThinkingBlock, ToolCall, ToolResult
from reefknot.model.transcript import Transcript

__all__ = ["anthropic_faults", "as_requests", "openai_faults", "provider_faults"]

_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")

Block = Mapping[str, Any]


def anthropic_faults(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the Messages API would refuse: `messages` are {role, content}, adjacent ones of a role are taken as one."""
    return list(dict.fromkeys(_anthropic(_merged(messages))))


def openai_faults(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the chat completions API would refuse."""
    return list(dict.fromkeys(_openai(messages)))


def provider_faults(transcript: Transcript) -> list[str]:
    """All faults of a transcript as either provider sees it."""
    anthropic, openai = as_requests(transcript)
    return [*anthropic_faults(anthropic), *openai_faults(openai)]


def _merged(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Block]]]:
    merged: list[tuple[str, list[Block]]] = []
    for message in messages:
        if message["role"] not in ("user", "assistant"):
            continue
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        if merged and merged[-1][0] == message["role"]:
            merged[-1][1].extend(blocks)
        else:
            merged.append((message["role"], blocks))
    return merged


def _ids(blocks: Sequence[Block], kind: str, key: str) -> list[str]:
    return [block[key] for block in blocks if block["type"] == kind]


def _anthropic(merged: Sequence[tuple[str, list[Block]]]) -> Iterator[str]:
    seen: set[str] = set()
    for index, (role, blocks) in enumerate(merged):
        calls = _ids(blocks, "tool_use", "id") if role == "assistant" else []
        results = _ids(blocks, "tool_result", "tool_use_id") if role == "user" else []
        for id_ in calls:
            if id_ in seen:
                yield f"messages.{index}: `tool_use` ids must be unique: {id_}"
            if not _TOOL_ID.match(id_):
                yield f"messages.{index}: the id {id_!r} does not match ^[a-zA-Z0-9_-]+$"
            seen.add(id_)
        following = merged[index + 1][1] if index + 1 < len(merged) else None
        if following is not None:  # the newest calls may be unanswered as yet
            answered = set(_ids(following, "tool_result", "tool_use_id"))
            if open_ids := [id_ for id_ in calls if id_ not in answered]:
                yield f"messages.{index}: `tool_use` ids without `tool_result` immediately after: {', '.join(open_ids)}"
        asked = _ids(merged[index - 1][1], "tool_use", "id") if index else []
        for id_ in results:
            if id_ not in asked:
                yield f"messages.{index}: unexpected `tool_use_id` in `tool_result`: {id_}"
        if len(results) != len(set(results)):
            yield f"messages.{index}: two `tool_result` blocks for one `tool_use`"
        yield from _order_and_texts(index, blocks)
    last = merged[-1] if merged else None
    if last is not None and last[0] == "assistant" and last[1] and last[1][-1]["type"] == "text":
        text = last[1][-1]["text"]
        if text != text.rstrip():
            yield "the last assistant message ends in white space"


def _order_and_texts(index: int, blocks: Sequence[Block]) -> Iterator[str]:
    kinds = [block["type"] for block in blocks]
    if "tool_result" in kinds:
        last = len(kinds) - 1 - kinds[::-1].index("tool_result")
        if "text" in kinds[:last]:
            yield f"messages.{index}: text stands before a `tool_result`"
    for block in blocks:
        if block["type"] == "text" and not block["text"]:
            yield f"messages.{index}: text blocks must not be empty"
        content = block.get("content")
        parts = content if block["type"] == "tool_result" and isinstance(content, list) else ()
        if any(part.get("type") == "text" and not part["text"] for part in parts):
            yield f"messages.{index}: text blocks in {block['tool_use_id']} must not be empty"


def _openai(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            id_ = message.get("tool_call_id")
            if id_ in waiting:
                waiting.remove(id_)
            else:
                yield f"messages.{index}: a message with role 'tool' answers no preceding call: {id_}"
            continue
        if waiting:
            yield f"messages.{index}: these calls had no response messages: {', '.join(waiting)}"
        waiting = []
        if message["role"] == "assistant":
            for call in message.get("tool_calls") or ():
                waiting.append(call["id"])
                function = call.get("function")
                if not isinstance(function, Mapping) or not isinstance(function.get("arguments"), str):
                    yield f"messages.{index}: the arguments of {call['id']} are no string"
            if message.get("content") is None and not message.get("tool_calls"):
                yield f"messages.{index}: an assistant message with neither content nor calls"


def as_requests(transcript: Transcript) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The transcript as Anthropic messages and as OpenAI chat messages."""
    anthropic = [_as_anthropic(message) for message in transcript.messages]
    openai = [item for message in transcript.messages for item in _as_openai(message)]
    return anthropic, openai


def _as_anthropic(message: Message) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case TextBlock(text=text):
                content.append({"type": "text", "text": text})
            case ThinkingBlock(text=text):
                content.append({"type": "thinking", "thinking": text})
            case MediaBlock(kind=kind):
                content.append({"type": kind})
            case ToolCall(id=id_, tool=tool, input=input_):
                content.append({"type": "tool_use", "id": id_, "name": tool, "input": input_})
            case ToolResult():
                parts: list[dict[str, Any]] = [{"type": "text", "text": part.text} for part in block.parts]
                parts += [{"type": media.kind} for media in block.media]
                alone = len(parts) == 1 and len(block.parts) == 1  # a string may be empty, a text block may not
                shown = block.parts[0].text if alone else parts
                content.append({"type": "tool_result", "tool_use_id": block.call_id, "content": shown})
    role = "user" if message.role == "tool" else message.role
    return {"role": role, "content": content}


def _as_openai(message: Message) -> Iterator[dict[str, Any]]:
    for result in message.results:
        yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
    text = "\n".join(message.texts)
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.input_text}}
        for call in message.calls
    ]
    if message.role == "assistant":
        yield {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    elif text or not any(True for _ in message.results):
        yield {"role": message.role if message.role != "tool" else "user", "content": text}
