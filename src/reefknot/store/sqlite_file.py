"""One SQLite file: opened late, private, durable, shared by many processes; its errors in our words.

Two connections: one writes, one reads. Each is opened when it is first needed, again in a forked
process, and again when the file at the path is another one than it was (the folder vanished).
"""

import contextlib
import ctypes
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from urllib.parse import quote

from reefknot.errors import Corrupt, StoreError
from reefknot.store.private_files import make_private_folder
from reefknot.store.schema import APPLICATION_ID, UPGRADES, VERSION

__all__ = ["SqliteFile", "explained"]

BUSY_SECONDS = 60.0  # longest wait for other writers; eight at once need well under one
RETRY_SECONDS = 0.02  # between tries where SQLite answers "busy" without waiting itself
LOG_LIMIT_BYTES = 64 << 20  # what the write-ahead log may take on disk between two uses

_HINTS = {
    sqlite3.SQLITE_FULL: "the disk is full; nothing was changed",
    sqlite3.SQLITE_BUSY: f"another process has held it for over {BUSY_SECONDS:.0f} seconds; try again",
    sqlite3.SQLITE_LOCKED: "another connection holds it; try again",
    sqlite3.SQLITE_READONLY: "it cannot be written; check the rights of the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the rights of the file and its folder",
    sqlite3.SQLITE_PERM: "access was denied; check the rights of the file and its folder",
    sqlite3.SQLITE_IOERR: "the disk gave an error (full, over a quota, or failing)",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; `reefknot store verify` lists what is lost",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database; move it away or name another store",
    sqlite3.SQLITE_TOOBIG: "a value is larger than SQLite can hold (1 GB after compression)",
}
_MAGIC = b"SQLite format 3\0"  # how every SQLite file begins
_NO_ACCESS = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def _code(error: sqlite3.Error) -> int:
    """The primary code of an error; 0 where it comes from Python's side of the module."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextlib.contextmanager
def explained(path: Path) -> Generator[None]:
    """Errors of SQLite as StoreError, damage as Corrupt: what, where, what to do."""
    try:
        yield
    except sqlite3.Error as error:
        hint = _HINTS.get(_code(error), "`reefknot store verify` checks it")
        family = Corrupt if _code(error) == sqlite3.SQLITE_CORRUPT else StoreError
        raise family(f"store {str(path)!r}: {error}: {hint}") from error
    except UnicodeDecodeError as error:  # the module cannot even read SQLite's message about a damaged page
        raise Corrupt(f"store {str(path)!r}: {_HINTS[sqlite3.SQLITE_CORRUPT]}") from error


class SqliteFile:
    """Connections to one file at an absolute path. All methods may be called from any thread, one at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._identity: tuple[int, int, int] | None = None  # device, inode, process

    @contextlib.contextmanager
    def reading(self) -> Generator[sqlite3.Connection | None]:
        """A connection to read with; None when there is no file, and then none is made."""
        with self._lock, explained(self.path):
            self._drop_stale()
            if self._reader is None and self._exists():
                self._reader = self._open_reader()
            yield self._reader

    @contextlib.contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A connection inside a transaction, which is durable on leaving and undone by an exception."""
        with self._lock, explained(self.path):
            self._drop_stale()
            if self._writer is None:
                self._writer = self._open_writer()
            link = self._writer
            link.execute("BEGIN IMMEDIATE")
            try:
                yield link
                link.execute("COMMIT")
            except BaseException:
                _roll_back(link)
                raise

    def shrink(self) -> None:
        """Give free pages back to the disk, and empty the write-ahead log where no reader needs it."""
        with self._lock, explained(self.path):
            if self._writer is not None:
                self._writer.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page only
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close both connections; the next use opens them again."""
        with self._lock, explained(self.path):
            self._drop_stale()
            for link in (self._reader, self._writer):
                if link is not None:
                    link.close()
            self._reader = self._writer = None

    def __del__(self) -> None:
        """Close what nobody closed; there is nobody left to hear of a fault."""
        with contextlib.suppress(StoreError, sqlite3.Error):
            self.close()

    def _exists(self) -> bool:
        return self._stat() is not None

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"store {str(self.path)!r}: {error.strerror}: check the rights of its folder") from error
        return found.st_dev, found.st_ino, os.getpid()

    def _drop_stale(self) -> None:
        if self._reader is None and self._writer is None:
            return
        if self._stat() == self._identity:
            return
        for link in (self._reader, self._writer):
            if link is not None:
                _abandon(link)
        self._reader = self._writer = None

    def _open_reader(self) -> sqlite3.Connection:
        link = _connect_to_read(self.path)
        try:
            is_old = _version(link, self.path) < VERSION
        except BaseException:
            link.close()
            raise
        self._identity = self._stat()
        if is_old:
            link.close()
            if self._writer is None:
                self._writer = self._open_writer()
            link = _connect_to_read(self.path)
        link.execute("PRAGMA query_only = ON")
        return link

    def _open_writer(self) -> sqlite3.Connection:
        _make_private(self.path)
        link = _connect(self.path, "mode=rw")
        try:
            _prepare(link, self.path)
        except BaseException:
            link.close()
            raise
        self._identity = self._stat()
        return link


