import pytest

from reefknot.compact.reads import Effects, effects
from reefknot.model.message import Json


def of(command: str) -> Effects:
    return effects("Bash", {"command": command})


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("echo x > a.txt", ("a.txt",)),
        ("cd src && cat x >> a.py", ("src/a.py",)),
        ("make 2>build.err", ("build.err",)),
        ("sed -i 's/a/b/' a.py b.py", ("a.py", "b.py")),
        ("sed -i.bak -e 's/a/b/' a.py", ("a.py",)),
        ("sed -i '' 's/a/b/' a.py", ("a.py",)),
        ("sed -n 'w out.txt' a.py", ("out.txt",)),
        ("perl -pi -e 's/a/b/' a.py", ("a.py",)),
        ("mv a.py b.py", ("a.py", "b.py", "b.py/a.py")),
        ("cd lib && mv ../x/a.py .", ("x/a.py", "lib", "lib/a.py")),
        ("rm -rf build", ("build/",)),
        ("rm a.py *.tmp", ("a.py", "*.tmp")),
        ("touch a.py", ("a.py",)),
        ("echo x | tee a.txt", ("a.txt",)),
        ("dd if=/dev/zero of=disk.img", ("disk.img",)),
        ("sort -o a.txt a.txt", ("a.txt",)),
        ("awk '{ print > \"out.txt\" }' a.txt", ("out.txt",)),
        ("curl -sSo x.json https://reef.example/x", ("x.json",)),
        ("curl -O https://reef.example/y.tgz", ("y.tgz",)),
        ("git checkout -- a.py", ("a.py", ".git")),
        ("git checkout src/a.py", ("src/a.py", ".git")),
        ("git rm old.py", ("old.py", ".git")),
        ("git commit -m 'x'", (".git",)),
        ("git -C sub restore a.py", ("sub/a.py", ".git")),
        ("git checkout -b new", (".git",)),
        ("black src/a.py", ("src/a.py",)),
        ("npx prettier --write web/a.ts", ("web/a.ts",)),
        ("ruff check --fix src/a.py", ("src/a.py",)),
        ("gofmt -w a.go", ("a.go",)),
        ("go build -o bin/reef ./cmd", ("bin/reef",)),
        ("go test -count=1 -race ./...", ()),
        ("go mod tidy", ("go.mod", "go.sum", "go.work")),
        ("pip install x", ("site-packages/",)),
        ("python fix_imports.py src/a.py", ("src/a.py",)),
        ("./convert.sh src/a.py", ("src/a.py",)),
        ("find src -name '*.pyc' -delete", ("src/**/*.pyc",)),
        ("bash -c 'rm a.py'", ("a.py",)),
        ("for f in a.py b.py; do sed -i s/a/b/ $f; done", ("a.py", "b.py")),
        ("echo $(rm a.py)", ("a.py",)),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.py\n@@\n*** End Patch\nEOF", ("src/a.py",)),
        ("python - <<'EOF'\np = 'src/a.py'\nopen(p, 'w').write('x')\nEOF", ("src/a.py",)),
        ("python -c \"open('a.txt','w').write('x')\"", ("a.txt",)),
        ("cat > fix.py <<'EOF'\nopen('src/a.py', 'w').write('x')\nEOF\npython fix.py", ("src/a.py", "fix.py")),
    ],
)
def test_a_command_changes_what_it_names(command: str, paths: tuple[str, ...]) -> None:
    found = of(command)
    assert (sorted(found.paths), found.everything) == (sorted(paths), False)


