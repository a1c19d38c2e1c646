"""Claude Code sessions: messages, pairs, copies, mirrors, and every byte that is not edited."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_writer import Session, sessions, text, thinking, use, write_lines

from reefknot.errors import FormatError
from reefknot.formats import claude_code
from reefknot.formats.records import join, render, replace_records, restore_pieces
from reefknot.model.message import MediaBlock, Message, Place, TextBlock, TextPart, ThinkingBlock, ToolResult
from reefknot.model.transcript import Edit, Transcript


def shape(transcript: Transcript) -> list[tuple[str, list[str]]]:
    return [(message.role, [type(block).__name__ for block in message.blocks]) for message in transcript.messages]


def results(transcript: Transcript) -> list[ToolResult]:
    return [result for message in transcript.messages for result in message.results]


def texts_by_place(transcript: Transcript) -> dict[Place, str]:
    parts = [part for result in results(transcript) for part in result.parts]
    arguments = [argument for message in transcript.messages for call in message.calls for argument in call.arguments]
    return {item.place: item.text for item in [*parts, *arguments]}


def count_results(data: bytes) -> int:
    lines = [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    contents = [line["message"]["content"] for line in lines if line["type"] == "user"]
    return sum(block["type"] == "tool_result" for content in contents if isinstance(content, list) for block in content)


@given(sessions())
def test_nothing_is_changed_by_reading_and_writing(session: Session) -> None:
    transcript = claude_code.parse(session.data)
    assert join(transcript.source) == session.data
    rendered = render(transcript, ())
    assert (rendered.data, rendered.changes) == (session.data, ())
    assert claude_code.parse(rendered.data) == transcript


@given(sessions())
def test_every_result_of_the_file_is_live_or_a_copy_or_hidden_and_live_ids_are_unique(session: Session) -> None:
    transcript = claude_code.parse(session.data)
    live = results(transcript)
    copies = [copy for result in live for copy in result.copies]
    assert len(live) + len(copies) + len(transcript.hidden) == count_results(session.data)
    assert transcript.faults == ()
    assert len({result.call_id for result in live}) == len(live)
    assert all(
        [part.text for part in copy.parts] == [part.text for part in result.parts]
        for result in live
        for copy in result.copies
    )


@given(sessions(), st.data())
def test_an_edit_changes_its_record_alone_and_can_be_undone(session: Session, data: st.DataObject) -> None:
    transcript = claude_code.parse(session.data)
    places = [part.place for result in results(transcript) for part in result.parts]
    places += [
        argument.place for message in transcript.messages for call in message.calls for argument in call.arguments
    ]
    if not places:
        return
    chosen = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True))
    rendered = render(transcript, [Edit(place=place, value="cut") for place in chosen])
    assert sorted({place.record for place in chosen}) == [change.record for change in rendered.changes]
    again = claude_code.parse(rendered.data)
    changed = {change.record for change in rendered.changes}
    for index, (old, new) in enumerate(zip(transcript.source.records, again.source.records, strict=True)):
        assert (index in changed) or old == new
    undone = {change.record: restore_pieces(change.raw, change.pieces) for change in rendered.changes}
    assert replace_records(again.source, undone) == session.data
    texts = {part.place: part.text for result in results(again) for part in result.parts}
    texts |= {
        argument.place: argument.text
        for message in again.messages
        for call in message.calls
        for argument in call.arguments
    }
    assert {texts[place] for place in chosen} == {"cut"}


@given(sessions())
def test_every_place_addresses_its_text(session: Session) -> None:
    transcript = claude_code.parse(session.data)
    same = [Edit(place=place, value=text) for place, text in texts_by_place(transcript).items()]
    again = claude_code.parse(render(transcript, same).data)
    assert again.messages == transcript.messages


def test_a_streamed_answer_is_one_message_and_so_is_a_batch_of_results() -> None:
    session = Session()
    session.user("go")
    session.answer("m1", thinking("hm"), text("two calls"))
    one = session.answer("m1", use("a"))
    session.result("a", "1", parent=one)
    two = session.answer("m1", use("b"), parent=one)
    session.result("b", "2", parent=two)
    session.answer("m2", text("done"))
    transcript = claude_code.parse(session.data)
    assert shape(transcript) == [
        ("user", ["TextBlock"]),
        ("assistant", ["ThinkingBlock", "TextBlock", "ToolCall", "ToolCall"]),
        ("user", ["ToolResult", "ToolResult"]),
        ("assistant", ["TextBlock"]),
    ]
    assert [message.records for message in transcript.messages] == [(0,), (1, 2, 3, 5), (4, 6), (7,)]
    assert (transcript.session, transcript.project, transcript.faults) == ("s-1", "/srv/reef", ())


def test_an_answer_that_goes_on_behind_a_prompt_is_a_message_of_its_own() -> None:
    session = Session()
    session.answer("m1", text("so"))
    session.user("wait")
    session.answer("m1", text("far"))
    assert [message.records for message in claude_code.parse(session.data).messages] == [(0,), (1,), (2,)]


def test_summaries_and_meta_lines_are_prompts_and_reminders_join_what_stands_before() -> None:
    session = Session()
    session.boundary()
    session.user("so far", isCompactSummary=True)
    session.user("a caveat", isMeta=True)
    session.answer("m1", use("a"))
    session.result("a", "1")
    session.add("attachment", attachment={"type": "edited_text_file", "filename": "f.py", "snippet": "1 x"})
    session.add("attachment", attachment={"type": "hook_success", "content": "unseen"})
    session.add("attachment", attachment={"type": "queued_command", "prompt": "also this"})
    transcript = claude_code.parse(session.data)
    assert [message.is_prompt for message in transcript.messages] == [True, True, False, False, True]
    batch = transcript.messages[3]
    assert [block.text for block in batch.blocks if isinstance(block, TextBlock)] == ["f.py", "1 x"]
    assert list(transcript.messages[4].texts) == ["also this"]


def test_a_result_of_texts_and_images_keeps_both() -> None:
    session = Session()
    session.answer("m1", use("a"))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlhQAAgAA=="}}
    session.result("a", [{"type": "text", "text": "x"}, image, {"type": "text", "text": "y"}])
    (result,) = results(claude_code.parse(session.data))
    at = ("message", "content", 0, "content")
    assert result == ToolResult(
        call_id="a",
        parts=(
            TextPart(text="x", place=Place(record=1, path=(*at, 0, "text"))),
            TextPart(text="y", place=Place(record=1, path=(*at, 2, "text"))),
        ),
        media=(MediaBlock(kind="image", tokens=3),),
    )


def replayed(second_text: str) -> Session:
    session = Session()
    session.user("go")
    session.answer("m1", text("look"), use("a"))
    session.result("a", "1")
    for line in [dict(line) for line in session.lines]:
        session.add(line["type"], message=line["message"], timestamp=line["timestamp"])
    session.lines[-1]["message"] = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": second_text}],
    }
    session.user("next")
    return session


def test_a_replayed_prefix_on_the_chain_is_read_once_and_its_results_are_copies() -> None:
    transcript = claude_code.parse(replayed("1").data)
    assert [message.role for message in transcript.messages] == ["user", "assistant", "user", "user"]
    (result,) = results(transcript)
    assert [copy.parts[0].place.record for copy in result.copies] == [7]
    assert transcript.faults == ()


def test_two_live_results_of_one_call_that_differ_are_a_fault() -> None:
    assert claude_code.parse(replayed("2").data).faults == ("two results have the id 'a'",)


def test_a_replay_off_the_chain_is_a_copy_and_other_results_off_it_are_hidden() -> None:
    session = Session()
    session.user("go")
    session.answer("m0", use("gone"))
    session.result("gone", "of the old branch")
    session.answer("m1", use("a"))
    session.result("a", "1")
    kept = [dict(line) for line in session.lines[3:]]
    session.tip = session.lines[0]["uuid"]
    for line in kept:
        session.add(line["type"], message=line["message"], timestamp=line["timestamp"])
    transcript = claude_code.parse(session.data)
    (result,) = results(transcript)
    assert result.parts[0].place.record == 6
    assert [copy.parts[0].place.record for copy in result.copies] == [4]
    assert [hidden.call_id for hidden in transcript.hidden] == ["gone"]


def test_one_id_for_two_different_calls_is_a_fault_and_pending_and_orphan_pairs_are_none() -> None:
    session = Session()
    session.answer("m1", use("a", command="x"))
    session.result("a", "1")
    session.answer("m2", use("a", command="y"))
    assert claude_code.parse(session.data).faults == ("two calls have the id 'a'",)
    session = Session()
    session.result("orphan", "1")
    session.answer("m1", use("pending"))
    assert claude_code.parse(session.data).faults == ()


def test_the_hosts_structured_copy_is_found_for_a_result_and_each_of_its_copies() -> None:
    session = replayed("1")
    session.lines[3]["toolUseResult"] = {"stdout": "1"}
    transcript = claude_code.parse(session.data)
    (result,) = results(transcript)
    assert claude_code.mirror_place(transcript, result) == Place(record=3, path=("toolUseResult",))
    assert claude_code.mirror_place(transcript, result.copies[0]) is None


def test_unknown_lines_broken_lines_and_half_a_last_line_pass_through_with_a_note() -> None:
    session = Session()
    session.user("go")
    session.answer("m1", text("done"))
    lines = session.data.splitlines(keepends=True)
    data = b"".join([b"// shared\n", lines[0], b'{"type": "future", "x": 1.0}\r\n', b"%%\n", lines[1], lines[1][:40]])
    transcript = claude_code.parse(data)
    assert len(transcript.messages) == 2
    assert transcript.notes == (
        "line 4 is no JSON that can be read: it is passed through",
        "line 6, the last one, is not whole (still being written?): it is passed through",
    )
    assert render(transcript, ()).data == data


def test_broken_bytes_in_a_line_survive_an_edit_of_it() -> None:
    session = Session()
    session.answer("m1", use("a"))
    session.result("a", "MARK out")
    data = session.data.replace(b"MARK", b"\xff\xfe")
    transcript = claude_code.parse(data)
    (result,) = results(transcript)
    assert result.text == "\udcff\udcfe out"
    edit = Edit(place=result.parts[0].place, value="\udcff\udcfe")
    assert render(transcript, [edit]).data == data.replace(b"\xff\xfe out", b"\xff\xfe")


def test_odd_contents_do_not_stop_the_reading() -> None:
    odd: list[Any] = [None, 5, {}, [None, 5, "text", {}, {"type": "tool_result"}, {"type": "tool_use", "input": "raw"}]]
    session = Session()
    for number, content in enumerate(odd):
        session.add("user", message={"role": "user", "content": content})
        session.add("assistant", message={"id": f"m{number}", "content": content})
        session.add("assistant", message=content)
        session.add("attachment", attachment=content)
    assert claude_code.parse(write_lines(session.lines)).messages


def test_a_file_without_one_line_of_the_host_is_an_error() -> None:
    with pytest.raises(FormatError, match="no line is one of a Claude Code session"):
        claude_code.parse(b'{"type": "session_meta", "payload": {}}\n')


def test_thinking_is_read_and_counted_as_text() -> None:
    session = Session()
    session.answer("m1", thinking("hm"), {"type": "redacted_thinking", "data": "x"})
    (message,) = claude_code.parse(session.data).messages
    assert message == Message(
        role="assistant", blocks=(ThinkingBlock(text="hm"), ThinkingBlock(text="")), records=(0, 1)
    )
