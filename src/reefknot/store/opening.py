"""From the address of a store to the store.

Addresses: `sqlite:///absolute/path`, `memory:`, and none, which is the user's own store.
"""

from collections.abc import Mapping
from pathlib import Path

from reefknot.errors import ConfigError, MissingExtra
from reefknot.model.folders import xdg_folder
from reefknot.store.contents import ListedStore
from reefknot.store.memory import MemoryStore
from reefknot.store.sqlite import SqliteStore

__all__ = ["default_path", "open_store"]

FILE_NAME = "store.sqlite3"


def open_store(url: str | None, environ: Mapping[str, str]) -> ListedStore:
    """The store at an address; the user's own store when there is none (None or empty).

    Nothing is made on disk before something is put.

    Raises:
        ConfigError: the address is of no known form.
        MissingExtra: a kind of store that this version does not have.

    >>> open_store("memory:", {}).location
    'memory:'
    >>> open_store("sqlite:///srv/originals.sqlite3", {}).location
    '/srv/originals.sqlite3'
    """
    if not url:
        return SqliteStore(default_path(environ))
    if url == "memory:":
        return MemoryStore()
    scheme, separator, rest = url.partition("://")
    match scheme:
        case "sqlite" if separator and rest.startswith("/") and rest.strip("/"):
            return SqliteStore(Path("/" + rest.lstrip("/")))
        case "postgresql" | "postgres" | "redis" | "rediss" if separator:
            raise MissingExtra(f"store {scheme!r}: this version has no such store yet; use sqlite:///PATH")
        case _:
            raise ConfigError(f"store {url!r}: expected sqlite:///absolute/path or memory:")


def default_path(environ: Mapping[str, str]) -> Path:
    """Where a user's own store is: under $REEFKNOT_HOME, else $XDG_DATA_HOME/reefknot, else ~/.local/share/reefknot.

    An XDG folder that is empty or relative is ignored, as its specification says.

    >>> str(default_path({"REEFKNOT_HOME": "/srv/knots"}))
    '/srv/knots/store.sqlite3'
    >>> str(default_path({"HOME": "/home/ann", "XDG_DATA_HOME": "x"}))
    '/home/ann/.local/share/reefknot/store.sqlite3'
    """
    if own := environ.get("REEFKNOT_HOME"):
        return Path(own).expanduser().absolute() / FILE_NAME
    return xdg_folder(environ, "XDG_DATA_HOME", ".local/share") / "reefknot" / FILE_NAME
