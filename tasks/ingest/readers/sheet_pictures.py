"""Pictures of an Excel workbook: anchored to a cell, or kept in one as WPS does."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator

from lxml import etree

from schemas.errors import DocumentError
from tasks.ingest.readers.archives import read_part
from tasks.ingest.readers.docx_elements import parse_xml, read_number
from tasks.ingest.readers.extraction import Extraction, FoundPicture
from tasks.ingest.readers.numbering import find_child, local_name, read_attribute

# What WPS writes as the formula of a cell that is a picture.
_IN_CELL = re.compile(r'=?(?:_xlfn\.)?DISPIMG\("(\w+)",\s*1\)')


def mark_pictures(extraction: Extraction, package: zipfile.ZipFile, data: bytes) -> None:
    """Write the mark of every picture into the cell that it is anchored to, or that is one."""
    names = set(package.namelist())
    if not any(name.startswith(("xl/drawings/", "xl/cellimages")) for name in names):
        return
    extraction.package = data
    try:
        parts = dict(_list_sheets(package, names))
        in_cells = _read_cell_images(package, names)
        for sheet in extraction.sheets:
            rows = sheet.rows
            for row, column, picture in _list_anchored(package, names, parts.get(sheet.name, "")):
                if row < len(rows) and column < len(rows[row]):
                    mark = extraction.add_picture(picture)
                    rows[row][column] = f"{rows[row][column]} {mark}".strip()
            for cells in rows if in_cells else ():
                for column, text in enumerate(cells):
                    found = _IN_CELL.fullmatch(text.strip()) if "DISPIMG" in text else None
                    if found is not None and found[1] in in_cells:
                        cells[column] = extraction.add_picture(in_cells[found[1]])
    except DocumentError as error:
        extraction.warnings.append(f"Pictures of the workbook were left out: {error}")


def _list_sheets(package: zipfile.ZipFile, names: set[str]) -> Iterator[tuple[str, str]]:
    """Each sheet's name, and the part that it is."""
    targets = _read_targets(package, names, "xl/workbook.xml")
    for element in parse_xml(read_part(package, "xl/workbook.xml"), "xl/workbook.xml").iter():
        if local_name(element) == "sheet":
            yield element.get("name") or "", targets.get(read_attribute(element, "id") or "", "")


def _list_anchored(
    package: zipfile.ZipFile, names: set[str], sheet: str
) -> Iterator[tuple[int, int, FoundPicture]]:
    """The row and column (from 0) of each picture of a sheet."""
    for drawing in _read_targets(package, names, sheet).values():
        if not drawing.startswith("xl/drawings/") or drawing not in names or not drawing.endswith(".xml"):
            continue
        targets = _read_targets(package, names, drawing)
        for anchor in parse_xml(read_part(package, drawing), drawing):
            corner = find_child(anchor, "from")
            if corner is None:
                continue
            row, column = (max(read_number(find_child(corner, name)), 0) for name in ("row", "col"))
            for picture in _list_shown(anchor, targets, names):
                yield row, column, picture


def _read_cell_images(package: zipfile.ZipFile, names: set[str]) -> dict[str, FoundPicture]:
    part = "xl/cellimages.xml"
    if part not in names:
        return {}
    targets = _read_targets(package, names, part)
    found: dict[str, FoundPicture] = {}
    for image in parse_xml(read_part(package, part), part):
        shown = list(_list_shown(image, targets, names))
        name = next((node.get("name") for node in image.iter() if local_name(node) == "cNvPr"), None)
        if name and shown:
            found[name] = shown[0]
    return found


def _list_shown(element: etree._Element, targets: dict[str, str], names: set[str]) -> Iterator[FoundPicture]:
    alt_text = None
    for node in element.iter():
        if local_name(node) == "cNvPr":
            alt_text = node.get("descr") or alt_text
        elif local_name(node) == "blip":
            part = targets.get(read_attribute(node, "embed") or "", "")
            if part in names:
                yield FoundPicture(part=part, alt_text=alt_text)


def _read_targets(package: zipfile.ZipFile, names: set[str], part: str) -> dict[str, str]:
    """The parts that a part names, by its ids; addresses outside are not among them."""
    folder, name = posixpath.split(part)
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in names:
        return {}
    return {
        relation.get("Id") or "": posixpath.normpath(
            posixpath.join("/" + folder, relation.get("Target") or "")
        ).lstrip("/")
        for relation in parse_xml(read_part(package, relations), relations)
        if relation.get("TargetMode") != "External"
    }
