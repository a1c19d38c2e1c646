"""What a git command reads and what it changes; anything not known to only read is no read.

The history, the index and the references count as one path, `GIT`: where the repository lies is seldom said.
A read of fixed commits alone depends on nothing that can change.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reefknot.compact.commands.options import Options, options_of
from reefknot.compact.commands.paths import GIT, is_path_like
from reefknot.compact.commands.shell import Word

__all__ = ["ANYTHING", "GitCall", "changes_of_git", "git_call", "reads_of_git"]

ANYTHING = "*"  # in what a command changes: any file of the working tree

_FIXED = re.compile(r"[0-9a-f]{7,40}(?:[~^]\d*)*(?:\^\{\w*\})?(?::.*)?$")
_RANGE = re.compile(r"(.+?)\.\.\.?(.+)$")
_SAFE_SETTING = re.compile(
    r"(?:color\.|core\.quote|core\.pager=|core\.abbrev|log\.|pager\.|advice\.|safe\.directory|column\.|diff\.renames?)"
)
_VARYING_FORMAT = re.compile(r"%(?:>?[<|(]\S*)?[ac]r|relative|human")
_TIME_FLAGS = frozenset({"--since", "--until", "--after", "--before", "--since-as-filter", "--age"})
_FIXED_TIME = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?|\d{9,}$")
_RUNS_OR_WRITES = frozenset({"--output", "--ext-diff", "--textconv", "--open-files-in-pager", "-O", "--paginate"})
_VALUED = {"grep": "ABCefm", "ls-files": "xX", "branch": "", "tag": "", "remote": "", "status": "", "config": "f"}
_VALUED_ELSEWHERE = "nGSLU"  # log, show, diff and the like
_LONG_VALUED = frozenset(
    "--format --pretty --author --grep --date --max-count --skip --diff-filter --stat --contains --merged --no-merged"
    " --sort --points-at --ignore-rev --contents --since --until --after --before --committer"
    " --inter-hunk-context --unified"
    " --exclude --branches --format --abbrev --get --get-all".split()
)
_HISTORY = frozenset(
    "log show rev-parse describe shortlog reflog ls-tree cat-file rev-list merge-base show-ref for-each-ref name-rev"
    " diff-tree whatchanged cherry range-diff symbolic-ref show-branch".split()
)
_TREE = frozenset(
    {
        "status",
        "diff",
        "blame",
        "annotate",
        "ls-files",
        "grep",
        "diff-files",
        "diff-index",
        "check-ignore",
        "check-attr",
    }
)
_LIST_FLAGS = frozenset(
    "-a -r -v --all --remotes --verbose -l --list --show-current --contains --no-contains --merged --no-merged --sort"
    " --format --points-at --column --no-column --color --no-color -n --abbrev --no-abbrev -i --ignore-case".split()
)
_LIST_OPERANDS = frozenset({"-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"})
_ONLY_GIT = frozenset(
    "commit add tag branch fetch push remote config notes gc prune update-index update-ref repack bundle maintenance"
    " symbolic-ref commit-tree write-tree hash-object pack-refs credential reflog worktree-list".split()
)
_NOTHING = frozenset(
    "format-patch archive ls-remote help version difftool gui request-pull send-email check-ref-format".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCall:
    """A git command without its global options: `folder` is that of `-C`, `words` what follows the verb."""

    verb: str
    folder: str
    words: tuple[Word, ...]
    is_safe: bool


def git_call(words: Sequence[Word]) -> GitCall:
    """The words after `git`, told apart; not safe when a global option may run a program.

    >>> git_call([Word(text=text) for text in ("-C", "sub", "--no-pager", "log", "-3")]).verb
    'log'
    """
    folder, position, is_safe = "", 0, True
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        value = words[position + 1].text if position + 1 < len(words) else ""
        position += 1
        if text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"):
            position += 1
            if text == "-C":
                folder = f"{folder}/{value}" if folder and not value.startswith("/") else value
            elif text == "-c":
                is_safe = is_safe and _SAFE_SETTING.match(value) is not None
            elif text == "--config-env":
                is_safe = False
        elif not text.startswith(("--git-dir=", "--work-tree=")) and text not in (
            "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--bare", "--version", "--help", "-h"
        ):  # fmt: skip
            is_safe = False
    verb = words[position].text if position < len(words) else ""
    return GitCall(verb=verb, folder=folder, words=tuple(words[position + 1 :]), is_safe=is_safe)


def reads_of_git(call: GitCall) -> tuple[str, ...] | None:
    """The paths that a git command depends on, `GIT` among them; None when it is no read.

    >>> def reads(text): return reads_of_git(git_call([Word(text=word) for word in text.split()]))
    >>> reads("log -3"), reads("show 0123abc"), reads("diff -- a.py"), reads("branch -D old"), reads("branch -a")
    (('.git',), (), ('.git', 'a.py'), None, ('.git',))
    """
    if not call.is_safe:
        return None
    if not call.verb:
        return ()
    options = options_of(call.words, _VALUED.get(call.verb, _VALUED_ELSEWHERE), _LONG_VALUED)
    if options.has(*_RUNS_OR_WRITES):
        return None
    if call.verb in _HISTORY or call.verb in _TREE:
        return None if _varies(options) else _reads_of_verb(call.verb, options)
    return (GIT,) if _only_lists(call.verb, options) else None


def _varies(options: Options) -> bool:
    """Whether an output tells times as seen from now."""
    for name, value in options.flags:
        if name == "--relative-date" or (name in _TIME_FLAGS and _FIXED_TIME.match(value) is None):
            return True
        if name in ("--format", "--pretty", "--date") and _VARYING_FORMAT.search(value) is not None:
            return True
    return False


def _reads_of_verb(verb: str, options: Options) -> tuple[str, ...] | None:
    operands = [word.text for word in options.operands]
    before, after = operands[: options.after_dashes], operands[options.after_dashes :]
    if verb == "reflog" and before and before[0] not in ("show", "HEAD"):
        return None
    if verb == "symbolic-ref" and (len(before) > 1 or options.has("-d", "--delete", "-m")):
        return None
    if verb == "grep":
        pattern_given = options.has("-e", "-f")
        before = before if pattern_given else before[1:]
        return (GIT,) if options.has("--cached") else _tree(before, after)
    if verb == "status" or verb.startswith("check-"):
        return _tree(before, after)
    if verb == "ls-files":
        others = options.has("-o", "--others", "-m", "--modified", "-d", "--deleted", "-i", "--ignored")
        return _tree(before, after) if others else (GIT,)
    if verb in ("blame", "annotate"):
        return (GIT, *(after or before[-1:])) if before or after else None
    if verb in ("diff", "diff-files", "diff-index"):
        return _reads_of_diff(before, after, options)
    return () if before and all(_is_fixed(text) for text in before) else (GIT,)


def _reads_of_diff(before: Sequence[str], after: Sequence[str], options: Options) -> tuple[str, ...]:
    if options.has("--no-index"):
        return (*before, *after)
    revisions = _revisions(before)
    is_range = any(_RANGE.match(text) for text in revisions) or len(revisions) >= 2
    if is_range:
        return () if all(_is_fixed(text) for text in revisions) else (GIT,)
    if options.has("--cached", "--staged"):
        return (GIT,)
    paths = [text for text in before if text not in revisions]
    if any("." not in text.rpartition("/")[2] for text in paths):  # a branch may be called so too
        return (GIT, "")
    return _tree(paths, after)


def _revisions(before: Sequence[str]) -> list[str]:
    return [text for text in before if _is_fixed(text) or _RANGE.match(text) or ":" in text or not is_path_like(text)]


def _tree(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    paths = [text for text in (*before, *after) if text in after or is_path_like(text) or text in (".", "..")]
    return (GIT, *(_pathspec(path) for path in paths)) if paths else (GIT, "")


def _pathspec(text: str) -> str:
    """A pathspec as a path: magic words (`:(glob)`, `:!`) are taken for the whole tree."""
    return "" if text.startswith(":") else text


def _is_fixed(revision: str) -> bool:
    found = _RANGE.match(revision)
    if found is not None and ":" not in revision:
        return _FIXED.match(found.group(1)) is not None and _FIXED.match(found.group(2)) is not None
    return _FIXED.match(revision) is not None


def _only_lists(verb: str, options: Options) -> bool:
    operands = [word.text for word in options.operands]
    match verb:
        case "branch" | "tag":
            is_list = all(name in _LIST_FLAGS for name, _ in options.flags)
            return is_list and (not operands or options.has(*_LIST_OPERANDS))
        case "remote":
            return operands in ([], ["-v"]) or operands[:1] == ["get-url"]
        case "stash":
            return operands[:1] in (["list"], ["show"])
        case "worktree" | "notes" | "submodule":
            return operands[:1] == (["status"] if verb == "submodule" else ["list"])
        case "config":
            asks = options.has("--get", "--get-all", "--get-regexp", "-l", "--list") or operands[:1] in (
                ["get"],
                ["list"],
            )
            plain = all(name in ("--global", "--local", "--system", "--type") for name, _ in options.flags)
            return asks or (len(operands) == 1 and plain)
        case "apply":
            return options.has("--stat", "--numstat", "--summary", "--check") and not options.has("--apply", "--index")
        case "version" | "help":
            return True
        case _:
            return False


def changes_of_git(call: GitCall) -> tuple[str, ...]:
    """The paths that a git command may change; `ANYTHING` for any file of the working tree.

    >>> def changes(text): return changes_of_git(git_call([Word(text=word) for word in text.split()]))
    >>> changes("commit -m x"), changes("pull"), changes("checkout -- a.py"), changes("status")
    (('.git',), ('*', '.git'), ('a.py', '.git'), ())
    """
    verb = call.verb
    options = options_of(call.words, "mbBcCsX", frozenset({"--message", "--source"}))
    operands = [word.text for word in options.operands]
    if verb in _NOTHING or reads_of_git(call) is not None:
        return ()
    if verb in _ONLY_GIT or (verb in _HISTORY | _TREE):
        return (GIT,)
    paths = operands[options.after_dashes :]
    match verb:
        case "checkout" | "switch" if options.has("-b", "-B", "-c", "-C") and not operands:
            return (GIT,)
        case "checkout" if not paths:
            paths = operands if all(is_path_like(text) and "." in text.rpartition("/")[2] for text in operands) else []
        case "restore" | "rm" | "mv":
            paths = operands
            if verb == "restore" and options.has("--staged", "-S") and not options.has("--worktree", "-W"):
                return (GIT,)
        case "reset" if not options.has("--hard", "--merge", "--keep"):
            return (GIT,)
        case "stash" if operands[:1] in (["drop"], ["clear"], ["create"], ["store"]):
            return (GIT,)
        case "clone" | "init":
            return tuple(operands[1:] or [operands[0].rpartition("/")[2].removesuffix(".git")]) if operands else (GIT,)
        case _:
            pass
    if paths and "." not in paths and not any(text.startswith(":") for text in paths):
        return (*paths, GIT)
    return (ANYTHING, GIT)
