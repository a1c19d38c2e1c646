"""Commands that run another command: what they run is looked at, not they.

`timeout 5 grep x`, `env A=1 git log`, `sudo -u reef cat f`, `bash -lc "cat f"`.
"""

import re
from collections.abc import Sequence

from reefknot.compact.commands.shell import Word

__all__ = ["SHELLS", "script_text", "unwrap"]

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_PATH = re.compile(r"(?:/usr(?:/local)?|/opt/homebrew|/opt/local)?/s?bin/([^/]+)$")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_VALUED: dict[str, frozenset[str]] = {
    "env": frozenset({"-u", "-C", "--unset", "--chdir"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "gtimeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "sudo": frozenset({"-u", "-g", "-p", "-C", "-h"}),
    "doas": frozenset({"-u"}),
    "command": frozenset(),
    "builtin": frozenset(),
    "exec": frozenset(),
    "noglob": frozenset(),
}


def unwrap(words: Sequence[Word]) -> tuple[str, Sequence[Word]]:
    """The name of the command that is really run, and the words after it; ("", ()) where a wrapper runs nothing.

    A name with a path of a system folder is given without it. A name that the shell would expand is given as "$".

    >>> name, words = unwrap([Word(text=text) for text in ("sudo", "timeout", "-s", "9", "5", "/bin/grep", "-n", "x")])
    >>> name, [word.text for word in words]
    ('grep', ['-n', 'x'])
    """
    while words:
        if not words[0].is_literal:
            return "$", words[1:]
        name = words[0].text
        if name.startswith("/") and (found := _PATH.match(name)) is not None:
            name = found.group(1)
        valued = _VALUED.get(name)
        rest = words[1:]
        if valued is None or (name == "command" and rest and rest[0].text in ("-v", "-V")):
            return ("type" if name == "command" else name), rest
        inner = _after_options(name, rest, valued)
        if name == "env" and not inner:
            return "env", ()
        words = inner
    return "", ()


def _after_options(name: str, words: Sequence[Word], valued: frozenset[str]) -> Sequence[Word]:
    position = 0
    while position < len(words):
        text = words[position].text
        if text in valued:
            position += 2
        elif text.startswith("-") or (name in ("env", "sudo") and _ASSIGNED.match(text)):
            position += 1
        else:
            break
    if name in ("timeout", "gtimeout"):
        position += 1  # how long
    return words[position:]


def script_text(words: Sequence[Word]) -> Word | None:
    """The word that a shell is given to run by `-c`, the words after its name being `words`.

    >>> found = script_text([Word(text="-lc"), Word(text="cat a.py")])
    >>> found.text if found else None
    'cat a.py'
    """
    for position, word in enumerate(words):
        if not word.text.startswith(("-", "+")):
            return None
        if not word.text.startswith("--") and word.text.endswith("c"):
            return words[position + 1] if position + 1 < len(words) else None
    return None
