"""Record a Claude Code session by really working on this repository: `python examples/record_session.py OUT.jsonl`.

Somebody asks why a nightly run is red; an agent looks into a search that seems slow, a C project that does not build
and a job that failed on a server, and adds a test. Every command, read and edit is carried out in a clean clone under a
neutral path; only the words between are scripted, and they take their facts from the results. Needs git, cc, make,
curl, and an interpreter with pytest (`.venv` after `make test`). Standard library only.
"""

import argparse
import re
import shutil
import socket
import sys
from pathlib import Path

from recorder import Recorder, Unexpected, bash, edit, read, write
from stage import NEEDED, Stage, set_stage

ROOT = Path(__file__).resolve().parents[1]

SPEED = '''\
"""How long does it take to search a stored original? One row a size and a pattern."""

import statistics
import sys
import time

import reefknot
from reefknot.store.base import Original

ROUNDS = 5
SIZES = (1_000, 5_000, 20_000, 80_000)  # lines
PATTERNS = {
    "plain word": "checksum",
    "plain word, rare": "line 000777",
    "dot": "check.um",
    "anchored": "^line 0+9",
    "either": "(timeout|refused)",
    "class": "crc [0-9a-f]{8}",
    "nothing": "no such words here",
}


def make_text(lines):
    """A log in which every 50th line is a failure and every 7th has a checksum."""
    rows = []
    for number in range(lines):
        if number % 50 == 49:
            rows.append(f"line {number:06} ERROR worker {number % 11} timeout after {number % 90} s")
        elif number % 7 == 0:
            rows.append(f"line {number:06} INFO checksum ok, crc {number * 2654435761 % 2**32:08x}")
        else:
            rows.append(f"line {number:06} DEBUG part {number % 400} of 400 written")
    return "\\n".join(rows) + "\\n"


def measure(store, name, pattern):
    """Median, least and most milliseconds of a few rounds, and how many lines were found."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        text = reefknot.retrieve(name, grep=pattern, store=store)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), min(times), max(times), text.count("\\n")


def read_only(store, name):
    """The same without a search: what it costs to get the bytes at all."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        reefknot.retrieve(name, store=store)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), min(times), max(times)


def main():
    store = reefknot.open_store("memory:")
    print(f"python {sys.version.split()[0]}, {ROUNDS} rounds, milliseconds")
    print(f"{'lines':>7}  {'pattern':<18}{'median':>9}{'least':>9}{'most':>9}{'found':>9}")
    for size in SIZES:
        (reference,) = store.put_many([Original(data=make_text(size).encode())])
        median, least, most = read_only(store, reference.name)
        print(f"{size:>7,}  {'(no search)':<18}{median:>9.2f}{least:>9.2f}{most:>9.2f}{'':>9}")
        for label, pattern in PATTERNS.items():
            median, least, most, found = measure(store, reference.name, pattern)
            print(f"{size:>7,}  {label:<18}{median:>9.2f}{least:>9.2f}{most:>9.2f}{found:>9,}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
'''

TEST = '''\
"""A search in a range of lines numbers them as the whole text does."""

from reefknot.flows.retrieve import retrieve
from reefknot.store.base import Original
from reefknot.store.opening import open_store

LOG = "".join(f"part {number} {'failed' if number % 40 == 0 else 'written'}\\n" for number in range(1, 201))


def found(**asked):
    store = open_store("memory:", {})
    (reference,) = store.put_many([Original(data=LOG.encode())])
    return retrieve(store, reference.name, timeout_seconds=5, **asked)


def test_a_search_in_a_range_finds_only_lines_of_the_range():
    assert found(grep="failed", lines="41:160").text == "part 80 failed\\npart 120 failed\\npart 160 failed\\n"


def test_a_search_in_a_range_numbers_lines_as_the_whole_does():
    assert found(grep="failed", lines="41:160").part["line_numbers"] == [40, 80, 120]


def test_a_pattern_and_a_plain_word_find_the_same():
    assert found(grep="fail[e]d", lines="41:160").text == found(grep="failed", lines="41:160").text
'''


