"""A stand-in for the host: runs tool calls for real, and writes what happened as a Claude Code session.

The lines have the host's shapes: a chain of `parentUuid`, one block a line, all blocks of an answer under one message
id, each result on its own call's line with the host's structured copy (`toolUseResult`) beside it. Commands see only
the environment that is given here. Standard library only.
"""

import difflib
import json
import random
import string
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

__all__ = ["Call", "Recorder", "Unexpected", "bash", "edit", "read", "write"]

Line = dict[str, Any]

OUTPUT_LENGTH = 30_000  # characters of a command's output; the host cuts there
TIMEOUT_SECONDS = 120
LETTERS = string.ascii_letters + string.digits


class Unexpected(RuntimeError):
    """A call went otherwise than the story has it, so that the words that follow would be untrue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool and its input; `exit_code` is what a command must end with."""

    tool: str
    input: dict[str, Any]
    exit_code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a model sees of a call, and the host's own copy of it."""

    text: str
    mirror: Line | str
    is_error: bool | None = None


def bash(command: str, description: str, exit_code: int = 0) -> Call:
    return Call(tool="Bash", input={"command": command, "description": description}, exit_code=exit_code)


def read(path: Path | str, offset: int | None = None, limit: int | None = None) -> Call:
    part = {key: value for key, value in (("offset", offset), ("limit", limit)) if value is not None}
    return Call(tool="Read", input={"file_path": str(path), **part})


def write(path: Path | str, content: str) -> Call:
    return Call(tool="Write", input={"file_path": str(path), "content": content})


