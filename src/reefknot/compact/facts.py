"""What in a text an agent may need again: tokens that name things, and lines that must not be missed.

Token and line patterns follow the fact rails of the verbatim-compaction family (jev-factkeep, factrail),
as published; what they are worth is decided in `items`. All texts are scanned together in a few linear passes, equal
lines once: plain substring search finds the lines that may tell something, and only on those do the patterns decide.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = [
    "Scan",
    "error_template",
    "is_error_line",
    "is_exit_line",
    "is_only_warning",
    "is_receipt_line",
    "labelled_values",
    "names_in",
    "scan",
    "scan_all",
    "tokens",
]

_WORDS = re.compile(r"\n|[A-Za-z0-9][A-Za-z0-9_.:/@#-]{5,}|[A-Za-z_][A-Za-z0-9_./-]{7,}")
_DIGIT = re.compile(r"[0-9]")
_SEPARATOR = re.compile(r"[/_.]")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]{7,}\Z")
_UNNAMED = re.compile(r"[:@#]")

_ERROR = re.compile(
    r"\b(?:errors?|fail(?:ed|ures?|s)?|exception|traceback|denied|refused|invalid|not found|fatal|panic(?:ked)?"
    r"|timed? ?-?out|warning|segfault)\b|\binvalid_|[a-z]Error\b|[a-z]Exception\b|✖|✗|\b(?-i:ERR)\b",
    re.IGNORECASE,
)
_WARNING = re.compile(r"\bwarning\b", re.IGNORECASE)
_ERROR_STEMS = (
    *("err", "fail", "exception", "traceback", "denied", "refused", "invalid", "not found", "fatal", "panic"),
    *("timeout", "time out", "time-out", "timed out", "timedout", "timed-out", "warning", "segfault", "✖", "✗"),
)
_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?: status| code)?"
    r"|returned(?: with)?(?: exit)?(?: status| code)|return ?code|status code|rc)\b[ :=]*-?\d{1,3}\b",
    re.IGNORECASE,
)
_EXIT_STEMS = ("exit", "returned", "return code", "returncode", "status code", "rc")
_RECEIPT = re.compile(
    r"\b(?:message[_ ]?id|ticket|confirmed|confirmation|sent|delivered|created|updated|deleted"
    r"|order|transaction|released?"
    r"|published|deployed|merged|pushed|commit(?:ted)?|uploaded|scheduled|booked|paid|refunded)\b[^\n]{0,40}?[A-Za-z_#-]*\d",
    re.IGNORECASE,
)
_RECEIPT_STEMS = (
    *(
        "message",
        "ticket",
        "confirm",
        "sent",
        "delivered",
        "created",
        "updated",
        "deleted",
        "order",
        "transaction",
        "release",
    ),
    *("published", "deployed", "merged", "pushed", "commit", "uploaded", "scheduled", "booked", "paid", "refunded"),
)
_LABELLED = re.compile(
    r"\b(port|pid|exit|code|status|rc|lines?|size|count|total|passed|failed|tests?"
    r"|errors?|warnings?|version|id|issue|pr)\b[ \t:=#(]{1,3}"
    r"([A-Za-z]{0,2}\d[\w.]{0,4})(?![\w.])",
    re.IGNORECASE,
)
# What every labelled value looks like in a text in lower case; case and the value's end cost more to look at.
_LABEL_LIKE = re.compile(
    r"\b(?:port|pid|exit|code|status|rc|lines?|size|count|total|passed|failed|tests?"
    r"|errors?|warnings?|version|id|issue|pr)[ \t:=#(]{1,3}\w{0,2}\d"
)
_NUMBERS = re.compile(r"\d+")
_VARIABLE = re.compile(r"\b[0-9a-f]*\d[0-9a-f]*\b|\d+")  # numbers and hex: what differs between lines of one kind
UNIFORM_LINES = 20  # a text of fewer lines has no lines of a rare kind
UNIFORM_SHARE = 0.2  # kinds of lines per line, at most, for a text to be one of few kinds
CROWD_EXPONENT = 0.5  # set on development transcripts with benchmarks/facts.py
MAX_ERROR_LINE = 400  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What each piece of a text holds; `errors`, `exits`, `receipts` and `rare` are indexes of pieces.

    `warnings` are the errors that are nothing worse.
    A piece is rare when the text consists of a few kinds of lines (numbers aside), and it is the only one of its kind.
    Its weight is 1 for a kind of its own, and falls with the root of the number of pieces of its kind: one of a
    thousand rows alike is worth less than the only one.
    """

    tokens: Sequence[Sequence[str]]
    labelled: dict[int, list[str]]
    errors: frozenset[int]
    warnings: frozenset[int]
    exits: frozenset[int]
    receipts: frozenset[int]
    rare: frozenset[int]
    weights: Sequence[float]


