"""Run the benchmarks: print every table, and with --write put them into docs/benchmarks.md.

    python benchmarks/run.py                         all that can be measured here
    python benchmarks/run.py --only startup --write  one section, and its place in the docs renewed

Real sessions and the measures of masking and of token counting need REEFKNOT_SHARED; the rest runs on a fresh clone.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from compaction import RUNS, SIZES, compaction_tables, profile_lines
from startup import startup_table
from tables import machine

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs" / "benchmarks.md"


def _startup(options: argparse.Namespace) -> Iterator[str]:
    yield startup_table().render(options.date)


def _compaction(options: argparse.Namespace) -> Iterator[str]:
    for table in compaction_tables(options.sizes, options.runs):
        yield table.render(options.date)


def _profile(options: argparse.Namespace) -> Iterator[str]:
    corpus = "real" if os.environ.get("REEFKNOT_SHARED") else "claude_code"
    command = f"python benchmarks/compaction.py --profile --corpus {corpus}"
    yield _raw("Where the time goes", command, profile_lines(corpus, max(options.sizes)), options.date)


def _script(name: str, title: str) -> Callable[[argparse.Namespace], Iterator[str]]:
    def run(options: argparse.Namespace) -> Iterator[str]:
        done = subprocess.run([sys.executable, str(HERE / name)], check=True, capture_output=True, text=True)
        yield _raw(title, f"python benchmarks/{name}", done.stdout.splitlines(), options.date)

    return run


def _raw(title: str, command: str, lines: Iterator[str] | list[str], date: str) -> str:
    source = f"Command: `{command}`. Machine: {machine()}. Date: {date}."
    return "\n".join([f"### {title}", "", source, "", "```text", *lines, "```"])


SECTIONS: Mapping[str, Callable[[argparse.Namespace], Iterator[str]]] = {
    "startup": _startup,
    "compaction": _compaction,
    "profile": _profile,
    "masking": _script("masking.py", "Masking of secrets, over the shared corpus and transcripts"),
    "tokens": _script("tokens.py", "Token counting, over the shared corpus"),
}
NEED_SHARED = {"masking", "tokens"}


def _can_run(name: str) -> bool:
    return name not in NEED_SHARED or (bool(os.environ.get("REEFKNOT_SHARED")) and (HERE / f"{name}.py").exists())


def put(text: str, section: str, measured: str) -> str:
    """The docs with what was measured between the markers of a section.

    >>> print(put("a\\n<!-- begin x -->\\nold\\n<!-- end x -->\\n", "x", "new"), end="")
    a
    <!-- begin x -->
    <BLANKLINE>
    new
    <BLANKLINE>
    <!-- end x -->
    """
    begin, end = f"<!-- begin {section} -->", f"<!-- end {section} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"{DOCS} has no place for {section!r}: it needs the lines {begin!r} and {end!r}, once")
    return pattern.sub(lambda _: f"{begin}\n\n{measured}\n\n{end}", text)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Run the benchmarks.")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="this section; may be given again")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=list(SIZES))
    parser.add_argument("--runs", type=int, default=RUNS, help="processes behind each number of a compaction")
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d"), help="the date that is printed")
    parser.add_argument("--write", action="store_true", help=f"renew docs/{DOCS.name}")
    options = parser.parse_args()
    for name in options.only or SECTIONS:
        if not _can_run(name):
            print(f"({name}: left out, it needs the shared folder and REEFKNOT_SHARED)\n", flush=True)
            continue
        parts: list[str] = []
        for part in SECTIONS[name](options):
            print(part, end="\n\n", flush=True)
            parts.append(part)
        if options.write:
            DOCS.write_text(put(DOCS.read_text("utf-8"), name, "\n\n".join(parts)), "utf-8")


if __name__ == "__main__":
    main()
