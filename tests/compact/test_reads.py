import gzip
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reefknot.compact.reads import Changes, Effects, Read, classify, effects, still_valid, supersedes
from reefknot.model.message import Json

LONG = "value = compute(1)\n" * 60


def shell(command: str, output: str = LONG, tool: str = "Bash", **more: Json) -> Read | None:
    return classify(tool, {"command": command, **more}, output, is_error=False)


def read_of(command: str) -> Read:
    found = shell(command)
    assert found is not None, command
    return found


def file_read(*paths: str, span: tuple[int, int] | None = None, whole: bool = True) -> Read:
    return Read(reads=paths, label=", ".join(paths), span=span, whole=whole and span is None, kind="file")


PURE = r"""
cat src/a.py
cat -n src/a.py | head -50
nl -ba a.py | sed -n '10,20p'
sed -n '1,20p;30q' a.py
sed -n "$((5-2)),$((5+2))p" a.py
sed 's/a/b/g' a.py
sed -e '/x/d' -e 's|w|e|' a.py
head -20 a.py && tail -n 5 b.py
tail -n +40 a.py
awk 'NR>=3 && NR<=9' a.py
awk -F: '$3 > 5 {print $1}' data.txt
awk '/a|b/ { print NR": "$0 }' a.py
grep -rn "a|b; c" src --include='*.py' | grep -v test | head
grep -n 'x > y' a.py
grep "rm -rf" deploy.sh
rg -n 'TODO|FIXME' src -g '*.rs'
find . -name '*.py' -not -path './.git/*' | sort | uniq
find src -type f -name '*.go' | xargs grep -l foo
find src -name '*.go' -exec grep -n foo {} +
find src -name '*.go' -print0 | xargs -0 head -5
ls src tests
ls -1 | head
tree -L 2
fd -e py src
diff a.py b.py
diff <(sort a.txt) <(sort b.txt)
jq -r '.a | .b' x.json
sort -u a.txt | cut -d, -f1
cat x.json | python3 -m json.tool
git log --oneline -10
git log -p --since=2019-01-01 --until=2019-07-01 -- src/a.py
git -C sub show HEAD:a.py
git --no-pager -c core.pager=cat diff main...HEAD --stat
git status --short
git blame -L 10,20 a.py
git branch -a
git branch --list 'x*'
git branch --contains abc1234
git remote -v
git tag -l
git stash list
git config user.name
git grep -n foo -- '*.py'
git ls-files | head
git show abc1234:src/a.py
git rev-parse HEAD
env LANG=C grep x a.py
LANG=C LC_ALL=C sort a.txt
timeout 5 grep -r x src
timeout -s KILL 5s cat a.py
sudo cat /etc/hosts
command grep x a.py
nice -n 5 cat a.py
/usr/bin/grep x a.py
cd src && cat a.py
(cd src; cat a.py)
for f in a.py b.py; do echo "== $f"; cat "$f"; done
for f in src/*.py; do head -3 $f; done
find . -name '*.md' | while read -r f; do head -1 "$f"; done
if [ -f a.py ]; then cat a.py; else echo none; fi
[[ -f a.py ]] && cat a.py
test -d src || echo none
cat a.py 2>/dev/null
cat a.py 2>&1 | head
cat < a.py
cat <<< "text"
cat a.py > /dev/null
bash -lc "cat a.py | head -5"
sh -c 'grep x a.py'
echo "$(cat a.py)"
echo done; cat a.py
x=src/a.py; cat $x
f() { cat a.py; }; f
# only look<LF>cat a.py
cat a.py # rm b.py
cat a.py \<LF>  b.py
set -euo pipefail; cat a.py
unzip -l x.zip
xxd a.bin | head
strings a.bin | grep flag
cat errors.out.rs
cat src/logs/handler.py
cat src/log/mod.rs
grep "timeout" src/net.py
cat README.md
which python3
mcs --help
"""

