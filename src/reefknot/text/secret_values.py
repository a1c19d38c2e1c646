"""Secrets that are known by their own shape: provider prefixes, signed tokens, webhooks, passwords in URLs.

Each family is one byte pattern that starts with a literal, so that a text is scanned for it at memory speed; what
a match must not be (a placeholder, a CSS class) is asked of the few matches.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reefknot.text.secret_shapes import is_placeholder, is_random, is_template

__all__ = ["FAMILIES", "Family", "Found", "find_values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One stretch of bytes to mask; `first` is false for the further lines of one secret."""

    start: int
    end: int
    family: str
    first: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Secrets of one provider or kind. `accepts` has the last word on the value, group `v` of the pattern.

    A text without the literal that `gate` seeks is not looked at any closer. `whole` masks the match from its start,
    not only the value.
    """

    name: str
    gate: re.Pattern[bytes]
    pattern: bytes
    accepts: Callable[[bytes], bool]
    whole: bool = False


def _is_key(value: bytes) -> bool:
    return not is_placeholder(value)


def _is_random_key(value: bytes) -> bool:
    return is_random(value) and not is_placeholder(value)


def _is_sk(value: bytes) -> bool:
    """Keys that begin with sk-: those of known providers, and others that are random beyond doubt."""
    body = value.removeprefix(b"sk-")
    known = body.startswith((b"ant-", b"proj-", b"svcacct-", b"admin-", b"or-v1-"))
    return not is_placeholder(value) and (known or is_random(body))


_PASSWORD_WORDS = frozenset(
    b"pass password passwd pwd pw passw secret token key api_key apikey user username credentials none null".split()
)


def _is_url_password(value: bytes) -> bool:
    words = value.lower() in _PASSWORD_WORDS or value.startswith(b"[REDACTED:")
    return not (words or is_placeholder(value) or is_template(value) or value.startswith(b"$"))


def _at_boundary(literal: str) -> str:
    """The literal where a word starts: also after a JSON escape, a colour code or a URL escape."""
    before = (r"(?<![A-Za-z0-9]", r"(?<=\\[bfnrt]", r"(?<=[0-9\[]m", r"(?<=%[0-9A-F]{2}")
    return f"{literal}(?:{'|'.join(f'{look}{literal})' for look in before)})"


_WORD = "[A-Za-z0-9_-]"
_BODY = "[A-Za-z0-9]"
_AWS = "(?:KI|SI|RO|ID|GP|IP|NP|NV|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"
_PATTERNS: tuple[tuple[str, str, str], ...] = (  # family, literal that starts it, the rest
    ("stripe", "sk_", "(?:live|test)_" + _BODY + "{16,}+"),
    ("stripe", "rk_", "(?:live|test)_" + _BODY + "{16,}+"),
    ("stripe", "whsec_", "[A-Za-z0-9+/=]{24,}+"),
    ("github", "github_pat_", "[A-Za-z0-9_]{16,}+"),
    ("github", "gh", "[pousr]_[A-Za-z0-9]{16,}+"),
    ("gitlab", "gl", "(?:pat|ptt|dt|rt|cbt|soat|ft|agent|imt)-" + _WORD + "{20,}+"),
    ("huggingface", "hf_", _BODY + "{20,}+"),
    ("npm", "npm_", _BODY + "{20,}+"),
    ("pypi", "pypi-", "AgE" + _WORD + "{16,}+"),
    ("shopify", "shp", "(?:at|ss|ca|pa)_[A-Fa-f0-9]{32,}+"),
    ("nebius", "nk_", _BODY + "{20,}+"),
    ("google", "AIza", _WORD + "{30,}+"),
    ("google", r"ya29\.", _WORD + "{20,}+"),
    ("google", "GOCSPX-", _WORD + "{20,}+"),
    ("slack", "xox", "[abcdeprs]-[A-Za-z0-9-]{10,}+"),
    ("slack", "xapp-", "[0-9]-[A-Za-z0-9-]{10,}+"),
    ("aws-key", "A", _AWS + "(?:[^A-Za-z0-9/+\\r\\n]{1,12}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?"),
    ("nostr", "nsec1", "[02-9ac-hj-np-z]{50,}+"),
    ("perplexity", "pplx-", _BODY + "{20,}+"),
    ("xai", "xai-", _BODY + "{20,}+"),
    ("groq", "gsk_", _BODY + "{20,}+"),
    ("fish", "fish_", _BODY + "{20,}+"),
    ("keen", "keen_", _BODY + "{20,}+"),
    ("sendgrid", r"SG\.", _WORD + r"{16,}+\." + _WORD + "{16,}+"),
    ("age", "AGE-SECRET-KEY-", "[A-Z0-9]{20,}+"),
    ("vault", r"hvs\.", _WORD + "{20,}+"),
    ("digitalocean", "do[opr]_v1_", "[a-f0-9]{40,}+"),
    ("replicate", "r8_", _BODY + "{30,}+"),
    ("grafana", "glsa_", "[A-Za-z0-9_]{30,}+"),
    ("docker", "dckr_pat_", _WORD + "{20,}+"),
    ("linear", "lin_api_", _BODY + "{30,}+"),
    ("rubygems", "rubygems_", "[a-f0-9]{40,}+"),
    ("databricks", "dapi", "[a-f0-9]{32}(?![A-Za-z0-9])"),
)
# Patterns whose masked part is not the whole match, or that say in their own way where a word starts.
_JWT = r"eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=\\[bfnrt]eyJ)|(?<=[0-9\[]meyJ)|(?<=%[0-9A-F]{2}eyJ))" + _WORD + r"{8,}+\."
_URL, _HOST = "://", r"@(?=[A-Za-z0-9\[_$%{.-])"
_SPECIAL: tuple[tuple[str, str, Callable[[bytes], bool]], ...] = (
    ("sk", "(?P<v>" + _at_boundary("sk-") + "(?<!-sk-)" + _WORD + "{12,}+)", _is_sk),
    ("jwt", f"(?P<v>{_JWT}(?:{_WORD}{{8,}}+\\.{_WORD}{{8,}}+|eyJ{_WORD}{{8,}}+\\.?))", _is_key),
    ("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9/]{16,}+)", _is_key),
    ("discord", r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{5,20}/(?P<v>" + _WORD + "{20,}+)", _is_key),
    ("telegram", r":AA(?<=[0-9]{8}:AA)(?P<v>" + _WORD + "{32,36})(?![A-Za-z0-9_-])", _is_key),
    ("azure", r"sig=(?:(?<=[?&;]sig=)|(?<=u0026sig=))(?P<v>[A-Za-z0-9%+/]{30,}+={0,2})", _is_key),
    ("signature", r"-Signature=(?P<v>[0-9a-f]{32,}+)", _is_key),
    (
        "url-password",
        _URL + r"""[^\s/?#:@\["'`<>\\]{0,128}+:(?P<v>[^\s/?#@"'`<>\\]{3,256}+)""" + _HOST,
        _is_url_password,
    ),
    ("url-token", _URL + "(?P<v>" + _WORD + "{20,256}+)" + _HOST, _is_random_key),
)


def _gate(pattern: str) -> re.Pattern[bytes]:
    """The literal that a pattern begins with. Seeking it costs half of what `in` costs, and little to compile."""
    return re.compile(re.split(r"[\[(?{]", pattern.removeprefix("(?P<v>"), maxsplit=1)[0].encode())


FAMILIES: tuple[Family, ...] = (
    *(
        Family(
            name=name,
            gate=_gate(literal),
            pattern=f"{_at_boundary(literal)}(?P<v>{rest})".encode(),
            accepts=_is_key,
            whole=True,
        )
        for name, literal, rest in _PATTERNS
    ),
    *(
        Family(name=name, gate=_gate(pattern), pattern=pattern.encode(), accepts=accepts)
        for name, pattern, accepts in _SPECIAL
    ),
)


def find_values(data: bytes) -> Iterator[Found]:
    """All stretches of `data` that are secrets by their own shape; they may overlap."""
    for family in FAMILIES:
        if not family.gate.search(data):
            continue
        for match in re.finditer(family.pattern, data):  # compiled when it is first needed: most never are
            if family.accepts(match["v"]):
                start = match.start() if family.whole else match.start("v")
                yield Found(start=start, end=match.end("v"), family=family.name)
