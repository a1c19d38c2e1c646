"""What a shell command may change: the paths that it writes, verb by verb.

The rule, chosen so that a note "a re-run gives it" is true and still common:
- commands known to change files (editors in place, formatters, moves, git commands that write the tree, patches, package
  installs, redirects) change what they name; where they name nothing, any file;
- test runners, linters, compilers, interpreters and servers change nothing that was read, except build products (`PRODUCTS`)
  and what program text in the command itself opens for writing;
- any other command that is not known to only read may change the paths that its words name, and no others.
So a script that edits files without naming them, and a task runner whose task formats, are missed unless their name says so.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from reefknot.compact.git import ANYTHING, changes_of_git, git_call
from reefknot.compact.options import options_of
from reefknot.compact.paths import GIT, is_path_like, join
from reefknot.compact.purity import Directories, paths_of_word
from reefknot.compact.shell import Command, Compound, Node, Redirect, Script, Word, parse
from reefknot.compact.verbs import sources_of
from reefknot.compact.wrappers import SHELLS, script_text, unwrap

__all__ = ["PRODUCTS", "Writes", "paths_in_patch", "paths_in_program", "writes_of_script"]

PRODUCTS = frozenset({"build", "dist", "target", "out", "coverage", "node_modules", ".next", "__pycache__", "obj"})
MAX_SCRIPTS = 2  # commands inside commands
MAX_PROGRAM = 200_000  # characters of a program that are searched for what it writes

_QUIET_TARGETS = ("/dev/", "&", "$null")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_DIFFED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+?)(?:\t.*)?$", re.MULTILINE)
_WRITES = re.compile(
    r"\.write(?:_text|_bytes|lines|File|FileSync)?\(|\bwriteFile(?:Sync)?\(|\bopen\([^)\n]{0,200}(?:['\"](?:[wax][+bt]*|r\+b?)['\"]|mode=['\"][wax])|\bos\.(?:remove|rename|replace|unlink)\("
    r"|\bshutil\.|\.unlink\(|\.rename\(|\bto_(?:csv|json|excel|parquet|sql)\(|\.save(?:fig)?\(|\bdump\(|\bfileinput\b|inplace=|appendFile|rmSync|unlinkSync|copyFile"
)
_LITERAL = re.compile(r"['\"]([^'\"\n\\]{1,200})['\"]")
_SCRIPT_NAME = re.compile(r"\.(?:py|js|mjs|cjs|ts|rb|pl|php|sh|bash|lua)$")

_RUNNERS = frozenset(
    "pytest py.test unittest nosetests tox nox jest vitest mocha ava karma phpunit rspec ctest gtest bats playwright cypress"
    " go cargo mvn gradle gradlew ./gradlew ./mvnw dotnet swift xcodebuild bazel make cmake ninja meson tsc tsgo webpack vite rollup esbuild parcel turbo nx"
    " npm npx pnpm yarn bun bunx deno node python python2 python3 pypy pypy3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13"
    " ruby perl php lua java javac scala kotlin kotlinc gcc g++ cc clang clang++ ld rustc ghc ocaml sbcl R Rscript julia erl elixir mix rake bundle gem"
    " mypy pyright basedpyright flake8 pylint shellcheck hadolint yamllint markdownlint golangci-lint staticcheck eslint tslint stylelint clippy codespell"
    " uv poetry pipenv hatch pdm conda mamba pip pip3 mise just task invoke lefthook pre-commit tox tox4"
    " docker docker-compose podman kubectl helm gh hub glab aws gcloud az terraform vercel netlify fly heroku psql mysql redis-cli mongo ssh ping nc"
    " netcat telnet nmap dig nslookup host curl wget http gdb lldb strace ltrace radare2 r2 valgrind perf time watch sleep date wc stat du df ps top free"
    " kill pkill killall jobs fg bg wait lsof ss netstat ip ifconfig uptime mount journalctl systemctl service crontab open xdg-open code man help"
    " clear reset history uptime nproc lscpu nvidia-smi vmstat iostat tput stty screen tmux entire claude codex gofmt gofumpt goimports black ruff isort"
    " prettier biome rustfmt clang-format autopep8 yapf shfmt terraform buf swiftformat ktlint standard xo dprint rubocop submit exit chmod chown chgrp"
    " export source . eval trap pushd popd cd read exec umask ulimit exiftool binwalk steghide file ldd"
    .split()
)  # fmt: skip
_FORMATS_ALWAYS = frozenset({"black", "isort", "rustfmt", "yapf", "swiftformat", "dprint", "unexpand-in-place"})
_FORMATS_IF = {
    "gofmt": ("-w",), "gofumpt": ("-w",), "goimports": ("-w",), "prettier": ("--write", "-w"), "biome": ("--write", "--apply", "--fix", "format"),
    "eslint": ("--fix",), "stylelint": ("--fix",), "ruff": ("--fix", "format", "--fix-only"), "clang-format": ("-i",), "autopep8": ("-i", "--in-place"),
    "shfmt": ("-w",), "golangci-lint": ("--fix", "fmt"), "rubocop": ("-a", "-A", "--autocorrect", "--autocorrect-all"), "standard": ("--fix",),
    "ktlint": ("-F", "--format"), "terraform": ("fmt",), "buf": ("generate", "format"), "pre-commit": ("run",), "lefthook": ("run",),
    "dotnet": ("format",), "codespell": ("-w",), "markdownlint": ("--fix",), "xo": ("--fix",),
}  # fmt: skip
_ONLY_CHECKS = frozenset({"--check", "--diff", "--check-only", "-c", "--list-different", "-l", "--dry-run", "-d"})
_TASK_RUNNERS = frozenset("make npm pnpm yarn bun mise just task rake nox tox invoke turbo nx hatch poetry pdm gradle gradlew ./gradlew mvn mix bazel deno composer".split())
_TASK_CHANGES = re.compile(
    r"(?:^|[:_/-])(?:fmt|format|reformat|fix|autofix|gen|generate|codegen|update|upgrade|sync|migrate|migration|makemigrations|vendor|tidy|scaffold|clean|write|rename|release|bump)(?:$|[:_/-])"
)
_INSTALLS = frozenset("install i add remove rm uninstall update upgrade ci link dedupe sync lock require".split())
_PACKAGE_FILES = {
    "npm": ("package.json", "package-lock.json", "node_modules"), "pnpm": ("package.json", "pnpm-lock.yaml", "node_modules"),
    "yarn": ("package.json", "yarn.lock", "node_modules"), "bun": ("package.json", "bun.lock", "node_modules"),
    "pip": ("site-packages",), "pip3": ("site-packages",), "uv": ("site-packages", "uv.lock", "pyproject.toml"),
    "poetry": ("pyproject.toml", "poetry.lock", "site-packages"), "pdm": ("pyproject.toml", "pdm.lock", "site-packages"),
    "pipenv": ("Pipfile", "Pipfile.lock"), "bundle": ("Gemfile.lock",), "composer": ("composer.json", "composer.lock", "vendor"),
    "apt": (), "apt-get": (), "brew": (), "conda": ("site-packages",), "gem": (), "deno": ("deno.json", "deno.lock"),
}  # fmt: skip
_LAST_OPERAND = frozenset({"cp", "ln", "install", "rsync", "scp", "ditto"})
_ALL_OPERANDS = frozenset("rm rmdir unlink shred touch truncate mkdir mkfifo tee gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd ed ex vim vi nano emacs trash sqlite3 dos2unix unix2dos sponge".split())


@dataclass(slots=True)
class Writes:
    """What a command may change, gathered. `names`: files may come or go; `products`: build products may change."""

    paths: dict[str, None] = field(default_factory=dict[str, None])
    everything: bool = False
    names: bool = False
    products: bool = False

    def add(self, paths: Sequence[str], *, names: bool) -> None:
        for path in paths:
            if path == "":
                self.everything = True
            else:
                self.paths[path] = None
        self.names = self.names or (names and bool(paths))

    def add_anything(self) -> None:
        self.everything = self.names = True


def paths_in_patch(text: str) -> list[str]:
    """The files that a patch names, in either of the two forms that agents write.

    >>> paths_in_patch("*** Begin Patch\\n*** Update File: src/a.py\\n@@\\n"), paths_in_patch("--- a/x.c\\n+++ b/x.c\\n")
    (['src/a.py'], ['x.c'])
    """
    found = _PATCHED.findall(text) or [path for path in _DIFFED.findall(text) if path != "/dev/null"]
    return list(dict.fromkeys(found))


def paths_in_program(text: str) -> list[str]:
    """Literal paths in a program that looks as if it wrote, moved or removed files; [] when it does not.

    >>> paths_in_program("p = 'src/a.py'\\nt = open(p).read()\\nopen(p, 'w').write(t)"), paths_in_program("print(open('a.py').read())")
    (['src/a.py'], [])
    """
    text = text[:MAX_PROGRAM]
    if _WRITES.search(text) is None:
        return []
    return list(dict.fromkeys(literal for literal in _LITERAL.findall(text) if is_path_like(literal)))


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
        self.writes.add(self._paths((redirect.target,)), names=True)

    def _paths(self, words: Sequence[Word]) -> list[str]:
        return [path for word in words for path in paths_of_word(word, self.where)]

    def _texts(self, paths: Sequence[str]) -> list[str]:
        return [join(self.where.directory or "", path) for path in paths]

    def _run(self, words: Sequence[Word], node: Command, pipeline: list[Node]) -> None:
        name, rest = unwrap(words)
        if name in ("cd", "pushd"):
            self.where.enter(rest)
        elif name in SHELLS:
            self._shell(rest, node)
        elif name == "git":
            self._git(rest)
        elif name == "apply_patch":
            bodies = [redirect.body.text for redirect in node.redirects if redirect.body is not None]
            self.writes.add(self._texts(paths_in_patch("\n".join([*bodies, *(word.text for word in rest)]))), names=True)
        elif name == "cat" and node.redirects:
            self._here_document(node)
        elif name in ("xargs", "find"):
            self._many(name, rest, node, pipeline)
        else:
            handler = _HANDLERS.get(name)
            if handler is not None:
                handler(self, name, rest)
            elif name in _RUNNERS or name in _PACKAGE_FILES:
                self._runner(name, rest, node)
            elif name and sources_of(name, rest, piped=True) is None:
                self._unknown(name, rest)

    def _unknown(self, name: str, rest: Sequence[Word]) -> None:
        named = [word for word in rest if is_path_like(word.text) or word.is_glob]
        values = [Word(text=word.text.partition("=")[2]) for word in rest if word.text.startswith("--") and is_path_like(word.text.partition("=")[2])]
        self.writes.add(self._paths((*named, *values)), names=True)

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
            if operands and _TASK_CHANGES.search(operands[0].text.rpartition("/")[2].partition(".")[0]):
                self.writes.add_anything()

    def _git(self, rest: Sequence[Word]) -> None:
        call = git_call(rest)
        for path in changes_of_git(call):
            if path == ANYTHING:
                self.writes.add_anything()
            elif path == GIT:
                self.writes.add((GIT,), names=False)
            else:
                folder = join(self.where.directory or "", call.folder) if call.folder else self.where.directory or ""
                self.writes.add((join(folder, path),), names=True)

    def _here_document(self, node: Command) -> None:
        """A script that is written is a script that will run: what it opens for writing counts as changed with it."""
        targets = [redirect.target.text for redirect in node.redirects if redirect.operator.startswith(">")]
        for redirect in node.redirects:
            if redirect.body is not None and any(_SCRIPT_NAME.search(target) for target in targets):
                self.writes.add(self._texts(paths_in_program(redirect.body.text)), names=True)

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
        starts = [word for word in rest[: _first_option(rest)]] if name == "find" else []
        pattern = next((rest[at + 1] for at in range(len(rest) - 1) if rest[at].text in ("-name", "-iname")), None)
        if name == "find" and starts and pattern is not None:
            self.writes.add([f"{path}/**/{pattern.text}" if path else f"**/{pattern.text}" for path in self._paths(starts)], names=True)
        elif starts and all(word.text not in (".", "") for word in starts):
            self.writes.add(self._paths(starts), names=True)
        else:
            self.writes.add_anything()

    def _runner(self, name: str, rest: Sequence[Word], node: Command) -> None:
        texts = [word.text for word in rest]
        plain = [text for text in texts if not text.startswith("-")]
        if name in ("npx", "bunx", "uvx") or (name in ("uv", "poetry", "pdm", "pipenv", "hatch", "bundle", "mise", "pnpm", "yarn", "npm", "bun") and plain[:1] in (["run"], ["exec"], ["dlx"], ["x"])):
            self._through(name, rest, plain, node)
            return
        if name == "go":
            self._go(plain, rest)
            return
        formats = _FORMATS_IF.get(name)
        if name in _FORMATS_ALWAYS or (formats and any(text in formats or text.split("=")[0] in formats for text in texts)):
            if name not in ("gofmt", "pre-commit") and not _ONLY_CHECKS.isdisjoint(texts):
                return
            self._formatter(rest)
            return
        if name in _PACKAGE_FILES and plain[:1] and (plain[0] in _INSTALLS or plain[:2] == ["pip", "install"]):
            self.writes.add(_PACKAGE_FILES[name], names=True)
            return
        if name == "cargo" and plain[:1] in (["fmt"], ["fix"]):
            self.writes.add_anything()
        elif name == "cargo" and plain[:1] and plain[0] in _INSTALLS:
            self.writes.add(("Cargo.toml", "Cargo.lock"), names=False)
        elif name in _TASK_RUNNERS and any(_TASK_CHANGES.search(text) for text in plain):
            self.writes.add_anything()
        elif name in ("curl", "wget"):
            self._download(name, rest)
        else:
            self._program(name, rest, node)
        self.writes.products = self.writes.products or name in _BUILDS

    def _through(self, name: str, rest: Sequence[Word], plain: list[str], node: Command) -> None:
        """`npx prettier --write a.ts`, `uv run pytest`, `npm run fmt`: the command or the task that is run."""
        start = 1 if name not in ("npx", "bunx", "uvx") else 0
        if len(plain) <= start:
            return
        at = next(index for index, word in enumerate(rest) if word.text == plain[start])
        if name in ("npm", "mise", "yarn", "pnpm", "bun") and plain[0] == "run":
            if any(_TASK_CHANGES.search(text) for text in plain[start:]):
                self.writes.add_anything()
            self.writes.products = True
            return
        if self.scripts < MAX_SCRIPTS:
            self.scripts += 1
            self._run(rest[at:], node, [])
            self.scripts -= 1

    def _go(self, plain: list[str], rest: Sequence[Word]) -> None:
        match plain[:1]:
            case ["fmt"] | ["generate"] | ["fix"]:
                self.writes.add_anything()
            case ["get"] | ["mod"] | ["work"]:
                self.writes.add(("go.mod", "go.sum", "go.work"), names=False)
            case ["build"] | ["install"] | ["test"]:
                output = options_of(rest[1:], "o").value("-o")
                if output:
                    self.writes.add(self._texts([output]), names=True)
                self.writes.products = True
            case _:
                pass

    def _formatter(self, rest: Sequence[Word]) -> None:
        """A formatter changes the files that it is given, or all."""
        named = [word for word in rest if not word.text.startswith("-") and is_path_like(word.text) and word.text not in ("./...", ".")]
        if named and not any("..." in word.text for word in named):
            self.writes.add(self._paths(named), names=False)
        else:
            self.writes.add_anything()

    def _download(self, name: str, rest: Sequence[Word]) -> None:
        options = options_of(rest, "oHdXuAebFTmwP" if name == "curl" else "OPoUe", frozenset({"--output", "--output-document", "--header", "--data", "--request"}))
        target = options.value("-o", "--output") if name == "curl" else options.value("-O", "--output-document")
        if target and target != "-":
            self.writes.add(self._texts([target]), names=True)
        elif (name == "wget" and target is None) or options.has("-O", "--remote-name", "-J"):
            names = [word.text.rpartition("/")[2].partition("?")[0] for word in options.operands]
            self.writes.add(self._texts([text for text in names if text]), names=True)

    def _program(self, name: str, rest: Sequence[Word], node: Command) -> None:
        """An interpreter: what program text in the command opens for writing, and what is given to a script by name."""
        texts = [redirect.body.text for redirect in node.redirects if redirect.body is not None]
        inline = [rest[at + 1].text for at in range(len(rest) - 1) if rest[at].text in ("-c", "-e", "-pe", "-ne", "--eval")]
        for text in (*texts, *inline):
            self.writes.add(self._texts(paths_in_program(text)), names=True)
        if name in ("perl", "ruby") and any(word.text.startswith("-") and "i" in word.text.partition("e")[0] for word in rest if len(word.text) < 8):
            self.writes.add(self._paths([word for word in rest if is_path_like(word.text)]), names=False)
        elif name in _INTERPRETERS and rest and not texts and not inline and not rest[0].text.startswith("-"):
            if _TASK_CHANGES.search(rest[0].text.rpartition("/")[2].partition(".")[0]):  # fix_imports.py, generate.py
                self._given(rest[1:])
            if any(_TASK_CHANGES.search(word.text) for word in rest[1:2]):  # manage.py makemigrations
                self.writes.add_anything()

    def _given(self, rest: Sequence[Word]) -> None:
        named = [word for word in rest if is_path_like(word.text)]
        if named:
            self.writes.add(self._paths(named), names=True)
        else:
            self.writes.add_anything()


def _first_option(words: Sequence[Word]) -> int:
    return next((at for at, word in enumerate(words) if word.text[:1] in ("-", "(", "!")), len(words))


_BUILDS = frozenset("make npm pnpm yarn bun npx tsc tsgo cargo mvn gradle gradlew ./gradlew dotnet cmake ninja webpack vite rollup esbuild turbo mise just swift xcodebuild bazel".split())
_INTERPRETERS = frozenset("python python2 python3 pypy3 node ruby perl php lua deno bun tsx ts-node".split())


def _sed(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    options = options_of([Word(text="-i") if word.text.startswith("-i") and len(word.text) < 12 else word for word in rest], "efl", frozenset({"--expression", "--file"}))
    if not options.has("-i", "--in-place"):
        if sources_of("sed", rest, piped=True) is None:  # its `w` command names a file inside the program
            walk.writes.add([path for word in rest for path in re.findall(r"w\s+([^\s;}'\"]+)", word.text)], names=True)
        return
    operands = [word for word in options.operands if word.text]
    operands = operands if options.has("-e", "-f", "--expression", "--file") else operands[1:]
    walk.writes.add(walk._paths(operands), names=False)


def _operands(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    operands = options_of(rest, "st" if name == "truncate" else "m" if name == "mkdir" else "").operands
    if name == "touch" or name == "mkdir":
        walk.writes.add([path for path in walk._paths(operands) if path], names=True)
    else:
        walk.writes.add(walk._paths(operands), names=True)


def _move(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    options = options_of(rest, "tSe", frozenset({"--target-directory", "--exclude", "--rsh"}))
    target = options.value("-t", "--target-directory")
    operands = options.operands
    paths = walk._texts([target]) if target else walk._paths(operands[-1:])
    paths = [path for path in paths if path]
    sources = walk._paths(operands if target else operands[:-1])
    if name == "mv":
        walk.writes.add([path for path in sources if path], names=True)
    # What lands in a folder has the name of its source.
    landed = [join(path, source.rpartition("/")[2]) for path in paths or [""] for source in sources if source.rpartition("/")[2]]
    walk.writes.add([*paths, *landed], names=True)


def _patch(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    options = options_of(rest, "pidoDFB", frozenset({"--input", "--directory", "--output"}))
    if options.has("--dry-run"):
        return
    if options.operands:
        walk.writes.add(walk._paths(options.operands[:1]), names=True)
    else:
        walk.writes.add_anything()


def _extract(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    if not rest:
        return
    if name == "tar":
        mode = rest[0].text
        options = options_of(rest[1:], "Cf", frozenset({"--directory", "--exclude"}))
        if "x" in mode or "--extract" in mode:
            walk.writes.add(walk._texts([options.value("-C", "--directory") or ""]) if options.value("-C", "--directory") else [""], names=True)
        elif "c" in mode or "r" in mode:
            walk.writes.add(walk._paths(rest[1:2]), names=True)
        return
    if name in ("zip",):
        walk.writes.add(walk._paths(options_of(rest).operands[:1]), names=True)
        return
    options = options_of(rest, "dP" if name == "unzip" else "")
    if options.has("-l", "-t", "-p", "-Z"):
        return
    folder = options.value("-d") or next((word.text[2:] for word in rest if word.text.startswith("-o") and name in ("7z", "7za")), None)
    walk.writes.add(walk._texts([folder]) if folder else [""], names=True)


def _dd(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    walk.writes.add(walk._texts([word.text[3:] for word in rest if word.text.startswith("of=")]), names=True)


def _sort(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    output = options_of(rest, "kStTo", frozenset({"--output"})).value("-o", "--output")
    if output:
        walk.writes.add(walk._texts([output]), names=True)


def _awk(walk: _Walk, name: str, rest: Sequence[Word]) -> None:
    texts = [word.text for word in rest]
    if "inplace" in texts:
        walk.writes.add(walk._paths([word for word in rest if is_path_like(word.text)]), names=False)
        return
    program = next((text for text in texts if not text.startswith("-")), "")
    walk.writes.add(walk._texts(re.findall(r">+\s*\"([^\"\n]{1,200})\"", program)), names=True)


_HANDLERS: dict[str, Callable[[_Walk, str, Sequence[Word]], None]] = {
    **dict.fromkeys(_ALL_OPERANDS, _operands),
    **dict.fromkeys((*_LAST_OPERAND, "mv"), _move),
    **dict.fromkeys(("tar", "unzip", "7z", "7za", "zip"), _extract),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    "dd": _dd,
    "gsed": _sed,
    "patch": _patch,
    "sed": _sed,
    "sort": _sort,
}