IMPURE = r"""
echo $(curl -s https://reef.example/x)
echo `date`
cat <(curl -s https://reef.example/x)
cat a.py $(rm b.py)
find . -delete
find . -name '*.tmp' -print -delete
find . -exec rm {} \;
find . -exec sh -c 'rm $1' _ {} \;
find . -ok cat {} \;
find . -fprint out.txt
find . -mtime -1
find . -ls
find . -printf '%s %p\n'
git branch -D old
git branch new
git branch -m a b
git remote add origin x
git remote show origin
git tag v1
git stash
git stash pop
git config user.name x
git checkout main
git diff --output=x.patch
git diff --ext-diff
git -c core.fsmonitor=./evil status
git -c diff.external=./evil diff
git grep -O foo
git log --since='2 days ago'
git log --format='%h %ar'
git log --date=relative
git reflog expire --all
git fetch
git ls-remote origin
awk 'BEGIN { system("rm x") }'
awk '{ print > "out.txt" }' a.txt
awk '{ print | "sort" }' a.txt
awk '"date" | getline d { print d }' a.txt
awk -i inplace '{ print }' a.txt
awk -f prog.awk a.txt
sort -o a.txt a.txt
sort --output=a.txt a.txt
sort -R a.txt
sed -i 's/a/b/' a.py
sed -i.bak 's/a/b/' a.py
sed --in-place=.bak 's/a/b/' a.py
sed -ni 's/a/b/p' a.py
sed -n 'w out.txt' a.py
sed 's/a/b/w out.txt' a.py
sed 's/a/date/e' a.py
sed '1e date' a.py
sed -f prog.sed a.py
cat a.py > b.py
cat a.py >> b.py
cat a.py 2>err.txt
cat a.py &> all.txt
cat <<EOF > f.py
cat a.py | tee b.py
cat a.py | sh
cat a.py | bash -s
cat a.py | xargs rm
find . | xargs -I{} sh -c 'rm {}'
xargs -a list.txt rm
find . | xargs xargs
ls | xargs sudo
ls | xargs bash -c
find . -exec {} \;
curl -s https://reef.example/x
wget -qO- https://reef.example/x
cat /proc/meminfo
cat /sys/class/net/eth0/statistics/rx_bytes
head -c 8 /dev/urandom
ls -l
ls -la src
ls -lt
ls -t
wc -l a.py
cat a.py | wc -l
stat a.py
du -sh .
df -h
tree -h
date
ps aux | grep x
cat build.log
tail -50 server.log
tail -f a.txt
tail -F a.txt
tail --follow=name a.txt
cat session.jsonl
cat nohup.out
cat job.err
cat /var/log/syslog
cat logs/today.txt
grep x *.log
grep -r x --include='*.log' .
cat build.log.1
journalctl -u x
docker logs web
kubectl logs pod
kubectl get pods
sleep 5; cat a.py
cat a.py &
time cat a.py
watch cat a.py
echo $RANDOM
echo $$
$CMD a.py
./grep x
python script.py
python -c 'print(1)'
python3 -m json.tool a.json b.json
npm ls
make -n
eval "cat a.py"
source setup.sh; cat a.py
read x
bash script.sh
bash -c "$CMD"
cat 'open
rg --pre ./evil x
fd -x rm
uniq a.txt b.txt
xxd -r a.hex a.bin
env
npx tool --help
# only words
"""


def lines(text: str) -> list[str]:
    """One command a line; a line feed in one is written as `<LF>`."""
    return [line.replace("<LF>", "\n") for line in text.strip().split("\n")]


@pytest.mark.parametrize("command", lines(PURE))
def test_a_command_that_only_reads_is_a_read(command: str) -> None:
    assert shell(command) is not None


@pytest.mark.parametrize("command", [line for line in lines(IMPURE) if line != "env"])
def test_a_command_that_does_more_or_measures_is_an_observation(command: str) -> None:
    assert shell(command) is None


