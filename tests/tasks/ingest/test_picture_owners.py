"""Whose a picture is that stands beside answers, above several questions, or in an appendix."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from tasks.ingest.documents import IngestOptions, parse_document
from tests.tasks.ingest.builders import paragraph, run
from tests.tasks.ingest.test_pictures import draw, parse_word, save, say, show

_RED = '<w:color w:val="FF0000"/>'


def _write_red(text: str) -> str:
    return paragraph(run(text, _RED))


def test_pictures_right_below_lines_in_colour_are_of_these_answers(tmp_path: Path) -> None:
    blocks = [
        say("1. Draw the crank of the mill shown in the figure."),
        say("", show("mill")),
        _write_red("The crank is"),
        say("", show("crank")),
        _write_red("and its shaft is"),
        say("", show("shaft")),
        say("2. Explain the lock of the canal."),
        _write_red("It has two gates."),
        say("3. Explain the lamp of the lighthouse."),
        _write_red("It turns around."),
    ]
    names = ("mill", "crank", "shaft")
    first, *_ = parse_word(tmp_path, blocks, {name: save(draw(name)) for name in names}).questions
    assert first["stem"] == "Draw the crank of the mill shown in the figure.\n[picture:1]"
    assert first["answer"] == ["The crank is\n[picture:2]\nand its shaft is\n[picture:3]"]
    assert [one["place"] for one in first["pictures"]] == ["stem", "answer", "answer"]


def test_a_picture_below_a_line_in_colour_and_above_one_that_speaks_of_it_is_the_questions(
    tmp_path: Path,
) -> None:
    blocks = [
        text
        for number in (1, 2, 3)
        for text in (
            say(f"{number}. Explain mill {number}."),
            say("(a) Why does it stand here?"),
            _write_red(f"for wind {number}"),
            say("", show(f"mill{number}")),
            say("(b) The figure above shows its sail. How long is it?"),
            _write_red(f"{number} metres"),
        )
    ]
    pictures = {f"mill{number}": save(draw(f"mill{number}")) for number in (1, 2, 3)}
    read = parse_word(tmp_path, blocks, pictures).questions
    assert [[one["place"] for one in question["pictures"]] for question in read] == [["stem"]] * 3


def test_a_picture_with_nothing_below_is_no_answer_to_a_stem_that_points_at_it(tmp_path: Path) -> None:
    blocks = [
        say("一、判断题"),
        *(say(f"{number}. 第{number}座灯塔为船指路。（√）") for number in (1, 2, 3, 4)),
        say("二、简答题"),
        say("5. 什么是水车？"),
        say("用水转动的轮子。"),
        say("6. 请填写下面程序空白处的语句。"),
        say("", show("program")),
        say("7. 请画出水车的结构。"),
        say("", show("wheel")),
    ]
    pictures = {name: save(draw(name)) for name in ("program", "wheel")}
    *_, fill, sketch = parse_word(tmp_path, blocks, pictures).questions
    assert [one["place"] for one in fill["pictures"]] == ["stem"]
    assert [one["place"] for one in sketch["pictures"]] == ["answer"]


def test_a_picture_between_a_heading_and_its_questions_is_of_the_one_that_speaks_of_it(
    tmp_path: Path,
) -> None:
    options = say("A. 一  B. 二  C. 三  D. 四")
    above = [
        say("一、选择题（本大题共 2 小题，每小题 2 分，在每小题给出的四个选项中只有一项是符合要求的）"),
        say("", show("mill")),
        say("1. 如图所示，水车有几个叶片？它由河水推动，日夜不停地转动。（ ）"),
        options,
    ]
    one = [*above, say("2. 渡口的船有几个桨？它由铁匠的儿子看守。（ ）"), options]
    both = [*above, say("2. 图中的船有几个桨？它由铁匠的儿子看守。（ ）"), options]
    pictures = {"mill": save(draw("mill"))}
    first, second = parse_word(tmp_path, one, pictures).questions
    assert ([one["place"] for one in first["pictures"]], second["pictures"]) == (["stem"], None)
    assert [
        [one["place"] for one in question["pictures"]]
        for question in parse_word(tmp_path, both, pictures).questions
    ] == [["material"], ["material"]]


def test_an_appendix_ends_the_last_answer_and_goes_to_those_who_speak_of_it(tmp_path: Path) -> None:
    blocks = [
        say("1. Program the timer 8253 for one second."),
        say("Answer: It counts to 1000."),
        say("2. Which lines does the decoder 74LS138 have? Use 10 lines."),
        say("Answer: Three inputs."),
        say("3. What is an interrupt?"),
        say("Answer: A call by a device."),
        say("Appendix"),
        say("825 3Control word"),
        say("", show("timer")),
        say("CW2"),
        say("", show("second")),
        say("74LS138"),
        say("", show("decoder")),
        say("Table of 10 letters"),
        say("", show("letters")),
    ]
    pictures = {name: save(draw(name)) for name in ("timer", "second", "decoder", "letters")}
    timer, decoder, last = parse_word(tmp_path, blocks, pictures).questions
    assert (timer["material"], decoder["material"], last["material"]) == (
        "[picture:1]\n[picture:2]",
        "[picture:1]",
        None,
    )
    assert (last["answer"], last["pictures"]) == (["A call by a device."], None)


def test_a_graph_of_steps_in_a_frame_is_a_figure_and_in_colour_where_its_labels_are(tmp_path: Path) -> None:
    """Its dashed lines would be a table; a line of text that runs into a figure stays whole."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    for number, top in ((1, 800), (2, 460)):
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawString(50, top, f"{number}. How far does the head of the drum {number} travel?")
        canvas.rect(50, top - 250, 480, 230)
        canvas.rect(100, top - 200, 300, 140)
        steps = [120, 160, 200, 240, 290, 330, 380]
        for x in steps[1:-1]:
            canvas.line(x, top - 200, x, top - 60)
        for left, right in pairwise(steps):
            canvas.line(left, top - 60 - left / 4, right, top - 60 - right / 4)
        canvas.setFillColorRGB(1, 0, 0)
        for place, x in enumerate(steps):
            canvas.drawString(x - 4, top - 55, str(14 + place))
        canvas.drawString(
            60, top - 235, f"The head of drum {number} travels over 191 tracks of the whole drum."
        )
    canvas.save()
    first, second = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    for number, question in ((1, first), (2, second)):
        assert question["stem"] == f"How far does the head of the drum {number} travel?"
        assert question["answer"] == [
            f"[picture:1]\nThe head of drum {number} travels over 191 tracks of the whole drum."
        ]


def test_a_line_of_text_that_runs_into_a_figure_stays_whole(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.drawString(50, 800, "1. The wheel of the mill is turned by water,")
    canvas.drawString(50, 780, "and its lamp goes on and off.")
    for x in (150, 260):
        canvas.circle(x, 720, 40)
        for side in (-30, -20, -10, 10, 20, 30):
            canvas.line(x, 720, x + side, 700)
    canvas.line(150, 760, 260, 680)
    canvas.line(260, 760, 300, 795)
    canvas.drawString(50, 600, "2. Name the largest planet of the solar system.")
    canvas.save()
    first, _ = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert "and its lamp goes on and off." in first["stem"]
    assert [one["place"] for one in first["pictures"]] == ["stem"]
