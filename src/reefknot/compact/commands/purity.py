"""Whether a whole shell command only reads, and what of: every command that it would run is looked at.

Pure are: commands that `verbs` and `git` know to only read, in pipelines, lists, loops, conditions, groups, functions
and
substitutions; `cd`, which says where the rest reads; assignments. Not pure: a redirect into a file, a background job,
a command whose name is not known before it runs, a variable that varies by itself, anything the parser did not
understand.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reefknot.compact.commands.git import git_call, reads_of_git
from reefknot.compact.commands.paths import expand_braces, is_mutable_source, is_path_like, join
from reefknot.compact.commands.shell import Command, Compound, Node, Pipeline, Redirect, Script, Word, parse
from reefknot.compact.commands.verbs import FILTER, Kind, Sources, Span, sources_of
from reefknot.compact.commands.wrappers import SHELLS, script_text, unwrap

__all__ = ["Directories", "ScriptReads", "paths_of_word", "reads_of_script"]

MAX_SCRIPTS = 2  # commands inside commands as text or words: `bash -c`, `xargs`, `find -exec`
_MOST_VALUES = 40  # paths that one word may stand for; more are one pattern

_UNKNOWN_FILES = Word(text="\0", variables=("\0",))  # names that a command is given when it runs
_VARYING = frozenset({"RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "PPID", "$", "!"})
_SAFE_TARGETS = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "$null"})
_PASSES_ON = frozenset({"cat", "nl", "less", "more", "bat", "batcat"})
_EXPANSION = re.compile(r"\$\{(\w+)\}|\$(\w+)|\$\{[^}]*\}|\$[@*#?!-]")
_SUBSTITUTED_HEAD = re.compile(r"(?:\$\(.*\)|`[^`]*`)/([^$`()]*)$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptReads:
    """What a pure command reads: paths, as seen from where it started; `span` and `whole` as in a read of one file."""

    paths: tuple[str, ...]
    kind: Kind
    span: Span | None
    whole: bool


class Impure(Exception):
    """Something in a command does more than read. Never leaves this module."""


@dataclass(slots=True)
class Directories:
    """Where a command stands, and what its variables hold, as far as the command itself tells.

    `directory` is None once it cannot be told.
    """

    directory: str | None
    values: dict[str, tuple[str, ...]]

    def enter(self, words: Sequence[Word]) -> None:
        """What `cd` with these words does."""
        targets = [word for word in words if word.text not in ("-P", "-L", "--", "-e")]
        if len(targets) != 1 or targets[0].text == "-":
            self.directory = None if targets else "~"
            return
        [*paths] = paths_of_word(targets[0], self)
        self.directory = paths[0] if len(paths) == 1 and not _is_open(targets[0], self) else None


def _is_open(word: Word, where: Directories) -> bool:
    """Whether a word holds what the command itself does not tell."""
    return bool(word.scripts) or any(
        name not in where.values and name not in ("HOME", "PWD") for name in word.variables
    )


def paths_of_word(word: Word, where: Directories) -> list[str]:
    """The paths or patterns that a word stands for, joined to where the command stands; "" for "any file here".

    >>> where = Directories(directory="src", values={"f": ("a.py", "b.py")})
    >>> paths_of_word(Word(text="$f", variables=("f",)), where)
    ['src/a.py', 'src/b.py']
    >>> paths_of_word(Word(text="${X}/c.py", variables=("X",)), where)
    ['c.py']
    """
    if word.text.startswith(("<(", ">(")):
        return []
    texts = _texts(word, where)
    if word.is_glob and "{" in word.text:
        texts = [text for given in texts for text in expand_braces(given)]
    if where.directory is None:
        return [text if text.startswith(("/", "~")) else "" for text in texts]
    opened = _is_open(word, where) and word.text[:1] in "$`"
    return ["" if text == "" and opened else join("" if opened else where.directory, text) for text in texts]


def _texts(word: Word, where: Directories) -> list[str]:
    if word.scripts:
        found = _SUBSTITUTED_HEAD.match(word.text)
        return [found.group(1) if found else ""]
    if not word.variables:
        return [word.text]
    texts = [""]
    position = 0
    for found in _EXPANSION.finditer(word.text):
        name = found.group(1) or found.group(2) or ""
        values = where.values.get(name)
        if values is None and name == "HOME":
            values = ("~",)
        if values is None and name == "PWD":
            values = (where.directory or "",) if where.directory is not None else None
        between = word.text[position : found.start()]
        position = found.end()
        if values is None or len(texts) * len(values) > _MOST_VALUES:
            values = ("*",)
        texts = [text + between + value for text in texts for value in values]
    tail = word.text[position:]
    return ["" if text + tail == "*" else (text + tail).removeprefix("*/") for text in texts]


def reads_of_script(script: Script, directory: str = "") -> ScriptReads | None:
    """What a command reads, when reading is all that it does; else None.

    >>> reads_of_script(parse("cd src && sed -n '5,9p' a.py | cat -n"))
    ScriptReads(paths=('src/a.py',), kind='file', span=(5, 9), whole=False)
    >>> reads_of_script(parse("grep -rn 'a|b' src | head -3")).paths
    ('src',)
    >>> impure = ("echo $(curl -s x)", "cat <(date)", "cat a > b", "find . -exec rm {} +")
    >>> [reads_of_script(parse(text)) for text in impure]
    [None, None, None, None]
    """
    if not script:
        return None
    walk = _Walk(directory)
    try:
        walk.script(script, piped=False)
    except Impure:
        return None
    return walk.reads()


@dataclass(slots=True)
class _View:
    """A file of which something is shown: all of it, a range of its lines, or some of it."""

    span: Span | None
    whole: bool

    def narrow(self, stage: Sources, name: str) -> None:
        """Let what is shown pass through a further command of the pipeline."""
        if name in _PASSES_ON and not stage.operands:
            return
        span = stage.span
        if span is None or not (self.whole or self.span):
            self.span = None
        elif self.span is None:
            self.span = span
        else:
            first, last = self.span[0] + span[0] - 1, min(self.span[1], self.span[0] + span[1] - 1)
            self.span = (first, last) if first <= last else None
        self.whole = False


class _Walk:
    """One pass over the tree of a command; raises `Impure` at the first thing that does more than read."""

    def __init__(self, directory: str) -> None:
        self.where = Directories(directory=directory, values={})
        self.functions: set[str] = set()
        self.paths: dict[str, None] = {}
        self.kinds: set[Kind] = set()
        self.views: list[_View] = []
        self.scripts = 0
        self.reads_input = False  # inside a loop or a pipeline, where `read` takes what a command gave

    def reads(self) -> ScriptReads:
        if self.kinds == {"listing", "search"}:  # names found, then looked into
            self.kinds = {"search"}
        kind = self.kinds.pop() if len(self.kinds) == 1 else "command"
        spans = {view.span for view in self.views}
        is_one = kind == "file" and len(spans) == 1
        whole = kind == "file" and bool(self.views) and all(view.whole for view in self.views)
        return ScriptReads(paths=tuple(self.paths), kind=kind, span=spans.pop() if is_one else None, whole=whole)

    def script(self, script: Script, *, piped: bool) -> None:
        for pipeline in script:
            self._pipeline(pipeline, piped=piped)

    def _pipeline(self, pipeline: Pipeline, *, piped: bool) -> None:
        if pipeline.end == "&" or pipeline.is_timed:
            raise Impure
        if len(pipeline.commands) == 1:
            self._node(pipeline.commands[0], piped=piped)
            return
        before = self.where.directory  # each command of a pipeline has a directory of its own
        first_view = len(self.views)
        for position, node in enumerate(pipeline.commands):
            shown = self.views[first_view:]
            name, stage = self._node(node, piped=piped or position > 0)
            for view in shown:
                view.narrow(stage, name)
            self.where.directory = before

    def _node(self, node: Node, *, piped: bool) -> tuple[str, Sources]:
        for redirect in node.redirects:
            self._redirect(redirect)
        if isinstance(node, Command):
            for assignment in node.assignments:
                self._words(assignment.values)
                if not node.words:
                    value = assignment.values
                    self.where.values[assignment.name] = tuple(self._values(value)) if value else ("",)
            self._words(node.words)
            return self._run(node.words, piped=piped) if node.words else ("", FILTER)
        self._compound(node, piped=piped)
        return "", FILTER

    def _values(self, words: Sequence[Word]) -> list[str]:
        """What a variable may hold; "" for what is not known, which as a path is the whole tree."""
        return [text for word in words for text in ([""] if _is_open(word, self.where) else _texts(word, self.where))][
            :_MOST_VALUES
        ]

    def _words(self, words: Sequence[Word]) -> None:
        """What the shell itself does to expand words: it runs the substitutions."""
        for word in words:
            if word.variables and not _VARYING.isdisjoint(word.variables):
                raise Impure
            for inner in word.scripts:
                views = self.views
                self.views = []
                before = self.where.directory
                self.script(inner, piped=False)
                self.where.directory = before
                for view in self.views:
                    view.span, view.whole = None, False
                self.views = views + self.views

    def _redirect(self, redirect: Redirect) -> None:
        self._words((redirect.target,))
        match redirect.operator:
            case "<":
                self._take(Sources(operands=(redirect.target,), kind="file"))
            case "<<" | "<<-" | "<<<" | "<&":
                if redirect.body is not None:
                    self._words((redirect.body,))
            case ">&" if redirect.target.text.isdigit() or redirect.target.text == "-":
                pass
            case _:
                if redirect.target.text not in _SAFE_TARGETS:
                    raise Impure

    def _compound(self, node: Compound, *, piped: bool) -> None:
        self._words(node.words)
        reads_input = self.reads_input
        before = self.where.directory
        match node.kind:
            case "unknown":
                raise Impure
            case "function":
                self.functions.add(node.name)
            case "for":
                self.where.values[node.name] = tuple(self._values(node.words)) or ("",)
            case "while":
                self.reads_input = True
            case "test":
                self._take(Sources(operands=tuple(word for word in node.words if is_path_like(word.text)), kind=""))
            case _:
                pass
        for part in node.parts:
            self.script(part, piped=piped or node.kind == "while")
        if node.kind in ("subshell", "function"):
            self.where.directory = before
        self.reads_input = reads_input

    def _run(self, words: Sequence[Word], *, piped: bool) -> tuple[str, Sources]:
        """Look at one command by its name."""
        name, rest = unwrap(words)
        if name == "":
            return "", FILTER
        if name in ("cd", "pushd", "set-location", "chdir"):
            self.where.enter(rest)
            return name, FILTER
        if name in SHELLS:
            return name, self._shell(rest, piped=piped)
        if name == "git":
            return name, self._git(rest)
        if name in self.functions:
            return name, FILTER
        if name == "read":
            if not (piped or self.reads_input):
                raise Impure
            return name, FILTER
        if name in ("source", "."):
            if not (rest and rest[0].text.endswith("bin/activate")):
                raise Impure
            return name, FILTER
        found = sources_of(name, rest, piped=piped)
        if found is None and name != name.lower():
            found = sources_of(name.lower(), rest, piped=piped)
        if found is None:
            raise Impure
        if found.inner:
            self._inner(name, found)
        self._take(found)
        return name, found

    def _inner(self, name: str, found: Sources) -> None:
        """The command that find or xargs runs; the files that it gets are those that the names came from, or any."""
        names_known = name == "find" or bool(self.kinds & {"listing", "search"})
        views = self.views
        self._descend()
        self.views = []
        given = () if any("{}" in word.text for word in found.inner) else (_UNKNOWN_FILES,)
        self._run((*found.inner, *given), piped=True)
        self.views = views
        self.scripts -= 1
        self.paths = {path: None for path in self.paths if "{}" not in path and _UNKNOWN_FILES.text not in path}
        if not names_known:
            self.paths[""] = None

    def _shell(self, rest: Sequence[Word], *, piped: bool) -> Sources:
        text = script_text(rest)
        if text is None or text.variables or text.scripts:
            raise Impure
        self._descend()
        before = self.where.directory
        self.script(parse(text.text), piped=piped)
        self.where.directory = before
        self.scripts -= 1
        return FILTER

    def _descend(self) -> None:
        self.scripts += 1
        if self.scripts > MAX_SCRIPTS:
            raise Impure

    def _git(self, rest: Sequence[Word]) -> Sources:
        call = git_call(rest)
        paths = reads_of_git(call)
        if paths is None:
            raise Impure
        folder = self.where.directory
        for path in paths:
            if path == ".git":
                self.paths[path] = None
            elif folder is None:
                self.paths[""] = None
            else:
                self.paths[join(join(folder, call.folder) if call.folder else folder, path)] = None
        self.kinds.add("git")
        return FILTER

    def _take(self, found: Sources) -> None:
        for word in found.operands:
            for path in paths_of_word(word, self.where):
                if is_mutable_source(path):
                    raise Impure
                if path != "-":
                    self.paths[path] = None
            if found.kind == "file":
                self.views.append(_View(span=found.span, whole=found.whole))
        if found.kind:
            self.kinds.add(found.kind)
