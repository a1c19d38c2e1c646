"""A made-up project that an agent works on: its files, and what tools say about them.

Everything comes from one seeded generator, so that equal seeds give equal texts. Names are put together from words and
numbers: a longer session meets more modules, identifiers and ids than a short one, as a real one does.
"""

from dataclasses import dataclass, field
from random import Random

__all__ = ["Module", "Workspace"]

_THINGS = (
    *("anchor", "ballast", "beacon", "buoy", "cargo", "chart", "cleat", "compass", "crane", "dock", "ferry", "fender"),
    *("galley", "harbor", "hatch", "keel", "ledger", "manifest", "mooring", "pilot", "quay", "rigging", "rudder"),
    *("sextant", "signal", "sounding", "tariff", "tide", "tonnage", "tug", "voyage", "winch"),
)
_DOINGS = (
    "assign",
    "audit",
    "collect",
    "compare",
    "expire",
    "index",
    "merge",
    "plan",
    "release",
    "settle",
    "verify",
    "weigh",
)
_NOTES = (
    "in metres",
    "per berth",
    "after the turn of the tide",
    "as the pilot reported",
    "oldest first",
    "without gaps",
)
_SERVICES = ("berth-api", "tide-worker", "billing", "pilot-gateway", "manifest-sync")
_PHASES = ("queued", "fetching", "sorting", "weighing", "writing", "done")
_HEX = "0123456789abcdef"


@dataclass(slots=True, kw_only=True)
class Module:
    """A source file: its path, its lines, and the functions that it defines."""

    path: str
    lines: list[str]
    functions: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(slots=True, kw_only=True)
