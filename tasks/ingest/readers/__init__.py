"""What a reader is to Proctor: bytes of one kind of file in, lines of a document out.

Other packages bring theirs by the entry points `proctor.readers`, each under the suffix of the files that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from schemas.errors import DocumentError
from schemas.seams import Seam
from tasks.ingest.readers.extraction import FORMULA, IMAGE, Extraction, Line, Sheet

__all__ = ["FORMULA", "IMAGE", "READERS", "DocumentError", "Extraction", "Line", "Reader", "Sheet"]


class Reader(Protocol):
    """A reader of one kind of file. It runs in a child process under limits of memory and time.

    Attributes:
        media_type: what `documents.media_type` says of such a file.
    """

    @property
    def media_type(self) -> str:  # noqa: D102 - above
        ...

    def read(self, data: bytes, options: Mapping[str, Any]) -> Extraction:
        """The lines, sheets or records of a document.

        `options` has `time_limit_s` (seconds that reading may take) and `use_ocr`. Raises DocumentError, whose sentence
        says what was found and what to do, and carries no text of the document.
        """
        ...


READERS: Final[Seam[Reader]] = Seam(
    "proctor.readers",
    "reader",
    {
        "docx": "tasks.ingest.readers.formats:DOCX",
        "xlsx": "tasks.ingest.readers.formats:XLSX",
        "xlsb": "tasks.ingest.readers.formats:XLSB",
        "xls": "tasks.ingest.readers.formats:XLS",
        "ods": "tasks.ingest.readers.formats:ODS",
        "doc": "tasks.ingest.readers.formats:DOC",
        "rtf": "tasks.ingest.readers.formats:RTF",
        "odt": "tasks.ingest.readers.formats:ODT",
        "word-xml": "tasks.ingest.readers.formats:WORD_XML",
        "excel-xml": "tasks.ingest.readers.formats:EXCEL_XML",
        "pdf": "tasks.ingest.readers.formats:PDF",
        "image": "tasks.ingest.readers.formats:PICTURE",
        "html": "tasks.ingest.readers.formats:HTML",
        "csv": "tasks.ingest.readers.formats:CSV",
        "moodle-xml": "tasks.ingest.readers.formats:MOODLE_XML",
        "json": "tasks.ingest.readers.formats:JSON",
        "jsonl": "tasks.ingest.readers.formats:JSONL",
        "text": "tasks.ingest.readers.formats:TEXT",
    },
    needs=("media_type", "read"),
)
