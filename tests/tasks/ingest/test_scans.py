"""Scans and photographs.

The tests cover bent pages, what is drawn over them, figures beside the text, and marks that a pen covers.
"""

from __future__ import annotations

import copy
import importlib.util
import io
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import DocumentError
from tasks.ingest.documents import IngestOptions, parse_document
from tasks.ingest.readers.box_rows import SeenPage, find_margins, lay_out, merge_rows
from tasks.ingest.readers.extraction import Extraction, Line, Look, blank_picture_numbers
from tasks.ingest.readers.ocr_repair import repair_lines, restore_gaps
from tasks.ingest.readers.pdf_lines import mark_furniture
from tasks.ingest.readers.pdf_pages import Page, Row
from tests.hunts import tries
from tests.tasks.ingest.builders import make_docx, make_pdf

needs_cv2 = pytest.mark.skipif(
    importlib.util.find_spec("cv2") is None, reason="the extra `ocr` is not installed"
)


def merge_boxes(boxes: list[Row], width: float, slope: float = 0.0) -> list[Row]:
    page = Page(width, 800.0, slope=slope)
    lay_out([SeenPage(page, boxes, [], [])])
    return page.rows


def mend(text: str) -> list[str]:
    return [line.text for line in repair_lines([Line(line) for line in text.strip().splitlines()])]


CHOICE = """
Q1. Which is an ocean?
A) Alps
B) Pacific
C) Nile
D) Gobi
Q2. Which is a river?
A) Alps
B) Pacific
C) Nile
D) Gobi
"""


@pytest.mark.parametrize(
    ("read", "meant"), [("A Alps", "A) Alps"), ("AAlps", "A) Alps"), (") Alps", "A) Alps")]
)
def test_the_letter_of_a_first_option_that_a_tick_covers_is_given_back(read: str, meant: str) -> None:
    text = CHOICE + f"Q3. Which is a range?\n{read}\nB) Pacific\nC) Nile\nD) Gobi\nQ4. Which is a desert?"
    assert mend(text)[11] == meant


@pytest.mark.parametrize(
    "read", ["ByPacific", "B:Pacific", "B Pacific", "8) Pacific", "Pacific", "B) Pacific"]
)
def test_the_letter_between_two_options_is_given_back(read: str) -> None:
    assert (
        mend(CHOICE + f"Q3. Which is it?\nA) Alps\n{read}\nC) Nile\nD) Gobi\nQ4. And now?")[12]
        == "B) Pacific"
    )


def test_a_letter_given_back_has_the_stop_of_the_letters_beside_it() -> None:
    read = "1、多少个月？\nA、6\nB:12\nC、18\nD、24\n2、多少天？"
    assert mend(read)[2] == "B、 12"


@pytest.mark.parametrize("read", ["0) Gobi", "D Gobi", ") Gobi", "Gobi", "B) Gobi"])
def test_the_letter_of_a_last_option_is_given_back_where_other_questions_have_it(read: str) -> None:
    text = CHOICE + f"Q3. Which is it?\nA) Alps\nB) Pacific\nC) Nile\n{read}\nQ4. And now?"
    assert mend(text)[14] == "D) Gobi"


def test_a_fifth_option_with_a_worn_letter_is_one_and_a_plain_line_is_none() -> None:
    text = CHOICE + "Q3. Which is it?\nA) Alps\nB) Pacific\nC) Nile\nD) Gobi\nP) Etna\nRead on.\nQ4. And now?"
    assert mend(text)[15:17] == ["E) Etna", "Read on."]


def test_options_that_share_a_line_and_those_in_order_stay_as_they_are() -> None:
    lines = ["1. 甲是（ ）", "A. 一  B. 二", "C. 三  D. 四", "2. 乙是（ ）", "A. 一", "B. 二", "C. 三"]
    assert mend("\n".join(lines)) == lines


def test_numbers_that_a_pen_left_a_part_of_are_those_that_their_neighbours_call_for() -> None:
    read = """
Part I: [10 x 1 = 10]
Y. What is contrast?
2. List the factors.
3. Why is Venus hot?
À. With respect to images, what is an RNN?
5. Define a watershed.
9. Why is the gas used?
7. What is the approach?
8. Why not?
9. Which depth?
Y0. What colour does land have?
Part II
I. From the graph derive the gain.
2. According to the law, what else?
Part III
10. Explain segmentation.
2. What is followed?
"""
    mended = mend(read)
    assert [line.split(" ")[0] for line in mended] == [
        *("Part", "1.", "2.", "3.", "4.", "5.", "6.", "7.", "8.", "9.", "10."),
        *("Part", "1.", "2.", "Part", "1.", "2."),
    ]


def test_a_number_before_a_part_gets_its_stop_and_one_alone_counts_where_those_around_it_stand() -> None:
    assert mend("9. a) Draw.\n10. a) Read.\n11a) Sing.")[2] == "11. a) Sing."
    lines = [("8. Draw a mill.", 50), ("9", 300), ("9", 52), ("i) Read.", 70), ("10. Sing.", 48)]
    read = [Line(text, look=Look(10.0, left=left)) for text, left in lines]
    assert [line.text for line in repair_lines(read)][1:4] == ["9", "9. ", "i) Read."]


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("答案: 1、√2、×3、·√4、×", "答案: 1、√  2、×  3、√  4、×"),
        ("1.AB2.C 3.D", "1.AB  2.C 3.D"),
        ("·IV.书面表达(10分)", "IV.书面表达(10分)"),
        ("·水车和风车", "·水车和风车"),
        ("第1、A2、型水车", "第1、A2、型水车"),
    ],
)
def test_keys_in_a_row_are_parted_and_specks_before_numbers_go(read: str, meant: str) -> None:
    assert mend(read) == [meant]


