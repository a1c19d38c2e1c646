"""Looking after the originals: what is here, is it sound, what may go.

Plain functions over a `ListedStore`; time is an argument, in seconds since 1970. Nothing ever goes by
itself: age and size are policies that a person sets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reefknot.errors import NotStored, StoreError, UsageError
from reefknot.model.reference import Digest
from reefknot.store.bundle import export, import_bundle
from reefknot.store.contents import Entry, ListedStore, OriginNote
from reefknot.store.links import needed_by

__all__ = ["Gone", "Stats", "Verified", "export", "gc", "import_bundle", "purge", "stats", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a store holds. `size_bytes` before, `stored_bytes` after compression, `file_bytes` on disk.

    `sessions` and `projects` count those that are known by name; `removed` counts originals that went.
    `oldest` and `newest`: when the first and the last of those here was put; None in an empty store.
    """

    location: str
    objects: int
    size_bytes: int
    stored_bytes: int
    file_bytes: int
    masked_secrets: int
    reductions: int
    undos: int
    sessions: int
    projects: int
    removed: int
    oldest: float | None
    newest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """How much was checked, and one line for each fault that was found."""

    objects: int
    reductions: int
    undos: int
    faults: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        return not self.faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What was removed, or with `dry_run` would be.

    `reductions` and `undos` count the notes that went because an original that they need did: what they
    were about can be restored no more. `kept_elsewhere` counts originals of a purged session or project
    that stay, because another one put the same bytes.
    """

    names: tuple[str, ...]
    size_bytes: int
    stored_bytes: int
    reductions: int
    undos: int
    kept_elsewhere: int
    dry_run: bool


def stats(store: ListedStore) -> Stats:
    """Count what a store holds.

    Raises:
        StoreError: the store cannot be read.

    >>> from reefknot.store.memory import MemoryStore
    >>> stats(MemoryStore()).objects
    0
    """
    entries, origins = store.entries(), store.origins()
    return Stats(
        location=store.location,
        objects=len(entries),
        size_bytes=sum(entry.size_bytes for entry in entries),
        stored_bytes=sum(entry.stored_bytes for entry in entries),
        file_bytes=store.file_bytes(),
        masked_secrets=sum(entry.masked_secrets for entry in entries),
        reductions=sum(1 for _ in store.reductions()),
        undos=sum(1 for _ in store.undos()),
        sessions=len({note.origin.session for note in origins} - {""}),
        projects=len({note.origin.project for note in origins} - {""}),
        removed=store.removed_count(),
        oldest=min((entry.created for entry in entries), default=None),
        newest=max((entry.created for entry in entries), default=None),
    )


def verify(store: ListedStore) -> Verified:
    """Read every original, compare its digest, and follow every note to what it needs; never raises for damage.

    >>> from reefknot.store.base import Original
    >>> from reefknot.store.memory import MemoryStore
    >>> store = MemoryStore()
    >>> _ = store.put_many([Original(data=b"whole")])
    >>> verify(store)
    Verified(objects=1, reductions=0, undos=0, faults=())
    """
    faults = list(dict.fromkeys(store.faults()))
    entries: Sequence[Entry] = ()
    reductions = undos = 0
    try:
        entries = store.entries()
        faults += _faults_of_entries(store, entries)
        here = {entry.digest for entry in entries}
        for reduction in store.reductions():
            reductions += 1
            faults += _dangling(f"reduction {reduction.reduced[:12]!r}", {reduction.original} - here)
        for undo in store.undos():
            undos += 1
            faults += _dangling(f"undo {undo.changed[:12]!r}", needed_by(undo.recipe) - here)
    except StoreError as error:
        faults.append(str(error))
    return Verified(objects=len(entries), reductions=reductions, undos=undos, faults=tuple(dict.fromkeys(faults)))


def _faults_of_entries(store: ListedStore, entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        if entry.name == entry.digest or store.find(entry.name) is None:
            yield f"original {entry.digest!r} cannot be found by a name"
        try:
            store.read(entry.digest)
        except StoreError as error:
            yield str(error)


def _dangling(what: str, missing: frozenset[Digest] | set[Digest]) -> Iterator[str]:
    return (f"{what} needs the original {digest!r}, which is not here" for digest in sorted(missing))


def gc(
    store: ListedStore,
    *,
    now: float,
    older_than_seconds: float | None = None,
    max_bytes: int | None = None,
    dry_run: bool = False,
) -> Gone:
    """Remove what was neither put nor read for some time, and then the least recently used beyond a size.

    `max_bytes` is what all originals may take after compression. Without a policy nothing goes. Notes that
    need an original go with it; an original that is used while this runs stays.

    Raises:
        StoreError: the store cannot be read or written.
    """
    entries = store.entries()
    old = [entry for entry in entries if older_than_seconds is not None and entry.used < now - older_than_seconds]
    rest = entries[len(old) :]
    excess = sum(entry.stored_bytes for entry in rest) - (max_bytes if max_bytes is not None else 0)
    surplus = _least_recent(rest, excess) if max_bytes is not None else []
    removed = store.remove([*old, *surplus], why="gc", now=now, even_if_used=False, dry_run=dry_run)
    return _gone(removed.entries, removed.reductions, removed.undos, kept_elsewhere=0, dry_run=dry_run)


def _least_recent(entries: Sequence[Entry], excess_bytes: int) -> list[Entry]:
    """The first entries that together take at least `excess_bytes`."""
    chosen: list[Entry] = []
    for entry in entries:
        if excess_bytes <= 0:
            break
        chosen.append(entry)
        excess_bytes -= entry.stored_bytes
    return chosen


def purge(
    store: ListedStore,
    reference: str | None = None,
    *,
    session: str | None = None,
    project: str | None = None,
    now: float,
    dry_run: bool = False,
) -> Gone:
    """Remove one original by reference, or all that only this session or this project put.

    The bytes are overwritten in the file. Bytes that another session (or project) put too stay, without a
    word of this one; `kept_elsewhere` counts them.

    Raises:
        UsageError: not exactly one of reference, session and project is given.
        NotStored: the reference is not here.
        StoreError: the store cannot be read or written.
    """
    if sum(choice is not None for choice in (reference, session, project)) != 1 or "" in (session, project):
        raise UsageError("purge: give one of a reference, a session and a project; it cannot be empty")
    entries = {entry.digest: entry for entry in store.entries()}
    if reference is not None:
        found = store.find(reference)
        if found is None:
            store.get(reference)  # says whether it was never here or was removed
            raise NotStored(f"reference {reference!r} was removed meanwhile")
        chosen, kept = {found.digest}, 0
    else:
        chosen, kept = _only_of(store.origins(), session, project)
    removed = store.remove(
        [entries[digest] for digest in sorted(chosen) if digest in entries],
        why="purge",
        now=now,
        even_if_used=True,
        dry_run=dry_run,
    )
    if reference is None and not dry_run:
        store.forget(session=session, project=project)
    return _gone(removed.entries, removed.reductions, removed.undos, kept_elsewhere=kept, dry_run=dry_run)


def _only_of(origins: Sequence[OriginNote], session: str | None, project: str | None) -> tuple[set[Digest], int]:
    """The digests that come from nowhere but this session or project, and how many come from elsewhere too."""
    own = {note.digest for note in origins if _is_of(note, session, project)}
    shared = {note.digest for note in origins if not _is_of(note, session, project)} & own
    return own - shared, len(shared)


def _is_of(note: OriginNote, session: str | None, project: str | None) -> bool:
    return note.origin.session == session if session is not None else note.origin.project == project


def _gone(entries: Sequence[Entry], reductions: int, undos: int, *, kept_elsewhere: int, dry_run: bool) -> Gone:
    return Gone(
        names=tuple(entry.name for entry in entries),
        size_bytes=sum(entry.size_bytes for entry in entries),
        stored_bytes=sum(entry.stored_bytes for entry in entries),
        reductions=reductions,
        undos=undos,
        kept_elsewhere=kept_elsewhere,
        dry_run=dry_run,
    )
