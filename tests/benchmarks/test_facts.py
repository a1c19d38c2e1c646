"""The measure of what survives: definitions of facts, reference arms, rates."""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import fact_arms  # noqa: E402
import facts  # noqa: E402
from fact_arms import ARMS, Prefix  # noqa: E402
from fact_kinds import View, find_cuts, find_facts, is_open, tokens_of  # noqa: E402

Message = dict[str, Any]
FILLER = "\n".join(f"nothing to see on row {word} of this plain listing" for word in "abcdefghijklmnopqrstuvwxyz")


def user(text: str) -> Message:
    return {"role": "user", "text": text, "calls": [], "results": []}


def agent(text: str = "", **argument: Any) -> Message:
    calls = [{"id": "c", "tool": "run", "input": argument}] if argument else []
    return {"role": "assistant", "text": text, "calls": calls, "results": []}


def result(text: str) -> Message:
    return {"role": "user", "text": "", "calls": [], "results": [{"id": "c", "text": text, "is_error": False}]}


def found(before: list[str], after: list[Message], written: str = "") -> dict[str, list[str]]:
    """Facts at a cut behind results with these texts and six messages without anything."""
    messages = [user("go on " + written)]
    for text in before:
        messages += [agent(command="look"), result(text)]
    messages += [agent("hm")] * 6
    return find_facts([*messages, *after], [len(messages)])[0]


def test_a_token_that_the_agent_needs_later_is_a_hard_fact() -> None:
    facts_found = found([f"{FILLER}\nworker req-00aa died\n"], [agent("look at req-00aa")])
    assert facts_found["strict"] == ["req-00aa"]
    assert facts_found["hard"] == ["req-00aa"]
    assert facts_found["published"] == ["req-00aa"]
    assert facts_found["context"] == ["worker req-00aa died"]


def test_what_somebody_wrote_before_the_result_is_published_but_not_strict() -> None:
    facts_found = found(["worker req-00aa died"], [agent("look at req-00aa")], written="what about req-00aa?")
    assert (facts_found["published"], facts_found["strict"]) == (["req-00aa"], [])


def test_what_a_result_shows_again_before_the_use_is_not_strict() -> None:
    facts_found = found(["worker req-00aa died"], [result("req-00aa"), agent("look at req-00aa")])
    assert (facts_found["published"], facts_found["strict"]) == (["req-00aa"], [])


def test_what_two_results_before_the_cut_show_is_one_strict_fact() -> None:
    assert found(["worker req-00aa", "again req-00aa"], [agent("see req-00aa")])["strict"] == ["req-00aa"]


def test_a_strict_fact_that_the_agent_wrote_before_the_cut_is_not_hard() -> None:
    messages = [user("go"), agent(command="ls"), result("req-00aa"), agent("I see req-00aa"), *[agent("hm")] * 6]
    facts_found = find_facts([*messages, agent("again req-00aa")], [len(messages)])[0]
    assert (facts_found["strict"], facts_found["hard"]) == (["req-00aa"], [])


def test_a_short_value_counts_beside_a_label_only() -> None:
    assert found(["listening on port 8080"], [agent("open 8080")])["strict"] == ["8080"]
    assert found(["there were 8080 of them"], [agent("open 8080")])["strict"] == []


def test_a_short_value_is_kept_beside_a_label_only() -> None:
    assert View([result("port: 8080")]).kept("strict", "8080")
    assert not View([result("8080")]).kept("strict", "8080")


def test_a_token_inside_a_longer_word_is_not_kept() -> None:
    assert View([result("see req-00aa.")]).kept("hard", "req-00aa")
    assert not View([result("see req-00aab")]).kept("hard", "req-00aa")


def test_an_edited_line_is_quoted_with_or_without_the_viewer_number() -> None:
    edit = agent(old="    return total + 1", new="    return total")
    assert found(["def add():\n    return total + 1"], [edit])["quoted"] == ["return total + 1"]
    assert found(["  11\tdef add():\n  12\t    return total + 1"], [edit])["quoted"] == ["return total + 1"]


