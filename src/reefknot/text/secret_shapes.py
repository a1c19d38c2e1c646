"""What a value looks like: a secret, or a placeholder, a reference, a word, code."""

import re
from typing import Literal

__all__ = ["MAX_VALUE", "Form", "Kind", "is_placeholder", "is_random", "is_reference", "is_secret", "is_template"]

Kind = Literal["password", "token"]
Form = Literal["sure", "quoted", "env", "bare"]  # quoted behind a name like `api_key`; quoted; `NAME=value`; else

MIN_PASSWORD, MIN_TOKEN = 6, 8  # bytes; shorter values are codes and words far more often than secrets
SURE_TOKEN = 20  # bytes from which a token needs no digit
SURE_DIGITS = 3  # digits from which a value behind a sure name may even read as words
MAX_NUMBERS = 2  # runs of digits in a value that still reads as words
MAX_DIGIT_SHARE = 0.3  # and how much of it they may be
MAX_VALUE = 512  # bytes of a value that are looked at to judge it

_PLACEHOLDER = re.compile(
    rb"(?i)x{4}|\*{3}|\.\.\.|\xe2\x80\xa6|your|example|placeholder|redacted|dummy|change[-_]?me|insert|replace|sample|masked"
)
_TEMPLATE = re.compile(rb"\$[{(]|\{\{|\{[A-Za-z_][\w.]*\}|\{\}|<[A-Za-z][^>]*>|%[({sdv]|%[A-Za-z_]+%")
_RANDOM_RUN = re.compile(rb"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{12,}")
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


def is_placeholder(value: bytes) -> bool:
    """Whether a value stands for a secret and is none: one character repeated, `<key>`, `your-api-key-here`.

    >>> is_placeholder(b"xxxxxxxxxxxx"), is_placeholder(b"0000000000"), is_placeholder(b"q8Zr31LmT0vY")
    (True, True, False)
    """
    return len(set(value[-12:])) < 3 or _PLACEHOLDER.search(value) is not None


def is_template(value: bytes) -> bool:
    """Whether something is put into the value later: `${X}`, `{{x}}`, `<x>`, `%s`.

    >>> is_template(b"${DB_PASSWORD}"), is_template(b"<token>"), is_template(b"pa55w{rd$")
    (True, True, False)
    """
    return _TEMPLATE.search(value) is not None


def is_random(value: bytes) -> bool:
    """Whether letters and digits are mixed in a run of 12 or more, as in keys and not as in words.

    >>> is_random(b"estimator-doc-link"), is_random(b"a81b22c9d0e4")
    (False, True)
    """
    return _RANDOM_RUN.search(value) is not None


def is_reference(value: bytes) -> bool:
    """Whether a value names the place where a secret is: a variable, a path, an address.

    >>> is_reference(b"$TOKEN"), is_reference(b"~/.netrc"), is_reference(b"tr0ub4dor")
    (True, True, False)
    """
    return _REFERENCE.match(value) is not None


def is_secret(value: bytes, kind: Kind, form: Form) -> bool:
    """Whether a value could be the secret that the name before it announces.

    >>> is_secret(b"a1b2c3d4e5f6", "token", "bare"), is_secret(b"get_token2", "token", "bare")
    (True, False)
    """
    head = value[:MAX_VALUE]
    if len(head) < (MIN_PASSWORD if kind == "password" else MIN_TOKEN) or any(byte <= 32 for byte in head):
        return False
    if is_reference(head) or is_placeholder(head) or is_template(head) or head.lower() in _NOT_A_SECRET:
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
