"""What can happen to a store: many writers, killed writers, full disks, damage, missing rights."""

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from reefknot.errors import Corrupt, NotStored, ReefknotError, StoreError
from reefknot.store.base import Original, Reduction, Undo
from reefknot.store.bundle import export
from reefknot.store.digest import digest_bytes
from reefknot.store.sqlite import SqliteStore
from reefknot.store.upkeep import gc, purge, stats, verify

WRITER = """
import sys
from reefknot.store.base import Origin, Original, Undo
from reefknot.store.digest import digest_bytes
from reefknot.store.sqlite import SqliteStore
path, writer, batches = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = SqliteStore(path)
print("ready", flush=True)
sys.stdin.readline()
for batch in range(batches):
    texts = [f"{writer} {batch} {item} ".encode() * 50 for item in range(20)] + [f"common {batch}".encode() * 9]
    names = [reference.name for reference in store.put_many([Original(data=text) for text in texts])]
    recipe = ('[{"start": 0, "end": 1, "raw": "%s"}]' % digest_bytes(texts[0])).encode()
    store.record([], [Undo(changed=digest_bytes(texts[1]), recipe=recipe)])
    print(batch, *names, flush=True)
"""


def start_writer(path: Path, writer: str, batches: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), writer, str(batches)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_batch(store: SqliteStore, writer: str, line: str) -> None:
    """What a writer said that it stored is there, every byte."""
    batch, *names = line.split()
    for item, name in enumerate(names[:20]):
        assert store.get(name) == f"{writer} {batch} {item} ".encode() * 50
    assert store.get(names[20]) == f"common {batch}".encode() * 9


@pytest.mark.slow
def test_eight_processes_that_put_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "s.sqlite3"
    writers = {str(number): start_writer(path, str(number), 15) for number in range(8)}
    for process in writers.values():
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    outputs: dict[str, str] = {}
    for process in writers.values():  # all are let go before the first is waited for
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for writer, process in writers.items():
        outputs[writer], errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    store = SqliteStore(path)
    for writer, output in outputs.items():
        assert len(output.splitlines()) == 15
        for line in output.splitlines():
            check_batch(store, writer, line)
    found = verify(store)
    assert (found.objects, found.undos, found.faults) == (8 * 15 * 20 + 15, 8 * 15, ())
    assert len({entry.name for entry in store.entries()}) == found.objects
    store.close()
    assert {stat.S_IMODE(part.stat().st_mode) for part in path.parent.iterdir()} == {0o600}