def test_numerals_of_statements_are_given_back_where_one_alone_fits() -> None:
    read = """
7. 还要看什么？
1. 水的多少 Ⅱ. 风的大小
Ⅲ.地的高低 IV. 人的多少
A. 仅Ⅲ  B. 仅1、Ⅱ
C. 仅Ⅱ、、IV  D. I、Ⅱ、、V
8. 还有什么？
A. Ⅱ、、IV
"""
    assert mend(read)[1:5] == [
        "Ⅰ. 水的多少 Ⅱ. 风的大小",
        "Ⅲ.地的高低 IV. 人的多少",
        "A. 仅Ⅲ  B. 仅Ⅰ、Ⅱ",
        "C. 仅Ⅱ、Ⅲ、Ⅳ  D. Ⅰ、Ⅱ、Ⅲ、Ⅳ",
    ]
    assert mend(read)[6] == "A. Ⅱ、、IV"


def test_the_place_of_a_key_that_lost_its_far_bracket_is_closed() -> None:
    assert mend("1. 最大的是（\n2. 最小的是：（B\n3. 最高的是（\n）。") == [
        *("1. 最大的是（）", "2. 最小的是：（B）", "3. 最高的是（", "）。")
    ]


def test_numbers_that_run_on_and_letters_that_are_none_are_left_alone() -> None:
    lines = ["1. 熵", "A. 一种能", "3. 焓", "B. 另一种能", "7. 功"]
    assert mend("\n".join(lines)) == lines


def test_the_number_behind_q_keeps_its_word_where_the_stop_is_lost() -> None:
    assert mend(CHOICE + "Q3Which Gestalt principle is it?\nQ4. And now?")[10] == (
        "Q3. Which Gestalt principle is it?"
    )


def draw_lines(bend: float) -> Any:
    """A page of lines of letters, each bent downwards in the middle by `bend` of the width."""
    import cv2
    import numpy

    page = numpy.full((1000, 800, 3), 255, dtype=numpy.uint8)
    for top in range(60, 960, 40):
        for place, letter in enumerate("the quick brown fox jumps over the lazy dogs again and again" * 3):
            x = 30 + place * 9
            if x < 770:
                y = top + round(bend * 800 * math.sin(math.pi * x / 800))
                cv2.putText(page, letter, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (20, 20, 20), 1, cv2.LINE_AA)
    return page


@needs_cv2
def test_bent_lines_are_straightened_and_level_ones_left_to_the_pixel() -> None:
    from tasks.ingest.readers import levelling

    level, bent = draw_lines(0.0), draw_lines(0.04)
    assert levelling.level_picture(level).picture is level
    straight = levelling.level_picture(bent).picture
    steep = levelling._bend(levelling._measure_slopes(bent).slope)
    assert steep > 0.08
    assert levelling._bend(levelling._measure_slopes(straight).slope) < 0.25 * steep


@needs_cv2
def test_a_page_askew_is_turned_and_no_corner_is_cut_off() -> None:
    import cv2

    from tasks.ingest.readers.levelling import level_picture, measure_tilt

    page = draw_lines(0.0)
    turn = cv2.getRotationMatrix2D((400, 500), 3.0, 1.0)
    askew = cv2.warpAffine(page, turn, (800, 1000), borderValue=(255, 255, 255))
    assert abs(measure_tilt(askew) + 3.0) < 0.3
    straight = level_picture(askew).picture
    assert abs(measure_tilt(straight)) < 0.4
    assert straight.shape[0] >= 1000 and straight.shape[1] >= 800


