"""PDF pages: reading order, furniture, scripts and wrapped lines.

Scans are read through OCR, and old formats through LibreOffice.
"""

from __future__ import annotations

import importlib.util
import io
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.pdfbase import pdfmetrics

from tasks.ingest.documents import IngestOptions, parse_document
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.readers.pdf import read_pdf
from tasks.ingest.readers.pdf_lines import find_column_border, is_page_number, order_rows, settle_strays
from tasks.ingest.readers.pdf_pages import Page, Row
from tasks.ingest.splitting import split_lines
from tests.tasks.ingest.builders import make_pdf, write

OPTIONS = IngestOptions(time_limit_s=60, use_ocr=False)


def body(data: bytes) -> list[str]:
    extraction, _ = read_pdf(data)
    return [line.text for line in extraction.lines if line.kind != "furniture"]


def test_running_headers_and_page_numbers_are_marked_as_furniture() -> None:
    pages = [
        [
            (250, 810, "高等数学试卷"),
            (50, 760, f"{number}. 第{number}道题目的内容"),
            (280, 20, f"第 {number} 页 共 3 页"),
        ]
        for number in (1, 2, 3)
    ]
    assert body(make_pdf(pages)) == ["1. 第1道题目的内容", "2. 第2道题目的内容", "3. 第3道题目的内容"]


def test_a_footer_is_furniture_where_every_other_page_says_more_beside_it() -> None:
    pages = [
        [
            (50, 760, f"{number}. Name the tool number {'abcdef'[number]}"),
            (50, 20, "Northern Board 2023"),
            *([(400, 20, "[Turn over")] if number % 2 else []),
        ]
        for number in (1, 2, 3, 4, 5)
    ]
    assert body(make_pdf(pages)) == [
        f"{number}. Name the tool number {'abcdef'[number]}" for number in (1, 2, 3, 4, 5)
    ]


def test_a_header_of_the_left_pages_alone_is_furniture() -> None:
    pages = [
        [
            (50, 810, "Joinery, first year") if number % 2 else (300, 810, "Summer examination"),
            (50, 760, f"{number}. Name the tool number {'abcdefg'[number]}"),
        ]
        for number in (1, 2, 3, 4, 5, 6)
    ]
    assert body(make_pdf(pages)) == [
        f"{number}. Name the tool number {'abcdefg'[number]}" for number in (1, 2, 3, 4, 5, 6)
    ]


def test_a_number_with_a_gap_behind_it_at_the_head_of_a_page_is_no_page_number() -> None:
    asked = ["Name a lamp", "Nenne eine Mühle", "Nombra una barca"]
    pages = [
        [(50, 810, str(number)), (90, 810, text), (50, 760, "A line below it")]
        for number, text in enumerate(asked, start=5)
    ]
    assert [text for text in asked if not any(text in line for line in body(make_pdf(pages)))] == []


@pytest.mark.parametrize("mark", ["Answer: B", "答案：B", "Ответ: B"])
def test_an_answer_at_the_foot_of_every_page_is_no_footer(mark: str) -> None:
    pages = [[(50, 760, f"{number}. Name the tool {'abcd'[number]}"), (50, 20, mark)] for number in (1, 2, 3)]
    assert body(make_pdf(pages)).count(mark) == 3


def test_a_question_that_repeats_at_the_same_height_is_no_header() -> None:
    pages = [[(50, 810, f"{number}. 下列说法中正确的一项是什么"), (50, 700, "A. 1")] for number in (1, 2)]
    assert body(make_pdf(pages)) == [
        "1. 下列说法中正确的一项是什么",
        "A. 1",
        "2. 下列说法中正确的一项是什么",
        "A. 1",
    ]


@pytest.mark.parametrize(
    ("text", "number", "count", "expected"),
    [
        ("第3页，共6页", 3, 6, True),
        ("- 12 -", 12, 20, True),
        ("Page 2 of 5", 2, 5, True),
        ("4", 4, 9, True),
        ("2/5", 2, 5, True),
        ("2021", 3, 9, False),
        ("3. 甲", 3, 9, False),
        ("①", 1, 3, False),
    ],
)
def test_printed_page_numbers_are_known(text: str, number: int, count: int, expected: bool) -> None:
    assert is_page_number(text, number, count) is expected


def test_two_columns_in_content_order_are_kept() -> None:
    left = [(50, 800 - 20 * index, f"{index + 1}. left question {index + 1}") for index in range(10)]
    right = [(320, 800 - 20 * index, f"{index + 11}. right question {index + 11}") for index in range(10)]
    assert [line.split(".")[0] for line in body(make_pdf([left + right]))] == [
        str(number) for number in range(1, 21)
    ]


