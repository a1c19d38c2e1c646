import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reefknot.compact.commands.shell import MAX_DEPTH, Command, Compound, Script, parse, walk

SHELLISH = st.text(alphabet=st.sampled_from("ab$`'\"\\(){}[]<>|&;#! \t\n=*?~-1EOF"), max_size=120)
HEAVY = (
    "(" * 10_000,
    "$(" * 10_000,
    "`" * 9_999,
    "\\`" * 30_000,
    '"${a:-' * 10_000,
    "{ " * 10_000,
    "if " * 10_000,
    "<<a " * 5_000 + "\n",
    "$((" * 20_000,
    "case x in " * 5_000,
    "$'" + "\\" * 100_001,
    "{a," * 30_000,
    "a " * 60_000,
    "cat <<E\n" + "E \n" * 50_000,
    "f() " * 10_000,
    "a | " * 30_000,
    "[[ " * 10_000,
    "<(" * 10_000,
)


def texts(script: Script) -> list[list[str]]:
    return [[word.text for word in node.words] for node in walk(script) if isinstance(node, Command)]


def kinds(script: Script) -> list[str]:
    return [node.kind for node in walk(script) if isinstance(node, Compound)]


def only(text: str) -> Command:
    [pipeline] = parse(text)
    [command] = pipeline.commands
    assert isinstance(command, Command)
    return command


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("grep -n 'a|b; c && d' f", ["grep", "-n", "a|b; c && d", "f"]),
        ('echo "a \\"b\\" \\$x"', ["echo", 'a "b" $x']),
        ("echo a\\ b", ["echo", "a b"]),
        ("echo a'b'\"c\"d", ["echo", "abcd"]),
        ("echo $'a\\tb\\'c'", ["echo", "a\tb'c"]),
        ("echo \\\n  next", ["echo", "next"]),
        ("echo a#b # comment ; rm x", ["echo", "a#b"]),
        ("find . -exec cat {} \\;", ["find", ".", "-exec", "cat", "{}", ";"]),
        ("echo ''", ["echo", ""]),
        ("[ -f a ]", ["[", "-f", "a", "]"]),
    ],
)
def test_quotes_escapes_and_comments_are_resolved_in_words(text: str, words: list[str]) -> None:
    assert [word.text for word in only(text).words] == words


def test_a_word_knows_what_would_be_expanded_in_it() -> None:
    words = only("x \"$A\" '$A' *.py '*.py' {a,b}.c $(date) `date` <(date) ${B:-c} $? a~b").words
    assert [(word.variables, len(word.scripts), word.is_glob) for word in words] == [
        ((), 0, False),
        (("A",), 0, False),
        ((), 0, False),
        ((), 0, True),
        ((), 0, False),
        ((), 0, True),
        ((), 1, False),
        ((), 1, False),
        ((), 1, False),
        (("B",), 0, False),
        (("?",), 0, False),
        ((), 0, False),
    ]


def test_operators_join_pipelines_and_pipes_join_commands() -> None:
    script = parse("a | b |& c && d || e; f & g\nh")
    assert [(len(pipeline.commands), pipeline.end) for pipeline in script] == [
        (3, "&&"),
        (1, "||"),
        (1, ";"),
        (1, "&"),
        (1, ";"),
        (1, ""),
    ]


def test_assignments_stand_before_the_command_and_alone() -> None:
    assert [(one.name, [value.text for value in one.values]) for one in only("A=1 B='x y' cmd C=2").assignments] == [
        ("A", ["1"]),
        ("B", ["x y"]),
    ]
    assert only("A=(x 'y z' $B)").assignments[0].name == "A"
    assert only("A=(x 'y z')").words == ()


def test_redirections_are_told_from_words() -> None:
    redirects = only("cmd <in >out 2>>err 2>&1 &>all >|force <<<'here string' x").redirects
    assert [(redirect.fd, redirect.operator, redirect.target.text) for redirect in redirects] == [
        ("", "<", "in"),
        ("", ">", "out"),
        ("2", ">>", "err"),
        ("2", ">&", "1"),
        ("", "&>", "all"),
        ("", ">|", "force"),
        ("", "<<<", "here string"),
    ]


