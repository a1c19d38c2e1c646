import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.compact.outline import outline


def numbered(lines: list[str], start: int, mark: str) -> str:
    return "\n".join(f"{number:6}{mark}{line}" for number, line in enumerate(lines, start))


PYTHON = ["import os", "", "class Tide:", "    def rise(self):", "        pass", "", "async def main():", "    pass"]


@pytest.mark.parametrize("mark", ["→", "\t"])
def test_lines_are_those_of_the_file_where_the_text_shows_them(mark: str) -> None:
    assert outline(numbered(PYTHON, 200, mark), "src/tide.py") == "class Tide 202, def rise 203, def main 206"


def test_frames_of_hosts_do_not_shift_the_lines() -> None:
    body = "\n".join(PYTHON)
    expected = "class Tide 3, def rise 4, def main 7"
    assert outline(f"<returncode>0</returncode>\n<output>\n{body}\n</output>", "cat a.py") == expected
    frame = "Chunk ID: 1a2b\nWall time: 0.0 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n"
    assert outline(frame + body, "cat a.py") == expected


def test_a_text_that_begins_later_counts_from_there_or_not_at_all() -> None:
    body = "\n".join(PYTHON)
    assert outline(body, "a.py", first_line=101) == "class Tide 103, def rise 104, def main 107"
    assert outline(body, "a.py", first_line=None) == "class Tide, def rise, def main"


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        (
            "a.go",
            "package a\ntype Store struct {\n}\nfunc (s *Store) Put(k string) {\n}\nfunc New() {}",
            "type Store 2, func Put 4, func New 6",
        ),
        (
            "a.ts",
            "export class A {}\nexport async function b() {}\nconst c = async (x) => 1\ninterface D {}",
            "class A 1, fn b 2, const c 3, interface D 4",
        ),
        (
            "a.rs",
            "pub struct A;\nimpl Drop for A {\n    fn drop(&mut self) {}\n}",
            "struct A 1, impl Drop for A 2, fn drop 3",
        ),
        ("A.java", "public class A {\n    public int height(int x) {\n    }\n}", "class A 1, height 2"),
        ("a.c", "#include <x.h>\nstatic int tide(int a) {\n  return 1;\n}\nint main(void)\n{", "tide 2, main 5"),
        ("a.rb", "module A\n  class B\n    def c?\n    end", "module A 1, class B 2, def c? 3"),
        ("a.sh", "#!/bin/sh\nstart() {\n:\n}\nfunction stop() {", "start 2, fn stop 5"),
        ("a.md", "# One\ntext\n## Two words\n", "One 1, Two words 3"),
    ],
)
def test_definitions_are_found_in_many_languages(label: str, text: str, expected: str) -> None:
    assert outline(text, label) == expected


def test_too_many_definitions_are_cut_to_the_longest_with_the_number_of_the_rest() -> None:
    text = "".join(f"def f{number}():\n" + "    x = 1\n" * (number + 1) for number in range(30))
    shown = outline(text, "a.py", max_items=3)
    assert shown.endswith(", +27")
    assert shown.count("def ") == 3
    assert "def f28" in shown


def test_a_search_tells_files_and_hits() -> None:
    text = "src/a.py:3:def x\nsrc/a.py-4-    y\nsrc/a.py:9:x\n--\nsrc/lib/b.py:1:x"
    assert outline(text, "x src") == "2 files in src/: a.py (2), lib/b.py (1)"
    assert outline("src/a.py\n3:x\n4-y\n9:x\n\nsrc/b.py\n1:x", "rg x") == "2 files in src/: a.py (2), b.py (1)"


def test_the_frame_of_a_host_is_no_file() -> None:
    output = "<returncode>0</returncode>\n<output>\n12:    mode = 1\n19:    mode = 2\n</output>"
    assert outline(output, "grep -n mode a.py") == ""


def test_a_long_path_keeps_its_end() -> None:
    path = "x/" + "long_folder_name/" * 4 + "manual_commit_hooks.go"
    assert "manual_commit_hooks.go (2)" in outline(f"{path}:1:a\n{path}:2:a\nb.go:1:a\n", "a")


def test_a_listing_tells_its_entries_and_a_diff_its_files() -> None:
    assert outline("a.py\nb.py\nc.py\n\nd/\n", "ls") == "4 entries"
    diff = "diff --git a/x.c b/x.c\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y.c b/y.c\n"
    assert outline(diff, "git diff") == "2 files: x.c, y.c"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "one line", "the quick brown fox,\njumps over: the lazy dog\n(and more)", '{\n  "a": 1\n}\n']
)
def test_nothing_useful_is_no_phrase(text: str) -> None:
    assert outline(text, "x") == ""


@given(st.text(max_size=400), st.text(max_size=60), st.integers(1, 10))
def test_it_never_raises_and_stays_on_one_line(text: str, label: str, most: int) -> None:
    shown = outline(text, label, most)
    assert "\n" not in shown


def test_a_huge_text_is_looked_at_once() -> None:
    text = "x" * 2_000_000 + "\n" + "def f(a, b):\n" * 100_000 + "a" * 500_000
    assert outline(text, "a.py").startswith("def f 2, ")
