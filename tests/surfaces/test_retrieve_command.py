"""`reefknot retrieve`."""

import json
import os
import subprocess
import sys

import pytest

from reefknot.store.base import Original
from reefknot.store.opening import open_store

LOG = b"".join(b"%d state=%s\r\n" % (number, b"retry" if number % 3 == 0 else b"done") for number in range(1, 31))


def put(data: bytes) -> str:
    store = open_store(None, os.environ)
    (reference,) = store.put_many([Original(data=data, masked_secrets=2)])
    store.close()
    return reference.name


def call(*arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "reefknot", "retrieve", *arguments]
    return subprocess.run(command, capture_output=True, env=os.environ | environ, check=False)


@pytest.mark.parametrize("data", [LOG, b"", b"\xff\x00\n no end", "Größe".encode(), b"\xed\xa0\xbd"])
def test_raw_and_the_whole_text_are_the_stored_bytes(data):
    name = put(data)
    for arguments in ([name, "--raw"], [name]):
        done = call(*arguments, LC_ALL="C")
        assert (done.returncode, done.stdout, done.stderr) == (0, data, b"")


def test_lines_count_from_1_and_both_ends_are_included():
    name = put(LOG)
    assert call(name, "--lines", "2:3").stdout == b"2 state=done\r\n3 state=retry\r\n"
    assert call(name, "--lines", "30:").stdout == b"30 state=retry\r\n"


def test_grep_shows_matching_lines_and_says_how_many_there_are():
    done = call(put(LOG), "--grep", "STATE=retry$", "-i", "--limit", "2")
    assert done.stdout == b"3 state=retry\r\n6 state=retry\r\n"
    assert done.stderr == b"2 of 10 matching lines shown; --limit N shows more\n"


def test_json_is_one_object_of_the_agreed_shape():
    name = put(LOG)
    answer = json.loads(call(name, "--grep", "retry", "--limit", "1", "--json").stdout)
    assert list(answer) == ["reference", "text", "bytes", "lines", "part", "total_matches", "masked_secrets"]
    assert answer | {"part": None} == {
        "reference": name,
        "text": "3 state=retry\r\n",
        "bytes": len(LOG),
        "lines": 30,
        "part": None,
        "total_matches": 10,
        "masked_secrets": 2,
    }


def test_json_holds_bytes_that_are_no_text():
    answer = json.loads(call(put(b"a\xffb"), "--json").stdout)
    assert answer["text"] == "a\udcffb"


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["00000000"], 1, "reference '00000000' was never stored in"),
        (["XYZ"], 1, "'XYZ' is no reference"),
        (["00000000", "--raw", "--json"], 2, "retrieve: --raw gives all stored bytes as they are"),
        (["00000000", "-i"], 2, "retrieve: --context and -i go with --grep"),
        (["00000000", "--lines", "0:3"], 2, "lines 0:3: lines count from 1"),
        (["00000000", "--limit", "x"], 2, "retrieve: invalid value for '--limit'"),
    ],
)
def test_a_miss_is_exit_1_and_bad_usage_is_exit_2(arguments, code, line):
    done = call(*arguments)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.decode().startswith(f"reefknot: {line}")
    assert done.stderr.count(b"\n") == 1


def test_a_store_that_is_no_store_is_a_no(tmp_path):
    path = tmp_path / "text.sqlite3"
    path.write_text("not a database, but long enough to look at" * 100)
    done = call("a1b2c3d4", REEFKNOT_STORE=f"sqlite://{path}")
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)


def test_a_wrong_pattern_is_one_line():
    done = call(put(LOG), "--grep", "(")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