@pytest.mark.parametrize(
    "command",
    [
        "git pull",
        "git checkout main",
        "git stash",
        "git stash pop",
        "git reset --hard HEAD~1",
        "git rebase main",
        "git clean -fd",
        "git apply x.patch",
        "patch -p1 < x.patch",
        "npm run generate",
        "make codegen",
        "python manage.py makemigrations",
        "python fix_everything.py",
        "find . -type f | xargs sed -i 's/a/b/'",
        "find . -name '*.py' -exec sed -i s/a/b/ {} + -o -delete",
        "tar xzf x.tgz",
        "unzip x.zip",
        "bash migrate.sh",
        "eslint . --fix && git merge x",
    ],
)
def test_a_command_that_changes_files_without_naming_them_may_change_any(command: str) -> None:
    found = of(command)
    assert found.everything or any("*" in path for path in found.paths)
    assert found.names


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/test_a.py",
        "python -m pytest -q",
        "python reproduce_issue.py",
        "python test_fix.py",
        "node app.js",
        "npm test",
        "cargo test",
        "go vet ./...",
        "mypy src/a.py",
        "ruff check src",
        "black --check src/a.py",
        "gh pr view 3",
        "curl -s https://reef.example/x",
        "docker ps",
        "ls -la src/a.py",
        "wc -l src/a.py",
        "cat build.log",
        "git status",
        "git diff a.py",
        "git log",
        "git stash list",
        "git apply --check x.patch",
        "git fetch --help",
        "sleep 5",
        "cd src",
        "export X=a.py",
        "cat a.py > /dev/null 2>&1",
        "sed -n 1,5p a.py",
        "echo 'rm a.py'",
        "unzip -l x.zip",
        "tar tzf x.tgz",
        "# rm a.py",
        "echo 'not closed",
        "",
    ],
)
def test_a_command_that_is_not_known_to_write_changes_nothing(command: str) -> None:
    found = of(command)
    assert (found.paths, found.everything, found.reformats) == ((), False, False)


@pytest.mark.parametrize(
    "command",
    [
        "mise run fmt",
        "make format",
        "gofmt -w .",
        "black .",
        "npm run format",
        "cargo fmt",
        "go fmt ./...",
        "eslint . --fix",
    ],
)
def test_a_formatter_that_goes_over_all_files_says_so(command: str) -> None:
    found = of(command)
    assert (found.reformats, found.everything) == (True, False)


@pytest.mark.parametrize("command", ["npm run build", "make", "cargo build", "tsc", "go test ./..."])
def test_a_build_changes_its_products(command: str) -> None:
    assert of(command).products


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        (
            "Edit",
            {"file_path": "/srv/a.py", "old_string": "a", "new_string": "b"},
            Effects(paths=("/srv/a.py",), names=False),
        ),
        ("Edit", {"file_path": "/srv/a.py", "old_string": "", "new_string": "b"}, Effects(paths=("/srv/a.py",))),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "a"}]}, Effects(paths=("a.py",), names=False)),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, Effects(paths=("a.ipynb",), names=False)),
        ("Write", {"file_path": "a.txt", "content": "x"}, Effects(paths=("a.txt",))),
        ("Write", {"file_path": "f.py", "content": "open('b.txt', 'w').write('x')"}, Effects(paths=("f.py", "b.txt"))),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py"}, Effects(paths=("a.py",), names=False)),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, Effects(names=False)),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: n.py\n+x\n*** Delete File: o.py\n"},
            Effects(paths=("n.py", "o.py")),
        ),
        ("edit", {"search": "a", "replace": "b"}, Effects(everything=True, names=False)),
        ("Task", {"prompt": "do it", "subagent_type": "general-purpose"}, Effects(everything=True)),
        ("Task", {"prompt": "look", "subagent_type": "Explore"}, Effects(names=False)),
        ("shell", {"command": ["bash", "-lc", "rm a.py"], "workdir": "/srv"}, Effects(paths=("/srv/a.py",))),
        ("Read", {"file_path": "a.py"}, Effects(names=False)),
        ("WebFetch", {"url": "https://reef.example"}, Effects(names=False)),
    ],
)
def test_tools_of_hosts_change_what_their_input_names(tool: str, given: dict[str, Json], expected: Effects) -> None:
    assert effects(tool, given) == expected


def test_an_editing_tool_that_failed_changed_nothing() -> None:
    assert effects("Edit", {"file_path": "a.py", "old_string": "a"}, is_error=True) == Effects(names=False)
    assert effects("Bash", {"command": "rm a.py b.py"}, is_error=True).paths == ("a.py", "b.py")