@pytest.mark.parametrize(
    ("command", "reads", "kind"),
    [
        ("cd src && cat a.py ../b.py", ("src/a.py", "b.py"), "file"),
        ("cd /srv/reef && grep -rn x", ("/srv/reef",), "search"),
        ("grep -rn x", ("",), "search"),
        ("rg x", ("",), "search"),
        ("cat a.py | grep x", ("a.py",), "file"),
        ("cat a.py | rg x", ("a.py",), "file"),
        ("ls", ("",), "listing"),
        ("find src tests -name '*.py'", ("src", "tests"), "listing"),
        ("find src -name '*.py' | xargs grep x", ("src",), "search"),
        ("git ls-files | xargs cat", (".git", ""), "command"),
        ("for f in a b; do cat src/$f.py; done", ("src/a.py", "src/b.py"), "file"),
        ("cat src/{a,b}.py", ("src/a.py", "src/b.py"), "file"),
        ("cat $DIR/a.py", ("a.py",), "file"),
        ("cat $FILE", ("",), "file"),
        ('cat "$(git rev-parse --show-toplevel)/src/a.py"', (".git", "src/a.py"), "command"),
        ("git status", (".git", ""), "git"),
        ("git diff -- a.py", (".git", "a.py"), "git"),
        ("cd /srv/reef && git diff a.py", (".git", "/srv/reef/a.py"), "git"),
        ("git diff --cached", (".git",), "git"),
        ("git diff main..HEAD", (".git",), "git"),
        ("git diff abc1234..def5678", (), "git"),
        ("git show abc1234", (), "git"),
        ("git show HEAD", (".git",), "git"),
        ("git merge-base abc1234 origin/main", (".git",), "git"),
        ("git log src/a.py", (".git",), "git"),
        ("echo hi", (), "command"),
    ],
)
def test_a_read_says_what_it_depends_on(command: str, reads: tuple[str, ...], kind: str) -> None:
    found = read_of(command)
    assert (found.reads, found.kind) == (reads, kind)


@pytest.mark.parametrize(
    ("command", "span", "whole"),
    [
        ("cat a.py", None, True),
        ("cat -n a.py", None, True),
        ("cat a.py b.py", None, True),
        ("sed -n '5,9p' a.py", (5, 9), False),
        ("sed -n 7p a.py", (7, 7), False),
        ("head -n 30 a.py", (1, 30), False),
        ("head a.py", (1, 10), False),
        ("cat a.py | head -20", (1, 20), False),
        ("nl -ba a.py | sed -n '5,9p'", (5, 9), False),
        ("sed -n '100,200p' a.py | head -20", (100, 119), False),
        ("sed -n '100,110p' a.py | cat -n", (100, 110), False),
        ("awk 'NR>=3 && NR<=9' a.py", (3, 9), False),
        ("cat a.py | grep x", None, False),
        ("tail -20 a.py", None, False),
        ("head -c 100 a.py", None, False),
        ("sed 's/a/b/' a.py", None, False),
        ("grep x a.py", None, False),
        ("sed -n '1,5p' a.py; sed -n '1,9p' b.py", None, False),
    ],
)
def test_a_read_says_which_lines_it_shows(command: str, span: tuple[int, int] | None, whole: bool) -> None:
    found = read_of(command)
    assert (found.span, found.whole) == (span, whole)


@pytest.mark.parametrize(
    ("tool", "given", "reads", "span", "whole", "kind"),
    [
        ("Read", {"file_path": "/srv/a.py"}, ("/srv/a.py",), None, True, "file"),
        ("Read", {"file_path": "/srv/a.py", "offset": 11, "limit": 20}, ("/srv/a.py",), (11, 30), False, "file"),
        ("read", {"path": "./src/../a.py"}, ("a.py",), None, True, "file"),
        ("read_file", {"target_file": "a.py", "start_line": 3, "end_line": 9}, ("a.py",), (3, 9), False, "file"),
        (
            "str_replace_editor",
            {"command": "view", "path": "/a.py", "view_range": [5, 8]},
            ("/a.py",),
            (5, 8),
            False,
            "file",
        ),
        ("str_replace_based_edit_tool", {"command": "view", "path": "/a.py"}, ("/a.py",), None, True, "file"),
        ("mcp__fs__read_file", {"path": "a.py"}, ("a.py",), None, True, "file"),
        ("view_code", {"files": [{"file_path": "a.py"}, {"file_path": "b.py"}]}, ("a.py", "b.py"), None, False, "file"),
        ("Grep", {"pattern": "x"}, ("",), None, False, "search"),
        ("Grep", {"pattern": "x", "path": "/srv", "glob": "*.go"}, ("/srv/**/*.go",), None, False, "search"),
        ("Glob", {"pattern": "src/**/*.go"}, ("src/**/*.go",), None, False, "listing"),
        ("Glob", {"pattern": "*.go", "path": "/srv"}, ("/srv/*.go",), None, False, "listing"),
        ("LS", {"path": "/srv"}, ("/srv",), None, False, "listing"),
        ("list_directory", {"path": "."}, ("",), None, False, "listing"),
        ("ToolSearch", {"query": "select:Read"}, (), None, False, "command"),
    ],
)
def test_reading_tools_of_hosts_are_reads(
    tool: str, given: dict[str, Json], reads: tuple[str, ...], span: tuple[int, int] | None, whole: bool, kind: str
) -> None:
    found = classify(tool, given, LONG, is_error=False)
    assert found is not None
    assert (found.reads, found.span, found.whole, found.kind) == (reads, span, whole, kind)


