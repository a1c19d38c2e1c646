"""How long a compaction takes and how much memory it needs, by the size of the transcript.

Each number is the median of several runs, and each run is a process of its own with an empty store. This process stays
small on purpose (what works on sessions is `one_run.py`), because a child's peak memory begins with that of its parent.

    python benchmarks/compaction.py             the tables
    python benchmarks/compaction.py --profile   the most expensive steps and functions, on the longest session
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tables import Table

__all__ = ["CORPORA", "SIZES", "compaction_tables", "profile_lines"]

SIZES = (125_000, 250_000, 500_000, 1_000_000)
RUNS = 3
KEEP = "0.3"
PER_TOKEN = "per token, to the first row"
STEPS = ("load", "read", "undo", "measure", "plan", "store", "write")
COMMAND = f"reefknot compact FILE --keep {KEEP} --out OUT --json"

CORPORA: Mapping[str, str] = {
    "claude_code": "generated Claude Code sessions (`benchmarks/sessions.py`)",
    "openai_chat": "generated OpenAI chats (`benchmarks/sessions.py`)",
    "neutral": "generated sessions in the neutral form (`benchmarks/sessions.py`)",
    "real": "real sessions joined, neutral form (the shared transcripts, those with most tool output first)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One process: wall and CPU seconds, peak memory in MB, what it printed."""

    seconds: float
    cpu: float
    megabytes: float
    output: str


def available() -> list[str]:
    """The corpora that can be had here."""
    return [name for name in CORPORA if name != "real" or os.environ.get("REEFKNOT_SHARED")]


def compaction_tables(sizes: Sequence[int] = SIZES, runs: int = RUNS, corpora: Sequence[str] = ()) -> Iterator[Table]:
    """The whole process and the flow inside it, for each corpus."""
    with tempfile.TemporaryDirectory(prefix="reefknot-bench-") as folder:
        for corpus in corpora or available():
            files = [_make(Path(folder), corpus, size) for size in sizes]
            yield _process_table(corpus, files, runs)
            yield _step_table(corpus, files, runs)


def profile_lines(corpus: str, size: int) -> Iterator[str]:
    """A profile of one compaction, as text."""
    with tempfile.TemporaryDirectory(prefix="reefknot-bench-") as folder:
        file = _make(Path(folder), corpus, size)
        yield from _child(["--profile", "--keep", KEEP, str(file)]).output.splitlines()


def _make(folder: Path, corpus: str, size: int) -> Path:
    file = folder / f"{corpus}-{size}.session"
    _child(["--make", corpus, str(size), str(file)])
    return file


def _process_table(corpus: str, files: Sequence[Path], runs: int) -> Table:
    rows: list[list[str]] = []
    least: float | None = None
    for file in files:
        done = [_compact(file) for _ in range(runs)]
        report = json.loads(done[0].output)
        seconds, tokens = median(run.seconds for run in done), report["tokens_before"]
        least = least or seconds / tokens
        rows.append(
            [
                f"{tokens:,}",
                f"{report['tokens_after']:,}",
                f"{seconds:.2f}",
                f"{median(run.cpu for run in done):.2f}",
                f"{median(run.megabytes for run in done):.0f}",
                f"{seconds / tokens * 1e6:.2f}",
                f"{seconds / tokens / least:.2f}",
            ]
        )
    header = ["tokens", "tokens after", "wall s", "CPU s", "peak MB", "s per million tokens", PER_TOKEN]
    return Table(
        title=f"Whole process, {corpus}",
        corpus=f"{CORPORA[corpus]}; medians of {runs} runs",
        command=COMMAND,
        header=header,
        rows=rows,
    )


def _step_table(corpus: str, files: Sequence[Path], runs: int) -> Table:
    rows: list[list[str]] = []
    least: float | None = None
    for file in files:
        done = [json.loads(_child(["--keep", KEEP, str(file)]).output) for _ in range(runs)]
        tokens: int = done[0]["tokens"]
        steps = {step: median(run["seconds"][step] for run in done) for step in STEPS}
        flow = median(sum(run["seconds"].values()) - run["seconds"]["load"] for run in done)
        cpu = median(run["cpu"] for run in done)
        least = least or cpu / tokens
        cells = [f"{steps[step]:.3f}" for step in STEPS]
        rows.append(
            [
                f"{tokens:,}",
                *cells,
                f"{flow:.3f}",
                f"{cpu:.3f}",
                f"{cpu / tokens * 1e6:.2f}",
                f"{cpu / tokens / least:.2f}",
            ]
        )
    return Table(
        title=f"Steps inside the process, {corpus}",
        corpus=f"{CORPORA[corpus]}; medians of {runs} runs, wall seconds",
        command="python benchmarks/compaction.py",
        header=["tokens", *STEPS, "all but load", "CPU s", "CPU s per million tokens", PER_TOKEN],
        rows=rows,
    )


def _environment(home: Path) -> dict[str, str]:
    """The environment without settings of the person who runs this, and with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REEFKNOT_", "XDG_"))}
    return {**kept, "HOME": str(home), "REEFKNOT_HOME": str(home / "store")}


def _compact(file: Path) -> Run:
    with tempfile.TemporaryDirectory(prefix="reefknot-bench-") as folder:
        home = Path(folder)
        command = ["-m", "reefknot", "compact", str(file), "--keep", KEEP, "--out", str(home / "out"), "--json"]
        return _run([sys.executable, *command], _environment(home))


def _child(arguments: Sequence[str]) -> Run:
    with tempfile.TemporaryDirectory(prefix="reefknot-bench-") as folder:
        environment = _environment(Path(folder))
        if shared := os.environ.get("REEFKNOT_SHARED"):
            environment["REEFKNOT_SHARED"] = shared
        return _run([sys.executable, str(Path(__file__).with_name("one_run.py")), *arguments], environment)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> Run:
    """Run a process to its end; what it used is what the system says of this one child."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=dict(environment))
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{errors.read().decode()}")
        return Run(
            seconds=seconds,
            cpu=usage.ru_utime + usage.ru_stime,
            megabytes=_megabytes(usage.ru_maxrss),
            output=output.read().decode(),
        )


def _megabytes(size: int) -> float:
    return size / (1_000_000 if sys.platform == "darwin" else 1000)  # bytes there, kilobytes elsewhere


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure compaction.")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="tokens, with commas between")
    parser.add_argument("--runs", type=int, default=RUNS, help="processes behind each number")
    parser.add_argument(
        "--corpus", action="append", choices=CORPORA, help="may be given again; all that there are by default"
    )
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d"), help="the date that is printed")
    parser.add_argument("--profile", action="store_true", help="show where the time goes, on the longest session")
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    if chosen.profile:
        for corpus in chosen.corpus or ["claude_code"]:
            for line in profile_lines(corpus, max(sizes)):
                print(line)
    else:
        for table in compaction_tables(sizes, chosen.runs, chosen.corpus or ()):
            print(table.render(chosen.date), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
