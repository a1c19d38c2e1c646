"""What only a store in a file has: modes, reopening, uses, vanished folders, processes."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from reefknot.errors import NotStored, StoreError
from reefknot.store import schema
from reefknot.store.base import Origin, Original
from reefknot.store.sqlite import SqliteStore

DAY = 86_400.0


def modes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_folders_and_files_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = SqliteStore(tmp_path / "a" / "b" / "s.sqlite3")
        store.put_many([Original(data=b"x")])
    finally:
        os.umask(before)
    private = {"a": 0o700, "a/b": 0o700}
    assert modes(tmp_path) == private | {f"a/b/s.sqlite3{end}": 0o600 for end in ("", "-wal", "-shm")}
    store.close()
    assert modes(tmp_path) == private | {"a/b/s.sqlite3": 0o600}


def test_a_folder_that_was_there_keeps_its_mode_and_a_file_is_made_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "s.sqlite3"
    path.touch(0o644)
    store = SqliteStore(path)
    store.put_many([Original(data=b"x")])
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    store.close()


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    path = tmp_path / "a ?#%20ö\udcff&mode=memory.db"
    store = SqliteStore(path)
    name = store.put_many([Original(data=b"x")])[0].name
    assert path.exists()
    assert store.get(name) == b"x"
    store.close()


def test_durability_is_switched_on(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.sqlite3")
    with store._file.writing() as link:
        pragmas = {
            name: link.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete", "auto_vacuum", "user_version")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "auto_vacuum": 2,
        "user_version": schema.VERSION,
    }
    store.close()


def test_a_read_counts_as_a_use_once_a_day(tmp_path: Path) -> None:
    times = iter([0.0, DAY / 2, DAY * 3, DAY * 3.5])
    store = SqliteStore(tmp_path / "s.sqlite3", lambda: next(times))
    name = store.put_many([Original(data=b"x")])[0].name
    seen: list[float] = []
    for _ in range(3):
        store.get(name)
        seen.append(store.entries()[0].used)
    assert seen == [0.0, DAY * 3, DAY * 3]
    store.close()


def test_every_put_notes_where_it_came_from(tmp_path: Path) -> None:
    times = iter([1.0, 2.0, 3.0])
    store = SqliteStore(tmp_path / "s.sqlite3", lambda: next(times))
    origins = [Origin(session="a", call_id="1"), Origin(session="a", call_id="1"), Origin(session="b")]
    for origin in origins:
        store.put_many([Original(data=b"x", origin=origin)])
    notes = sorted((note.origin.session, note.created, note.seen) for note in store.origins())
    assert notes == [("a", 1.0, 2.0), ("b", 3.0, 3.0)]
    store.close()


def test_removed_bytes_leave_the_file_and_the_file_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    secret = b"needle-" + os.urandom(64).hex().encode()
    store.put_many([Original(data=secret), *(Original(data=os.urandom(50_000)) for _ in range(20))])
    size = store.file_bytes()
    store.remove(store.entries(), why="purge", now=0.0, even_if_used=True)
    assert store.file_bytes() < size / 10
    store.close()
    assert all(b"needle-" not in part.read_bytes() for part in tmp_path.iterdir())


def test_what_was_used_since_it_was_listed_stays(tmp_path: Path) -> None:
    times = iter([1.0, 2.0])
    store = SqliteStore(tmp_path / "s.sqlite3", lambda: next(times))
    store.put_many([Original(data=b"x")])
    listed = store.entries()
    store.put_many([Original(data=b"x")])
    assert store.remove(listed, why="gc", now=3.0, even_if_used=False).entries == ()
    assert len(store.remove(listed, why="purge", now=3.0, even_if_used=True).entries) == 1
    store.close()


def test_a_store_whose_folder_vanished_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    store = SqliteStore(folder / "s.sqlite3")
    lost = store.put_many([Original(data=b"lost")])[0].name
    shutil.rmtree(folder)
    with pytest.raises(NotStored, match="never stored"):
        store.get(lost)
    assert not folder.exists()
    name = store.put_many([Original(data=b"kept")])[0].name
    store.close()
    again = SqliteStore(folder / "s.sqlite3")
    assert again.get(name) == b"kept"
    assert again.faults() == []
    again.close()


def test_a_store_that_another_process_made_again_is_read_as_it_is_now(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    first, second = (SqliteStore(folder / "s.sqlite3") for _ in range(2))
    first.put_many([Original(data=b"first")])
    shutil.rmtree(folder)
    name = second.put_many([Original(data=b"second")])[0].name
    assert first.get(name) == b"second"
    other = first.put_many([Original(data=b"third")])[0].name
    first.close()
    assert second.get(other) == b"third"
    second.close()


def test_two_stores_on_one_file_see_each_other_at_once(tmp_path: Path) -> None:
    one, two = (SqliteStore(tmp_path / "s.sqlite3") for _ in range(2))
    assert one.find("deadbeef") is None
    for number in range(5):
        data = str(number).encode()
        name = (one, two)[number % 2].put_many([Original(data=data)])[0].name
        assert (two, one)[number % 2].get(name) == data
    one.close()
    two.close()


def test_a_closed_store_opens_again(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.sqlite3")
    name = store.put_many([Original(data=b"x")])[0].name
    store.close()
    store.close()
    assert store.get(name) == b"x"
    store.close()


def test_a_damaged_value_is_made_whole_by_putting_it_again(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    name = store.put_many([Original(data=b"whole " * 100)])[0].name
    store.close()
    with closing(sqlite3.connect(path)) as link, link:
        link.execute("UPDATE objects SET data = zeroblob(20)")
    link.close()
    store.put_many([Original(data=b"whole " * 100)])
    assert store.get(name) == b"whole " * 100
    store.close()


def test_an_older_schema_is_upgraded_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    name = store.put_many([Original(data=b"x")])[0].name
    store.close()
    from reefknot.store import sqlite_file

    steps = (*schema.UPGRADES, "CREATE TABLE later(a); INSERT INTO later VALUES (7)")
    monkeypatch.setattr(sqlite_file, "UPGRADES", steps)
    monkeypatch.setattr(sqlite_file, "VERSION", len(steps))
    assert store.get(name) == b"x"  # a reader upgrades too
    store.close()
    link = sqlite3.connect(path)
    assert link.execute("SELECT a FROM later").fetchall() == [(7,)]
    assert link.execute("PRAGMA user_version").fetchone() == (len(steps),)
    link.close()


def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    name = store.put_many([Original(data=b"x")])[0].name
    store.close()
    from reefknot.store import sqlite_file

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_file, "UPGRADES", (*schema.UPGRADES, "CREATE TABLE later(a); NONSENSE"))
        patch.setattr(sqlite_file, "VERSION", schema.VERSION + 1)
        with pytest.raises(StoreError, match="syntax error"):
            store.get(name)
    assert store.get(name) == b"x"
    with pytest.raises(StoreError, match="no such table"):
        store._all("SELECT * FROM later")
    store.close()


def test_a_newer_schema_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    store.put_many([Original(data=b"x")])
    store.close()
    link = sqlite3.connect(path)
    link.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    link.close()
    for use in (store.entries, lambda: store.put_many([Original(data=b"y")])):
        with pytest.raises(StoreError, match="install a newer reefknot"):
            use()


@pytest.mark.slow
def test_a_large_value_comes_back_within_a_few_times_its_size(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = """
import hashlib, os, resource, sys
from reefknot.store.base import Original
from reefknot.store.sqlite import SqliteStore
size = 100 << 20
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = os.urandom(size // 2) + b"compressible " * (size // 26)
store = SqliteStore(sys.argv[1])
name = store.put_many([Original(data=data)])[0].name
digest = hashlib.sha256(data).digest()
del data
assert hashlib.sha256(store.get(name)).digest() == digest
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * (1 if sys.platform == "darwin" else 1024) / size)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "s.sqlite3")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 5
