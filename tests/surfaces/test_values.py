"""Ages and sizes as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.surfaces.cli.values import parse_age, parse_size, show_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30d", 2_592_000), ("12h", 43_200), ("45m", 2_700), ("2w", 1_209_600), ("1.5 H", 5_400), ("0s", 0)],
)
def test_an_age_has_a_number_and_a_unit(text, seconds):
    assert parse_age(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "3 days", "3dd", "٣d", "1e3d"])
def test_what_is_no_age_is_none(text):
    assert parse_age(text) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("500MB", 500_000_000), ("500m", 500_000_000), ("1KiB", 1024), ("2 GiB", 2 << 30), ("1,024", 1024)],
)
def test_a_size_is_bytes_or_has_a_unit(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1", "5 apples", "1iB", "٣MB", "1e3"])
def test_what_is_no_size_is_none(text):
    assert parse_size(text) is None


@given(st.integers(min_value=0, max_value=10**15))
def test_a_size_that_is_shown_reads_back_as_nearly_the_same(size):
    back = parse_size(show_size(size))
    assert back is not None
    assert abs(back - size) <= size * 0.06
