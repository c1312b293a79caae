"""Our readers, one for each kind of file, and what is done to all that they read.

The reader is chosen by the file's content, else another package's by its suffix. Long runs of one sign are limited:
patterns look for blanks and rules from every place of a line. What a scanner's own text says is put beside OCR's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers import READERS, Reader
from tasks.ingest.readers.extraction import IMAGE, PICTURE_MARK, Extraction, FoundPicture, Line
from tasks.ingest.readers.sniffing import MEDIA_TYPES

Options = Mapping[str, Any]

# What a scanned page may take beyond the time limit of its document, and all of them together.
SECONDS_PER_SCAN = 60
MAX_SCAN_SECONDS = 3600

# Content that says little of what a file is: here a reader that another package brings for the suffix comes first.
_PLAIN_KINDS = frozenset({"text", "html", "json", "jsonl", "zip", "ole", "pptx", "binary"})
_UNREADABLE = frozenset({"zip", "binary", "ole", "pptx"})
# Suffixes of what we read ourselves, beside the names of our readers: nobody else is asked about these.
_OUR_SUFFIXES = frozenset({"txt", "md", "htm", "tsv", "xml"})


def find_reader(kind: str, name: str) -> Reader:
    """What reads a file of a kind, a key of `MEDIA_TYPES`, and of a name.

    Raises:
        DocumentError: `unsupported`, for what holds no paper.
        UsageError: for a reader of another package that cannot be loaded.
    """
    if kind in _PLAIN_KINDS and (suffix := find_foreign_suffix(name)) is not None:
        return READERS.find(suffix)
    if kind in _UNREADABLE:
        raise DocumentError(
            "unsupported",
            f"The content is {MEDIA_TYPES[kind]}, which holds no paper that can be read. Export it as .docx, .xlsx or .pdf.",
        )
    return READERS.find(kind)


def find_foreign_suffix(name: str) -> str | None:
    """The suffix for which another package brings a reader, in small letters, else None."""
    suffix = name.rpartition(".")[2].casefold()
    if "." not in name or suffix in _OUR_SUFFIXES or suffix in READERS.own:
        return None
    return suffix if READERS.has(suffix) else None


def extract(data: bytes, reader: Reader, options: Options) -> Extraction:
    """Convert bytes to lines, sheets or records; long runs of one sign are limited.

    Raises:
        DocumentError: the converter's own problem, or `needs_ocr` for a scan that nothing here can read.
    """
    found = reader.read(data, options)
    if not isinstance(found, Extraction):
        raise DocumentError(
            "crashed",
            f"The reader of {reader.media_type} returned {type(found).__name__}, and no Extraction: its package is to be mended.",
        )
    return limit_runs(found)


@dataclass(frozen=True)
class Format:
    """A reader of ours; `read` imports what it needs when it is called."""

    media_type: str
    read: Callable[[bytes, Options], Extraction]


# A Word file with so few letters, or with so few for each picture that fills a page, is a cover for the pictures in it: the pages of a
# paper that somebody photographed.
_FEW_LETTERS = 40


def _read_docx(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.docx import count_pages, read_docx, read_pictures

    extraction = read_docx(data)
    letters = sum(map(str.isalnum, PICTURE_MARK.sub("", "".join(line.text for line in extraction.lines))))
    is_cover = letters < _FEW_LETTERS or (
        letters < _FEW_LETTERS * len(extraction.pictures) and letters < _FEW_LETTERS * count_pages(data)
    )
    pictures = read_pictures(data) if is_cover else []
    if not pictures:
        return extraction
    from tasks.ingest.readers.ocr import is_ocr_installed, read_images

    if not options["use_ocr"] or not is_ocr_installed():
        raise DocumentError(
            "needs_ocr",
            f"The document holds {len(pictures)} pictures and hardly any text. Install the extra `ocr` and switch OCR "
            "on to read them.",
        )
    seen = read_images(pictures, _take_time(len(pictures), options))
    # what the pictures show has no place on a page of the document
    lines = [replace(line, page=0, box=()) for line in seen.lines]
    extraction.lines = [
        *(line for line in extraction.lines if PICTURE_MARK.sub("", line.text).strip()),
        *lines,
    ]
    extraction.converter = f"{extraction.converter}+{seen.converter}"
    extraction.warnings.extend(seen.warnings)
    extraction.notes.extend(seen.notes)
    return extraction


def _take_time(scans: int, options: Options) -> float:
    """Ask for the time that scanned pages may take; returns the seconds that reading may last."""
    extra = min(scans * SECONDS_PER_SCAN, MAX_SCAN_SECONDS)
    ask_for_time = options.get("ask_for_time")
    if ask_for_time is not None:
        ask_for_time(extra)
    return float(options["time_limit_s"]) * 0.8 + extra


def _read_workbook(kind: str) -> Callable[[bytes, Options], Extraction]:
    def read(data: bytes, options: Options) -> Extraction:
        from tasks.ingest.readers.workbook import read_workbook

        return read_workbook(data, kind)

    return read


def _read_through_office(kind: str) -> Callable[[bytes, Options], Extraction]:
    def read(data: bytes, options: Options) -> Extraction:
        from tasks.ingest.readers.office import convert_with_libreoffice

        limit = float(options["time_limit_s"]) * 0.9
        if kind == "excel-xml":
            extraction = XLSX.read(convert_with_libreoffice(data, kind, "xlsx", limit), options)
        else:
            try:
                converted = convert_with_libreoffice(data, kind, "docx", limit)
            except DocumentError as error:
                if kind != "doc" or error.code not in ("corrupt", "timeout"):
                    raise
                return _read_word_binary(data, error)
            extraction = DOCX.read(converted, options)
        extraction.converter = f"libreoffice+{extraction.converter}"
        return extraction

    return read


def _read_word_binary(data: bytes, failure: DocumentError) -> Extraction:
    """The text of a .doc that LibreOffice did not open, else LibreOffice's own problem."""
    from tasks.ingest.readers.word_binary import read_word_binary

    try:
        return read_word_binary(data)
    except DocumentError as error:
        raise error if error.code == "encrypted" else failure from error


