"""Opening a workbook from outside: not too large, damaged, a flood, or with entities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import DocumentError, WorkbookError

if TYPE_CHECKING:
    from zipfile import ZipFile

    from openpyxl.workbook import Workbook

MOST_FILE_BYTES = 64 * 1024 * 1024


def open_workbook(path: Path, *, values_only: bool = False, keeps_rich_text: bool = False) -> Workbook:
    """Open a workbook that came from outside.

    Raises WorkbookError when it is too large, damaged, or not a workbook.

    With `values_only` a formula's cell holds the value that the spreadsheet program last saved, not the formula. With
    `keeps_rich_text` bold and coloured parts of a text survive saving; its value is then a kind of text that is no `str`.
    """
    from openpyxl import load_workbook

    from tasks.ingest import open_package

    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise WorkbookError(f"{path}: there is no such file. Check the path.") from None
    except OSError as error:
        raise WorkbookError(
            f"{path.name}: the file cannot be read ({error.strerror}). Check its permissions."
        ) from None
    if size > MOST_FILE_BYTES:
        raise WorkbookError(
            f"{path.name}: {size} bytes; a review workbook has at most {MOST_FILE_BYTES}. It was not opened."
        )
    data = path.read_bytes()
    if not data.startswith(b"PK"):
        raise WorkbookError(
            f"{path.name}: this is no .xlsx workbook, but an old .xls, one with a password, or another kind of file. Save it as .xlsx, "
            "without a password, and import it again."
        )
    try:
        with open_package(data) as package:
            if "xl/workbook.xml" not in package.namelist():
                raise WorkbookError(
                    f"{path.name}: this is no .xlsx workbook. Save it as .xlsx and import it again."
                )
            _check_no_entities(package, path)
    except DocumentError as error:
        raise WorkbookError(f"{path.name}: {error}") from None
    try:
        return load_workbook(path, keep_links=False, data_only=values_only, rich_text=keeps_rich_text)
    # openpyxl raises whatever its parsers raise (KeyError, ParseError, TypeError …) on a damaged part.
    except Exception as error:
        raise WorkbookError(
            f"{path.name}: the workbook is damaged ({type(error).__name__}). Ask for it again, or save it as a new file."
        ) from None


def _check_no_entities(package: ZipFile, path: Path) -> None:
    """Spreadsheet programs never write a document type; it is only good for entity attacks."""
    for name in package.namelist():
        if not name.endswith((".xml", ".rels")):
            continue
        with package.open(name) as part:
            head = part.read(4096)
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise WorkbookError(
                f"{path.name}: its part {name} declares a document type or encoding that no spreadsheet program "
                "writes. It was not opened."
            )
