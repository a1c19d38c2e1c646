"""Long agent sessions for benchmarks: generated ones, the same for the same seed, and real ones joined.

A generated session is work on the made-up project of `workspace`: reads, searches, test runs, logs, rows, polls, edits,
writes and commits, between what an agent says. A shorter session is the beginning of a longer one with the same seed.
"""

import gzip
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from workspace import Workspace

from reefknot.text.tokens import TokenCounter, open_counter

__all__ = ["FORMATS", "Call", "Turn", "join_real", "make_session", "render"]

FORMATS = ("claude_code", "openai_chat", "neutral")
CALLS_PER_TASK = 30  # about as many calls as an agent makes for one request of its user
SEED = 20_260_301


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool, and its result."""

    id: str
    tool: str
    input: dict[str, Any]
    result: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a user says, or what an agent says and calls."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()


def make_session(tokens: int, seed: int = SEED, counter: TokenCounter | None = None) -> list[Turn]:
    """The turns of a session of at least `tokens` tokens (texts, inputs and results), and at most one turn more."""
    counter = counter or open_counter("o200k")
    turns: list[Turn] = []
    size = 0
    for turn in _turns(Random(seed)):
        turns.append(turn)
        size += sum(counter.count_many(_texts(turn)))
        if size >= tokens:
            break
    return turns


def _texts(turn: Turn) -> list[str]:
    texts = [turn.text]
    for call in turn.calls:
        texts += [_compact(call.input), call.result]
    return texts


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _turns(rng: Random) -> Iterator[Turn]:
    """Turns without an end: one task after the other."""
    space = Workspace(rng=rng)
    agent = _Agent(space)
    for _ in range(6):
        space.add_module()
    while True:
        module = space.add_module()
        yield Turn(
            role="user",
            text=f"{module.functions[0]} in {module.path} counts too much since {space.hex(7)}. Find out why.",
        )
        for _ in range(rng.randrange(CALLS_PER_TASK // 2, CALLS_PER_TASK)):
            yield from agent.act()
        yield Turn(role="assistant", text=agent.summary())


class _Agent:
    """What an agent does next. Facts of its latest results come up in what it writes later."""

    def __init__(self, space: Workspace) -> None:
        self.space = space
        self.rng = space.rng
        self.facts: list[str] = []
        self.count = 0
        acts: tuple[tuple[Callable[[], Iterator[Turn]], int], ...] = (
            *((self._read, 24), (self._search, 12), (self._list, 5), (self._edit, 14), (self._test, 14)),
            *((self._log, 8), (self._fetch, 6), (self._poll, 4), (self._write, 5), (self._commit, 4), (self._fail, 4)),
        )
        self._acts = [act for act, _ in acts]
        self._weights = [weight for _, weight in acts]

    def act(self) -> Iterator[Turn]:
        yield from self.rng.choices(self._acts, self._weights)[0]()

    def summary(self) -> str:
        return f"Done: {self._known()} was the cause, {self._known()} is fixed. The change is in {self._known()}."

    def _known(self) -> str:
        return self.rng.choice(self.facts[-12:]) if self.facts else "the first entry"

    def _learn(self, *facts: str) -> None:
        self.facts = [*self.facts[-40:], *facts]

    def _call(self, tool: str, result: str, is_error: bool = False, **inputs: object) -> Call:
        self.count += 1
        return Call(
            id=f"toolu_{self.count:06}{self.space.hex(12)}", tool=tool, input=inputs, result=result, is_error=is_error
        )

    def _bash(self, command: str, result: str, is_error: bool = False) -> Call:
        return self._call("Bash", result, is_error, command=command, description=f"Run {command.split(maxsplit=1)[0]}")

    def _say(self, text: str, *calls: Call) -> Turn:
        return Turn(role="assistant", text=text if self.rng.random() < 0.6 else "", calls=calls)

    def _read(self) -> Iterator[Turn]:
        calls: list[Call] = []
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            module = self.space.pick()
            self._learn(module.path, self.rng.choice(module.functions))
            if self.rng.random() < 0.35:
                first, count = self.rng.randrange(len(module.lines) // 2), self.rng.randrange(20, 80)
                part = self.space.numbered(module, first, count)
                calls.append(self._call("Read", part, file_path=module.path, offset=first + 1, limit=count))
            else:
                calls.append(self._call("Read", self.space.numbered(module), file_path=module.path))
        yield self._say(f"Let me look at {self._known()} next.", *calls)

    def _search(self) -> Iterator[Turn]:
        pattern = self.rng.choice(self.space.pick().functions).rpartition("_")[0]
        result = self.space.matches(pattern)
        self._learn(pattern, result.partition("\n")[0].rpartition(":")[0] or pattern)
        yield self._say(
            f"Where is {pattern} used?",
            self._call("Grep", result, pattern=pattern, path=self.space.root, output_mode="content"),
        )

    def _list(self) -> Iterator[Turn]:
        yield self._say(
            "What is there?", self._bash(f"ls -l {self.space.root}/src/*/*.py | tail -40", self.space.listing())
        )

    def _edit(self) -> Iterator[Turn]:
        module = self.space.pick()
        old, new = self.space.change_line(module)
        at = module.lines.index(new)
        shown = self.space.numbered(module, max(0, at - 4), 9)
        result = f"The file {module.path} has been updated. A part of it, as it is now:\n{shown}"
        self._learn(f"{module.path}:{at + 1}", new.rpartition(" ")[2])
        yield self._say(
            f"{self._known()} explains it: I change {module.path}.",
            self._call("Edit", result, file_path=module.path, old_string=old, new_string=new),
        )
        if self.rng.random() < 0.4:
            yield self._say("", self._bash("git diff", self.space.diff(module, old, new)))

    def _test(self) -> Iterator[Turn]:
        module = self.space.pick()
        fails = self.rng.random() < 0.4
        result = self.space.test_run(module, fails)
        name = result.rpartition("FAILED ")[2].partition(" ")[0] if fails else module.path
        self._learn(name)
        yield self._say(
            f"Now the tests of {module.path}.",
            self._bash(
                f"cd {self.space.root} && python -m pytest -v tests/{module.path.rsplit('/')[-1]}", result, fails
            ),
        )
        if fails:
            yield Turn(role="assistant", text=f"{name} fails; {self._known()} may be the reason.")

    def _log(self) -> Iterator[Turn]:
        count = self.rng.choice((40, 80, 120, 200))
        result = self.space.log_lines(count)
        bad = [line for line in result.split("\n") if " ERROR " in line]
        self._learn(*(line.partition("req=")[2].partition(" ")[0] for line in bad[:3]))
        yield self._say(
            f"The log around {self._known()}:", self._bash(f"tail -n {count} {self.space.root}/log/service.log", result)
        )

    def _fetch(self) -> Iterator[Turn]:
        rows = self.space.rows(self.rng.randrange(10, 60))
        text = json.dumps(rows, indent=2) if self.rng.random() < 0.5 else _compact(rows)
        self._learn(str(rows[0]["id"]), str(rows[-1]["id"]))
        yield self._say(
            f"Which rows stand for {self._known()}?",
            self._bash("curl -s http://localhost:8080/v2/entries?state=open", text),
        )

    def _poll(self) -> Iterator[Turn]:
        job = f"job-{self.space.hex(8)}"
        self._learn(job)
        for step in range(self.rng.randrange(2, 7)):
            yield self._say(f"Is {job} done?", self._bash(f"harborctl job show {job}", self.space.job_state(job, step)))

    def _write(self) -> Iterator[Turn]:
        module = self.space.add_module()
        self._learn(module.path)
        yield self._say(
            f"A module of its own for {self._known()}.",
            self._call(
                "Write", f"File created successfully at: {module.path}", file_path=module.path, content=module.text
            ),
        )

    def _commit(self) -> Iterator[Turn]:
        sha = self.space.hex(7)
        path = self.space.pick().path
        self._learn(sha)
        command = f'git add {path} && git commit -m "Count each entry once"'
        yield self._say(
            "Commit.",
            self._bash(
                command, f"[main {sha}] Count each entry once\n 1 file changed, 2 insertions(+), 2 deletions(-)"
            ),
        )

    def _fail(self) -> Iterator[Turn]:
        command = f"harborctl import {self.space.hex(6)}.csv"
        result = f"harborctl: error: cannot open {command.rsplit(maxsplit=1)[-1]}: no such file\nexit code 2"
        yield self._say(f"Import what {self._known()} needs.", self._bash(command, result, True))


def render(turns: Sequence[Turn], format: str) -> bytes:
    """The bytes of a session file in one of `FORMATS`."""
    return {"claude_code": _claude_code, "openai_chat": _openai_chat, "neutral": _neutral}[format](turns)


def _claude_code(turns: Sequence[Turn]) -> bytes:
    lines: list[str] = []
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, "reefknot-benchmark"))
    parent: str | None = None
    for number, turn in enumerate(turns):
        for part in _claude_parts(turn, number):
            own = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session} {len(lines)}"))
            stamp = (
                f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.{len(lines) % 1000:03}Z"
            )
            common = {
                "parentUuid": parent,
                "isSidechain": False,
                "cwd": "/srv/harbor",
                "sessionId": session,
                "version": "2.1.17",
            }
            lines.append(_compact({**common, **part, "uuid": own, "timestamp": stamp}))
            parent = own
    return "\n".join([*lines, ""]).encode()


def _claude_parts(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    """The lines of one turn: a block a line, then a line a result with the host's structured copy of it."""
    if turn.role == "user":
        yield {"type": "user", "message": {"role": "user", "content": turn.text}}
        return
    blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.input} for call in turn.calls]
    for block in blocks:
        message = {
            "id": f"msg_{number:08}",
            "type": "message",
            "role": "assistant",
            "model": "none",
            "content": [block],
        }
        yield {"type": "assistant", "message": message, "requestId": f"req_{number:08}"}
    for call in turn.calls:
        block = {"tool_use_id": call.id, "type": "tool_result", "content": call.result, "is_error": call.is_error}
        yield {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": _mirror(call)}


def _mirror(call: Call) -> object:
    if call.tool == "Bash":
        return {"stdout": call.result, "stderr": "", "interrupted": False, "isImage": False}
    if call.tool == "Read":
        lines = [line.partition("\t")[2] for line in call.result.split("\n")]
        return {
            "type": "text",
            "file": {"filePath": call.input["file_path"], "content": "\n".join(lines), "numLines": len(lines)},
        }
    if call.tool == "Grep":
        return {"mode": "content", "content": call.result, "numLines": call.result.count("\n") + 1}
    return {
        "filePath": call.input["file_path"],
        **{key: value for key, value in call.input.items() if key != "file_path"},
    }


def _openai_chat(turns: Sequence[Turn]) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are a careful engineer."}]
    for turn in turns:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": _compact(call.input)}}
            for call in turn.calls
        ]
        messages.append({"role": turn.role, "content": turn.text, **({"tool_calls": calls} if calls else {})})
        messages += [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in turn.calls]
    return _compact(messages).encode()