def _connect(path: Path, options: str) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path))}?{options}"
    return sqlite3.connect(address, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """The most able connection that the rights allow.

    Plain reading of a file with a write-ahead log wants to write beside it. On a read-only disk it is
    read as a file that nobody changes, which is right only while no log stands beside it.
    """
    log = path.with_name(path.name + "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    modes = ("mode=rw", "mode=ro") if has_log else ("mode=rw", "mode=ro", "mode=ro&immutable=1")
    for mode in modes:
        link = _connect(path, mode)
        try:
            link.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            link.close()
            if mode == modes[-1] or _code(error) not in _NO_ACCESS:
                raise
        except (sqlite3.Error, UnicodeDecodeError):
            link.close()
            raise
        else:
            return link
    raise AssertionError("the last mode returns or raises")


def _make_private(path: Path) -> None:
    """The folder (0700 where it is new) and the file (0600 always), whatever the umask."""
    try:
        make_private_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.read(handle, len(_MAGIC)) not in (b"", _MAGIC):  # SQLite takes a file of a few bytes for an empty one
                raise StoreError(f"store {str(path)!r}: {_HINTS[sqlite3.SQLITE_NOTADB]}")
            if stat.S_IMODE(os.fstat(handle).st_mode) != 0o600:
                os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError as error:
        raise StoreError(f"store {str(path)!r} cannot be made: {error.strerror}: {error.filename!r}") from error


def _prepare(link: sqlite3.Connection, path: Path) -> None:
    """Durability, then the upgrades that are missing, all in one transaction."""
    link.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    link.execute("PRAGMA auto_vacuum = INCREMENTAL")  # counts only before the first table is made
    _patiently(lambda: link.execute("PRAGMA journal_mode = WAL").fetchone())
    link.execute("PRAGMA synchronous = FULL")
    link.execute("PRAGMA secure_delete = ON")  # what is purged leaves no bytes behind
    link.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT_BYTES}")
    if _version(link, path) == VERSION:
        return
    link.execute("BEGIN IMMEDIATE")
    try:
        for number in range(_version(link, path), VERSION):
            for statement in filter(str.strip, UPGRADES[number].split(";")):
                link.execute(statement)
        link.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        link.execute(f"PRAGMA user_version = {VERSION}")
        link.execute("COMMIT")
    except BaseException:
        _roll_back(link)
        raise


def _version(link: sqlite3.Connection, path: Path) -> int:
    (version,) = link.execute("PRAGMA user_version").fetchone()
    (owner,) = link.execute("PRAGMA application_id").fetchone()
    (tables,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner != APPLICATION_ID and (tables or version):
        raise StoreError(f"store {str(path)!r} is the database of another program: name another store")
    if version > VERSION:
        versions = f"has schema version {version}, this reefknot knows {VERSION}"
        raise StoreError(f"store {str(path)!r} {versions}: install a newer reefknot")
    return version


def _patiently(action: Callable[[], object]) -> None:
    """Do what SQLite refuses at once, instead of waiting, while another process does the same."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            action()
            return
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(RETRY_SECONDS)


def _roll_back(link: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):  # the error that led here is the one to tell
        if link.in_transaction:
            link.execute("ROLLBACK")


def _abandon(link: sqlite3.Connection) -> None:
    """Let go of a connection without closing it, for as long as the process lives.

    To close it would remove the write-ahead log at its path, which by now may be the log of another file
    or, after a fork, of the parent's connection.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(link))
