"""The Python door: what `import reefknot` offers.

Each function loads the settings, opens what it needs and calls one flow.
A store may be given open, or left out: then it is the user's own, as the settings say. Errors are raised.
"""

import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

from reefknot.compact.pressure import Aim
from reefknot.errors import FormatError, NotStored, UsageError
from reefknot.flows.files import read_input, write_atomic
from reefknot.flows.plain_copies import write_copies
from reefknot.flows.pressure import Request, compact_data, compact_messages
from reefknot.flows.restore import restore_data, restore_messages
from reefknot.flows.retrieve import retrieve as retrieve_part
from reefknot.formats.registry import parse
from reefknot.model.message import Json
from reefknot.model.report import Compacted, Explanation, Report
from reefknot.model.settings import Settings
from reefknot.model.transcript import FormatName, Transcript
from reefknot.policy.settings import load_settings
from reefknot.store.base import Store
from reefknot.store.copies import outputs_folder
from reefknot.store.opening import open_store as open_at
from reefknot.text.tokens import open_counter

__all__ = ["CompactedFile", "LoadedTranscript", "compact", "load", "open_store", "restore", "retrieve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTranscript:
    """A transcript read from a file, with the exact bytes that it was read from."""

    transcript: Transcript = field(repr=False)
    data: bytes = field(repr=False)

    @property
    def format(self) -> FormatName:
        return self.transcript.format

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write it, unpacked, whole or not at all.

        Raises:
            UsageError: the file exists, and `overwrite` is off.
        """
        write_atomic(Path(path), self.data, overwrite=overwrite)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedFile:
    """A compaction of a loaded transcript: the new one, the report, and why each part was kept or cut."""

    transcript: LoadedTranscript
    report: Report
    explanations: tuple[Explanation, ...] = ()


def _settings() -> Settings:
    return load_settings(os.environ, Path.cwd()).settings


def open_store(url: str | None = None) -> Store:
    """Open a store: "sqlite:///absolute/path", "memory:", or None for the user's own.

    Raises:
        ConfigError: an address of another form.
    """
    return open_at(url or _settings().store or None, os.environ)


def load(path: str | Path, format: str | None = None) -> LoadedTranscript:
    """Read a transcript from a file (.gz and .zst too), in the format named or in the one that its shape tells.

    Raises:
        FormatError: it cannot be read; names the file.
    """
    try:
        data = read_input(Path(path))
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}: is it there, and may it be read?") from error
    try:
        return LoadedTranscript(transcript=parse(data, format), data=data)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error


@overload
def compact(
    messages: Sequence[Json],
    *,
    max_tokens: int | None = None,
    keep: float | None = None,
    window: int | None = None,
    used: int | None = None,
    force: bool = False,
    protect: Collection[str] = (),
    judge: str = "rules",
    store: Store | None = None,
) -> Compacted: ...


@overload
def compact(
    messages: LoadedTranscript,
    *,
    max_tokens: int | None = None,
    keep: float | None = None,
    window: int | None = None,
    used: int | None = None,
    force: bool = False,
    protect: Collection[str] = (),
    judge: str = "rules",
    store: Store | None = None,
) -> CompactedFile: ...


def compact(
    messages: Sequence[Json] | LoadedTranscript,
    *,
    max_tokens: int | None = None,
    keep: float | None = None,
    window: int | None = None,
    used: int | None = None,
    force: bool = False,
    protect: Collection[str] = (),
    judge: str = "rules",
    store: Store | None = None,
) -> Compacted | CompactedFile:
    """Make a transcript shorter; what is set aside is in the store first.

    Name one target: `max_tokens` (of the whole), `keep` (share of the result tokens, 0..1) or `window` (policy; `used`
    is how many tokens of it are in use). `messages` are a list in OpenAI chat, Anthropic or neutral shape, or a loaded
    transcript; neither is changed. `protect`: call ids and tool names that stay whole.

    Raises:
        FormatError, UsageError, StoreError, ConfigError

    >>> import reefknot
    >>> store = reefknot.open_store("memory:")
    >>> compacted = reefknot.compact([{"role": "user", "content": "hi"}], keep=0.3, store=store)
    >>> compacted.messages, compacted.report.action
    ([{'role': 'user', 'content': 'hi'}], 'unchanged')
    """
    check_judge(judge)
    aim = Aim(max_tokens=max_tokens, keep=keep, window=window, used=used, force=force)
    settings = _settings()
    request = Request(
        aim=aim,
        store=store or open_store(),
        counter=open_counter(settings.counter, settings.model_family),
        settings=settings,
        protect=frozenset([protect] if isinstance(protect, str) else protect),
    )
    started = time.perf_counter()
    if isinstance(messages, LoadedTranscript):
        outcome = compact_data(messages.data, request, messages.format)
    else:
        outcome = compact_messages(list(messages), request)
    report = replace(outcome.report, seconds=time.perf_counter() - started)
    copy_plainly(outcome, request)
    if not isinstance(messages, LoadedTranscript):
        return replace(outcome, report=report)
    data = outcome.data if outcome.data is not None else messages.data
    loaded = LoadedTranscript(transcript=parse(data, messages.format), data=data)
    return CompactedFile(transcript=loaded, report=report, explanations=outcome.explanations)


def copy_plainly(compacted: Compacted, request: Request) -> None:
    """Write plain-file copies of what was set aside, if the settings ask for them."""
    if request.settings.plain_copies:
        write_copies(
            compacted.report.references,
            compacted.session,
            request.store,
            outputs_folder(os.environ),
            days=request.settings.plain_copies_days,
            now=time.time(),
        )


def check_judge(name: str) -> None:
    """Refuse a judge that this version does not have, before any work is done."""
    if name != "rules":
        raise UsageError(f"judge {name!r} is not in this version: use 'rules', which asks nobody")


@overload
def restore(messages: Sequence[Json], *, store: Store | None = None) -> list[Json]: ...


@overload
def restore(messages: LoadedTranscript, *, store: Store | None = None) -> LoadedTranscript: ...


def restore(
    messages: Sequence[Json] | LoadedTranscript, *, store: Store | None = None
) -> list[Json] | LoadedTranscript:
    """A transcript with every original put back, secrets masked.

    Raises:
        NotStored: an original is not in the store; says which, and whether it was removed.
    """
    store = store or open_store()
    if isinstance(messages, LoadedTranscript):
        restored = restore_data(messages.data, store, messages.format)
        values: list[Json] = []
    else:
        values, restored = restore_messages(list(messages), store)
    if restored.message:
        raise NotStored(restored.message)
    if isinstance(messages, LoadedTranscript):
        return LoadedTranscript(transcript=restored.transcript, data=restored.data or b"")
    return values


def retrieve(
    reference: str,
    *,
    lines: str | tuple[int | None, int | None] | None = None,
    grep: str | None = None,
    context: int = 0,
    limit: int | None = None,
    store: Store | None = None,
) -> str:
    """Any part of a stored original, as text: all of it, lines (counted from 1), or matching lines.

    Raises:
        NotStored: the reference is not in the store; says whether it was removed.
        PatternError: the pattern is wrong or took too long.
    """
    settings = _settings()
    return retrieve_part(
        store or open_store(),
        reference,
        lines=lines,
        grep=grep,
        context=context,
        limit=limit,
        timeout_seconds=settings.grep_timeout_seconds,
    ).text
