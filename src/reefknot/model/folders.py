"""Where a person's files belong, by the XDG base folder specification."""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["xdg_folder"]


def xdg_folder(environ: Mapping[str, str], variable: str, default: str) -> Path:
    """A base folder, `default` being relative to the home folder; a relative or empty one counts as not set.

    >>> str(xdg_folder({"HOME": "/home/ann", "XDG_DATA_HOME": "x"}, "XDG_DATA_HOME", ".local/share"))
    '/home/ann/.local/share'
    """
    named = environ.get(variable, "")
    if Path(named).is_absolute():
        return Path(named)
    home = environ.get("HOME", "")
    return (Path(home) if Path(home).is_absolute() else Path.home()) / default
