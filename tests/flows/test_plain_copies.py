import stat
import time
from pathlib import Path

from reefknot.flows.plain_copies import write_copies
from reefknot.model.report import ChangedPart
from reefknot.store.base import Original
from reefknot.store.memory import MemoryStore

NOW = time.time()


def test_each_shortened_part_has_a_private_file_with_what_was_stored(tmp_path: Path) -> None:
    store = MemoryStore()
    first, second = store.put_many([Original(data=b"one\ntwo"), Original(data=b"\xff")])
    parts = [
        ChangedPart(message=2, call="call_1", part="result", ref=first.name),
        ChangedPart(message=1, call="../x", part="argument", ref=second.name),
    ]
    paths = write_copies(parts, "s-1", store, tmp_path, days=30, now=NOW)
    assert [path.read_bytes() for path in paths] == [b"one\ntwo", b"\xff"]
    assert paths[0] == tmp_path / "s-1" / "call_1.txt"
    assert paths[1].parent == tmp_path / "s-1"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (*paths, tmp_path / "s-1")] == [0o600, 0o600, 0o700]


def test_a_copy_that_is_too_old_goes(tmp_path: Path) -> None:
    store = MemoryStore()
    (reference,) = store.put_many([Original(data=b"one")])
    parts = [ChangedPart(message=2, call="call_1", part="result", ref=reference.name)]
    (path,) = write_copies(parts, "s-1", store, tmp_path, days=30, now=NOW)
    write_copies([], "s-2", store, tmp_path, days=30, now=path.stat().st_mtime + 31 * 86_400)
    assert not path.exists()
