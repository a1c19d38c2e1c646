"""Compactions that are killed, and many at once into one store."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SESSION = Path(__file__).parents[2] / "examples" / "session.jsonl"
pytestmark = pytest.mark.slow


def _start(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "REEFKNOT_HOME": str(home)}
    command = [sys.executable, "-m", "reefknot", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ)


def _run(home: Path, *arguments: str) -> tuple[int, bytes]:
    process = _start(home, *arguments)
    out, _ = process.communicate()
    return process.returncode, out


def test_a_killed_compaction_leaves_store_and_input_whole(tmp_path: Path) -> None:
    home, source = tmp_path / "home", tmp_path / "session.jsonl"
    data = SESSION.read_bytes()
    source.write_bytes(data)
    draw = random.Random(3)
    for number in range(8):
        out = tmp_path / f"out{number}.jsonl"
        process = _start(home, "compact", str(source), "--keep", "0.3", "--out", str(out), "--json")
        try:
            process.communicate(timeout=draw.uniform(0.2, 1.2))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        assert source.read_bytes() == data
        assert _run(home, "store", "verify")[0] == 0
        if out.exists():
            assert _run(home, "restore", str(out)) == (0, data)
    assert _run(home, "compact", str(source), "--keep", "0.3", "--out", str(tmp_path / "last.jsonl"))[0] == 0
    assert _run(home, "restore", str(tmp_path / "last.jsonl")) == (0, data)


def test_eight_compactions_at_once_lose_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    outs = [tmp_path / f"out{number}.jsonl" for number in range(8)]
    processes = [
        _start(home, "compact", str(SESSION), "--keep", f"0.{number + 1}", "--out", str(out), "--json")
        for number, out in enumerate(outs)
    ]
    reports = [json.loads(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    names = {part["ref"] for report in reports for part in report["references"]}
    assert {_run(home, "retrieve", name, "--raw")[0] for name in names} == {0}
    assert [_run(home, "restore", str(out)) for out in outs] == [(0, SESSION.read_bytes())] * 8
    assert _run(home, "store", "verify")[0] == 0
