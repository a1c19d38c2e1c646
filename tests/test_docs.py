"""The docs are tests: each command, setting and error stands in them, examples run, links lead somewhere."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import reefknot
from reefknot import errors
from reefknot.policy.settings import FIELDS
from reefknot.surfaces.cli.main import cli

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def all_commands(group: click.Group, context: click.Context):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = click.Context(command, info_name=name, parent=context)
        yield inner.command_path, command
        if isinstance(command, click.Group):
            yield from all_commands(command, inner)


COMMANDS = dict(all_commands(cli, click.Context(cli, info_name="reefknot")))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_option_is_in_the_docs(path):
    text = (DOCS / "commands.md").read_text("utf-8")
    assert f"## {path}\n" in text
    section = text.partition(f"## {path}\n")[2].partition("\n## ")[0]
    for parameter in COMMANDS[path].params:
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            assert option in section, f"{option} of {path}"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_option_says_what_it_does(path):
    assert COMMANDS[path].help
    assert [each.name for each in COMMANDS[path].params if isinstance(each, click.Option) and not each.help] == []


@pytest.mark.parametrize("key", FIELDS)
def test_every_setting_is_in_the_docs(key):
    assert f"| `{key}` |" in (DOCS / "settings.md").read_text("utf-8")


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_in_the_docs(name):
    assert f"| `{name}` |" in (DOCS / "errors.md").read_text("utf-8")


@pytest.mark.parametrize("name", [name for name in reefknot.__all__ if name.islower() and not name.startswith("_")])
def test_every_public_function_is_in_the_docs(name):
    assert f"reefknot.{name}(" in (DOCS / "python.md").read_text("utf-8")


@each_page
def test_every_example_runs(page):
    outcome = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert outcome.failed == 0


@each_page
def test_every_link_leads_to_a_file(page):
    text = page.read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@each_page
def test_every_command_line_in_the_docs_names_a_command_that_exists(page):
    blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    for words in re.findall(r"^(?:\$ )?reefknot ([a-z]+)(?: ([a-z]+))?", blocks, re.MULTILINE):
        known = {path.removeprefix("reefknot ") for path in COMMANDS}
        assert words[0] in known, words
        assert words[0] not in ("store", "config") or " ".join(words) in known, words


def test_every_decision_is_listed_and_numbered_once():
    pages = sorted(path.name for path in (DOCS / "adr").glob("0*.md"))
    assert len({name[:4] for name in pages}) == len(pages)
    index = (DOCS / "adr" / "index.md").read_text("utf-8")
    assert [name for name in pages if f"]({name})" not in index] == []


def test_generated_parts_of_the_docs_are_those_of_the_code():
    pages = [str(page.relative_to(ROOT)) for page in PAGES if "[[[cog" in page.read_text("utf-8")]
    assert pages
    command = [sys.executable, "-m", "cogapp", "--check", "-I", "docs", *pages]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make format`\n{done.stdout}{done.stderr}"


def test_every_page_that_the_code_names_exists():
    named = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"docs/[\w/.-]+\.md", path.read_text("utf-8"))
    }
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
