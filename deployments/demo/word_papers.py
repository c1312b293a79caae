"""Sample papers as Word files, and as born-digital PDF.

Word files are written part by part, so that the same source gives the same bytes. LibreOffice makes Chinese PDFs from
them; English ones are made by ReportLab.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from deployments.demo.layouts import PaperLine, render_lines
from deployments.demo.sources import Paper
from schemas.errors import DocumentError

_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CONTENT = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip entry can have

_SECTION_LIST, _QUESTION_LIST, _FIRST_OPTION_LIST = 1, 2, 3
_CHINESE_FONT = "Noto Serif CJK SC"
_SECONDS_TO_CONVERT = 180


def render_docx(paper: Paper, east_asian_font: str = "宋体") -> bytes:
    """Render the paper as a .docx file; the same paper gives the same bytes."""
    lines = render_lines(paper)
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relationships([("officeDocument", "word/document.xml")]),
        "word/document.xml": _document(paper, lines),
        "word/styles.xml": _styles(east_asian_font),
        "word/numbering.xml": _numbering(sum(line.starts_list for line in lines)),
        "word/header1.xml": _running("hdr", escape(paper.layout.get("running_header", ""))),
        "word/footer1.xml": _footer(paper.language),
        "word/_rels/document.xml.rels": _relationships(
            [
                ("styles", "styles.xml"),
                ("numbering", "numbering.xml"),
                ("header", "header1.xml"),
                ("footer", "footer1.xml"),
            ]
        ),
    }
    return pack_zip({name: (_DECLARATION + text).encode("utf-8") for name, text in parts.items()})


def pack_zip(members: dict[str, bytes]) -> bytes:
    """Pack the members in the order given, all with one fixed time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, date_time=_EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _document(paper: Paper, lines: list[PaperLine]) -> str:
    paragraphs = []
    option_list = _FIRST_OPTION_LIST - 1
    for line in lines:
        option_list += line.starts_list
        list_number = {"section": _SECTION_LIST, "question": _QUESTION_LIST, "option": option_list}.get(
            line.numbered, 0
        )
        paragraphs.append(_paragraph(line, list_number))
    page = (
        '<w:sectPr><w:headerReference w:type="default" r:id="rId3"/><w:footerReference w:type="default" '
        'r:id="rId4"/><w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="720" w:footer="720" '
        'w:gutter="0"/></w:sectPr>'
    )
    return (
        f'<w:document xmlns:w="{_NAMESPACE}" xmlns:r="{_RELATION}"><w:body>'
        f"{''.join(paragraphs)}{page}</w:body></w:document>"
    )


def _paragraph(line: PaperLine, list_number: int) -> str:
    style = {"title": "Title", "heading": "Heading1", "key_heading": "Heading1"}.get(line.role, "Normal")
    numbering = (
        f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{list_number}"/></w:numPr>' if list_number else ""
    )
    tabs = '<w:tabs><w:tab w:val="left" w:pos="4536"/></w:tabs>' if "\t" in line.text else ""
    runs = "<w:r><w:tab/></w:r>".join(
        f'<w:r><w:t xml:space="preserve">{escape(piece)}</w:t></w:r>' for piece in line.text.split("\t")
    )
    page = "<w:pageBreakBefore/>" if line.role == "key_heading" else ""
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{page}{numbering}{tabs}</w:pPr>{runs}</w:p>'


def _styles(east_asian_font: str) -> str:
    fonts = f'<w:rFonts w:ascii="Liberation Serif" w:hAnsi="Liberation Serif" w:eastAsia="{escape(east_asian_font)}"/>'
    return (
        f'<w:styles xmlns:w="{_NAMESPACE}"><w:docDefaults><w:rPrDefault><w:rPr>{fonts}'
        '<w:sz w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>'
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>'
        '<w:pPr><w:spacing w:after="60" w:line="300" w:lineRule="auto"/></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:basedOn w:val="Normal"/>'
        '<w:pPr><w:spacing w:after="240"/><w:jc w:val="center"/></w:pPr>'
        '<w:rPr><w:b/><w:sz w:val="32"/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/>'
        '<w:pPr><w:keepNext/><w:spacing w:before="200" w:after="100"/></w:pPr>'
        '<w:rPr><w:b/><w:sz w:val="24"/></w:rPr></w:style></w:styles>'
    )


