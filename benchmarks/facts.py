"""What survives a compaction, by hindsight, on real sessions, at equal result tokens.

    python benchmarks/facts.py --arms head_tail,global_value --keep 0.3
    python benchmarks/facts.py --arms error_first --keep 0.3 --kinds hard,errors --sessions 20 --cache /tmp/facts

Each session is cut at half and at three quarters of its messages. An arm compacts the messages before a cut; then facts
that hindsight knows to matter (`fact_kinds`) are looked up in what came out. The sessions come from the folder that
`REEFKNOT_SHARED` names: `transcripts/neutral/<id>.json.gz`, ids in `evaluation/sessions_dev.json`.

How figures come about:
- Kept share: o200k tokens of all results of a session's prefixes after compaction, protected results counted in, over
  the same before; both cuts of a session together. A cut with less than `MIN_OPEN_TOKENS` in open results is left out.
- Sessions whose protected results alone take more than the asked share cannot get there and are left out of that row.
- Reference arms have one knob a session, found by bisection so that the kept share is the asked one. Where a knob has
  steps, what the two neighbours keep is interpolated. A registered arm is asked once, with the share; with
  `matched=True` the share that it is asked for is the knob.
- A rate is pooled: facts kept over facts, all sessions together; intervals (95 %) by bootstrap over sessions. `mean`
  is the mean of the sessions' own rates, in which a session with one fact weighs as much as one with a hundred.

The arm `product` is reefknot's own compaction with a store in memory. From Python: `evaluate(arm, 0.3)`, or
`register_arm("name", arm)` and then the name, where `arm(messages, keep)` takes and gives lists of neutral messages.
"""

import argparse
import gzip
import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar, cast

import fact_arms
import fact_kinds
from fact_arms import ARMS, COUNTER, Prefix
from fact_kinds import KINDS, Message, View, find_cuts, find_facts, written_text

from reefknot.compact.pressure import Aim
from reefknot.flows.pressure import Request, compact_messages
from reefknot.model.message import Json
from reefknot.store.memory import MemoryStore
from reefknot.text.tokens import CachedCounter

__all__ = [
    "Arm",
    "Case",
    "Session",
    "development_ids",
    "evaluate",
    "load_sessions",
    "make_session",
    "product",
    "register_arm",
    "shared_folder",
]

Arm = Callable[[list[Message], float], list[Message]]

MIN_OPEN_TOKENS = 1_500  # a cut with less is left out; gives the 165 cuts of the 89 published development sessions
SHARE_TOLERANCE = 0.002  # of a session's result tokens: near enough to the asked share
SEARCH_STEPS = 14
RESAMPLES = 500

_Task = TypeVar("_Task")
_Made = TypeVar("_Made")

_registered: dict[str, Arm] = {}


def register_arm(name: str, arm: Arm) -> None:
    """Make `arm` known under a name, for `evaluate` and `--arms`; a later one of the same name takes its place."""
    _registered[name] = arm


def product(messages: list[Message], keep: float) -> list[Message]:
    """The product's compaction to a share of the result tokens, its references and notes counted in."""
    request = Request(aim=Aim(keep=keep), store=MemoryStore(), counter=CachedCounter(COUNTER))
    return cast("list[Message]", compact_messages(cast("list[Json]", messages), request, "neutral").messages)


