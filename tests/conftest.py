"""What all tests share: an empty home, no settings from outside, and the folder with shared data."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("reefknot", deadline=None)  # a loaded machine is no failure
settings.load_profile("reefknot")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for each test; nothing of the person who runs it is read or written."""
    for name in [name for name in os.environ if name.startswith("REEFKNOT_") and name != "REEFKNOT_SHARED"]:
        monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    for name, place in (
        ("DATA", ".local/share"),
        ("CACHE", ".cache"),
        ("CONFIG", ".config"),
        ("STATE", ".local/state"),
    ):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / place))
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with shared data; a test that asks for it is skipped where there is none."""
    folder = os.environ.get("REEFKNOT_SHARED")
    if not folder:
        pytest.skip("REEFKNOT_SHARED is not set")
    return Path(folder)
