"""Every promise of a compaction, checked on one transcript from its bytes: before, after, report, and undone.

`check_compaction` says in words what is broken; an empty list is a compaction that kept its word. The rules here are
written from the promises and compare whole values; of the product they use the readers, the masking and the digest.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from provider_rules import provider_faults
from reefknot.flows.restore import restore_data
from reefknot.formats.registry import FORMATS, detect, parse
from reefknot.model.encoding import to_bytes, to_text
from reefknot.model.message import Message, Place, ToolCall, ToolResult
from reefknot.model.report import Compacted
from reefknot.model.transcript import Transcript
from reefknot.store.base import Store
from reefknot.text.secrets import Masked, mask
from reefknot.text.tokens import TokenCounter

__all__ = ["Checked", "check_compaction", "json_strings_masked"]

RECENT = 6  # newest messages that never change
LONG_LINE = 40  # characters from which a line that was cut may not stay in the host's own copy of a result
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NUMBERED = re.compile(r"\s*\d+(?:\u2192|\t|[:-])")


@dataclass(slots=True, kw_only=True)
class Checked:
    """`broken`: promises that were not kept. `stored`: (reference, SHA-256 of what it must give back)."""

    broken: list[str] = field(default_factory=list[str])
    stored: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    masked: int = 0
    exact: bool = True  # what came back equals the source byte for byte


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changed:
    """One result (with its copies) or one argument whose text differs afterwards."""

    message: int
    call: str
    part: str
    old: str
    new: str
    places: tuple[Place, ...]
    results: tuple[ToolResult, ...] = ()


@lru_cache(maxsize=4096)
def _mask(text: str) -> Masked:
    return mask(text)


def check_compaction(data: bytes, compacted: Compacted, store: Store, counter: TokenCounter) -> Checked:
    """All promises that one compaction of `data` makes."""
    checked = Checked()
    assert compacted.data is not None
    before = parse(data)
    report = compacted.report
    if before.faults:
        if compacted.data != data or report.action != "unchanged" or not report.reason.startswith(before.faults[0]):
            checked.broken.append("a transcript with faults was not passed through with a reason")
        return checked
    if detect(compacted.data) != before.format:
        checked.broken.append(f"it came in as {before.format} and went out as {detect(compacted.data)}")
        return checked
    after = parse(compacted.data, before.format)
    checked.broken += _shape(before, after)
    if checked.broken:
        return checked
    changed = [*_changed(before, after)]
    checked.broken += [
        *_pinned(before, after, changed),
        *_sources(before, after, changed),
        *_sizes(changed, data, compacted.data, counter),
        *_totals(before, after, changed, compacted, counter),
        *_mirrors(before, after, changed),
        *(
            f"a provider would refuse: {fault}"
            for fault in provider_faults(after)
            if fault not in provider_faults(before)
        ),
    ]
    refs = {(part.message, part.call, part.part): part.ref for part in report.references}
    wanted: dict[tuple[int, str, str], list[_Changed]] = {}
    for one in changed:
        wanted.setdefault((one.message, one.call, one.part), []).append(one)
    names = [part.ref for part in report.references]
    if Counter((part.message, part.call, part.part) for part in report.references) != Counter(
        {key: len(ones) for key, ones in wanted.items()}
    ):
        checked.broken.append("the references of the report are not those of what changed")
    if len(refs) == len(names):
        checked.stored = [
            (refs[key], hashlib.sha256(to_bytes(_mask(ones[0].old).text)).hexdigest())
            for key, ones in wanted.items()
            if key in refs
        ]
    checked.masked = sum(_mask(one.old).count for one in changed)
    if report.masked_secrets != checked.masked:
        checked.broken.append(f"{report.masked_secrets} secrets reported as masked, {checked.masked} there")
    checked.broken += _undone(before, changed, compacted.data, data, store, checked)
    return checked


def _shape(before: Transcript, after: Transcript) -> Iterator[str]:
    """Messages, calls and results in order."""
    old, new = [_outline(message) for message in before.messages], [_outline(message) for message in after.messages]
    if len(old) != len(new):
        yield f"{len(old)} messages before, {len(new)} after"
    elif old != new:
        first = next(index for index, (one, other) in enumerate(zip(old, new, strict=True)) if one != other)
        yield f"message {first} is {new[first]} after, {old[first]} before"
    if len(before.hidden) != len(after.hidden) or before.faults != after.faults or before.session != after.session:
        yield "what stands beside the conversation is not the same"


def _outline(message: Message) -> tuple[Any, ...]:
    return message.role, message.records, tuple(_kind(block) for block in message.blocks)


def _kind(block: Any) -> tuple[Any, ...]:
    match block:
        case ToolCall():
            return "call", block.id, block.tool, tuple(argument.name for argument in block.arguments)
        case ToolResult():
            return "result", block.call_id, len(block.parts), block.is_error, block.media, len(block.copies)
        case _:
            return ("text", block)  # what was written stays as it is


def _changed(before: Transcript, after: Transcript) -> Iterator[_Changed]:
    for index, (old_message, new_message) in enumerate(zip(before.messages, after.messages, strict=True)):
        for old, new in zip(old_message.calls, new_message.calls, strict=True):
            for one, other in zip(old.arguments, new.arguments, strict=True):
                if one.text != other.text:
                    yield _Changed(
                        message=index, call=old.id, part="argument", old=one.text, new=other.text, places=(one.place,)
                    )
        for result, shown in zip(old_message.results, new_message.results, strict=True):
            if result.parts != shown.parts:
                all_results = (result, *result.copies)
                yield _Changed(
                    message=index,
                    call=result.call_id,
                    part="result",
                    old=result.text,
                    new=shown.text,
                    places=tuple(part.place for one in all_results for part in one.parts),
                    results=all_results,
                )


def _pinned(before: Transcript, after: Transcript, changed: Sequence[_Changed]) -> Iterator[str]:
    prompt = next((index for index, message in enumerate(before.messages) if message.is_prompt), 0)
    recent = len(before.messages) - RECENT
    for one in changed:
        if one.message <= prompt or one.message >= recent:
            yield f"the {one.part} of {one.call} in message {one.message} is pinned and changed"
    if [result.parts for result in before.hidden] != [result.parts for result in after.hidden]:
        yield "a result outside of the conversation changed"


def _sources(before: Transcript, after: Transcript, changed: Sequence[_Changed]) -> Iterator[str]:
    """Bytes: only the places of what changed (and the host's copies of it) differ, in records that hold such."""
    allowed: dict[int, set[tuple[str | int, ...]]] = {}
    progress = _progress(before)
    spec = FORMATS[before.format]
    results = {result.call_id: result for message in before.messages for result in message.results}
    for one in changed:
        for place in one.places:
            allowed.setdefault(place.record, set()).add(place.path)
        own = results.get(one.call)
        for result in (own, *own.copies) if own else ():
            if (mirror := spec.mirror_place(before, result)) is not None:
                allowed.setdefault(mirror.record, set()).add(mirror.path)
        for record in progress.get(one.call, ()):
            allowed.setdefault(record, set()).update({("data", "output"), ("data", "fullOutput")})
        for result in one.results:
            if (reference := spec.reference_place(result)) is not None:
                allowed.setdefault(reference.record, set()).add((*reference.path, "ref"))
    if before.source.glue != after.source.glue or len(before.source.records) != len(after.source.records):
        yield "what stands between the records changed"
        return
    for index, (old, new) in enumerate(zip(before.source.records, after.source.records, strict=True)):
        if old.raw == new.raw:
            continue
        if index not in allowed:
            yield f"record {index} changed and holds nothing that was shortened"
        else:
            differing = [path for path in _differences(old.value, new.value, ()) if not _below(path, allowed[index])]
            if differing:
                yield f"record {index} changed at {differing[:3]}"
            elif len(new.raw or b"") >= len(old.raw or b"") and before.format != "neutral":
                yield f"record {index} grew from {len(old.raw or b'')} to {len(new.raw or b'')} bytes"


def _below(path: tuple[str | int, ...], allowed: set[tuple[str | int, ...]]) -> bool:
    return any(path[:length] in allowed for length in range(len(path) + 1))


def _differences(old: Any, new: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != [key for key in new if key in old]:
            yield path
        for key in {**old, **new}:
            if key not in old or key not in new:
                yield (*path, key)
            else:
                yield from _differences(old[key], new[key], (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, (*path, index))
    elif old != new or type(old) is not type(new):
        yield path


def _sizes(changed: Sequence[_Changed], data: bytes, new_data: bytes, counter: TokenCounter) -> Iterator[str]:
    counts = counter.count_many([text for one in changed for text in (one.old, one.new)])
    for one, old, new in zip(changed, counts[::2], counts[1::2], strict=True):
        if new >= old or len(one.new) >= len(one.old):
            yield f"the {one.part} of {one.call} grew: {old} -> {new} tokens, {len(one.old)} -> {len(one.new)} characters"
    if len(new_data) > len(data):
        yield f"the file grew from {len(data)} to {len(new_data)} bytes"
    if not changed and new_data != data:
        yield "the file changed, and nothing in the conversation did"


def _totals(
    before: Transcript, after: Transcript, changed: Sequence[_Changed], compacted: Compacted, counter: TokenCounter
) -> Iterator[str]:
    """The numbers of the report against numbers counted here."""
    report = compacted.report
    results = [result for message in before.messages for result in message.results]
    shown = [result for message in after.messages for result in message.results]
    whole = len(results) + sum(len(result.copies) for result in results) + len(before.hidden)
    shortened = sum(len(one.results) for one in changed)
    if sum(report.results.values()) != whole or report.results["kept"] != whole - shortened:
        yield f"results in the report: {report.results}; there are {whole}, {shortened} of them changed"
    calls = [call for message in before.messages for call in message.calls]
    cut = {one.call for one in changed if one.part == "argument"}
    if report.arguments != {"kept": len(calls) - len(cut), "excerpted": len(cut)} or report.calls != len(calls):
        yield f"arguments in the report: {report.arguments}, {report.calls} calls; there are {len(calls)}, {len(cut)} cut"
    if report.messages != len(before.messages) or report.format != before.format:
        yield "the report counts other messages or names another format"
    if (report.action == "compacted") != bool(changed):
        yield f"the report says {report.action}, and {len(changed)} texts changed"
    first = min((one.message for one in changed), default=None)
    if report.first_changed_message != first:
        yield f"the first changed message is {first}, the report says {report.first_changed_message}"
    old_tokens = sum(counter.count_many([result.text for result in results]))
    new_tokens = sum(counter.count_many([result.text for result in shown]))
    if report.result_tokens_before != old_tokens:
        yield f"{report.result_tokens_before} tokens of results before in the report, {old_tokens} counted"
    joined = sum(len(result.parts) for result in results if len(result.parts) > 1)
    if not -joined <= report.result_tokens_after - new_tokens <= joined:
        yield f"{report.result_tokens_after} tokens of results after in the report, {new_tokens} counted"
    sizes = [_text_tokens(transcript, counter) for transcript in (before, after)]
    if report.tokens_before != sizes[0] or not -joined <= report.tokens_after - sizes[1] <= joined:
        yield f"{report.tokens_before} -> {report.tokens_after} tokens in the report, {sizes[0]} -> {sizes[1]} counted"
    if report.tokens_after > report.tokens_before or report.result_tokens_after > report.result_tokens_before:
        yield "tokens grew"


def _text_tokens(transcript: Transcript, counter: TokenCounter) -> int:
    texts: list[str] = []
    media = 0
    for message in transcript.messages:
        for block in message.blocks:
            if isinstance(block, ToolCall):
                texts.append(block.input_text)
            else:
                media += sum(item.tokens for item in getattr(block, "media", ())) + getattr(block, "tokens", 0)
                texts.append(getattr(block, "text", ""))
    return sum(counter.count_many(texts)) + media


def _mirrors(before: Transcript, after: Transcript, changed: Sequence[_Changed]) -> Iterator[str]:
    """No long line that was cut stays in the host's own copy of a result."""
    spec = FORMATS[before.format]
    results = {result.call_id: result for message in after.messages for result in message.results}
    calls = {call.id: call for message in after.messages for call in message.calls}
    progress = _progress(after)
    for one in changed:
        result = results.get(one.call)
        if result is None:
            continue
        held = "\n".join(
            text
            for copy in (result, *result.copies)
            if (place := spec.mirror_place(after, copy)) is not None
            for text in _strings(_at(after, place))
        )
        held = "\n".join([held, *(text for record in progress.get(one.call, ()) for text in _printed(after, record))])
        if not held:
            continue
        visible = "\n".join([result.text, *(argument.text for argument in calls[one.call].arguments)])
        lines = {line for text in one.old.split("\n") for line in (text, _NUMBERED.sub("", text, count=1))}
        left = [line for line in lines if len(line) >= LONG_LINE and line in held and line not in visible]
        if left:
            yield f"{len(left)} lines cut from the {one.part} of {one.call} stay in its mirror: {left[0][:80]!r}"


def _progress(transcript: Transcript) -> dict[str, list[int]]:
    """By call id, the lines in which a host noted what a command had printed up to then."""
    found: dict[str, list[int]] = {}
    for index, record in enumerate(transcript.source.records):
        if isinstance(record.value, dict) and record.value.get("type") == "progress":
            found.setdefault(str(record.value.get("parentToolUseID")), []).append(index)
    return found


def _printed(transcript: Transcript, record: int) -> Iterator[str]:
    value: Any = transcript.source.records[record].value
    if value.get("data", {}).get("type") == "bash_progress":
        yield from _strings(value["data"])


def _at(transcript: Transcript, place: Place) -> Any:
    value: Any = transcript.source.records[place.record].value
    for key in place.path:
        value = value[key]
    return value


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)


def _undone(
    before: Transcript, changed: Sequence[_Changed], new_data: bytes, data: bytes, store: Store, checked: Checked
) -> Iterator[str]:
    """Restored, the file is the source; where secrets were masked, it differs in those spans only."""
    restored = restore_data(new_data, store, before.format)
    if restored.lost or restored.message:
        yield f"originals are gone: {restored.lost} {restored.message}"
    if restored.data == data:
        return
    checked.exact = False
    assert restored.data is not None
    back = parse(restored.data, before.format)
    if back.source.glue != before.source.glue or len(back.source.records) != len(before.source.records):
        yield "restored, the file has other records"
        return
    together = _masked_parts(changed)
    for index, (old, new) in enumerate(zip(before.source.records, back.source.records, strict=True)):
        if old.raw != new.raw and not json_strings_masked(old.raw or b"", new.raw or b"", together):
            yield f"record {index} does not come back, masked spans excepted"


def json_strings_masked(old: bytes, new: bytes, together: Mapping[str, str] | None = None) -> bool:
    """Whether two JSON texts differ in nothing but secrets that are masked in strings of the new one.

    `together`: texts whose masked form depends on what stands beside them, and that form.
    """
    gaps = _STRING.split(old)
    if gaps != _STRING.split(new):
        return False
    olds, news = _STRING.findall(old), _STRING.findall(new)
    names = [b"", *(one if gap.strip() == b":" else b"" for one, gap in zip(olds, gaps[1:], strict=False))]
    return all(
        one == other or _is_masked(one, other, name, together or {})
        for one, other, name in zip(olds, news, names, strict=False)
    )


def _is_masked(old: bytes, new: bytes, name: bytes, together: Mapping[str, str]) -> bool:
    """Whether a string of JSON is the old one with its secrets masked; it may hold JSON itself."""
    text, shown = json.loads(to_text(old)), json.loads(to_text(new))
    if shown in (_mask(text).text, together.get(text)):
        return True
    if name and _mask(f'{to_text(name)}: "{text}"').text == f'{to_text(name)}: "{shown}"':
        return True
    return text.lstrip().startswith("{") and json_strings_masked(to_bytes(text), to_bytes(shown), together)


def _masked_parts(changed: Sequence[_Changed]) -> dict[str, str]:
    """The texts of results of several parts, each with what the masking of the whole makes of it."""
    parts: dict[str, str] = {}
    for result in (result for one in changed for result in one.results if len(result.parts) > 1):
        lines, start = _mask(result.text).text.split("\n"), 0
        for part in result.parts:
            end = start + part.text.count("\n") + 1
            parts[part.text] = "\n".join(lines[start:end])
            start = end
    return parts
