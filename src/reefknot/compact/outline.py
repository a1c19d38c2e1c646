"""What a text held, in one short phrase: definitions with their lines, files with their hits, or how many entries.

It stands in the note that takes the place of a text which a re-run gives back, so that a reader knows whether to ask
for it.
Line numbers are those of the file wherever the text shows them. One cheap pass; no parser.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["outline"]

MAX_LINES = 20_000  # lines looked at
NAME_LENGTH = 40  # characters of one name
_SAMPLE = 60  # lines looked at to tell what a text is
_MOST = 0.7  # share of the sample that must look alike

_NUMBERED = re.compile(r"[ ]{0,8}(\d{1,7})(?:→|\t|[:|-])")
_FRAME = re.compile(
    r"\A(?:<returncode>-?\d+</returncode>\s*<output>\n?|Chunk ID: (?:[^\n]*\n){1,6}?Output:\n"
    r"|Here's the [^\n]*:\n|\[File: [^\n]*\]\n)"
)
_HIT = re.compile(r"(?!<)((?:[^\s:]+/)?[^\s:/]+?\.\w{1,8}|[^\s:]+/[^\s:]+?)(?::(\d+)[:\s]|-(\d+)-|:)")
_HIT_HEAD = re.compile(r"(?!<)(\S+\.\w{1,8}|\S+/\S+)$")
_HIT_LINE = re.compile(r"\d+[:-]")
_ENTRY = re.compile(r"(?:\S+|[^\t:;{}()=]{1,80}\.\w{1,8})/?$")
_GIT_FILE = re.compile(r"diff --git a/(\S+)")

_JS = (
    r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?P<kind>function\*?|class|interface|enum|type|namespace)\s+(?P<name>[\w$]+)"
)
_JS_CONST = (
    r"(?:export\s+)?(?P<kind2>const|let)\s+(?P<name2>[\w$]+)[^=\n]{0,80}=\s*(?:async\s*)?"
    r"(?:function|\([^)\n]{0,200}\)|[\w$]+)\s*(?::[^=\n]{0,60})?(?:=>|\()"
)
_C = r"(?:[A-Za-z_][\w:<>,*&\[\] ]{0,80}?[\s*&])(?P<name>(?:\w+::)*~?\w+)\s*\([^;{}]{0,300}(?:\{|$)"
_PATTERNS: dict[str, re.Pattern[str]] = {
    "python": re.compile(r"(?P<indent>\s*)(?:async\s+)?(?P<kind>def|class)\s+(?P<name>\w+)"),
    "js": re.compile(rf"(?P<indent>\s*)(?:{_JS}|{_JS_CONST})"),
    "go": re.compile(r"(?P<indent>)(?P<kind>func|type)\s+(?:\([^)\n]{1,80}\)\s*)?(?P<name>\w+)"),
    "rust": re.compile(
        r"(?P<indent>\s*)(?:pub(?:\([^)\n]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?P<kind>fn|struct|enum|trait|impl|mod|macro_rules!|type)"
        r"\s*(?:<[^>\n]{0,60}>)?\s+(?P<name>[\w:]+(?:<[^>\n]{0,40}>)?(?:\s+for\s+\w+)?)"
    ),
    "java": re.compile(
        r"(?P<indent>\s*)(?:(?:public|private|protected|internal|static|final|abstract|sealed|override|open|data"
        r"|partial|async|virtual|suspend)\s+)*"
        r"(?:(?P<kind>class|interface|enum|record|object|fun|struct)\s+(?P<name>\w+)"
        r"|(?:[\w<>\[\],.?]+\s+)(?P<name2>\w+)\s*\([^;=\n]*\)?\s*(?:throws [^{\n]*)?\{)"
    ),
    "c": re.compile(rf"(?P<indent>)(?:(?P<kind>struct|class|enum|union|namespace)\s+(?P<name2>\w+)[^;]*$|{_C})"),
    "ruby": re.compile(r"(?P<indent>\s*)(?P<kind>def|class|module)\s+(?P<name>[\w.:?!]+)"),
    "shell": re.compile(r"(?P<indent>)(?:(?P<kind>function)\s+)?(?P<name>[\w-]+)\s*\(\)"),
    "markdown": re.compile(r"(?P<indent>)(?P<kind>#{1,4})\s+(?P<name>\S[^\n]*)"),
    "any": re.compile(
        r"(?P<indent>\s{0,8})(?:export\s+|pub\s+|public\s+|default\s+|async\s+|abstract\s+|static\s+)*"
        r"(?P<kind>def|class|func|function|fn|struct|interface|trait|impl|enum|module"
        r"|type)\s+(?:\([^)\n]{1,80}\)\s*)?(?P<name>\w[\w:]*)(?=\s*[(:{<\[=]|\s*$|\s+(?:struct|interface|for"
        r"|extends|implements)\b)"
    ),
}
_LANGUAGE = {
    "python": "py pyi pyx",
    "js": "js jsx mjs cjs ts tsx mts cts vue svelte",
    "go": "go",
    "rust": "rs",
    "java": "java kt kts scala cs groovy swift dart",
    "c": "c h cc cpp cxx hpp hh m mm",
    "ruby": "rb rake",
    "shell": "sh bash zsh",
    "markdown": "md markdown mdx rst",
}
_BY_EXTENSION = {extension: language for language, extensions in _LANGUAGE.items() for extension in extensions.split()}
_EXTENSION = re.compile(r"\.([A-Za-z]{1,8})(?=$|[\s'\":,)\]])")
_NO_NAMES = frozenset(
    {
        "if",
        "for",
        "while",
        "switch",
        "return",
        "else",
        "catch",
        "function",
        "new",
        "throw",
        "await",
        "sizeof",
        "do",
        "try",
    }
)
_SHORT_KINDS = {"function": "fn", "function*": "fn", "func": "func", "interface": "interface"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Definition:
    line: int
    indent: int
    text: str


def outline(text: str, label: str, max_items: int = 8, first_line: int | None = 1) -> str:
    """One short phrase of what a text held, or "" when there is nothing useful to say.

    `first_line`: the line of the file that the text begins with, used where the text shows no numbers itself; None when
    that is not known, and then no line numbers are told.

    >>> text = "    10→class Table:\\n    11→    def height(self): ...\\n    12→\\n    13→def load(path): ...\\n"
    >>> outline(text, "src/table.py")
    'class Table 10, def height 11, def load 13'
    >>> outline("a.py:3:x = 1\\na.py:9:x = 2\\nb.py:1:x\\n", "x")
    '2 files: a.py (2), b.py (1)'
    >>> outline("src/a.py\\nsrc/b.py\\nsrc/c/d.py\\n", "src/**/*.py")
    '3 entries'
    """
    frame = _FRAME.match(text[:600])
    body = (text[frame.end() :] if frame else text).removesuffix("\n</output>")
    lines = body.split("\n", MAX_LINES)[:MAX_LINES]
    sample = [line for line in lines[: _SAMPLE * 2] if line.strip()][:_SAMPLE]
    if len(sample) < 2:
        return ""
    files = _GIT_FILE.findall(body[:400_000]) if "diff --git a/" in body[:2_000] else []
    if files:
        return _counted(dict.fromkeys(files, 0), len(set(files)), max_items)
    numbers = sum(_NUMBERED.match(line) is not None for line in sample)
    is_numbered = numbers >= _MOST * len(sample)
    language = _language(label)
    if not is_numbered and language in ("", "any", "markdown"):
        hits = _hits(lines, sample)
        if hits:
            return _counted(hits, len(hits), max_items)
    found = _definitions(lines, _PATTERNS[language or "any"], first_line or 1, is_numbered=is_numbered)
    if found:
        return _shown(found, max_items, with_lines=is_numbered or first_line is not None)
    if not is_numbered:
        hits = _hits(lines, sample)
        if hits:
            return _counted(hits, len(hits), max_items)
        if len(sample) >= 3 and sum(_ENTRY.match(line) is not None for line in sample) >= 0.9 * len(sample):
            return f"{sum(bool(line.strip()) for line in lines):,} entries"
    return ""


def _language(label: str) -> str:
    """The language that the extensions in a label agree on; "" when they do not, or tell nothing."""
    languages = {
        _BY_EXTENSION[found.lower()] for found in _EXTENSION.findall(label[:600]) if found.lower() in _BY_EXTENSION
    }
    return languages.pop() if len(languages) == 1 else ""


def _hits(lines: Sequence[str], sample: Sequence[str]) -> dict[str, int]:
    """Hits per file, for the two shapes that searches print: the path on each line, or above its lines."""
    rows = [line for line in sample if line != "--"]
    if sum(_HIT.match(line) is not None for line in rows) >= _MOST * len(rows):
        counts: dict[str, int] = {}
        for line in lines:
            found = _HIT.match(line)
            if found is not None:
                counts[found.group(1)] = counts.get(found.group(1), 0) + (found.group(3) is None)
        return counts
    heads = sum(_HIT_HEAD.match(line) is not None for line in rows)
    if (
        heads
        and heads + sum(_HIT_LINE.match(line) is not None for line in rows) >= 0.95 * len(rows)
        and heads < len(rows)
    ):
        return _hits_below_heads(lines)
    return {}


def _hits_below_heads(lines: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    name = ""
    for line in lines:
        if _HIT_LINE.match(line):
            if name:
                counts[name] += ":" in line[:9]
        elif _HIT_HEAD.match(line):
            name = line
            counts.setdefault(name, 0)
    return counts


def _counted(counts: dict[str, int], total: int, max_items: int) -> str:
    """Files with their hits, those with most first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    prefix = _common_folder([name for name, _ in ordered]) if len(ordered) > 1 else ""
    names = [
        _capped_path(name[len(prefix) :]) + (f" ({count})" if count else "") for name, count in ordered[:max_items]
    ]
    more = f", +{total - max_items}" if total > max_items else ""
    within = f" in {prefix}" if prefix else ""
    return f"{total:,} file{'s' if total != 1 else ''}{within}: {', '.join(names)}{more}"


