"""The promises of a compaction, on generated transcripts."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reefknot.compact.pressure import Aim
from reefknot.errors import UsageError
from reefknot.flows.pressure import Request, compact_data, compact_messages
from reefknot.flows.restore import restore_data, restore_messages
from reefknot.model.encoding import to_text
from reefknot.model.settings import Settings
from reefknot.store.memory import MemoryStore
from reefknot.store.upkeep import purge
from reefknot.text.tokens import open_counter

COUNTER = open_counter("o200k")

LINES = st.sampled_from(
    [
        "2026-03-09T00:00:07 INFO worker job=22ad07 state=done ms=44",
        "ERROR worker b stopped: lease lost",
        "src/tide/table.py:120:    if lease.expires < 8475:",
        "tests/test_tide.py::test_007 PASSED",
        "Created release r-20260309-7 (id 88213)",
        "Process exited with code 2",
        "",
        "}",
        "Höhe 4,13 m \u2028 潮位",
        "[reefknot a1b2c3d4: 2 lines cut to fit; reefknot retrieve]",
        "x" * 900,
        ", ".join(f'"key_{number}": {number * 7919}' for number in range(60)),
    ]
)
OUTPUTS = st.lists(LINES, max_size=60).map("\n".join)
CALLS = st.sampled_from(
    [
        ("Bash", {"command": "make check"}),
        ("Bash", {"command": "cat src/tide/table.py"}),
        ("Read", {"file_path": "/srv/reef/src/tide/table.py"}),
        ("Write", {"file_path": "/srv/reef/a.py", "content": "\n".join(f"value_{n} = {n}" for n in range(90))}),
        ("Bash", {"command": "journalctl -u reef -n 80"}),
    ]
)


@st.composite
def sessions(draw: st.DrawFn) -> list[dict[str, Any]]:
    """An OpenAI chat with tool calls, some in parallel, and some texts between them."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Find out why."},
    ]
    number = 0
    for turn in draw(st.lists(st.lists(st.tuples(CALLS, OUTPUTS), min_size=1, max_size=3), max_size=8)):
        calls, results = [], []
        for (tool, arguments), output in turn:
            number += 1
            function = {"name": tool, "arguments": json.dumps(arguments)}
            calls.append({"id": f"call_{number}", "type": "function", "function": function})
            results.append({"role": "tool", "tool_call_id": f"call_{number}", "content": output})
        messages.append(
            {"role": "assistant", "content": draw(st.sampled_from([None, "Now job 22ad07."])), "tool_calls": calls}
        )
        messages += results
    messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "And r-20260309-7?"}]
    return messages


def _request(store: MemoryStore, **aim: Any) -> Request:
    return Request(aim=Aim(**aim), store=store, counter=COUNTER, settings=Settings(preserve_recent=2))


def _pairs(messages: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (message["role"], message.get("tool_call_id", ""), *(call["id"] for call in message.get("tool_calls") or ()))
        for message in messages
    ]


@settings(max_examples=60, deadline=None)
@given(sessions(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9]))
def test_a_compaction_keeps_every_promise(messages: list[dict[str, Any]], keep: float) -> None:
    given_copy = copy.deepcopy(messages)
    store = MemoryStore()
    compacted = compact_messages(messages, _request(store, keep=keep))
    report, after = compacted.report, compacted.messages
    assert messages == given_copy
    assert _pairs(after) == _pairs(messages)
    assert after[:2] == messages[:2] and after[-2:] == messages[-2:]
    assert report.tokens_after <= report.tokens_before
    assert report.reached == (report.result_tokens_after <= report.target_tokens)
    texts_before = [message["content"] for message in messages if message["role"] == "tool"]
    texts_after = [message["content"] for message in after if message["role"] == "tool"]
    assert sum(COUNTER.count(text) for text in texts_after) == report.result_tokens_after
    assert all(len(new) <= len(old) for old, new in zip(texts_before, texts_after, strict=True))
    stored = {part.call: to_text(store.get(part.ref)) for part in report.references}
    for message, old, new in zip((m for m in messages if m["role"] == "tool"), texts_before, texts_after, strict=True):
        assert old == new or stored[message["tool_call_id"]] == old
    assert [message for message in after if message["role"] != "tool"] == [m for m in messages if m["role"] != "tool"]
    assert restore_messages(after, store)[0] == messages
    again = compact_messages(after, _request(store, keep=keep))
    assert again.messages == after and again.report.action == "unchanged"


