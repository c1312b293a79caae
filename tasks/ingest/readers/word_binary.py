"""The text of old Word documents (.doc) that LibreOffice does not open.

It is read from their piece table. What Word writes by itself (automatic numbers) and how it looks is not read; paragraphs, cells and fields are.
After [MS-DOC], §2.4.1: the Clx of the table stream lists the pieces of the WordDocument stream in their order.
"""

from __future__ import annotations

import io
import re
import struct

from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import IMAGE, Extraction, Line

_MAGIC = 0xA5EC
_ENCRYPTED, _OTHER_TABLE = 0x0100, 0x0200
_COMPRESSED = 0x40000000
# Offsets in the file information block: flags, length of the body, place and size of the Clx.
_FLAGS, _BODY, _CLX = 0x0A, 0x4C, 0x01A2
_CELL, _FIELD, _RESULT, _END = "\x07", "\x13", "\x14", "\x15"
_MARKS = {
    "\x01": IMAGE,
    "\x08": "",
    "\x0b": "\n",
    "\x1e": "-",
    "\x1f": "",
    "\x05": "",
    "\xa0": " ",
    "\x02": "",
}
WARNING = (
    "LibreOffice did not open the document: its text was read without automatic numbers, formulas and print. "
    "Save it as .docx if something is missing."
)


def read_word_binary(data: bytes) -> Extraction:
    """The paragraphs and table rows of a .doc.

    Raises:
        DocumentError: `encrypted`, or `corrupt` where the pieces cannot be found.
    """
    try:
        text = _read_pieces(data)
    except (OSError, struct.error, IndexError, ValueError) as error:
        raise DocumentError(
            "corrupt", "The document is damaged, and its text cannot be found. Save it again in Word."
        ) from error
    extraction = Extraction(converter="word-binary", converter_version="1", warnings=[WARNING])
    extraction.lines = _make_lines(_drop_fields(text))
    return extraction


def _read_pieces(data: bytes) -> str:
    import olefile

    with olefile.OleFileIO(io.BytesIO(data)) as package:
        main = package.openstream("WordDocument").read()
        magic, flags = struct.unpack_from("<H", main)[0], struct.unpack_from("<H", main, _FLAGS)[0]
        if magic != _MAGIC:
            raise ValueError("no document of Word 97 or later")
        if flags & _ENCRYPTED:
            raise DocumentError(
                "encrypted", "The document is password protected. Save it without a password."
            )
        table = package.openstream("1Table" if flags & _OTHER_TABLE else "0Table").read()
    length = struct.unpack_from("<i", main, _BODY)[0]
    start, size = struct.unpack_from("<II", main, _CLX)
    clx = table[start : start + size]
    place = 0
    while clx[place] == 1:  # formatting of fast-saved pieces
        place += 3 + struct.unpack_from("<H", clx, place + 1)[0]
    if clx[place] != 2:
        raise ValueError("no piece table")
    pieces = clx[place + 5 : place + 5 + struct.unpack_from("<I", clx, place + 1)[0]]
    count = (len(pieces) - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", pieces)
    parts: list[str] = []
    for index in range(count):
        width = ends[index + 1] - ends[index]
        code = struct.unpack_from("<I", pieces, 4 * (count + 1) + 8 * index + 2)[0]
        if code & _COMPRESSED:
            first = (code & ~_COMPRESSED) // 2
            parts.append(main[first : first + width].decode("cp1252", errors="replace"))
        else:
            parts.append(main[code : code + 2 * width].decode("utf-16-le", errors="replace"))
    return "".join(parts)[: max(length, 0)]


def _drop_fields(text: str) -> str:
    """The text with the results of its fields, without their codes."""
    parts: list[str] = []
    codes: list[bool] = []
    for part in re.split(f"([{_FIELD}{_RESULT}{_END}])", text):
        if part == _FIELD:
            codes.append(True)
        elif part == _RESULT:
            codes[-1:] = [False] if codes else []
        elif part == _END:
            codes[-1:] = []
        elif not any(codes):
            parts.append(part)
    return "".join(parts)


def _make_lines(text: str) -> list[Line]:
    """The lines of the text; cells in a row become one, which an empty cell ends."""
    lines: list[Line] = []
    cells: list[str] = []
    tables = 0
    for mark, part in _part_paragraphs("".join([_MARKS.get(one, one) for one in text])):
        if mark == _CELL and (part or not cells):
            cells.append(part)
            continue
        if cells:
            tables += not (lines and lines[-1].table)
            row = " | ".join(cells).replace("\n", " ")
            lines.append(Line(row, kind="table", cells=tuple(cells), table=tables))
            cells = []
        if mark != _CELL:
            lines.extend(Line(one) for one in part.split("\n"))
    return lines


def _part_paragraphs(text: str) -> list[tuple[str, str]]:
    """The paragraphs with the mark that ends each."""
    parts = re.split("([\r\x07\x0c\x0e])", text)
    return list(zip([*parts[1::2], "\r"], parts[0::2], strict=True))
