"""What every store promises, on each kind of store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from reefknot.errors import NotStored, StoreError
from reefknot.store.base import Origin, Original, Reduction, Undo
from reefknot.store.contents import ListedStore
from reefknot.store.digest import digest_bytes
from reefknot.store.memory import MemoryStore
from reefknot.store.sqlite import SqliteStore
from reefknot.store.upkeep import purge, verify

TWINS = b"95303", b"69235"  # their digests begin with the same 8 characters: c11eb5e6b0, c11eb5e648
NOON = 1_767_268_800.0  # 2026-01-01 12:00 UTC


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ListedStore]:
    kind = str(request.param)
    opened = MemoryStore(lambda: NOON) if kind == "memory" else SqliteStore(tmp_path / "s.sqlite3", lambda: NOON)
    yield opened
    opened.close()


def put(store: ListedStore, data: bytes, **origin: str) -> str:
    return store.put_many([Original(data=data, origin=Origin(**origin))])[0].name


def test_what_is_put_comes_back(store: ListedStore) -> None:
    values = [
        b"",
        b"\x00",
        b"plain",
        b"a" * 100_000,
        bytes(range(256)) * 50,
        "Höhe\ud83d".encode("utf-8", "surrogatepass"),
    ]
    references = store.put_many([Original(data=value) for value in values])
    assert [store.get(reference.name) for reference in references] == values
    assert [store.get(reference.digest) for reference in references] == values
    assert [reference.size_bytes for reference in references] == [len(value) for value in values]


def test_the_same_bytes_are_kept_once(store: ListedStore) -> None:
    first = store.put_many([Original(data=b"same"), Original(data=b"same")])
    again = store.put_many([Original(data=b"same", masked_secrets=2)])
    assert first[0] == first[1]
    assert again[0].name == first[0].name
    assert len(store.entries()) == 1
    assert store.find(first[0].name) == again[0]
    assert again[0].masked_secrets == 2


def test_putting_nothing_gives_nothing(store: ListedStore) -> None:
    assert store.put_many([]) == []


def test_a_name_has_eight_characters_and_grows_until_it_is_unique(store: ListedStore) -> None:
    first, second = (put(store, data) for data in TWINS)
    assert (first, second) == ("c11eb5e6", "c11eb5e64")
    assert (store.get(first), store.get(second)) == TWINS
    assert store.get("c11eb5e6b") == TWINS[0]
    assert store.get(digest_bytes(TWINS[1])[:20]) == TWINS[1]


def test_a_name_is_never_given_to_other_bytes(store: ListedStore) -> None:
    first = put(store, TWINS[0])
    purge(store, first, now=NOON)
    assert put(store, TWINS[1]) == "c11eb5e64"
    with pytest.raises(NotStored, match="removed"):
        store.get(first)
    assert put(store, TWINS[0]) == first
    assert store.get(first) == TWINS[0]


def test_find_takes_a_name_a_longer_prefix_and_a_digest(store: ListedStore) -> None:
    digest = digest_bytes(b"whole")
    name = put(store, b"whole")
    found = [store.find(text) for text in (name, digest[:13], digest)]
    assert [reference.digest if reference else None for reference in found] == [digest] * 3
    assert [store.find(text) for text in (digest[:7], name.upper(), "", "zz", digest[:8] + "_", digest + "0")] == [
        None
    ] * 6


def test_a_miss_says_that_it_was_never_here(store: ListedStore) -> None:
    with pytest.raises(NotStored, match=r"'deadbeef' was never stored in '.+'"):
        store.get("deadbeef")


def test_a_miss_says_when_and_why_it_was_removed(store: ListedStore) -> None:
    name = put(store, b"whole")
    purge(store, name, now=NOON)
    for reference in (name, digest_bytes(b"whole")):
        with pytest.raises(NotStored, match=rf"'{reference}' was removed from '.+' on 2026-01-01 12:00 UTC \(purge\)"):
            store.get(reference)
    assert store.find(name) is None


@pytest.mark.parametrize("reference", ["", "abc", "DEADBEEF", "../../etc", "deadbeef%", "a" * 65, "\udcff" * 8])
def test_what_is_no_reference_is_a_clear_miss(store: ListedStore, reference: str) -> None:
    with pytest.raises(NotStored, match="is no reference"):
        store.get(reference)


def test_a_reduction_is_found_by_its_digest_and_holder_alone(store: ListedStore) -> None:
    put(store, b"whole")
    note = Reduction(reduced=digest_bytes(b"w"), holder="call/0", original=digest_bytes(b"whole"), start=0, end=5)
    assert store.reduction_of(note.reduced, "call/0") is None
    store.record([note], [], session="s")
    assert store.reduction_of(note.reduced, "call/0") == note
    assert store.reduction_of(note.reduced, "call/1") is None
    assert list(store.reductions()) == [note]


def test_an_undo_is_found_by_the_digest_of_the_changed_record(store: ListedStore) -> None:
    undo = Undo(changed=digest_bytes(b"changed"), recipe=b"\x00 any bytes")
    assert store.undo_of(undo.changed) is None
    store.record([], [undo])
    assert store.undo_of(undo.changed) == undo
    assert list(store.undos()) == [undo]


def test_the_newest_note_of_a_text_counts(store: ListedStore) -> None:
    put(store, b"one")
    put(store, b"two")
    notes = [
        Reduction(reduced=digest_bytes(b"x"), holder="h", original=digest_bytes(data), start=0, end=3)
        for data in (b"one", b"two")
    ]
    store.record(notes[:1], [Undo(changed=digest_bytes(b"c"), recipe=b"1")])
    store.record(notes[1:], [Undo(changed=digest_bytes(b"c"), recipe=b"2")])
    assert store.reduction_of(digest_bytes(b"x"), "h") == notes[1]
    assert list(store.undos()) == [Undo(changed=digest_bytes(b"c"), recipe=b"2")]


def test_a_note_about_what_is_not_here_is_refused_and_nothing_of_its_batch_stays(store: ListedStore) -> None:
    put(store, b"here")
    good = Reduction(reduced=digest_bytes(b"x"), holder="h", original=digest_bytes(b"here"), start=0, end=1)
    recipe = b'[{"start": 0, "end": 1, "raw": "' + digest_bytes(b"absent").encode() + b'"}]'
    with pytest.raises(StoreError, match="not in"):
        store.record([good], [Undo(changed=digest_bytes(b"c"), recipe=recipe)])
    assert list(store.reductions()) == []
    assert list(store.undos()) == []


def test_names_from_outside_may_hold_any_text(store: ListedStore) -> None:
    strange = Origin(session="\udcff/\x00", project="…\ud83d", tool="'; DROP TABLE objects; --", call_id="\n")
    store.put_many([Original(data=b"x", origin=strange)])
    note = Reduction(reduced=digest_bytes(b"r"), holder="\x00\udc80", original=digest_bytes(b"x"), start=0, end=1)
    store.record([note], [], session="\udcff")
    assert [origin.origin for origin in store.origins()] == [strange]
    assert store.reduction_of(note.reduced, note.holder) == note


@given(values=st.lists(st.binary(max_size=5000), max_size=12))
@settings(max_examples=15)
def test_any_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, values: list[bytes]) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("store") / "s.sqlite3")
    references = store.put_many([Original(data=value) for value in values])
    store.close()
    again = SqliteStore(store.location)
    assert [again.get(reference.name) for reference in references] == values
    assert len(again.entries()) == len(set(values))
    again.close()


class SqliteBehavesAsADict(RuleBasedStateMachine):
    """Puts, gets, purges and reopenings in any order: a SQLite store and a memory store agree with a plain dict."""

    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.sqlite = SqliteStore(Path(self.folder.name) / "s.sqlite3", lambda: NOON)
        self.memory = MemoryStore(lambda: NOON)
        self.held: dict[str, bytes] = {}

    @rule(
        target=names,
        data=st.one_of(st.sampled_from([*TWINS, b"", b"x" * 9000]), st.binary(max_size=50)),
        session=st.sampled_from(["", "a", "b"]),
    )
    def put(self, data: bytes, session: str) -> str:
        original = Original(data=data, origin=Origin(session=session))
        ours, theirs = (store.put_many([original])[0] for store in (self.sqlite, self.memory))
        assert ours == theirs
        self.held[ours.name] = data
        return ours.name

    @rule(name=names)
    def get(self, name: str) -> None:
        for store in (self.sqlite, self.memory):
            if name in self.held:
                assert store.get(name) == self.held[name]
            else:
                with pytest.raises(NotStored, match="removed"):
                    store.get(name)

    @rule(name=names)
    def purge_reference(self, name: str) -> None:
        for store in (self.sqlite, self.memory):
            if name in self.held:
                assert purge(store, name, now=NOON).names == (name,)
            else:
                with pytest.raises(NotStored):
                    purge(store, name, now=NOON)
        self.held.pop(name, None)

    @rule(session=st.sampled_from(["a", "b"]))
    def purge_session(self, session: str) -> None:
        ours, theirs = (purge(store, session=session, now=NOON) for store in (self.sqlite, self.memory))
        assert (sorted(ours.names), ours.kept_elsewhere) == (sorted(theirs.names), theirs.kept_elsewhere)
        for name in ours.names:
            del self.held[name]

    @rule()
    def reopen(self) -> None:
        self.sqlite.close()

    @invariant()
    def agrees(self) -> None:
        assert {entry.name for entry in self.sqlite.entries()} == set(self.held)
        assert verify(self.sqlite).faults == verify(self.memory).faults == ()

    def teardown(self) -> None:
        self.sqlite.close()
        self.folder.cleanup()


TestSqliteBehavesAsADict = SqliteBehavesAsADict.TestCase
TestSqliteBehavesAsADict.settings = settings(max_examples=15, stateful_step_count=15)
TestSqliteBehavesAsADict = pytest.mark.slow(TestSqliteBehavesAsADict)
