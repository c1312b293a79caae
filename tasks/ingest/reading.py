"""One document from bytes to text and questions: what runs inside the child process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.cleaning import detect_language
from tasks.ingest.disciplines import find_discipline, name_discipline
from tasks.ingest.extraction import Extraction, Line, join_lines
from tasks.ingest.key_matching import match_keys
from tasks.ingest.keys import KeySection
from tasks.ingest.mapping import find_mapped, read_mapping
from tasks.ingest.questions import make_questions
from tasks.ingest.sheets import split_records, split_sheets
from tasks.ingest.sniffing import MEDIA_TYPES, sniff
from tasks.ingest.splitting import Split, split_lines

MAX_TEXT = 20_000_000
# What a scanned page may take beyond the time limit of its document, and all of them together.
SECONDS_PER_SCAN = 60
MAX_SCAN_SECONDS = 3600
_FINAL = re.compile(r"期末|期中|本科生|课程考试|(?i:final exam|mid-?term|undergraduate)")
_ENTRANCE = re.compile(
    r"考研|研究生入学|硕士(?:研究生)?(?:入学|招生)|博士(?:研究生)?入学|(?i:postgraduate entrance|graduate entrance|entrance examination for)"
)


def read_document(path: Path, document: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Read, split and describe one document; returns `{document, text, questions}` ready for JSON.

    `document` comes with its identity (id, sha256, name, source path, size). Problems of the document become
    its status and error; only faults of ours raise.
    """
    text: dict[str, Any] | None = None
    questions: list[dict[str, Any]] = []
    try:
        data = path.read_bytes()
        kind = sniff(data, path.name)
        document["media_type"] = MEDIA_TYPES[kind]
        _check_kind(kind)
        mapping = read_mapping(options.get("mapping_file"))
        columns = mapping["columns"]
        if kind in ("json", "jsonl"):
            extraction, split, raw, pages = _read_records(data, columns)
        else:
            extraction = extract(data, kind, options, document)
            if extraction.sheets:
                found = split_sheets(extraction.sheets, columns)
                split = Split(found.drafts, language=found.language, warnings=found.warnings)
                raw, pages = found.text, []
                if not found.drafts:
                    split, raw = _read_sheets_as_text(extraction, split, raw)
            else:
                raw, starts, pages = join_lines(extraction.lines)
                split = split_lines(extraction.lines, starts)
                _apply_companion(split, options)
        document["page_count"] = extraction.page_count
        document["converter"] = extraction.converter
        document["language"] = split.language or detect_language(raw)
        document["warnings"] = [*document["warnings"], *extraction.warnings, *split.warnings]
        _describe(document, raw[:2000], path, options, mapping)
        text = {
            "document_id": document["document_id"],
            "text": raw[:MAX_TEXT],
            "char_count": len(raw),
            "page_offsets": pages,
            "converter": extraction.converter,
            "converter_version": extraction.converter_version,
        }
        if len(raw) > MAX_TEXT:
            document["warnings"].append(f"The text was cut after {MAX_TEXT} of {len(raw)} characters.")
        questions, repeated = make_questions(
            split.drafts,
            document,
            document["language"],
            float(options["confidence_threshold"]),
            extraction.notes,
        )
        if repeated:
            document["warnings"].append(
                f"{repeated} of {len(split.drafts)} questions repeat another of this document and were left out."
            )
        document["question_count"] = len(questions)
        document["status"] = "parsed" if questions else "no_questions"
        if not questions:
            document["error"] = _explain_nothing(raw, split)
    except DocumentError as error:
        document["status"], document["error"] = error.code, str(error)
    return {"document": document, "text": text, "questions": questions}


def _read_sheets_as_text(extraction: Extraction, split: Split, raw: str) -> tuple[Split, str]:
    """Read sheets without question columns as the lines of a paper: some type a whole paper into one column."""
    lines = [
        Line("  ".join(cell.replace("\n", " ") for cell in row if cell.strip()))
        for sheet in extraction.sheets
        for row in sheet.rows
    ]
    text, starts, _ = join_lines(lines)
    found = split_lines(lines, starts)
    return (found, text) if found.drafts else (split, raw)


def _check_kind(kind: str) -> None:
    if kind in ("zip", "binary", "ole", "pptx"):
        raise DocumentError(
            "unsupported",
            f"The content is {MEDIA_TYPES[kind]}, which holds no paper that can be read. Export it as .docx, .xlsx or .pdf.",
        )


def _explain_nothing(raw: str, split: Split) -> str:
    if split.keys:
        count = sum(len(section.entries) for section in split.keys)
        return f"The document holds {count} answers and no questions: it is the key of another paper."
    if not raw.strip():
        return "The document holds no text. If it is a picture of a paper, scan it as PDF."
    return "No numbered question, option list or question table was recognised in the text. Check its layout."


def extract(data: bytes, kind: str, options: Mapping[str, Any], document: dict[str, Any]) -> Extraction:
    """Convert bytes of a known kind to lines or sheets.

    Raises:
        DocumentError: the converter's own problem, or `needs_ocr` for a scan that nothing here can read.
    """
    if kind == "docx":
        from tasks.ingest.docx import read_docx

        return read_docx(data)
    if kind in ("xlsx", "xlsb", "xls", "ods"):
        from tasks.ingest.workbook import read_workbook

        return read_workbook(data, kind)
    if kind == "pdf":
        return _extract_pdf(data, options)
    if kind == "image":
        return _extract_image(data, options)
    if kind in ("doc", "rtf", "odt", "word-xml", "excel-xml"):
        return _extract_through_office(data, kind, options)
    from tasks.ingest.plain_text import read_csv, read_html, read_text

    return {"csv": read_csv, "html": read_html}.get(kind, read_text)(data)


