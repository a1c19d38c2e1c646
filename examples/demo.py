"""Compact a recorded session, look at what became of each call, get a cut line back, undo it all: `make demo`.

Everything stands in a folder of its own, `.demo` unless another is named: store, compacted and restored session. The
command line does the work; the Python door, on the same store, tells what became of each call.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import reefknot
from reefknot.model.message import ToolCall
from reefknot.model.report import Explanation
from reefknot.model.transcript import Transcript
from reefknot.text.tokens import open_counter

ROOT = Path(__file__).resolve().parents[1]
SESSION = ROOT / "examples" / "session.jsonl"
KEEP = 0.3
WIDTH = 96  # columns
HEAD_LINES, AROUND = 6, 9  # of an excerpt: its first lines, and as many before and after its first error

FORMS = {  # form -> its colour, and what it means
    "kept": ("32", "whole: it is new, or worth all its tokens"),
    "noted": ("36", "a read that running it again still gives back: one line says so"),
    "excerpted": ("33", "the lines worth most stay, verbatim; gaps are marked"),
    "repeated": ("35", "another call gave the same: one line points there"),
    "evicted": ("31", "nothing is shown; one line says where it is"),
}
BOLD, DIM, MARKER, ERROR = "1", "2", "36", "1;31"


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Where the demo is shown: with colours or without, with blocks or with plain characters."""

    has_colour: bool
    has_blocks: bool

    def paint(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.has_colour and text else text

    def title(self, text: str) -> None:
        print(f"\n{self.paint(text, BOLD)}")

    def command(self, words: Sequence[str]) -> None:
        print(f"\n{self.paint('$', DIM)} {self.paint('reefknot ' + shlex.join(words), BOLD)}", flush=True)

    def bar(self, share: float, code: str, length: int = 8) -> str:
        """How much of something stays, at least a sign of it."""
        full, empty = "█·" if self.has_blocks else "#."
        kept = max(1, round(share * length))
        return self.paint(full * kept, code) + self.paint(empty * (length - kept), DIM)


def open_screen() -> Screen:
    """A screen as standard output allows it."""
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    return Screen(has_colour=is_terminal and not os.environ.get("NO_COLOR"), has_blocks=encoding == "utf8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """The files of one run."""

    session: Path
    folder: Path
    screen: Screen

    @property
    def small(self) -> Path:
        return self.folder / "small.jsonl"

    @property
    def whole(self) -> Path:
        return self.folder / "whole.jsonl"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def prepare(self) -> None:
        """Begin with an empty store and no files of an earlier run; nobody's own settings or store are touched."""
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.home, ignore_errors=True)
        for file in (self.small, self.whole):
            file.unlink(missing_ok=True)
        for name in [name for name in os.environ if name.startswith("REEFKNOT_")]:
            del os.environ[name]
        os.environ["REEFKNOT_HOME"] = str(self.home)
        os.environ["XDG_CONFIG_HOME"] = str(self.home)

    def run(self, *words: str | Path) -> str:
        """Show a command, run it, and give what it printed.

        Raises:
            SystemExit: it failed; with what it said.
        """
        shown = [short(word) if isinstance(word, Path) else word for word in words]
        self.screen.command(shown)
        command = [sys.executable, "-m", "reefknot", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode:
            raise SystemExit(done.stderr.strip() or f"exit code {done.returncode}")
        return done.stdout


def short(path: Path) -> str:
    """A path as a person in this project would write it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def clip(text: str, length: int) -> str:
    """A text on one line, its end cut off where it is too long."""
    flat = text.replace("\t", "    ")
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def say_what(call: ToolCall, project: str) -> str:
    """The path or the command of a call, without the project's folder."""
    value = next((call.input[key] for key in ("command", "file_path") if key in call.input), call.input_text)
    parent = project.rpartition("/")[0]
    return " ".join(str(value).replace(f"{project}/", "").replace(f"{parent}/", "../").split())


def show_calls(screen: Screen, transcript: Transcript, became: dict[str, Explanation]) -> None:
    """A line a call: tokens before and after, and what was done."""
    room = WIDTH - 46
    print(screen.paint(f"{'':>3} {'tool':<5} {'':<{room}} {'tokens':>6} {'stay':>6}", DIM))
    calls = [call for message in transcript.messages for call in message.calls]
    for number, call in enumerate(calls, 1):
        one = became[call.id]
        colour = FORMS[one.form][0]
        after = screen.paint(f"{one.tokens_after:>6,}", BOLD)
        bar = screen.bar(one.tokens_after / max(1, one.tokens_before), colour)
        what = clip(say_what(call, transcript.project), room)
        print(
            f"{screen.paint(f'{number:>3}', DIM)} {call.tool:<5} {what:<{room}} "
            f"{one.tokens_before:>6,} {after}  {bar}  {screen.paint(one.form, colour)}"
        )


def show_totals(screen: Screen, report: dict, sizes: tuple[int, int]) -> None:
    """How many of each kind, and the sums."""
    print()
    for form, (colour, meaning) in FORMS.items():
        print(f"{report['results'][form]:>5}  {screen.paint(f'{form:<10}', colour)} {screen.paint(meaning, DIM)}")
    print()
    for name, before, after in (
        ("tool results", report["result_tokens_before"], report["result_tokens_after"]),
        ("whole session", report["tokens_before"], report["tokens_after"]),
        ("file in bytes", *sizes),
    ):
        share = after / before
        print(f"  {name:<14}{before:>9,} -> {after:>8,}   {screen.bar(share, '32', 24)} {share:>5.0%} stay")
    counted = f"counted with {report['counter']} in {report['seconds']:.1f} s, no model asked"
    same = f"{report['calls']} calls and {report['messages']} messages before and after"
    print(screen.paint(f"  {counted}; {same}", DIM))


def show_excerpt(screen: Screen, text: str) -> None:
    """A shortened result as the agent has it now: its head, and what stands around its first error."""
    lines = text.splitlines()
    middle = next((index for index, line in enumerate(lines) if is_error(line)), 0)
    tail = max(HEAD_LINES, min(middle - AROUND, len(lines) - 2 * AROUND))
    edge = screen.paint("│" if screen.has_blocks else "|", DIM)
    for part in (lines[:HEAD_LINES], lines[tail : tail + 2 * AROUND]):
        for line in part:
            print(f"  {edge} {paint_line(screen, clip(line, WIDTH - 4))}")
        if part and tail > HEAD_LINES and part[0] == lines[0]:
            print(screen.paint(f"    ({tail - HEAD_LINES} lines of this excerpt are not shown here)", DIM))
    if (left := len(lines) - tail - 2 * AROUND) > 0:
        print(screen.paint(f"    (and {left} more)", DIM))


def paint_line(screen: Screen, line: str) -> str:
    """A line with its meaning as colour: what reefknot put there, and errors."""
    if line.startswith(("[reefknot ", "[... ")):
        return screen.paint(line, MARKER)
    return screen.paint(line, ERROR) if is_error(line) else line


def is_error(line: str) -> bool:
    """Whether a line tells of an error."""
    return re.search(r"\berror\b", line, re.IGNORECASE) is not None


def show_part(screen: Screen, text: str, visible: set[str]) -> None:
    """Lines that came back; those that the excerpt does not show are marked."""
    for line in text.splitlines():
        is_back = line not in visible
        shown = f"{clip(line, WIDTH - 16):<{WIDTH - 14}}"
        print(f"  {screen.paint(shown, '32')} {'was cut'}" if is_back else f"  {shown.rstrip()}")


def choose_failure(transcript: Transcript, became: dict[str, Explanation]) -> Explanation:
    """The failed call that was cut most: there an excerpt has most to prove."""
    failed = {result.call_id for message in transcript.messages for result in message.results if result.is_error}
    cut = [one for one in became.values() if one.form == "excerpted" and one.ref]
    return max(cut, key=lambda one: (one.call in failed, one.tokens_before - one.tokens_after))


def choose_pattern(original: str, visible: set[str]) -> str:
    """What to look for: the place of the first error after which a line was cut, else the longest word that was cut."""
    lines = original.splitlines()
    for line, following in pairwise(lines):
        if (found := re.match(r"([\w./-]+:\d+:\d+): error", line)) and following not in visible:
            return re.escape(found[1])
    cut = [line for line in lines if line not in visible]
    return re.escape(max((word for line in cut for word in line.split()), key=len))


def results_of(transcript: Transcript) -> dict[str, str]:
    """The text of each call's result."""
    return {result.call_id: result.text for message in transcript.messages for result in message.results}


def explain(demo: Demo) -> tuple[Transcript, dict[str, Explanation]]:
    """The session as it was, and what becomes of the result of each call; the same rules, the same store."""
    loaded = reefknot.load(demo.session)
    store = reefknot.open_store(f"sqlite:///{demo.home / 'store.sqlite3'}")
    compacted = reefknot.compact(loaded, keep=KEEP, store=store)
    became = {one.call: one for one in compacted.explanations if one.part == "result"}
    counter = open_counter("o200k")
    for call, text in results_of(loaded.transcript).items():
        if call not in became:  # too short for any rule to say something of it
            (tokens,) = counter.count_many([text])
            became[call] = Explanation(
                call=call, part="result", form="kept", reason="short", tokens_before=tokens, tokens_after=tokens
            )
    return loaded.transcript, became


def digests(*paths: Path) -> Iterator[str]:
    """SHA-256 of each file."""
    return (hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)


def play(demo: Demo) -> bool:
    """The whole demo; whether the restored session equals the recorded one."""
    screen = demo.screen
    demo.prepare()
    print(screen.paint("reefknot: an agent's context made small, with nothing lost", BOLD))
    print("\nA Claude Code session in which an agent looked into a red nightly run of this project.")
    printed = demo.run("compact", demo.session, "--keep", str(KEEP), "--out", demo.small, "--json")
    report = json.loads(printed)
    transcript, became = explain(demo)
    print()
    show_calls(screen, transcript, became)
    show_totals(screen, report, (demo.session.stat().st_size, demo.small.stat().st_size))

    chosen = choose_failure(transcript, became)
    assert chosen.ref is not None
    calls = [call for message in transcript.messages for call in message.calls]
    number = next(number for number, call in enumerate(calls, 1) if call.id == chosen.call)
    screen.title(
        f"What the agent sees now of call {number}, {say_what(calls[number - 1], transcript.project)!r} "
        f"({chosen.tokens_before:,} -> {chosen.tokens_after:,} tokens)"
    )
    excerpt = results_of(reefknot.load(demo.small).transcript)[chosen.call]
    show_excerpt(screen, excerpt)

    screen.title("The lines around the error were cut. They come back at one call")
    visible = set(excerpt.splitlines())
    pattern = choose_pattern(results_of(transcript)[chosen.call], visible)
    show_part(screen, demo.run("retrieve", chosen.ref, "--grep", pattern, "--context", "4"), visible)

    screen.title("And the knot undone: the whole session back, byte for byte")
    demo.run("restore", demo.small, "--out", demo.whole)
    before, after = digests(demo.session, demo.whole)
    for digest, path in ((before, demo.session), (after, demo.whole)):
        print(f"  {digest}  {short(path)}")
    is_equal = before == after
    print(screen.paint("  equal" if is_equal else "  NOT EQUAL", "1;32" if is_equal else ERROR))
    show_next(demo, chosen.ref)
    return is_equal


def show_next(demo: Demo, reference: str) -> None:
    """What to try."""
    command = ".venv/bin/reefknot" if (ROOT / ".venv/bin/reefknot").exists() else "reefknot"
    home = f"REEFKNOT_HOME={shlex.quote(short(demo.home))}"
    demo.screen.title("Try next")
    print(demo.screen.paint("  what this demo set aside is still there:", DIM))
    print(f"    {home} {command} retrieve {reference} --lines 1:20")
    print(f"    {home} {command} store stats")
    print(demo.screen.paint("  a session of your own (the file itself is never changed):", DIM))
    print(f"    {command} compact ~/.claude/projects/PROJECT/SESSION.jsonl --keep {KEEP} --out small.jsonl")
    print(f"    {command} restore small.jsonl --out whole.jsonl")


def main() -> int:
    """Run the demo; exit code 1 when what came back is not what was there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--session", type=Path, default=SESSION, metavar="FILE", help="a Claude Code session")
    parser.add_argument("--folder", type=Path, default=ROOT / ".demo", metavar="FOLDER", help="where its files go")
    asked = parser.parse_args()
    demo = Demo(session=asked.session.resolve(), folder=asked.folder.resolve(), screen=open_screen())
    try:
        return 0 if play(demo) else 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # who reads has seen enough
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
