"""Run the regression cases against a command; fail when one fails that `cases_not_yet.txt` does not excuse.

    run_cases.py --command .venv/bin/reefknot FOLDER

FOLDER holds the cases and the program that checks them. A case of the list that passes is named too, so
that the list gets shorter; that alone is no failure.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["judge", "main", "read_not_yet"]

NOT_YET = Path(__file__).with_name("cases_not_yet.txt")


def read_not_yet(text: str) -> dict[str, str]:
    """Case -> why it is not expected to pass yet, from lines `case: reason`; `#` begins a comment line."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition(":") for line in lines if line and not line.startswith("#"))
    reasons = {name.strip(): reason.strip() for name, _, reason in pairs}
    for name, reason in reasons.items():
        if not reason:
            raise SystemExit(f"{NOT_YET.name}: case {name!r} has no reason")
    return reasons


def judge(passed: dict[str, bool], not_yet: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Cases that fail without an excuse, excused cases that pass, and excuses for cases that do not exist."""
    broken = sorted(name for name, fine in passed.items() if not fine and name not in not_yet)
    ready = sorted(name for name, fine in passed.items() if fine and name in not_yet)
    return broken, ready, sorted(set(not_yet) - set(passed))


def main() -> int:
    """0 when every case passes that is expected to."""
    parser = argparse.ArgumentParser(description="Run the regression cases, all but the excused ones must pass.")
    parser.add_argument("--command", required=True)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    not_yet = read_not_yet(NOT_YET.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as work:
        answer = Path(work, "outcomes.json")
        command = [sys.executable, options.folder / "check_cases.py", "--command", options.command]
        subprocess.run([*command, "--verbose", "--json", answer, options.folder], check=False)
        if not answer.is_file():
            print("run_cases: the cases were not run")
            return 2
        outcomes = json.loads(answer.read_text("utf-8"))
    passed = {outcome["case"]: not any(message for _, message in outcome["results"]) for outcome in outcomes}
    broken, ready, unknown = judge(passed, not_yet)
    for name in ready:
        print(f"passes now, take it out of {NOT_YET.name}: {name}")
    for name in unknown:
        print(f"no such case, take it out of {NOT_YET.name}: {name}")
    for name in broken:
        print(f"FAILS and should not: {name}")
    print(f"cases: {sum(passed.values())} pass, {len(not_yet)} not expected to yet, {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