def scan_with(draw: Any) -> bytes:
    """A PDF with one page that is a picture, and what `draw(canvas)` puts over it."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(200, 200))
    canvas.drawImage(ImageReader(Image.new("RGB", (50, 50), (250, 250, 250))), 0, 0, width=200, height=200)
    draw(canvas)
    canvas.save()
    return stream.getvalue()


def find_dark(data: bytes) -> bool:
    """Whether anything dark shows once what was added to the page is removed."""
    import pypdfium2
    import pypdfium2.raw as raw

    from tasks.ingest.readers.pdf_rules import remove_additions

    document = pypdfium2.PdfDocument(data)
    page = document[0]
    remove_additions(page, raw)
    return bool(page.render(scale=1).to_numpy().min() < 200)


def test_strokes_of_a_pen_over_a_scan_go_and_what_a_white_area_covers_stays_covered() -> None:
    def write(canvas: Any) -> None:
        canvas.setStrokeColorRGB(0, 0, 0.6)
        canvas.bezier(20, 20, 60, 90, 100, 10, 150, 120)

    def cover(canvas: Any) -> None:
        canvas.setFillColorRGB(1, 1, 1)
        canvas.rect(10, 10, 50, 50, stroke=0, fill=1)

    assert not find_dark(scan_with(write))
    assert not find_dark(scan_with(cover))


def test_a_picture_pasted_on_a_scan_goes_and_many_that_are_its_layers_stay() -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    def paste(count: int) -> Any:
        dark = [ImageReader(Image.new("RGB", (9, 9), (30 + place, 30, 30))) for place in range(count)]
        return lambda canvas: [
            canvas.drawImage(picture, 10 + 30 * place, 50, width=25, height=80)
            for place, picture in enumerate(dark)
        ]

    assert not find_dark(scan_with(paste(2)))
    assert find_dark(scan_with(paste(5)))


def test_a_slanting_watermark_goes_and_level_text_stays() -> None:
    def slant(canvas: Any) -> None:
        canvas.translate(60, 60)
        canvas.rotate(45)
        canvas.drawString(0, 0, "WATERMARK")

    assert not find_dark(scan_with(slant))
    assert find_dark(scan_with(lambda canvas: canvas.drawString(20, 100, "level")))


def test_lines_drawn_on_a_page_of_text_are_not_taken_away() -> None:
    import pypdfium2
    import pypdfium2.raw as raw

    from tasks.ingest.readers.pdf_rules import remove_additions

    page = pypdfium2.PdfDocument(make_pdf([[(60, 700, "1. 甲")]], lines=[[(60, 600, 300, 600)]]))[0]
    assert remove_additions(page, raw) == 0


@pytest.mark.parametrize(
    ("name", "is_recreated"),
    [
        (b"*SimSun-Bold-9121", True),
        (b"Fd1483", True),
        (b"ABCDEF+*Heiti-77", True),
        (b"ABCDEF+SimSun-Bold", False),
        (b"Arial-12", False),
    ],
)
def test_fonts_cut_out_of_a_scan_are_known_by_their_names(name: bytes, is_recreated: bool) -> None:
    from tasks.ingest.readers.pdf_rules import _RECREATED_FONT

    assert bool(_RECREATED_FONT.match(name)) is is_recreated


@needs_cv2
def test_words_of_a_figure_beside_the_text_are_set_aside_and_a_table_below_it_is_not() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers.figures import find_labels

    page = numpy.full((1000, 800), 255, dtype=numpy.uint8)
    cv2.rectangle(page, (600, 300), (760, 420), 0, 2)
    boxes = [
        Row("a line of the text that runs on", 60, 540, 1000 - y - 9, 1000 - y + 9, 15)
        for y in range(300, 420, 24)
    ]
    words = [Row("Gain", 640, 700, 640, 658, 12), Row("255", 730, 760, 590, 608, 12)]
    assert find_labels(page, [*boxes, *words]) == {5, 6}
    # the same words without running text beside them are a table, or a figure of its own
    assert find_labels(page, words) == set()


@needs_cv2
def test_what_a_scan_draws_is_a_figure_with_its_labels_and_a_table_or_the_edge_of_the_page_is_none() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers.figures import find_drawings, place_drawings

    page = numpy.full((1000, 800), 255, dtype=numpy.uint8)
    cv2.line(page, (200, 200), (360, 320), 0, 2)
    cv2.circle(page, (360, 320), 40, 0, 2)
    for y in (600, 640, 680):
        cv2.line(page, (200, y), (500, y), 0, 2)
    for x in (200, 350, 500):
        cv2.line(page, (x, 600), (x, 680), 0, 2)
    cv2.line(page, (0, 500), (90, 990), 0, 4)
    above = Row("1. What is drawn in the figure below?", 100, 500, 850, 870, 16)
    label = Row("R7", 185, 210, 800, 815, 14)
    beside = Row("of which you know one side", 410, 700, 700, 720, 16)
    below = Row("2. What is in the table?", 100, 500, 500, 520, 16)
    ((left, bottom, right, top),) = find_drawings(page, [above, label, beside, below])
    assert (left, top) == (185, 815) and right >= 398 and bottom <= 642
    placed = place_drawings([above, beside, below], [(left, bottom, right, top)])
    assert [row.text for row in placed] == [above.text, beside.text, "[image]", below.text]


@needs_cv2
def test_an_open_stroke_in_colour_is_a_pens_and_one_in_black_or_with_a_label_is_a_figure() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers.figures import find_drawings

    def draw(colour: tuple[int, int, int], boxes: Sequence[Row], is_closed: bool = False) -> int:
        page = numpy.full((1000, 800, 3), 250, dtype=numpy.uint8)
        stroke = numpy.array([[100, 260], [130, 300], [220, 180]])
        cv2.polylines(page, [stroke], is_closed, colour, 3)
        return len(find_drawings(page, boxes))

    text = Row("1. Which of these guides ships?", 300, 600, 850, 870, 16)
    label = Row("AB", 170, 190, 720, 736, 16)
    red, black = (60, 60, 220), (20, 20, 20)
    assert (draw(red, [text]), draw(black, [text])) == (0, 1)
    assert (draw(red, [text, label]), draw(red, [text], is_closed=True)) == (1, 1)


@needs_cv2
def test_a_question_or_an_option_within_the_box_of_a_drawing_stays_text() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers.figures import find_drawings, find_drawn_labels

    page = numpy.full((1000, 800), 255, dtype=numpy.uint8)
    cv2.polylines(page, [numpy.array([[100, 200], [150, 260], [100, 500], [400, 500]])], False, 0, 2)
    words = [
        Row("3. Find x.", 200, 330, 690, 706, 16),
        Row("A. 12", 200, 260, 640, 656, 16),
        Row("(a)", 200, 230, 600, 616, 16),
        Row("12 cm", 200, 260, 560, 576, 16),
    ]
    drawings = find_drawings(page, words)
    assert len(drawings) == 1 and find_drawn_labels(drawings, words) == {2, 3}


def see(*boxes: Row, width: float = 600.0, height: float = 800.0) -> SeenPage:
    return SeenPage(Page(width, height), list(boxes), [], [])


def write_lines(left: float = 120, right: float = 560) -> list[Row]:
    return [Row("一行很长很长很长的正文文字", left, right, at, at + 12, 12) for at in range(100, 700, 40)]


def test_a_sealed_margin_is_set_aside_and_numbers_that_stand_apart_are_not() -> None:
    lines = write_lines()
    margin = [Row(text, 30, 44, 100 + 90 * at, 112 + 90 * at, 12) for at, text in enumerate("甲乙丙丁戊")]
    numbers = [Row(f"{at}.", 90, 104, 60 + 40 * at, 72 + 40 * at, 12) for at in range(1, 9)]
    numbers += [Row("二、", 80, 104, 640, 652, 12)]
    assert find_margins([see(*lines, *margin, *numbers)]) == [set(range(15, 20))]
    assert find_margins([see(*lines, *numbers)]) == [set()]


def test_little_of_a_sealed_margin_is_known_by_its_words_and_by_other_sheets() -> None:
    lines = write_lines()
    sign, word = Row("ら", 30, 44, 300, 312, 12), Row(":号", 28, 52, 400, 412, 12)
    assert find_margins([see(*lines, sign)]) == [set()]
    assert find_margins([see(*lines, word)]) == [{15}]
    # The same sign at the same place of two sheets belongs to neither text; at another place it may.
    assert find_margins([see(*lines, sign), see(*lines, sign)]) == [{15}, {15}]
    moved = Row("ら", 30, 44, 500, 512, 12)
    assert find_margins([see(*lines, sign), see(*lines, moved)]) == [set(), set()]


def test_a_sheet_with_little_text_has_the_columns_of_the_others() -> None:
    def fill(first: int) -> list[Row]:
        return [
            Row(
                f"{first + side * 6 + row}. 这一栏的一道题目",
                40 + side * 500,
                440 + side * 500,
                at,
                at + 12,
                12,
            )
            for side in (0, 1)
            for row in range(6)
            for at in (700 - row * 30,)
        ]

    def rest() -> list[Row]:
        texts = [("13. 左栏", 40, 700), ("14. 左栏", 40, 500), ("15. 右栏", 540, 690), ("16. 右栏", 540, 480)]
        return [Row(text, left, left + 120, at, at + 12, 12) for text, left, at in texts]

    def read(*pages: SeenPage) -> list[str]:
        lay_out(pages)
        return [row.text.split(".")[0] for row in pages[-1].page.rows]

    full, sparse = see(*fill(1), width=1000), see(*rest(), width=1000)
    assert read(full, sparse) == ["13", "14", "15", "16"]
    assert read(see(*rest(), width=1000)) == ["13", "15", "14", "16"]
    # Not of a sheet of another size, nor where lines run across.
    assert read(full, see(*rest(), width=1000, height=500)) == ["13", "15", "14", "16"]
    across = [Row("一行文字", 40, 900, at, at + 12, 12) for at in (640, 600)]
    assert read(see(*fill(1), width=1000), see(*rest(), *across, width=1000))[:2] == ["13", "15"]


def test_an_answer_at_the_head_or_foot_of_every_page_is_no_furniture() -> None:
    from tasks.ingest.readers.ocr import _mark_outer_rows

    pages = [
        Page(600, 800, [Row(text, 50, 300, height, height + 12, 12) for text, height in texts])
        for texts in (
            [("1. 甲甲甲甲", 700.0), ("答案是：正确", 680.0), ("2. 乙乙", 100.0), ("答案是：正确", 80.0)],
            [("3. 丙丙丙丙", 700.0), ("答案是：正确", 680.0), ("4. 丁丁", 100.0), ("答案是：正确", 80.0)],
        )
    ]
    _mark_outer_rows(pages)
    mark_furniture(pages)
    assert not any(row.is_furniture for page in pages for row in page.rows)


@pytest.mark.parametrize(
    ("text", "steps", "expected"),
    [
        # Options of letters, digits or kana have a pitch as well.
        ("sD 72kbps", [57, 28, 13, 13, 13, 13, 13], "s   D 72kbps"),
        ("B 32Kbps C 48kbps", [33, 14, 14, 14, 14, 14, 46, 34, 13, 13, 13, 13, 13], "B 32Kbps   C 48kbps"),
        ("2、2、1B 16、16", [17, 20, 17, 20, 60, 30, 18, 18, 17, 18], "2、2、1  B 16、16"),
        ("B. とってC. によれば", [20, 48, 24, 24, 78, 20, 23, 22, 22, 22], "B. とって   C. によれば"),
        ("a plain sentence", [20, 12, 11, 12, 5, 12, 24, 11, 12, 12, 8, 12, 12, 11], "a plain sentence"),
    ],
)
def test_gaps_before_labels_come_back_in_lines_without_chinese(
    text: str, steps: list[int], expected: str
) -> None:
    letters = [letter for letter in text if not letter.isspace()]
    places = [float(sum(steps[:at])) for at in range(len(letters))]
    assert restore_gaps(text, list(zip(letters, places, strict=True))) == expected


def test_what_comes_back_at_the_top_or_foot_of_photographed_pages_is_furniture_at_any_height() -> None:
    from tasks.ingest.readers.ocr import _mark_outer_rows

    def page(heights: list[float], texts: list[str]) -> Page:
        rows = [
            Row(text, 50, 300, height, height + 12, 12) for text, height in zip(texts, heights, strict=True)
        ]
        return Page(600, 800, rows)

    pages = [
        page(
            [700, 640, 600, 500, 300],
            ["End Sem Exam 27 April", "1. 甲甲甲甲甲甲", "2. 乙", "3. 丙", "Do your own work!"],
        ),
        page(
            [760, 720, 600, 560, 520],
            ["End Sem Exarn 27 April", "4. 丁丁丁丁丁丁", "5. 戊", "6. 己", "Do your own work!"],
        ),
    ]
    _mark_outer_rows(pages)
    assert [[row.is_furniture for row in page.rows] for page in pages] == [
        [True, False, False, False, True]
    ] * 2


def test_two_columns_stay_apart_where_a_short_word_stands_across_the_border() -> None:
    boxes = [Row("across", 470, 520, 588, 600, 12)]
    for side, first in ((0, 1), (500, 7)):
        for row in range(6):
            at = 700 - row * 30
            boxes.append(
                Row(f"{first + row}. a question of this column", 30 + side, 440 + side, at, at + 12, 12)
            )
    read = [row.text.split(".")[0] for row in merge_boxes(boxes, 1000.0) if row.text[0].isdigit()]
    assert read == [str(number) for number in range(1, 13)]


def draw_text(*lines: str) -> Any:
    import cv2
    import numpy

    page = numpy.full((700, 800, 3), 255, dtype=numpy.uint8)
    for place, line in enumerate(lines):
        cv2.putText(page, line, (40, 80 + 60 * place), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    return page


class Reply:
    """An engine whose reply is known: what the real one says of a picture, changed."""

    def __init__(self, change: Any, engine: Any) -> None:
        self.change, self.engine = change, engine

    def __call__(self, picture: Any, **switches: Any) -> Any:
        return self.change(self.engine(picture, **switches), switches)


class Remembering:
    """An engine that looks once at a picture, and says the same when it is asked again."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.replies: dict[tuple[bytes, str], Any] = {}

    def __call__(self, picture: Any, **switches: Any) -> Any:
        asked = (picture.tobytes(), repr(sorted(switches.items())))
        if asked not in self.replies:
            self.replies[asked] = self.engine(picture, **switches)
        return copy.copy(self.replies[asked])


