"""Pictures of papers: what is kept, where in a question it stands, what is refused."""

from __future__ import annotations

import base64
import hashlib
import io
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageDraw
from typer.testing import CliRunner

from deployments.cli import app
from schemas.settings import Settings
from tasks.ingest.documents import IngestOptions, ParsedDocument, parse_document
from tasks.ingest.landing import land_documents
from tasks.ingest.readers.drawings import Drawings
from tasks.ingest.readers.picture_form import MOST_PIXELS, UnreadablePictureError, cut_out, normalise_picture
from tasks.questions.pictures import copy_picture, name_media_type, read_picture
from tests.fresh import open_new_lake
from tests.tasks.ingest.builders import make_docx
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def draw(text: str, size: tuple[int, int] = (120, 60), mode: str = "RGB") -> Image.Image:
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((10, 20), text, fill="black", font_size=max(10, size[1] // 5))
    return image.convert(mode)


def save(image: Image.Image, form: str = "PNG", **how: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **how)
    return out.getvalue()


def show(name: str, alt_text: str = "") -> str:
    """A run of Word with a picture."""
    return (
        f"<w:r><w:drawing><wp:inline xmlns:wp='urn:wp'><wp:extent cx='900000' cy='900000'/>"
        f"<wp:docPr id='1' name='p' descr='{alt_text}'/>"
        f"<a:blip xmlns:a='urn:a' xmlns:r='urn:r' r:embed='{name}'/></wp:inline></w:drawing></w:r>"
    )


def say(text: str, *pictures: str) -> str:
    return f"<w:p><w:r><w:t xml:space='preserve'>{text}</w:t></w:r>{''.join(pictures)}</w:p>"


def write_word(path: Path, blocks: list[str], pictures: dict[str, bytes]) -> None:
    """A Word paper with these pictures by name."""
    relations = "".join(
        f'<Relationship Id="{name}" Target="media/{name}.png" Type="urn:image"/>' for name in pictures
    )
    parts: dict[str, str | bytes] = {
        "_rels/document.xml.rels": f'<?xml version="1.0"?><Relationships xmlns="{RELATIONS}">{relations}</Relationships>'
    }
    parts |= {f"media/{name}.png": data for name, data in pictures.items()}
    path.write_bytes(make_docx(blocks, parts))


def parse_word(tmp_path: Path, blocks: list[str], pictures: dict[str, bytes]) -> ParsedDocument:
    write_word(tmp_path / "paper.docx", blocks, pictures)
    return parse_document(tmp_path / "paper.docx", IngestOptions())


CHOICES = [
    say("一、选择题"),
    say("1. 如图所示的电路中，总电阻最大的是（ ）", show("circuit", "three resistors")),
    *(say(f"{letter}. ", show(f"option{letter}")) for letter in "ABCD"),
    say("答案：B"),
    say("2. 下列说法正确的是（ ）"),
    *(say(f"{letter}. 说法{letter}") for letter in "ABCD"),
    say("答案：C"),
    say("二、简答题"),
    say("3. 画出该电路的等效电路。"),
    say("答案：等效电路见下。", show("answer")),
]
PICTURES = {
    "circuit": save(draw("circuit")),
    "answer": save(draw("equivalent")),
    **{f"option{letter}": save(draw(f"option {letter}")) for letter in "ABCD"},
}


def test_pictures_of_a_word_paper_stand_in_stem_options_and_answer(tmp_path: Path) -> None:
    parsed = parse_word(tmp_path, CHOICES, PICTURES)
    first, second, third = parsed.questions
    assert first["stem"] == "如图所示的电路中，总电阻最大的是（）[picture:1]"
    assert [option["text"] for option in first["options"]] == [
        f"[picture:{number}]" for number in (2, 3, 4, 5)
    ]
    assert [(one["number"], one["place"]) for one in first["pictures"]] == [
        (1, "stem"),
        (2, "option"),
        (3, "option"),
        (4, "option"),
        (5, "option"),
    ]
    assert "needs_figure" not in first["parse_notes"]
    assert second["pictures"] is None
    assert [one["place"] for one in third["pictures"]] == ["answer"]
    assert "[picture:1]" in third["answer"][0]
    rows = {row["sha256"]: row for row in parsed.pictures}
    kept = rows[first["pictures"][0]["sha256"]]
    assert (kept["media_type"], kept["width"], kept["height"]) == ("image/png", 120, 60)
    assert kept["alt_text"] == "three resistors"
    assert kept["original_sha256"] == hashlib.sha256(PICTURES["circuit"]).hexdigest()
    assert {hashlib.sha256(data).hexdigest() for data in parsed.picture_bytes.values()} == set(rows)


def test_a_question_is_another_with_another_picture_and_not_with_another_of_its_answer(
    tmp_path: Path,
) -> None:
    before = parse_word(tmp_path, CHOICES, PICTURES).questions
    other = {**PICTURES, "circuit": save(draw("other")), "answer": save(draw("otherwise"))}
    after = parse_word(tmp_path, CHOICES, other).questions
    assert [one["question_uuid"] == two["question_uuid"] for one, two in zip(before, after, strict=True)] == [
        False,
        True,
        True,
    ]


def test_a_picture_below_the_last_option_belongs_to_the_question(tmp_path: Path) -> None:
    blocks = [
        say("一、选择题"),
        say("1. 某项目的挣值分析结果以累计曲线的形式给出，请根据进度图判断完成全部任务还需要几个月？"),
    ]
    blocks += [say("A. 4个月"), say("B. 5个月"), say("C. 8个月"), say("D. 10个月", show("curve"))]
    (question,) = parse_word(tmp_path, blocks, {"curve": save(draw("curve"))}).questions
    assert [option["text"] for option in question["options"]] == ["4个月", "5个月", "8个月", "10个月"]
    assert (
        question["stem"]
        == "某项目的挣值分析结果以累计曲线的形式给出，请根据进度图判断完成全部任务还需要几个月？\n[picture:1]"
    )
    assert [one["place"] for one in question["pictures"]] == ["stem"]


def test_a_picture_below_the_label_of_the_last_option_is_that_option(tmp_path: Path) -> None:
    blocks = [say("一、选择题（请把正确答案的字母写在题前的括号内，每题两分，多选、少选、错选均不得分）")]
    blocks.append(say("1. 数据可视化常用位置、长度、颜色等视觉通道，下列哪个图形表示的是位置通道？（ ）"))
    blocks += [say(f"{letter}. ", show(f"option{letter}")) for letter in "ABC"]
    blocks += [say("D. "), say("", show("optionD"))]
    (question,) = parse_word(tmp_path, [*blocks, say("答案：A")], PICTURES).questions
    assert [option["text"] for option in question["options"]] == [f"[picture:{n}]" for n in (1, 2, 3, 4)]
    assert {one["place"] for one in question["pictures"]} == {"option"}


def test_a_formula_object_is_kept_as_the_picture_that_it_brings(tmp_path: Path) -> None:
    shape = "<v:shape xmlns:v='urn:v'><v:imagedata xmlns:r='urn:r' r:id='{}'/></v:shape>"
    formula = f"<w:r><w:object>{shape}<o:OLEObject xmlns:o='urn:o' ProgID='Equation.DSMT4'/></w:object></w:r>"
    blocks = [
        say("一、选择题"),
        say("1. 设函数为", formula.format("circuit")).replace(
            "</w:p>", "<w:r><w:t>，它的导数是（ ）</w:t></w:r></w:p>"
        ),
        say("A. 常数"),
        say("B. 零"),
        say("C. 等于", formula.format("optionA")),
        say("答案：C"),
        say("2. 如图所示的曲线，方程是", formula.format("missing")),
    ]
    first, second = parse_word(tmp_path, blocks, PICTURES).questions
    assert first["stem"] == "设函数为[picture:1]，它的导数是（）"
    # It is part of its line, also where it ends the last option.
    assert [option["text"] for option in first["options"]] == ["常数", "零", "等于[picture:2]"]
    assert not {"embedded_formula_lost", "needs_figure"} & set(first["parse_notes"])
    # What brings none is lost, and no formula is the figure that a question speaks of.
    assert "[formula]" in second["stem"]
    assert {"embedded_formula_lost", "needs_figure"} <= set(second["parse_notes"])


def test_pictures_of_an_answer_file_stay_its_own_beside_those_of_the_paper(tmp_path: Path) -> None:
    """Both count their pictures from the first: an answer must not show one of the paper's."""
    paper, key = tmp_path / "paper.docx", tmp_path / "paper答案.docx"
    write_word(
        paper,
        [say("一、简答题"), say("1. 如图，求电流。", show("circuit")), say("2. 画出等效电路。")],
        {"circuit": PICTURES["circuit"]},
    )
    write_word(
        key,
        [say("一、简答题"), say("1. 电流为 2 A"), say("2. 见下图", show("answer"))],
        {"answer": PICTURES["answer"]},
    )
    parsed = parse_document(paper, IngestOptions())
    first, second = parsed.questions
    (shown,), (answered,) = first["pictures"], second["pictures"]
    assert (shown["place"], answered["place"]) == ("stem", "answer")
    originals = {row["sha256"]: row["original_sha256"] for row in parsed.pictures}
    assert originals == {
        shown["sha256"]: hashlib.sha256(PICTURES["circuit"]).hexdigest(),
        answered["sha256"]: hashlib.sha256(PICTURES["answer"]).hexdigest(),
    }


def test_a_damaged_picture_is_said_and_its_question_needs_its_figure(tmp_path: Path) -> None:
    parsed = parse_word(tmp_path, CHOICES, {**PICTURES, "circuit": PICTURES["circuit"][:60]})
    first = parsed.questions[0]
    assert "needs_figure" in first["parse_notes"]
    assert first["stem"] == "如图所示的电路中，总电阻最大的是（）"
    assert any(
        warning.startswith("Not kept: pictures of questions (1): it is damaged")
        for warning in parsed.document["warnings"]
    )


def test_a_sign_before_most_options_is_no_picture_of_a_question(tmp_path: Path) -> None:
    blocks = [say("一、选择题")]
    for number in range(1, 5):
        blocks.append(say(f"{number}. Which of these statements holds for case {number}? ( )"))
        blocks += [
            f"<w:p>{show('radio')}<w:r><w:t>{letter}. it is {letter}{number}</w:t></w:r></w:p>"
            for letter in "ABCD"
        ]
    blocks.append(say("5. Which sign is meant? ( )", show("radio")))
    blocks += [say(f"{letter}. sign {letter}") for letter in "ABCD"]
    parsed = parse_word(tmp_path, blocks, {"radio": save(draw("o", (30, 30)))})
    assert [one["pictures"] for one in parsed.questions] == [None] * 5
    assert parsed.pictures == []


def test_the_letterhead_of_a_paper_is_no_picture_of_its_last_question(tmp_path: Path) -> None:
    blocks = [
        say("", show("logo")),
        say("一、简答题"),
        say("1. 图中的电路有几个电阻？", show("circuit")),
        say("2. 水的沸点是多少？"),
        say("", show("logo")),
    ]
    pictures = {"logo": save(draw("Exams Ltd")), "circuit": save(draw("circuit"))}
    parsed = parse_word(tmp_path, blocks, pictures)
    first, second = parsed.questions
    assert ([one["place"] for one in first["pictures"]], second["pictures"]) == (["stem"], None)


def test_a_page_shows_the_pictures_in_it_and_beside_it_and_fetches_none(tmp_path: Path) -> None:
    inside = base64.b64encode(save(draw("inside"))).decode()
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "beside.png").write_bytes(save(draw("beside")))
    (tmp_path.parent / "outside.png").write_bytes(save(draw("outside")))
    (tmp_path / "link.png").symlink_to(tmp_path.parent / "outside.png")
    images = [
        f"data:image/png;base64,{inside}",
        "files/beside.png",
        "http://127.0.0.1:9/picture.png",
        "../outside.png",
        "link.png",
    ]
    page = "<html><body><h2>Short answer questions</h2>" + "".join(
        f"<p>{number}. What does drawing {number} show?<br><img src='{image}' alt='drawing {number}'></p>"
        for number, image in enumerate(images, start=1)
    )
    path = tmp_path / "paper.html"
    path.write_text(page + "</body></html>", encoding="utf-8")
    parsed = parse_document(path, IngestOptions())
    assert [bool(one["pictures"]) for one in parsed.questions] == [True, True, False, False, False]
    assert [one["alt_text"] for one in parsed.pictures] == ["drawing 1", "drawing 2"]


def test_pictures_of_a_workbook_stand_in_the_cells_they_are_anchored_to(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    from openpyxl.drawing.image import Image as SheetImage

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["题号", "题干", "选项A", "选项B", "选项C", "选项D", "答案"])
    sheet.append([1, "图中的电路是哪一种？", "串联", "并联", "混联", "短路", "A"])
    sheet.append([2, "下列哪一项是质数？", "4", "6", "7", "8", "C"])
    (tmp_path / "circuit.png").write_bytes(save(draw("series")))
    sheet.add_image(SheetImage(str(tmp_path / "circuit.png")), "B2")
    book.save(tmp_path / "paper.xlsx")
    parsed = parse_document(tmp_path / "paper.xlsx", IngestOptions())
    assert parsed.questions[0]["stem"] == "图中的电路是哪一种？ [picture:1]"
    assert [(one["number"], one["place"]) for one in parsed.questions[0]["pictures"]] == [(1, "stem")]
    assert parsed.questions[1]["pictures"] is None

    # The same, with the picture at an address.
    far = zipfile.ZipFile(tmp_path / "far.xlsx", "w")
    with zipfile.ZipFile(tmp_path / "paper.xlsx") as near, far:
        for name in near.namelist():
            part = near.read(name)
            if name == "xl/drawings/_rels/drawing1.xml.rels":
                part = part.replace(
                    b'Target="/xl/media/image1.png"',
                    b'Target="http://127.0.0.1:9/a.png" TargetMode="External"',
                )
                assert b"External" in part
            far.writestr(name, part)
    (lost, whole) = parse_document(tmp_path / "far.xlsx", IngestOptions()).questions
    assert (lost["stem"], lost["pictures"]) == ("图中的电路是哪一种？", None)
    assert "needs_figure" in lost["parse_notes"] and "needs_figure" not in whole["parse_notes"]


@pytest.mark.parametrize(
    ("make", "size"),
    [
        pytest.param(lambda: save(draw("cmyk", mode="CMYK"), "JPEG"), (120, 60), id="CMYK"),
        pytest.param(
            lambda: save(draw("sixteen", mode="L").convert("I;16").point(lambda value: value * 257)),
            (120, 60),
            id="16 bits",
        ),
        pytest.param(
            lambda: save(draw("palette", mode="P"), "GIF", save_all=True, append_images=[draw("2")]),
            (120, 60),
            id="animated",
        ),
        pytest.param(lambda: save(draw("large", (3_000, 2_000), "L")), (2_000, 1_333), id="6 million pixels"),
    ],
)
def test_a_picture_of_any_form_becomes_eight_bits_of_bounded_size(
    make: Callable[[], bytes], size: tuple[int, int]
) -> None:
    data = make()
    normal = normalise_picture(data)
    assert normal is not None and (normal.width, normal.height) == size
    image = Image.open(io.BytesIO(normal.data))
    assert image.format in ("PNG", "JPEG") and image.mode in ("L", "RGB")
    assert getattr(image, "n_frames", 1) == 1
    again = normalise_picture(data)
    assert again is not None and again.data == normal.data
    shades = image.convert("L").histogram()
    assert sum(shades[:80]) and sum(shades[200:])


def test_what_a_picture_says_beside_what_it_shows_is_left_out() -> None:
    exif = Image.Exif()
    exif[0x010E] = "SECRET-PLACE"
    exif[0x0112] = 6
    normal = normalise_picture(save(draw("turned"), "JPEG", exif=exif, comment=b"SECRET-COMMENT"))
    assert normal is not None
    assert (normal.width, normal.height) == (60, 120)
    assert b"SECRET" not in normal.data


def test_a_bomb_is_never_unpacked_and_no_script_is_run() -> None:
    side = int(MOST_PIXELS**0.5) + 1
    bomb = save(Image.new("1", (side, side)))
    with pytest.raises(
        UnreadablePictureError, match=f"unpacks to {side} × {side} pixels; 60 million are allowed"
    ):
        normalise_picture(bomb)
    # Of far more of them Pillow does not say how many.
    far = write_png(30_000, 30_000, 1, 0, b"\0" * 64)
    with pytest.raises(UnreadablePictureError, match="unpacks to far more than the 60 million"):
        normalise_picture(far)
    with pytest.raises(UnreadablePictureError, match="damaged or no picture"):
        normalise_picture(b"%PDF-1.4 no picture at all")
    script = b"<svg xmlns='http://www.w3.org/2000/svg'><script>fetch('http://127.0.0.1:9')</script></svg>"
    with pytest.raises(UnreadablePictureError, match="SVG, which is not run"):
        Drawings().read(script)


def test_a_dot_a_rule_and_a_plain_surface_show_nothing() -> None:
    assert normalise_picture(save(draw("x", (5, 40)))) is None
    assert normalise_picture(save(Image.new("RGB", (40, 40), "white"))) is None


def test_pictures_that_look_alike_have_hashes_that_are_alike() -> None:
    image = draw("one and the same", (200, 80))
    one, two = normalise_picture(save(image)), normalise_picture(save(image, "JPEG", quality=70))
    other = normalise_picture(save(draw("another", (200, 80)).rotate(180)))
    assert one is not None and two is not None and other is not None

    def differ(first: str, second: str) -> int:
        return (int(first, 16) ^ int(second, 16)).bit_count()

    assert (
        differ(one.perceptual_hash, two.perceptual_hash)
        <= 6
        < differ(one.perceptual_hash, other.perceptual_hash)
    )


def test_a_part_of_a_page_is_cut_at_its_box() -> None:
    page = Image.new("RGB", (1_000, 1_000), "white")
    page.paste(draw("figure"), (300, 400))
    normal = cut_out(page, (300, 400, 420, 460))
    assert normal is not None and (normal.width, normal.height) == (123, 63)


@pytest.mark.service
def test_drawings_of_windows_are_converted_in_one_run_and_the_damaged_are_said() -> None:
    # a placeable metafile that draws a filled rectangle and a line
    def record(function: int, *words: int) -> bytes:
        return struct.pack(f"<IH{len(words)}h", 3 + len(words), function, *words)

    records = b"".join(
        [
            record(0x020B, 0, 0),
            record(0x020C, 1000, 1000),
            record(0x02FC, 0, 0, 0, 0),
            record(0x012D, 0),
            record(0x041B, 900, 900, 100, 100),
            record(0x0000),
        ]
    )
    head = struct.pack("<HHHIHIH", 1, 9, 0x300, 9 + len(records) // 2, 1, 7, 0)
    place = struct.pack("<IHhhhhHI", 0x9AC6CDD7, 0, 0, 0, 1000, 1000, 1000, 0)
    checksum = 0
    for (word,) in struct.iter_unpack("<H", place):
        checksum ^= word
    drawing = place + struct.pack("<H", checksum) + head + records
    drawings = Drawings()
    damaged = b"\x01\x00\x00\x00" + b"\0" * 36 + b" EMF" + b"\xff" * 60
    drawings.add(drawing)
    drawings.add(damaged)
    normal = drawings.read(drawing)
    assert normal is not None and normal.media_type == "image/png"
    assert min(normal.width, normal.height) > 100
    with pytest.raises(UnreadablePictureError, match="EMF shows nothing when it is converted"):
        drawings.read(damaged)


def test_a_picture_at_an_address_outside_the_package_is_not_fetched(tmp_path: Path) -> None:
    relations = (
        f'<?xml version="1.0"?><Relationships xmlns="{RELATIONS}"><Relationship Id="far" Type="urn:image" '
        'Target="http://127.0.0.1:9/far.png" TargetMode="External"/></Relationships>'
    )
    path = tmp_path / "paper.docx"
    path.write_bytes(
        make_docx(
            [say("一、简答题"), say("1. 如图，写出名称。", show("far"))],
            {"_rels/document.xml.rels": relations},
        )
    )
    parsed = parse_document(path, IngestOptions())
    (question,) = parsed.questions
    assert question["pictures"] is None and "needs_figure" in question["parse_notes"]
    (warning,) = parsed.document["warnings"]
    assert warning.startswith("Not kept: pictures of questions (1):") and "none is fetched" in warning


def test_what_is_kept_lands_once_and_leaves_with_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path / "home")
    parse_word(tmp_path, CHOICES, PICTURES)
    with open_new_lake(settings) as lake, open_ledger(settings.ledger_address):
        land_documents(lake, settings, [tmp_path / "paper.docx"])
        rows = lake.query("SELECT * FROM pictures").to_dicts()
        asked = lake.query("SELECT pictures FROM questions WHERE pictures IS NOT NULL").to_dicts()
        assert {row["sha256"] for row in rows} == {
            one["sha256"] for question in asked for one in question["pictures"]
        }
        assert len(rows) == 6
        for row in rows:
            data = read_picture(settings.archive_dir, row["sha256"])
            assert (len(data), name_media_type(data)) == (row["size_bytes"], row["media_type"])
        for row in rows:
            copy_picture(settings.archive_dir, tmp_path / "exam-pictures", row["sha256"])
    monkeypatch.setenv("PROCTOR_HOME", str(settings.home))
    monkeypatch.setenv("PROCTOR_EXAM_PICTURES", str(tmp_path / "exam-pictures"))
    # Who removes it first and has its files deleted later finds its pictures, too.
    for words in (["--yes"], ["--purge", "--yes"]):
        result = CliRunner().invoke(app, ["documents", "remove", "paper.docx", "--reason", "a test", *words])
        assert result.exit_code == 0, result.output
    with open_lake(settings) as lake:
        assert lake.query("SELECT * FROM pictures").is_empty()
    assert list(tmp_path.rglob("*.picture")) == []


def test_a_figure_between_two_questions_goes_to_the_one_that_speaks_of_it(tmp_path: Path) -> None:
    blocks = [
        say("一、选择题"),
        say("1. 下列说法正确的是（ ）"),
        *(say(f"{letter}. 说法{letter}") for letter in "ABC"),
        say("D. 说法D", show("figure")),
        say("2. 如图所示，电流表的读数是（ ）"),
        *(say(f"{letter}. {number} A") for number, letter in enumerate("ABCD")),
        say("3. 上述说法中错误的是（ ）"),
        *(say(f"{letter}. 说法{letter}") for letter in "ABC"),
        say("D. 说法D", show("own")),
        say("4. 最大的质数是（ ）"),
        *(say(f"{letter}. {number + 10}") for number, letter in enumerate("ABCD")),
    ]
    parsed = parse_word(tmp_path, blocks, {"figure": save(draw("meter")), "own": save(draw("own"))})
    first, second, third, fourth = parsed.questions
    assert first["pictures"] is None and first["options"][-1]["text"] == "说法D"
    assert second["stem"] == "如图所示，电流表的读数是（）\n[picture:1]"
    assert "figure_between" in second["parse_notes"] and "needs_figure" not in second["parse_notes"]
    # Nobody speaks of the other one: it stays where it stands.
    assert [one["place"] for one in third["pictures"]] == ["stem"]
    assert fourth["pictures"] is None


def draw_pdf(path: Path) -> None:
    """A paper with a drawn circuit and its labels, a framed note, and a table."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    for height, text in (
        (780, "Short answer questions"),
        (750, "1. The figure below shows a circuit. What is the current in R7?"),
        (560, "Answer: 2 A"),
        (520, "2. Name the largest planet of the solar system."),
        (400, "3. Which of the two values in the table is prime?"),
    ):
        canvas.drawString(60, height, text)
    canvas.setFont("Helvetica", 8)
    canvas.line(120, 700, 240, 700)
    canvas.line(240, 700, 300, 620)
    canvas.line(300, 620, 120, 620)
    canvas.line(120, 620, 120, 700)
    canvas.circle(180, 700, 14)
    canvas.drawString(174, 697, "R7")
    canvas.drawString(205, 606, "12 V")
    # A frame with round corners around a sentence is to be read.
    canvas.roundRect(60, 440, 420, 40, 8)
    canvas.drawString(
        70, 456, "Note: write every answer as a whole sentence, with the reason that you have for it."
    )
    for height in (380, 360, 340):
        canvas.line(60, height, 200, height)
    for left in (60, 130, 200):
        canvas.line(left, 340, left, 380)
    for left, height, text in ((70, 366, "first"), (140, 366, "second"), (70, 346, "21"), (140, 346, "23")):
        canvas.drawString(left, height, text)
    canvas.save()


def test_a_figure_that_a_pdf_draws_is_cut_out_with_its_labels(tmp_path: Path) -> None:
    draw_pdf(tmp_path / "paper.pdf")
    parsed = parse_document(tmp_path / "paper.pdf", IngestOptions())
    first, second, third = parsed.questions
    assert [one["place"] for one in first["pictures"]] == ["stem"]
    # The labels are seen, not read.
    assert first["answer"] == ["2 A"]
    assert first["stem"] == "The figure below shows a circuit. What is the current in R7?\n[picture:1]"
    assert "needs_figure" not in first["parse_notes"]
    (row,) = parsed.pictures
    assert row["picture_kind"] == "page"
    left, top, right, bottom = row["box"]
    assert left <= 1000 * 120 / 595 and right >= 1000 * 300 / 595
    assert top <= 1000 * (842 - 714) / 842 and bottom >= 1000 * (842 - 606) / 842
    assert (second["pictures"], third["pictures"]) == (None, None)
    assert "whole sentence" in second["stem"] and "21" in third["stem"]


def test_pictures_of_a_page_stand_where_they_are_read_and_the_ground_is_none(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))

    def put(word: str, left: float, bottom: float, width: float, height: float) -> None:
        canvas.drawImage(ImageReader(draw(word, (240, 120))), left, bottom, width, height)

    def write(*lines: tuple[float, str]) -> None:
        canvas.setFont("Helvetica", 11)
        for height, text in lines:
            canvas.drawString(60, height, text)

    put("GROUND", 100, 560, 400, 200)  # a watermark under running text, on one page only
    write(
        (780, "Short answer questions"),
        (750, "1. A long sentence that runs over the ground of the page, from its left edge to the right."),
        (730, "It goes on over another line that is as long as the first one, and says nothing of weight,"),
        (710, "and over a third one, so that nobody takes the ground for a figure. What is its colour?"),
        (500, "2. The circuit is shown in the figure on the next page. What is the voltage?"),
    )
    canvas.showPage()
    put("CIRCUIT", 200, 680, 200, 90)  # above all text of its page
    put("LABEL", 380, 690, 60, 30)  # a label laid over its edge
    write((640, "Give the voltage in volts."), (600, "3. Name the largest planet of the solar system."))
    canvas.save()
    parsed = parse_document(tmp_path / "paper.pdf", IngestOptions())
    first, second, third = parsed.questions
    assert (first["pictures"], third["pictures"]) == (None, None)
    # A picture on a line of its own stands in the stem, before or below its last line.
    assert set(second["stem"].split("\n")[-2:]) == {"[picture:1]", "Give the voltage in volts."}
    (row,) = parsed.pictures
    left, _, right, _ = row["box"]
    assert row["page"] == 2 and left <= 1000 * 201 / 595 and right >= 1000 * 439 / 595


def test_a_picture_that_begins_above_the_room_for_an_answer_is_the_questions(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    for height, text in (
        (780, "Short answer questions"),
        (750, "1. The gate in the figure on the right is not known. All"),
        (735, "that is known of it is in the table. Find out what it is."),
        (715, "Answer:"),
        (640, "2. What colour does the litmus have in an acid?"),
        (620, "Answer:"),
        (480, "3. Name the largest planet of the solar system."),
    ):
        canvas.drawString(60, height, text)
    for name, bottom in (("GATE", 730), ("TABLE", 660), ("COLOURS", 560)):
        canvas.drawImage(ImageReader(draw(name, (200, 80))), 400, bottom, 120, 60 if name == "TABLE" else 40)
    canvas.save()
    # The last stands below the line of the word: it is what the answer shows.
    first, second, third = parse_document(tmp_path / "paper.pdf", IngestOptions()).questions
    assert first["stem"].split("\n")[-2:] == ["[picture:1]", "[picture:2]"]
    assert [one["place"] for one in first["pictures"]] == ["stem", "stem"]
    assert [one["place"] for one in second["pictures"]] == ["answer"]
    assert third["pictures"] is None


def test_a_drawing_that_a_page_takes_over_whole_is_a_figure_and_so_is_an_arrow_into_one(
    tmp_path: Path,
) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "paper.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    for height, text in (
        (780, "Short answer questions"),
        (750, "1. Which node of the graph in the figure below is a leaf?"),
        (560, "2. How does the light in the figure below go on?"),
    ):
        canvas.drawString(60, height, text)
    canvas.beginForm("graph")
    for left, right in ((100, 180), (180, 260)):
        canvas.line(left, 640, right, 700)
        canvas.circle(left, 640, 10)
    for number, word in enumerate(("Bull", "Goat", "Duck", "Bull", "Duck", "Goat")):
        canvas.drawString(96 + 28 * number, 622, word)
    canvas.endForm()
    canvas.doForm("graph")
    canvas.line(200, 400, 200, 500)
    canvas.line(200, 400, 300, 400)
    canvas.line(200, 400, 300, 500)
    canvas.drawString(290, 386, "1.0")
    arrow = canvas.beginPath()
    arrow.moveTo(150, 440)
    for x, y in ((180, 440), (190, 450), (180, 460), (150, 460)):
        arrow.lineTo(x, y)
    arrow.close()
    canvas.drawPath(arrow)
    canvas.save()
    parsed = parse_document(tmp_path / "paper.pdf", IngestOptions())
    assert [one["stem"].split("\n")[1:] for one in parsed.questions] == [["[picture:1]"], ["[picture:1]"]]
    graph, light = (row["box"] for row in parsed.pictures)
    assert graph[0] <= 1000 * 91 / 595 and graph[2] >= 1000 * 259 / 595
    assert light[0] <= 1000 * 151 / 595 and light[2] >= 1000 * 305 / 595


def write_chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def write_png(width: int, height: int, depth: int, colour: int, rows: bytes) -> bytes:
    """A PNG of any depth, which Pillow itself does not write."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(write_chunk(kind, data) for kind, data in chunks)


def test_sixteen_bits_of_colour_and_pictures_that_move_become_one_of_eight_bits() -> None:
    # 40 × 30 pixels, the left half red, in sixteen bits a colour.
    line = struct.pack(">3H", 65_535, 0, 0) * 20 + struct.pack(">3H", 65_535, 65_535, 65_535) * 20
    normal = normalise_picture(write_png(40, 30, 16, 2, (b"\0" + line) * 30))
    assert normal is not None
    image = Image.open(io.BytesIO(normal.data))
    assert (image.mode, image.getpixel((5, 5)), image.getpixel((35, 5))) == (
        "RGB",
        (255, 0, 0),
        (255, 255, 255),
    )
    for form in ("GIF", "WEBP", "PNG", "TIFF"):
        moving = save(draw("first"), form, save_all=True, append_images=[draw("second"), draw("third")])
        kept, still = normalise_picture(moving), normalise_picture(save(draw("first"), form))
        assert kept is not None and still is not None
        shown, alone = (Image.open(io.BytesIO(one.data)) for one in (kept, still))
        assert getattr(shown, "n_frames", 1) == 1
        _, most = ImageChops.difference(shown.convert("L"), alone.convert("L")).getextrema()
        assert isinstance(most, int | float) and most < 40


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: save(draw("cut off"), "JPEG")[:200], id="cut off"),
        pytest.param(lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * 400, id="no chunks"),
        pytest.param(lambda: write_png(4_000, 4_000, 8, 2, b"\0" * 64), id="says more than it holds"),
        pytest.param(
            lambda: (
                save(draw("notes")).replace(b"IDAT", b"IDAT", 1)[:33]
                + write_chunk(b"zTXt", b"note\0\0" + zlib.compress(b"a" * 80_000_000))
                + save(draw("notes"))[33:]
            ),
            id="a note that unpacks to 80 MB",
        ),
        pytest.param(lambda: b"\x01\x00\x00\x00" + b"\0" * 36 + b" EMF" + b"\xff" * 60, id="a damaged EMF"),
        pytest.param(lambda: b"", id="nothing"),
    ],
)
def test_what_is_no_whole_picture_is_refused_with_a_reason(make: Callable[[], bytes]) -> None:
    data = make()
    with pytest.raises(UnreadablePictureError, match=r"damaged|no picture|unpacks|could not be converted"):
        normalise_picture(data)


@pytest.mark.long
def test_sixty_million_pixels_with_transparency_fit_into_the_memory_of_a_reader() -> None:
    limit = IngestOptions().memory_limit_mb * 2**20
    code = (
        "import io, resource\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
        "from PIL import Image\n"
        "from tasks.ingest.readers.picture_form import normalise_picture\n"
        "image = Image.new('RGBA', (10_000, 5_990), (0, 0, 0, 0))\n"
        "image.paste((200, 0, 0, 255), (2_000, 1_000, 8_000, 5_000))\n"
        "out = io.BytesIO()\n"
        "image.save(out, 'PNG', compress_level=1)\n"
        "image.close()\n"
        "normal = normalise_picture(out.getvalue())\n"
        "print(normal.width, normal.height)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2000", "1198"]
