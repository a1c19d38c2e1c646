"""Parts of the docs that are made from the code, so that neither can be wrong about the other."""

import inspect
from collections.abc import Iterator

import click

from reefknot import errors
from reefknot.policy.settings import FIELDS, PREFIX, allowed
from reefknot.surfaces.cli.main import cli

__all__ = ["commands", "error_table", "settings_table"]


def commands() -> str:
    """The help of every command, as the command prints it."""
    return "\n".join(f"## {path}\n\n```text\n{text.rstrip()}\n```\n" for path, text in _help_texts())


def settings_table() -> str:
    """Every setting with its default, unit, limits and help."""
    rows = ["| setting | default | may be | unit | what it does |", "|---|---|---|---|---|"]
    for key, field in FIELDS.items():
        notes = "" if field.metadata["project"] else "; **not in a project's file**"
        cells = (
            f"`{key}`",
            _spelled(field.default),
            allowed(key),
            field.metadata["unit"],
            field.metadata["help"] + notes,
        )
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(rows) + f"\n\nAs a variable: `{PREFIX}` and the name in capitals, `{PREFIX}PRESERVE_RECENT=4`.\n"


def error_table() -> str:
    """Every error of the library with its family and its meaning."""
    rows = ["| error | is a | means |", "|---|---|---|"]
    for name in errors.__all__:
        kind = getattr(errors, name)
        meaning = (inspect.getdoc(kind) or "").splitlines()[0]
        rows.append(f"| `{name}` | `{kind.__base__.__name__}` | {meaning} |")
    return "\n".join(rows) + "\n"


def _help_texts() -> Iterator[tuple[str, str]]:
    context = click.Context(cli, info_name="reefknot", max_content_width=100, terminal_width=100)
    yield "reefknot", cli.get_help(context)
    yield from _below(cli, context)


def _below(group: click.Group, context: click.Context) -> Iterator[tuple[str, str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        inner = click.Context(command, info_name=name, parent=context)
        yield inner.command_path, command.get_help(inner)
        if isinstance(command, click.Group):
            yield from _below(command, inner)


def _spelled(value: object) -> str:
    match value:
        case None:
            return "not set"
        case bool():
            return str(value).lower()
        case "" | ():
            return "empty"
        case tuple():
            return ", ".join(map(str, value))
        case _:
            return f"`{value}`"
