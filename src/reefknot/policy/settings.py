"""Loading of settings: from defaults, the user's file, the project's file, the environment and arguments.

A later source wins. Every value is checked where it comes in, so that an error names its source. What a
setting is (type, unit, limits) stands in `reefknot.model.settings`; nothing here knows a setting by name.
"""

import difflib
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from reefknot.errors import ConfigError
from reefknot.model.folders import xdg_folder
from reefknot.model.settings import Settings

__all__ = ["FIELDS", "PREFIX", "PROJECT_FILE", "Loaded", "allowed", "load_settings", "nearest", "user_file"]

PREFIX = "REEFKNOT_"
PROJECT_FILE = "reefknot.toml"
FIELDS: Mapping[str, "Field[Any]"] = {field.name: field for field in fields(Settings)}

_NO_SETTINGS = frozenset({"REEFKNOT_HOME", "REEFKNOT_DEBUG"})  # read elsewhere
_HINTS = get_type_hints(Settings)
_WORDS_FOR: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_TRUTHS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings, and where each came from.

    `sources`: setting -> "default", "file PATH", "variable NAME" or "argument", for every setting.
    `ignored`: variables that begin like ours and are no settings, in order.
    """

    settings: Settings
    sources: Mapping[str, str]
    ignored: tuple[str, ...] = ()


def load_settings(environ: Mapping[str, str], cwd: Path, overrides: Mapping[str, object] | None = None) -> Loaded:
    """The settings in force in a folder, and where each came from.

    Order: defaults, `$XDG_CONFIG_HOME/reefknot/config.toml`, `reefknot.toml` in `cwd` or its nearest parent
    up to the root of the repository, `REEFKNOT_<SETTING>` variables (an empty one counts as not set), then
    `overrides`, in which None counts as not given.

    Raises:
        ConfigError: a file cannot be read, a setting is unknown, a value is not allowed, or a project's file
            sets what only a person may set.

    >>> loaded = load_settings({"REEFKNOT_PRESERVE_RECENT": "4"}, Path("/"))
    >>> loaded.settings.preserve_recent, loaded.sources["preserve_recent"]
    (4, 'variable REEFKNOT_PRESERVE_RECENT')
    """
    values: dict[str, Any] = {}
    sources = dict.fromkeys(FIELDS, "default")

    def take(given: Mapping[str, Any], source: Callable[[str], str]) -> None:
        values.update(given)
        sources.update({key: source(key) for key in given})

    personal = user_file(environ)
    take(_read_file(personal), lambda _: f"file {personal}")
    if project := _find_project_file(cwd):
        take(_read_file(project, is_project=True), lambda _: f"file {project}")
    take(_read_environ(environ), lambda key: f"variable {_variable(key)}")
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    take({key: _checked(key, value, "the arguments") for key, value in given.items()}, lambda _: "argument")
    return Loaded(settings=replace(Settings(), **values), sources=sources, ignored=_ignored(environ))


def user_file(environ: Mapping[str, str]) -> Path:
    """Where a person's own settings stand.

    >>> str(user_file({"HOME": "/home/kim"}))
    '/home/kim/.config/reefknot/config.toml'
    """
    return xdg_folder(environ, "XDG_CONFIG_HOME", ".config") / "reefknot" / "config.toml"


def allowed(key: str) -> str:
    """What a setting may be, in words.

    >>> allowed("preserve_recent"), allowed("counter")
    ('a whole number, at least 0', "'o200k' or 'estimate'")
    """
    metadata = FIELDS[key].metadata
    if choices := metadata["choices"]:
        return " or ".join(repr(choice) for choice in choices)
    words = _WORDS_FOR.get(_kind(key), "a list of texts")
    low, high = metadata["minimum"], metadata["maximum"]
    match low is None, high is None:
        case True, True:
            return words
        case False, True:
            return f"{words}, at least {low}"
        case True, False:
            return f"{words}, at most {high}"
        case _:
            return f"{words}, {low} to {high}"


def nearest(name: str) -> str | None:
    """The setting whose name is most like a name; None when none is.

    >>> nearest("trigger_token"), nearest("zzz")
    ('trigger_tokens', None)
    """
    return next(iter(difflib.get_close_matches(name.lower().replace("-", "_"), FIELDS, n=1)), None)


def _kind(key: str) -> Any:
    """bool, int, float, str or a tuple of str, whether or not the setting may also be unset."""
    hint = _HINTS[key]
    return get_args(hint)[0] if type(None) in get_args(hint) else hint


def _variable(key: str) -> str:
    return PREFIX + key.upper()


def _find_project_file(cwd: Path) -> Path | None:
    """The nearest `reefknot.toml`, from `cwd` up to the root of its repository, or of the disk."""
    for folder in (cwd, *cwd.parents):
        if (path := folder / PROJECT_FILE).is_file():
            return path
        if (folder / ".git").exists():
            return None
    return None


def _read_file(path: Path, *, is_project: bool = False) -> dict[str, Any]:
    try:
        given = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        return {}
    except OSError as error:
        raise ConfigError(f"settings file {str(path)!r} cannot be read: {error.strerror}") from None
    except ValueError as error:  # no TOML, or no UTF-8
        raise ConfigError(f"settings file {str(path)!r} is not TOML: {error}") from None
    if is_project and (own := [key for key in given if key in FIELDS and not FIELDS[key].metadata["project"]]):
        raise ConfigError(
            f"setting {own[0]!r} in {str(path)!r}: a project's file cannot set it; "
            f"set it in your own config.toml or as {_variable(own[0])}"
        )
    return {key: _checked(key, value, repr(str(path))) for key, value in given.items()}


def _read_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    given = {key: environ.get(_variable(key), "") for key in FIELDS}
    return {
        key: _checked(key, _from_text(key, text), f"the variable {_variable(key)}", shown=text)
        for key, text in given.items()
        if text
    }


def _from_text(key: str, text: str) -> object:
    """What a variable's text stands for; the text itself where it is not of the setting's type."""
    kind = _kind(key)
    try:
        if kind is bool:
            return _TRUTHS.get(text.strip().lower(), text)
        if kind in (int, float):
            return kind(text)
    except ValueError:
        return text
    if kind is str:
        return text
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _checked(key: str, value: object, where: str, *, shown: object = None) -> Any:
    """A value of the setting's own type, within its limits; `shown` is how its source spells it."""
    if key not in FIELDS:
        guess = nearest(key)
        hint = f"did you mean {guess!r}?" if guess else "'reefknot config show' lists all"
        raise ConfigError(f"unknown setting {key!r} in {where}: {hint}")
    converted = _converted(_kind(key), value)
    if converted is None or not _within(key, converted):
        spelled = value if shown is None else shown
        raise ConfigError(f"setting {key!r} in {where} is {spelled!r}: it must be {allowed(key)}")
    return converted


def _converted(kind: Any, value: object) -> Any:
    """The value as `kind`, where nothing is lost by it; else None."""
    match value:
        case bool():
            return value if kind is bool else None
        case int() if kind in (int, float):
            return kind(value)
        case float() if kind is float and math.isfinite(value):
            return value
        case str() if kind is str:
            return value
        case list() | tuple() if kind not in (bool, int, float, str):
            texts = [item for item in value if isinstance(item, str)]  # pyright: ignore[reportUnknownVariableType]  # any list
            return tuple(texts) if len(texts) == len(value) else None  # pyright: ignore[reportUnknownArgumentType]  # any list
        case _:
            return None


def _within(key: str, value: Any) -> bool:
    metadata = FIELDS[key].metadata
    choices, low, high = metadata["choices"], metadata["minimum"], metadata["maximum"]
    if choices:
        return value in choices
    return (low is None or value >= low) and (high is None or value <= high)


def _ignored(environ: Mapping[str, str]) -> tuple[str, ...]:
    ours = {_variable(key) for key in FIELDS} | _NO_SETTINGS
    return tuple(sorted(name for name in environ if name.startswith(PREFIX) and name not in ours))
