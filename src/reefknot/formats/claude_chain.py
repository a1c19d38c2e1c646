"""Which lines of a Claude Code session are the conversation, in the order in which the host would send them.

Lines form a tree by `uuid` and `parentUuid`. The conversation is the way from the newest leaf up to the
root or to the last compaction, with the branches of parallel calls put back. A line whose parent is not in
the file, and a root of another session (files joined), go on from the line before them.
"""

from collections.abc import Iterator, Mapping, Sequence

from reefknot.formats.content import text_of
from reefknot.model.message import Json

__all__ = ["live_lines"]

_CHAIN_TYPES = frozenset({"user", "assistant", "system", "progress", "attachment"})

Line = Mapping[str, Json]


def live_lines(lines: Mapping[int, Line]) -> list[int]:
    """The indexes of the lines of the live conversation (all chain types), in order.

    `lines`: record index -> line. A file without any line of a main conversation (a sub-agent's own file,
    lines without uuids) is read in file order.
    """
    chain = {index: line for index, line in lines.items() if text_of(line.get("type")) in _CHAIN_TYPES}
    main = {index: line for index, line in chain.items() if text_of(line.get("uuid")) and not _is_aside(line)}
    if not any(line["type"] in ("user", "assistant") for line in main.values()):
        return list(chain)
    parents = _relinked(main, _parents(main))
    leaf = _find_leaf(main, parents)
    return _with_parallel_calls(chain, list(reversed(_walk(leaf, parents))))


def _is_aside(line: Line) -> bool:
    return line.get("isSidechain") is True or bool(line.get("teamName"))


def _is_boundary(line: Line) -> bool:
    return line.get("type") == "system" and line.get("subtype") == "compact_boundary"


def _by_uuid(main: Mapping[int, Line]) -> dict[str, int]:
    return {text_of(line["uuid"]): index for index, line in main.items()}  # of equal ones the last


def _parents(main: Mapping[int, Line]) -> dict[int, int | None]:
    by_uuid = _by_uuid(main)
    parents: dict[int, int | None] = {}
    before: int | None = None
    session: Json = None
    for index, line in main.items():
        named = line.get("parentUuid")
        parent = by_uuid.get(named) if isinstance(named, str) else None
        starts_anew = named is None and (_is_boundary(line) or line.get("sessionId") == session)
        parents[index] = parent if parent is not None or starts_anew else before
        before, session = index, line.get("sessionId")
    return parents


def _relinked(main: Mapping[int, Line], parents: dict[int, int | None]) -> dict[int, int | None]:
    """The parents with the messages that a compaction preserved put behind its anchor."""
    by_uuid = _by_uuid(main)
    for line in main.values():
        metadata = line.get("compactMetadata")
        if not _is_boundary(line) or not isinstance(metadata, dict):
            continue
        kept, anchor = _preserved(metadata, by_uuid, parents)
        if not kept or anchor is None or anchor in kept:
            continue
        inside = set(kept)
        followers = [index for index, parent in parents.items() if parent == anchor and index not in inside]
        parents = {
            **parents,
            **dict.fromkeys(followers, kept[-1]),
            **dict(zip(kept, [anchor, *kept[:-1]], strict=True)),
        }
    return parents


def _preserved(
    metadata: Line, by_uuid: Mapping[str, int], parents: Mapping[int, int | None]
) -> tuple[list[int], int | None]:
    listed, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    if isinstance(listed, dict):
        uuids = listed.get("uuids")
        kept = (
            [by_uuid[uuid] for uuid in uuids if isinstance(uuid, str) and uuid in by_uuid]
            if isinstance(uuids, list)
            else []
        )
        return list(dict.fromkeys(kept)), by_uuid.get(text_of(listed.get("anchorUuid")))
    if isinstance(segment, dict):
        head, tail = (by_uuid.get(text_of(segment.get(key))) for key in ("headUuid", "tailUuid"))
        way = _walk(tail, parents) if tail is not None else []
        kept = list(reversed(way[: way.index(head) + 1])) if head in way else []
        return kept, by_uuid.get(text_of(segment.get("anchorUuid")))
    return [], None


