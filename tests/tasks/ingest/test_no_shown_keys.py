"""Papers that print no key are given none, whatever their stems and options end with."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.splitting import split_lines

Questions = Sequence[tuple[str, Sequence[str]]]
ONES, TWOS, THREES = ("10", "20", "30", "40"), ("11", "21", "31", "41"), ("12", "22", "32", "42")
PAPERS: dict[str, Questions] = {
    "stems that end with what is measured": [
        ("What is the length of AB?", ONES),
        ("In the figure, what is the length of CD?", TWOS),
        ("What is the area of triangle ABC?", THREES),
        ("Find the measure of angle A?", ONES),
    ],
    "stems that end so, in Chinese": [
        ("如图，求线段AB的长和点C", ONES),
        ("在三角形中，求边CD", TWOS),
        ("已知四边形，求∠A", THREES),
    ],
    "stems that count": [
        ("What is shown in figure (a)?", ONES),
        ("What is shown in figure (b)?", TWOS),
        ("What is shown in figure (c)?", THREES),
    ],
    "equations that end with the number of an option": [
        ("Solve x + 1 = 3", ("1", "2", "3", "4")),
        ("Solve 2x = 4", ("1", "2", "3", "4")),
        ("Solve x - 2 = 1", ("3", "2", "1", "4")),
        ("Solve 3x = 2", ("1", "4", "3", "2")),
        ("Solve x/2 = 4", ("1", "2", "8", "4")),
    ],
    "stems that end with the text of an option": [
        ("Which is longer than the river Rhine?", ("Rhine", "Danube", "Main", "Mosel")),
        ("Which city lies north of Paris?", ("Lyon", "Lille", "Paris", "Nice")),
        ("Which metal is heavier than iron?", ("iron", "zinc", "gold", "tin")),
    ],
    "one option of each with an article": [
        ("What did he buy?", ("a car", "two cars", "the cars", "cars")),
        ("What did she see?", ("two dogs", "a dog", "dogs", "the dogs")),
        ("What did they sell?", ("houses", "the houses", "two houses", "a house")),
        ("What was lost?", ("keys", "a key", "two keys", "the keys")),
        ("What broke?", ("the cup", "cups", "a cup", "two cups")),
    ],
    "one option of each with a sign of chemistry": [
        ("下列反应中正确的是（  ）", ("Zn+2HCl=ZnCl2+H2↑", "Fe+S=FeS", "2H2+O2=2H2O", "C+O2=CO2")),
        ("能制备气体的是（  ）", ("S+O2=SO2", "CaCO3+2HCl=CaCl2+H2O+CO2↑", "2Mg+O2=2MgO", "H2+Cl2=2HCl")),
        ("属于分解的是（  ）", ("CuO+H2=Cu+H2O", "Fe+S=FeS", "2H2O2=2H2O+O2↑", "C+O2=CO2")),
    ],
    "last options that name others": [
        ("Which of these holds?", ("it rains", "it snows", "neither of these", "A and B")),
        ("Which of them fits?", ("it is dry", "it is wet", "none at all", "both A and C")),
        ("What is to be done?", ("to wait", "to leave", "to ask", "B or C")),
    ],
}


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_without_keys_is_given_none_and_its_text_stays(name: str) -> None:
    lines = [
        line
        for number, (stem, options) in enumerate(PAPERS[name], 1)
        for line in (
            f"{number}. {stem}",
            *(f"{label}. {text}" for label, text in zip("ABCD", options, strict=True)),
        )
    ]
    shown = [Line(line) for line in lines]
    drafts = split_lines(shown, join_lines(shown)[1]).drafts
    assert [draft.answer for draft in drafts] == [[]] * len(PAPERS[name])
    for draft, (stem, options) in zip(drafts, PAPERS[name], strict=True):
        assert draft.stem.split("(")[0].split("（")[0] == stem.split("(")[0].split("（")[0]
        assert [text for _, text in draft.options] == [*options]
