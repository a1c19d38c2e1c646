"""Plain-file copies of what a compaction set aside, for agents that can only read files.

Written from the store, so they hold what was stored, secrets masked. Old copies go at the same time.
"""

from collections.abc import Sequence
from pathlib import Path

from reefknot.model.encoding import to_text
from reefknot.model.report import ChangedPart
from reefknot.store.base import Store
from reefknot.store.copies import expire_copies, write_copy

__all__ = ["write_copies"]


def write_copies(
    parts: Sequence[ChangedPart], session: str, store: Store, folder: Path, *, days: int, now: float
) -> list[Path]:
    """Write one file per shortened result or argument, and remove copies older than `days`; the paths written.

    The file of a result is named by its call id; that of an argument has `.argument` and the reference in its name.

    Raises:
        StoreError: a copy cannot be written, or an original cannot be read.
    """
    written: list[Path] = []
    for part in parts:
        call = part.call or part.ref
        name = call if part.part == "result" else f"{call}.{part.part}.{part.ref}"
        written.append(write_copy(folder, session or "session", name, to_text(store.get(part.ref))))
    expire_copies(folder, days=days, now=now)
    return written
