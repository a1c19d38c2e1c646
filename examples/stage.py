"""Where the recorded session plays: a clean clone, a C project that does not build, a job server, an empty home.

All of it stands under one folder with a neutral path, and commands get an environment made here, so that nothing of the
machine or of the person who records gets into the session. Standard library only; needs git, cc, make and curl.
"""

import json
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["NEEDED", "Stage", "set_stage"]

NEEDED = ("bash", "git", "cc", "make", "curl")
MARK = ".made-by-record-session"  # only a folder with this file in it is ever removed

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The places of the play, and the environment that its commands run in."""

    repository: Path
    scanner: Path
    api: str
    environ: dict[str, str]


@contextmanager
def set_stage(source: Path, folder: Path) -> Iterator[Stage]:
    """Build everything under `folder`, and serve jobs until the block is left.

    Raises:
        FileExistsError: the folder is there, and no earlier stage.
    """
    if folder.exists():
        if not (folder / MARK).exists():
            raise FileExistsError(f"{folder} exists and was not made here: name another folder with --stage")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    (folder / "home").mkdir()
    repository = folder / "reefknot"
    clone(source, repository)
    make_interpreter(repository)
    write_scanner(folder / "scanner")
    server = serve(Jobs())
    try:
        yield Stage(
            repository=repository,
            scanner=folder / "scanner",
            api=f"http://127.0.0.1:{server.server_port}/v1",
            environ={
                "PATH": f"{repository / '.venv/bin'}:/usr/local/bin:/usr/bin:/bin",
                "HOME": str(folder / "home"),
                "LANG": "C.UTF-8",
                "TZ": "UTC",
                "COLUMNS": "100",
            },
        )
    finally:
        server.shutdown()
        server.server_close()


def clone(source: Path, repository: Path) -> None:
    """A clone that does not know where it came from."""
    inside = ["git", "-C", str(repository)]
    for command in (
        ["git", "clone", "--quiet", "--no-hardlinks", str(source), str(repository)],
        [*inside, "checkout", "--quiet", "-B", "main"],
        [*inside, "remote", "remove", "origin"],
    ):
        subprocess.run(command, check=True, capture_output=True)


def make_interpreter(repository: Path) -> None:
    """An environment in the clone that has the packages of this one, under paths of its own."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(repository / ".venv")], check=True)
    (site,) = (repository / ".venv/lib").glob("python3*/site-packages")
    for entry in sorted(Path(folder) for folder in sys.path if folder.endswith("site-packages")):
        for package in entry.iterdir():
            is_ours = "reefknot" in package.name or package.suffix == ".pth" or package.name == "__pycache__"
            if not is_ours and not (site / package.name).exists():
                (site / package.name).symlink_to(package)
    (site / "reefknot.pth").write_text(f"{repository / 'src'}\n", encoding="utf-8")


# The C project: one small module for each kind of text, one of which misspells a name.

KINDS: dict[str, Sequence[str]] = {
    "ansi": ("\\033[", "\\033]"),
    "code": ("def ", "class ", "return ", "#include"),
    "csv": (",", ";", "\\t"),
    "dockerfile": ("FROM ", "RUN ", "COPY "),
    "diff": ("@@ ", "+++ ", "--- ", "diff --git"),
    "env": ("export ", "PATH="),
    "html": ("<html", "<body", "<div"),
    "ini": ("[", "="),
    "json": ("{", "}", "[", "]"),
    "listing": ("drwx", "-rw-", "total "),
    "log": ("ERROR", "WARN", "INFO", "DEBUG"),
    "make": ("make: ", "make[1]: ", "cc -"),
    "markdown": ("# ", "- ", "```"),
    "prose": (". ", ", "),
    "search": (":1:", ":2:"),
    "sql": ("SELECT ", "INSERT ", "CREATE TABLE"),
    "stats": ("min", "max", "mean"),
    "table": ("|", "+--"),
    "toml": ("[tool", "= "),
    "trace": ("Traceback", "  File ", "    at "),
    "xml": ("<?xml", "</"),
    "yaml": ("---", ": ", "- "),
}

