"""Which commands only read, verb by verb, and what they read.

An allow-list: a verb that is not named here, an option that could write, run or follow, and every measurement
(sizes, counts, times, processes) is no read. A command is a read when all that it would run is one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reefknot.compact.commands.options import Options, options_of
from reefknot.compact.commands.paths import is_mutable_source, is_path_like
from reefknot.compact.commands.programs import awk_is_pure, awk_span, sed_is_pure, sed_span
from reefknot.compact.commands.shell import Word

__all__ = ["FILTER", "Kind", "Sources", "Span", "is_known", "sources_of"]

Kind = str  # "file", "search", "listing", "git", "command", or "" for what only passes its input on
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What one pure command reads: words that name files or folders ("" as text: the working directory).

    `span`: the lines that it shows of each. `whole`: it shows all of each. `inner`: the words of a command that it
    runs,
    which must be pure too, given names of files that are not known here.
    """

    operands: tuple[Word, ...] = ()
    kind: Kind = ""
    span: Span | None = None
    whole: bool = False
    inner: tuple[Word, ...] = ()


FILTER = Sources()
_HERE = Word(text="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """A verb whose operands are files. `refuse`: options with which it is no read; `skip`: operands that are none."""

    valued: str = ""
    long: frozenset[str] = frozenset()
    refuse: frozenset[str] = frozenset()
    skip: int = 0
    most: int = 1_000
    kind: Kind = "file"
    whole: bool = False


def _long(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILES: dict[str, _Files] = {
    "cat": _Files(whole=True),
    "bat": _Files(
        valued="lrHm",
        long=_long("--language --style --line-range --theme --paging --color"),
        refuse=_long("--pager -r --line-range"),
        whole=True,
    ),
    "nl": _Files(valued="bdfhilnsvw", whole=True),
    "tac": _Files(valued="s"),
    "less": _Files(refuse=_long("-o -O --log-file --LOG-FILE +F"), whole=True),
    "more": _Files(whole=True),
    "head": _Files(valued="nc", long=_long("--lines --bytes")),
    "tail": _Files(valued="nc", long=_long("--lines --bytes"), refuse=_long("-f -F --follow --retry --pid -s -Wait")),
    "cut": _Files(valued="bcdf", long=_long("--delimiter --fields --characters --output-delimiter")),
    "sort": _Files(
        valued="kStT",
        long=_long("--key --field-separator --parallel"),
        refuse=_long("-o --output --compress-program -R --random-sort -T"),
    ),
    "uniq": _Files(valued="fsw", most=1),
    "rev": _Files(),
    "fold": _Files(valued="w"),
    "fmt": _Files(valued="w"),
    "column": _Files(valued="cosNH"),
    "expand": _Files(valued="t"),
    "unexpand": _Files(valued="t"),
    "paste": _Files(valued="d"),
    "join": _Files(valued="aejotv12"),
    "comm": _Files(),
    "strings": _Files(valued="net"),
    "od": _Files(valued="AjNtSw"),
    "hexdump": _Files(valued="nsef"),
    "hd": _Files(valued="ns"),
    "xxd": _Files(valued="slcgo", refuse=frozenset({"-r"}), most=1),
    "base64": _Files(valued="wib"),
    "md5sum": _Files(),
    "md5": _Files(),
    "sha1sum": _Files(),
    "sha256sum": _Files(),
    "sha512sum": _Files(),
    "shasum": _Files(valued="a"),
    "cksum": _Files(),
    "b2sum": _Files(),
    "diff": _Files(valued="UCIxX", long=_long("--exclude --label"), kind="search"),
    "cmp": _Files(valued="in"),
    "file": _Files(valued="mFf", refuse=_long("-C --compile")),
    "readlink": _Files(kind="listing"),
    "realpath": _Files(kind="listing"),
    "zcat": _Files(),
    "gzcat": _Files(),
    "bzcat": _Files(),
    "xzcat": _Files(),
    "zstdcat": _Files(),
    "objdump": _Files(valued="jmMC", long=_long("--start-address --stop-address --disassemble")),
    "readelf": _Files(valued="xpR"),
    "nm": _Files(),
    "jq": _Files(valued="fL", long=_long("--indent --tab --from-file"), skip=1),
    "zipinfo": _Files(kind="listing"),
    "get-content": _Files(refuse=_long("-Wait -Tail -wait -tail -W -a -i -t")),
    "test": _Files(kind="listing"),
    "[": _Files(kind="listing"),
}
_FILES.update(
    {"batcat": _FILES["bat"], "gunzip -c": _FILES["zcat"], "gc": _FILES["get-content"], "type-file": _FILES["cat"]}
)

_QUIET = _long(
    "echo printf true false : pwd basename dirname seq tr type which whoami id uname arch set shopt export unset local"
    " declare readonly return exit break continue shift expr whereis locale alias hash let typeset umask"
)  # their output depends on nothing that a tool changes, or they have none
_RUN_OTHERS = _long(
    "npx npm pnpm yarn bun bunx node deno python python3 ruby perl php go cargo mise make just task uv uvx"
    " poetry java docker ssh tsx"
)
_FILTERS = _long("out-string format-table format-list select-object out-host write-output write-host sort-object")
_GREP_VALUED = "ABCDdefm"
_GREP_LONG = _long(
    "--include --exclude --exclude-dir --include-dir --color --colour --context --after-context --before-context"
    " --max-count"
    " --regexp --file --label --binary-files --directories --devices"
)
_RG_VALUED = "ABCEMTdefgjmrt"
_RG_LONG = _long(
    "--glob --type --type-not --iglob --max-count --context --after-context --before-context --regexp --file"
    " --max-depth"
    " --replace --sort --sortr --color --colors --encoding --engine --max-columns --max-filesize --threads --type-add"
    " --ignore-file --path-separator --field-match-separator --context-separator"
)
_FIND_ACTIONS = _long("-delete -ok -okdir -fprint -fprint0 -fprintf -fls")
_FIND_MEASURES = _long(
    "-ls -mtime -atime -ctime -mmin -amin -cmin -used -newer -newermt -newerat -newerct -anewer -cnewer"
)
_FIND_CONTENT = _long("-size -empty")
_FIND_PRINTF = re.compile(r"%[-+ #0-9.]*[stTaAcCkbniGgUuMm]")


def _files(name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    known = _FILES[name]
    options = options_of(words, known.valued, known.long)
    if options.has(*known.refuse):
        return None
    operands = options.operands[known.skip :]
    if len(operands) > known.most:
        return None
    if name == "tail":
        operands = tuple(word for word in operands if not word.text.startswith("+"))
    if name in ("test", "["):
        operands = tuple(word for word in operands if word.text not in ("]", "=", "==", "!="))
    if name == "diff" and options.has("-r", "--recursive"):
        return Sources(operands=operands, kind="search")
    kind = known.kind if operands else ""
    if name == "head":
        span = _head_span(options)
        return Sources(operands=operands, kind=kind, span=span)
    return Sources(operands=operands, kind=kind, whole=known.whole and bool(operands))


def _head_span(options: Options) -> Span | None:
    if options.has("-c", "--bytes"):
        return None
    count = options.value("-n", "--lines") or "10"
    return (1, int(count)) if count.isdigit() and 0 < len(count) < 10 and int(count) else None


def _grep(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(words, _GREP_VALUED, _GREP_LONG)
    if any(name == "--include" and is_mutable_source(value) for name, value in options.flags):
        return None
    operands = options.operands if options.has("-e", "-f", "--regexp", "--file") else options.operands[1:]
    if not operands and not piped and options.has("-r", "-R", "--recursive", "--dereference-recursive"):
        operands = (_HERE,)
    return Sources(operands=operands, kind="search" if operands else "")


def _rg(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(words, _RG_VALUED, _RG_LONG)
    if options.has("--pre", "--hostname-bin", "--search-zip", "-z", "--pager", "--stats"):
        return None
    if any(name in ("-g", "--glob") and is_mutable_source(value) for name, value in options.flags):
        return None
    lists = options.has("--files", "--type-list")
    has_pattern = options.has("-e", "-f", "--regexp", "--file") or lists
    operands = options.operands if has_pattern else options.operands[1:]
    if not operands and (not piped or lists):
        operands = (_HERE,)
    return Sources(operands=operands, kind="" if not operands else "listing" if lists else "search")


def _find(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    starts: list[Word] = []
    position = 0
    for word in words:
        if word.text[:1] in ("-", "(", "!"):
            if word.text not in ("-L", "-H", "-P"):
                break
        else:
            starts.append(word)
        position += 1
    kind, inner = "listing", tuple[Word, ...]()
    while position < len(words):
        text = words[position].text
        position += 1
        if text in _FIND_ACTIONS or text in _FIND_MEASURES:
            return None
        if text == "-printf" and position < len(words) and _FIND_PRINTF.search(words[position].text):
            return None
        if text in ("-name", "-iname", "-path") and position < len(words) and is_mutable_source(words[position].text):
            return None
        if text in ("-exec", "-execdir"):
            end = next((at for at in range(position, len(words)) if words[at].text in (";", "+")), len(words))
            if inner:
                return None
            inner, kind, position = tuple(words[position:end]), "search", end + 1
        elif text in _FIND_CONTENT:
            kind = "search"
    return Sources(operands=tuple(starts) or (_HERE,), kind=kind, inner=inner)


def _fd(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(
        words, "etEdSxX", _long("--extension --type --exclude --max-depth --exec --exec-batch --glob --size")
    )
    if options.has(
        "-x", "-X", "--exec", "--exec-batch", "-l", "--list-details", "--changed-within", "--changed-before"
    ):
        return None
    return Sources(operands=options.operands[1:] or (_HERE,), kind="listing")


def _ls(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(words, "IwT", _long("--ignore --hide --color --sort --width --time --block-size"))
    if options.has(
        "-l",
        "-s",
        "-t",
        "-S",
        "-i",
        "-g",
        "-o",
        "-n",
        "-u",
        "-c",
        "-h",
        "--full-time",
        "--size",
        "--sort",
        "--inode",
        "--time",
    ):
        return None
    return Sources(operands=options.operands or (_HERE,), kind="listing")


def _tree(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(words, "LIPoH", _long("--filelimit --gitfile --infofile"))
    if options.has(
        "-s", "-h", "-D", "-p", "-u", "-g", "--du", "-o", "-R", "--inodes", "-t", "-c", "--timefmt", "--sort"
    ):
        return None
    return Sources(operands=options.operands or (_HERE,), kind="listing")


def _sed(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(words, "efl", _long("--expression --file --line-length"))
    if options.has("-i", "--in-place", "-f", "--file") or any(
        name.startswith("--in-place") for name, _ in options.flags
    ):
        return None
    programs = [value for name, value in options.flags if name in ("-e", "--expression")]
    operands = options.operands
    if not programs:
        if not operands:
            return None
        programs, operands = [operands[0].text], operands[1:]
    if not all(sed_is_pure(program) for program in programs):
        return None
    quiet = options.has("-n", "--quiet", "--silent")
    span = sed_span(programs[0]) if quiet and len(programs) == 1 else None
    return Sources(operands=operands, kind="file" if operands else "", span=span)


def _awk(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(words, "Fvfieo", _long("--field-separator --assign --file --include"))
    if any(
        name not in ("-F", "-v", "--field-separator", "--assign", "--posix", "--re-interval")
        for name, _ in options.flags
    ):
        return None
    if not options.operands or not awk_is_pure(options.operands[0].text):
        return None
    operands = tuple(word for word in options.operands[1:] if "=" not in word.text)
    return Sources(operands=operands, kind="file" if operands else "", span=awk_span(options.operands[0].text))


def _xargs(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    position = 0
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        if text in ("-o", "-p", "--interactive", "--open-tty"):
            return None
        position += 2 if text in ("-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--delimiter") else 1
    return Sources(inner=tuple(words[position:]) or (Word(text="echo"),), kind="search")


def _python(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    """`python -m json.tool FILE` alone."""
    texts = [word.text for word in words]
    if texts[:2] != ["-m", "json.tool"]:
        return None
    operands = tuple(word for word in words[2:] if not word.text.startswith("-"))
    return Sources(operands=operands, kind="file" if operands else "") if len(operands) <= 1 else None


def _archive(name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    """The contents of an archive: `unzip -l`, `tar t`."""
    if not words:
        return None
    if name == "unzip":
        options = options_of(words, "", frozenset())
        return (
            Sources(operands=options.operands[:1], kind="file")
            if options.has("-l", "-p", "-Z") and not options.has("-o", "-d")
            else None
        )
    mode = words[0].text.lstrip("-")
    if not mode.isalpha() or "t" not in mode or set(mode) - set("tzjJavf") or "v" in mode:
        return None
    return Sources(operands=tuple(words[1:2]), kind="file")


def _env(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    return FILTER if not words or _name == "printenv" else None


def _hostname(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    return FILTER if not words else None


def _printf(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    return None if any("(%" in word.text or ")T" in word.text for word in words[:1]) else FILTER


def _cut_like_filter(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    return FILTER if not any(word.text.startswith("{") for word in words) else None


def _get_childitem(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    """The names alone: the usual table shows sizes and times."""
    texts = [word.text.lower() for word in words]
    if "-name" not in texts:
        return None
    return Sources(operands=_powershell_paths(words) or (_HERE,), kind="listing")


def _powershell_paths(words: Sequence[Word]) -> tuple[Word, ...]:
    return tuple(word for word in words if not word.text.startswith("-") and not word.text.isdigit())


def _select_string(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    operands = () if piped else _powershell_paths(words)[:6] or (_HERE,)
    return Sources(operands=operands, kind="search" if operands else "")


def _test_path(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    return Sources(operands=_powershell_paths(words), kind="listing")


def _line_editor(name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    """The searches of the line editor that some hosts put into their shell; without a file, of what is open."""
    if name == "search_file" and len(words) < 2:
        return None
    return Sources(operands=tuple(words[1:2]) or (_HERE,), kind="listing" if name == "find_file" else "search")


def _yq(_name: str, words: Sequence[Word], piped: bool) -> Sources | None:
    options = options_of(words, "op", _long("--output-format --input-format --indent"))
    if options.has("-i", "--inplace", "-s", "--split-exp"):
        return None
    operands = (
        options.operands[1:] if options.operands[:1] and options.operands[0].text in ("e", "eval") else options.operands
    )
    return Sources(operands=operands[1:], kind="file" if operands[1:] else "")


_Verb = Callable[[str, Sequence[Word], bool], Sources | None]
_VERBS: Mapping[str, _Verb] = {
    **dict.fromkeys(_FILES, _files),
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "ggrep", "ag", "ack"), _grep),
    **dict.fromkeys(("fd", "fdfind"), _fd),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("python", "python3"), _python),
    **dict.fromkeys(("unzip", "tar"), _archive),
    **dict.fromkeys(("env", "printenv"), _env),
    **dict.fromkeys(("get-childitem", "gci"), _get_childitem),
    **dict.fromkeys(("test-path", "resolve-path", "get-filehash"), _test_path),
    **dict.fromkeys(_FILTERS, _cut_like_filter),
    **dict.fromkeys(("search_dir", "search_file", "find_file"), _line_editor),
    "find": _find,
    "hostname": _hostname,
    "ls": _ls,
    "printf": _printf,
    "rg": _rg,
    "select-string": _select_string,
    "sls": _select_string,
    "tree": _tree,
    "xargs": _xargs,
    "yq": _yq,
}


def sources_of(name: str, words: Sequence[Word], *, piped: bool) -> Sources | None:
    """What a command reads, given its name and the words after it; None when it is not known to only read.

    `piped`: its input comes from a command before it.

    >>> def reads(text):
    ...     name, *words = (Word(text=word) for word in text.split())
    ...     found = sources_of(name.text, words, piped=False)
    ...     return found and ([word.text for word in found.operands], found.kind, found.span)
    >>> reads("sed -n 10,20p a.py"), reads("grep -rn TODO src"), reads("find . -delete"), reads("sort -o a b")
    ((['a.py'], 'file', (10, 20)), (['src'], 'search', None), None, None)
    """
    if 0 < len(words) <= 3 and words[-1].text in ("--help", "--version") and _asks_a_program(name, words):
        return FILTER
    verb = _VERBS.get(name)
    if verb is not None:
        return verb(name, words, piped)
    if name.startswith("python3."):
        return _python(name, words, piped)
    return FILTER if name in _QUIET else None


def _asks_a_program(name: str, words: Sequence[Word]) -> bool:
    """Whether `--help` is asked of an installed program, not of one that the project holds or of what a runner runs."""
    is_installed = "/" not in name and name not in _RUN_OTHERS and re.match(r"[a-z]", name) is not None
    return is_installed and not any(is_path_like(word.text) or not word.is_literal for word in words)


def is_known(name: str) -> bool:
    """Whether a verb stands in the list of those that, with the right options, only read."""
    return name in _VERBS or name in _QUIET
