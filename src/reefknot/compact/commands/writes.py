"""What a shell command may change: the paths that it writes, verb by verb.

The rule, chosen so that a note "a re-run gives it" is true and still common:
- commands known to change files (editors in place, formatters, moves, git commands that write the tree, patches,
package
  installs, redirects) change what they name; where they name nothing, any file;
- test runners, linters, compilers, interpreters and servers change nothing that was read, except build products
(`PRODUCTS`)
  and what program text in the command itself opens for writing;
- any other command that is not known to only read may change the paths that its words name, and no others.
So a script that edits files without naming them, and a task runner whose task formats, are missed unless their name
says so.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reefknot.compact.commands.git import ANYTHING, changes_of_git, git_call
from reefknot.compact.commands.named_paths import paths_in_patch, paths_in_program
from reefknot.compact.commands.options import options_of
from reefknot.compact.commands.paths import GIT, is_path_like, join
from reefknot.compact.commands.purity import Directories, paths_of_word
from reefknot.compact.commands.shell import Command, Compound, Node, Redirect, Script, Word, parse
from reefknot.compact.commands.verbs import is_known, sources_of
from reefknot.compact.commands.wrappers import SHELLS, script_text, unwrap
from reefknot.compact.commands.writing_verbs import (
    ALL_OPERANDS,
    BUILDS,
    FORMATS_ALWAYS,
    FORMATS_IF,
    INSTALLS,
    INTERPRETERS,
    LAST_OPERAND,
    MAY_WRITE,
    ONLY_CHECKS,
    ONLY_LOOKS,
    PACKAGE_FILES,
    RUNNERS,
    TASK_CHANGES,
    TASK_FORMATS,
    TASK_RUNNERS,
)

__all__ = ["PRODUCTS", "Writes", "writes_of_script"]

PRODUCTS = frozenset({"build", "dist", "target", "out", "coverage", "node_modules", ".next", "__pycache__", "obj"})
MAX_SCRIPTS = 2  # commands inside commands

_QUIET_TARGETS = ("/dev/", "&", "$null")
_SCRIPT_NAME = re.compile(r"\.(?:py|js|mjs|cjs|ts|rb|pl|php|sh|bash|lua)$")
_IS_PROGRAM_OPTION = re.compile(r"-[a-zA-Z0-9.]{0,6}[ce]$|--eval$")
_IN_PLACE = re.compile(r"-[a-df-zA-Z0-9]{0,4}i[.\w]{0,6}$")  # of perl and ruby
_HAS_EXTENSION = re.compile(r"[^./]\.[A-Za-z]\w{0,11}$|[*?]")


@dataclass(slots=True)
class Writes:
    """What a command may change, gathered: `paths`, those of folders with a slash at the end.

    `names`: files may come or go. `products`: build products may change. `reformats`: a formatter went over all files.
    """

    paths: dict[str, None] = field(default_factory=dict[str, None])
    everything: bool = False
    names: bool = False
    products: bool = False
    reformats: bool = False

    def add(self, paths: Sequence[str], *, names: bool, folders: bool = False) -> None:
        """Paths that may change; with `folders`, all in those that may be folders."""
        for path in paths:
            if path == "":
                self.everything = True
            else:
                self.paths[f"{path}/" if folders and not _HAS_EXTENSION.search(path) else path] = None
        self.names = self.names or (names and bool(paths))

    def add_anything(self) -> None:
        self.everything = self.names = True


def writes_of_script(script: Script, directory: str = "") -> Writes:
    """What a command may change, by the rule above.

    >>> found = writes_of_script(parse("cd src && sed -i s/a/b/ x.py && cat y.py > z.txt; pytest tests/test_x.py"))
    >>> list(found.paths), found.everything, found.names
    (['src/x.py', 'src/z.txt'], False, True)
    """
    walk = _Walk(directory)
    walk.script(script)
    return walk.writes


class _Walk:
    """One pass over all commands of a tree, whether or not they would be reached."""

    def __init__(self, directory: str) -> None:
        self.writes = Writes()
        self.where = Directories(directory=directory, values={})
        self.scripts = 0
        self.written: set[str] = set()  # names of the scripts that this command writes itself

    def script(self, script: Script) -> None:
        for pipeline in script:
            before = self.where.directory
            for node in pipeline.commands:
                self._node(node, list(pipeline.commands))
                if len(pipeline.commands) > 1:
                    self.where.directory = before

    def _node(self, node: Node, pipeline: list[Node]) -> None:
        for word in self._words(node):
            for inner in word.scripts:
                before = self.where.directory
                self.script(inner)
                self.where.directory = before
        for redirect in node.redirects:
            self._redirect(redirect)
        if isinstance(node, Compound):
            self._compound(node)
            return
        for assignment in node.assignments:
            if assignment.values and all(word.is_literal for word in assignment.values):
                self.where.values[assignment.name] = tuple(word.text for word in assignment.values)
        if node.words:
            self._run(node.words, node, pipeline)

    def _words(self, node: Node) -> Iterator[Word]:
        yield from node.words
        if isinstance(node, Command):
            for assignment in node.assignments:
                yield from assignment.values
        for redirect in node.redirects:
            yield redirect.target
            if redirect.body is not None:
                yield redirect.body

    def _compound(self, node: Compound) -> None:
        before = self.where.directory
        if node.kind == "unknown":  # the shell would run nothing of it; a host may know its own commands
            return
        if node.kind == "for":
            literal = all(word.is_literal or word.is_glob for word in node.words)
            self.where.values[node.name] = tuple(word.text for word in node.words) if literal and node.words else ("",)
        for part in node.parts:
            self.script(part)
        if node.kind in ("subshell", "function"):
            self.where.directory = before

    def _redirect(self, redirect: Redirect) -> None:
        if ">" not in redirect.operator or redirect.target.text.startswith(_QUIET_TARGETS):
            return
        if redirect.operator == ">&" and (redirect.target.text.isdigit() or redirect.target.text == "-"):
            return
        self.writes.add(self.paths((redirect.target,)), names=True)

    def paths(self, words: Sequence[Word]) -> list[str]:
        return [path for word in words for path in paths_of_word(word, self.where)]

    def texts(self, paths: Sequence[str]) -> list[str]:
        return [join(self.where.directory or "", path) for path in paths]

    def _run(self, words: Sequence[Word], node: Command, pipeline: list[Node]) -> None:
        name, rest = unwrap(words)
        if rest and rest[-1].text in ("--help", "--version"):
            return
        if name in ("cd", "pushd"):
            self.where.enter(rest)
        elif name in SHELLS:
            self._shell(rest, node)
        elif name == "git":
            self._git(rest)
        elif name == "apply_patch":
            bodies = [redirect.body.text for redirect in node.redirects if redirect.body is not None]
            self.writes.add(self.texts(paths_in_patch("\n".join([*bodies, *(word.text for word in rest)]))), names=True)
        elif name == "cat" and node.redirects:
            self._here_document(node)
        elif name in ("xargs", "find"):
            self._many(name, rest, node, pipeline)
        else:
            handler = _HANDLERS.get(name)
            if handler is not None:
                handler(self, name, rest)
            elif name in RUNNERS or name in PACKAGE_FILES:
                self._runner(name, rest, node)
            elif name and (not is_known(name) or (name in MAY_WRITE and sources_of(name, rest, piped=True) is None)):
                self._unknown(name, rest)

    def _unknown(self, name: str, rest: Sequence[Word]) -> None:
        named = [word for word in rest if is_path_like(word.text) or word.is_glob]
        values = [
            Word(text=word.text.partition("=")[2])
            for word in rest
            if word.text.startswith("--") and is_path_like(word.text.partition("=")[2])
        ]
        self.writes.add([path for path in self.paths((*named, *values)) if path], names=True, folders=True)

    def _shell(self, rest: Sequence[Word], node: Command) -> None:
        text = script_text(rest)
        bodies = [redirect.body for redirect in node.redirects if redirect.body is not None]
        self.scripts += 1
        if self.scripts <= MAX_SCRIPTS:
            for word in (text, *bodies):
                if word is not None:
                    before = self.where.directory
                    self.script(parse(word.text))
                    self.where.directory = before
        self.scripts -= 1
        if text is None and not bodies:
            operands = options_of(rest).operands
            self._unknown("sh", operands[1:])
            if operands:
                self._script(operands[0], operands[1:])

    def _git(self, rest: Sequence[Word]) -> None:
        call = git_call(rest)
        for path in changes_of_git(call):
            if path == ANYTHING:
                self.writes.add_anything()
            elif path == GIT:
                self.writes.add((GIT,), names=False)
            else:
                folder = join(self.where.directory or "", call.folder) if call.folder else self.where.directory or ""
                self.writes.add((join(folder, path),), names=True, folders=True)

    def _here_document(self, node: Command) -> None:
        """A script that is written is a script that will run: what it opens for writing counts as changed with it."""
        targets = [redirect.target.text for redirect in node.redirects if redirect.operator.startswith(">")]
        for redirect in node.redirects:
            if redirect.body is not None and any(_SCRIPT_NAME.search(target) for target in targets):
                self.written.update(target.rpartition("/")[2] for target in targets)
                self.writes.add(self.texts(paths_in_program(redirect.body.text)), names=True)

    def _many(self, name: str, rest: Sequence[Word], node: Command, pipeline: list[Node]) -> None:
        """What find deletes or runs, and what xargs runs: on any file below the start, or on any file."""
        found = sources_of(name, rest, piped=True)
        inner = found.inner if found is not None else ()
        if found is not None and not inner:
            return
        if found is not None and self.scripts < MAX_SCRIPTS:
            probe = _Walk(self.where.directory or "")
            probe.scripts = self.scripts + 1
            probe._run((*inner, Word(text="./*", is_glob=True)), node, [])
            if not probe.writes.paths and not probe.writes.everything:
                return
        starts = list(rest[: _first_option(rest)]) if name == "find" else []
        pattern = next((rest[at + 1] for at in range(len(rest) - 1) if rest[at].text in ("-name", "-iname")), None)
        if name == "find" and starts and pattern is not None:
            self.writes.add(
                [f"{path}/**/{pattern.text}" if path else f"**/{pattern.text}" for path in self.paths(starts)],
                names=True,
            )
        elif starts and all(word.text not in (".", "") for word in starts):
            self.writes.add(self.paths(starts), names=True, folders=True)
        else:
            self.writes.add_anything()

    def _runner(self, name: str, rest: Sequence[Word], node: Command) -> None:
        texts = [word.text for word in rest]
        plain = [text for text in texts if not text.startswith("-")]
        if name in ("npx", "bunx", "uvx") or (
            name in ("uv", "poetry", "pdm", "pipenv", "hatch", "bundle", "mise", "pnpm", "yarn", "npm", "bun")
            and plain[:1] in (["run"], ["exec"], ["dlx"], ["x"])
        ):
            self._through(name, rest, plain, node)
            return
        if name == "go":
            self._go(plain, rest)
            return
        formats = FORMATS_IF.get(name)
        if name in FORMATS_ALWAYS or (
            formats and any(text in formats or text.split("=")[0] in formats for text in texts)
        ):
            if name not in ("gofmt", "pre-commit") and not ONLY_CHECKS.isdisjoint(texts):
                return
            self._formatter(rest)
            return
        if name in PACKAGE_FILES and plain[:1] and (plain[0] in INSTALLS or plain[:2] == ["pip", "install"]):
            self.writes.add(PACKAGE_FILES[name], names=True, folders=True)
            return
        if name == "cargo" and plain[:1] == ["fmt"]:
            self.writes.reformats = True
        elif name == "cargo" and plain[:1] and plain[0] in INSTALLS:
            self.writes.add(("Cargo.toml", "Cargo.lock"), names=False)
        elif name in TASK_RUNNERS:
            self._task(plain)
        elif name in ("curl", "wget"):
            self._download(name, rest)
        else:
            self._program(name, rest, node)
        self.writes.products = self.writes.products or name in BUILDS

    def _through(self, name: str, rest: Sequence[Word], plain: list[str], node: Command) -> None:
        """`npx prettier --write a.ts`, `uv run pytest`, `npm run fmt`: the command or the task that is run."""
        start = 1 if name not in ("npx", "bunx", "uvx") else 0
        if len(plain) <= start:
            return
        at = next(index for index, word in enumerate(rest) if word.text == plain[start])
        if name in ("npm", "mise", "yarn", "pnpm", "bun") and plain[0] == "run":
            self._task(plain[start:])
            self.writes.products = True
            return
        if self.scripts < MAX_SCRIPTS:
            self.scripts += 1
            self._run(rest[at:], node, [])
            self.scripts -= 1

    def _task(self, names: Sequence[str]) -> None:
        """A task of a task runner, by its name alone."""
        if any(TASK_CHANGES.search(text) for text in names):
            self.writes.add_anything()
        elif any(TASK_FORMATS.search(text) for text in names):
            self.writes.reformats = True

    def _go(self, plain: list[str], rest: Sequence[Word]) -> None:
        match plain[:1]:
            case ["fmt"]:
                self.writes.reformats = True
            case ["generate"] | ["fix"]:
                self.writes.add_anything()
            case ["get"] | ["mod"] | ["work"]:
                self.writes.add(("go.mod", "go.sum", "go.work"), names=False)
            case ["build"] | ["install"] | ["test"]:
                output = next((rest[at + 1].text for at in range(len(rest) - 1) if rest[at].text == "-o"), "")
                if output:
                    self.writes.add(self.texts([output]), names=True)
                self.writes.products = True
            case _:
                pass

    def _formatter(self, rest: Sequence[Word]) -> None:
        """A formatter changes the files that it is given, or all."""
        named = [
            word
            for word in rest
            if not word.text.startswith("-") and is_path_like(word.text) and word.text not in ("./...", ".")
        ]
        if named and not any("..." in word.text for word in named):
            self.writes.add(self.paths(named), names=False, folders=True)
        else:
            self.writes.reformats = True

    def _download(self, name: str, rest: Sequence[Word]) -> None:
        options = options_of(
            rest,
            "oHdXuAebFTmwP" if name == "curl" else "OPoUe",
            frozenset({"--output", "--output-document", "--header", "--data", "--request"}),
        )
        target = options.value("-o", "--output") if name == "curl" else options.value("-O", "--output-document")
        if target and target != "-":
            self.writes.add(self.texts([target]), names=True)
        elif (name == "wget" and target is None) or options.has("-O", "--remote-name", "-J"):
            names = [word.text.rpartition("/")[2].partition("?")[0] for word in options.operands]
            self.writes.add(self.texts([text for text in names if text]), names=True)

    def _program(self, name: str, rest: Sequence[Word], node: Command) -> None:
        """An interpreter: what program text in the command opens for writing, and what is given to a script by name."""
        texts = [redirect.body.text for redirect in node.redirects if redirect.body is not None]
        inline = [after.text for word, after in pairwise(rest) if _IS_PROGRAM_OPTION.match(word.text) is not None]
        for text in (*texts, *inline):
            self.writes.add(self.texts(paths_in_program(text)), names=True)
        if name in ("perl", "ruby") and any(_IN_PLACE.match(word.text) is not None for word in rest):
            named = [word for word in rest if word.text not in inline and is_path_like(word.text)]
            self.writes.add(self.paths(named), names=False)
        elif name in INTERPRETERS and rest and not texts and not inline and not rest[0].text.startswith("-"):
            self._script(rest[0], rest[1:])
            if any(TASK_CHANGES.search(word.text) for word in rest[1:2]):  # manage.py makemigrations
                self.writes.add_anything()

    def _script(self, script: Word, rest: Sequence[Word]) -> None:
        """A script whose name says that it changes files, unless its text stands in the same command."""
        name = script.text.rpartition("/")[2]
        stem = name.partition(".")[0]
        if name in self.written or TASK_CHANGES.search(stem) is None or ONLY_LOOKS.search(stem) is not None:
            return
        named = [word for word in rest if is_path_like(word.text)]
        if named:
            self.writes.add(self.paths(named), names=True)
        else:
            self.writes.add_anything()


def _first_option(words: Sequence[Word]) -> int:
    return next((at for at, word in enumerate(words) if word.text[:1] in ("-", "(", "!")), len(words))


def _sed(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    options = options_of(
        [Word(text="-i") if word.text.startswith("-i") and len(word.text) < 12 else word for word in rest],
        "efl",
        frozenset({"--expression", "--file"}),
    )
    if not options.has("-i", "--in-place"):
        if sources_of("sed", rest, piped=True) is None:  # its `w` command names a file inside the program
            walk.writes.add([path for word in rest for path in re.findall(r"w\s+([^\s;}'\"]+)", word.text)], names=True)
        return
    operands = [word for word in options.operands if word.text]
    operands = operands if options.has("-e", "-f", "--expression", "--file") else operands[1:]
    walk.writes.add(walk.paths(operands), names=False)


def _operands(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    operands = options_of(rest, "st" if name == "truncate" else "m" if name == "mkdir" else "").operands
    if name == "touch" or name == "mkdir":
        walk.writes.add([path for path in walk.paths(operands) if path], names=True)
    else:
        walk.writes.add(walk.paths(operands), names=True, folders=name in ("rm", "rmdir", "trash"))


def _move(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    options = options_of(rest, "tSe", frozenset({"--target-directory", "--exclude", "--rsh"}))
    target = options.value("-t", "--target-directory")
    operands = options.operands
    paths = walk.texts([target]) if target else walk.paths(operands[-1:])
    paths = [path for path in paths if path]
    sources = walk.paths(operands if target else operands[:-1])
    if name == "mv":
        walk.writes.add([path for path in sources if path], names=True, folders=True)
    # What lands in a folder has the name of its source.
    landed = [
        join(path, source.rpartition("/")[2])
        for path in paths or [""]
        for source in sources
        if source.rpartition("/")[2]
    ]
    copies_folder = name in ("rsync", "ditto") or options.has("-r", "-R", "-a", "--recursive", "--archive")
    walk.writes.add(paths, names=True, folders=name == "rsync")
    walk.writes.add(landed, names=True, folders=copies_folder or name == "mv")


def _patch(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    """A patch whose text is not in the command may change any file."""
    options = options_of(rest, "pidoDFB", frozenset({"--input", "--directory", "--output"}))
    if options.has("--dry-run"):
        return
    if options.operands:
        walk.writes.add(walk.paths(options.operands[:1]), names=True)
    else:
        walk.writes.add_anything()


def _extract(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    if not rest:
        return
    if name == "tar":
        mode = rest[0].text
        options = options_of(rest[1:], "Cf", frozenset({"--directory", "--exclude"}))
        if "x" in mode or "--extract" in mode:
            folder = options.value("-C", "--directory")
            walk.writes.add(walk.texts([folder]) if folder else [""], names=True, folders=True)
        elif "c" in mode or "r" in mode:
            walk.writes.add(walk.paths(rest[1:2]), names=True)
        return
    if name == "zip":
        walk.writes.add(walk.paths(options_of(rest).operands[:1]), names=True)
        return
    options = options_of(rest, "dP" if name == "unzip" else "")
    if options.has("-l", "-t", "-p", "-Z"):
        return
    folder = options.value("-d") or next(
        (word.text[2:] for word in rest if word.text.startswith("-o") and name in ("7z", "7za")), None
    )
    walk.writes.add(walk.texts([folder]) if folder else [""], names=True, folders=True)


def _dd(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    walk.writes.add(walk.texts([word.text[3:] for word in rest if word.text.startswith("of=")]), names=True)


def _sort(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    output = options_of(rest, "kStTo", frozenset({"--output"})).value("-o", "--output")
    if output:
        walk.writes.add(walk.texts([output]), names=True)


def _awk(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    texts = [word.text for word in rest]
    if "inplace" in texts:
        walk.writes.add(walk.paths([word for word in rest if is_path_like(word.text)]), names=False)
        return
    program = next((text for text in texts if not text.startswith("-")), "")
    walk.writes.add(walk.texts(re.findall(r">+\s*\"([^\"\n]{1,200})\"", program)), names=True)


_HANDLERS: dict[str, Callable[[_Walk, str, Sequence[Word]], None]] = {
    **dict.fromkeys(ALL_OPERANDS, _operands),
    **dict.fromkeys((*LAST_OPERAND, "mv"), _move),
    **dict.fromkeys(("tar", "unzip", "7z", "7za", "zip"), _extract),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    "dd": _dd,
    "gsed": _sed,
    "patch": _patch,
    "sed": _sed,
    "sort": _sort,
}
