"""Counting, verifying and removing, on each kind of store."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reefknot.errors import NotStored, UsageError
from reefknot.store.base import Origin, Original, Reduction, Undo
from reefknot.store.contents import ListedStore
from reefknot.store.digest import digest_bytes
from reefknot.store.memory import MemoryStore
from reefknot.store.sqlite import SqliteStore
from reefknot.store.upkeep import Gone, gc, purge, stats, verify

DAY = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Callable[[], float]) -> Iterator[ListedStore]:
    opened = MemoryStore(clock) if request.param == "memory" else SqliteStore(tmp_path / "s.sqlite3", clock)
    yield opened
    opened.close()


def put(store: ListedStore, data: bytes, **origin: str) -> str:
    return store.put_many([Original(data=data, origin=Origin(**origin))])[0].name


def recipe(*steps: dict[str, str]) -> bytes:
    return json.dumps([{"start": 0, "end": 1, **step} for step in steps]).encode()


def note(store: ListedStore, data: bytes, session: str = "") -> None:
    """A reduction and an undo that need an original."""
    digest = digest_bytes(data)
    reduction = Reduction(reduced=digest_bytes(data + b"!"), holder="h", original=digest, start=0, end=1)
    undo = Undo(changed=digest_bytes(data + b"?"), recipe=recipe({"text": digest, "style": "ascii"}))
    store.record([reduction], [undo], session)


def test_stats_count_what_is_here_and_what_went(store: ListedStore, clock: Clock) -> None:
    assert stats(store).oldest is stats(store).newest is None
    clock.now = 5.0
    put(store, b"one" * 1000, session="a", project="p")
    clock.now = 9.0
    store.put_many([Original(data=b"two", origin=Origin(session="b"), masked_secrets=3)])
    note(store, b"two")
    purge(store, put(store, b"three"), now=9.0)
    found = stats(store)
    assert (found.objects, found.size_bytes, found.masked_secrets, found.reductions, found.undos) == (2, 3003, 3, 1, 1)
    assert (found.sessions, found.projects, found.removed, found.oldest, found.newest) == (2, 1, 1, 5.0, 9.0)
    assert 0 < found.stored_bytes <= found.size_bytes
    assert found.location == store.location


def test_a_sound_store_has_no_faults(store: ListedStore) -> None:
    for number in range(5):
        put(store, str(number).encode())
    note(store, b"1")
    found = verify(store)
    assert (found.objects, found.reductions, found.undos, found.faults) == (5, 1, 1, ())
    assert found.is_sound


def test_verify_does_not_count_as_a_use(store: ListedStore, clock: Clock) -> None:
    put(store, b"x")
    clock.now = 10 * DAY
    verify(store)
    assert [entry.used for entry in store.entries()] == [0.0]


def test_without_a_policy_nothing_goes(store: ListedStore) -> None:
    put(store, b"x")
    assert gc(store, now=1e12).names == ()
    assert len(store.entries()) == 1


def test_age_counts_from_the_last_put_or_read(store: ListedStore, clock: Clock) -> None:
    names = [put(store, data) for data in (b"old", b"put again", b"read again")]
    clock.now = 10 * DAY
    put(store, b"put again")
    store.get(names[2])
    clock.now = 20 * DAY
    assert gc(store, now=clock.now, older_than_seconds=15 * DAY).names == (names[0],)
    with pytest.raises(NotStored, match=r"removed .+ 1970-01-21 00:00 UTC \(gc\)"):
        store.get(names[0])
    assert len(store.entries()) == 2


def test_size_takes_the_least_recently_used_first(store: ListedStore, clock: Clock) -> None:
    names: list[str] = []
    for number in range(4):
        clock.now = float(number)
        names.append(put(store, bytes([number]) * 10 + bytes(range(100))))
    stored = [entry.stored_bytes for entry in store.entries()]
    gone = gc(store, now=9.0, max_bytes=sum(stored[2:]))
    assert gone.names == tuple(names[:2])
    assert gone.stored_bytes == sum(stored[:2])
    assert gc(store, now=9.0, max_bytes=sum(stored[2:])).names == ()
    assert len(gc(store, now=9.0, max_bytes=0).names) == 2


def test_a_dry_run_says_the_same_and_removes_nothing(store: ListedStore) -> None:
    name = put(store, b"x", session="s")
    note(store, b"x")
    planned = gc(store, now=DAY, older_than_seconds=1, dry_run=True)
    assert (planned.names, planned.reductions, planned.undos, planned.dry_run) == ((name,), 1, 1, True)
    assert purge(store, session="s", now=DAY, dry_run=True).names == (name,)
    assert purge(store, name, now=DAY, dry_run=True).names == (name,)
    assert store.get(name) == b"x"
    assert len(list(store.undos())) == len(list(store.reductions())) == len(store.origins()) == 1
    done = gc(store, now=DAY, older_than_seconds=1)
    assert (done.names, done.reductions, done.undos) == ((name,), 1, 1)


def test_notes_go_with_the_original_that_they_need(store: ListedStore) -> None:
    name = put(store, b"gone")
    put(store, b"stays")
    note(store, b"gone")
    both = recipe({"raw": digest_bytes(b"stays")}, {"text": digest_bytes(b"gone")})
    other = Undo(changed=digest_bytes(b"other"), recipe=recipe({"raw": digest_bytes(b"stays")}))
    store.record([], [Undo(changed=digest_bytes(b"both"), recipe=both), other])
    gone = purge(store, name, now=0.0)
    assert (gone.names, gone.reductions, gone.undos) == ((name,), 1, 2)
    assert list(store.undos()) == [other]
    assert list(store.reductions()) == []
    assert verify(store).is_sound


def test_a_purged_session_takes_what_it_alone_put(store: ListedStore) -> None:
    own = put(store, b"own", session="a", call_id="1")
    put(store, b"own", session="a", call_id="2")
    shared = put(store, b"shared", session="a")
    put(store, b"shared", session="b")
    unnamed = put(store, b"unnamed", session="a")
    put(store, b"unnamed")
    note(store, b"shared", session="a")
    gone = purge(store, session="a", now=0.0)
    assert (gone.names, gone.kept_elsewhere) == ((own,), 2)
    assert (store.get(shared), store.get(unnamed)) == (b"shared", b"unnamed")
    assert {origin.origin.session for origin in store.origins()} == {"b", ""}
    assert list(store.reductions()) == list(store.undos()) == []
    assert purge(store, session="b", now=0.0).names == (shared,)
    assert purge(store, session="b", now=0.0) == Gone(
        names=(), size_bytes=0, stored_bytes=0, reductions=0, undos=0, kept_elsewhere=0, dry_run=False
    )


def test_a_purged_project_takes_what_it_alone_put(store: ListedStore) -> None:
    own = put(store, b"own", session="a", project="p")
    put(store, b"shared", session="a", project="p")
    put(store, b"shared", session="a", project="q")
    gone = purge(store, project="p", now=0.0)
    assert (gone.names, gone.kept_elsewhere) == ((own,), 1)
    assert {origin.origin.project for origin in store.origins()} == {"q"}


def test_purging_what_is_not_here_says_why(store: ListedStore) -> None:
    with pytest.raises(NotStored, match="never stored"):
        purge(store, "deadbeef", now=0.0)
    name = put(store, b"x")
    purge(store, name, now=0.0)
    with pytest.raises(NotStored, match=r"removed .+ \(purge\)"):
        purge(store, name, now=0.0)


@pytest.mark.parametrize(
    "choice", [{}, {"reference": "deadbeef", "session": "s"}, {"session": "s", "project": "p"}, {"session": ""}]
)
def test_purge_takes_exactly_one_choice(store: ListedStore, choice: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="give one"):
        purge(store, now=0.0, **choice)
