"""The reader of every format: bytes of a known kind to the lines or sheets of an extraction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import Extraction
from tasks.ingest.readers.long_runs import limit_runs
from tasks.ingest.readers.sniffing import MEDIA_TYPES

# What a scanned page may take beyond the time limit of its document, and all of them together.
SECONDS_PER_SCAN = 60


MAX_SCAN_SECONDS = 3600


def check_kind(kind: str) -> None:
    """Refuse what holds no paper.

    Raises:
        DocumentError: `unsupported`.
    """
    if kind in ("zip", "binary", "ole", "pptx"):
        raise DocumentError(
            "unsupported",
            f"The content is {MEDIA_TYPES[kind]}, which holds no paper that can be read. Export it as .docx, .xlsx or .pdf.",
        )


def extract(data: bytes, kind: str, options: Mapping[str, Any]) -> Extraction:
    """Convert bytes of a known kind to lines, sheets or records; long runs of one sign are limited.

    Raises:
        DocumentError: the converter's own problem, or `needs_ocr` for a scan that nothing here can read.
    """
    return limit_runs(_extract(data, kind, options))


def _extract(data: bytes, kind: str, options: Mapping[str, Any]) -> Extraction:
    if kind == "docx":
        from tasks.ingest.readers.docx import read_docx

        return read_docx(data)
    if kind in ("xlsx", "xlsb", "xls", "ods"):
        from tasks.ingest.readers.workbook import read_workbook

        return read_workbook(data, kind)
    if kind == "pdf":
        return _extract_pdf(data, options)
    if kind == "image":
        return _extract_image(data, options)
    if kind in ("doc", "rtf", "odt", "word-xml", "excel-xml"):
        return _extract_through_office(data, kind, options)
    if kind == "moodle-xml":
        from tasks.ingest.readers.moodle_xml import read_moodle_xml

        return read_moodle_xml(data)
    from tasks.ingest.readers.json_records import read_json
    from tasks.ingest.readers.plain_text import read_csv, read_text
    from tasks.ingest.readers.web_pages import read_html

    return {"csv": read_csv, "html": read_html, "json": read_json, "jsonl": read_json}.get(kind, read_text)(
        data
    )


def _extract_through_office(data: bytes, kind: str, options: Mapping[str, Any]) -> Extraction:
    from tasks.ingest.readers.office import convert_with_libreoffice

    limit = float(options["time_limit_s"]) * 0.9
    if kind == "excel-xml":
        from tasks.ingest.readers.workbook import read_workbook

        extraction = read_workbook(convert_with_libreoffice(data, kind, "xlsx", limit), "xlsx")
    else:
        from tasks.ingest.readers.docx import read_docx

        extraction = read_docx(convert_with_libreoffice(data, kind, "docx", limit))
    extraction.converter = f"libreoffice+{extraction.converter}"
    return extraction


def _extract_pdf(data: bytes, options: Mapping[str, Any]) -> Extraction:
    from tasks.ingest.readers.pdf import read_pdf

    extraction, unreadable = read_pdf(data)
    if not unreadable:
        return extraction
    has_text = sum(len(line.text) for line in extraction.lines) > 20
    if options["use_ocr"]:
        from tasks.ingest.readers.ocr import is_ocr_installed, read_pages

        if is_ocr_installed():
            extra = min(len(unreadable) * SECONDS_PER_SCAN, MAX_SCAN_SECONDS)
            ask_for_time = options.get("ask_for_time")
            if ask_for_time is not None:
                ask_for_time(extra)
            lines, warnings, notes = read_pages(
                data, unreadable, float(options["time_limit_s"]) * 0.8 + extra
            )
            kept = [line for line in extraction.lines if line.page not in set(unreadable)]
            extraction.lines = sorted([*kept, *lines], key=lambda line: line.page)
            extraction.warnings.extend(warnings)
            extraction.converter = "pypdfium2+rapidocr" if kept else "rapidocr"
            if lines:
                extraction.notes.extend(notes)
            return extraction
    names = ", ".join(str(page) for page in unreadable[:20])
    if not has_text:
        raise DocumentError(
            "needs_ocr",
            f"Pages {names} hold pictures and no text. Install the extra `ocr` and switch OCR on to read them.",
        )
    extraction.warnings.append(
        f"Pages {names} are scans or hold no readable text; OCR is off or not installed."
    )
    if any(line.page in set(unreadable) for line in extraction.lines):
        extraction.notes.append("ocr")  # what a scanner took its picture for
    return extraction


def _extract_image(data: bytes, options: Mapping[str, Any]) -> Extraction:
    from tasks.ingest.readers.ocr import is_ocr_installed, read_image

    if not options["use_ocr"] or not is_ocr_installed():
        raise DocumentError(
            "needs_ocr", "The file is a picture. Install the extra `ocr` and switch OCR on to read it."
        )
    return read_image(data)
