"""The list of regression cases that are not expected to pass yet."""

import json

import pytest

from run_cases import NOT_YET, judge, read_not_yet


def test_a_failure_without_a_reason_is_broken_and_a_pass_with_one_is_told():
    passed = {"a": True, "b": False, "c": True, "d": False}
    assert judge(passed, {"c": "needs x", "d": "needs y", "e": "gone"}) == (["b"], ["c"], ["e"])


def test_every_entry_of_the_list_has_a_reason():
    assert all(read_not_yet(NOT_YET.read_text("utf-8")).values())
    with pytest.raises(SystemExit, match="case 'a' has no reason"):
        read_not_yet("# comment\na:\n")


def test_every_entry_of_the_list_is_a_case(shared):
    cases = {path.parent.name for path in (shared / "cases").glob("*/case.json")}
    assert set(read_not_yet(NOT_YET.read_text("utf-8"))) <= cases


def test_a_case_of_a_command_that_is_there_is_not_excused_for_it(shared):
    have = {"compact", "restore", "retrieve", "store", "config"}
    for name, reason in read_not_yet(NOT_YET.read_text("utf-8")).items():
        case = json.loads((shared / "cases" / name / "case.json").read_text("utf-8"))
        used = {argv[0] for argv in case["run"] if not argv[0].startswith("@")}
        assert not reason.startswith("needs the command") or used - have, name
