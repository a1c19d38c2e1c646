"""A store that only tries: it reads from another store, and what is put stays in memory.

So a compaction can be reported without leaving a trace.
"""

from collections.abc import Sequence

from reefknot.errors import NotStored
from reefknot.model.reference import Digest, Reference
from reefknot.store.base import Original, Reduction, Store, Undo
from reefknot.store.memory import MemoryStore

__all__ = ["TrialStore"]


class TrialStore:
    """Reads as `base` does; writes go nowhere. References have the names that they would most likely get."""

    def __init__(self, base: Store) -> None:
        self._base = base
        self._trial = MemoryStore()
        self.location = base.location

    def put_many(self, originals: Sequence[Original]) -> list[Reference]:
        return self._trial.put_many(originals)

    def get(self, reference: str) -> bytes:
        try:
            return self._trial.get(reference)
        except NotStored:
            return self._base.get(reference)

    def find(self, reference: str) -> Reference | None:
        return self._trial.find(reference) or self._base.find(reference)

    def record(self, reductions: Sequence[Reduction], undos: Sequence[Undo], session: str = "") -> None:
        """Nothing is remembered."""

    def reduction_of(self, reduced: Digest, holder: str) -> Reduction | None:
        return self._base.reduction_of(reduced, holder)

    def undo_of(self, changed: Digest) -> Undo | None:
        return self._base.undo_of(changed)

    def close(self) -> None:
        self._base.close()
