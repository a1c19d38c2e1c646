"""What a store does, whatever keeps its bytes.

A store holds originals by the digest of their bytes, and two kinds of notes about what was made of them:
a *reduction* says which original a shortened text stands for, an *undo* says how a changed record of a
session file becomes the record that it was. Both are found by digest, never by what a text looks like.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reefknot.model.reference import Digest, Reference

__all__ = ["Origin", "Original", "Reduction", "Store", "Undo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an original comes from; kept so that a person can list or purge by it. Empty when not known."""

    session: str = ""
    project: str = ""
    tool: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """Bytes to be stored. They are masked already; `masked_secrets` says how many secrets were."""

    data: bytes
    origin: Origin = Origin()
    masked_secrets: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A shortened text, known by its digest and its holder, stands for a slice of an original.

    `holder` names the place where the shortened text was put (call id and part, see `compact.apply`), so
    that the same text quoted elsewhere is not taken for ours. `start` and `end` count characters of the
    original's text.
    """

    reduced: Digest
    holder: str
    original: Digest
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """`recipe` (see `compact.undo`) turns the record with digest `changed` into the record that it was."""

    changed: Digest
    recipe: bytes


class Store(Protocol):
    """Content-addressed and durable. All methods may be called from many processes at once.

    Raises:
        StoreError: the store cannot be opened, read or written (disk full, locked for too long, wrong version).
    """

    location: str  # for messages: a path or "memory:"

    def put_many(self, originals: Sequence[Original]) -> list[Reference]:
        """Store all, read each back and compare; references in the same order. The same bytes are kept once."""
        ...

    def get(self, reference: str) -> bytes:
        """The stored bytes of a reference name or of a full digest.

        Raises:
            NotStored: never stored here, or removed (the message says which, and when).
            Corrupt: the bytes do not match their digest.
        """
        ...

    def find(self, reference: str) -> Reference | None:
        """The reference of a name, a longer prefix of the digest, or the full digest; None when it is not here."""
        ...

    def record(self, reductions: Sequence[Reduction], undos: Sequence[Undo], session: str = "") -> None:
        """Remember what was made of originals, all or nothing, durable when it returns."""
        ...

    def reduction_of(self, reduced: Digest, holder: str) -> Reduction | None:
        """What a shortened text at a holder stands for; None when it is not ours."""
        ...

    def undo_of(self, changed: Digest) -> Undo | None:
        """How a changed record is undone; None when it is not ours."""
        ...

    def close(self) -> None: ...
