"""What in a text an agent may need again: tokens that name things, and lines that must not be missed.

Token and line patterns follow the fact rails of the verbatim-compaction family (jev-factkeep, factrail),
as published; what is counted as covered, and for how much, is decided in `value` and `selection`.
"""

import re
from collections.abc import Iterator

__all__ = ["error_template", "is_error_line", "is_exit_line", "is_receipt_line", "labelled_values", "tokens"]

_WITH_DIGIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@#-]{5,}")
_NAMES = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{7,}")
_DIGIT = re.compile(r"[0-9]")
_SEPARATOR = re.compile(r"[/_.]")
_CAMEL = re.compile(r"\b[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
_ERROR = re.compile(
    r"\b(?:errors?|err|failed|failures?|fail|exception|traceback|denied|refused|invalid|not found|cannot|fatal|panic(?:ked)?"
    r"|timed? ?out|segfault|aborted|undefined|unresolved)\b|[A-Za-z]Error\b|[A-Za-z]Exception\b|✖|✗|\bERR!?",
    re.IGNORECASE,
)
_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?: status| code)?|returned(?: with)?(?: exit)?(?: status| code)|return ?code|status code|rc)\b[ :=]*-?\d{1,3}\b",
    re.IGNORECASE,
)
_RECEIPT = re.compile(
    r"\b(?:message[_ ]?id|ticket|confirmed|confirmation|sent|delivered|created|updated|deleted|order|transaction|released?"
    r"|published|deployed|merged|pushed|commit(?:ted)?|uploaded|scheduled|booked|paid|refunded)\b[^\n]{0,40}?[A-Za-z_#-]*\d",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"\b(port|pid|exit|code|status|rc|line|lines|size|count|total|passed|failed|tests?|errors?|warnings?|version|id|issue|pr)\b[\s:=#(]{1,3}"
    r"([A-Za-z]{0,2}\d[\w.]{0,4})(?![\w.])",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")
MAX_ERROR_LINE = 400  # characters


def tokens(text: str) -> Iterator[str]:
    """Tokens that name a thing, in no set order and with repeats: ids, paths, versions, dotted or snake-case names.

    A token with a digit has 6 characters or more; one without has 8 or more and a `/`, `_` or `.` in it.

    >>> sorted(set(tokens("see src/tide/table.py:12, id r-20260309-7; port 80")))
    ['r-20260309-7', 'src/tide/table.py', 'src/tide/table.py:12']
    """
    for token in _WITH_DIGIT.findall(text):
        if _DIGIT.search(token):
            yield token.rstrip(".:,")
    for token in _NAMES.findall(text):
        if _SEPARATOR.search(token) and not _DIGIT.search(token):
            stripped = token.rstrip(".:,")
            if len(stripped) >= 8:
                yield stripped
    if text.find("_") >= 0 or not text.islower():
        yield from (token for token in _CAMEL.findall(text) if len(token) >= 8)


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


def error_template(line: str) -> str:
    """A line with its numbers taken out, so that a thousand like it are one kind."""
    return _NUMBERS.sub("0", line.strip())
