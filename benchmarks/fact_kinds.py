"""What counts as a fact of a session, and when a compacted prefix still shows it.

A session is a list of neutral messages: `{"role", "text", "calls": [{"id", "tool", "input"}], "results": [{"id",
"text", "is_error"}]}`. A cut splits it: messages before it (the prefix) are compacted, those from it on are hindsight.
Results that stand neither up to the first user message nor in the newest six messages of the prefix are *open*.
Nothing here knows how a prefix was compacted; a fact is looked up in the text of what came out (`View`).

Choices where a definition leaves one open:
- Token (`tokens_of`): six characters and more with a digit, or eight and more with one of `/ _ .`; the published rule.
- Short value: 3-5 characters with a digit behind a label: one of `_LABEL`, or any word that `:` or `=` follows.
- Written: stands as a whole token in a message's text or in the text values of its arguments (escapes decoded). The
  agent may write a short value without its label. System messages count as somebody who writes.
- Used: in the first message of the agent from the cut on that writes it. "Shown again before the use" asks for results
  from the cut on: a token that two results of the prefix show is one fact with two places to keep it.
- `published`: first shown before the cut, used; whatever was written before. Kept as a plain substring.
- `strict`: also not written by anybody up to the message of its first result, and not shown again before the use.
  Kept between word boundaries (letters, digits, `_`); a short value behind a label.
- `hard`: strict, and not kept when every open result is empty.
- `context`: one for each strict token and each camel-case word of eight letters and more under the same conditions: the
  stripped line that introduced it; with more than 160 characters, the word and 25 characters on both sides. Substring.
- `quoted`: stripped result lines of 16-200 characters, also without a line number that a file viewer put before them,
  that the agent writes as a whole line, under the conditions of strict. Substring.
- Whatever the kind, what the whole prefix does not show by its own rule (a token glued to a `_`) is no fact.
- `errors`: distinct stripped lines of at most 200 characters of all results of the prefix, protected ones too, with one
  of the published failure words. Kept as a whole line.
- `quiet`: tokens in exactly one result line of the whole session, before the cut. Word boundaries.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reefknot.model.message import Json

__all__ = [
    "KINDS",
    "Message",
    "View",
    "find_cuts",
    "find_facts",
    "first_user",
    "has_error",
    "is_open",
    "tokens_of",
    "written_text",
]

Message = dict[str, Any]  # neutral form, as read from JSON
Facts = dict[str, list[str]]  # kind -> what must be readable

KINDS = ("published", "strict", "hard", "context", "quoted", "errors", "quiet")
FRACTIONS = (0.5, 0.75)
NEWEST_MESSAGES = 6  # of a prefix, never compacted
SHORT_CHARS = 5  # a value of at most so many characters is only known by its label

_DIGIT = re.compile(r"[0-9]")
_WITH_DIGIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@#-]{5,}")
_WITH_MARK = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{7,}")
_CAMEL = re.compile(r"(?<![A-Za-z0-9_])(?=[A-Za-z]{8})[A-Za-z]*[a-z][A-Z][A-Za-z]*(?![A-Za-z0-9_])")
_SHORT = r"(?=[A-Za-z0-9.\-]{0,4}[0-9])[A-Za-z0-9][A-Za-z0-9.\-]{1,3}[A-Za-z0-9]"
_SHORT_WORD = re.compile(rf"(?<![A-Za-z0-9_]){_SHORT}(?![A-Za-z0-9_])")
_LABEL = (
    "port|pid|exit(?: code| status)?|rc|errno|status|code|signal|lines?|row|col|column|size|count|total|length|offset"
    "|version|index|id|address|returned|result"
)
_LABELLED = re.compile(rf"(?i)\b(?:(?:{_LABEL})\b[\s:=#\"'(]{{1,3}}|[a-z_]\w*\"?\s?[:=]\s?\"?)({_SHORT})(?!\w)")
_VIEWER_NUMBER = re.compile(r"^\s*(?:\d+[:|\t→-]|\[\d+\])\s?")
_ERROR = re.compile(
    r"(?i)\b(?:errors?|fail(?:ed|ures?|s)?|exception|traceback|denied|refused|invalid|not found|timed? ?-?out|fatal"
    r"|panic|warning)\b|\binvalid_"
)


def tokens_of(text: str) -> set[str]:
    """The tokens of a text by the published rule.

    >>> sorted(tokens_of("see src/app.py:12, req-00aa. Plain words stay out, and so does port 8080"))
    ['req-00aa', 'src/app.py', 'src/app.py:12']
    """
    found = {token.rstrip(".:,") for token in _WITH_DIGIT.findall(text) if _DIGIT.search(token)}
    for token in _WITH_MARK.findall(text):
        if not _DIGIT.search(token) and ("/" in token or "_" in token or "." in token):
            stripped = token.rstrip(".:,")
            if len(stripped) >= 8:
                found.add(stripped)
    return found


def has_error(line: str) -> bool:
    """Whether a line has one of the published failure words."""
    return _ERROR.search(line) is not None


def first_user(messages: Sequence[Message]) -> int:
    """The index of the first message that the user wrote; 0 when there is none."""
    own = (i for i, m in enumerate(messages) if m["role"] == "user" and m["text"] and not m["results"])
    return next(own, 0)


def is_open(index: int, first: int, cut: int) -> bool:
    """Whether results of a message may be compacted; `first` is `first_user`, `cut` the length of the prefix."""
    return first < index < cut - NEWEST_MESSAGES


def find_cuts(length: int) -> list[int]:
    """Half and three quarters of the messages, halves rounded up; each once, where both sides have something.

    A cut may part a call from its result; the call is then without a result, as for the published replay.
    """
    cuts = dict.fromkeys(int(length * part + 0.5) for part in FRACTIONS)
    return [cut for cut in cuts if 2 <= cut < length]


class View:
    """The text that a reader of messages has: message texts, text values of arguments, results."""

    def __init__(self, messages: Iterable[Message]) -> None:
        parts = [part for m in messages for part in (written_text(m), *(r["text"] for r in m["results"]))]
        self.text = "\n".join(parts)

    @cached_property
    def _lines(self) -> set[str]:
        return {line.strip() for line in self.text.split("\n")}

    @cached_property
    def _labelled(self) -> set[str]:
        return set(_LABELLED.findall(self.text))

    def kept(self, kind: str, fact: str) -> bool:
        """Whether a fact of a kind is readable."""
        match kind:
            case "strict" | "hard" if len(fact) <= SHORT_CHARS:
                return fact in self._labelled
            case "strict" | "hard" | "quiet":
                return _stands(fact, self.text)
            case "errors":
                return fact in self._lines
            case _:
                return fact in self.text

    def count(self, kind: str, facts: Iterable[str]) -> int:
        """How many facts of a kind are readable."""
        return sum(self.kept(kind, fact) for fact in facts)


def _stands(word: str, text: str) -> bool:
    """Whether a word stands between word boundaries."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and _in_word(text[at - 1])) and not (end < len(text) and _in_word(text[end])):
            return True
        at = text.find(word, at + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def written_text(message: Message) -> str:
    """What the author of a message wrote: the text, and the text values of the arguments, escapes decoded."""
    return "\n".join((message["text"], *(value for call in message["calls"] for value in _values(call["input"]))))


def _values(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _values(part)
        case list():
            for part in value:
                yield from _values(part)
        case _:
            yield json.dumps(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """Where items of one sort (tokens, lines, ...) are written and shown: item -> message indices, rising."""

    written: Mapping[str, list[int]]
    shown: Mapping[str, list[int]]
    shown_bare: Mapping[str, list[int]]  # as `shown`; for short values also where they stand without a label


class _Session:
    """A session with its texts taken apart once."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.first = first_user(messages)
        self.written = [written_text(m) for m in messages]
        self.lines = [[line for r in m["results"] for line in r["text"].split("\n")] for m in messages]

    def index(
        self,
        written: Callable[[str], Iterable[str]],
        shown: Callable[[str], Iterable[str]],
        shown_bare: Callable[[str], Iterable[str]] | None = None,
    ) -> _Index:
        by_author = _places(written(text) for text in self.written)
        results = ["\n".join(lines) for lines in self.lines]
        by_result = _places(shown(text) for text in results)
        bare = _places(shown_bare(text) for text in results) if shown_bare else by_result
        return _Index(written=by_author, shown=by_result, shown_bare=bare)

    def next_use(self, places: Iterable[int], cut: int) -> int | None:
        return next((i for i in places if i >= cut and self.messages[i]["role"] == "assistant"), None)

    def strict(self, index: _Index, cut: int) -> list[tuple[str, int]]:
        """(item, message that introduced it) under the conditions of `strict`."""
        found: list[tuple[str, int]] = []
        for item, shown in index.shown.items():
            written = index.written.get(item)
            bare = index.shown_bare[item]
            if shown[0] >= cut or not written or written[0] <= shown[0] or bare[0] < shown[0]:
                continue
            use = self.next_use(written, cut)
            if use is not None and not any(cut <= i < use for i in bare):
                found.append((item, shown[0]))
        return found

    def used(self, index: _Index, cut: int) -> list[str]:
        """Items first shown before the cut and used."""
        return [
            item
            for item, shown in index.shown.items()
            if shown[0] < cut and self.next_use((i for i in index.written.get(item, ()) if i > shown[0]), cut)
        ]

    def context(self, word: str, message: int) -> str:
        """What must be readable beside a word: its line, or 25 characters on both sides."""
        line = next((line for line in self.lines[message] if _stands(word, line)), word).strip()
        if len(line) <= 160:
            return line
        at = line.find(word)
        return line[max(0, at - 25) : at + len(word) + 25]

    def emptied(self, cut: int) -> Iterator[Message]:
        """The prefix without its open results."""
        for i, message in enumerate(self.messages[:cut]):
            yield message | {"results": []} if is_open(i, self.first, cut) else message


def _places(per_message: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for i, items in enumerate(per_message):
        for item in dict.fromkeys(items):
            places[item].append(i)
    return dict(places)


def _short_words(text: str) -> set[str]:
    return set(_SHORT_WORD.findall(text))


def _result_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        for form in (line.strip(), _VIEWER_NUMBER.sub("", line).strip()):
            if 16 <= len(form) <= 200:
                yield form


def find_facts(messages: Sequence[Message], cuts: Sequence[int]) -> list[Facts]:
    """The facts of a session at each cut, by kind; each list in the order of first appearance."""
    session = _Session(messages)
    tokens = session.index(tokens_of, tokens_of)
    labelled = session.index(
        _short_words, _LABELLED.findall, lambda text: [*_short_words(text), *_LABELLED.findall(text)]
    )
    camel = session.index(_CAMEL.findall, _CAMEL.findall)
    lines = session.index(lambda text: (line.strip() for line in text.split("\n")), _result_lines)
    lines_with = Counter(token for own in session.lines for line in own for token in tokens_of(line))
    facts: list[Facts] = []
    for cut in cuts:
        strict = [*session.strict(tokens, cut), *session.strict(labelled, cut)]
        whole = View(messages[:cut])
        strict = [(token, i) for token, i in strict if whole.kept("strict", token)]
        emptied = View(session.emptied(cut))
        errors = (line.strip() for own in session.lines[:cut] for line in own if has_error(line))
        facts.append(
            {
                "published": session.used(tokens, cut),
                "strict": [token for token, _ in strict],
                "hard": [token for token, _ in strict if not emptied.kept("hard", token)],
                "context": [session.context(word, i) for word, i in (*strict, *session.strict(camel, cut))],
                "quoted": [line for line, _ in session.strict(lines, cut)],
                "errors": [line for line in dict.fromkeys(errors) if len(line) <= 200],
                "quiet": [
                    token
                    for token, shown in tokens.shown.items()
                    if shown[0] < cut and lines_with[token] == 1 and whole.kept("quiet", token)
                ],
            }
        )
    return facts