def _extract_through_office(data: bytes, kind: str, options: Mapping[str, Any]) -> Extraction:
    from tasks.ingest.office import convert_with_libreoffice

    limit = float(options["time_limit_s"]) * 0.9
    if kind == "excel-xml":
        from tasks.ingest.workbook import read_workbook

        extraction = read_workbook(convert_with_libreoffice(data, kind, "xlsx", limit), "xlsx")
    else:
        from tasks.ingest.docx import read_docx

        extraction = read_docx(convert_with_libreoffice(data, kind, "docx", limit))
    extraction.converter = f"libreoffice+{extraction.converter}"
    return extraction


def _extract_pdf(data: bytes, options: Mapping[str, Any]) -> Extraction:
    from tasks.ingest.pdf import read_pdf

    extraction, unreadable = read_pdf(data)
    if not unreadable:
        return extraction
    has_text = sum(len(line.text) for line in extraction.lines) > 20
    if options["use_ocr"]:
        from tasks.ingest.ocr import is_ocr_installed, read_pages

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
    extraction.warnings.append(f"Pages {names} hold no readable text; OCR is off or not installed.")
    return extraction


def _extract_image(data: bytes, options: Mapping[str, Any]) -> Extraction:
    from tasks.ingest.ocr import is_ocr_installed, read_image

    if not options["use_ocr"] or not is_ocr_installed():
        raise DocumentError(
            "needs_ocr", "The file is a picture. Install the extra `ocr` and switch OCR on to read it."
        )
    return read_image(data)


def _read_records(data: bytes, columns: Mapping[str, Any]) -> tuple[Extraction, Split, str, list[int]]:
    from tasks.ingest.plain_text import read_json

    records, encoding = read_json(data)
    found = split_records(records, columns)
    extraction = Extraction(converter="json", converter_version=encoding)
    return extraction, Split(found.drafts, language=found.language, warnings=found.warnings), found.text, []


def _describe(
    document: dict[str, Any], head: str, path: Path, options: Mapping[str, Any], mapping: Mapping[str, Any]
) -> None:
    """Tell discipline and source kind by mapping, folders, file name and the head of the paper, in this order."""
    merged = {**mapping["disciplines"], **(options.get("discipline_map") or {})}
    source = str(document["source_path"])
    mapped = find_mapped(source, merged)
    found = name_discipline(mapped) if mapped is not None else None
    if found is None:
        folders = list(reversed(path.parent.parts[-4:]))
        named = [
            name
            for name in (name_discipline(part) if part in _disciplines() else None for part in folders)
            if name
        ]
        found = named[0] if named else find_discipline([path.stem, *folders, *_titles(head)])
    if found is not None:
        document["discipline"], document["sub_discipline"] = found
    if options.get("source_kind"):
        document["source_kind"] = options["source_kind"]
        return
    hint = f"{source}\n{head[:800]}"
    if _ENTRANCE.search(hint):
        document["source_kind"] = "postgraduate_entrance"
    elif _FINAL.search(hint):
        document["source_kind"] = "undergraduate_final"


def _disciplines() -> tuple[str, ...]:
    from schemas.vocabulary import DISCIPLINES

    return DISCIPLINES


def _titles(head: str) -> list[str]:
    """The lines before the first question that name a course: `《…》` first, then the short ones."""
    lines = [line for line in head.split("\n")[:15] if line.strip()]
    quoted = [
        match for line in lines for match in re.findall(r"《([^》]{2,40})》", line) if "学位" not in match
    ]
    named = re.findall(r"(?:课程名称|考试科目|科目|Course|Subject)\s*[:：]\s*([^\n]{2,40})", "\n".join(lines))
    return [*named, *quoted, *(line for line in lines[:6] if len(line) < 60)]


def _apply_companion(split: Split, options: Mapping[str, Any]) -> None:
    """Give the answers of a separate answer file to the questions that have none."""
    companion = options.get("companion")
    if not companion or all(draft.answer for draft in split.drafts):
        return
    try:
        keys = read_companion(Path(str(companion)), options)
    except (DocumentError, OSError):
        split.warnings.append(
            f"The answer file {Path(str(companion)).name} beside this paper could not be read."
        )
        return
    before = sum(1 for draft in split.drafts if draft.answer)
    unmatched = match_keys(split.drafts, keys, split.language)
    gained = sum(1 for draft in split.drafts if draft.answer) - before
    split.warnings.append(f"{gained} answers were taken from {Path(str(companion)).name}.")
    if unmatched:
        count = sum(len(section.entries) for section in unmatched)
        split.warnings.append(f"{count} answers of {Path(str(companion)).name} match no question.")


def read_companion(path: Path, options: Mapping[str, Any]) -> list[KeySection]:
    """Return the answers of a file that holds only answers.

    Raises:
        DocumentError: when it cannot be read.
    """
    from tasks.ingest.keys import is_region_heading, read_region
    from tasks.ingest.pieces import make_pieces

    data = path.read_bytes()
    kind = sniff(data, path.name)
    _check_kind(kind)
    extraction = extract(data, kind, options, {})
    if extraction.sheets:
        lines = [
            Line("  ".join(cell for cell in row if cell.strip()))
            for sheet in extraction.sheets
            for row in sheet.rows
        ]
    else:
        lines = extraction.lines
    _, starts, _ = join_lines(lines)
    pieces = make_pieces(lines, starts)
    first = next((index for index, piece in enumerate(pieces[:8]) if is_region_heading(piece.text)), -1)
    return read_region(pieces[first + 1 :])