def _numbering(option_lists: int) -> str:
    definitions = "".join(
        f'<w:abstractNum w:abstractNumId="{identifier}"><w:multiLevelType w:val="singleLevel"/>'
        f'<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>'
        f'<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="{indent}" w:hanging="{hanging}"/></w:pPr></w:lvl>'
        "</w:abstractNum>"
        for identifier, form, text, indent, hanging in (
            (1, "chineseCounting", "%1、", 480, 480),
            (2, "decimal", "%1.", 420, 420),
            (3, "upperLetter", "%1．", 840, 420),
        )
    )
    lists = "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number}"/></w:num>'
        for number in (_SECTION_LIST, _QUESTION_LIST)
    )
    options = "".join(
        f'<w:num w:numId="{_FIRST_OPTION_LIST + index}"><w:abstractNumId w:val="3"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
        for index in range(option_lists)
    )
    return f'<w:numbering xmlns:w="{_NAMESPACE}">{definitions}{lists}{options}</w:numbering>'


def _footer(language: str) -> str:
    before, after = ("第 ", " 页") if language == "zh" else ("Page ", "")
    return _running(
        "ftr",
        f'{before}</w:t></w:r><w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple>'
        f'<w:r><w:t xml:space="preserve">{after}',
    )


def _running(kind: str, content: str) -> str:
    return (
        f'<w:{kind} xmlns:w="{_NAMESPACE}"><w:p><w:pPr><w:jc w:val="center"/></w:pPr>'
        f'<w:r><w:t xml:space="preserve">{content}</w:t></w:r></w:p></w:{kind}>'
    )


def _content_types() -> str:
    parts = {
        "document": "document.main",
        "styles": "styles",
        "numbering": "numbering",
        "header1": "header",
        "footer1": "footer",
    }
    overrides = "".join(
        f'<Override PartName="/word/{part}.xml" ContentType="{_CONTENT}.{kind}+xml"/>'
        for part, kind in parts.items()
    )
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relationships(targets: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{index}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for index, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def render_pdf(paper: Paper) -> bytes:
    """The paper as a PDF with readable text; DocumentError where LibreOffice lacks or fails."""
    if paper.language == "zh":
        return _converted_by_libreoffice(paper)
    return _set_by_reportlab(paper)


def _converted_by_libreoffice(paper: Paper) -> bytes:
    program = shutil.which("soffice")
    if program is None:
        raise DocumentError(
            "needs_libreoffice",
            f"{paper.file}: soffice was not found. Install LibreOffice Writer, or keep the built PDF.",
        )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "paper.docx"
        source.write_bytes(render_docx(paper, east_asian_font=_CHINESE_FONT))
        command = [
            program,
            f"-env:UserInstallation=file://{folder}/profile",
            "--headless",
            "--convert-to",
            "pdf",
        ]
        subprocess.run(
            [*command, "--outdir", folder, str(source)],
            check=False,
            capture_output=True,
            timeout=_SECONDS_TO_CONVERT,
        )
        target = source.with_suffix(".pdf")
        if not target.exists():
            raise DocumentError(
                "corrupt", f"{paper.file}: LibreOffice wrote no PDF. Run it by hand to see why."
            )
        return _without_times(target.read_bytes())


def _without_times(content: bytes) -> bytes:
    """Fix times and random ids, at their own length: offsets in the file stay true."""
    content = re.sub(rb"(?<=/CreationDate\(D:)\d{14}", b"20250101000000", content)
    for identifier in (rb"/ID \[ <[0-9A-F]+>\s*<[0-9A-F]+", rb"/DocChecksum /[0-9A-F]+"):
        content = re.sub(identifier, _zeros, content)
    return content


def _zeros(identifier: re.Match[bytes]) -> bytes:
    return re.sub(rb"[0-9A-F]{32}", b"0" * 32, identifier.group(0))


def _set_by_reportlab(paper: Paper) -> bytes:
    from reportlab import rl_config
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    # Plain binary streams: as ASCII the file looks like text, and its line ends might be rewritten on check-out.
    rl_config.useA85 = 0
    plain = ParagraphStyle("plain", fontName="Times-Roman", fontSize=11, leading=15, spaceAfter=3)
    styles = {
        "title": ParagraphStyle(
            "title", plain, fontName="Times-Bold", fontSize=16, leading=22, spaceAfter=14
        ),
        "heading": ParagraphStyle("heading", plain, fontName="Times-Bold", fontSize=12, spaceBefore=10),
        "option": ParagraphStyle("option", plain, leftIndent=18),
    }
    styles["key_heading"] = styles["heading"]
    buffer = io.BytesIO()
    document = SimpleDocTemplate(buffer, pagesize=A4, title=paper.title, author="Proctor", invariant=1)
    document.build(
        [Paragraph(escape(line.text), styles.get(line.role, plain)) for line in render_lines(paper)]
    )
    return buffer.getvalue()