class Workspace:
    """The project. What was made last is what work goes on with most."""

    rng: Random
    root: str = "/srv/harbor"
    modules: list[Module] = field(default_factory=list)
    clock: int = 1_772_000_000  # seconds; moves on with every line that is logged

    def hex(self, length: int) -> str:
        return "".join(self.rng.choices(_HEX, k=length))

    def pick(self) -> Module:
        """A module that is at hand, mostly one of the newest."""
        recent = self.modules[-6:]
        return self.rng.choice(recent if self.rng.random() < 0.8 else self.modules)

    def add_module(self) -> Module:
        """A new source file of 40 to 220 lines."""
        rng = self.rng
        thing, other = rng.choice(_THINGS), rng.choice(_THINGS)
        name = f"{thing}_{other}_{len(self.modules)}"
        title = f"{thing.title()}{other.title()}{len(self.modules)}"
        lines = [
            f'"""Keeps the {thing} of each {other}, {rng.choice(_NOTES)}."""',
            *("", "import logging", "from dataclasses import dataclass", ""),
            f"MAX_{thing.upper()} = {rng.randrange(10, 90_000)}",
            f'{other.upper()}_KEY = "{thing}:{self.hex(8)}"',
            f'log = logging.getLogger("harbor.{name}")',
            *(
                "",
                "",
                "@dataclass(frozen=True)",
                f"class {title}:",
                f'    """One {thing}, {rng.choice(_NOTES)}."""',
                "",
            ),
            *(f"    {rng.choice(_THINGS)}_{kind}: int = {rng.randrange(999)}" for kind in ("id", "limit", "total")),
        ]
        functions: list[str] = []
        for _ in range(rng.randrange(3, 18)):
            function = f"{rng.choice(_DOINGS)}_{rng.choice(_THINGS)}_{rng.choice(_THINGS)}"
            functions.append(function)
            lines += ["", "", *self._function(function, thing, title)]
        module = Module(path=f"{self.root}/src/{other}/{name}.py", lines=lines, functions=functions)
        self.modules.append(module)
        return module

    def _function(self, name: str, thing: str, title: str) -> list[str]:
        rng = self.rng
        unit, limit = rng.choice(_THINGS), rng.randrange(2, 5000)
        body = [
            f"def {name}(entries: list[{title}], {unit}_limit: int = {limit}) -> int:",
            f'    """Go over the {thing} entries, {rng.choice(_NOTES)}."""',
            f"    {unit}_total = 0",
            "    for entry in entries:",
            f"        if entry.{unit}_id > {unit}_limit:",
            f'            log.warning("{unit} %s over %s", entry.{unit}_id, {unit}_limit)',
            "            continue",
            f"        {unit}_total += entry.{unit}_total * {rng.randrange(2, 40)}",
        ]
        for _ in range(rng.randrange(4)):
            part = rng.choice(_THINGS)
            body += [
                f"    if {unit}_total > {rng.randrange(100, 9999)}:",
                f"        {unit}_total -= MAX_{part.upper()}",
            ]
        return [*body, f"    return {unit}_total"]

    def change_line(self, module: Module) -> tuple[str, str]:
        """Change one line of a file; what stood there, and what stands there now."""
        at = self.rng.choice([at for at, line in enumerate(module.lines) if "_total +=" in line or "_total -=" in line])
        old = module.lines[at]
        module.lines[at] = f"{old.split('  # ')[0]}  # {self.rng.choice(_NOTES)}, see {self.hex(7)}"
        return old, module.lines[at]

    def numbered(self, module: Module, first: int = 0, count: int = 2000) -> str:
        """A part of a file as a reading tool shows it."""
        shown = module.lines[first : first + count]
        return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(shown, first + 1))

    def matches(self, pattern: str) -> str:
        """The lines of all files near at hand that hold a text, as a search shows them."""
        found = [
            f"{module.path}:{number}:{line}"
            for module in self.modules[-25:]
            for number, line in enumerate(module.lines, 1)
            if pattern in line
        ]
        return "\n".join(found[:120]) or "No matches found"

    def listing(self) -> str:
        rows = (
            f"-rw-r--r-- 1 dev {len(module.text):>7} Mar {self.rng.randrange(1, 29):>2} {self._time()} {module.path}"
            for module in self.modules[-40:]
        )
        return "\n".join(rows)

    def test_run(self, module: Module, fails: bool) -> str:
        """A verbose test run; a failing one ends with its traceback and summary."""
        rng = self.rng
        test = module.path.replace("/src/", "/tests/test_")
        names = [
            f"test_{function}_{rng.choice(_THINGS)}"
            for function in module.functions
            for _ in range(rng.randrange(1, 4))
        ]
        failing = rng.randrange(len(names)) if fails else -1
        rows = [
            "=" * 24 + " test session starts " + "=" * 24,
            f"rootdir: {self.root}",
            f"collected {len(names)} items",
            "",
        ]
        rows += [
            f"{test}::{name} {'FAILED' if at == failing else 'PASSED'} [{100 * (at + 1) // len(names):3}%]"
            for at, name in enumerate(names)
        ]
        seconds = f"{rng.uniform(0.2, 30):.2f}s"
        if not fails:
            return "\n".join([*rows, "", f"{'=' * 20} {len(names)} passed in {seconds} {'=' * 20}"])
        number = rng.randrange(10, len(module.lines))
        found, wanted = rng.randrange(9999), rng.randrange(9999)
        rows += [
            *("", "=" * 30 + " FAILURES " + "=" * 30, f"____ {names[failing]} ____", ""),
            f"    def {names[failing]}():",
            f">       assert {rng.choice(module.functions)}(sample()) == {wanted}",
            f"E       AssertionError: assert {found} == {wanted}",
            "",
            f"{module.path}:{number}: AssertionError",
            f"FAILED {test}::{names[failing]} - AssertionError: assert {found} == {wanted}",
            f"{'=' * 20} 1 failed, {len(names) - 1} passed in {seconds} {'=' * 20}",
        ]
        return "\n".join(rows)

    def log_lines(self, count: int) -> str:
        """Lines of a service's log; one in forty is an error."""
        return "\n".join(self._log_line() for _ in range(count))

    def _log_line(self) -> str:
        rng = self.rng
        self.clock += rng.randrange(1, 9)
        service, request = rng.choice(_SERVICES), self.hex(12)
        stamp = f"2026-03-{1 + self.clock // 86400 % 28:02}T{self._time()}:{self.clock % 60:02}Z"
        if rng.random() < 0.025:
            what = rng.choice(("connection refused by", "timed out waiting for", "failed to write"))
            host = f"{rng.choice(_THINGS)}-{rng.randrange(64)}:{rng.randrange(1024, 65535)}"
            return f"{stamp} ERROR {service} req={request} {what} {host}"
        path = f"/v2/{rng.choice(_THINGS)}/{rng.randrange(10**6)}"
        size, took = rng.randrange(200, 90_000), rng.randrange(1, 900)
        return f"{stamp} INFO {service} req={request} GET {path} 200 {took}ms bytes={size}"

    def _time(self) -> str:
        return f"{self.clock // 3600 % 24:02}:{self.clock // 60 % 60:02}"

    def rows(self, count: int) -> list[dict[str, object]]:
        """Rows as an API gives them."""
        rng = self.rng
        return [
            {
                "id": f"{rng.choice(_THINGS)}-{self.hex(6)}",
                "berth": rng.randrange(400),
                "state": rng.choice(_PHASES),
                "owner": f"{rng.choice(_THINGS)}@{rng.choice(_SERVICES)}.example",
                "tonnes": round(rng.uniform(1, 9000), 2),
                "checked": rng.random() < 0.7,
            }
            for _ in range(count)
        ]

    def job_state(self, job: str, step: int) -> str:
        """What a poll of a job gives: nearly the same each time."""
        phase = _PHASES[min(step, len(_PHASES) - 1)]
        steps = [f"  step {name:<9} {'ok' if at < step else 'waiting'}" for at, name in enumerate(_PHASES)]
        return "\n".join(
            [
                f"job {job} is {phase}, {min(100, step * 20)}% done",
                *steps,
                f"workers {3}, retries 0",
                f"log {self.root}/log/{job}.txt",
            ]
        )

    def diff(self, module: Module, old: str, new: str) -> str:
        at = module.lines.index(new)
        context = [f" {line}" for line in module.lines[max(0, at - 3) : at]]
        after = [f" {line}" for line in module.lines[at + 1 : at + 4]]
        path = module.path.removeprefix(f"{self.root}/")
        head = [
            f"diff --git a/{path} b/{path}",
            f"index {self.hex(7)}..{self.hex(7)} 100644",
            f"--- a/{path}",
            f"+++ b/{path}",
        ]
        return "\n".join(
            [*head, f"@@ -{max(1, at - 2)},7 +{max(1, at - 2)},7 @@", *context, f"-{old}", f"+{new}", *after]
        )
