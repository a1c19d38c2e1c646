"""Image tokens by the published rules, from headers made by hand."""

import base64
import struct

import pytest

from reefknot.formats.images import ImageSize, anthropic_image_tokens, image_size, openai_image_tokens


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


HEADERS = [
    png(640, 480),
    b"GIF89a" + struct.pack("<HH", 640, 480),
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc4\x00\x03x\xff\xc2\x00\x11\x08\x01\xe0\x02\x80\x03",
    b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0" + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480),
    b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14),
    b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"),
]


@pytest.mark.parametrize("head", HEADERS)
def test_the_size_stands_in_the_header(head: bytes) -> None:
    assert image_size(head) == ImageSize(width=640, height=480)
    for cut in range(len(head)):
        assert image_size(head[:cut]) in (None, ImageSize(width=640, height=480))


@pytest.mark.parametrize(
    ("size", "tokens"), [((200, 200), 54), ((1000, 1000), 1334), ((1092, 1092), 1590), ((8000, 6000), 1600)]
)
def test_anthropic_counts_pixels(size: tuple[int, int], tokens: int) -> None:
    assert anthropic_image_tokens({"type": "base64", "data": base64.b64encode(png(*size)).decode()}) == tokens


@pytest.mark.parametrize(
    ("size", "tokens"), [((512, 512), 255), ((1024, 1024), 765), ((2048, 4096), 1105), ((100, 100), 255)]
)
def test_openai_counts_tiles(size: tuple[int, int], tokens: int) -> None:
    url = "data:image/png;base64," + base64.b64encode(png(*size)).decode()
    assert openai_image_tokens({"url": url}) == tokens
    assert openai_image_tokens({"url": url, "detail": "low"}) == 85
    assert openai_image_tokens(url) == tokens


def test_what_cannot_be_measured_counts_as_stated() -> None:
    assert [anthropic_image_tokens(source) for source in (None, {"data": "%%%"}, {"data": "AAAA"}, {"data": 5})] == [
        1600
    ] * 4
    assert [openai_image_tokens(image) for image in (None, {"url": "data:image/png;base64,é"}, {}, "x")] == [765] * 4
