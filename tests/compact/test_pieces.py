from hypothesis import given
from hypothesis import strategies as st

from reefknot.compact.pieces import LONG_LINE, SEGMENT, Gap, Pieces, assemble, cut

TEXTS = st.text(alphabet=st.sampled_from("ab ,;|\n\r\\n\u2028é\ud800"), max_size=1500)


def _joined(pieces: Pieces) -> str:
    rows: list[list[str]] = [[] for _ in range(pieces.total_lines)]
    for text, line in zip(pieces.texts, pieces.lines, strict=True):
        rows[line].append(text)
    return "\n".join("".join(row) for row in rows)


@given(TEXTS)
def test_pieces_give_the_text_back(text: str) -> None:
    pieces = cut(text)
    assert _joined(pieces) == text
    assert assemble(pieces, [True] * len(pieces), lambda gap: "?") == text


@given(TEXTS)
def test_no_piece_of_a_long_line_is_longer_than_a_segment(text: str) -> None:
    pieces = cut(text)
    lengths = [len(line) for line in text.split("\n")]
    assert all(
        len(piece) <= (SEGMENT if lengths[line] > LONG_LINE else LONG_LINE)
        for piece, line in zip(pieces.texts, pieces.lines, strict=True)
    )


@given(TEXTS, st.randoms(use_true_random=False))
def test_kept_pieces_stand_verbatim_and_gaps_name_exactly_what_is_missing(text: str, random) -> None:
    pieces = cut(text)
    kept = [random.random() < 0.5 for _ in range(len(pieces))]
    gaps: list[Gap] = []

    def show(gap: Gap) -> str:
        gaps.append(gap)
        return f"\x00{len(gaps) - 1}\x00"

    shown = assemble(pieces, kept, show)
    rebuilt: list[str] = []
    for index, part in enumerate(shown.split("\x00")):
        rebuilt.append(part if index % 2 == 0 else _missing(pieces, gaps[int(part)]))
    assert "".join(rebuilt) == text
    assert [gap.is_first for gap in gaps] == [True] + [False] * (len(gaps) - 1) if gaps else True
    covered = [index for gap in gaps for index in range(gap.first, gap.last + 1)]
    assert covered == [index for index, is_kept in enumerate(kept) if not is_kept]


def _missing(pieces: Pieces, gap: Gap) -> str:
    part = Pieces(
        texts=pieces.texts[gap.first : gap.last + 1],
        lines=tuple(line - pieces.lines[gap.first] for line in pieces.lines[gap.first : gap.last + 1]),
        total_lines=pieces.lines[gap.last] - pieces.lines[gap.first] + 1,
    )
    if not gap.characters:
        assert (gap.first_line, gap.last_line) == (pieces.lines[gap.first] + 1, pieces.lines[gap.last] + 1)
    else:
        assert gap.characters == sum(map(len, part.texts))
    return _joined(part)


def test_a_gap_says_its_lines() -> None:
    pieces = cut("a\nb\nc\nd")
    assert (
        assemble(pieces, [True, False, False, True], lambda gap: f"<{gap.first_line}-{gap.last_line}>") == "a\n<2-3>\nd"
    )


def test_a_gap_inside_a_long_line_stands_inside_it() -> None:
    line = "".join(f"{number:03}, " for number in range(200))
    pieces = cut(f"head\n{line}")
    kept = [True, True, *[False] * (len(pieces) - 3), True]
    shown = assemble(pieces, kept, lambda gap: f"<{gap.characters}>")
    assert (
        shown
        == f"head\n{pieces.texts[1]}<{len(line) - len(pieces.texts[1]) - len(pieces.texts[-1])}>{pieces.texts[-1]}"
    )
