"""Files that are there whole or not at all."""

from pathlib import Path

import pytest

from reefknot.store.private_files import writing_whole


def test_a_file_whose_writing_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), writing_whole(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("f", b"before")]


def test_a_file_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    with writing_whole(tmp_path / "f") as file:
        file.write(b"whole")
        assert not (tmp_path / "f").exists()
    assert (tmp_path / "f").read_bytes() == b"whole"