MODULE = """\
/* Is this line of kind `{kind}`? Scores words that only such lines hold. */
#include <stddef.h>
#include <string.h>

#include "limits.h"
#include "scan.h"

static const char *const WORDS[] = {{{words}}};

int score_{kind}(const char *line, size_t length, int flags)
{{
    int score = 0;
    int first = 0;

    for (int i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {{
        const char *found = strstr(line, WORDS[i]);
        if (found == NULL)
            continue;
        score += found == line ? 2 : 1;
        if (score > {limit})
            return {limit};
    }}
    return score;
}}
"""

SCAN = """\
#include <stdio.h>
#include <string.h>

#include "scan.h"

static const struct { const char *name; scorer *score; } KINDS[] = {
%s
};

int main(int argc, char **argv)
{
    char line[4096];
    long total = 0;
    long best[sizeof KINDS / sizeof *KINDS] = {0};

    while (fgets(line, sizeof line, stdin) != NULL) {
        total++;
        for (size_t kind = 0; kind < sizeof KINDS / sizeof *KINDS; kind++)
            best[kind] += KINDS[kind].score(line, strlen(line), 0);
    }
    for (size_t kind = 0; kind < sizeof KINDS / sizeof *KINDS; kind++)
        printf("%%-12s score %%5ld in %%ld lines\\n", KINDS[kind].name, best[kind], total);
    return total == 0;
}
"""

MAKEFILE = """\
# The scanner: which kind of text is this? One object a kind.
CC = cc
CFLAGS = -std=c11 -O1 -Wall -Wextra -Isrc
OBJECTS = $(patsubst src/%.c,build/%.o,$(sort $(wildcard src/*.c)))

all: build/scan

build/scan: $(OBJECTS)
\t$(CC) $(CFLAGS) -o $@ $(OBJECTS)

build/%.o: src/%.c src/scan.h src/limits.h
\t@mkdir -p build
\t$(CC) $(CFLAGS) -c -o $@ $<

check: build/scan
\t./build/scan < Makefile

.PHONY: all check
"""


