"""The texts that stand for what was cut: one marker per result, and a line for each further gap.

`[reefknot REF: what was cut in source units, why; how to get it]`, as the contract has it. They hold names, counts and
the path or command of the call, never words of an output, so that no output can speak through them.
"""

from dataclasses import dataclass

from reefknot.compact.pieces import Gap, Pieces

__all__ = ["Marked", "excerpt_marker", "gap_text", "short_id", "whole_marker"]

HOW = "reefknot retrieve"
LABEL_LENGTH = 60  # characters of a path or command in a marker; the call stands whole before its result
OUTLINE_LENGTH = 120  # characters
ID_LENGTH = 16  # characters; a longer call id is shown by its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What a marker says of a candidate, whatever is kept of it.

    `read`: the label of a call that a re-run gives back, else empty. `repeat_of`: the id of the call that gave the
    same.
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


def _one_line(text: str, length: int = LABEL_LENGTH) -> str:
    """A text as part of a marker: one line, no brackets, its end cut off when it is long."""
    flat = " ".join(text.replace("[", "(").replace("]", ")").split())
    return flat if len(flat) <= length else flat[: length - 2] + ".."


def _label(label: str) -> str:
    """A path by its end, a command by its beginning."""
    if " " not in label and len(label) > LABEL_LENGTH:
        return _one_line(".." + label[2 - LABEL_LENGTH :])
    return _one_line(label)


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
        holds = f": {_one_line(marked.outline, OUTLINE_LENGTH)}" if marked.outline else ""
        return f"[reefknot {name}: {size} of {_label(marked.read)}{holds}; a re-run gives them]"
    near = f", nearly those of call {short_id(marked.repeat_of)}" if marked.near else " to fit"
    return f"[reefknot {name}: {size} cut{near}; {HOW}]"


def excerpt_marker(name: str, pieces: Pieces, cut_lines: int, marked: Marked) -> str:
    """The marker of an excerpt, which stands in place of its first gap.

    It counts all lines that are cut; what the first gap holds is that less all further gaps.

    >>> from reefknot.compact.pieces import cut
    >>> excerpt_marker("a1b2c3d4", cut("a\\nb\\nc"), 2, Marked())
    '[reefknot a1b2c3d4: 2 of 3 lines cut to fit; reefknot retrieve]'
    """
    if cut_lines and pieces.total_lines > 1:
        what = f"{cut_lines:,} of {pieces.total_lines:,} lines"
    else:
        what = "parts of long lines"
    if marked.read:
        return f"[reefknot {name}: {what} cut; a re-run gives them]"
    near = f", nearly those of call {short_id(marked.repeat_of)}" if marked.near else " to fit"
    return f"[reefknot {name}: {what} cut{near}; {HOW}]"


def gap_text(gap: Gap) -> str:
    """The line (or, inside a line, the words) that stands for a further gap.

    >>> gap_text(Gap(first=3, last=9, first_line=4, last_line=10, characters=0, is_first=False))
    '[... 7 lines ...]'
    """
    if gap.characters:
        return f"[... {gap.characters:,} characters ...]"
    count = gap.last_line - gap.first_line + 1
    return f"[... {count:,} line{'s' if count > 1 else ''} ...]"
