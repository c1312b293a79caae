"""Tables of a document that hold one question to a row, and keys told by print alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tasks.ingest.content.drafts import Draft
from tasks.ingest.readers.docx import read_docx
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.readers.plain_text import read_text
from tasks.ingest.readers.web_pages import read_html
from tasks.ingest.splitting import split_lines
from tests.tasks.ingest.builders import make_docx, numbering, paragraph, run, table

RED = '<w:color w:val="FF0000"/>'


def read(blocks: Sequence[str], parts: dict[str, str] | None = None) -> tuple[list[Draft], str]:
    lines = read_docx(make_docx(blocks, parts)).lines
    text, starts, _ = join_lines(lines)
    return split_lines(lines, starts).drafts, text


def rows(drafts: Sequence[Draft]) -> list[tuple[str, str, list[str], list[str]]]:
    return [
        (draft.question_type, draft.stem, [text for _, text in draft.options], draft.answer)
        for draft in drafts
    ]


def merged(*cells: tuple[str, str]) -> str:
    """One row of a table; every cell is (text, inside of its tcPr)."""
    return (
        "<w:tr>"
        + "".join(f"<w:tc><w:tcPr>{inside}</w:tcPr>{paragraph(text)}</w:tc>" for text, inside in cells)
        + "</w:tr>"
    )


def test_a_table_with_one_question_to_a_row_is_read_between_the_questions_of_the_text() -> None:
    drafts, text = read(
        [
            "期末试卷",
            "一、选择题",
            "1. 栈的特点是（ ）",
            "A. 先进先出 B. 后进先出 C. 随机 D. 无序",
            "二、判断题",
            table(
                [["题号", "题目", "得分"], ["1", "二叉树一定是有序树。", ""], ["2", "线性表可以为空。", ""]]
            ),
            "三、简答题",
            "1. 什么是哈希冲突？",
            "参考答案",
            "一、1. B",
            "二、1-2 ×√",
            "三、1. 不同关键字映射到同一地址。",
        ]
    )
    assert rows(drafts) == [
        ("multiple_choice", "栈的特点是（）", ["先进先出", "后进先出", "随机", "无序"], ["B"]),
        ("true_false", "二叉树一定是有序树。", [], ["false"]),
        ("true_false", "线性表可以为空。", [], ["true"]),
        ("short_answer", "什么是哈希冲突？", [], ["不同关键字映射到同一地址。"]),
    ]
    assert text[drafts[1].start : drafts[1].end] == "1 | 二叉树一定是有序树。 | "


def test_options_stacked_in_one_cell_and_a_header_printed_again_on_the_next_page_are_read() -> None:
    stacked = "".join(paragraph(text) for text in ("A. 4小时", "B. 8小时", "C. 24小时", "D. 7天"))
    head = "".join(f"<w:tc>{paragraph(name)}</w:tc>" for name in ("题号", "题干", "选项", "答案", "解析"))
    row = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("1", "无菌包打开后有效期为（ ）"))
    row += f"<w:tc>{stacked}</w:tc><w:tc>{paragraph('C')}</w:tc><w:tc>{paragraph('须注明时间')}</w:tc>"
    again = row.replace("无菌包打开后", "无菌盘铺好后").replace('<w:t xml:space="preserve">C<', "<w:t>A<")
    body = f"<w:tr>{head}</w:tr><w:tr>{row}</w:tr>"
    drafts, _ = read(
        [f"<w:tbl>{body}</w:tbl>", "", f"<w:tbl><w:tr>{head}</w:tr><w:tr>{again}</w:tr></w:tbl>"]
    )
    options = ["4小时", "8小时", "24小时", "7天"]
    assert rows(drafts) == [
        ("multiple_choice", "无菌包打开后有效期为（）", options, ["C"]),
        ("multiple_choice", "无菌盘铺好后有效期为（）", options, ["A"]),
    ]
    assert [draft.explanation for draft in drafts] == ["须注明时间", "须注明时间"]


def test_title_rows_merged_cells_and_one_option_to_a_row_are_read() -> None:
    down, first = "<w:vMerge/>", '<w:vMerge w:val="restart"/>'
    drafts, _ = read(
        [
            "<w:tbl>"
            + merged(("序号", ""), ("试题", ""), ("选项", ""), ("正确答案", ""))
            + merged(("一、单项选择题", '<w:gridSpan w:val="4"/>'))
            + merged(("1", first), ("我国的根本大法是", first), ("A.宪法", ""), ("A", first))
            + merged(("", down), ("", down), ("B.刑法", ""), ("", down))
            + merged(("", down), ("", down), ("C.民法典", ""), ("", down))
            + merged(("二、判断题", '<w:gridSpan w:val="4"/>'))
            + merged(("2", ""), ("法律不溯及既往。", ""), ("", ""), ("对", ""))
            + "</w:tbl>"
        ]
    )
    assert rows(drafts) == [
        ("multiple_choice", "我国的根本大法是", ["宪法", "刑法", "民法典"], ["A"]),
        ("true_false", "法律不溯及既往。", [], ["true"]),
    ]


def test_tables_of_options_marks_keys_and_data_hold_no_questions() -> None:
    drafts, _ = read(
        [
            table([["题号", "一", "二", "总分"], ["得分", "", "", ""]]),
            "一、选择题",
            "1. 2的平方是（ ）",
            table([["A. 2", "B. 4"], ["C. 6", "D. 8"]]),
            "二、计算题",
            "1. 成绩如下表，求平均分。",
            table([["编号", "内容", "分数"], ["1", "甲同学的成绩", "80"], ["2", "乙同学的成绩", "90"]]),
            "参考答案",
            "一、选择题",
            table([["题号", "1", "2"], ["答案", "B", "A"]]),
        ]
    )
    assert rows(drafts) == [
        ("multiple_choice", "2的平方是（）", ["2", "4", "6", "8"], ["B"]),
        (
            "calculation",
            "成绩如下表，求平均分。\n编号 | 内容 | 分数\n1 | 甲同学的成绩 | 80\n2 | 乙同学的成绩 | 90",
            [],
            [],
        ),
    ]


@pytest.mark.parametrize(
    ("cells", "count"), [((("A1", "10", "12"), ("A2", "9", "4")), 1), ((("甲是哪年生？", "10", "12"),), 2)]
)
def test_a_few_rows_of_numbers_that_ask_nothing_are_data(
    cells: tuple[tuple[str, ...], ...], count: int
) -> None:
    drafts, _ = read(
        ["1. 求下表中利润的最大值。", table([["Item", "A", "B"], *map(list, cells)]), "写出步骤。"]
    )
    assert len(drafts) == count


def test_a_cell_with_a_place_to_write_is_no_answer() -> None:
    drafts, _ = read(
        [table([["Question", "Answer"], ["1) It stands for", "[ ………… ]"], ["2) It explains", "[ ………… ]"]])]
    )
    assert rows(drafts) == [
        ("short_answer", "It stands for", [], []),
        ("short_answer", "It explains", [], []),
    ]


def test_automatic_numbers_count_the_rows_of_a_table() -> None:
    empty = paragraph("", number=(1, 0))
    body = "".join(
        f"<w:tr><w:tc>{number}</w:tc><w:tc>{paragraph(stem)}</w:tc><w:tc>{paragraph(key)}</w:tc></w:tr>"
        for number, stem, key in (
            (paragraph("No."), "Question", "Answer"),
            (empty, "UDP is connection oriented.", "F"),
            (empty, "IP belongs to the network layer.", "T"),
        )
    )
    drafts, _ = read([f"<w:tbl>{body}</w:tbl>"], {"numbering.xml": numbering([[("decimal", "%1")]])})
    assert [(draft.value, draft.stem, draft.answer) for draft in drafts] == [
        (1, "UDP is connection oriented.", ["false"]),
        (2, "IP belongs to the network layer.", ["true"]),
    ]


QUESTIONS = (
    ("1. 最大的大洋是（ ）", ("大西洋", "太平洋", "印度洋", "北冰洋"), "B"),
    ("2. 位于南美洲的国家是（ ）", ("秘鲁", "埃及", "泰国", "荷兰"), "A"),
    ("3. 地球自转一周约需（ ）", ("一个月", "一年", "一天", "一小时"), "C"),
    ("4. 可再生能源是（ ）", ("煤", "石油", "天然气", "风能"), "D"),
)


def print_options(texts: Sequence[str], key: str, properties: str) -> list[str]:
    return [
        paragraph(run(f"{label}. {text}", properties if label in key else ""))
        for label, text in zip("ABCD", texts, strict=True)
    ]


def test_the_option_that_alone_stands_out_in_every_question_is_the_key() -> None:
    for properties in (RED, "<w:b/>", '<w:highlight w:val="yellow"/>', '<w:u w:val="single"/>'):
        blocks = ["一、单项选择题"]
        for stem, texts, key in QUESTIONS:
            blocks += [stem, *print_options(texts, key, properties)]
        drafts, _ = read(blocks)
        assert [(draft.answer, draft.notes) for draft in drafts] == [
            ([key], ["key_by_format"]) for _, _, key in QUESTIONS
        ]


def test_greys_and_pale_grounds_of_web_pages_mark_nothing_and_a_judgement_stands_out_like_a_key() -> None:
    grey = '<w:color w:val="666666"/><w:shd w:val="clear" w:fill="FDFDFD"/>'
    blocks = ["一、单项选择题"]
    for stem, texts, key in QUESTIONS:
        blocks += [
            paragraph(run(f"{label}. {text}", RED if label == key else grey))
            for label, text in zip("ABCD", texts, strict=True)
        ]
        blocks.insert(-4, paragraph(run(stem, grey)))
    judged = {"5. The tide turns twice a day.": ("True", "False"), "6. 潮汐与月亮有关。": ("错误", "正确")}
    for stem, (right, wrong) in judged.items():
        blocks += [stem, paragraph(run(f"A. {wrong}", grey)), paragraph(run(f"B. {right}", RED))]
    drafts, _ = read(blocks)
    assert [draft.answer for draft in drafts] == [
        *([key] for _, _, key in QUESTIONS), ["true"], ["false"],
    ]  # fmt: skip
    assert all("key_by_format" in draft.notes for draft in drafts)


def test_all_options_are_the_key_where_questions_beside_it_have_several() -> None:
    blocks = ["一、多项选择题"]
    for (stem, texts, _), key in zip(QUESTIONS, ("AB", "ACD", "ABCD", "BC"), strict=True):
        blocks += [stem, *print_options(texts, key, RED)]
    drafts, _ = read(blocks)
    assert ["".join(draft.answer) for draft in drafts] == ["AB", "ACD", "ABCD", "BC"]


def test_words_that_stand_out_where_no_blank_is_left_are_what_fills_the_blanks() -> None:
    line = '<w:u w:val="single"/>'
    drafts, _ = read(
        [
            "一、填空题",
            paragraph(run("1、脉率为"), run(" 60 ", line), run("～"), run(" 100 ", line), run("次/分。")),
            paragraph(run("2、压力表至少要保留"), run(" 0.5 ", line), run("MPa。")),
        ]
    )
    assert [(draft.stem, draft.answer, draft.notes) for draft in drafts] == [
        ("脉率为____～ ____ 次/分。", ["60", "100"], ["key_by_format"]),
        ("压力表至少要保留____MPa。", ["0.5"], ["key_by_format"]),
    ]


def test_print_is_no_key_where_it_is_on_every_label_on_part_of_an_option_or_in_few_questions() -> None:
    labels, parts, few = ["一、选择题"], ["一、选择题"], ["一、选择题"]
    for place, (stem, texts, key) in enumerate(QUESTIONS):
        pairs = list(zip("ABCD", texts, strict=True))
        labels += [stem, *(paragraph(run(f"{label}. ", "<w:b/>"), run(text)) for label, text in pairs)]
        parts += [
            stem,
            *(paragraph(run(f"{label}. {text[:1]}"), run(text[1:] + "，即此", RED)) for label, text in pairs),
        ]
        few += [stem, *print_options(texts, key if place == 1 else "", RED)]
    for blocks in (labels, parts, few):
        drafts, _ = read(blocks)
        assert [draft.answer for draft in drafts] == [[], [], [], []]


def test_print_that_contradicts_the_printed_keys_is_no_key() -> None:
    blocks = ["一、选择题"]
    for place, (stem, texts, key) in enumerate((*QUESTIONS, *QUESTIONS)):
        wrong = "ABCD"[("ABCD".index(key) + 1) % 4]
        printed = stem.replace("（ ）", f"（{wrong}）") if place < 4 else stem
        blocks += [f"{place + 1}{printed[1:]}", *print_options(texts, key, RED)]
    drafts, _ = read(blocks)
    assert [draft.answer for draft in drafts[4:]] == [[], [], [], []]


def test_a_table_with_one_answer_to_a_row_answers_the_questions() -> None:
    questions = [
        "一、选择题",
        "1. 栈的特点是（ ）",
        "A. 先进先出 B. 后进先出",
        "2. 队列的特点是（ ）",
        "A. 先进先出 B. 后进先出",
    ]
    explained = table([["题号", "答案", "解析"], ["1", "B", "见第三章"], ["2", "A", "见第四章"]])
    drafts, _ = read([*questions, "参考答案", explained])
    assert [(draft.answer, draft.explanation) for draft in drafts] == [
        (["B"], "见第三章"),
        (["A"], "见第四章"),
    ]
    beside = table([["题号", "答案", "题号", "答案"], ["1", "B", "2", "A"]])
    drafts, _ = read([*questions, beside])
    assert [draft.answer for draft in drafts] == [["B"], ["A"]]


HARBOUR = [
    line
    for number, stem in enumerate(
        ("Who keeps the lamp?", "What turns the mill?", "Where is the fair?", "When?")
    )
    for line in (f"{number + 1}. {stem}", "A. one", "B. two", "C. three", "D. four")
]


def test_a_table_of_numbers_and_keys_below_the_questions_needs_no_names() -> None:
    keys = table([["1", "B", "3", "D"], ["2", "C", "4", "B"]])
    drafts, _ = read([*HARBOUR, "Marking grid (staff only)", keys])
    assert [draft.answer for draft in drafts] == [["B"], ["C"], ["D"], ["B"]]
    assert drafts[-1].options[-1] == ("D", "four")


@pytest.mark.parametrize(
    "rows",
    [
        [["1", "B", "3", "D"], ["2", "C", "9", "B"]],  # leaves numbers out
        [["1", "B", "3", "12"], ["2", "C", "4", "7"]],  # measurements
        [["1", "A", "3", "A"], ["2", "A", "4", "A"]],
        [["1", "B", "4", "D"], ["2", "C", "5", "B"], ["3", "A", "6", "A"]],  # more than was asked
    ],
)
def test_a_table_of_numbers_and_other_things_is_no_key(rows: list[list[str]]) -> None:
    drafts, _ = read([*HARBOUR, "Tides of the week", table(rows)])
    assert [draft.answer for draft in drafts] == [[], [], [], []]


def test_a_table_of_numbers_and_letters_between_questions_is_data() -> None:
    codes = table([["1", "B", "3", "D"], ["2", "C", "4", "B"]])
    drafts, _ = read([*HARBOUR[:10], "3. Which letters has the code?", codes, *HARBOUR[11:]])
    assert [draft.answer for draft in drafts] == [[], [], [], []]


def test_ticks_typed_in_a_symbol_font_are_read() -> None:
    def tick(character: str, font: str) -> str:
        return run(character, f'<w:rFonts w:ascii="{font}" w:hAnsi="{font}"/>')

    drafts, _ = read(
        [
            "一、判断题",
            paragraph("1. 水是化合物。（", tick("ü", "Wingdings"), "）"),
            paragraph("2. 铁是非金属。（", tick("û", "Wingdings"), "）"),
            paragraph("3. 金刚石是碳。（", tick("\uf0d6", "Symbol"), "）"),
        ]
    )
    assert [draft.answer for draft in drafts] == [["true"], ["false"], ["true"]]


def test_a_web_page_keeps_the_text_around_a_table_of_questions() -> None:
    page = (
        "<html><body><h2>消防安全知识测试（共两部分，请在规定的时间内独立完成，不得翻阅任何资料，不得与他人讨论）</h2>"
        "<p>一、单选题</p><table><tr><th>序号</th><th>题目</th><th>A</th><th>B</th><th>答案</th></tr>"
        "<tr><td>1</td><td>报警电话是哪一个？</td><td>110</td><td>119</td><td>B</td></tr></table>"
        "<p>二、简答题</p><p>1. 简述灭火的基本方法。</p></body></html>"
    )
    lines = read_html(page.encode()).lines
    assert rows(split_lines(lines, join_lines(lines)[1]).drafts) == [
        ("multiple_choice", "报警电话是哪一个？", ["110", "119"], ["B"]),
        ("short_answer", "简述灭火的基本方法。", [], []),
    ]


def test_circled_numbers_in_a_row_are_no_numbers_of_a_key_table() -> None:
    lines = [Line(text) for text in ("1. 下列属于河流的是（ A ）", "①\t2", "A. 长江  B. 泰山  C. 故宫")]
    drafts = split_lines(lines, join_lines(lines)[1]).drafts
    assert [(draft.number_label, draft.answer) for draft in drafts] == [("1.", ["A"])]


def test_options_in_the_rows_of_a_table_keep_the_sign_beside_the_right_one() -> None:
    paper = "\n".join(
        f"{number}. {stem}\n\n|   |   |   |\n| --- | --- | --- |\n{rows}\n"
        for number, (stem, rows) in enumerate(
            [
                ("Which of these float?", "|   | a. | lead |\n| * | b. | oak |\n|   | c. | slate |"),
                ("Which of these bend?", "| * | a. | ash |\n|   | b. | glass |\n|   | c. | slate |"),
                ("Which of these burn?", "|   | a. | lead |\n|   | b. | slate |\n| * | c. | coal |"),
            ],
            start=1,
        )
    )
    lines = read_text(paper.encode()).lines
    _, starts, _ = join_lines(lines)
    drafts = split_lines(lines, starts).drafts
    assert [(draft.stem, draft.options, draft.answer) for draft in drafts] == [
        ("Which of these float?", [("A", "lead"), ("B", "oak"), ("C", "slate")], ["B"]),
        ("Which of these bend?", [("A", "ash"), ("B", "glass"), ("C", "slate")], ["A"]),
        ("Which of these burn?", [("A", "lead"), ("B", "slate"), ("C", "coal")], ["C"]),
    ]


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        (
            ["#", "Statement", "T", "F"],
            ["3", "Water boils at 100 °C.", "X", ""],
            ["4", "Ice is warm.", "", "X"],
        ),
        (
            ["No", "Statement", "True", "False"],
            ["3", "Water boils at 100 °C.", "✓", "✗"],
            ["4", "Ice is warm.", "✗", "✓"],
        ),
        (["", "Vrai", "Faux"], ["3) Water boils at 100 °C.", "☑", "☐"], ["4) Ice is warm.", "□", "☒"]),
    ],
)
def test_statements_ticked_as_true_or_false_in_columns_of_a_table_are_questions(
    header: list[str], first: list[str], second: list[str]
) -> None:
    empty = ["5", "Steam is water.", "", ""] if len(header) == 4 else ["5) Steam is water.", "□", "□"]
    drafts, _ = read(
        [
            "Part 1: Short answers",
            "1. What is water made of?",
            "2. What is fog?",
            "Part 2",
            table([header, first, second, empty]),
            "Part 3: Short answers",
            "6. What is dew?",
        ]
    )
    assert rows(drafts)[2:5] == [
        ("true_false", "Water boils at 100 °C.", [], ["true"]),
        ("true_false", "Ice is warm.", [], ["false"]),
        ("true_false", "Steam is water.", [], []),
    ]
    assert [draft.value for draft in drafts] == [1, 2, 3, 4, 5, 6]


def test_what_a_style_sheet_sets_apart_in_a_web_page_is_apart() -> None:
    page = "".join(
        f'<div><span class="name">Question {number}</span><span class="points">1 / 1 pts</span></div>'
        f"<p>Which is {number}?</p><p>A. one</p><p>B. two</p><p>C. three</p>"
        for number in range(1, 7)
    )
    lines = read_html(f"<html><body>{page}</body></html>".encode(), None).lines
    _, starts, _ = join_lines(lines)
    assert [draft.stem for draft in split_lines(lines, starts).drafts] == [
        f"Which is {n}?" for n in range(1, 7)
    ]


def test_rows_of_a_box_and_an_option_below_a_row_with_what_the_question_is_worth_are_read() -> None:
    asked = (
        ("Who lights the lamp?", ("☑", "the keeper"), ("☐", "the miller"), ("☐", "the smith")),
        ("What turns the wheel?", ("☐", "fire"), ("☑", "water"), ("☐", "salt")),
        ("Who rings the bell?", ("☐", "a fish"), ("☐", "a bird"), ("☑", "the ferryman")),
    )
    blocks = ["10 Harbour"]
    for number, (stem, *options) in enumerate(asked, start=1):
        cells = [[str(number), stem, "(1,00 P.)"], *([sign, text, ""] for sign, text in options)]
        blocks += [table(cells), ""]
    drafts, _ = read(blocks)
    assert rows(drafts) == [
        (
            "multiple_choice",
            stem,
            [text for _, text in options],
            ["ABC"[[sign for sign, _ in options].index("☑")]],
        )
        for stem, *options in asked
    ]


def test_a_table_with_one_column_to_judge_in_is_read_with_its_corrections() -> None:
    drafts, _ = read(
        [
            "Exercice 2 – Vrai ou faux ? Corrige les phrases fausses.",
            table(
                [
                    ["", "Affirmation", "V / F", "Correction"],
                    ["1", "Le phare éclaire la mer.", "V", ""],
                    ["2", "Le moulin moud le sel.", "F", "Il moud le grain."],
                    ["3", "Le bac passe la rivière.", "V", ""],
                ]
            ),
        ]
    )
    assert [(draft.question_type, draft.stem, draft.answer, draft.explanation) for draft in drafts] == [
        ("true_false", "Le phare éclaire la mer.", ["true"], None),
        ("true_false", "Le moulin moud le sel.", ["false"], "Il moud le grain."),
        ("true_false", "Le bac passe la rivière.", ["true"], None),
    ]


def test_words_in_colour_fill_gaps_and_lines_in_colour_answer_what_stands_above_them() -> None:
    drafts, _ = read(
        [
            "一、填空题",
            paragraph("1. 灯塔立在", run("港口", RED), "（一九二〇年建）。"),
            paragraph("2. 水车靠", run("水", RED), "转动，水磨也靠水。"),
            "二、简答题",
            "3. 灯塔有什么用？",
            paragraph(run("→ 为船照路。", RED)),
            "4. 渡口在哪里？",
            paragraph(run("答：在河边。", RED)),
        ]
    )
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        ("灯塔立在____（一九二〇年建）。", ["港口"]),
        ("水车靠____转动，水磨也靠水。", ["水"]),
        ("灯塔有什么用？", ["为船照路。"]),
        ("渡口在哪里？", ["在河边。"]),
    ]


def test_a_list_of_a_web_page_offers_its_items_once_below_what_they_belong_to() -> None:
    select = "<select><option>Choose...</option><option>turns</option><option>shines</option></select>"
    page = f"<p>1. Match.</p><table><tr><td>lamp</td><td>{select}</td></tr><tr><td>wheel</td><td>{select}</td></tr></table>"
    lines = read_html(f"<html><body>{page}<p>2. It {select} at night.</p></body></html>".encode(), None).lines
    assert [line.text for line in lines if line.text] == [
        "1. Match.",
        "lamp",
        "wheel",
        "turns",
        "shines",
        "2. It (turns / shines) at night.",
    ]


def test_a_list_of_a_web_page_whose_first_item_is_a_statement_or_a_sign_keeps_it() -> None:
    lists = (("SELECT", "INSERT"), ("-", "+"), ("", "a lamp"))
    page = "".join(
        f"<p>{number}. Use <select>{''.join(f'<option>{item}</option>' for item in items)}</select></p>"
        for number, items in enumerate(lists, start=1)
    )
    lines = read_html(f"<html><body>{page}</body></html>".encode(), None).lines
    assert [line.text for line in lines if line.text] == [
        "1. Use (SELECT / INSERT)",
        "2. Use (- / +)",
        "3. Use (a lamp)",
    ]


def test_the_texts_of_several_options_are_their_key_though_the_first_begins_with_a() -> None:
    lines = [
        Line(text)
        for text in (
            "1. Which of these are kept at the harbour?",
            "A. A lamp",
            "B. A bell",
            "C. A mill",
            "Answer: A lamp, A bell",
        )
    ]
    _, starts, _ = join_lines(lines)
    assert [draft.answer for draft in split_lines(lines, starts).drafts] == [["A", "B"]]


def test_what_somebody_chose_or_wrote_in_a_web_page_is_no_text_of_its_questions() -> None:
    page = """<html><body>
      <div class="que match"><p>1. Match each boat with its place.</p>
      <p>ferry <select><option>Choose...</option><option>river</option><option selected>sea</option></select></p>
      <p>Correct answer: ferry - river</p></div>
      <div class="que essay"><p>2. Describe a harbour.</p>
      <div class="answer"><p>It is wet.</p></div><textarea>And cold.</textarea>
      <p>Information for graders: water, walls, ships</p></div></body></html>"""
    extraction = read_html(page.encode())
    _, starts, _ = join_lines(extraction.lines)
    drafts = split_lines(extraction.lines, starts).drafts
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        ("Match each boat with its place.\nferry (river / sea)", ["ferry - river"]),
        ("Describe a harbour.", ["water, walls, ships"]),
    ]


@pytest.mark.parametrize("properties", ['<w:u w:val="single"/>', '<w:highlight w:val="yellow"/>', RED])
def test_the_letter_that_alone_stands_out_among_those_of_an_options_list_is_the_key(properties: str) -> None:
    blocks = ["一、单项选择题"]
    for stem, texts, key in QUESTIONS:
        pairs = zip("ABCD", texts, strict=True)
        bold = "<w:b/>"
        blocks += [
            stem,
            *(
                paragraph(run(f"{label}. ", bold + properties if label == key else bold), run(text))
                for label, text in pairs
            ),
        ]
    drafts, _ = read(blocks)
    assert [draft.answer for draft in drafts] == [[key] for _, _, key in QUESTIONS]


@pytest.mark.parametrize("properties", [RED, "<w:i/>"])
def test_two_answers_that_stand_out_below_all_that_is_asked_are_enough(properties: str) -> None:
    drafts, _ = read(
        [
            "Part 1 – Short Answer",
            "1. What does a lighthouse do?",
            paragraph(run("It shows ships the harbour.", properties)),
            "2. What turns a water mill?",
            paragraph(run("The stream below the weir.", properties)),
        ]
    )
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        ("What does a lighthouse do?", ["It shows ships the harbour."]),
        ("What turns a water mill?", ["The stream below the weir."]),
    ]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("Discuss this statement:", "A mill is worth more than a ferry."),
        ("How heavy is the stone?", "(Give your answer in kg.)"),
        ("Name the place of which you read here.", "The wheel goes round, the stone is cold."),
    ],
)
def test_what_a_question_shows_in_italics_below_it_is_no_answer(asked: str, shown: str) -> None:
    lines = [f"1. {asked}", paragraph(run(shown, "<w:i/>")), f"2. {asked}", paragraph(run(shown, "<w:i/>"))]
    drafts, _ = read(lines)
    assert [(draft.stem, draft.answer) for draft in drafts] == [(f"{asked}\n{shown}", [])] * 2


def test_words_that_are_asked_about_by_their_print_are_no_gaps() -> None:
    underlined = '<w:u w:val="single"/>'
    drafts, _ = read(
        [
            "一、填空题（写出画线词的拼音）",
            paragraph(run("1. 他"), run("走", underlined), run("进灯塔。")),
            paragraph(run("2. 她"), run("看", underlined), run("见磨坊。")),
        ]
    )
    assert [(draft.stem, draft.answer) for draft in drafts] == [("他走进灯塔。", []), ("她看见磨坊。", [])]


def test_words_in_italics_inside_or_above_what_is_asked_are_no_answers() -> None:
    italic = "<w:i/>"
    drafts, _ = read(
        [
            "Part 1 – Short Answer",
            paragraph(run("1. Where does "), run("Salmo trutta", italic), run(" live?")),
            paragraph(run("2. Read the note: "), run("the mill is shut.", italic)),
            "Who wrote it?",
            "3. What turns a mill?",
        ]
    )
    assert [draft.answer for draft in drafts] == [[], [], []]


def test_a_table_of_questions_below_instructions_offers_small_letters_and_is_answered_by_one_below() -> None:
    asked = [
        ("1", "Who needs a lighthouse?\na) farmers        b) sailors\nc) millers        d) carters", "1"),
        ("2", "What turns a mill?\na) salt        b) rope\nc) water        d) sand", "1"),
        ("3", "Where is a ferry?\na) on a hill        b) in a barn\nc) in a kiln        d) on a river", "1"),
        ("4", "The Lock\n4.1 Who works it? (1)\n4.2 What does it hold? (1)", "1+1"),
    ]
    keys = [("1", "b) sailors", "1"), ("2", "c) water", "1"), ("3", "d) on a river", "1")]
    parts = [("4.1", "The keeper", "1"), ("4.2", "Water", "1")]
    drafts, _ = read(
        [
            "HARBOUR SCHOOL",
            "General Instructions:",
            "i. The paper has 4 questions.",
            "ii. All questions are compulsory.",
            table([("Q. No.", "Question", "Marks"), *asked]),
            "MARKING SCHEME – TEST II – HARBOURS",
            table([("Q. No.", "Value points", "Marks"), *keys, *parts]),
        ]
    )
    assert rows(drafts)[:3] == [
        ("multiple_choice", "Who needs a lighthouse?", ["farmers", "sailors", "millers", "carters"], ["B"]),
        ("multiple_choice", "What turns a mill?", ["salt", "rope", "water", "sand"], ["C"]),
        (
            "multiple_choice",
            "Where is a ferry?",
            ["on a hill", "in a barn", "in a kiln", "on a river"],
            ["D"],
        ),
    ]
    assert drafts[3].answer == ["4.1 The keeper\n4.2 Water"]


def test_numbers_behind_a_word_count_the_rows_of_a_table_of_keys() -> None:
    keys = table(
        [
            ["問題", "正解", "解説"],
            ["問1", "B", "海から"],
            ["問2", "C", ""],
            ["問3", "D", ""],
            ["問4", "A", ""],
        ]
    )
    drafts, _ = read([*HARBOUR, "正解と解説", keys])
    assert [(draft.answer, draft.explanation) for draft in drafts] == [
        (["B"], "海から"),
        (["C"], None),
        (["D"], None),
        (["A"], None),
    ]


def test_what_stands_before_the_first_number_and_asks_nothing_is_no_question() -> None:
    page = "".join(
        f"<p>Question {number}</p><p>{stem}</p><ul><li>one</li><li>two</li></ul><p>Answer: one</p>"
        for number, stem in enumerate(
            ("Who keeps the lamp?", "What turns the mill?", "Who rows?", "Who ploughs?", "Who sails?"), 1
        )
    )
    lines = read_html(
        f"<h1>Practice Test 7</h1><p>You have ten minutes. Choose your answer and click.</p>{page}".encode()
    ).lines
    _, starts, _ = join_lines(lines)
    assert [draft.value for draft in split_lines(lines, starts).drafts] == [1, 2, 3, 4, 5]


def test_questions_with_a_field_to_a_row_are_read_whether_each_has_a_table_or_one_has_all() -> None:
    lake = [
        ["题型", "单选题"],
        ["题目", "我国面积最大的淡水湖是哪一个？"],
        ["A", "洞庭湖"],
        ["B", "鄱阳湖"],
        ["答案", "B"],
        ["解析", "见教材。"],
    ]
    island = [
        ["题型", "单选题"],
        ["题目", "我国第一大岛是哪一个？"],
        ["A", "台湾岛"],
        ["B", "海南岛"],
        ["答案", "A"],
    ]
    expected = [
        ("multiple_choice", "我国面积最大的淡水湖是哪一个？", ["洞庭湖", "鄱阳湖"], ["B"]),
        ("multiple_choice", "我国第一大岛是哪一个？", ["台湾岛", "海南岛"], ["A"]),
    ]
    for blocks in ([table(lake), "", table(island)], [table([*lake, *island])]):
        drafts, _ = read(["地理题库", *blocks])
        assert rows(drafts) == expected
        assert [(draft.number_label, draft.explanation) for draft in drafts] == [
            ("1", "见教材。"),
            ("2", None),
        ]


def test_a_single_table_of_names_and_values_is_no_question() -> None:
    drafts, _ = read(
        [
            "1. 下表的题库有几道题？",
            table([["题目", "光合作用的意义是什么？"], ["答案", "十二道"]]),
            "2. 说明理由。",
        ]
    )
    assert [draft.number_label for draft in drafts] == ["1.", "2."]


def test_a_question_word_may_stand_before_the_number_of_a_row() -> None:
    asked = {
        "Where does the ferry land?": "B",
        "Who keeps the lamp?": "A",
        "When does the bell ring?": "A",
        "What does the mill grind?": "B",
    }
    drafts, _ = read(
        [
            block
            for number, (stem, key) in enumerate(asked.items(), start=1)
            for block in (
                table([[f"Q{number}", stem], ["", "A) the pier"], ["", "B) the mill"], ["Answer", key]]),
                "",
            )
        ]
    )
    assert rows(drafts) == [
        ("multiple_choice", stem, ["the pier", "the mill"], [key]) for stem, key in asked.items()
    ]


def test_a_row_above_the_names_of_the_columns_costs_no_question() -> None:
    title = merged(("Section A (2 marks each)", '<w:gridSpan w:val="3"/>'))
    asked = ["Where does the ferry land?", "Who keeps the lamp?", "When does the bell ring?"]
    lists = table(
        [["No", "Question", "Score"], *([str(place), stem, ""] for place, stem in enumerate(asked, start=1))]
    )
    drafts, _ = read(["Written test", lists.replace("<w:tr>", f"{title}<w:tr>", 1)])
    assert [(draft.number_label, draft.stem) for draft in drafts] == [
        (str(place), stem) for place, stem in enumerate(asked, start=1)
    ]


@pytest.mark.parametrize("key", ["Answers: BABA", "Answers: B A B A"])
def test_keys_without_numbers_below_a_table_answer_its_rows_in_order(key: str) -> None:
    asked = ["Where does the ferry land?", "Who keeps the lamp?", "When does it ring?", "What is ground?"]
    lists = table(
        [
            ["No", "Question", "Score"],
            *(
                [str(at), f"{stem}  A. the pier  B. the mill  C. the inn", ""]
                for at, stem in enumerate(asked, start=1)
            ),
        ]
    )
    drafts, _ = read(["Written test", lists, key])
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        (stem, [letter]) for stem, letter in zip(asked, "BABA", strict=True)
    ]


def test_numbered_cells_beside_each_other_that_ask_are_questions_and_those_of_a_word_box_are_not() -> None:
    sums = [["1. 3+5=", "2. 9-4="], ["3. 7+8=", "4. 6×3="], ["5. 12÷4=", ""]]
    drafts, _ = read(["口算练习", table(sums), "答案：1. 8  2. 5  3. 15  4. 18  5. 3"])
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        ("3+5=", ["8"]),
        ("9-4=", ["5"]),
        ("7+8=", ["15"]),
        ("6×3=", ["18"]),
        ("12÷4=", ["3"]),
    ]
    words = [["1. lamp", "2. pier"], ["3. mill", "4. bell"]]
    room = [["1. ____", "2. ____"], ["3. （ ）", "4. （ ）"]]  # for the answers
    for grid in (words, room):
        drafts, _ = read([table(grid), "1. What gives light?", "2. What rings?", "3. What grinds barley?"])
        assert [draft.stem for draft in drafts] == ["What gives light?", "What rings?", "What grinds barley?"]


_ASKED = [
    line
    for number in range(1, 7)
    for line in (f"{number}. Which mill is number {number}?", "A. sea", "B. hill", "C. wood", "D. town")
]


@pytest.mark.parametrize(
    "names", [["Item", "Kind of item", "Correct Response", "Standard", "Points"], ["#", "K", "R", "S", "W"]]
)
def test_a_column_of_keys_among_others_is_the_key_below_a_title_of_answers(names: list[str]) -> None:
    keys = [[str(at), "MC", key, f"5.G.{at}", "1"] for at, key in enumerate("ABBCDA", start=1)]
    drafts, _ = read([*_ASKED, "Answer Key", table([names, *keys]), "MC = multiple choice"])
    assert ["".join(draft.answer) for draft in drafts] == [*"ABBCDA"]
    assert drafts[-1].explanation is None


def test_a_table_with_letters_below_a_numbered_answer_is_data() -> None:
    data = [[str(at), "mill", key, f"{at}0", "1"] for at, key in enumerate("ABBCDA", start=1)]
    drafts, _ = read(
        [*_ASKED, "Answers", "1. see the table", table([["No", "Name", "Grade", "Sum", "W"], *data])]
    )
    assert not any(draft.answer[:1] in (["B"], ["C"], ["D"]) for draft in drafts)


def test_numbered_options_are_keyed_by_rows_of_numbers_and_keys_one_below_the_other() -> None:
    asked = [
        line
        for number in range(1, 7)
        for line in (
            f"{number}. Which mill is number {number}?",
            "(1) sea",
            "(2) hill",
            "(3) wood",
            "(4) town (   )",
        )
    ]
    keys = table([["Q1", "Q2", "Q3"], ["(1)", "(3)", "(2)"], ["Q4", "Q5", "Q6"], ["(4)", "(1)", "(2)"]])
    drafts, _ = read([*asked, "ANSWERS", keys])
    assert ["".join(draft.answer) for draft in drafts] == [*"ACBDAB"]
    assert all([text for _, text in draft.options] == ["sea", "hill", "wood", "town"] for draft in drafts)


def _lettered(*texts: str) -> str:
    rows = [[f"{letter}.", text, "2", "CO1"] for letter, text in zip("abcdef", texts, strict=False)]
    return table([["Q.1", "Question", "Marks", "CO"], *rows])


def test_the_lettered_rows_of_a_table_are_questions_where_some_or_all_are_to_be_attempted() -> None:
    drafts, _ = read(
        [
            "SECTION A",
            "1. Attempt all questions in brief.  2 x 2 = 4",
            _lettered("What is meant by a mill race?", "List two kinds of sails."),
            "SECTION B",
            "2. Attempt any one part of the following:  2 x 1 = 2",
            _lettered("Explain the lamp of a lighthouse.", "Who keeps the lamp?"),
        ]
    )
    assert [(draft.number_label, draft.stem, draft.marks) for draft in drafts] == [
        ("a.", "What is meant by a mill race?", 2.0),
        ("b.", "List two kinds of sails.", 2.0),
        ("a.", "Explain the lamp of a lighthouse.", 2.0),
        ("b.", "Who keeps the lamp?", 2.0),
    ]


def test_lettered_rows_below_what_asks_by_itself_stay_its_parts() -> None:
    drafts, _ = read(
        [
            "1. Who keeps the lamp?",
            "2. A mill stands at the river. Use the table.",
            _lettered("What is meant by a mill race?", "List two kinds of sails."),
        ]
    )
    assert [draft.stem.splitlines()[0] for draft in drafts] == [
        "Who keeps the lamp?",
        "A mill stands at the river. Use the table.",
    ]


@pytest.mark.parametrize("names", [["", "", "", ""], ["No", "Mill", "Grade", "Corn"]])
def test_a_table_with_a_column_of_letters_below_the_questions_is_no_key(names: list[str]) -> None:
    data = [[str(at), f"mill {at}", key, f"{at}0"] for at, key in enumerate("ABBCDA", start=1)]
    drafts, _ = read([*_ASKED, table([names, *data])])
    assert not any(draft.answer for draft in drafts)


def test_letters_of_the_alphabet_that_labels_the_options_are_keys_in_a_table_too() -> None:
    lines = [
        "1. Что плывёт?",
        "а) лодка;",
        "б) камень;",
        "в) гвоздь.",
        "2. Что тонет?",
        "а) пробка;",
        "б) гвоздь;",
        "в) камень.",
    ]
    key = table([["№ задания", "Верный ответ"], ["1", "а"], ["2", "б, в"]])
    drafts, _ = read([*map(paragraph, map(run, lines)), paragraph(run("Ключ к заданиям")), key])
    assert [draft.answer for draft in drafts] == [["A"], ["B", "C"]]
    # of a table that nothing announces they are data
    data = table([["1", "а"], ["2", "в"], ["3", "б"]])
    drafts, _ = read([*map(paragraph, map(run, lines)), data])
    assert [draft.answer for draft in drafts] == [[], []]


def test_a_report_of_how_often_options_were_chosen_offers_them() -> None:
    asked = [
        paragraph(run("第1题 灯塔的光是什么颜色？ [单选题]")),
        table(
            [
                ["选项", "小计", "比例"],
                ["红", "3", "6%"],
                ["白(答案)", "45", "90%"],
                ["绿", "2", "4%"],
                ["本题有效填写人次", "50", ""],
            ]
        ),
        paragraph(run("第2题 哪些是航标？ [多选题]")),
        table(
            [
                ["选项", "小计", "比例"],
                ["浮标(答案)", "40", "80%"],
                ["渔网", "5", "10%"],
                ["灯塔(答案)", "44", "88%"],
                ["本题有效填写人次", "50", ""],
            ]
        ),
    ]
    drafts, _ = read(asked)
    assert rows(drafts) == [
        ("multiple_choice", "灯塔的光是什么颜色？", ["红", "白", "绿"], ["B"]),
        ("multiple_choice", "哪些是航标？", ["浮标", "渔网", "灯塔"], ["A", "C"]),
    ]
    data = table([["选项", "户数", "比例"], ["东村", "3", "60%"], ["西村", "2", "40%"]])
    drafts, _ = read([paragraph(run("1. 读表，哪个村户数多？")), data, paragraph(run("2. 户数共有多少？"))])
    assert [draft.options for draft in drafts] == [[], []]
