"""What an image costs in tokens, by the rules that the providers publish, from the first bytes of its file.

Nothing is decoded beyond the header. An image whose size cannot be known (a link, an unknown kind of file)
counts as a stated default.
"""

import base64
import binascii
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from reefknot.model.message import Json

__all__ = ["ImageSize", "anthropic_image_tokens", "image_size", "openai_image_tokens"]

_HEADER_CHARACTERS = 400_000  # base64; the size in a JPEG stands behind its embedded previews

# Anthropic, "Vision": tokens = width * height / 750 after scaling to a long edge of at most 1,568 pixels;
# about 1,600 at most
_ANTHROPIC_EDGE = 1568
_ANTHROPIC_PIXELS_PER_TOKEN = 750
_ANTHROPIC_MOST = 1600  # also what an image of unknown size counts

# OpenAI, "Images and vision": 85 for the image and 170 for each tile of 512 pixels, after scaling to at most
# 2,048 x 2,048 and then to a short side of at most 768
_OPENAI_BASE, _OPENAI_TILE, _OPENAI_TILE_EDGE = 85, 170, 512
_OPENAI_LONG, _OPENAI_SHORT = 2048, 768
_OPENAI_UNKNOWN = 765  # a square image in full detail


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSize:
    """Width and height in pixels."""

    width: int
    height: int


def anthropic_image_tokens(source: Json) -> int:
    """The tokens of an image block's `source`.

    >>> anthropic_image_tokens({"type": "url", "url": "https://example.org/a.png"})
    1600
    """
    size = image_size(_base64_head(source.get("data"))) if isinstance(source, Mapping) else None
    if size is None:
        return _ANTHROPIC_MOST
    scale = min(1.0, _ANTHROPIC_EDGE / max(size.width, size.height, 1))
    tokens = math.ceil(size.width * scale * size.height * scale / _ANTHROPIC_PIXELS_PER_TOKEN)
    return min(tokens, _ANTHROPIC_MOST)


def openai_image_tokens(image: Json) -> int:
    """The tokens of the `image_url` of a content part: {"url", "detail"?}, or the URL alone.

    >>> openai_image_tokens({"url": "https://example.org/a.png", "detail": "low"})
    85
    """
    fields: Mapping[str, Json] = image if isinstance(image, Mapping) else {"url": image}
    if fields.get("detail") == "low":
        return _OPENAI_BASE
    url = fields.get("url")
    head = url.partition(";base64,")[2] if isinstance(url, str) and url.startswith("data:") else None
    size = image_size(_base64_head(head))
    if size is None:
        return _OPENAI_UNKNOWN
    scale = min(1.0, _OPENAI_LONG / max(size.width, size.height, 1))
    scale *= min(1.0, _OPENAI_SHORT / max(min(size.width, size.height) * scale, 1))
    tiles = math.ceil(size.width * scale / _OPENAI_TILE_EDGE) * math.ceil(size.height * scale / _OPENAI_TILE_EDGE)
    return _OPENAI_BASE + _OPENAI_TILE * tiles


def _base64_head(data: Json) -> bytes:
    if not isinstance(data, str):
        return b""
    head = data[:_HEADER_CHARACTERS]
    try:
        return base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def image_size(head: bytes) -> ImageSize | None:
    """The size that a PNG, GIF, WebP or JPEG header tells; None when it is none of these or cut too short.

    >>> image_size(b"GIF89a" + bytes([64, 0, 32, 0]))
    ImageSize(width=64, height=32)
    """
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return _size(*struct.unpack_from(">II", head, 16))
        if head.startswith((b"GIF87a", b"GIF89a")):
            return _size(*struct.unpack_from("<HH", head, 6))
        if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
            return _webp_size(head)
        if head.startswith(b"\xff\xd8"):
            return _jpeg_size(head)
    except (struct.error, IndexError):
        return None
    return None


def _size(width: int, height: int) -> ImageSize:
    return ImageSize(width=width, height=height)


def _webp_size(head: bytes) -> ImageSize | None:
    match head[12:16]:
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 26)
            return _size(width & 0x3FFF, height & 0x3FFF)
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", head, 21)
            return _size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            width_low, width_high, height_low, height_high = struct.unpack_from("<HBHB", head, 24)
            return _size(1 + width_low + (width_high << 16), 1 + height_low + (height_high << 16))
        case _:
            return None


def _jpeg_size(head: bytes) -> ImageSize | None:
    position = 2
    while position + 9 < len(head):
        if head[position] != 0xFF:
            return None
        marker = head[position + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # start of a frame, not a table
            height, width = struct.unpack_from(">HH", head, position + 5)
            return _size(width, height)
        position += 1 if marker == 0xFF else 2 + int.from_bytes(head[position + 2 : position + 4], "big")
    return None
