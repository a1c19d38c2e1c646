import base64
import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.errors import ConfigError
from reefknot.text import tokens
from reefknot.text.tokens import (
    FAMILIES,
    CachedCounter,
    EstimatedCounter,
    ExactCounter,
    ScaledCounter,
    TokenCounter,
    margin_of,
    open_counter,
)

EXACT = ExactCounter()
ESTIMATED = EstimatedCounter()

RUSSIAN = (
    "Команда завершилась с ошибкой: не удалось открыть файл настроек, проверьте права доступа и повторите попытку позже. "
    * 4
)
CHINESE = "命令执行失败:无法打开配置文件,请检查访问权限后重试。日志已写入临时目录,详情见最后一行。" * 8
JAPANESE = "設定ファイルを開けませんでした。アクセス権を確認してから、もう一度実行してください。" * 8
PROSE = (
    "The build failed because the settings file could not be opened; check who may read it, and then run it again. " * 5
)
MINIFIED = json.dumps(
    [{"id": n, "name": f"service-{n}", "ok": n % 3 > 0, "latency_ms": n * 7919 % 997 / 8} for n in range(60)],
    separators=(",", ":"),
)
BASE64 = base64.b64encode(random.Random(3).randbytes(3_000)).decode()
HEX = random.Random(4).randbytes(1_500).hex()
CODE = "\n".join(
    f"    def count_{name}(self, texts: Sequence[str]) -> list[int]:\n        return [self._scaled(text, {number}) for text in texts]\n"
    for number, name in enumerate(("many", "few", "pieces", "groups", "records"))
)
LOG = "\n".join(
    f"2026-03-09 02:00:{n % 60:02d},{n * 37 % 1000:03d} INFO worker-{n % 7} finished job {n * 7919} in {n % 97} ms"
    for n in range(80)
)

BOUND = 0.35  # share by which any one kind of text may be off; docs/adr/0002-token-counting.md
KINDS = {
    "russian": RUSSIAN,
    "chinese": CHINESE,
    "japanese": JAPANESE,
    "prose": PROSE,
    "minified json": MINIFIED,
    "base64": BASE64,
    "hex": HEX,
    "code": CODE,
    "log": LOG,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),
        ("<|endoftext|>", 7),
        ("a<|endofprompt|>b", 9),
        ("привет мир", 3),
        ("今天天气很好", 4),
        ("\ud83d", 1),
        ("\udcff", 1),
        ("a\udcffb", 3),
        (" " * 1000, 9),
    ],
)
def test_exact_counts_are_those_of_o200k(text: str, expected: int) -> None:
    assert EXACT.count(text) == expected


def test_half_surrogates_and_special_tokens_in_one_text_count_as_ordinary_text() -> None:
    assert EXACT.count("\ud83d <|endoftext|> \udcff") == EXACT.count("\ufffd <|endoftext|> \ufffd")


@given(st.lists(st.text()))
def test_many_are_counted_as_each_alone(texts: list[str]) -> None:
    alone = [EXACT.count(text) for text in texts]
    assert EXACT.count_many(texts) == alone
    assert CachedCounter(EXACT).count_many(texts) == alone


def test_the_batch_call_gives_the_same_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*KINDS.values(), "", "<|endoftext|>", "\ud83d", *KINDS.values(), "x"]
    alone = [EXACT.count(text) for text in texts]
    for size in (1, 100, 20_000):
        monkeypatch.setattr(tokens, "BATCH_CHARS", size)
        assert EXACT.count_many(texts) == alone


PARTS = st.sampled_from(
    [
        "word",
        " word",
        "Word's",
        "'ll",
        "42",
        "12345",
        ", ",
        "; ",
        "//",
        "/",
        "\n",
        "\n\n",
        "\r\n",
        "  ",
        "\t",
        "{",
        '":',
        "漢字",
        "é",
        "\u0301",
        "é\n",
        "...",
        "=>",
        "'",
        "\n/",
    ]
)


@given(st.lists(PARTS, max_size=60).map("".join), st.integers(min_value=12, max_value=40))
def test_a_text_counted_in_pieces_has_the_count_of_the_whole(text: str, size: int) -> None:
    pieces = list(tokens._pieces(text, size))
    assert "".join(pieces) == text
    safe = all(re.compile(tokens._CUT).match(before[-1] + after[:1]) for before, after in pairwise(pieces))
    total = sum(map(EXACT.count, pieces))
    whole = EXACT.count(text)
    assert total == whole if safe else whole <= total + 1 and total <= whole + 2 * len(pieces)


