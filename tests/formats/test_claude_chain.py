"""Which lines of a session are live, and in which order."""

import json

from session_writer import Line, Session, text, use

from reefknot.formats.claude_chain import live_lines


def order(session: Session) -> list[int]:
    return live_lines(dict(enumerate(session.lines)))


def test_a_plain_session_is_live_from_first_to_last() -> None:
    session = Session()
    session.user("go")
    session.answer("m1", text("on it"))
    assert order(session) == [0, 1]


def test_of_two_branches_the_newer_one_is_live() -> None:
    session = Session()
    first = session.user("go")
    session.answer("m1", text("left"))
    session.tip = first
    session.answer("m2", text("right"))
    assert order(session) == [0, 2]


def test_the_newest_spoken_line_decides_not_what_the_harness_adds_on_an_old_branch() -> None:
    session = Session()
    first = session.user("go")
    old = session.answer("m1", text("left"))
    session.tip = first
    session.answer("m2", text("right"))
    session.add("progress", parent=old, data={})
    session.user("a caveat", parent=old, isMeta=True)
    assert order(session) == [0, 2]


def test_meta_lines_at_the_end_stay_in_the_conversation() -> None:
    session = Session()
    session.user("go")
    session.answer("m1", text("done"))
    session.user("a caveat", isMeta=True)
    assert order(session) == [0, 1, 2]


def test_parallel_calls_and_their_results_are_put_back_behind_their_answer() -> None:
    session = Session()
    session.user("go")
    one = session.answer("m1", use("a"))
    two = session.answer("m1", use("b"))
    session.result("a", "1", parent=one)
    session.result("b", "2", parent=two)
    session.answer("m2", text("done"))
    assert order(session) == [0, 1, 2, 3, 4, 5]


def test_a_result_is_found_by_its_call_when_its_parent_says_nothing() -> None:
    session = Session()
    session.user("go")
    one = session.answer("m1", use("a"))
    progress = session.add("progress", parent=one, data={})
    session.answer("m1", use("b"), parent=one)
    session.result("b", "2")
    session.answer("m2", text("done"))
    session.result("a", "1", parent=progress)
    session.tip = session.lines[-2]["uuid"]
    session.user("more")
    assert order(session) == [0, 1, 3, 6, 4, 5, 7]


def test_a_call_id_of_two_answers_puts_nothing_back() -> None:
    session = Session()
    first = session.user("go")
    session.answer("m0", use("a"))
    aside = session.add("progress", data={})
    session.tip = first
    session.answer("m1", use("a"))
    session.result("a", "1", parent=aside)
    session.tip = session.lines[3]["uuid"]
    session.answer("m2", text("done"))
    assert order(session) == [0, 3, 5]


def test_only_what_stands_behind_the_last_compaction_is_live() -> None:
    session = Session()
    session.user("old")
    session.answer("m1", text("old answer"))
    session.boundary()
    session.user("summary", isCompactSummary=True)
    session.answer("m2", text("new answer"))
    assert order(session) == [2, 3, 4]


def _compacted(tip: str, metadata: str) -> Session:
    """Two messages before a boundary are kept: their uuids are u1 and u2, the summary's is u4."""
    session = Session()
    session.user("old")
    session.answer("m1", text("kept 1"))
    session.user("kept 2")
    session.boundary(**json.loads(metadata))
    session.user("summary", isCompactSummary=True)
    session.answer("m2", text("new answer"), parent=f"{tip}-s-1")
    return session


def test_messages_that_a_compaction_preserved_stand_behind_its_anchor() -> None:
    listed = '{"preservedMessages": {"anchorUuid": "u4-s-1", "uuids": ["u1-s-1", "u2-s-1"]}}'
    segment = '{"preservedSegment": {"anchorUuid": "u4-s-1", "headUuid": "u1-s-1", "tailUuid": "u2-s-1"}}'
    for tip in ("u4", "u2"):
        assert order(_compacted(tip, listed)) == [3, 4, 1, 2, 5]
        assert order(_compacted(tip, segment)) == [3, 4, 1, 2, 5]


def test_preserved_messages_that_are_not_in_the_file_change_nothing() -> None:
    for metadata in ('{"preservedMessages": {"uuids": 5}}', '{"preservedSegment": {"headUuid": "u9"}}'):
        assert order(_compacted("u4", metadata)) == [3, 4, 5]


def test_sidechains_and_team_lines_are_left_out() -> None:
    session = Session()
    first = session.user("go")
    session.user("sub-task", parent=None, isSidechain=True)
    session.answer("m9", text("sub-answer"), isSidechain=True)
    session.user("from a team mate", parent=None, teamName="crew")
    session.answer("m1", text("done"), parent=first)
    assert order(session) == [0, 4]


def test_a_sub_agents_own_file_is_read_in_file_order() -> None:
    session = Session()
    session.user("sub-task", isSidechain=True)
    session.answer("m9", text("sub-answer"), isSidechain=True, parent=None)
    assert order(session) == [0, 1]


def test_lines_without_uuids_are_read_in_file_order() -> None:
    lines: list[Line] = [{"type": "user", "message": {"content": "a"}}, {"type": "summary"}, {"type": "assistant"}]
    assert live_lines(dict(enumerate(lines))) == [0, 2]


def test_a_line_whose_parent_is_gone_goes_on_from_the_line_before() -> None:
    session = Session()
    session.user("go")
    session.answer("m1", text("lost"))
    session.user("more")
    del session.lines[1]
    assert order(session) == [0, 1]


def test_sessions_joined_in_one_file_are_read_one_after_the_other() -> None:
    one, two = Session(id="s-1"), Session(id="s-2")
    one.user("go")
    two.user("and now?")
    one.lines += two.lines
    assert order(one) == [0, 1]


def test_a_session_that_was_cleared_begins_anew() -> None:
    session = Session()
    session.user("old")
    session.user("new", parent=None)
    assert order(session) == [1]


def test_a_ring_of_parents_ends() -> None:
    session = Session()
    session.user("a", parent="u1-s-1")
    session.user("b")
    assert sorted(order(session)) == [0, 1]


def test_of_lines_with_one_uuid_the_last_is_meant() -> None:
    session = Session()
    session.user("go")
    session.answer("m1", text("draft"))
    session.answer("m1", text("draft"))
    session.lines[2] |= {"uuid": session.lines[1]["uuid"], "parentUuid": session.lines[0]["uuid"]}
    session.tip = session.lines[1]["uuid"]
    session.user("more")
    assert order(session)[0] == 0
    assert order(session)[-1] == 3
    assert 2 in order(session)
