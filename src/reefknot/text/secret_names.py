"""Secrets that are known by the name in front of them: `password = ...`, JSON members, YAML, dotenv, flags, headers.

A name counts by its last segments (`DB_PASSWORD`, `clientSecret`, `aws_secret_access_key`; not `max_tokens`,
`token_type`, `primary_key`). A value counts when it is a literal that could be a secret: no reference, no path, no
code, no placeholder, no prose. Names are sought in a lower-case copy of the bytes, values taken from the bytes.
"""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reefknot.text.secret_values import Found, is_placeholder, is_template

__all__ = ["find_named"]

Kind = Literal["password", "token"]
Form = Literal[
    "sure", "quoted", "env", "bare"
]  # quoted, behind a name like `api_key`; quoted; line `NAME=value`; other

MAX_NAME = 64  # bytes of a name that are looked at
MIN_PASSWORD, MIN_TOKEN = 6, 8  # bytes; shorter values are codes and words far more often than secrets
SURE_TOKEN = 20  # bytes from which a token needs no digit
SURE_DIGITS = 3  # digits from which a value behind a sure name may even read as words
MAX_NUMBERS = 2  # runs of digits in a value that still reads as words
MAX_LINE = 4_096  # bytes of a value that is taken to fill its line
MAX_DIGIT_SHARE = 0.3  # and how much of it they may be
MAX_VALUE = 512  # bytes of a value that are looked at to judge it


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword:
    """The last word of a name: what kind of value it has and which words must, or must not, stand before it."""

    pattern: bytes  # begins with a literal
    kind: Kind
    family: str
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
    Keyword(pattern=b"pass(?:word|wd|phrase)?", kind="password", family="password"),
    Keyword(pattern=b"pwd", kind="password", family="password"),
    Keyword(pattern=b"secret", kind="token", family="secret"),
    Keyword(pattern=b"token", kind="token", family="token", never_after=_BEFORE_HARMLESS_TOKEN),
    Keyword(pattern=b"credentials?", kind="token", family="credential"),
    Keyword(pattern=b"key", kind="token", family="api-key", after=_BEFORE_KEY),
)
# Between a name and its value: an assignment, the members of `"name": "X", "value": "..."`, a comma, a space, `>`.
_SEPARATOR = (
    rb"(?:_?[0-9]{1,2})?(?P<close>\\{0,4}[\"'`]?\]?)(?:"
    rb"(?P<assign>[ \t]{0,16}(?:=>|:=|={1,3}|!=|:)[ \t]{0,16}"
    rb"(?:[A-Za-z][\w.\[\]]{0,30}(?:[ ]?\|[ ]?\w{1,20})?[ ]?=[ ]?(?=[\"'`]))?)"  # the type of a declaration
    rb"|(?P<pair>,?\s{0,40}\\{0,4}[\"']?value\\{0,4}[\"']?[ \t]{0,8}:[ \t]{0,8})"
    rb"|(?P<comma>,[ \t]{0,8}(?=\\{0,4}[\"']))|(?P<space>[ \t]{1,8})|(?P<tag>>))"
)
_AFTER = tuple((keyword, re.compile(b"(?P<word>" + keyword.pattern + b")" + _SEPARATOR)) for keyword in KEYWORDS)
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
_DIGIT, _LETTER, _SYMBOL = re.compile(rb"[0-9]"), re.compile(rb"[A-Za-z]"), re.compile(rb"[^A-Za-z0-9_.:/-]")
_WORD = rb"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[0-9]{1,4}|[A-Za-z](?![A-Za-z]))"
_WORDY = re.compile(rb"[-_.:/]?" + _WORD + rb"(?:[-_.:/@ +]{0,2}" + _WORD + rb")*+[-_.:/]?\Z")
_CONSTANT = re.compile(rb"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z|[A-Za-z_][\w.]*\([^()]*\)\Z")  # a variable's name, a call
_CALL = re.compile(rb"[A-Za-z_$][\w$.>-]*[(\[{<]")
_DIGIT_RUN = re.compile(rb"[0-9]+")
_REFERENCE = re.compile(
    rb"\$|\{\{|<|~|\.{0,2}/|[A-Za-z]:[\\/]|@[\w./]|\[REDACTED:|[a-z][a-z0-9+]*://|vault:|op:|env:|arn:|\*|--"
)
_NOT_A_SECRET = frozenset(
    b"password passwd passphrase secret token string number boolean object required optional hidden default empty "
    b"unset unknown invalid missing disabled enabled bearer undefined protected sensitive masked current new-password "
    b"current-password function private public".split()
)