def test_the_lines_that_an_output_shows_count_more_than_those_asked_for() -> None:
    shown = "".join(f"{number:6}→x\n" for number in range(190, 201))
    found = classify("Read", {"file_path": "a.py", "offset": 190, "limit": 500}, shown, is_error=False)
    assert found is not None
    assert found.span == (190, 200)
    full = "".join(f"{number:6}→x\n" for number in range(1, 2001))
    found = classify("Read", {"file_path": "a.py"}, full, is_error=False)
    assert found is not None
    assert (found.span, found.whole) == ((1, 2000), False)


def test_a_page_that_says_there_is_more_is_not_the_whole() -> None:
    found = classify(
        "read", {"path": "a.ts"}, LONG + "\n[Showing lines 1-60 of 90. Use offset=61 to continue]", is_error=False
    )
    assert found is not None
    assert not found.whole


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}),
        ("Write", {"file_path": "a.py", "content": "x"}),
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"}),
        ("Read", {"file_path": "/srv/build.log"}),
        ("Read", {"file_path": "/home/x/session.jsonl"}),
        ("Read", {"file_path": "/proc/meminfo"}),
        ("Grep", {"pattern": "x", "glob": "*.log"}),
        ("read", {"url": "https://reef.example"}),
        ("WebFetch", {"url": "https://reef.example"}),
        ("Task", {"prompt": "look around", "subagent_type": "Explore"}),
        ("get_weather", {"city": "x"}),
        ("Bash", {"command": "cat a.py", "run_in_background": True}),
        ("execute_bash", {"command": "cat a.py", "is_input": "true"}),
        ("Bash", {"command": ""}),
        ("Bash", {}),
        ("Bash", {"command": 5}),
    ],
)
def test_other_calls_are_observations(tool: str, given: dict[str, Json]) -> None:
    assert classify(tool, given, LONG, is_error=False) is None


@pytest.mark.parametrize("command", [["bash", "-lc", "cat a.py | head -3"], ["cat", "a.py"], ["grep", "a b;c", "a.py"]])
def test_a_command_may_be_a_list_of_words(command: list[Json]) -> None:
    found = classify("shell", {"command": command, "workdir": "/srv"}, LONG, is_error=False)
    assert found is not None
    assert found.reads == ("/srv/a.py",)


@pytest.mark.parametrize(
    ("command", "is_read"),
    [
        ("Get-Content src\\a.py", True),
        ("Get-Content a.py | Select-Object -First 10 2>$null", True),
        ("Select-String -Pattern x -Path a.py", True),
        ("Get-ChildItem -Name src", True),
        ("Get-ChildItem src", False),
        ("Get-Content a.txt -Wait", False),
        ("Get-Content a.txt -Tail 5", False),
        ("Remove-Item a.py", False),
        ("Get-Content a.py | iex", False),
        ("gci | Measure-Object", False),
    ],
)
def test_powershell_is_read_as_far_as_its_verbs_are_known(command: str, is_read: bool) -> None:
    assert (shell(command, tool="PowerShell") is not None) is is_read


