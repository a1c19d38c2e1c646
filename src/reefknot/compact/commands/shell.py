"""A command text of a POSIX shell (bash, mostly) read into a small tree; nothing is expanded and nothing is run.

`parse` never raises: what it does not understand ends the tree with a compound of kind "unknown", and whoever
asks what a command does must then expect anything. One pass, linear in the text; nesting is bounded by `MAX_DEPTH`.
The file is long because the methods of a recursive descent call one another: it is one grammar.
"""

import re

from reefknot.compact.commands.shell_tree import (
    Assignment,
    Command,
    Compound,
    CompoundKind,
    Node,
    Pipeline,
    Redirect,
    Script,
    Word,
    walk,
)

__all__ = [
    "MAX_DEPTH",
    "Assignment",
    "Command",
    "Compound",
    "Node",
    "Pipeline",
    "Redirect",
    "Script",
    "Word",
    "parse",
    "walk",
]

MAX_DEPTH = 24  # levels of nesting; people write five, and each level costs about eight Python frames


class _Unparsed(Exception):
    """Not understood: a syntax error, or deeper than `MAX_DEPTH`. Never leaves this module."""


_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`<>|&;()*?\[{]+")
_BLANKS = re.compile(r"(?:[ \t\r]|\\\r?\n)*")
_COMMENT = re.compile(r"[^\n]*")
_REDIRECT = re.compile(r"(\d*)(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|()(&>>|&>)")
_KEYWORD = re.compile(
    r"(if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|time|coproc|[{}!]"
    r"|\[\[)(?=[ \t\r\n;&|()<>]|$)"
)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\[[^\]\s]*\])?\+?=", re.ASCII)
_PARAMETER = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_]\w*|[0-9]+|[@*#?$!-])", re.ASCII)
_BRACED = re.compile(r"\$\{[#!]?(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])\}", re.ASCII)
_ARITHMETIC = re.compile(r"\(\([^()`]*(?:\([^()`]*\)[^()`]*)*\)\)")
_BRACES = re.compile(r"\{[^{}\s'\"`]*(?:,|\.\.)[^{}\s'\"`]*\}")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_IN_BRACES = re.compile(r"[^}'\"\\$`]+")
_IN_BODY = re.compile(r"[^\\$`]+")
_BACKQUOTED = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_WORD_END = frozenset(" \t\r\n;|&<>()")
_USUAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-./_'\"")  # begins a word and nothing else
_TEST_SKIPS = re.compile(r"[ \t\r\n<>&|()]+")


def parse(text: str) -> Script:
    """The tree of a command text.

    >>> [pipeline] = parse("FOO=1 grep -n 'a|b; c' src/*.py 2>/dev/null | head -5")
    >>> [[word.text for word in command.words] for command in pipeline.commands]
    [['grep', '-n', 'a|b; c', 'src/*.py'], ['head', '-5']]
    >>> pipeline.commands[0].words[3].is_glob
    True
    >>> parse("echo 'not closed")[-1].commands[0].kind
    'unknown'
    """
    parser = _Parser(text, 0)
    items: list[Pipeline] = []
    try:
        parser.script(items)
        if parser.position < len(text):
            raise _Unparsed
    except _Unparsed:
        items.append(Pipeline(commands=(Compound(kind="unknown"),)))
    return tuple(items)


class _Found:
    """What a word is made of while it is read."""

    __slots__ = ("is_glob", "is_quoted", "parts", "scripts", "variables")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.variables: list[str] = []
        self.scripts: list[Script] = []
        self.is_glob = False
        self.is_quoted = False

    def word(self) -> Word:
        return Word(
            text="".join(self.parts),
            variables=tuple(self.variables),
            scripts=tuple(self.scripts),
            is_glob=self.is_glob,
            is_quoted=self.is_quoted,
        )