def _read_moodle_xml(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.gift import read_moodle_xml

    return read_moodle_xml(data)


def _read_json(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.json_records import read_json

    return read_json(data)


def _read_csv(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.plain_text import read_csv

    return read_csv(data)


def _read_html(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.web_pages import read_html

    return read_html(data, options.get("folder"))


def _read_text(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.plain_text import read_text

    return read_text(data)


def _read_pdf(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.pdf import read_pdf

    extraction, unreadable = read_pdf(data)
    if not unreadable:
        return extraction
    has_text = sum(len(line.text) for line in extraction.lines) > 20
    if options["use_ocr"]:
        from tasks.ingest.readers.ocr import is_ocr_installed, read_pages

        if is_ocr_installed():
            limit = _take_time(len(unreadable), options)
            # what the text layer says of a page that it does not say all of
            known: dict[int, list[Line]] = {number: [] for number, is_mixed in unreadable.items() if is_mixed}
            kept: list[Line] = []
            for line in extraction.lines:
                if line.page in known:
                    known[line.page].append(line)
                elif line.page not in unreadable:
                    kept.append(line)
            lines, warnings = read_pages(data, list(unreadable), limit, known)
            lines = compare_readings(lines, [line for line in extraction.lines if line.page not in known])
            for place, line in enumerate(lines):
                if line.text == IMAGE and line.box:
                    mark = extraction.add_picture(FoundPicture(page=line.page, box=line.box))
                    lines[place] = replace(line, text=mark)
            extraction.lines = sorted([*kept, *lines], key=lambda line: line.page)
            extraction.warnings.extend(warnings)
            extraction.converter = "pypdfium2+rapidocr" if kept else "rapidocr"
            return extraction
    extraction.unread = tuple(unreadable)
    if not has_text:
        raise DocumentError("needs_ocr", ask_for_ocr(extraction.unread))
    extraction.warnings.append(
        f"Pages {_name_pages(unreadable)} are scans or hold no readable text; OCR is off or not installed."
    )
    if any(unreadable.get(line.page) is False for line in extraction.lines):
        extraction.notes.append("ocr")  # what a scanner took its picture for
    return extraction


def ask_for_ocr(pages: Sequence[int]) -> str:
    """What is wrong with a document that gave nothing while these pages wait for OCR."""
    return (
        f"Pages {_name_pages(pages)} hold no text that can be read. Install the extra `ocr` and switch OCR on to read "
        "them."
    )


def _name_pages(pages: Iterable[int]) -> str:
    return ", ".join(str(page) for page in islice(pages, 20))


def _read_image(data: bytes, options: Options) -> Extraction:
    from tasks.ingest.readers.ocr import is_ocr_installed, read_image

    if not options["use_ocr"] or not is_ocr_installed():
        raise DocumentError(
            "needs_ocr", "The file is a picture. Install the extra `ocr` and switch OCR on to read it."
        )
    return read_image(data)


DOCX = Format(MEDIA_TYPES["docx"], _read_docx)
XLSX = Format(MEDIA_TYPES["xlsx"], _read_workbook("xlsx"))
XLSB = Format(MEDIA_TYPES["xlsb"], _read_workbook("xlsb"))
XLS = Format(MEDIA_TYPES["xls"], _read_workbook("xls"))
ODS = Format(MEDIA_TYPES["ods"], _read_workbook("ods"))
DOC = Format(MEDIA_TYPES["doc"], _read_through_office("doc"))
RTF = Format(MEDIA_TYPES["rtf"], _read_through_office("rtf"))
ODT = Format(MEDIA_TYPES["odt"], _read_through_office("odt"))
WORD_XML = Format(MEDIA_TYPES["word-xml"], _read_through_office("word-xml"))
EXCEL_XML = Format(MEDIA_TYPES["excel-xml"], _read_through_office("excel-xml"))
PDF = Format(MEDIA_TYPES["pdf"], _read_pdf)
PICTURE = Format(MEDIA_TYPES["image"], _read_image)
HTML = Format(MEDIA_TYPES["html"], _read_html)
CSV = Format(MEDIA_TYPES["csv"], _read_csv)
MOODLE_XML = Format(MEDIA_TYPES["moodle-xml"], _read_moodle_xml)
JSON = Format(MEDIA_TYPES["json"], _read_json)
JSONL = Format(MEDIA_TYPES["jsonl"], _read_json)
TEXT = Format(MEDIA_TYPES["text"], _read_text)
# Wider than any gap or rule of a printed page.
LONGEST_RUN = 120
# Blanks of any kind, or one sign that is no letter, digit or bar of a table.
_RUN = re.compile(rf"(?<!\s)\s{{{LONGEST_RUN + 1},}}+|([^\w\s|]|_)(?<!\1\1)\1{{{LONGEST_RUN},}}+")


def limit_runs(extraction: Extraction) -> Extraction:
    """The extraction with every run at most LONGEST_RUN long, and a warning of longer ones."""
    count = 0

    def limit(text: str) -> str:
        nonlocal count
        if len(text) <= LONGEST_RUN:
            return text
        text, found = _RUN.subn(_shorten, text)
        count += found
        return text

    extraction.lines = [_limit_line(line, limit(line.text), limit) for line in extraction.lines]
    for sheet in extraction.sheets:
        sheet.rows[:] = [[limit(cell) for cell in row] for row in sheet.rows]
    if extraction.records is not None:
        extraction.records = [_limit_value(record, limit) for record in extraction.records]
    if count:
        extraction.warnings.append(
            f"{count} runs of more than {LONGEST_RUN} equal signs or blanks were read as {LONGEST_RUN} of them."
        )
    return extraction


def _shorten(run: re.Match[str]) -> str:
    return run[0][:LONGEST_RUN]


def _limit_line(line: Line, text: str, limit: Any) -> Line:
    if text == line.text:
        return line
    # What stood out keeps its place: each place moves by what was dropped before it.
    dropped = [(run.start() + LONGEST_RUN, run.end()) for run in _RUN.finditer(line.text)]

    def move(place: int) -> int:
        return place - sum(min(place, last) - first for first, last in dropped if place > first)

    return replace(
        line,
        text=text,
        label_length=move(line.label_length),
        cells=tuple(limit(cell) for cell in line.cells),
        emphasis=tuple((move(first), move(last), kind) for first, last, kind in line.emphasis),
    )


def _limit_value(value: Any, limit: Any) -> Any:
    if isinstance(value, str):
        return limit(value)
    if isinstance(value, dict):
        return {name: _limit_value(part, limit) for name, part in value.items()}
    if isinstance(value, list):
        return [_limit_value(part, limit) for part in value]
    return value


def compare_readings(lines: Sequence[Line], others: Sequence[Line]) -> list[Line]:
    """The lines that OCR read with how far those of a text layer at their height agree."""
    by_page: dict[int, list[Line]] = defaultdict(list)
    for line in others:
        if line.box and line.kind != "furniture":
            by_page[line.page].append(line)
    return [
        replace(line, agreed=_compare(line, by_page[line.page]))
        if line.sure is not None and line.box and by_page.get(line.page)
        else line
        for line in lines
    ]


def _compare(line: Line, others: Sequence[Line]) -> float:
    left, top, right, foot = line.box
    beside = [
        other
        for other in others
        if top <= (other.box[1] + other.box[3]) / 2 <= foot and other.box[0] < right and other.box[2] > left
    ]
    said = _fold("".join(other.text for other in sorted(beside, key=lambda other: other.box[0])))
    own = _fold(line.text)
    if not own:
        return 1.0
    matcher = SequenceMatcher(None, own, said, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(len(own), 1)


def _fold(text: str) -> str:
    return "".join(one for one in text.casefold() if one.isalnum())
