"""Tables of measured numbers, as Markdown, each with what it was measured on and how."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Table", "machine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A title, the corpus and the command behind the numbers, a header, and rows of cells."""

    title: str
    corpus: str
    command: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def render(self, date: str) -> str:
        """Markdown; the first column stands left, all others right.

        >>> table = Table(title="T", corpus="C", command="x", header=["a", "b"], rows=[["1", "2"]])
        >>> table.render("2026-03-01").splitlines()[-1]
        '| 1  |  2 |'
        """
        cells = [[*self.header], *map(list, self.rows)]
        widths = [max(2, *(len(row[column]) for row in cells)) for column in range(len(self.header))]
        rule = [("-" * width if at == 0 else "-" * (width - 1) + ":") for at, width in enumerate(widths)]
        lines = [_line(row, widths) for row in (cells[0], rule, *cells[1:])]
        source = f"Corpus: {self.corpus}. Command: `{self.command}`. Machine: {machine()}. Date: {date}."
        return "\n".join([f"### {self.title}", "", source, "", *lines])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(row, widths, strict=True)
    return "| " + " | ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]) + " |"


def machine() -> str:
    """The kind of machine: cores that may be used, system, processor, Python, and how busy it is.

    The load is that of the last five minutes; one process that measures alone makes about 1.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f", load {os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{cores} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}{load}"
