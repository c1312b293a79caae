"""The learned tagger: what it sees, what it proposes, and papers that only it reads."""

from __future__ import annotations

import pytest

from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.splitting import prepare_pieces, split_lines
from tasks.ingest.tagging import compare_with_tags, describe_lines, propose_by_tags, tag_lines

BRIDGES = (
    "der Bogen",
    "die Platte",
    "das Seil",
    "der Pfeiler",
    "die Fuge",
    "das Lager",
    "der Anker",
    "die Kappe",
)
TEXT = "\n".join(
    f"Aufgabe {number}\nWas trägt {name} einer Brücke?\nA. das Eigengewicht\nB. den Verkehr\nC. den Wind\nD. alles davon"
    for number, name in enumerate(BRIDGES, start=1)
)


def read(text: str) -> tuple[list[Line], list[int], list[Piece]]:
    lines = [Line(line) for line in text.split("\n")]
    starts = join_lines(lines)[1]
    return lines, starts, list(prepare_pieces(lines, starts))


def test_no_feature_holds_a_word_of_the_text() -> None:
    paper = "\n".join(f"{number}. 桥的第{number}个构件叫什么？\nA. 墩台\nB. 拱圈" for number in range(1, 20))
    other = paper.translate(str.maketrans("桥构件叫什么墩台拱圈", "船舱位为何物锚链舵轮"))
    described = []
    for text in (paper, other):
        lines, starts, pieces = read(text)
        described.append(describe_lines(pieces, lines, starts))
    assert described[0] == described[1]


def test_features_tell_series_that_run_on_and_neighbours() -> None:
    lines, starts, pieces = read("1. Name a bridge.\n2. Name a pier.\nA. of stone\nwhat is left")
    own = describe_lines(pieces, lines, starts)
    assert [features[0] for features in own] == ["snum", "snum", "sletter" if pieces[2].label else "s-", "s-"]
    assert "p1" in own[0] and "p+" in own[1] and "p-" in own[3]
    assert "-1none" in own[0] and "1none" in own[3] and "1snumv2" in own[0]


def test_the_same_lines_have_the_same_tags() -> None:
    lines, starts, pieces = read(TEXT)
    first, second = (tag_lines(pieces, lines, starts) for _ in range(2))
    assert first == second and len(first) == len(pieces)


def test_a_paper_of_few_lines_has_no_tags_and_every_reading_agrees() -> None:
    lines, starts, pieces = read("1. Name a bridge.\n2. Name a pier.")
    tags = tag_lines(pieces, lines, starts)
    assert tags == ["", ""]
    assert compare_with_tags(pieces, tags, {0}) == 1.0
    assert propose_by_tags(pieces, tags) == []


@pytest.mark.parametrize(
    ("starts", "agreement"),
    [({0, 30}, 1.0), ({5, 25}, 1.0), ({0}, 2 / 3), ({15}, 0.0), (set(), 0.0), ({0, 15, 30}, 0.8)],
)
def test_the_agreement_is_the_f1_of_the_beginnings(starts: set[int], agreement: float) -> None:
    pieces = [Piece("line", place, place + 4, range(place, place + 4)) for place in range(0, 50, 5)]
    tags = ["S" if place in (0, 30) else "I" for place in range(0, 50, 5)]
    assert compare_with_tags(pieces, tags, starts) == pytest.approx(agreement)


def test_tags_become_numbers_headings_and_lines_that_count_nothing() -> None:
    _, _, pieces = read("Teil A\n7) Was ist ein Bogen?\n1) aus Stein\nWas ist ein Seil?")
    _, outline = propose_by_tags(pieces, ["H", "S", "I", "S"])
    first, second = (pieces[place].start for place in (1, 3))
    assert outline.numbers[first][1] == 7
    assert outline.numbers[second] == (0, 8)  # it prints no number: the next one
    assert set(outline.headings) == {pieces[0].start}
    assert outline.hidden == frozenset({pieces[2].start})


def test_given_numbers_count_wherever_they_lead() -> None:
    _, _, pieces = read("3. first\n3. second\n1. third")
    (outline,) = propose_by_tags(pieces, ["S", "S", "S"])
    labelled = outline.label(pieces)
    assert all(piece.label is not None and piece.label.is_given for piece in labelled)


def test_a_paper_in_words_that_no_list_knows_is_read_whole() -> None:
    lines = [Line(line) for line in TEXT.split("\n")]
    split = split_lines(lines, join_lines(lines)[1])
    assert len(split.drafts) == len(BRIDGES)
    assert [len(draft.options) for draft in split.drafts] == [4] * len(BRIDGES)
    assert split.checked.agreement >= 0.9
