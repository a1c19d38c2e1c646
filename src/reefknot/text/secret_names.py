"""Secrets that are known by the name in front of them: `password = ...`, JSON members, YAML, dotenv, flags, headers.

A name counts by its last segments (`DB_PASSWORD`, `clientSecret`, `aws_secret_access_key`; not `max_tokens`,
`token_type`, `primary_key`). A value counts when it is a literal that could be a secret: no reference, no path, no
code, no placeholder, no prose. Names are sought in a lower-case copy of the bytes, values taken from the bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reefknot.text.secret_shapes import MAX_VALUE, Form, Kind, is_secret
from reefknot.text.secret_values import Found

__all__ = ["find_named"]

MAX_NAME = 64  # bytes of a name that are looked at
MAX_LINE = 4_096  # bytes of a value that is taken to fill its line


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword:
    """The last word of a name: what kind of value it has and which words must, or must not, stand before it."""

    word: bytes  # what a text must hold, in lower case
    kind: Kind
    family: str
    ending: bytes = b""  # a pattern of what may follow it in the last word of the name
    after: frozenset[str] | None = None  # the segment before must be one of these
    never_after: frozenset[str] = frozenset()


_BEFORE_KEY = frozenset(
    (
        "api access secret private encryption signing signature auth account master service consumer subscription "
        "shared app application client session license licence deploy hmac admin write root webhook server"
    ).split()
)
_BEFORE_HARMLESS_TOKEN = frozenset(
    (
        "next prev previous page continuation cursor sync resume eos bos pad unk sep cls mask stop end start special "
        "first last current per max min num total count cancellation idempotency change checkpoint the a this each "
        "every input output prompt completion text word single line lookahead parse parser syntax punctuation"
    ).split()
)
_SURE = _BEFORE_KEY | {"refresh", "bearer", "bot"}  # with one of these before the last word, a name says it all
KEYWORDS: tuple[Keyword, ...] = (
    Keyword(word=b"pass", ending=b"(?:word|wd|phrase)?", kind="password", family="password"),
    Keyword(word=b"pwd", kind="password", family="password"),
    Keyword(word=b"secret", kind="token", family="secret"),
    Keyword(word=b"token", kind="token", family="token", never_after=_BEFORE_HARMLESS_TOKEN),
    Keyword(word=b"credential", ending=b"s?", kind="token", family="credential"),
    Keyword(word=b"key", kind="token", family="api-key", after=_BEFORE_KEY),
)
# Between a name and its value: an assignment, the members of `"name": "X", "value": "..."`, a comma, a space, `>`.
_SEPARATOR = (
    rb"(?:_?[0-9]{1,2})?(?P<close>\\{0,4}[\"'`]?\]?)(?:"
    rb"(?P<assign>[ \t]{0,16}(?:=>|:=|={1,3}|!=|:)[ \t]{0,16}"
    rb"(?:[A-Za-z][\w.\[\]]{0,30}(?:[ ]?\|[ ]?\w{1,20})?[ ]?=[ ]?(?=[\"'`]))?)"  # the type of a declaration
    rb"|(?P<pair>,?\s{0,40}\\{0,4}[\"']?value\\{0,4}[\"']?[ \t]{0,8}:[ \t]{0,8})"
    rb"|(?P<comma>,[ \t]{0,8}(?=\\{0,4}[\"']))|(?P<space>[ \t]{1,8})|(?P<tag>>))"
)
_SEGMENT = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME = re.compile(rb"[A-Za-z0-9_.-]*\Z")
_OPEN = re.compile(rb"[bruf]{0,2}(\\{0,4}[\"'`])")
_CLOSERS = {
    b'"': re.compile(rb"(?:[^\"\\\r\n]|\\[^\r\n])*+"),
    b"'": re.compile(rb"(?:[^'\\\r\n]|\\[^\r\n])*+"),
    b"`": re.compile(rb"(?:[^`\\\r\n]|\\[^\r\n])*+"),
}
_BARE = re.compile(rb"[^\s\"'`\\,;()\[\]{}<>|&]*+")
_LINE = re.compile(rb"[^\s\"'\\]*+(?=[ \t]*(?:[\r\n]|\\+[nr]|[\"']|[ \t]#|\Z))")
_LINE_START = re.compile(
    rb"(?:\A|[\n\"']|\\n)[ \t]*(?:[0-9]{1,6}(?:\t|:|-|\xe2\x86\x92)[ \t]*)?"
    rb"(?:[-+>] ?|export[ ]+|set[ ]+|ENV[ ]+|env[ ]+)*\Z"
)
_ENV_NAME = re.compile(rb"[A-Z][A-Z0-9_]*\Z")


def find_named(data: bytes, low: bytes) -> Iterator[Found]:
    """All values in `data` that stand behind the name of a secret; they may overlap."""
    for keyword in KEYWORDS:
        if keyword.word not in low:
            continue
        done = 0
        for match in re.finditer(b"(?P<word>%s%s)%s" % (keyword.word, keyword.ending, _SEPARATOR), low):
            if match.start() < done:  # inside the value before
                continue
            name = _name(data, *match.span("word"))
            if _names_a_secret(name, match["word"].decode(), keyword) and (span := _value(data, name, match, keyword)):
                done = span[1]
                yield Found(start=span[0], end=done, family=keyword.family)


def _name(data: bytes, start: int, end: int) -> bytes:
    """The whole name whose last word ends at `end`."""
    match = _NAME.search(data, max(0, start - MAX_NAME), start)
    return data[match.start() if match else start : end]


def _names_a_secret(name: bytes, word: str, keyword: Keyword) -> bool:
    segments = [segment.lower().decode() for segment in _SEGMENT.findall(name)]
    if segments[-1:] != [word]:
        return _is_run_together("".join(segments).removesuffix(word), word, keyword)
    before = segments[-2] if len(segments) > 1 else ""
    return before not in keyword.never_after and (keyword.after is None or before in keyword.after)


def _is_run_together(before: str, word: str, keyword: Keyword) -> bool:
    """Whether a name without any mark between its words (`apikey`, `dbpassword`) ends in the keyword."""
    if keyword.after is not None:
        return before.endswith(tuple(keyword.after))
    return word in {"password", "passwd", "passphrase"} or before in {"auth", "access", "client", "app", "api"}


def _value(data: bytes, name: bytes, match: re.Match[bytes], keyword: Keyword) -> tuple[int, int] | None:
    """Where the secret stands that the name announces; None when what follows is none."""
    start = match.end()
    is_flag = name.startswith(b"-")
    is_env = _ENV_NAME.match(name) is not None and b"_" in name
    if match["word"] == b"pass" and not _is_plain_pass(data, name, match):
        return None
    if (match["comma"] and not (is_flag or is_env)) or (match["pair"] and not match["close"] and not is_env):
        return None
    opened = _OPEN.match(data, start)
    if opened:
        form: Form = "sure" if keyword.kind == "token" and _is_sure(name) else "quoted"
        return _quoted(data, opened, keyword, form, by_space=match["space"] is not None and not is_flag)
    if match["space"] and not is_flag:
        return None
    if match["tag"]:
        end = data.find(b"</", start, start + 512)
        return (start, end) if end > start and is_secret(data[start:end], keyword.kind, "quoted") else None
    if match["assign"] and match["assign"].strip() in {b"==", b"===", b"!="}:
        return None
    return _unquoted(data, start, match, keyword, name, is_env=is_env)


def _is_plain_pass(data: bytes, name: bytes, match: re.Match[bytes]) -> bool:
    """Whether `pass` is a password here, and not the verdict of a test or a verb."""
    if not match["assign"]:
        return False
    return name.lower() != b"pass" or b"=" in match["assign"] or data[match.end() : match.end() + 1] in {b'"', b"'"}


def _is_sure(name: bytes) -> bool:
    segments = _SEGMENT.findall(name)
    return len(segments) > 1 and segments[-2].lower().decode() in _SURE


def _quoted(
    data: bytes, opened: re.Match[bytes], keyword: Keyword, form: Form, *, by_space: bool
) -> tuple[int, int] | None:
    quote, start = opened[1], opened.end()
    if len(quote) == 1:
        match = _CLOSERS[quote].match(data, start)
        end = match.end() if match else start
    else:
        end = data.find(quote, start, _line_end(data, start))
    if end < 0 or (end < len(data) and data[end : end + len(quote)] != quote):
        return None
    value = data[start:end]
    if by_space and (keyword.kind != "password" or not re.search(rb"[0-9]", value)):
        return None
    return (start, end) if is_secret(value, keyword.kind, form) else None


def _line_end(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end


def _unquoted(
    data: bytes, start: int, match: re.Match[bytes], keyword: Keyword, name: bytes, *, is_env: bool
) -> tuple[int, int] | None:
    name_start = match.end("word") - len(name)
    before = data[max(0, name_start - 24) : name_start]
    line = _LINE.match(data, start) if match["assign"] and _LINE_START.search(before) else None
    if line and len(line[0]) <= MAX_LINE:
        form: Form = "env" if is_env and match["assign"] == b"=" else "bare"
        own_word = form == "bare" and match["word"] in line[0].lower()
        return line.span() if not own_word and is_secret(line[0], keyword.kind, form) else None
    bare = _BARE.match(data, start, start + MAX_VALUE)
    end = bare.end() if bare else start
    if data[end : end + 1] in {b"(", b"[", b"{", b"<"}:  # a call, an index, a type: code
        return None
    while end > start and data[end - 1 : end] in {b".", b":", b"!", b"?"}:  # the sentence's, not the value's
        end -= 1
    value = data[start:end]
    if match["word"] in value.lower() or not is_secret(value, keyword.kind, "bare"):
        return None  # `password=password2` names a variable
    whole = _BARE.match(data, start) if len(value) == MAX_VALUE else None
    return (start, whole.end() if whole else end)
