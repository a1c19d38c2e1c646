"""`reefknot store`."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from reefknot.store.base import Origin, Original
from reefknot.store.opening import default_path, open_store


def call(*arguments: str, code: int = 0, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reefknot", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environ, check=False)
    assert done.returncode == code, done.stderr
    if code:
        assert done.stderr.startswith("reefknot: ")
        assert done.stderr.count("\n") == 1
    return done


def put(*texts: str, session: str = "s1", project: str = "/p") -> list[str]:
    store = open_store(None, os.environ)
    originals = [
        Original(data=text.encode(), origin=Origin(session=session, project=project, tool="Bash", call_id=f"c{at}"))
        for at, text in enumerate(texts)
    ]
    names = [reference.name for reference in store.put_many(originals)]
    store.close()
    return names


def damage_an_original() -> None:
    path = default_path(os.environ)
    link = sqlite3.connect(path)
    tables = [name for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        blobs = [
            row[1] for row in link.execute(f"PRAGMA table_info({table})") if row[2] == "BLOB" and row[1] != "digest"
        ]
        for column in blobs:
            link.execute(f"UPDATE {table} SET {column} = zeroblob(length({column})) WHERE length({column}) > 40")
    link.commit()
    link.close()


def test_an_empty_store_is_counted_verified_and_made_by_neither(home):
    assert json.loads(call("store", "stats", "--json").stdout)["objects"] == 0
    assert json.loads(call("store", "verify", "--json").stdout) == {
        "objects": 0,
        "reductions": 0,
        "undos": 0,
        "faults": [],
        "sound": True,
    }
    assert list(home.rglob("*.sqlite3")) == []


def test_stats_tell_what_is_there_to_people_and_as_json():
    put("one " * 500, "two " * 500)
    put("three " * 500, session="s2")
    answer = json.loads(call("store", "stats", "--json").stdout)
    assert (answer["objects"], answer["size_bytes"], answer["sessions"], answer["projects"]) == (3, 7000, 2, 1)
    text = call("store", "stats").stdout
    assert f"store      {default_path(os.environ)}\n" in text
    assert "originals  3, 7.0 kB\n" in text
    assert "from       2 sessions, 1 projects\n" in text


def test_verify_finds_damage_and_answers_no():
    put("an original that is long enough to be damaged " * 50)
    assert call("store", "verify").stdout == "checked: 1 originals, 0 shortened texts, 0 changed records\n"
    damage_an_original()
    done = call("store", "verify", "--json", code=1)
    answer = json.loads(done.stdout)
    assert answer["sound"] is False
    assert len(answer["faults"]) >= 1
    assert "fault: " in call("store", "verify", code=1).stdout


def test_gc_removes_by_age_and_size_only_when_told_and_a_dry_run_removes_nothing():
    names = put("a" * 3000, "b" * 3000)
    done = call("store", "gc")
    assert done.stdout == "removed: 0 originals, 0 B on disk\n"
    assert done.stderr == "no policy was given: --older-than AGE or --max-bytes N says what may go\n"
    assert call("store", "gc", "--older-than", "1d").stdout.startswith("removed: 0 originals")
    dry = json.loads(call("store", "gc", "--max-bytes", "0", "--dry-run", "--json").stdout)
    assert (sorted(dry["names"]), dry["dry_run"]) == (sorted(names), True)
    assert call("retrieve", names[0], "--raw").stdout == "a" * 3000
    assert json.loads(call("store", "gc", "--max-bytes", "0", "--json").stdout)["dry_run"] is False
    assert "was removed" in call("retrieve", names[0], code=1).stderr


def test_purge_removes_one_original_a_session_or_a_project():
    first, second = put("first " * 100, "second " * 100, session="s1", project="/a")
    (third,) = put("third " * 100, session="s2", project="/b")
    (fourth,) = put("fourth " * 100, session="s3", project="/b")
    assert json.loads(call("store", "purge", first, "--json").stdout)["names"] == [first]
    assert json.loads(call("store", "purge", "--session", "s1", "--json").stdout)["names"] == [second]
    gone = json.loads(call("store", "purge", "--project", "/b", "--json").stdout)
    assert sorted(gone["names"]) == sorted([third, fourth])
    assert "was removed" in call("retrieve", third, code=1).stderr


def test_purge_wants_exactly_one_choice_and_a_reference_that_is_here():
    call("store", "purge", code=2)
    call("store", "purge", "00000000", "--session", "s", code=2)
    assert "was never stored" in call("store", "purge", "00000000", code=1).stderr


@pytest.mark.parametrize("value", ["30", "soon", "-1d"])
def test_an_age_or_size_that_is_none_is_bad_usage(value):
    assert "is no age: write 30d" in call("store", "gc", f"--older-than={value}", code=2).stderr
    if value != "30":
        assert "is no size: write 500MB" in call("store", "gc", f"--max-bytes={value}", code=2).stderr


def test_a_bundle_takes_originals_to_another_home(tmp_path):
    name, _ = put("moved " * 100, "too " * 100)
    bundle = tmp_path / "all.bundle"
    assert json.loads(call("store", "export", str(bundle), "--json").stdout)["objects"] == 2
    assert "exists: name another file" in call("store", "export", str(bundle), code=2).stderr
    call("store", "export", str(bundle), "--overwrite")
    other = {"REEFKNOT_HOME": str(tmp_path / "other")}
    call("retrieve", name, code=1, **other)
    taken = json.loads(call("store", "import", str(bundle), "--json", **other).stdout)
    assert taken == {"objects": 2, "reductions": 0, "undos": 0, "renamed": []}
    assert call("retrieve", name, "--raw", **other).stdout == "moved " * 100


def test_a_file_that_is_no_bundle_is_bad_input(tmp_path):
    path = tmp_path / "text"
    path.write_text("no bundle")
    call("store", "import", str(path), code=2)
    call("store", "import", str(tmp_path / "missing"), code=2)


def test_export_wants_one_or_two_names():
    assert call("store", "export", code=2).stderr.startswith("reefknot: store export: missing argument")
    assert "at most a transcript and a bundle" in call("store", "export", "a", "b", "c", code=2).stderr


def test_export_of_a_transcript_bundles_what_it_refers_to_and_nothing_else(tmp_path):
    put("belongs to another session " * 50, session="other")
    source = tmp_path / "chat.json"
    source.write_text(json.dumps(long_chat()))
    small = tmp_path / "small.json"
    report = json.loads(call("compact", str(source), "--keep", "0.1", "--out", str(small), "--json").stdout)
    assert report["action"] == "compacted"
    bundle = tmp_path / "one.bundle"
    answer = json.loads(call("store", "export", str(small), str(bundle), "--json").stdout)
    assert answer["missing"] == []
    assert answer["objects"] == len({each["ref"] for each in report["references"]})
    other = {"REEFKNOT_HOME": str(tmp_path / "other")}
    call("restore", str(small), "--out", str(tmp_path / "early.json"), **other)
    call("store", "import", str(bundle), **other)
    whole = tmp_path / "whole.json"
    call("restore", str(small), "--out", str(whole), **other)
    assert json.loads(whole.read_text()) == long_chat()


def long_chat() -> list[dict[str, object]]:
    """A request, and then calls with long results, all different."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "look into it"}]
    for number in range(12):
        call_id = f"call_{number}"
        arguments = json.dumps({"command": f"./measure --run {number}"})
        function = {"name": "bash", "arguments": arguments}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            }
        )
        text = "\n".join(f"{number}:{line} value={(number * 7919 + line * 104729) % 99991}" for line in range(120))
        messages.append({"role": "tool", "tool_call_id": call_id, "content": text})
    return messages


def test_a_store_elsewhere_is_used_when_a_setting_names_it(tmp_path):
    path = Path(tmp_path, "elsewhere.sqlite3")
    answer = json.loads(call("store", "stats", "--json", REEFKNOT_STORE=f"sqlite://{path}").stdout)
    assert answer["location"] == str(path)