@pytest.mark.parametrize("kind", ["log", "minified json", "base64", "hex", "prose", "code"])
def test_a_long_text_has_the_same_count_in_pieces(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = EXACT.count(KINDS[kind] * 5)
    monkeypatch.setattr(tokens, "PIECE_CHARS", 1_000)
    assert EXACT.count(KINDS[kind] * 5) == whole


def test_pieces_without_a_safe_place_to_cut_cost_a_few_tokens_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = EXACT.count("a" * 50_000), EXACT.count(CHINESE * 20)
    monkeypatch.setattr(tokens, "PIECE_CHARS", 10_000)
    pieces = EXACT.count("a" * 50_000), EXACT.count(CHINESE * 20)
    assert all(0 <= more - once <= 8 for more, once in zip(pieces, whole, strict=True))


@pytest.mark.slow
def test_a_hundred_megabytes_are_counted() -> None:
    line = "2026-03-09 02:00:00,000 INFO worker finished job 7919\n"
    assert EXACT.count(line * 1_900_000) == EXACT.count(line * 19) * 100_000


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_near_the_exact_count(kind: str) -> None:
    exact = EXACT.count(KINDS[kind])
    assert abs(ESTIMATED.count(KINDS[kind]) - exact) <= BOUND * exact


def test_half_of_these_kinds_are_estimated_within_the_margin() -> None:
    errors = sorted(abs(ESTIMATED.count(text) / EXACT.count(text) - 1) for text in KINDS.values())
    assert errors[len(errors) // 2] <= ESTIMATED.margin


@given(st.text())
def test_an_estimate_is_a_whole_number_that_only_an_empty_text_has_as_nothing(text: str) -> None:
    estimate = ESTIMATED.count(text)
    assert (estimate > 0) == (text != "")
    assert estimate <= 4 * len(text.encode("utf-8", "surrogatepass"))
    assert ESTIMATED.count_many([text, text]) == [estimate, estimate]


def test_an_estimate_loads_no_vocabulary() -> None:
    code = (
        "import sys, reefknot.text.tokens as t; t.open_counter('estimate').count('hello'); "
        "t.ExactCounter(); print([m for m in ('quicktok', 'numpy') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


class Counting:
    """A counter that remembers what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        self.asked.extend(texts)
        return [len(text) for text in texts]


def test_a_cached_count_is_asked_for_once() -> None:
    inner = Counting()
    counter = CachedCounter(inner)
    assert counter.count_many(["aa", "b", "aa"]) == [2, 1, 2]
    assert (counter.count("b"), counter.count_many([])) == (1, [])
    assert inner.asked == ["aa", "b"]


def test_a_cache_forgets_what_was_unused_for_longest() -> None:
    inner = Counting()
    counter = CachedCounter(inner, size=2)
    for text in ("a", "bb", "a", "ccc", "a", "bb"):
        counter.count(text)
    assert inner.asked == ["a", "bb", "ccc", "bb"]
    assert counter.count_many(["d", "ee", "fff"]) == [1, 2, 3]


def test_a_cache_tells_half_surrogates_apart() -> None:
    assert CachedCounter(Counting()).count_many(["\ud83d", "\ud83e\ud83e"]) == [1, 2]


def test_a_scaled_count_is_the_factor_times_the_count_rounded_up() -> None:
    counter = ScaledCounter(Counting(), "claude-4")
    factor = FAMILIES["claude-4"].factor
    assert counter.name == f"counting*{factor:.2f} (claude-4)"
    assert counter.count_many(["", "a", "a" * 100]) == [0, 2, round(100 * factor)]
    assert counter.count("a" * 100) == round(100 * factor)


@pytest.mark.parametrize(
    ("counter", "name", "margin"),
    [
        (open_counter("o200k"), "o200k", 0.0),
        (open_counter("estimate"), "o200k estimate", 0.15),
        (open_counter("o200k", family="claude-3"), "o200k*1.18 (claude-3)", 0.16),
        (open_counter("estimate", family="claude-4"), "o200k estimate*1.47 (claude-4)", 0.41),
    ],
)
def test_a_counter_says_what_it_is_and_how_far_it_may_be_off(counter: TokenCounter, name: str, margin: float) -> None:
    assert (counter.name, round(margin_of(counter), 2)) == (name, margin)


def test_an_unknown_family_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'llama' is not known: use one of o200k, claude-3, claude-4"):
        open_counter("o200k", family="llama")