def test_here_documents_take_their_lines_and_nothing_more() -> None:
    script = parse("cat <<'EOF' > f.py && echo done\nrm -rf $HOME $(x)\nEOF\nls <<-END\n\tone $(date)\n\tEND\npwd")
    assert texts(script) == [["cat"], ["echo", "done"], ["ls"], ["date"], ["pwd"]]
    first, second = (
        redirect.body
        for node in walk(script)
        for redirect in node.redirects
        if redirect.operator.startswith("<<") and redirect.body is not None
    )
    assert first.text == "rm -rf $HOME $(x)\n"
    assert first.scripts == ()
    assert len(second.scripts) == 1


def test_a_here_document_inside_a_substitution_is_read() -> None:
    script = parse("git commit -m \"$(cat <<'EOF'\nTitle (with a paren\nEOF\n)\" && git push")
    assert texts(script)[0][:3] == ["git", "commit", "-m"]
    assert texts(script)[-1] == ["git", "push"]
    assert "unknown" not in kinds(script)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("for f in a b; do cat $f; done", [["cat", "$f"]]),
        ("for ((i=0; i<3; i++)); do echo $i; done", [["echo", "$i"]]),
        ("while read -r x; do echo $x; done < f", [["read", "-r", "x"], ["echo", "$x"]]),
        (
            "if test -f a; then cat a; elif true; then b; else c; fi",
            [["test", "-f", "a"], ["cat", "a"], ["true"], ["b"], ["c"]],
        ),
        ("case $x in a|b) one;; *) two ;; esac", [["one"], ["two"]]),
        ("f() { rm x; }; f", [["rm", "x"], ["f"]]),
        ("function g { rm y; }", [["rm", "y"]]),
        ("(cd a && ls); { b; c; }", [["cd", "a"], ["ls"], ["b"], ["c"]]),
        ("[[ -f a && $b =~ ^(x|y)$ ]] && cat a", [["cat", "a"]]),
        ("((x > 3)) || echo low", [["echo", "low"]]),
        ("! grep -q x f", [["grep", "-q", "x", "f"]]),
        ("echo $((1 + 2)) ${a/b/c}", [["echo", "$((1 + 2))", "${a/b/c}"]]),
    ],
)
def test_compound_commands_hold_their_commands(text: str, commands: list[list[str]]) -> None:
    script = parse(text)
    assert texts(script) == commands
    assert "unknown" not in kinds(script)


@pytest.mark.parametrize(
    "text", ["echo 'open", 'echo "open', "echo $(open", "a )", "if x; then y", "a && && b", "; a", "x y(z)"]
)
def test_what_is_not_understood_is_unknown_and_what_stands_before_it_is_kept(text: str) -> None:
    script = parse(f"first one\n{text}")
    assert texts(script)[0] == ["first", "one"]
    assert kinds(script)[-1] == "unknown"


def test_nesting_is_read_to_a_bound_and_unknown_beyond() -> None:
    inside, beyond = MAX_DEPTH - 1, MAX_DEPTH + 1
    assert "unknown" not in kinds(parse("( " * inside + "ls" + " )" * inside))
    assert kinds(parse("( " * beyond + "ls" + " )" * beyond)) == ["unknown"]


@given(st.one_of(st.text(max_size=200), SHELLISH))
@example("\udcff\ud800$(")
@example("a\r\nb \\\r\n c")
def test_no_text_makes_it_raise(text: str) -> None:
    list(walk(parse(text)))


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters="'\0", exclude_categories=("Cs",)), max_size=12),
        min_size=1,
        max_size=6,
    )
)
def test_single_quotes_give_any_words_back(words: list[str]) -> None:
    [found] = texts(parse("x " + " ".join(f"'{word}'" for word in words)))
    assert found[1:] == words


@pytest.mark.parametrize("text", HEAVY, ids=lambda text: text[:8])
def test_heavy_input_is_read_in_one_pass(text: str) -> None:
    list(walk(parse(text)))  # what is quadratic in one of these would not come back within the time limit of the suite