def test_columns_drawn_line_by_line_are_put_in_order() -> None:
    rows = []
    for index in range(10):
        rows.append((50.0, 800.0 - 20 * index, f"{index + 1}. left question {index + 1}"))
        rows.append((320.0, 800.0 - 20 * index, f"{index + 11}. right question {index + 11}"))
    page = [Row(text, x, x + 150, y - 3, y + 9, 11) for x, y, text in rows]
    border = find_column_border(page, 595)
    assert border is not None
    assert 200 < border < 320
    assert [row.text.split(".")[0] for row in order_rows(page, 595)] == [
        str(number) for number in range(1, 21)
    ]


def test_a_box_drawn_last_moves_to_its_height() -> None:
    rows = [Row(f"line {index}", 50, 400, 700 - 20 * index, 712 - 20 * index, 11) for index in range(8)]
    stray = Row("stamp", 450, 500, 665, 677, 11)
    ordered = settle_strays([*rows, stray], 595)
    assert [row.text for row in ordered].index("stamp") == 2


def test_what_is_drawn_after_its_line_stands_in_the_gaps_where_it_is_printed() -> None:
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for x, face, drawn in (
        (61, "Helvetica", "[(lamps;) -1000 (ferries;) -1000 (mills)] TJ"),
        (50, "Courier", "[(*) -3623 (*) -3735 (*)] TJ"),
    ):
        text = canvas.beginText(x, 700)
        text.setFont(face, 11)
        text._code.append(drawn)
        canvas.drawText(text)
    canvas.save()
    assert body(stream.getvalue()) == ["* lamps; *ferries; *mills"]


def test_what_is_drawn_over_a_line_stands_in_no_gap_of_it() -> None:
    assert body(make_pdf([[(50, 700, "Which lamp guides ships into the harbour?"), (80, 700, "DRAFT")]])) == [
        "Which lamp guides ships into the harbour?",
        "DRAFT",
    ]


def test_small_raised_text_becomes_a_superscript() -> None:
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    text = canvas.beginText(50, 700)
    text.setFont("Helvetica", 12)
    text.textOut("area in m")
    text.setFont("Helvetica", 7)
    text.setRise(5)
    text.textOut("2")
    text.setRise(0)
    text.setFont("Helvetica", 12)
    text.textOut(" and H")
    text.setFont("Helvetica", 7)
    text.setRise(-3)
    text.textOut("2")
    text.setRise(0)
    text.setFont("Helvetica", 12)
    text.textOut("O")
    canvas.drawText(text)
    canvas.save()
    assert body(stream.getvalue()) == ["area in m² and H₂O"]


def test_a_sentence_that_fills_the_line_runs_on_in_the_next(tmp_path: Path) -> None:
    long = "1. 下列关于细胞结构与功能的叙述中，经过实验证明并且被普遍接受为正确的一项是下面所"
    lines = [
        (50, 800, "一、选择题"),
        (50, 780, long),
        (50, 764, "列的哪一项（ ）"),
        (50, 748, "A. 甲 B. 乙 C. 丙 D. 丁"),
    ]
    lines += [(50, 732, "2. 乙（ ）"), (50, 716, "A. 甲 B. 乙 C. 丙 D. 丁")]
    lines += [
        (50, 700, long.replace("1.", "3.")),
        (50, 684, "列的哪一种（ ）"),
        (50, 668, "A. 甲 B. 乙 C. 丙 D. 丁"),
    ]
    parsed = parse_document(write(tmp_path, "a.pdf", make_pdf([lines])), OPTIONS)
    assert [question["stem"] for question in parsed.questions] == [
        long[3:] + "列的哪一项（）",
        "乙（）",
        long[3:] + "列的哪一种（）",
    ]
    assert parsed.document["page_count"] == 1


