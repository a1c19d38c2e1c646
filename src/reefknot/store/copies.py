"""Originals as plain files, for agents that can only read files: `<folder>/<session>/<tool call id>.txt`.

The text is masked by the caller. A file is there whole or not at all, can be read by its owner alone, and
is never replaced by another text: what was once pointed at stays until it expires.
"""

import contextlib
import hashlib
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from reefknot.errors import StoreError
from reefknot.model.encoding import to_bytes
from reefknot.model.folders import xdg_folder
from reefknot.store.digest import digest_bytes
from reefknot.store.private_files import make_private_folder, writing_whole

__all__ = ["expire_copies", "outputs_folder", "safe_name", "write_copy"]

NAME_LENGTH = 200  # characters; file systems allow 255 bytes, ending and temporary prefix included
SECONDS_PER_DAY = 86_400
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
_SUFFIX_LENGTH = 12  # hex characters of a digest


def outputs_folder(environ: Mapping[str, str]) -> Path:
    """Where plain copies are: `$XDG_CACHE_HOME/reefknot/outputs`, default `~/.cache/reefknot/outputs`.

    >>> str(outputs_folder({"HOME": "/home/ann"}))
    '/home/ann/.cache/reefknot/outputs'
    """
    return xdg_folder(environ, "XDG_CACHE_HOME", ".cache") / "reefknot" / "outputs"


def safe_name(name: str) -> str:
    """A file name for any text; names that differ stay different.

    Characters other than letters, digits, `_`, `.` and `-` become `_`, and so does a leading dot. A name that
    had to be changed gets a suffix from its digest, so that it cannot meet another one.

    >>> safe_name("toolu_01Ab"), safe_name("../etc/passwd")
    ('toolu_01Ab', '_._etc_passwd-7fef78f53440')
    """
    cleaned = _UNSAFE.sub("_", name[:NAME_LENGTH])
    if cleaned.startswith("."):
        cleaned = "_" + cleaned[1:]
    if cleaned == name and cleaned:
        return cleaned
    suffix = hashlib.sha256(to_bytes(name)).hexdigest()[:_SUFFIX_LENGTH]
    return f"{cleaned[: NAME_LENGTH - _SUFFIX_LENGTH - 1] or 'unnamed'}-{suffix}"


def write_copy(folder: Path, session: str, call_id: str, text: str) -> Path:
    """Write a text as the plain copy of a call's output, durably; the path of it.

    The same text again keeps its file, as fresh as if it were new. Where the file of that name holds another
    text, the new one gets a name of its own.

    Raises:
        StoreError: it cannot be written.
    """
    data = to_bytes(text)
    home, name = folder / safe_name(session), safe_name(call_id)
    path = home / f"{name}.txt"
    try:
        make_private_folder(home)
        if _holds_another(path, data):
            path = home / f"{name[: NAME_LENGTH - _SUFFIX_LENGTH - 1]}-{digest_bytes(data)[:_SUFFIX_LENGTH]}.txt"
        with writing_whole(path) as file:
            file.write(data)
    except OSError as error:
        raise StoreError(f"plain copy {str(path)!r} cannot be written: {error.strerror or error}") from error
    return path


def _holds_another(path: Path, data: bytes) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return path.is_symlink() or path.read_bytes() != data
    return False


def expire_copies(folder: Path, *, days: float, now: float) -> int:
    """Remove copies that are older than `days`, and folders that are empty then; how many copies went.

    Only files that look like copies are touched, and no link is followed.

    Raises:
        StoreError: a file cannot be removed.
    """
    limit = now - days * SECONDS_PER_DAY
    count = 0
    try:
        for home in _folders(folder):
            for path in [path for path in home.iterdir() if path.suffix in (".txt", ".tmp")]:
                with contextlib.suppress(FileNotFoundError):  # another process was faster
                    found = path.lstat()
                    if stat.S_ISREG(found.st_mode) and found.st_mtime < limit:
                        path.unlink()
                        count += path.suffix == ".txt"
            with contextlib.suppress(OSError):  # not empty, or gone already
                home.rmdir()
    except OSError as error:
        raise StoreError(f"plain copies in {str(folder)!r} cannot be removed: {error.strerror or error}") from error
    return count


def _folders(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
