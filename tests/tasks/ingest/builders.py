"""Small papers made for the tests: Word packages, workbooks, PDFs, compound files."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_NAMESPACES = (
    f'xmlns:w="{W}" xmlns:m="{M}" xmlns:wps="urn:wps" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def run(text: str, properties: str = "") -> str:
    """One run of a paragraph; `properties` is the inside of its rPr."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*runs: str, number: tuple[int, int] | None = None, style: str = "") -> str:
    """One paragraph; plain strings become runs, `number` is (list id, level)."""
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if number is not None:
        properties += f'<w:numPr><w:ilvl w:val="{number[1]}"/><w:numId w:val="{number[0]}"/></w:numPr>'
    inside = "".join(piece if piece.startswith("<") else run(piece) for piece in runs)
    return f"<w:p><w:pPr>{properties}</w:pPr>{inside}</w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells hold one paragraph each."""
    body = "".join(
        "<w:tr>" + "".join(f"<w:tc><w:tcPr/>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl><w:tblPr/>{body}</w:tbl>"


def make_docx(blocks: Sequence[str], parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A Word package; strings that are not markup become paragraphs.

    `parts` adds files below word/.
    """
    body = "".join(block if block.startswith("<") else paragraph(block) for block in blocks)
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": (
            '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
        ),
        "_rels/.rels": (
            '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="r1" Target="word/document.xml" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>'
        ),
        "word/document.xml": f'<?xml version="1.0" encoding="UTF-8"?><w:document {_NAMESPACES}><w:body>{body}</w:body></w:document>',
    }
    files |= {f"word/{name}": content for name, content in (parts or {}).items()}
    return make_zip(files)


def make_zip(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(name, content)
    return stream.getvalue()


def numbering(levels: Sequence[Sequence[tuple[str, str]]], overrides: str = "") -> str:
    """`word/numbering.xml` with one list per entry.

    An entry has (number format, level text) for each level; the ids start at 1.
    """
    abstract = "".join(
        f'<w:abstractNum w:abstractNumId="{index}">'
        + "".join(
            f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
            for level, (form, text) in enumerate(entry)
        )
        + "</w:abstractNum>"
        for index, entry in enumerate(levels)
    )
    numbers = "".join(
        f'<w:num w:numId="{index + 1}"><w:abstractNumId w:val="{index}"/></w:num>'
        for index in range(len(levels))
    )
    return f'<?xml version="1.0"?><w:numbering xmlns:w="{W}">{abstract}{numbers}{overrides}</w:numbering>'


def make_xlsx(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """A workbook with these sheets."""
    import openpyxl

    workbook = openpyxl.Workbook()
    assert workbook.active is not None
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    stream = io.BytesIO()
    workbook.save(stream)
    return stream.getvalue()


def make_pdf(
    pages: Sequence[Sequence[tuple[float, float, str]]],
    password: str | None = None,
    size: float = 11,
    lines: Sequence[Sequence[tuple[float, float, float, float]]] = (),
    rotation: int = 0,
) -> bytes:
    """A PDF with the given pages.

    Every page is a list of (x, y, text) in points from the lower left, drawn in this order.

    `lines` are the straight lines of every page, (x, y) to (x, y). `rotation` (0, 90, 180, 270) is the /Rotate of every
    page, which is drawn so that it shows as given. Text that begins with `**` is bold, with `~~` red, with `==` or `--` on a
    yellow or a grey ground, without the two signs.
    """
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    stream = io.BytesIO()
    canvas = Canvas(
        stream,
        pagesize=(595, 842),
        encrypt=StandardEncryption(password) if password else None,
        pageCompression=1,
    )
    for number, page in enumerate(pages):
        canvas.setPageRotation(rotation)
        if rotation:
            canvas.translate(*{90: (842, 0), 180: (595, 842), 270: (0, 595)}[rotation])
            canvas.rotate(rotation)
        for line in lines[number] if number < len(lines) else ():
            canvas.setLineWidth(0.5)
            canvas.line(*line)
        for x, y, text in page:
            is_bold, text = text.startswith("**"), text.removeprefix("**")
            ground, is_red, text = text[:2], text.startswith("~~"), text.removeprefix("~~")
            if ground in ("==", "--"):
                text = text[2:]
                canvas.setFillColorRGB(*((1, 1, 0) if ground == "==" else (0.8, 0.8, 0.8)))
                canvas.rect(x - 1, y - 3, 0.6 * size * len(text), size + 3, stroke=0, fill=1)
            canvas.setFillColorRGB(0.8 if is_red else 0, 0, 0)
            face = "Helvetica-Bold" if is_bold else "Helvetica"
            canvas.setFont(face if text.isascii() else "STSong-Light", size)
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def make_compound_file(stream_name: str) -> bytes:
    """A minimal OLE compound file with one stream of 4,608 bytes.

    That is enough for it to be recognised by its directory.
    """
    sector = 512
    free, end, fat_mark = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    content = b"\x00" * (9 * sector)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 16
    header += struct.pack("<HHHHHHIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0, 1, 1, 0, 4096, end, 0, end, 0)
    header += struct.pack("<109I", 0, *[free] * 108)
    chain = [fat_mark, end, *range(3, 11), end]
    fat = struct.pack("<128I", *chain, *[free] * (128 - len(chain)))

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        encoded = name.encode("utf-16-le")
        head = encoded.ljust(64, b"\x00") + struct.pack(
            "<HBBIII", len(encoded) + 2, kind, 1, free, free, child
        )
        return head + b"\x00" * 36 + struct.pack("<IQ", start, size)

    directory = entry("Root Entry", 5, 1, end, 0) + entry(stream_name, 2, free, 2, len(content))
    directory = directory.ljust(sector, b"\x00")
    return header + fat + directory + content


def write(folder: Path, name: str, data: bytes | str) -> Path:
    """Write a file of the test and return its path."""
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