@pytest.mark.parametrize(
    ("leading", "columns"), [(15, 1), (31, 1), (31, 2), (15, 2)], ids=["near", "apart", "apart-2", "near-2"]
)
def test_a_sentence_runs_on_below_and_at_the_head_of_the_next_column_or_page(
    leading: int, columns: int
) -> None:
    """Whether lines are set apart is told by the page, where nothing stands nearer."""
    # 15 characters of 11 points fill a column: each question takes two lines.
    count = 9
    lines = []
    for number in range(1, 2 * count):
        lines += [
            f"{number:02}．请说明管理学中的{'甲乙丙丁戊己庚辛壬癸'[number % 10]}类决策",
            "有哪些特点和要求",
        ]
    # The first page begins with a line alone, so that the last question of every column goes on in the next.
    lines = ["管理学期末考试", *lines]
    pages = []
    for first in range(0, len(lines), count * columns):
        part = lines[first : first + count * columns]
        pages.append(
            [
                (50 + place // count * 240, 740 - place % count * leading, text)
                for place, text in enumerate(part)
            ]
        )
    extraction, _ = read_pdf(make_pdf(pages))
    read = [line for line in extraction.lines if line.kind != "furniture"]
    assert [line.text for line in read] == lines
    assert [line.text for line in read if line.kind == "wrapped"] == lines[1::2]


def test_a_paragraph_that_stands_apart_does_not_go_on_where_lines_of_one_are_near() -> None:
    texts = [
        "1．请说明管理学中的甲类决策",
        "有哪些特点和有哪些要求吗呢呢",
        "以上都要作答",
        "写在纸上",
        "字迹清楚",
    ]
    page = [
        (50.0, 780.0 - 150 * group - below, text)
        for group in range(4)
        for below, text in zip((0, 15, 46, 77, 108), texts, strict=True)
    ]
    extraction, _ = read_pdf(make_pdf([page]))
    assert [line.text for line in extraction.lines if line.kind == "wrapped"] == [texts[0]] * 4


def test_pages_without_text_are_reported_when_ocr_is_off(tmp_path: Path) -> None:
    parsed = parse_document(write(tmp_path, "scan.pdf", make_scan(["1. 甲"])), OPTIONS)
    assert (parsed.document["status"], parsed.document["question_count"]) == ("needs_ocr", 0)
    assert "ocr" in parsed.document["error"]


def make_scan(lines: list[str], tilt: float = 0.0) -> bytes:
    """A PDF whose only page is a picture of these lines, turned by `tilt` degrees."""
    import pypdfium2
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    drawn = make_pdf([[(60, 790 - 28 * index, line) for index, line in enumerate(lines)]], size=14)
    picture = pypdfium2.PdfDocument(drawn)[0].render(scale=150 / 72).to_pil().convert("RGB")
    picture = picture.rotate(tilt, resample=Image.Resampling.BICUBIC, fillcolor=(255, 255, 255))
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    canvas.drawImage(ImageReader(picture), 0, 0, width=595, height=842)
    canvas.save()
    return stream.getvalue()


SCANNED = [
    "一、单项选择题",
    "1. 下列属于哺乳动物的是（ ）",
    "A. 鲸鱼          B. 鲨鱼",
    "C. 金枪鱼        D. 章鱼",
    "2. 中国的首都是（ ）",
    "A. 上海          B. 北京",
    "C. 广州          D. 深圳",
    "二、简答题",
    "1. 简述细胞膜的主要功能。",
]


@pytest.mark.service
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("rapidocr", "onnxruntime", "cv2")),
    reason="the extra `ocr` is not installed",
)
@pytest.mark.parametrize(
    "tilt", [pytest.param(0.0, id="level", marks=pytest.mark.long), pytest.param(2.5, id="askew")]
)
def test_a_scanned_paper_is_read_by_ocr(tmp_path: Path, tilt: float) -> None:
    parsed = parse_document(
        write(tmp_path, "scan.pdf", make_scan(SCANNED, tilt)), IngestOptions(time_limit_s=200)
    )
    assert parsed.document["converter"] == "rapidocr"
    assert [
        (question["question_type"], [option["label"] for option in question["options"]])
        for question in parsed.questions
    ] == [
        ("multiple_choice", ["A", "B", "C", "D"]),
        ("multiple_choice", ["A", "B", "C", "D"]),
        ("short_answer", []),
    ]
    assert "简述细胞膜的主要功能" in parsed.questions[2]["stem"]
    assert all("ocr" in question["parse_notes"] for question in parsed.questions)


RTF = rb"{\rtf1\ansi\deff0{\fonttbl{\f0 Times;}}\f0 1. What is two plus two?\par A. 1\par B. 2\par C. 3\par D. 4\par Answer: D\par}"


def test_old_formats_say_that_libreoffice_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from schemas.errors import DocumentError
    from tasks.ingest.readers.office import convert_with_libreoffice

    monkeypatch.setenv("PROCTOR_SOFFICE", "")
    with pytest.raises(DocumentError) as caught:
        convert_with_libreoffice(RTF, "rtf", "docx", 10)
    assert caught.value.code == "needs_libreoffice"
    assert write(tmp_path, "a.rtf", RTF).exists()


