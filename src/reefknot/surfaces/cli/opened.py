"""The store that a command works with, as the settings say."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from reefknot.model.settings import Settings
from reefknot.policy.settings import load_settings
from reefknot.store.contents import ListedStore
from reefknot.store.opening import open_store

__all__ = ["opened_store"]


@contextmanager
def opened_store() -> Generator[tuple[ListedStore, Settings]]:
    """The user's store and settings; the store is closed afterwards."""
    settings = load_settings(os.environ, Path.cwd()).settings
    store = open_store(settings.store or None, os.environ)
    try:
        yield store, settings
    finally:
        store.close()
