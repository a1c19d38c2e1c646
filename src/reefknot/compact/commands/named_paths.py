"""Paths that a patch, or the text of a program, names as those that it would write.

Literal names alone: a path that a program puts together at run time is not seen.
"""

import re

from reefknot.compact.commands.paths import is_path_like

__all__ = ["paths_in_patch", "paths_in_program"]

MAX_PROGRAM = 200_000  # characters of a program that are searched for what it writes

_PATCHED = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_DIFFED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+?)(?:\t.*)?$", re.MULTILINE)
_WRITE_CALLS = (
    ".write(",
    ".write_text(",
    ".write_bytes(",
    ".writelines(",
    "writeFile",
    "os.remove(",
    "os.rename(",
    "os.replace(",
    "os.unlink(",
    "shutil.",
    ".unlink(",
    ".rename(",
    ".to_csv(",
    ".to_json(",
    ".to_excel(",
    ".to_parquet(",
    ".savefig(",
    ".save(",
    ".dump(",
    "fileinput",
    "inplace=",
    "appendFile",
    "rmSync",
    "unlinkSync",
    "copyFile",
)
_OPENS = re.compile(r"open\([^)\n]{0,200}(?:['\"](?:[wax][+bt]*|r\+b?)['\"]|mode=['\"][wax])")
_LITERAL = re.compile(r"['\"]([^'\"\n\\]{1,200})['\"]")


def paths_in_patch(text: str) -> list[str]:
    """The files that a patch names, in either of the two forms that agents write.

    >>> paths_in_patch("*** Update File: src/a.py\\n@@\\n"), paths_in_patch("--- a/x.c\\n+++ b/x.c\\n")
    (['src/a.py'], ['x.c'])
    """
    found = _PATCHED.findall(text) or [path for path in _DIFFED.findall(text) if path != "/dev/null"]
    return list(dict.fromkeys(found))


def paths_in_program(text: str) -> list[str]:
    """Literal paths in a program that looks as if it wrote, moved or removed files; [] when it does not.

    >>> paths_in_program("p = 'src/a.py'\\nt = open(p).read()\\nopen(p, 'w').write(t)")
    ['src/a.py']
    >>> paths_in_program("print(open('a.py').read())")
    []
    """
    text = text[:MAX_PROGRAM]
    if not any(call in text for call in _WRITE_CALLS) and _OPENS.search(text) is None:
        return []
    return list(dict.fromkeys(literal for literal in _LITERAL.findall(text) if is_path_like(literal)))
