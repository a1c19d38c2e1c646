"""Ranges of lines, and searches that end in time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.errors import PatternError, UsageError
from reefknot.store import searcher, slices
from reefknot.store.slices import (
    MATCHES_SHOWN,
    PATTERN_LENGTH,
    Matches,
    count_lines,
    cut_lines,
    grep,
    parse_range,
    split_lines,
)

SECONDS = 20.0  # more than any search here needs
TEXTS = st.text(alphabet="ab\n\r\x0b\x85\u2028é\udcff", max_size=60)


@given(TEXTS)
def test_lines_join_to_the_text_again(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert len(lines) == count_lines(text)
    assert all(line.endswith("\n") for line in lines[:-1])
    assert "" not in lines


@given(TEXTS, st.integers(1, 8))
def test_two_ranges_that_meet_are_the_whole(text: str, cut: int) -> None:
    lines = split_lines(text)
    assert [*cut_lines(lines, None, cut), *cut_lines(lines, cut + 1, None)] == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("41:43", (41, 43)),
        ("41:", (41, None)),
        (":43", (None, 43)),
        ("7", (7, 7)),
        (" 1 : 2 ", (1, 2)),
        ("3:3", (3, 3)),
    ],
)
def test_a_range_is_read_as_it_is_written(text: str, lines: tuple[int | None, int | None]) -> None:
    assert parse_range(text) == lines


@pytest.mark.parametrize(
    "text", ["", ":", "a:b", "1-2", "1:2:3", "0:3", "0", ":0", "-1:3", "5:4", "1.5:2", "²:3", "9" * 30]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="lines"):
        parse_range(text)


def found(text: str, pattern: str, **options: int) -> Matches:
    return grep(split_lines(text), pattern, timeout_seconds=SECONDS, **options)


def test_matching_lines_are_whole_and_verbatim() -> None:
    assert found("one\r\ntwo\nthree", "t[wh]") == Matches(text="two\nthree", line_numbers=(2, 3), total=2)
    assert found("one\r\ntwo\n", "e$") == Matches(text="one\r\n", line_numbers=(1,), total=1)
    assert found("one\n", "x") == Matches(text="", line_numbers=(), total=0)


def test_context_shows_each_line_once_and_parts_groups_as_grep_does() -> None:
    text = "".join(f"{number}{' hit' if number in (2, 3, 8) else ''}\n" for number in range(1, 10))
    assert found(text, "hit", context=1).text == "1\n2 hit\n3 hit\n4\n--\n7\n8 hit\n9\n"
    assert found(text, "hit", context=2).text == text
    assert found(text, "hit", context=9).text == text
    assert found(text, "hit").text == "2 hit\n3 hit\n8 hit\n"


def test_the_limit_counts_matching_lines_and_all_are_counted() -> None:
    matches = found("hit\n" * 50, "h.t", limit=3, context=1)
    assert (matches.line_numbers, matches.total) == ((1, 2, 3), 50)
    assert matches.text == "hit\n" * 4


@pytest.mark.parametrize("pattern", ["hit", "^hit"])
def test_a_search_without_a_limit_shows_no_endless_list(pattern: str) -> None:
    matches = found("hit\n" * (MATCHES_SHOWN + 5), pattern)
    assert (len(matches.line_numbers), matches.total) == (MATCHES_SHOWN, MATCHES_SHOWN + 5)


def test_line_numbers_go_on_from_where_the_lines_begin() -> None:
    assert found("a\nb\n", "b", first_number=41).line_numbers == (42,)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [("STRASSE", "strasse"), ("ÖL", "öl"), ("ö.", "ÖL"), ("k", "\u212a"), ("[Ab]C", "aBc"), ("abc", "xABCx")],
)
def test_case_is_ignored_in_words_and_in_patterns(pattern: str, line: str) -> None:
    assert found(f"{line}\n", pattern, ignore_case=True).total == 1
    assert found(f"{line}\n", pattern).total == 0


@given(st.text(alphabet="ab.\t", min_size=1, max_size=3), TEXTS)
def test_a_plain_word_finds_what_its_escaped_pattern_finds(word: str, text: str) -> None:
    lines = split_lines(text)
    numbers = tuple(
        number for number, line in enumerate(lines, 1) if re.search(re.escape(word), line.removesuffix("\n"))
    )
    answer = searcher.answer(searcher.write_question(lines, re.escape(word), False, 99, 1))
    assert [int(index) + 1 for index in answer.split()[2:]] == list(numbers)
    if "." not in word and "\t" not in word:
        assert found(text, word).line_numbers == numbers


def test_any_text_can_be_searched_in_a_child() -> None:
    text = "\udcff\ud83d x\n\x00y\n\u2028z\n"
    assert found(text, "^.x|^\x00y|[\u2028]z|\udcff").line_numbers == (1, 2, 3)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", r"unterminated subpattern \(at character 0\)"),
        ("ab[", r"unterminated character set \(at character 2\)"),
        ("a**", r"multiple repeat \(at character 2\)"),
        ("a{99999999999}", "repetition number is too large"),
        ("(" * 3000 + ")" * 3000, "nested too deeply"),
        (r"(?P<x>a)(?P=y)", "unknown group name"),
        ("x" * (PATTERN_LENGTH + 1), "at most"),
    ],
)
def test_a_wrong_pattern_says_where(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        found("a\n", pattern)


@pytest.mark.parametrize("options", [{"context": -1}, {"limit": -1}])
def test_a_count_below_zero_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        found("a\n", "a", **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*$",
        "([a-zA-Z]+)*$",
        "(.*)*,",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?=(a+))a*b\\1",
        "(x+x+)+y|(a?){60}a{60}b",
        "(?:a|b|ab)*?c",
    ],
)
def test_no_pattern_takes_longer_than_its_limit(pattern: str) -> None:
    lines = split_lines("x\n" + "a" * 60_000 + "!\n")
    with pytest.raises(PatternError, match=r"took longer than 0\.5 s"):
        grep(lines, pattern, timeout_seconds=0.5)


@pytest.mark.parametrize(("answer", "message"), [(searcher.MEMORY, "too much memory"), ("", "took longer")])
def test_a_child_that_ends_early_is_a_pattern_error(answer: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        slices._read_answer(answer, "a", SECONDS)