@pytest.mark.service
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_a_rich_text_paper_is_read_through_libreoffice(tmp_path: Path) -> None:
    parsed = parse_document(write(tmp_path, "paper.doc", RTF), IngestOptions(time_limit_s=120))
    assert parsed.document["converter"] == "libreoffice+docx-walker"
    assert [
        (question["stem"], len(question["options"]), question["answer"]) for question in parsed.questions
    ] == [("What is two plus two?", 4, ["D"])]


def test_a_page_without_columns_has_no_border() -> None:
    page = Page(595, 842, [Row("x", 50, 500, 700 - 20 * index, 712 - 20 * index, 11) for index in range(10)])
    assert find_column_border(page.rows, page.width) is None


COLUMNS = (50.0, 80.0, 240.0, 320.0, 400.0, 450.0)


def draw_grid(top: float, rows: int, height: float = 30) -> list[tuple[float, float, float, float]]:
    """The lines of a ruled table with these rows below `top`."""
    bottom = top - rows * height
    level = [(COLUMNS[0], top - row * height, COLUMNS[-1], top - row * height) for row in range(rows + 1)]
    return [*level, *((x, bottom, x, top) for x in COLUMNS)]


def print_rows(
    top: float, rows: Sequence[Sequence[str]], height: float = 30
) -> list[tuple[float, float, str]]:
    """The texts of a table; a line break in a cell starts a second line in it."""
    return [
        (x + 3, top - 12 - row * height - 13 * line, text)
        for row, cells in enumerate(rows)
        for x, cell in zip(COLUMNS, cells, strict=False)
        for line, text in enumerate(cell.split("\n"))
        if text
    ]


def read_drafts(data: bytes) -> list[tuple[str, str, list[str], list[str]]]:
    lines = read_pdf(data)[0].lines
    return [
        (draft.question_type, draft.stem, [text for _, text in draft.options], draft.answer)
        for draft in split_lines(lines, join_lines(lines)[1]).drafts
    ]


def test_a_ruled_table_of_questions_is_read_across_pages_even_where_a_row_is_cut() -> None:
    first = [
        ["序号", "题目", "A", "B", "答案"],
        ["1", "灭火器压力表的指针处于哪个区\n域表示正常", "红色区域", "绿色区域", "B"],
        ["2", "发生电气火灾时，首先应当", "切断电源", "泼水降温", "A"],
    ]
    second = [["", "采取的措施是哪一项", "", "", ""], ["3", "报警电话是哪一个号码", "110", "119", "B"]]
    data = make_pdf(
        [
            [(50, 780, "消防知识"), (50, 750, "一、单选题"), *print_rows(700, first)],
            [*print_rows(700, second), (50, 600, "二、简答题"), (50, 580, "1. 简述灭火的基本方法。")],
        ],
        lines=[draw_grid(700, 3), draw_grid(700, 2)],
    )
    assert read_drafts(data) == [
        ("multiple_choice", "灭火器压力表的指针处于哪个区域表示正常", ["红色区域", "绿色区域"], ["B"]),
        ("multiple_choice", "发生电气火灾时，首先应当采取的措施是哪一项", ["切断电源", "泼水降温"], ["A"]),
        ("multiple_choice", "报警电话是哪一个号码", ["110", "119"], ["B"]),
        ("short_answer", "简述灭火的基本方法。", [], []),
    ]


def test_a_row_that_the_page_cuts_is_of_its_table_and_the_table_goes_on_without_a_header() -> None:
    """Options stand one below the other in the cells; a cut row has no line where the page ends."""
    offered = ("a mill", "a lock", "a weir", "a quay")

    def lay(top: float, number: str, texts: Sequence[str], key: str) -> list[tuple[float, float, str]]:
        return [
            (65, top - 15, number),
            (455, top - 15, key),
            *((105, top - 15 - 14 * at, text) for at, text in enumerate(texts)),
        ]

    def draw(top: float, levels: Sequence[float], foot: float) -> list[tuple[float, float, float, float]]:
        return [(60.0, y, 500.0, y) for y in levels] + [
            (x, foot, x, top) for x in (60.0, 100.0, 450.0, 500.0)
        ]

    options = [f"{letter}. {text}" for letter, text in zip("ABCD", offered, strict=True)]
    first = lay(790, "No", ["Question"], "Answer")
    first += lay(770, "1", ["Where is grain ground?", *options], "A")
    first += lay(690, "2", ["What lifts a boat?", *options[:2]], "B")
    second = lay(800, "", options[2:], "") + lay(760, "3", ["What dams a river?", *options], "C")
    second += lay(680, "4", ["Where do ships tie up?", *options], "D")
    data = make_pdf([first, second], lines=[draw(790, (790, 770, 690), 640), draw(805, (760, 680, 600), 600)])
    assert [(stem, options, answer) for _, stem, options, answer in read_drafts(data)] == [
        ("Where is grain ground?", [*offered], ["A"]),
        ("What lifts a boat?", [*offered], ["B"]),
        ("What dams a river?", [*offered], ["C"]),
        ("Where do ships tie up?", [*offered], ["D"]),
    ]


