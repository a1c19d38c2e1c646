"""The checker of promises is itself checked: it accepts a true compaction, and notices each way to break one."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from promises import check_compaction
from reefknot.compact.pressure import Aim
from reefknot.flows.pressure import Request, compact_data
from reefknot.model.report import Compacted
from reefknot.store.memory import MemoryStore
from reefknot.text.tokens import open_counter

COUNTER = open_counter("o200k")
OUTPUT = "\n".join(f"line {number} of job-{number * 7919:06} in the long log of a worker" for number in range(300))


def session() -> bytes:
    """A host's session lines: one command with a structured copy of its output, and some talk after it."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make check"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": OUTPUT}
    printed = {"type": "bash_progress", "fullOutput": OUTPUT[:9000], "totalLines": 140}
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "message": {"role": "assistant", "id": "msg_0", "content": [use]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"stdout": OUTPUT}},
        {"type": "progress", "data": printed, "toolUseID": "bash-progress-0", "parentToolUseID": "toolu_1"},
    ]
    for number in range(8):
        role = "user" if number % 2 else "assistant"
        message = {"role": role, "id": f"msg_{number + 1}", "content": [{"type": "text", "text": f"Note {number}."}]}
        lines.append({"type": role, "message": message})
    for number, line in enumerate(lines):
        line |= {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s"}
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def change(edit: Callable[[list[dict[str, Any]]], object]) -> Callable[[Compacted], Compacted]:
    def tampered(compacted: Compacted) -> Compacted:
        assert compacted.data is not None
        lines = [json.loads(line) for line in compacted.data.splitlines()]
        edit(lines)
        return replace(compacted, data=b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    return tampered


def report(**changes: Any) -> Callable[[Compacted], Compacted]:
    return lambda compacted: replace(compacted, report=replace(compacted.report, **changes))


def compacted(store: MemoryStore) -> Compacted:
    return compact_data(session(), Request(aim=Aim(keep=0.1), store=store, counter=COUNTER))


def test_a_true_compaction_is_accepted() -> None:
    store = MemoryStore()
    found = check_compaction(session(), compacted(store), store, COUNTER)
    assert (found.broken, found.exact, len(found.stored)) == ([], True, 1)


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (change(lambda lines: lines.pop()), "messages before"),
        (change(lambda lines: lines[6]["message"]["content"][0].update(text="Other.")), "message 5 is"),
        (change(lambda lines: lines[2].update(extra=1)), "record 2 changed at"),
        (change(lambda lines: lines[2]["toolUseResult"].update(stdout=OUTPUT)), "stay in its mirror"),
        (change(lambda lines: lines[3]["data"].update(fullOutput=OUTPUT[:9000])), "stay in its mirror"),
        (change(lambda lines: lines[2]["message"]["content"][0].update(content=OUTPUT + "!")), "grew"),
        (change(lambda lines: lines[2]["message"]["content"][0].update(content="gone")), "does not come back"),
        (report(references=()), "references of the report"),
        (report(first_changed_message=1), "first changed message"),
        (report(masked_secrets=1), "secrets reported"),
        (report(result_tokens_after=1), "tokens of results after"),
        (report(results={"kept": 1, "noted": 0, "excerpted": 0, "repeated": 0, "evicted": 0}), "results in the report"),
    ],
)
def test_a_broken_promise_is_noticed(tamper: Callable[[Compacted], Compacted], says: str) -> None:
    store = MemoryStore()
    found = check_compaction(session(), tamper(compacted(store)), store, COUNTER)
    assert any(says in what for what in found.broken), found.broken
