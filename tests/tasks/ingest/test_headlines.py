"""Questions that a paper tells by the print of their lines alone."""

from __future__ import annotations

import pytest

from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.headlines import Headlines, find_headlines
from tasks.ingest.layout.pieces import make_pieces
from tasks.ingest.readers.extraction import Line, Look, join_lines
from tasks.ingest.splitting import split_lines

_CHINESE = {
    "灯塔和浮标的区别": ["灯塔立在岸上，由看守人点灯，夜里几十里外都能看见。", "浮标漂在水面，只标出航道。"],
    "渡船怎么靠岸": ["先收帆，再由船夫用长篙撑到石码头旁边，最后系好缆绳。"],
    "说说你对潮汐的理解": ["月亮和太阳的引力使海水一天涨落两次，渡船因此不能按钟点开。"],
    "磨坊的水轮": ["水轮有上射和下射两种，上射的水轮用水少而力气大。"],
    "谁保管港口的钥匙": ["看守人保管，夜里交给更夫，第二天早上取回。"],
    "盐仓的通风": ["盐仓四面开窗，地面垫高，雨季关窗。"],
}
_GERMAN = {
    "Unterschied zwischen Boje und Leuchtturm": ["Die Boje schwimmt und zeigt nur die Fahrrinne an."],
    "Wie legt die Fähre an?": ["Zuerst wird das Segel geborgen, dann wird sie mit der Stange herangezogen."],
    "Wer verwahrt den Schlüssel?": ["Der Wärter, und nachts der Nachtwächter."],
    "Das Rad der Mühle": ["Es gibt oberschlächtige und unterschlächtige Räder."],
    "Warum läutet die Glocke?": ["Sie läutet bei Nebel, damit die Boote den Hafen finden."],
}


def _print(paper: dict[str, list[str]], kind: str) -> list[Line]:
    lines: list[Line] = []
    for title, below in paper.items():
        look = Look(size=14, is_bold=True) if kind == "size" else Look(size=11)
        marks = () if kind == "size" else ((0, len(title), kind),)
        lines += [Line(title, look=look, emphasis=marks), *(Line(text, look=Look(size=11)) for text in below)]
    return lines


def _split(lines: list[Line]) -> tuple[list[Draft], list[str]]:
    _, starts, _ = join_lines(lines)
    split = split_lines(lines, starts)
    return split.drafts, split.warnings


def _find(lines: list[Line]) -> Headlines:
    _, starts, _ = join_lines(lines)
    return find_headlines(make_pieces(lines, starts), lines, starts)


@pytest.mark.parametrize("kind", ["size", "colour", "bold", "highlight"])
@pytest.mark.parametrize("paper", [_CHINESE, _GERMAN], ids=["chinese", "german"])
def test_lines_of_one_look_are_questions_and_what_stands_below_answers_them(
    paper: dict[str, list[str]], kind: str
) -> None:
    drafts, warnings = _split(_print(paper, kind))
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        (title, ["\n".join(below)]) for title, below in paper.items()
    ]
    assert all("answer_without_mark" in draft.notes for draft in drafts)
    silent = 2 if paper is _CHINESE else 1
    assert any(f"{silent} lines without a number ask nothing" in warning for warning in warnings)


def test_an_article_whose_titles_ask_nothing_has_no_headlines() -> None:
    article = {
        title: ["It stood there for two hundred years, and nobody knew who had built it."]
        for title in ("The pier", "The lamp", "The mill", "The bell", "The weir", "The market")
    }
    assert _find(_print(article, "size")) == Headlines()


def test_bold_questions_with_something_to_choose_or_to_do_are_left_to_other_rules() -> None:
    asked = [
        "Where does the ferry land?",
        "Who keeps the lamp?",
        "What is ground?",
        "When is noon?",
        "Why fog?",
    ]
    offered = {title: ["A. at the pier", "B. at the mill", "C. nowhere"] for title in asked}
    tasks = {f"Exercise {number}": ["Explain the tide.", "Draw the weir."] for number in range(1, 7)}
    assert _find(_print(offered, "bold")) == Headlines()
    assert _find(_print(tasks, "bold")) == Headlines()


