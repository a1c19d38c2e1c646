"""The command `reefknot`: which sub-commands there are, and how a run of one begins and ends.

Sub-commands stand in modules of their own, named in `COMMANDS` and imported when they are called, so that
`reefknot --help` and every other command start without them.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import click

from reefknot.errors import UsageError
from reefknot.surfaces import guard
from reefknot.version import VERSION

__all__ = ["COMMANDS", "Entry", "LazyGroup", "cli", "main", "run"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command stands (`module:attribute`), and its line in the list of all commands."""

    target: str
    help: str


COMMANDS: Mapping[str, Entry] = {
    "compact": Entry("reefknot.surfaces.cli.compact:compact", "Make a transcript shorter, with nothing lost."),
    "config": Entry("reefknot.surfaces.cli.config:config", "Show settings, and where each came from."),
    "restore": Entry("reefknot.surfaces.cli.restore:restore", "Put every original back into a transcript."),
    "retrieve": Entry("reefknot.surfaces.cli.retrieve:retrieve", "Give any part of a stored original back."),
    "store": Entry("reefknot.surfaces.cli.store:store", "Look after the stored originals."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.entries[name].help) for name in self.list_commands(ctx)])


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"reefknot {VERSION}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Keep an LLM agent's context small, with nothing lost.

    What is set aside is stored first, and comes back with `reefknot retrieve` or `reefknot restore`.

    Exit codes: 0 done, 1 an expected "no", 2 bad usage or bad input.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run the command with these arguments and give its exit code.

    Raises:
        UsageError: the arguments make no sense.
        ReefknotError: whatever else the command raises.
    """
    try:
        code = cli.main(args=list(arguments), prog_name="reefknot", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        raise UsageError(_describe(error)) from None
    return code if isinstance(code, int) else 0


def _describe(error: click.ClickException) -> str:
    """One line: which command, what is wrong, where its help stands."""
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None:
        return message
    command = ctx.command_path.removeprefix("reefknot").strip()
    return f"{command + ': ' if command else ''}{message}; see '{ctx.command_path} --help'"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command as a process does: errors are one line on standard error, and it exits."""
    sys.exit(guard.run(lambda: run(sys.argv[1:] if arguments is None else arguments)))
