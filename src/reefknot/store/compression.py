"""Values made small for the disk, and back. The level and why there is no dictionary: docs/adr/0003-store.md."""

import io
from typing import BinaryIO, Protocol

from reefknot.errors import Corrupt
from reefknot.model import zstd

__all__ = ["PLAIN", "ZSTD", "Readable", "compress", "decompress", "reading_stream", "same_bytes", "writing_stream"]

PLAIN = 0  # encoding: the bytes themselves, where zstd gains nothing
ZSTD = 1  # encoding: one zstd frame that states its content size
LEVEL = 3  # docs/adr/0003-store.md
_BLOCK_BYTES = 1 << 20


class Readable(Protocol):
    """Whatever bytes can be read from, piece by piece."""

    def read(self, length: int = -1, /) -> bytes: ...


def compress(data: bytes) -> tuple[int, bytes]:
    """An encoding and the bytes in it; never longer than the data.

    >>> compress(b"abc"), compress(b"a" * 1000)[0] == ZSTD
    ((0, b'abc'), True)
    """
    packed = zstd.compress(data, LEVEL)
    return (ZSTD, packed) if len(packed) < len(data) else (PLAIN, data)


def decompress(encoding: int, stored: bytes, size_bytes: int) -> bytes:
    """The data of `compress`; believes no size that stands in damaged bytes.

    Raises:
        Corrupt: the bytes are not `size_bytes` of data in that encoding.

    >>> decompress(*compress(b"a" * 1000), 1000) == b"a" * 1000
    True
    """
    if encoding == PLAIN and len(stored) == size_bytes:
        return stored
    try:
        if encoding == ZSTD and zstd.get_frame_info(stored).decompressed_size == size_bytes:
            return zstd.decompress(stored)
    except (zstd.ZstdError, MemoryError) as error:
        raise Corrupt(f"cannot decompress: {error}") from error
    raise Corrupt(f"cannot decompress: not {size_bytes:,} bytes of data")


def same_bytes(encoding: int, stored: Readable, data: bytes) -> bool:
    """Whether a stream of stored bytes stands for the data; never holds more than a block of it.

    >>> same_bytes(ZSTD, io.BytesIO(compress(b"a" * 1000)[1]), b"a" * 1000)
    True
    """
    stream: Readable = stored if encoding == PLAIN else zstd.ZstdFile(stored)  # pyright: ignore[reportArgumentType] (its stub asks for a whole file; it reads only)
    view, at = memoryview(data), 0
    try:
        while block := stream.read(_BLOCK_BYTES):
            if bytes(view[at : at + len(block)]) != block:
                return False
            at += len(block)
    except (zstd.ZstdError, EOFError):
        return False
    return at == len(data)


def writing_stream(file: BinaryIO) -> zstd.ZstdFile:
    """A stream that compresses what is written to it into a file; closing it ends the data, not the file."""
    return zstd.ZstdFile(file, "w", level=LEVEL)


def reading_stream(file: BinaryIO) -> io.BufferedReader:
    """A stream of what `writing_stream` wrote.

    Reading raises OSError where the bytes are damaged or end too early.
    """
    return io.BufferedReader(_Frame(file), _BLOCK_BYTES)


class _Frame(io.RawIOBase):
    """Decompressed bytes as a raw stream; zstd's errors as OSError, and an unfinished frame as one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = zstd.ZstdDecompressor()
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] (any writable buffer)
        while not self._left:
            if self._decompressor.eof:
                return 0
            block = self._file.read(_BLOCK_BYTES // 8)
            if not block:
                raise OSError("it ends too early")
            try:
                self._left = self._decompressor.decompress(block)
            except zstd.ZstdError as error:
                raise OSError(f"damaged zstd data: {error}") from error
        piece = self._left[: len(buffer)]
        buffer[: len(piece)] = piece
        self._left = self._left[len(piece) :]
        return len(piece)