@pytest.mark.parametrize(
    "output",
    [
        "cat: a.py: No such file or directory",
        "cat: src/x.tbl: Permission denied\n" * 40 + "exit status 1",
        LONG + "cat: b.py: No such file or directory\n",
        "bash: line 1: rgx: command not found",
        "<returncode>1</returncode>\n<output>\n" + LONG,
        "Exit code 2\n" + LONG,
        "exit code 1",
        LONG + "\nCommand exited with code 1",
        "Chunk ID: 1a\nWall time: 0.0 seconds\nProcess exited with code 1\nOutput:\n" + LONG,
        "Chunk ID: 1a\nWall time: 10.0 seconds\nProcess running with session ID 5\nOutput:\n" + LONG,
        '{"stdout": "", "stderr": "x", "returncode": 2, "timed_out": false}',
        '{"stdout": "x", "stderr": null, "returncode": null, "timed_out": true}',
        "Command running in background with ID: bash_1",
        "Command timed out after 2m 0.0s",
        "fatal: not a git repository (or any of the parent directories): .git",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "The user doesn't want to proceed with this tool use.",
    ],
)
def test_an_output_that_shows_a_failure_is_an_observation(output: str) -> None:
    assert shell("cat a.py b.py", output) is None


@pytest.mark.parametrize(
    "output",
    [
        LONG + "raise TimeoutError('timed out: not found, killed')\n" + LONG,
        "import errno\n" + LONG + "if errno == 2: raise FileNotFoundError('No such file or directory')\n" + LONG,
        "def denied():\n    return 'Permission denied'\n" + LONG,
        "#!/bin/sh\n" + LONG + "exit 1\n",
        "src/a.py:12: raise IOError('Permission denied')\n" + LONG,
        "",
        "<returncode>0</returncode>\n<output>\n" + LONG + "</output>",
    ],
)
def test_source_that_speaks_of_failures_is_still_read(output: str) -> None:
    assert shell("cat a.py", output) is not None


def test_a_search_that_finds_nothing_is_a_read() -> None:
    assert shell("grep -n x a.py", "<returncode>1</returncode>\n<output>\n</output>") is not None
    assert shell("git grep x", "Exit code 1") is not None
    assert shell("cat x", "Exit code 1") is None
    assert classify("Grep", {"pattern": "x"}, "No matches found", is_error=False) is not None


@pytest.mark.parametrize(
    "output",
    [
        "<tool_use_error>File does not exist.</tool_use_error>",
        "File content (24295 tokens) exceeds maximum allowed tokens (25000).",
        "Error: ENOENT: no such file or directory, open 'a.py'",
        "File unchanged since last read.",
        "[Request interrupted by user for tool use]",
    ],
)
def test_a_tool_that_speaks_for_itself_has_not_read(output: str) -> None:
    assert classify("Read", {"file_path": "a.py"}, output, is_error=False) is None
    assert classify("Read", {"file_path": "a.py"}, LONG, is_error=True) is None


def test_a_line_editor_in_the_shell_opens_files() -> None:
    output = (
        "[File: /repo/src/a.py (230 lines total)]\n(9 more lines above)\n10:def f():\n11:    pass\n"
        "(219 more lines below)\n(Open file: /repo/src/a.py)\nbash-$"
    )
    found = shell("open src/a.py 10", output, tool="bash")
    assert found is not None
    assert (found.reads, found.span, found.whole) == (("/repo/src/a.py",), (10, 11), False)
    assert shell("open page.html", "", tool="bash") is None
    assert shell("goto 50", output, tool="bash") is None
    assert effects("bash", {"command": "edit 10:11\nx = 1\nend_of_edit"}, output=output).paths == ("/repo/src/a.py",)
    assert effects("bash", {"command": "edit 10:11\nx = 'y\nend_of_edit"}).everything


def test_labels_are_one_short_line() -> None:
    assert read_of("cat a.py \\\n   b.py").label == "cat a.py \\ b.py"
    assert len(read_of("cat " + "a.py " * 900).label) <= 400


A, B = file_read("src/a.py"), file_read("/srv/reef/src/b.py")
SEARCH = Read(reads=("src",), label="x src", span=None, whole=False, kind="search")
TREE = Read(reads=("",), label="x", span=None, whole=False, kind="search")
LISTING = Read(reads=("src/**/*.go",), label="src/**/*.go", span=None, whole=False, kind="listing")
STATUS = Read(reads=(".git", ""), label="git status", span=None, whole=False, kind="git")
FIXED = Read(reads=(), label="git show abc1234", span=None, whole=False, kind="git")
BUILT = file_read("dist/app.js")


