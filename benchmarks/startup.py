"""How long `import reefknot` and `reefknot --help` take beside a Python that does nothing.

The commands run in turn, so that a machine that gets busy slows all of them; each has run once before.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from tables import Table

__all__ = ["startup_table"]

RUNS = 25
NOTHING = "python -c pass"
_SCRIPT = Path(sys.executable).with_name("reefknot")
COMMANDS: Mapping[str, Sequence[str]] = {
    NOTHING: (sys.executable, "-c", "pass"),
    "python -c 'import reefknot'": (sys.executable, "-c", "import reefknot"),
    "reefknot --help": (str(_SCRIPT), "--help") if _SCRIPT.exists() else (sys.executable, "-m", "reefknot", "--help"),
    "reefknot --version": (str(_SCRIPT), "--version")
    if _SCRIPT.exists()
    else (sys.executable, "-m", "reefknot", "--version"),
}


def startup_table(runs: int = RUNS) -> Table:
    """Medians, and what each command takes beyond the median of doing nothing."""
    for command in COMMANDS.values():
        _seconds(command)
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, command in COMMANDS.items():
            taken[name].append(_seconds(command))
    nothing = median(taken[NOTHING])
    rows = [
        [f"`{name}`", _milliseconds(median(all_)), _milliseconds(median(all_) - nothing)]
        for name, all_ in taken.items()
    ]
    return Table(
        title="Start of a process",
        corpus=f"none; medians of {runs} runs in turn",
        command="python benchmarks/startup.py",
        header=["command", "ms", "ms beyond doing nothing"],
        rows=rows,
    )


def _seconds(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure the start of a process.")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d"), help="the date that is printed")
    chosen = parser.parse_args()
    print(startup_table(chosen.runs).render(chosen.date))


if __name__ == "__main__":
    main()
