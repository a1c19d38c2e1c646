"""An estimate of o200k tokens without a vocabulary, from how the kinds of characters follow each other.

Every byte becomes the letter of its class, and short sequences of classes are counted: each count is one pass at
memory speed. The estimate is the weighted sum of the counts. Weights were fitted to exact counts of tool outputs,
prose, call arguments, program messages in twenty languages, and generated hex, base64, numbers and ids; error by
kind, and how to measure it again: docs/adr/0002-token-counting.md.
"""

__all__ = ["MARGIN", "estimate_tokens"]

MARGIN = 0.15  # nine texts of ten are off by less; docs/adr/0002-token-counting.md
MAX_BYTES_PER_TOKEN = 128  # of o200k's longest tokens

# Weight of each byte, before what follows is added to it.
_PER_BYTE = 0.3147
# Classes: a and A letters, 0 digits, space, n line ends, t tab, p other ASCII; lead bytes of what is not ASCII:
# 2 Latin and Greek, r and w Cyrillic to Arabic, 3 Indic to Thai, k kana, z ideographs, h Hangul, 4 emoji.
_WEIGHTS: tuple[tuple[bytes, float], ...] = (
    (b"a", -0.1265),
    (b"0", 0.9784),
    (b"p", 0.5366),
    (b"n", 1.8496),
    (b"00", -1.2696),
    (b"000", -1.0400),
    (b"0A", 1.6888),
    (b"a0", 0.5179),
    (b" 0", 0.4948),
    (b"p0", -0.3992),
    (b"Aa", 0.1812),
    (b"aaaa", -0.2640),
    (b"aaaaaaaa", -0.2823),
    (b"pp", -0.5273),
    (b"pppp", -1.9108),
    (b"pn", -2.5630),
    (b"nn", -2.1687),
    (b"        ", -2.2733),
)
_WEIGHTS_NOT_ASCII: tuple[tuple[bytes, float], ...] = (
    (b"2", -0.4332),
    (b"r", 0.2186),
    (b"w", -0.2933),
    (b"3", -0.5608),
    (b"k", -0.3264),
    (b"z", -0.2483),
    (b"h", -0.3394),
    (b"4", -1.2637),
    (b"a2", 1.4196),
    (b"rrrr", -3.1408),
    (b"22", 0.8788),
    (b" 2", -1.6757),
)
_UNPRONOUNCEABLE = (b"tttt", 1.5567)  # four consonants in a row: hashes and keys, not words


def _table(default: bytes, classes: dict[str, bytes]) -> bytes:
    """A table for `bytes.translate`: the class of each ASCII character named, one class for the others."""
    table = bytearray(default * 128)
    for characters, name in classes.items():
        for character in characters.encode():
            table[character] = name[0]
    return bytes(table)


_LOWER, _UPPER, _VOWELS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "aeiouyAEIOUY"
_LEADS = b"2" * 16 + b"r" * 2 + b"w" * 14 + b"3" * 3 + b"k" + b"z" * 6 + b"h" * 4 + b"3" * 2 + b"4" * 16  # C0 to FF
_CLASSES = (
    _table(b"p", {_LOWER: b"a", _UPPER: b"A", "0123456789": b"0", " ": b" ", "\r\n": b"n", "\t": b"t"})
    + b"c" * 64
    + _LEADS
)
_SOUNDS = _table(b" ", {_LOWER + _UPPER: b"t", _VOWELS: b"e"}) + b" " * 128
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