def record(stage: Stage) -> Recorder:
    """Play the whole session."""
    recorder = Recorder(cwd=stage.repository, environ=stage.environ)
    recorder.prompt(
        "The nightly run is red and `reefknot retrieve --grep` is said to have become slow. Three things, please:\n"
        "1. is a search in a stored original really slow, and why?\n"
        f"2. {stage.scanner} (the C prototype of the kind detector) no longer builds\n"
        f"3. an upload job failed on {stage.api}\n"
        "Fix what you can. We also lack a test for a search in a range of lines."
    )
    slow = look_into_the_search(recorder, stage)
    recorder.prompt("Good, then it is by design and may stay. Go on with the build.")
    mend_the_build(recorder, stage)
    request = retry_the_job(recorder, stage)
    tested = add_the_test(recorder, stage)
    finish(recorder, slow, request, tested)
    return recorder


def look_into_the_search(recorder: Recorder, stage: Stage) -> str:
    """Git, reads, a test run, a measurement; gives the finding."""
    source = stage.repository / "src/reefknot"
    status, _, _ = recorder.answer(
        "I'll start with the state of the checkout and what changed lately.",
        bash("git status -sb", "State of the checkout"),
        bash("git log --oneline -20", "Recent commits"),
        bash("git log --oneline --stat -4", "What the last commits changed"),
    )
    recorder.answer(
        f"The checkout is clean ({status.strip('# ')}). Where does a search happen?",
        bash("ls -R src/reefknot tests | grep -v pyc", "List sources and tests"),
        bash("grep -rnE 'grep|timeout_seconds' src --include='*.py'", "Who searches"),
    )
    recorder.answer(
        "The flow is in flows/retrieve.py, the search itself in store/slices.py.",
        read(source / "flows/retrieve.py"),
        read(source / "store/slices.py"),
    )
    recorder.answer(
        "A pattern that is no plain word goes to a child process. I want to see that one, and the command.",
        read(source / "store/searcher.py"),
        read(source / "surfaces/cli/retrieve.py"),
    )
    recorder.answer(
        "Before the search come the bytes: how does the store fetch them, and what do its docs promise?",
        read(source / "store/sqlite.py"),
        read(source / "store/compression.py"),
        read(stage.repository / "docs/store.md"),
    )
    (log,) = recorder.answer(
        "One row by its digest, unpacked and compared; that is not it. When did the child process come in?",
        bash("git log --oneline -- src/reefknot/store/slices.py", "History of the search"),
    )
    commit = log.splitlines()[-1].split()[0]
    recorder.answer(
        f"{commit} brought it. I'll look at what came with it.",
        bash(f"git show --oneline --stat {commit}", "Files of that commit"),
        bash(f"git show --oneline {commit} -- src/reefknot/store/searcher.py", "The child process as it came in"),
    )
    tests, _ = recorder.answer(
        "Are its tests green here?",
        bash("python -m pytest tests/surfaces/test_retrieve_command.py -v -p no:randomly 2>&1", "Tests of retrieve"),
        read(stage.repository / "tests/surfaces/test_retrieve_command.py"),
    )
    recorder.answer(
        f"{counts(tests)}, so it is right; now how slow is it? I'll measure plain words against patterns, over sizes.",
        write(stage.repository / "scratch/grep_speed.py", SPEED),
    )
    (first,) = recorder.answer("", bash("python scratch/grep_speed.py", "Measure searches"))
    plain, dot = median(first, "1,000", "plain word"), median(first, "1,000", "dot")
    recorder.answer(
        f"At 1,000 lines a plain word takes {plain} ms, the same with a dot {dot} ms. One round in five may be "
        "noise: I'll take more rounds.",
        edit(stage.repository / "scratch/grep_speed.py", "ROUNDS = 5\n", "ROUNDS = 9\n"),
    )
    recorder.answer(
        "",
        read(stage.repository / "scratch/grep_speed.py"),
        bash("python scratch/grep_speed.py", "Measure again with more rounds"),
    )
    (table,) = recorder.answer(
        "", bash("python scratch/grep_speed.py | grep -E 'lines|plain word |dot'", "Only the two that matter")
    )
    finding = (
        f"a plain word is searched in place ({median(table, '80,000', 'plain word')} ms in 80,000 lines), a pattern in "
        f"a child process that can be killed ({median(table, '1,000', 'dot')} ms in 1,000 lines, nearly all of it the "
        "start of that process)"
    )
    recorder.answer(
        f"It is not slow by accident: {finding}. The child is what makes the time limit hold, so I would leave it. "
        "Shall I?"
    )
    return finding