def find_named(data: bytes) -> Iterator[Found]:
    """All values in `data` that stand behind the name of a secret; they may overlap."""
    low = data.lower()
    for keyword, pattern in _AFTER:
        done = 0
        for match in pattern.finditer(low):
            if match.start() < done:  # inside the value before
                continue
            name = _name(data, *match.span("word"))
            if _names_a_secret(name, match["word"].decode(), keyword) and (span := _value(data, name, match, keyword)):
                done = span[1]
                yield Found(start=span[0], end=done, family=keyword.family)
    yield from _find_headers(data, low)
    yield from _find_commands(data)


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
        return (start, end) if end > start and _is_secret(data[start:end], keyword.kind, "quoted") else None
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
    if by_space and (keyword.kind != "password" or not _DIGIT.search(value)):
        return None
    return (start, end) if _is_secret(value, keyword.kind, form) else None


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
        return line.span() if not own_word and _is_secret(line[0], keyword.kind, form) else None
    bare = _BARE.match(data, start, start + MAX_VALUE)
    end = bare.end() if bare else start
    if data[end : end + 1] in {b"(", b"[", b"{", b"<"}:  # a call, an index, a type: code
        return None
    while end > start and data[end - 1 : end] in {b".", b":", b"!", b"?"}:  # the sentence's, not the value's
        end -= 1
    value = data[start:end]
    if match["word"] in value.lower() or not _is_secret(value, keyword.kind, "bare"):
        return None  # `password=password2` names a variable
    whole = _BARE.match(data, start) if len(value) == MAX_VALUE else None
    return (start, whole.end() if whole else end)


def _is_secret(value: bytes, kind: Kind, form: Form) -> bool:
    head = value[:MAX_VALUE]
    if len(head) < (MIN_PASSWORD if kind == "password" else MIN_TOKEN) or any(byte <= 32 for byte in head):
        return False
    if _REFERENCE.match(head) or is_placeholder(head) or is_template(head) or head.lower() in _NOT_A_SECRET:
        return False
    if form in {"quoted", "sure"} and _CONSTANT.match(head):
        return False
    if form == "bare" and _CALL.match(head):
        return False
    if kind == "password":
        return _is_password(head, form)
    return _is_token(head, form)


def _is_password(value: bytes, form: Form) -> bool:
    if form == "bare":
        has_mark = _DIGIT.search(value) is not None or _SYMBOL.search(value) is not None
        return has_mark and _LETTER.search(value) is not None and not _is_code(value)
    return True


def _is_token(value: bytes, form: Form) -> bool:
    if form == "sure" and len(_DIGIT.findall(value)) >= SURE_DIGITS:
        return True
    if not _LETTER.search(value) or _is_wordy(value):
        return False
    return _DIGIT.search(value) is not None or (form != "bare" and len(value) >= SURE_TOKEN)


def _is_wordy(value: bytes) -> bool:
    """Whether a value is made of words and a few short numbers, as identifiers, names and paths are."""
    numbers = _DIGIT_RUN.findall(value)
    few = len(numbers) <= MAX_NUMBERS and sum(map(len, numbers)) <= MAX_DIGIT_SHARE * len(value)
    return few and _WORDY.match(value) is not None


def _is_code(value: bytes) -> bool:
    """Whether an unquoted value is a name in a program: words joined by dots or underscores."""
    return _is_wordy(value) and (b"_" in value or b"." in value or b"-" in value or b":" in value or b"/" in value)