def _common_folder(names: Sequence[str]) -> str:
    shortest, longest = min(names), max(names)
    size = next((at for at, char in enumerate(shortest) if at >= len(longest) or char != longest[at]), len(shortest))
    return shortest[: shortest.rfind("/", 0, size) + 1]


def _definitions(
    lines: Sequence[str], pattern: re.Pattern[str], first_line: int, *, is_numbered: bool
) -> list[_Definition]:
    found: list[_Definition] = []
    for position, line in enumerate(lines, first_line):
        number, start = position, 0
        if is_numbered:
            prefix = _NUMBERED.match(line)
            if prefix is None:
                continue
            number, start = int(prefix.group(1)), prefix.end()
        if len(line) > 1_000:
            continue
        matched = pattern.match(line, start)
        if matched is None:
            continue
        groups = matched.groupdict()
        name = groups.get("name") or groups.get("name2") or ""
        if not name or name in _NO_NAMES or line[start:].lstrip().startswith(("return ", "else ", "//", "*")):
            continue
        kind = groups.get("kind") or groups.get("kind2") or ""
        indent = len((groups.get("indent") or "").expandtabs(4))
        if kind.startswith("#"):
            indent, kind = 2 * len(kind), ""
        kind = _SHORT_KINDS.get(kind, kind)
        found.append(_Definition(line=number, indent=indent, text=f"{kind} {_capped(name.strip())}".strip()))
    return found


def _capped(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 2]}.."


def _capped_path(path: str) -> str:
    return path if len(path) <= NAME_LENGTH else f"..{path[2 - NAME_LENGTH :]}"


def _shown(found: Sequence[_Definition], max_items: int, *, with_lines: bool) -> str:
    """The outermost definitions, or where there are too many, the longest of them, in order."""
    kept = list(found)
    while len(kept) > max_items and (deepest := max(item.indent for item in kept)) > min(item.indent for item in kept):
        outer = [item for item in kept if item.indent < deepest]
        if len(outer) < 2:
            break
        kept = outer
    if len(kept) > max_items:
        sizes = [after.line - item.line for item, after in zip(kept, [*kept[1:], kept[-1]], strict=True)]
        longest = sorted(sorted(range(len(kept)), key=lambda at: -sizes[at])[:max_items])
        kept = [kept[at] for at in longest]
    more = f", +{len(found) - len(kept)}" if len(found) > len(kept) else ""
    return ", ".join(f"{item.text} {item.line}" if with_lines else item.text for item in kept) + more
