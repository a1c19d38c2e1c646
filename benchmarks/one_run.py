"""What the compaction benchmark does in a process of its own: make a session file, run the flow once, profile it once.

Started by `compaction.py`, which reads what is printed here.
"""

import argparse
import cProfile
import json
import os
import pstats
import time
from pathlib import Path

import sessions

from reefknot.compact.pressure import Aim
from reefknot.flows.files import read_input
from reefknot.flows.pressure import Request, compact_data
from reefknot.store.opening import open_store
from reefknot.text.tokens import open_counter

STEPS = ("load", "read", "undo", "measure", "plan", "store", "write")
TOP = 5  # functions named for each step of a profile


def _make_file(corpus: str, size: int, path: Path) -> None:

    if corpus == "real":
        path.write_bytes(sessions.join_real(Path(os.environ["REEFKNOT_SHARED"]), size))
    else:
        path.write_bytes(sessions.render(sessions.make_session(size), corpus))


class _Clock:
    """Hears of each step, and adds up the wall seconds of each; CPU seconds of all but loading."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STEPS, 0.0)
        self.cpu = 0.0
        self._cpu_since: float | None = None  # set when the first step after loading begins
        self._step = "load"
        self._since = time.perf_counter()

    def step(self, name: str) -> None:
        now, cpu = time.perf_counter(), time.process_time()
        if self._cpu_since is None:
            self._cpu_since = cpu
        self.cpu = cpu - self._cpu_since
        self.seconds[self._step] += now - self._since
        self._step, self._since = name, now


class _Profiler:
    """Hears of each step, and profiles each on its own."""

    def __init__(self) -> None:

        self.profiles = {"load": cProfile.Profile()}
        self._now = self.profiles["load"]
        self._now.enable()

    def step(self, name: str) -> None:
        self._now.disable()
        self._now = self.profiles.setdefault(name, cProfile.Profile())
        self._now.enable()

    def stop(self) -> None:
        self._now.disable()


def _flow(file: Path, keep: float, listener: _Clock | _Profiler) -> int:
    """One compaction by the flow itself, with a store on disk; the tokens that the transcript had."""

    counter = open_counter("o200k")
    counter.count("the vocabulary is loaded with the first count")
    request = Request(aim=Aim(keep=keep), store=open_store(None, os.environ), counter=counter, on_step=listener.step)
    return compact_data(read_input(file), request).report.tokens_before


def _show_flow(file: Path, keep: float) -> None:
    clock = _Clock()
    tokens = _flow(file, keep, clock)
    clock.step("end")
    print(json.dumps({"tokens": tokens, "seconds": clock.seconds, "cpu": clock.cpu}))


def _show_profile(file: Path, keep: float) -> None:

    profiler = _Profiler()
    tokens = _flow(file, keep, profiler)
    profiler.stop()
    stats = {name: pstats.Stats(profile) for name, profile in profiler.profiles.items()}
    times = {name: found.get_stats_profile().total_tt for name, found in stats.items()}
    total = sum(times.values())
    print(f"{tokens:,} tokens, {total:.2f} s under the profiler (about twice the real time)")
    print("most expensive steps: " + ", ".join(sorted(times, key=lambda name: -times[name])[:3]))
    for name, found in stats.items():
        print(f"\n{name}: {times[name]:.3f} s, {times[name] / total:.0%}")
        raw: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = found.stats  # type: ignore[attr-defined]
        top = sorted(raw.items(), key=lambda item: -item[1][2])[:TOP]
        for (path, line, function), (_, calls, own, cumulative, _callers) in top:
            print(f"  {own:7.3f} own {cumulative:7.3f} all {calls:>9,} calls  {_place(path, line, function)}")


def _place(path: str, line: int, function: str) -> str:
    if path == "~":
        return function
    _, found, inside = path.partition("reefknot/")
    return f"{inside if found else Path(path).name}:{line} {function}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="One run, for compaction.py.")
    parser.add_argument("--make", nargs=2, metavar=("CORPUS", "TOKENS"))
    parser.add_argument("--keep", type=float, default=0.3)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("file", type=Path)
    chosen = parser.parse_args()
    if chosen.make:
        _make_file(chosen.make[0], int(chosen.make[1]), chosen.file)
    elif chosen.profile:
        _show_profile(chosen.file, chosen.keep)
    else:
        _show_flow(chosen.file, chosen.keep)


if __name__ == "__main__":
    main()
