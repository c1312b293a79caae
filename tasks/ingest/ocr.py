"""Reading pictures of pages: RapidOCR's boxes merged into rows and columns."""

from __future__ import annotations

from tasks.ingest.extraction import Extraction, Line


def is_ocr_installed() -> bool:
    """True where the extra `ocr` is installed."""
    return False


def read_pages(data: bytes, pages: list[int]) -> tuple[list[Line], list[str]]:
    """Read the given pages (from 1) of a PDF."""
    raise NotImplementedError


def read_image(data: bytes) -> Extraction:
    """Read one picture."""
    raise NotImplementedError
