"""Which calls are reads that a re-run still gives back, what a call may change, and which reads that spoils.

`classify` looks at one call and its output; `effects` at what one call may change; `Changes` gathers the effects of
later
calls and answers whether a read still stands. A call that is not understood is an observation: its output is kept.
How much an unknown command is taken to change is told in `writes`.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from reefknot.compact.commands.failures import is_failed_host_read, is_failed_shell_read
from reefknot.compact.commands.named_paths import paths_in_patch, paths_in_program
from reefknot.compact.commands.paths import GIT, Spot, is_mutable_source, join, may_change, same_file, spot_of
from reefknot.compact.commands.purity import reads_of_script
from reefknot.compact.commands.shell import Command, Script, parse
from reefknot.compact.commands.tools import ToolKind, first_text, kind_of_tool, lines_asked, paths_of, pattern_of
from reefknot.compact.commands.writes import PRODUCTS, writes_of_script
from reefknot.model.message import Json

__all__ = ["Changes", "Effects", "Read", "ReadKind", "classify", "effects", "still_valid", "supersedes"]

ReadKind = Literal["file", "search", "listing", "git", "command"]
LABEL_LENGTH = 400  # characters of a command in a label
MAX_COMMAND = 20_000  # characters; a longer command writes something: it is no read
_COMMAND_KEYS = ("command", "cmd", "script", "chars", "code_block")
_FOLDER_KEYS = ("workdir", "cwd", "working_directory", "dir_path")
FULL_PAGE = 2_000  # lines that hosts show of a file when nothing else is asked

_NUMBER = re.compile(r"\s*(\d{1,7})(?:→|\t|\|)")
_EDITOR_NUMBER = re.compile(r"(\d{1,7}):")
_PARTIAL = re.compile(
    r"\[Showing lines|more lines in file|\(\d+ more lines|truncated|exceeds maximum|<response clipped>"
    r"|persisted-output",
    re.IGNORECASE,
)
_OWN_PROMPT = re.compile(r"\[File: (\S+) \((\d+) lines total\)\]")
_OPEN_FILE = re.compile(r"\(Open file: (/\S+)\)")
_LINE_EDITOR = re.compile(r"(?:edit|insert) \d+(?::\d+)?\s|edit <<|end_of_edit$|edit \"")
_READ_ONLY_AGENTS = re.compile(
    r"explore|plan$|planner|guide|review|research|search|analy[sz]|critic|audit", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A call that only read, and whose output shows that it did.

    `reads`: the paths, folders or patterns that its output depends on; "" is the working tree, ".git" the history and
    the
    index; empty when it depends on nothing that can change. `label`: the path or the command, on one line. `span`:
    the first
    and the last line shown, from 1, when it is one known range. `whole`: all of each file is shown.
    """

    reads: tuple[str, ...]
    label: str
    span: tuple[int, int] | None
    whole: bool
    kind: ReadKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a call may change: `paths` (folders and patterns too), or `everything` in the working tree.

    Of a path that ends with a slash, all in it. `names`: files may come, go or be moved, so that listings change.
    `products`: build products may change. `reformats`: a formatter went over the working tree; it changes what was
    edited.
    """

    paths: tuple[str, ...] = ()
    everything: bool = False
    names: bool = True
    products: bool = False
    reformats: bool = False

    def __bool__(self) -> bool:
        return bool(self.paths or self.everything or self.products or self.reformats)


_NO_EFFECTS = Effects(names=False)


def classify(tool: str, input: Mapping[str, Json], output: str, is_error: bool) -> Read | None:
    """The read that a call was, or None when it was an observation: its output may not come again.

    >>> classify("Bash", {"command": "sed -n '10,20p' src/a.py"}, "x = 1\\n", is_error=False)
    Read(reads=('src/a.py',), label="sed -n '10,20p' src/a.py", span=(10, 20), whole=False, kind='file')
    >>> classify("Bash", {"command": "echo $(curl -s https://reef.example)"}, "ok", is_error=False) is None
    True
    >>> classify("Read", {"file_path": "/srv/a.py"}, "File does not exist.", is_error=True) is None
    True
    """
    if is_error:
        return None
    match kind_of_tool(tool, input):
        case "shell":
            return _classify_command(tool, input, output)
        case "read":
            return _classify_file(input, output)
        case "search" | "listing" as kind:
            return _classify_search(kind, input, output)
        case "lookup":
            label = " ".join(first_text(value) for value in input.values() if isinstance(value, str))
            return (
                None
                if is_failed_host_read(output)
                else Read(reads=(), label=label, span=None, whole=False, kind="command")
            )
        case _:
            return None


def _command(tool: str, input: Mapping[str, Json]) -> tuple[str, str]:
    """The command text of a shell call and the folder it runs in."""
    command = next((input[key] for key in _COMMAND_KEYS if key in input), "")
    directory = next((input[key] for key in _FOLDER_KEYS if key in input), "")
    if not isinstance(directory, str):
        directory = ""
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        command = words[2] if len(words) == 3 and words[1] in ("-c", "-lc", "-Command", "/c") else shlex.join(words)
    if not isinstance(command, str):
        return "", directory
    if tool.lower() in ("powershell", "pwsh"):
        command = command.replace("\\", "/")
    return command, directory


def _classify_command(tool: str, input: Mapping[str, Json], output: str) -> Read | None:
    if input.get("run_in_background") is True or str(input.get("is_input", "")).lower() == "true":
        return None
    command, directory = _command(tool, input)
    if not command.strip() or len(command) > MAX_COMMAND:
        return None
    prompt = _OWN_PROMPT.match(output)
    if prompt is not None and command.split(None, 1)[0] == "open":
        return _opened(prompt, _one_line(command), output)
    script = _parsed(command)
    found = reads_of_script(script, directory)
    if found is None or is_failed_shell_read(output, _last_verb(script)):
        return None
    kind: ReadKind = found.kind if found.kind in ("file", "search", "listing", "git") else "command"
    whole = found.whole and not _is_partial(output)
    return Read(reads=found.paths, label=_one_line(command), span=found.span, whole=whole, kind=kind)


def _opened(prompt: re.Match[str], label: str, output: str) -> Read | None:
    """A file opened in the line editor of a host: a window of it is shown."""
    path = prompt.group(1)
    if is_mutable_source(path):
        return None
    span = _span_shown(output.split("\n", 3)[1:], output, _EDITOR_NUMBER)
    whole = " more lines above)" not in output and " more lines below)" not in output
    return Read(reads=(path,), label=label, span=None if whole else span, whole=whole, kind="file")


def _classify_file(input: Mapping[str, Json], output: str) -> Read | None:
    paths = paths_of(input)
    if not paths or any(is_mutable_source(path) for path in paths) or is_failed_host_read(output):
        return None
    if len(paths) > 1:
        return Read(
            reads=tuple(map(_join, paths)), label=", ".join(paths)[:LABEL_LENGTH], span=None, whole=False, kind="file"
        )
    if output.startswith("Here's the files and directories"):
        return Read(reads=(_join(paths[0]),), label=paths[0], span=None, whole=False, kind="listing")
    asked = lines_asked(input)
    shown = _span_shown(output.split("\n", 12), output, _NUMBER)
    span = shown if shown and (asked or shown[1] >= FULL_PAGE) else asked.fixed if asked else None
    whole = asked is None and span is None and not _is_partial(output)
    return Read(reads=(_join(paths[0]),), label=paths[0], span=span, whole=whole, kind="file")


def _join(path: str) -> str:
    return join("", path)


def _span_shown(head: Sequence[str], output: str, number: re.Pattern[str]) -> tuple[int, int] | None:
    """First and last line number that an output shows before its lines; None when it shows none."""
    first = next((int(found.group(1)) for line in head if (found := number.match(line)) is not None), None)
    if first is None:
        return None
    tail = output[-3_000:].split("\n")[1:] if len(output) > 3_000 else output.split("\n")
    last = next((int(found.group(1)) for line in reversed(tail) if (found := number.match(line)) is not None), first)
    return (first, last) if last >= first else None


def _is_partial(output: str) -> bool:
    return _PARTIAL.search(output[-400:]) is not None or _PARTIAL.search(output[:200]) is not None


def _classify_search(kind: ReadKind, input: Mapping[str, Json], output: str) -> Read | None:
    if is_failed_host_read(output):
        return None
    folders = paths_of(input) or [""]
    pattern = pattern_of(kind, input)
    if any(is_mutable_source(folder) for folder in folders) or is_mutable_source(pattern):
        return None
    reads = tuple(join(folder, pattern) if pattern else _join(folder) for folder in folders)
    asked = first_text(
        input.get("pattern") or input.get("query") or input.get("regex") or input.get("search_term") or ""
    )
    label = _one_line(" ".join(text for text in (asked, *folders, pattern if pattern != asked else "") if text))
    return Read(reads=reads, label=label, span=None, whole=False, kind=kind)


def _one_line(text: str) -> str:
    flat = " ".join(text[: LABEL_LENGTH * 3].split())
    return flat if len(flat) <= LABEL_LENGTH else flat[: LABEL_LENGTH - 2] + ".."


@lru_cache(maxsize=64)
def _parsed(command: str) -> Script:
    """The tree of a command; `classify` and `effects` of one call ask for it one after the other."""
    return parse(command)


def _last_verb(script: Script) -> str:
    """The command whose exit code is that of the whole."""
    if not script:
        return ""
    node = script[-1].commands[-1]
    if not isinstance(node, Command) or not node.words:
        return ""
    name = node.words[0].text
    return "grep" if name == "git" and any(word.text in ("grep", "diff") for word in node.words[1:4]) else name


def effects(tool: str, input: Mapping[str, Json], is_error: bool = False, output: str = "") -> Effects:
    """What a call may change. A host's editing tool that failed changed nothing; a command that failed may have.

    `output`, where it is given, tells which file a line editor had open.

    >>> effects("Edit", {"file_path": "/srv/a.py", "old_string": "a", "new_string": "b"})
    Effects(paths=('/srv/a.py',), everything=False, names=False, products=False, reformats=False)
    >>> effects("Bash", {"command": "git pull"}).everything, effects("Bash", {"command": "pytest a.py"}).paths
    (True, ())
    """
    kind = kind_of_tool(tool, input)
    match kind:
        case "shell":
            return _effects_of_command(tool, input, output)
        case "edit" | "write":
            return _NO_EFFECTS if is_error else _effects_of_edit(kind, input)
        case "patch":
            texts = [value for value in input.values() if isinstance(value, str)]
            return _named(paths_in_patch("\n".join(texts)), names=True)
        case "code":
            texts = [value for value in input.values() if isinstance(value, str)]
            return _named(paths_in_program("\n".join(texts)), names=True)
        case "agent":
            agent = input.get("subagent_type")
            is_reader = isinstance(agent, str) and _READ_ONLY_AGENTS.search(agent) is not None
            return _NO_EFFECTS if is_reader else Effects(everything=True)
        case _:
            return _NO_EFFECTS


def _named(paths: Sequence[str], *, names: bool) -> Effects:
    return Effects(paths=tuple(map(_join, paths)), names=names) if paths else _NO_EFFECTS


def _effects_of_command(tool: str, input: Mapping[str, Json], output: str) -> Effects:
    command, directory = _command(tool, input)
    if not command.strip():
        return _NO_EFFECTS
    if _LINE_EDITOR.match(command) or command.rstrip().endswith("end_of_edit"):
        return _effects_on_open_file(output)
    found = writes_of_script(_parsed(command), directory)
    return Effects(
        paths=tuple(found.paths),
        everything=found.everything,
        names=found.names,
        products=found.products,
        reformats=found.reformats,
    )


def _effects_on_open_file(output: str) -> Effects:
    """A line editor changes the file that is open; which one, only its output tells."""
    if output.startswith("Your proposed edit has introduced"):
        return _NO_EFFECTS  # refused
    opened = _OWN_PROMPT.match(output) or _OPEN_FILE.search(output[-600:])
    return _named([opened.group(1)], names=False) if opened else Effects(everything=True, names=False)


def _effects_of_edit(kind: ToolKind, input: Mapping[str, Json]) -> Effects:
    paths = paths_of(input)
    if not paths:
        return Effects(everything=True, names=False)
    if kind == "edit":
        return _named(paths, names=input.get("old_string") == "")
    content = next(
        (value for key in ("content", "file_text", "contents") if isinstance(value := input.get(key), str)), ""
    )
    is_script = re.search(r"\.(?:py|js|rb|pl|sh)$", paths[0]) is not None
    return _named([*paths, *(paths_in_program(content) if is_script else ())], names=True)


class Changes:
    """What later calls may have changed, gathered call by call; each question costs one look per distinct path.

    `edited`: the effects of all calls of the transcript, earlier ones included. A formatter that goes over the
    working tree
    changes what was edited in it; without `edited` it is taken to change anything.
    """

    __slots__ = ("_contents", "_edited", "_everything", "_everything_named", "_names", "_products", "_reformatted")

    def __init__(self, later_effects: Iterable[Effects] = (), *, edited: Iterable[Effects] | None = None) -> None:
        self._edited = None if edited is None else {path: spot_of(path) for changed in edited for path in changed.paths}
        self._reformatted = False
        self._contents: dict[str, Spot] = {}
        self._names: dict[str, Spot] = {}
        self._everything = False
        self._everything_named = False
        self._products = False
        for changed in later_effects:
            self.append(changed)

    def append(self, changed: Effects) -> None:
        """Add what one more call may have changed; the order does not matter."""
        self._everything = self._everything or changed.everything
        self._everything_named = self._everything_named or (changed.everything and changed.names)
        self._products = self._products or changed.products
        if changed.reformats and not self._reformatted:
            self._reformatted = True
            self._contents.update(self._edited or {})
        for path in changed.paths:
            if path not in self._contents:
                self._contents[path] = spot_of(path)
            if changed.names and path not in self._names:
                self._names[path] = self._contents[path]

    def touch(self, read: Read) -> bool:
        """Whether what was read may have changed since."""
        is_listing = read.kind == "listing"
        spots = self._names if is_listing else self._contents
        everything = (
            self._everything_named if is_listing else self._everything or (self._reformatted and self._edited is None)
        )
        for path in read.reads:
            if everything and path != GIT:
                return True
            spot = spot_of(path)
            if self._products and not PRODUCTS.isdisjoint(spot.parts):
                return True
            reads_folder = read.kind != "file"
            if any(may_change(change, spot, reads_folder=reads_folder) for change in spots.values()):
                return True
        return False


def still_valid(read: Read, later_effects: "Changes | Iterable[Effects]") -> bool:
    """Whether no later call changed what was read.

    >>> read = Read(reads=("src/a.py",), label="src/a.py", span=None, whole=True, kind="file")
    >>> still_valid(read, [Effects(paths=("/srv/reef/src/a.py",))]), still_valid(read, [Effects(paths=("src/b.py",))])
    (False, True)
    """
    changes = later_effects if isinstance(later_effects, Changes) else Changes(later_effects)
    return not changes.touch(read)


def supersedes(later: Read, earlier: Read) -> bool:
    """Whether a later read gives at least what an earlier one gave: all of its files, its lines, or the same question
    again.

    >>> whole = Read(reads=("/srv/src/a.py",), label="a", span=None, whole=True, kind="file")
    >>> part = Read(reads=("src/a.py",), label="b", span=(10, 20), whole=False, kind="file")
    >>> supersedes(whole, part), supersedes(part, whole), supersedes(part, part)
    (True, False, True)
    """
    if later == earlier and len(later.label) < LABEL_LENGTH - 2:
        return True
    if later.kind != "file" or earlier.kind != "file" or not earlier.reads:
        return False
    if later.whole:
        spots = [spot_of(path) for path in later.reads]
        return all(any(_is_same(spot, path) for spot in spots) for path in earlier.reads)
    if len(later.reads) != 1 or len(earlier.reads) != 1 or later.span is None or earlier.span is None:
        return False
    covers = later.span[0] <= earlier.span[0] and earlier.span[1] <= later.span[1]
    return covers and _is_same(spot_of(later.reads[0]), earlier.reads[0])


def _is_same(spot: Spot, path: str) -> bool:
    return same_file(spot, spot_of(path))