def test_numbered_titles_above_longer_text_are_answered_by_it() -> None:
    paper = {
        f"{number}. {title}": [
            f"{title}的来历很长，要从老码头建成的那一年说起，一直说到今天。",
            "另见地方志。",
        ]
        for number, title in enumerate(("灯塔", "渡船和浮标的区别", "磨坊", "钟楼", "盐仓"), start=1)
    }
    drafts, _ = _split(_print(paper, "colour"))
    assert [(draft.number_label, draft.stem, len(draft.answer)) for draft in drafts] == [
        (f"{number}.", title, 1)
        for number, title in enumerate(("灯塔", "渡船和浮标的区别", "磨坊", "钟楼", "盐仓"), start=1)
    ]


@pytest.mark.parametrize(
    ("titles", "task"),
    [
        (("灯塔", "渡船", "磨坊", "钟楼", "盐仓"), "这座{}建成以后，每天用去三升油，求它一年用去多少油。"),
        (
            ("灯塔", "渡船怎么开", "磨坊", "钟楼", "盐仓"),
            "这座{}建成以后，每天用去三升油，求它一年用去的油。",
        ),
        (
            ("Lamp", "Ferry", "Mill", "Bell", "Salt"),
            "The {} takes three men a day. Its cost in a year is wanted.",
        ),
        (
            ("Turm", "Boot", "Mühle", "Glocke", "Salz"),
            "Miss die Höhe und trage sie neben {} in die Tabelle ein.",
        ),
    ],
)
def test_tasks_below_numbered_titles_are_no_answers(titles: tuple[str, ...], task: str) -> None:
    paper = {f"{number}. {title}": [task.format(title)] for number, title in enumerate(titles, start=1)}
    drafts, _ = _split(_print(paper, "bold"))
    assert not any(draft.answer for draft in drafts)


@pytest.mark.parametrize(("word", "fence"), [("Solution", "```c++"), ("Lösung", "```"), ("答案", "```c#")])
def test_headings_above_a_line_that_opens_an_answer_are_questions(word: str, fence: str) -> None:
    titles = ["Count the boats", "Tide table", "Shortest way", "Two lamps", "Bell at noon"]
    page = "\n".join(
        f"## {title}\nThe harbour has {place} piers.\n<details>\n<summary>{word}</summary>\n\n{fence}\nreturn {place};\n```\n</details>"
        for place, title in enumerate(titles, start=2)
    )
    drafts, _ = _split([Line(text) for text in page.split("\n")])
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        (f"{title}\nThe harbour has {place} piers.", [f"return {place};"])
        for place, title in enumerate(titles, start=2)
    ]


@pytest.mark.parametrize(
    ("titles", "asked"),
    [
        (["Piers", "Lamps", "Mills", "Bells"], ["Where is the first of them", "Who keeps it at night"]),
        (["码头", "灯塔", "磨坊", "钟楼"], ["第一座建在什么地方", "夜里由谁看守"]),
    ],
    ids=["english", "chinese"],
)
def test_numbers_of_any_form_begin_again_below_titles_that_print_shows(
    titles: list[str], asked: list[str]
) -> None:
    lines: list[Line] = []
    for title, form in zip(titles, ("{} ", "{}) ", "{} ", "{}) "), strict=True):
        lines.append(Line(title, look=Look(size=14, is_bold=True)))
        lines += [
            Line(f"{form.format(number)}{text} ({title})", look=Look(size=11))
            for number, text in enumerate(asked, start=1)
        ]
    drafts, _ = _split(lines)
    assert [(draft.number_label.strip(" )"), draft.stem) for draft in drafts] == [
        (str(number), f"{text} ({title})") for title in titles for number, text in enumerate(asked, start=1)
    ]


@pytest.mark.parametrize("place", ["Your answer", "Antwort:"])
def test_a_place_for_an_answer_below_a_headline_is_none(place: str) -> None:
    asked = (
        "Where is the pier?",
        "Who keeps the lamp?",
        "What is ground?",
        "When is noon?",
        "Why is it foggy?",
    )
    drafts, _ = _split(_print({title: [place] for title in asked}, "bold"))
    assert [(draft.stem, draft.answer) for draft in drafts] == [(title, []) for title in asked]
