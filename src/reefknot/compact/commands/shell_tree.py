"""The tree that a command text is read into: pipelines of commands, words with their quotes resolved.

Plain values and a walk over them; the parser is `shell.parse`. Nothing is expanded and nothing is run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Assignment",
    "Command",
    "Compound",
    "CompoundKind",
    "Node",
    "Pipeline",
    "Redirect",
    "Script",
    "Word",
    "walk",
]

CompoundKind = Literal["subshell", "group", "if", "for", "while", "case", "function", "test", "arithmetic", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word. `text` has its quotes resolved; what would be expanded stands in it as it was written.

    `variables` are the names of the parameters in it (`$?` counts as `?`), `scripts` the commands of its substitutions,
    `$(..)`, backquotes, `<(..)` and `>(..)`. `is_glob`: an unquoted `*`, `?`, `[` or a brace list would be expanded.
    """

    text: str
    variables: tuple[str, ...] = ()
    scripts: "tuple[Script, ...]" = ()
    is_glob: bool = False
    is_quoted: bool = False

    @property
    def is_literal(self) -> bool:
        """The shell passes on `text` as it stands."""
        return not (self.variables or self.scripts or self.is_glob)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """`operator` as written (`>`, `2>` has `fd` "2"); `target` is a file, a descriptor, a here-string or a delimiter.

    `body` is the text of a here-document, quotes and expansions as in a word.
    """

    operator: str
    fd: str
    target: Word
    body: Word | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """`name=value` before a command, or alone. The value of an array is all its words."""

    name: str
    values: tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A simple command: `words[0]` is its name; without words it only assigns or redirects."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compound:
    """A compound command. `parts` are all scripts in it, conditions included, in order.

    `name`: the variable of a loop, or the name of a function. `words`: what a loop goes through, what a case looks at,
    the operands of a test.
    """

    kind: CompoundKind
    name: str = ""
    words: tuple[Word, ...] = ()
    parts: "tuple[Script, ...]" = ()
    redirects: tuple[Redirect, ...] = ()


Node: TypeAlias = Command | Compound


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Commands joined by pipes. `end` is what follows: ";" (or a line feed), "&&", "||", "&", or "" at the end."""

    commands: tuple[Node, ...]
    end: str = ""
    is_timed: bool = False


Script: TypeAlias = tuple[Pipeline, ...]


def walk(script: Script) -> Iterator[Node]:
    """Every command in a script, substitutions and functions included, in order; a compound before its parts."""
    for pipeline in script:
        for node in pipeline.commands:
            yield node
            words = node.words
            if isinstance(node, Command):
                words += tuple(value for assignment in node.assignments for value in assignment.values)
            else:
                for part in node.parts:
                    yield from walk(part)
            for redirect in node.redirects:
                words += (redirect.target,) if redirect.body is None else (redirect.target, redirect.body)
            for word in words:
                for inner in word.scripts:
                    yield from walk(inner)
