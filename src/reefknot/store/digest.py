"""The one digest function: SHA-256 of the bytes that are stored, as lower-case hex."""

import hashlib

from reefknot.model.encoding import to_bytes
from reefknot.model.reference import Digest

__all__ = ["digest_bytes", "digest_text"]


def digest_bytes(data: bytes) -> Digest:
    """SHA-256 of bytes, 64 lower-case hex characters."""
    return hashlib.sha256(data).hexdigest()


def digest_text(text: str) -> Digest:
    """SHA-256 of the bytes of a text (see `reefknot.model.encoding`)."""
    return digest_bytes(to_bytes(text))