needs_ocr = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("cv2", "rapidocr", "onnxruntime")),
    reason="the extra `ocr` is not installed",
)
QUESTION = ("1. What is entropy?", "A) heat", "B) order")


@needs_ocr
def test_a_page_is_found_in_full_after_a_line_of_another_was_read_by_itself() -> None:
    """The engine keeps its switches: told once to find no lines, it finds none in the next page."""
    from tasks.ingest.readers import ocr
    from tasks.ingest.readers.levelling import find_marks

    engine = ocr._make_engine()
    page = draw_text(*QUESTION)
    assert [text for _, text, *_ in ocr._find_boxes(engine, page)] == list(QUESTION)
    # no box is known, so that every line is read again
    assert len(ocr._look_again(engine, page, [], *find_marks(page))) >= 1
    assert [text for _, text, *_ in ocr._find_boxes(engine, page)] == list(QUESTION)


@needs_ocr
def test_a_number_beside_a_question_that_the_detector_passed_over_is_read_again() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers import ocr
    from tasks.ingest.readers.levelling import find_marks

    engine = ocr._make_engine()
    page = draw_text("What is entropy?")
    page = numpy.hstack([numpy.full((page.shape[0], 200, 3), 255, dtype=numpy.uint8), page])
    ((corners, *_),) = ocr._find_boxes(engine, page)
    foot = int(max(y for _, y in corners)) - 12

    def look(number: str, text: str) -> list[str]:
        shown = cv2.putText(page.copy(), number, (190, foot), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
        found = ocr._look_beside(engine, shown, [(corners, text, 1.0, [])], *find_marks(shown))
        return [box[1] for box in found]

    assert look("7", "What is entropy?") == ["7. "]
    assert look("7", "b) order") == ["7. "]
    assert look("7", "order") == [] == look("K", "What is entropy?")
    # A stroke is no number unless the letter of a part stands beside it.
    assert look("1", "What is entropy?") == []


@needs_ocr
def test_lines_whose_words_have_no_places_or_fail_are_kept_with_the_box_of_the_line() -> None:
    from tasks.ingest.readers import ocr

    engine = Remembering(ocr._make_engine())
    page = draw_text(*QUESTION)
    whole = ocr._find_boxes(engine, page)

    def read(change: Any) -> list[Any]:
        def answer(found: Any, switches: Any) -> Any:
            found.word_results = change(found.word_results)
            return found

        return ocr._find_boxes(Reply(answer, engine), page)

    for change in (
        lambda words: None,
        lambda words: (),
        lambda words: words[1:],
        lambda words: (None, *words[1:]),
        lambda words: (("", 1.0, None),),
        lambda words: tuple([(text, score, None) for text, score, _ in line] for line in words),
    ):
        assert [box[:3] for box in read(change)] == [box[:3] for box in whole]

    def fail_over_words(found: Any, switches: Any) -> Any:
        if switches["return_word_box"]:
            raise IndexError("tuple index out of range")
        return found

    found = ocr._find_boxes(Reply(fail_over_words, engine), page)
    assert [text for _, text, *_ in found] == list(QUESTION)


@needs_ocr
def test_a_page_without_a_line_is_empty_and_one_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import cv2

    from tasks.ingest.readers import ocr

    blank = cv2.imencode(".png", draw_text())[1].tobytes()
    assert ocr.read_image(blank).lines == []

    def fail(picture: Any, **switches: Any) -> Any:
        raise ValueError

    monkeypatch.setattr(ocr, "_make_engine", lambda: fail)
    read = ocr.read_image(blank)
    assert read.lines == []
    assert read.warnings == ["The picture was not read by OCR: the engine failed with ValueError."]
    _, warnings = ocr.read_pages(scan_with(lambda canvas: None), [1], 60.0)
    assert warnings == ["Page 1 was not read by OCR: the engine failed with ValueError."]


@needs_ocr
def test_a_word_file_that_holds_pictures_and_no_text_is_read_from_them_in_order() -> None:
    import cv2

    from tasks.ingest.readers.formats import DOCX

    texts = ["1. Which of these is the longest river?", "2. Which of these is the largest desert?"]
    names = ["first", "second"]
    relations = "".join(
        f'<Relationship Id="{name}" Target="media/{name}.png" Type="image"/>' for name in reversed(names)
    )
    parts: dict[str, str | bytes] = {"_rels/document.xml.rels": f"<Relationships>{relations}</Relationships>"}
    for name, text in zip(names, texts, strict=True):
        parts[f"media/{name}.png"] = cv2.imencode(".png", draw_text(text))[1].tobytes()
    blocks = [
        f"<w:p><w:r><w:drawing><wp:inline xmlns:wp='urn:wp'><wp:extent cx='5000000' cy='5000000'/>"
        f"<a:blip xmlns:a='urn:a' xmlns:r='urn:r' r:embed='{name}'/></wp:inline></w:drawing></w:r></w:p>"
        for name in names
    ]
    options = {"use_ocr": True, "time_limit_s": 600.0}
    read = DOCX.read(make_docx(blocks, parts), options)
    assert [line.text for line in read.lines] == texts
    assert read.converter == "docx-walker+rapidocr"
    typed = DOCX.read(
        make_docx(["Typed text that is long enough to be a paper of its own.", *blocks], parts), options
    )
    assert [blank_picture_numbers(line.text) for line in typed.lines][1:] == ["[image] ", "[image] "]
    with pytest.raises(DocumentError, match="holds 2 pictures and hardly any text") as caught:
        DOCX.read(make_docx(blocks, parts), {**options, "use_ocr": False})
    assert caught.value.code == "needs_ocr"


@pytest.mark.parametrize(("height", "is_read"), [(7_000_000, True), (5_000_000, False)])
def test_a_word_file_of_pictures_as_large_as_pages_may_have_a_longer_title(
    monkeypatch: pytest.MonkeyPatch, height: int, is_read: bool
) -> None:
    from tasks.ingest.readers import ocr
    from tasks.ingest.readers.formats import DOCX

    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: True)
    monkeypatch.setattr(
        ocr,
        "read_images",
        lambda pictures, _: Extraction(
            "ocr", "1", [Line(f"{number}. Read?") for number in range(1, len(pictures) + 1)]
        ),
    )
    title = "University of the Coast, Department of Navigation: final examination, 2019"
    relations = "".join(
        f'<Relationship Id="p{number}" Target="media/{number}.png" Type="image"/>' for number in range(3)
    )
    parts: dict[str, str | bytes] = {"_rels/document.xml.rels": f"<Relationships>{relations}</Relationships>"}
    parts |= {f"media/{number}.png": b"picture" for number in range(3)}
    blocks = [
        f"<w:p><w:r><w:drawing><wp:inline xmlns:wp='urn:wp'><wp:extent cx='5000000' cy='{height}'/>"
        f"<a:blip xmlns:a='urn:a' xmlns:r='urn:r' r:embed='p{number}'/></wp:inline></w:drawing></w:r></w:p>"
        for number in range(3)
    ]
    options = {"use_ocr": True, "time_limit_s": 600.0}

    def read(*texts: str) -> list[str]:
        found = DOCX.read(make_docx([*texts, *blocks], parts), options)
        return [blank_picture_numbers(line.text) for line in found.lines]

    seen = [f"{number}. Read?" for number in (1, 2, 3)] if is_read else ["[image] "] * 3
    assert read(title) == [title, *seen]
    # What somebody typed on every page is a paper with figures.
    assert read(title, title, title)[-3:] == ["[image] "] * 3


