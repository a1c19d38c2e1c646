"""An estimate of o200k tokens without a vocabulary, from how the kinds of characters follow each other.

Every byte becomes the letter of its class, and short sequences of classes are counted: each count is one pass at
memory speed. The estimate is the weighted sum of the counts. Weights were fitted to exact counts of tool outputs,
prose, call arguments, program messages in twenty languages, and generated hex, base64, numbers and ids; error by
kind, and how to measure it again: docs/adr/0005-token-counting.md.
"""

__all__ = ["MARGIN", "estimate_tokens"]

MARGIN = 0.15  # nine texts of ten are off by less; docs/adr/0005-token-counting.md
MAX_BYTES_PER_TOKEN = 128  # of o200k's longest tokens

# Weight of each byte, before what follows is added to it.
_PER_BYTE = 0.2907
# Classes: a and A letters, 0 digits, space, n line ends, t tab, p other ASCII; lead bytes of what is not ASCII:
# 2 Latin and Greek, r and w Cyrillic to Arabic, 3 Indic to Thai, k kana, z ideographs, h Hangul, 4 emoji.
_WEIGHTS: tuple[tuple[bytes, float], ...] = (
    (b"a", -0.1191),
    (b"0", 1.0624),
    (b"p", 0.5567),
    (b"n", 1.8072),
    (b"00", -1.3595),
    (b"000", -1.0969),
    (b"0A", 1.7451),
    (b"a0", 0.4987),
    (b" 0", 0.5043),
    (b"p0", -0.4220),
    (b"Aa", 0.2106),
    (b"aaaa", -0.1085),
    (b"aaaaaaaa", -0.4305),
    (b"pp", -0.5305),
    (b"pppp", -1.9438),
    (b"pn", -2.4406),
    (b"nn", -2.2520),
    (b"        ", -2.0856),
)
_WEIGHTS_NOT_ASCII: tuple[tuple[bytes, float], ...] = (
    (b"2", -0.2122),
    (b"r", 0.1782),
    (b"w", -0.2592),
    (b"3", -0.4857),
    (b"k", -0.2959),
    (b"z", -0.0030),
    (b"h", -0.2496),
    (b"4", -2.4617),
    (b"a2", 1.1933),
    (b"rrrr", -2.4847),
)
_UNPRONOUNCEABLE = (b"tttt", 1.5524)  # four consonants in a row: hashes and keys, not words

_LEADS = (
    (0xC0, "2"),
    (0xD0, "r"),
    (0xD2, "w"),
    (0xE0, "3"),
    (0xE3, "k"),
    (0xE4, "z"),
    (0xEA, "h"),
    (0xEE, "3"),
    (0xF0, "4"),
)
_VOWELS = "aeiouyAEIOUY"


def _class_of(byte: int) -> str:
    character = chr(byte)
    if byte >= 0x80:
        return next((name for start, name in reversed(_LEADS) if byte >= start), "c")
    if character.isalpha():
        return "a" if character.islower() else "A"
    if character.isdigit():
        return "0"
    return {" ": " ", "\n": "n", "\r": "n", "\t": "t"}.get(character, "p")


def _sound_of(byte: int) -> str:
    character = chr(byte)
    if byte >= 0x80 or not character.isalpha():
        return " "
    return "e" if character in _VOWELS else "t"


_CLASSES = "".join(map(_class_of, range(256))).encode()
_SOUNDS = "".join(map(_sound_of, range(256))).encode()
_CONTINUATIONS = bytes(range(0x80, 0xC0))


def estimate_tokens(text: str) -> int:
    """About how many o200k tokens a text has; 0 for an empty text only.

    >>> estimate_tokens("The quick brown fox jumps over the lazy dog, and then it naps."), estimate_tokens("")
    (13, 0)
    """
    data = text.encode("utf-8", "surrogatepass")
    ascii_only = len(data) == len(text)
    classes = data.translate(_CLASSES) if ascii_only else data.translate(_CLASSES, _CONTINUATIONS)
    total = _PER_BYTE * len(data)
    for sequence, weight in _WEIGHTS if ascii_only else _WEIGHTS + _WEIGHTS_NOT_ASCII:
        total += weight * classes.count(sequence)
    sequence, weight = _UNPRONOUNCEABLE
    total += weight * data.translate(_SOUNDS).count(sequence)
    return max(round(total), -(-len(data) // MAX_BYTES_PER_TOKEN))
