"""Rows of the SQLite store, read and written on a connection that is given; who opens it is `sqlite_file`.

Functions that write run inside the caller's transaction.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, TypeAlias

from reefknot.errors import Corrupt, StoreError
from reefknot.model.encoding import to_bytes, to_text
from reefknot.model.reference import NAME_LENGTH, Digest, Reference
from reefknot.store.base import Origin, Original, Reduction, Undo
from reefknot.store.compression import compress
from reefknot.store.contents import Entry, OriginNote, Removed
from reefknot.store.links import needed_by
from reefknot.store.names import choose_name

__all__ = [
    "ENTRIES",
    "ORIGINS",
    "REDUCTIONS",
    "UNDOS",
    "Row",
    "check",
    "digest_of_name",
    "forget",
    "key",
    "put",
    "put_name",
    "put_origin",
    "record_reduction",
    "record_undo",
    "remove",
    "to_entry",
    "to_origin_note",
    "to_reduction",
    "to_reference",
    "to_undo",
]

Row: TypeAlias = tuple[Any, ...]

# A name is a prefix of its digest, so all names of a digest stand between its shortest prefix and itself.
_NAMES_WITHIN = "FROM names WHERE name BETWEEN ? AND ?"
ENTRIES = """
SELECT o.digest, (
           SELECT n.name FROM names n
           WHERE n.name BETWEEN substr(lower(hex(o.digest)), 1, 8) AND lower(hex(o.digest)) AND n.digest = o.digest
           ORDER BY n.name LIMIT 1
       ),
       o.size_bytes, length(o.data), o.masked_secrets, o.created, o.used
