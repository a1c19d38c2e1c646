"""The structured copy of a result that some hosts keep beside it (`toolUseResult`), reduced with the result.

The copy keeps its shape (keys, types, numbers), so that the host can still show it; no text stays in it that
the shortened result does not show.
"""

from collections.abc import Sequence

from reefknot.model.message import Json

__all__ = ["reduce_mirror"]

LONG = 200  # characters; a longer string goes, wherever it comes from
SHORT = 12  # characters; a shorter string tells nothing


def reduce_mirror(value: Json, originals: Sequence[str], shown: str, pointer: str) -> Json:
    """A copy of `value` with nothing in it that was set aside.

    `originals` are the texts that were shortened, `shown` what is shown of them, `pointer` the short text that
    stands for what goes. A string equal to the original becomes what is shown; a list that would lose an item becomes
    empty.

    >>> reduce_mirror({"stdout": "a\\nsecret-line-1", "code": 0}, ["a\\nsecret-line-1"], "a\\n[cut]", "[cut]")
    {'stdout': 'a\\n[cut]', 'code': 0}
    """
    whole = "\n".join(originals)
    match value:
        case str():
            return _reduce_text(value, originals, whole, shown, pointer)
        case list():
            items = [reduce_mirror(item, originals, shown, pointer) for item in value]
            return (
                items
                if all(_same_length(old, new) for old, new in zip(value, items, strict=True)) or len(value) == 1
                else []
            )
        case dict():
            return {key: reduce_mirror(item, originals, shown, pointer) for key, item in value.items()}
        case _:
            return value


def _same_length(old: Json, new: Json) -> bool:
    return old == new


def _reduce_text(text: str, originals: Sequence[str], whole: str, shown: str, pointer: str) -> str:
    if text in originals or text.strip() == whole.strip():
        return shown
    if len(text) < SHORT or text in shown:
        return text
    if (
        len(text) > LONG
        or text in whole
        or any(line in whole and line not in shown for line in text.split("\n") if len(line) >= SHORT)
    ):
        return pointer if len(pointer) < len(text) else ""
    return text
