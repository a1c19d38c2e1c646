"""Files cut into records and joined again, byte for byte."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_writer import BLANKS, values, write

from reefknot.errors import FormatError
from reefknot.formats import openai_chat
from reefknot.formats.json_text import decode_bytes
from reefknot.formats.records import (
    join,
    line_notes,
    read_file,
    render,
    render_values,
    replace_records,
    restore_pieces,
    split_items,
    split_lines,
)
from reefknot.model import zstd
from reefknot.model.message import Place
from reefknot.model.transcript import Edit

LINES = st.lists(
    st.tuples(
        st.sampled_from([b'{"a": 1}', b"[1]", b"// note", b"", b"  ", b'{"cut', b'"\xff"', b"\xe2\x80\xa8 x", b"\x0b"]),
        st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\r\r\n"]),
    )
).map(lambda lines: b"".join(line + end for line, end in lines))


@given(st.sampled_from([b"", b"\xef\xbb\xbf"]), LINES, st.sampled_from([b"", b'{"a":1}', b'{"half', b"\r", b" "]))
def test_lines_join_to_the_file_that_they_were_cut_from(mark: bytes, lines: bytes, tail: bytes) -> None:
    data = mark + lines + tail
    source = split_lines(data)
    assert join(source) == data
    assert len(source.glue) == len(source.records) + 1


@given(st.binary(max_size=60))
def test_any_bytes_at_all_join_again(data: bytes) -> None:
    assert join(split_lines(data)) == data


@given(st.data())
def test_items_join_to_the_document_that_they_were_cut_from(data: st.DataObject) -> None:
    items = data.draw(st.lists(values, max_size=4))
    text = data.draw(BLANKS) + write(data.draw, items) + data.draw(BLANKS)
    if data.draw(st.booleans()):
        text = f'{{{data.draw(BLANKS)}"before": {write(data.draw, data.draw(values))}, "messages" :{text}, "z": 0}}\n'
    raw = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode("utf-8", "surrogateescape")
    found = split_items(raw)
    document = json.loads(decode_bytes(raw.removeprefix(b"\xef\xbb\xbf")))
    expected = document["messages"] if isinstance(document, dict) else document
    assert [record.value for record in found.source.records] == expected
    assert join(found.source) == raw
    if isinstance(document, dict):
        assert {**found.outer, "messages": expected} == document


def test_a_line_ending_in_the_middle_of_a_write_is_kept_and_told() -> None:
    source = split_lines(b'{"a":1}\n{"b": "unfini')
    assert [record.value for record in source.records] == [{"a": 1}, None]
    assert line_notes(source) == ("line 2, the last one, is not whole (still being written?): it is passed through",)


def test_a_broken_line_in_the_middle_is_told_by_its_number_and_a_comment_is_not() -> None:
    source = split_lines(b'// from a gist\n\n{"a":1}\noops\n{"b":2}\n')
    assert line_notes(source) == ("line 4 is no JSON that can be read: it is passed through",)


def test_a_value_nested_too_deeply_is_passed_through_in_lines_and_in_items() -> None:
    deep = b"[" * 3000 + b"]" * 3000
    assert [record.value for record in split_lines(deep + b"\n1\n").records] == [None, 1]
    found = split_items(b'{"messages": [' + deep + b', {"a": "[[\\"]"}]}').source
    assert [record.value for record in found.records] == [None, {"a": '[["]'}]
    assert found.records[0].raw == deep


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'[{"a": 1}, {"b": "lo', "cut off.*byte 17"),
        (b'[{"a": 1}, {"b": 2', "cut off.*byte 18"),
        (b'[{"a": 1},', "cut off.*byte 10"),
        (b'{"messages": [{"a": 1}', "cut off.*byte 22"),
        ('[{"a": "é"}, {"b'.encode(), "cut off.*byte 15"),
        (b'[{"a": 1} {"b": 2}]', "no JSON from byte 10"),
        (b'[{"a": 1}] tail', "no JSON from byte 11"),
        (b'{"messages": []} tail', "no JSON from byte 17"),
        (b'{"notes": []}', "without a list under 'messages'.*'notes'"),
        (b'"text"', "neither a list"),
    ],
)
def test_a_document_that_is_not_whole_says_where(data: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        split_items(data)


def test_packed_files_are_unpacked_and_others_read_as_they_are(tmp_path: Path) -> None:
    content = b'{"a": 1}\n' * 100
    members = gzip.compress(content[:450]) + gzip.compress(content[450:])
    frames = zstd.compress(content[:450]) + zstd.compress(content[450:])
    for name, packed in (("plain", content), ("gz", members), ("zst", frames)):
        (tmp_path / name).write_bytes(packed)
        assert read_file(tmp_path / name) == content


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_a_packed_file_that_is_cut_or_damaged_is_one_clear_error(tmp_path: Path, pack: type) -> None:
    packed = bytes(pack(bytes(range(256)) * 50))
    for bad in (packed[:-20], packed + b"\x1f\x8b no archive"):
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(FormatError, match=r"cut off|damaged"):
            read_file(tmp_path / "bad")


def test_only_edited_records_change_and_their_pieces_undo_them() -> None:
    data = b'[ {"role":"user","content":"a"},\n  {"role":"tool","tool_call_id":"c","content":"b"} ]\n'
    transcript = openai_chat.parse(data)
    edit = Edit(place=Place(record=1, path=("content",)), value="short")
    rendered = render(transcript, [edit])
    assert rendered.data == data.replace(b'"b"', b'"short"')
    (change,) = rendered.changes
    assert change.record == 1
    old = restore_pieces(change.raw, change.pieces)
    assert replace_records(openai_chat.parse(rendered.data).source, {1: old}) == data


def test_values_are_rendered_into_a_new_list_and_the_given_one_stays() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "c", "content": "b"}]
    before = json.dumps(messages)
    transcript = openai_chat.parse_messages(messages)
    new = render_values(transcript, [Edit(place=Place(record=1, path=("content",)), value="x")])
    assert new == [messages[0], {**messages[1], "content": "x"}]
    assert new[0] is messages[0]
    assert json.dumps(messages) == before
    with pytest.raises(FormatError, match="given as values"):
        render(transcript, [])