@pytest.mark.hunt
@needs_ocr
def test_a_page_that_lies_on_its_side_or_head_is_turned_before_it_is_read() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers import ocr

    upright = draw_text(
        "1. Which of these is the longest river?", "A) the Nile   B) the Rhine", "2. Name its source."
    )

    def read(picture: Any) -> Any:
        return ocr.read_image(cv2.imencode(".png", picture)[1].tobytes()).lines

    expected = read(upright)
    # the boxes are those of the picture as it is shown
    left, top, right, foot = expected[0].box
    back = {
        1: (top, 1000 - right, foot, 1000 - left),
        2: (1000 - right, 1000 - foot, 1000 - left, 1000 - top),
    }
    back[3] = (1000 - foot, left, 1000 - top, right)
    # On one side in every run; on the other and on its head in a long one.
    for turn, box in list(back.items())[: tries(1, 3)]:
        lines = read(numpy.ascontiguousarray(numpy.rot90(upright, turn)))
        assert [line.text for line in lines] == [line.text for line in expected]
        assert all(abs(one - other) < 12 for one, other in zip(lines[0].box, box, strict=True))


def test_marks_at_the_right_edge_are_no_column_of_text() -> None:
    rows = [
        Row(f"({'abcdefgh'[at]}) What is a data mart, and why?", 60, 600, 900 - 40 * at, 916 - 40 * at, 14)
        for at in range(8)
    ]
    marks = [Row("(2)", 900, 930, 900 - 40 * at, 916 - 40 * at, 14) for at in range(8)]
    texts = [row.text for row in merge_boxes([*rows, *marks], 1000)]
    assert all(text.startswith("(") and text.endswith("(2)") for text in texts) and len(texts) == 8