def _walk(start: int, parents: Mapping[int, int | None]) -> list[int]:
    way: dict[int, None] = {}
    at: int | None = start
    while at is not None and at not in way:
        way[at] = None
        at = parents[at]
    return list(way)


def _find_leaf(main: Mapping[int, Line], parents: Mapping[int, int | None]) -> int:
    """The tip whose nearest spoken line stands latest in the file; what the harness says does not decide."""
    inner = set(parents.values())
    speakers = _nearest_speakers(main, parents)
    tips = [index for index in main if index not in inner] or list(main)
    return max(tips, key=lambda tip: (speakers[tip], tip))


def _nearest_speakers(main: Mapping[int, Line], parents: Mapping[int, int | None]) -> dict[int, int]:
    """For each line the index of the nearest user or assistant line above it or itself; -1 without one."""
    found: dict[int, int] = {}
    for index in main:
        way: dict[int, None] = {}
        at: int | None = index
        while at is not None and at not in found and at not in way and not _is_spoken(main[at]):
            way[at] = None
            at = parents[at]
        end = -1 if at is None or at in way else found.get(at, at)
        found.update(dict.fromkeys([*way, index], end))
    return found


def _is_spoken(line: Line) -> bool:
    return line["type"] in ("user", "assistant") and line.get("isMeta") is not True


def _with_parallel_calls(chain: Mapping[int, Line], way: Sequence[int]) -> list[int]:
    """The way with the other lines of each answer on it, and their results, put behind its last line."""
    on_way = set(way)
    answers = {_message_id(chain[index]): index for index in way if _message_id(chain[index])}  # -> its last line
    uuids = {text_of(line.get("uuid")): _message_id(line) for line in chain.values() if _message_id(line)}
    calls = _owners_of_calls(chain)
    told = {pair for index in way for pair in _pair_ids(chain[index])}
    extra: dict[int, list[int]] = {}
    for index, line in chain.items():
        if index in on_way or not told.isdisjoint(_pair_ids(line)):  # a replay of what is on the way
            continue
        owner = _message_id(line) or _answered(line, uuids, calls)
        last = answers.get(owner) if owner else None
        if last is not None and _is_beside(line, chain[last]):
            extra.setdefault(last, []).append(index)
    return list(_inserted(chain, way, extra))


def _inserted(chain: Mapping[int, Line], way: Sequence[int], extra: Mapping[int, list[int]]) -> Iterator[int]:
    for index in way:
        yield index
        yield from sorted(extra.get(index, ()), key=lambda line: (text_of(chain[line].get("timestamp")), line))


def _is_beside(line: Line, other: Line) -> bool:
    return all(line.get(key) == other.get(key) for key in ("isSidechain", "agentId"))


def _message(line: Line) -> Line:
    message = line.get("message")
    return message if isinstance(message, dict) else {}


def _message_id(line: Line) -> str:
    return text_of(_message(line).get("id")) if line.get("type") == "assistant" else ""


def _ids(line: Line, kind: str, key: str) -> Iterator[str]:
    content = _message(line).get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield text_of(block.get(key))


def _pair_ids(line: Line) -> Iterator[tuple[str, str]]:
    """What tells a line with calls or results from all others: (kind, id) of each."""
    for kind, key in (("tool_use", "id"), ("tool_result", "tool_use_id")):
        yield from ((kind, id_) for id_ in _ids(line, kind, key))


def _owners_of_calls(chain: Mapping[int, Line]) -> dict[str, str]:
    """Call id -> id of the answer that made it; a call id of two answers has an empty owner."""
    owners: dict[str, str] = {}
    for line in chain.values():
        if owner := _message_id(line):
            for call in _ids(line, "tool_use", "id"):
                owners[call] = owner if owners.get(call, owner) == owner else ""
    return owners


def _answered(line: Line, uuids: Mapping[str, str], calls: Mapping[str, str]) -> str:
    """The answer to whose calls a line holds the results; empty for a line without results."""
    results = list(_ids(line, "tool_result", "tool_use_id")) if line.get("type") == "user" else []
    if not results:
        return ""
    named = (uuids.get(text_of(line.get(key)), "") for key in ("parentUuid", "sourceToolAssistantUUID"))
    return next((owner for owner in (*named, *(calls.get(call, "") for call in results)) if owner), "")