def test_context_of_a_long_line_is_the_surroundings() -> None:
    line = "a" * 100 + " req-00aa " + "b" * 100
    assert found([line], [agent("see req-00aa")])["context"] == ["a" * 24 + " req-00aa " + "b" * 24]


def test_error_lines_are_distinct_and_not_too_long() -> None:
    assert found(["error: x", "  error: x\nerror " + "y" * 200 + "\nno terrors"], [])["errors"] == ["error: x"]


def test_quiet_tokens_stand_in_one_line_of_the_session() -> None:
    facts_found = found(["one req-00aa req-00aa\ntwo req-00bb", "three req-00bb"], [result("four req-00cc")])
    assert facts_found["quiet"] == ["req-00aa"]


def test_arguments_are_read_with_their_escapes_decoded() -> None:
    assert found(["worker req-00aa"], [agent(text="first line\nreq-00aa")])["strict"] == ["req-00aa"]


def test_tokens_follow_the_published_rule() -> None:
    text = "src/app.py, port 8080 (v1.2.3): set_value abc/def/ words. 12345 123456:"
    assert tokens_of(text) == {"src/app.py", "v1.2.3", "set_value", "abc/def/", "123456"}


def test_cuts_round_half_up_and_leave_something_on_both_sides() -> None:
    assert [find_cuts(n) for n in (2, 4, 5, 6, 10)] == [[], [2, 3], [3, 4], [3, 5], [5, 8]]


def session() -> facts.Session:
    messages = [user("go")]
    for n in range(8):
        lines = [f"row {k} of part {n}: src/module_{n}/file_{k}.py plain words follow" for k in range(60)]
        call, answer = agent(command=f"look {n}"), result("\n".join([*lines, f"error: task {n} broke, id req-00a{n}"]))
        call["calls"][0]["id"] = answer["results"][0]["id"] = f"call {n}"
        messages += [call, answer]
    messages += [agent("hm")] * 10
    messages += [agent(f"see req-00a{n}") for n in range(8)]
    return facts.make_session("one", messages)


@pytest.fixture
def given() -> list[facts.Session]:
    return [session()]


@pytest.mark.parametrize("name", ARMS)
def test_a_curve_rises_from_nothing_to_everything_and_leaves_protected_messages(name: str) -> None:
    for case in session().cases:
        prefix = Prefix(case.messages)
        curve = ARMS[name](prefix)
        texts = [curve(knob / 10) for knob in range(11)]
        sizes = [sum(fact_arms.COUNTER.count_many(step)) for step in texts]
        assert sizes == sorted(sizes)
        assert (texts[0], texts[-1]) == ([""] * len(prefix.texts), prefix.texts)
        rendered = prefix.rendered(texts[0])
        for i, (before, after) in enumerate(zip(case.messages, rendered, strict=True)):
            assert is_open(i, 0, len(case.messages)) or before == after


def test_pieces_join_to_the_texts_that_they_came_from() -> None:
    text = "short\n\n" + "word, " * 100 + "\n" + "x" * 450
    prefix = Prefix([user("go"), agent(command="x"), result(text), *[agent("hm")] * 6])
    assert all(len(piece.text) <= fact_arms.PIECE_CHARS for piece in prefix.pieces)
    assert fact_arms._render_pieces(prefix, range(len(prefix.pieces))) == [text]


@pytest.mark.parametrize("name", [name for name in ARMS if name != "drop_all"])
def test_reference_arms_keep_the_share_that_was_asked(name: str, given: list[facts.Session]) -> None:
    assert abs(facts.evaluate(name, 0.4, given, ["errors"])["used"] - 0.4) <= 0.01


