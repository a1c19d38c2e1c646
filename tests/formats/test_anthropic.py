"""Anthropic messages, as an array and as a request."""

import json

from reefknot.formats import anthropic
from reefknot.formats.records import render, render_values
from reefknot.model.message import MediaBlock, Message, Place, TextBlock, ThinkingBlock
from reefknot.model.transcript import Edit

MESSAGES = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "two calls"},
            {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x", "more": ["y"]}},
            {"type": "tool_use", "id": "b", "name": "read", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": [{"type": "text", "text": "2"}]},
            {"type": "text", "text": "and?"},
        ],
    },
]


def test_a_request_has_its_system_text_first_and_outside_the_records() -> None:
    data = json.dumps({"model": "m", "system": [{"type": "text", "text": "be brief"}], "messages": MESSAGES}).encode()
    transcript = anthropic.parse(data)
    assert transcript.messages[0] == Message(role="system", blocks=(TextBlock(text="be brief"),))
    assert transcript.messages[1:] == anthropic.parse_messages(MESSAGES).messages
    assert render(transcript, ()).data == data


def test_blocks_are_read_with_their_places() -> None:
    _, answer, batch = anthropic.parse_messages(MESSAGES).messages
    assert answer.blocks[:2] == (ThinkingBlock(text="hm"), TextBlock(text="two calls"))
    first, second = answer.calls
    assert [(one.name, one.text, one.place) for one in first.arguments] == [
        (("path",), "x", Place(record=1, path=("content", 2, "input", "path"))),
        (("more", 0), "y", Place(record=1, path=("content", 2, "input", "more", 0))),
    ]
    assert (second.input_text, second.arguments) == ("{}", ())
    assert [(result.call_id, result.text, result.is_error) for result in batch.results] == [
        ("a", "1", False),
        ("b", "2", True),
    ]
    assert list(batch.texts) == ["and?"]


def test_edits_change_the_file_and_the_values_alike() -> None:
    data = json.dumps(MESSAGES, indent=1).encode()
    edit = Edit(place=Place(record=2, path=("content", 1, "content", 0, "text")), value="cut")
    written = render(anthropic.parse(data), [edit]).data
    assert written == data.replace(b'"2"', b'"cut"')
    assert json.loads(written) == render_values(anthropic.parse_messages(MESSAGES), [edit])


def test_blocks_of_the_providers_own_tools_are_counted_by_their_length() -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "reef knots"}}
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    (message,) = anthropic.parse_messages([{"role": "assistant", "content": [search, document]}]).messages
    length = len(json.dumps(search, separators=(",", ":")))
    assert message.blocks == (
        MediaBlock(kind="server_tool_use", tokens=length // 4),
        MediaBlock(kind="document", tokens=2_000),
    )
