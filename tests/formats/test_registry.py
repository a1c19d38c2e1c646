"""Formats told by their shape, and one clear error for each file that has none."""

import json
from typing import Any

import pytest

from reefknot.errors import FormatError
from reefknot.formats.registry import FORMATS, detect, parse, parse_messages

PLAIN = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
TOOL = {"role": "tool", "tool_call_id": "a", "content": "1"}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]}
NEUTRAL = {"role": "user", "text": "hi", "calls": [], "results": []}
LINE = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "hi"}}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (lines(LINE), "claude_code"),
        (lines(LINE, LINE), "claude_code"),
        (lines(LINE).rstrip(), "claude_code"),
        (b"// shared\r\n\r\n" + lines(LINE), "claude_code"),
        (b"\xef\xbb\xbf" + lines(LINE), "claude_code"),
        (b'{"cut off at the fro\n' + lines(LINE), "claude_code"),
        (lines({"type": "summary", "leafUuid": "x"}, LINE), "claude_code"),
        (lines([*PLAIN, TOOL]), "openai_chat"),
        (lines(PLAIN), "openai_chat"),
        (lines({"messages": PLAIN}), "openai_chat"),
        (lines({"task": 1, "traj": [*PLAIN, TOOL]}), "openai_chat"),
        (json.dumps([*PLAIN, TOOL], indent=2).encode(), "openai_chat"),
        (b"\xef\xbb\xbf \n" + lines(PLAIN), "openai_chat"),
        (lines([*PLAIN, RESULT]), "anthropic"),
        (lines({"system": "be brief", "messages": PLAIN}), "anthropic"),
        (json.dumps({"messages": [*PLAIN, RESULT]}, indent=2).encode(), "anthropic"),
        (lines([NEUTRAL]), "neutral"),
        (json.dumps({"id": "x", "messages": [NEUTRAL]}, indent=1).encode(), "neutral"),
    ],
)
def test_a_format_is_told_by_its_shape(data: bytes, name: str) -> None:
    assert detect(data) == name
    assert parse(data).format == name
    assert parse(data) == parse(data, name)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\xef\xbb\xbf\n", "empty"),
        (b"\x7fELF\x02\x01\0\0", "binary"),
        ("[]".encode("utf-16"), "UTF-16"),
        (b"just words", "neither a list"),
        (b"some words\nmore words\n", "not one of its lines"),
        (b'[{"role": "user", "content": "hi"}, {"ro', "cut off.*byte"),
        (b'{"messages": [{"role": "user"}', "cut off.*byte"),
        (b'{"a": 1}', "without a list under 'messages'"),
        (b"[1, 2]", "not of messages"),
        (b"[]", "name the format"),
        (lines({"timestamp": "t", "type": "session_meta", "payload": {}}, {"payload": {}}), "Codex rollout"),
        (lines({"type": "session", "version": 3, "id": "x"}, {"type": "message"}), "pi session"),
        (lines(*PLAIN), "chat messages without the list.*openai_chat"),
        (lines({"level": "info"}, {"level": "warn"}), "no known format.*'level'"),
        (lines([{"type": "function_call", "call_id": "a"}]), "OpenAI Responses"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        detect(data)
    with pytest.raises(FormatError, match=reason):
        parse(data)


@pytest.mark.parametrize("name", [name for name, spec in FORMATS.items() if spec.read_items])
def test_an_empty_list_with_a_format_is_an_empty_transcript(name: str) -> None:
    transcript = parse(b"[]\n", name)
    assert (transcript.format, transcript.messages, transcript.source.glue) == (name, (), (b"[]\n",))
    assert parse_messages([], name).messages == ()


def test_a_named_format_that_the_messages_do_not_have_is_an_error() -> None:
    with pytest.raises(FormatError, match="not Anthropic messages: they look like openai_chat"):
        parse(lines([*PLAIN, TOOL]), "anthropic")
    with pytest.raises(FormatError, match="look like anthropic"):
        parse_messages([RESULT], "openai_chat")
    with pytest.raises(FormatError, match="no line is one of a Claude Code session"):
        parse(lines(PLAIN), "claude_code")
    with pytest.raises(FormatError, match="no message of the neutral form"):
        parse(b"[1]", "neutral")
    with pytest.raises(FormatError, match="no format 'yaml': use one of claude_code, openai_chat"):
        parse(lines(PLAIN), "yaml")


def test_messages_given_as_values_are_told_by_their_shape_too() -> None:
    assert parse_messages([*PLAIN, TOOL]).format == "openai_chat"
    assert parse_messages([RESULT]).format == "anthropic"
    assert parse_messages([NEUTRAL]).format == "neutral"
    assert parse_messages([]).format == "openai_chat"
    with pytest.raises(FormatError, match="only be read from a file"):
        parse_messages([], "claude_code")
    with pytest.raises(FormatError, match="not of messages"):
        parse_messages([1])