def mend_the_build(recorder: Recorder, stage: Stage) -> None:
    """A failing build, found and mended."""
    folder = stage.scanner
    recorder.answer(
        "On to the scanner.",
        bash(f"ls -R {folder}", "Files of the scanner"),
        bash(f"cat {folder}/Makefile", "How it is built"),
    )
    (failed,) = recorder.answer("", bash(f"make -k -C {folder} 2>&1", "Build as far as it goes", exit_code=2))
    place = re.search(r"src/(\w+\.c):(\d+):\d+: error: (.+)", failed)
    assert place is not None
    file, line, message = place.groups()
    recorder.answer(
        f"Warnings everywhere, but one error: {file}:{line}, {message}.",
        bash(f"grep -rn MAX_ {folder}/src", "Where the limits are used"),
        read(folder / "src" / file),
        read(folder / "src/limits.h"),
    )
    recorder.answer(
        "limits.h calls it MAX_HUNKS. The name stands twice in the function; I'll change both lines at once.",
        edit(
            folder / "src" / file,
            "        if (score > MAX_HUNK)\n            return MAX_HUNK;\n",
            "        if (score > MAX_HUNKS)\n            return MAX_HUNKS;\n",
        ),
    )
    recorder.answer("", read(folder / "src" / file), bash(f"make -C {folder} 2>&1", "Build again"))
    recorder.answer("It links. Does it run?", bash(f"make -C {folder} check", "Run it on its own Makefile"))


def retry_the_job(recorder: Recorder, stage: Stage) -> str:
    """A list of jobs, a log, a retry that is refused once, and polling; gives the finding."""
    recorder.answer(
        "The build is done. Now the jobs.", bash(f"curl -sS '{stage.api}/jobs?limit=300'", "All jobs of the night")
    )
    (failed,) = recorder.answer(
        "Mostly passed; only the failed ones, please.", bash(f"curl -sS '{stage.api}/jobs?state=failed'", "Failed jobs")
    )
    (job,) = re.findall(r'"id":"(job-\w+)","suite":"upload"', failed) or re.findall(
        r'"id":"(job-\w+)".*E_UPLOAD', failed
    )
    (log,) = recorder.answer(
        f"One is the build that I just mended; {job} is the upload.",
        bash(f"curl -sS {stage.api}/jobs/{job}/log", f"Log of {job}"),
    )
    cause = re.search(r"ERROR part (\d+) of \d+: write (\S+): (.+)", log)
    assert cause is not None
    part, path, reason = cause.groups()
    upload = path.split("/")[-2]
    (refused,) = recorder.answer(
        f"Part {part} of {upload} was not written: {reason.lower()} on w-07. Nothing is wrong with the archive, "
        "so a retry on another worker should do.",
        bash(f"curl -sS -i -X POST {stage.api}/jobs/{job}/retry", f"Retry {job}"),
    )
    request = re.findall(r"req-\w+", refused)[0]
    recorder.answer(
        f"503, no worker is free ({request}). It says to wait a second.",
        bash(f"sleep 1; curl -sS -i -X POST {stage.api}/jobs/{job}/retry", "Retry once more"),
    )
    looks = 0
    state = ""
    while state != "passed":
        looks += 1
        said = "Accepted as attempt 2. I'll wait for it." if looks == 1 else f"Still {state}."
        (answer,) = recorder.answer(said, bash(f"sleep 0.3; curl -sS {stage.api}/jobs/{job}", f"State of {job}"))
        state = re.findall(r'"state": "(\w+)"', answer)[0]
    return f"{job} failed because w-07 had no space for part {part} of {upload}; attempt 2 passed on w-03"


