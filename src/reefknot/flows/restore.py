"""The knot undone: every original that a compaction set aside, put back.

Records of a file that are as the compaction wrote them come back byte for byte; where a host has changed a record
since, each shortened text in it comes back by itself. Both are found by digest in the store.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from reefknot.compact.apply import argument_holder, result_holder
from reefknot.compact.undo import apply_recipe
from reefknot.errors import NotStored
from reefknot.formats.records import render, render_values, replace_records
from reefknot.formats.registry import FORMATS, parse, parse_messages
from reefknot.model.encoding import to_text
from reefknot.model.message import Json, Place, ToolResult
from reefknot.model.reference import find_names
from reefknot.model.transcript import Edit, Transcript, value_at
from reefknot.store.base import Reduction, Store
from reefknot.store.digest import digest_bytes, digest_text

__all__ = ["Restored", "restore", "restore_data", "restore_messages", "shortened_texts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A transcript with its originals in place.

    `records` came back whole, `texts` one by one. `lost` are the call ids of shortened texts whose original the store
    has no more; those stand as they are. `message` says what is missing, if anything is. `strangers` are the names in
    markers that this store has never had: another store's, or mere quotes; only the reader can tell.
    """

    transcript: Transcript
    data: bytes | None
    records: int
    texts: int
    lost: tuple[str, ...] = ()
    message: str = ""
    strangers: tuple[str, ...] = ()


def restore_data(data: bytes, store: Store, format: str | None = None) -> Restored:
    """A file's content with every original put back; `lost` says what could not be."""
    return restore(parse(data, format), store, data)


def restore_messages(messages: list[Json], store: Store, format: str | None = None) -> tuple[list[Json], Restored]:
    """Messages with every original put back: a new list, the one given is not changed."""
    transcript = parse_messages(messages, format)
    edits, texts, lost, message = _text_edits(transcript, store)
    values = render_values(transcript, edits)
    if edits:
        transcript = parse_messages(values, transcript.format)
    strangers, removed = _left_markers(transcript, store)
    return values, Restored(
        transcript=transcript,
        data=None,
        records=0,
        texts=texts,
        lost=lost,
        message=message or removed,
        strangers=strangers,
    )


def restore(transcript: Transcript, store: Store, data: bytes) -> Restored:
    """As `restore_data`, for a file that was parsed already."""
    changed: dict[int, bytes] = {}
    problem = ""
    for index, record in enumerate(transcript.source.records):
        if record.raw is None:
            continue
        undo = store.undo_of(digest_bytes(record.raw))
        if undo is None:
            continue
        try:
            changed[index] = apply_recipe(undo.recipe, record.raw, store.get)
        except NotStored as error:
            problem = str(error)
    if changed:
        data = replace_records(transcript.source, changed)
        transcript = parse(data, transcript.format)
    edits, texts, lost, message = _text_edits(transcript, store)
    if edits:
        data = render(transcript, edits).data
        transcript = parse(data, transcript.format)
    strangers, removed = _left_markers(transcript, store)
    return Restored(
        transcript=transcript,
        data=data,
        records=len(changed),
        texts=texts,
        lost=lost,
        message=message or problem or removed,
        strangers=strangers,
    )


def _left_markers(transcript: Transcript, store: Store) -> tuple[tuple[str, ...], str]:
    """Names in markers that the store does not have: those it never had, and what it says of one that it removed."""
    strangers: dict[str, None] = {}
    removed = ""
    for _, text, _, _, _ in shortened_texts(transcript):
        for name in find_names(text) if "[reefknot " in text else ():
            if name in strangers or store.find(name) is not None:
                continue
            try:
                store.get(name)
            except NotStored as error:
                if "was removed" in str(error):
                    removed = str(error)
                else:
                    strangers[name] = None
    return tuple(strangers), removed


def _text_edits(transcript: Transcript, store: Store) -> tuple[list[Edit], int, tuple[str, ...], str]:
    """Edits that put single texts back, their number, the calls whose originals are gone, and what is missing."""
    edits: list[Edit] = []
    lost: dict[str, None] = {}
    message, texts = "", 0
    spec = FORMATS[transcript.format]
    for call_id, text, holder, place, result in shortened_texts(transcript):
        reduction = store.reduction_of(digest_text(text), holder)
        if reduction is None:
            continue
        try:
            original = _slice(reduction, store)
        except NotStored as error:
            lost[call_id] = None
            message = str(error)
            continue
        texts += 1
        reference_place = spec.reference_place(result) if result is not None else None
        if reference_place is None:
            edits.append(Edit(place=place, value=original))
        else:
            edits.append(_without_reference(transcript, reference_place, place, original))
    return edits, texts, tuple(lost), message


def _without_reference(transcript: Transcript, owner: Place, text: Place, original: str) -> Edit:
    """An edit that puts a text back into the object that owns it, and takes the reference beside it away."""
    value = value_at(transcript.source, owner)
    assert isinstance(value, dict), "a reference stands in an object"
    kept = {key: item for key, item in value.items() if key != "ref"}
    return Edit(place=owner, value={**kept, str(text.path[-1]): original})


def shortened_texts(transcript: Transcript) -> Iterator[tuple[str, str, str, Place, ToolResult | None]]:
    """Every text that may be a shortened one: call id, text, holder, place, and its result (None for an argument)."""
    for message in transcript.messages:
        for call in message.calls:
            for argument in call.arguments:
                yield call.id, argument.text, argument_holder(call.id, argument.name), argument.place, None
        for live in message.results:
            for result in (live, *live.copies):
                yield from _result_texts(result)
    for result in transcript.hidden:
        yield from _result_texts(result)


def _result_texts(result: ToolResult) -> Iterator[tuple[str, str, str, Place, ToolResult | None]]:
    for index, part in enumerate(result.parts):
        yield result.call_id, part.text, result_holder(result.call_id, index), part.place, result


def _slice(reduction: Reduction, store: Store) -> str:
    return to_text(store.get(reduction.original))[reduction.start : reduction.end]
