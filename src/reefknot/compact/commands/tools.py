"""Tools of hosts by what they do, and what their inputs name: paths, patterns, ranges of lines.

Names differ by host only in spelling (`Read`, `read_file`, `mcp__files__read_file`): they are compared without case,
dashes
and prefixes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from reefknot.model.message import Json

__all__ = ["LinesAsked", "ToolKind", "first_text", "kind_of_tool", "lines_asked", "paths_of", "pattern_of"]

ToolKind = Literal["shell", "read", "search", "listing", "lookup", "edit", "write", "patch", "code", "agent", "other"]


def _named(kind: ToolKind, text: str) -> dict[str, ToolKind]:
    return dict.fromkeys(text.split(), kind)


_KINDS: dict[str, ToolKind] = {
    **_named(
        "shell",
        "bash shell terminal exec_command execute_bash run_command powershell pwsh run_shell_command run_terminal_cmd"
        " run_terminal_command execute_command run_in_terminal local_shell local_shell_call shell_command"
        " container.exec sh zsh"
        " write_stdin cmd run_bash bash_command execute_shell_command developer__shell run_shell ic_ctf",
    ),
    **_named(
        "read",
        "read read_file notebookread view view_file open open_file cat cat_file read_text_file read_many_files"
        " read_multiple_files viewcodeargs view_code fs_read readfile show_file get_file read_files view_source_code",
    ),
    **_named(
        "search",
        "grep search_files search_file search_dir grep_search codebase_search ripgrep rg semanticsearchargs"
        " findfunctionargs"
        " findclassargs findcodesnippetargs semantic_search search_code find_in_files search_for_pattern lsp"
        " file_search_content"
        " get_symbols_overview find_symbol find_referencing_symbols",
    ),
    **_named(
        "listing",
        "glob ls list_files list_directory list_dir directory_tree find_file find_files glob_file_search"
        " file_search tree"
        " list_code_definition_names find_by_name listdir",
    ),
    **_named("lookup", "toolsearch"),
    **_named(
        "edit",
        "edit multiedit notebookedit edit_file replace replace_in_file str_replace string_replace insert insert_lines"
        " edit_notebook search_replace stringreplace insert_edit_into_file morph_edit_file"
        " replace_string_in_file undo_edit"
        " replace_symbol_body insert_after_symbol insert_before_symbol replace_lines delete_lines smart_edit"
        " multi_edit",
    ),
    **_named(
        "write",
        "write write_file write_to_file create create_file createfile delete_file move_file rename_file"
        " copy_file remove_file"
        " save_file new_file create_directory delete fs_write writefile append_file",
    ),
    **_named("patch", "apply_patch applypatch apply_diff patch"),
    **_named("code", "execute_ipython_cell python execute_python run_python ipython execute_code code_interpreter"),
    **_named("agent", "task agent subagent delegate spawn_agent dispatch_agent new_task"),
}  # fmt: skip
_EDITORS = frozenset(
    "str_replace_editor str_replace_based_edit_tool text_editor editactionarguments edit_action".split()
)

_PATH_KEYS = (
    "file_path",
    "path",
    "filePath",
    "filename",
    "file",
    "notebook_path",
    "target_file",
    "absolute_path",
    "AbsolutePath",
    "relative_path",
    "relative_workspace_path",
    "target_directory",
    "directory",
    "dir",
    "dir_path",
    "DirectoryPath",
    "SearchPath",
    "SearchDirectory",
    "folder",
    "TargetFile",
    "source",
    "destination",
    "old_path",
    "new_path",
    "from",
    "to",
)
_LIST_KEYS = ("files", "paths", "file_paths", "edits")
_PATTERN_KEYS = {
    "search": ("glob", "include", "file_pattern", "include_pattern", "includePattern"),
    "listing": ("pattern", "glob_pattern", "file_name", "glob", "name", "query"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesAsked:
    """A read was asked for some lines; `fixed` are they when both ends are known from the input."""

    fixed: tuple[int, int] | None


def _plain_name(tool: str) -> str:
    name = tool.strip().lower().replace("-", "_").removeprefix("functions.")
    return name.rpartition("__")[2] if name.startswith("mcp__") else name


def kind_of_tool(tool: str, input: Mapping[str, Json]) -> ToolKind:
    """What a tool does, as far as its name and its input tell.

    >>> kind_of_tool("Read", {"file_path": "a"}), kind_of_tool("str_replace_editor", {"command": "view", "path": "a"})
    ('read', 'read')
    >>> kind_of_tool("mcp__fs__write-file", {"path": "a"}), kind_of_tool("read", {"url": "x"})
    ('write', 'other')
    """
    name = _plain_name(tool)
    if name in _EDITORS:
        match input.get("command"):
            case "view":
                return "read"
            case "create" | "write":
                return "write"
            case _:
                return "edit"
    kind = _KINDS.get(name, "other")
    if kind == "read" and not paths_of(input):
        return "other"
    if kind == "code" and not any(isinstance(value, str) for value in input.values()):
        return "other"
    return kind


def first_text(value: Json) -> str:
    """A string as it is, the first string of a list, else nothing."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str)), "")
    return value if isinstance(value, str) else ""


