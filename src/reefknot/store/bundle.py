"""A bundle: originals and the notes about them in one file, to move them to another store.

A zstd stream. Line by line it holds JSON heads, each with the bytes that it announces:

    {"reefknot_bundle": 1}
    {"object": DIGEST, "name", "bytes": N, "masked_secrets", "origins": [...]}   then N bytes and a line feed
    {"reduction": {...}}
    {"undo": DIGEST, "bytes": N}                                                 then N bytes and a line feed
    {"end": {"objects", "reductions", "undos"}, "sha256": of all bytes before this line}

Nothing in it is believed: each digest is computed again, each field checked, and without the right last
line nothing at all is taken in.
"""

import hashlib
import io
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

from reefknot.errors import FormatError, StoreError
from reefknot.model.message import Json
from reefknot.model.reference import Digest
from reefknot.store.base import Origin, Original, Reduction, Undo
from reefknot.store.compression import reading_stream, writing_stream
from reefknot.store.contents import Entry, ListedStore, Loaded, Named
from reefknot.store.digest import digest_bytes
from reefknot.store.links import needed_by
from reefknot.store.names import is_digest, is_name
from reefknot.store.private_files import writing_whole

__all__ = ["Exported", "export", "import_bundle"]

VERSION = 1
HEAD_BYTES = 16 << 20  # longest line of JSON that is read
VALUE_BYTES = 1 << 30  # largest value that is read; SQLite holds no larger one
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What a bundle holds, and which of the references asked for are not in the store."""

    path: str
    objects: int
    reductions: int
    undos: int
    size_bytes: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selection:
    entries: tuple[Entry, ...]
    reductions: tuple[Reduction, ...]
    undos: tuple[Undo, ...]
    missing: tuple[str, ...]


def export(store: ListedStore, path: Path, references: Sequence[str] | None = None) -> Exported:
    """Write all that a store holds, or what some references need, into a bundle; the file is there whole or not at all.

    `references` are names or digests of originals, and digests of changed records (undos). With an original
    go its reductions and the undos that need nothing beyond what is chosen; with an undo go all its
    originals. The file can be read by its owner alone (0600).

    Raises:
        StoreError: the store cannot be read, or the file cannot be written.
        Corrupt: an original is damaged; then no file is written.
    """
    selection = _select(store, references)
    try:
        size = _write(store, path, selection)
    except OSError as error:
        raise StoreError(f"bundle {str(path)!r} cannot be written: {error.strerror or error}") from error
    return Exported(
        path=str(path),
        objects=len(selection.entries),
        reductions=len(selection.reductions),
        undos=len(selection.undos),
        size_bytes=size,
        missing=selection.missing,
    )


def _select(store: ListedStore, references: Sequence[str] | None) -> _Selection:
    entries, undos = store.entries(), tuple(store.undos())
    if references is None:
        return _Selection(entries=tuple(entries), reductions=tuple(store.reductions()), undos=undos, missing=())
    known_undos = {undo.changed: undo for undo in undos}
    chosen: set[Digest] = set()
    asked_undos: set[Digest] = set()
    missing: list[str] = []
    for reference in references:
        found = store.find(reference)
        if found is not None:
            chosen.add(found.digest)
        if reference in known_undos:
            asked_undos.add(reference)
            chosen |= needed_by(known_undos[reference].recipe)
        elif found is None:
            missing.append(reference)
    return _Selection(
        entries=tuple(entry for entry in entries if entry.digest in chosen),
        reductions=tuple(reduction for reduction in store.reductions() if reduction.original in chosen),
        undos=tuple(undo for undo in undos if undo.changed in asked_undos or _is_within(undo, chosen)),
        missing=tuple(dict.fromkeys(missing)),
    )


def _is_within(undo: Undo, chosen: Collection[Digest]) -> bool:
    needs = needed_by(undo.recipe)
    return bool(needs) and all(digest in chosen for digest in needs)


def _write(store: ListedStore, path: Path, selection: _Selection) -> int:
    with writing_whole(path) as file:
        with writing_stream(file) as stream:
            whole = hashlib.sha256()
            for piece in _pieces(store, selection):
                whole.update(piece)
                stream.write(piece)
            stream.write(_line({"end": _counts(selection), "sha256": whole.hexdigest()}))
        return file.tell()


def _pieces(store: ListedStore, selection: _Selection) -> Iterator[bytes]:
    yield _line({"reefknot_bundle": VERSION})
    chosen = {entry.digest for entry in selection.entries}
    origins: dict[Digest, list[Json]] = {}
    for note in store.origins():
        if note.digest in chosen:
            origins.setdefault(note.digest, []).append(asdict(note.origin))
    for entry in selection.entries:
        data = store.read(entry.digest)
        yield _line(
            {
                "object": entry.digest,
                "name": entry.name,
                "bytes": len(data),
                "masked_secrets": entry.masked_secrets,
                "origins": origins.get(entry.digest, []),
            }
        )
        yield data
        yield b"\n"
    for reduction in selection.reductions:
        yield _line({"reduction": asdict(reduction)})
    for undo in selection.undos:
        yield _line({"undo": undo.changed, "bytes": len(undo.recipe)})
        yield undo.recipe
        yield b"\n"


def _line(head: dict[str, Json]) -> bytes:
    return json.dumps(head, separators=(",", ":")).encode() + b"\n"


def _counts(selection: _Selection) -> dict[str, Json]:
    return {
        "objects": len(selection.entries),
        "reductions": len(selection.reductions),
        "undos": len(selection.undos),
    }


def import_bundle(store: ListedStore, path: Path) -> Loaded:
    """Take in a bundle, all or nothing. What the store knows already stays as it is.

    Raises:
        FormatError: the file is no bundle, is damaged or ends too early, or holds what is not true of itself.
        StoreError: the file cannot be opened, or the store cannot be written.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise StoreError(f"bundle {str(path)!r} cannot be read: {error.strerror or error}") from error
    with file:
        return store.load(_Reader(str(path), reading_stream(file)).items())


