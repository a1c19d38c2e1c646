"""Paths as calls name them: joined, made comparable, and matched against what a later call changed.

A transcript seldom says where the working directory is, so one file has several names: `./a.py`, `src/a.py`,
`/home/x/project/src/a.py`. Two names are taken for the same file when the shorter, relative one ends the longer one.
Where that cannot be told apart, the answer is "may be the same": a read is then taken for changed.
"""

import fnmatch
import re
from dataclasses import dataclass

__all__ = [
    "GIT",
    "Spot",
    "expand_braces",
    "is_mutable_source",
    "is_path_like",
    "join",
    "may_change",
    "normalise",
    "same_file",
    "spot_of",
]

GIT = ".git"  # stands for the history, the index and the references of a repository, wherever it is

_WILD = re.compile(r"[*?\[]")
_MUTABLE = re.compile(r"\.(?:log|jsonl|out|err|output)(?:\.(?:\d+|gz|old|bak|zst|xz))*$", re.IGNORECASE)
_LOG_FOLDER = re.compile(r"(?:^|[/\\])logs?[/\\](?:[^/\\]*[/\\])*(?:[^/\\.]*|[^/\\]*\.(?:txt|\d+|gz))$", re.IGNORECASE)
_DEVICES = ("/proc", "/sys", "/dev", "/run")
_SAFE_DEVICES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_EXTENSION = re.compile(r"[^./\\\s*?]\.[A-Za-z][A-Za-z0-9_]{0,11}$")
_BRACE_LIST = re.compile(r"\{([^{}]*,[^{}]*)\}")


def join(directory: str, path: str) -> str:
    """A path as seen from the place where the directory is named; absolute and home paths stand for themselves.

    >>> join("/srv/reef", "src/../a.py"), join("", "./a.py"), join("src", "."), join("src", "/etc/hosts")
    ('/srv/reef/a.py', 'a.py', 'src', '/etc/hosts')
    """
    if path.startswith(("/", "~")) or path[1:3] == ":\\" or not directory:
        return normalise(path)
    return normalise(f"{directory}/{path}")


def normalise(path: str) -> str:
    """A path without `.`, `..` and doubled slashes; the working directory is the empty string.

    >>> normalise("./src//tide/../table.py"), normalise("."), normalise("C:\\\\reef\\\\a.py"), normalise("/")
    ('src/table.py', '', 'C:/reef/a.py', '/')
    """
    if "\\" in path and ("/" not in path or path[1:3] == ":\\"):
        path = path.replace("\\", "/")
    if "//" not in path and "./" not in path and not path.endswith(("/", ".")):
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def is_mutable_source(path: str) -> bool:
    """Whether a path names something that grows or changes by itself: a log, a stream, a device, a process.

    >>> [is_mutable_source(path) for path in ("build.log", "errors.out.rs", "/proc/cpuinfo", "logs/today")]
    [True, False, True, True]
    """
    if (
        path.startswith(_DEVICES)
        and path not in _SAFE_DEVICES
        and path.split("/", 2)[1] in ("proc", "sys", "dev", "run")
    ):
        return True
    return _MUTABLE.search(path) is not None or _LOG_FOLDER.search(path) is not None


def is_path_like(text: str) -> bool:
    """Whether a word looks like a path: it has a slash or ends in an extension, and nothing that a path seldom has.

    >>> [is_path_like(text) for text in ("src/a.py", "a.py", "main", "-x", "http://reef.example/a", "s/a/b/", "v1.2")]
    [True, True, False, False, False, True, False]
    """
    if (
        not text
        or len(text) > 300
        or text[0] in "-=+%@"
        or "://" in text
        or any(char in text for char in "\n<>|;\"'`=")
    ):
        return False
    return "/" in text.strip("/") or text.startswith("/") or _EXTENSION.search(text) is not None