def paths_of(input: Mapping[str, Json]) -> list[str]:
    """The paths that an input names, in the order of its keys as known here.

    >>> paths_of({"files": [{"file_path": "a.py", "start_line": 1}, "b.py"]}), paths_of({"url": "x"})
    (['a.py', 'b.py'], [])
    """
    paths = [value for key in _PATH_KEYS if isinstance(value := input.get(key), str) and value and "://" not in value]
    for key in _LIST_KEYS:
        items = input.get(key)
        if not isinstance(items, list):
            continue
        for item in items:
            if isinstance(item, str):
                paths.append(item)
            elif isinstance(item, dict):
                paths += [value for name in _PATH_KEYS[:8] if isinstance(value := item.get(name), str)][:1]
    return paths


def pattern_of(kind: str, input: Mapping[str, Json]) -> str:
    """The pattern of file names that a search or a listing was given, to be joined to its folder.

    >>> pattern_of("listing", {"pattern": "src/**/*.go"}), pattern_of("search", {"pattern": "x", "glob": "*.py"})
    ('src/**/*.go', '**/*.py')
    """
    found = next((value for key in _PATTERN_KEYS[kind] if isinstance(value := input.get(key), str) and value), "")
    if not found or "/" in found:
        return found
    if kind == "search" or not re.search(r"[*?\[]", found):
        return f"**/{found}"
    return found


def lines_asked(input: Mapping[str, Json]) -> LinesAsked | None:
    """The lines that a read asked for; None when it asked for all.

    >>> lines_asked({"offset": 10, "limit": 5}), lines_asked({"view_range": [3, -1]}), lines_asked({"path": "a"})
    (LinesAsked(fixed=(10, 14)), LinesAsked(fixed=None), None)
    """
    both = input.get("view_range")
    if isinstance(both, list):
        numbers = [number for number in both if isinstance(number, int)]
        return LinesAsked(
            fixed=(numbers[0], numbers[1]) if len(numbers) == 2 and 0 < numbers[0] <= numbers[1] else None
        )
    first, last = (
        _number(input, "start_line", "StartLine", "start_line_one_indexed", "startLine"),
        _number(input, "end_line", "EndLine", "end_line_one_indexed_inclusive", "endLine"),
    )
    if first is not None or last is not None:
        return LinesAsked(fixed=(first or 1, last) if last is not None and last >= (first or 1) else None)
    offset, limit = _number(input, "offset"), _number(input, "limit")
    if offset is not None or limit is not None:
        start = max(offset or 1, 1)
        return LinesAsked(fixed=(start, start + limit - 1) if limit is not None and limit > 0 else None)
    return LinesAsked(fixed=None) if _number(input, "line_number") is not None else None


def _number(input: Mapping[str, Json], *names: str) -> int | None:
    """The first whole number among the named values, also one written as text."""
    for name in names:
        value = input.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().isdigit() and len(value) < 10:
            return int(value)
    return None
