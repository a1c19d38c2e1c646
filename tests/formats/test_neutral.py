"""The neutral form."""

import json

from reefknot.formats import neutral
from reefknot.formats.records import render, render_values
from reefknot.model.message import Message, Place, TextBlock, ThinkingBlock, ToolResult
from reefknot.model.transcript import Edit

MESSAGES = [
    {"role": "user", "text": "go", "calls": [], "results": [], "kind": "meta"},
    {
        "role": "assistant",
        "text": "",
        "calls": [{"id": "a", "tool": "read", "input": {"p": "x"}}],
        "results": [],
        "thinking": "hm",
    },
    {"role": "user", "text": "", "calls": [], "results": [{"id": "a", "text": "1", "is_error": False}]},
]


def test_a_document_and_its_bare_list_are_read_alike() -> None:
    whole = neutral.parse(json.dumps({"id": "s", "source": "p", "format": "pi", "messages": MESSAGES}).encode())
    bare = neutral.parse_messages(MESSAGES)
    assert whole.messages == bare.messages
    assert (whole.session, whole.project) == ("s", "p")
    assert bare.messages[0] == Message(role="user", blocks=(TextBlock(text="go"),), records=(0,))
    assert bare.messages[1].blocks[0] == ThinkingBlock(text="hm")
    (call,) = bare.messages[1].calls
    assert call.arguments[0].place == Place(record=1, path=("calls", 0, "input", "p"))


def test_a_reduced_result_carries_its_reference() -> None:
    data = json.dumps({"messages": MESSAGES}).encode()
    transcript = neutral.parse(data)
    (result,) = transcript.messages[2].results
    where = neutral.reference_place(result)
    assert where == Place(record=2, path=("results", 0))
    edits = [Edit(place=result.parts[0].place, value="cut"), Edit(place=where, value="a1b2c3d4", key="ref")]
    written = render(transcript, edits).data
    assert written == data.replace(b'"1", "is_error": false', b'"cut", "is_error": false, "ref": "a1b2c3d4"')
    assert json.loads(written)["messages"] == render_values(transcript, edits)
    assert neutral.reference_place(ToolResult(call_id="a", parts=())) is None
