from typing import Any

import pytest

from provider_rules import anthropic_faults, openai_faults


def use(*ids: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": id_, "name": "Bash", "input": {}} for id_ in ids],
    }


def results(*ids: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id_, "content": "ok"} for id_ in ids]}


def calls(*ids: str) -> dict[str, Any]:
    function = {"name": "Bash", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": function} for id_ in ids],
    }


def tool(id_: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": "ok"}


GO: dict[str, Any] = {"role": "user", "content": "go"}


def test_whole_pairs_are_accepted() -> None:
    assert anthropic_faults([GO, use("a", "b"), results("a"), results("b"), use("c")]) == []
    assert openai_faults([GO, calls("a", "b"), tool("b"), tool("a"), {"role": "assistant", "content": "done"}]) == []


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([GO, use("a"), GO], "without `tool_result` immediately after: a"),
        ([GO, use("a"), results("b", "a")], "unexpected `tool_use_id`"),
        ([GO, use("a"), results("a"), use("a"), results("a")], "must be unique"),
        ([GO, use("a:b"), results("a:b")], "does not match"),
        ([GO, use("a"), {**GO, "content": [{"type": "text", "text": "hm"}]}, results("a")], "text stands before"),
        ([GO, use("a"), results("a", "a")], "two `tool_result` blocks"),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], "must not be empty"),
        ([GO, {"role": "assistant", "content": "so \n"}], "ends in white space"),
    ],
)
def test_the_messages_api_refuses(messages: list[dict[str, Any]], says: str) -> None:
    faults = anthropic_faults(messages)
    assert len(faults) == 1
    assert says in faults[0]


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([GO, calls("a", "b"), tool("a"), GO], "had no response messages: b"),
        ([GO, tool("a")], "answers no preceding call"),
        ([GO, calls("a"), tool("a"), tool("a")], "answers no preceding call"),
        ([GO, {"role": "assistant", "content": None}], "neither content nor calls"),
        (
            [GO, {"role": "assistant", "tool_calls": [{"id": "a", "function": {"arguments": {}}}]}, tool("a")],
            "no string",
        ),
    ],
)
def test_the_chat_api_refuses(messages: list[dict[str, Any]], says: str) -> None:
    faults = openai_faults(messages)
    assert len(faults) == 1
    assert says in faults[0]
