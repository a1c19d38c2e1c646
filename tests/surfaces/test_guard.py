"""Errors become one line and an exit code."""

import errno

import pytest

from reefknot.errors import (
    ConfigError,
    Corrupt,
    FormatError,
    MissingExtra,
    NotStored,
    PatternError,
    StoreError,
    UsageError,
)
from reefknot.surfaces import guard


def raising(error: BaseException):
    def action() -> int:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (FormatError("'x' is no transcript"), 2, "'x' is no transcript"),
        (ConfigError("unknown setting"), 2, "unknown setting"),
        (UsageError("two targets"), 2, "two targets"),
        (PatternError("took too long"), 2, "took too long"),
        (MissingExtra("install it"), 2, "install it"),
        (StoreError("disk full"), 2, "disk full"),
        (NotStored("never stored"), 1, "never stored"),
        (Corrupt("bytes differ"), 1, "bytes differ"),
        (guard.ExpectedNo("no"), 1, "no"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a\nb"), 2, r"'a\nb': No such file or directory"),
        (OSError(errno.EXDEV, "Invalid cross-device link", "a", None, "b"), 2, "'a' -> 'b': Invalid cross-device link"),
        (OSError("odd"), 2, "odd"),
        (FormatError("two\nlines and \x1b[31mcolour"), 2, r"two lines and \x1b[31mcolour"),
        (FormatError("half a pair \ud83d"), 2, r"half a pair \ud83d"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(capsys, error, code, line):
    assert guard.run(raising(error)) == code
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"reefknot: {line}\n")


@pytest.mark.parametrize("error", [RecursionError("too deep"), MemoryError("too much"), ZeroDivisionError("a\nb")])
def test_a_fault_of_ours_is_one_line_too(capsys, error):
    assert guard.run(raising(error)) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"reefknot: internal error: {type(error).__name__}: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_a_traceback_is_shown_when_it_is_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("REEFKNOT_DEBUG", "1")
    assert guard.run(raising(ZeroDivisionError("nought"))) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):")
    assert err.splitlines()[-1].startswith("reefknot: internal error: ZeroDivisionError: nought")


def test_what_the_action_answers_is_the_exit_code(capsys):
    assert [guard.run(lambda code=code: code) for code in (0, 1)] == [0, 1]
    assert capsys.readouterr() == ("", "")


def test_errors_of_an_expected_family_are_a_no():
    with pytest.raises(guard.ExpectedNo, match="locked"), guard.expect_no(StoreError):
        raise StoreError("locked")
    with pytest.raises(ConfigError), guard.expect_no(StoreError):
        raise ConfigError("other")
