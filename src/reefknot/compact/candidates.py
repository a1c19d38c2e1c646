"""What of a transcript may be shortened, and what is known about each such text.

Candidates are old tool results, and large strings in the input of old calls. Everything that must not change is left
out here, once: system text, all up to the first user message, the newest messages, what is protected, and results
without a call.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from reefknot.compact.reads import Changes, Read, classify, effects, supersedes
from reefknot.model.message import Argument, ToolCall, ToolResult
from reefknot.model.settings import Settings
from reefknot.model.transcript import Transcript
from reefknot.text.secrets import Masked, mask
from reefknot.text.tokens import TokenCounter

__all__ = ["LARGE_ARGUMENT", "Candidate", "Survey", "stored_result_tokens", "survey"]

LARGE_ARGUMENT = 600  # characters; a shorter argument tells what was done and stays


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One text that may be shortened. `position` counts results from the first; an argument has that of its result.

    `read`: the call is a read that a re-run still gives back. `superseded`: a later call shows the same, or what was
    read has changed since. `repeat_of`: a later call gave the same text, to the letter, or nearly (`is_near`).
    """

    message: int
    part: Literal["result", "argument"]
    call: ToolCall
    result: ToolResult | None
    argument: Argument | None
    text: str
    tokens: int
    masked: Masked
    position: int
    read: Read | None = None
    superseded: bool = False
    repeat_of: str = ""
    is_near: bool = False

    @property
    def is_error(self) -> bool:
        return self.result is not None and self.part == "result" and self.result.is_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A transcript measured: its candidates in order, and why each other result stays as it is, with its tokens.

    `stays` are the texts that stay in view whatever happens. `text_tokens` is the size of every text of the transcript,
    media included.
    """

    candidates: tuple[Candidate, ...]
    kept_reasons: dict[str, tuple[str, int]]
    stays: tuple[str, ...]
    text_tokens: int
    result_tokens: int
    results: int
    calls: int
    tools: frozenset[str]


@dataclass(slots=True)
class _Pair:
    call: ToolCall
    call_message: int
    result: ToolResult
    result_message: int
    text: str
    tokens: int
    position: int


def first_open_message(transcript: Transcript) -> int:
    """Index of the first message after the first user message: all before it stays."""
    for index, message in enumerate(transcript.messages):
        if message.is_prompt:
            return index + 1
    return 0 if not transcript.messages else 1


def survey(
    transcript: Transcript, counter: TokenCounter, settings: Settings, protect: Collection[str], with_arguments: bool
) -> Survey:
    """Measure a transcript and find what in it may be shortened."""
    first_open = first_open_message(transcript)
    first_recent = max(first_open, len(transcript.messages) - settings.preserve_recent)
    calls: dict[str, tuple[int, ToolCall]] = {}
    plain: list[str] = []
    argument_texts: list[str] = []
    pairs: list[_Pair] = []
    reasons: dict[str, tuple[str, int]] = {}
    orphans: list[str] = []
    media = 0
    for index, message in enumerate(transcript.messages):
        for block in message.blocks:
            match block:
                case ToolCall():
                    calls[block.id] = (index, block)
                    argument_texts.append(block.input_text)
                case ToolResult():
                    media += sum(item.tokens for item in block.media)
                    if block.call_id not in calls:
                        orphans.append(block.text)
                        reasons[block.call_id] = ("its call is not in the transcript", 0)
                        continue
                    call_index, call = calls[block.call_id]
                    pairs.append(_Pair(call, call_index, block, index, block.text, 0, len(pairs)))
                case _:
                    media += getattr(block, "tokens", 0)
                    plain.append(getattr(block, "text", ""))
    for pair, tokens in zip(pairs, counter.count_many([pair.text for pair in pairs]), strict=True):
        pair.tokens = tokens
    outside = [*plain, *argument_texts]
    orphan_tokens = sum(counter.count_many(orphans))
    result_tokens = sum(pair.tokens for pair in pairs) + orphan_tokens
    text_tokens = sum(counter.count_many(outside)) + result_tokens + media
    protected_tools = {*settings.protect_tools, *protect}
    open_pairs: list[_Pair] = []
    for pair in pairs:
        reason = _why_kept(pair, first_open, first_recent, protected_tools)
        if reason:
            reasons[pair.call.id] = (reason, pair.tokens)
        else:
            open_pairs.append(pair)
    candidates = [*_results(open_pairs, pairs)]
    if with_arguments:
        answered = {pair.call.id: pair.position for pair in pairs}
        candidates += _arguments(transcript, counter, first_open, first_recent, protected_tools, answered)
        candidates.sort(key=lambda candidate: (candidate.message, candidate.part == "result"))
    open_ids = {pair.call.id for pair in open_pairs}
    stays = [*outside, *orphans, *(pair.text for pair in pairs if pair.call.id not in open_ids)]
    return Survey(
        candidates=tuple(candidates),
        kept_reasons=reasons,
        stays=tuple(stays),
        text_tokens=text_tokens,
        result_tokens=result_tokens,
        results=len(pairs) + len(orphans),
        calls=len(argument_texts),
        tools=frozenset(call.tool for _, call in calls.values()),
    )


def stored_result_tokens(found: Survey, counter: TokenCounter) -> int:
    """The size of all results with the secrets masked in those that may be shortened.

    That is how they come back from a store: a share of it is the same before a compaction and after it.
    """
    secret = [one for one in found.candidates if one.part == "result" and one.masked.count]
    return found.result_tokens + sum(
        tokens - one.tokens
        for one, tokens in zip(secret, counter.count_many([one.masked.text for one in secret]), strict=True)
    )


def _why_kept(pair: _Pair, first_open: int, first_recent: int, protected: Collection[str]) -> str:
    """Why a pair is never changed; empty when it may be."""
    if pair.call_message < first_open or pair.result_message < first_open:
        return "it stands before the end of the first user message"
    if pair.call_message >= first_recent or pair.result_message >= first_recent:
        return "it belongs to the newest messages"
    if pair.call.id in protected:
        return "its call id is protected"
    if pair.call.tool in protected:
        return "its tool is protected"
    return ""


def _results(open_pairs: Sequence[_Pair], pairs: Sequence[_Pair]) -> list[Candidate]:
    reads = {
        pair.position: classify(pair.call.tool, pair.call.input, pair.text, pair.result.is_error) for pair in pairs
    }
    superseded, invalid = _file_state(pairs, reads)
    repeats = _repeats(open_pairs, pairs)
    candidates: list[Candidate] = []
    for pair in open_pairs:
        repeat_of, is_near = repeats.get(pair.position, ("", False))
        read = reads[pair.position]
        candidates.append(
            Candidate(
                message=pair.result_message,
                part="result",
                call=pair.call,
                result=pair.result,
                argument=None,
                text=pair.text,
                tokens=pair.tokens,
                masked=mask(pair.text),
                position=pair.position,
                read=None if pair.position in invalid else read,
                superseded=pair.position in superseded or pair.position in invalid,
                repeat_of=repeat_of,
                is_near=is_near,
            )
        )
    return candidates


def _file_state(pairs: Sequence[_Pair], reads: dict[int, Read | None]) -> tuple[set[int], set[int]]:
    """Reads that a later read gives again, and reads of what a later call changed."""
    superseded: set[int] = set()
    invalid: set[int] = set()
    changed = [effects(pair.call.tool, pair.call.input, pair.result.is_error, pair.text) for pair in pairs]
    later_changes = Changes(edited=changed)
    later_reads: dict[str, list[Read]] = {}
    for pair, change in zip(reversed(pairs), reversed(changed), strict=True):
        read = reads[pair.position]
        if read is not None:
            if later_changes.touch(read):
                invalid.add(pair.position)
            keys = [path.rpartition("/")[2] for path in read.reads] if read.kind == "file" else [read.label]
            if any(supersedes(later, read) for key in keys for later in later_reads.get(key, ())):
                superseded.add(pair.position)
            for key in keys:
                later_reads.setdefault(key, []).append(read)
        later_changes.append(change)
    return superseded, invalid


def _repeats(open_pairs: Sequence[_Pair], pairs: Sequence[_Pair]) -> dict[int, tuple[str, bool]]:
    """For each result that a later one repeats: that one's call id, and whether only nearly.

    The newest copy carries the text: it is the one that work goes on with. Near repeats are looked for among
    the results of equal calls only (a poll), the next one at most.
    """
    newest: dict[str, _Pair] = {}
    next_alike: dict[str, _Pair] = {}
    repeats: dict[int, tuple[str, bool]] = {}
    open_positions = {pair.position for pair in open_pairs}
    for pair in reversed(pairs):
        alike = f"{pair.call.tool}\0{pair.call.input_text}"
        carrier = newest.get(pair.text)
        if carrier is not None and len(pair.text) > 0:
            if pair.position in open_positions:
                repeats[pair.position] = (carrier.call.id, False)
        else:
            newest[pair.text] = pair
            following = next_alike.get(alike)
            if following is not None and pair.position in open_positions and _nearly(pair.text, following.text):
                repeats[pair.position] = (following.call.id, True)
        next_alike[alike] = pair
    return repeats


NEAR = 0.8  # share of lines in common from which two outputs of one call are near repeats


def _nearly(text: str, other: str) -> bool:
    lines, others = set(text.split("\n")), set(other.split("\n"))
    return len(lines) > 2 and len(lines & others) >= NEAR * max(len(lines), len(others))


def _arguments(
    transcript: Transcript,
    counter: TokenCounter,
    first_open: int,
    first_recent: int,
    protected: Collection[str],
    answered: dict[str, int],
) -> list[Candidate]:
    """Large strings in old call inputs. A message with thinking stays as it is: providers verify it as one."""
    found: list[tuple[int, ToolCall, Argument]] = []
    for index in range(first_open, first_recent):
        message = transcript.messages[index]
        if message.has_thinking:
            continue
        for call in message.calls:
            if call.id in answered and call.id not in protected and call.tool not in protected:
                found += [
                    (index, call, argument) for argument in call.arguments if len(argument.text) >= LARGE_ARGUMENT
                ]
    counts = counter.count_many([argument.text for _, _, argument in found])
    return [
        Candidate(
            message=index,
            part="argument",
            call=call,
            result=None,
            argument=argument,
            text=argument.text,
            tokens=tokens,
            masked=mask(argument.text),
            position=answered[call.id],
        )
        for (index, call, argument), tokens in zip(found, counts, strict=True)
    ]
