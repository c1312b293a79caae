"""Formulas of an OpenDocument spreadsheet that were never computed.

The file holds no result for them.
"""

from __future__ import annotations

import zipfile

from lxml import etree

from tasks.ingest.readers.archives import read_part
from tasks.ingest.readers.docx_elements import parse_xml
from tasks.ingest.readers.numbering import local_name, read_attribute, read_integer

_CONTENT = "content.xml"
# A formula is repeated over a range where it is the same; an empty row is repeated to the end of the sheet.
_MOST_REPEATED = 70


def find_unsaved_in_ods(package: zipfile.ZipFile) -> dict[str, set[tuple[int, int]]]:
    """The cells of each sheet whose formula has no result, as (row, column) from 0.

    Raises:
        DocumentError: `corrupt` for a content that is no well-formed XML.
    """
    if _CONTENT not in package.namelist():
        return {}
    part = read_part(package, _CONTENT)
    if b"formula=" not in part:
        return {}
    found: dict[str, set[tuple[int, int]]] = {}
    for table in parse_xml(part, _CONTENT).iter("{*}table"):
        cells: set[tuple[int, int]] = set()
        row = 0
        for line in table.iter("{*}table-row"):
            height = read_integer(line, "number-rows-repeated") or 1
            column = 0
            for cell in line:
                width = read_integer(cell, "number-columns-repeated") or 1
                if _is_unsaved(cell):
                    cells.update(
                        (row + down, column + right)
                        for down in range(min(height, _MOST_REPEATED))
                        for right in range(min(width, _MOST_REPEATED))
                    )
                column += width
            row += height
        if cells:
            found[read_attribute(table, "name") or ""] = cells
    return found


def _is_unsaved(cell: etree._Element) -> bool:
    return (
        local_name(cell) == "table-cell"
        and read_attribute(cell, "formula") is not None
        and read_attribute(cell, "value-type") is None
        and not "".join(str(text) for text in cell.itertext()).strip()
    )
