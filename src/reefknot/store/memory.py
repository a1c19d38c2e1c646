"""A store in memory, for tests and for callers that want nothing on disk; gone with its process."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from reefknot.errors import Corrupt, NotStored, StoreError
from reefknot.model.reference import Digest, Reference
from reefknot.store.base import Origin, Original, Reduction, Undo
from reefknot.store.contents import Entry, Loaded, Named, OriginNote, Removed
from reefknot.store.digest import digest_bytes
from reefknot.store.links import needed_by
from reefknot.store.names import choose_name, describe_miss

__all__ = ["MemoryStore"]


@dataclass(frozen=True, slots=True)
class _Contents:
    """All that a store holds; copied as a whole where a change is all or nothing."""

    data: dict[Digest, bytes]
    entries: dict[Digest, Entry]
    names: dict[str, Digest]
    origins: dict[tuple[Digest, Origin], OriginNote]
    reductions: dict[tuple[Digest, str], tuple[Reduction, str]]  # (reduced, holder): what it is, session
    undos: dict[Digest, tuple[Undo, str]]  # changed record: what it is, session
    removed: dict[Digest, tuple[float, str]]  # when, why

    def copy(self) -> "_Contents":
        return _Contents(
            dict(self.data),
            dict(self.entries),
            dict(self.names),
            dict(self.origins),
            dict(self.reductions),
            dict(self.undos),
            dict(self.removed),
        )


class MemoryStore:
    """See `reefknot.store.contents.ListedStore`.

    >>> store = MemoryStore()
    >>> store.get(store.put_many([Original(data=b"whole output")])[0].name)
    b'whole output'
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.location = "memory:"
        self._clock = clock
        self._held = _Contents({}, {}, {}, {}, {}, {}, {})

    def put_many(self, originals: Sequence[Original]) -> list[Reference]:
        return [self._put(original, original.origin) for original in originals]

    def _put(self, original: Original, origin: Origin) -> Reference:
        held, now, digest = self._held, self._clock(), digest_bytes(original.data)
        name = _shortest(held.names, digest) or choose_name(digest, held.names.__contains__)
        held.names[name] = digest
        held.data[digest] = original.data
        held.removed.pop(digest, None)
        size = len(original.data)
        fresh = Entry(
            digest=digest, name=name, size_bytes=size, stored_bytes=size, masked_secrets=0, created=now, used=now
        )
        known = held.entries.get(digest, fresh)
        masked = max(known.masked_secrets, original.masked_secrets)
        held.entries[digest] = replace(known, used=max(now, known.used), masked_secrets=masked)
        note = held.origins.get((digest, origin), OriginNote(digest=digest, origin=origin, created=now, seen=now))
        held.origins[digest, origin] = replace(note, seen=now)
        return _reference(held.entries[digest])

    def get(self, reference: str) -> bytes:
        digest = self._digest_of(reference)
        entry = self._held.entries.get(digest or "")
        if digest is None or entry is None:
            raise NotStored(describe_miss(reference, self.location, self._held.removed.get(digest or "")))
        self._held.entries[digest] = replace(entry, used=max(self._clock(), entry.used))
        return self.read(digest)

    def read(self, digest: Digest) -> bytes:
        data = self._held.data.get(digest)
        if data is None:
            raise NotStored(describe_miss(digest, self.location, self._held.removed.get(digest)))
        if digest_bytes(data) != digest:
            raise Corrupt(f"original {digest!r} in {self.location!r} is damaged: its bytes do not match their digest")
        return data

    def find(self, reference: str) -> Reference | None:
        entry = self._held.entries.get(self._digest_of(reference) or "")
        return None if entry is None else _reference(entry)

    def _digest_of(self, reference: str) -> Digest | None:
        if reference in self._held.names:
            return self._held.names[reference]
        longer = {
            digest
            for name, digest in self._held.names.items()
            if reference.startswith(name) and digest.startswith(reference)
        }
        return longer.pop() if len(longer) == 1 else None

    def record(self, reductions: Sequence[Reduction], undos: Sequence[Undo], session: str = "") -> None:
        self._require([note.original for note in reductions])
        self._require([digest for undo in undos for digest in needed_by(undo.recipe)])
        for reduction in reductions:
            self._held.reductions[reduction.reduced, reduction.holder] = reduction, session
        for undo in undos:
            self._held.undos[undo.changed] = undo, session

    def _require(self, digests: Sequence[Digest]) -> None:
        for digest in digests:
            if digest not in self._held.entries:
                raise StoreError(f"cannot note what was made of {digest!r}: it is not in {self.location!r}")

    def reduction_of(self, reduced: Digest, holder: str) -> Reduction | None:
        found = self._held.reductions.get((reduced, holder))
        return found[0] if found else None

    def undo_of(self, changed: Digest) -> Undo | None:
        found = self._held.undos.get(changed)
        return found[0] if found else None

    def close(self) -> None:
        """Nothing to do: the contents stay for as long as the value lives."""

    def entries(self) -> list[Entry]:
        return sorted(self._held.entries.values(), key=lambda entry: entry.used)

    def origins(self) -> list[OriginNote]:
        return list(self._held.origins.values())

    def reductions(self) -> Iterator[Reduction]:
        return (reduction for reduction, _ in list(self._held.reductions.values()))

    def undos(self) -> Iterator[Undo]:
        return (undo for undo, _ in list(self._held.undos.values()))

    def removed_count(self) -> int:
        return len(self._held.removed)

    def faults(self) -> list[str]:
        return []

    def file_bytes(self) -> int:
        return 0

    def remove(
        self, entries: Sequence[Entry], *, why: str, now: float, even_if_used: bool, dry_run: bool = False
    ) -> Removed:
        held = self._held.copy()
        gone: list[Entry] = []
        for entry in entries:
            current = held.entries.get(entry.digest)
            if current is None or not (even_if_used or current.used == entry.used):
                continue
            gone.append(current)
            del held.entries[entry.digest], held.data[entry.digest]
            held.removed[entry.digest] = now, why
        digests = {entry.digest for entry in gone}
        reductions = [key for key, (note, _) in held.reductions.items() if note.original in digests]
        undos = [key for key, (undo, _) in held.undos.items() if needed_by(undo.recipe) & digests]
        for key in [key for key in held.origins if key[0] in digests]:
            del held.origins[key]
        for key in reductions:
            del held.reductions[key]
        for key in undos:
            del held.undos[key]
        if not dry_run:
            self._held = held
        return Removed(entries=tuple(gone), reductions=len(reductions), undos=len(undos))

    def forget(self, *, session: str | None = None, project: str | None = None) -> int:
        held = self._held
        origins = [key for key in held.origins if session == key[1].session or project == key[1].project]
        reductions = [key for key, (_, owner) in held.reductions.items() if owner == session]
        undos = [key for key, (_, owner) in held.undos.items() if owner == session]
        for key in origins:
            del held.origins[key]
        for key in reductions:
            del held.reductions[key]
        for key in undos:
            del held.undos[key]
        return len(origins) + len(reductions) + len(undos)

    def load(self, named: Iterator[Named | Reduction | Undo]) -> Loaded:
        before = self._held
        self._held = before.copy()
        try:
            return self._load(named)
        except BaseException:
            self._held = before
            raise

    def _load(self, named: Iterator[Named | Reduction | Undo]) -> Loaded:
        renamed: list[tuple[str, str]] = []
        objects = reductions = undos = 0
        for item in named:
            match item:
                case Named():
                    objects += 1
                    digest = digest_bytes(item.original.data)
                    if self._held.names.setdefault(item.name, digest) != digest:
                        renamed.append((item.name, self._put(item.original, item.original.origin).name))
                    for origin in item.origins or (item.original.origin,):
                        self._put(item.original, origin)
                case Reduction():
                    reductions += 1
                    if self.reduction_of(item.reduced, item.holder) is None:
                        self.record([item], [])
                case Undo():
                    undos += 1
                    if self.undo_of(item.changed) is None:
                        self.record([], [item])
        return Loaded(objects=objects, reductions=reductions, undos=undos, renamed=tuple(renamed))


def _reference(entry: Entry) -> Reference:
    return Reference(
        name=entry.name, digest=entry.digest, size_bytes=entry.size_bytes, masked_secrets=entry.masked_secrets
    )


def _shortest(names: dict[str, Digest], digest: Digest) -> str | None:
    known = [digest[:length] for length in range(8, len(digest) + 1) if names.get(digest[:length]) == digest]
    return known[0] if known else None