def _set_apart(x: float, y: float, words: Sequence[str]) -> list[tuple[float, float, str]]:
    found = []
    for word in words:
        found.append((x, y, word))
        x += 3 + pdfmetrics.stringWidth(word, "Helvetica", 11)
    return found


def test_letters_that_are_set_wide_are_words_and_wide_single_letters_are_not() -> None:
    def spread(x: float, y: float, text: str, gap: float) -> list[tuple[float, float, str]]:
        found = []
        for sign in text:
            if not sign.isspace():
                found.append((x, y, sign))
            x += gap + pdfmetrics.stringWidth(sign, "Helvetica", 11)
        return found

    texts = ["1. Which river flows through Vienna?", "A. the Rhine", "B. the Danube", "C. the Elbe"]
    wide = [place for at, text in enumerate(texts) for place in spread(60, 780 - 18 * at, text, 2.5)]
    assert body(make_pdf([wide])) == texts
    sums = [f"{at}. {at} + {at} = {at} - 1 = {at} + 1 =" for at in range(1, 8)]
    apart = [place for at, text in enumerate(sums) for place in _set_apart(60, 780 - 18 * at, text.split())]
    assert body(make_pdf([apart])) == sums
    letters = ["a b c d e f g h i k", "k h d c b i g f e a", "e f a b d i h k g c", "c k i d e a b h g f"]
    apart = [
        place for at, text in enumerate(letters) for place in _set_apart(60, 780 - 18 * at, text.split())
    ]
    assert body(make_pdf([apart])) == letters
    columns = [place for at in range(6) for place in spread(60, 780 - 18 * at, "BCADBCAD", 12)]
    assert body(make_pdf([columns])) == ["B C A D B C A D"] * 6


def test_the_last_rows_of_an_open_table_amid_a_page_are_lines_and_not_one_row() -> None:
    rows = [["Year", "North", "South"], ["1820", "12", "15"], ["1821", "13", "16"]]
    cells = [
        (65 + 80 * at, 775 - 20 * row, text)
        for row, texts in enumerate(rows)
        for at, text in enumerate(texts)
    ]
    below = [(60, 690, "1. Which of the two harbours landed more salt in the second year?")]
    lines = [(60, y, 300, y) for y in (790, 770)] + [(x, 725, x, 790) for x in (60, 140, 220, 300)]
    read = [" ".join(line.split()) for line in body(make_pdf([[*cells, *below]], lines=[lines]))]
    assert read[:3] == ["Year | North | South", "1820 12 15", "1821 13 16"]


def test_stripes_behind_the_rows_of_a_table_mark_no_answers() -> None:
    options = [("a mill", "a lock", "a weir", "a quay")] * 3
    stems = ("Where is grain ground?", "What lifts a boat?", "What dams a river?")
    rows = [
        line.ljust(24)
        for at, (stem, offered) in enumerate(zip(stems, options, strict=True), start=1)
        for line in (
            f"{at}. {stem}",
            *(f"{letter}. {text}" for letter, text in zip("ABCD", offered, strict=True)),
        )
    ]
    page = [(60, 780 - 20 * at, "==" * (at % 2) + row) for at, row in enumerate(rows)]
    assert [answer for *_, answer in read_drafts(make_pdf([page]))] == [[], [], []]


def test_a_frame_around_the_text_of_a_page_is_no_table() -> None:
    rows = [(60.0, 760.0 - 20 * place, f"{place}. 第{place}题考查的内容是什么？") for place in range(1, 16)]
    corners = [(50, 790, 550, 790), (50, 400, 550, 400), (50, 400, 50, 790), (550, 400, 550, 790)]
    data = make_pdf([[(60, 775, "一、简答题"), *rows]], lines=[[*corners, (300, 400, 300, 790)]])
    assert [stem for _, stem, _, _ in read_drafts(data)] == [
        f"第{place}题考查的内容是什么？" for place in range(1, 16)
    ]


