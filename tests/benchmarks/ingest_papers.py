"""Exam papers made for measurements, Chinese and English.

They have the common layouts, any size, and their answers.

Every sentence is put together here from words of no paper; the same seed gives the same paper.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product

OPTIONS = ("inline", "columns", "stacked")
ANSWERS = ("brackets", "behind", "end")
LANGUAGES = ("zh", "en")
LAYOUTS = tuple(product(LANGUAGES, OPTIONS, ANSWERS))
_CHAPTER_UNITS = 4
_LETTERS = "ABCD"

_WORDS = {
    "zh": [
        "河流",
        "山谷",
        "桥梁",
        "港口",
        "粮仓",
        "驿站",
        "集市",
        "学堂",
        "水渠",
        "灯塔",
        "矿井",
        "果园",
        "牧场",
        "车间",
        "温室",
        "渡口",
        "城墙",
        "茶园",
        "渔村",
        "林场",
        "气象站",
        "观测台",
        "档案室",
        "储水池",
        "风力机",
        "印刷坊",
        "造纸厂",
        "织布机",
        "蒸汽泵",
        "传送带",
    ],
    "en": [
        "river",
        "valley",
        "bridge",
        "harbour",
        "granary",
        "station",
        "market",
        "school",
        "canal",
        "lighthouse",
        "mine",
        "orchard",
        "pasture",
        "workshop",
        "greenhouse",
        "ferry",
        "wall",
        "plantation",
        "village",
        "forest",
        "observatory",
        "archive",
        "reservoir",
        "turbine",
        "press",
        "mill",
        "loom",
        "pump",
    ],
}
_KINDS = {
    "zh": [
        "北方",
        "南方",
        "沿海",
        "高原",
        "早期",
        "近代",
        "小型",
        "大型",
        "公共",
        "乡村",
        "城镇",
        "临时",
        "季节性",
        "传统",
        "新建",
    ],
    "en": [
        "northern",
        "southern",
        "coastal",
        "upland",
        "early",
        "modern",
        "small",
        "large",
        "public",
        "rural",
        "urban",
        "temporary",
        "seasonal",
        "old",
        "new",
    ],
}
_SIDES = {
    "zh": [
        "管理方式",
        "使用效率",
        "维护成本",
        "空间分布",
        "历史作用",
        "主要功能",
        "建造顺序",
        "运行规律",
        "社会影响",
        "改进方案",
    ],
    "en": [
        "management",
        "efficiency",
        "upkeep",
        "distribution",
        "history",
        "function",
        "construction",
        "operation",
        "influence",
        "improvement",
    ],
}


@dataclass(frozen=True)
class MadeQuestion:
    """What must be read: the type and the answer as the bank keeps it."""

    question_type: str
    stem: str
    options: tuple[str, ...]
    answer: tuple[str, ...]


@dataclass(frozen=True)
class MadePaper:
    """The lines of a paper and its questions in order."""

    lines: list[str]
    questions: list[MadeQuestion]

    @property
    def text(self) -> str:
        """The paper as one text."""
        return "\n".join(self.lines)


def make_paper(
    size: int, seed: int, language: str = "zh", options: str = "inline", answers: str = "brackets"
) -> MadePaper:
    """Make a paper of about `size` bytes of UTF-8 (at least one short paper of 1 to 2 KB).

    A larger paper is a bank: chapters with sections of their own and, with `answers="end"`, an answer part each.
    """
    draw = random.Random(f"{seed} {language} {options} {answers}")
    lines = [
        f"{''.join(draw.sample(_WORDS['zh'], 2))}概论试卷"
        if language == "zh"
        else f"{draw.choice(_WORDS['en']).title()} Studies"
    ]
    questions: list[MadeQuestion] = []
    written = 0
    for chapter in count(1):
        units = min(_CHAPTER_UNITS, max(1, (size - written) // 1700))
        block, found = _make_chapter(draw, language, options, answers, units)
        if size > 3 * 1700 * _CHAPTER_UNITS:
            lines.append(
                f"第{chapter}章 {draw.choice(_WORDS['zh'])}" if language == "zh" else f"Chapter {chapter}"
            )
        lines += block
        questions += found
        written += len("\n".join(block).encode()) + 1
        if written >= size - 850:
            break
    return MadePaper(lines, questions)


def _make_chapter(
    draw: random.Random, language: str, options: str, answers: str, units: int
) -> tuple[list[str], list[MadeQuestion]]:
    """Sections of choice, judgement, blanks and free answers.

    From two units on there is also one question about a material.
    """
    makers = [
        ("multiple_choice", 4 * units, "单项选择题（每小题2分）", "Multiple Choice (2 points each)"),
        ("true_false", 2 * units, "判断题（每小题1分）", "True or False (1 point each)"),
        ("fill_in_the_blank", 2 * units, "填空题（每空2分）", "Fill in the Blanks (2 points each)"),
        ("short_answer", units, "简答题（每小题8分）", "Short Answer Questions (8 points each)"),
    ]
    if units > 1:
        makers.append(("material_analysis", 1, "材料分析题（共20分）", "Case Analysis (20 points)"))
    lines: list[str] = []
    keys: list[str] = []
    made: list[MadeQuestion] = []
    numbers = iter(range(1, 10_000))
    for place, (kind, amount, chinese, english) in enumerate(makers):
        heading = (
            f"{'一二三四五'[place]}、{chinese}"
            if language == "zh"
            else f"Part {['I', 'II', 'III', 'IV', 'V'][place]}. {english}"
        )
        lines.append(heading)
        title = heading.split("（")[0].split(" (")[0]
        found = [_MAKERS[kind](draw, language) for _ in range(amount)]
        first = next(numbers)
        numbered = list(zip([first, *(next(numbers) for _ in found[1:])], found, strict=True))
        for number, question in numbered:
            lines += _print_question(number, question, language, options, answers)
        keys += [title, *_print_keys(numbered, language)]
        made += found
    if answers == "end":
        lines += ["参考答案" if language == "zh" else "Answer Key", *keys]
    return lines, made


def _print_question(
    number: int, question: MadeQuestion, language: str, options: str, answers: str
) -> list[str]:
    stop = "、" if options == "columns" and language == "zh" else "."
    stem = question.stem
    key = "".join(question.answer)
    if question.question_type == "true_false":
        key = "√" if key == "true" else "×"
    if answers == "brackets" and question.question_type in ("multiple_choice", "true_false"):
        stem = stem.replace("（ ）", f"（ {key} ）").replace("( )", f"( {key} )")
    lines = [f"{number}{stop}{' ' if language == 'en' else ''}{stem}"]
    if question.question_type == "material_analysis":
        lines = [*lines[0].split("\n")]
    labelled = [f"{letter}{stop} {text}" for letter, text in zip(_LETTERS, question.options, strict=False)]
    if options == "inline" and labelled:
        lines.append("    ".join(labelled))
    elif options == "columns" and labelled:
        lines += ["\t".join(labelled[:2]), "\t".join(labelled[2:])]
    else:
        lines += labelled
    is_free = question.question_type not in ("multiple_choice", "true_false")
    if answers == "behind" or (answers == "brackets" and is_free):
        mark = "答案：" if language == "zh" else "Answer: "
        lines.append(
            mark + ("；".join(question.answer) if question.question_type == "fill_in_the_blank" else key)
        )
        if answers == "behind" and question.question_type == "multiple_choice":
            lines.append(
                "解析：见教材的相应章节。"
                if language == "zh"
                else "Explanation: see the chapter in the textbook."
            )
    return lines


def _print_keys(numbered: list[tuple[int, MadeQuestion]], language: str) -> Iterator[str]:
    kind = numbered[0][1].question_type
    if kind == "multiple_choice":
        for start in range(0, len(numbered), 5):
            row = numbered[start : start + 5]
            yield f"{row[0][0]}-{row[-1][0]} {''.join(question.answer[0] for _, question in row)}"
    elif kind == "true_false":
        marks = [(number, "√" if question.answer == ("true",) else "×") for number, question in numbered]
        yield "  ".join(f"{number}.{mark}" for number, mark in marks)
    else:
        for number, question in numbered:
            yield f"{number}. {'；'.join(question.answer)}"


def _name(draw: random.Random, language: str) -> str:
    parts = (draw.choice(_KINDS[language]), draw.choice(_WORDS[language]), draw.choice(_SIDES[language]))
    return (
        "".join(parts[:2]) + "的" + parts[2]
        if language == "zh"
        else f"{parts[2]} of the {parts[0]} {parts[1]}"
    )


def _make_choice(draw: random.Random, language: str) -> MadeQuestion:
    first, second = _name(draw, language), _name(draw, language)
    texts: list[str] = []
    while len(texts) < 4:
        text = _name(draw, language)
        if text not in texts:
            texts.append(text)
    stem = (
        f"在讨论{first}时，与{second}关系最密切的是（ ）。"
        if language == "zh"
        else f"Which of the following is most closely related to the {first} and the {second}? ( )"
    )
    return MadeQuestion("multiple_choice", stem, tuple(texts), (draw.choice(_LETTERS),))


def _make_truth(draw: random.Random, language: str) -> MadeQuestion:
    first, second = _name(draw, language), _name(draw, language)
    stem = (
        f"{first}在任何条件下都先于{second}得到改善。（ ）"
        if language == "zh"
        else f"The {first} always improves before the {second}. ( )"
    )
    return MadeQuestion("true_false", stem, (), (draw.choice(("true", "false")),))


def _make_blank(draw: random.Random, language: str) -> MadeQuestion:
    first = _name(draw, language)
    answers = tuple(draw.sample(_WORDS[language], 2))
    stem = (
        f"影响{first}的两个重要因素是____和____，二者缺一不可。"
        if language == "zh"
        else f"Two things that shape the {first} are the ____ and the ____ beside it."
    )
    return MadeQuestion("fill_in_the_blank", stem, (), answers)


def _make_short(draw: random.Random, language: str) -> MadeQuestion:
    first, second, third = (_name(draw, language) for _ in range(3))
    stem = (
        f"简述{first}与{second}之间的联系。"
        if language == "zh"
        else f"Explain how the {first} depends on the {second}."
    )
    answer = (
        f"二者都受到{third}的制约，前者为后者提供条件，后者又反过来推动前者的变化，因此应当结合起来考察。"
        if language == "zh"
        else f"Both rest on the {third}, the one prepares the ground for the other, and so they must be studied together."
    )
    return MadeQuestion("short_answer", stem, (), (answer,))


def _make_material(draw: random.Random, language: str) -> MadeQuestion:
    names = [_name(draw, language) for _ in range(6)]
    sentences = [
        f"当地居民发现，{name}在近几年里发生了明显的变化，许多人因此改变了原来的安排。"
        if language == "zh"
        else f"People noticed that the {name} had changed over the years, and many of them altered their plans."
        for name in names
    ]
    stem = (
        "阅读下列材料，回答问题。\n材料："
        + "".join(sentences)
        + f"\n（1）材料说明了{names[0]}的什么变化？\n（2）应当怎样改进{names[1]}？"
        if language == "zh"
        else "Read the following case and answer the questions.\n"
        + " ".join(sentences)
        + f"\n(1) What does the case say about the {names[0]}?\n(2) How should the {names[1]} be changed?"
    )
    answer = (
        f"变化来自{names[2]}，改进应当从{names[3]}入手。"
        if language == "zh"
        else f"The change comes from the {names[2]}, and one should begin with the {names[3]}."
    )
    return MadeQuestion("material_analysis", stem, (), (answer,))


_MAKERS = {
    "multiple_choice": _make_choice,
    "true_false": _make_truth,
    "fill_in_the_blank": _make_blank,
    "short_answer": _make_short,
    "material_analysis": _make_material,
}


@dataclass(frozen=True)
class MadeFile:
    """The bytes of a paper and what must be read from them."""

    data: bytes
    paper: MadePaper


def make_file(kind: str, seed: int, size: int = 2_000) -> MadeFile:
    """Make a paper as `txt`, `docx`, `xlsx` or `pdf`; the seed also chooses the layout."""
    from tests.tasks.ingest.builders import make_docx, make_pdf, make_xlsx

    language, options, answers = LAYOUTS[seed % len(LAYOUTS)]
    if kind == "pdf":
        # what is wider than a page would be wrapped by no printer as it is here
        paper = make_paper(size, seed, language, "stacked", "end")
        pages = [paper.lines[start : start + 60] for start in range(0, len(paper.lines), 60)]
        drawn = [[(30.0, 810.0 - 13 * row, line) for row, line in enumerate(page)] for page in pages]
        return MadeFile(make_pdf(drawn, size=8), paper)
    paper = make_paper(size, seed, language, options, answers)
    if kind == "txt":
        return MadeFile(paper.text.encode(), paper)
    if kind == "docx":
        return MadeFile(make_docx(paper.lines), paper)
    names = {
        "multiple_choice": "单选题",
        "true_false": "判断题",
        "fill_in_the_blank": "填空题",
        "short_answer": "简答题",
        "material_analysis": "材料分析题",
    }
    rows = []
    for question in paper.questions:
        padded = (*question.options, "", "", "", "")[:4]
        rows.append([names[question.question_type], question.stem, *padded, _write_key(question)])
    header = ["题型", "题目", "选项A", "选项B", "选项C", "选项D", "答案"]
    return MadeFile(make_xlsx({paper.lines[0][:20]: [header, *rows]}), paper)


def _write_key(question: MadeQuestion) -> str:
    if question.question_type == "true_false":
        return "√" if question.answer == ("true",) else "×"
    return "；".join(question.answer)