def scan(texts: Sequence[str]) -> Scan:
    """Scan the pieces of one text, none of which holds a line feed."""
    return scan_all([texts])[0]


def scan_all(texts: Sequence[Sequence[str]]) -> list[Scan]:
    """Scan the pieces of many texts; a piece that stands in several of them is looked at once.

    Linear in the length of the distinct pieces, and in the number of all pieces.
    """
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(piece, len(numbers)) for piece in pieces] for pieces in texts]
    distinct = _scan_distinct(list(numbers))
    return [_pick(distinct, row) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Distinct:
    """What each of many distinct pieces holds, by its number; `kinds` are the pieces with what varies taken out."""

    tokens: Sequence[Sequence[str]]
    labelled: dict[int, list[str]]
    errors: frozenset[int]
    warnings: frozenset[int]
    exits: frozenset[int]
    receipts: frozenset[int]
    kinds: Sequence[str]


def _pick(distinct: _Distinct, row: Sequence[int]) -> Scan:
    """The scan of a text that consists of the pieces with these numbers."""
    labelled = distinct.labelled
    kinds = [distinct.kinds[number] for number in row]
    counts = Counter(kinds)
    return Scan(
        tokens=[distinct.tokens[number] for number in row],
        labelled={index: labelled[number] for index, number in enumerate(row) if number in labelled},
        errors=_among(distinct.errors, row),
        warnings=_among(distinct.warnings, row),
        exits=_among(distinct.exits, row),
        receipts=_among(distinct.receipts, row),
        rare=frozenset(_rare(kinds, counts)),
        weights=[counts[kind] ** -CROWD_EXPONENT for kind in kinds],
    )


def _among(numbers: frozenset[int], row: Sequence[int]) -> frozenset[int]:
    return frozenset([index for index, number in enumerate(row) if number in numbers])


def _scan_distinct(pieces: Sequence[str]) -> _Distinct:
    joined = "\n".join(pieces)
    lowered = joined.lower()
    starts = [0, *accumulate(len(line) + 1 for line in lowered.split("\n"))]
    errors = frozenset(
        number for number in _pieces_with(lowered, starts, _ERROR_STEMS) if is_error_line(pieces[number])
    )
    return _Distinct(
        tokens=_token_rows(joined, len(pieces)),
        labelled=_labelled(pieces, lowered, starts),
        errors=errors,
        warnings=frozenset(number for number in errors if is_only_warning(pieces[number])),
        exits=frozenset(
            number for number in _pieces_with(lowered, starts, _EXIT_STEMS) if is_exit_line(pieces[number])
        ),
        receipts=frozenset(
            number for number in _pieces_with(lowered, starts, _RECEIPT_STEMS) if is_receipt_line(pieces[number])
        ),
        kinds=_VARIABLE.sub("0", joined).split("\n"),
    )


def names_in(lines: Sequence[str]) -> set[str]:
    """The tokens and the labelled values of lines.

    >>> sorted(names_in(["id r-20260309-7", "port 80"]))
    ['port 80', 'r-20260309-7']
    """
    joined = "\n".join(lines)
    lowered = joined.lower()
    starts = [0, *accumulate(len(line) + 1 for line in lowered.split("\n"))]
    rows = (*_token_rows(joined, len(lines)), *_labelled(lines, lowered, starts).values())
    return {name for row in rows for name in row}


def _labelled(pieces: Sequence[str], lowered: str, starts: Sequence[int]) -> dict[int, list[str]]:
    likely = {bisect_right(starts, match.start()) - 1 for match in _LABEL_LIKE.finditer(lowered)}
    return {number: values for number in sorted(likely) if (values := list(labelled_values(pieces[number])))}


def _token_rows(joined: str, count: int) -> list[list[str]]:
    """The tokens of each of `count` pieces that stand on a line each."""
    rows: list[list[str]] = [[] for _ in range(count)]
    known: dict[str, list[str]] = {}
    at = 0
    for word in _WORDS.findall(joined):
        if word == "\n":
            at += 1
            continue
        found = known.get(word)
        if found is None:
            found = known[word] = []
            _add_token(found, word)
        rows[at] += found
    return rows


def _rare(kinds: Sequence[str], counts: Mapping[str, int]) -> list[int]:
    """The only pieces of their kind in a text of few kinds of pieces."""
    if len(kinds) < UNIFORM_LINES or len(counts) > UNIFORM_SHARE * len(kinds):
        return []
    return [index for index, kind in enumerate(kinds) if counts[kind] == 1 and kind.strip()]


def _pieces_with(lowered: str, starts: Sequence[int], stems: Sequence[str]) -> list[int]:
    """Indexes of the pieces that hold one of the stems."""
    found: set[int] = set()
    for stem in stems:
        at = lowered.find(stem)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            found.add(index)
            at = lowered.find(stem, starts[index + 1])
    return sorted(found)


def _add_token(row: list[str], word: str) -> None:
    token = word.rstrip(".:,")
    if _DIGIT.search(token):
        row.append(token)
    elif _SEPARATOR.search(token):
        for part in _UNNAMED.split(token) if _UNNAMED.search(token) else (token,):
            if len(part) >= 8 and _SEPARATOR.search(part):
                row.append(part)
    elif len(token) >= 8 and _CAMEL.search(token) and _PLAIN.match(token):
        row.append(token)


def tokens(text: str) -> Iterator[str]:
    """Tokens that name a thing, in no set order and with repeats.

    They are ids, paths, versions, dotted, snake-case and camel-case names.

    A token with a digit has 6 characters or more; one without has 8 or more, and a `/`, `_`, `.` or inner capital in
    it.

    >>> sorted(set(tokens("see src/tide/table.py:12, id r-20260309-7; port 80, LeaseTimer")))
    ['LeaseTimer', 'r-20260309-7', 'src/tide/table.py:12']
    """
    row: list[str] = []
    for word in _WORDS.findall(text):
        if word != "\n":
            _add_token(row, word)
    yield from row


def labelled_values(text: str) -> Iterator[str]:
    """Short values beside a label, as `label value` in lower case: ports, exit codes, counts, line numbers.

    >>> list(labelled_values("listening on port 8080, 12 passed; exit code: 3"))
    ['port 8080', 'code 3']
    """
    for match in _LABELLED.finditer(text):
        yield f"{match.group(1).lower()} {match.group(2).lower()}"


def is_error_line(line: str) -> bool:
    """Whether a line tells of a failure."""
    return len(line) <= MAX_ERROR_LINE and _ERROR.search(line) is not None


def is_exit_line(line: str) -> bool:
    """Whether a line tells an exit code.

    >>> is_exit_line("Process exited with code 2"), is_exit_line("exit the loop")
    (True, False)
    """
    return _EXIT.search(line) is not None


def is_receipt_line(line: str) -> bool:
    """Whether a line is the receipt of something done that should not be done twice.

    >>> is_receipt_line("Created release r-20260309-7 (id 88213)")
    True
    """
    return len(line) <= MAX_ERROR_LINE and _RECEIPT.search(line) is not None


def is_only_warning(line: str) -> bool:
    """Whether an error line tells of nothing worse than a warning.

    >>> is_only_warning("a.c:3: warning: unused 'n'"), is_only_warning("warning: treated as error")
    (True, False)
    """
    return _WARNING.search(line) is not None and _ERROR.search(_WARNING.sub("", line)) is None


def error_template(line: str) -> str:
    """The kind of an error line: its numbers are taken out; of a warning only what follows that word counts.

    >>> error_template("  disk 7 failed"), error_template("a.c:3:9: warning: unused variable 'n'")
    ('disk 0 failed', "warning: unused variable 'n'")
    """
    found = _WARNING.search(line)
    return _NUMBERS.sub("0", line[found.start() :] if found else line).strip()
