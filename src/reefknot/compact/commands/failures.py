"""Whether an output shows that its read failed, broke off or still goes on: it then tells what happened, once.

Looked at are the frames that hosts put around an output, short outputs, and the first and last lines of long ones.
Source code that speaks of timeouts and of things not found in its middle is no failure.
"""

import re

__all__ = ["exit_code", "is_failed_host_read", "is_failed_shell_read"]

SHORT = 300  # characters; all of a shorter output is looked at
EDGE_LINES = 6  # lines looked at, at each end of a longer one
EDGE = 2_000  # characters, at most, at each end

_EXIT_AT_START = re.compile(
    r"\s*(?:<returncode>(-?\d+)</returncode>|Exit code:? (-?\d+)\b|\[?exit (?:status|code):? (-?\d+)\]?\s*$"
    r"|(?:Chunk ID: \S+\s+)?(?:Wall time: [^\n]*\n)?Process exited with code (-?\d+)|Exit code: (-?\d+))",
    re.MULTILINE,
)
_EXIT_AT_END = re.compile(
    r"(?:^|\n)\s*[\[(<]?(?:Command |Process |The command )?(?:exited with (?:exit )?(?:code|status)|exit(?: code"
    r"| status)|returned(?: exit)? (?:code|status)|"
    r"completed with exit code)[: ]+(-?\d+)[\])>.]*\s*$|\"(?:returncode|exit_code)\": ?(-?\d+)[^{}]*\}+\s*$",
    re.IGNORECASE,
)
_MAY_TELL_EXIT = re.compile(r"[Ee]xit|[Rr]eturn")
# The next two are searched in texts in lower case: that is several times as fast as to ignore case.
_UNFINISHED = re.compile(
    r"running in (?:the )?background|background with id|process running with session id|timed out\b"
    r"|\[request interrupted|user doesn't want to (?:proceed|take)|<tool_use_error>|was interrupted"
    r"|\"timed_out\": true|killed\s*$|segmentation fault|terminated\s*$|keyboardinterrupt|\^c",
    re.MULTILINE,
)
_FAILURE = re.compile(
    r"no such file or directory|permission denied|access is denied|command not found|not recognized as"
    r"|cannot (?:find|open|access|stat|read)\b|operation not permitted|input/output error|not a git repository"
    r"|unknown revision|ambiguous argument|does not exist|errno\b|os error \d|device or resource busy"
    r"|too many open files|stale file handle|connection (?:refused|reset|timed out)|argument list too long|syntax error"
    r"|unrecognized option|invalid option|parse error|pathspec .{0,200}did not match",
)
_SPOKEN_BY_TOOL = re.compile(
    r"^(?:<output>|<stderr>|\{\"stdout\": \"[^\"]{0,40}\", \"stderr\": \")?(?:\S*/)?(?:(?:ba|z|da|k)?sh|cat|ls"
    r"|e?f?grep|z?grep|rg|ag|fd|find|sed|g?awk|mawk|head|tail|nl|cut|sort|uniq|tree|jq|yq"
    r"|file|diff|cmp|strings|xxd|od|hexdump|base64|sha\d+sum|md5sum|readelf|objdump|nm|unzip|tar|python3?|xargs"
    r"|sudo|env|timeout|less|bat|readlink|realpath"
    r"|cd|\(eval\)|fatal|error|Get-Content|Select-String)(?::| -|\[)",
)
_HOST_FAILURE = re.compile(
    r"\s*(?:<tool_use_error>|<error>|\[Error|Error\b|ERROR\b|\{\"error\"|ENOENT|EACCES|EISDIR|Failed to|Cannot"
    r"|Could not|Unable to|Invalid|No such file|File does not exist"
    r"|Path does not exist|Directory does not exist|File not found|The path|File content \(|File is too large"
    r"|File too large|Permission denied|Tool execution failed"
    r"|\[Request interrupted|The user doesn't want|String .{0,60}not found|Unknown|Usage:|Exit code [1-9]"
    r"|File unchanged since|Wasted call|\[Old tool result)",
)
_HOST_WORDS = (
    "Process running with session ID",
    "Command running in background",
    "Command timed out",
    "Command was",
    "[Request interrupted",
    "<tool_use_error>",
    "Killed",
    "Segmentation fault",
    "KeyboardInterrupt",
    "^C",
)
_FINDS_NOTHING = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "diff", "cmp", "test", "["})


def exit_code(output: str) -> int | None:
    """The exit code that a host wrote before or after an output, or None.

    >>> [exit_code(text) for text in ("<returncode>2</returncode>", "x\\nCommand exited with code 1", "x")]
    [2, 1, None]
    """
    tail = output[-200:]
    found = _EXIT_AT_START.match(output[:400]) or (_EXIT_AT_END.search(tail) if _MAY_TELL_EXIT.search(tail) else None)
    if found is None:
        return None
    return int(next(group for group in found.groups() if group is not None)[:9])


def is_failed_shell_read(output: str, last_verb: str = "") -> bool:
    """Whether a command that only reads failed, was cut off or was sent to the background.

    `last_verb`: the command whose exit code is that of the whole; a search that found nothing exits with 1, and that
    is no failure.

    >>> is_failed_shell_read("cat: a.tbl: Permission denied"), is_failed_shell_read("Exit code 1")
    (True, True)
    >>> is_failed_shell_read("Exit code 1", "grep")
    False
    >>> is_failed_shell_read("def get(key):\\n    raise KeyError('not found')  # timed out\\n" + "x = 1\\n" * 99)
    False
    """
    code = exit_code(output)
    if code is not None and code != 0:
        finds_nothing = (code == 1 and last_verb in _FINDS_NOTHING) or (code == 123 and last_verb == "xargs")
        if not finds_nothing:
            return True
    if len(output) <= SHORT:
        lower = output.lower()
        return _UNFINISHED.search(lower) is not None or _FAILURE.search(lower) is not None
    return any(_tells_failure(line) for line in _edges(output))


def _edges(output: str) -> list[str]:
    head = output[:EDGE].split("\n", EDGE_LINES)
    tail = output[-EDGE:].rstrip().rsplit("\n", EDGE_LINES)
    return head[:EDGE_LINES] + (tail[1:] if len(tail) > 1 else [])


def _tells_failure(line: str) -> bool:
    """Whether a line is one with which a tool, a shell or the host reports that it could not do what it was told."""
    if len(line) > 400:
        line = line[:200] + line[-200:]
    if _SPOKEN_BY_TOOL.match(line) is not None:
        return _FAILURE.search(line.lower()) is not None
    return line.startswith(_HOST_WORDS)


def is_failed_host_read(output: str) -> bool:
    """Whether what a reading tool of a host gave is a message of the tool instead.

    >>> is_failed_host_read("<tool_use_error>File does not exist."), is_failed_host_read("     1→Error = 1")
    (True, False)
    """
    return len(output) < 2_000 and _HOST_FAILURE.match(output) is not None