class _Reader:
    """Reads one bundle, and checks it on the way."""

    def __init__(self, path: str, stream: io.BufferedReader) -> None:
        self._path = path
        self._stream = stream
        self._whole = hashlib.sha256()
        self._counts = {"objects": 0, "reductions": 0, "undos": 0}

    def items(self) -> Iterator[Named | Reduction | Undo]:
        try:
            yield from self._items()
        except OSError as error:
            raise self._fault(str(error)) from error

    def _items(self) -> Iterator[Named | Reduction | Undo]:
        if (first := self._head()).keys() != {"reefknot_bundle"}:
            raise self._fault("it is no bundle of reefknot")
        if first["reefknot_bundle"] != VERSION:
            raise self._fault(f"it has version {first['reefknot_bundle']!r}, this reefknot knows {VERSION}")
        while True:
            before = self._whole.hexdigest()
            head = self._head()
            match head:
                case {"object": digest}:
                    self._counts["objects"] += 1
                    yield self._object(head, digest)
                case {"reduction": fields}:
                    self._counts["reductions"] += 1
                    yield self._reduction(fields)
                case {"undo": digest}:
                    self._counts["undos"] += 1
                    yield Undo(changed=self._digest(digest), recipe=self._value(head))
                case {"end": counts, "sha256": digest} if counts == self._counts and digest == before:
                    if self._stream.read(1):
                        raise self._fault("something follows its last line")
                    return
                case _:
                    raise self._fault("its last line does not fit what stands before it, or a line is of no known kind")

    def _head(self) -> dict[str, Any]:
        line = self._stream.readline(HEAD_BYTES)
        self._whole.update(line)
        try:
            head = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            head = None
        if not _is_object(head):
            raise self._fault("a line is no JSON object, or the file ends too early")
        return head

    def _value(self, head: dict[str, Any]) -> bytes:
        size = head.get("bytes")
        if not _is_count(size) or size > VALUE_BYTES:
            raise self._fault(f"a value says that it has {size!r} bytes")
        blocks: list[bytes] = []
        missing = size + 1  # the line feed after it
        while missing:
            block = self._stream.read(min(missing, _BLOCK_BYTES))
            if not block:
                raise self._fault("it ends too early")
            self._whole.update(block)
            blocks.append(block)
            missing -= len(block)
        value = b"".join(blocks)
        if not value.endswith(b"\n"):
            raise self._fault("a value is not as long as it says")
        return value[:-1]

    def _object(self, head: dict[str, Any], digest: object) -> Named:
        data = self._value(head)
        if digest_bytes(data) != digest:
            raise self._fault(f"the bytes of {digest!r} do not match their digest")
        name, masked, origins = head.get("name"), head.get("masked_secrets"), head.get("origins")
        if not isinstance(name, str) or not is_name(name) or not str(digest).startswith(name):
            raise self._fault(f"{name!r} is no name of {digest!r}")
        if not _is_count(masked) or not isinstance(origins, list):
            raise self._fault(f"the notes about {name!r} are not complete")
        return Named(
            original=Original(data=data, masked_secrets=masked),
            name=name,
            origins=tuple(self._origin(origin) for origin in origins),  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] (JSON; each is checked)
        )

    def _origin(self, fields: object) -> Origin:
        if not _is_object(fields) or not all(isinstance(value, str) for value in fields.values()):
            raise self._fault("an origin is not made of texts")
        try:
            return Origin(**fields)
        except TypeError:
            raise self._fault(f"an origin has other fields: {sorted(fields)!r}") from None

    def _reduction(self, fields: object) -> Reduction:
        if not _is_object(fields):
            raise self._fault("a reduction is no object")
        holder, start, end = fields.get("holder"), fields.get("start"), fields.get("end")
        if not isinstance(holder, str) or not _is_count(start) or not _is_count(end):
            raise self._fault("a reduction is not complete")
        return Reduction(
            reduced=self._digest(fields.get("reduced")),
            holder=holder,
            original=self._digest(fields.get("original")),
            start=start,
            end=end,
        )

    def _digest(self, value: object) -> Digest:
        if not isinstance(value, str) or not is_digest(value):
            raise self._fault(f"{value!r} is no digest")
        return value

    def _fault(self, what: str) -> FormatError:
        return FormatError(f"bundle {self._path!r}: {what}; nothing was imported")


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53
