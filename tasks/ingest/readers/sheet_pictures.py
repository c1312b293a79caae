"""Pictures of an Excel workbook: anchored to a cell, or kept in one as WPS does."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from typing import Final

from lxml import etree

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.archives import read_part
from tasks.ingest.readers.docx_elements import parse_xml, read_number
from tasks.ingest.readers.extraction import IMAGE, PICTURE_MARK, Extraction, FoundPicture
from tasks.ingest.readers.numbering import find_child, local_name, read_attribute
from tasks.ingest.words.warnings import NOT_KEPT

# What WPS writes as the formula of a cell that is a picture.
_IN_CELL = re.compile(r'=?(?:_xlfn\.)?DISPIMG\("(\w+)",\s*1\)')


def mark_pictures(extraction: Extraction, package: zipfile.ZipFile, data: bytes) -> None:
    """Write the mark of every picture into the cell that it is anchored to, or that is one."""
    names = set(package.namelist())
    if not any(name.startswith(("xl/drawings/", "xl/cellimages", _PLACED)) for name in names):
        return
    extraction.package = data
    try:
        parts = dict(_list_sheets(package, names))
        in_cells = _read_cell_images(package, names)
        placed = _read_placed(package, names)
        for sheet in extraction.sheets:
            rows, part = sheet.rows, parts.get(sheet.name, "")
            width = len(rows[0]) if rows else 0
            for row, column, picture in _list_anchored(package, names, part):
                if row > len(rows) or not rows:
                    continue
                if row == len(rows):  # below all cells
                    rows.append([""] * len(rows[0]))
                column = _find_column(rows, row, column, width)
                mark = extraction.add_picture(picture) if picture is not None else IMAGE
                rows[row][column] = f"{rows[row][column]} {mark}".strip()
            for first, last, column in _list_merged(package, part) if part in names else ():
                _fill(rows[first : last + 1], column)
            for row, column, number in _list_placed(package, part) if placed else ():
                if number in placed and row < len(rows) and column < len(rows[row]):
                    rows[row][column] = extraction.add_picture(placed[number])
            for cells in rows if in_cells else ():
                for column, text in enumerate(cells):
                    found = _IN_CELL.fullmatch(text.strip()) if "DISPIMG" in text else None
                    if found is not None and found[1] in in_cells:
                        cells[column] = extraction.add_picture(in_cells[found[1]])
    except (DocumentError, ValueError, IndexError) as error:
        extraction.warnings.append(f"{NOT_KEPT}pictures of the workbook: {error}")


def _fill(rows: list[list[str]], column: int) -> None:
    """Have every row of a merged area show the picture that one of them has."""
    texts = [cells[column] for cells in rows if column < len(cells)]
    shown = next((text for text in texts if PICTURE_MARK.search(text)), None)
    if (
        shown is not None
        and len(texts) == len(rows)
        and len({PICTURE_MARK.sub("", text) for text in texts}) == 1
    ):
        for cells in rows:
            cells[column] = shown


def _find_column(rows: list[list[str]], row: int, column: int, width: int) -> int:
    """The column of a picture: one beside all cells stands in its line, or in a further column."""
    if column < width:
        return column
    filled = [at for at, text in enumerate(rows[row]) if text]
    if len(filled) < 2:
        return filled[0] if filled else 0
    for cells in rows if len(rows[0]) == width else ():
        cells.append("")
    return width


def _list_sheets(package: zipfile.ZipFile, names: set[str]) -> Iterator[tuple[str, str]]:
    """Each sheet's name, and the part that it is."""
    targets = _read_targets(package, names, "xl/workbook.xml")
    for element in parse_xml(read_part(package, "xl/workbook.xml"), "xl/workbook.xml").iter():
        if local_name(element) == "sheet":
            yield element.get("name") or "", targets.get(read_attribute(element, "id") or "", "")


def _list_anchored(
    package: zipfile.ZipFile, names: set[str], sheet: str
) -> Iterator[tuple[int, int, FoundPicture | None]]:
    """The row and column (from 0) of each picture of a sheet; None for one outside the workbook."""
    heights, widths = _read_sizes(package, sheet) if sheet in names else ({}, {})
    for drawing in _read_targets(package, names, sheet).values():
        if not drawing.startswith("xl/drawings/") or drawing not in names or not drawing.endswith(".xml"):
            continue
        targets = _read_targets(package, names, drawing)
        for anchor in parse_xml(read_part(package, drawing), drawing):
            corner = find_child(anchor, "from")
            if corner is None:
                continue
            row, column = (
                _find_begin(anchor, corner, name, sizes)
                for name, sizes in (("row", heights), ("col", widths))
            )
            for picture in _list_shown(anchor, targets, names):
                yield row, column, picture


# In EMU: how high a row of usual print is, and how wide a column and a character of it are.
_ROW, _COLUMN, _CHARACTER, _POINT = 15 * 12_700, 64 * 9_525, 7 * 9_525, 12_700
# A picture that begins so far down in a row is the next one's.
_AT_END: Final = 0.75


