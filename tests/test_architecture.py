"""The house as it is meant to be: what may be caught, how long a module is, what an import costs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "reefknot"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 500
HEAVY = ("click", "json", "numpy", "quicktok", "sqlite3", "zstandard", "backports.zstd", "tomllib")

each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))


def read_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def names_in(node: ast.expr | None) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node else {"everything"}


def cleans_up_only(handler: ast.ExceptHandler) -> bool:
    """Whether what was caught goes on as it was."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


@each_module
def test_only_the_guard_catches_everything(path):
    handlers = [node for node in ast.walk(read_tree(path)) if isinstance(node, ast.ExceptHandler)]
    handlers = [handler for handler in handlers if not cleans_up_only(handler)]
    broad = [node.lineno for node in handlers if names_in(node.type) & {"Exception", "BaseException", "everything"}]
    assert broad == [] or path == PACKAGE / "surfaces" / "guard.py"


@each_module
def test_a_long_module_says_why(path):
    lines = len(path.read_text("utf-8").splitlines())
    docstring = ast.get_docstring(read_tree(path)) or ""
    assert lines <= MAX_LINES or "is long because" in docstring, f"{lines} lines, and its docstring gives no reason"


@each_module
def test_public_names_are_sorted_and_exist(path):
    tree = read_tree(path)
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
            names = ast.literal_eval(node.value)
            assert list(names) == sorted(names, key=by_kind), f"{path.name}: __all__ is not sorted"
            assert len(set(names)) == len(names)


def by_kind(name: str) -> tuple[bool, bool, str]:
    """The order that the linter keeps too: CONSTANTS, then Classes, then functions."""
    return (not name.isupper(), not name[:1].isupper(), name)


@each_module
def test_every_module_says_what_lives_in_it(path):
    assert path.name == "__init__.py" or ast.get_docstring(read_tree(path))


@each_module
def test_no_layer_goes_through_the_public_door(path):
    """Who imports `reefknot` itself would import every layer above his own."""
    found = []
    for node in ast.walk(read_tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name == "reefknot"]
        if isinstance(node, ast.ImportFrom) and node.module == "reefknot":
            found += [alias.name for alias in node.names if not (PACKAGE / alias.name).is_dir()]
    assert found == [] or path.is_relative_to(PACKAGE / "evals")


@each_module
def test_imports_stand_at_the_top(path):
    """Inside a function only for an optional extra, with a reason beside it."""
    lines = path.read_text("utf-8").splitlines()
    functions = [node for node in ast.walk(read_tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = [node for each in functions for node in ast.walk(each) if isinstance(node, ast.Import | ast.ImportFrom)]
    unexplained = [node.lineno for node in inner if "#" not in lines[node.lineno - 1]]
    assert unexplained == [] or path == PACKAGE / "__init__.py"


def test_importing_reefknot_imports_nothing_heavy():
    code = "import sys; before = set(sys.modules); import reefknot; print(*sorted(set(sys.modules) - before))"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    loaded = done.stdout.split()
    assert "reefknot" in loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []


def test_test_files_have_names_of_their_own():
    """They are imported by their bare names."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_nothing_names_a_package_index_host_in_the_lock_files():
    for name in ("requirements.lock", "requirements-dev.lock"):
        assert "://" not in (ROOT / name).read_text("utf-8")