def _neutral(turns: Sequence[Turn]) -> bytes:
    messages: list[dict[str, Any]] = []
    for turn in turns:
        calls = [{"id": call.id, "tool": call.tool, "input": call.input} for call in turn.calls]
        messages.append({"role": turn.role, "text": turn.text, "calls": calls, "results": []})
        results = [{"id": call.id, "text": call.result, "is_error": call.is_error} for call in turn.calls]
        if results:
            messages.append({"role": "tool", "text": "", "calls": [], "results": results})
    return _compact({"id": "generated", "source": "reefknot", "format": "neutral", "messages": messages}).encode()


def join_real(shared: Path, tokens: int, counter: TokenCounter | None = None) -> bytes:
    """Real sessions of the shared folder, joined to one neutral session of about `tokens` tokens, call ids made unique.

    The sessions with most tool output come first; a session is taken up to the message that reaches the size.
    """
    counter = counter or open_counter("o200k")
    folder = shared / "transcripts"
    header, *rows = [line.split("\t") for line in (folder / "INDEX_NEUTRAL.tsv").read_text("utf-8").splitlines()]
    weight, name = header.index("tool_output_tokens"), header.index("id")
    rows.sort(key=lambda row: (-int(row[weight]), row[name]))
    messages: list[dict[str, Any]] = []
    size = 0
    for number, row in enumerate(rows):
        session = json.loads(gzip.decompress((folder / "neutral" / f"{row[name]}.json.gz").read_bytes()))
        for message in session["messages"]:
            if size >= tokens:
                break
            for part in (*message["calls"], *message["results"]):
                part["id"] = f"s{number}_{part['id']}"
            texts = [message["text"], *(_compact(call["input"]) for call in message["calls"])]
            size += sum(counter.count_many([*texts, *(result["text"] for result in message["results"])]))
            messages.append(message)
    return _compact({"id": "joined", "source": "shared", "format": "neutral", "messages": messages}).encode()
