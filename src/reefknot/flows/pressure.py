"""A transcript is too long: undo what was compacted before, measure, plan, apply, check, report.

Read top to bottom. `compact_data` is for the bytes of a file, `compact_messages` for Python values; both are one flow.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from reefknot.compact.apply import Applied, apply_plan
from reefknot.compact.candidates import Candidate, Survey, stored_result_tokens, survey
from reefknot.compact.plan import make_plan
from reefknot.compact.pressure import MAX_OVERHEAD_SHARE, Aim, Pressure, measure
from reefknot.compact.undo import make_recipe
from reefknot.flows.restore import Restored, restore, restore_messages
from reefknot.formats.records import Rendered, render, render_values
from reefknot.formats.registry import FORMATS, parse, parse_messages
from reefknot.model.message import Json
from reefknot.model.report import Compacted, Explanation, Report
from reefknot.model.settings import Settings
from reefknot.model.transcript import Transcript
from reefknot.store.base import Origin, Original, Store, Undo
from reefknot.store.digest import digest_bytes
from reefknot.text.tokens import TokenCounter

__all__ = ["Request", "compact_data", "compact_messages"]

MAX_FAULTS = 3  # that a report names


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """How to compact: the aim, and the parts that the flow works with.

    `protect` holds call ids and tool names that are never changed, beside those of the settings. `on_step` hears of
    each step.
    """

    aim: Aim
    store: Store
    counter: TokenCounter
    settings: Settings = field(default_factory=Settings)
    protect: Collection[str] = ()
    on_step: Callable[[str], None] = lambda _: None


def compact_data(data: bytes, request: Request, format: str | None = None) -> Compacted:
    """Compact a file's content; `Compacted.data` is the new content, the same bytes where nothing changed.

    Raises:
        FormatError: the content is no transcript that can be read.
        StoreError: the store cannot be used; nothing was shortened then.
    """
    request.on_step("read")
    given = parse(data, format)
    if given.faults:
        return Compacted(report=_faulty(given, request), data=data)
    request.on_step("undo")
    restored = restore(given, request.store, data)
    outcome = _compact(given, restored, request)
    if outcome.applied is None:
        return Compacted(report=outcome.report, data=data, explanations=outcome.explanations)
    original = restored.transcript
    request.on_step("write")
    rendered = render(original, outcome.applied.edits)
    if rendered.data == data:
        report = _unchanged(outcome.report, "the same target gives the same transcript")
        return Compacted(report=report, data=data, explanations=outcome.explanations)
    _remember(original, outcome.applied, rendered, request.store)
    return Compacted(
        report=outcome.report, data=rendered.data, session=original.session, explanations=outcome.explanations
    )


def compact_messages(messages: list[Json], request: Request, format: str | None = None) -> Compacted:
    """Compact messages given as Python values; `Compacted.messages` is a new list, the one given is not changed."""
    given = parse_messages(messages, format)
    if given.faults:
        return Compacted(report=_faulty(given, request), messages=list(messages))
    _, restored = restore_messages(messages, request.store, given.format)
    outcome = _compact(given, restored, request)
    if outcome.applied is None:
        return Compacted(report=outcome.report, messages=list(messages), explanations=outcome.explanations)
    values = render_values(restored.transcript, outcome.applied.edits)
    if values == messages:
        report = _unchanged(outcome.report, "the same target gives the same transcript")
        return Compacted(report=report, messages=list(messages), explanations=outcome.explanations)
    request.store.record(outcome.applied.reductions, (), restored.transcript.session)
    session = restored.transcript.session
    return Compacted(report=outcome.report, messages=values, session=session, explanations=outcome.explanations)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    report: Report
    explanations: tuple[Explanation, ...]
    applied: Applied | None = None


def _compact(given: Transcript, restored: Restored, request: Request) -> _Outcome:
    """The one body of rules: from the originals, whatever `given` is."""
    aim, counter, settings = request.aim, request.counter, request.settings
    original = restored.transcript
    protect = {*request.protect, *restored.lost}
    request.on_step("measure")
    found = survey(original, counter, settings, protect, with_arguments=aim.keep is None)
    now = found if original is given else survey(given, counter, settings, protect, with_arguments=False)
    pressure = measure(
        aim,
        settings,
        tokens=now.text_tokens,
        result_tokens=now.result_tokens,
        original_result_tokens=stored_result_tokens(found, counter),
    )
    if not pressure.is_over:
        return _Outcome(report=_report(given, now, pressure, request), explanations=_reasons(found, pressure.reason))
    request.on_step("plan")
    plan = make_plan(original, found, pressure, counter)
    request.on_step("store")
    applied = apply_plan(original, plan, FORMATS[original.format], request.store, counter)
    report = _report(original, found, pressure, request, applied)
    report = replace(
        report,
        tokens_before=now.text_tokens,
        result_tokens_before=now.result_tokens,
        notes=(*report.notes, *_remarks(found, restored, request)),
    )
    if reason := _why_not(report, settings, aim):
        return _Outcome(
            report=_report(given, now, pressure, request, reason=reason), explanations=_reasons(found, reason)
        )
    return _Outcome(report=report, explanations=_explained(found, applied), applied=applied)


def _remarks(found: Survey, restored: Restored, request: Request) -> list[str]:
    """What a person should know about this compaction beside its numbers."""
    remarks: list[str] = []
    outside = len(restored.transcript.hidden)
    if outside:
        remarks.append(f"{outside:,} results stand outside the live conversation: they are counted as kept")
    if restored.strangers:
        remarks.append(
            f"{len(restored.strangers):,} references in it are not in this store: such texts are cut as they stand"
        )
    known = {candidate.call.id for candidate in found.candidates} | {
        candidate.call.tool for candidate in found.candidates
    }
    known |= found.kept_reasons.keys() | found.tools
    remarks += [
        f"protected {name!r}: there is no such call or tool in it"
        for name in sorted(request.protect)
        if name not in known
    ]
    window, used = request.aim.window, request.aim.used
    if window is not None and used is not None and used - found.text_tokens > window * MAX_OVERHEAD_SHARE:
        remarks.append(
            f"--used counts {used - found.text_tokens:,} tokens beside the transcript: "
            f"only {MAX_OVERHEAD_SHARE:.0%} of the window is believed"
        )
    return remarks


def _why_not(report: Report, settings: Settings, aim: Aim) -> str:
    """Why a compaction is not installed; empty when it is."""
    if not report.references:
        return "nothing that may be shortened would get shorter"
    if report.tokens_after >= report.tokens_before:
        return "it would not get shorter than it is"
    freed = 1 - report.tokens_after / report.tokens_before
    least = settings.min_reduction_ratio
    if aim.window is not None and least is not None and freed < least:
        return f"it would free {freed:.0%} of the tokens, less than min_reduction_ratio = {least:g}"
    return ""


def _remember(original: Transcript, applied: Applied, rendered: Rendered, store: Store) -> None:
    """Have the store remember how each changed record is undone, before anybody can see the new file."""
    recipes = [make_recipe(change.pieces, applied.stored) for change in rendered.changes]
    origin = Origin(session=original.session, project=original.project)
    store.put_many(
        [
            Original(data=blob, origin=origin, masked_secrets=recipe.masked_secrets)
            for recipe in recipes
            for blob in recipe.blobs
        ]
    )
    undos = [
        Undo(changed=digest_bytes(change.raw), recipe=recipe.data)
        for change, recipe in zip(rendered.changes, recipes, strict=True)
    ]
    store.record(applied.reductions, undos, original.session)


def _reasons(found: Survey, otherwise: str) -> tuple[Explanation, ...]:
    """Why each result stays as it is: its own reason, or `otherwise` for what might have been shortened."""
    fixed = [
        Explanation(call=call, part="result", form="kept", reason=reason, tokens_before=tokens, tokens_after=tokens)
        for call, (reason, tokens) in found.kept_reasons.items()
    ]
    return (*fixed, *(_kept(candidate, otherwise) for candidate in found.candidates))


def _explained(found: Survey, applied: Applied) -> tuple[Explanation, ...]:
    """Why each result and argument was kept or cut."""
    told = {(one.call, one.part) for one in applied.explanations}
    every = _reasons(found, "a marker in its place would not be shorter")
    return (*(one for one in every if (one.call, one.part) not in told), *applied.explanations)


def _kept(candidate: Candidate, reason: str) -> Explanation:
    tokens = candidate.tokens
    return Explanation(
        call=candidate.call.id,
        part=candidate.part,
        form="kept",
        reason=reason,
        tokens_before=tokens,
        tokens_after=tokens,
    )


def _report(
    transcript: Transcript,
    found: Survey,
    pressure: Pressure,
    request: Request,
    applied: Applied | None = None,
    reason: str = "",
) -> Report:
    changes = applied.changes if applied else ()
    results = dict.fromkeys(("kept", "noted", "excerpted", "repeated", "evicted"), 0)
    arguments: dict[str, set[str]] = {}
    result_saved = 0
    for change in changes:
        candidate = change.decision.planned.candidate
        if candidate.part == "result":
            result_saved += change.saved
            results[change.decision.form] += 1 + change.copies
        else:
            arguments.setdefault("changed", set()).add(candidate.call.id)
    copies = sum(len(result.copies) for message in transcript.messages for result in message.results)
    results["kept"] = found.results + copies + len(transcript.hidden) - sum(results.values())
    parts = applied.parts if applied else []
    excerpted = len(arguments.get("changed", ()))
    saved = result_saved + (applied.argument_tokens_saved if applied else 0)
    after, results_after = found.text_tokens - saved, found.result_tokens - result_saved
    masked = sum(change.reference.masked_secrets for change in changes)
    return Report(
        format=transcript.format,
        action="compacted" if changes else "unchanged",
        reason=reason or pressure.reason,
        tokens_before=found.text_tokens,
        tokens_after=after,
        result_tokens_before=found.result_tokens,
        result_tokens_after=results_after,
        target_tokens=pressure.target,
        reached=(results_after if pressure.scope == "results" else after) <= pressure.target or not pressure.is_over,
        counter=request.counter.name,
        messages=len(transcript.messages),
        calls=found.calls,
        results={**results},
        arguments={"kept": found.calls - excerpted, "excerpted": excerpted},
        references=parts,
        first_changed_message=min((part.message for part in parts), default=None),
        masked_secrets=masked,
        notes=transcript.notes,
    )


def _unchanged(report: Report, reason: str) -> Report:
    """The report of a compaction whose outcome equals what was given."""
    total = sum(report.results.values())
    return replace(
        report,
        action="unchanged",
        reason=reason,
        tokens_after=report.tokens_before,
        result_tokens_after=report.result_tokens_before,
        results={**dict.fromkeys(report.results, 0), "kept": total},
        arguments={"kept": sum(report.arguments.values()), "excerpted": 0},
        references=(),
        first_changed_message=None,
        masked_secrets=0,
    )


def _faulty(transcript: Transcript, request: Request) -> Report:
    """The report of a transcript whose pairs cannot be trusted: it passes through."""
    found = survey(transcript, request.counter, request.settings, (), with_arguments=False)
    pressure = Pressure(scope="transcript", target=found.text_tokens, hard=found.text_tokens, is_over=False)
    return _report(transcript, found, pressure, request, reason=_named(transcript.faults))


def _named(faults: Sequence[str]) -> str:
    """The first faults, and how many more there are."""
    more = len(faults) - MAX_FAULTS
    return "; ".join(faults[:MAX_FAULTS]) + (f"; and {more:,} more" if more > 0 else "")
