"""`import reefknot`: each public name is what it is meant to be, whatever was imported before it."""

import subprocess
import sys

import pytest

CALL = "reefknot.compact([{'role': 'user', 'content': 'hi'}], keep=0.3, store=reefknot.open_store('memory:'))"


@pytest.mark.parametrize(
    "first",
    [
        "import reefknot",
        "import reefknot; reefknot.load",
        f"import reefknot; {CALL}",
        "import reefknot, reefknot.compact.plan",
        "import reefknot; from reefknot.compact import plan; from reefknot.compact.plan import make_plan",
    ],
)
def test_compact_is_the_function_whatever_was_imported_before(first):
    code = f"{first}\nprint({CALL}.report.action)\nfrom reefknot import compact\nprint(compact.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("unchanged\nreefknot.surfaces.library\n", "")
