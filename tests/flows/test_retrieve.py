"""Any part of a stored original, through the flow."""

import pytest

from reefknot.errors import Corrupt, NotStored, PatternError, UsageError
from reefknot.flows.retrieve import Retrieved, retrieve
from reefknot.store.base import Original
from reefknot.store.memory import MemoryStore

LOG = "".join(f"line {number} state={'retry' if number % 10 == 0 else 'done'}\n" for number in range(1, 51))
SECONDS = 20.0  # more than any search here needs


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def put(store: MemoryStore, data: bytes, masked_secrets: int = 0) -> str:
    return store.put_many([Original(data=data, masked_secrets=masked_secrets)])[0].name


def test_the_whole_comes_back_with_its_counts(store: MemoryStore) -> None:
    name = put(store, LOG.encode(), masked_secrets=2)
    digest = store.entries()[0].digest
    whole = Retrieved(
        reference=name,
        text=LOG,
        data=LOG.encode(),
        size_bytes=len(LOG),
        total_lines=50,
        part=None,
        total_matches=None,
        masked_secrets=2,
    )
    assert retrieve(store, name, timeout_seconds=SECONDS) == whole
    assert retrieve(store, digest, timeout_seconds=SECONDS) == whole


def test_the_json_form_has_the_agreed_keys(store: MemoryStore) -> None:
    name = put(store, b"a\n")
    assert retrieve(store, name, timeout_seconds=SECONDS).as_json() == {
        "reference": name,
        "text": "a\n",
        "bytes": 2,
        "lines": 1,
        "part": None,
        "total_matches": None,
        "masked_secrets": 0,
    }


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [("41:43", [41, 43]), ((41, 43), [41, 43]), ("48:", [48, 50]), (":2", [1, 2]), ("49:80", [49, 50]), ("7", [7, 7])],
)
def test_lines_count_from_one_and_both_ends_are_included(
    store: MemoryStore, lines: str | tuple[int, int], numbers: list[int]
) -> None:
    part = retrieve(store, put(store, LOG.encode()), lines=lines, timeout_seconds=SECONDS)
    assert part.text == "".join(LOG.splitlines(keepends=True)[numbers[0] - 1 : numbers[1]])
    assert part.part == {"lines": numbers, "limited": False}
    assert part.total_lines == 50


def test_a_range_behind_the_end_is_empty_and_says_so(store: MemoryStore) -> None:
    part = retrieve(store, put(store, LOG.encode()), lines="60:70", timeout_seconds=SECONDS)
    assert (part.text, part.part, part.total_lines) == ("", {"lines": None, "limited": False}, 50)


def test_a_limit_without_a_search_counts_lines(store: MemoryStore) -> None:
    part = retrieve(store, put(store, LOG.encode()), lines="10:", limit=2, timeout_seconds=SECONDS)
    assert part.text == "line 10 state=retry\nline 11 state=done\n"
    assert part.part == {"lines": [10, 11], "limited": True}


def test_a_search_shows_what_it_may_and_counts_all(store: MemoryStore) -> None:
    name = put(store, LOG.encode())
    part = retrieve(store, name, grep="STATE=r.try", ignore_case=True, context=1, limit=2, timeout_seconds=SECONDS)
    assert part.text.split("\n--\n") == [
        "line 9 state=done\nline 10 state=retry\nline 11 state=done",
        "line 19 state=done\nline 20 state=retry\nline 21 state=done\n",
    ]
    assert part.total_matches == 5
    assert part.part == {
        "lines": [1, 50],
        "limited": True,
        "grep": "STATE=r.try",
        "context": 1,
        "ignore_case": True,
        "line_numbers": [10, 20],
    }


def test_a_search_in_a_range_tells_the_numbers_of_the_whole(store: MemoryStore) -> None:
    name = put(store, LOG.encode())
    part = retrieve(store, name, lines="15:30", grep="retry", context=1, timeout_seconds=SECONDS)
    assert part.total_matches == 2
    assert part.part is not None
    assert part.part["line_numbers"] == [20, 30]
    assert part.text.splitlines()[-1] == "line 30 state=retry"  # the range holds for the context too


def test_bytes_that_are_no_text_come_back_as_they_are(store: MemoryStore) -> None:
    data = b"\xff\xfe\r\n\x00 caf\xe9\n"
    part = retrieve(store, put(store, data), grep="caf.", timeout_seconds=SECONDS)
    assert part.data == data
    assert part.text.encode("utf-8", "surrogateescape") == b"\x00 caf\xe9\n"


def test_an_empty_original_has_no_lines(store: MemoryStore) -> None:
    part = retrieve(store, put(store, b""), grep="x", timeout_seconds=SECONDS)
    assert (part.text, part.total_lines, part.total_matches) == ("", 0, 0)


def test_what_is_not_here_is_said(store: MemoryStore) -> None:
    with pytest.raises(NotStored, match="never stored"):
        retrieve(store, "deadbeef", timeout_seconds=SECONDS)


def test_damaged_bytes_are_not_given(store: MemoryStore) -> None:
    name = put(store, b"whole")
    store._held.data[store.entries()[0].digest] = b"other"
    with pytest.raises(Corrupt, match="damaged"):
        retrieve(store, name, timeout_seconds=SECONDS)


@pytest.mark.parametrize(
    "options", [{"lines": "0:2"}, {"lines": (3, 2)}, {"lines": "x"}, {"limit": 0}, {"limit": -1}, {"context": -1}]
)
def test_a_call_that_makes_no_sense_is_refused_before_anything_is_read(
    store: MemoryStore, options: dict[str, int]
) -> None:
    with pytest.raises(UsageError):
        retrieve(store, "deadbeef", timeout_seconds=SECONDS, **options)


def test_a_wrong_pattern_is_said(store: MemoryStore) -> None:
    with pytest.raises(PatternError, match="unterminated"):
        retrieve(store, put(store, b"x\n"), grep="(", timeout_seconds=SECONDS)


@pytest.mark.slow
def test_a_pattern_that_never_ends_is_ended(store: MemoryStore) -> None:
    name = put(store, b"a" * 50_000 + b"!\n")
    with pytest.raises(PatternError, match="took longer"):
        retrieve(store, name, grep="(a+)+$", timeout_seconds=0.5)
