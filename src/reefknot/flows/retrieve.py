"""Any part of a stored original: the whole, a range of lines, the lines that match a pattern.

find the reference -> read and verify its bytes -> cut lines -> search in them -> say what part it is
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reefknot.errors import UsageError
from reefknot.model.encoding import to_text
from reefknot.model.message import Json
from reefknot.store import slices
from reefknot.store.base import Store

__all__ = ["Retrieved", "retrieve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What was asked for of one original.

    `text` is the part, verbatim whole lines; `data` are all stored bytes. `part` says which part it is,
    in JSON terms, None for the whole. `total_lines` counts the whole. `total_matches` counts all lines that
    match in the range, whether they are shown or not; None without a search.
    """

    reference: str
    text: str
    data: bytes
    size_bytes: int
    total_lines: int
    part: dict[str, Json] | None
    total_matches: int | None
    masked_secrets: int

    def as_json(self) -> dict[str, Json]:
        """The answer of `retrieve --json`."""
        return {
            "reference": self.reference,
            "text": self.text,
            "bytes": self.size_bytes,
            "lines": self.total_lines,
            "part": self.part,
            "total_matches": self.total_matches,
            "masked_secrets": self.masked_secrets,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    text: str
    described: dict[str, Json] | None
    total_matches: int | None = None


def retrieve(
    store: Store,
    reference: str,
    *,
    lines: slices.LineRange | str | None = None,
    grep: str | None = None,
    context: int = 0,
    ignore_case: bool = False,
    limit: int | None = None,
    timeout_seconds: float,
) -> Retrieved:
    r"""A part of an original, verbatim.

    `lines` is a range that counts from 1, both ends included: "41:43" or (41, 43), an end may be open.
    `grep` is a regular expression, searched in that range; line numbers are those of the whole. `limit` is
    the most matching lines that are given, or without `grep` the most lines.

    Raises:
        NotStored: the reference was never here, or was removed (the message says which, and when).
        Corrupt: the stored bytes are damaged.
        StoreError: the store cannot be read.
        PatternError: the pattern is wrong, or took longer than `timeout_seconds`.
        UsageError: the range, the context or the limit makes no sense.

    >>> from reefknot.store.base import Original
    >>> from reefknot.store.memory import MemoryStore
    >>> store = MemoryStore()
    >>> name = store.put_many([Original(data=b"ok\nfailed: disk\nok\n")])[0].name
    >>> found = retrieve(store, name, grep="^failed", timeout_seconds=5)
    >>> found.text, found.total_matches, found.total_lines
    ('failed: disk\n', 1, 3)
    """
    asked = _checked(lines, context, limit)
    data = store.get(reference)
    found = store.find(reference)
    text = to_text(data)
    if lines is None and grep is None and limit is None:
        part = _Part(text=text, described=None)
    elif grep is None:
        part = _range_part(slices.split_lines(text), asked, limit)
    else:
        part = _grep_part(slices.split_lines(text), asked, grep, context, ignore_case, limit, timeout_seconds)
    return Retrieved(
        reference=found.name if found else reference,
        text=part.text,
        data=data,
        size_bytes=len(data),
        total_lines=slices.count_lines(text),
        part=part.described,
        total_matches=part.total_matches,
        masked_secrets=found.masked_secrets if found else 0,
    )


def _checked(lines: slices.LineRange | str | None, context: int, limit: int | None) -> slices.LineRange:
    if context < 0:
        raise UsageError(f"context {context}: it cannot be below 0")
    if limit is not None and limit < 1:
        raise UsageError(f"limit {limit}: it cannot be below 1")
    if isinstance(lines, str):
        return slices.parse_range(lines)
    return (None, None) if lines is None else slices.check_range(lines)


def _range_part(lines: Sequence[str], asked: slices.LineRange, limit: int | None) -> _Part:
    inside = slices.cut_lines(lines, *asked)
    shown = inside[:limit]
    return _Part(text="".join(shown), described=_described(asked, len(shown), len(inside)))


def _described(asked: slices.LineRange, shown: int, available: int) -> dict[str, Json]:
    """Which lines are given: `lines` is None where the text has none in the range."""
    first = asked[0] or 1
    given: list[Json] = [first, first + shown - 1]
    return {"lines": given if shown else None, "limited": shown < available}


def _grep_part(
    lines: Sequence[str],
    asked: slices.LineRange,
    pattern: str,
    context: int,
    ignore_case: bool,
    limit: int | None,
    timeout_seconds: float,
) -> _Part:
    inside = slices.cut_lines(lines, *asked)
    matches = slices.grep(
        inside,
        pattern,
        context=context,
        ignore_case=ignore_case,
        limit=limit,
        first_number=asked[0] or 1,
        timeout_seconds=timeout_seconds,
    )
    described: dict[str, Json] = {
        **_described(asked, len(inside), len(inside)),
        "grep": pattern,
        "context": context,
        "ignore_case": ignore_case,
        "line_numbers": list[Json](matches.line_numbers),
        "limited": len(matches.line_numbers) < matches.total,
    }
    return _Part(text=matches.text, described=described, total_matches=matches.total)
