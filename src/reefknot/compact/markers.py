"""The texts that stand for what was cut: one marker per result, and a line for each further gap.

`[reefknot REF: what was cut in source units, why; how to get it]`, as the contract has it. They hold names, counts and
the path or command of the call, never words of an output, so that no output can speak through them.
"""

from dataclasses import dataclass

from reefknot.compact.pieces import Gap, Pieces

__all__ = ["Marked", "excerpt_marker", "gap_text", "short_id", "whole_marker"]

HOW = "reefknot retrieve"
LABEL_LENGTH = 160  # characters of a path or command in a marker
ID_LENGTH = 16  # characters; a longer call id is shown by its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What a marker says of a candidate, whatever is kept of it.

    `read`: the label of a call that a re-run gives back, else empty. `repeat_of`: the id of the call that gave the same.
    `near`: whether it repeats that call only nearly. `outline`: a phrase of what a read held.
    """

    read: str = ""
    outline: str = ""
    repeat_of: str = ""
    near: bool = False


def short_id(call_id: str) -> str:
    """A call id as a marker names it: whole when short, else its end.

    >>> short_id("call_7"), short_id("toolu_016Mr9hfgXFTwrMt9ALR74Nq")
    ('call_7', '..9ALR74Nq')
    """
    safe = "".join(character if character.isalnum() or character in "_-." else "_" for character in call_id)
    return safe if len(safe) <= ID_LENGTH else f"..{safe[-8:]}"


def _size(pieces: Pieces) -> str:
    if pieces.total_lines > 1:
        return f"{pieces.total_lines:,} lines"
    return f"{sum(map(len, pieces.texts)):,} characters"


def _one_line(label: str) -> str:
    flat = " ".join(label.replace("[", "(").replace("]", ")").split())
    return flat if len(flat) <= LABEL_LENGTH else flat[: LABEL_LENGTH - 2] + ".."


def whole_marker(name: str, pieces: Pieces, marked: Marked) -> str:
    """The marker of a text of which nothing is shown: a repeat, a read that a re-run gives back, or evicted.

    >>> from reefknot.compact.pieces import cut
    >>> whole_marker("a1b2c3d4", cut("x\\ny"), Marked())
    '[reefknot a1b2c3d4: 2 lines cut to fit; reefknot retrieve]'
    >>> whole_marker("a1b2c3d4", cut("x\\ny"), Marked(read="cat a.py"))
    '[reefknot a1b2c3d4: 2 lines of cat a.py; a re-run gives them]'
    """
    size = _size(pieces)
    if marked.repeat_of and not marked.near:
        return f"[reefknot {name}: same {size} as call {short_id(marked.repeat_of)}; {HOW}]"
    if marked.read:
        holds = f": {_one_line(marked.outline)}" if marked.outline else ""
        return f"[reefknot {name}: {size} of {_one_line(marked.read)}{holds}; a re-run gives them]"
    near = f", nearly those of call {short_id(marked.repeat_of)}" if marked.near else ""
    return f"[reefknot {name}: {size} cut to fit{near}; {HOW}]"


def excerpt_marker(name: str, pieces: Pieces, cut_lines: int, gap: Gap | None, marked: Marked) -> str:
    """The marker of an excerpt, which stands in place of its first gap."""
    if cut_lines and pieces.total_lines > 1:
        what = f"{cut_lines:,} of {pieces.total_lines:,} lines"
    else:
        what = "parts of long lines"
    here = ""
    if gap is not None:
        here = f", here {gap.characters:,} characters" if gap.characters else f", here {_range(gap)}"
    if marked.read:
        return f"[reefknot {name}: {what} of {_one_line(marked.read)} cut{here}; a re-run gives them]"
    near = f", nearly those of call {short_id(marked.repeat_of)}" if marked.near else " to fit"
    return f"[reefknot {name}: {what} cut{near}{here}; {HOW}]"


def _range(gap: Gap) -> str:
    return f"{gap.first_line}" if gap.first_line == gap.last_line else f"{gap.first_line}-{gap.last_line}"


def gap_text(gap: Gap) -> str:
    """The line (or, inside a line, the words) that stands for a further gap.

    >>> gap_text(Gap(first=3, last=9, first_line=4, last_line=10, characters=0, is_first=False))
    '[... 7 lines, 4-10 ...]'
    """
    if gap.characters:
        return f"[... {gap.characters:,} characters ...]"
    count = gap.last_line - gap.first_line + 1
    return f"[... {count:,} line{'s' if count > 1 else ''}, {_range(gap)} ...]"
