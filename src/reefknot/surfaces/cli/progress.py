"""A progress bar for work that takes a while: on standard error, and only where that is a terminal."""

import sys
from types import TracebackType
from typing import Self

import click

__all__ = ["STEPS", "Progress"]

STEPS = ("read", "undo", "measure", "plan", "store", "write")  # what a compaction goes through, in order


class Progress:
    """A bar that moves with each step; nothing at all where nobody looks."""

    def __init__(self) -> None:
        shown = sys.stderr is not None and sys.stderr.isatty()
        self._bar = click.progressbar(length=len(STEPS), label="compact", file=sys.stderr) if shown else None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)

    def step(self, name: str) -> None:
        """One step begins."""
        if self._bar is not None:
            self._bar.label = f"compact: {name}"
            self._bar.update(1)
