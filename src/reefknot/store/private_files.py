"""Folders and files that their owner alone can read, and files that are there whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

__all__ = ["make_private_folder", "writing_whole"]


def make_private_folder(folder: Path) -> None:
    """The folder and those above it, each with mode 0700 where it is new, whatever the umask.

    Raises:
        OSError: one cannot be made.
    """
    for missing in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
        with contextlib.suppress(FileExistsError):  # another process was faster
            missing.mkdir(mode=0o700)
            missing.chmod(0o700)


@contextlib.contextmanager
def writing_whole(path: Path) -> Generator[BinaryIO]:
    """A file to write to, which takes the place of `path` on leaving; after an exception nothing has changed.

    It is on the disk before it is at its place, has mode 0600 whatever the umask, and replaces what was there.

    Raises:
        OSError: it cannot be written.
    """
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=".reefknot-", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            temporary.chmod(0o600)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_folder(path.absolute().parent)


def _sync_folder(folder: Path) -> None:
    """The new name durable too, on systems that can open a folder."""
    with contextlib.suppress(PermissionError, IsADirectoryError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