def expand_braces(text: str) -> list[str]:
    """The paths that a brace list stands for; what is no simple list becomes a wildcard.

    >>> expand_braces("src/{a,b}.py"), expand_braces("part{1..9}.txt")
    (['src/a.py', 'src/b.py'], ['part*.txt'])
    """
    done: list[str] = []
    todo = [text]
    while todo:
        current = todo.pop()
        found = _BRACE_LIST.search(current)
        if found is None or len(done) + len(todo) > 40:
            done.append(re.sub(r"\{[^{}]*\}", "*", current))
            continue
        head, tail = current[: found.start()], current[found.end() :]
        todo += [head + choice + tail for choice in reversed(found.group(1).split(","))]
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A path made comparable: its components up to the first wildcard, and the pattern of its last one, if it has one.

    `is_folder`: it may be a directory, as far as its name tells. `is_all`: it was written with a slash at its end,
    which
    in what a command changes says that all in it may be changed.
    """

    parts: tuple[str, ...]
    is_absolute: bool
    pattern: str
    has_wildcard: bool
    is_folder: bool
    is_all: bool

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else ""


def spot_of(path: str) -> Spot:
    """A path or a pattern as a spot.

    >>> spot_of("src/**/*.go")
    Spot(parts=('src',), is_absolute=False, pattern='*.go', has_wildcard=True, is_folder=True, is_all=False)
    """
    is_all = path.endswith("/")
    path = normalise(path.removeprefix("~"))
    is_absolute = path.startswith("/") or path[1:3] == ":/"
    if path.startswith("~") or not is_absolute:
        path = path.lstrip("/")
    parts = [part for part in path.split("/") if part]
    wild = next((index for index, part in enumerate(parts) if _WILD.search(part)), None)
    if wild is None:
        is_folder = not parts or _EXTENSION.search(parts[-1]) is None
        return Spot(
            parts=tuple(parts),
            is_absolute=is_absolute,
            pattern="",
            has_wildcard=False,
            is_folder=is_folder,
            is_all=is_all,
        )
    pattern = parts[-1] if parts[-1].strip("*") else ""
    return Spot(
        parts=tuple(parts[:wild]),
        is_absolute=is_absolute,
        pattern=pattern,
        has_wildcard=True,
        is_folder=True,
        is_all=is_all,
    )


def same_file(one: Spot, other: Spot) -> bool:
    """Whether two names may be of one file: equal, or the relative one ends the other."""
    if one.has_wildcard or other.has_wildcard or not one.parts or not other.parts:
        return False
    if one.parts == other.parts:
        return True
    short, long = (one, other) if len(one.parts) < len(other.parts) else (other, one)
    return not short.is_absolute and long.parts[-len(short.parts) :] == short.parts


def may_change(change: Spot, read: Spot, *, reads_folder: bool) -> bool:
    """Whether a change at one spot may change what a read of another gives; `reads_folder`: the read may look inside
    it.

    >>> one = spot_of("src/a.py")
    >>> [may_change(spot_of(path), one, reads_folder=False) for path in ("/w/src/a.py", "src/", "src", "lib/a.py")]
    [True, True, False, False]
    """
    if (GIT in change.parts) != (GIT in read.parts):
        return False
    if GIT in change.parts or same_file(change, read):
        return True
    if (reads_folder or read.has_wildcard) and read.is_folder and _inside(change, read) and _fits(change, read.pattern):
        return True
    changes_many = change.has_wildcard or (change.is_all and bool(change.parts))
    return changes_many and _within(read, change) and _fits(read, change.pattern)


def _fits(spot: Spot, pattern: str) -> bool:
    if not pattern or spot.is_all or spot.has_wildcard or not spot.parts:
        return True
    return fnmatch.fnmatchcase(spot.name, pattern)


def _inside(change: Spot, folder: Spot) -> bool:
    """Whether a changed path may lie in a folder that was read; a relative one may lie anywhere."""
    if not folder.parts:
        return folder.is_absolute or not _is_loose_temporary(change)
    if change.is_absolute and folder.is_absolute:
        return change.parts[: len(folder.parts)] == folder.parts
    if folder.is_absolute:
        return True
    return _occurs(folder.parts, change.parts) or (not change.is_absolute and _overlap(folder.parts, change.parts))


def _within(read: Spot, folder: Spot) -> bool:
    """Whether a path that was read lies in a folder that was changed as a whole."""
    if not folder.parts:
        return read.is_absolute or not folder.is_absolute
    if read.is_absolute and folder.is_absolute:
        return read.parts[: len(folder.parts)] == folder.parts
    if folder.is_absolute:
        return _overlap(folder.parts, read.parts)
    return _occurs(folder.parts, read.parts)


def _is_loose_temporary(spot: Spot) -> bool:
    """A file directly in the folder for temporary files: no project has its root there."""
    return spot.is_absolute and spot.parts[:1] == ("tmp",) and len(spot.parts) <= 2


def _occurs(inner: tuple[str, ...], outer: tuple[str, ...]) -> bool:
    size = len(inner)
    return any(outer[start : start + size] == inner for start in range(len(outer) - size + 1))


def _overlap(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether an end of the first is a beginning of the second."""
    return any(first[-size:] == second[:size] for size in range(1, min(len(first), len(second)) + 1))
