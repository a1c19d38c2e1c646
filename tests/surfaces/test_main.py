"""The command as a process: help, version, usage errors, pipes that close, odd locales."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from reefknot.surfaces.cli.main import COMMANDS
from reefknot.version import VERSION


def call(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reefknot", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environ, check=False)


def test_help_lists_every_command_without_importing_one():
    code = "import sys\nfrom reefknot.surfaces.cli.main import run\nrun(['--help'])\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name, entry in COMMANDS.items():
        assert f"  {name}" in done.stdout
        assert entry.help in done.stdout
        assert entry.target.partition(":")[0] not in done.stdout.splitlines()[-1].split()


def test_without_arguments_the_command_shows_its_help():
    assert call().stdout == call("--help").stdout


def test_the_version_is_told():
    assert call("--version").stdout == f"reefknot {VERSION}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_its_help_begins_with_its_line(name):
    module, _, attribute = COMMANDS[name].target.partition(":")
    command = getattr(import_module(module), attribute)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert (command.help or "").startswith(COMMANDS[name].help.rstrip("."))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nope"], "reefknot: no such command 'nope'; see 'reefknot --help'"),
        (["--nope"], "reefknot: no such option '--nope'; see 'reefknot --help'"),
        (["config"], "reefknot: config: missing command; see 'reefknot config --help'"),
        (["store"], "reefknot: store: missing command; see 'reefknot store --help'"),
        (["retrieve"], "reefknot: retrieve: missing argument 'REF'; see 'reefknot retrieve --help'"),
        (["config", "explain", "coulour"], "reefknot: unknown setting 'coulour': 'reefknot config show' lists all"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(arguments, line):
    done = call(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line + "\n")


def test_a_reader_that_has_read_enough_is_no_error():
    pipeline = f'"{sys.executable}" -m reefknot config show | head -c 1; echo "${{PIPESTATUS[0]}}"'
    environ = {name: value for name, value in os.environ.items() if name != "REEFKNOT_SHARED"}  # it would be told of
    done = subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True, env=environ, check=True)
    assert (done.stdout, done.stderr) == ("p0\n", "")


def test_output_works_in_a_plain_c_locale():
    done = call("config", "show", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", REEFKNOT_PROTECT_TOOLS="Größe")
    assert done.returncode == 0
    assert 'protect_tools         ["Größe"]' in done.stdout


def test_a_closed_standard_output_is_one_line():
    script = f'"{sys.executable}" -m reefknot config show >&-'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "reefknot: Bad file descriptor\n") or (
        done.returncode == 2 and done.stderr == "reefknot: standard output is closed\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line():
    script = f'"{sys.executable}" -m reefknot config show > /dev/full'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "reefknot: No space left on device\n")
