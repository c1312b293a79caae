"""Where a picture belongs: to what is asked, to what is answered, and to which question."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import ImageDraw

from tasks.ingest.documents import IngestOptions, parse_document
from tests.tasks.ingest.test_pictures import draw, parse_word, save, say, show, write_word


def test_a_key_beside_its_paper_asks_nothing_and_its_pictures_are_the_papers_answers(tmp_path: Path) -> None:
    """The key counts by `第一题`, the paper by `一、`; numbers of parts count nothing."""
    paper, key = tmp_path / "力学综合试题.docx", tmp_path / "力学综合试题答案.docx"
    write_word(
        paper,
        [
            say("一、计算题（20 分）"),
            say("如图，小球从光滑的斜面上由静止开始滑下，斜面固定在地面上。"),
            say("(1)求小球的速度。"),
            say("(2)求小球的加速度。"),
            say("二、计算题（20 分）"),
            say("弹簧被压缩后由静止放开，弹簧的一端固定在墙上。"),
            say("(1)求弹簧的能量。"),
            say("(2)求弹簧的周期。"),
            say("三、计算题（20 分）"),
            say("一束光从光纤的一端射入，光纤绕在一个圆环上，圆环不动。"),
            say("(1)求光的速度。"),
            say("(2)求光的路程。"),
        ],
        {},
    )
    write_word(
        key,
        [
            say("综合试题解答"),
            say("第一题"),
            say("(1)由能量守恒知", show("speed")),
            say("(2)由牛顿定律知"),
            say("第二题"),
            say("(1)由胡克定律知", show("energy")),
            say("(2)由受力分析知"),
            say("第三题"),
            say("(1)由折射率知"),
            say("(2)由圆的周长知"),
        ],
        {"speed": save(draw("speed")), "energy": save(draw("energy"))},
    )
    first, second, _ = parse_document(paper, IngestOptions()).questions
    assert [first["answer"], second["answer"]] == [
        ["(1)由能量守恒知[picture:1]\n(2)由牛顿定律知"],
        ["(1)由胡克定律知[picture:1]\n(2)由受力分析知"],
    ]
    assert first["pictures"][0]["sha256"] != second["pictures"][0]["sha256"]
    read = parse_document(key, IngestOptions())
    assert (read.questions, read.document["status"]) == ([], "no_questions")
    assert "it is the key of 力学综合试题.docx beside it" in read.document["error"]


def test_a_key_that_prints_its_paper_again_is_read_as_a_paper(tmp_path: Path) -> None:
    asked = ["一、简答题", "1. 什么是进程？", "2. 什么是线程？"]
    (tmp_path / "操作系统试题.txt").write_text("\n".join(asked))
    key = tmp_path / "操作系统试题答案.txt"
    key.write_text("\n".join([*asked[:2], "答：运行中的程序。", asked[2], "答：调度的单位。"]))
    read = parse_document(key, IngestOptions())
    assert [one["answer"] for one in read.questions] == [["运行中的程序。"], ["调度的单位。"]]


def test_a_document_whose_title_is_answers_and_that_asks_nothing_is_a_key(tmp_path: Path) -> None:
    lines = [
        "物理竞赛模拟试题九参考答案",
        "题一．由能量守恒可得速度。",
        "题二．由动量守恒可得角度。",
        "题三．力矩为零。",
    ]
    (tmp_path / "nine.txt").write_text("\n".join(lines))
    assert parse_document(tmp_path / "nine.txt", IngestOptions()).questions == []
    lines[0] = "物理竞赛模拟试题九及参考答案"
    lines[1:] = ["1. 小球的速度是多少？", "答案：2 m/s", "2. 小球的角度是多少？", "答案：30°"]
    (tmp_path / "nine.txt").write_text("\n".join(lines))
    assert len(parse_document(tmp_path / "nine.txt", IngestOptions()).questions) == 2


def test_the_answer_of_a_question_with_parts_begins_at_its_first_part(tmp_path: Path) -> None:
    (tmp_path / "mock_qp.txt").write_text(
        "1 A stack holds letters.\n(a) Write code to declare it.\n(b) Explain how it grows.\n"
        "2 A queue holds numbers.\n(a) Write code to declare it.\n(b) Explain how it shrinks.\n"
    )
    (tmp_path / "mock_ms.txt").write_text(
        "1(a) An array of letters.\n1(b) By pushing on top.\n2(a) An array of numbers.\n2(b) By taking from its head.\n"
    )
    first, second = parse_document(tmp_path / "mock_qp.txt", IngestOptions()).questions
    assert [first["answer"], second["answer"]] == [
        ["(a) An array of letters.\n1(b) By pushing on top."],
        ["(a) An array of numbers.\n2(b) By taking from its head."],
    ]


def test_an_answer_with_the_number_of_the_question_above_it_opens_none(tmp_path: Path) -> None:
    blocks = [
        block
        for number, key in ((1, "B"), (2, "C"), (3, "A"))
        for block in (
            say(f"{number}. 下图的关键路径是哪一条？", show(f"path{number}")),
            *(say(f"{letter}. {number}{letter}") for letter in "ABCD"),
            say(f"第{number}题参考答案{key}。浮动时间是{number}。"),
        )
    ]
    pictures = {f"path{number}": save(draw(f"path {number}")) for number in (1, 2, 3)}
    questions = parse_word(tmp_path, blocks, pictures).questions
    assert [(one["number_label"], one["answer"], one["explanation"]) for one in questions] == [
        ("1.", ["B"], "浮动时间是1。"),
        ("2.", ["C"], "浮动时间是2。"),
        ("3.", ["A"], "浮动时间是3。"),
    ]
    assert [[picture["place"] for picture in one["pictures"]] for one in questions] == [["stem"]] * 3


def test_a_title_and_what_it_tells_belong_to_the_first_task_below_them(tmp_path: Path) -> None:
    """Of an answered paper without marks of answers: the figure is what is asked about."""
    blocks = [
        *(say(f"Q{number}. A search of kind {number} is complete. (True)") for number in (1, 2, 3)),
        say("Q4. Surrealist maze"),
        say("The walls of a maze move in turn with the player. Nothing moves onto a dot."),
        say("", show("maze")),
        say("(a) [2 pts] Give the number of states."),
        say("There are 81 of them."),
        say("Q5. A plan is a path. (False)"),
    ]
    *_, maze, _ = parse_word(tmp_path, blocks, {"maze": save(draw("maze"))}).questions
    assert maze["stem"].split("\n")[-2:] == ["[picture:1]", "(a) [2 pts] Give the number of states."]
    assert (maze["answer"], maze["pictures"][0]["place"]) == (["There are 81 of them."], "stem")


def test_a_figure_between_a_heading_and_its_first_question_is_that_of_its_questions(tmp_path: Path) -> None:
    blocks = [
        say("一、简答题"),
        say("1. 什么是触发器？"),
        say("二、时序电路分析题（共 15 分）"),
        say("", show("circuit")),
        say("（1）写出激励函数表达式；（5 分）"),
        say("（2）画出状态表和状态图；（8 分）"),
        say("（3）试分析电路对何种输入序列进行检测。（2 分）"),
    ]
    first, *parts = parse_word(tmp_path, blocks, {"circuit": save(draw("circuit"))}).questions
    assert first["pictures"] is None
    assert [(one["material"], one["pictures"][0]["place"]) for one in parts] == [
        ("[picture:1]", "material")
    ] * 3


def test_a_drawing_is_as_large_as_the_window_through_which_it_is_shown(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    canvas.drawString(60, 780, "Short answer questions")
    canvas.drawString(60, 750, "1. Which node of the graph in the figure below is a leaf?")
    canvas.drawString(60, 560, "2. Name the largest planet of the solar system.")
    canvas.beginForm("graph", 90, 600, 280, 720)
    for left, right in ((100, 180), (180, 260)):
        canvas.line(left, 640, right, 700)
        canvas.circle(left, 640, 10)
    for height in range(20, 580, 12):  # what the window hides
        canvas.line(60, height, 500, height + 8)
    canvas.endForm()
    canvas.doForm("graph")
    canvas.save()
    parsed = parse_document(tmp_path / "paper.pdf", IngestOptions())
    first, second = parsed.questions
    assert [one["place"] for one in first["pictures"]] == ["stem"] and second["pictures"] is None
    (row,) = parsed.pictures
    left, top, right, bottom = row["box"]
    assert left >= 1000 * 85 / 595 and right <= 1000 * 285 / 595
    assert top >= 1000 * (842 - 725) / 842 and bottom <= 1000 * (842 - 595) / 842


def test_a_formula_drawn_as_shapes_is_a_picture_in_its_line_and_bullets_are_none(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    canvas.drawString(60, 780, "Short answer questions")
    canvas.drawString(60, 750, "1. We know that")
    canvas.drawString(260, 750, "holds. For which numbers does it hold?")
    canvas.drawString(60, 700, "2. Name the gases that are the most of the air.")
    for number in range(6):  # letters as a font has them: curves of several sizes
        left, wide, tall = 150 + 14 * number, 6 + number, 6 + number % 3
        letter = canvas.beginPath()
        letter.moveTo(left, 750)
        for step in range(4):
            x, y = left + wide * (step + 1) / 4, 750 + tall * (step % 2)
            letter.curveTo(x - 1, y + 2, x - 2, y, x, y)
        letter.lineTo(left + wide, 750)
        letter.lineTo(left + 1, 749)
        letter.close()
        canvas.drawPath(letter, stroke=0, fill=1)
    for height in (680, 665, 650):
        canvas.circle(70, height + 3, 2, stroke=0, fill=1)
        canvas.drawString(80, height, "gas")
    canvas.drawString(60, 600, "3. Name the largest planet of the solar system.")
    canvas.save()
    first, second, third = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert first["stem"].startswith("We know that [picture:1]")
    assert first["stem"].endswith("holds. For which numbers does it hold?")
    assert [one["place"] for one in first["pictures"]] == ["stem"]
    assert (second["pictures"], third["pictures"]) == (None, None)


OFFERED = [say(f"{letter}．说法{letter}{letter}") for letter in "ABCD"]
FOUR = {f"p{number}": save(draw(f"picture {number}")) for number in range(1, 5)}


def float_before(text: str, name: str, top: int = 0) -> str:
    """A paragraph that begins with the anchor of a floating picture."""
    return (
        "<w:p><w:r><w:drawing><wp:anchor xmlns:wp='urn:wp'><wp:positionV relativeFrom='paragraph'>"
        f"<wp:posOffset>{top}</wp:posOffset></wp:positionV><wp:extent cx='900000' cy='900000'/>"
        f"<a:blip xmlns:a='urn:a' xmlns:r='urn:r' r:embed='{name}'/></wp:anchor></w:drawing></w:r>"
        f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r></w:p>"
    )


def lay_out(rows: Sequence[Sequence[str | list[str]]]) -> str:
    """A table of Word: a cell is a text, or blocks."""
    return "<w:tbl>{}</w:tbl>".format(
        "".join(
            "<w:tr>{}</w:tr>".format(
                "".join(
                    f"<w:tc>{''.join(cell) if isinstance(cell, list) else say(cell)}</w:tc>" for cell in row
                )
            )
            for row in rows
        )
    )


def test_a_picture_that_floats_is_read_beside_its_paragraph_or_above_it(tmp_path: Path) -> None:
    blocks = [
        say("一、选择题"),
        float_before("1．如图所示，电路的电阻是（ ）", "p1"),
        *OFFERED,
        say("2．如图所示，电路的电压是（ ）"),
        *OFFERED,
        float_before("3．下列说法错误的是（ ）", "p2", top=-900_000),
        *OFFERED,
    ]
    first, second, third = parse_word(tmp_path, blocks, FOUR).questions
    assert [one["stem"] for one in (first, second, third)] == [
        "如图所示，电路的电阻是（）\n[picture:1]",
        "如图所示，电路的电压是（）\n[picture:1]",
        "下列说法错误的是（）",
    ]


def test_letters_in_a_row_name_the_pictures_above_or_below_them(tmp_path: Path) -> None:
    pictures = [show(name) for name in FOUR]
    blocks = [
        say("一、选择题"),
        say("1．三视图都相同的是（ ）"),
        say("", *pictures),
        say("A        B        C       D"),
        say("2．俯视图是圆的是（ ）"),
        lay_out([["A", "B", "C", "D"], [[say("", one)] for one in pictures]]),
        say("3．主视图是圆的是（ ）"),
        "<w:p>{}</w:p>".format(
            "".join(
                f"<w:r><w:t>{letter}．</w:t></w:r>{one}" for letter, one in zip("ABCD", pictures, strict=True)
            )
        ),
    ]
    for question in parse_word(tmp_path, blocks, FOUR).questions:
        assert [(one["label"], one["text"]) for one in question["options"]] == [
            (letter, f"[picture:{number}]") for number, letter in enumerate("ABCD", start=1)
        ]
        assert "[picture" not in question["stem"]


def test_a_caption_gives_its_picture_to_the_question_that_it_names_or_that_speaks_of_it(
    tmp_path: Path,
) -> None:
    blocks = [
        say("一、作图题"),
        say("1．请画出物体受力的示意图。"),
        say("", show("p1"), show("p2")),
        say("第1题图      第2题图"),
        say("2．请画出小磁针的指向。"),
        say("3．请写出图7中的速度。"),
        say("4．请写出光的速度。"),
        say("", show("p3")),
        say("图7 小车"),
    ]
    stems = [one["stem"] for one in parse_word(tmp_path, blocks, FOUR).questions]
    assert stems == [
        "请画出物体受力的示意图。\n[picture:1]",
        "请画出小磁针的指向。\n[picture:1]",
        "请写出图7中的速度。\n[picture:1]\n图7 小车",
        "请写出光的速度。",
    ]


def test_a_line_that_names_questions_gives_its_figure_to_them_and_to_no_other(tmp_path: Path) -> None:
    blocks = [
        say("一、选择题"),
        say("1．下列说法正确的是（ ）"),
        *OFFERED,
        say("读“气温图”，完成2～3题。"),
        say("", show("p1")),
        *(block for number in (2, 3, 4) for block in (say(f"{number}．第{number}个说法是（ ）"), *OFFERED)),
    ]
    questions = parse_word(tmp_path, blocks, FOUR).questions
    shown = "读“气温图”，完成2～3题。\n[picture:1]"
    assert [one["material"] for one in questions] == [None, shown, shown, None]


def test_a_photograph_of_writing_below_a_whole_question_is_its_answer(tmp_path: Path) -> None:
    written = draw("", size=(700, 300))
    for line in range(6):
        pen = ImageDraw.Draw(written)
        pen.text(
            (20, 10 + 45 * line), f"so the sum of all {line} of these terms is", fill="black", font_size=26
        )
    blocks = [
        say("一、简答题"),
        say("1. 什么是进程？请从操作系统如何管理程序的运行来说明，并说明它与程序的区别。" * 2),
        say("", show("written")),
        say("2. 下面的程序输出什么？请说明理由，并说明循环执行了多少次，变量最后的值是多少。" * 2),
        say("", show("written")),
        say("3. 求电阻的大小。请写出计算过程，并说明所用的定律的名称和它成立的条件。" * 2),
        say("", show("p1")),
    ]
    questions = parse_word(tmp_path, blocks, {**FOUR, "written": save(written)}).questions
    assert [[one["place"] for one in question["pictures"]] for question in questions] == [
        ["answer"],
        ["stem"],
        ["stem"],
    ]


def test_a_picture_beside_options_is_of_the_line_at_which_it_begins(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    y = 760
    for number in (1, 2):
        canvas.drawString(60, y, f"{number}. The curve at the right belongs to number {number}, which is")
        canvas.drawImage(ImageReader(draw(f"curve {number}")), 430, y - 62, 120, 70)
        for place, letter in enumerate("ABCD", start=1):
            canvas.drawString(60, y - 18 * place, f"{letter}. an acid of the kind {letter}{letter}")
        y -= 110
    canvas.save()
    for question in parse_document(tmp_path / "paper.pdf", IngestOptions()).questions:
        assert [one["place"] for one in question["pictures"]] == ["stem"]


def test_pictures_that_stand_above_every_question_of_a_paper_are_of_the_one_below(tmp_path: Path) -> None:
    options = [say(f"{letter}. {letter.lower()} {letter.lower()}") for letter in "ABCD"]
    pictures = {f"above{number}": save(draw(f"above {number}")) for number in (1, 2, 3)}
    asked = ("What is the angle?", "Which one is the largest?", "How long is the side?")
    blocks = [say("Review of shapes")]
    for number, stem in enumerate(asked, start=1):
        blocks += [say("", show(f"above{number}")), say(f"{number}. {stem}"), *options]
    habit = parse_word(tmp_path, blocks, pictures)
    assert [one["stem"] for one in habit.questions] == [f"{stem} [picture:1]" for stem in asked]
    assert len({one["pictures"][0]["sha256"] for one in habit.questions}) == 3
    # One below the last question: then they stand below their questions, and the first is a logo.
    below = parse_word(tmp_path, [*blocks, say("", show("above1"))], pictures)
    assert below.questions[1]["stem"].startswith(asked[1]) and below.questions[2]["pictures"]


def test_several_pictures_in_one_line_below_the_options_are_the_questions(tmp_path: Path) -> None:
    options = [say(f"{letter}. 大小{letter}") for letter in "ABCD"]
    plain = [block for number in (2, 3, 4, 5) for block in (say(f"{number}. 下列正确的是（ ）"), *options)]
    names = {name: save(draw(name)) for name in ("left", "right")}
    blocks = [say("1. 两个物体静止，密度的关系是（ ）"), *options, say("", show("left"), show("right"))]
    first = parse_word(tmp_path, [*blocks, *plain], names).questions[0]
    assert [one["place"] for one in first["pictures"]] == ["stem", "stem"]
    assert (first["explanation"], first["options"][-1]["text"]) == (None, "大小D")


def test_a_figure_in_the_second_column_is_of_the_question_above_it_there(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 10)
    columns = {
        60: ["Short answer questions", "1. What is a valve?", "2. What is a pump?", "3. What is a gear?"],
        320: ["4. Which part of the drawing turns?", "", "5. What is a spring?", "6. What is a bolt?"],
    }
    for left, lines in columns.items():
        for place, line in enumerate(lines):
            canvas.drawString(left, (790 if left == 60 else 760) - 90 * place, line)
    canvas.setLineWidth(2)
    canvas.circle(380, 690, 28)  # beside question 1 of the first column
    canvas.line(330, 660, 430, 720)
    canvas.line(330, 720, 430, 660)
    canvas.save()
    questions = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [one["number_label"] for one in questions if one["pictures"]] == ["4."]


def test_what_a_column_of_no_known_name_shows_is_of_the_question_in_its_row(tmp_path: Path) -> None:
    import openpyxl
    from openpyxl.drawing.image import Image as SheetImage

    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (
        ["No", "Question", "Figure", "Answer"],
        [1, "Name it.", "", "Hexagon"],
        [2, "Why?", "", "12"],
    ):
        sheet.append(row)
    draw("hexagon").save(tmp_path / "shape.png")
    sheet.add_image(SheetImage(str(tmp_path / "shape.png")), "C2")
    book.save(tmp_path / "paper.xlsx")
    first, second = parse_document(tmp_path / "paper.xlsx", IngestOptions()).questions
    assert (first["stem"], second["pictures"]) == ("Name it.\n[picture:1]", None)


def test_figures_below_the_questions_of_a_section_are_none_of_their_answers(tmp_path: Path) -> None:
    """They show no writing; the room below them is for the answer."""
    names = {f"net{number}": save(draw(f"net {number}")) for number in range(1, 6)}
    blocks = [say("一、计算题")]
    for number in range(1, 6):
        blocks += [say(f"{number}. 计算该电路的电压。（10 分）"), say("", show(f"net{number}"))]
    for question in parse_word(tmp_path, blocks, names).questions:
        assert [one["place"] for one in question["pictures"]] == ["stem"]
        assert question["answer"] == []


def test_a_figure_below_an_english_line_that_names_questions_is_of_these(tmp_path: Path) -> None:
    options = [say(f"{letter}. {letter.lower()} mm") for letter in "ABCD"]
    blocks = [say("Use the graph to answer questions 1 and 2."), say("", show("graph"))]
    for number, stem in enumerate(
        ("Which is the wettest month?", "How much falls in May?", "What is hail?"), 1
    ):
        blocks += [say(f"{number}. {stem}"), *options]
    first, second, third = parse_word(tmp_path, blocks, {"graph": save(draw("graph"))}).questions
    assert [one["place"] for one in (*first["pictures"], *second["pictures"])] == ["material"] * 2
    assert third["pictures"] is None


def test_pictures_above_free_questions_are_of_the_one_below_and_one_among_closing_words_of_none(
    tmp_path: Path,
) -> None:
    names = {name: save(draw(name)) for name in ("cell", "leaf", "root", "seal")}
    blocks = [
        say("Foglio di scienze"),
        *(say("", show("cell")), say("1. Descrivi la parte colorata.")),
        say("2. Che cosa fa la clorofilla?"),
        *(say("", show("leaf")), say("3. Indica le parti segnate.")),
        *(say("", show("root")), say("4. Spiega la sua funzione.")),
        say("5. Elenca tre piante."),
    ]
    stamped = [*blocks, say("Istituto Verdi"), say("", show("seal"))]
    for paper in (blocks, stamped):
        questions = parse_word(tmp_path, paper, names).questions
        assert [one["number_label"] for one in questions if one["pictures"]] == ["1.", "3.", "4."]
        assert len({one["pictures"][0]["sha256"] for one in questions if one["pictures"]}) == 3


def test_a_numbered_table_of_tasks_is_one_of_questions_whatever_its_columns_are_called(
    tmp_path: Path,
) -> None:
    tasks = (
        "Nenne drei Metalle.",
        "Was zeigt der Versuch?",
        "Beschreibe den Aufbau.",
        "Wozu dient das Rohr?",
    )
    rows = "".join(
        f"<tr><td>{number}</td><td>{task}</td><td>{_image(task)}</td><td>Rohr {number}</td></tr>"
        for number, task in enumerate(tasks, start=1)
    )
    page = (
        f"<p>Chemie, Klasse 8</p><table><tr><th>Lfd.</th><th>Arbeit</th><th>Skizze</th><th>Antwort</th></tr>"
        f"{rows}</table><p>Viel Erfolg!</p>"
    )
    (tmp_path / "paper.html").write_text(f"<html><meta charset='utf-8'><body>{page}</body></html>")
    questions = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert [(one["stem"], one["answer"]) for one in questions] == [
        (f"{task}\n[picture:1]", [f"Rohr {number}"]) for number, task in enumerate(tasks, start=1)
    ]


def _image(text: str) -> str:
    return f'<img src="data:image/png;base64,{base64.b64encode(save(draw(text))).decode()}">'


def test_a_row_of_captions_names_the_questions_of_as_many_pictures_above_it(tmp_path: Path) -> None:
    names = {name: save(draw(name)) for name in ("square", "circle")}
    blocks = [
        say("一、解答题（共 3 小题，解答应写出文字说明、证明过程或演算步骤）"),
        say("1. 如图，四边形的四条边都相等，一条边的长是三厘米，求四边形的周长。"),
        say("2. 如图，半圆的直径与四边形的一条边相等，求半圆的面积。"),
    ]
    for pictures, captions in (
        ([say("", show("square")), say("", show("circle"))], say("第1题图　第2题图")),
        ([say("", show("square"), show("circle"))], say("（第1题）（第2题）")),
    ):
        questions = parse_word(
            tmp_path,
            [*blocks, *pictures, captions, say("3. 什么是圆周率？它是怎样求出来的？请写出两种方法。")],
            names,
        ).questions
        assert [len(one["pictures"] or ()) for one in questions] == [1, 1, 0]
        assert questions[0]["pictures"] != questions[1]["pictures"]


def test_letters_on_lines_of_their_own_name_the_pictures_below_them(tmp_path: Path) -> None:
    names = {letter: save(draw(letter)) for letter in "ABCD"}
    stem = "1. Which of these four graphs rises from left to right and is steeper than the others?"
    blocks = [say(stem), *map(say, "ABCD"), *(say("", show(one)) for one in "ABCD")]
    free = [say(f"{number}. What is the slope of a line, and how is it measured?") for number in (2, 3, 4)]
    first, *_ = parse_word(tmp_path, [*blocks, *free], names).questions
    assert [(one["label"], one["text"]) for one in first["options"]] == [
        (letter, f"[picture:{number}]") for number, letter in enumerate("ABCD", start=1)
    ]


def test_a_page_gives_a_picture_to_its_column_to_the_number_beside_it_or_to_none(tmp_path: Path) -> None:
    """It stands in the middle of the second column, or left of all numbers."""
    from reportlab.pdfgen.canvas import Canvas

    def write(name: str, lines: dict[int, list[str]], drawn: list[tuple[int, int]]) -> list[Any]:
        canvas = Canvas(str(tmp_path / name), pagesize=(595, 842))
        canvas.setFont("Helvetica", 10)
        for left, texts in lines.items():
            for place, line in enumerate(texts):
                canvas.drawString(left, 740 - 30 * place, line)
        for number, (x, y) in enumerate(drawn):
            (tmp_path / f"{number}.png").write_bytes(save(draw(f"{name} {number}")))
            canvas.drawImage(str(tmp_path / f"{number}.png"), x, y, 70, 50)
        canvas.save()
        return parse_document(tmp_path / name, IngestOptions()).questions

    first = [f"{number}. What is the use of tool {number}?" for number in range(1, 8)]
    second = ["8. Which part turns?", "", "", *(f"{number}. Why is it so?" for number in (9, 10, 11, 12))]
    questions = write("columns.pdf", {50: first, 320: second}, [(400, 672)])
    assert [one["number_label"] for one in questions if one["pictures"]] == ["8."]
    tasks = ["1. Name the tool.", "", "", "2. What is a bolt?", "3. Name the part.", "", ""]
    questions = write("left.pdf", {200: tasks}, [(60, 700), (60, 580), (480, 80)])  # the last far below all
    assert [(one["number_label"], len(one["pictures"] or ())) for one in questions] == [
        ("1.", 1),
        ("2.", 0),
        ("3.", 1),
    ]


def test_what_the_head_and_the_foot_of_a_web_page_show_is_no_picture_of_a_question(tmp_path: Path) -> None:
    body = (
        f"<header>{_image('logo')}</header><p>1. Which curve falls?</p><figure>{_image('curve')}"
        f"<figcaption>Fig. 1</figcaption></figure><p>2. Name a gas.</p><footer>{_image('face')} Dr Lind</footer>"
    )
    (tmp_path / "paper.html").write_text(f"<html><body>{body}</body></html>")
    first, second = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert (first["stem"], second["pictures"]) == ("Which curve falls?\n[picture:1]\nFig. 1", None)


def test_a_picture_beside_one_option_is_the_stems_that_speaks_of_a_figure_and_has_none(
    tmp_path: Path,
) -> None:
    names = {name: save(draw(name)) for name in ("lever", "plain")}
    blocks = [say("一、选择题（每小题只有一个选项符合题意，请把选项前的字母填在题后的括号内）")]
    for number, stem, name in (
        (1, "如图，杠杆在水平位置平衡，左端", "lever"),
        (2, "下列说法中正确的是，它", "plain"),
    ):
        pictures = {"B": show(name)}
        blocks.append(say(f"{number}. {stem}所受的力是（ ）"))
        blocks += [say(f"{letter}. 大小为{letter}的力", pictures.get(letter, "")) for letter in "ABCD"]
    first, second = parse_word(tmp_path, blocks, names).questions
    assert [one["pictures"][0]["place"] for one in (first, second)] == ["stem", "option"]


def test_a_page_draws_a_picture_where_its_text_is_read(tmp_path: Path) -> None:
    """Tall ones stand on the line of their letter; of those drawn first their places tell."""
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    def write(is_drawn_first: bool) -> list[Any]:
        canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
        places = [
            (canvas.drawImage, (ImageReader(draw("wide")), 330, 690, 120, 70)),
            (canvas.drawString, (60, 660, "A. a circle       B. a square")),
        ]
        stem = (canvas.drawString, (60, 770, "1. Which shape stands right of the middle of the page?"))
        offered: list[Any] = [(canvas.drawString, (60, 620, "2. Which of these shapes is a wheel?"))]
        for left, low, letter in ((60, 550, "A"), (300, 550, "B"), (60, 480, "C"), (300, 480, "D")):
            offered.append((canvas.drawString, (left, low, f"{letter}.")))
            offered.append((canvas.drawImage, (ImageReader(draw(letter)), left + 20, low, 110, 60)))
        calls = [stem, *places, *offered]
        if is_drawn_first:
            calls.sort(key=lambda call: call[0] != canvas.drawImage)
        canvas.setFont("Helvetica", 11)
        for call, given in calls:
            call(*given)
        canvas.save()
        return parse_document(tmp_path / "paper.pdf", IngestOptions()).questions

    first, second = write(is_drawn_first=False)
    assert [one["place"] for one in first["pictures"]] == ["stem"]
    assert [one["text"] for one in second["options"]] == [f"[picture:{number}]" for number in (1, 2, 3, 4)]
    first, second = write(is_drawn_first=True)
    assert [one["place"] for one in first["pictures"]] == ["stem"]
    assert len(second["pictures"]) == 4


def test_a_last_page_of_a_picture_and_next_to_no_text_is_read_as_it_stands(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    for at, line in enumerate(
        ("1. What is a valve?", "2. Draw a lever.", "Answer: The lever is drawn here:")
    ):
        canvas.drawString(60, 780 - 30 * at, line)
    canvas.showPage()
    canvas.drawImage(ImageReader(draw("lever")), 60, 650, 120, 70)
    canvas.drawString(60, 630, "Done.")
    canvas.save()
    _, second = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [one["place"] for one in second["pictures"]] == ["answer"]


def test_bars_and_pies_of_a_page_are_figures_and_shaded_cells_are_none(tmp_path: Path) -> None:
    from math import cos, pi, sin

    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawString(60, 780, "1. On which day were most books sold?")
    canvas.line(60, 680, 200, 680)
    canvas.line(60, 680, 60, 760)
    for at, height in enumerate((20, 55, 40, 66)):
        canvas.rect(75 + 30 * at, 680, 18, height, stroke=1, fill=1)
    canvas.drawString(60, 650, "2. Which part of the visitors came by train?")
    circle = [(120 + 35 * cos(2 * pi * at / 90), 600 + 35 * sin(2 * pi * at / 90)) for at in range(91)]
    path = canvas.beginPath()
    path.moveTo(*circle[0])
    for point in circle[1:]:
        path.lineTo(*point)
    canvas.drawPath(path, stroke=1, fill=0)
    canvas.line(120, 600, 120, 635)
    canvas.drawString(60, 540, "3. Which of these metals is the lightest, and why?")
    canvas.setFillGray(0.8)
    for at in range(4):
        canvas.rect(60 + 90 * at, 500, 90, 20, stroke=1, fill=1)
        canvas.rect(60 + 90 * at, 480, 90, 20, stroke=1, fill=0)
    canvas.setFillGray(0)
    for at, word in enumerate(("Metal", "Iron", "Zinc", "Gold")):
        canvas.drawString(65 + 90 * at, 505, word)
        canvas.drawString(65 + 90 * at, 485, str(at))
    canvas.save()
    questions = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [len(one["pictures"] or ()) for one in questions] == [1, 1, 0]


def test_letters_below_their_pictures_name_them_in_one_cell_or_on_lines_that_take_turns(
    tmp_path: Path,
) -> None:
    pictures = [show(name) for name in FOUR]
    blocks = [
        say("一、选择题"),
        say("1．下列图形中，是轴对称图形的是（ ）"),
        lay_out([[[say("", one), say(letter)] for one, letter in zip(pictures, "ABCD", strict=True)]]),
        say("2．下列图形中，是中心对称图形的是（ ）"),
        *(
            block
            for one, letter in zip(pictures, "ABCD", strict=True)
            for block in (say("", one), say(letter))
        ),
        say("3．如图，下列说法正确的是（ ）"),
        say("", show("p1")),
        *OFFERED,
    ]
    *both, third = parse_word(tmp_path, blocks, FOUR).questions
    for question in both:
        assert [(one["label"], one["text"]) for one in question["options"]] == [
            (letter, f"[picture:{number}]") for number, letter in enumerate("ABCD", start=1)
        ]
        assert "[picture" not in question["stem"]
    assert [one["place"] for one in third["pictures"]] == ["stem"]


def test_small_letters_above_the_caption_of_a_figure_are_its_parts(tmp_path: Path) -> None:
    blocks = [
        say("1. Figure 1 shows the stages (a), (b) and (c) of a reaction. Describe each of them."),
        say("", *(show(f"p{number}") for number in (1, 2, 3))),
        say("(a)            (b)            (c)"),
        say("Figure 1"),
        say("2. Explain why metals conduct electricity."),
    ]
    first, _ = parse_word(tmp_path, blocks, FOUR).questions
    assert ([one["place"] for one in first["pictures"]], first["options"]) == (["stem"] * 3, [])


def test_what_is_to_be_scanned_is_no_picture_of_a_question(tmp_path: Path) -> None:
    asked = say("2．用手机扫码支付时，下图所示的二维码的作用是（ ）")
    blocks = [
        say("扫码查看本卷答案", show("p1")),
        say("一、选择题"),
        say("1．下列说法正确的是（ ）"),
        *OFFERED,
        *(say("扫一扫，看视频讲解"), say("", show("p2"))),
        *(asked, say("", show("p3")), *OFFERED),
        *(say("Scan the QR code for more worksheets"), say("", show("p4"))),
    ]
    first, second = parse_word(tmp_path, blocks, FOUR).questions
    assert (first["pictures"], first["options"][-1]["text"]) == (None, "说法DD")
    assert [one["place"] for one in second["pictures"]] == ["stem"]
    assert (second["options"][-1]["text"], second["explanation"]) == ("说法DD", None)


def test_a_caption_below_the_options_names_a_question_or_its_figure_and_opens_none(tmp_path: Path) -> None:
    blocks = [
        say("一、选择题"),
        say("1．如图，它所受的力是（ ）"),
        *OFFERED,
        say("", show("p1")),
        say("第1题图"),
        say("2．如图，它的速度是（ ）"),
        *OFFERED,
        say("3．如图2，它的密度是（ ）"),
        *OFFERED,
        say("4．如图3，它的质量是（ ）"),
        *OFFERED,
        say("", show("p2")),
        say("（第2题图）"),
        lay_out([[[say("", show("p3"))], [say("", show("p4"))]], ["图2", "图3"]]),
    ]
    questions = parse_word(tmp_path, blocks, FOUR).questions
    assert [[one["place"] for one in question["pictures"] or ()] for question in questions] == [["stem"]] * 4
    assert len({question["pictures"][0]["sha256"] for question in questions}) == 4


def test_a_figure_below_options_goes_to_the_next_question_where_only_that_speaks_of_one(
    tmp_path: Path,
) -> None:
    options = [say(f"{letter}. {letter.lower()} mm") for letter in "ABCD"]
    blocks = [
        say("1. What is hail?"),
        *options,
        say("", show("p1")),
        say("2. Look at the map. Where does the river end?"),
        *options,
        say("3. What is sleet?"),
        *options,
        say("", show("p2")),
        say("4. What is snow?"),
        *options,
    ]
    questions = parse_word(tmp_path, blocks, FOUR).questions
    assert [len(one["pictures"] or ()) for one in questions] == [0, 1, 1, 0]


def test_a_line_that_names_questions_on_what_is_above_it_gives_them_the_figure_above(tmp_path: Path) -> None:
    options = [say(f"{letter}. {letter.lower()} mm") for letter in "ABCD"]
    for lead, is_above in (
        ("Use the map above to answer questions 2 and 3.", True),
        ("Refer to Figure 3 for questions 2 and 3.", False),
        ("The following map is for questions 2 and 3.", False),
        ("（2～3题）读下图，回答问题。", False),
    ):
        shown = [say("", show("p1")), say(lead)]
        blocks = [say("1. What is hail?"), *options, *(shown if is_above else shown[::-1])]
        blocks += [
            block for number in (2, 3, 4) for block in (say(f"{number}. What is {number} of it?"), *options)
        ]
        questions = parse_word(tmp_path, blocks, FOUR).questions
        assert [[one["place"] for one in question["pictures"] or ()] for question in questions] == [
            [],
            ["material"],
            ["material"],
            [],
        ]


def test_a_picture_that_floats_on_a_web_page_is_beside_its_paragraph(tmp_path: Path) -> None:
    picture = _image("curve").replace("<img", '<img style="vertical-align:middle;FLOAT:right"')
    beside = _image("lever").replace("<img", '<img align="right"')
    body = (
        f"<div>{picture}1. Which curve falls?</div><p>A. a</p><p>B. b</p><p>{beside}2. Which lever turns?</p>"
        f"<p>A. c</p><p>B. d</p><p>3. Which one {_image('sign')} is it?</p><p>A. e</p><p>B. f</p>"
    )
    (tmp_path / "paper.html").write_text(f"<html><body>{body}</body></html>")
    assert [one["stem"] for one in parse_document(tmp_path / "paper.html", IngestOptions()).questions] == [
        "Which curve falls?\n[picture:1]",
        "Which lever turns?\n[picture:1]",
        "Which one [picture:1] is it?",
    ]


def test_what_moodle_explains_a_question_with_is_shown_to_no_candidate(tmp_path: Path) -> None:
    body = "".join(
        f'<div class="que multichoice"><div class="info"><h3 class="no">Question {number}</h3></div>'
        f'<div class="qtext"><p>{stem}</p></div><div class="answer"><div>a. it is up</div><div>b. it is down</div><div>c. it is east</div></div>'
        f'<div class="feedback"><div class="specificfeedback"><p>Your answer is incorrect. {_image("no")}</p></div>'
        f'<div class="generalfeedback"><p>See it here.</p><p>{_image(stem)}</p></div>'
        f'<div class="rightanswer">The correct answer is: it is up</div></div></div>'
        for number, stem in enumerate(
            ("Where is the sun?", "Where is the moon?", "Where is the sky?"), start=1
        )
    )
    (tmp_path / "paper.html").write_text(f"<html><body>{body}</body></html>")
    for question in parse_document(tmp_path / "paper.html", IngestOptions()).questions:
        assert [one["place"] for one in question["pictures"]] == ["explanation"]
        assert (question["answer"], question["explanation"]) == (["A"], "See it here.\n[picture:1]")


def test_a_rule_is_no_picture_of_a_question(tmp_path: Path) -> None:
    names = {"rule": save(draw("~" * 60, size=(640, 14))), "wide": save(draw("number line", size=(400, 30)))}
    blocks = [
        say("1. What is hail, and why does it fall in summer more often than in winter?"),
        say("", show("rule")),
        say("2. Which number is marked on the line, and how far is it from its left end?"),
    ]
    first, second = parse_word(tmp_path, [*blocks, say("", show("wide"))], names).questions
    assert (first["pictures"], len(second["pictures"])) == (None, 1)


def test_pictures_of_a_workbook_beside_and_below_its_cells_and_placed_in_them(tmp_path: Path) -> None:
    import io

    import xlsxwriter

    def write(pictures: list[tuple[str, int, int, int]], rows: Sequence[Sequence[object]]) -> list[Any]:
        book = xlsxwriter.Workbook(str(tmp_path / "paper.xlsx"))
        sheet = book.add_worksheet()
        for at, cells in enumerate(rows):
            sheet.set_row(at, 80)
            sheet.write_row(at, 0, cells)
        for name, row, column, down in pictures:
            data = {"image_data": io.BytesIO(save(draw(name)))}
            if down < 0:
                sheet.embed_image(row, column, name, data)
            else:
                sheet.insert_image(row, column, name, data | {"y_offset": down})
        book.close()
        return parse_document(tmp_path / "paper.xlsx", IngestOptions()).questions

    head = ["No", "Question", "A", "B", "Answer"]
    asked = [
        [at, f"Which valve is the {word} one?", "left", "right", "A"] for at, word in enumerate("xyz", 1)
    ]
    beside = write([("p.png", 1, 7, 5), ("q.png", 2, 9, 5), ("r.png", 2, 1, 100)], [head, *asked])
    assert [[one["place"] for one in question["pictures"] or ()] for question in beside] == [["stem"]] * 3
    placed = write(
        [("p.png", 1, 2, -1), ("q.png", 1, 3, -1)], [head, [1, "Which one turns?", "", "", "B"], *asked[1:]]
    )
    assert [one["text"] for one in placed[0]["options"]] == ["[picture:1]", "[picture:2]"]
    lines = [
        ["1. Which valve is it?"],
        ["A. left"],
        ["B. right"],
        ["2. Which pump is it?"],
        ["A. up"],
        ["B. down"],
    ]
    first, second = write([("p.png", 0, 4, 5), ("q.png", 6, 0, 5)], lines)
    assert [[one["place"] for one in question["pictures"]] for question in (first, second)] == [["stem"]] * 2


def test_pictures_above_the_words_of_their_options_are_these_options(tmp_path: Path) -> None:
    words = ["beaker", "funnel", "flask", "ruler"]
    pictures = [show(name) for name in FOUR]
    offered = [f"{letter}. {word}" for letter, word in zip("ABCD", words, strict=True)]
    blocks = [
        say("1. Which of these tools measures a length?"),
        lay_out([[[say("", one), say(text)] for one, text in zip(pictures, offered, strict=True)]]),
        say("2. Which of these tools holds a liquid?"),
        lay_out([[[say("", one)] for one in pictures], offered]),
        say("3. Which of these tools, shown here side by side, is the oldest one?"),
        say("", *pictures),
        *map(say, offered),
    ]
    *both, third = parse_word(tmp_path, blocks, FOUR).questions
    for question in both:
        assert [one["text"] for one in question["options"]] == [
            f"[picture:{number}] {word}" for number, word in enumerate(words, start=1)
        ]
    assert [one["place"] for one in third["pictures"]] == ["stem"] * 4


def test_a_letter_right_below_each_picture_of_a_row_of_a_page_names_it(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    rows = (
        ("1. Which of these tools measures a length?", ("beaker", "funnel", "flask", "ruler"), 4),
        (
            "2. The drawings show the two ends of one rod. Which end is warm?",
            ("left", "right", "both", "none"),
            2,
        ),
    )
    for (stem, words, count), y in zip(rows, (780, 620), strict=True):
        canvas.drawString(60, y, stem)
        for at, word in enumerate(words[:count]):
            canvas.drawImage(ImageReader(draw(word)), 60 + 120 * at, y - 80, 90, 60)
        for at, word in enumerate(words):
            canvas.drawString(60 + 120 * at, y - 98, f"{'ABCD'[at]}. {word}")
    canvas.save()
    first, second = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [one["place"] for one in first["pictures"]] == ["option"] * 4
    assert [one["place"] for one in second["pictures"]] == ["stem"] * 2


def test_a_picture_before_the_number_of_a_line_is_of_this_question(tmp_path: Path) -> None:
    blocks = [
        f"<w:p>{show('p1')}<w:r><w:t>1. Which part of the lever in the drawing turns?</w:t></w:r></w:p>",
        say("2. What is a bolt, and what holds it in its place?"),
        f"<w:p>{show('p2')}<w:r><w:t>3. Which part of the pump in the drawing is closed?</w:t></w:r></w:p>",
    ]
    questions = parse_word(tmp_path, blocks, FOUR).questions
    assert [(one["number_label"], len(one["pictures"] or ())) for one in questions] == [
        ("1.", 1),
        ("2.", 0),
        ("3.", 1),
    ]


def test_numbered_tasks_in_the_cells_of_a_table_are_questions_and_numbered_answers_are_none(
    tmp_path: Path,
) -> None:
    grid = [
        [[say("", show(f"p{at}")), say(f"{at}. ________")] for at in (1, 2)],
        [[say("", show(f"p{at}")), say(f"{at}. ________")] for at in (3, 4)],
    ]
    sums = [[f"{at}. {at}7 + {at}8 =" for at in (5, 7)], [f"{at}. {at}7 + {at}8 =" for at in (6, 8)]]
    keys = [["1. circle", "2. square", "3. star", "4. oval"], ["5. 115", "6. 135", "7. 155", "8. 175"]]
    blocks = [say("Write the name of each shape, or work out each sum."), lay_out(grid), lay_out(sums)]
    questions = parse_word(tmp_path, [*blocks, say("Answer Key"), lay_out(keys)], FOUR).questions
    assert [(one["number_label"], one["stem"]) for one in questions] == [
        *[(f"{at}.", "________ [picture:1]") for at in (1, 2, 3, 4)],
        *[(f"{at}.", f"{at}7 + {at}8 =") for at in (5, 6, 7, 8)],
    ]
    assert len({one["pictures"][0]["sha256"] for one in questions[:4]}) == 4


def test_pictures_beside_the_texts_of_a_moodle_bank_stand_where_these_show_them(tmp_path: Path) -> None:
    def write(tag: str, text: str, name: str = "", worth: int = 0) -> str:
        shown, file = "", ""
        if name:
            shown = f'&lt;p&gt;&lt;img src="@@PLUGINFILE@@/{name}%20a.png" alt=""&gt;&lt;/p&gt;'
            data = base64.b64encode(save(draw(name))).decode()
            file = f'<file name="{name} a.png" path="/" encoding="base64">{data}</file>'
        return f'<{tag} format="html" fraction="{worth}"><text>&lt;p&gt;{text}&lt;/p&gt;{shown}</text>{file}</{tag}>'

    questions = "".join(
        f'<question type="multichoice">{write("questiontext", f"Which one is shape {at}?", f"stem{at}")}'
        f"{write('generalfeedback', 'It is this one.', f'why{at}')}"
        f"{write('answer', '', f'right{at}', 100)}{write('answer', 'no shape')}</question>"
        for at in (1, 2)
    )
    (tmp_path / "bank.xml").write_text(f'<?xml version="1.0" encoding="UTF-8"?><quiz>{questions}</quiz>')
    for question in parse_document(tmp_path / "bank.xml", IngestOptions()).questions:
        assert [one["place"] for one in question["pictures"]] == ["stem", "option", "explanation"]
        assert question["options"][0]["text"] == "[picture:2]" and question["answer"] == ["A"]


def test_a_key_of_two_columns_on_a_web_page_gives_its_rows_their_answers(tmp_path: Path) -> None:
    rows = (("No.", "Answer"), ("1", "B"), ("2", _image("lever")), ("3", "The air turns it."))
    body = (
        "<p>1. Which one is a gas?</p><p>A. iron</p><p>B. air</p><p>2. Draw a lever.</p><p>3. Why does it turn?</p>"
        "<h2>Answer Key</h2><table>{}</table>".format(
            "".join(f"<tr><td>{number}</td><td>{said}</td></tr>" for number, said in rows)
        )
    )
    (tmp_path / "paper.html").write_text(f"<html><body>{body}</body></html>")
    questions = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert [one["answer"] for one in questions] == [["B"], ["[picture:1]"], ["The air turns it."]]


def test_pictures_drawn_after_all_text_stand_below_the_text_right_above_them(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 10)
    lines = {
        60: {
            790: "1. What is a valve?",
            680: "2. What is a pump?",
            660: "3. What is a gear?",
            550: "4. What is oil?",
        },
        320: {790 - 20 * at: f"{at + 5}. What is the part {at + 5} for?" for at in range(6)},
    }
    for left, column in lines.items():
        for low, line in column.items():
            canvas.drawString(left, low, line)
    canvas.drawString(60, 815, "Mechanics")  # a header, drawn last
    canvas.drawImage(ImageReader(draw("valve")), 70, 700, 80, 70)
    canvas.drawImage(ImageReader(draw("gear")), 70, 570, 80, 70)
    canvas.save()
    questions = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [one["number_label"] for one in questions if one["pictures"]] == ["1.", "3."]


def test_a_solution_on_the_figure_above_leaves_it_to_its_question(tmp_path: Path) -> None:
    for solution in (
        "解：由上图可知，在1～2s内速度是4 m/s。",
        "Answer: The graph above shows 4 m from 1 to 2 s.",
    ):
        blocks = [
            say("1. 如图，求物体的速度。"),
            *(say("", show("p1")), say(solution)),
            *(say("2. 求物体的加速度，并说明理由。"), say("答：加速度是零。")),
        ]
        first, _ = parse_word(tmp_path, blocks, FOUR).questions
        assert [one["place"] for one in first["pictures"]] == ["stem"]


def test_what_a_story_lets_be_scanned_stays_in_its_question(tmp_path: Path) -> None:
    story = "某商场推出活动，顾客扫码关注公众号即可领取优惠券，满100元减20元。"
    blocks = [
        *(say("一、简答题"), say("1. 阅读材料，回答问题。"), say(story), say("", show("p1"))),
        *(say("（1）购物150元，应付多少元？"), say("（2）满200元减多少？")),
        *(say("2. 什么是供给？"), say("3. 什么是需求？")),
    ]
    first, *_ = parse_word(tmp_path, blocks, FOUR).questions
    assert (first["stem"].split("\n")[1], len(first["pictures"])) == (story, 1)


def test_a_card_of_numbered_places_for_answers_asks_nothing(tmp_path: Path) -> None:
    card = lay_out([[f"{at}.____" for at in (1, 2, 3)], [f"{at}.____" for at in (4, 5, 6)]])
    blocks = [say("物理测验"), card, *(say(f"{at}. 什么是第{at}定律？") for at in range(1, 7))]
    questions = parse_word(tmp_path, blocks, {}).questions
    assert [one["stem"] for one in questions] == [f"什么是第{at}定律？" for at in range(1, 7)]


def test_a_line_of_print_is_no_rule(tmp_path: Path) -> None:
    code = draw("", size=(600, 18))
    ImageDraw.Draw(code).text(
        (4, 1), "print(sum(x * x for x in range(10) if x % 2 == 0))", "black", font_size=14
    )
    blocks = [say("1. What does this line of Python print?"), say("", show("code"))]
    blocks += [say("2. What is a loop?"), say("3. What is a list?")]
    first, *_ = parse_word(tmp_path, blocks, {"code": save(code)}).questions
    assert [one["place"] for one in first["pictures"]] == ["stem"]


def test_what_a_sheet_shows_beside_its_explanations_or_below_a_name_of_answers_is_no_part_of_the_stem(
    tmp_path: Path,
) -> None:
    import io

    import xlsxwriter

    for name, stem, place in (
        ("", "Which valve is the {} one?", "explanation"),
        ("", "Which valve of the figure below is the {} one?", "stem"),
        ("Answer image", "Which valve of the figure below is the {} one?", "explanation"),
        ("Image", "Which valve is the {} one?", "stem"),
    ):
        book = xlsxwriter.Workbook(str(tmp_path / "paper.xlsx"))
        sheet = book.add_worksheet()
        head = ["No", "Question", "A", "B", "Answer", "Explanation", *([name] if name else [])]
        rows = [
            [at, stem.format(word), "left", "right", "A", "It is left."] for at, word in enumerate("xy", 1)
        ]
        for at, row in enumerate([head, *rows]):
            sheet.set_row(at, 80)
            sheet.write_row(at, 0, row)
        data = {"image_data": io.BytesIO(save(draw("valve"))), "y_offset": 84, "x_scale": 0.2, "y_scale": 0.2}
        sheet.insert_image(1, 6, "p.png", data)  # at the foot of its row, which it does not leave
        book.close()
        first, second = parse_document(tmp_path / "paper.xlsx", IngestOptions()).questions
        assert ([one["place"] for one in first["pictures"]], second["pictures"]) == ([place], None)


def test_a_picture_that_floats_beside_options_is_the_question_above(tmp_path: Path) -> None:
    picture = _image("lever").replace("<img", '<img align="left"')
    page = (
        f"<p>1. Which lever turns?</p><div>{picture}<p>A. this</p><p>B. that</p></div><p>2. Which falls?</p>"
    )
    (tmp_path / "paper.html").write_text(f"<html><body>{page}</body></html>")
    first, _ = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert [one["place"] for one in first["pictures"]] == ["stem"]


def test_root_signs_drawn_as_boxes_are_no_bars_of_a_chart(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawString(60, 800, "1. How long is the side of the square, and which of its roots is it?")
    for left in (100, 150, 200):
        canvas.rect(left, 740, 3.4, 12, stroke=0, fill=1)
        canvas.rect(left + 3, 740, 3.4, 31, stroke=0, fill=1)
        canvas.rect(left + 6, 770, 46, 1, stroke=0, fill=1)
        canvas.drawString(left + 8, 741, "2a")
    canvas.drawString(60, 700, "2. Name the largest planet of the solar system.")
    canvas.save()
    first, _ = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert first["pictures"] is None and first["stem"].count("2a") == 3


def test_only_what_speaks_of_a_map_that_it_shows_speaks_of_a_figure() -> None:
    from tasks.ingest.content.named_pictures import SPEAKS_OF_FIGURE

    for text in (
        "Look at the map.",
        "The map below is old.",
        "The photograph shows a cell.",
        "Study the graph.",
    ):
        assert SPEAKS_OF_FIGURE.search(text), text
    for text in (
        "What does a weather map show?",
        "Which map projection shows areas?",
        "Study graph theory.",
        "Draw a sketch to show the forces.",
        "Sketch below how a valve works.",
    ):
        assert not SPEAKS_OF_FIGURE.search(text), text


def _print(
    path: Path, texts: Sequence[tuple[float, float, str]], shown: Sequence[tuple[str, float, float]]
) -> None:
    """A page with texts and pictures at places in points."""
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    for left, height, text in texts:
        canvas.drawString(left, height, text)
    for name, left, height in shown:
        canvas.drawImage(ImageReader(draw(name)), left, height, 90, 60)
    canvas.save()


def test_a_picture_right_of_a_stack_of_options_is_their_questions(tmp_path: Path) -> None:
    words = ("below the bench", "above the bench", "beside the bench", "far from the bench")
    texts = []
    for number, top in ((1, 780.0), (2, 640.0)):
        texts.append((60.0, top, f"{number}. Where does part {number} of the machine stand?"))
        texts += [
            (75.0, top - 18 - 16 * at, f"{letter}. {word}")
            for at, (letter, word) in enumerate(zip("ABCD", words, strict=True))
        ]
    _print(tmp_path / "paper.pdf", texts, [("machine", 400, 706)])
    first, second = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [one["place"] for one in first["pictures"]] == ["stem"] and second["pictures"] is None
    assert [one["text"] for one in first["options"]] == list(words)


def test_letters_left_of_pictures_and_in_two_columns_name_them(tmp_path: Path) -> None:
    names = [f"gauge {letter}" for letter in "ABCD"]
    texts = [(60.0, 780.0, "1. Which of these gauges shows too much?")]
    texts += [(75.0 + 115 * at, 730.0, f"({letter})") for at, letter in enumerate("ABCD")]
    texts += [(60.0, 660.0, "2. Name the largest planet of the solar system.")]
    shown = [(name, 95.0 + 115 * at, 705.0) for at, name in enumerate(names)]
    _print(tmp_path / "left.pdf", texts, shown)
    first, _ = parse_document(tmp_path / "left.pdf", IngestOptions()).questions
    assert [(one["label"], one["text"]) for one in first["options"]] == [
        (letter, f"[picture:{at}]") for at, letter in enumerate("ABCD", start=1)
    ]

    texts = [(50.0, 780.0 - 32 * at, f"{at + 1}. Why does part {at} of it turn?") for at in range(8)]
    texts += [(320.0, 780.0, "9. Which of these gauges shows too much?")]
    texts += [
        (350.0 + 110 * (at % 2), 684.0 - 96 * (at // 2), f"{letter}.") for at, letter in enumerate("ABCD")
    ]
    texts += [(320.0, 540.0 - 32 * at, f"{at + 10}. Why does part {at} of it stop?") for at in range(6)]
    shown = [(name, 320.0 + 110 * (at % 2), 700.0 - 96 * (at // 2)) for at, name in enumerate(names)]
    _print(tmp_path / "columns.pdf", texts, shown)
    asked = parse_document(tmp_path / "columns.pdf", IngestOptions()).questions
    assert [(one["label"], one["text"]) for one in asked[8]["options"]] == [
        (letter, f"[picture:{at}]") for at, letter in enumerate("ABCD", start=1)
    ]


def test_a_circuit_is_a_figure_and_the_ground_of_a_page_is_none(tmp_path: Path) -> None:
    """The frame of a circuit has shapes on its edges, as no table has."""
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawImage(ImageReader(draw("ground", (595, 842))), 0, 0, 595, 842)
    canvas.drawString(60, 780, "1. What does the meter read while the switch is open?")
    canvas.rect(100, 680, 140, 75)
    canvas.setFillColorRGB(1, 1, 1)
    canvas.circle(170, 755, 9, fill=1)
    canvas.rect(128, 676, 35, 8, fill=1)
    canvas.setFillColorRGB(0, 0, 0)
    canvas.drawString(167, 751, "A")
    canvas.drawString(60, 640, "2. What is shown here?")
    canvas.drawImage(ImageReader(draw("meter")), 100, 560, 90, 60)
    canvas.drawString(60, 520, "3. Name the largest planet of the solar system, and say how it is known.")
    canvas.save()
    parsed = parse_document(tmp_path / "paper.pdf", IngestOptions())
    assert [len(one["pictures"] or ()) for one in parsed.questions] == [1, 1, 0]
    assert [len(one["box"]) for one in parsed.pictures] == [4, 4]
    assert all(one["box"][3] - one["box"][1] < 150 for one in parsed.pictures)


def test_a_picture_with_its_caption_in_a_cell_is_of_the_question_that_the_caption_names(
    tmp_path: Path,
) -> None:
    pictures = [[say("", show(name)), say(f"第{number}题图")] for name, number in (("p1", 1), ("p2", 3))]
    blocks = [
        say("一、选择题"),
        *(block for number in (1, 2, 3) for block in (say(f"{number}．说法{number}错误的是（ ）"), *OFFERED)),
        lay_out([pictures]),
        say("二、简答题"),
        say("4．什么是惯性？"),
    ]
    questions = parse_word(tmp_path, blocks, FOUR).questions
    assert [len(one["pictures"] or ()) for one in questions] == [1, 0, 1, 0]
    assert all("题图" not in one["stem"] and one["explanation"] is None for one in questions)


def test_a_picture_on_a_line_between_options_is_of_their_stem(tmp_path: Path) -> None:
    blocks = [
        say("1．图2中的元素属于（ ）"),
        OFFERED[0],
        say("", show("p1")),
        say("图2"),
        *OFFERED[1:],
        say("2．哪一幅图正确（ ）"),
        *(
            block
            for letter, name in zip("ABCD", FOUR, strict=True)
            for block in (say(f"{letter}．图{letter}"), say("", show(name)))
        ),
    ]
    first, second = parse_word(tmp_path, blocks, FOUR).questions
    assert [one["place"] for one in first["pictures"]] == ["stem"]
    assert first["options"][0]["text"] == "说法AA"
    assert [one["place"] for one in second["pictures"]] == ["option"] * 4


def test_a_seal_below_the_line_that_closes_a_paper_is_no_questions(tmp_path: Path) -> None:
    asked = [say("1．说法1错误的是（ ）"), *OFFERED, say("答案：B"), say("解析：说法B是错误的。")]
    closed = parse_word(tmp_path, [*asked, say("（试卷结束）"), say("", show("p1"))], FOUR)
    assert closed.questions[0]["pictures"] is None
    closed = parse_word(
        tmp_path, [*asked, say("End of examination"), say("Answers"), say("1. B"), say("", show("p1"))], FOUR
    )
    assert [one["place"] for one in closed.questions[0]["pictures"] or ()] != ["stem"]


def test_a_page_shows_signs_and_faces_of_a_platform_and_opens_questions_with_their_pictures(
    tmp_path: Path,
) -> None:
    def ask(number: int, words: str, shown: str = "") -> str:
        return (
            f"<div class='question'>{shown}<p>{number}. {words}</p><ol type='A'><li>this</li><li>that</li></ol>"
            f"<p>Explanation: so it is {_image(f'why {number}')}</p></div>"
        )

    body = (
        f"{ask(1, 'Which lever turns?')}{ask(2, 'Which curve falls?', _image('curve'))}{ask(3, 'Which gas burns?')}"
        f"<div class='comments'>{_image('face')} The teacher wishes you well</div>"
    )
    (tmp_path / "paper.html").write_text(f"<html><body>{body}</body></html>")
    questions = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert [[one["place"] for one in question["pictures"]] for question in questions] == [
        ["explanation"],
        ["stem", "explanation"],
        ["explanation"],
    ]
    sign = _image("q")
    body = "".join(f"<h3>Question {at} {sign}</h3><p>Why does part {at} turn?</p>" for at in (1, 2, 3))
    (tmp_path / "paper.html").write_text(f"<html><body>{body}</body></html>")
    large = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert [len(one["pictures"] or ()) for one in large] == [1, 1, 1]
    small = base64.b64encode(save(draw("q", (24, 24)))).decode()
    (tmp_path / "paper.html").write_text(
        f"<html><body>{body.replace(sign, f'<img src=data:image/png;base64,{small}>')}</body></html>"
    )
    read = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert [one["pictures"] for one in read] == [None] * 3


def test_pictures_in_rows_above_the_words_of_all_options_are_these_options(tmp_path: Path) -> None:
    first, second, third, fourth = (show(name) for name in FOUR)
    blocks = [
        say("一、选择题"),
        say("1．下列现象中属于化学变化的是（ ）"),
        say("", first, second),
        say("A．蜡烛燃烧　　　B．冰雪融化"),
        say("", third, fourth),
        say("C．玻璃破碎　　　D．干冰升华"),
        say("2．甲、乙两图中的装置相同的是（ ）"),
        say("", first, second),
        say("A．烧杯　　　B．漏斗"),
        say("C．量筒　　　D．试管"),
    ]
    one, other = parse_word(tmp_path, blocks, FOUR).questions
    assert [option["text"] for option in one["options"]] == [
        "[picture:1] 蜡烛燃烧",
        "[picture:2] 冰雪融化",
        "[picture:3] 玻璃破碎",
        "[picture:4] 干冰升华",
    ]
    assert [picture["place"] for picture in other["pictures"]] == ["stem"] * 2


def test_letters_without_stops_name_drawn_figures_and_arrows_make_one(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawString(60, 780, "1. Which graph shows a steady speed?")
    for at, letter in enumerate("ABCD"):
        left = 70 + 115 * at
        canvas.line(left, 700, left + 80, 700)
        canvas.line(left, 700, left, 760)
        canvas.line(left, 700 + 10 * at, left + 80, 750)
        canvas.drawString(left + 36, 682, letter)
    canvas.drawString(60, 640, "2. Which of the two forces on this block is the larger one?")
    canvas.rect(150, 580, 50, 34)
    for begin, end in ((200, 262), (150, 96)):
        canvas.line(begin, 597, end, 597)
        back = -8 if end > begin else 8
        canvas.line(end, 597, end + back, 601)
        canvas.line(end, 597, end + back, 593)
    canvas.drawString(60, 540, "3. Name the largest planet of the solar system, and say how it is known.")
    canvas.save()
    first, second, third = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [(one["label"], one["text"]) for one in first["options"]] == [
        (letter, f"[picture:{at}]") for at, letter in enumerate("ABCD", start=1)
    ]
    assert [one["place"] for one in second["pictures"]] == ["stem"] and third["pictures"] is None


def test_a_row_of_a_number_and_lettered_pictures_is_a_question(tmp_path: Path) -> None:
    pictures = [show(name) for name in FOUR]
    rows: list[list[str | list[str]]] = [
        [
            f"{number}. {words}",
            *([say(f"{letter}. ", one)] for letter, one in zip("ABC", pictures, strict=False)),
        ]
        for number, words in ((1, "What is the boy doing?"), (2, "Where is the cat?"))
    ]
    blocks = [
        say("I. Listen and choose the right picture."),
        lay_out(rows),
        say("II. Look and choose."),
        say("3. It is a ______."),
        say("A. dog    B. dogs    C. cats"),
    ]
    first, second, third = parse_word(tmp_path, blocks, FOUR).questions
    assert [(one["stem"], [option["text"] for option in one["options"]]) for one in (first, second)] == [
        (words, ["[picture:1]", "[picture:2]", "[picture:3]"])
        for words in ("What is the boy doing?", "Where is the cat?")
    ]
    assert third["pictures"] is None


def test_a_sealed_margin_of_single_characters_parts_no_question_from_its_figure(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("STSong-Light", 10)
    for at, character in enumerate("密封线内不要答题"):
        canvas.drawString(26, 700 - 50 * at, character)
    canvas.drawString(70, 780, "1．如图，抛物线与横轴交于两点，求抛物线的解析式，并写出它的顶点。")
    canvas.drawImage(ImageReader(draw("curve")), 400, 690, 90, 60)
    canvas.drawString(70, 560, "2．某商店销售一种商品，求它的最大利润，并说明理由。")
    canvas.drawString(70, 420, "3．解不等式组，并在数轴上表示它的解集。")
    canvas.save()
    first, second, third = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [one["place"] for one in first["pictures"]] == ["stem"]
    assert (second["pictures"], third["pictures"]) == (None, None)
    assert not any(
        sign in f"{one['stem']}{one['answer']}" for one in (first, second, third) for sign in "密封"
    )


def test_a_number_and_a_picture_that_span_the_rows_of_their_options_are_a_question(tmp_path: Path) -> None:
    def ask(number: int, words: str, name: str) -> str:
        cells = "<w:tr><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{}</w:tc><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{}</w:tc><w:tc>{}</w:tc></w:tr>"
        under = "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc>{}</w:tc></w:tr>"
        rows = "".join(under.format(option) for option in OFFERED)
        return f"<w:tbl>{cells.format(say(str(number)), say('', show(name)), say(words))}{rows}</w:tbl>"

    blocks = [
        say("一、看图选择"),
        ask(1, "图中标志表示什么含义？", "p1"),
        ask(2, "看到图中标线时应当如何行驶？", "p2"),
        say("二、简答题"),
        say("3．什么是让行？"),
    ]
    *asked, last = parse_word(tmp_path, blocks, FOUR).questions
    assert [(one["stem"], len(one["options"])) for one in asked] == [
        ("[picture:1] 图中标志表示什么含义？", 4),
        ("[picture:1] 看到图中标线时应当如何行驶？", 4),
    ]
    assert last["pictures"] is None


def test_questions_side_by_side_and_number_lines_have_their_figures(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawString(60, 780, "1. Which number does the arrow point to on the number line?")
    canvas.line(90, 740, 330, 740)
    for at in range(7):
        canvas.line(90 + 40 * at, 736, 90 + 40 * at, 744)
        canvas.drawString(87 + 40 * at, 722, str(at))
    canvas.drawString(60, 680, "2. Measure the angle P.")
    canvas.drawString(320, 680, "3. Measure the angle Q.")
    for left in (80, 340):
        canvas.line(left, 600, left + 110, 600)
        canvas.line(left, 600, left + 90, 660)
    canvas.drawString(60, 560, "4. Write three fifths as a decimal, and say how it is done.")
    canvas.save()
    questions = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [(one["number_label"], len(one["pictures"] or ())) for one in questions] == [
        ("1.", 1),
        ("2.", 1),
        ("3.", 1),
        ("4.", 0),
    ]
    assert "0 1 2" not in questions[0]["stem"]


def test_a_page_shows_the_pictures_of_options_above_their_words(tmp_path: Path) -> None:
    def offer(word: str, *, shows: bool) -> str:
        shown = _image(word) if shows else ""
        return f"<div class='offer'>{shown}<div><input type='radio'> {word}</div></div>"

    words = ("apple", "bottle", "can")
    body = "".join(
        f"<div class='item'><div>{number}. {asked}</div><div>{_image(str(number))}</div>"
        f"<div>{''.join(offer(word, shows=number == 2) for word in words)}</div></div>"
        for number, asked in (
            (1, "What is shown here?"),
            (2, "Which of these rots?"),
            (3, "Which of these burns?"),
        )
    ).replace(f"<div>{_image('2')}</div>", "")
    (tmp_path / "paper.html").write_text(f"<html><body>{body}</body></html>")
    questions = parse_document(tmp_path / "paper.html", IngestOptions()).questions
    assert [[one["place"] for one in question["pictures"]] for question in questions] == [
        ["stem"],
        ["option"] * 3,
        ["stem"],
    ]
    assert [one["text"].split()[-1] for one in questions[1]["options"]] == list(words)


def test_a_picture_in_merged_cells_is_of_all_rows_of_its_question(tmp_path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.drawing.image import Image as Shown

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["题号", "题目", "图片", "选项", "选项内容", "答案"])
    for number, words in enumerate(("图中的设备名称是", "安全电压的上限是", "图示接地方式为"), start=1):
        first = sheet.max_row + 1
        for at, letter in enumerate("ABCD"):
            sheet.append(
                [number, words, None, letter, f"{words[:2]}{letter}", "B"]
                if not at
                else [None] * 3 + [letter, f"{words[:2]}{letter}", None]
            )
        for column in "ABCF":
            sheet.merge_cells(f"{column}{first}:{column}{first + 3}")
        if number != 2:
            (tmp_path / f"{number}.png").write_bytes(save(draw(words)))
            sheet.add_image(Shown(str(tmp_path / f"{number}.png")), f"C{first + (number == 3)}")
    book.save(tmp_path / "bank.xlsx")
    questions = parse_document(tmp_path / "bank.xlsx", IngestOptions()).questions
    assert [(one["stem"], len(one["options"]), one["answer"]) for one in questions] == [
        ("图中的设备名称是\n[picture:1]", 4, ["B"]),
        ("安全电压的上限是", 4, ["B"]),
        ("图示接地方式为\n[picture:1]", 4, ["B"]),
    ]


def test_a_column_of_pictures_right_of_each_option_shows_these_options(tmp_path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.drawing.image import Image as Shown

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(
        ["No", "Question", "Image", *(name for one in "ABC" for name in (one, f"{one} picture")), "Answer"]
    )
    sheet.append([1, "Which of these plugs fits the socket?", *[None] * 7, "B"])
    sheet.append(
        [2, "Identify the device that is shown.", None, "Switch", None, "Router", None, "Hub", None, "A"]
    )
    for name, place in (("a", "E2"), ("b", "G2"), ("c", "I2"), ("device", "C3")):
        (tmp_path / f"{name}.png").write_bytes(save(draw(name)))
        sheet.add_image(Shown(str(tmp_path / f"{name}.png")), place)
    book.save(tmp_path / "bank.xlsx")
    first, second = parse_document(tmp_path / "bank.xlsx", IngestOptions()).questions
    assert [(one["label"], one["text"]) for one in first["options"]] == [
        ("A", "[picture:1]"),
        ("B", "[picture:2]"),
        ("C", "[picture:3]"),
    ]
    assert [one["place"] for one in second["pictures"]] == ["stem"]


def test_pictures_above_all_questions_of_a_section_are_of_the_one_below(tmp_path: Path) -> None:
    blocks = [
        say("一、看图，选择正确的单词"),
        say("", show("p1")),
        say("（ ）1. This is a ______."),
        say("A. bag   B. book   C. pen"),
        say("", show("p2")),
        say("（ ）2. There are two ______."),
        say("A. apples   B. apple   C. pears"),
        say("二、看图，回答问题"),
        say("", show("p3")),
        say("3. What is the boy doing?"),
        say("4. Where is the cat?"),
    ]
    questions = parse_word(tmp_path, blocks, FOUR).questions
    assert [[one["place"] for one in question["pictures"]] for question in questions] == [
        ["stem"],
        ["stem"],
        ["material"],
        ["material"],
    ]


def test_one_slanted_outline_is_a_figure_and_the_axis_of_a_graph_is_no_scale(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawString(60, 780, "1. The figure shows a plot of land. Find its area.")
    outline = canvas.beginPath()
    for at, (x, y) in enumerate(((90, 690), (210, 690), (180, 750), (120, 750))):
        outline.lineTo(x, y) if at else outline.moveTo(x, y)
    outline.close()
    canvas.drawPath(outline)
    canvas.drawString(60, 650, "2. The graph shows a profit. When is it the highest?")
    canvas.line(90, 540, 290, 540)
    canvas.line(90, 540, 90, 630)
    for at in range(1, 6):
        canvas.line(90 + 36 * at, 537, 90 + 36 * at, 543)
    canvas.line(90, 550, 190, 620)
    canvas.line(190, 620, 280, 560)
    canvas.drawString(60, 500, "3. What is a profit, and what is a loss?")
    canvas.save()
    questions = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert [len(one["pictures"] or ()) for one in questions] == [1, 1, 0]