@pytest.mark.parametrize(
    ("read", "changed", "valid"),
    [
        (A, ("/srv/reef/src/a.py",), False),
        (A, ("./src/a.py",), False),
        (A, ("a.py",), False),
        (A, ("src/b.py",), True),
        (A, ("/srv/reef/lib/a.py",), True),
        (A, ("src/",), False),
        (A, ("/srv/reef/src/",), False),
        (A, ("lib/",), True),
        (A, ("src/*.py",), False),
        (A, ("src/*.go",), True),
        (A, (".git",), True),
        (B, ("src/b.py",), False),
        (B, ("/srv/other/src/b.py",), True),
        (SEARCH, ("src/deep/x.py",), False),
        (SEARCH, ("/srv/reef/src/x.py",), False),
        (SEARCH, ("tests/x.py",), True),
        (TREE, ("anything.py",), False),
        (TREE, ("/srv/reef/x.py",), False),
        (TREE, ("/tmp/probe.py",), True),
        (LISTING, ("src/x/new.go",), False),
        (LISTING, ("src/x/new.py",), True),
        (STATUS, (".git",), False),
        (STATUS, ("x.py",), False),
        (FIXED, (".git", "x.py"), True),
    ],
)
def test_a_read_stands_until_what_it_read_may_have_changed(read: Read, changed: tuple[str, ...], valid: bool) -> None:
    assert (
        still_valid(
            read, [Effects(paths=("unrelated.txt",)), Effects(paths=changed)] if read is A else [Effects(paths=changed)]
        )
        is valid
    )


def test_a_listing_stands_when_only_contents_changed() -> None:
    assert still_valid(LISTING, [Effects(paths=("src/a.go",), names=False)])
    assert still_valid(LISTING, [Effects(everything=True, names=False)])
    assert not still_valid(LISTING, [Effects(everything=True)])


def test_everything_spoils_all_that_can_change_and_products_only_products() -> None:
    everything, products = [Effects(everything=True)], [Effects(products=True, names=False)]
    assert [still_valid(read, everything) for read in (A, B, SEARCH, TREE, STATUS, FIXED)] == [False] * 5 + [True]
    assert [still_valid(read, products) for read in (A, TREE, BUILT)] == [True, True, False]


def test_a_formatter_spoils_what_was_edited_in_the_session() -> None:
    formatted = [Effects(reformats=True, names=False)]
    edits = [Effects(paths=("/srv/reef/src/a.py",), names=False), *formatted]
    assert not still_valid(A, formatted)
    assert not still_valid(A, Changes(formatted, edited=edits))
    assert still_valid(B, Changes(formatted, edited=edits))


def test_changes_gathered_call_by_call_answer_as_all_at_once() -> None:
    changed = [Effects(paths=("src/b.py",)), Effects(paths=("docs/",)), Effects(products=True)]
    gathered = Changes()
    for one in changed:
        gathered.append(one)
    for read in (A, B, SEARCH, TREE, LISTING, STATUS, FIXED, BUILT):
        assert still_valid(read, gathered) == still_valid(read, changed)


@pytest.mark.parametrize(
    ("later", "earlier", "expected"),
    [
        (file_read("/srv/reef/src/a.py"), file_read("src/a.py"), True),
        (file_read("src/a.py"), file_read("src/a.py", span=(5, 9)), True),
        (file_read("src/a.py", span=(1, 20)), file_read("src/a.py", span=(5, 9)), True),
        (file_read("src/a.py", span=(6, 20)), file_read("src/a.py", span=(5, 9)), False),
        (file_read("src/a.py", span=(1, 20)), file_read("src/a.py"), False),
        (file_read("src/b.py"), file_read("src/a.py"), False),
        (file_read("a.py", "b.py"), file_read("b.py"), True),
        (file_read("b.py"), file_read("a.py", "b.py"), False),
        (file_read("a.py"), file_read("a.py", whole=False), True),
        (SEARCH, SEARCH, True),
        (SEARCH, TREE, False),
        (STATUS, STATUS, True),
    ],
)
def test_a_later_read_supersedes_what_it_gives_again(later: Read, earlier: Read, expected: bool) -> None:
    assert supersedes(later, earlier) is expected


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=5,
)
KEYS = st.sampled_from(
    ["command", "cmd", "path", "file_path", "pattern", "glob", "files", "offset", "limit", "view_range", "input"]
)
TOOLS = st.sampled_from(
    [
        "Bash",
        "PowerShell",
        "shell",
        "Read",
        "Grep",
        "Glob",
        "Edit",
        "Write",
        "apply_patch",
        "Task",
        "view",
        "str_replace_editor",
        "x",
    ]
)


