"""Generated sessions are the same each time, as long as asked for, and readable in each format."""

import json
from pathlib import Path

import pytest
from sessions import FORMATS, join_real, make_session, render

from reefknot.formats.registry import detect, parse
from reefknot.text.tokens import open_counter

TOKENS = 40_000


def texts_of(data: bytes) -> dict[str, list[str]]:
    """What the agent and the user wrote, each call's input, and each result, in order."""
    messages = parse(data).messages
    return {
        "said": [text for message in messages if message.role != "system" for text in message.texts if text],
        "inputs": [call.input_text for message in messages for call in message.calls],
        "results": [result.text for message in messages for result in message.results],
    }


def test_the_same_seed_gives_the_same_session() -> None:
    assert make_session(TOKENS, seed=3) == make_session(TOKENS, seed=3)
    assert make_session(TOKENS, seed=3) != make_session(TOKENS, seed=4)


def test_a_shorter_session_is_the_beginning_of_a_longer_one() -> None:
    short, long = make_session(TOKENS // 2), make_session(TOKENS)
    assert long[: len(short)] == short


@pytest.mark.parametrize("format", FORMATS)
def test_a_session_has_its_format_and_its_size(format: str) -> None:
    data = render(make_session(TOKENS), format)
    assert detect(data) == format
    transcript = parse(data)
    assert transcript.faults == ()
    assert transcript.notes == ()
    texts = [text for part in texts_of(data).values() for text in part]
    assert TOKENS <= sum(open_counter("o200k").count_many(texts)) < TOKENS * 1.25


def test_all_formats_hold_the_same_session() -> None:
    turns = make_session(TOKENS)
    first, *others = [texts_of(render(turns, name)) for name in FORMATS]
    assert all(other == first for other in others)


def test_a_session_has_each_kind_of_work_and_facts_that_come_up_again() -> None:
    turns = make_session(TOKENS * 3)
    calls = [call for turn in turns for call in turn.calls]
    assert {call.tool for call in calls} == {"Bash", "Edit", "Grep", "Read", "Write"}
    assert any(call.is_error for call in calls)
    assert max(len(turn.calls) for turn in turns) > 1
    results = "\n".join(call.result for call in calls)
    said = {word for turn in turns for word in turn.text.split() if word.startswith("/srv/harbor/")}
    assert said
    assert sum(word.rstrip(".:;,") in results for word in said) > len(said) / 2


def test_real_sessions_are_joined_with_ids_of_their_own(shared: Path) -> None:
    data = join_real(shared, TOKENS)
    messages = json.loads(data)["messages"]
    ids = [call["id"] for message in messages for call in message["calls"]]
    assert len(set(ids)) == len(ids) > 0
    assert parse(data).faults == ()
