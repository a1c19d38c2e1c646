"""OpenAI chat messages, from files and from Python values."""

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from json_writer import strings, write

from reefknot.formats import openai_chat
from reefknot.formats.json_text import decode_bytes
from reefknot.formats.records import join, render, render_values
from reefknot.model.message import (
    Argument,
    MediaBlock,
    Message,
    Place,
    TextBlock,
    TextPart,
    ThinkingBlock,
    ToolCall,
    ToolResult,
)
from reefknot.model.transcript import Edit, Transcript

Chat = list[dict[str, Any]]


def call(id: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}


@st.composite
def chats(draw: st.DrawFn) -> Chat:
    messages: Chat = [{"role": "system", "content": draw(strings)}, {"role": "user", "content": draw(strings)}]
    for turn in range(draw(st.integers(0, 2))):
        ids = [f"c{turn}-{number}" for number in range(draw(st.integers(0, 3)))]
        arguments = {"path": draw(strings), "lines": [draw(strings), 1.5]}
        calls = [call(id_, draw(st.just(write(draw, arguments)) | strings)) for id_ in ids]
        messages.append({"role": "assistant", "content": draw(st.none() | strings), "tool_calls": calls})
        for id_ in ids:
            content = draw(strings | st.lists(strings.map(lambda text: {"type": "text", "text": text}), max_size=2))
            messages.append({"role": "tool", "tool_call_id": id_, "content": content})
        messages.append({"role": "assistant", "content": draw(strings)})
    return messages


def places(transcript: Transcript) -> list[tuple[Place, str]]:
    parts = [part for message in transcript.messages for result in message.results for part in result.parts]
    arguments = [argument for message in transcript.messages for one in message.calls for argument in one.arguments]
    return [(item.place, item.text) for item in [*parts, *arguments]]


@settings(max_examples=40)  # each is a whole chat
@given(chats(), st.data())
def test_a_file_and_its_values_are_read_alike_and_edited_alike(chat: Chat, data: st.DataObject) -> None:
    raw = write(data.draw, chat).encode("utf-8", "surrogateescape")
    from_file = openai_chat.parse(raw)
    values = json.loads(decode_bytes(raw))
    before = copy.deepcopy(values)
    from_values = openai_chat.parse_messages(values)
    assert from_file.messages == from_values.messages
    assert join(from_file.source) == raw == render(from_file, ()).data
    edits = [Edit(place=place, value="cut") for place, _ in places(from_file) if data.draw(st.booleans())]
    written, changed = openai_chat.parse(render(from_file, edits).data), render_values(from_values, edits)
    assert written.messages == openai_chat.parse_messages(changed).messages
    assert {place for place, text in places(written) if text == "cut"} >= {edit.place for edit in edits}
    assert values == before


@settings(max_examples=40)  # each is a whole chat
@given(chats(), st.data())
def test_every_place_addresses_its_text(chat: Chat, data: st.DataObject) -> None:
    transcript = openai_chat.parse(write(data.draw, chat).encode("utf-8", "surrogateescape"))
    same = [Edit(place=place, value=text) for place, text in places(transcript)]
    assert openai_chat.parse(render(transcript, same).data).messages == transcript.messages


def test_consecutive_tool_messages_are_one_message_and_roles_are_told() -> None:
    chat: Chat = [
        {"role": "developer", "content": "be brief"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [call("a", '{"p": "x"}'), call("b", "not json")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
        {"role": "assistant", "content": "done", "reasoning_content": "hm"},
    ]
    argument = Argument(
        name=("p",),
        text="x",
        place=Place(record=2, path=("tool_calls", 0, "function", "arguments"), inner=("p",)),
    )
    assert openai_chat.parse_messages(chat).messages == (
        Message(role="system", blocks=(TextBlock(text="be brief"),), records=(0,)),
        Message(role="user", blocks=(TextBlock(text="look"), MediaBlock(kind="image_url", tokens=765)), records=(1,)),
        Message(
            role="assistant",
            blocks=(
                ToolCall(id="a", tool="read", input={"p": "x"}, input_text='{"p":"x"}', arguments=(argument,)),
                ToolCall(id="b", tool="read", input={}, input_text="not json"),
            ),
            records=(2,),
        ),
        Message(
            role="tool",
            blocks=(
                ToolResult(call_id="a", parts=(TextPart(text="1", place=Place(record=3, path=("content",))),)),
                ToolResult(
                    call_id="b", parts=(TextPart(text="2", place=Place(record=4, path=("content", 0, "text"))),)
                ),
            ),
            records=(3, 4),
        ),
        Message(role="assistant", blocks=(ThinkingBlock(text="hm"), TextBlock(text="done")), records=(5,)),
    )


def test_two_arguments_of_one_call_are_changed_in_one_string() -> None:
    chat = [{"role": "assistant", "tool_calls": [call("a", '{"p": "x",  "q": {"r": "y"}}')]}]
    transcript = openai_chat.parse_messages(chat)
    edits = [Edit(place=place, value=text * 2) for place, text in places(transcript)]
    (message,) = render_values(transcript, edits)
    assert message == {"role": "assistant", "tool_calls": [call("a", '{"p": "xx",  "q": {"r": "yy"}}')]}


def test_flat_calls_with_arguments_as_values_and_results_named_by_id_are_read() -> None:
    transcript = openai_chat.parse_messages(
        [
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "name": "get", "arguments": {"p": "x"}}]},
            {"role": "tool", "id": "a", "content": "1"},
            {"role": "user", "content": "thanks", "tool_calls": None},
        ]
    )
    (found,) = transcript.messages[0].calls
    assert (found.id, found.tool, found.arguments[0].place.path) == ("a", "get", ("tool_calls", 0, "arguments", "p"))
    assert [result.call_id for result in transcript.messages[1].results] == ["a"]


def test_the_old_function_interface_passes_through_as_text() -> None:
    transcript = openai_chat.parse_messages(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "out"},
        ]
    )
    assert [list(message.texts) for message in transcript.messages] == [['{"name":"f","arguments":"{}"}'], ["out"]]


def test_ids_that_are_used_twice_and_results_before_calls_are_faults() -> None:
    used = {"role": "assistant", "tool_calls": [call("a", "{}")]}
    result = {"role": "tool", "tool_call_id": "a", "content": ""}
    assert openai_chat.parse_messages([used, result, used, result]).faults == (
        "two calls have the id 'a'",
        "two results have the id 'a'",
    )
    assert openai_chat.parse_messages([result, used]).faults == ("the result 'a' stands before its call",)
    assert openai_chat.parse_messages([used]).faults == ()
    assert openai_chat.parse_messages([result]).faults == ()


def test_items_that_are_no_messages_are_left_out_and_kept() -> None:
    data = b'[null, {"role": "user", "content": "a"}, {"role": "moderator", "content": 5}, 7]'
    transcript = openai_chat.parse(data)
    assert [message.records for message in transcript.messages] == [(1,)]
    assert render(transcript, ()).data == data
