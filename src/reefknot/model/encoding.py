"""Text to bytes and back, for text that may hold what UTF-8 does not know.

Tool outputs hold undecodable bytes (kept by Python as U+DC80..U+DCFF) and halves of surrogate pairs
(from JSON escapes). Both come back as they were: `to_text(to_bytes(text)) == text` for every text.
This is the one place where that choice is made.
"""

__all__ = ["to_bytes", "to_text"]


def to_bytes(text: str) -> bytes:
    """The bytes of a text: UTF-8; undecodable bytes as they were; half surrogate pairs as three bytes.

    In a text with halves of surrogate pairs, or whose undecodable bytes would be read as something else than
    themselves, each U+D800..U+DFFF becomes three bytes.

    >>> to_bytes("Höhe"), to_bytes("\\udcff"), to_bytes("\\ud83d")
    (b'H\\xc3\\xb6he', b'\\xff', b'\\xed\\xa0\\xbd')
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        pass
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return data if to_text(data) == text else text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """The text of bytes that `to_bytes` made, or of any bytes at all; never raises.

    >>> to_text(b"H\\xc3\\xb6he"), to_text(b"\\xff"), to_text(b"\\xed\\xa0\\xbd")
    ('Höhe', '\\udcff', '\\ud83d')
    """
    for handler in ("strict", "surrogatepass"):
        try:
            return data.decode("utf-8", handler)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "surrogateescape")