def edit(path: Path | str, old: str, new: str) -> Call:
    return Call(tool="Edit", input={"file_path": str(path), "old_string": old, "new_string": new, "replace_all": False})


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Plays a session in `cwd` and keeps its lines. Ids come from `seed`; times are real, thinking time added."""

    cwd: Path
    environ: Mapping[str, str]
    branch: str = "main"
    seed: int = 7
    lines: list[Line] = field(default_factory=list[Line])
    calls: int = 0
    _random: random.Random = field(init=False)
    _session: str = field(init=False)
    _tip: str | None = None
    _thought: timedelta = timedelta()

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._session = self._uuid()

    def prompt(self, text: str) -> None:
        """What a person writes."""
        self._think(20, 60)
        stamp = self._now()
        snapshot = {"messageId": self._uuid(), "trackedFileBackups": {}, "timestamp": stamp}
        self.lines.append(
            {
                "type": "file-history-snapshot",
                "messageId": snapshot["messageId"],
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
        )
        self._add("user", {"role": "user", "content": text})

    def answer(self, text: str, *calls: Call) -> list[str]:
        """What the agent says, if anything, and the calls that it makes in the same answer; gives their results."""
        self._think(2, 9)
        message, request = self._id("msg_01"), self._id("req_011")
        if text:
            self._say(message, request, {"type": "text", "text": text})
        asked: list[tuple[str, str]] = []
        for call in calls:
            self._think(0, 2)
            id_ = self._id("toolu_01")
            line = self._say(message, request, {"type": "tool_use", "id": id_, "name": call.tool, "input": call.input})
            asked.append((id_, line))
        return [self._result(call, *ids) for call, ids in zip(calls, asked, strict=True)]

    def write_to(self, path: Path) -> None:
        """Write the session as the host does: one compact JSON object a line."""
        rows = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in self.lines)
        path.write_text("".join(rows), encoding="utf-8")

    def _result(self, call: Call, id_: str, caller: str) -> str:
        self.calls += 1
        outcome = self._run(call)
        block: Line = {"tool_use_id": id_, "type": "tool_result", "content": outcome.text}
        if outcome.is_error is not None:
            block["is_error"] = outcome.is_error
        beside = {"toolUseResult": outcome.mirror, "sourceToolAssistantUUID": caller}
        self._add("user", {"role": "user", "content": [block]}, parent=caller, **beside)
        return outcome.text

    def _say(self, message: str, request: str, block: Line) -> str:
        said = {
            "model": "scripted",
            "id": message,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        return self._add("assistant", said, requestId=request)

    def _add(self, kind: str, message: Line, parent: str | None = None, **beside: Any) -> str:
        uuid = self._uuid()
        self.lines.append(
            {
                "parentUuid": parent or self._tip,
                "isSidechain": False,
                "userType": "external",
                "cwd": str(self.cwd),
                "sessionId": self._session,
                "version": "2.1.81",
                "gitBranch": self.branch,
                "type": kind,
                "message": message,
                "uuid": uuid,
                "timestamp": self._now(),
                **beside,
            }
        )
        self._tip = uuid
        return uuid

    def _run(self, call: Call) -> Outcome:
        match call.tool:
            case "Bash":
                return self._bash(call)
            case "Read":
                return _read(call.input)
            case "Write":
                return _write(call.input)
            case _:
                return _edit(call.input)

    def _bash(self, call: Call) -> Outcome:
        done = subprocess.run(
            ["bash", "-c", call.input["command"]],
            cwd=self.cwd,
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        stdout, stderr = (_shorten(each.decode("utf-8", "replace").rstrip()) for each in (done.stdout, done.stderr))
        text = "\n".join(filter(None, (stdout, stderr)))
        if done.returncode != call.exit_code:
            raise Unexpected(
                f"{call.input['command']}: exit code {done.returncode}, not {call.exit_code}\n{text[-4000:]}"
            )
        if done.returncode:
            text = f"Exit code {done.returncode}\n{text}"
            return Outcome(text=text, mirror=f"Error: {text}", is_error=True)
        mirror = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False}
        return Outcome(text=text or "(Bash completed with no output)", mirror=mirror, is_error=False)

    def _think(self, least: float, most: float) -> None:
        self._thought += timedelta(seconds=self._random.uniform(least, most))

    def _now(self) -> str:
        now = datetime.fromtimestamp(time.time(), UTC) + self._thought
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _id(self, prefix: str) -> str:
        return prefix + "".join(self._random.choices(LETTERS, k=22))


def _shorten(text: str) -> str:
    """What the host leaves of a long output."""
    if len(text) <= OUTPUT_LENGTH:
        return text
    head = text[:OUTPUT_LENGTH]
    return f"{head}\n\n... [{text.count(chr(10), OUTPUT_LENGTH)} lines truncated] ..."


def _read(asked: Mapping[str, Any]) -> Outcome:
    if not Path(asked["file_path"]).is_file():
        text = "<tool_use_error>File does not exist.</tool_use_error>"
        return Outcome(text=text, mirror="Error: File does not exist.", is_error=True)
    lines = Path(asked["file_path"]).read_text(encoding="utf-8").split("\n")
    first = asked.get("offset", 1)
    shown = lines[first - 1 :][: asked.get("limit", len(lines))]
    file = {
        "filePath": asked["file_path"],
        "content": "\n".join(shown),
        "numLines": len(shown),
        "startLine": first,
        "totalLines": len(lines),
    }
    text = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(shown, first))
    return Outcome(text=text, mirror={"type": "text", "file": file})


def _write(asked: Mapping[str, Any]) -> Outcome:
    path, content = Path(asked["file_path"]), asked["content"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    mirror = {"type": "create", "filePath": str(path), "content": content, "structuredPatch": [], "originalFile": None}
    return Outcome(text=f"File created successfully at: {path}", mirror=mirror)


def _edit(asked: Mapping[str, Any]) -> Outcome:
    path = Path(asked["file_path"])
    old, new = asked["old_string"], asked["new_string"]
    before = path.read_text(encoding="utf-8")
    if before.count(old) != 1:
        raise Unexpected(f"{path}: the text to be replaced stands there {before.count(old)} times: {old!r}")
    after = before.replace(old, new)
    path.write_text(after, encoding="utf-8")
    mirror = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": _patch(before.splitlines(), after.splitlines()),
        "userModified": False,
        "replaceAll": False,
    }
    return Outcome(text=f"The file {path} has been updated successfully.", mirror=mirror)


def _patch(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Hunks as the host keeps them."""
    hunks: list[Line] = []
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[old_start:old_end]]
            else:
                lines += [f"-{line}" for line in before[old_start:old_end]]
                lines += [f"+{line}" for line in after[new_start:new_end]]
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return hunks
