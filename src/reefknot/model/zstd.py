"""zstd: the module of the standard library, or before Python 3.14 its backport (docs/adr/0005-base-dependencies.md)."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError, ZstdFile, compress, decompress, get_frame_info
else:
    from backports.zstd import ZstdDecompressor, ZstdError, ZstdFile, compress, decompress, get_frame_info

__all__ = ["ZstdDecompressor", "ZstdError", "ZstdFile", "compress", "decompress", "get_frame_info"]