def _find_begin(anchor: etree._Element, corner: etree._Element, name: str, sizes: dict[int, float]) -> int:
    """Where a picture begins: in the next row or column where it only starts at the end of one."""
    place, beyond = (max(read_number(find_child(corner, one)), 0) for one in (name, f"{name}Off"))
    size = sizes.get(place, sizes.get(-1, _ROW if name == "row" else _COLUMN))
    ends = find_child(find_child(anchor, "to"), name)
    return place + (beyond > _AT_END * size and (ends is None or read_number(ends) > place))


def _read_sizes(package: zipfile.ZipFile, sheet: str) -> tuple[dict[int, float], dict[int, float]]:
    """The heights of rows and the widths of columns of a sheet in EMU; -1 names the usual ones."""
    heights: dict[int, float] = {}
    widths: dict[int, float] = {}
    for node in parse_xml(read_part(package, sheet), sheet).iter():
        name = local_name(node)
        if name == "sheetFormatPr" and node.get("defaultRowHeight"):
            heights[-1] = float(node.get("defaultRowHeight") or 0) * _POINT
        elif name == "row" and node.get("ht"):
            heights[int(node.get("r") or 0) - 1] = float(node.get("ht") or 0) * _POINT
        elif name == "col" and node.get("width"):
            for place in range(int(node.get("min") or 1), min(int(node.get("max") or 1), 200) + 1):
                widths[place - 1] = float(node.get("width") or 0) * _CHARACTER
    return heights, widths


def _list_merged(package: zipfile.ZipFile, sheet: str) -> Iterator[tuple[int, int, int]]:
    """The first and the last row of each merged area of one column, and this column (from 0)."""
    for node in parse_xml(read_part(package, sheet), sheet).iter():
        found = _AREA.fullmatch(node.get("ref") or "") if local_name(node) == "mergeCell" else None
        if found is not None and found[1] == found[3]:
            yield int(found[2]) - 1, int(found[4]) - 1, _read_column(found[1])


def _read_column(letters: str) -> int:
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1


_AREA = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")
# Where Excel keeps pictures that were placed in cells.
_PLACED = "xl/richData/"
_CELL = re.compile(r"([A-Z]{1,3})(\d{1,7})")


def _list_placed(package: zipfile.ZipFile, sheet: str) -> Iterator[tuple[int, int, int]]:
    """Row and column (from 0) of the cells that hold something richer, and its number."""
    for node in parse_xml(read_part(package, sheet), sheet).iter():
        place = _CELL.fullmatch(node.get("r") or "") if local_name(node) == "c" and node.get("vm") else None
        if place is not None:
            yield int(place[2]) - 1, _read_column(place[1]), int(node.get("vm") or 0)


def _read_placed(package: zipfile.ZipFile, names: set[str]) -> dict[int, FoundPicture]:
    """The pictures placed in cells, by the numbers under which cells name them (from 1)."""
    parts = [f"{_PLACED}{name}.xml" for name in ("rdrichvalue", "rdrichvaluestructure", "richValueRel")]
    if not names.issuperset({"xl/metadata.xml", *parts}):
        return {}
    values, forms, relations = (parse_xml(read_part(package, part), part) for part in parts)
    targets = _read_targets(package, names, parts[2])
    shown = [targets.get(read_attribute(one, "id") or "", "") for one in relations]
    keys = [[key.get("n") for key in form] for form in forms]
    held: list[str] = []
    for value in values:
        own = dict(zip(keys[int(value.get("s") or 0)], (one.text or "" for one in value), strict=False))
        number = own.get("_rvRel:LocalImageIdentifier", "")
        held.append(shown[int(number)] if number.isdecimal() and int(number) < len(shown) else "")
    metadata = parse_xml(read_part(package, "xl/metadata.xml"), "xl/metadata.xml")
    rich = [int(one.get("i") or 0) for one in metadata.iter() if local_name(one) == "rvb"]
    cells = find_child(metadata, "valueMetadata")
    named = (
        [int(one.get("v") or 0) for one in cells.iter() if local_name(one) == "rc"]
        if cells is not None
        else []
    )
    found = {
        at: held[rich[one]]
        for at, one in enumerate(named, start=1)
        if one < len(rich) and rich[one] < len(held)
    }
    return {at: FoundPicture(part=part) for at, part in found.items() if part in names}


def _read_cell_images(package: zipfile.ZipFile, names: set[str]) -> dict[str, FoundPicture]:
    part = "xl/cellimages.xml"
    if part not in names:
        return {}
    targets = _read_targets(package, names, part)
    found: dict[str, FoundPicture] = {}
    for image in parse_xml(read_part(package, part), part):
        shown = [one for one in _list_shown(image, targets, names) if one is not None]
        name = next((node.get("name") for node in image.iter() if local_name(node) == "cNvPr"), None)
        if name and shown:
            found[name] = shown[0]
    return found


def _list_shown(
    element: etree._Element, targets: dict[str, str], names: set[str]
) -> Iterator[FoundPicture | None]:
    """The pictures of a drawing; None for one that stands at an address, and is not fetched."""
    alt_text = None
    for node in element.iter():
        if local_name(node) == "cNvPr":
            alt_text = node.get("descr") or alt_text
        elif local_name(node) == "blip":
            part = targets.get(read_attribute(node, "embed") or "", "")
            yield FoundPicture(part=part, alt_text=alt_text) if part in names else None


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