def write_scanner(folder: Path) -> None:
    """The C project; its module `kind_diff.c` uses a constant under a name that it does not have."""
    source = folder / "src"
    source.mkdir(parents=True)
    for kind, words in KINDS.items():
        quoted = ", ".join(f'"{word}"' for word in words)
        limit = "MAX_HUNK" if kind == "diff" else "MAX_SCORE"
        (source / f"kind_{kind}.c").write_text(MODULE.format(kind=kind, words=quoted, limit=limit), encoding="utf-8")
    entries = "\n".join(f'    {{"{kind}", score_{kind}}},' for kind in KINDS)
    (source / "scan.c").write_text(SCAN % entries, encoding="utf-8")
    declared = "".join(f"scorer score_{kind};\n" for kind in KINDS)
    (source / "scan.h").write_text(
        "#pragma once\n#include <stddef.h>\n\ntypedef int scorer(const char *line, size_t length, int flags);\n\n"
        + declared,
        encoding="utf-8",
    )
    (source / "limits.h").write_text(
        "#pragma once\n\n#define MAX_SCORE 8  /* one line counts no more than this */\n"
        "#define MAX_HUNKS 64 /* hunks of one diff that are looked at */\n",
        encoding="utf-8",
    )
    (folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")


# The job server: a list of jobs, a log, a retry that is refused once, a job that takes a few looks to finish.

SUITES = ("unit", "property", "golden", "faults", "docs", "bench", "scanner", "upload")
STATES_OF_RETRY = ("queued", "queued", "running", "running", "running", "passed")
PARTS = 240


@dataclass(slots=True)
class Jobs:
    """What the server knows. The same seed gives the same jobs."""

    rows: list[Row] = field(default_factory=list[Row])
    failed: str = ""
    log: str = ""
    retries: int = 0
    looks: int = 0

    def __post_init__(self) -> None:
        chance = random.Random(2291)
        start = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
        for number in range(220):
            suite = SUITES[number % len(SUITES)]
            start += timedelta(seconds=chance.randrange(2, 40))
            self.rows.append(
                {
                    "id": f"job-{chance.getrandbits(24):06x}",
                    "suite": suite,
                    "state": "skipped" if suite == "bench" and number % 3 else "passed",
                    "worker": f"w-{chance.randrange(1, 12):02}",
                    "started": start.strftime("%H:%M:%S"),
                    "seconds": round(chance.uniform(0.4, 90), 1),
                }
            )
        broken = self.rows[143]
        broken.update(state="failed", worker="w-07", seconds=31.7, error="E_UPLOAD: part 117 of 240 was not written")
        self.rows[70].update(state="failed", error="E_BUILD: make exited with 2 in scanner")
        self.failed = broken["id"]
        self.log = "".join(line + "\n" for line in self._log_lines(chance, start))

    def _log_lines(self, chance: random.Random, clock: datetime) -> Iterator[str]:
        upload = f"up-{chance.getrandbits(40):010x}"
        yield f"{clock:%H:%M:%S} INFO  {self.failed} attempt 1 on w-07: {upload}, {PARTS} parts of 262144 bytes"
        for part in range(1, PARTS + 1):
            clock += timedelta(milliseconds=chance.randrange(20, 400))
            time, place = f"{clock:%H:%M:%S}", f"part {part} of {PARTS}"
            if part == 117:
                yield f"{time} ERROR {place}: write /var/cache/parts/{upload}/117: No space left on device"
                yield f"{time} WARN  {place}: 3.1 MB free on w-07, 12.0 GB in /var/cache/parts of older uploads"
            else:
                yield f"{time} INFO  {place} written in {chance.randrange(18, 390)} ms"
        yield f"{clock:%H:%M:%S} ERROR {self.failed}: 1 part missing, {upload} abandoned, exit code 75"

    def get(self, path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
        match path.split("/")[2:]:
            case ["jobs"]:
                state, limit = query.get("state", [""])[0], int(query.get("limit", ["50"])[0])
                return 200, [row for row in self.rows if state in ("", row["state"])][:limit]
            case ["jobs", id_, "log"] if id_ == self.failed:
                return 200, self.log
            case ["jobs", id_] if id_ == self.failed:
                return 200, self._retried()
            case _:
                return 404, {"error": "no such job"}

    def retry(self) -> tuple[int, Any]:
        self.retries += 1
        if self.retries == 1:
            return 503, {"error": "no worker is free", "request_id": "req-5d81c07e94", "retry_after_seconds": 1}
        return 202, {"id": self.failed, "state": "queued", "attempt": 2, "request_id": "req-5d81c0a213"}

    def _retried(self) -> Row:
        state = STATES_OF_RETRY[min(self.looks, len(STATES_OF_RETRY) - 1)]
        self.looks += 1
        (row,) = (row for row in self.rows if row["id"] == self.failed)
        steps = ("checkout", "prepare", "pack", "sign", "upload", "verify", "publish")
        done = {"queued": 0, "running": 4, "passed": len(steps)}[state]
        return {
            "id": self.failed,
            "suite": row["suite"],
            "attempt": 2,
            "state": state,
            "worker": None if state == "queued" else "w-03",
            "previous": {"attempt": 1, "state": "failed", "worker": "w-07", "exit_code": 75},
            "steps": [{"name": name, "state": "passed" if at < done else "waiting"} for at, name in enumerate(steps)],
        }


def serve(jobs: Jobs) -> ThreadingHTTPServer:
    """Answer in a thread, on port 8731 or any that is free."""

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "jobs/1.4", ""

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            self._send(*jobs.get(url.path, parse_qs(url.query)))

        def do_POST(self) -> None:
            self._send(*jobs.retry())

        def _send(self, status: int, value: Any) -> None:
            body = (value if isinstance(value, str) else to_json(value)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(value, str) else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", 8731), Handler)
    except OSError:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def to_json(value: Any) -> str:
    """A list with one row a line, anything else spread out."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in value) + "\n]\n"
    return json.dumps(value, indent=2) + "\n"
