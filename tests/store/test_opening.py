"""Addresses of stores, and where a user's own store is."""

from pathlib import Path

import pytest

from reefknot.errors import ConfigError, MissingExtra
from reefknot.store.memory import MemoryStore
from reefknot.store.opening import default_path, open_store
from reefknot.store.sqlite import SqliteStore


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"REEFKNOT_HOME": "/srv/knots", "XDG_DATA_HOME": "/data"}, "/srv/knots/store.sqlite3"),
        ({"REEFKNOT_HOME": "", "XDG_DATA_HOME": "/data"}, "/data/reefknot/store.sqlite3"),
        ({"HOME": "/home/ann"}, "/home/ann/.local/share/reefknot/store.sqlite3"),
        ({"HOME": "/home/ann", "XDG_DATA_HOME": ""}, "/home/ann/.local/share/reefknot/store.sqlite3"),
        ({"HOME": "/home/ann", "XDG_DATA_HOME": "relative"}, "/home/ann/.local/share/reefknot/store.sqlite3"),
    ],
)
def test_the_own_store_is_where_the_environment_says(environ: dict[str, str], path: str) -> None:
    assert str(default_path(environ)) == path
    assert open_store(None, environ).location == open_store("", environ).location == path


@pytest.mark.parametrize("url", ["sqlite:///srv/a b%20c.sqlite3", "sqlite:////srv/a b%20c.sqlite3"])
def test_a_path_is_taken_as_it_is_written(url: str) -> None:
    store = open_store(url, {})
    assert isinstance(store, SqliteStore)
    assert store.location == "/srv/a b%20c.sqlite3"


def test_memory_is_a_store_of_its_own() -> None:
    assert isinstance(open_store("memory:", {}), MemoryStore)


def test_opening_makes_nothing_on_disk(tmp_path: Path) -> None:
    store = open_store(None, {"REEFKNOT_HOME": str(tmp_path / "new")})
    assert store.find("deadbeef") is None
    assert store.entries() == []
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["postgresql://host/db", "redis://host:6379/0"])
def test_stores_that_this_version_has_not_are_named(url: str) -> None:
    with pytest.raises(MissingExtra, match="this version has no such store yet"):
        open_store(url, {})


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite://relative.db", "/just/a/path", "mysql://x", "memory", "sqlite:x"]
)
def test_any_other_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="expected sqlite:///"):
        open_store(url, {})
