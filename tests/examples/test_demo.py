"""The demo and its session: it runs to its end anywhere, and what was recorded names nobody's machine."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from reefknot.formats.registry import parse

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SESSION = EXAMPLES / "session.jsonl"
FORMS = ("kept", "noted", "excerpted", "repeated", "evicted")


def run(script: str, *arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environ)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demo prints in an empty home."""
    home = tmp_path_factory.mktemp("demo-home")
    place = {"HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    done = run("demo.py", "--folder", home / "demo", **place)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in home.iterdir()] == ["demo"]
    return done.stdout


def lines_of_session() -> list[dict]:
    return [json.loads(line) for line in SESSION.read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_the_demo_has_a_line_for_each_call_and_the_sums_agree(shown):
    transcript = parse(SESSION.read_bytes())
    calls = [call for message in transcript.messages for call in message.calls]
    rows = re.findall(r"^ *(\d+) (\w+) .* ([\d,]+) +([\d,]+)  \S+  (\w+)$", shown, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == list(range(1, len(calls) + 1))
    assert [tool for _, tool, *_ in rows] == [call.tool for call in calls]
    totals = {form: int(re.findall(rf"^ +(\d+)  {form} ", shown, re.MULTILINE)[0]) for form in FORMS}
    assert dict.fromkeys(FORMS, 0) | Counter(form for *_, form in rows) == totals
    before, after = re.findall(r"tool results +([\d,]+) -> +([\d,]+) ", shown)[0]
    assert sum(to_int(row[2]) for row in rows) == to_int(before)
    assert sum(to_int(row[3]) for row in rows) == to_int(after) <= 0.3 * to_int(before)


def to_int(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.slow
def test_the_demo_shows_an_excerpt_and_brings_back_what_was_cut(shown):
    reference = re.findall(r"\[reefknot ([0-9a-f]{8,}): ", shown)[0]
    assert f"$ reefknot retrieve {reference} --grep " in shown
    back = shown.partition("$ reefknot retrieve")[2].partition("\n\n")[0]
    assert "was cut" in back
    excerpt = shown.partition("What the agent sees now")[2].partition("\n\n")[0]
    assert "error: " in excerpt


@pytest.mark.slow
def test_the_demo_restores_the_session_byte_for_byte(shown):
    digests = re.findall(r"^  ([0-9a-f]{64})  ", shown, re.MULTILINE)
    assert len(digests) == 2
    assert digests[0] == digests[1]
    assert "\n  equal\n" in shown


@pytest.mark.slow
def test_the_demo_fits_a_terminal_and_has_no_colours_where_nobody_sees_them(shown):
    table = shown.partition("--json\n")[2].partition("And the knot undone")[0]
    assert [line for line in table.splitlines() if len(line) > 96 and not line.startswith("What")] == []
    assert "\033" not in shown


def test_a_demo_of_a_file_that_is_no_session_ends_with_one_line(tmp_path):
    (tmp_path / "no.jsonl").write_text("not a session\n", encoding="utf-8")
    done = run("demo.py", "--session", tmp_path / "no.jsonl", "--folder", tmp_path / "demo")
    assert done.returncode == 1
    assert done.stderr.startswith("reefknot: ")
    assert done.stderr.count("\n") == 1


def test_the_recorded_session_is_read_without_faults():
    transcript = parse(SESSION.read_bytes())
    assert (transcript.format, transcript.faults, transcript.notes, transcript.hidden) == ("claude_code", (), (), ())
    calls = [call.id for message in transcript.messages for call in message.calls]
    assert sorted(calls) == sorted(result.call_id for message in transcript.messages for result in message.results)
    assert 40 <= len(calls) == len(set(calls)) <= 80
    assert SESSION.stat().st_size < 600_000


def test_the_recorded_session_has_the_chain_of_its_host():
    lines = [line for line in lines_of_session() if "uuid" in line]
    known = [line["uuid"] for line in lines]
    assert lines[0]["parentUuid"] is None
    assert [line for at, line in enumerate(lines[1:], 1) if line["parentUuid"] not in known[:at]] == []
    assert [line["timestamp"] for line in lines] == sorted(line["timestamp"] for line in lines)
    results = [line for line in lines if "toolUseResult" in line]
    assert all(line["sourceToolAssistantUUID"] == line["parentUuid"] for line in results)


def test_the_recorded_session_shows_what_it_should():
    tools = Counter(call.tool for message in parse(SESSION.read_bytes()).messages for call in message.calls)
    assert set(tools) == {"Bash", "Read", "Write", "Edit"}
    text = SESSION.read_text("utf-8")
    for sign in ("git log --oneline --stat", "ls -R ", " PASSED", "1 failed", "error: ", "HTTP/1.0 503", "req-"):
        assert sign in text, sign


def strings_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                yield from (key, *strings_in(inner))
        case list():
            for inner in value:
                yield from strings_in(inner)
        case _:
            pass


def test_the_recorded_session_names_no_machine_and_no_person():
    text = "\n".join(strings_in(lines_of_session()))
    signs = {"homes": r"/home/|/Users/|/root/", "people": r"[\w.+-]+@[\w-]+\.\w+", "installs": r"pyenv|/usr/local/"}
    assert {name: found for name, sign in signs.items() if (found := re.findall(sign, text))} == {}
    assert {line["cwd"] for line in lines_of_session() if "cwd" in line} == {"/tmp/reef/reefknot"}
    hosts = set(re.findall(r"https?://([\w.-]+)", text))
    assert hosts == {"127.0.0.1"}


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout here")
def test_a_session_recorded_anew_is_read_without_faults(tmp_path):
    sys.path.insert(0, str(EXAMPLES))
    try:
        from stage import NEEDED
    finally:
        sys.path.remove(str(EXAMPLES))
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        pytest.skip(f"not installed here: {missing}")
    out = tmp_path / "session.jsonl"
    done = run("record_session.py", out, "--stage", tmp_path / "stage")
    assert (done.returncode, done.stderr) == (0, "")
    transcript = parse(out.read_bytes())
    assert (transcript.faults, transcript.notes) == ((), ())
    assert done.stdout.startswith(f"{out}: ")
    assert not (tmp_path / "stage").exists()


def test_the_recorder_removes_no_folder_that_it_did_not_make(tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = run("record_session.py", tmp_path / "session.jsonl", "--stage", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"record_session: {tmp_path} exists and was not made here")
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"