FROM objects o
"""
ORIGINS = "SELECT digest, session, project, tool, call_id, created, seen FROM origins"
_INSERT_REDUCTION = {
    False: "INSERT OR IGNORE INTO reductions VALUES (?, ?, ?, ?, ?, ?, ?)",
    True: "INSERT OR REPLACE INTO reductions VALUES (?, ?, ?, ?, ?, ?, ?)",
}  # whether it replaces: statement
_INSERT_UNDO = {
    False: "INSERT OR IGNORE INTO undos VALUES (?, ?, ?, ?)",
    True: "INSERT OR REPLACE INTO undos VALUES (?, ?, ?, ?)",
}  # whether it replaces: statement
REDUCTIONS = "SELECT reduced, holder, original, start_char, end_char, seal FROM reductions"
UNDOS = "SELECT changed, recipe, seal FROM undos"


def key(digest: Digest) -> bytes:
    """A digest as it stands in the tables."""
    return bytes.fromhex(digest)


def check(row: Row, *kinds: type | tuple[type, ...]) -> Row:
    """The row itself, when its values are of these kinds; in a damaged file they may be of any.

    Raises:
        Corrupt: they are not.
    """
    if not all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True)):
        raise Corrupt("a row of the store holds what no row can hold: the file is damaged, see `reefknot store verify`")
    return row


def to_entry(row: Row) -> Entry:
    """A row of `ENTRIES`."""
    check(row, bytes, (str, NoneType), int, int, int, float, float)
    digest, name, size_bytes, stored_bytes, masked, created, used = row
    return Entry(
        digest=digest.hex(),
        name=name or digest.hex(),
        size_bytes=size_bytes,
        stored_bytes=stored_bytes,
        masked_secrets=masked,
        created=created,
        used=used,
    )


def to_reference(row: Row) -> Reference:
    """A row of `ENTRIES` as the reference that a put gives."""
    entry = to_entry(row)
    return Reference(
        name=entry.name, digest=entry.digest, size_bytes=entry.size_bytes, masked_secrets=entry.masked_secrets
    )


def to_origin_note(row: Row) -> OriginNote:
    """A row of `ORIGINS`."""
    check(row, bytes, bytes, bytes, bytes, bytes, float, float)
    digest, session, project, tool, call_id, created, seen = row
    origin = Origin(session=to_text(session), project=to_text(project), tool=to_text(tool), call_id=to_text(call_id))
    return OriginNote(digest=digest.hex(), origin=origin, created=created, seen=seen)


def to_reduction(row: Row) -> Reduction:
    """A row of `REDUCTIONS`."""
    check(row, bytes, bytes, bytes, int, int, bytes)
    reduced, holder, original, start, end, seal = row
    note = Reduction(reduced=reduced.hex(), holder=to_text(holder), original=original.hex(), start=start, end=end)
    if seal != _seal_reduction(note):
        raise Corrupt(f"the note about {note.reduced!r} is damaged: see `reefknot store verify`")
    return note


def to_undo(row: Row) -> Undo:
    """A row of `UNDOS`."""
    check(row, bytes, bytes, bytes)
    changed, recipe, seal = row
    if seal != _seal(changed, recipe):
        raise Corrupt(f"the note about {changed.hex()!r} is damaged: see `reefknot store verify`")
    return Undo(changed=changed.hex(), recipe=recipe)


def _seal_reduction(note: Reduction) -> bytes:
    span = f"{note.start} {note.end} ".encode()
    return _seal(key(note.reduced) + key(note.original), span + to_bytes(note.holder))


def _seal(fixed: bytes, rest: bytes) -> bytes:
    """The digest of a note; `fixed` has a length that is always the same."""
    return hashlib.sha256(fixed + rest).digest()


def digest_of_name(link: sqlite3.Connection, reference: str) -> Digest | None:
    """The digest that a name, a longer prefix or a full digest stands for; also when its original was removed."""
    row = link.execute("SELECT digest FROM names WHERE name = ?", (reference,)).fetchone()
    if row is None:
        shorter = link.execute(
            f"SELECT DISTINCT digest {_NAMES_WITHIN}", (reference[:NAME_LENGTH], reference)
        ).fetchall()
        fitting = [found for found in shorter if check(found, bytes)[0].hex().startswith(reference)]
        row = fitting[0] if len(fitting) == 1 else None
    if row is None:
        return None
    digest: Digest = check(row, bytes)[0].hex()
    if not digest.startswith(reference):
        raise Corrupt(f"name {reference!r} leads to other bytes: the store is damaged, see `reefknot store verify`")
    return digest


def put_name(link: sqlite3.Connection, digest: Digest) -> str:
    """The shortest name of a digest; a new one is chosen and registered where it has none."""
    query = f"SELECT name {_NAMES_WITHIN} AND digest = ? ORDER BY name LIMIT 1"
    row = link.execute(query, (digest[:NAME_LENGTH], digest, key(digest))).fetchone()
    if row is not None:
        return row[0]
    name = choose_name(digest, _is_taken(link))
    link.execute("INSERT INTO names(name, digest) VALUES (?, ?)", (name, key(digest)))
    return name


def _is_taken(link: sqlite3.Connection) -> Callable[[str], bool]:
    return lambda name: link.execute("SELECT 1 FROM names WHERE name = ?", (name,)).fetchone() is not None


def put(
    link: sqlite3.Connection,
    digest: Digest,
    original: Original,
    now: float,
    *,
    packed: Mapping[Digest, tuple[int, bytes]],
    rewrite: bool,
) -> None:
    """One original as a row; one that is here already is marked as used, and with `rewrite` its bytes are replaced.

    `packed` holds what was compressed before the transaction began.
    """
    update = "UPDATE objects SET used = max(used, ?), masked_secrets = max(masked_secrets, ?) WHERE digest = ?"
    is_here = link.execute(update, (now, original.masked_secrets, key(digest))).rowcount > 0
    put_name(link, digest)
    if is_here and not rewrite:
        return
    encoding, stored = packed.get(digest) or compress(original.data)
    size = len(original.data)
    if is_here:
        link.execute(
            "UPDATE objects SET encoding = ?, data = ?, size_bytes = ? WHERE digest = ?",
            (encoding, stored, size, key(digest)),
        )
        return
    link.execute(
        "INSERT INTO objects(digest, size_bytes, masked_secrets, created, used, encoding, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (key(digest), size, original.masked_secrets, now, now, encoding, stored),
    )
    link.execute("DELETE FROM removed WHERE digest = ?", (key(digest),))


def put_origin(link: sqlite3.Connection, digest: Digest, origin: Origin, now: float) -> None:
    """Note where a put came from; the same origin again only moves its `seen`."""
    where = (to_bytes(origin.session), to_bytes(origin.project), to_bytes(origin.tool), to_bytes(origin.call_id))
    link.execute(
        "INSERT INTO origins VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET seen = max(seen, excluded.seen)",
        (key(digest), *where, now, now),
    )


def record_reduction(link: sqlite3.Connection, reduction: Reduction, session: str, *, replace: bool) -> None:
    """Raises StoreError when the original is not here."""
    _require(link, reduction.original)
    link.execute(
        _INSERT_REDUCTION[replace],
        (
            key(reduction.reduced),
            to_bytes(reduction.holder),
            key(reduction.original),
            reduction.start,
            reduction.end,
            to_bytes(session),
            _seal_reduction(reduction),
        ),
    )


def record_undo(link: sqlite3.Connection, undo: Undo, session: str, *, replace: bool) -> None:
    """Raises StoreError when an original that the recipe needs is not here."""
    changed, needs = key(undo.changed), needed_by(undo.recipe)
    for digest in needs:
        _require(link, digest)
    if link.execute(
        _INSERT_UNDO[replace], (changed, undo.recipe, to_bytes(session), _seal(changed, undo.recipe))
    ).rowcount:
        link.execute("DELETE FROM undo_needs WHERE changed = ?", (changed,))
        link.executemany("INSERT INTO undo_needs VALUES (?, ?)", [(key(digest), changed) for digest in needs])


def _require(link: sqlite3.Connection, digest: Digest) -> None:
    if link.execute("SELECT 1 FROM objects WHERE digest = ?", (key(digest),)).fetchone() is None:
        raise StoreError(f"cannot note what was made of {digest!r}: it is not in the store; was it purged?")


def remove(link: sqlite3.Connection, entries: Sequence[Entry], *, why: str, now: float, even_if_used: bool) -> Removed:
    """See `ListedStore.remove`."""
    gone: list[Entry] = []
    reductions = undos = 0
    for entry in entries:
        digest = (key(entry.digest),)
        chosen = link.execute(
            "DELETE FROM objects WHERE digest = ? AND (? OR used = ?)", (*digest, even_if_used, entry.used)
        )
        if chosen.rowcount == 0:
            continue
        gone.append(entry)
        reductions += link.execute("DELETE FROM reductions WHERE original = ?", digest).rowcount
        undos += _remove_undos(link, "SELECT changed FROM undo_needs WHERE digest = ?", digest)
        link.execute("DELETE FROM origins WHERE digest = ?", digest)
        link.execute("INSERT OR REPLACE INTO removed VALUES (?, ?, ?)", (*digest, now, why))
    return Removed(entries=tuple(gone), reductions=reductions, undos=undos)


def forget(link: sqlite3.Connection, *, session: str | None, project: str | None) -> int:
    """See `ListedStore.forget`."""
    count = 0
    if project is not None:
        count += link.execute("DELETE FROM origins WHERE project = ?", (to_bytes(project),)).rowcount
    if session is not None:
        owner = (to_bytes(session),)
        count += link.execute("DELETE FROM origins WHERE session = ?", owner).rowcount
        count += link.execute("DELETE FROM reductions WHERE session = ?", owner).rowcount
        count += _remove_undos(link, "SELECT changed FROM undos WHERE session = ?", owner)
    return count


def _remove_undos(link: sqlite3.Connection, chosen: str, values: tuple[bytes]) -> int:
    changed = link.execute(chosen, values).fetchall()
    link.executemany("DELETE FROM undo_needs WHERE changed = ?", changed)
    link.executemany("DELETE FROM undos WHERE changed = ?", changed)
    return len(changed)
