"""Carry a plan out: store first, then shorten; what is shown can always be given back.

Nothing is written but to the store. What comes back are edits of the source, and what must be remembered about them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reefknot.compact.compose import compose, part_texts
from reefknot.compact.mirror import reduce_mirrors
from reefknot.compact.plan import Decision, Plan
from reefknot.compact.undo import Kept
from reefknot.formats.json_text import compact_json
from reefknot.formats.registry import FormatSpec
from reefknot.model.encoding import to_bytes
from reefknot.model.message import ToolResult
from reefknot.model.reference import Reference
from reefknot.model.report import ChangedPart, Explanation
from reefknot.model.transcript import Edit, Transcript, value_at
from reefknot.store.base import Origin, Original, Reduction, Store
from reefknot.store.digest import digest_text
from reefknot.text.tokens import TokenCounter

__all__ = ["Applied", "Change", "apply_plan", "argument_holder", "result_holder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One candidate that was shortened. `saved` tokens are gone from view; `copies` further results went with it."""

    decision: Decision
    reference: Reference
    texts: tuple[str, ...]
    tokens: int
    copies: int

    @property
    def saved(self) -> int:
        return self.decision.planned.candidate.tokens - self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Edits of the source, and what the store must remember when they are written.

    `stored` finds, for a text of the source, where it is stored (for the undo recipes). `argument_tokens_saved` counts
    the inputs of calls as JSON, before and after.
    """

    changes: tuple[Change, ...]
    argument_tokens_saved: int
    edits: tuple[Edit, ...]
    reductions: tuple[Reduction, ...]
    stored: dict[str, Kept]
    explanations: tuple[Explanation, ...]

    @property
    def parts(self) -> list[ChangedPart]:
        return [
            ChangedPart(
                message=change.decision.planned.candidate.message,
                call=change.decision.planned.candidate.call.id,
                part=change.decision.planned.candidate.part,
                ref=change.reference.name,
            )
            for change in self.changes
        ]


def result_holder(call_id: str, part: int) -> str:
    """The holder of a shortened part of a result (see `reefknot.store.base.Reduction`)."""
    return f"{call_id}\nresult\n{part}"


def argument_holder(call_id: str, name: Sequence[str | int]) -> str:
    """The holder of a shortened argument."""
    return f"{call_id}\nargument\n" + "\n".join(map(str, name))


def apply_plan(transcript: Transcript, plan: Plan, spec: FormatSpec, store: Store, counter: TokenCounter) -> Applied:
    """Store every original that a plan shortens, then compose what stands for it.

    Raises:
        StoreError: an original could not be stored and read back; nothing was shortened then.
    """
    shortened = [decision for decision in plan.decisions if decision.form != "kept"]
    references = store.put_many([_original(transcript, decision) for decision in shortened])
    changes, unchanged = _changes(shortened, references, counter)
    edits: list[Edit] = []
    reductions: list[Reduction] = []
    stored: dict[str, Kept] = {}
    for change in changes:
        edits += _edits(change, spec)
        for reduction, text, kept in _remembered(change):
            reductions.append(reduction)
            stored[text] = kept
    edits += _mirror_edits(transcript, changes, spec)
    kept_whole = [decision for decision in plan.decisions if decision.form == "kept"] + unchanged
    explanations = [
        *(_explain_change(change) for change in changes),
        *(_explain_kept(decision) for decision in kept_whole),
    ]
    return Applied(
        changes=tuple(changes),
        argument_tokens_saved=_argument_tokens_saved(changes, counter),
        edits=tuple(edits),
        reductions=tuple(reductions),
        stored=stored,
        explanations=tuple(explanations),
    )


def _argument_tokens_saved(changes: Sequence[Change], counter: TokenCounter) -> int:
    inputs: dict[str, tuple[str, str]] = {}
    for change in changes:
        candidate = change.decision.planned.candidate
        if candidate.argument is not None:
            before, after = inputs.get(candidate.call.id, (candidate.call.input_text,) * 2)
            after = after.replace(compact_json(candidate.text), compact_json(change.texts[0]), 1)
            inputs[candidate.call.id] = (before, after)
    counts = counter.count_many([text for pair in inputs.values() for text in pair])
    return sum(counts[0::2]) - sum(counts[1::2])


def _original(transcript: Transcript, decision: Decision) -> Original:
    candidate = decision.planned.candidate
    origin = Origin(
        session=transcript.session, project=transcript.project, tool=candidate.call.tool, call_id=candidate.call.id
    )
    return Original(data=to_bytes(candidate.masked.text), origin=origin, masked_secrets=candidate.masked.count)


def _changes(
    shortened: Sequence[Decision], references: Sequence[Reference], counter: TokenCounter
) -> tuple[list[Change], list[Decision]]:
    """The changes that really make a text shorter, and the decisions that (with a longer name) do not."""
    texts = [
        compose(decision.planned, decision.kept, reference.name)
        for decision, reference in zip(shortened, references, strict=True)
    ]
    counts = counter.count_many(["\n".join(parts) for parts in texts])  # as the whole of a result is counted
    changes: list[Change] = []
    unchanged: list[Decision] = []
    for decision, reference, parts, tokens in zip(shortened, references, texts, counts, strict=True):
        candidate = decision.planned.candidate
        if tokens >= candidate.tokens or sum(map(len, parts)) >= len(candidate.text):
            unchanged.append(decision)
            continue
        copies = len(candidate.result.copies) if candidate.result is not None else 0
        changes.append(Change(decision=decision, reference=reference, texts=tuple(parts), tokens=tokens, copies=copies))
    return changes, unchanged


def _edits(change: Change, spec: FormatSpec) -> Iterable[Edit]:
    candidate = change.decision.planned.candidate
    if candidate.argument is not None:
        yield Edit(place=candidate.argument.place, value=change.texts[0])
        return
    assert candidate.result is not None
    for result in (candidate.result, *candidate.result.copies):
        for part, text in zip(result.parts, change.texts, strict=True):
            if part.text != text:
                yield Edit(place=part.place, value=text)
        place = spec.reference_place(result)
        if place is not None:
            yield Edit(place=place, value=change.reference.name, key="ref")


def _remembered(change: Change) -> Iterable[tuple[Reduction, str, Kept]]:
    """For each part that was shortened: the reduction, the text of the source, and where that is stored."""
    candidate = change.decision.planned.candidate
    masked_lines = candidate.masked.text.split("\n")
    line, start = 0, 0
    for index, (text, shown) in enumerate(zip(part_texts(change.decision.planned), change.texts, strict=True)):
        count = text.count("\n") + 1
        masked = "\n".join(masked_lines[line : line + count])
        end = start + len(masked)
        if shown != text:
            holder = (
                argument_holder(candidate.call.id, candidate.argument.name)
                if candidate.argument is not None
                else result_holder(candidate.call.id, index)
            )
            digest = change.reference.digest
            reduction = Reduction(reduced=digest_text(shown), holder=holder, original=digest, start=start, end=end)
            yield reduction, text, Kept(digest=digest, start=start, end=end, masked=masked)
        line, start = line + count, end + 1


def _mirror_edits(transcript: Transcript, changes: Sequence[Change], spec: FormatSpec) -> Iterable[Edit]:
    """The host's structured copies of all results that were shortened, or whose call was."""
    results = {result.call_id: result for message in transcript.messages for result in message.results}
    progress = spec.progress_places(transcript)
    by_call: dict[str, list[Change]] = {}
    for change in changes:
        by_call.setdefault(change.decision.planned.candidate.call.id, []).append(change)
    for call_id, own in by_call.items():
        if call_id not in results:
            continue
        shortened = {
            text: shown
            for change in own
            for text, shown in (
                *zip(part_texts(change.decision.planned), change.texts, strict=True),
                (change.decision.planned.candidate.text, "\n".join(change.texts)),
            )
        }
        visible = _visible(results[call_id], own)
        pointer = f"[reefknot {own[0].reference.name}]"
        mirrors = [spec.mirror_place(transcript, one) for one in (results[call_id], *results[call_id].copies)]
        places = [place for place in (*mirrors, *progress.get(call_id, ())) if place is not None]
        values = [value_at(transcript.source, place) for place in places]
        reduced = reduce_mirrors(values, shortened, visible, pointer)
        for place, value, shorter in zip(places, values, reduced, strict=True):
            if shorter != value:
                yield Edit(place=place, value=shorter)