@needs_ocr
def test_a_figure_of_a_scanned_page_is_a_picture_of_its_question(tmp_path: Path) -> None:
    import cv2
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    page = draw_text("Short answer questions", "1. What is drawn in the figure below?")
    cv2.ellipse(page, (410, 300), (110, 80), 0, 0, 360, (0, 0, 0), 1)
    cv2.putText(page, "2. Name the largest planet.", (40, 500), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawImage(ImageReader(io.BytesIO(cv2.imencode(".png", page)[1].tobytes())), 0, 0, 595, 842)
    canvas.save()
    parsed = parse_document(tmp_path / "paper.pdf", IngestOptions())
    first, second = parsed.questions
    assert (first["stem"].split("\n")[-1], second["pictures"]) == ("[picture:1]", None)
    (row,) = parsed.pictures
    left, top, right, foot = row["box"]
    assert 360 <= left <= 375 and 305 <= top <= 314 and 650 <= right <= 660 and 540 <= foot <= 550


@needs_ocr
@pytest.mark.long
def test_a_figure_on_every_page_of_a_scan_is_no_header(tmp_path: Path) -> None:
    import cv2
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    for texts, height in (
        (("Short answer questions", "1. What is drawn in the figure below?"), 300),
        (("The second part", "2. Which shape does the figure show?"), 420),
    ):
        page = draw_text(*texts)
        cv2.ellipse(page, (410, height), (110, 80), 0, 0, 360, (0, 0, 0), 1)
        canvas.drawImage(ImageReader(io.BytesIO(cv2.imencode(".png", page)[1].tobytes())), 0, 0, 595, 842)
        canvas.showPage()
    canvas.save()
    parsed = parse_document(tmp_path / "paper.pdf", IngestOptions())
    assert [len(one["pictures"] or []) for one in parsed.questions] == [1, 1]
    assert [row["page"] for row in parsed.pictures] == [1, 2]


def test_drawings_at_the_edge_of_scanned_pages_are_no_header() -> None:
    from tasks.ingest.readers.pdf_lines import mark_furniture
    from tasks.ingest.readers.pdf_pages import Page

    def page(number: int) -> Page:
        made = Page(595, 842)
        made.rows = [
            Row("Mathematics paper", 100, 300, 810, 825, 12),
            Row("[image]", 100, 300, 700, 800 + number, 12),
            Row("[image]", 100, 300, 20, 80, 12),
        ]
        return made

    pages = [page(number) for number in range(3)]
    mark_furniture(pages)
    assert [[row.is_furniture for row in page.rows] for page in pages] == [[True, False, False]] * 3


@needs_ocr
def test_a_scan_pasted_below_a_typed_title_is_read_and_the_title_stays() -> None:
    import cv2
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    from tasks.ingest.readers.formats import PDF

    questions = [f"{number}. Which of these rivers is number {number} by length?" for number in range(1, 8)]
    picture = cv2.imencode(".png", draw_text(*questions))[1].tobytes()
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    canvas.drawString(60, 790, "Rivers of the world")
    canvas.drawImage(ImageReader(io.BytesIO(picture)), 60, 300, 480, 420)
    canvas.save()
    lines = PDF.read(stream.getvalue(), {"time_limit_s": 60.0, "use_ocr": True}).lines
    assert lines[0].text == "Rivers of the world"
    assert [line.text.partition(".")[0] for line in lines[1:]] == [str(number) for number in range(1, 8)]


@needs_cv2
def test_a_line_without_ink_on_it_is_a_blank_and_the_edge_of_a_box_to_tick_is_none() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers.picture_rules import find_strokes, write_blanks

    page = numpy.full((200, 800, 3), 255, dtype=numpy.uint8)
    text = Row("It is  here.", 40, 560, 100, 124, 20)
    letters = list(zip("Itishere.", (40, 60, 90, 110, 430, 450, 470, 490, 510), strict=True))
    cv2.line(page, (160, 98), (400, 98), (0, 0, 0), 2)
    cv2.line(page, (580, 98), (740, 98), (0, 0, 0), 2)
    boxes, places = [text], [[(letter, float(x)) for letter, x in letters]]
    strokes = find_strokes(page, boxes)
    write_blanks(boxes, places, strokes.find_blanks(strokes.find_tables()))
    assert [box.text for box in boxes] == ["It is ____ here.", "____"]
    cv2.rectangle(page, (580, 60), (740, 98), (0, 0, 0), 2)
    strokes = find_strokes(page, [text])
    assert [round(rule.low, -1) for rule in strokes.find_blanks(strokes.find_tables())] == [160]


@needs_cv2
def test_the_cells_of_a_ruled_table_part_what_was_read_as_one_box() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers.picture_rules import find_strokes, take_tables

    page = numpy.full((400, 600, 3), 255, dtype=numpy.uint8)
    for x in (100, 200, 300, 400):
        cv2.line(page, (x, 100), (x, 220), (0, 0, 0), 2)
    for y in (100, 160, 220):
        cv2.line(page, (100, y), (400, y), (0, 0, 0), 2)
    boxes = [Row(str(number), 40 + 100 * number, 60 + 100 * number, 260, 284, 20) for number in (1, 2, 3)]
    boxes += [Row("AC", 140, 260, 200, 224, 20), Row(".B", 335, 360, 200, 224, 20)]
    letters = [[("1", 140.0)], [("2", 240.0)], [("3", 340.0)], [("A", 140.0), ("C", 240.0)], []]
    (rows,), taken, _ = take_tables(boxes, letters, find_strokes(page, boxes), merge_rows)
    assert [row.cells for row in rows] == [("1", "2", "3"), ("A", "C", "B")]
    assert taken == {0, 1, 2, 3, 4}
    words = [*boxes[:3], Row("words", 140, 260, 200, 224, 20)]
    places = [*letters[:3], [(letter, 140.0 + 24 * at) for at, letter in enumerate("words")]]
    assert take_tables(words, places, find_strokes(page, words), merge_rows)[0] == []


@needs_cv2
def test_a_word_in_a_frame_is_no_part_of_the_line_beside_it() -> None:
    import cv2
    import numpy

    from tasks.ingest.readers.picture_rules import find_strokes, take_tables

    page = numpy.full((200, 600, 3), 255, dtype=numpy.uint8)
    cv2.rectangle(page, (40, 60), (160, 110), (0, 0, 0), 2)
    boxes = [Row("得分", 70, 110, 105, 129, 20), Row("1、填空题", 200, 320, 105, 129, 20)]
    tables, taken, _ = take_tables(boxes, [[], []], find_strokes(page, boxes), merge_rows)
    assert ([row.text for row in tables[0]], taken) == (["得分"], {0})


@needs_cv2
def test_a_box_that_runs_over_both_columns_is_cut_where_no_ink_is_between_them() -> None:
    import numpy

    from tasks.ingest.readers.picture_rules import find_strokes

    page = numpy.full((200, 600, 3), 255, dtype=numpy.uint8)
    page[80:100, 40:280] = page[80:100, 330:560] = 0
    boxes = [Row("left right", 40, 560, 100, 120, 20)]
    letters = [[(letter, x) for letter, x in zip("leftright", map(float, range(40, 580, 60)), strict=True)]]
    whole, columns = list(boxes), [Row("one", 40, 280, 60, 80, 20), Row("two", 330, 560, 60, 80, 20)]
    strokes = find_strokes(page, boxes)
    # Without a line of each column beside it, it is a title across both.
    for beside in ([], columns[:1], columns[1:]):
        strokes.cut_boxes(alone := [*whole, *beside], [[], []], 300.0)
        assert alone == [*whole, *beside]
    strokes.cut_boxes(boxes := [*whole, *columns], places := [*letters, [], []], 300.0)
    assert [(box.text, box.left, box.right) for box in (boxes[0], boxes[-1])] == [
        ("left", 40, 300.0),
        ("right", 300.0, 560),
    ]
    assert ["".join(letter for letter, _ in line) for line in places] == ["left", "", "", "right"]
    page[80:100, 280:330] = 0
    find_strokes(page, whole).cut_boxes(uncut := [*whole, *columns], [[], [], []], 300.0)
    assert [box.text for box in uncut] == ["left right", "one", "two"]


def test_a_second_column_of_questions_with_options_is_a_column_of_its_own() -> None:
    def list_column(left: float, first: int) -> list[Row]:
        return [
            row
            for at in range(4)
            for row in (
                Row(f"{first + at}. What is it?", left, left + 380, 900 - 150 * at, 916 - 150 * at, 14),
                *(
                    Row(f"{label}. thing {label}", left + 20, left + 150, y, y + 16, 14)
                    for label, y in zip("ABCD", range(870 - 150 * at, 750 - 150 * at, -30), strict=True)
                ),
            )
        ]

    texts = [row.text for row in merge_boxes([*list_column(60, 1), *list_column(540, 5)], 1000)]
    assert texts[:5] == ["1. What is it?", "A. thing A", "B. thing B", "C. thing C", "D. thing D"]
    assert texts[20] == "5. What is it?" and len(texts) == 40


def test_a_short_last_column_is_one_where_its_numbers_run_on() -> None:
    left = [
        Row(f"{number}. What is it?", 60, 400, 900 - 40 * number, 916 - 40 * number, 14)
        for number in range(1, 20)
    ]
    right = [Row(f"{number}. What is it?", 540, 900, y, y + 16, 14) for number, y in ((20, 860), (21, 700))]
    marks = [replace(row, text="(5)", right=560) for row in right]
    assert [row.text[:3] for row in merge_boxes([*left, *right], 1000)][-3:] == ["19.", "20.", "21."]
    assert merge_boxes([*left, *marks], 1000)[0].text.endswith("(5)")


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("A) comeB) cameC) will comeD) go", "A) come  B) came  C) will come  D) go"),
        ("a) 2 (b) 4 (c) 6 (d) 8", "(a) 2 (b) 4 (c) 6 (d) 8"),
        ("a. one b. 2c. three", "a. one b. 2  c. three"),
        ("(A)R+1==F(B)F+1==R(C)(R+1)%m==F(D)R==F", "(A)R+1==F  (B)F+1==R  (C)(R+1)%m==F  (D)R==F"),
        ("A. vitamin B. is here", "A. vitamin B. is here"),
        ("A) of AB) only", "A) of AB) only"),
        ("_4) The Great Wall is in", "____ 4) The Great Wall is in"),
    ],
)
def test_options_in_a_row_and_numbers_after_a_blank_are_parted(read: str, meant: str) -> None:
    assert mend(read) == [meant]
