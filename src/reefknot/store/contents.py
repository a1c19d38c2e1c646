"""What can be asked of a store by those who look after it: its contents listed, and things taken out.

`Store` is what a flow needs; `ListedStore` is what `upkeep` and `bundle` need on top.
Times are seconds since 1970.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from reefknot.model.reference import Digest
from reefknot.store.base import Origin, Original, Reduction, Store, Undo

__all__ = ["Entry", "ListedStore", "Loaded", "Named", "OriginNote", "Removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One stored original, without its bytes. `stored_bytes` is what it takes after compression."""

    digest: Digest
    name: str
    size_bytes: int
    stored_bytes: int
    masked_secrets: int
    created: float
    used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginNote:
    """That an original was put from somewhere: first at `created`, last at `seen`."""

    digest: Digest
    origin: Origin
    created: float
    seen: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An original that comes from another store, with the name and the origins that it has there."""

    original: Original
    name: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What `ListedStore.load` did. `renamed`: (name there, name here), where the name there is another's here."""

    objects: int
    reductions: int
    undos: int
    renamed: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What went out of a store, or with a dry run would go."""

    entries: tuple[Entry, ...]
    reductions: int
    undos: int


class ListedStore(Store, Protocol):
    """A store whose contents can be listed, verified, removed and moved."""

    def entries(self) -> list[Entry]:
        """All originals, the least recently used first."""
        ...

    def origins(self) -> list[OriginNote]: ...

    def reductions(self) -> Iterator[Reduction]: ...

    def undos(self) -> Iterator[Undo]: ...

    def removed_count(self) -> int:
        """How many originals were here once and are not now."""
        ...

    def read(self, digest: Digest) -> bytes:
        """As `get` by digest, but it does not count as a use."""
        ...

    def faults(self) -> list[str]:
        """What is wrong with the container itself (a damaged file); one line each."""
        ...

    def file_bytes(self) -> int:
        """What the store takes on disk; 0 when it is in memory."""
        ...

    def remove(
        self, entries: Sequence[Entry], *, why: str, now: float, even_if_used: bool, dry_run: bool = False
    ) -> Removed:
        """Take originals out, with all reductions and undos that need them, and remember when and why.

        Without `even_if_used`, an original that was put or read again since `entries` were listed stays.
        """
        ...

    def forget(self, *, session: str | None = None, project: str | None = None) -> int:
        """Drop the origins of a session or a project, and a session's reductions and undos; how many rows went."""
        ...

    def load(self, named: Iterator[Named | Reduction | Undo]) -> Loaded:
        """Take in what another store gave, all or nothing: an exception of the iterator undoes everything.

        What this store knows already about a reduced text or a changed record stays as it is.
        """
        ...
