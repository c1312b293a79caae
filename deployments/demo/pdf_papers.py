"""Sample papers as born-digital PDF.

Chinese papers are made by LibreOffice from Word, English ones by ReportLab.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from deployments.demo.layouts import render_lines
from deployments.demo.sources import Paper
from deployments.demo.word_papers import render_docx
from schemas.errors import DocumentError

_CHINESE_FONT = "Noto Serif CJK SC"
_SECONDS_TO_CONVERT = 180


def render_pdf(paper: Paper) -> bytes:
    """Render the paper as a PDF whose text can be read.

    Raises DocumentError when a Chinese paper is wanted and LibreOffice is not installed or fails.
    """
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
    """Fix the time and the random identifiers, each at its own length.

    Keeping the lengths means that offsets in the file stay true.
    """
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