def add_the_test(recorder: Recorder, stage: Stage) -> str:
    """A new test, wrong at first; gives what the last run said."""
    name = "tests/flows/test_retrieve_ranges.py"
    path = stage.repository / name
    run = f"python -m pytest {name} -p no:randomly 2>&1"
    recorder.answer("It passed. The test that is missing, then.", write(path, TEST))
    (failed,) = recorder.answer("", bash(run, "Run the new tests", exit_code=1))
    recorder.answer(
        f"{counts(failed)}. My expectation was wrong: the range begins at 41, so the first match is line 80.",
        edit(path, '["line_numbers"] == [40, 80, 120]', '["line_numbers"] == [80, 120, 160]'),
    )
    recorder.answer("", read(path, offset=20, limit=12), bash(run, "Run them again"))
    (all_,) = recorder.answer(
        "And the tests around it.",
        bash(
            f"python -m pytest {name} tests/policy tests/surfaces/test_values.py -v -p no:randomly 2>&1",
            "Tests nearby",
        ),
    )
    return counts(all_)


def finish(recorder: Recorder, slow: str, request: str, tested: str) -> None:
    """Tidy up, look at what is left, and say what was found."""
    recorder.answer(
        f"{tested}. I'll remove my measurement and see what is left.",
        bash("rm -r scratch && git status --short", "What changed"),
        bash("git diff --stat", "Changes to tracked files"),
    )
    recorder.answer(
        "Nothing but the test.",
        bash("git add tests/flows/test_retrieve_ranges.py && git diff --cached --stat", "Stage the test"),
    )
    recorder.answer("", bash("git diff --cached | tail -20", "A last look at it"))
    recorder.answer(
        "All three are done:\n"
        f"1. The search: {slow}. I changed nothing.\n"
        "2. The scanner builds again: kind_diff.c used MAX_HUNK, limits.h has MAX_HUNKS.\n"
        f"3. The upload: {request}. The build job of that night failed for reason 2.\n"
        f"The new test is tests/flows/test_retrieve_ranges.py, staged; {tested}."
    )


def private_names() -> list[str]:
    """What would tell on which machine, and by whom, a session was recorded."""
    places = (ROOT, Path.home(), Path(sys.base_prefix), Path(sys.prefix))
    host = socket.gethostname()
    is_telling = len(host) > 4 and host != "localhost"  # a shorter one stands in any text
    return [*(f"{place}/" for place in places if len(place.parts) > 1), *([host] if is_telling else [])]


def counts(output: str) -> str:
    """What a test run said last, without its time."""
    return re.findall(r"\d+ (?:passed|failed)[\w ,]*", output)[-1].partition(" in ")[0]


def median(table: str, size: str, label: str) -> str:
    """A figure of the measured table."""
    (found,) = re.findall(rf"^ *{size}  {label} +([\d.]+)", table, re.MULTILINE)
    return found


def main() -> int:
    """Record one session and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument(
        "--stage", type=Path, default=Path("/tmp/reef"), metavar="FOLDER", help="where it plays; made anew"
    )
    asked = parser.parse_args()
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        print(f"record_session: not installed here: {', '.join(missing)}", file=sys.stderr)
        return 2
    try:
        with set_stage(ROOT, asked.stage) as stage:
            recorder = record(stage)
    except (FileExistsError, Unexpected) as error:
        print(f"record_session: {error}", file=sys.stderr)
        return 2
    shutil.rmtree(asked.stage)
    recorder.write_to(asked.out)
    if leaked := [name for name in private_names() if name in asked.out.read_text("utf-8")]:
        asked.out.unlink()
        print(f"record_session: not kept, for it names this machine: {', '.join(leaked)}", file=sys.stderr)
        return 2
    print(f"{asked.out}: {recorder.calls} calls, {asked.out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