def test_blanks_that_are_drawn_as_lines_are_read_as_blanks_and_underlined_words_are_not() -> None:
    text = [
        (50.0, 750.0, "一、填空题"),
        (50.0, 730.0, "1. 法国的首都是"),
        (200.0, 730.0, "。"),
        (50.0, 710.0, "2. 光的传播速度约为"),
        (50.0, 690.0, "二、简答题"),
        (50.0, 670.0, "1. 简述名词解释的写法。"),
    ]
    blanks = [(140.0, 728.0, 198.0, 728.0), (160.0, 708.0, 230.0, 708.0), (85.0, 668.0, 130.0, 668.0)]
    data = make_pdf([text], lines=[blanks])
    assert [line.text for line in read_pdf(data)[0].lines] == [
        "一、填空题",
        "1. 法国的首都是____________。",
        "2. 光的传播速度约为____________",
        "二、简答题",
        "1. 简述名词解释的写法。",
    ]


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("—、Explain the following terms", "一、Explain the following terms"),
        ("-、 单项选择题", "一、单项选择题"),
        ("ニ、判断题", "二、判断题"),
        ("十、论述题", "十、论述题"),
        ("A.地址 B.端口 C.协议IPD.掩码", "A.地址 B.端口 C.协议IP D.掩码"),
        ("A. 仅I  B. 仅Ⅱ  C. 仅I、ⅡD. 仅Ⅲ", "A. 仅I  B. 仅Ⅱ  C. 仅I、Ⅱ D. 仅Ⅲ"),
        ("A. 25  B. 20  C. 15  1), 10", "A. 25  B. 20  C. 15  D. 10"),
        ("— 表示破折号", "— 表示破折号"),
        ("、其余部分照旧。", "、其余部分照旧。"),
        ("A. RAID  B. PLC. Both", "A. RAID  B. PLC. Both"),
        ("-5.3 是负数", "-5.3 是负数"),
    ],
)
def test_what_ocr_does_to_marks_is_mended_and_nothing_else(read: str, meant: str) -> None:
    from tasks.ingest.readers.ocr_repair import repair_lines

    assert [line.text for line in repair_lines([Line(read)])] == [meant]


def test_a_lost_chinese_number_is_given_back_where_a_type_is_named() -> None:
    from tasks.ingest.readers.ocr_repair import repair_lines

    lines = [Line("一、名词解释"), Line("1. 熵"), Line("、简答题（每题5分）"), Line("、其他")]
    assert [line.text for line in repair_lines(lines)][2:] == ["二、简答题（每题5分）", "、其他"]


def test_spaces_that_ocr_drops_between_chinese_terms_come_back_by_the_places_of_characters() -> None:
    from tasks.ingest.readers.ocr_repair import restore_gaps

    places = [211, 231, 253, 285, 306, 337, 358, 385, 405, 430, 448, 464, 498, 517]
    starts = list(zip("信号量线程地址映射PCB文件", places, strict=True))
    assert restore_gaps("信号量线程地址映射 PCB 文件", starts) == "信号量 线程 地址映射 PCB 文件"
    glued = list(zip("优先比HRD轮转算法表", [0, 20, 40, 60, 70, 104, 116, 136, 156, 176, 196], strict=False))
    assert restore_gaps("优先比HRD轮转算法表", glued) == "优先比HR D轮转算法表"
    # where text and places do not agree, or all places are one, nothing is guessed
    assert restore_gaps("信号量线程", [(letter, 7.0) for letter in "信号量线程"]) == "信号量线程"
    assert restore_gaps("信号量线程", starts) == "信号量线程"


