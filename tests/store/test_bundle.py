"""Originals move to another store in one file, whole or not at all."""

import json
import stat
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reefknot.errors import Corrupt, FormatError, StoreError
from reefknot.model import zstd
from reefknot.store.base import Origin, Original, Reduction, Undo
from reefknot.store.bundle import export, import_bundle
from reefknot.store.contents import ListedStore
from reefknot.store.digest import digest_bytes
from reefknot.store.memory import MemoryStore
from reefknot.store.sqlite import SqliteStore
from reefknot.store.upkeep import purge, verify

TWINS = b"95303", b"69235"  # their digests begin with the same 8 characters: c11eb5e6b0, c11eb5e648


def recipe(*data: bytes) -> bytes:
    return json.dumps([{"start": 0, "end": 1, "raw": digest_bytes(item)} for item in data]).encode()


def reduction(original: bytes) -> Reduction:
    return Reduction(
        reduced=digest_bytes(original + b"!"), holder="h\udcff", original=digest_bytes(original), start=0, end=2
    )


@pytest.fixture
def store() -> MemoryStore:
    """Three originals; an undo that needs the first two, and one that needs the third; two reductions."""
    store = MemoryStore()
    store.put_many(
        [
            Original(data=b"one\n", origin=Origin(session="a\udcff", tool="t"), masked_secrets=1),
            Original(data=b"", origin=Origin(session="a")),
            Original(data=bytes(range(256)) * 100, origin=Origin(session="b", project="p", call_id="c")),
        ]
    )
    undos = [
        Undo(changed=digest_bytes(b"12"), recipe=recipe(b"one\n", b"")),
        Undo(changed=digest_bytes(b"3"), recipe=recipe(bytes(range(256)) * 100)),
    ]
    store.record([reduction(b"one\n"), reduction(b"")], undos)
    return store


def contents(store: ListedStore) -> tuple[object, ...]:
    return (
        {(entry.digest, entry.name, entry.masked_secrets) for entry in store.entries()},
        {(note.digest, note.origin) for note in store.origins()},
        {reduction.holder + reduction.reduced: reduction for reduction in store.reductions()},
        {undo.changed: undo for undo in store.undos()},
    )


def test_all_that_a_store_holds_moves_to_another(store: MemoryStore, tmp_path: Path) -> None:
    path = tmp_path / "b.bundle"
    written = export(store, path)
    assert (written.objects, written.reductions, written.undos, written.missing) == (3, 2, 2, ())
    assert written.size_bytes == path.stat().st_size
    other = SqliteStore(tmp_path / "other" / "s.sqlite3")
    loaded = import_bundle(other, path)
    assert (loaded.objects, loaded.reductions, loaded.undos, loaded.renamed) == (3, 2, 2, ())
    assert contents(other) == contents(store)
    assert verify(other).is_sound
    import_bundle(other, path)
    assert contents(other) == contents(store)
    other.close()


