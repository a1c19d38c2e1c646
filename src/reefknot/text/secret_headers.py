"""Secrets in HTTP headers, in cookies and on the command lines of well-known programs."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from reefknot.text.secret_shapes import MAX_VALUE, is_placeholder, is_reference, is_secret, is_template
from reefknot.text.secret_values import Found

__all__ = ["find_in_commands", "find_in_headers"]

_HEADER_VALUE = rb"(?P<v>[a-z0-9._~+/=:-]{%d,}+)"
# (what the text must hold, the pattern, the family); both in lower case
_AUTHORIZATION = (
    (
        b"authorization",
        rb"authorization[\"'`\\]{0,6}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`\\]{0,6}"
        rb"(?:(?:bearer|basic|token|api-?key|digest|bot|key|jwt|oauth|negotiate)[ \t]+)?" + _HEADER_VALUE % 8,
        "authorization",
    ),
    (b"bearer", rb"bearer[ \t]{1,4}" + _HEADER_VALUE % 20, "bearer"),
)
_USER_AND_PASSWORD = (
    (b"basic", rb"basic[ \t]{1,4}(?P<v>[a-z0-9+/]{8,}+={0,2})"),
    (b"auth", rb"auth[\"'\\]{0,6}[ ]?[:=][ ]?[\"'\\]{0,6}(?P<v>[a-z0-9+/]{8,}+={0,2})"),
)
_COOKIE = rb"cookies?[\"'`\\]{0,6}[ \t]{0,4}[:=][ \t]{0,4}[\"'`\\]{0,6}"
_COOKIE_PAIR = rb"[A-Za-z0-9_.%-]{1,80}=(?P<v>[^\s;,\"'\\`]{8,}+)"
_COOKIE_END = rb"[\r\n\"'`]|\\+[nr\"']"
_COMMANDS = (
    (b"curl", rb"curl\b[^\r\n]{0,300}?[ \t](?:-u|--user)[ \t=]?[\"']?[^\s:\"'$]{1,64}:(?P<v>[^\s\"'$]{3,}+)"),
    (b"mysql", rb"mysql(?:dump|admin|import)?\b[^\r\n|;&]{0,200}?[ \t]-p[\"']?(?P<v>[^\s\"'$]{4,}+)"),
    (b"sshpass", rb"sshpass[ \t]+-p[ \t]*[\"']?(?P<v>[^\s\"'$]{3,}+)"),
    (b"redis-cli", rb"redis-cli\b[^\r\n|;&]{0,200}?[ \t]-a[ \t]+[\"']?(?P<v>[^\s\"'$]{3,}+)"),
    (b"login", rb"login[ \t]+[^\s]{1,128}\s{1,8}password[ \t]+(?P<v>[^\s]{3,}+)"),  # .netrc
)


def find_in_headers(data: bytes, low: bytes) -> Iterator[Found]:
    """What authorizes a request: header values, `user:password` in base64, cookies. `low` is `data` in lower case."""
    for word, pattern, family in _AUTHORIZATION:
        for match in re.finditer(pattern, low) if word in low else ():
            start, end = match.span("v")
            if is_secret(data[start:end], "token", "bare"):
                yield Found(start=start, end=end, family=family)
    for word, pattern in _USER_AND_PASSWORD:
        for match in re.finditer(pattern, low) if word in low else ():
            start, end = match.span("v")
            if _holds_user_and_password(data[start:end]):
                yield Found(start=start, end=end, family="basic")
    if b"cookie" in low:
        yield from _find_cookies(data, low)


def find_in_commands(data: bytes) -> Iterator[Found]:
    """Passwords in the arguments of programs that take them there, and in .netrc files."""
    for word, pattern in _COMMANDS:
        for match in re.finditer(pattern, data) if word in data else ():
            value = match["v"]
            is_literal = not (is_reference(value) or is_placeholder(value) or is_template(value))
            if is_literal and re.search(rb"[A-Za-z]", value):
                yield Found(start=match.start("v"), end=match.end("v"), family="password")


def _holds_user_and_password(value: bytes) -> bool:
    """Whether base64 says `user:password` when it is decoded."""
    head = value[:MAX_VALUE]
    try:
        decoded = b64decode(head + b"=" * (-len(head) % 4), validate=True)
    except NotBase64:
        return False
    return b":" in decoded and all(32 <= byte < 127 for byte in decoded)


def _find_cookies(data: bytes, low: bytes) -> Iterator[Found]:
    ends, pairs = re.compile(_COOKIE_END), re.compile(_COOKIE_PAIR)
    done = 0
    for head in re.finditer(_COOKIE, low):
        if head.start() < done:
            continue
        stop = ends.search(data, head.end())
        done = stop.start() if stop else len(data)
        for pair in pairs.finditer(data, head.end(), done):
            if is_secret(pair["v"], "token", "bare"):
                yield Found(start=pair.start("v"), end=pair.end("v"), family="cookie")
