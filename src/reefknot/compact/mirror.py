"""The copies of a result that some hosts keep beside it (`toolUseResult`, what a command printed while it ran).

They are reduced with the result. A copy keeps its shape (keys, types, numbers), so that the host can still show it; no
text stays in it that neither the shortened result nor its call shows. Lines are known by their words: a copy may
number, indent or mark them in another way (a patch does).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reefknot.model.message import Json

__all__ = ["reduce_mirrors"]

LONG = 200  # characters; a longer string goes, wherever it comes from
SHORT = 12  # characters; a shorter string or line tells nothing

_MARK = re.compile(r"\s*(?:\d+\s*[\u2192:|\t-]|[-+](?!-))?")  # a number or a patch's sign before a line


def reduce_mirrors(values: Sequence[Json], shortened: Mapping[str, str], visible: str, pointer: str) -> list[Json]:
    """The mirrors of one result with nothing in them that was set aside.

    `shortened` maps each text that was shortened to what it is now, `visible` is all that is shown of the call and its
    result, `pointer` the short text that stands for what goes. A string equal to an original becomes what that is now;
    a list that would lose an item becomes empty.

    >>> cut = {"a\\nsecret-line-1": "a\\n[cut]"}
    >>> mirror = {"stdout": "a\\nsecret-line-1", "patch": ["+a", "+secret-line-1"]}
    >>> reduce_mirrors([mirror], cut, "a\\n[cut]", "[cut]")
    [{'stdout': 'a\\n[cut]', 'patch': []}]
    """
    lines = {_bare(line) for text in shortened for line in text.split("\n")}
    gone = {line for line in lines - {_bare(line) for line in visible.split("\n")} if len(line) >= SHORT}
    cut = _Cut(shortened=shortened, whole="\n".join(shortened), gone=gone, visible=visible)
    return [_reduce(value, cut, pointer) for value in values]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """What was shortened: as texts, joined, and as the bare lines that are in view nowhere."""

    shortened: Mapping[str, str]
    whole: str
    gone: set[str]
    visible: str


def _bare(line: str) -> str:
    """The words of a line.

    >>> _bare("   12\\u2192\\tif x:  # why"), _bare("+    if x: # why")
    ('if x: # why', 'if x: # why')
    """
    return " ".join(line[_end_of_mark(line) :].split())


def _end_of_mark(line: str) -> int:
    mark = _MARK.match(line)
    return mark.end() if mark else 0


def _reduce(value: Json, cut: _Cut, pointer: str) -> Json:
    match value:
        case str():
            return _reduce_text(value, cut, pointer)
        case list():
            items = [_reduce(item, cut, pointer) for item in value]
            return items if items == value or len(value) == 1 else []
        case dict():
            return {key: _reduce(item, cut, pointer) for key, item in value.items()}
        case _:
            return value


def _reduce_text(text: str, cut: _Cut, pointer: str) -> str:
    now = cut.shortened.get(text)
    if now is None and (bare := text.strip()):
        now = next((shown for original, shown in cut.shortened.items() if original.strip() == bare), None)
    if now is not None:
        return now if len(now) <= len(text) else ""
    if len(text) < SHORT or text in cut.visible:
        return text
    is_gone = len(text) > LONG or text in cut.whole or any(_bare(line) in cut.gone for line in text.split("\n"))
    if not is_gone:
        return text
    return pointer if len(pointer) < len(text) else ""