@settings(max_examples=40, deadline=None)
@given(sessions(), st.sampled_from([(0.5, 0.2), (0.7, 0.3), (0.3, 0.0)]))
def test_a_deeper_cut_starts_from_the_originals(messages: list[dict[str, Any]], shares: tuple[float, float]) -> None:
    store = MemoryStore()
    first = compact_messages(messages, _request(store, keep=shares[0]))
    second = compact_messages(first.messages, _request(store, keep=shares[1]))
    direct = compact_messages(messages, _request(MemoryStore(), keep=shares[1]))
    if second.report.action == "compacted":
        assert second.messages == direct.messages
    assert restore_messages(second.messages, store)[0] == messages


@settings(max_examples=40, deadline=None)
@given(sessions(), st.integers(0, 4000), st.booleans())
def test_a_file_comes_back_byte_for_byte(messages: list[dict[str, Any]], max_tokens: int, ascii_only: bool) -> None:
    data = json.dumps(messages, ensure_ascii=ascii_only, indent=1).encode("utf-8", "surrogatepass")
    store = MemoryStore()
    compacted = compact_data(data, _request(store, max_tokens=max_tokens))
    assert compacted.data is not None
    assert len(compacted.data) <= len(data)
    assert restore_data(compacted.data, store).data == data
    deeper = compact_data(compacted.data, _request(store, max_tokens=max_tokens // 2))
    assert deeper.data is not None
    assert restore_data(deeper.data, store).data == data


def test_a_larger_target_changes_nothing() -> None:
    output = "\n".join(f"line {number} of job-{number * 7919:06}" for number in range(300))
    messages = _one_call(output)
    store = MemoryStore()
    small = compact_messages(messages, _request(store, keep=0.2))
    larger = compact_messages(small.messages, _request(store, keep=0.6))
    assert (larger.report.action, larger.messages) == ("unchanged", small.messages)


def _one_call(output: str) -> list[Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "make check"}'}}
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": output},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Two."},
    ]


def test_a_quoted_copy_of_our_own_text_is_a_text_like_any_other() -> None:
    output = "\n".join(f"line {number} of job-{number * 7919:06}" for number in range(300))
    store = MemoryStore()
    first = compact_messages(_one_call(output), _request(store, keep=0.2))
    quoted = first.messages[2]["content"]  # type: ignore[index]
    other = _one_call(quoted)
    other[1]["tool_calls"][0]["id"] = other[2]["tool_call_id"] = "call_other"
    second = compact_messages(other, _request(store, keep=0.1))
    assert restore_messages(second.messages, store)[0] == other