_registered["product"] = product


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One cut of a session: what is compacted, and what must be readable afterwards. Sizes in o200k tokens."""

    messages: list[Message]
    facts: Mapping[str, list[str]]
    result_tokens: int
    open_tokens: int
    other_tokens: int  # texts and arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session with its cuts; at least one."""

    id: str
    cases: list[Case]

    @property
    def result_tokens(self) -> int:
        return sum(case.result_tokens for case in self.cases)

    @property
    def floor(self) -> float:
        """The share of result tokens that no arm may touch."""
        return 1 - sum(case.open_tokens for case in self.cases) / self.result_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one session kept at one knob: its share of result tokens, of all tokens, and facts by kind.

    Facts are no whole numbers when two knobs were interpolated.
    """

    share: float
    whole: float
    kept: Mapping[str, float]


def shared_folder() -> Path:
    """The folder with shared data; ends the program with a sentence when it is not there."""
    folder = os.environ.get("REEFKNOT_SHARED")
    if not folder:
        raise SystemExit("set REEFKNOT_SHARED to the folder that holds transcripts/ and evaluation/")
    return Path(folder)


def development_ids() -> list[str]:
    """The ids of the sessions that published figures stand on."""
    return json.loads((shared_folder() / "evaluation" / "sessions_dev.json").read_text("utf-8"))


def load_sessions(
    ids: Sequence[str] | None = None, *, cache_folder: Path | None = None, workers: int = 1
) -> list[Session]:
    """Sessions with their facts; `ids` defaults to the development sessions. Facts are kept in `cache_folder`."""
    folder = shared_folder()
    names: Sequence[str] = development_ids() if ids is None else ids
    places = [(str(folder / "transcripts" / "neutral" / f"{name}.json.gz"), cache_folder) for name in names]
    return [session for session in _mapped(_load, places, workers) if session.cases]


def _load(place: tuple[str, Path | None]) -> Session:
    path, cache_folder = place
    raw = Path(path).read_bytes()
    data = json.loads(gzip.decompress(raw))
    kept = cache_folder / f"facts-{_digest(raw)}.json" if cache_folder else None
    if kept and kept.exists():
        cuts = json.loads(kept.read_text("utf-8"))
    else:
        cuts = _survey(data["messages"])
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            part = kept.with_suffix(f".{os.getpid()}.part")
            part.write_text(json.dumps(cuts), "utf-8")
            part.replace(kept)
    return make_session(data["id"], data["messages"], cuts)


def make_session(id: str, messages: list[Message], cuts: Iterable[Mapping[str, Any]] | None = None) -> Session:
    """A session with its cases; `cuts` is what a cache kept of an earlier survey."""
    found = _survey(messages) if cuts is None else cuts
    return Session(id=id, cases=[Case(messages=messages[: cut["cut"]], **cut["case"]) for cut in found])


def _survey(messages: list[Message]) -> list[dict[str, Any]]:
    sizes = {cut: _sizes(messages[:cut]) for cut in find_cuts(len(messages))}
    cuts = [cut for cut, size in sizes.items() if size["open_tokens"] >= MIN_OPEN_TOKENS]
    return [
        {"cut": cut, "case": {"facts": facts, **sizes[cut]}}
        for cut, facts in zip(cuts, find_facts(messages, cuts), strict=True)
    ]


def _sizes(messages: list[Message]) -> dict[str, int]:
    prefix = Prefix(messages)
    return {
        "result_tokens": _result_tokens(messages),
        "open_tokens": sum(COUNTER.count_many(prefix.texts)),
        "other_tokens": sum(COUNTER.count_many([written_text(message) for message in messages])),
    }


def _digest(raw: bytes) -> str:
    """Of the session and of the code that finds facts in it."""
    state = hashlib.sha256(raw)
    for module in (fact_kinds.__file__, fact_arms.__file__, __file__):
        state.update(Path(str(module)).read_bytes())
    return state.hexdigest()[:24]


def _result_tokens(messages: Iterable[Message]) -> int:
    return sum(COUNTER.count_many([result["text"] for m in messages for result in m["results"]]))


# One session


def _outcome(session: Session, compacted: Sequence[list[Message]], kinds: Sequence[str]) -> Outcome:
    kept = dict.fromkeys(kinds, 0.0)
    for case, messages in zip(session.cases, compacted, strict=True):
        view = View(messages)
        for kind in kinds:
            kept[kind] += view.count(kind, case.facts[kind])
    results = sum(map(_result_tokens, compacted))
    others = sum(sum(COUNTER.count_many([written_text(m) for m in messages])) for messages in compacted)
    before = session.result_tokens + sum(case.other_tokens for case in session.cases)
    return Outcome(share=results / session.result_tokens, whole=(results + others) / before, kept=kept)


def _share(session: Session, compacted: Sequence[list[Message]]) -> float:
    return sum(map(_result_tokens, compacted)) / session.result_tokens


def _search(
    session: Session, render: Callable[[float], list[list[Message]]], keep: float, kinds: Sequence[str]
) -> Outcome:
    """What is kept at the knob whose share is `keep`; interpolated between neighbours where the knob has steps."""
    low, high = (0.0, render(0.0)), (1.0, render(1.0))
    low_share, high_share = _share(session, low[1]), _share(session, high[1])
    if high_share <= keep:
        return _outcome(session, high[1], kinds)
    if low_share >= keep - SHARE_TOLERANCE:
        return _outcome(session, low[1], kinds)
    for _ in range(SEARCH_STEPS):
        knob = (low[0] + high[0]) / 2
        middle = render(knob)
        share = _share(session, middle)
        if abs(share - keep) <= SHARE_TOLERANCE:
            return _outcome(session, middle, kinds)
        if share < keep:
            low, low_share = (knob, middle), share
        else:
            high, high_share = (knob, middle), share
    return _between(_outcome(session, low[1], kinds), _outcome(session, high[1], kinds), keep)


def _between(low: Outcome, high: Outcome, keep: float) -> Outcome:
    part = (keep - low.share) / (high.share - low.share) if high.share > low.share else 0.0
    mix: Callable[[float, float], float] = lambda a, b: a + part * (b - a)  # noqa: E731
    kept = {kind: mix(low.kept[kind], high.kept[kind]) for kind in low.kept}
    return Outcome(share=mix(low.share, high.share), whole=mix(low.whole, high.whole), kept=kept)


def _run_session(task: tuple[Session, str, float, tuple[str, ...], bool]) -> tuple[Outcome, float]:
    """The outcome of a session, and the seconds that the arm itself took."""
    session, name, keep, kinds, matched = task
    seconds = 0.0

    def timed(work: Callable[[], list[list[Message]]]) -> list[list[Message]]:
        nonlocal seconds
        start = time.perf_counter()
        made = work()
        seconds += time.perf_counter() - start
        return made

    if name in _registered:
        arm = _registered[name]
        render: Callable[[float], list[list[Message]]] = lambda knob: timed(  # noqa: E731
            lambda: [arm(case.messages, knob) for case in session.cases]
        )
        outcome = _search(session, render, keep, kinds) if matched else _outcome(session, render(keep), kinds)
        return outcome, seconds
    start = time.perf_counter()
    prefixes = [Prefix(case.messages) for case in session.cases]
    curves = [ARMS[name](prefix) for prefix in prefixes]
    seconds = time.perf_counter() - start
    steps: Callable[[float], list[list[Message]]] = lambda knob: timed(  # noqa: E731
        lambda: [prefix.rendered(curve(knob)) for prefix, curve in zip(prefixes, curves, strict=True)]
    )
    if name == "drop_all":
        return _outcome(session, steps(0.0), kinds), seconds
    return _search(session, steps, keep, kinds), seconds


# All sessions


def evaluate(
    arm: str | Arm,
    keep: float,
    sessions: Sequence[Session] | None = None,
    kinds: Sequence[str] = KINDS,
    *,
    workers: int = 1,
    matched: bool = False,
) -> dict[str, Any]:
    """What an arm keeps when it may keep the share `keep` of the result tokens.

    `arm` is a name or a callable. The answer has `arm`, `keep`, `used` (mean share over sessions), `whole` (the same of
    all tokens), `sessions`, `cuts`, `seconds` (of the arm), and `kinds`: for each kind `rate` (pooled), `low`, `high`
    (95 %), `mean` (of the sessions' rates), `facts`, `kept`, `sessions` (that have such facts).

    Raises:
        KeyError: no arm or kind of that name is known.
    """
    name = arm if isinstance(arm, str) else "given"
    if not isinstance(arm, str):
        register_arm(name, arm)
    if name not in ARMS and name not in _registered:
        raise KeyError(f"arm {name!r} is not known: use one of {', '.join([*ARMS, *_registered])}")
    for kind in kinds:
        if kind not in KINDS:
            raise KeyError(f"kind {kind!r} is not known: use some of {', '.join(KINDS)}")
    given = load_sessions(workers=workers) if sessions is None else sessions
    fair = [session for session in given if session.floor <= keep]
    ran = _mapped(_run_session, [(session, name, keep, tuple(kinds), matched) for session in fair], workers)
    outcomes = [outcome for outcome, _ in ran]
    return {
        "arm": name,
        "keep": keep,
        "used": _mean([outcome.share for outcome in outcomes]),
        "whole": _mean([outcome.whole for outcome in outcomes]),
        "sessions": len(fair),
        "cuts": sum(len(session.cases) for session in fair),
        "seconds": round(sum(seconds for _, seconds in ran), 1),
        "kinds": {kind: _summary(fair, outcomes, kind) for kind in kinds},
    }


def _summary(sessions: Sequence[Session], outcomes: Sequence[Outcome], kind: str) -> dict[str, float]:
    pairs = [
        (outcome.kept[kind], sum(len(case.facts[kind]) for case in session.cases))
        for session, outcome in zip(sessions, outcomes, strict=True)
    ]
    pairs = [(kept, facts) for kept, facts in pairs if facts]
    low, high = _interval(pairs)
    return {
        "rate": _pooled(pairs),
        "low": low,
        "high": high,
        "mean": _mean([kept / facts for kept, facts in pairs]),
        "facts": sum(facts for _, facts in pairs),
        "kept": round(sum(kept for kept, _ in pairs), 1),
        "sessions": len(pairs),
    }


def _pooled(pairs: Sequence[tuple[float, int]]) -> float:
    facts = sum(facts for _, facts in pairs)
    return sum(kept for kept, _ in pairs) / facts if facts else float("nan")


def _interval(pairs: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """95 % by bootstrap over sessions; the same at each run."""
    if not pairs:
        return float("nan"), float("nan")
    draw = random.Random(0)
    rates = sorted(_pooled(draw.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return rates[round(0.025 * (RESAMPLES - 1))], rates[round(0.975 * (RESAMPLES - 1))]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _mapped(work: Callable[[_Task], _Made], tasks: Sequence[_Task], workers: int) -> list[_Made]:
    if workers <= 1 or len(tasks) < 2:
        return [work(task) for task in tasks]
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:  # children know registered arms
        return list(pool.map(work, tasks, chunksize=2))


# Command line


def _table(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> str:
    head = ["arm", "keep", "used", "whole", *kinds, "sessions", "cuts", "seconds"]
    body = [
        [
            row["arm"],
            f"{row['keep']:g}",
            f"{row['used']:.3f}",
            f"{row['whole']:.3f}",
            *("{rate:.3f} [{low:.2f}-{high:.2f}]".format(**row["kinds"][kind]) for kind in kinds),
            str(row["sessions"]),
            str(row["cuts"]),
            str(row["seconds"]),
        ]
        for row in rows
    ]
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in [head, *body]
    )


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What survives a compaction, by hindsight, at equal result tokens.")
    parser.add_argument("--arms", default="head_tail,error_first", help=f"of {', '.join([*ARMS, *_registered])}")
    parser.add_argument("--keep", default="0.3", help="shares of the result tokens to keep, as 0.2,0.3")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--sessions", type=int, help="only so many, spread over the list")
    parser.add_argument("--ids", type=Path, help="JSON list of session ids; default: the development sessions")
    parser.add_argument("--matched", action="store_true", help="search the share that a registered arm is asked for")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="folder for facts found once")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of arms at the shares asked for."""
    options = _parsed(arguments)
    kinds = tuple(options.kinds.split(","))
    ids: list[str] | None = json.loads(options.ids.read_text("utf-8")) if options.ids else None
    if options.sessions:
        ids = ids or development_ids()
        ids = [ids[i * len(ids) // options.sessions] for i in range(min(options.sessions, len(ids)))]
    start = time.perf_counter()
    sessions = load_sessions(ids, cache_folder=options.cache, workers=options.workers)
    cuts = sum(len(session.cases) for session in sessions)
    print(f"{len(sessions)} sessions, {cuts} cuts, {time.perf_counter() - start:.1f} s to load", file=sys.stderr)
    rows: list[dict[str, Any]] = []
    for keep in map(float, options.keep.split(",")):
        for name in options.arms.split(","):
            start = time.perf_counter()
            rows.append(evaluate(name, keep, sessions, kinds, workers=options.workers, matched=options.matched))
            print(f"{name} at {keep:g}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    print(_table(rows, kinds))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