def _visible(result: ToolResult, own: Sequence[Change]) -> str:
    """What stays in view of a result and of its call's arguments."""
    changed = {change.decision.planned.candidate.part for change in own}
    cut = {change.decision.planned.candidate.text for change in own}
    whole = [argument.text for argument in own[0].decision.planned.candidate.call.arguments if argument.text not in cut]
    if "result" not in changed:
        whole.append(result.text)
    return "\n".join([*("\n".join(change.texts) for change in own), *whole])


def _explain_change(change: Change) -> Explanation:
    planned = change.decision.planned
    candidate = planned.candidate
    lines = {line for line, is_kept in zip(planned.pieces.lines, change.decision.kept, strict=True) if is_kept}
    return Explanation(
        call=candidate.call.id,
        part=candidate.part,
        form=change.decision.form,
        reason=_reason(change.decision),
        tokens_before=candidate.tokens,
        tokens_after=change.tokens,
        ref=change.reference.name,
        lines_kept=len(lines),
        lines_total=planned.pieces.total_lines,
    )


def _explain_kept(decision: Decision) -> Explanation:
    candidate = decision.planned.candidate
    return Explanation(
        call=candidate.call.id,
        part=candidate.part,
        form="kept",
        reason="all of it was worth its tokens",
        tokens_before=candidate.tokens,
        tokens_after=candidate.tokens,
        lines_kept=decision.planned.pieces.total_lines,
        lines_total=decision.planned.pieces.total_lines,
    )


def _reason(decision: Decision) -> str:
    candidate = decision.planned.candidate
    why: dict[str, Callable[[], str]] = {
        "repeated": lambda: f"call {candidate.repeat_of!r} gave the same text later",
        "noted": lambda: (
            "a re-run gives it back"
            + (
                ", and a later read shows it again"
                if candidate.superseded
                else ", and nothing in it was worth its tokens"
            )
        ),
        "evicted": lambda: (
            "what was read has changed since, or is shown by a later read"
            if candidate.superseded
            else "nothing in it was worth its tokens under this target"
        ),
        "excerpted": lambda: (
            "its lines of most value per token stay"
            + (f"; the rest is nearly what call {candidate.repeat_of!r} gave later" if candidate.is_near else "")
            + ("; a later call changed or showed what it read" if candidate.superseded else "")
        ),
    }
    return why[decision.form]()