def test_a_coarse_reading_of_places_makes_no_gaps_but_wide_ones_stay() -> None:
    from tasks.ingest.readers.ocr_repair import restore_gaps

    text = "平面波能量密度和能流"
    coarse = [0, 18, 45, 63, 81, 108, 126, 153, 171, 189]
    assert restore_gaps(text, list(zip(text, coarse, strict=True))) == text
    with_stops = "）写平面波能量密度"
    uneven = [0, 20, 44, 61, 85, 102, 126, 142, 159]
    assert restore_gaps(with_stops, list(zip(with_stops, uneven, strict=True))) == with_stops
    wide = [0, 20, 40, 60, 120, 140, 160, 180, 200, 220]
    assert restore_gaps(text, list(zip(text, wide, strict=True))) == "平面波能  量密度和能流"


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_page_that_is_shown_turned_reads_and_lies_as_the_same_page_does_upright(rotation: int) -> None:
    page = [
        (50, 780, "一、单项选择题"),
        (50, 740, "1. 物理模型与数学模型的关系是（ ）"),
        (50, 720, "A. x^2      B. 2"),
        (50, 680, "| 1 | 2 |"),
    ]
    upright, turned = (read_pdf(make_pdf([page, page], rotation=turn))[0].lines for turn in (0, rotation))
    assert [(line.text, line.kind) for line in turned] == [(line.text, line.kind) for line in upright]
    for one, other in zip(turned, upright, strict=True):
        assert max(abs(a - b) for a, b in zip(one.box, other.box, strict=True)) <= 1


def test_text_that_runs_up_the_page_is_read_as_if_the_page_were_turned() -> None:
    """No /Rotate says so: a landscape page was printed on an upright one."""
    page = [(50, 500, "1. Which is the longest river?"), (50, 480, "A. Nile    B. Rhine")]
    data = make_pdf([page], rotation=90).replace(b"/Rotate 90", b"/Rotate 0 ")
    assert body(data) == ["1. Which is the longest river?", "A. Nile B. Rhine"]


def test_a_line_knows_how_it_is_printed() -> None:
    page = [(50, 780, "**Part One"), (80, 740, "1. Name the river.")]
    heading, question = read_pdf(make_pdf([page], size=12))[0].lines
    assert (heading.look.is_bold, heading.look.left) == (True, 50.0)
    assert (question.look.is_bold, question.look.left) == (False, 80.0)
    assert heading.look.size == question.look.size > 0


def test_two_tables_that_touch_keep_their_order() -> None:
    tops, rows = (700, 620), (["1", "the wind", "2", "", ""], ["2", "the lamp", "1", "", ""])
    data = make_pdf(
        [
            [
                mark
                for top, row in zip(tops, rows, strict=True)
                for mark in print_rows(top, [["No", "Answer", "Marks"], row])
            ]
        ],
        lines=[[line for top in tops for line in draw_grid(top, 2)]],
    )
    shown = [line.text.rstrip(" |") for line in read_pdf(data)[0].lines]
    assert shown == ["No | Answer | Marks", "1 | the wind | 2", "No | Answer | Marks", "2 | the lamp | 1"]


@pytest.mark.parametrize(
    ("first", "second", "parts"),
    [
        ("Explain the mill.", "Explain the lamp.", ("Why here?", "How fast?")),
        ("简述磨坊。", "简述灯塔。", ("为何建于此？", "转速如何？")),
    ],
)
def test_lines_in_colour_below_the_parts_of_questions_answer_them(
    first: str, second: str, parts: tuple[str, str]
) -> None:
    asked = [
        (f"{one}. {stem}", ("~~wind", "~~slowly"))
        for one, stem in ((1, first), (2, second), (3, first[::-1]))
    ]
    rows = [
        text
        for stem, answers in asked
        for text in (stem, f"(a) {parts[0]}", answers[0], f"(b) {parts[1]}", f"{answers[1]} {stem[:2]}")
    ]
    data = make_pdf([[(50, 780 - 20 * place, text) for place, text in enumerate(rows)]])
    assert [(stem.count("\n"), answer) for _, stem, _, answer in read_drafts(data)] == [
        (2, [f"(a) wind\n(b) slowly {one}."]) for one in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [("Explain mill 1.", "END"), ("Explain mill 2.", "END"), ("Explain mill 3.", "END")],
        [("Explain mills.", "Hint: wind"), ("Explain lamps.", "Hint: oil"), ("Explain locks.", "Hint: keys")],
        [("Explain mills.", "CO1, L2"), ("Explain lamps.", "CO2, L3"), ("Explain locks.", "CO3, L1")],
        [
            ("Describe it.", "http://a.org/1"),
            ("Explain it.", "http://a.org/2"),
            ("Draw it.", "http://a.org/3"),
        ],
        [("Solve this.", "x + 3 = 5"), ("Solve this.", "2x = 8"), ("Solve this.", "x - 7 = 1")],
        [("翻译句子。", "The wheel turns."), ("翻译句子。", "It rains."), ("翻译句子。", "She sleeps.")],
    ],
)
def test_lines_in_colour_that_are_alike_or_below_the_same_words_answer_nothing(
    rows: list[tuple[str, str]],
) -> None:
    texts = [
        text for number, (stem, below) in enumerate(rows, 1) for text in (f"{number}. {stem}", f"~~{below}")
    ]
    data = make_pdf([[(50, 780 - 20 * place, text) for place, text in enumerate(texts)]])
    assert [answer for _, _, _, answer in read_drafts(data)] == [[], [], []]