_HEADER_VALUE = rb"(?P<v>[A-Za-z0-9._~+/=:-]{%d,}+)"
_AUTHORIZATION = re.compile(
    rb"authorization[\"'`\\]{0,6}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`\\]{0,6}"
    rb"(?:(?:bearer|basic|token|api-?key|digest|bot|key|jwt|oauth|negotiate)[ \t]+)?" + _HEADER_VALUE % 8
)
_BEARER = re.compile(rb"bearer[ \t]{1,4}" + _HEADER_VALUE % 20)
_BASIC = re.compile(rb"basic[ \t]{1,4}(?P<v>[a-z0-9+/]{8,}+={0,2})")
_AUTH = re.compile(rb"auth[\"'\\]{0,6}[ ]?[:=][ ]?[\"'\\]{0,6}(?P<v>[a-z0-9+/]{8,}+={0,2})")
_COOKIE = re.compile(rb"cookies?[\"'`\\]{0,6}[ \t]{0,4}[:=][ \t]{0,4}[\"'`\\]{0,6}")
_COOKIE_PAIR = re.compile(rb"[A-Za-z0-9_.%-]{1,80}=(?P<v>[^\s;,\"'\\`]{8,}+)")
_COOKIE_END = re.compile(rb"[\r\n\"'`]|\\+[nr\"']")


def _find_headers(data: bytes, low: bytes) -> Iterator[Found]:
    for pattern, family in ((_AUTHORIZATION, "authorization"), (_BEARER, "bearer")):
        for match in pattern.finditer(low):
            start, end = match.span("v")
            if _is_secret(data[start:end], "token", "bare"):
                yield Found(start=start, end=end, family=family)
    for pattern in (_BASIC, _AUTH):
        for match in pattern.finditer(low):
            start, end = match.span("v")
            if _holds_user_and_password(data[start:end]):
                yield Found(start=start, end=end, family="basic")
    yield from _find_cookies(data, low)


def _holds_user_and_password(value: bytes) -> bool:
    """Whether base64 says `user:password` when it is decoded."""
    head = value[:MAX_VALUE]
    try:
        decoded = b64decode(head + b"=" * (-len(head) % 4), validate=True)
    except NotBase64:
        return False
    return b":" in decoded and all(32 <= byte < 127 for byte in decoded)


def _find_cookies(data: bytes, low: bytes) -> Iterator[Found]:
    done = 0
    for head in _COOKIE.finditer(low):
        if head.start() < done:
            continue
        stop = _COOKIE_END.search(data, head.end())
        done = stop.start() if stop else len(data)
        for pair in _COOKIE_PAIR.finditer(data, head.end(), done):
            if _is_secret(pair["v"], "token", "bare"):
                yield Found(start=pair.start("v"), end=pair.end("v"), family="cookie")


_COMMANDS: tuple[re.Pattern[bytes], ...] = (
    re.compile(rb"curl\b[^\r\n]{0,300}?[ \t](?:-u|--user)[ \t=]?[\"']?[^\s:\"'$]{1,64}:(?P<v>[^\s\"'$]{3,}+)"),
    re.compile(rb"mysql(?:dump|admin|import)?\b[^\r\n|;&]{0,200}?[ \t]-p[\"']?(?P<v>[^\s\"'$]{4,}+)"),
    re.compile(rb"sshpass[ \t]+-p[ \t]*[\"']?(?P<v>[^\s\"'$]{3,}+)"),
    re.compile(rb"redis-cli\b[^\r\n|;&]{0,200}?[ \t]-a[ \t]+[\"']?(?P<v>[^\s\"'$]{3,}+)"),
    re.compile(rb"login[ \t]+[^\s]{1,128}\s{1,8}password[ \t]+(?P<v>[^\s]{3,}+)"),
)


def _find_commands(data: bytes) -> Iterator[Found]:
    for pattern in _COMMANDS:
        for match in pattern.finditer(data):
            value = match["v"]
            if not (_REFERENCE.match(value) or is_placeholder(value) or is_template(value)) and _LETTER.search(value):
                yield Found(start=match.start("v"), end=match.end("v"), family="password")
