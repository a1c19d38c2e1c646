"""Plain copies: safe names, private files, nothing overwritten, expiry."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.errors import StoreError
from reefknot.store.copies import expire_copies, outputs_folder, safe_name, write_copy

DAY = 86_400


@pytest.mark.parametrize("name", ["toolu_01AbC", "call.1-x", "a" * 200])
def test_a_usual_name_stays(name: str) -> None:
    assert safe_name(name) == name


@given(st.text(max_size=300))
def test_any_name_is_safe(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= 200
    assert not safe.startswith(".")
    assert all(char.isascii() and (char.isalnum() or char in "_.-") for char in safe)


@given(st.lists(st.text(alphabet="a/.\0é_", max_size=4), unique=True, max_size=20))
def test_names_that_differ_stay_different(names: list[str]) -> None:
    assert len({safe_name(name) for name in names}) == len(names)


def test_long_names_stay_different() -> None:
    assert safe_name("a" * 201) != safe_name("a" * 202)


@pytest.mark.parametrize("call_id", ["../../../etc/passwd", "..", ".", "", "/abs", "a\\b", "nul\0", "a:b*?", "\udcff"])
def test_a_copy_never_leaves_its_folder(tmp_path: Path, call_id: str) -> None:
    path = write_copy(tmp_path / "outputs", call_id, call_id, "text")
    assert path.resolve().parent.parent == (tmp_path / "outputs").resolve()
    assert [entry.name for entry in tmp_path.iterdir()] == ["outputs"]
    assert path.read_bytes() == b"text"


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_copies_and_folders_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        path = write_copy(tmp_path / "a" / "outputs", "s", "c", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in list(path.parents)[:3]} == {0o700}


def test_a_copy_has_the_path_of_its_session_and_call(tmp_path: Path) -> None:
    path = write_copy(tmp_path, "session-1", "toolu_01", "Höhe\udcff\r\n")
    assert path == tmp_path / "session-1" / "toolu_01.txt"
    assert path.read_bytes() == "Höhe".encode() + b"\xff\r\n"


def test_another_text_of_the_same_call_gets_a_file_of_its_own(tmp_path: Path) -> None:
    paths = [write_copy(tmp_path, "s", "c", text) for text in ("one", "two", "one", "two")]
    assert paths[0] == paths[2] != paths[1] == paths[3]
    assert [path.read_text() for path in paths[:2]] == ["one", "two"]
    assert len(list((tmp_path / "s").iterdir())) == 2


def test_a_link_that_stands_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "c.txt").symlink_to(tmp_path / "victim")
    path = write_copy(tmp_path, "s", "c", "text")
    assert path.read_text() == "text"
    assert not (tmp_path / "victim").exists()


def test_old_copies_expire_and_empty_folders_go(tmp_path: Path) -> None:
    old, young, other = (write_copy(tmp_path, *place, "x") for place in (("a", "1"), ("b", "2"), ("b", "3")))
    for path, days in ((old, 31), (young, 29), (other, 31)):
        os.utime(path, (0, 1000 * DAY - days * DAY))
    (tmp_path / "b" / "notes.md").write_text("not ours")
    os.utime(tmp_path / "b" / "notes.md", (0, 0))
    assert expire_copies(tmp_path, days=30, now=1000 * DAY) == 2
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["b", "b/2.txt", "b/notes.md"]
    assert expire_copies(tmp_path, days=30, now=1000 * DAY) == 0


def test_writing_a_copy_again_makes_it_young(tmp_path: Path) -> None:
    path = write_copy(tmp_path, "s", "c", "x")
    os.utime(path, (0, 0))
    write_copy(tmp_path, "s", "c", "x")
    assert path.stat().st_mtime > DAY


def test_expiry_follows_no_link_and_minds_no_absent_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep.txt").write_text("x")
    os.utime(outside / "keep.txt", (0, 0))
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "s").symlink_to(outside)
    assert expire_copies(tmp_path / "outputs", days=1, now=1e9) == 0
    assert expire_copies(tmp_path / "absent", days=1, now=1e9) == 0
    assert (outside / "keep.txt").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        write_copy(tmp_path, "s", "c", "x")


def test_copies_are_in_the_cache_of_the_user() -> None:
    assert outputs_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/reefknot/outputs")
    assert outputs_folder({"XDG_CACHE_HOME": "c", "HOME": "/home/ann"}) == Path("/home/ann/.cache/reefknot/outputs")
