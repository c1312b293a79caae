"""Spreadsheets and records: columns found by name, by content, or reported."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
import yaml

from tasks.ingest.documents import IngestOptions, parse_document
from tasks.ingest.readers.extraction import Sheet
from tasks.ingest.readers.number_formats import write_number
from tasks.ingest.readers.plain_text import read_text
from tasks.ingest.readers.workbook import read_workbook
from tasks.ingest.tables.packed_options import split_packed_options
from tasks.ingest.tables.records import split_records
from tasks.ingest.tables.sheets import SheetSplit, split_sheets
from tasks.ingest.words.columns import find_header, find_role
from tasks.ingest.words.disciplines import name_discipline
from tests.tasks.ingest.builders import make_xlsx, make_zip


def brief(result: SheetSplit) -> list[tuple[str, str, str, list[str]]]:
    return [
        (draft.question_type, draft.stem, "/".join(text for _, text in draft.options), draft.answer)
        for draft in result.drafts
    ]


CASES: dict[str, tuple[list[Sheet], list[tuple[str, str, str, list[str]]]]] = {
    case["case"]: ([Sheet(*sheet) for sheet in case["sheets"].items()], list(map(tuple, case["questions"])))
    for case in yaml.load(Path(__file__).with_name("sheets.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_questions_of_this_sheet_layout_are_read(case: str) -> None:
    sheets, expected = CASES[case]
    assert brief(split_sheets(sheets)) == expected


def test_a_text_of_columns_without_names_is_a_table_and_what_questions_are_about_stands_before_them() -> None:
    passage = (
        "一艘船在上午八点离开港口，顺着海岸向南行驶了三个小时，到中午时风向变了，船长决定改走另一条航线。"
    )
    lines = [
        f"航海\t常识\t{passage}\t船最初向哪个方向行驶（  ）\t东\t南\t西\t北\tB\t简单",
        f"航海\t常识\t{passage}\t风向在什么时候变了（  ）\t清晨\t上午\t中午\t夜里\tC\t简单",
        f"航海\t常识\t{passage[:40]}\t船离港时是几点（  ）\t六点\t七点\t八点\t九点\tC\t简单",
        "航海\t常识\t\t下列哪一项不是船的部分（  ）\t船舵\t船锚\t船帆\t车轮\tD\t中等",
    ]
    (sheet,) = read_text("\n".join(lines).encode()).sheets
    found = split_sheets([sheet]).drafts
    assert [one.material for one in found] == [passage, passage, passage[:40], None]
    assert [one.stem[:4] for one in found] == ["船最初向", "风向在什", "船离港时", "下列哪一"]
    assert [one.answer for one in found] == [["B"], ["C"], ["C"], ["D"]]
    # Options in a row between stems without a tab are no table.
    assert not read_text("1. 甲是什么\nA. 一\tB. 二\tC. 三\tD. 四\n".encode() * 6).sheets


def test_empty_numbered_rows_and_schema_rows_are_reported() -> None:
    sheets, _ = CASES["schema rows below the header, and filler in the key"]
    result = split_sheets(sheets)
    assert result.warnings == [
        "Sheet '题|q': 1 numbered rows have no question text and were left out.",
        "Sheet '题|q': 2 further header rows below the header were left out.",
    ]
    assert "answer_is_filler" in result.drafts[1].notes


def test_a_sheet_that_maps_to_nothing_is_reported_with_its_headers() -> None:
    result = split_sheets([Sheet("参数", [["name", "value"], ["limit", "7"]])])
    assert brief(result) == []
    assert "'参数'" in result.warnings[0]
    assert "'name', 'value'" in result.warnings[0]


def test_every_question_points_to_its_row_in_the_text() -> None:
    for sheets, _ in CASES.values():
        result = split_sheets(sheets)
        for draft in result.drafts:
            assert draft.stem[:1] in result.text[draft.start : draft.end]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.甲 B.乙 C.丙", ["甲", "乙", "丙"]),
        ("A;甲,B;乙,C;丙", ["甲", "乙", "丙"]),
        ("甲|乙|丙", ["甲", "乙", "丙"]),
        ("A、甲\nB、乙", ["甲", "乙"]),
        ('["甲", "乙"]', ["甲", "乙"]),
        ('{"A": "甲", "B": "乙"}', ["甲", "乙"]),
        ("甲；乙；丙；丁", ["甲", "乙", "丙", "丁"]),
        ("A:1,000 B:2,000", ["1,000", "2,000"]),
        ("A) =1+1; B) =2; C) =3", ["=1+1", "=2", "=3"]),
        ("(A)=1+1 (B)=2 (C)=3", ["=1+1", "=2", "=3"]),
        ("(A)-1 (B)-2", ["-1", "-2"]),
        ("A =1+1 B =2", ["=1+1", "=2"]),
        ("A -1 B -2", ["-1", "-2"]),
        ("A. =1+1 B. =2", ["=1+1", "=2"]),
        ("A=苹果;B=梨", ["苹果", "梨"]),
        ("A - 苹果; B - 梨", ["苹果", "梨"]),
        ("甲/乙/丙", ["甲", "乙", "丙"]),
        ("甲/乙", []),
        ("1.甲\n2.乙", ["甲", "乙"]),
        ("(i) a mill\n(ii) a ship", ["a mill", "a ship"]),
        ("1 kg|2 kg", ["1 kg", "2 kg"]),
        ("1.5|2.5", ["1.5", "2.5"]),
        ("(1)|(2)", ["(1)", "(2)"]),
        ("①②|②③|①②③", ["①②", "②③", "①②③"]),
        ("10<sup>3</sup>|H<sub>2</sub>O", ["10³", "H₂O"]),
        ("<b>x</b> or x<sup>2</sup>|<i>x</i>", ["<b>x</b> or x<sup>2</sup>", "<i>x</i>"]),
    ],
)
def test_options_packed_into_one_cell_are_separated(text: str, expected: list[str]) -> None:
    assert [option for _, option in split_packed_options(text, "zh")] == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"question": "q one?", "choices": ["a", "b", "c"], "answer": 1}, ("multiple_choice", "q one?", "a/b/c", ["B"])),
        ({"question": "The sky is blue.", "answer": True}, ("true_false", "The sky is blue.", "", ["true"])),
        ({"id": 3, "stem": "x one", "options": {"A": "1", "B": "2"}, "answer": "B"}, ("multiple_choice", "x one", "1/2", ["B"])),
        ({"问题": "什么是人工智能", "答案": "智能"}, ("short_answer", "什么是人工智能", "", ["智能"])),
        ({"question": "x?", "A": "1", "B": "2", "C": "3", "answer": "C"}, ("multiple_choice", "x?", "1/2/3", ["C"])),
        ({"question": "x?", "options": [{"label": "A", "text": "m"}, {"label": "B", "text": "n"}], "answer": ["A", "B"]},
         ("multiple_choice", "x?", "m/n", ["A", "B"])),
        ({"question": "Who sails?", "answers": {"a": "a miller", "b": "a skipper"}, "correctAnswer": "b"},
         ("multiple_choice", "Who sails?", "a miller/a skipper", ["B"])),
        ({"text": "Who sails?", "answers": [{"id": "a", "text": "a miller"}, {"id": "b", "text": "a skipper"}], "correct": "b"},
         ("multiple_choice", "Who sails?", "a miller/a skipper", ["B"])),
        ({"question": "Who sails?", "answers": [{"text": "a miller", "label": 0}, {"text": "a skipper", "label": 1}]},
         ("multiple_choice", "Who sails?", "a miller/a skipper", ["B"])),
        ({"question": "Who sails?", "answers": {"answer_a": "a miller", "answer_b": "a skipper", "answer_c": None},
          "correct_answers": {"answer_a_correct": "false", "answer_b_correct": "true", "answer_c_correct": "false"}},
         ("multiple_choice", "Who sails?", "a miller/a skipper", ["B"])),
        ({"question": "Who sails?", "mc1_targets": {"choices": ["a skipper", "a miller"], "labels": [1, 0]}},
         ("multiple_choice", "Who sails?", "a skipper/a miller", ["A"])),
        ({"question": "Who sails?", "mc1_targets": {"a miller": 0, "a skipper": 1}},
         ("multiple_choice", "Who sails?", "a miller/a skipper", ["B"])),
        ({"question": "Who sails?", "answer": "a skipper", "answers": ["a skipper", "the skipper"]},
         ("short_answer", "Who sails?", "", ["a skipper"])),
        ({"question": "Who sails?", "answers": ["a miller", "a skipper"], "correct_answer": "a skipper"},
         ("multiple_choice", "Who sails?", "a miller/a skipper", ["B"])),
        ({"question": "Who sails?", "correct_answers": ["a skipper", "the skipper"], "incorrect_answers": ["a miller"]},
         ("short_answer", "Who sails?", "", ["a skipper；the skipper"])),
        ({"question": "Who sails?", "tags": {"has_image": 0, "is_long": 1}}, ("short_answer", "Who sails?", "", [])),
        ({"question": "Who sails?", "answer": "a skipper", "tags": {"short": 0, "easy": 1}},
         ("short_answer", "Who sails?", "", ["a skipper"])),
        ({"question": "Who sails?", "answers": ["a skipper", "the skipper"]},
         ("short_answer", "Who sails?", "", ["a skipper；the skipper"])),
    ],
)  # fmt: skip
def test_records_are_read_by_the_names_of_their_keys(
    record: dict[str, Any], expected: tuple[str, str, str, list[str]]
) -> None:
    assert brief(split_records([record])) == [expected]


def test_questions_in_lists_beside_each_other_are_parted() -> None:
    record = {
        "article": "Tim lives by the sea and sells fish.",
        "questions": ["Where does Tim live?", "What does he sell?"],
        "options": [["By the sea", "On a hill"], ["Bread", "Fish"]],
        "answers": ["A", "B"],
    }
    result = split_records([record])
    assert brief(result) == [
        ("multiple_choice", "Where does Tim live?", "By the sea/On a hill", ["A"]),
        ("multiple_choice", "What does he sell?", "Bread/Fish", ["B"]),
    ]
    assert [draft.material for draft in result.drafts] == [record["article"]] * 2


def test_the_markup_of_most_records_is_taken_away() -> None:
    records = [
        {"content": f"<p>{stem}</p>", "options": ["<p>x<sup>2</sup></p>", "<p>x</p>"], "answer": "A"}
        for stem in ("Is it a square?", "Which one grows?")
    ]
    assert brief(split_records(records)) == [
        ("multiple_choice", "Is it a square?", "x²/x", ["A"]),
        ("multiple_choice", "Which one grows?", "x²/x", ["A"]),
    ]


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("题干", "stem"), ("正确答案,可多选", "answer"), ("Question Text", "stem"), ("试题解析", "explanation"), ("题目类型", "type"),
        ("知识点", "chapter"), ("题目key", None), ("*题型（必填）", "type"), ("Correct Answer", "answer"), ("配置地址", None),
    ],
)  # fmt: skip
def test_header_cells_name_their_role(header: str, role: str | None) -> None:
    assert find_role(header) == role


def test_the_header_may_stand_below_other_rows() -> None:
    header = find_header([["说明"], [], ["序号", "试题", "A", "B", "答案"]])
    assert header is not None
    assert (header.row, header.columns, header.options) == (
        2,
        {"number": 0, "stem": 1, "answer": 4},
        {"A": 2, "B": 3},
    )


def test_numbers_percentages_and_superscripts_are_read_as_shown() -> None:
    import io

    import openpyxl
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.append([1.0, 0.5, 7, 2.25])
    sheet["B1"].number_format = "0%"
    sheet["C1"].number_format = "000"
    sheet["A2"] = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "3"), " m")
    sheet.merge_cells("D1:D2")
    stream = io.BytesIO()
    workbook.save(stream)
    rows = read_workbook(stream.getvalue(), "xlsx").sheets[0].rows
    assert rows == [["1", "50%", "007", "2.25"], ["10³ m", "", "", "2.25"]]


def test_hidden_sheets_are_read_and_reported() -> None:
    result = split_sheets([Sheet("备份", [["题目", "答案"], ["甲是什么呢", "乙"]], is_hidden=True)])
    assert len(result.drafts) == 1
    assert "hidden" in result.warnings[0]


def test_a_workbook_with_several_sheets_keeps_their_order() -> None:
    data = make_xlsx({"乙": [["题目", "答案"], ["第一", "x"]], "甲": [["题目", "答案"], ["第二", "y"]]})
    assert [draft.stem for draft in split_sheets(read_workbook(data, "xlsx").sheets).drafts] == [
        "第一",
        "第二",
    ]


@pytest.mark.parametrize(
    ("name", "discipline"),
    [
        ("文学", "Literature"),
        ("理学", "Science"),
        ("管理学", "Management"),
        ("医学", "Medicine"),
        ("军事学", "Military Science"),
    ],
)
def test_the_ministrys_own_names_of_the_disciplines_are_known_whole(name: str, discipline: str) -> None:
    assert name_discipline(name) == (discipline, None)


def read_workbook_rows(
    rows: Sequence[Sequence[object]], change: Callable[[Any], None] | None = None
) -> list[tuple[str, str, list[str], list[str]]]:
    """Write one sheet and return (type, stem, options, answer) of its questions.

    `change` formats the sheet before it is read.
    """
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(list(row))
    if change is not None:
        change(sheet)
    stream = io.BytesIO()
    book.save(stream)
    drafts = split_sheets(read_workbook(stream.getvalue(), "xlsx").sheets).drafts
    return [
        (draft.question_type, draft.stem, [text for _, text in draft.options], draft.answer)
        for draft in drafts
    ]


def test_a_template_with_shared_and_own_stems_gives_the_shared_one_as_material() -> None:
    rows: list[list[object]] = [
        ["说明：带星号的必填"],
        ["目录", "大题题型", "大题题干", "小题题型", "小题题干", "正确答案", "A", "B", "C"],
        ["一", "单选题", "细胞的基本成分是", "", "", "B", "糖", "水", "盐"],
        [
            "一",
            "阅读题",
            "甲骑车上学，用时二十分钟。",
            "单选题",
            "甲用的交通工具是",
            "A",
            "自行车",
            "汽车",
            "火车",
        ],
        ["", "", "", "判断题", "甲用时半小时。", "错误", "", "", ""],
    ]
    drafts = split_sheets(read_workbook(make_xlsx({"S": rows}), "xlsx").sheets).drafts
    assert [(draft.question_type, draft.material, draft.stem, draft.answer) for draft in drafts] == [
        ("multiple_choice", None, "细胞的基本成分是", ["B"]),
        ("multiple_choice", "甲骑车上学，用时二十分钟。", "甲用的交通工具是", ["A"]),
        ("true_false", "甲骑车上学，用时二十分钟。", "甲用时半小时。", ["false"]),
    ]


def test_answer_columns_beside_a_column_of_correct_answers_are_options() -> None:
    rows: list[list[object]] = [
        ["Quiz template"],
        ["", "Question - max 120 characters", "Answer 1 - max 75", "Answer 2 - max 75", "Answer 3 - max 75",
         "Correct answer(s) - choose at least one"],
        [1, "Which numbers are even?", "2", "3", "4", "1,3"],
        [2, "Is water wet?", "Yes", "No", "", 1],
    ]  # fmt: skip
    assert read_workbook_rows(rows) == [
        ("multiple_choice", "Which numbers are even?", ["2", "3", "4"], ["A", "C"]),
        ("true_false", "Is water wet?", [], ["true"]),
    ]


def test_rows_that_only_go_on_belong_to_the_question_above_them() -> None:
    rows: list[list[object]] = [
        ["序号", "题目", "答案"],
        [1, "光合作用主要在哪里进行", "B"],
        ["", "A.根", ""],
        ["", "B.叶", ""],
        ["", "C.茎", ""],
        [2, "动物细胞与植物细胞相比，", "A"],
        ["", "没有的结构是哪一个？", ""],
        ["", "A.细胞壁", ""],
        ["", "B.细胞膜", ""],
        ["", "注：本卷共两题", ""],
    ]
    assert read_workbook_rows(rows)[:2] == [
        ("multiple_choice", "光合作用主要在哪里进行", ["根", "叶", "茎"], ["B"]),
        ("multiple_choice", "动物细胞与植物细胞相比，\n没有的结构是哪一个？", ["细胞壁", "细胞膜"], ["A"]),
    ]


def test_numbers_and_dates_are_read_as_their_formats_show_them() -> None:
    def change(sheet: Any) -> None:
        for column, number_format in zip("CDE", ("0%", "0.00", 'yyyy"年"m"月"d"日"'), strict=True):
            sheet[f"{column}2"].number_format = number_format
        sheet["C3"].number_format, sheet["D3"].number_format = "d-mmm", "mmmm d, yyyy"

    rows: list[list[object]] = [
        ["题型", "题目", "A", "B", "C", "答案"],
        ["单选题", "下列数据有误的是", 0.13, 3.1, date(1949, 10, 1), "A"],
        ["单选题", "When does the ferry sail?", date(2025, 3, 4), date(2025, 5, 4), "never", "A"],
    ]
    assert read_workbook_rows(rows, change) == [
        ("multiple_choice", "下列数据有误的是", ["13%", "3.10", "1949年10月1日"], ["A"]),
        ("multiple_choice", "When does the ferry sail?", ["4-Mar", "May 4, 2025", "never"], ["A"]),
    ]


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1234.5, '"¥"#,##0.00', "¥1,234.50"), (1234.5, "[$¥-804]#,##0.00", "¥1,234.50"), (-5, "$#,##0.00", "-$5.00"),
        (0.5, "# ?/?", "1/2"), (1.75, "# ??/??", "1 3/4"), (2, "# ?/?", "2"), (3e8, "0.00E+00", "3.00E+08"),
        (0.0455, "0.0%", "4.6%"), (36.5, '0.0"℃"', "36.5℃"), (5, '0"cm"', "5cm"), (-1.5, "0.00_);(0.00)", "-1.50"),
        (5.2, "0.0#", "5.2"), (7, "000", "007"), (12.5, "_ * #,##0.00_ ;_ * \\-#,##0.00_ ", "12.50"),
        (2.5, "0", None), (5, "General", None), (5, "@", None), (1, "yyyy", None), (1e20, "0.00", None),
        (5, f"0.{30 * '0'}", f"5.{30 * '0'}"), (9e14, f"0.{30 * '0'}%", f"{9 * 10**16}.{30 * '0'}%"), (5, f"0.{31 * '0'}", None),
    ],
)  # fmt: skip
def test_a_number_is_written_as_its_format_shows_it(
    value: float, number_format: str, shown: str | None
) -> None:
    assert write_number(value, number_format) == shown


def test_times_short_dates_and_sums_are_read_as_people_see_them() -> None:
    def change(sheet: Any) -> None:
        sheet["C2"].number_format, sheet["D2"].number_format = "h:mm", "mm-dd-yy"

    rows: list[list[object]] = [
        ["题型", "题目", "A", "B", "C", "答案"],
        ["单选题", "课从何时开始", time(8, 0), date(1949, 10, 1), 0.1 + 0.2, "A"],
    ]
    assert read_workbook_rows(rows, change) == [
        ("multiple_choice", "课从何时开始", ["8:00", "1949-10-01", "0.3"], ["A"])
    ]


def test_what_a_cell_raises_in_its_own_text_stays_so() -> None:
    import openpyxl
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.append([CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "3"))])
    stream = io.BytesIO()
    workbook.save(stream)
    assert read_workbook(stream.getvalue(), "xlsx").sheets[0].rows == [["10³"]]


def test_the_cell_that_alone_is_coloured_in_every_row_is_the_key() -> None:
    from openpyxl.styles import Font, PatternFill
    from openpyxl.styles.colors import Color

    rows: list[list[object]] = [
        ["题目", "A", "B", "C"],
        ["红加黄得到什么颜色", "橙", "绿", "紫"],
        ["一加二等于多少", "一", "二", "三"],
        ["西瓜的瓤多为什么颜色", "白", "红", "黑"],
    ]

    def colour(sheet: Any) -> None:
        for cell in ("B2", "D3", "C4"):
            sheet[cell].font = Font(color="FFFF0000")

    def fill_all(sheet: Any) -> None:
        for row in sheet["B2:D4"]:
            for cell in row:
                cell.fill = PatternFill("solid", fgColor="FFFFFF00")

    assert [answer for *_, answer in read_workbook_rows(rows, colour)] == [["A"], ["C"], ["B"]]

    def fill_rows_and_keys(sheet: Any) -> None:
        for row in sheet["A3:D3"]:
            for cell in row:
                cell.fill = PatternFill("solid", fgColor="FFD9E1F2")
        for cell in ("B2", "D3", "C4"):
            sheet[cell].fill = PatternFill("solid", fgColor="FFFFFF00")

    def underline(sheet: Any) -> None:
        for cell in ("B2", "D3", "C4"):
            sheet[cell].font = Font(underline="single")

    def colour_of_theme(sheet: Any) -> None:
        for cell in ("B2", "D3", "C4"):
            sheet[cell].font = Font(color=Color(theme=5))

    def ink_of_theme(sheet: Any) -> None:
        for cell in ("B2", "D3", "C4"):
            sheet[cell].font = Font(color=Color(theme=1))

    keys = [["A"], ["C"], ["B"]]
    for change in (fill_rows_and_keys, underline, colour_of_theme):
        assert [answer for *_, answer in read_workbook_rows(rows, change)] == keys
    for change in (fill_all, ink_of_theme):
        assert [answer for *_, answer in read_workbook_rows(rows, change)] == [[], [], []]


def test_the_option_that_alone_is_coloured_within_its_cell_is_the_key() -> None:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont
    from openpyxl.styles.colors import Color

    def write(stem: str, key: str) -> list[object]:
        runs = [
            TextBlock(InlineFont(color=Color("FFFF0000")), text) if text.startswith(key) else text
            for text in ("A. 橙\n", "B. 绿\n", "C. 紫")
        ]
        return [stem, CellRichText(*runs)]

    rows: list[list[object]] = [
        ["题目", "选项"],
        write("甲是什么颜色", "A"),
        write("乙是什么颜色", "C"),
        write("丙是什么颜色", "B"),
    ]
    assert read_workbook_rows(rows) == [
        ("multiple_choice", stem, ["橙", "绿", "紫"], [key])
        for stem, key in (("甲是什么颜色", "A"), ("乙是什么颜色", "C"), ("丙是什么颜色", "B"))
    ]


def test_options_in_one_cell_may_be_joined_by_dashes_and_dollar_signs() -> None:
    rows: list[list[object]] = [
        ["编号", "试题内容", "备选答案", "标准答案"],
        [1, "光的三原色包括", "A-红|B-绿|C-蓝|D-黑", "A,B,C"],
        [2, "一周有几天", "5$;$6$;$7$;$8", "C"],
    ]
    assert [(options, answer) for _, _, options, answer in read_workbook_rows(rows)] == [
        (["红", "绿", "蓝", "黑"], ["A", "B", "C"]),
        (["5", "6", "7", "8"], ["C"]),
    ]


def test_keys_that_name_the_option_by_its_place_are_read_as_letters() -> None:
    head: list[object] = ["题目", "选项1", "选项2", "选项3", "正确选项"]
    named: list[list[object]] = [
        head,
        ["氧气的分子式是", "N2", "O2", "H2", "选项2"],
        ["最轻的气体是", "氢", "氮", "氦", "选项1"],
    ]
    assert [answer for *_, answer in read_workbook_rows(named)] == [["B"], ["A"]]
    # an option that is itself a number does not change what the numbers of the column mean
    head = ["question", "option1", "option2", "option3", "correct"]
    counted: list[list[object]] = [
        head,
        ["Largest ocean?", "Atlantic", "Pacific", "Arctic", "1"],
        ["Fastest land animal?", "Cheetah", "Lion", "Horse", "0"],
        ["Smallest prime?", "1", "3", "2", "2"],
    ]
    assert [answer for *_, answer in read_workbook_rows(counted)] == [["B"], ["A"], ["C"]]
    sums: list[list[object]] = [head, ["1+1", "1", "2", "3", "2"], ["2+2", "2", "3", "4", "4"]]
    assert [answer for *_, answer in read_workbook_rows(sums)] == [["B"], ["C"]]


def test_a_header_in_two_languages_names_its_role() -> None:
    assert [find_role(name) for name in ("题目 Question", "Answer / 答案", "选项 Options")] == [
        "stem",
        "answer",
        "options",
    ]


def test_formulas_without_a_saved_result_are_told_and_leave_no_silent_hole() -> None:
    rows: list[list[object]] = [
        ["题号", "题目", "选项A", "选项B", "选项C", "答案"],
        ["1", "天空的颜色是（ ）", "红", '="蓝"', "绿", '=IF(1=1,"B","A")'],
        ["2", "雪的颜色是（ ）", "白", "黑", "绿", "A"],
    ]
    read = read_workbook(make_xlsx({"题库 & 答案": rows}), "xlsx")
    assert read.warnings == [
        "Sheet '题库 & 答案': 2 cells are formulas whose results the file does not hold (the first in row 2, column 4); "
        "they were read as empty. Open it in Excel and save it, then ingest it again."
    ]
    assert [(draft.options, draft.answer) for draft in split_sheets(read.sheets).drafts] == [
        ([("A", "红"), ("B", "[formula]"), ("C", "绿")], []),
        ([("A", "白"), ("B", "黑"), ("C", "绿")], ["A"]),
    ]


def make_ods(rows: Sequence[str]) -> bytes:
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content{names}><office:body><office:spreadsheet><table:table table:name='题库'>"
        + "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
        + "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return make_zip(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": content,
            "META-INF/manifest.xml": manifest,
        }
    )


ODS_TEXT = "<table:table-cell office:value-type='string'><text:p>{}</text:p></table:table-cell>".format


def test_numbers_and_dates_of_open_documents_are_read_as_shown() -> None:
    note = "<office:annotation><text:p>see page 9</text:p></office:annotation>"
    share = f"<table:table-cell office:value-type='percentage' office:value='0.5'>{note}<text:p>50%</text:p></table:table-cell>"
    day = "<table:table-cell office:value-type='date' office:date-value='1949-10-01'><text:p>1949年10月1日</text:p></table:table-cell>"
    assert read_workbook(make_ods([ODS_TEXT("题目") + share + day]), "ods").sheets[0].rows == [
        ["题目", "50%", "1949年10月1日"]
    ]


def test_formulas_without_a_result_are_told_in_open_documents_too() -> None:
    text = ODS_TEXT
    lost = '<table:table-cell table:formula="of:=[.A1]"/>'
    saved = '<table:table-cell table:formula="of:=[.A1]" office:value-type="string"><text:p>乙</text:p></table:table-cell>'
    rows = [text("题目") + text("答案"), text("甲是什么？") + saved, text("丙是什么？") + lost]
    read = read_workbook(make_ods(rows), "ods")
    assert read.sheets[0].rows == [["题目", "答案"], ["甲是什么？", "乙"], ["丙是什么？", ""]]
    assert [warning[:70] for warning in read.warnings] == [
        "Sheet '题库': 1 cells are formulas whose results the file does not hold (the first in row 3, column 2)"[
            :70
        ]
    ]
    assert read.sheets[0].unsaved == {(2, 1)}


def test_formulas_with_a_saved_result_are_read_as_their_result() -> None:
    made = make_xlsx({"S": [["题目", "答案"], ["天是蓝的。", '=IF(1=1,"对","错")'], ["雪是黑的。", '=""']]})
    data = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(made)) as old, zipfile.ZipFile(data, "w") as new:
        for name in old.namelist():
            part = old.read(name).decode()
            for cell, result in (("B2", "对"), ("B3", "")):
                pattern = rf'<c r="{cell}"[^>]*><f>(.*?)</f><v ?/?>(?:</v>)?</c>'
                part = re.sub(pattern, rf'<c r="{cell}" t="str"><f>\1</f><v>{result}</v></c>', part)
            new.writestr(name, part)
    read = read_workbook(data.getvalue(), "xlsx")
    assert (read.warnings, read.sheets[0].rows) == (
        [],
        [["题目", "答案"], ["天是蓝的。", "对"], ["雪是黑的。", ""]],
    )


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_a_text_that_begins_with_a_sign_of_equality_is_kept_as_it_is(tmp_path: Path, kind: str) -> None:
    rows = [
        ["题干", "A", "B", "C", "答案"],
        ["哪个是公式（ ）", "=1+1", "-1+1", "=SUM(A1:A3)", "A"],
        ["哪个是数（ ）", "+1", "@a", "=B2", "C"],
    ]
    path = tmp_path / f"paper.{kind}"
    if kind == "csv":
        path.write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    else:
        book = xlsxwriter.Workbook(path, {"strings_to_formulas": False})
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
        book.close()
    parsed = parse_document(path, IngestOptions())
    assert [[option["text"] for option in one["options"]] for one in parsed.questions] == [
        ["=1+1", "-1+1", "=SUM(A1:A3)"],
        ["+1", "@a", "=B2"],
    ]
