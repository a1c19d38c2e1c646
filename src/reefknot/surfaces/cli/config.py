"""`reefknot config`: which settings are in force, and where each came from."""

import os
from pathlib import Path

import click

from reefknot.errors import ConfigError
from reefknot.policy.settings import FIELDS, PREFIX, Loaded, allowed, load_settings, nearest
from reefknot.surfaces.cli.output import print_json, print_line, say

__all__ = ["config"]


@click.group(no_args_is_help=False)
def config() -> None:
    """Show settings, and where each came from."""


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(as_json: bool) -> None:
    """Show every setting, its value, and where the value came from."""
    loaded = load_settings(os.environ, Path.cwd())
    if as_json:
        rows = {key: {"value": _value(loaded, key), "source": loaded.sources[key]} for key in FIELDS}
        print_json({"settings": rows, "ignored": list(loaded.ignored)})
        return
    width = max(map(len, FIELDS))
    for key in FIELDS:
        print_line(f"{key:{width}}  {_spelled(_value(loaded, key))}  ({loaded.sources[key]})")
    for name in loaded.ignored:
        guess = nearest(name.removeprefix(PREFIX))
        say(f"ignored: {name} is no setting" + (f"; did you mean {PREFIX}{guess.upper()}?" if guess else ""))


@config.command()
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(key: str, as_json: bool) -> None:
    """Explain one setting: what it does, what it may be, what it is and why."""
    if key not in FIELDS:
        guess = nearest(key)
        hint = f"did you mean {guess!r}?" if guess else "'reefknot config show' lists all"
        raise ConfigError(f"unknown setting {key!r}: {hint}")
    loaded = load_settings(os.environ, Path.cwd())
    metadata = FIELDS[key].metadata
    facts = {
        "setting": key,
        "help": metadata["help"],
        "allowed": allowed(key),
        "unit": metadata["unit"],
        "default": FIELDS[key].default,
        "value": _value(loaded, key),
        "source": loaded.sources[key],
        "variable": PREFIX + key.upper(),
        "project_file": metadata["project"],
    }
    if as_json:
        print_json(facts)
        return
    print_line(f"{key}: {metadata['help']}")
    print_line(f"  allowed   {allowed(key)}" + (f" ({metadata['unit']})" if metadata["unit"] else ""))
    print_line(f"  default   {_spelled(FIELDS[key].default)}")
    print_line(f"  value     {_spelled(_value(loaded, key))}  ({loaded.sources[key]})")
    files = "config.toml or reefknot.toml" if metadata["project"] else "config.toml, not a project's reefknot.toml"
    print_line(f"  set it    in {files}, or as {PREFIX}{key.upper()}")


def _value(loaded: Loaded, key: str) -> object:
    return getattr(loaded.settings, key)


def _spelled(value: object) -> str:
    """A value as a settings file spells it; words where it has no spelling."""
    match value:
        case None:
            return "not set"
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return f'"{value}"' if isinstance(value, str) else str(value)
        case tuple():
            return "[" + ", ".join(f'"{item}"' for item in value) + "]"  # pyright: ignore[reportUnknownVariableType]  # any items
        case _:
            return str(value)
