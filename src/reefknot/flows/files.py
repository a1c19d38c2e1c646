"""Transcripts on disk: read whatever way they are packed, written whole or not at all."""

import contextlib
import os
import secrets
import time
from pathlib import Path

from reefknot.errors import FormatError, UsageError
from reefknot.formats.records import read_file

__all__ = ["check_output", "read_input", "write_atomic"]

PREFIX_CHARACTERS = 55  # of a file's name in its draft's: a name has at most 255 bytes, a character up to four
STALE_SECONDS = 600.0  # a draft that nobody has written to for so long belongs to no process


def read_input(path: Path) -> bytes:
    """The content of a file, unpacked when it is gzip or zstd (see `reefknot.formats.records.unpack`).

    Raises:
        FormatError: the archive is damaged; names the file.
        OSError: the file cannot be read.
    """
    try:
        return read_file(path)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error


def check_output(out: Path, source: Path | None, overwrite: bool) -> None:
    """Refuse an output that would destroy something, before any work is done.

    Raises:
        UsageError: `out` is the source itself, exists (without `overwrite`), is a folder or a device,
            or its folder is missing.
    """
    if source is not None and out.exists() and source.exists() and out.samefile(source):
        raise UsageError(f"--out {out} is the input itself: name another file, a host may still be writing to this one")
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder: name a file in it")
    if out.exists() and not out.is_file():
        raise UsageError(f"--out {out} is a device or a pipe: name a file, or redirect what --out - writes")
    if out.exists() and not overwrite:
        raise UsageError(f"--out {out} exists: name another file, or add --overwrite")
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")


def write_atomic(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file so that it is there whole or not at all, also when the process is killed.

    A new file has the permissions that the user's umask gives; a replaced one keeps its own. What a killed process
    leaves is a hidden `.<name>.reefknot-<random>.tmp`, which a later write of the same file takes away.

    Raises:
        UsageError: the file came to be there meanwhile, and `overwrite` is off.
        OSError: it cannot be written.
    """
    prefix = f".{path.name[:PREFIX_CHARACTERS]}.reefknot-"
    _sweep(path.parent, prefix)
    draft = path.with_name(f"{prefix}{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            if path.exists():
                draft.chmod(path.stat().st_mode & 0o7777)
            draft.replace(path)
        else:
            _link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sweep(folder: Path, prefix: str) -> None:
    """Take away the drafts of this file that killed processes left; one that grows belongs to a live process."""
    for entry in folder.iterdir():
        if entry.name.startswith(prefix) and entry.name.endswith(".tmp"):
            with contextlib.suppress(OSError):  # another process took it away, or it is not ours to take
                if time.time() - entry.stat().st_mtime > STALE_SECONDS:
                    entry.unlink()


def _link(draft: Path, path: Path) -> None:
    """Give a draft its name only if nobody has that name: a link fails where a rename would replace."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise UsageError(f"--out {path} exists: name another file, or add --overwrite") from None
    except OSError:  # a file system without hard links
        if path.exists():
            raise UsageError(f"--out {path} exists: name another file, or add --overwrite") from None
        draft.replace(path)


def _sync_folder(folder: Path) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
