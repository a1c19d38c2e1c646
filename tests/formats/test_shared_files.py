"""Every real file of these formats: read, written back, edited and undone, and compared with its neutral copy."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from reefknot.errors import FormatError
from reefknot.formats import registry
from reefknot.formats.records import join, read_file, render, replace_records, restore_pieces
from reefknot.model.message import Place
from reefknot.model.transcript import Edit, Transcript

pytestmark = pytest.mark.slow

READ = ("claude_code", "openai_chat", "tau2")
NO_LIST = ("toolbench", "moatless", "swe_agent", "intercode")  # trees and trajectories


def files(shared: Path, *formats: str) -> Iterator[Path]:
    for name in formats:
        yield from sorted((shared / "transcripts" / "host" / name).iterdir())


def places(transcript: Transcript) -> list[tuple[Place, str]]:
    parts = [part for message in transcript.messages for result in message.results for part in result.parts]
    arguments = [argument for message in transcript.messages for call in message.calls for argument in call.arguments]
    return [(item.place, item.text) for item in [*parts, *arguments]]


def texts_of_results(transcript: Transcript) -> dict[str, str]:
    """Results without images and the like, for which the neutral form has words of its own."""
    results = [result for message in transcript.messages for result in message.results]
    return {result.call_id: result.text for result in results if not result.media}


def check(data: bytes, transcript: Transcript) -> None:
    assert join(transcript.source) == data
    found = places(transcript)
    same = [Edit(place=place, value=text) for place, text in found]
    assert registry.parse(render(transcript, same).data, transcript.format).messages == transcript.messages
    chosen = random.Random(7).sample(found, min(len(found), 25))
    rendered = render(transcript, [Edit(place=place, value="cut") for place, _ in chosen])
    again = registry.parse(rendered.data, transcript.format)
    assert {change.record for change in rendered.changes} == {place.record for place, _ in chosen}
    assert dict(places(again)) == {**dict(found), **{place: "cut" for place, _ in chosen}}
    undone = {change.record: restore_pieces(change.raw, change.pieces) for change in rendered.changes}
    assert replace_records(again.source, undone) == data


def test_every_session_is_written_back_and_every_place_is_true(shared: Path) -> None:
    for path in files(shared, *READ):
        data = read_file(path)
        check(data, registry.parse(data))


def test_every_neutral_session_is_written_back_and_every_place_is_true(shared: Path) -> None:
    for path in sorted((shared / "transcripts" / "neutral").iterdir()):
        data = read_file(path)
        transcript = registry.parse(data)
        assert transcript.format == "neutral"
        check(data, transcript)


def test_sessions_without_a_compaction_hold_the_same_pairs_as_their_neutral_copies(shared: Path) -> None:
    compared = 0
    for path in files(shared, *READ):
        copy = shared / "transcripts" / "neutral" / f"{path.parent.name}__{path.name.split('.json')[0]}.json.gz"
        transcript = registry.parse(read_file(path))
        if not copy.exists() or transcript.hidden or transcript.faults:
            continue
        neutral = registry.parse(read_file(copy))
        compared += 1
        texts, told = texts_of_results(transcript), texts_of_results(neutral)
        assert texts == {call: text for call, text in told.items() if call in texts}, path.name
        calls = [sorted(call.id for message in one.messages for call in message.calls) for one in (transcript, neutral)]
        assert calls[0] == calls[1], path.name
    assert compared > 50


def test_trees_and_trajectories_are_a_clear_error(shared: Path) -> None:
    for path in files(shared, *NO_LIST):
        with pytest.raises(FormatError, match="without a list under 'messages'"):
            registry.parse(read_file(path))
