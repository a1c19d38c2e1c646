"""The words after a command's name, told apart: options, their values, and operands."""

from collections.abc import Sequence
from dataclasses import dataclass

from reefknot.compact.commands.shell import Word

__all__ = ["Options", "options_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`flags`: (name, value) in order, names with their dashes, one letter each for short ones; `operands`: the rest.

    `after_dashes` is the index in `operands` of the first one after `--`; the number of operands when there is none.
    """

    flags: tuple[tuple[str, str], ...]
    operands: tuple[Word, ...]
    after_dashes: int

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.flags)

    def value(self, *names: str) -> str | None:
        """The last value given for any of the names."""
        return next((value for name, value in reversed(self.flags) if name in names), None)


def options_of(words: Sequence[Word], valued: str = "", long_valued: frozenset[str] = frozenset()) -> Options:
    """Tell options and operands apart as getopt does; `valued`: short letters that take a value, `long_valued`: long
    names.

    `-20` is read as `-n 20` where `-n` takes a value, as head, tail and git log mean it.

    >>> words = [Word(text=text) for text in ("-rn", "-A5", "-e", "x", "--include=*.py", "src", "--", "-a")]
    >>> found = options_of(words, "Ae")
    >>> found.flags
    (('-r', ''), ('-n', ''), ('-A', '5'), ('-e', 'x'), ('--include', '*.py'))
    >>> [word.text for word in found.operands], found.after_dashes
    (['src', '-a'], 1)
    """
    flags: list[tuple[str, str]] = []
    operands: list[Word] = []
    after_dashes: int | None = None
    position, size = 0, len(words)
    while position < size:
        word = words[position]
        text = word.text
        position += 1
        if len(text) < 2 or text[0] != "-":
            operands.append(word)
        elif text == "--":
            after_dashes = len(operands)
            operands += words[position:]
            break
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            if not equals and name in long_valued and position < size:
                value = words[position].text
                position += 1
            flags.append((name, value))
        elif text[1:].isdigit() and "n" in valued:
            flags.append(("-n", text[1:]))
        else:
            for index in range(1, len(text)):
                if text[index] in valued:
                    value = text[index + 1 :]
                    if not value and position < size:
                        value = words[position].text
                        position += 1
                    flags.append(("-" + text[index], value))
                    break
                flags.append(("-" + text[index], ""))
    return Options(
        flags=tuple(flags),
        operands=tuple(operands),
        after_dashes=len(operands) if after_dashes is None else after_dashes,
    )
