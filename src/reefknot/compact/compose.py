"""The text that a shortened result or argument becomes.

Kept pieces stand verbatim and in order; the first gap carries the marker with the reference, each further gap says
which lines it stands for. A result of several text parts keeps that many parts, none of them empty, and line numbers
run through all of them.
"""

from collections.abc import Sequence

from reefknot.compact.bundles import Planned
from reefknot.compact.markers import excerpt_marker, gap_text, whole_marker
from reefknot.compact.pieces import Gap, Pieces, assemble
from reefknot.model.report import Form

__all__ = ["compose", "form_of", "part_texts"]


def form_of(planned: Planned, kept: Sequence[bool]) -> Form:
    """What becomes of a candidate when these pieces are kept."""
    if all(kept):
        return "kept"
    if any(kept):
        return "excerpted"
    if planned.candidate.repeat_of and not planned.candidate.is_near:
        return "repeated"
    return "noted" if planned.marked.read else "evicted"


def part_texts(planned: Planned) -> list[str]:
    """The texts that a candidate consists of: those of its result's parts, or its one argument."""
    result = planned.candidate.result
    return [planned.candidate.text] if result is None else [part.text for part in result.parts]


def compose(planned: Planned, kept: Sequence[bool], name: str) -> list[str]:
    """The new text of each part, with the reference's name in the marker."""
    texts = part_texts(planned)
    form = form_of(planned, kept)
    if form == "kept":
        return texts
    if form != "excerpted":
        marker = whole_marker(name, planned.pieces, planned.marked)
        return [marker, *_blank_out(texts)]
    pieces = planned.pieces
    cut_lines = pieces.total_lines - len({line for line, is_kept in zip(pieces.lines, kept, strict=True) if is_kept})
    is_marked = False

    def show(gap: Gap) -> str:
        nonlocal is_marked
        if is_marked:
            return gap_text(gap)
        is_marked = True
        return excerpt_marker(name, pieces, cut_lines, planned.marked)

    if len(texts) == 1:
        return [assemble(pieces, kept, show)]
    return [assemble(part, kept[start : start + len(part)], show) for start, part in _by_part(pieces, texts)]


def _blank_out(texts: Sequence[str]) -> list[str]:
    """What further parts say when nothing of the result is shown."""
    shown: list[str] = []
    line = 1 + texts[0].count("\n") + 1
    for text in texts[1:]:
        last = line + text.count("\n")
        gap = gap_text(Gap(first=0, last=0, first_line=line, last_line=last, characters=0, is_first=False))
        shown.append(gap if len(gap) < len(text) else text)
        line = last + 1
    return shown


def _by_part(pieces: Pieces, texts: Sequence[str]) -> list[tuple[int, Pieces]]:
    """The pieces of each part, with the index of its first piece; line numbers stay those of the whole."""
    parts: list[tuple[int, Pieces]] = []
    start, line = 0, 0
    for text in texts:
        line += text.count("\n") + 1
        end = start
        while end < len(pieces) and pieces.lines[end] < line:
            end += 1
        part = Pieces(texts=pieces.texts[start:end], lines=pieces.lines[start:end], total_lines=pieces.total_lines)
        parts.append((start, part))
        start = end
    return parts