def test_a_bundle_is_private_and_replaces_a_file_whole(store: MemoryStore, tmp_path: Path) -> None:
    path = tmp_path / "b.bundle"
    path.write_text("old")
    export(store, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["b.bundle"]


def test_one_original_takes_its_reductions_and_no_undo_that_needs_more(store: MemoryStore, tmp_path: Path) -> None:
    written = export(store, tmp_path / "b", [digest_bytes(b"one\n")[:8], "deadbeef", "deadbeef"])
    assert (written.objects, written.reductions, written.undos, written.missing) == (1, 1, 0, ("deadbeef",))


def test_an_undo_takes_all_that_it_needs(store: MemoryStore, tmp_path: Path) -> None:
    written = export(store, tmp_path / "b", [digest_bytes(b"12")])
    assert (written.objects, written.reductions, written.undos, written.missing) == (2, 2, 1, ())
    other = MemoryStore()
    import_bundle(other, tmp_path / "b")
    assert {other.get(entry.name) for entry in other.entries()} == {b"one\n", b""}
    assert other.undo_of(digest_bytes(b"12")) == store.undo_of(digest_bytes(b"12"))
    assert verify(other).is_sound


def test_originals_take_the_undos_that_need_nothing_else(store: MemoryStore, tmp_path: Path) -> None:
    written = export(store, tmp_path / "b", [digest_bytes(b"one\n"), digest_bytes(b"")])
    assert (written.objects, written.undos) == (2, 1)


def test_an_empty_choice_is_an_empty_bundle(store: MemoryStore, tmp_path: Path) -> None:
    export(store, tmp_path / "b", [])
    other = MemoryStore()
    assert import_bundle(other, tmp_path / "b").objects == 0


def test_names_are_kept_and_a_name_that_is_taken_is_told(tmp_path: Path) -> None:
    first, second = MemoryStore(), SqliteStore(tmp_path / "s.sqlite3")
    first.put_many([Original(data=TWINS[0])])
    second.put_many([Original(data=TWINS[1])])
    export(first, tmp_path / "b")
    assert import_bundle(second, tmp_path / "b").renamed == (("c11eb5e6", "c11eb5e6b"),)
    assert (second.get("c11eb5e6"), second.get("c11eb5e6b")) == (TWINS[1], TWINS[0])
    second.close()


def test_a_longer_name_stays_good_where_it_would_have_been_shorter(tmp_path: Path) -> None:
    first, second = MemoryStore(), SqliteStore(tmp_path / "s.sqlite3")
    first.put_many([Original(data=data) for data in TWINS])
    export(first, tmp_path / "b", ["c11eb5e64"])
    import_bundle(second, tmp_path / "b")
    assert second.get("c11eb5e64") == TWINS[1]
    assert second.put_many([Original(data=TWINS[0])])[0].name == "c11eb5e6"
    assert second.get("c11eb5e64") == TWINS[1]
    second.close()


def test_what_a_store_knows_itself_is_not_overwritten(store: MemoryStore, tmp_path: Path) -> None:
    path = tmp_path / "b"
    export(store, path)
    for other in (MemoryStore(), SqliteStore(tmp_path / "s.sqlite3")):
        other.put_many([Original(data=b"mine")])
        known = Reduction(reduced=digest_bytes(b"!"), holder="h\udcff", original=digest_bytes(b"mine"), start=0, end=1)
        undo = Undo(changed=digest_bytes(b"3"), recipe=recipe(b"mine"))
        other.record([known], [undo])
        import_bundle(other, path)
        assert other.reduction_of(known.reduced, known.holder) == known
        assert other.undo_of(undo.changed) == undo
        assert verify(other).is_sound
        other.close()


def test_an_import_brings_back_what_was_removed_or_damaged(store: MemoryStore, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "b"
    export(store, path)
    other = SqliteStore(tmp_path / "s.sqlite3")
    import_bundle(other, path)
    purge(other, digest_bytes(b""), now=0.0)
    other.close()
    with closing(sqlite3.connect(other.location)) as link, link:
        link.execute("UPDATE objects SET data = zeroblob(3)")
    link.close()
    import_bundle(other, path)
    assert contents(other) == contents(store)
    assert verify(other).is_sound
    other.close()


def test_damage_in_the_store_leaves_no_bundle(store: MemoryStore, tmp_path: Path) -> None:
    store._held.data[digest_bytes(b"one\n")] = b"other"
    with pytest.raises(Corrupt):
        export(store, tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_said(store: MemoryStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        export(store, tmp_path / "absent" / "b")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        export(store, tmp_path / "folder")
    with pytest.raises(StoreError, match="cannot be read"):
        import_bundle(store, tmp_path / "absent")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def packed(*pieces: bytes) -> bytes:
    return zstd.compress(b"".join(pieces))


def unpacked(path: Path) -> bytes:
    return zstd.decompress(path.read_bytes())


HEAD = b'{"reefknot_bundle":1}\n'
OBJECT = {"object": digest_bytes(b"x"), "name": digest_bytes(b"x")[:8], "bytes": 1, "masked_secrets": 0, "origins": []}


def with_object(**fields: object) -> bytes:
    return packed(HEAD, json.dumps(OBJECT | fields).encode(), b"\nx\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no zstd at all",
        packed(b""),
        packed(b"{}\n"),
        packed(b'{"reefknot_bundle":2}\n'),
        packed(b"[" * 100_000 + b"\n"),
        packed(HEAD),
        packed(HEAD, b"nonsense\n"),
        packed(HEAD, b"[]\n"),
        packed(HEAD, b'{"end":{"objects":0,"reductions":0,"undos":0},"sha256":"00"}\n'),
        packed(HEAD, b'{"what":1}\n'),
        with_object(),
        with_object(object=digest_bytes(b"y")),
        with_object(object=7),
        with_object(name="deadbeef"),
        with_object(name="../../x"),
        with_object(name=None),
        with_object(bytes=2),
        with_object(bytes=-1),
        with_object(bytes=True),
        with_object(bytes=10**18),
        with_object(bytes="1"),
        with_object(masked_secrets=-1),
        with_object(origins=None),
        with_object(origins=[7]),
        with_object(origins=[{"session": 1}]),
        with_object(origins=[{"other": "x"}]),
        packed(HEAD, b'{"reduction":7}\n'),
        packed(HEAD, b'{"reduction":{"reduced":"x","holder":"h","original":"y","start":0,"end":1}}\n'),
        packed(HEAD, b'{"reduction":{"holder":"h","start":0,"end":-1}}\n'),
        packed(HEAD, b'{"undo":"x","bytes":1}\nx\n'),
        packed(HEAD, b'{"undo":"' + b"a" * 64 + b'"}\nx\n'),
    ],
)
def test_a_hostile_bundle_is_refused_and_nothing_is_imported(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "b"
    path.write_bytes(data)
    store = SqliteStore(tmp_path / "s.sqlite3")
    store.put_many([Original(data=b"mine")])
    before = contents(store)
    with pytest.raises(FormatError, match="nothing was imported"):
        import_bundle(store, path)
    assert contents(store) == before
    store.close()


def test_a_note_that_needs_what_is_nowhere_is_refused(tmp_path: Path) -> None:
    undo = recipe(b"nowhere")
    body = HEAD + json.dumps({"undo": "a" * 64, "bytes": len(undo)}).encode() + b"\n" + undo + b"\n"
    import hashlib

    end = {"end": {"objects": 0, "reductions": 0, "undos": 1}, "sha256": hashlib.sha256(body).hexdigest()}
    (tmp_path / "b").write_bytes(packed(body, json.dumps(end).encode(), b"\n"))
    for store in (MemoryStore(), SqliteStore(tmp_path / "s.sqlite3")):
        with pytest.raises(StoreError, match="not in"):
            import_bundle(store, tmp_path / "b")
        assert list(store.undos()) == []
        store.close()


@given(data=st.data())
@settings(max_examples=60)
def test_no_cut_and_no_changed_byte_is_believed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("bundle")
    source = MemoryStore()
    source.put_many([Original(data=b"one\n" * 20), Original(data=b"two")])
    source.record([reduction(b"two")], [Undo(changed=digest_bytes(b"c"), recipe=recipe(b"two"))])
    export(source, folder / "whole")
    whole = unpacked(folder / "whole")
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] if data.draw(st.booleans()) else whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    (folder / "b").write_bytes(packed(changed))
    store = MemoryStore()
    with pytest.raises((FormatError, StoreError), match=r"nothing was imported|not in"):
        import_bundle(store, folder / "b")
    assert contents(store) == (set(), set(), {}, {})
    raw = (folder / "whole").read_bytes()
    (folder / "b").write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    with pytest.raises(FormatError, match="nothing was imported"):
        import_bundle(store, folder / "b")


def test_what_follows_the_last_line_is_refused(store: MemoryStore, tmp_path: Path) -> None:
    export(store, tmp_path / "whole")
    (tmp_path / "b").write_bytes(packed(unpacked(tmp_path / "whole"), b"more"))
    with pytest.raises(FormatError, match="follows its last line"):
        import_bundle(MemoryStore(), tmp_path / "b")