@pytest.mark.parametrize(
    "aim",
    [
        {},
        {"keep": 0.3, "max_tokens": 5},
        {"keep": 1.5},
        {"keep": float("nan")},
        {"max_tokens": -1},
        {"window": 0},
        {"keep": 0.5, "used": 3},
    ],
)
def test_an_aim_that_makes_no_sense_is_refused(aim: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Aim(**aim)


def test_below_the_trigger_nothing_happens_unless_forced() -> None:
    messages = _one_call("\n".join(f"line {number} of job-{number * 7919:06}" for number in range(3000)))
    store = MemoryStore()
    calm = compact_messages(messages, _request(store, window=200_000, used=20_000))
    assert (calm.report.action, calm.report.reason, calm.messages) == ("unchanged", "below the trigger", messages)
    pressed = compact_messages(messages, _request(store, window=60_000, used=40_000))
    assert (pressed.report.action, pressed.report.reached, pressed.report.target_tokens) == (
        "compacted",
        True,
        30_000 - 40_000 + pressed.report.tokens_before if 40_000 - pressed.report.tokens_before < 9_000 else 21_000,
    )


def test_a_reduction_that_is_too_small_is_not_installed() -> None:
    messages = _one_call("\n".join(f"line {number} of job-{number * 7919:06}" for number in range(3000)))
    request = Request(
        aim=Aim(window=60_000, used=36_500),
        store=MemoryStore(),
        counter=COUNTER,
        settings=Settings(preserve_recent=2, min_reduction_ratio=0.99),
    )
    report = compact_messages(messages, request).report
    assert (report.action, report.reason.split(",")[1]) == ("unchanged", " less than min_reduction_ratio = 0.99")


def test_neutral_messages_given_as_values_come_back_without_our_reference() -> None:
    output = "\n".join(f"line {number} of job-{number * 7919:06}" for number in range(300))
    call = {"id": "call_1", "tool": "Bash", "input": {"command": "make check"}}
    result = {"id": "call_1", "text": output, "is_error": False}
    messages: list[Any] = [
        {"role": "user", "text": "go", "calls": [], "results": []},
        {"role": "assistant", "text": "", "calls": [call], "results": []},
        {"role": "user", "text": "", "calls": [], "results": [result]},
        {"role": "assistant", "text": "One.", "calls": [], "results": []},
        {"role": "user", "text": "Two.", "calls": [], "results": []},
    ]
    store = MemoryStore()
    compacted = compact_messages(messages, _request(store, keep=0.2))
    assert compacted.messages[2]["results"][0]["ref"] == compacted.report.references[0].ref  # type: ignore[index]
    assert restore_messages(compacted.messages, store)[0] == messages


def test_every_result_has_an_explanation() -> None:
    messages = _one_call("\n".join(f"line {number} of job-{number * 7919:06}" for number in range(300)))
    small = {"id": "call_2", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    messages[3:3] = [
        {"role": "assistant", "content": None, "tool_calls": [small]},
        {"role": "tool", "tool_call_id": "call_2", "content": "ok"},
    ]
    for keep, forms in [(0.2, {"call_1": "excerpted", "call_2": "kept"}), (1.0, {"call_1": "kept", "call_2": "kept"})]:
        compacted = compact_messages(messages, _request(MemoryStore(), keep=keep))
        assert {one.call: one.form for one in compacted.explanations} == forms
        assert all(one.reason for one in compacted.explanations)


def test_between_target_and_trigger_every_observation_shows_something() -> None:
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for number in range(40):
        function = {"name": "Bash", "arguments": json.dumps({"command": f"curl service/{number}"})}
        output = "\n".join(
            f"2026-03-09 plain words about the sea and the wind, row {row}" for row in range(60 + number)
        )
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    messages += [{"role": "assistant", "content": "One."}, {"role": "user", "content": "Two."}]
    size = compact_messages(messages, _request(MemoryStore(), keep=1.0)).report.tokens_before
    by_policy = compact_messages(messages, _request(MemoryStore(), window=3_600, used=size)).report
    assert (by_policy.target_tokens, by_policy.results["evicted"]) == (1_800, 0)
    assert by_policy.tokens_after <= 2_160  # the trigger
    by_size = compact_messages(messages, _request(MemoryStore(), max_tokens=1_800)).report
    assert by_size.results["evicted"] > 0
    assert by_size.reached


def test_what_a_person_should_know_stands_in_the_notes() -> None:
    messages = _one_call("\n".join(f"line {number} of job-{number * 7919:06}" for number in range(300)))
    messages[2]["content"] += "\n[reefknot 0123abcd: 2 lines cut to fit; reefknot retrieve]"
    request = Request(
        aim=Aim(keep=0.2),
        store=MemoryStore(),
        counter=COUNTER,
        settings=Settings(preserve_recent=2),
        protect={"Bosh", "Bash2"},
    )
    assert list(compact_messages(messages, request).report.notes) == [
        "1 references in it are not in this store: such texts are cut as they stand",
        "protected 'Bash2': there is no such call or tool in it",
        "protected 'Bosh': there is no such call or tool in it",
    ]


def test_restoring_what_was_purged_says_so() -> None:
    messages = _one_call("\n".join(f"line {number} of job-{number * 7919:06}" for number in range(300)))
    store = MemoryStore()
    compacted = compact_messages(messages, _request(store, keep=0.2))
    (part,) = compacted.report.references
    purge(store, part.ref, now=1_800_000_000.0)
    _, restored = restore_messages(compacted.messages, store)
    assert f"reference {part.ref!r} was removed" in restored.message
    _, elsewhere = restore_messages(compacted.messages, MemoryStore())
    assert (elsewhere.message, elsewhere.strangers) == ("", (part.ref,))