def test_nothing_hard_is_kept_without_open_results(given: list[facts.Session]) -> None:
    row = facts.evaluate("drop_all", 0.5, given, ["hard", "errors"])
    assert row["kinds"]["hard"]["facts"] > 0
    assert row["kinds"]["hard"]["rate"] == 0


def test_an_arm_that_changes_nothing_keeps_everything(given: list[facts.Session]) -> None:
    row = facts.evaluate(lambda messages, keep: messages, 0.5, given)
    assert (row["used"], row["whole"]) == (1.0, 1.0)
    assert all(summary["rate"] == 1.0 for summary in row["kinds"].values() if summary["facts"])


def test_errors_come_first_in_error_first(given: list[facts.Session]) -> None:
    assert facts.evaluate("error_first", 0.2, given, ["errors"])["kinds"]["errors"]["rate"] == 1.0


def test_a_matched_arm_is_asked_for_the_share_that_gives_the_share(given: list[facts.Session]) -> None:
    def halves(messages: list[Message], keep: float) -> list[Message]:
        prefix = Prefix(messages)
        return prefix.rendered(ARMS["head_tail"](prefix)(keep / 2 if keep < 1 else 1.0))

    facts.register_arm("halves", halves)
    assert abs(facts.evaluate("halves", 0.5, given, ["errors"], matched=True)["used"] - 0.5) <= 0.05


def test_the_product_is_an_arm(given: list[facts.Session]) -> None:
    row = facts.evaluate("product", 0.4, given, ["errors"])
    assert 0 < row["used"] <= 0.41


def test_unknown_names_are_named() -> None:
    with pytest.raises(KeyError, match="nobody"):
        facts.evaluate("nobody", 0.3, [])
    with pytest.raises(KeyError, match="nothing"):
        facts.evaluate("drop_all", 0.3, [], ["nothing"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A shared folder with one small session."""
    (tmp_path / "evaluation").mkdir()
    (tmp_path / "transcripts" / "neutral").mkdir(parents=True)
    (tmp_path / "evaluation" / "sessions_dev.json").write_text('["one"]')
    messages = [user("go")]
    for n in range(8):
        lines = [f"row {k}: src/part_{n}/file_{k}.py" for k in range(80)]
        messages += [agent(command="look"), result("\n".join(lines))]
    data = {"id": "one", "messages": [*messages, *[agent("src/part_0/file_1.py")] * 8]}
    (tmp_path / "transcripts" / "neutral" / "one.json.gz").write_bytes(gzip.compress(json.dumps(data).encode()))
    monkeypatch.setenv("REEFKNOT_SHARED", str(tmp_path))
    yield tmp_path


def test_facts_from_the_cache_are_the_facts_found(folder: Path) -> None:
    cache = folder / "cache"
    fresh = facts.load_sessions(cache_folder=cache)
    assert len(list(cache.iterdir())) == 1
    assert facts.load_sessions(cache_folder=cache) == fresh == facts.load_sessions()


def test_the_command_prints_a_row_per_arm_and_share(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "rows.json"
    facts.main(["--arms", "head_tail,drop_all", "--keep", "0.4,0.6", "--kinds", "quiet", "--json", str(out)])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in printed[1:]] == [
        ["head_tail", "0.4"],
        ["drop_all", "0.4"],
        ["head_tail", "0.6"],
        ["drop_all", "0.6"],
    ]
    assert [row["arm"] for row in json.loads(out.read_text())] == ["head_tail", "drop_all"] * 2


@pytest.mark.slow
def test_published_figures_come_out(shared: Path) -> None:
    assert shared
    sessions = facts.load_sessions()
    assert (len(sessions), sum(len(one.cases) for one in sessions)) == (89, 165)
    row = facts.evaluate("head_tail", 0.3, sessions, ["hard", "published"])
    assert abs(row["kinds"]["hard"]["rate"] - 0.380) < 0.03
    assert abs(row["kinds"]["published"]["rate"] - 0.910) < 0.01
