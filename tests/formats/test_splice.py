"""Splicing is exact in both directions, whatever the record's style."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_writer import strings, values, write

from reefknot.errors import FormatError
from reefknot.formats.json_text import decode_bytes, load_value
from reefknot.formats.splice import edit_value, restore_pieces, splice
from reefknot.model.message import Path, Place
from reefknot.model.transcript import Edit


def edit(*path: str | int, value: Any, inner: Path | None = None, key: str | None = None) -> Edit:
    return Edit(place=Place(record=0, path=path, inner=inner), value=value, key=key)


def string_paths(value: Any, path: Path = ()) -> list[Path]:
    if isinstance(value, str):
        return [path]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in pairs for found in string_paths(item, (*path, key))]


def object_paths(value: Any, path: Path = ()) -> list[Path]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    own = [path] if isinstance(value, dict) else []
    return own + [found for key, item in pairs for found in object_paths(item, (*path, key))]


def look_up(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


@st.composite
def edited_records(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    """A record in a random style, and edits at some of its strings and objects."""
    raw = write(draw, draw(values)).encode("utf-8", "surrogateescape")
    value = json.loads(decode_bytes(raw))
    places = string_paths(value)
    chosen = draw(st.lists(st.sampled_from(places), unique=True, max_size=4)) if places else []
    edits = [edit(*path, value=draw(strings | values)) for path in chosen]
    objects = [path for path in object_paths(value) if "added" not in look_up(value, path)]
    if objects:
        chosen = draw(st.lists(st.sampled_from(objects), unique=True, max_size=2))
        edits += [edit(*path, value=draw(values), key="added") for path in chosen]
    return raw, edits


@given(edited_records())
def test_a_splice_changes_the_values_asked_for_and_no_other_byte(case: tuple[bytes, list[Edit]]) -> None:
    raw, edits = case
    spliced = splice(raw, edits)
    assert json.loads(decode_bytes(spliced.raw)) == edit_value(json.loads(decode_bytes(raw)), edits)
    assert restore_pieces(spliced.raw, spliced.pieces) == raw
    assert len(spliced.pieces) == len(edits)


@given(edited_records())
def test_writing_the_same_text_leaves_an_equal_value(case: tuple[bytes, list[Edit]]) -> None:
    raw, _ = case
    value = json.loads(decode_bytes(raw))
    same = [edit(*path, value=look_up(value, path)) for path in string_paths(value)]
    assert json.loads(decode_bytes(splice(raw, same).raw)) == value


@given(st.data())
def test_strings_inside_a_json_string_are_changed_in_place(data: st.DataObject) -> None:
    arguments = {"first": data.draw(strings), "list": [data.draw(strings), {"deep": data.draw(strings)}], "n": 1}
    inner = write(data.draw, arguments)
    raw = write(data.draw, {"id": "c", "arguments": inner, "tail": [1]}).encode("utf-8", "surrogateescape")
    inner = json.loads(decode_bytes(raw))["arguments"]
    places: list[Path] = [("first",), ("list", 0), ("list", 1, "deep")]
    chosen = data.draw(st.lists(st.sampled_from(places), unique=True, min_size=1))
    edits = [edit("arguments", inner=path, value=data.draw(strings)) for path in chosen]
    spliced = splice(raw, edits)
    new = json.loads(decode_bytes(spliced.raw))
    for one in edits:
        assert look_up(json.loads(new["arguments"]), one.place.inner or ()) == one.value
    rest = [path for path in places if path not in chosen]
    for path in rest:
        assert look_up(json.loads(new["arguments"]), path) == look_up(json.loads(inner), path)
    assert restore_pieces(spliced.raw, spliced.pieces) == raw
    assert edit_value(json.loads(decode_bytes(raw)), edits)["tail"] == [1]  # type: ignore[index,call-overload]
    assert json.loads(edit_value({"arguments": inner}, edits)["arguments"]) == json.loads(new["arguments"])  # type: ignore[index,call-overload,arg-type]


def test_blanks_escapes_numbers_and_key_order_outside_the_place_stay() -> None:
    raw = b'{ "b":\t1.50e+3, "a" : ["\\u00e9\\/", "old"] , "c":12345678901234567890.10 }'
    assert splice(raw, [edit("a", 1, value="new")]).raw == raw.replace(b'"old"', b'"new"')


def test_blanks_and_escapes_inside_a_json_string_stay() -> None:
    raw = rb'{"arguments": "{ \"p\":\u0022a\\u002fb\", \"content\" : \"old\", \"n\":1.0}"}'
    new = splice(raw, [edit("arguments", inner=("content",), value='say "hi"')]).raw
    assert new == raw.replace(rb"\"old\"", rb"\"say \\\"hi\\\"\"")


def test_of_equal_keys_the_last_one_is_changed() -> None:
    assert splice(b'{"a":"1","a":"2"}', [edit("a", value="3")]).raw == b'{"a":"1","a":"3"}'


def test_a_record_of_escapes_gets_escapes_and_a_literal_one_gets_letters() -> None:
    assert splice(b'{"a":"\\u2026","b":"x"}', [edit("b", value="\u00e9")]).raw == b'{"a":"\\u2026","b":"\\u00e9"}'
    assert splice(b'{"a":"\\u001b","b":"x"}', [edit("b", value="\u00e9")]).raw == b'{"a":"\\u001b","b":"\xc3\xa9"}'
    assert splice('{"a":"…","b":"x"}'.encode(), [edit("b", value="\u00e9")]).raw == '{"a":"…","b":"é"}'.encode()


def test_half_a_surrogate_pair_is_escaped_and_a_broken_byte_stays_a_byte() -> None:
    assert splice('{"a":"…"}'.encode(), [edit("a", value="\ud83d")]).raw == b'{"a":"\\ud83d"}'
    assert splice(b'{"a":"x\xff y"}', [edit("a", value="x\udcff")]).raw == b'{"a":"x\xff"}'


@pytest.mark.parametrize(
    ("raw", "new"),
    [
        (b"{}", b'{"ref":"r"}'),
        (b'{"a":1}', b'{"a":1,"ref":"r"}'),
        (b'{"a": 1}', b'{"a": 1, "ref": "r"}'),
        (b'{"a": 1, "b": 2}', b'{"a": 1, "b": 2, "ref": "r"}'),
        (b'{\n  "a": 1\n}', b'{\n  "a": 1,\n  "ref": "r"\n}'),
        (b'{"ref":"old","a":1}', b'{"ref":"r","a":1}'),
    ],
)
def test_a_member_is_added_in_the_style_of_its_object(raw: bytes, new: bytes) -> None:
    spliced = splice(raw, [edit(value="r", key="ref")])
    assert spliced.raw == new
    assert restore_pieces(new, spliced.pieces) == raw


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([edit("x", value="")], "there is no 'x'"),
        ([edit("s", "y", value="")], "no members"),
        ([edit("l", 7, value="")], "there is no 7"),
        ([edit("l", value="", key="k")], "no members"),
        ([edit("s", value=""), edit("s", value="", inner=())], "same value"),
        ([edit("s", value="", inner=("a",))], "no JSON"),
        ([edit("l", value="", inner=("a",))], "no string"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(edits: list[Edit], reason: str) -> None:
    raw = b'{"s": "text", "l": [1]}'
    with pytest.raises(FormatError, match=reason):
        splice(raw, edits)
    with pytest.raises(FormatError):
        edit_value(load_value(raw), edits)


def test_a_python_value_is_copied_along_the_changed_path_only() -> None:
    value = {"a": [{"t": "x"}, {"t": "y"}], "b": {"c": 1}}
    new = edit_value(value, [edit("a", 1, "t", value="z")])
    assert new == {"a": [{"t": "x"}, {"t": "z"}], "b": {"c": 1}}
    assert value == {"a": [{"t": "x"}, {"t": "y"}], "b": {"c": 1}}
    assert new["b"] is value["b"]  # type: ignore[index,call-overload]
    assert new["a"][0] is value["a"][0]  # type: ignore[index,call-overload]
