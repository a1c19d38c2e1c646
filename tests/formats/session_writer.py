"""Claude Code sessions written for tests: a builder of lines, and random sessions with all their oddities."""

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Line = dict[str, Any]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@dataclass
class Session:
    """Lines in file order; each new line hangs on the last one unless another parent is given."""

    id: str = "s-1"
    lines: list[Line] = field(default_factory=list)
    tip: str | None = None

    def add(self, kind: str, parent: str | None = "tip", **fields: Any) -> str:
        uuid = f"u{len(self.lines)}-{self.id}"
        self.lines.append(
            {
                "parentUuid": self.tip if parent == "tip" else parent,
                "isSidechain": False,
                "cwd": "/srv/reef",
                "sessionId": self.id,
                "type": kind,
                "uuid": uuid,
                "timestamp": f"2026-01-01T00:00:{len(self.lines):06d}Z",
                **fields,
            }
        )
        self.tip = uuid
        return uuid

    def user(self, text: str, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def answer(self, id: str, *blocks: Line, **fields: Any) -> str:
        for block in blocks:
            self.add("assistant", message={"id": id, "role": "assistant", "content": [block]}, **fields)
        assert self.tip is not None
        return self.tip

    def result(self, call: str, content: Any, **fields: Any) -> str:
        block = {"tool_use_id": call, "type": "tool_result", "content": content}
        return self.add("user", message={"role": "user", "content": [block]}, **fields)

    def boundary(self, **metadata: Any) -> str:
        return self.add(
            "system", parent=None, subtype="compact_boundary", compactMetadata={"trigger": "auto", **metadata}
        )

    @property
    def data(self) -> bytes:
        return write_lines(self.lines)


def write_lines(lines: list[Line]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "surrogatepass")


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def use(call: str, tool: str = "Bash", **arguments: Any) -> Line:
    return {"type": "tool_use", "id": call, "name": tool, "input": arguments or {"command": f"run {call}"}}


def thinking(words: str) -> Line:
    return {"type": "thinking", "thinking": words, "signature": "c2ln"}


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Random sessions: streamed answers, parallel calls, branches, sidechains, replays, boundaries, unknown lines."""
    session = Session()
    session.user(draw(texts))
    for turn in range(draw(st.integers(0, 6))):
        _add_turn(draw, session, turn)
        if draw(st.integers(0, 7)) == 0:
            session.boundary()
            session.user("This session is being continued.", isCompactSummary=True)
        if draw(st.integers(0, 7)) == 0:
            _replay(draw, session)
        if draw(st.integers(0, 5)) == 0:
            session.lines.append({"type": draw(st.sampled_from(["summary", "new-kind"])), "leafUuid": "x", "n": 1.50})
        if draw(st.booleans()):
            session.user(draw(texts), isMeta=draw(st.booleans()))
    return session


def _add_turn(draw: st.DrawFn, session: Session, turn: int) -> None:
    calls = [f"call-{turn}-{number}" for number in range(draw(st.integers(0, 3)))]
    owners: dict[str, str] = {}
    aside = {"isSidechain": True, "agentId": "a1"} if draw(st.integers(0, 6)) == 0 else {}
    before = session.tip
    session.answer(f"msg-{turn}", text(draw(texts)), **aside)
    for call in calls:
        owners[call] = session.answer(f"msg-{turn}", use(call, command=draw(texts), deep=[{"x": draw(texts)}]), **aside)
    for call in draw(st.permutations(calls)):
        if draw(st.integers(0, 9)):
            content = draw(st.one_of(texts, st.lists(texts.map(text), max_size=2)))
            mirror = {"toolUseResult": {"stdout": content}} if draw(st.booleans()) else {}
            session.result(call, content, parent=owners[call], **mirror, **aside)
    if aside or draw(st.integers(0, 7)) == 0:
        session.tip = before  # the next line leaves this turn on a branch


def _replay(draw: st.DrawFn, session: Session) -> None:
    copied = session.lines[: draw(st.integers(0, len(session.lines)))]
    for line in [line for line in copied if line.get("type") in ("user", "assistant") and not line["isSidechain"]]:
        kept = {key: line[key] for key in ("message", "timestamp", "isMeta", "isCompactSummary") if key in line}
        session.add(line["type"], **kept)
