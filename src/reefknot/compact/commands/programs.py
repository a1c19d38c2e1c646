"""Small programs that stand in a command: whether a sed or an awk program only prints, and which lines it prints.

Both answers err on one side: what is not understood is no pure program. One pass over each program.
"""

import re

__all__ = ["awk_is_pure", "awk_span", "sed_is_pure", "sed_span"]

_SED_ADDRESS = re.compile(r"(?:\d+(?:~\d+)?|[+~]\d+|\$\(\([^()]*\)\)|\$\{\w+\}|\$(?!\w\w)|\$\w+)")
_SED_PLAIN = frozenset("pPdDnNgGhHxlz=F")
_SED_FLAGS = re.compile(r"[gpiImM0-9]*")
_SED_RANGE = re.compile(r"\s*(\d+)(?:\s*,\s*(\d+|\$))?\s*p\s*;?\s*(?:(\d+)\s*q\s*;?\s*)?$")
_AWK_RANGE = re.compile(
    r"\s*\(?\s*(?:NR\s*==\s*(\d+)\s*,\s*NR\s*==\s*(\d+)"
    r"|NR\s*>=\s*(\d+)\s*&&\s*NR\s*<=\s*(\d+))\s*\)?\s*(?:\{\s*print(?:\s+\$0)?\s*;?\s*\})?\s*$"
)
_AWK_PIECE = re.compile(r"[A-Za-z_]\w*|\d+|\s+|#[^\n]*|\|\||&&|>=|.", re.DOTALL)
_AWK_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_AWK_REGEX = re.compile(r"/(?:[^/\\\n]|\\.)*/")
_AWK_UNSAFE = frozenset({"system", "getline", "include", "load", "extension"})
_AWK_VARYING = frozenset({"rand", "srand", "systime", "strftime", "PROCINFO"})


def sed_is_pure(program: str) -> bool:
    """Whether a sed program neither writes nor reads further files, nor runs commands.

    >>> [sed_is_pure(text) for text in ("1,20p", "/a;w/,$p", "s/a/b/g;s|c|d|2")]
    [True, True, True]
    >>> [sed_is_pure(text) for text in ("w out.txt", "s/a/b/w out", "s/a/id/e", "1e date")]
    [False, False, False, False]
    """
    position, size = 0, len(program)
    while position < size:
        char = program[position]
        if char in " \t\r\n;{}!,":
            position += 1
        elif char == "#":
            position = _line_end(program, position)
        elif char == "/" or char == "\\":
            position = _after_pattern(program, position + (char == "\\"))
            while 0 < position < size and program[position] in "IM":
                position += 1
        elif (address := _SED_ADDRESS.match(program, position)) is not None:
            position = address.end()
        else:
            position = _after_command(program, position)
        if position < 0:
            return False
    return True


def _line_end(program: str, position: int) -> int:
    end = program.find("\n", position)
    return len(program) if end < 0 else end


def _after_pattern(program: str, position: int) -> int:
    """Past the pattern whose delimiter stands at `position`; -1 when it does not end."""
    delimiter = program[position : position + 1]
    position += 1
    in_class = False
    while position < len(program):
        char = program[position]
        if char == "\\":
            position += 1
        elif char == "[" and not in_class:
            in_class = True
            position += program.startswith("]", position + 1) or 2 * program.startswith("^]", position + 1)
        elif char == "]":
            in_class = False
        elif char == delimiter and not in_class:
            return position + 1
        position += 1
    return -1


def _after_command(program: str, position: int) -> int:
    """Past the command at `position`; -1 when it is not one that only prints."""
    char = program[position]
    if char in _SED_PLAIN:
        return position + 1
    if char in "qQlL":
        return position + 1
    if char in "aic":
        return _line_end(program, position)
    if char in ":btT":
        end = re.compile(r"[^\n;}]*").match(program, position)
        return end.end() if end else -1
    if char in "sy":
        middle = _after_pattern(program, position + 1)
        if middle < 0:
            return -1
        end = _after_replacement(program, middle, program[position + 1])
        if end < 0:
            return -1
        flags = _SED_FLAGS.match(program, end) if char == "s" else None
        end = flags.end() if flags else end
        return end if end >= len(program) or program[end] in " \t\r\n;}" else -1
    return -1


def _after_replacement(program: str, position: int, delimiter: str) -> int:
    while position < len(program):
        if program[position] == "\\":
            position += 1
        elif program[position] == delimiter:
            return position + 1
        position += 1
    return -1


def sed_span(program: str) -> tuple[int, int] | None:
    """The lines that `sed -n PROGRAM` prints, when it is one range.

    >>> sed_span("10,20p"), sed_span("7p"), sed_span("5,9p;9q"), sed_span("/a/p"), sed_span("3,$p")
    ((10, 20), (7, 7), (5, 9), None, None)
    """
    found = _SED_RANGE.match(program) if len(program) < 80 else None
    if found is None or found.group(2) == "$":
        return None
    first = int(found.group(1))
    return first, int(found.group(2) or first)


def awk_is_pure(program: str) -> bool:
    """Whether an awk program only prints: no commands, no files written or read, nothing that varies by itself.

    >>> [awk_is_pure(text) for text in ("/a|b/ {print $1}", "$1 > 5")]
    [True, True]
    >>> [awk_is_pure(text) for text in ('{print > "f"}', '{system("x")}', '"date" | getline d')]
    [False, False, False]
    """
    position, size = 0, len(program)
    before = ";"  # the last piece that is no blank: tells a pattern from a division
    in_print = 0  # 1 + depth of brackets inside a print statement
    while position < size:
        char = program[position]
        if char == '"':
            found = _AWK_STRING.match(program, position)
        elif char == "/" and (before in "(,~!&|{};\n:=" or before in ("&&", "||", "print", "return")):
            found = _AWK_REGEX.match(program, position)
        else:
            found = _AWK_PIECE.match(program, position)
        if found is None:
            return False
        piece = found.group()
        position = found.end()
        if piece in _AWK_UNSAFE or piece in _AWK_VARYING or piece == "|":
            return False
        if piece in ("print", "printf"):
            in_print = 1
        elif in_print:
            if piece == ">" and in_print == 1:
                return False
            in_print += (piece == "(") - (piece == ")")
            if piece in ";}" or "\n" in piece:
                in_print = 0
        if not piece.isspace():
            before = piece
        elif "\n" in piece:
            before = ";"
    return True


def awk_span(program: str) -> tuple[int, int] | None:
    """The lines that an awk program prints, when it is one range of line numbers.

    >>> awk_span("NR>=10 && NR<=20"), awk_span("NR==3,NR==9 {print}"), awk_span("/a/")
    ((10, 20), (3, 9), None)
    """
    found = _AWK_RANGE.match(program) if len(program) < 120 else None
    if found is None:
        return None
    return int(found.group(1) or found.group(3)), int(found.group(2) or found.group(4))