def test_a_colour_of_the_questions_themselves_shows_no_answers() -> None:
    rows = [
        f"~~{text}"
        for one in ("1. Explain mills.", "2. Draw lamps.", "3. Name locks.")
        for text in (one, one[5:])
    ]
    data = make_pdf([[(50, 780 - 20 * place, text) for place, text in enumerate(rows)]])
    assert [answer for _, _, _, answer in read_drafts(data)] == [[], [], []]


def test_a_part_without_a_line_in_colour_is_doubted() -> None:
    rows = [
        text
        for one in (1, 2, 3)
        for text in (
            f"{one}. Explain mill {one} below.",
            "(a) Why?",
            "a | wind",
            "(b) How?",
            f"~~by rope {one}",
            "(c) When?",
            "~~in May",
        )
    ]
    data = make_pdf([[(50, 800 - 20 * place, text) for place, text in enumerate(rows)]])
    lines = read_pdf(data)[0].lines
    drafts = split_lines(lines, join_lines(lines)[1]).drafts
    assert [(draft.answer, "text_holds_answer" in draft.notes) for draft in drafts] == [
        ([f"(b) by rope {one}\n(c) in May"], True) for one in (1, 2, 3)
    ]


@pytest.mark.parametrize(("sign", "is_key"), [("~~", True), ("==", True), ("**", True), ("--", False)])
@pytest.mark.parametrize("step", [(110, 0), (0, -16)], ids=["beside each other", "below each other"])
def test_an_option_in_bold_or_colour_or_on_a_coloured_ground_is_the_key(
    sign: str, is_key: bool, step: tuple[int, int]
) -> None:
    keys = "BADC"
    rows: list[tuple[float, float, str]] = []
    for place, key in enumerate(keys):
        top = 780 - 90 * place
        rows.append((50, top, f"{place + 1}. Which word of the list is word {place + 1}?"))
        rows += [
            (60 + step[0] * at, top - 18 + step[1] * at, f"{sign if letter == key else ''}{letter}. {text}")
            for at, (letter, text) in enumerate(zip("ABCD", ("pier", "mill", "lamp", "bell"), strict=True))
        ]
    expected = [[key] if is_key else [] for key in keys]
    lines = read_pdf(make_pdf([rows]))[0].lines
    drafts = split_lines(lines, join_lines(lines)[1]).drafts
    assert [len(draft.options) for draft in drafts] == [4] * 4
    assert [draft.answer for draft in drafts] == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("1", "2", "3"), ["It is a __1__ shop.", "It is a __2__ shop.", "It is a __3__ shop."]),
        (("4", "2", "7"), ["It is a 4 shop.", "It is a 2 shop.", "It is a 7 shop."]),
        (
            ("\u00b9", "\u00b2", "\u00b3"),
            ["It is a \u00b9 shop.", "It is a \u00b2 shop.", "It is a \u00b3 shop."],
        ),
    ],
    ids=["the numbers of a cloze run on", "what is filled in does not", "a digit is not always a number"],
)
def test_underlined_numbers_that_run_on_are_blanks(numbers: tuple[str, ...], expected: list[str]) -> None:
    page, lines = [], []
    for place, number in enumerate(numbers):
        y = 780 - 30 * place
        page += [(50.0, y, "It is a"), (104.0, y, number), (125.0, y, "shop.")]
        lines.append((92, y - 1, 121, y - 1))
    shown = body(make_pdf([page], lines=[lines]))
    assert [" ".join(line.split()) for line in shown] == expected


def test_the_score_box_beside_a_heading_is_no_blank() -> None:
    rows = [
        (52.0, 704.0, "Score"),
        (140.0, 700.0, "III. Problems (15 marks)"),
        (50.0, 660.0, "1. Name ____ of it."),
    ]
    level = [(48.0, y, 130.0, y) for y in (697.0, 714.0)]
    upright = [(x, 697.0, x, 714.0) for x in (48.0, 90.0, 130.0)]
    shown = [" ".join(line.split()) for line in body(make_pdf([rows], lines=[[*level, *upright]]))]
    assert any(line.endswith("III. Problems (15 marks)") for line in shown), shown
    assert not any("__" in line and "III" in line for line in shown), shown
