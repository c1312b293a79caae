"""What Word draws by itself: figures of shapes, charts, ink; and what of it is no figure."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from schemas.errors import DocumentError
from tasks.ingest.readers import office
from tests.benchmarks.ingest_accuracy import read_landed
from tests.tasks.ingest.test_pictures import draw, parse_word, save, say, show, write_word

_SPACES = (
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:wpg="http://schemas.microsoft.com/office/word/2010/wordprocessingGroup" '
    'xmlns:wpc="http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
_POINT = 12_700


def shape(form: str, left: int, top: int, wide: int, tall: int, text: str = "") -> str:
    said = f"<wps:txbx><w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent></wps:txbx>"
    return (
        f'<wps:wsp><wps:cNvSpPr/><wps:spPr><a:xfrm><a:off x="{left * _POINT}" y="{top * _POINT}"/>'
        f'<a:ext cx="{wide * _POINT}" cy="{tall * _POINT}"/></a:xfrm><a:prstGeom prst="{form}"><a:avLst/></a:prstGeom>'
        '<a:noFill/><a:ln w="12700"><a:solidFill><a:srgbClr val="000000"/></a:solidFill></a:ln></wps:spPr>'
        f"{said if text else ''}<wps:bodyPr/></wps:wsp>"
    )


def hold(
    kind: str, inside: str, wide: int = 120, tall: int = 90, *, floats: tuple[int, int] | None = None
) -> str:
    """A run with a drawing of Word, in its line or floating so far from its paragraph."""
    graphic = (
        f'<wp:extent cx="{wide * _POINT}" cy="{tall * _POINT}"/><wp:docPr id="1" name="d"/><a:graphic><a:graphicData '
        f'uri="http://schemas.microsoft.com/office/word/2010/wordprocessing{kind}">{inside}</a:graphicData></a:graphic>'
    )
    if floats is None:
        return f"<w:r><w:drawing {_SPACES}><wp:inline>{graphic}</wp:inline></w:drawing></w:r>"
    places = "".join(
        f'<wp:position{way} relativeFrom="{other}"><wp:posOffset>{by * _POINT}</wp:posOffset></wp:position{way}>'
        for way, other, by in (("H", "column", floats[0]), ("V", "paragraph", floats[1]))
    )
    return (
        f'<w:r><w:drawing {_SPACES}><wp:anchor behindDoc="0">{places}{graphic}</wp:anchor></w:drawing></w:r>'
    )


def group(*shapes: str, **where: Any) -> str:
    frame = "<wpg:cNvGrpSpPr/><wpg:grpSpPr/>"
    return hold("Group", f"<wpg:wgp>{frame}{''.join(shapes)}</wpg:wgp>", **where)


def measure(picture: dict[str, Any]) -> tuple[int, int]:
    with Image.open(io.BytesIO(base64.b64decode(picture["data"]))) as image:
        return image.size


TRIANGLE = (
    shape("triangle", 10, 10, 80, 60),
    shape("line", 50, 10, 1, 60),
    shape("rect", 92, 62, 14, 14, "C"),
)
OFFERED = [say(f"{letter}．{number}°") for letter, number in zip("ABCD", (30, 45, 60, 90), strict=True)]


def test_shapes_of_a_group_a_canvas_or_a_paragraph_are_one_picture_with_their_labels(tmp_path: Path) -> None:
    blocks = [
        say("一、选择题"),
        say("1．如图，角C等于（ ）", group(*TRIANGLE, floats=(300, 0))),
        *OFFERED,
        say(
            "2．如图，角D等于（ ）",
            hold("Canvas", f"<wpc:wpc><wpc:bg/><wpc:whole/>{''.join(TRIANGLE)}</wpc:wpc>"),
        ),
        *OFFERED,
        say(
            "3．如图，两圆的圆心角等于（ ）",
            hold("Shape", shape("ellipse", 0, 0, 60, 60), 60, 60, floats=(200, 10)),
            hold("Shape", shape("ellipse", 0, 0, 60, 60), 60, 60, floats=(240, 10)),
        ),
        *OFFERED,
        say("4．直角等于（ ）"),
        *OFFERED,
    ]
    parsed = parse_word(tmp_path, blocks, {})
    assert [one["stem"] for one in parsed.questions] == [
        "如图，角C等于（）\n[picture:1]",
        "如图，角D等于（）[picture:1]",
        "如图，两圆的圆心角等于（）\n[picture:1]",
        "直角等于（）",
    ]
    assert [len(one["options"]) for one in parsed.questions] == [4] * 4
    sizes = [(one["width"], one["height"]) for one in parsed.pictures]
    # the canvas shows what the group does; two circles over each other are wider than tall
    assert len(sizes) == 2 and 1.5 < sizes[1][0] / sizes[1][1] < 1.9


def test_labels_that_float_beside_a_group_are_part_of_its_figure(tmp_path: Path) -> None:
    """So does a conversion from the old format of Word part them."""
    label = hold("Shape", shape("rect", 0, 0, 14, 14, "B"), 14, 14, floats=(296, 60))
    blocks = [
        say("一、填空题"),
        say("1．如图，角C等于____。", group(*TRIANGLE[:2], floats=(300, 0)), label),
        say("2．直角等于____。"),
    ]
    parsed = parse_word(tmp_path, blocks, {})
    assert [one["stem"] for one in parsed.questions] == ["如图，角C等于____。\n[picture:1]", "直角等于____。"]


def test_frames_lines_and_boxes_of_text_are_no_figure(tmp_path: Path) -> None:
    blocks = [
        say("一、简答题"),
        say(
            "1．什么是进程？",
            group(shape("rect", 0, 0, 90, 40, "密封线内不要答题"), shape("rect", 0, 0, 90, 60)),
        ),
        say("2．什么是线程？", hold("Shape", shape("line", 0, 0, 200, 1), 200, 20, floats=(0, 0))),
        say(
            "3．什么是死锁？",
            group(shape("ellipse", 0, 0, 90, 60), shape("rect", 0, 60, 90, 20, "4．什么是信号量？")),
        ),
    ]
    parsed = parse_word(tmp_path, blocks, {})
    assert parsed.pictures == [] and "什么是信号量？" in [one["stem"] for one in parsed.questions]


def test_a_chart_is_shown_as_word_draws_it_and_nothing_is_fetched_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    bars = "".join(f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate((3, 9, 6)))
    chart = (
        f'<c:chartSpace xmlns:c="{space}"><c:chart><c:plotArea><c:layout/><c:barChart><c:barDir val="col"/>'
        '<c:grouping val="clustered"/><c:ser><c:idx val="0"/><c:order val="0"/><c:val><c:numLit><c:ptCount val="3"/>'
        f'{bars}</c:numLit></c:val></c:ser><c:axId val="1"/><c:axId val="2"/></c:barChart><c:catAx><c:axId val="1"/>'
        '<c:crossAx val="2"/></c:catAx><c:valAx><c:axId val="2"/><c:crossAx val="1"/></c:valAx></c:plotArea></c:chart></c:chartSpace>'
    )
    run = (
        hold("Shape", f'<c:chart xmlns:c="{space}" r:id="chart"/>', 200, 120)
        .replace('http://schemas.microsoft.com/office/word/2010/wordprocessingShape"', f'{space}"')
        .replace(f'xmlns:wps="{space}"', "")
    )
    path = tmp_path / "paper.docx"
    write_word(path, [say("1. Which bar is the highest?", run), say("Answer: the second.")], {"chart": b""})
    kept = io.BytesIO()
    with zipfile.ZipFile(path) as package, zipfile.ZipFile(kept, "w") as changed:
        for name in package.namelist():
            data = package.read(name)
            if name == "[Content_Types].xml":
                data = data.replace(
                    b"</Types>",
                    b'<Override PartName="/word/charts/chart1.xml" ContentType="application/vnd.openxmlformats-officedocument.'
                    b'drawingml.chart+xml"/></Types>',
                )
            if name.endswith("document.xml.rels"):
                types = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
                data = data.replace(
                    b'Target="media/chart.png" Type="urn:image"/>',
                    b'Target="charts/chart1.xml" Type="'
                    + types
                    + b'/chart"/><Relationship Id="far" TargetMode="External" '
                    b'Target="https://example.org/far.png" Type="' + types + b'/image"/>',
                )
            if not name.endswith(".png"):
                changed.writestr(name, data)
        changed.writestr("word/charts/chart1.xml", chart)
    path.write_bytes(kept.getvalue())
    sent: list[bytes] = []
    convert = office.convert_with_libreoffice

    def keep(data: bytes, *rest: Any) -> bytes:
        sent.append(data)
        return convert(data, *rest)

    monkeypatch.setattr(office, "convert_with_libreoffice", keep)
    read = read_landed(path)
    (question,) = read["questions"]
    assert question["pictures"][0]["place"] == "stem" and measure(read["pictures"][0])[0] > 300
    assert b"example.org" not in b"".join(
        zipfile.ZipFile(io.BytesIO(one)).read("word/_rels/document.xml.rels") for one in sent
    )


def test_a_drawing_that_cannot_be_shown_is_said_and_its_question_needs_its_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise DocumentError("timeout", "LibreOffice did not convert the document.")

    monkeypatch.setattr(office, "convert_with_libreoffice", fail)
    write_word(tmp_path / "paper.docx", [say("1．如图，角C等于多少？", group(*TRIANGLE))], {})
    read = read_landed(tmp_path / "paper.docx")
    assert "needs_figure" in read["questions"][0]["parse_notes"]
    assert "a drawing of Word could not be shown (timeout); save it as a picture." in " ".join(
        read["document"]["warnings"]
    )


def test_ink_is_the_picture_that_it_brings_for_older_programs(tmp_path: Path) -> None:
    ink = (
        f"<w:r><mc:AlternateContent {_SPACES}><mc:Choice Requires='wpi'><w:drawing><wp:inline><w:contentPart r:id='i'/>"
        f"</wp:inline></w:drawing></mc:Choice><mc:Fallback>{show('stroke')[5:-6]}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    blocks = [say("1．下面的批注是什么意思？", ink), say("2．什么是批注？")]
    first, second = parse_word(tmp_path, blocks, {"stroke": save(draw("stroke"))}).questions
    assert (first["stem"], second["pictures"]) == ("下面的批注是什么意思？[picture:1]", None)


def test_the_caption_in_a_group_names_its_picture_and_is_not_drawn_over(tmp_path: Path) -> None:
    picture = (
        '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill>'
        '<a:blip r:embed="lever"/></pic:blipFill></pic:pic>'
    )
    blocks = [
        say("一、选择题"),
        say("1．物体受到的重力的方向与斜面的夹角等于（ ）"),
        *OFFERED,
        say("", group(picture, shape("rect", 0, 60, 90, 20, "第2题图"))),
        say("2．如图，杠杆的动力的方向与杠杆的夹角等于（ ）"),
        *OFFERED,
    ]
    parsed = parse_word(tmp_path, blocks, {"lever": save(draw("lever"))})
    assert [len(one["pictures"] or ()) for one in parsed.questions] == [0, 1]
    assert parsed.pictures[0]["original_sha256"] == hashlib.sha256(save(draw("lever"))).hexdigest()