@pytest.mark.slow
def test_a_killed_writer_leaves_a_sound_store_with_all_that_it_said(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    moments = random.Random(7)
    for attempt in range(10):
        process = start_writer(path, str(attempt), 10_000)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("go\n")
        process.stdin.flush()
        time.sleep(moments.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        output = process.communicate()[0]
        store = SqliteStore(path)
        for line in output.splitlines()[:-1]:  # the last line may be half
            check_batch(store, str(attempt), line)
        assert verify(store).faults == ()
        store.close()


def test_a_child_that_was_forked_writes_and_reads_by_itself(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.sqlite3")
    name = store.put_many([Original(data=b"before")])[0].name
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            assert store.get(name) == b"before"
            store.put_many([Original(data=b"from the child")])
            store.close()
            code = 0
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    after = store.put_many([Original(data=b"after")])[0].name
    store.close()
    again = SqliteStore(store.location)
    assert sorted(again.get(entry.name) for entry in again.entries()) == [b"after", b"before", b"from the child"]
    assert again.get(after) == b"after"
    assert verify(again).is_sound
    again.close()


FULL = """
import os, resource, signal, sys
from reefknot.errors import StoreError
from reefknot.store.base import Original
from reefknot.store.sqlite import SqliteStore
from reefknot.store.upkeep import verify
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqliteStore(sys.argv[1])
name = store.put_many([Original(data=b"before")])[0].name
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
messages = []
for number in range(20):
    try:
        store.put_many([Original(data=os.urandom(150_000))])
    except StoreError as error:
        messages.append(str(error))
assert messages, "the disk never was full"
print(messages[0])
assert store.get(name) == b"before"
assert verify(store).faults == ()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
later = store.put_many([Original(data=os.urandom(150_000))])[0].name
store.get(later)
assert verify(store).faults == ()
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path / "s.sqlite3")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "disk" in done.stdout
    assert "\n" not in done.stdout.strip()


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, list[str]]:
    """A store of some size, closed, and its names."""
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    values = [f"line {number}\n".encode() * number for number in range(200)]
    names = [reference.name for reference in store.put_many([Original(data=value) for value in values])]
    store.close()
    return path, names


def test_a_store_damaged_behind_its_first_page_is_found_out(filled: tuple[Path, list[str]]) -> None:
    path, names = filled
    data = bytearray(path.read_bytes())
    page = int.from_bytes(data[16:18], "big")
    data[page:] = bytes(byte ^ 0x5A for byte in data[page:])
    path.write_bytes(data)
    store = SqliteStore(path)
    assert verify(store).faults
    for name in names:
        with pytest.raises(Corrupt, match="damaged"):
            store.get(name)
    with pytest.raises(StoreError):
        store.put_many([Original(data=b"more")])
    store.close()


def purge_something(store: SqliteStore) -> None:
    for entry in store.entries()[:2]:
        purge(store, entry.name, now=0.0)


def collect(store: SqliteStore) -> None:
    gc(store, now=0.0, max_bytes=5000)


def export_all(store: SqliteStore) -> None:
    export(store, Path(store.location).with_name("bundle"))


def put_more(store: SqliteStore) -> None:
    store.put_many([Original(data=b"more")])


@pytest.mark.slow
def test_no_damage_gives_wrong_bytes_or_another_error(tmp_path: Path) -> None:
    """Some bytes anywhere are changed: each original comes back right, or is said to be damaged or gone."""
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    values = [os.urandom(40) * (number + 1) for number in range(120)]
    expected = {reference.name: value for value in values for reference in store.put_many([Original(data=value)])}
    store.close()
    whole = path.read_bytes()
    chance = random.Random(11)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 40))):
            data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
        path.write_bytes(data)
        opened = SqliteStore(path)
        lost = 0
        for name, value in expected.items():
            try:
                assert opened.get(name) == value
            except StoreError:
                lost += 1
        found = verify(opened)
        assert not lost or found.faults, "damage that verify does not see"
        for use in (stats, purge_something, collect, export_all, put_more):
            with suppress(ReefknotError):
                use(opened)
        opened.close()
        for part in tmp_path.iterdir():
            part.unlink()


@pytest.mark.parametrize(
    "content", [b"this is no database at all, and long enough to look at " * 50, b"x", b"\x00" * 5000]
)
def test_a_file_that_is_no_database_is_left_alone_and_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.sqlite3"
    path.write_bytes(content)
    store = SqliteStore(path)
    assert verify(store).faults
    for use in (lambda: store.get("deadbeef"), lambda: store.put_many([Original(data=b"x")]), store.entries):
        with pytest.raises(StoreError):
            use()
    store.close()
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    with closing(sqlite3.connect(path)) as link, link:
        link.execute("CREATE TABLE objects(x)")
    link.close()
    before = path.read_bytes()
    store = SqliteStore(path)
    for use in (lambda: store.get("deadbeef"), lambda: store.put_many([Original(data=b"x")])):
        with pytest.raises(StoreError, match="of another program"):
            use()
    store.close()
    assert path.read_bytes()[100:] == before[100:]


def test_a_truncated_store_is_found_out(filled: tuple[Path, list[str]]) -> None:
    path, names = filled
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    store = SqliteStore(path)
    assert verify(store).faults
    for name in names:
        with suppress(StoreError):
            assert store.get(name) is not None
    store.close()


def note(data: bytes) -> tuple[Reduction, Undo]:
    """Two notes that need an original."""
    recipe = b'[{"start": 0, "end": 1, "raw": "' + digest_bytes(data).encode() + b'"}]'
    reduction = Reduction(reduced=digest_bytes(b"r"), holder="h", original=digest_bytes(data), start=0, end=1)
    return reduction, Undo(changed=digest_bytes(b"c"), recipe=recipe)


def test_notes_that_point_nowhere_are_found_out(filled: tuple[Path, list[str]]) -> None:
    path, names = filled
    store = SqliteStore(path)
    reduction, undo = note(store.get(names[7]))
    store.record([reduction], [undo])
    store.close()
    with closing(sqlite3.connect(path)) as link, link:
        link.execute("DELETE FROM objects WHERE digest = ?", (bytes.fromhex(reduction.original),))
        link.execute("DELETE FROM names WHERE name = ?", (names[3],))
    link.close()
    kinds = ("by a name", "reduction", "undo")
    faults = verify(store).faults
    assert [next(kind for kind in kinds if kind in fault) for fault in faults] == list(kinds)
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE reductions SET end_char = 2",
        "UPDATE reductions SET original = (SELECT digest FROM objects WHERE size_bytes = 7)",
        "UPDATE reductions SET end_char = 'x'",
        "UPDATE undos SET recipe = CAST(replace(CAST(recipe AS TEXT), '1', '2') AS BLOB)",
        "UPDATE undos SET recipe = 7",
        "UPDATE undos SET seal = zeroblob(32)",
    ],
)
def test_a_note_that_was_changed_in_the_file_is_not_believed(filled: tuple[Path, list[str]], change: str) -> None:
    path, names = filled
    store = SqliteStore(path)
    reduction, undo = note(store.get(names[7]))
    store.record([reduction], [undo])
    store.close()
    with closing(sqlite3.connect(path)) as link, link:
        link.execute(change)
    link.close()
    with pytest.raises(Corrupt, match="damaged"):
        if "reductions" in change:
            store.reduction_of(reduction.reduced, reduction.holder)
        else:
            store.undo_of(undo.changed)
    assert verify(store).faults
    store.close()


def test_a_name_that_leads_to_other_bytes_is_not_believed(filled: tuple[Path, list[str]]) -> None:
    path, names = filled
    with closing(sqlite3.connect(path)) as link, link:
        link.execute("UPDATE names SET digest = (SELECT digest FROM names LIMIT 1)")
    link.close()
    store = SqliteStore(path)
    wrong = 0
    for number, name in enumerate(names):
        try:
            assert store.get(name) == f"line {number}\n".encode() * number
        except Corrupt:
            wrong += 1
    assert wrong == len(names) - 1
    assert verify(store).faults
    store.close()


def test_a_store_that_is_locked_for_too_long_says_so(
    filled: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from reefknot.store import sqlite_file

    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    path, names = filled
    link = sqlite3.connect(path, isolation_level=None)
    link.execute("BEGIN IMMEDIATE")
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="another process has held it"):
        store.put_many([Original(data=b"x")])
    assert store.get(names[0]) == b""
    link.execute("ROLLBACK")
    store.put_many([Original(data=b"x")])
    store.close()
    link.close()


def test_a_folder_in_place_of_the_file_is_said(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    for use in (lambda: store.get("deadbeef"), lambda: store.put_many([Original(data=b"x")])):
        with pytest.raises(StoreError, match=r"cannot be (opened|made)"):
            use()
    assert verify(store).faults


def test_a_file_in_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    store = SqliteStore(tmp_path / "f" / "s.sqlite3")
    with pytest.raises(StoreError, match="cannot be made"):
        store.put_many([Original(data=b"x")])
    with pytest.raises(NotStored):
        store.get("deadbeef")


@contextmanager
def without_rights(folder: Path) -> Iterator[list[str]]:
    """A folder that nobody can write, and the lines that make a Python process somebody without special rights."""
    for place in folder.rglob("*"):
        place.chmod(0o555 if place.is_dir() else 0o444)
    folder.chmod(0o555)
    try:
        yield ["if os.geteuid() == 0:", "    os.setgid(65534)", "    os.setuid(65534)"]
    finally:
        folder.chmod(0o700)


def test_a_store_without_write_access_can_be_read_and_says_that_it_cannot_be_written() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store = SqliteStore(folder / "s.sqlite3", lambda: 0.0)
        name = store.put_many([Original(data=b"whole")])[0].name
        store.close()
        with without_rights(folder) as lines:
            script = [
                "import os, sys",
                "from reefknot.errors import StoreError",
                "from reefknot.store.base import Original",
                "from reefknot.store.sqlite import SqliteStore",
                "from reefknot.store.upkeep import verify",
                *lines,
                f"store = SqliteStore({str(folder / 's.sqlite3')!r})",
                f"assert store.get({name!r}) == b'whole'",
                "assert verify(store).faults == ()",
                "try:",
                "    store.put_many([Original(data=b'x')])",
                "except StoreError as error:",
                "    print(error)",
                "store.close()",
                "sys.stdout.flush()",
                "os._exit(0)",  # nobody may not write what a tool that measures this process writes at its end
            ]
            command = [sys.executable, "-c", "\n".join(script)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
            assert "Permission denied" in done.stdout
        assert sorted(part.name for part in folder.iterdir()) == ["s.sqlite3"]
