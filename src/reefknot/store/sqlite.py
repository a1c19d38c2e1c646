"""The default store: one SQLite file, safe against crashes, shared by many processes.

`put_many` commits, reads every object back from the file and compares, and only then answers. Values
are compressed one by one and found by the digest of their plain bytes. See docs/adr/0003-store.md.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from reefknot.errors import Corrupt, NotStored, StoreError
from reefknot.model.encoding import to_bytes
from reefknot.model.reference import Digest, Reference, is_name
from reefknot.store import sqlite_rows as rows
from reefknot.store.base import Original, Reduction, Undo
from reefknot.store.compression import compress, decompress, same_bytes
from reefknot.store.contents import Entry, Loaded, Named, OriginNote, Removed
from reefknot.store.digest import digest_bytes
from reefknot.store.names import describe_miss
from reefknot.store.sqlite_file import SqliteFile

__all__ = ["SqliteStore"]

USE_NOTED_EVERY_SECONDS = 86_400.0  # a read counts as a use once a day, so that reading rarely writes

FAULTS_NAMED = 10  # of the file itself; a damaged file has thousands, and the originals are checked one by one
STREAMED_BYTES = 8 << 20  # from here on a value is read back in pieces


class _Undone(Exception):
    """Raised inside a transaction to undo it on purpose."""


class SqliteStore:
    """A store in one file. See `reefknot.store.contents.ListedStore` for what it does.

    Nothing is opened or made before the first use; reading a store that is not there finds nothing and
    makes no file. `clock` gives the time of a put or a use, in seconds since 1970.
    """

    def __init__(self, path: str | Path, clock: Callable[[], float] = time.time) -> None:
        self._file = SqliteFile(Path(path).absolute())
        self.location = str(self._file.path)
        self._clock = clock

    def put_many(self, originals: Sequence[Original]) -> list[Reference]:
        named = [(digest_bytes(original.data), original) for original in originals]
        distinct = {digest: original.data for digest, original in named}
        if not distinct:
            return []
        self._write(named, rewrite=frozenset())
        if wrong := self._differing(distinct):  # damaged since it was first stored, or the file was replaced meanwhile
            self._write(named, rewrite=wrong)
            if wrong := self._differing(distinct):
                share = f"{len(wrong):,} of {len(distinct):,} originals"
                raise Corrupt(
                    f"store {self.location!r} gives other bytes back than were put: {share}; is its disk sound?"
                )
        references = self._references(distinct)
        return [references[digest] for digest, _ in named]

    def get(self, reference: str) -> bytes:
        digest = self._digest_of(reference)
        if digest is None:
            raise NotStored(describe_miss(reference, self.location, None))
        data = self._read(digest, called=reference)
        self._note_use(digest)
        return data

    def find(self, reference: str) -> Reference | None:
        digest = self._digest_of(reference)
        row = None if digest is None else self._one(f"{rows.ENTRIES} WHERE o.digest = ?", rows.key(digest))
        return None if row is None else rows.to_reference(row)

    def record(self, reductions: Sequence[Reduction], undos: Sequence[Undo], session: str = "") -> None:
        if not reductions and not undos:
            return
        with self._file.writing() as link:
            for reduction in reductions:
                rows.record_reduction(link, reduction, session, replace=True)
            for undo in undos:
                rows.record_undo(link, undo, session, replace=True)

    def reduction_of(self, reduced: Digest, holder: str) -> Reduction | None:
        row = self._one(f"{rows.REDUCTIONS} WHERE reduced = ? AND holder = ?", rows.key(reduced), to_bytes(holder))
        return None if row is None else rows.to_reduction(row)

    def undo_of(self, changed: Digest) -> Undo | None:
        row = self._one(f"{rows.UNDOS} WHERE changed = ?", rows.key(changed))
        return None if row is None else rows.to_undo(row)

    def close(self) -> None:
        self._file.close()

    def entries(self) -> list[Entry]:
        return [rows.to_entry(row) for row in self._all(f"{rows.ENTRIES} ORDER BY o.used, o.id")]

    def origins(self) -> list[OriginNote]:
        return [rows.to_origin_note(row) for row in self._all(rows.ORIGINS)]

    def reductions(self) -> Iterator[Reduction]:
        return (rows.to_reduction(row) for row in self._all(rows.REDUCTIONS))

    def undos(self) -> Iterator[Undo]:
        return (rows.to_undo(row) for row in self._all(rows.UNDOS))

    def removed_count(self) -> int:
        row = self._one("SELECT count(*) FROM removed")
        return row[0] if row else 0

    def read(self, digest: Digest) -> bytes:
        return self._read(digest, called=digest)

    def faults(self) -> list[str]:
        try:
            found = self._all(f"PRAGMA integrity_check({FAULTS_NAMED})")
        except StoreError as error:
            return [str(error)]
        lines = [line for (text,) in found for line in str(text).splitlines()]
        return [f"store {self.location!r}: {line}" for line in lines if line != "ok" and not line.startswith("***")]

    def file_bytes(self) -> int:
        path = self._file.path
        sizes = (part.stat().st_size for part in (path, path.with_name(path.name + "-wal")) if part.exists())
        return sum(sizes)

    def remove(
        self, entries: Sequence[Entry], *, why: str, now: float, even_if_used: bool, dry_run: bool = False
    ) -> Removed:
        removed = Removed(entries=(), reductions=0, undos=0)
        if not entries:
            return removed
        with contextlib.suppress(_Undone), self._file.writing() as link:
            removed = rows.remove(link, entries, why=why, now=now, even_if_used=even_if_used)
            if dry_run:
                raise _Undone
        if not dry_run:
            self._file.shrink()
        return removed

    def forget(self, *, session: str | None = None, project: str | None = None) -> int:
        with self._file.writing() as link:
            count = rows.forget(link, session=session, project=project)
        self._file.shrink()
        return count

    def load(self, named: Iterator[Named | Reduction | Undo]) -> Loaded:
        digests: list[Digest] = []
        renamed: list[tuple[str, str]] = []
        reductions = undos = 0
        with self._file.writing() as link:
            for item in named:
                match item:
                    case Named():
                        digests.append(digest_bytes(item.original.data))
                        renamed += self._load_object(link, digests[-1], item)
                    case Reduction():
                        reductions += 1
                        rows.record_reduction(link, item, "", replace=False)
                    case Undo():
                        undos += 1
                        rows.record_undo(link, item, "", replace=False)
        for digest in digests:
            self.read(digest)
        return Loaded(objects=len(digests), reductions=reductions, undos=undos, renamed=tuple(renamed))

    def _load_object(self, link: sqlite3.Connection, digest: Digest, item: Named) -> list[tuple[str, str]]:
        now = self._clock()
        link.execute(
            "INSERT INTO names(name, digest) VALUES (?, ?) ON CONFLICT DO NOTHING", (item.name, rows.key(digest))
        )
        (owner,) = link.execute("SELECT digest FROM names WHERE name = ?", (item.name,)).fetchone()
        rows.put(link, digest, item.original, now, packed={}, rewrite=not self._is_sound(digest))
        for origin in item.origins or (item.original.origin,):
            rows.put_origin(link, digest, origin, now)
        return [] if owner == rows.key(digest) else [(item.name, rows.put_name(link, digest))]

    def _write(self, named: Sequence[tuple[Digest, Original]], rewrite: frozenset[Digest]) -> None:
        query = "SELECT 1 FROM objects WHERE digest = ?"
        known = {digest for digest, _ in named if self._one(query, rows.key(digest))} - rewrite
        packed = {digest: compress(original.data) for digest, original in dict(named).items() if digest not in known}
        now = self._clock()
        with self._file.writing() as link:
            for digest, original in named:
                rows.put(link, digest, original, now, packed=packed, rewrite=digest in rewrite)
                rows.put_origin(link, digest, original.origin, now)

    def _differing(self, expected: Mapping[Digest, bytes]) -> frozenset[Digest]:
        """Which originals do not come back from the file as they are expected."""
        with self._file.reading() as link:
            return frozenset(
                digest for digest, data in expected.items() if link is None or not _holds(link, digest, data)
            )

    def _is_sound(self, digest: Digest) -> bool:
        try:
            self.read(digest)
        except (NotStored, Corrupt):
            return False
        return True

    def _note_use(self, digest: Digest) -> None:
        now = self._clock()
        row = self._one("SELECT used FROM objects WHERE digest = ?", rows.key(digest))
        if row is None or now - rows.check(row, float)[0] < USE_NOTED_EVERY_SECONDS:
            return
        # A store that cannot be written can be read all the same: a use that cannot be noted is no failure.
        with contextlib.suppress(StoreError), self._file.writing() as link:
            link.execute("UPDATE objects SET used = max(used, ?) WHERE digest = ?", (now, rows.key(digest)))

    def _references(self, digests: Iterable[Digest]) -> dict[Digest, Reference]:
        query = f"{rows.ENTRIES} WHERE o.digest = ?"
        found: dict[Digest, Reference] = {}
        with self._file.reading() as link:
            for digest in digests:
                row = None if link is None else link.execute(query, (rows.key(digest),)).fetchone()
                if row is None:
                    raise StoreError(f"original {digest!r} was removed from {self.location!r} while it was put")
                found[digest] = rows.to_reference(row)
        return found

    def _read(self, digest: Digest, *, called: str) -> bytes:
        row = self._one("SELECT encoding, data, size_bytes FROM objects WHERE digest = ?", rows.key(digest))
        if row is None:
            raise NotStored(describe_miss(called, self.location, self._removal(digest)))
        try:
            data = decompress(*row)
        except (Corrupt, TypeError):  # TypeError: a damaged row holds values of other types
            data = None
        if data is None or digest_bytes(data) != digest:
            raise Corrupt(f"original {called!r} in {self.location!r} is damaged: see `reefknot store verify`")
        return data

    def _removal(self, digest: Digest) -> tuple[float, str] | None:
        row = self._one("SELECT at, why FROM removed WHERE digest = ?", rows.key(digest))
        return None if row is None else (rows.check(row, float, str)[0], row[1])

    def _digest_of(self, reference: str) -> Digest | None:
        if not is_name(reference):
            return None
        with self._file.reading() as link:
            return None if link is None else rows.digest_of_name(link, reference)

    def _one(self, query: str, *values: object) -> rows.Row | None:
        with self._file.reading() as link:
            return None if link is None else link.execute(query, values).fetchone()

    def _all(self, query: str) -> list[rows.Row]:
        with self._file.reading() as link:
            return [] if link is None else link.execute(query).fetchall()


def _holds(link: sqlite3.Connection, digest: Digest, data: bytes) -> bool:
    """Whether the file gives these bytes for a digest; large ones are compared in pieces."""
    row = link.execute(
        "SELECT id, encoding, length(data) FROM objects WHERE digest = ?", (rows.key(digest),)
    ).fetchone()
    if row is None:
        return False
    number, encoding, stored_bytes = rows.check(row, int, int, int)
    with link.blobopen("objects", "data", number, readonly=True) as stored:
        if stored_bytes + len(data) > STREAMED_BYTES:
            return same_bytes(encoding, stored, data)
        try:
            return decompress(encoding, stored.read(), len(data)) == data
        except Corrupt:
            return False