@given(TOOLS, st.dictionaries(KEYS, JSON, max_size=5), st.text(max_size=200))
@example("Bash", {"command": "xargs " * 3000 + "cat"}, "")
@example("Bash", {"command": "bash -c 'bash -c \"bash -c ls\"'"}, "")
@example("Bash", {"command": "find . -exec " * 2000 + "cat"}, "")
@example("Bash", {"command": "env " * 5000 + "cat a"}, "")
@example("Read", {"path": "{" * 300}, "")
@example("Bash", {"command": "cat " + "{a,b}" * 200}, "")
@example("Read", {"file_path": "a", "offset": -5, "limit": 0}, "\ud800")
def test_no_call_makes_it_raise(tool: str, given_input: dict[str, Json], output: str) -> None:
    read = classify(tool, given_input, output, is_error=False)
    changed = effects(tool, given_input, output=output)
    if read is not None:
        still_valid(read, [changed])
        assert supersedes(read, read) or len(read.label) > 390
        assert "\n" not in read.label


COMMANDS = st.lists(
    st.sampled_from(
        [
            "cat",
            "a.py",
            "|",
            ">",
            "rm",
            "-i",
            "sed",
            "s/a/b/",
            "&&",
            ";",
            "$(",
            ")",
            "find",
            "-delete",
            "-exec",
            "git",
            "'",
            '"',
            "for f in",
            "do",
            "done",
            "$f",
            "<<EOF",
            "\n",
            "EOF",
            "xargs",
        ]
    ),
    max_size=14,
).map(" ".join)


@given(COMMANDS)
def test_a_pure_command_never_holds_a_word_that_changes_files_as_a_command(command: str) -> None:
    if shell(command, "") is not None:
        assert effects("Bash", {"command": command}) == Effects(names=False)


def test_shared_cases_have_the_right_outcome(shared: Path) -> None:
    expected = {
        "echo-of-a-request-is-no-read": {"call_c": False},
        "find-delete-is-no-read": {"call_d": False},
        "failed-read-is-an-observation": {"call_f": False},
        "read-of-a-file-edited-later": {"call_r": True},
        "same-file-read-twice": {"call_s1": True},
    }
    for name, calls in expected.items():
        messages = json.loads((shared / "cases" / name / "input.json").read_text())
        inputs = {
            call["id"]: (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for message in messages
            for call in message.get("tool_calls") or ()
        }
        results = {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
        for call_id, is_read in calls.items():
            if call_id in inputs:
                tool, given_input = inputs[call_id]
                assert (classify(tool, given_input, results[call_id], is_error=False) is not None) is is_read, name


@pytest.mark.slow
def test_every_call_of_the_shared_sessions_is_classified_and_no_pure_command_changes_anything(shared: Path) -> None:
    seen = 0
    for path in sorted((shared / "transcripts" / "neutral").glob("*.json.gz"))[::6]:
        session = json.loads(gzip.decompress(path.read_bytes()))
        outputs = {result["id"]: result for message in session["messages"] for result in message.get("results", ())}
        for message in session["messages"]:
            for call in message.get("calls", ()):
                result = outputs.get(call["id"])
                if result is None or not isinstance(call["input"], dict):
                    continue
                seen += 1
                read = classify(call["tool"], call["input"], result.get("text", ""), bool(result.get("is_error")))
                changed = effects(call["tool"], call["input"])
                assert read is None or not changed, call
    assert seen > 500