class _Parser:
    """Recursive descent over one text; `position` only moves forward."""

    __slots__ = ("depth", "pending", "position", "text")

    text: str
    position: int
    depth: int
    pending: list[tuple[Redirect, bool]]  # here-documents whose text starts at the next line; whether to strip tabs

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.position = 0
        self.depth = depth
        self.pending = []

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Unparsed

    def _char(self) -> str:
        return self.text[self.position] if self.position < len(self.text) else ""

    def _blanks(self) -> None:
        text, position = self.text, self.position
        if position < len(text) and text[position] in " \t\r\\":
            found = _BLANKS.match(text, position)
            if found is not None:
                self.position = found.end()

    def _lines(self) -> None:
        """Skip blanks, comments and line feeds."""
        while True:
            self._blanks()
            char = self._char()
            if char == "\n":
                self._line_feed()
            elif char == "#":
                self._comment()
            else:
                return

    def _comment(self) -> None:
        found = _COMMENT.match(self.text, self.position)
        assert found is not None
        self.position = found.end()

    def _line_feed(self) -> None:
        self.position += 1
        pending, self.pending = self.pending, []
        for redirect, strip in pending:
            self._here_document(redirect, strip)

    def _here_document(self, redirect: Redirect, strip: bool) -> None:
        delimiter = redirect.target.text
        start = self.position
        if strip:
            ends = re.compile(rf"^\t*{re.escape(delimiter)}\r?$", re.MULTILINE)
            found = ends.search(self.text, start)
            stop, after = (found.start(), found.end() + 1) if found else (len(self.text), len(self.text))
        else:
            stop, after = self._delimiter_line(delimiter, start)
        body = self.text[start:stop]
        self.position = min(after, len(self.text))
        # The tree is frozen; a here-document is known only when its line has ended.
        object.__setattr__(redirect, "body", self._body(body, redirect.target.is_quoted))

    def _delimiter_line(self, delimiter: str, start: int) -> tuple[int, int]:
        text = self.text
        position = start
        while True:
            if text.startswith(delimiter, position):
                end = position + len(delimiter)
                if end >= len(text) or text[end] == "\n" or text.startswith("\r\n", end):
                    return position, end + (2 if text.startswith("\r\n", end) else 1)
            found = text.find("\n" + delimiter, position)
            if found < 0:
                return len(text), len(text)
            position = found + 1

    def _body(self, body: str, is_quoted: bool) -> Word:
        if is_quoted or ("$" not in body and "`" not in body):
            return Word(text=body, is_quoted=is_quoted)
        inner = _Parser(body, self.depth)
        found = _Found()
        inner.until("", _IN_BODY, found)
        return found.word()

    def script(self, items: list[Pipeline] | None = None) -> Script:
        """Pipelines up to the end, a closing parenthesis, a closing keyword or `;;`."""
        if items is None:
            items = []
        text = self.text
        while True:
            self._lines()
            char = self._char()
            if char == "" or char == ")" or text.startswith(";;", self.position):
                return tuple(items)
            keyword = _KEYWORD.match(text, self.position)
            if keyword is not None and keyword.group(1) in _CLOSING:
                return tuple(items)
            items.append(self._pipeline())

    def _pipeline(self) -> Pipeline:
        commands: list[Node] = []
        is_timed = False
        while True:
            self._blanks()
            keyword = _KEYWORD.match(self.text, self.position)
            name = keyword.group(1) if keyword else ""
            if name == "!" or name == "time":
                is_timed = is_timed or name == "time"
                self.position += len(name)
                continue
            commands.append(self._command(name))
            self._blanks()
            text, position = self.text, self.position
            if text.startswith("|", position) and not text.startswith("||", position):
                self.position += 2 if text.startswith("|&", position) else 1
                self._lines()
                continue
            return Pipeline(commands=tuple(commands), end=self._list_operator(), is_timed=is_timed)

    def _list_operator(self) -> str:
        text, position = self.text, self.position
        char = self._char()
        if char in ("", ")") or text.startswith(";;", position):
            return ""
        if char == "\n":
            self._line_feed()
            return ";"
        if char == "#":
            self._comment()
            return ";"
        if char == ";":
            self.position += 1
            return ";"
        if text.startswith("&&", position) or text.startswith("||", position):
            self.position += 2
            return text[position : position + 2]
        if char == "&":
            self.position += 1
            return "&"
        keyword = _KEYWORD.match(text, position)
        if keyword is not None and keyword.group(1) in _CLOSING:
            return ""
        raise _Unparsed

    def _command(self, keyword: str) -> Node:
        if self._char() == "(":
            arithmetic = _ARITHMETIC.match(self.text, self.position)
            if arithmetic is not None:
                self.position = arithmetic.end()
                return Compound(kind="arithmetic", redirects=self._redirects())
            return self._enclosed("subshell", ")")
        match keyword:
            case "":
                return self._simple()
            case "{":
                return self._enclosed("group", "}")
            case "if":
                return self._if()
            case "for" | "select":
                return self._for()
            case "while" | "until":
                return self._while()
            case "case":
                return self._case()
            case "function":
                self.position += len("function")
                self._blanks()
                return self._function(self.word().text)
            case "[[":
                return self._test()
            case _:
                raise _Unparsed

    def _enclosed(self, kind: CompoundKind, end: str) -> Compound:
        self._deeper()
        self.position += 1
        part = self.script()
        self._expect(end)
        self.depth -= 1
        return Compound(kind=kind, parts=(part,), redirects=self._redirects())

    def _expect(self, keyword: str) -> None:
        self._lines()
        if not self.text.startswith(keyword, self.position):
            raise _Unparsed
        self.position += len(keyword)

    def _if(self) -> Compound:
        self._deeper()
        parts: list[Script] = []
        self._expect("if")
        parts.append(self.script())
        self._expect("then")
        parts.append(self.script())
        while True:
            keyword = _KEYWORD.match(self.text, self.position)
            match keyword.group(1) if keyword else "":
                case "elif":
                    self._expect("elif")
                    parts.append(self.script())
                    self._expect("then")
                    parts.append(self.script())
                case "else":
                    self._expect("else")
                    parts.append(self.script())
                case _:
                    break
        self._expect("fi")
        self.depth -= 1
        return Compound(kind="if", parts=tuple(parts), redirects=self._redirects())

    def _body_of_loop(self) -> Script:
        self._blanks()
        if self._char() == ";":
            self.position += 1
        self._expect("do")
        part = self.script()
        self._expect("done")
        return part

    def _for(self) -> Compound:
        self._deeper()
        self.position += len("select") if self.text.startswith("select", self.position) else len("for")
        self._blanks()
        arithmetic = _ARITHMETIC.match(self.text, self.position)
        name, words = "", list[Word]()
        if arithmetic is not None:
            self.position = arithmetic.end()
        else:
            found = _NAME.match(self.text, self.position)
            if found is None:
                raise _Unparsed
            name = found.group()
            self.position = found.end()
            self._lines()
            if (
                self.text.startswith("in", self.position)
                and self.text[self.position + 2 : self.position + 3] in " \t\r\n\\;"
            ):
                self.position += 2
                words = self._words_of_line()
        part = self._body_of_loop()
        self.depth -= 1
        return Compound(kind="for", name=name, words=tuple(words), parts=(part,), redirects=self._redirects())

    def _words_of_line(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self._blanks()
            if self._char() in ("", "\n", ";"):
                return words
            words.append(self.word())

    def _while(self) -> Compound:
        self._deeper()
        self.position += len("while")  # "until" is as long
        condition = self.script()
        part = self._body_of_loop()
        self.depth -= 1
        return Compound(kind="while", parts=(condition, part), redirects=self._redirects())

    def _case(self) -> Compound:
        self._deeper()
        self._expect("case")
        self._blanks()
        subject = self.word()
        self._expect("in")
        parts: list[Script] = []
        while True:
            self._lines()
            keyword = _KEYWORD.match(self.text, self.position)
            if keyword is not None and keyword.group(1) == "esac":
                break
            self._patterns()
            parts.append(self.script())
            self._lines()
            for end in (";;&", ";;", ";&"):
                if self.text.startswith(end, self.position):
                    self.position += len(end)
                    break
        self._expect("esac")
        self.depth -= 1
        return Compound(kind="case", words=(subject,), parts=tuple(parts), redirects=self._redirects())

    def _patterns(self) -> None:
        if self._char() == "(":
            self.position += 1
        while True:
            self._blanks()
            self.word()
            self._blanks()
            char = self._char()
            self.position += 1
            if char == ")":
                return
            if char != "|":
                raise _Unparsed

    def _function(self, name: str) -> Compound:
        self._deeper()
        self._blanks()
        if self._char() == "(":
            self.position += 1
            self._expect(")")
        self._lines()
        keyword = _KEYWORD.match(self.text, self.position)
        if keyword is None and self._char() != "(":
            raise _Unparsed
        inner = self._command(keyword.group(1) if keyword else "")
        self.depth -= 1
        return Compound(kind="function", name=name, parts=((Pipeline(commands=(inner,)),),))

    def _test(self) -> Compound:
        self.position += 2
        words: list[Word] = []
        while True:
            skipped = _TEST_SKIPS.match(self.text, self.position)
            if skipped is not None:
                self.position = skipped.end()
            if self._char() == "":
                raise _Unparsed
            word = self.word()
            if word.text == "]]" and not word.is_quoted:
                return Compound(kind="test", words=tuple(words), redirects=self._redirects())
            words.append(word)

    def _redirects(self) -> tuple[Redirect, ...]:
        redirects: list[Redirect] = []
        while True:
            self._blanks()
            redirect = self._redirect()
            if redirect is None:
                return tuple(redirects)
            redirects.append(redirect)

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.position)
        if found is None:
            return None
        operator = found.group(2) or found.group(4)
        if operator in ("<", ">") and self.text.startswith("(", found.end()):
            return None
        self.position = found.end()
        self._blanks()
        target = self.word()
        redirect = Redirect(operator=operator, fd=found.group(1) or "", target=target)
        if operator in ("<<", "<<-"):
            self.pending.append((redirect, operator == "<<-"))
        return redirect

    def _simple(self) -> Node:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        text = self.text
        while True:
            self._blanks()
            position = self.position
            if position >= len(text):
                break
            char = text[position]
            if words and char in _USUAL:
                words.append(self.word())
                continue
            if char in "\n;|)":
                break
            if char in "<>&0123456789":
                redirect = self._redirect()
                if redirect is not None:
                    redirects.append(redirect)
                    continue
                if char == "&":
                    break
            if char == "#":
                self._comment()
                break
            if char == "(":
                if len(words) == 1 and not assignments and not redirects and words[0].is_literal:
                    return self._function(words[0].text)
                raise _Unparsed
            assigned = None if words else _ASSIGN.match(text, self.position)
            if assigned is not None:
                self.position = assigned.end()
                assignments.append(Assignment(name=assigned.group(1), values=self._assigned()))
                continue
            words.append(self.word())
        if not (words or assignments or redirects):
            raise _Unparsed
        return Command(words=tuple(words), assignments=tuple(assignments), redirects=tuple(redirects))

    def _assigned(self) -> tuple[Word, ...]:
        char = self._char()
        if char == "(":
            self.position += 1
            values: list[Word] = []
            while True:
                self._lines()
                if self._char() == ")":
                    self.position += 1
                    return tuple(values)
                values.append(self.word())
        return () if char == "" or char in _WORD_END else (self.word(),)

    def word(self) -> Word:
        """One word at the position; raises where none begins."""
        text, start = self.text, self.position
        plain = _PLAIN.match(text, start)
        if plain is not None:
            end = plain.end()
            if end == len(text) or text[end] in _WORD_END:
                self.position = end
                return Word(text=plain.group())
        found = _Found()
        self._parts(found)
        if self.position == start:
            raise _Unparsed
        if found.parts == ["["]:  # the command; a pattern would have an end
            found.is_glob = False
        return found.word()

    def _parts(self, found: _Found) -> None:
        text = self.text
        while self.position < len(text):
            plain = _PLAIN.match(text, self.position)
            if plain is not None:
                found.parts.append(plain.group())
                self.position = plain.end()
                continue
            char = text[self.position]
            if char in _WORD_END:
                if found.parts or char not in "<>" or not text.startswith("(", self.position + 1):
                    return
                self._substitution(found, 2)
            elif char == "'":
                end = text.find("'", self.position + 1)
                if end < 0:
                    raise _Unparsed
                found.parts.append(text[self.position + 1 : end])
                found.is_quoted = True
                self.position = end + 1
            elif char == '"':
                self.position += 1
                found.is_quoted = True
                self.until('"', _IN_QUOTES, found)
            elif char == "\\":
                self._escape(found)
            elif char == "$":
                self._dollar(found, in_quotes=False)
            elif char == "`":
                self._backquotes(found)
            elif char == "{":
                braces = _BRACES.match(text, self.position)
                found.is_glob = found.is_glob or braces is not None
                found.parts.append("{")
                self.position += 1
            else:
                found.is_glob = True
                found.parts.append(char)
                self.position += 1

    def _escape(self, found: _Found) -> None:
        char = self.text[self.position + 1 : self.position + 2]
        if char != "\n":
            found.parts.append(char)
            found.is_quoted = True
        self.position += 2

    def until(self, end: str, run: re.Pattern[str], found: _Found) -> None:
        """Read the inside of double quotes, of `${..}`, or (`end` empty) of a here-document, its end included."""
        self._deeper()
        text = self.text
        while self.position < len(text):
            plain = run.match(text, self.position)
            if plain is not None:
                found.parts.append(plain.group())
                self.position = plain.end()
                continue
            char = text[self.position]
            if char == end:
                self.position += 1
                self.depth -= 1
                return
            if char == "\\":
                following = text[self.position + 1 : self.position + 2]
                if following != "\n":
                    found.parts.append(following if following in '$`"\\' else "\\" + following)
                self.position += 2
            elif char == "$":
                self._dollar(found, in_quotes=True)
            elif char == "`":
                self._backquotes(found)
            elif char == '"':
                self.position += 1
                self.until('"', _IN_QUOTES, found)
            else:  # a single quote inside `${..}`
                close = text.find("'", self.position + 1)
                close = close if close >= 0 else self.position
                found.parts.append(text[self.position : close + 1])
                self.position = close + 1
        self.depth -= 1
        if end:
            raise _Unparsed

    def _dollar(self, found: _Found, *, in_quotes: bool) -> None:
        text, start = self.text, self.position
        following = text[start + 1 : start + 2]
        if following == "(":
            arithmetic = _ARITHMETIC.match(text, start + 1)
            if arithmetic is None:
                self._substitution(found, 2)
                return
            if "$(" in arithmetic.group():
                raise _Unparsed
            found.variables += _PARAMETER.findall(arithmetic.group())
            found.parts.append(text[start : arithmetic.end()])
            self.position = arithmetic.end()
            return
        if following == "'" and not in_quotes:
            quoted = _ANSI_C.match(text, start)
            if quoted is None:
                raise _Unparsed
            found.parts.append(_unescape(quoted.group(1)))
            found.is_quoted = True
            self.position = quoted.end()
            return
        if following == '"' and not in_quotes:
            self.position += 1
            return
        parameter = _PARAMETER.match(text, start)
        if parameter is None:
            if following == "{":
                raise _Unparsed
            found.parts.append("$")
            self.position += 1
            return
        found.variables.append(parameter.group(1))
        if following != "{" or _BRACED.match(text, start) is not None:
            end = parameter.end() + (following == "{")
            found.parts.append(text[start:end])
            self.position = end
            return
        found.parts.append(parameter.group())
        self.position = parameter.end()
        self.until("}", _IN_BRACES, found)
        found.parts.append("}")

    def _substitution(self, found: _Found, length: int) -> None:
        start = self.position
        self._deeper()
        self.position += length
        script = self.script()
        if self._char() != ")":
            raise _Unparsed
        self.position += 1
        self.depth -= 1
        found.scripts.append(script)
        found.parts.append(self.text[start : self.position])

    def _backquotes(self, found: _Found) -> None:
        quoted = _BACKQUOTED.match(self.text, self.position)
        if quoted is None:
            raise _Unparsed
        self._deeper()
        inner = _Parser(re.sub(r"\\([\\$`])", r"\1", quoted.group(1)), self.depth)
        script = inner.script()
        if inner.position < len(inner.text):
            raise _Unparsed
        self.depth -= 1
        found.scripts.append(script)
        found.parts.append(quoted.group())
        self.position = quoted.end()


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "0": "\0"}


def _unescape(text: str) -> str:
    """The common escapes of `$'..'`; others stay as written, since nothing here depends on them."""
    return re.sub(r"\\([\\'\"ntrabe0])", lambda found: _ESCAPES.get(found.group(1), found.group(1)), text)
